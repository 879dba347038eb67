/* Each workaround of the target table is needed: on a driver of its versions, a text that was made without it
 * ends the compiler or gives wrong results, and with it the results are right. Other drivers are not asked.
 * Without a workaround the driver runs in a child process, since it may end it. */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/codegen/fixture.h"

enum { RIGHT, WRONG, NOT_CONCERNED, BROKEN };

struct product {
    int64_t m, n, k;
    const char *sizes, *tree;
};

static double element(unsigned buffer, int64_t i)
{
    return (double)((i * 7 + buffer * 3) % 11) - 5;
}

static bool is_right(const struct product *x, double *const *b)
{
    for (int64_t i = 0; i < x->m; i++)
        for (int64_t j = 0; j < x->n; j++) {
            double sum = 0;
            for (int64_t l = 0; l < x->k; l++)
                sum += b[0][i * x->k + l] * b[1][l * x->n + j];
            if (b[2][i * x->n + j] != sum) return false;
        }
    return true;
}

/* Builds the text for the target and runs it on the device. */
static int run_with(const struct product *x, const struct cg_target *target)
{
    struct arena *a = arena_new();
    struct backbone *bb = cgt_matmul(a, x->m, x->n, x->k);
    struct bb_candidate *c = cgt_candidate(bb, a, x->sizes, x->tree);
    double *buffers[3];
    for (unsigned b = 0; b < 3; b++) {
        buffers[b] = ARENA_ARRAY(a, double, bb->buffers[b].elements);
        for (int64_t i = 0; i < bb->buffers[b].elements; i++)
            buffers[b][i] = b == 2 ? -1 : element(b, i);
    }
    const char *why = NULL;
    struct cg_program *p = cg_build(bb, c, target, a, &why);
    struct cg_kernel k;
    if (!p) return BROKEN;
    cg_emit(p, &k);
    int result = !cgt_run(bb, &k, buffers) ? NOT_CONCERNED : is_right(x, buffers) ? RIGHT : WRONG;
    cg_kernel_free(&k);
    arena_free(a);
    return result;
}

static bool concerns(enum cg_workaround w)
{
    char platform[128], driver[128];
    return cgt_driver(platform, driver) && !(cg_workarounds_off(platform, driver) >> w & 1u);
}

/* run_with() without the workaround, in a child process; WRONG if the driver ends it. */
static int run_without(const struct product *x, enum cg_workaround w)
{
    const struct cg_target target = {.dialect = &cg_opencl, .workarounds_off = 1u << w};
    pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0});
        _exit(concerns(w) ? run_with(x, &target) : NOT_CONCERNED);
    }
    int status;
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : WRONG;
}

static void is_needed(enum cg_workaround w, const struct product *x)
{
    int without = run_without(x, w);
    if (without == NOT_CONCERNED) return;
    cr_expect_eq(without, WRONG, "%s is not needed on this driver: end its versions in CG_WORKAROUNDS",
                 cg_workaround_info(w)->name);
    cr_expect_eq(run_with(x, &cgt_target), RIGHT);
}

/* Two regions are staged in a loop that begins with the copy of A, itself a loop, the same each time. */
Test(codegen_workarounds, split_loop_heads)
{
    static const struct product x = {
        16, 2, 2, "m.0=8 m.1=2 n.0=2 k.0=2 A.c.m.0=16 A.c.k.0=2 B.c.k.0=2",
        "loop init.n.0 mad.n.0 B.load.n.0 store.n.0 {"
        " loop A.cl.m.0 A.cs.m.0 { thread0 A.cl.k.0 A.cs.k.0 { A.cl A.cs } }"
        " thread0 init.m.1 { unroll init.m.0 { init } }"
        " thread0 A.load.m.1 { unroll A.load.m.0 { unroll A.load.k.0 { A.load } } }"
        " thread0 B.cl.k.0 B.cs.k.0 { B.cl B.cs }"
        " thread0 mad.m.1 { unroll mad.k.0 B.load.k.0 { B.load unroll mad.m.0 { mad } } }"
        " thread0 store.m.1 { unroll store.m.0 { store } } }"};
    is_needed(CG_SPLIT_LOOP_HEADS, &x);
}

