/* Random leaves of the GPU space of many programs (descents.h). */
#include "tests/codegen/descents.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "core/lift/lift.h"
#include "core/space/data.h"
#include "gpu.space.h"
#include "core/space/space.h"
#include "tests/codegen/fixture.h"
#include "tests/fixture/longer.h"

enum { LOCAL_BYTES = 512, MORE_LOCAL_BYTES = 2048, COMPILED = 3 /* of the leaves of a program */ };

struct descent_case {
    struct arena *arena;
    struct diag *diag;
    struct source source;
    struct lift_program *program;
    struct backbone *bb;
    struct space_data *data;
    struct space *space;
    double **buffers; /* [bb->n_buffers]; the last is the output */
    double *expected;
    int64_t local_bytes;
};

static void fill_buffers(struct descent_case *x)
{
    const struct backbone *bb = x->bb;
    x->buffers = ARENA_ARRAY(x->arena, double *, bb->n_buffers);
    for (unsigned b = 0; b < bb->n_buffers; b++) {
        x->buffers[b] = ARENA_ARRAY(x->arena, double, bb->buffers[b].elements);
        for (int64_t i = 0; i < bb->buffers[b].elements; i++)
            x->buffers[b][i] = (double)((i * 7 + b * 3) % 11) - 5;
    }
    x->expected = ARENA_ARRAY(x->arena, double, bb->buffers[bb->n_buffers - 1].elements);
    lift_interpret(x->program, (const double *const *)x->buffers, bb->n_buffers - 1, x->expected);
}

static void open_case(struct descent_case *x, const char *text, const char *sizes, int64_t local_bytes)
{
    const struct bb_device device = {.max_work_group = 64,
                                     .max_work_item = {64, 64, 64},
                                     .local_bytes = local_bytes,
                                     .n_vector_widths = 3,
                                     .vector_widths = {2, 4, 8},
                                     .gpu = true,
                                     .nontemporal = cgt_streams(),
                                     .device_fence = true};
    struct lift_size_value *values;
    *x = (struct descent_case){.arena = arena_new(), .diag = diag_new(), .local_bytes = local_bytes};
    x->source = (struct source){"test.lift", text, strlen(text)};
    x->program = lift_parse(&x->source, x->arena, x->diag);
    int n = lift_parse_sizes(sizes, &values, x->arena, x->diag);
    cr_assert(x->program && n >= 0 && lift_bind(x->program, values, (unsigned)n, x->arena, x->diag));
    x->bb = bb_lower(x->program, &(struct bb_options){0}, x->arena, x->diag);
    cr_assert(x->bb);
    x->data = bb_instance(x->bb, &device);
    x->space = space_instantiate(&space_def_gpu, x->data, x->diag);
    cr_assert(x->space);
    fill_buffers(x);
}

static void close_case(struct descent_case *x)
{
    space_free(x->space);
    space_data_free(x->data);
    diag_free(x->diag);
    arena_free(x->arena);
}

/* Takes a random value that does not fail. */
static bool decide(struct space_state *st, uint32_t slot, struct pcg32 *random)
{
    uint32_t values[4096], n = space_values(st, slot, values);
    struct space_failure why;
    space_mark mark = space_snapshot(st);
    while (n > 0) {
        uint32_t i = pcg32_below(random, n);
        if (space_apply(st, (struct space_action){slot, values[i]}, &why)) return true;
        space_rollback(st, mark);
        values[i] = values[--n];
    }
    return false;
}

/* To a leaf, or false at a dead end. */
static bool descend(struct space_state *st, struct pcg32 *random)
{
    uint32_t slot;
    while ((slot = space_next_choice(st, NULL, 0)) != UINT32_MAX)
        if (!decide(st, slot, random)) return false;
    return true;
}

static void same_output(const struct descent_case *x, const char *text)
{
    unsigned last = x->bb->n_buffers - 1;
    for (int64_t i = 0; i < x->bb->buffers[last].elements; i++)
        cr_assert(x->buffers[last][i] == x->expected[i], "element %lld\n%s", (long long)i, text);
}

