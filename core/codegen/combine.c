/* The text that combines the parts of a split reduction (split.c), here of 64 work-items, 8 at a time:
 *
 *     thresh_part_float[thresh_item] = red;                         each work-item writes its part
 *     barrier(CLK_LOCAL_MEM_FENCE);
 *     if (get_local_id(0) < 8)
 *         thresh_part_float[thresh_item] = (((thresh_part_float[thresh_item]      8 parts become one
 *             + thresh_part_float[thresh_item + 8]) + ...
 *     barrier(CLK_LOCAL_MEM_FENCE);
 *     red = (((thresh_part_float[thresh_first] + thresh_part_float[thresh_first + 1]) + ...
 *     barrier(CLK_LOCAL_MEM_FENCE);                                 the array is free again
 *
 * Each work-item combines the last 8 by itself, so that all have the result without another barrier. Several
 * accumulators are combined together if the array has room for them. thresh_item is the work-item's number in
 * the group, thresh_first that of the first one with its other indices.
 *
 * The scalars of a selection (core/backbone/selection.c) have places in the arrays at the same time. A part
 * takes another one in where that is better:
 *
 *     if (((thresh_part_float[thresh_item + 8] > thresh_part_float[thresh_item]) || ...)) {
 *         thresh_part_float[thresh_item] = thresh_part_float[thresh_item + 8];
 *         thresh_part_int[thresh_item] = thresh_part_int[thresh_item + 8];
 *     } */
#include "core/codegen/combine.h"

#include <string.h>

#include "core/base/arena.h"

enum { RADIX = 8 }; /* parts that a work-item combines at a time */

/* ---- scalars that are combined together ---- */

bool cg_combines(const struct combining *c, unsigned part)
{
    return part < bb_parts(c->step) && bb_combined_together(&c->split->how, c->part, part);
}

/* The number of a part among those of its type. */
static int64_t number_of(const struct combining *c, unsigned part)
{
    int64_t before = 0;
    for (unsigned i = 0; i < part; i++)
        before += cg_combines(c, i) && bb_part_type(c->step, i) == bb_part_type(c->step, part);
    return before;
}

/* "thresh_part_float[thresh_item + 64]": of the work-item that is so many places behind it. */
static const char *element(const struct combining *c, unsigned part, const char *item, int64_t reg,
                           int64_t places)
{
    struct cg_emitter *e = c->e;
    int64_t array = number_of(c, part) * c->together + reg - c->first;
    int64_t at = array * c->items + places * c->stride;
    const char *name = cg_part_name(e, bb_part_type(c->step, part));
    return at ? arena_printf(e->scratch, "%s[%s + %lld]", name, item, (long long)at)
              : arena_printf(e->scratch, "%s[%s]", name, item);
}

static struct cg_scalars elements(const struct combining *c, const char *item, int64_t reg, int64_t places)
{
    struct cg_scalars s = {{NULL}};
    for (unsigned part = 0; part < bb_parts(c->step); part++)
        if (cg_combines(c, part)) s.part[part] = element(c, part, item, reg, places);
    return s;
}

/* The register with this number, its digits in mixed radix. */
const char *cg_combined_register(const struct combining *c, unsigned part, int64_t reg)
{
    const struct cg_value *v = c->own.value;
    for (unsigned a = v->n_axes; a-- > 0; reg /= v->axes[a]->size)
        c->e->digit[v->axes[a]->id] = reg % v->axes[a]->size;
    return cg_operand_scalar(c->e, &c->own, part, 0);
}

struct cg_scalars cg_combined_registers(const struct combining *c, int64_t reg)
{
    struct cg_scalars s = {{NULL}};
    for (unsigned part = 0; part < bb_parts(c->step); part++)
        if (cg_combines(c, part)) s.part[part] = cg_combined_register(c, part, reg);
    return s;
}

static void assign(const struct combining *c, const struct cg_scalars *to, const struct cg_scalars *from)
{
    for (unsigned part = 0; part < bb_parts(c->step); part++)
        if (cg_combines(c, part)) cg_line(c->e, CG_TEXT(c->e, "$1 = $2;", to->part[part], from->part[part]));
}

/* ---- two partial results ---- */

static const char *operation(const struct combining *c, enum scalar_op op, enum scalar_type type,
                             const char *x, const char *y)
{
    const struct bb_node node = {.kind = BB_NODE_OP, .type = type, .op = op};
    const char *operands[] = {x, y};
    return cg_operation_text(c->e, &node, operands, false);
}

/* Two partial results of a scalar that is combined alone. */
static const char *combined(const struct combining *c, const char *x, const char *y)
{
    return operation(c, c->split->how.op[c->part], bb_part_type(c->step, c->part), x, y);
}

