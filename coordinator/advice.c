/* The rules are over the backbone: main logical dimensions with their extents, instructions with their index
 * expressions, buffers. A rule that does not know a figure of the device keeps silent. */
#include "coordinator/advice.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "core/backbone/combine.h"
#include "core/backbone/matrix.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/base/units.h"
#include "core/lift/size.h"

enum {
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

/* Elements of the longest reduction; 0: there is none. *split becomes whether work-items of any device may
 * divide it. */
static int64_t longest_reduction(const struct backbone *bb, bool *split)
{
    int64_t longest = 0;
    *split = false;
    for (uint32_t i = 0; i < bb->n_logicals; i++)
        if (is_main(&bb->logicals[i]) && bb->logicals[i].reduction && bb->logicals[i].extent > longest) {
            longest = bb->logicals[i].extent;
            *split = bb->logicals[i].split == BB_SPLIT_GROUPS;
        }
    return longest;
}

/* ---- too few results ---- */

static void advise_reduction(struct adviser *v)
{
    bool split;
    int64_t results = count_results(v->bb), reduced = longest_reduction(v->bb, &split);
    unsigned units = v->dev ? v->dev->compute_units : 0;
    const char *next =
        "output partial results, map(fun c -> reduce(f, z, c), split(k, a)), and reduce them in a "
        "second program";
    if (reduced < LONG_REDUCTION || (split && v->dev && v->dev->limits.device_fence)) return;
    if (results == 1)
        say(v,
            "one %s reduces all %" PRId64 " elements to one result: expect a slow "
            "kernel; %s",
            split ? "work-group" : "work-item", reduced, next);
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
        bool divides = atom->kind == INDEX_DIV || atom->kind == INDEX_MOD;
        bool costly = divides && (atom->by & (atom->by - 1)) != 0 && !tiles_away(atom);
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

/* ---- what is allowed ---- */

const char *advice_on_tf32(const struct problem *p, const char *device, struct arena *a)
{
    if (!bb_allows_tf32(p->backbone) || bb_may_round_factors(p->backbone, &p->limits)) return NULL;
    if (!p->limits.matrix)
        return arena_printf(a, "%s does not multiply matrices of TF32: --allow tf32 changes nothing", device);
    return "the program has no matrix product of two arrays of floats: --allow tf32 changes nothing";
}

struct advice advice_of(const struct problem *p, const struct device *dev, struct arena *a)
{
    struct adviser v = {.problem = p, .bb = p->backbone, .dev = dev, .arena = a};
    advise_reduction(&v);
    advise_cache(&v);
    advise_indices(&v);
    return v.advice;
}
