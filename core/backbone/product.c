#include "core/backbone/product.h"

#include "core/backbone/seat.h"
#include "core/base/panic.h"

/* ---- the product ---- */

bool product_only_step(const struct backbone *bb, uint32_t *step)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        if (bb->insts[i].kind != BB_STEP) continue;
        *step = i;
        n++;
    }
    return n == 1 && !bb->insts[*step].scan && bb->insts[*step].n_more == 0;
}

uint32_t product_only_store(const struct backbone *bb)
{
    uint32_t store = BB_NONE;
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        if (bb->insts[i].kind != BB_STORE) continue;
        if (store != BB_NONE) return BB_NONE;
        store = i;
    }
    return store;
}

uint32_t product_reduced(const struct backbone *bb, const struct bb_inst *step)
{
    uint32_t k = BB_NONE;
    for (unsigned i = 0; i < step->n_logicals; i++) {
        if (!bb_reduces(bb, step, step->logicals[i])) continue;
        if (k != BB_NONE) return BB_NONE;
        k = step->logicals[i];
    }
    return k;
}

/* Whether a load has the logicals `own` and k, perhaps that of the batch, and no other one, each as a
 * coordinate of its region. */
static bool is_side(const struct backbone *bb, const struct bb_inst *load, uint32_t own,
                    const struct product *p)
{
    if (load->kind != BB_LOAD || load->value == BB_NONE) return false;
    unsigned n = p->batch != BB_NONE && bb_owns(load, p->batch) ? 3 : 2;
    return load->n_logicals == n && bb_owns(load, own) && bb_owns(load, p->k) &&
           bb->regions[bb->values[load->value].region].n_dims == n;
}

bool product_find(const struct backbone *bb, struct product *p)
{
    if (!product_only_step(bb, &p->step)) return false;
    const struct bb_inst *step = &bb->insts[p->step];
    p->init = step->partner;
    p->store = product_only_store(bb);
    p->k = product_reduced(bb, step);
    if (p->store == BB_NONE || p->k == BB_NONE || step->n_operands != 3) return false;
    const struct bb_inst *store = &bb->insts[p->store];
    unsigned outer = store->n_logicals - 2; /* logicals around m and n */
    if (store->n_logicals < 2 || outer > 1 || step->n_logicals != store->n_logicals + 1) return false;
    p->batch = outer ? store->logicals[0] : BB_NONE;
    p->m = store->logicals[outer];
    p->n = store->logicals[outer + 1];
    const struct bb_inst *x = &bb->insts[step->operands[1]], *y = &bb->insts[step->operands[2]];
    bool swapped = is_side(bb, y, p->m, p);
    if (!is_side(bb, swapped ? y : x, p->m, p) || !is_side(bb, swapped ? x : y, p->n, p)) return false;
    if (p->batch != BB_NONE && bb->logicals[p->batch].extent == 1) return false;
    p->a = (struct side){.value = (swapped ? y : x)->value, .own = p->m};
    p->b = (struct side){.value = (swapped ? x : y)->value, .own = p->n};
    return true;
}

bool product_in_window(const struct backbone *bb, uint32_t logical)
{
    bool found = false;
    for (unsigned c = 0; c < bb->n_region_dims && !found; c++) {
        const struct bb_region_dim *dim = &bb->region_dims[c];
        found = bb_overlaps(dim) && bb_has_term(&bb->terms[dim->first_term], dim->n_terms, logical);
    }
    return found;
}

int64_t tiler_divisor(int64_t of, int64_t most, int64_t least)
{
    for (int64_t n = most; n >= least && n > 0; n--)
        if (of % n == 0) return n;
    return 0;
}

/* ---- decisions ---- */

void tiler_decide(struct tiler *t, struct space_action decision)
{
    bb_decisions_add(&t->decisions, t->arena, decision);
}

