/* Which loads read one value at several spots. The owner's form has a logical for each spot; its coordinates
 * are found as those of any load (window.c), in which spots are terms. With a variable for each sum, the form
 * is F. It holds for every value of the sum, as the program may ask for any place of the window, so that the
 * copy of a tile reads nothing that no load may read.
 *
 * A reader is written out, without spots. It is compared with F of its own sum plus a constant, which is
 * found by trying all that the spots add. So whatever was known when the owner's form was made, a reader
 * reads what F says. */
#include "core/backbone/spots.h"

#include "core/backbone/lower.h"
#include "core/backbone/spots_form.h"
#include "core/backbone/view.h"
#include "core/base/arena.h"

struct finder {
    const struct lowering *l;
    uint32_t load;
    struct bb_logical *logicals;
    unsigned n_logicals;
    struct bb_spots *out;
    int64_t most[BB_MAX_LOGICALS];  /* what spots add to each coordinate at most */
    unsigned axis[BB_MAX_LOGICALS]; /* of the array, that has the coordinate's sum */
};

static bool is_spot(const struct finder *f, uint32_t logical)
{
    return logical >= f->l->n_logicals;
}

/* ---- the owner ---- */

static bool form_mentions(const struct bb_inst *form, uint32_t v)
{
    bool mentioned =
        (form->index && index_mentions(form->index, v)) || guard_mentions(form->guards, form->n_guards, v);
    for (unsigned k = 0; k < form->n_axes && !mentioned; k++)
        mentioned = index_mentions(form->axes[k], v);
    for (unsigned i = 0; i < form->n_nodes && !mentioned; i++)
        mentioned = bb_node_mentions(&form->nodes[i], v);
    return mentioned;
}

static bool owns_some(const struct bb_inst *inst, const struct bb_coordinate *c)
{
    bool owns = false;
    for (unsigned i = 0; i < c->n_terms; i++)
        owns = owns || bb_owns(inst, c->terms[i].logical);
    return owns;
}

/* Whether an instruction's form has only its own logicals, and sums of these. Where its spot makes an index
 * constant the instruction has no logical, and its copy would have none of the sum. */
static bool is_closed(const struct finder *f, uint32_t inst, const struct bb_inst *form)
{
    const struct bb_inst *own = &f->l->insts[inst];
    bool closed = true;
    for (uint32_t v = 0; v < f->n_logicals && closed; v++)
        closed = !form_mentions(form, v) || (!is_spot(f, v) && bb_owns(own, v));
    for (unsigned j = 0; j < f->out->n_coordinates && closed; j++)
        closed = !form_mentions(form, f->out->sum + j) || owns_some(own, &f->out->coordinates[j]);
    return closed;
}

/* Takes the spots off the terms of a coordinate; false: nothing else is in it. */
static bool take_spots_off(struct finder *f, unsigned j)
{
    struct bb_coordinate *c = &f->out->coordinates[j];
    unsigned left = 0;
    for (unsigned i = 0; i < c->n_terms; i++) {
        struct bb_term t = c->terms[i];
        if (is_spot(f, t.logical))
            f->most[j] += t.coefficient * (f->logicals[t.logical].extent - 1);
        else
            c->terms[left++] = t;
    }
    c->n_terms = left;
    return left > 0;
}

/* The dimension of the array whose index has the sum of a coordinate. */
static unsigned find_axis(const struct finder *f, const struct bb_inst *load, unsigned j)
{
    unsigned k = 0;
    while (k < load->n_axes && !index_mentions(load->axes[k], f->out->sum + j))
        k++;
    return k;
}

