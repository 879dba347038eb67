/* The rules are over the backbone: main logical dimensions with their extents, instructions with their index
 * expressions, buffers. A rule that does not know a figure of the device keeps silent. */
#include "coordinator/advice.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/base/units.h"
#include "core/lift/size.h"

enum {
    LARGEST_TILE = 64,    /* tiles of one dimension are rarely longer */
    USEFUL_TILE = 8,      /* a dimension whose tiles are all shorter is as good as not tiled */
    BETTER_MULTIPLE = 16, /* of extents that are suggested */
    LONG_REDUCTION = 256, /* elements that one work-item reduces, from which on that counts */
    REUSE = 4             /* uses of an element from which on caches and tiles decide */
};

struct adviser {
    const struct problem *problem;
    const struct backbone *bb;
    const struct device *dev; /* or NULL */
    struct arena *arena;
    struct advice advice;
};

/* Adds a line. */
BASE_PRINTF(2, 3) static void say(struct adviser *v, const char *fmt, ...)
{
    struct strbuf line = {0};
    va_list args;
    if (v->advice.n == ADVICE_MOST) return;
    va_start(args, fmt);
    strbuf_vprintf(&line, fmt, args);
    va_end(args);
    v->advice.lines[v->advice.n++] = arena_strdup(v->arena, line.text);
    strbuf_free(&line);
}

static bool is_main(const struct bb_logical *l)
{
    return l->of == BB_NONE;
}

/* Elements of the output; INT64_MAX if they are more. */
static int64_t count_results(const struct backbone *bb)
{
    int64_t product = 1;
    for (uint32_t i = 0; i < bb->n_logicals; i++)
        if (is_main(&bb->logicals[i]) && !bb->logicals[i].reduction &&
            __builtin_mul_overflow(product, bb->logicals[i].extent, &product))
            return INT64_MAX;
    return product;
}

/* Elements of the longest reduction; 0: there is none. */
static int64_t longest_reduction(const struct backbone *bb)
{
    int64_t longest = 0;
    for (uint32_t i = 0; i < bb->n_logicals; i++)
        if (is_main(&bb->logicals[i]) && bb->logicals[i].reduction && bb->logicals[i].extent > longest)
            longest = bb->logicals[i].extent;
    return longest;
}

/* ---- extents that cannot be tiled ---- */

static int64_t largest_tile(int64_t extent)
{
    int64_t d = extent < LARGEST_TILE ? extent : LARGEST_TILE;
    while (extent % d)
        d--;
    return d;
}

static bool is_untileable(const struct bb_logical *l)
{
    return is_main(l) && largest_tile(l->extent) < USEFUL_TILE && l->extent > LARGEST_TILE;
}

/* "M", or "N + 1". */
static const char *size_text(const struct adviser *v, const struct lift_size *size)
{
    struct strbuf text = {0};
    lift_size_print(size, &text);
    const char *copy = arena_strdup(v->arena, text.text);
    strbuf_free(&text);
    return copy;
}

/* A parameter that the size depends on; NULL: it is a number. */
static const struct lift_size *parameter_of(const struct lift_size *size)
{
    if (size->kind == LIFT_SIZE_PARAM) return size;
    if (size->kind == LIFT_SIZE_CONST) return NULL;
    const struct lift_size *left = parameter_of(size->a);
    return left ? left : parameter_of(size->b);
}

/* Whether the program is right with this value of one parameter. */
static bool binds(const struct adviser *v, unsigned param, int64_t value)
{
    const struct lift_program *p = v->problem->program;
    struct arena *a = arena_new();
    struct diag *ignored = diag_new();
    struct lift_size_value *values = ARENA_ARRAY(a, struct lift_size_value, p->n_sizes);
    for (unsigned i = 0; i < p->n_sizes; i++)
        values[i] = (struct lift_size_value){p->sizes[i].name, i == param ? value : p->sizes[i].value};
    struct lift_program *again = lift_parse(&v->problem->source, a, ignored);
    bool ok = again && lift_bind(again, values, p->n_sizes, a, ignored);
    diag_free(ignored);
    arena_free(a);
    return ok;
}

