#include "tests/codegen/matrices.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/backbone/matrix.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/lift/interpret.h"
#include "tests/codegen/text_index.h"
#include "tests/fixture/kernel.h"

const struct bb_device matrix_device = {.gpu = true,
                                        .max_work_group = 1024,
                                        .max_work_item = {1024, 1024, 64},
                                        .local_bytes = 49152,
                                        .n_vector_widths = 2,
                                        .vector_widths = {2, 4},
                                        .half_bits = true,
                                        .matrix = true};

struct bb_options matrix_tf32(void)
{
    struct bb_options o = {0};
    struct diag *d = diag_new();
    cr_assert(bb_parse_allowed("tf32", &o, d));
    diag_free(d);
    return o;
}

struct contenders matrix_open(const char *kernel, const char *sizes, const struct bb_options *options)
{
    return contenders_open_with(kernel, sizes, &matrix_device, options, "in matrices");
}

struct cg_program *matrix_build(struct contenders *c, unsigned i, const char **why)
{
    return contenders_program(c, c->first + i, why);
}

void matrix_count(const char *kernel, const char *sizes, const struct bb_options *options,
                  const struct bb_device *device, unsigned n)
{
    contenders_count(bb_matrix, kernel, sizes, device, options, n);
}

/* ---- what the loop program computes ---- */

static void matrix_run(struct contenders *c, unsigned shape, double **buffers, uint32_t output,
                       const double *expected)
{
    const char *why = "", *label = c->plain[c->first + shape].label;
    struct cg_program *p = matrix_build(c, shape, &why);
    cr_assert(p, "%s: %s", label, why);
    struct cg_check check = cg_interpret(p, buffers);
    cr_assert_eq(check.fault, CG_OK, "%s: %s", label, check.where);
    contenders_compare(c, c->first + shape, buffers[output], expected, output);
}

void matrix_interpret(const char *kernel, const char *sizes, const struct bb_options *options)
{
    struct contenders c = matrix_open(kernel, sizes, options);
    uint32_t output;
    const double *expected;
    double **buffers = contenders_buffers(&c, &output, &expected);
    matrix_run(&c, 0, buffers, output, expected);
    matrix_run(&c, c.n - 1, buffers, output, expected);
    contenders_close(&c);
}

/* ---- what the text does ---- */

/* A side as the test knows it from the loop program: the offset of the element of a lane, a register and a
 * step within the tile of the first iteration, where all other variables are 0. */
static int64_t matrix_offset(struct contenders *c, struct cg_program *p, const struct cg_matrix *m,
                             const struct cg_matrix_side *s, int64_t lane, int64_t reg, int64_t step)
{
    const struct index_expr **at = ARENA_ARRAY(c->arena, const struct index_expr *, cg_variables(p));
    for (unsigned v = 0; v < cg_variables(p); v++)
        at[v] = index_constant(c->arena, 0);
    at[s->lanes->id] = index_constant(c->arena, lane);
    at[s->loaded->id] = index_constant(c->arena, reg);
    at[m->steps->id] = index_constant(c->arena, step);
    const struct index_expr *x = index_substitute(c->arena, p->access[s->load].offset, at, cg_variables(p));
    cr_assert_eq(x->n_terms, 0);
    return x->constant;
}

/* All offsets of a side's elements: of lanes, registers and steps. */
struct matrix_offsets {
    int64_t at[8][32][64];
};

static struct matrix_offsets *matrix_list(struct contenders *c, struct cg_program *p,
                                          const struct cg_matrix *m, const struct cg_matrix_side *s)
{
    struct matrix_offsets *o = ARENA_NEW(c->arena, struct matrix_offsets);
    cr_assert(s->lanes->size <= 8 && s->registers->size <= 32 && m->steps->size <= 64);
    for (int64_t lane = 0; lane < s->lanes->size; lane++)
        for (int64_t reg = 0; reg < s->registers->size; reg++)
            for (int64_t step = 0; step < m->steps->size; step++)
                o->at[lane][reg][step] = matrix_offset(c, p, m, s, lane, reg, step);
    return o;
}

const struct cg_matrix *matrix_find(const struct cg_program *p)
{
    const struct cg_matrix *m = NULL;
    for (unsigned i = 0; i < p->n_nodes; i++)
        if (p->nodes[i]->matrix) m = p->nodes[i]->matrix;
    cr_assert(m && p->root->has_matrix);
    return m;
}

/* What the instructions read: for each variable of the text the address of each row of its four matrices, or,
 * of those that are loaded in words, of each word. */
struct matrix_rows {
    int64_t at[4][8], word[4][32];
    bool words, rounded;
};

struct matrix_text {
    int64_t row; /* elements of 16 bytes; a product has twice as many steps */
    const struct matrix_offsets *of_left, *of_right; /* of the loop program */
    const char *kernel;
    struct matrix_rows left[2][8], right[2][8]; /* of one product, and of the next */
};