/* Two of four work-items add and store: under a predicate at the end of the loop, and again after it. */
Test(codegen_workarounds, split_predicates)
{
    static const struct product x = {2, 2, 8,
                                     "m.0=2 n.0=2 k.0=2 k.1=4 A.c.m.0=2 A.c.k.0=4 B.c.k.0=4 B.c.n.0=2",
                                     "thread0 init.n.0 { unroll init.m.0 { init } }"
                                     " loop mad.k.0 A.load.k.0 B.load.k.0 {"
                                     "   thread0 B.cl.k.0 B.cs.k.0 { unroll B.cl.n.0 B.cs.n.0 { B.cl B.cs } }"
                                     "   thread0 B.load.n.0 { unroll B.load.k.1 { B.load } }"
                                     "   thread0 A.cl.k.0 A.cs.k.0 { unroll A.cl.m.0 A.cs.m.0 { A.cl A.cs } }"
                                     "   unroll A.load.k.1 { unroll A.load.m.0 { A.load } }"
                                     "   thread0 mad.n.0 { unroll mad.k.1 { unroll mad.m.0 { mad } } } }"
                                     " thread0 store.n.0 { unroll store.m.0 { store } }"};
    is_needed(CG_SPLIT_PREDICATES, &x);
}

/* The parts of 13 sums, of 16 groups each: groups but the last end between barriers. LLVM merges their exit
 * with that of work-items that store nothing. */
static const char ending_groups[] =
    "__kernel __attribute__((reqd_work_group_size(4, 1, 1)))\n"
    "void thresh_kernel(__global const float *restrict A, __global float *restrict out,\n"
    "                   __global volatile float *parts, __global volatile uint *arrived)\n"
    "{\n"
    "    __local float part[4];\n"
    "    __local uint last;\n"
    "    const int m1 = (int)get_group_id(1), m0 = (int)get_group_id(0), n0 = (int)get_group_id(2);\n"
    "    const int slot = (int)(get_group_id(0) + 4 * get_group_id(1)), item = (int)get_local_id(0);\n"
    "    float sum = 0.0f;\n"
    "    if (get_local_id(0) < 2) sum = A[n0 * 8 + get_local_id(0)];\n"
    "    if (get_local_id(0) < 2) part[item] = sum;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    sum = part[0] + part[1];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (get_local_id(0) < 1) parts[slot * 16 + n0] = sum;\n"
    "    mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (item == 0) last = atomic_inc(&arrived[slot]);\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (last != 15u) return;\n"
    "    mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
    "    if (item == 0) arrived[slot] = 0;\n"
    "    if (get_local_id(0) < 2) {\n"
    "        sum = 0.0f;\n"
    "        for (int p = (int)get_local_id(0); p < 16; p += 2)\n"
    "            sum = sum + parts[slot * 16 + p];\n"
    "    }\n"
    "    if (get_local_id(0) < 2) part[item] = sum;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    sum = part[0] + part[1];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (get_local_id(0) == 0 && m0 + 4 * m1 < 13) out[m0 + 4 * m1] = sum;\n"
    "}\n";

static int run_ending_groups(void)
{
    enum { RESULTS = 13, ELEMENTS = 16 * 8 };
    double in[ELEMENTS], out[RESULTS] = {0}, expected = 0, *const buffers[] = {in, out};
    struct bb_buffer arrays[] = {{.name = "A", .elements = ELEMENTS},
                                 {.name = "out", .elements = RESULTS, .output = true}};
    struct cg_arg args[] = {{.buffer = 0, .bytes = sizeof(float) * ELEMENTS},
                            {.buffer = 1, .bytes = sizeof(float) * RESULTS},
                            {.buffer = BB_NONE, .bytes = sizeof(float) * 16 * 16},
                            {.buffer = BB_NONE, .zero = true, .bytes = sizeof(uint32_t) * 16}};
    const struct backbone bb = {.n_buffers = 2, .buffers = arrays};
    struct cg_kernel k = {.source = (char *)ending_groups,
                          .name = (char *)"thresh_kernel",
                          .global = {4 * 4, 4, 16},
                          .local = {4, 1, 1},
                          .n_args = 4,
                          .args = args};
    for (int i = 0; i < ELEMENTS; i++) {
        in[i] = element(0, i);
        if (i % 8 < 2) expected += in[i];
    }
    if (!cgt_run(&bb, &k, buffers)) return NOT_CONCERNED;
    for (int i = 0; i < RESULTS; i++)
        if (out[i] != expected) return WRONG;
    return RIGHT;
}

/* With the workaround no group ends: descents/parts_of_groups* run such texts. */
Test(codegen_workarounds, one_exit)
{
    if (concerns(CG_ONE_EXIT))
        cr_assert_eq(run_ending_groups(), WRONG,
                     "one-exit is not needed on this driver: end its versions in CG_WORKAROUNDS");
}