uint32_t tiler_statement(const struct tiler *t, uint32_t inst, uint32_t logical, unsigned level)
{
    const struct bb_inst *i = &t->bb->insts[inst];
    uint32_t d = i->first_dim;
    CHECK(level < t->bb->logicals[logical].n_levels);
    while (t->bb->dims[d].tile != t->bb->logicals[logical].first_tile + level)
        CHECK(++d < i->first_dim + i->n_dims);
    return bb_dim_statement(t->bb, d);
}

void tiler_kind(struct tiler *t, uint32_t inst, uint32_t logical, unsigned level, enum gpu_dim_kind kind)
{
    tiler_decide(t, gpu_act_dim_kind(t->space, tiler_statement(t, inst, logical, level), kind));
}

void tiler_axis(struct tiler *t, uint32_t inst, uint32_t logical, unsigned level, enum gpu_map_encoding axis)
{
    tiler_decide(t, gpu_act_map_encoding(t->space, tiler_statement(t, inst, logical, level), axis));
}

void tiler_order(struct tiler *t, uint32_t first, enum gpu_order order, uint32_t second)
{
    tiler_decide(t, gpu_act_order(t->space, first, second, order));
}

void tiler_sizes(struct tiler *t, uint32_t logical, unsigned from, const int64_t *sizes)
{
    const struct bb_logical *l = &t->bb->logicals[logical];
    for (unsigned level = from; level < l->n_levels; level++) {
        tiler_decide(t, gpu_act_size(t->space, l->first_tile + level, *sizes ? *sizes : 1));
        if (*sizes) sizes++;
    }
}

void tiler_split(struct tiler *t, uint32_t logical, unsigned level, enum gpu_split who)
{
    const struct bb_logical *l = &t->bb->logicals[logical];
    for (unsigned i = 0; i < l->n_levels; i++)
        tiler_decide(t, gpu_act_split(t->space, l->first_tile + i, i == level ? who : GPU_SPLIT_NO));
}

int64_t tiler_span(const struct bb_logical *l, int64_t tile)
{
    if (l->extent % tile == 0) return l->extent > tile ? l->extent : 0;
    for (unsigned i = 1; i < l->n_spans; i++)
        if (l->spans[i] % tile == 0 && l->spans[i] > tile) return l->spans[i];
    return 0;
}

bool tiler_decide_span(struct tiler *t, uint32_t logical, int64_t tile)
{
    int64_t span = tiler_span(&t->bb->logicals[logical], tile);
    if (span && bb_has_span(t->bb, logical)) tiler_decide(t, gpu_act_span(t->space, logical, span));
    return span > 0;
}

void tiler_keep_extents(struct tiler *t)
{
    const uint32_t logicals[] = {t->p.m, t->p.n, t->p.k, t->p.batch};
    for (unsigned i = 0; i < (t->p.batch == BB_NONE ? 3 : 4); i++)
        if (bb_has_span(t->bb, logicals[i]))
            tiler_decide(t, gpu_act_span(t->space, logicals[i], t->bb->logicals[logicals[i]].extent));
}

void tiler_load(struct tiler *t, const struct side *s, unsigned own_level, enum gpu_dim_kind kind)
{
    uint32_t load = t->bb->values[s->value].load;
    tiler_kind(t, load, s->own, own_level, kind);
    tiler_order(t, tiler_statement(t, load, t->p.k, 0), GPU_ORDER_MERGED,
                tiler_statement(t, t->p.step, t->p.k, 0));
}

void tiler_results(struct tiler *t, uint32_t inst, unsigned m_level, unsigned n_level)
{
    tiler_kind(t, inst, t->p.m, m_level, GPU_DIM_KIND_UNROLL);
    tiler_kind(t, inst, t->p.n, n_level, GPU_DIM_KIND_VECTOR);
}

