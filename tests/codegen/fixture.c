/* Hand-built backbones, and candidates from texts. */
#include "tests/codegen/fixture.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/panic.h"

enum { MOST = 200, LEVELS = 4 };

const struct cg_target cgt_target = {.dialect = &cg_opencl};

static struct backbone *empty(struct arena *a)
{
    struct backbone *bb = ARENA_NEW(a, struct backbone);
    bb->logicals = ARENA_ARRAY(a, struct bb_logical, MOST);
    bb->tiles = ARENA_ARRAY(a, struct bb_tile, MOST);
    bb->dims = ARENA_ARRAY(a, struct bb_dim, MOST);
    bb->insts = ARENA_ARRAY(a, struct bb_inst, MOST);
    bb->values = ARENA_ARRAY(a, struct bb_value, MOST);
    bb->regions = ARENA_ARRAY(a, struct bb_region, MOST);
    bb->region_dims = ARENA_ARRAY(a, struct bb_region_dim, MOST);
    bb->terms = ARENA_ARRAY(a, struct bb_term, MOST);
    bb->buffers = ARENA_ARRAY(a, struct bb_buffer, MOST);
    return bb;
}

static uint32_t logical(struct backbone *bb, struct arena *a, const char *name, int64_t extent,
                        bool reduction)
{
    bb->logicals[bb->n_logicals] = (struct bb_logical){
        name, extent, reduction, BB_NONE, BB_NONE, BB_NONE, bb->n_tiles, LEVELS, NULL, 0, NULL, false, false};
    for (unsigned v = 0; v < LEVELS; v++)
        bb->tiles[bb->n_tiles++] =
            (struct bb_tile){arena_printf(a, "%s.%u", name, v), bb->n_logicals, v, 0, NULL};
    return bb->n_logicals++;
}

static uint32_t buffer(struct backbone *bb, const char *name, int64_t elements, bool output)
{
    bb->buffers[bb->n_buffers] = (struct bb_buffer){
        .name = name, .type = SCALAR_FLOAT, .elements = elements, .output = output, .input = bb->n_buffers};
    return bb->n_buffers++;
}

/* Adds an instruction over logicals given as letters of their index, e.g. "02". */
static struct bb_inst *inst(struct backbone *bb, struct arena *a, const char *name, enum bb_inst_kind kind,
                            unsigned n_logicals, const uint32_t *logicals)
{
    uint32_t id = bb->n_insts++;
    struct bb_inst *in = &bb->insts[id];
    *in = (struct bb_inst){.name = name, .kind = kind, .n_logicals = n_logicals, .first_dim = bb->n_dims};
    in->buffer = in->value = in->unless = in->partner = BB_NONE;
    for (unsigned j = 0; j < n_logicals; j++) {
        const struct bb_logical *l = &bb->logicals[in->logicals[j] = logicals[j]];
        for (unsigned v = 0; v < l->n_levels; v++) {
            const struct bb_tile *t = &bb->tiles[l->first_tile + v];
            const char *tile_name = strrchr(t->name, '.');
            const char *base = strrchr(l->name, '.') ? strrchr(l->name, '.') + 1 : l->name;
            bb->dims[bb->n_dims++] =
                (struct bb_dim){arena_printf(a, "%s.%s%s", name, base, tile_name), id, l->first_tile + v};
        }
    }
    in->n_dims = bb->n_dims - in->first_dim;
    return in;
}

static void operands(struct bb_inst *in, struct arena *a, unsigned n, const uint32_t *ids)
{
    in->n_operands = n;
    in->operands = arena_memdup(a, ids, n * sizeof *ids);
}

static void nodes(struct bb_inst *in, struct arena *a, unsigned n, const struct bb_node *list)
{
    in->n_nodes = n;
    in->nodes = arena_memdup(a, list, n * sizeof *list);
}

/* row * columns + column */
static const struct index_expr *row_major(const struct backbone *bb, struct arena *a, uint32_t row,
                                          uint32_t column)
{
    int64_t columns = bb->logicals[column].extent;
    const struct index_expr *r = index_var(a, row, bb->logicals[row].extent);
    return index_add(a, index_scale(a, r, columns), index_var(a, column, columns));
}