/* Rows of a matrix, 16 bytes each, are in different banks: 32 of 4 bytes. */
static void matrix_check_banks(const struct matrix_rows *r, int64_t row)
{
    for (int q = 0; q < 4; q++) {
        unsigned seen = 0;
        for (int i = 0; i < 8; i++)
            seen |= 1u << r->at[q][i] / row % 8;
        cr_assert_eq(seen, 0xff, "matrix %d: %x", q, seen);
    }
}

/* So are the words of a matrix. */
static void matrix_check_word_banks(const struct matrix_rows *r)
{
    for (int q = 0; q < 4; q++) {
        uint32_t seen = 0;
        for (int l = 0; l < 32; l++)
            seen |= UINT32_C(1) << r->word[q][l] % 32;
        cr_assert_eq(seen, UINT32_MAX, "matrix %d: %x", q, seen);
    }
}

static bool matrix_is_next(const char **name)
{
    bool next = strncmp(*name, "thresh_next_", 12) == 0;
    *name += next ? 12 : 7;
    return next;
}

/* The variable of that name. */
static struct matrix_rows *matrix_variable(struct matrix_text *t, const char *name)
{
    bool next = matrix_is_next(&name);
    int64_t variable = strtoll(name + 1, NULL, 10);
    cr_assert(variable < 8 && (*name == 'l' || *name == 'r'), "%.120s", name);
    return &(*name == 'l' ? t->left : t->right)[next][variable];
}

/* The addresses that the work-items of a bundle give: work-item l that of row l % 8 of matrix l / 8. */
static void matrix_take_load(struct matrix_text *t, const char *line)
{
    struct matrix_rows *rows = matrix_variable(t, strchr(line, '(') + 1);
    *rows = (struct matrix_rows){.rounded = false};
    for (int64_t l = 0; l < 32; l++) {
        struct text_index r = {t->kernel, strchr(line, '[') + 1, l};
        rows->at[l / 8][l % 8] = text_index_value(&r);
        cr_assert_eq(*r.at, ']', "%.120s", line);
    }
    matrix_check_banks(rows, t->row);
}

/* "thresh_l0 = (uint4)(as_uint(B_tile[...]), ...": each work-item loads its word of four matrices. */
static void matrix_take_words(struct matrix_text *t, const char *line)
{
    struct matrix_rows *rows = matrix_variable(t, line);
    *rows = (struct matrix_rows){.words = true};
    for (int q = 0; q < 4; q++) {
        line = strchr(line, '[') + 1;
        for (int64_t l = 0; l < 32; l++) {
            struct text_index r = {t->kernel, line, l};
            rows->word[q][l] = text_index_value(&r);
            cr_assert_eq(*r.at, ']', "%.120s", line);
        }
    }
    matrix_check_word_banks(rows);
}

static bool matrix_is_words(const char *line)
{
    size_t name = strspn(line, "abcdefghijklmnopqrstuvwxyz_0123456789");
    return strncmp(line + name, " = (uint4)(as_uint(", 19) == 0;
}

/* The element of row i and column j of a matrix: of 32-bit ones work-item 4 i + j has it, of half numbers the
 * one that has two of them. */
static int64_t matrix_element(const struct matrix_rows *r, int q, int64_t i, int64_t j, bool transposed)
{
    if (r->words) return r->word[q][4 * i + j];
    return transposed ? r->at[q][j] + i : r->at[q][i] + j;
}

/* c[row][column] = sum over k of a[row][k] * b[k][column] with the matrices of the text, against what the
 * loop program multiplies for the result `name` of work-item (row % 8, column / 2). */
static void matrix_check_result(struct cg_program *p, const struct cg_matrix *m, const struct matrix_text *t,
                                int64_t left, int64_t right, unsigned pair, int64_t first_step,
                                const char *name, int result)
{
    bool m_left = p->bb->insts[m->left.load].logicals[0] == p->bb->insts[m->step].logicals[0];
    unsigned m_register, n_register;
    cr_assert_eq(sscanf(name, "mad_%u_%u", &m_register, &n_register), 2, "%s", name);
    int64_t l = m_left ? m_register : n_register, r = m_left ? n_register : m_register;
    for (int64_t item = 0; item < 32; item++)
        for (int64_t k = 0; k < 2 * t->row; k++) {
            int64_t row = item / 4 + 8 * (result / 2), column = 2 * (item % 4) + result % 2;
            int64_t next = first_step / (2 * t->row) % 2, at = k % t->row;
            int64_t a = matrix_element(&t->left[next][left], (int)(row / 8 + 2 * (k / t->row)), row % 8, at,
                                       m->left.transposed),
                    b = matrix_element(&t->right[next][right], (int)(2 * pair + k / t->row), column, at,
                                       false);
            cr_assert_eq(a, t->of_left->at[item / 4][l][first_step + k]);
            cr_assert_eq(b, t->of_right->at[item % 4][r][first_step + k]);
        }
}

