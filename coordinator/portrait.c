/* An implementation in words. bb_decode() says what is decided; names and meanings of values are those of
 * gpu.space. An example: if m.1 has size 2 and seat 10, and its dimensions are THREAD, the text is
 *
 *     m.1 = 2  THREAD: work-items of a group, ...; LCL0: local ids, axis 0: ...
 *
 * The text is made from the JSON form, so that both agree. */
#include "coordinator/portrait.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/backbone/matrix.h"
#include "core/backbone/seat.h"
#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/base/strbuf.h"
#include "core/base/units.h"

enum { NAME_BYTES = 256, KINDS = BB_GLOBAL + 1, CACHES = BB_CACHE_NONE + 1 };

struct portrait {
    const struct problem *problem;
    const struct backbone *bb;
    const struct space_state *leaf;
    struct bb_candidate *c;
};

/* ---- words of the space ---- */

/* Which value of a choice has that code. */
static unsigned value_of(const struct space_choice *c, int64_t code)
{
    unsigned v = 0;
    while (v < c->n_values && c->codes[v] != code)
        v++;
    CHECK(v < c->n_values);
    return v;
}

static const char *name_of(enum gpu_choice choice, int64_t code)
{
    const struct space_choice *c = &space_def_gpu.choices[choice];
    return c->value_names[value_of(c, code)];
}

static const char *meaning_of(enum gpu_choice choice, int64_t code)
{
    const struct space_choice *c = &space_def_gpu.choices[choice];
    return c->value_docs[value_of(c, code)];
}

bool portrait_is_of(const char *name, unsigned choice)
{
    size_t n = strlen(space_def_gpu.choices[choice].name);
    return strncmp(name, space_def_gpu.choices[choice].name, n) == 0 && (name[n] == '(' || name[n] == 0);
}

static int64_t seat_of(const struct portrait *p, uint32_t tile)
{
    int64_t seat = 0;
    bool decided = gpu_get_seat(p->leaf, tile, &seat);
    CHECK(decided);
    return seat;
}

static json_t *take_line(struct strbuf *b)
{
    json_t *line = json_string(b->text ? b->text : "");
    strbuf_free(b);
    return line;
}

/* ---- a level of a dimension ---- */

/* How well an instruction tells what a tile is: the work comes before what it needs. */
static unsigned weight_of(enum bb_inst_kind kind)
{
    static const unsigned weights[] = {
        [BB_STEP] = 6, [BB_COMPUTE] = 5,    [BB_STORE] = 4, [BB_LOAD] = 3,
        [BB_TAKE] = 3, [BB_COPY_STORE] = 2, [BB_INIT] = 1,  [BB_COPY_LOAD] = 0};
    return weights[kind];
}

static bool stands_for(const struct portrait *p, uint32_t dim, uint32_t tile)
{
    return p->bb->dims[dim].tile == tile && p->c->live[bb_dim_statement(p->bb, dim)];
}

/* The dimension that stands best for a tile of a size above 1. */
static uint32_t leading_dim(const struct portrait *p, uint32_t tile)
{
    uint32_t best = BB_NONE;
    unsigned weight = 0;
    for (uint32_t d = 0; d < p->bb->n_dims; d++) {
        if (!stands_for(p, d, tile)) continue;
        unsigned w = weight_of(p->bb->insts[p->bb->dims[d].inst].kind);
        if (best != BB_NONE && w <= weight) continue;
        best = d;
        weight = w;
    }
    CHECK(best != BB_NONE);
    return best;
}

/* "LCL0", or "WRG0, fused" for what shares the axis of another tile; "": none. */
static void axis_text(const struct portrait *p, uint32_t tile, char *out, size_t n)
{
    int64_t seat = seat_of(p, tile);
    if (seat == 0)
        snprintf(out, n, "%s", "");
    else
        snprintf(out, n, "%s%s", name_of(GPU_CHOICE_MAP_ENCODING, bb_seat_axis(seat)),
                 bb_seat_place(seat) > 0 ? ", fused" : "");
}