struct tiler_coordinate tiler_coordinate(struct tiler *t, uint32_t value, uint32_t logical, unsigned outside)
{
    const struct bb_value *v = &t->bb->values[value];
    const struct bb_region *r = &t->bb->regions[v->region];
    unsigned c = 0;
    uint32_t term = t->bb->region_dims[r->first_region_dim].first_term;
    while (t->bb->terms[term].logical != logical) {
        CHECK(++c < r->n_dims);
        term = t->bb->region_dims[r->first_region_dim + c].first_term;
    }
    tiler_decide(t, gpu_act_outside(t->space, term, outside));
    return (struct tiler_coordinate){term, t->bb->insts[v->copy_load].logicals[c]};
}

/* The axes of a copy: of the work-items across, if there are any, and along. */
static void walk_items(struct tiler *t, uint32_t copy, const struct tiler_walk *w, unsigned item, bool rows,
                       bool vectors)
{
    bool first = rows && !w->swapped; /* around the other one */
    if (rows) tiler_axis(t, copy, w->across, item, first ? GPU_MAP_ENCODING_LCL0 : GPU_MAP_ENCODING_FUSED);
    if (vectors) tiler_axis(t, copy, w->along, 0, first ? GPU_MAP_ENCODING_FUSED : GPU_MAP_ENCODING_LCL0);
}

bool tiler_walk(struct tiler *t, const struct bb_value *v, int64_t items, const struct tiler_walk *w)
{
    const struct bb_logical *along = &t->bb->logicals[w->along], *across = &t->bb->logicals[w->across];
    int64_t vectors = w->n_along / w->width, times = 1;
    while (times < w->n_across && (w->n_across % times || vectors * w->n_across > times * items))
        times++;
    unsigned item = times > 1 ? 1 : 0, vector = vectors > 1 ? 1 : 0;
    bool rows = times < w->n_across; /* work-items across, too */
    if ((!rows && (vectors == 1 || vectors > items)) || across->n_levels < item + rows ||
        along->n_levels <= vector)
        return false;
    tiler_sizes(t, w->across, 0,
                times > 1 ? (const int64_t[]){times, rows ? w->n_across / times : 0, 0}
                          : (const int64_t[]){w->n_across, 0, 0});
    tiler_sizes(t, w->along, 0,
                vectors > 1 ? (const int64_t[]){vectors, w->width > 1 ? w->width : 0, 0}
                            : (const int64_t[]){w->width, 0, 0});
    if (times > 1) tiler_kind(t, v->copy_load, w->across, 0, GPU_DIM_KIND_UNROLL);
    walk_items(t, v->copy_load, w, item, rows, vectors > 1);
    if (w->width == 1) return true;
    tiler_kind(t, v->copy_load, w->along, vector, GPU_DIM_KIND_VECTOR);
    tiler_kind(t, v->copy_store, w->along, vector, w->kept ? GPU_DIM_KIND_VECTOR : GPU_DIM_KIND_UNROLL);
    return true;
}

bool tiler_has_width(const struct tiler *t, int64_t width)
{
    for (unsigned i = 0; i < t->device->n_vector_widths; i++)
        if (t->device->vector_widths[i] == width) return true;
    return width == 1;
}

bool product_is_contiguous(const struct backbone *bb, uint32_t inst, uint32_t logical)
{
    int affine = 0;
    return index_stride(bb->insts[inst].index, logical, &affine) == 1 && affine;
}

bool product_has_vectors(const struct backbone *bb, uint32_t inst, uint32_t logical, int64_t width)
{
    const struct bb_inst *i = &bb->insts[inst];
    for (unsigned l = 0; l < i->n_logicals; l++) {
        int affine = 0;
        int64_t stride = index_stride(i->index, i->logicals[l], &affine);
        if (i->logicals[l] != logical && (!affine || stride % width)) return false;
    }
    return i->index->constant % width == 0 && product_is_contiguous(bb, inst, logical);
}

bool product_is_apart(const struct backbone *bb, const struct product *p, const struct side *s)
{
    uint32_t load = bb->values[s->value].load;
    return !product_is_contiguous(bb, load, s->own) && !product_is_contiguous(bb, load, p->k);
}