/* Whether the extent is well divided, and the program right, with this value of the parameter. */
static bool is_better(const struct adviser *v, const struct lift_size *size, unsigned param, int64_t value)
{
    const struct lift_program *p = v->problem->program;
    struct lift_size_param *sizes = arena_memdup(v->arena, p->sizes, p->n_sizes * sizeof *p->sizes);
    int64_t extent;
    sizes[param].value = value;
    return value > 0 && lift_size_value(size, sizes, &extent) == LIFT_SIZE_OK && extent > 0 &&
           extent % BETTER_MULTIPLE == 0 && binds(v, param, value);
}

/* The nearest better value above (step 1) or below (-1); 0: none is near. */
static int64_t nearest_better(const struct adviser *v, const struct lift_size *size, unsigned param, int step)
{
    int64_t value = v->problem->program->sizes[param].value;
    for (int i = 1; i <= 2 * BETTER_MULTIPLE; i++)
        if (is_better(v, size, param, value + i * step)) return value + i * step;
    return 0;
}

/* "; pad to M = 512 or choose M = 496", or what there is of it. */
static const char *better_sizes(const struct adviser *v, const struct lift_size *size)
{
    const struct lift_size *param = parameter_of(size);
    if (!param) return "; pad the array";
    int64_t above = nearest_better(v, size, param->param, 1),
            below = nearest_better(v, size, param->param, -1);
    if (above && below)
        return arena_printf(v->arena, "; pad to %s = %" PRId64 " or choose %s = %" PRId64, param->name, above,
                            param->name, below);
    if (!above && !below) return "; pad the array";
    return arena_printf(v->arena, "; %s %s = %" PRId64, above ? "pad to" : "choose", param->name,
                        above ? above : below);
}

static const char *why_untileable(const struct adviser *v, const struct bb_logical *l)
{
    if (l->n_levels == 1) return "is prime and cannot be tiled";
    return arena_printf(v->arena, "has no divisor from %d to %d, so it cannot be tiled well", USEFUL_TILE,
                        LARGEST_TILE);
}

/* Whether an earlier dimension has the same size. */
static bool told_before(const struct adviser *v, uint32_t logical, const char *text)
{
    for (uint32_t i = 0; i < logical; i++) {
        const struct bb_logical *l = &v->bb->logicals[i];
        if (is_untileable(l) && !strcmp(size_text(v, l->size), text)) return true;
    }
    return false;
}

static void advise_extents(struct adviser *v)
{
    bool all = true;
    for (uint32_t i = 0; i < v->bb->n_logicals; i++)
        all = all && (!is_main(&v->bb->logicals[i]) || is_untileable(&v->bb->logicals[i]));
    for (uint32_t i = 0; i < v->bb->n_logicals; i++) {
        const struct bb_logical *l = &v->bb->logicals[i];
        if (!is_untileable(l)) continue;
        const char *text = size_text(v, l->size);
        if (told_before(v, i, text)) continue;
        if (l->size->kind != LIFT_SIZE_CONST) text = arena_printf(v->arena, "%s = %" PRId64, text, l->extent);
        say(v, "%s %s: expect a %s kernel%s", text, why_untileable(v, l), all ? "slow" : "slower",
            better_sizes(v, l->size));
    }
}

/* ---- too few results ---- */