/* "32 unrolled", "2 work-items (LCL0)" */
static void add_factor(const struct portrait *p, uint32_t tile, struct strbuf *out)
{
    static const char *const words[KINDS] = {
        [BB_LOOP] = "iterations",   [BB_UNROLL] = "unrolled", [BB_VECTOR] = "in a vector",
        [BB_THREAD] = "work-items", [BB_BLOCK] = "groups",    [BB_GLOBAL] = "global work-items"};
    char axis[NAME_BYTES];
    axis_text(p, tile, axis, sizeof axis);
    strbuf_printf(out, "%" PRId64 " %s", p->c->size[tile], words[p->c->kind[leading_dim(p, tile)]]);
    if (*axis) strbuf_printf(out, " (%s)", axis);
}

/* The instructions in which the tile is of another kind than in the leading one: "; LOOP in init". */
static void add_other_kinds(const struct portrait *p, uint32_t tile, struct strbuf *out)
{
    uint8_t leading = p->c->kind[leading_dim(p, tile)];
    for (uint8_t kind = 0; kind < KINDS; kind++) {
        const char *between = "in ";
        for (uint32_t d = 0; kind != leading && d < p->bb->n_dims; d++) {
            if (!stands_for(p, d, tile) || p->c->kind[d] != kind) continue;
            if (*between == 'i') strbuf_printf(out, "; %s ", name_of(GPU_CHOICE_DIM_KIND, kind));
            strbuf_printf(out, "%s%s", between, p->bb->insts[p->bb->dims[d].inst].name);
            between = ", ";
        }
    }
}

static json_t *level_json(const struct portrait *p, uint32_t tile)
{
    struct strbuf line = {0};
    uint8_t kind = p->c->kind[leading_dim(p, tile)];
    int64_t seat = seat_of(p, tile);
    strbuf_printf(&line, "%s: %s", name_of(GPU_CHOICE_DIM_KIND, kind), meaning_of(GPU_CHOICE_DIM_KIND, kind));
    add_other_kinds(p, tile, &line);
    if (seat)
        strbuf_printf(&line, "; %s: %s", name_of(GPU_CHOICE_MAP_ENCODING, bb_seat_axis(seat)),
                      meaning_of(GPU_CHOICE_MAP_ENCODING, bb_seat_axis(seat)));
    if (bb_seat_place(seat) > 0)
        strbuf_printf(&line, "; FUSED: %s", meaning_of(GPU_CHOICE_MAP_ENCODING, BB_FUSED));
    return json_pack("{s:s,s:I,s:o}", "tile", p->bb->tiles[tile].name, "size", (json_int_t)p->c->size[tile],
                     "line", take_line(&line));
}

/* ---- a dimension ---- */

/* What the tiles of a dimension multiply to. */
static int64_t span_of(const struct portrait *p, const struct bb_logical *l)
{
    int64_t product = 1;
    for (unsigned v = 0; v < l->n_levels; v++)
        product *= p->c->size[l->first_tile + v];
    return product;
}

/* A copy's dimension is as long as what the copy stages. */
static int64_t extent_of(const struct portrait *p, const struct bb_logical *l)
{
    if (l->of == BB_NONE || l->coordinate == BB_NONE) return l->extent;
    return bb_staged_extent(p->bb, p->c, l->region,
                            l->coordinate - p->bb->regions[l->region].first_region_dim);
}

static json_t *dimension_json(const struct portrait *p, uint32_t logical)
{
    const struct bb_logical *l = &p->bb->logicals[logical];
    json_t *levels = json_array();
    struct strbuf line = {0};
    const char *between = " = ";
    int64_t span = span_of(p, l), extent = extent_of(p, l);
    strbuf_printf(&line, "%" PRId64, extent);
    if (span != extent) strbuf_printf(&line, ", rounded up to %" PRId64, span);
    for (uint32_t t = l->first_tile; t < l->first_tile + l->n_levels; t++) {
        if (p->c->size[t] == 1) continue;
        strbuf_add(&line, between);
        add_factor(p, t, &line);
        json_array_append_new(levels, level_json(p, t));
        between = " x ";
    }
    const char *kind = l->of != BB_NONE ? "copy" : l->reduction ? "reduction" : "parallel";
    return json_pack("{s:s,s:I,s:I,s:s,s:o,s:o}", "name", l->name, "extent", (json_int_t)extent, "span",
                     (json_int_t)span, "kind", kind, "line", take_line(&line), "levels", levels);
}

