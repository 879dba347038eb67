/* Which computed values may be staged, and what makes them. */
#include "core/backbone/stored.h"

#include "core/backbone/lower.h"
#include "core/backbone/spots.h"
#include "core/backbone/view.h"
#include "core/backbone/window.h"
#include "core/base/arena.h"

enum { MOST_NODES = 4096 };

/* ---- expressions ---- */

static bool reads_no_accumulator(const struct tree *t, unsigned *left)
{
    if (t->kind == TREE_ACC || !*left) return false;
    --*left;
    unsigned n = t->kind == TREE_OP       ? scalar_op_arity(t->op)
                 : t->kind == TREE_SELECT ? 2
                 : t->kind == TREE_STORED ? 1
                                          : 0;
    bool none = true;
    for (unsigned i = 0; none && i < n; i++)
        none = reads_no_accumulator(t->args[i], left);
    return none;
}

bool stored_stands_alone(const struct tree *t)
{
    unsigned left = MOST_NODES;
    return reads_no_accumulator(t, &left);
}

/* ---- makers ---- */

/* opaque: the arrays whose TAKEs are values of their own. */
static bool can_be_copied(const struct lowering *l, uint32_t i, const struct stored_arrays *opaque)
{
    const struct bb_inst *inst = &l->insts[i];
    if (inst->kind == BB_LOAD) return !inst->n_data && !l->buffers[inst->buffer].updated;
    if (inst->kind == BB_TAKE) return opaque && !stored_find(opaque, l->trees[i]->stored->value);
    return (inst->kind == BB_COMPUTE || inst->kind == BB_INIT || inst->kind == BB_STEP) && !inst->scan;
}

static unsigned find_makers(const struct lowering *l, uint32_t take, const struct stored_arrays *opaque,
                            uint32_t *out)
{
    bool *needed = ARENA_ARRAY(l->arena, bool, l->n_insts);
    unsigned n = 0;
    needed[take] = true;
    for (uint32_t i = take + 1; i-- > 0;) {
        const struct bb_inst *inst = &l->insts[i];
        if (!needed[i]) continue;
        if (i != take && !can_be_copied(l, i, opaque)) return 0;
        for (unsigned o = 0; o < inst->n_operands; o++)
            needed[inst->operands[o]] = true;
    }
    for (uint32_t i = 0; i < take; i++)
        if (needed[i]) out[n++] = i;
    return n;
}

unsigned stored_makers(const struct lowering *l, uint32_t take, uint32_t *out)
{
    return find_makers(l, take, NULL, out);
}

static bool is_in(const uint32_t *list, unsigned n, uint32_t x)
{
    bool in = false;
    for (unsigned i = 0; i < n; i++)
        in = in || list[i] == x;
    return in;
}

/* Whether something outside of the list, and other than the TAKE, reads an instruction. */
static bool is_read_elsewhere(const struct lowering *l, uint32_t take, const uint32_t *list, unsigned n,
                              uint32_t inst)
{
    bool elsewhere = false;
    for (uint32_t i = 0; i < l->n_insts; i++)
        elsewhere = elsewhere || (i != take && !is_in(list, n, i) && bb_reads(&l->insts[i], inst));
    for (size_t k = 0; k < l->n_overwrites; k++)
        elsewhere = elsewhere || l->overwrites[k].load == inst;
    return elsewhere;
}

unsigned stored_direct(const struct lowering *l, uint32_t take, const uint32_t *makers, unsigned n,
                       uint32_t *out)
{
    unsigned left = n;
    for (unsigned i = 0; i < n; i++)
        out[i] = makers[i];
    for (bool changed = true; changed;) {
        unsigned kept = 0;
        for (unsigned i = 0; i < left; i++)
            if (!is_read_elsewhere(l, take, out, left, out[i])) out[kept++] = out[i];
        changed = kept < left;
        left = kept;
    }
    return left;
}

/* ---- several takes ---- */

static bool is_plain(const struct index_expr *x)
{
    return x->n_terms == 1 && x->constant == 0 && x->terms[0].coefficient == 1 &&
           x->terms[0].atom.kind == INDEX_VAR && x->terms[0].atom.var < VIEW_DATUM;
}

/* Notes that a logical of the first take is `to` of the other; false: it is another one already, or they
 * differ in length. */
