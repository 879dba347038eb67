/* The kernels of experiments/: each parses, prints to a fixed point, and interprets to what plain C loops
 * compute. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/pcg32.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"

enum { MAX_KERNEL_INPUTS = 5, P = 3, M = 6, N = 8, K = 5 };

struct kernel_case {
    const char *path;
    const char *sizes;
    unsigned n_inputs; /* arrays of the inputs */
    double (*expected)(const double *const *in, int64_t flat);
};

static double axpy(const double *const *in, int64_t i)
{
    return in[0][0] * in[1][i] + in[2][i];
}

static double product(const double *a, int64_t stride, const double *b)
{
    double sum = 0;
    for (int64_t k = 0; k < K; k++)
        sum += a[k * stride] * b[k * N];
    return sum;
}

static double matmul(const double *const *in, int64_t i)
{
    return product(in[0] + i / N * K, 1, in[1] + i % N);
}

static double matmul_strided(const double *const *in, int64_t i)
{
    return product(in[0] + i / N * K * 32, 32, in[1] + i % N);
}

static double batched_matmul(const double *const *in, int64_t i)
{
    int64_t batch = i / (M * N), row = i / N % M;
    return product(in[0] + (batch * M + row) * K, 1, in[1] + batch * K * N + i % N);
}

static double row_times_vector(const double *row, const double *x)
{
    double sum = 0;
    for (int64_t j = 0; j < N; j++)
        sum += row[j] * x[j];
    return sum;
}

static double gemv(const double *const *in, int64_t i)
{
    return row_times_vector(in[0] + i * N, in[1]);
}

static double gesummv(const double *const *in, int64_t i)
{
    return in[0][0] * row_times_vector(in[2] + i * N, in[4]) +
           in[1][0] * row_times_vector(in[3] + i * N, in[4]);
}

static double transpose(const double *const *in, int64_t i)
{
    return in[0][i % M * N + i / M];
}

static double gemm(const double *const *in, int64_t i)
{
    return in[0][0] * matmul(in + 2, i) + in[1][0] * in[4][i];
}

/* Element i of the arrays of all outputs, one after the other: real parts, then imaginary ones. */
static double complex_mul(const double *const *in, int64_t i)
{
    int64_t k = i % N;
    return i < N ? in[0][k] * in[2][k] - in[1][k] * in[3][k] : in[0][k] * in[3][k] + in[1][k] * in[2][k];
}

static double complex_mul_interleaved(const double *const *in, int64_t i)
{
    const double *x = in[0] + i / 2 * 2, *y = in[1] + i / 2 * 2;
    return i % 2 ? x[0] * y[1] + x[1] * y[0] : x[0] * y[0] - x[1] * y[1];
}

static double mean_variance(const double *const *in, int64_t i)
{
    const double *row = in[0] + i % M * N;
    double sum = 0, squares = 0;
    for (int64_t k = 0; k < N; k++) {
        sum += row[k];
        squares += row[k] * row[k];
    }
    return i < M ? sum / N : squares / N - sum / N * (sum / N);
}

static const struct kernel_case kernel_cases[] = {
    {"experiments/kernels/axpy.lift", "N=8", 3, axpy},
    {"experiments/kernels/matmul.lift", "M=6,N=8,K=5", 2, matmul},
    {"experiments/kernels/matmul_strided.lift", "M=6,N=8,K=5", 2, matmul_strided},
    {"experiments/kernels/batched_matmul.lift", "P=3,M=6,N=8,K=5", 2, batched_matmul},
    {"experiments/kernels/gemv.lift", "M=6,N=8", 2, gemv},
    {"experiments/kernels/gesummv.lift", "M=6,N=8", 5, gesummv},
    {"experiments/kernels/transpose.lift", "M=6,N=8", 1, transpose},
    {"experiments/kernels/gemm.lift", "M=6,N=8,K=5", 5, gemm},
    {"experiments/kernels/saxpy.lift", "N=8", 3, axpy},
    {"experiments/kernels/complex_mul.lift", "N=8", 4, complex_mul},
    {"experiments/kernels/complex_mul_interleaved.lift", "N=8", 2, complex_mul_interleaved},
    {"experiments/kernels/mean_variance.lift", "M=6,N=8", 1, mean_variance},
};
enum { N_KERNEL_CASES = sizeof kernel_cases / sizeof kernel_cases[0] };