/* "((b > a) || ((b == a) && (j < i)))": whether y is better than x. */
static const char *better_text(const struct combining *c, const struct cg_scalars *x,
                               const struct cg_scalars *y)
{
    const struct bb_ranking *r = &c->split->how.ranking[c->part];
    enum scalar_type type = bb_part_type(c->step, r->value);
    const char *better = operation(c, r->better, type, y->part[r->value], x->part[r->value]);
    const char *equal = operation(c, SCALAR_EQ, type, y->part[r->value], x->part[r->value]);
    const char *nearer = operation(c, r->nearer, SCALAR_INT, y->part[r->place], x->part[r->place]);
    return operation(c, SCALAR_OR, SCALAR_BOOL, better, operation(c, SCALAR_AND, SCALAR_BOOL, equal, nearer));
}

static bool is_selected(const struct combining *c)
{
    return c->split->how.op[c->part] == SCALAR_SELECT;
}

void cg_take_in(const struct combining *c, const char *where, const struct cg_scalars *own,
                const struct cg_scalars *other)
{
    struct cg_emitter *e = c->e;
    if (!is_selected(c)) {
        const char *x = own->part[c->part], *sum = combined(c, x, other->part[c->part]);
        cg_line(e, CG_TEXT(e, where ? "if ($3) $1 = $2;" : "$1 = $2;", x, sum, where ? where : ""));
        return;
    }
    const char *better = better_text(c, own, other);
    cg_line(e, CG_TEXT(e, where ? "if ($2 && $1) {" : "if ($1) {", better, where ? where : ""));
    e->indent++;
    assign(c, own, other);
    e->indent--;
    cg_line(e, "}");
}

/* The first n parts, each `by` places behind the one before it, combined. */
static void take_parts(const struct combining *c, const struct cg_scalars *to, const char *item, int64_t reg,
                       int64_t n, int64_t by)
{
    struct cg_scalars sum = elements(c, item, reg, 0);
    bool in_place = !strcmp(to->part[c->part], sum.part[c->part]);
    if (is_selected(c) && !in_place) assign(c, to, &sum);
    for (int64_t k = 1; k < n; k++) {
        struct cg_scalars next = elements(c, item, reg, k * by);
        if (is_selected(c))
            cg_take_in(c, NULL, to, &next);
        else
            sum.part[c->part] = combined(c, sum.part[c->part], next.part[c->part]);
    }
    if (!is_selected(c)) assign(c, to, &sum);
}

/* ---- work-items ---- */

/* "get_local_id(1) < 4 && " of the axes on which the nest is shorter than the group; that of the parts is
 * apart. */
static const char *others_text(const struct combining *c)
{
    const struct cg_program *p = c->e->p;
    const char *text = "";
    for (const struct cg_node *n = p->inst_node[c->split->node->statement]->parent; n->type == CG_DIM;
         n = n->parent)
        if (cg_is_short(p, n) && n != c->split->part)
            text = CG_TEXT(c->e, "$1$2 < $3 && ", text, cg_id_text(c->e, BB_THREAD, n->axis),
                           cg_number(c->e, n->run_extent));
    return text;
}

/* Opens `if` for the first `below` parts; nothing if these are all work-items. */
void cg_open_parts(const struct combining *c, int64_t below)
{
    struct cg_emitter *e = c->e;
    const char *others = others_text(c);
    bool all = !c->id || below >= e->p->local_size[c->split->part->axis];
    const char *own = all ? "1" : CG_TEXT(e, "$1 < $2", c->id, cg_number(e, below));
    cg_line(e, all && !*others ? "{" : CG_TEXT(e, "if ($1$2) {", others, own));
    e->indent++;
}

void cg_close_parts(const struct combining *c)
{
    c->e->indent--;
    cg_line(c->e, "}");
}

static void barrier(const struct combining *c)
{
    cg_line(c->e, c->e->dialect->barrier_local);
}

static void write_parts(const struct combining *c)
{
    cg_open_parts(c, c->split->part->size);
    for (int64_t r = c->first; r < c->first + c->n; r++) {
        struct cg_scalars to = elements(c, "thresh_item", r, 0), from = cg_combined_registers(c, r);
        assign(c, &to, &from);
    }
    cg_close_parts(c);
    barrier(c);
}

/* The first `left` of n parts take the others in, each those that are a multiple of `left` behind it. */
static void halve(const struct combining *c, int64_t n, int64_t left)
{
    struct cg_emitter *e = c->e;
    cg_open_parts(c, left);
    for (int64_t r = c->first; r < c->first + c->n; r++) {
        struct cg_scalars own = elements(c, "thresh_item", r, 0);
        take_parts(c, &own, "thresh_item", r, n / left, left);
        if (n % left == 0) continue;
        struct cg_scalars rest = elements(c, "thresh_item", r, n / left * left);
        cg_take_in(c, CG_TEXT(e, "$1 < $2", c->id, cg_number(e, n % left)), &own, &rest);
    }
    cg_close_parts(c);
    barrier(c);
}