/* Whether an instruction owns the dimension: not if it is reduced in a copy alone. */
static bool is_owned(const struct portrait *p, uint32_t logical)
{
    bool owned = false;
    for (uint32_t i = 0; i < p->bb->n_insts; i++)
        owned = owned || (p->c->live[i] && bb_owns(&p->bb->insts[i], logical));
    return owned;
}

static json_t *dimensions_json(const struct portrait *p)
{
    json_t *list = json_array();
    for (uint32_t l = 0; l < p->bb->n_logicals; l++)
        if (p->bb->logicals[l].of == BB_NONE && is_owned(p, l))
            json_array_append_new(list, dimension_json(p, l));
    return list;
}

/* ---- a value that may be staged ---- */

/* The copy's logical dimension that is coordinate i of a region. */
static const struct bb_logical *coordinate(const struct portrait *p, const struct bb_value *v, unsigned i)
{
    return &p->bb->logicals[p->bb->insts[v->copy_store].logicals[i]];
}

/* "k"; of a window "2*y+dy", of one that is read at several places "y+0..2". */
static void add_name(const struct portrait *p, const struct bb_logical *l, struct strbuf *out)
{
    if (l->coordinate == BB_NONE) return;
    const struct bb_region_dim *c = &p->bb->region_dims[l->coordinate];
    for (unsigned i = 0; i < c->n_terms; i++) {
        const struct bb_term *t = &p->bb->terms[c->first_term + i];
        strbuf_add(out, i ? "+" : "");
        if (t->coefficient > 1) strbuf_printf(out, "%" PRId64 "*", t->coefficient);
        strbuf_add(out, p->bb->logicals[t->logical].name);
    }
    if (c->spread) strbuf_printf(out, "+0..%" PRId64, c->spread);
}

/* "64 k x 32 n floats (8 KiB), n innermost", outermost first; coordinates of one element are left out.
 * Registers have no order. */
static void add_shape(const struct portrait *p, const struct bb_value *v, struct strbuf *out)
{
    const struct bb_region *r = &p->bb->regions[v->region];
    int64_t elements = 1, pad = p->c->pad[v->region];
    const char *between = "";
    const struct bb_logical *inner = NULL;
    char bytes[UNITS_BYTES];
    for (unsigned rank = r->n_dims; rank-- > 0;)
        for (unsigned i = 0; i < r->n_dims; i++) {
            const struct bb_logical *l = coordinate(p, v, i);
            int64_t extent = extent_of(p, l);
            if (p->c->rank[r->first_region_dim + i] != rank) continue;
            elements *= extent + (rank == 0 ? pad : 0);
            if (extent == 1) continue;
            inner = l;
            strbuf_printf(out, "%s%" PRId64 " ", between, extent);
            add_name(p, l, out);
            between = " x ";
        }
    units_bytes((double)elements * scalar_type_bytes(r->type), bytes, sizeof bytes);
    strbuf_printf(out, "%s %s%s (%s)", inner ? "" : "1", scalar_type_name(r->type), elements == 1 ? "" : "s",
                  bytes);
    if (inner && p->c->mem_space[v->region] != BB_MEM_PRIVATE) {
        strbuf_add(out, ", ");
        add_name(p, inner, out);
        strbuf_add(out, " innermost");
    }
    if (pad) strbuf_printf(out, ", padded by %" PRId64, pad);
}