/* The text for a compiler that is given short texts. */
static void run_brief(const struct descent_case *x, const struct bb_candidate *c, struct arena *a)
{
    struct cg_target brief = cgt_target;
    const char *why = "";
    struct cg_kernel k;
    brief.brief = true;
    struct cg_program *p = cg_build(x->bb, c, &brief, a, &why);
    cr_assert(p, "%s", why);
    cg_emit(p, &k);
    if (cgt_run(x->bb, &k, x->buffers)) same_output(x, k.source);
    cg_kernel_free(&k);
}

/* Returns whether parts of a reduction are combined. */
static bool check_leaf(const struct descent_case *x, const struct space_state *leaf, bool compile)
{
    struct arena *a = arena_new();
    struct bb_candidate *c = bb_candidate_new(x->bb, a);
    const char *why = "";
    cr_assert(bb_decode(x->bb, leaf, c, &why), "%s", why);
    struct cg_program *p = cg_build(x->bb, c, &cgt_target, a, &why);
    cr_assert(p, "%s", why);
    struct cg_kernel k;
    cg_emit(p, &k);
    cr_assert_leq((int64_t)k.local_bytes, x->local_bytes, "%s", k.source);
    struct cg_check check = cg_interpret(p, x->buffers);
    cr_assert_eq(check.fault, CG_OK, "%s\n%s", check.where, k.source);
    same_output(x, k.source);
    if (compile && cgt_run(x->bb, &k, x->buffers)) same_output(x, k.source);
    if (compile) run_brief(x, c, a);
    bool split = strstr(k.source, "thresh_part_") != NULL;
    cg_kernel_free(&k);
    arena_free(a);
    return split;
}

/* Decides that groups divide a reduction along a tile; NULL: nothing. */
static void divide_by_groups(const struct descent_case *x, struct space_state *st, const char *tile)
{
    struct space_failure why;
    for (uint32_t t = 0; tile && t < x->bb->n_tiles; t++)
        if (!strcmp(x->bb->tiles[t].name, tile)) {
            cr_assert(space_apply(st, gpu_act_split(x->space, t, GPU_SPLIT_GROUPS), &why));
            return;
        }
    cr_assert_null(tile);
}

/* Decides that a value is staged, perhaps in registers; NULL: nothing. */
static void stage(const struct descent_case *x, struct space_state *st, const char *value, bool in_registers)
{
    struct space_failure why;
    for (uint32_t v = 0; value && v < x->bb->n_values; v++)
        if (!strcmp(x->bb->values[v].name, value)) {
            cr_assert(space_apply(st, gpu_act_staged(x->space, v, GPU_STAGED_YES), &why), "line %u: %s",
                      why.line, why.text);
            if (in_registers)
                cr_assert(space_apply(
                              st, gpu_act_mem_space(x->space, x->bb->values[v].region, GPU_MEM_SPACE_PRIVATE),
                              &why),
                          "line %u: %s", why.line, why.text);
            return;
        }
    cr_assert_null(value);
}

unsigned check_descents(const struct descents *d)
{
    struct descent_case x;
    struct pcg32 random = pcg32_seed(2021, 11);
    unsigned leaves = 0, split = 0;
    open_case(&x, d->text, d->sizes, d->local_bytes ? d->local_bytes : LOCAL_BYTES);
    struct space_state *root = space_pinned_root(x.space, d->pins, d->n_pins, x.diag);
    cr_assert(root, "%s", diag_count(x.diag) ? diag_message(x.diag, 0) : "no error text");
    divide_by_groups(&x, root, d->divided);
    stage(&x, root, d->staged, d->in_registers);
    struct space_state *st = space_state_clone(root);
    for (unsigned i = 0; i < d->descents; i++) {
        space_state_assign(st, root);
        if (descend(st, &random)) split += check_leaf(&x, st, leaves++ < d->compiled);
    }
    cr_assert_gt(leaves, d->descents / 2);
    space_state_free(st);
    space_state_free(root);
    close_case(&x);
    return split;
}