static bool match(const struct lowering *l, uint32_t from, uint32_t to, uint32_t *as)
{
    if (as[from] != from && as[from] != to) return false;
    as[from] = to;
    return l->logicals[from].extent == l->logicals[to].extent;
}

static bool same_axes(const struct lowering *l, const struct bb_inst *x, const struct bb_inst *y,
                      const uint32_t *as)
{
    const struct index_expr **by = ARENA_ARRAY(l->arena, const struct index_expr *, l->n_logicals + 1);
    bool same = true;
    for (uint32_t v = 0; v < l->n_logicals; v++)
        if (as[v] != v) by[v] = index_var(l->arena, as[v], l->logicals[v].extent);
    for (unsigned k = 0; same && k < x->n_axes; k++) {
        const struct index_expr *axis = index_substitute(l->arena, x->axes[k], by, (uint32_t)l->n_logicals);
        same = !index_compare(axis, y->axes[k]);
    }
    return same;
}

bool stored_shares(const struct lowering *l, uint32_t first, uint32_t other, uint32_t *as)
{
    const struct bb_inst *x = &l->insts[first], *y = &l->insts[other];
    if (x->kind != BB_TAKE || y->kind != BB_TAKE || first == other) return false;
    const struct tree *a = l->trees[first], *b = l->trees[other];
    bool shares = a->of_array == b->of_array && a->part == b->part && x->n_axes == y->n_axes &&
                  x->n_logicals == y->n_logicals;
    for (uint32_t v = 0; v < l->n_logicals; v++)
        as[v] = v;
    for (unsigned k = 0; shares && k < x->n_axes; k++)
        if (is_plain(x->axes[k]) && is_plain(y->axes[k]))
            shares = match(l, x->axes[k]->terms[0].atom.var, y->axes[k]->terms[0].atom.var, as);
    for (unsigned i = 0; shares && i < x->n_logicals; i++)
        shares = bb_owns(y, as[x->logicals[i]]);
    return shares && same_axes(l, x, y, as);
}

/* ---- what is worth it ---- */

static bool takes_long(const struct bb_inst *inst)
{
    bool slow = false;
    for (unsigned i = 0; i < inst->n_nodes; i++)
        slow = slow || (inst->nodes[i].kind == BB_NODE_OP && !scalar_op_exact(inst->nodes[i].op));
    return slow;
}

/* Whether a value is more than a little arithmetic with one element. */
static bool is_work(const struct lowering *l, const uint32_t *makers, unsigned n)
{
    unsigned loads = 0;
    bool work = false;
    for (unsigned i = 0; i < n; i++) {
        const struct bb_inst *maker = &l->insts[makers[i]];
        loads += maker->kind == BB_LOAD;
        work = work || maker->kind == BB_STEP || (maker->kind == BB_COMPUTE && takes_long(maker));
    }
    return work || loads > 1;
}

static bool has_window(const struct lowering *l, const struct bb_inst *take, const uint32_t *makers,
                       unsigned n)
{
    struct bb_coordinate list[BB_MAX_LOGICALS];
    const struct bb_inst **insts = ARENA_ARRAY(l->arena, const struct bb_inst *, n + 1);
    for (unsigned i = 0; i < n; i++)
        insts[i] = &l->insts[makers[i]];
    insts[n] = take;
    unsigned coordinates = bb_coordinates(l->arena, l->logicals, take, insts, n + 1, list);
    return coordinates < take->n_logicals;
}

/* Whether an instruction reads a value only where a guard on a logical selects it, as [f(0), f(1)] at k does:
 * then its iterations over that logical share nothing. */
static bool is_selected(const struct bb_inst *reader, uint32_t take, uint32_t logical)
{
    const struct bb_node *nodes = reader->nodes;
    bool selected = true;
    for (unsigned i = 0; i < reader->n_nodes; i++) {
        if (nodes[i].kind != BB_NODE_OPERAND || reader->operands[nodes[i].operand] != take) continue;
        bool guarded = false;
        for (unsigned k = i + 1; k < reader->n_nodes; k++)
            guarded = guarded || (nodes[k].kind == BB_NODE_SELECT && bb_node_mentions(&nodes[k], logical) &&
                                  bb_node_first(&nodes[k]) <= &nodes[i]);
        selected = selected && guarded;
    }
    return selected;
}

