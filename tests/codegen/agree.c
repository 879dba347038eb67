#include "tests/codegen/agree.h"

#include <criterion/criterion.h>

struct cg_program *cgt_built_with(const struct backbone *bb, const struct bb_candidate *c,
                                  const struct cg_target *target, struct arena *a)
{
    const char *why = NULL;
    struct cg_program *p = cg_build(bb, c, target, a, &why);
    cr_assert(p, "%s", why);
    return p;
}

struct cg_program *cgt_built(const struct backbone *bb, const struct bb_candidate *c, struct arena *a)
{
    return cgt_built_with(bb, c, &cgt_target, a);
}

double **cgt_inputs(const struct backbone *bb, struct arena *a)
{
    double **buffers = ARENA_ARRAY(a, double *, bb->n_buffers);
    for (unsigned b = 0; b < bb->n_buffers; b++) {
        buffers[b] = ARENA_ARRAY(a, double, bb->buffers[b].elements);
        for (int64_t i = 0; i < bb->buffers[b].elements; i++)
            buffers[b][i] = bb->buffers[b].output ? -1 : (double)((i * 7 + b * 3) % 11) - 5;
    }
    return buffers;
}

static void compare(const char *what, const double *got, const double *expected, int64_t n, const char *text)
{
    for (int64_t i = 0; i < n; i++)
        cr_assert(got[i] == expected[i], "%s: element %lld: %g, expected %g\n%s", what, (long long)i, got[i],
                  expected[i], text);
}

void cgt_agree_with(const struct backbone *bb, const struct bb_candidate *c, const struct cg_target *target,
                    const double *expected, double **buffers, struct arena *a)
{
    struct cg_program *p = cgt_built_with(bb, c, target, a);
    struct cg_kernel k;
    double *out = buffers[bb->n_buffers - 1];
    int64_t n = bb->buffers[bb->n_buffers - 1].elements;
    cg_emit(p, &k);
    struct cg_check check = cg_interpret(p, buffers);
    cr_assert(check.fault == CG_OK, "fault %d: %s\n%s", (int)check.fault, check.where, k.source);
    compare("interpreter", out, expected, n, k.source);
    for (int64_t i = 0; i < n; i++)
        out[i] = -1;
    if (cgt_run(bb, &k, buffers)) compare("device", out, expected, n, k.source);
    cg_kernel_free(&k);
}

void cgt_agree(const struct backbone *bb, const struct bb_candidate *c, const double *expected,
               double **buffers, struct arena *a)
{
    cgt_agree_with(bb, c, &cgt_target, expected, buffers, a);
}

double *cgt_matmul_expected(double **b, int64_t m, int64_t n, int64_t k, struct arena *a)
{
    double *out = ARENA_ARRAY(a, double, m *n);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t l = 0; l < k; l++)
                out[i * n + j] += b[0][i * k + l] * b[1][l * n + j];
    return out;
}

void cgt_agree_matmul(int64_t m, int64_t n, int64_t k, const char *sizes, const char *tree)
{
    struct arena *a = arena_new();
    struct backbone *bb = cgt_matmul(a, m, n, k);
    double **buffers = cgt_inputs(bb, a);
    cgt_agree(bb, cgt_candidate(bb, a, sizes, tree), cgt_matmul_expected(buffers, m, n, k, a), buffers, a);
    arena_free(a);
}
