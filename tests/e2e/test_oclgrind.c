/* Generated kernels under Oclgrind, an OpenCL device that checks every access: no data race within or between
 * work-groups, nothing out of bounds, nothing read that was not written, no divergent barrier. They are built
 * without optimizations: LLVM widens loads of neighbours in local memory, of which it uses only those that
 * the text reads, and Oclgrind takes the others for races with work-items that write them. The command does
 * the work (verify draws random implementations, tune keeps the best ones), so the release binary beside this
 * one is what runs: the simulator cannot be loaded into a sanitized process. THRESH_LONG looks at more of
 * them.
 *
 * Where groups divide a reduction (core/codegen/groups.c), some races are false. Oclgrind gathers the
 * accesses of each group to global memory, and compares them when the group ends with those of all groups of
 * the launch that have ended: two of the same address, one of them a store, are a race unless both are
 * atomic. Neither fences nor the order that a counter gives have a part in it. With
 *
 *     parts[group] = sum; mem_fence(CLK_GLOBAL_MEM_FENCE);
 *     last = atomic_inc(&arrived[0]) == groups - 1; if (!last) return;
 *     mem_fence(CLK_GLOBAL_MEM_FENCE); arrived[0] = 0; for (...) sum += parts[i];
 *
 * it reports the loads of parts, and the last store to the counter beside the others' atomic_inc, with the
 * fences and without them; with an atomic operation in the place of each access it reports nothing. Within a
 * group it takes a barrier to order accesses to global memory only if its flag says so. There is a fence
 * before the barrier instead, after which the part is in memory; that it reports, too. So these pairs of
 * lines are passed over. Two groups that store one part are found, and everything else is. */
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

/* The lines of the text that the two accesses of a race are from, and their groups: a message has, twice,
 *
 *     First entity:  Global(4,0,0) Local(0,0,0) Group(2,0,0)
 *       %3 = load float ...
 *     At line 17 (column 42) of input.cl:
 *       const float thresh_got_0_0_0 = thresh_parts_float[...]; */
struct race {
    char line[2][512], group[2][32];
};

static bool read_race(const char *message, struct race *r)
{
    const char *at = message, *end = strstr(message + 1, "data race at ");
    for (int i = 0; i < 2; i++) {
        const char *group = strstr(at, " Group("), *line = group ? strstr(group, "At line ") : NULL;
        if (!line || (end && line > end) || sscanf(group, " Group(%31[^)])", r->group[i]) != 1 ||
            sscanf(line, "At line %*[^\n] %511[^\n]", r->line[i]) != 1)
            return false;
        at = line;
    }
    return true;
}

static bool has_pair(const struct race *r, const char *a, const char *b)
{
    return (strstr(r->line[0], a) && strstr(r->line[1], b)) ||
           (strstr(r->line[0], b) && strstr(r->line[1], a));
}

/* Whether the race, of which Oclgrind's message begins before `at`, is a false one: see above. */
static bool is_false_race(const char *output, const char *at)
{
    static const char global[] = "data race at global ", reads[] = "Read-write ",
                      store[] = "+ (int)get_group_id(", load[] = "+ thresh_part", first[] = " + 0)";
    const size_t n = sizeof reads - 1;
    struct race r;
    bool reads_one = (size_t)(at - output) >= n && !strncmp(at - n, reads, n);
    if (strncmp(at, global, sizeof global - 1) || !read_race(at, &r)) return false;
    if (has_pair(&r, "thresh_arrived[thresh_slot] = 0;", "atomic_inc(&thresh_arrived[thresh_slot])"))
        return strcmp(r.group[0], r.group[1]) != 0;
    return reads_one && has_pair(&r, "thresh_parts_", "thresh_parts_") &&
           (has_pair(&r, store, load) || has_pair(&r, store, first));
}

