/* A machine without any OpenCL library: the release binary beside this one, for which THRESH_OPENCL names a
 * file that is not there. Everything works but what runs a kernel; that says what to install. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/strbuf.h"
#include "tests/e2e/described.h"
#include "tests/e2e/run.h"

#define KERNELS "experiments/kernels/"
#define MATMUL KERNELS "matmul.lift --size M=64,N=64,K=64"
#define TRANSPOSE "experiments/spaces/transpose.space"
#define DESCRIBED " --description perfmodel/devices/nvidia-h200.json"

struct no_opencl_run {
    int status;
    char *output; /* of both streams */
};

/* Path of the folder of this binary, where `thresh` was built, too. */
static char *no_opencl_folder(void)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    cr_assert_gt(n, 0);
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    return base_strdup(self);
}

static struct no_opencl_run no_opencl_shell(const char *command)
{
    struct strbuf out = {0};
    char line[1024];
    FILE *p = popen(command, "r");
    cr_assert_not_null(p);
    while (fgets(line, sizeof line, p))
        strbuf_add(&out, line);
    int status = pclose(p);
    return (struct no_opencl_run){WIFEXITED(status) ? WEXITSTATUS(status) : -1, strbuf_take(&out)};
}

/* Runs `thresh ARGS` where there is no OpenCL. */
static struct no_opencl_run no_opencl_thresh(const char *args)
{
    struct strbuf command = {0};
    char *folder = no_opencl_folder();
    strbuf_printf(&command, "THRESH_OPENCL=/nonexistent/libOpenCL.so %s/thresh %s 2>&1", folder, args);
    struct no_opencl_run r = no_opencl_shell(command.text);
    strbuf_free(&command);
    free(folder);
    return r;
}

static void no_opencl_expect(const char *args, int status, const char *said)
{
    struct no_opencl_run r = no_opencl_thresh(args);
    cr_expect_eq(r.status, status, "thresh %s: %d: %s", args, r.status, r.output);
    cr_expect(strstr(r.output, said), "thresh %s: no '%s' in: %s", args, said, r.output);
    free(r.output);
}

/* The binary neither needs the library to start nor exports functions that a driver would call instead of its
 * own. */
Test(no_opencl, the_binary_is_not_linked_with_it)
{
    struct strbuf command = {0};
    char *folder = no_opencl_folder();
    strbuf_printf(&command, "readelf -d %s/thresh && nm -D --defined-only %s/thresh | grep -v ' T cl[a-z]'",
                  folder, folder);
    struct no_opencl_run r = no_opencl_shell(command.text);
    cr_assert_eq(r.status, 0, "%s", r.output);
    cr_expect(strstr(r.output, "NEEDED") && strstr(r.output, " T mcts_tree_new"), "not what was meant");
    cr_expect_null(strstr(r.output, "OpenCL"));
    cr_expect_null(strstr(r.output, " T cl"));
    free(r.output);
    strbuf_free(&command);
    free(folder);
}