static void read_results(const struct combining *c, int64_t n)
{
    cg_open_parts(c, INT64_MAX);
    for (int64_t r = c->first; r < c->first + c->n; r++) {
        struct cg_scalars to = cg_combined_registers(c, r);
        take_parts(c, &to, "thresh_first", r, n, 1);
    }
    cg_close_parts(c);
    barrier(c);
}

static void combine(const struct combining *c)
{
    int64_t n = c->split->part->size;
    write_parts(c);
    for (; n > RADIX; n = (n + RADIX - 1) / RADIX)
        halve(c, n, (n + RADIX - 1) / RADIX);
    read_results(c, n);
}

/* "get_local_id(0) + 8 * get_local_id(1)" */
static const char *item_text(const struct combining *c)
{
    struct cg_emitter *e = c->e;
    const char *text = NULL;
    int64_t weight = 1;
    for (unsigned g = 0; g < CG_AXES; g++) {
        const char *id = cg_id_text(e, BB_THREAD, g);
        if (e->p->local_size[g] == 1) continue;
        if (weight > 1) id = CG_TEXT(e, "$1 * $2", cg_number(e, weight), id);
        text = text ? CG_TEXT(e, "$1 + $2", text, id) : id;
        weight *= e->p->local_size[g];
    }
    return text ? text : "0";
}

static void declare_items(const struct combining *c)
{
    struct cg_emitter *e = c->e;
    cg_line(e, CG_TEXT(e, "const $1 thresh_item = ($1)($2);", e->dialect->index, item_text(c)));
    if (c->id)
        cg_line(e, CG_TEXT(e, "const $1 thresh_first = thresh_item - ($1)$2 * $3;", e->dialect->index, c->id,
                           cg_number(e, c->stride)));
}

/* The parts of work-items, as many accumulators together as the array has room for. */
static void combine_items(struct combining *c)
{
    int64_t registers = c->own.value->registers;
    for (c->part = 0; c->id && c->part < bb_parts(c->step); c->part++) {
        if (!bb_combined_first(&c->split->how, c->part)) continue;
        for (c->first = 0; c->first < registers; c->first += c->together) {
            c->n = registers - c->first < c->together ? registers - c->first : c->together;
            combine(c);
        }
    }
}

void cg_emit_combine(struct cg_emitter *e, const struct cg_node *n)
{
    const struct bb_inst *step = &e->p->bb->insts[n->statement];
    const struct cg_value *v = &e->p->values[step->partner];
    struct combining c = {.e = e, .split = e->p->splits[n->statement], .own = {v, v->axes}, .stride = 1};
    c.step = step;
    c.items = cg_items_per_group(e->p);
    c.together = cg_split_together(e->p, c.split);
    if (c.split->part) c.id = cg_id_text(e, BB_THREAD, c.split->part->axis);
    for (unsigned g = 0; c.split->part && g < c.split->part->axis; g++)
        c.stride *= e->p->local_size[g];
    cg_line(e, CG_TEXT(e, "{ /* $1 */", step->name));
    e->indent++;
    declare_items(&c);
    combine_items(&c);
    if (c.split->groups) {
        cg_emit_meeting(&c);
        combine_items(&c);
    }
    e->indent--;
    cg_line(e, "}");
}

const char *cg_part_name(struct cg_emitter *e, enum scalar_type type)
{
    return CG_TEXT(e, "thresh_part_$1", cg_type_of(&e->p->target, type)->name);
}

void cg_emit_part_arrays(struct cg_emitter *e)
{
    for (int t = 0; t < SCALAR_TYPE_COUNT; t++) {
        int64_t n = cg_part_elements(e->p, (enum scalar_type)t);
        if (n)
            cg_line(e,
                    CG_TEXT(e, e->dialect->local_array, cg_type_of(&e->p->target, (enum scalar_type)t)->name,
                            cg_part_name(e, (enum scalar_type)t), cg_number(e, n),
                            cg_number(e, CG_ALIGNMENT)));
    }
}

/* Barriers of the text of one node. */
unsigned cg_combine_barriers(const struct cg_program *p, const struct cg_split *s)
{
    const struct bb_inst *step = &p->bb->insts[s->node->statement];
    int64_t together = cg_split_together(p, s), registers = p->values[step->partner].registers;
    unsigned rounds = s->part ? 2 : 0, apart = 0;
    for (int64_t n = s->part ? s->part->size : 0; n > RADIX; n = (n + RADIX - 1) / RADIX)
        rounds++;
    for (unsigned part = 0; part < bb_parts(step); part++)
        apart += bb_combined_first(&s->how, part);
    unsigned of_items = rounds * apart * (unsigned)((registers + together - 1) / together);
    return s->groups ? 2 * of_items + 2 : of_items;
}
