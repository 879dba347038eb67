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