static void advise_reduction(struct adviser *v)
{
    int64_t results = count_results(v->bb), reduced = longest_reduction(v->bb);
    unsigned units = v->dev ? v->dev->compute_units : 0;
    const char *next =
        "output partial results, map(fun c -> reduce(f, z, c), split(k, a)), and reduce them in a "
        "second program";
    if (reduced < LONG_REDUCTION) return;
    if (results == 1)
        say(v,
            "one work-item reduces all %" PRId64 " elements to one result: expect a slow "
            "kernel; %s",
            reduced, next);
    else if (results < units)
        say(v, "%" PRId64 " results occupy at most %" PRId64 " of the %u compute units of %s; %s", results,
            results, units, v->dev->name, next);
}

/* ---- arrays beyond the cache ---- */

/* Iterations of the instruction that has most; INT64_MAX if they are more. */
static int64_t most_iterations(const struct backbone *bb)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        int64_t product = 1;
        const struct bb_inst *inst = &bb->insts[i];
        for (unsigned j = 0; j < inst->n_logicals; j++)
            if (__builtin_mul_overflow(product, bb->logicals[inst->logicals[j]].extent, &product))
                return INT64_MAX;
        most = product > most ? product : most;
    }
    return most;
}

static void advise_cache(struct adviser *v)
{
    int64_t bytes = 0, elements = 0;
    char arrays[UNITS_BYTES], cache[UNITS_BYTES];
    for (unsigned i = 0; i < v->bb->n_buffers; i++) {
        bytes += v->bb->buffers[i].elements * (int64_t)scalar_type_bytes(v->bb->buffers[i].type);
        elements += v->bb->buffers[i].elements;
    }
    bool known = v->dev && v->dev->cache_bytes > 0;
    if (!known || bytes <= v->dev->cache_bytes || most_iterations(v->bb) / elements >= REUSE) return;
    units_bytes((double)bytes, arrays, sizeof arrays);
    units_bytes((double)v->dev->cache_bytes, cache, sizeof cache);
    say(v,
        "the arrays take %s, more than the last-level cache (%s), and each element is used fewer than %d "
        "times: memory bandwidth is the limit; compare the GB/s of the best with 'dram' of 'thresh device "
        "show'",
        arrays, cache, REUSE);
}

/* ---- divisions in indices ---- */

/* Whether tiles of `by` elements take the division away: it is of one dimension, which `by` divides. */
static bool tiles_away(const struct index_atom *atom)
{
    const struct index_expr *of = atom->of;
    return of->n_terms == 1 && of->constant == 0 && of->terms[0].coefficient == 1 &&
           of->terms[0].atom.kind == INDEX_VAR && of->terms[0].atom.extent % atom->by == 0;
}

/* A divisor in the expression that is no power of two and stays; 0: there is none. */
static int64_t costly_divisor(const struct index_expr *x)
{
    int64_t by = 0;
    for (unsigned i = 0; i < x->n_terms && !by; i++) {
        const struct index_atom *atom = &x->terms[i].atom;
        if (atom->kind == INDEX_VAR) continue;
        bool costly = (atom->by & (atom->by - 1)) != 0 && !tiles_away(atom);
        by = costly ? atom->by : costly_divisor(atom->of);
    }
    return by;
}

static void advise_indices(struct adviser *v)
{
    for (uint32_t i = 0; i < v->bb->n_insts; i++) {
        const struct bb_inst *inst = &v->bb->insts[i];
        int64_t by = inst->kind == BB_LOAD ? costly_divisor(inst->index) : 0;
        if (!by) continue;
        say(v,
            "each load of %s divides its index by %" PRId64 ", which is not a power of two: "
            "this costs more than a load from a cache; choose sizes that make it a power of two, "
            "or pass %s in the order in which it is read",
            v->bb->buffers[inst->buffer].name, by, v->bb->buffers[inst->buffer].name);
        return;
    }
}

struct advice advice_of(const struct problem *p, const struct device *dev, struct arena *a)
{
    struct adviser v = {.problem = p, .bb = p->backbone, .dev = dev, .arena = a};
    advise_extents(&v);
    advise_reduction(&v);
    advise_cache(&v);
    advise_indices(&v);
    return v.advice;
}