void check_staged(const char *text, const char *sizes, const char *value, unsigned usual)
{
    const struct descents d = {.text = text,
                               .sizes = sizes,
                               .local_bytes = 2048,
                               .staged = value,
                               .descents = longer(usual, 20 * usual),
                               .compiled = longer(2, 12)};
    check_descents(&d);
}

static unsigned check_within(int64_t local_bytes, const char *text, const char *sizes, const char *divided,
                             unsigned descents, unsigned compiled)
{
    const struct descents d = {.text = text,
                               .sizes = sizes,
                               .local_bytes = local_bytes,
                               .divided = divided,
                               .descents = descents,
                               .compiled = compiled};
    return check_descents(&d);
}

static unsigned check_divided(const char *text, const char *sizes, const char *divided, unsigned descents,
                              unsigned compiled)
{
    return check_within(0, text, sizes, divided, descents, compiled);
}

static unsigned check_compiled(const char *text, const char *sizes, unsigned descents, unsigned compiled)
{
    return check_divided(text, sizes, NULL, descents, compiled);
}

static unsigned check_leaves(const char *text, const char *sizes, unsigned descents)
{
    return check_compiled(text, sizes, descents, longer(COMPILED, 12));
}

Test(descents, axpy)
{
    check_leaves("size N\ninput alpha: float\ninput x: [float]N\ninput y: [float]N\n"
                 "output map(fun (xi, yi) -> alpha * xi + yi, zip(x, y))\n",
                 "N=48", 60);
}

Test(descents, matrix_vector)
{
    check_leaves("size M, N\ninput A: [[float]N]M\ninput x: [float]N\n"
                 "output map(fun row -> reduce(add, 0.0, map(mult, zip(row, x))), A)\n",
                 "M=8,N=12", 30);
}

Test(descents, matrix_product)
{
    check_leaves("size M, N, K\ninput A: [[float]K]M\ninput B: [[float]N]K\n"
                 "output map(fun row -> map(fun col -> reduce(add, 0.0, map(mult, zip(row, col))), "
                 "transpose(B)), A)\n",
                 "M=8,N=4,K=6", 12);
}

Test(descents, transposition)
{
    check_leaves("size M, N\ninput A: [[float]N]M\noutput transpose(A)\n", "M=8,N=12", 40);
}

Test(descents, reduction_inside_a_reduction)
{
    check_leaves("size M, N\ninput A: [[float]N]M\n"
                 "output reduce(add, 0.0, map(fun r -> reduce(max, -100.0, r), A))\n",
                 "M=8,N=12", 60);
}

/* The distance of each element to the nearest row. */
Test(descents, nearest)
{
    check_leaves("size M, N, K\ninput A: [[float]K]M\ninput B: [[float]K]N\n"
                 "output map(fun p -> reduce(min, 10000.0, map(fun q ->\n"
                 "  reduce(fun s (a, b) -> s + abs(a - b), 0.0, zip(p, q)), B)), A)\n",
                 "M=4,N=6,K=4", 30);
}

Test(descents, reduction_that_continues)
{
    check_leaves("size M, N, P\ninput A: [[[float]N]M]P\n"
                 "output map(fun a -> reduce(fun s r -> reduce(add, s, r), 1.0, a), A)\n",
                 "M=4,N=6,P=2", 40);
}

/* The variation of rows around their means: the inner reduction is read by each element of the second. */
Test(descents, reductions_of_rows_in_a_reduction)
{
    check_leaves("size M, N\ninput A: [[float]N]M\n"
                 "output reduce(add, 0.0, map(fun r -> let m = reduce(max, -100.0, r) in\n"
                 "  reduce(fun s v -> s + (v - m) * (v - m), 0.0, r), A))\n",
                 "M=4,N=6", 30);
}