/* Finds coordinates and F; false: the spots are in no windows. */
static bool find_sums(struct finder *f, const uint32_t *makers, unsigned n_makers)
{
    struct bb_spots *s = f->out;
    struct arena *a = f->l->arena;
    const struct bb_inst **all = ARENA_ARRAY(a, const struct bb_inst *, n_makers + 1);
    for (unsigned i = 0; i <= n_makers; i++)
        all[i] = &s->insts[i];
    const struct bb_inst *load = &s->insts[n_makers];
    s->n_coordinates = bb_coordinates(a, f->logicals, load, all, n_makers + 1, s->coordinates);
    s->sum = f->n_logicals;
    bool found = false;
    for (unsigned i = 0; i <= n_makers; i++)
        bb_put_windows(a, f->logicals, s->coordinates, s->n_coordinates, s->sum, &s->insts[i]);
    for (unsigned j = 0; j < s->n_coordinates; j++) {
        s->is_sum[j] = s->coordinates[j].n_terms > 1;
        f->axis[j] = find_axis(f, load, j);
        if (!take_spots_off(f, j) || (f->most[j] && f->axis[j] == load->n_axes)) return false;
        found = found || f->most[j] > 0;
    }
    for (unsigned i = 0; i <= n_makers && found; i++)
        found = is_closed(f, i < n_makers ? makers[i] : f->load, &s->insts[i]);
    return found;
}

/* ---- readers ---- */

/* The sum of a coordinate's logicals, and a constant. */
static const struct index_expr *sum_of(const struct finder *f, unsigned j, int64_t plus)
{
    const struct bb_coordinate *c = &f->out->coordinates[j];
    const struct index_expr *sum = index_constant(f->l->arena, plus);
    for (unsigned i = 0; i < c->n_terms; i++) {
        const struct bb_term *t = &c->terms[i];
        const struct index_expr *x = index_var(f->l->arena, t->logical, f->logicals[t->logical].extent);
        sum = index_add(f->l->arena, sum, index_scale(f->l->arena, x, t->coefficient));
    }
    return sum;
}

/* Finds what a reader adds to a coordinate; false: no constant gives its index. */
static bool find_constant(const struct finder *f, const struct bb_inst *form, const struct bb_inst *reader,
                          unsigned j, const struct index_expr **by, int64_t *at)
{
    uint32_t n = f->out->sum + f->out->n_coordinates;
    bool found = false;
    for (*at = 0; *at <= f->most[j]; ++*at) {
        by[f->out->sum + j] = sum_of(f, j, *at);
        const struct index_expr *axis = index_substitute(f->l->arena, form->axes[f->axis[j]], by, n);
        found = !index_compare(axis, reader->axes[f->axis[j]]);
        if (found) break;
    }
    return found;
}

/* Whether two TAKEs read one array, or two LOADs. */
static bool same_array(const struct lowering *l, uint32_t x, uint32_t y)
{
    const struct tree *a = l->trees[x], *b = l->trees[y];
    const struct bb_inst *one = &l->insts[x], *other = &l->insts[y];
    if (one->kind == BB_LOAD) return one->buffer == other->buffer && !other->n_data;
    return a->of_array == b->of_array && a->part == b->part;
}

static bool same_logicals(const struct bb_inst *x, const struct bb_inst *y)
{
    bool same = x->n_logicals == y->n_logicals;
    for (unsigned i = 0; i < x->n_logicals && same; i++)
        same = bb_owns(y, x->logicals[i]);
    return same;
}

/* Whether a load is F of its own sums, which are found. */
static bool is_reader(const struct finder *f, const struct bb_inst *form, uint32_t load, int64_t *at)
{
    const struct lowering *l = f->l;
    const struct bb_inst *own = &l->insts[f->load], *inst = &l->insts[load];
    if (inst->kind != own->kind || !same_array(l, f->load, load) || !same_logicals(own, inst) ||
        inst->n_axes != own->n_axes ||
        (form->n_guards && inst->n_guards && inst->otherwise != form->otherwise))
        return false;
    uint32_t n = f->out->sum + f->out->n_coordinates;
    const struct index_expr **by = ARENA_ARRAY(l->arena, const struct index_expr *, n);
    for (unsigned j = 0; j < f->out->n_coordinates; j++) {
        if (f->out->is_sum[j]) by[f->out->sum + j] = sum_of(f, j, 0);
        if (f->most[j] && !find_constant(f, form, inst, j, by, &at[j])) return false;
    }
    struct bb_inst there = *form;
    bb_put_indices(l->arena, &there, by, n);
    bool same = !inst->index || !index_compare(there.index, inst->index);
    for (unsigned k = 0; k < inst->n_axes && same; k++)
        same = !index_compare(there.axes[k], inst->axes[k]);
    return same && there.n_guards == inst->n_guards && guard_same(there.guards, inst->guards, inst->n_guards);
}