/* The load's tiles around the copy: for each of their iterations a tile is staged anew. */
static void add_outside(const struct portrait *p, const struct bb_value *v, struct strbuf *out)
{
    const struct bb_inst *load = &p->bb->insts[v->load];
    const char *between = ", one tile for each iteration of ";
    uint32_t n = bb_statement_count(p->bb);
    for (uint32_t d = load->first_dim; d < load->first_dim + load->n_dims; d++) {
        uint32_t s = bb_dim_statement(p->bb, d);
        if (!p->c->live[s] || p->c->order[(size_t)s * n + v->copy_store] != BB_OUTER) continue;
        strbuf_printf(out, "%s%s", between, p->bb->tiles[p->bb->dims[d].tile].name);
        between = ", ";
    }
}

/* Adds that bundles of work-items take the value as matrices, if they do. */
static void add_matrices(const struct portrait *p, uint32_t value, struct strbuf *out)
{
    struct bb_factors f;
    for (uint32_t i = 0; i < p->bb->n_insts; i++) {
        if (!p->c->matrix[i] || !bb_multiplies(p->bb, i, &f) ||
            (p->bb->insts[f.loads[0]].value != value && p->bb->insts[f.loads[1]].value != value))
            continue;
        strbuf_printf(out, ", multiplied in matrices%s by bundles of 32 work-items",
                      f.row < BB_HALF_VECTOR ? " of TF32" : "");
        return;
    }
}

static json_t *value_json(const struct portrait *p, uint32_t value)
{
    const struct bb_value *v = &p->bb->values[value];
    bool staged = p->c->staged[value];
    json_t *copy = json_array();
    struct strbuf line = {0};
    if (staged && v->owner != value) {
        strbuf_printf(&line, "staged in the tile of %s", p->bb->values[v->owner].name);
    } else if (!staged) {
        bool computed = bb_is_computed(p->bb, v);
        strbuf_printf(&line, "not staged: %s",
                      computed ? "computed where it is read" : meaning_of(GPU_CHOICE_STAGED, GPU_STAGED_NO));
    } else {
        uint8_t space = p->c->mem_space[v->region];
        strbuf_printf(&line, "staged in %s: %s: ", name_of(GPU_CHOICE_MEM_SPACE, space),
                      meaning_of(GPU_CHOICE_MEM_SPACE, space));
        add_shape(p, v, &line);
        add_outside(p, v, &line);
        if (p->c->stages[v->region] == 2)
            strbuf_add(&line, ", in two stages: the next tile is loaded during the arithmetic");
        if (p->c->stages[v->region] == 3)
            strbuf_add(&line, ", in three stages: the next two tiles are loaded during the arithmetic");
        if (p->c->direct[v->region]) strbuf_add(&line, ", in the background, without registers");
        if (p->c->rotated[v->region]) strbuf_add(&line, ", rows rotated by their number");
        add_matrices(p, value, &line);
    }
    const struct bb_inst *store = &p->bb->insts[v->copy_store];
    bool own = staged && v->owner == value;
    for (unsigned i = 0; own && i < store->n_logicals; i++)
        json_array_append_new(copy, dimension_json(p, store->logicals[i]));
    for (uint32_t l = 0; own && l < p->bb->n_logicals; l++)
        if (p->bb->logicals[l].region == v->region && p->bb->logicals[l].coordinate == BB_NONE)
            json_array_append_new(copy, dimension_json(p, l));
    return json_pack("{s:s,s:b,s:o,s:o}", "name", v->name, "staged", (int)staged, "line", take_line(&line),
                     "dimensions", copy);
}

static json_t *values_json(const struct portrait *p)
{
    json_t *list = json_array();
    for (uint32_t v = 0; v < p->bb->n_values; v++)
        if (p->c->live[p->bb->values[v].load]) json_array_append_new(list, value_json(p, v));
    return list;
}

/* ---- accesses ---- */