/* Commands that run no kernel, with what each prints. */
Test(no_opencl, what_measures_nothing_works, .timeout = 300)
{
    static const struct {
        const char *args, *said;
    } cases[] = {
        {"help", "tune"},
        {"heuristics", "tag"},
        {"completion bash", "_thresh"},
        {"lift check " MATMUL, "none found"},
        {"lift check " MATMUL DESCRIBED, "H200"},
        {"lift print " MATMUL, "size"},
        {"lift run " KERNELS "axpy.lift --size N=4", "\n"},
        {"space count " TRANSPOSE, "solutions"},
        {"space check " TRANSPOSE, "ok"},
        {"choices " MATMUL DESCRIBED " dim_kind", "dim_kind"},
        {"estimate " MATMUL DESCRIBED " --samples 20", "implementations"},
        {"descend " MATMUL DESCRIBED " --samples 20", "descents"},
        {"levels " MATMUL DESCRIBED " --samples 5 --depth 3", "depth"},
        {"bound " MATMUL DESCRIBED, "ns"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        no_opencl_expect(cases[i].args, 0, cases[i].said);
}

/* Where no device is named either, what is assumed is said. */
Test(no_opencl, an_unknown_device_is_assumed)
{
    static const char said[] = "assuming a device with work-groups of 64 work-items, 16 KiB of local memory";
    no_opencl_expect("choices " MATMUL " dim_kind", 0, said);
    no_opencl_expect("estimate " MATMUL " --samples 20", 0, said);
    no_opencl_expect("descend " MATMUL " --samples 20", 0, said);
    no_opencl_expect("levels " MATMUL " --samples 5 --depth 3", 0, said);
    no_opencl_expect("bound " MATMUL, 0, said);
}

/* What runs kernels says what is missing. */
Test(no_opencl, what_measures_says_what_is_missing)
{
    static const char *const commands[] = {"tune " MATMUL,
                                           "verify " MATMUL,
                                           "audit " MATMUL,
                                           "device list",
                                           "device show",
                                           "device characterize",
                                           "estimate " MATMUL " --device gpu",
                                           "agent --connect tcp://127.0.0.1:1"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        no_opencl_expect(commands[i], 2,
                         "no OpenCL device: the OpenCL library that THRESH_OPENCL names cannot be loaded: "
                         "/nonexistent/libOpenCL.so");
}

/* What is wrong with a program is said before a device is asked for. */
Test(no_opencl, programs_are_checked_without_a_device)
{
    static const char *const commands[] = {"tune", "verify"};
    char path[32], args[64], said[64];
    e2e_file(path, "input A : [N]float\noutput map(fun x -> x,\n");
    snprintf(said, sizeof said, "%s:", path);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        snprintf(args, sizeof args, "%s %s --size N=4", commands[i], path);
        struct no_opencl_run r = no_opencl_thresh(args);
        cr_expect_eq(r.status, 2, "%s: %s", args, r.output);
        cr_expect(strstr(r.output, said) && !strstr(r.output, "no OpenCL device"), "%s: %s", args, r.output);
        free(r.output);
    }
    no_opencl_expect("tune " KERNELS "matmul.lift --size M=64,N=64", 2, "K");
    unlink(path);
}

/* ---- results of a machine that has it ---- */

/* A folder with a small search on this machine's device, and the description of its limits. */
static void no_opencl_search(char folder[32], const char *binaries)
{
    struct strbuf path = {0}, command = {0};
    e2e_folder(folder);
    strbuf_printf(&path, "%s/device.json", folder);
    struct perfmodel_device p = {.date = "2026-11-02"};
    described_write(&p, path.text);
    setenv("THRESH_DEVICES", folder, 1);
    strbuf_printf(&command,
                  "%s/thresh tune " KERNELS
                  "axpy.lift --size N=4096 --evaluations 4 --quiet --out %s --store "
                  "%s/runs.db 2>&1",
                  binaries, folder, folder);
    struct no_opencl_run r = no_opencl_shell(command.text);
    cr_assert_eq(r.status, 0, "%s", r.output);
    free(r.output);
    strbuf_free(&command);
    strbuf_free(&path);
}

/* Runs `thresh ARGS`, in which DIR stands for the folder. */
static void no_opencl_expect_in(const char *folder, const char *text, const char *said)
{
    struct strbuf args = {0};
    for (const char *at = text, *next; *at; at = next) {
        next = strstr(at, "DIR");
        strbuf_addn(&args, at, next ? (size_t)(next - at) : strlen(at));
        if (next) strbuf_add(&args, folder);
        next = next ? next + strlen("DIR") : at + strlen(at);
    }
    no_opencl_expect(args.text, 0, said);
    strbuf_free(&args);
}

/* Results are read, explained and searched again; a coordinator searches with the agent of another machine,
 * which has OpenCL. */
Test(no_opencl, results_and_agents_of_other_machines_are_used, .timeout = 300)
{
    static const char axpy[] =
        "tune " KERNELS "axpy.lift --size N=4096 --evaluations 3 --quiet --out DIR/again ";
    char folder[32], *binaries = no_opencl_folder();
    struct strbuf args = {0};
    no_opencl_search(folder, binaries);
    no_opencl_expect_in(folder, "explain DIR/best.json", "opencl");
    no_opencl_expect_in(folder, "explain DIR/runs.db --best", "opencl");
    no_opencl_expect_in(folder, "explain DIR/runs.db --learnt", "learnt");
    no_opencl_expect_in(folder, "store export DIR/runs.db", "actions");
    no_opencl_expect_in(folder, "audit DIR/runs.db", "violations       0");
    strbuf_printf(&args, "%s--recorded DIR/runs.db --description DIR/device.json --no-bound", axpy);
    no_opencl_expect_in(folder, args.text, "evaluations");
    strbuf_free(&args);
    strbuf_printf(&args, "%s--listen ipc://DIR/socket & %s/thresh agent --connect ipc://DIR/socket; wait $!",
                  axpy, binaries);
    no_opencl_expect_in(folder, args.text, "speedup");
    strbuf_free(&args);
    strbuf_printf(&args, "rm -r %s", folder);
    cr_expect_eq(system(args.text), 0);
    strbuf_free(&args);
    free(binaries);
}