static void matrix_check_product(struct cg_program *p, const struct cg_matrix *m, struct matrix_text *t,
                                 int64_t first_step, const char *line)
{
    char names[4][16], variables[3][32], members[2];
    bool tf32 = t->row == 4;
    cr_assert_eq(strncmp(line, "thresh_multiply_tf32(", 21) == 0, tf32);
    cr_assert_eq(sscanf(strchr(line, '('),
                        "(%15[a-z0-9_], %15[a-z0-9_], %15[a-z0-9_], %15[a-z0-9_], %31[a-z0-9_], "
                        "%31[a-z0-9_].%c, %31[a-z0-9_].%c);",
                        names[0], names[1], names[2], names[3], variables[0], variables[1], &members[0],
                        variables[2], &members[1]),
                 9, "%.120s", line);
    cr_assert_str_eq(variables[1], variables[2]);
    cr_assert((members[0] == 'x' && members[1] == 'y') || (members[0] == 'z' && members[1] == 'w'));
    const char *left = variables[0], *right = variables[1];
    bool next = first_step / (2 * t->row) % 2;
    cr_assert(matrix_variable(t, left)->rounded == tf32 && matrix_variable(t, right)->rounded == tf32);
    cr_assert(matrix_is_next(&left) == next && matrix_is_next(&right) == next && *left == 'l' &&
              *right == 'r');
    for (int i = 0; i < 4; i++)
        matrix_check_result(p, m, t, strtoll(left + 1, NULL, 10), strtoll(right + 1, NULL, 10),
                            members[0] == 'z', first_step, names[i], i);
}

/* The loads of a product's steps come before it, and after the products of steps whose names they have. */
void matrix_check_text(const char *kernel, unsigned shape, const struct bb_options *options)
{
    struct contenders c = matrix_open(kernel, "M=256,N=256,K=128", options);
    const char *why = "";
    struct cg_program *p = matrix_build(&c, shape, &why);
    cr_assert(p, "%s", why);
    const struct cg_matrix *m = matrix_find(p);
    struct cg_kernel k;
    cg_emit(p, &k);
    struct matrix_text t = {.kernel = k.source,
                            .row = m->row,
                            .of_left = matrix_list(&c, p, m, &m->left),
                            .of_right = matrix_list(&c, p, m, &m->right)};
    int64_t products = 0, of_steps = m->left.registers->size / 2 * m->right.registers->size / 2;
    const char *kernel_text = strstr(k.source, "__kernel");
    for (const char *at = kernel_text; (at = strstr(at, "thresh_")); at++) {
        if (strncmp(at, "thresh_load_", 12) == 0) matrix_take_load(&t, at);
        if (matrix_is_words(at)) matrix_take_words(&t, at);
        if (strncmp(at, "thresh_round(", 13) == 0) matrix_variable(&t, at + 13)->rounded = true;
        if (strncmp(at, "thresh_multiply", 15) != 0) continue;
        matrix_check_product(p, m, &t, products / of_steps * 2 * t.row, at);
        products++;
    }
    cr_expect_eq(products, of_steps * m->steps->size / (2 * t.row));
    cg_kernel_free(&k);
    contenders_close(&c);
}

/* ---- random implementations and texts ---- */

unsigned matrix_descend(const struct kernel_case *kernel, const struct bb_options *options,
                        const char *const *pins, unsigned descents, unsigned *leaves)
{
    const struct cg_target target = cg_target_of(&matrix_device);
    unsigned n_pins = 0;
    struct kernel_fixture f;
    kernel_open(&f, kernel, &matrix_device, options);
    while (pins[n_pins])
        n_pins++;
    struct space_state *root = space_pinned_root(f.space, pins, n_pins, f.diag);
    cr_assert_not_null(root);
    struct pcg32 rng = pcg32_seed(5, 3);
    unsigned lowered = 0;
    for (unsigned i = 0; i < descents; i++) {
        space_mark mark = space_snapshot(root);
        struct bb_candidate *c = bb_candidate_new(f.bb, f.arena);
        const char *why = "";
        if (kernel_descend(root, &rng)) {
            *leaves += 1;
            cr_assert(bb_decode(f.bb, root, c, &why), "%s", why);
            struct cg_program *p = cg_build(f.bb, c, &target, f.arena, &why);
            if (p && p->root->has_matrix)
                cr_expect(!matrix_find(p)->left.lanes->n_guards && !matrix_find(p)->right.lanes->n_guards);
            lowered += p != NULL;
        }
        space_rollback(root, mark);
    }
    space_state_free(root);
    kernel_close(&f);
    return lowered;
}

void matrix_expect(const char *kernel, const struct bb_options *options, unsigned shape,
                   const char *const *texts)
{
    struct contenders c = matrix_open(kernel, "M=256,N=256,K=128", options);
    const char *why = "";
    struct cg_program *p = matrix_build(&c, shape, &why);
    cr_assert(p, "%s", why);
    struct cg_kernel k;
    cg_emit(p, &k);
    for (const char *at = k.source; *texts; texts++) {
        at = strstr(at, *texts);
        cr_assert(at, "%s is not there", *texts);
    }
    cr_expect(!strstr(k.source, "ushort8"));
    cg_kernel_free(&k);
    contenders_close(&c);
}