/* The second largest of a row: two scalars that read each other. */
Test(descents, reduction_to_a_tuple)
{
    check_leaves("size M, N\ninput A: [[float]N]M\n"
                 "output map(fun r -> get(0, reduce(fun ((b, a), v) -> (max(b, min(a, v)), max(a, v)),\n"
                 "  (-99.0, -99.0), r)), A)\n",
                 "M=8,N=12", 40);
}

/* Both scalars are read, by an inner reduction's reader in an outer reduction to a tuple. */
Test(descents, tuple_inside_a_tuple)
{
    check_leaves(
        "size M, N\ninput A: [[float]N]M\n"
        "output let t = reduce(fun ((s, m), r) -> let u = reduce(fun ((p, q), v) -> (p + v, max(q, v)),\n"
        "    (0.0, -99.0), r) in (s + get(0, u) * get(1, u), min(m, get(0, u))), (0.0, 99.0), A) in\n"
        "  get(0, t) - get(1, t)\n",
        "M=6,N=8", 30);
}

/* A guarded load and a choice between weights by their index. */
Test(descents, windows_of_a_padded_array)
{
    check_leaves("size N\ninput x: [float]N\n"
                 "output map(fun w -> dot(w, [1.0, 2.0, 4.0]), slide(3, 1, padConstant(1, 1, 3.0, x)))\n",
                 "N=12", 30);
}

/* Staged once, with each border; windows that step by 2, and extents that are rounded up. */
Test(descents, windows_of_two_dimensions)
{
    check_leaves("size H, W\ninput A: [[float]W]H\n"
                 "output map2(fun w -> sum(join(w)), slide2(3, 1, pad2(1, 1, clamp, A)))\n",
                 "H=4,W=13", 30);
    check_leaves("size H, W\ninput A: [[float]W]H\n"
                 "output map2(fun w -> reduce(max, -9.0, join(w)), slide2(3, 2, pad2(1, 1, mirror, A)))\n",
                 "H=5,W=27", 30);
    check_leaves("size H, W\ninput A: [[float]W]H\n"
                 "output map2(fun w -> sum(join(w)), slide2(2, 1, pad2(0, 1, wrap, A)))\n",
                 "H=4,W=8", 30);
}

/* The windows are longer than the results are many, and their elements are rounded up: steps are guarded. */
Test(descents, long_windows)
{
    check_leaves("size N\ninput x: [float]N\ninput w: [float]17\n"
                 "output map(fun v -> dot(v, w), slide(17, 1, x))\n",
                 "N=28", 60);
}

/* Choices whose index is a lane of vectors; indices that are clamped, mirrored and wrapped. */
Test(descents, choices_by_index)
{
    check_leaves(
        "size N\ninput x: [float]N\n"
        "output concat(map(fun v -> v + 1.0, x), pad(2, 2, mirror, x), reverse(pad(1, 3, wrap, x)))\n",
        "N=4", 30);
}

/* Rows whose maxima, sums and squares are parts of work-items; sums start from another value than 0. */
Test(descents, reductions_one_after_the_other)
{
    cr_assert_gt(
        check_leaves("size M, N\ninput A: [[float]N]M\n"
                     "output map(fun r -> let m = reduce(max, -100.0, r) in\n"
                     "  let t = reduce(fun ((s, q), v) -> (s + v, q - (v - m) * v), (3.0, m), r) in\n"
                     "  map(fun v -> get(0, t) * v + get(1, t), r), A)\n",
                     "M=4,N=12", 40),
        5);
}

/* Products start from 2, in one part. */
Test(descents, products_of_integers)
{
    cr_assert_gt(
        check_compiled("size M, N\ninput A: [[int]N]M\n"
                       "output map(fun r -> let t = reduce(fun ((p, l), v) -> (p * (v * v + 1), min(l, v)),\n"
                       "  (2, 3), r) in get(0, t) + get(1, t), A)\n",
                       "M=2,N=6", 40, 0),
        5);
}