/* Makes load `id` stageable: two copy logicals "A.c.m", instructions A.cl and A.cs, a region. */
static void stageable(struct backbone *bb, struct arena *a, const char *name, uint32_t id)
{
    uint32_t own[2], v = bb->n_values;
    struct bb_inst *load = &bb->insts[id];
    for (unsigned j = 0; j < 2; j++) {
        const struct bb_logical *l = &bb->logicals[load->logicals[j]];
        own[j] = logical(bb, a, arena_printf(a, "%s.c.%s", name, l->name), l->extent, false);
        bb->logicals[own[j]].of = load->logicals[j];
        bb->logicals[own[j]].region = bb->n_regions;
        bb->logicals[own[j]].coordinate = bb->n_region_dims + j;
        bb->region_dims[bb->n_region_dims + j] = (struct bb_region_dim){bb->n_terms, 1, 0};
        bb->terms[bb->n_terms++] = (struct bb_term){load->logicals[j], 1};
    }
    struct bb_inst *cl = inst(bb, a, arena_printf(a, "%s.cl", name), BB_COPY_LOAD, 2, own);
    cl->buffer = load->buffer;
    cl->index = load->index;
    struct bb_inst *cs = inst(bb, a, arena_printf(a, "%s.cs", name), BB_COPY_STORE, 2, own);
    operands(cs, a, 1, (uint32_t[]){bb->n_insts - 2});
    load->value = cl->value = cs->value = bb->n_values++;
    bb->values[v] = (struct bb_value){.name = name,
                                      .load = id,
                                      .copy_load = bb->n_insts - 2,
                                      .copy_store = bb->n_insts - 1,
                                      .region = bb->n_regions,
                                      .owner = v,
                                      .first_term = bb->n_terms - 2};
    bb->regions[bb->n_regions++] =
        (struct bb_region){arena_printf(a, "%s.tile", name), v, SCALAR_FLOAT, 2, bb->n_region_dims, false};
    bb->n_region_dims += 2;
}

static void loads(struct bb_inst *in, uint32_t from, const struct index_expr *index)
{
    in->buffer = from;
    in->index = index;
}

struct backbone *cgt_matmul(struct arena *a, int64_t m, int64_t n, int64_t k)
{
    struct backbone *bb = empty(a);
    logical(bb, a, "m", m, false);
    logical(bb, a, "n", n, false);
    logical(bb, a, "k", k, true);
    loads(inst(bb, a, "A.load", BB_LOAD, 2, (uint32_t[]){0, 2}), buffer(bb, "A", m * k, false),
          row_major(bb, a, 0, 2));
    loads(inst(bb, a, "B.load", BB_LOAD, 2, (uint32_t[]){2, 1}), buffer(bb, "B", k * n, false),
          row_major(bb, a, 2, 1));
    struct bb_inst *init = inst(bb, a, "init", BB_INIT, 2, (uint32_t[]){0, 1});
    nodes(init, a, 1, &(struct bb_node){.kind = BB_NODE_CONST, .value = 0});
    init->partner = 3;
    struct bb_inst *mad = inst(bb, a, "mad", BB_STEP, 3, (uint32_t[]){0, 1, 2});
    operands(mad, a, 3, (uint32_t[]){2, 0, 1});
    nodes(mad, a, 4,
          (struct bb_node[]){
              {.operand = 1}, {.operand = 2}, {.operand = 0}, {.kind = BB_NODE_OP, .op = SCALAR_FMA}});
    mad->partner = 2;
    struct bb_inst *store = inst(bb, a, "store", BB_STORE, 2, (uint32_t[]){0, 1});
    loads(store, buffer(bb, "out", m * n, true), row_major(bb, a, 0, 1));
    operands(store, a, 1, (uint32_t[]){3});
    stageable(bb, a, "A", 0);
    stageable(bb, a, "B", 1);
    return bb;
}

struct backbone *cgt_axpy(struct arena *a, int64_t n)
{
    struct backbone *bb = empty(a);
    logical(bb, a, "i", n, false);
    const struct index_expr *i = index_var(a, 0, n);
    loads(inst(bb, a, "alpha.load", BB_LOAD, 0, NULL), buffer(bb, "alpha", 1, false), index_constant(a, 0));
    bb->buffers[0].by_value = true;
    loads(inst(bb, a, "x.load", BB_LOAD, 1, (uint32_t[]){0}), buffer(bb, "x", n, false), i);
    loads(inst(bb, a, "y.load", BB_LOAD, 1, (uint32_t[]){0}), buffer(bb, "y", n, false), i);
    struct bb_inst *axpy = inst(bb, a, "axpy", BB_COMPUTE, 1, (uint32_t[]){0});
    operands(axpy, a, 3, (uint32_t[]){0, 1, 2});
    nodes(axpy, a, 5,
          (struct bb_node[]){{.operand = 0},
                             {.operand = 1},
                             {.kind = BB_NODE_OP, .op = SCALAR_MULT},
                             {.operand = 2},
                             {.kind = BB_NODE_OP, .op = SCALAR_ADD}});
    struct bb_inst *store = inst(bb, a, "store", BB_STORE, 1, (uint32_t[]){0});
    loads(store, buffer(bb, "out", n, true), i);
    operands(store, a, 1, (uint32_t[]){3});
    return bb;
}

struct backbone *cgt_transpose(struct arena *a, int64_t rows, int64_t columns)
{
    struct backbone *bb = empty(a);
    logical(bb, a, "i", rows, false);
    logical(bb, a, "j", columns, false);
    loads(inst(bb, a, "A.load", BB_LOAD, 2, (uint32_t[]){0, 1}), buffer(bb, "A", rows * columns, false),
          row_major(bb, a, 0, 1));
    struct bb_inst *store = inst(bb, a, "store", BB_STORE, 2, (uint32_t[]){0, 1});
    loads(store, buffer(bb, "out", rows * columns, true), row_major(bb, a, 1, 0));
    operands(store, a, 1, (uint32_t[]){0});
    stageable(bb, a, "A", 0);
    return bb;
}