/* Whether iterations of an instruction over a logical that the TAKE lacks read the same element. */
static bool reads_again(const struct bb_inst *reader, uint32_t take, const struct bb_inst *own)
{
    bool again = false;
    for (unsigned j = 0; j < reader->n_logicals; j++)
        again =
            again || (!bb_owns(own, reader->logicals[j]) && !is_selected(reader, take, reader->logicals[j]));
    return again;
}

/* Whether other TAKEs read the value at other places of windows. */
static bool has_spots(const struct lowering *l, uint32_t take, const uint32_t *makers, unsigned n)
{
    const bool *none = ARENA_ARRAY(l->arena, bool, l->n_insts + 1);
    struct bb_spots spots;
    return bb_find_spots(l, take, makers, n, none, &spots);
}

/* Whether several iterations of a reader share an element, or several TAKEs read it. */
static bool is_shared(const struct lowering *l, uint32_t take)
{
    const struct bb_inst *own = &l->insts[take];
    uint32_t *as = ARENA_ARRAY(l->arena, uint32_t, l->n_logicals + 1);
    bool shared = false;
    for (uint32_t i = 0; i < l->n_insts && !shared; i++)
        shared = stored_shares(l, take, i, as);
    for (uint32_t i = 0; i < l->n_insts && !shared; i++)
        shared = bb_reads(&l->insts[i], take) && reads_again(&l->insts[i], take, own);
    return shared;
}

/* Whether the value of a TAKE is worth it, of which the chosen ones are no part. */
static bool is_worth(const struct lowering *l, uint32_t take, const struct stored_arrays *chosen)
{
    const struct bb_inst *inst = &l->insts[take];
    uint32_t *makers = ARENA_ARRAY(l->arena, uint32_t, l->n_insts + 1);
    unsigned n = inst->n_logicals ? find_makers(l, take, chosen, makers) : 0;
    if (!n || !is_work(l, makers, n)) return false;
    return is_shared(l, take) || has_window(l, inst, makers, n) || has_spots(l, take, makers, n);
}

/* Whether the element is one of a larger array, too, that is worth it: of all rows instead of one. */
static bool is_part(const struct lowering *l, uint32_t take, const struct stored_arrays *chosen)
{
    bool part = false;
    for (uint32_t i = 0; i < l->n_insts && !part; i++)
        part = l->insts[i].kind == BB_TAKE && bb_reads(&l->insts[i], take) && is_worth(l, i, chosen);
    return part;
}

/* Whether elements of the array make a value that has been chosen. */
static bool is_inside(const struct lowering *l, const struct stored_array *array,
                      const struct stored_arrays *chosen)
{
    uint32_t *makers = ARENA_ARRAY(l->arena, uint32_t, l->n_insts + 1);
    bool inside = false;
    for (uint32_t i = 0; i < l->n_insts; i++) {
        if (l->insts[i].kind != BB_TAKE || !stored_find(chosen, l->trees[i]->stored->value)) continue;
        unsigned n = find_makers(l, i, chosen, makers);
        for (unsigned k = 0; k < n; k++)
            inside = inside || (l->insts[makers[k]].kind == BB_TAKE && l->trees[makers[k]]->stored == array);
    }
    return inside;
}

const struct stored_array *stored_find(const struct stored_arrays *arrays, const struct lift_expr *value)
{
    const struct stored_array *found = NULL;
    for (size_t i = 0; i < arrays->n && !found; i++)
        if (arrays->items[i].value == value) found = &arrays->items[i];
    return found;
}

struct stored_arrays stored_choose(const struct lowering *l, const struct stored_arrays *before)
{
    struct stored_arrays chosen = {.n = before->n, .cap = before->n + l->n_insts + 1};
    chosen.items = ARENA_ARRAY(l->arena, struct stored_array, chosen.cap);
    for (size_t i = 0; i < before->n; i++)
        chosen.items[i] = before->items[i];
    for (uint32_t i = 0; i < l->n_insts; i++) {
        if (l->insts[i].kind != BB_TAKE) continue;
        const struct stored_array *array = l->trees[i]->stored;
        if (stored_find(&chosen, array->value) || !is_worth(l, i, &chosen)) continue;
        if (!is_part(l, i, &chosen) && !is_inside(l, array, &chosen)) chosen.items[chosen.n++] = *array;
    }
    return chosen;
}