/* Groups have parts of a sum, which starts from 1 in one of them; work-items of the groups may have parts,
 * too. */
Test(descents, parts_of_groups)
{
    static const char *const tiles[] = {"n.0", "n.1", "n.2"};
    for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++)
        cr_assert_gt(check_divided("size M, N\ninput A: [[float]N]M\ninput x: [float]N\n"
                                   "output map(fun row -> reduce(add, 1.0, map(mult, zip(row, x))), A)\n",
                                   "M=3,N=24", tiles[i], 60, longer(1, 6)),
                     5);
}

/* The last part is beyond the extent in part, or as a whole: 13 as 4 x 4. */
Test(descents, parts_of_groups_beyond_the_extent)
{
    check_divided("size M, N\ninput A: [[float]N]M\noutput map(fun row -> reduce(max, -100.0, row), A)\n",
                  "M=13,N=13", "n.0", 60, longer(1, 6));
}

/* What comes after is done by the last group alone: another reduction, and a loop over the row. What comes
 * before is done by all groups. */
Test(descents, parts_of_groups_of_one_of_two_reductions)
{
    static const char *const tiles[] = {"n_3.0", "n_2.0"}; /* of the first, of the second */
    for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++)
        check_divided("size M, N\ninput A: [[float]N]M\n"
                      "output map(fun r -> let m = reduce(max, -100.0, r) in\n"
                      "  let t = reduce(fun ((s, q), v) -> (s + v, q - (v - m) * v), (3.0, m), r) in\n"
                      "  map(fun v -> get(0, t) * v + get(1, t), r), A)\n",
                      "M=2,N=12", tiles[i], 60, longer(1, 6));
}

/* A product's tiles: work-items have several sums each. */
Test(descents, parts_of_groups_of_a_product)
{
    check_divided("size M, N, K\ninput A: [[float]K]M\ninput B: [[float]N]K\n"
                  "output map(fun row -> map(fun col -> reduce(add, 0.0, map(mult, zip(row, col))), "
                  "transpose(B)), A)\n",
                  "M=8,N=4,K=16", "k.0", 40, longer(1, 6));
}

/* Elements repeat after 11: the first or the last of equal ones. */
#define OF_ROWS(function, start)                                                                             \
    "size M, N\ninput A: [[float]N]M\n"                                                                      \
    "output map(fun r -> let t = reduce(" function ",\n  " start ", zip(r, indices(r))) in\n"

Test(descents, places_of_extremes)
{
    cr_assert_gt(check_leaves("size M, N\ninput A: [[float]N]M\noutput map(fun r -> float(argmax(r)), A)\n",
                              "M=4,N=24", 40),
                 5);
    cr_assert_gt(check_leaves("size M, N\ninput A: [[float]N]M\noutput map(fun r -> float(argmin(r)), A)\n",
                              "M=13,N=13", 80),
                 5);
    cr_assert_gt(check_leaves(OF_ROWS("fun ((v, i), (w, j)) -> if w > v then (w, j) else (v, i)",
                                      "(5.0, (-1 : int))") "  float(get(1, t)), A)\n",
                              "M=4,N=24", 40),
                 5);
    cr_assert_gt(check_leaves(OF_ROWS("fun ((i, v), (w, j)) -> if v >= w then (j, w) else (i, v)",
                                      "((0 : int), 3.0)") "  float(get(0, t)), A)\n",
                              "M=4,N=24", 40),
                 5);
}

/* 0 / 0, 1 / 0 and -1 / 0 among the values: NaN is no extreme. */
Test(descents, places_of_extremes_of_infinite_values)
{
    cr_assert_gt(check_leaves("size M, N\ninput A: [[float]N]M\n"
                              "output map(fun r -> float(argmin(map(fun v -> (v - 1.0) / abs(v), r))), A)\n",
                              "M=4,N=24", 40),
                 5);
    check_leaves("size M, N\ninput A: [[float]N]M\n"
                 "output map(fun r -> float(argmax(map(fun v -> v / 0.0, r))), A)\n",
                 "M=4,N=24", 20);
}