/* ---- candidates ---- */

struct placed {
    const struct placed *parent;
    unsigned order, last; /* preorder number; largest one inside */
};

struct reader {
    const struct backbone *bb;
    struct bb_candidate *c;
    struct arena *arena;
    const char *at;
    struct placed **node; /* [statements] */
    unsigned next;
};

static bool word(struct reader *r, char out[64])
{
    r->at += strspn(r->at, " \n");
    size_t n = strcspn(r->at, " \n");
    CHECK(n < 64);
    memcpy(out, r->at, n);
    out[n] = 0;
    r->at += n;
    return n > 0;
}

static uint32_t find_dim(const struct backbone *bb, const char *name)
{
    for (uint32_t d = 0; d < bb->n_dims; d++)
        if (!strcmp(bb->dims[d].name, name)) return d;
    PANIC("no dimension %s", name);
}

static uint32_t find_inst(const struct backbone *bb, const char *name)
{
    for (uint32_t i = 0; i < bb->n_insts; i++)
        if (!strcmp(bb->insts[i].name, name)) return i;
    PANIC("no instruction %s", name);
}

static bool read_kind(const char *w, uint8_t *kind, uint8_t *code)
{
    static const char *const names[] = {"loop", "unroll", "vector", "thread", "block", "global"};
    static const uint8_t first[] = {BB_SEQ, BB_SEQ, BB_SEQ, BB_LCL, BB_WRG, BB_GLB};
    for (uint8_t k = 0; k < 6; k++) {
        size_t n = strlen(names[k]);
        if (strncmp(w, names[k], n) != 0 || (w[n] && w[n + 1])) continue;
        *kind = k;
        *code = w[n] == 'f' ? BB_FUSED : (uint8_t)(first[k] + (w[n] ? w[n] - '0' : 0));
        return true;
    }
    return false;
}

static void read_nodes(struct reader *r, const struct placed *parent);

static void read_dim(struct reader *r, struct placed *n, uint8_t kind, uint8_t code)
{
    char w[64];
    while (word(r, w) && strcmp(w, "{") != 0) {
        uint32_t d = find_dim(r->bb, w);
        r->c->kind[d] = kind;
        r->c->code[d] = code;
        r->node[bb_dim_statement(r->bb, d)] = n;
    }
    read_nodes(r, n);
}

static void read_nodes(struct reader *r, const struct placed *parent)
{
    char w[64];
    while (word(r, w) && strcmp(w, "}") != 0) {
        uint8_t kind, code;
        struct placed *n = ARENA_NEW(r->arena, struct placed);
        n->parent = parent;
        n->order = r->next++;
        if (read_kind(w, &kind, &code))
            read_dim(r, n, kind, code);
        else
            r->node[find_inst(r->bb, w)] = n;
        n->last = r->next - 1;
    }
}

static uint8_t relation(const struct placed *a, const struct placed *b)
{
    if (a == b) return BB_MERGED;
    if (b->order > a->order && b->order <= a->last) return BB_OUTER;
    if (a->order > b->order && a->order <= b->last) return BB_INNER;
    return a->order < b->order ? BB_BEFORE : BB_AFTER;
}

static void fill_order(struct reader *r)
{
    unsigned n = bb_statement_count(r->bb);
    for (unsigned a = 0; a < n; a++)
        for (unsigned b = 0; b < n; b++)
            if (r->node[a] && r->node[b]) r->c->order[a * n + b] = relation(r->node[a], r->node[b]);
}

static void read_sizes(const struct backbone *bb, struct bb_candidate *c, const char *sizes)
{
    for (unsigned t = 0; t < bb->n_tiles; t++) {
        size_t n = strlen(bb->tiles[t].name);
        c->size[t] = 1;
        for (const char *s = sizes; s; s = strchr(s, ' ') ? strchr(s, ' ') + 1 : NULL)
            if (!strncmp(s, bb->tiles[t].name, n) && s[n] == '=') c->size[t] = strtoll(s + n + 1, NULL, 10);
    }
}

struct bb_candidate *cgt_candidate(const struct backbone *bb, struct arena *a, const char *sizes,
                                   const char *tree)
{
    unsigned n = bb_statement_count(bb);
    struct bb_candidate *c = bb_candidate_new(bb, a);
    struct reader r = {.bb = bb, .c = c, .arena = a, .at = tree};
    r.node = ARENA_ARRAY(a, struct placed *, n);
    read_sizes(bb, c, sizes);
    read_nodes(&r, NULL);
    fill_order(&r);
    for (unsigned s = 0; s < n; s++)
        c->live[s] = r.node[s] != NULL;
    for (unsigned v = 0; v < bb->n_values; v++) {
        const struct bb_region *g = &bb->regions[bb->values[v].region];
        c->staged[v] = c->live[bb->values[v].copy_store];
        c->mem_space[bb->values[v].region] = BB_MEM_LOCAL;
        for (unsigned j = 0; j < g->n_dims; j++)
            c->rank[g->first_region_dim + j] = (uint8_t)(g->n_dims - 1 - j);
    }
    return c;
}