/* What goes through the caches in that way; NULL: nothing does. A load of what is staged reads the copy. */
static json_t *access_json(const struct portrait *p, uint8_t cache)
{
    json_t *of = json_array();
    struct strbuf line = {0};
    for (uint32_t i = 0; i < p->bb->n_insts; i++) {
        const struct bb_inst *inst = &p->bb->insts[i];
        bool from_copy = inst->kind == BB_LOAD && inst->value != BB_NONE && p->c->staged[inst->value];
        if (inst->buffer == BB_NONE || !p->c->live[i] || p->c->cache[i] != cache || from_copy) continue;
        strbuf_printf(&line, "%s%s", json_array_size(of) ? ", " : "", inst->name);
        json_array_append_new(of, json_string(inst->name));
    }
    if (json_array_size(of) == 0) {
        json_decref(of);
        return NULL;
    }
    strbuf_printf(&line, ": %s", meaning_of(GPU_CHOICE_CACHE, cache));
    return json_pack("{s:s,s:o,s:o}", "cache", name_of(GPU_CHOICE_CACHE, cache), "of", of, "line",
                     take_line(&line));
}

static json_t *accesses_json(const struct portrait *p)
{
    json_t *list = json_array();
    for (uint8_t cache = 0; cache < CACHES; cache++) {
        json_t *access = access_json(p, cache);
        if (access) json_array_append_new(list, access);
    }
    return list;
}

json_t *portrait_json(const struct problem *problem, const struct space_state *leaf)
{
    struct arena *a = arena_new();
    struct portrait p = {problem, problem->backbone, leaf, bb_candidate_new(problem->backbone, a)};
    const char *why = "";
    bool decoded = bb_decode(p.bb, leaf, p.c, &why);
    if (!decoded) PANIC("a leaf cannot be read: %s", why);
    json_t *o = json_pack("{s:o,s:o,s:o}", "dimensions", dimensions_json(&p), "values", values_json(&p),
                          "accesses", accesses_json(&p));
    arena_free(a);
    return o;
}

/* ---- text ---- */

static const char *text_of(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

static void print_dimensions(const json_t *list, int indent, struct strbuf *out)
{
    size_t i, v;
    json_t *d, *level;
    json_array_foreach(list, i, d)
    {
        strbuf_printf(out, "%*s%s: %s\n", indent, "", text_of(d, "name"), text_of(d, "line"));
        json_array_foreach(json_object_get(d, "levels"), v, level) strbuf_printf(
            out, "%*s%s = %" JSON_INTEGER_FORMAT "  %s\n", indent + 4, "", text_of(level, "tile"),
            json_integer_value(json_object_get(level, "size")), text_of(level, "line"));
    }
}

void portrait_print(const json_t *portrait, struct strbuf *out)
{
    const json_t *values = json_object_get(portrait, "values");
    size_t i;
    json_t *o;
    strbuf_add(out, "dimensions\n");
    print_dimensions(json_object_get(portrait, "dimensions"), 2, out);
    if (json_array_size(values)) strbuf_add(out, "\nvalues\n");
    json_array_foreach(values, i, o)
    {
        strbuf_printf(out, "  %s: %s\n", text_of(o, "name"), text_of(o, "line"));
        print_dimensions(json_object_get(o, "dimensions"), 6, out);
    }
    strbuf_add(out, "\naccesses\n");
    json_array_foreach(json_object_get(portrait, "accesses"), i, o)
        strbuf_printf(out, "  %s  %s\n", text_of(o, "cache"), text_of(o, "line"));
}

/* ---- differences ---- */

static void add_differences(json_t *out, const json_t *here, const json_t *there)
{
    size_t i;
    json_t *x;
    json_array_foreach(here, i, x)
    {
        const json_t *y = json_array_get(there, i);
        if (!json_equal(json_object_get(x, "line"), json_object_get(y, "line")))
            json_array_append_new(out, json_pack("{s:s,s:s,s:s}", "name", text_of(x, "name"), "here",
                                                 text_of(x, "line"), "there", text_of(y, "line")));
    }
}

json_t *portrait_differences(const json_t *here, const json_t *there)
{
    json_t *list = json_array();
    add_differences(list, json_object_get(here, "dimensions"), json_object_get(there, "dimensions"));
    add_differences(list, json_object_get(here, "values"), json_object_get(there, "values"));
    return list;
}