static struct lift_program *parse_and_bind(const struct source *source, const char *sizes, struct arena *a)
{
    struct diag *d = diag_new();
    struct lift_size_value *values;
    struct lift_program *p = lift_parse(source, a, d);
    int n = lift_parse_sizes(sizes, &values, a, d);
    bool ok = p && n >= 0 && lift_bind(p, values, (unsigned)n, a, d);
    cr_assert(ok, "%s: %s", source->path, diag_message(d, 0));
    diag_free(d);
    return p;
}

static struct source read_kernel(const char *path)
{
    struct diag *d = diag_new();
    struct source source = {.path = path};
    source.text = source_read_file(path, 1 << 16, &source.length, d);
    cr_assert_not_null(source.text, "%s", path);
    diag_free(d);
    return source;
}

static const double *random_input(struct pcg32 *rng, int64_t n, struct arena *a)
{
    double *data = ARENA_ARRAY(a, double, n);
    for (int64_t i = 0; i < n; i++)
        data[i] = (double)pcg32_below(rng, 201) - 100;
    return data;
}

static void check_kernel(const struct kernel_case *c)
{
    struct arena *a = arena_new();
    struct source source = read_kernel(c->path);
    struct lift_program *p = parse_and_bind(&source, c->sizes, a);
    struct pcg32 rng = pcg32_seed(42, 1);
    const double *in[LIFT_MAX_ARRAYS] = {NULL};
    unsigned n_inputs = 0;
    for (unsigned i = 0; i < p->n_arrays; i++) {
        if (p->arrays[i].input == LIFT_NONE) continue;
        in[i] = random_input(&rng, lift_type_scalars(p->arrays[i].type), a);
        n_inputs++;
    }
    cr_assert_eq(n_inputs, c->n_inputs);
    int64_t before = 0; /* elements of the outputs before this one */
    for (unsigned k = 0; k < p->n_arrays; k++) {
        int64_t n = lift_type_scalars(p->arrays[k].type);
        if (p->arrays[k].output == LIFT_NONE) continue;
        double *out = ARENA_ARRAY(a, double, n);
        lift_interpret(p, in, k, out);
        for (int64_t i = 0; i < n; i++)
            cr_assert_eq(out[i], c->expected(in, before + i), "%s: %s[%d]", c->path, p->arrays[k].name,
                         (int)i);
        before += n;
    }
    free((void *)source.text);
    arena_free(a);
}

Test(lift_kernels, agree_with_loops)
{
    for (int i = 0; i < N_KERNEL_CASES; i++)
        check_kernel(&kernel_cases[i]);
}

static void check_print(const struct kernel_case *c)
{
    struct arena *a = arena_new();
    struct source source = read_kernel(c->path);
    struct lift_program *p = parse_and_bind(&source, c->sizes, a);
    struct strbuf first = {0}, second = {0};
    lift_print(p, &first);
    struct source printed = {"printed", first.text, first.length};
    struct lift_program *again = parse_and_bind(&printed, c->sizes, a);
    lift_print(again, &second);
    cr_assert_str_eq(first.text, second.text);
    cr_assert_eq(lift_fingerprint(p), lift_fingerprint(again));
    strbuf_free(&first);
    strbuf_free(&second);
    free((void *)source.text);
    arena_free(a);
}

Test(lift_kernels, print_to_a_fixed_point)
{
    for (int i = 0; i < N_KERNEL_CASES; i++)
        check_print(&kernel_cases[i]);
}

Test(lift_kernels, one_element_of_a_large_product_is_cheap)
{
    struct arena *a = arena_new();
    struct source source = read_kernel("experiments/kernels/matmul.lift");
    struct lift_program *p = parse_and_bind(&source, "M=1024,N=1024,K=1024", a);
    double *ones = ARENA_ARRAY(a, double, 1024 * 1024);
    for (int i = 0; i < 1024 * 1024; i++)
        ones[i] = 1;
    const double *in[] = {ones, ones};
    struct lift_value_bound last = lift_interpret_element(p, in, p->n_inputs, 1024 * 1024 - 1);
    cr_assert_eq(last.value, 1024);
    cr_assert_eq(last.s, 1024);
    cr_assert_eq(last.n, 1025);
    cr_assert(last.exact_ops);
    free((void *)source.text);
    arena_free(a);
}

Test(lift_kernels, fingerprint_depends_on_sizes)
{
    struct arena *a = arena_new();
    struct source source = read_kernel("experiments/kernels/axpy.lift");
    uint64_t small = lift_fingerprint(parse_and_bind(&source, "N=8", a));
    cr_assert_neq(small, lift_fingerprint(parse_and_bind(&source, "N=16", a)));
    free((void *)source.text);
    arena_free(a);
}
