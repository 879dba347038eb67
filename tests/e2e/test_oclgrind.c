/* Generated kernels under Oclgrind, an OpenCL device that checks every access: no data race within or between
 * work-groups, nothing out of bounds, no divergent barrier. They are built without optimizations: LLVM widens
 * loads of neighbours in local memory, of which it uses only those that the text reads, and Oclgrind takes
 * the others for races with work-items that write them. The command does the work (verify draws random
 * implementations, tune keeps the best ones), so the release binary beside this one is what runs: the
 * simulator cannot be loaded into a sanitized process. THRESH_LONG looks at more of them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/strbuf.h"
#include "tests/fixture/longer.h"

/* Path of the `thresh` built beside the tests. */
static char *release_binary(void)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    cr_assert_gt(n, 0);
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/thresh", self);
    cr_assert_eq(access(path.text, X_OK), 0, "%s is missing: run `make all`", path.text);
    return strbuf_take(&path);
}

static bool installed(void)
{
    return system("command -v oclgrind >/dev/null 2>&1") == 0;
}

/* What the command prints on both streams; *status is its exit status. */
static char *output_of(const char *command, int *status)
{
    struct strbuf out = {0};
    char line[1024];
    FILE *p = popen(command, "r");
    cr_assert_not_null(p);
    while (fgets(line, sizeof line, p))
        strbuf_add(&out, line);
    *status = pclose(p);
    return strbuf_take(&out);
}

/* What Oclgrind says when it finds something. */
static const char *complaint(const char *output)
{
    static const char *const words[] = {"data race", "Invalid read", "Invalid write", "divergence",
                                        "Oclgrind] Fail"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = strstr(output, words[i]);
        if (at) return at;
    }
    return NULL;
}

/* Whether the only failures are kernels that Oclgrind cannot run: it lacks some of LLVM's functions. */
static bool beyond_oclgrind(const char *output)
{
    return strstr(output, "Undefined external function: llvm.") && strstr(output, " 0 wrong_result") &&
           strstr(output, " 0 crashed") && !strstr(output, "verified     0 ");
}

/* Runs `thresh ARGS` under Oclgrind; nothing may be found. */
static void clean(const char *args)
{
    int status;
    if (!installed()) cr_skip_test("oclgrind is not installed: `make deps` as root installs it");
    char folder[] = "/tmp/thresh-oclgrind-XXXXXX", *binary = release_binary();
    struct strbuf command = {0};
    cr_assert_not_null(mkdtemp(folder));
    strbuf_printf(&command,
                  "oclgrind --data-races --build-options -cl-opt-disable %s %s --quiet --out %s 2>&1; "
                  "status=$?; rm -r %s; exit $status",
                  binary, args, folder, folder);
    char *output = output_of(command.text, &status);
    const char *found = complaint(output);
    cr_assert_null(found, "thresh %s: %s", args, found);
    cr_assert(status == 0 || beyond_oclgrind(output), "thresh %s: %s", args, output);
    cr_assert_not_null(strstr(output, "Oclgrind Simulator"), "%s", output);
    free(output);
    free(binary);
    strbuf_free(&command);
}

/* Random implementations for so many seconds. */
static void clean_verify(const char *kernel, const char *sizes)
{
    struct strbuf args = {0};
    strbuf_printf(&args, "verify experiments/kernels/%s.lift --size %s --samples 4 --seed 11 --time %s",
                  kernel, sizes, tests_are_long() ? "2m" : "5s");
    clean(args.text);
    strbuf_free(&args);
}

Test(oclgrind, random_matmuls, .timeout = 300)
{
    clean_verify("matmul", "M=4,N=4,K=8");
}

Test(oclgrind, random_transposes, .timeout = 300)
{
    clean_verify("transpose", "M=8,N=4");
}

Test(oclgrind, random_gemvs, .timeout = 300)
{
    clean_verify("gemv", "M=8,N=8");
}

Test(oclgrind, random_implementations_with_remainders, .timeout = 300)
{
    clean_verify("matmul", "M=3,N=13,K=5");
}

Test(oclgrind, random_attentions, .timeout = 300)
{
    clean_verify("attention", "N=4,M=4,D=2");
}

Test(oclgrind, random_stencils, .timeout = 300)
{
    clean_verify("stencil_9point", "H=4,W=4");
}

Test(oclgrind, a_search_and_its_best, .timeout = 300)
{
    clean("tune experiments/kernels/matmul.lift --size M=4,N=4,K=4 --evaluations 6 --seed 2");
}