/* Floats that are selected take the places of several in the array of the parts; a sum beside them starts
 * from 3 in one part. */
Test(descents, more_than_the_place_is_selected)
{
    cr_assert_gt(check_within(MORE_LOCAL_BYTES,
                              OF_ROWS("fun ((v, i, p), (w, j)) -> if w <= v then (w, j, float(j) - w) else\n"
                                      "  (v, i, p)",
                                      "(highest, (-1 : int), 0.0)") "  get(2, t) + get(0, t), A)\n",
                              "M=4,N=24", NULL, 40, longer(COMPILED, 12)),
                 5);
    cr_assert_gt(
        check_within(MORE_LOCAL_BYTES,
                     OF_ROWS("fun ((s, v, i), (w, j)) -> let u = if w > v then (w, j) else (v, i) in\n"
                             "  (s + w, get(0, u), get(1, u))",
                             "(3.0, lowest, (0 : int))") "  get(0, t) + float(get(2, t)), A)\n",
                     "M=4,N=24", NULL, 40, longer(COMPILED, 12)),
        5);
}

Test(descents, parts_of_groups_that_are_selected)
{
    static const char *const tiles[] = {"n.0", "n.1"};
    for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++)
        check_within(
            MORE_LOCAL_BYTES,
            OF_ROWS("fun ((s, v, i, p), (w, j)) -> let u = if w >= v then (w, j, w - 1.0) else (v, i, p)\n"
                    "  in (s + w, get(0, u), get(1, u), get(2, u))",
                    "(3.0, lowest, (-1 : int), 0.0)") "  get(0, t) + float(get(2, t)) * get(3, t), A)\n",
            "M=3,N=24", tiles[i], 60, longer(1, 6));
    check_divided("size M, N\ninput A: [[float]N]M\noutput map(fun r -> float(argmax(r)), A)\n", "M=13,N=13",
                  "n.0", 60, longer(1, 6));
}

/* The places of the nearest rows, of integers. */
Test(descents, place_of_the_nearest)
{
    check_compiled(
        "size M, N, K\ninput A: [[int]K]M\ninput B: [[int]K]N\n"
        "output map(fun p -> argmin(map(fun q -> reduce(fun s (a, b) -> s + abs(a - b), (0 : int),\n"
        "  zip(p, q)), B)), A)\n",
        "M=4,N=6,K=4", 30, 0);
}

/* Texts of two kernels in one program, as of a sequence: the functions before a kernel are defined once. */
Test(descents, two_texts_in_one_program)
{
    struct descent_case x;
    struct pcg32 random = pcg32_seed(1, 1);
    struct cg_kernel k;
    const char *why = "";
    open_case(&x, "size N\ninput x: [int]N\noutput map(fun v -> v / 3 + v % 5, x)\n", "N=8", LOCAL_BYTES);
    struct space_state *st = space_root(x.space, NULL);
    cr_assert(descend(st, &random));
    struct bb_candidate *c = bb_candidate_new(x.bb, x.arena);
    cr_assert(bb_decode(x.bb, st, c, &why), "%s", why);
    cg_emit(cg_build(x.bb, c, &cgt_target, x.arena, &why), &k);
    const char *name = strstr(k.source, k.name);
    char *both = arena_printf(x.arena, "%s%.*sother%s", k.source, (int)(name - k.source), k.source,
                              name + strlen(k.name));
    free(k.source);
    k.source = base_strdup(both);
    cgt_run(x.bb, &k, x.buffers); /* it fails if the text cannot be built */
    cg_kernel_free(&k);
    space_state_free(st);
    close_case(&x);
}