static void find_readers(struct finder *f, const struct bb_inst *form, const bool *taken)
{
    struct bb_spots *s = f->out;
    s->readers = ARENA_ARRAY(f->l->arena, struct bb_spot_reader, f->l->n_insts + 1);
    for (uint32_t i = f->load; i < f->l->n_insts; i++) {
        struct bb_spot_reader *r = &s->readers[s->n_readers];
        *r = (struct bb_spot_reader){.load = i};
        if (!taken[i] && is_reader(f, form, i, r->at)) s->n_readers++;
    }
}

/* ---- the tile ---- */

/* Coordinates have what their readers add. Returns whether these differ. */
static bool set_spreads(struct finder *f)
{
    struct bb_spots *s = f->out;
    bool differ = false;
    for (unsigned j = 0; j < s->n_coordinates; j++) {
        struct bb_coordinate *c = &s->coordinates[j];
        int64_t least = INT64_MAX, most = 0, reach = 0;
        for (unsigned i = 0; i < s->n_readers; i++) {
            int64_t at = s->readers[i].at[j];
            least = at < least ? at : least;
            most = at > most ? at : most;
        }
        for (unsigned i = 0; i < c->n_terms; i++)
            reach += c->terms[i].coefficient * (f->logicals[c->terms[i].logical].extent - 1);
        for (unsigned i = 0; i < s->n_readers; i++)
            s->readers[i].at[j] -= least;
        s->least[j] = least;
        c->spread = most - least;
        c->extent = 1 + reach + c->spread;
        differ = differ || c->spread > 0;
    }
    return differ;
}

/* Of a coordinate that is one logical the sum is that times its coefficient. */
static void set_plain(struct finder *f, unsigned n_insts)
{
    struct bb_spots *s = f->out;
    uint32_t n = s->sum + s->n_coordinates;
    const struct index_expr **by = ARENA_ARRAY(f->l->arena, const struct index_expr *, n);
    for (unsigned j = 0; j < s->n_coordinates; j++) {
        struct bb_coordinate *c = &s->coordinates[j];
        if (!s->is_sum[j] || c->n_terms > 1 || c->spread) continue;
        by[s->sum + j] = sum_of(f, j, s->least[j]);
        s->is_sum[j] = false;
        c->terms[0].coefficient = 1;
        c->extent = f->logicals[c->terms[0].logical].extent;
    }
    for (unsigned i = 0; i < n_insts; i++)
        bb_put_indices(f->l->arena, &s->insts[i], by, n);
}

bool bb_find_spots(const struct lowering *l, uint32_t load, const uint32_t *makers, unsigned n_makers,
                   const bool *taken, struct bb_spots *out)
{
    struct finder f = {.l = l, .load = load, .out = out};
    *out = (struct bb_spots){0};
    if (l->viewer->pinned || !l->viewer->n_spots || taken[load] || !view_tree_has_spots(l->trees[load]))
        return false;
    f.logicals = spots_logicals(l, &f.n_logicals);
    out->insts = spots_form(l, load, makers, n_makers);
    if (!out->insts || !find_sums(&f, makers, n_makers)) return false;
    find_readers(&f, &out->insts[n_makers], taken);
    if (out->n_readers < 2 || out->readers[0].load != load || !set_spreads(&f)) return false;
    set_plain(&f, n_makers + 1);
    return true;
}

void bb_put_spots(struct arena *a, const struct bb_spots *s, unsigned k, uint32_t first, struct bb_inst *inst)
{
    uint32_t n = s->sum + s->n_coordinates;
    const struct index_expr **by = ARENA_ARRAY(a, const struct index_expr *, n);
    for (unsigned j = 0; j < s->n_coordinates; j++)
        if (s->is_sum[j])
            by[s->sum + j] = index_shift(a, index_var(a, first + j, s->coordinates[j].extent), s->least[j]);
    inst->index = s->insts[k].index;
    inst->n_guards = s->insts[k].n_guards;
    inst->guards = s->insts[k].guards;
    inst->otherwise = s->insts[k].otherwise;
    inst->nodes = s->insts[k].nodes;
    bb_put_indices(a, inst, by, n);
}