/* The first of what Oclgrind has found; NULL: nothing. */
static const char *complaint(const char *output)
{
    static const char *const words[] = {"Invalid read",   "Invalid write", "divergence",
                                        "Oclgrind] Fail", "Uninitialized", "uninitialized"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = strstr(output, words[i]);
        if (at) return at;
    }
    for (const char *at = output; (at = strstr(at, "data race at ")); at++)
        if (!is_false_race(output, at)) return at;
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
    strbuf_printf(
        &command,
        "oclgrind --data-races --uninitialized --max-errors 1000000 --build-options -cl-opt-disable "
        "%s %s --quiet --out %s 2>&1; "
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

/* All of these have parts of groups. */
Test(oclgrind, random_sums_that_groups_divide, .timeout = 300)
{
    clean_verify("dot", "N=16 --pin 'split(n.0)=GROUPS'");
}

/* Rows of several groups: several counters. */
Test(oclgrind, random_rows_that_groups_divide, .timeout = 300)
{
    clean_verify("gemv", "M=3,N=16 --pin 'split(n.0)=GROUPS'");
}

Test(oclgrind, random_selections_that_groups_divide, .timeout = 300)
{
    clean_verify("argmax", "M=2,N=8 --pin 'split(n.0)=GROUPS'");
}

Test(oclgrind, random_matmuls_that_groups_divide, .timeout = 300)
{
    clean_verify("matmul", "M=4,N=4,K=8 --pin 'split(k.0)=GROUPS'");
}

#define ENTITY(group, line)                                                                                  \
    " entity:  Global(4,0,0) Local(0,0,0) Group(" group ")\n\t  %3 = access\n"                               \
    "\tAt line 17 (column 42) of input.cl:\n\t  " line "\n\t\n"
#define RACE(kind, a, group_a, b, group_b)                                                                   \
    kind " data race at global memory address 0x3\n\tKernel: k\n\t\n\tFirst" ENTITY(                         \
        group_a, a) "\tSecond" ENTITY(group_b, b) "\n"
#define STORE "thresh_parts_float[(thresh_slot * 4 + (int)get_group_id(0)) * 1 + thresh_result] = red;"
#define LOAD                                                                                                 \
    "const float thresh_got_0_0_0 = thresh_parts_float[(thresh_slot * 4 + thresh_part + 1) * 1 + "           \
    "thresh_result];"
#define RESET "if (thresh_item == 0) thresh_arrived[thresh_slot] = 0;"
#define COUNT "if (thresh_item == 0) thresh_last = atomic_inc(&thresh_arrived[thresh_slot]) == 3u;"

/* What the counter orders is no race; what it does not order is one, after a false one as well. */
Test(oclgrind, tells_false_races_from_others)
{
    static const char load[] = RACE("Read-write", LOAD, "2,0,0", STORE, "1,0,0"),
                      reset[] = RACE("Write-write", RESET, "2,0,0", COUNT, "3,0,0");
    static const char *const found[] = {RACE("Write-write", STORE, "2,0,0", STORE, "1,0,0"),
                                        RACE("Write-write", RESET, "1,0,0", COUNT, "1,0,0"),
                                        RACE("Write-write", RESET, "1,0,0", RESET, "0,0,0"),
                                        RACE("Read-write", LOAD, "2,0,0", "out[0] = red;", "1,0,0"),
                                        RACE("Read-write", "red = x[0];", "2,0,0", "x[0] = red;", "1,0,0"),
                                        "Write-write data race at local memory address 0x3\n"};
    cr_expect_null(complaint(load));
    cr_expect_null(complaint(reset));
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        struct strbuf all = {0};
        strbuf_printf(&all, "%s%s%s", load, found[i], reset);
        cr_expect_not_null(complaint(all.text), "%s", found[i]);
        strbuf_free(&all);
    }
}

Test(oclgrind, a_search_and_its_best, .timeout = 300)
{
    clean("tune experiments/kernels/matmul.lift --size M=4,N=4,K=4 --evaluations 6 --seed 2");
}
