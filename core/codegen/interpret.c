/* Runs the loop program on the host and finds its faults: accesses out of bounds, races, barriers that not
 * all work-items of a group reach, reads of what was not written.
 *
 *     loop 4: k.0             holds a barrier: runs once for the group
 *       thread0 16: A.cs.m    holds none: work-item 0 to its end, then work-item 1, ...     epoch 1
 *       barrier                                                                             epoch 2
 *       thread0 16: mad.m     again item by item                                            epoch 2
 *
 * Groups run one after the other. Each element of memory remembers which work-item wrote it and which read it
 * last, and in which epoch. Two work-items that access an element in one epoch, one of them writing, are a
 * race, whatever the order here; so are two groups in any epochs. Groups that have parts of a reduction meet
 * where these are combined: the last one goes on, after all that the others did. Values are doubles, rounded
 * to the precision of their type after every operation. */
#include "core/codegen/interpret_state.h"

#include <math.h>
#include <stdio.h>

#include "core/base/arena.h"

static struct memory *accessed(struct machine *m, uint32_t inst)
{
    const struct cg_access *x = &m->p->access[inst];
    return x->region != BB_NONE ? &m->regions[x->region] : &m->buffers[x->buffer];
}

/* ---- registers and arithmetic ---- */

static unsigned parts_of(const struct machine *m, const struct cg_value *v)
{
    return bb_parts(&m->p->bb->insts[v->inst]);
}

/* Of the first part; the others follow. */
static int64_t slot(const struct machine *m, const struct cg_value *v, struct cg_node *const *digits)
{
    int64_t at = 0;
    for (unsigned a = 0; a < v->n_axes; a++)
        at = at * v->axes[a]->size + m->digit[digits[a]->id];
    return (m->item_number * v->registers + at) * parts_of(m, v);
}

static double read_operand(struct machine *m, uint32_t inst, unsigned j, unsigned part)
{
    const struct cg_operand *x = &m->p->operands[inst][j];
    int64_t at = slot(m, x->value, x->digits) + part;
    if (!m->set[x->value->inst][at]) cg_machine_fault(m, CG_UNINITIALIZED, inst, "register ", at);
    return m->registers[x->value->inst][at];
}

/* Leaves the scalars that the instruction makes at the bottom of the stack. */
static const double *evaluate(struct machine *m, uint32_t inst)
{
    const struct bb_inst *in = &m->p->bb->insts[inst];
    double *stack = m->stack;
    unsigned top = 0;
    for (unsigned i = 0; i < in->n_nodes; i++) {
        const struct bb_node *n = &m->p->expression[inst][i];
        if (n->kind == BB_NODE_OPERAND)
            stack[top++] = read_operand(m, inst, n->operand, n->part);
        else if (n->kind == BB_NODE_CONST)
            stack[top++] = cg_rounded(n->type, n->value);
        else if (n->kind == BB_NODE_INDEX)
            stack[top++] = (double)index_eval(n->index, m->digit);
        else if (n->kind == BB_NODE_SELECT) {
            top--;
            if (!guard_holds(n->guards, n->n_guards, m->digit)) stack[top - 1] = stack[top];
        } else {
            top -= scalar_op_arity(n->op);
            double value = scalar_op_apply(n->op, n->type, stack + top);
            stack[top++] = cg_rounded(scalar_op_gives(n->op, n->type), value);
        }
    }
    if (!in->n_nodes) stack[0] = read_operand(m, inst, 0, 0);
    return stack;
}

/* Whether an index of what was rounded up is beyond its extent. */
static bool is_beyond(const struct machine *m, const struct cg_node *n)
{
    for (unsigned i = 0; i < n->n_guards; i++)
        if (index_eval(n->guards[i].of, m->digit) >= n->guards[i].below) return true;
    return false;
}

static bool guarded_off(const struct machine *m, const struct cg_node *n)
{
    for (unsigned g = 0; g < CG_AXES; g++) {
        if ((n->guard_local >> g & 1u) && m->item[g]) return true;
        if ((n->guard_group >> g & 1u) && m->group[g]) return true;
    }
    return false;
}

/* Sets the variables that a load's index takes from data. */
static void read_data(struct machine *m, uint32_t inst)
{
    const struct bb_inst *in = &m->p->bb->insts[inst];
    if (!in->n_data) return;
    const double *data = evaluate(m, inst);
    for (unsigned k = 0; k < in->n_data; k++) {
        int64_t x = (int64_t)data[k];
        if (x < in->data[k].least || x > in->data[k].most)
            cg_machine_fault(m, CG_WRONG_BOUNDS, inst, "index by data ", x);
        m->digit[m->p->first_datum + k] = x - in->data[k].least;
    }
}

/* Whether a work-item starts from the initial value of a reduction: of a split one only the first part does,
 * except for what is selected. */
static bool starts(const struct machine *m, uint32_t inst)
{
    const struct cg_split *s = cg_split_start(m->p, inst);
    if (!s) return true;
    return (!s->part || m->item[s->part->axis] == 0) && (!s->groups || m->group[s->groups->axis] == 0);
}

static bool selects(const struct bb_combination *how)
{
    bool some = false;
    for (unsigned part = 0; part < BB_MAX_PARTS; part++)
        some |= how->op[part] == SCALAR_SELECT;
    return some;
}

static void run_statement(struct machine *m, const struct cg_node *n)
{
    uint32_t i = n->statement;
    const struct bb_inst *in = &m->p->bb->insts[i];
    const struct cg_access *x = &m->p->access[i];
    bool off = guarded_off(m, n) || is_beyond(m, n), load = in->kind == BB_LOAD || in->kind == BB_COPY_LOAD;
    if (off && !load) return;
    if (!off) read_data(m, i);
    int64_t at = x->offset && !off ? index_eval(x->offset, m->digit) : 0;
    if (in->kind == BB_STORE || in->kind == BB_COPY_STORE) {
        cg_write_memory(m, i, accessed(m, i), at, evaluate(m, i)[0]);
        return;
    }
    const struct cg_value *v = in->kind == BB_STEP ? m->p->operands[i][0].value : &m->p->values[i];
    int64_t to = in->kind == BB_STEP ? slot(m, v, m->p->operands[i][0].digits) : slot(m, v, v->axes);
    bool read = x->offset && !off && guard_holds(x->guards, x->n_guards, m->digit);
    const double loaded = read ? cg_read_memory(m, i, accessed(m, i), at) : off ? 0 : x->otherwise;
    const struct bb_combination *how = starts(m, i) ? NULL : &cg_split_start(m->p, i)->how;
    const double *values = x->offset ? &loaded : !how || selects(how) ? evaluate(m, i) : how->neutral;
    for (unsigned part = 0; part < bb_parts(in); part++) {
        bool neutral = how && how->op[part] != SCALAR_SELECT;
        double value = neutral ? how->neutral[part] : values[part];
        m->registers[v->inst][to + part] = cg_rounded(bb_part_type(in, part), value);
        m->set[v->inst][to + part] = true;
    }
}

/* ---- parts of reductions ---- */

/* The number of the work-item in the group. */
static int64_t number_of(const struct machine *m, const int64_t item[CG_AXES])
{
    const int64_t *size = m->p->local_size;
    return item[0] + size[0] * (item[1] + size[1] * item[2]);
}

/* x becomes x and y combined, or y if that is the first. */
static void take_in(const struct machine *m, const struct cg_split *s, bool first, double *x, const double *y)
{
    const struct bb_inst *step = &m->p->bb->insts[s->node->statement];
    double both[BB_MAX_PARTS];
    bb_combine(step, &s->how, x, y, both);
    for (unsigned part = 0; part < bb_parts(step); part++)
        x[part] = first ? y[part] : cg_rounded(bb_part_type(step, part), both[part]);
}

/* Combines one accumulator of the work-items that differ in their part alone, and gives it to all on the
 * axis. Of an index beyond an extent there is nothing: what is made of that is not set either. */
static void combine_register(struct machine *m, const struct cg_split *s, int64_t reg)
{
    uint32_t init = m->p->bb->insts[s->node->statement].partner;
    unsigned parts = bb_parts(&m->p->bb->insts[init]);
    int64_t item[CG_AXES] = {m->item[0], m->item[1], m->item[2]}, *place = &item[s->part->axis];
    int64_t per_item = m->p->values[init].registers * parts;
    double x[BB_MAX_PARTS] = {0};
    bool set = true;
    for (*place = 0; *place < s->part->size; ++*place) {
        int64_t at = number_of(m, item) * per_item + reg * parts;
        for (unsigned part = 0; part < parts; part++)
            set = set && m->set[init][at + part];
        take_in(m, s, *place == 0, x, &m->registers[init][at]);
    }
    for (*place = 0; *place < m->p->local_size[s->part->axis]; ++*place) {
        int64_t at = number_of(m, item) * per_item + reg * parts;
        for (unsigned part = 0; part < parts; part++) {
            m->registers[init][at + part] = x[part];
            m->set[init][at + part] = set;
        }
    }
}

static void combine_item(struct machine *m, const struct cg_split *s)
{
    uint32_t init = m->p->bb->insts[s->node->statement].partner;
    if (!s->part || m->item[s->part->axis] != 0 || !cg_takes_part(m->p, s, m->item)) return;
    for (int64_t reg = 0; reg < m->p->values[init].registers; reg++)
        combine_register(m, s, reg);
}

/* A group brings its part; the last one of those that meet goes on with what all have made. */
static void meet_others(struct machine *m, const struct cg_split *s)
{
    uint32_t step = s->node->statement, init = m->p->bb->insts[step].partner;
    unsigned parts = bb_parts(&m->p->bb->insts[step]);
    int64_t n = m->p->values[init].registers * cg_items_per_group(m->p) * parts;
    struct meeting *all = &m->meetings[cg_meeting_of(m, m->group_number)];
    for (int64_t i = 0; i < n; i += parts)
        take_in(m, s, !all->arrived, &all->value[i], &m->registers[init][i]);
    for (int64_t i = 0; i < n; i++) {
        all->set[i] = m->set[init][i] && (all->set[i] || !all->arrived);
        m->registers[init][i] = all->value[i];
        m->set[init][i] = all->set[i];
    }
    m->met = ++all->arrived == s->groups->size;
    m->ended = !m->met;
}

/* ---- the tree ---- */

static void run_item(struct machine *m, const struct cg_node *n);

static void run_item_children(struct machine *m, const struct cg_node *n)
{
    for (unsigned i = 0; i < n->n_children && !cg_machine_failed(m); i++)
        run_item(m, n->children[i]);
}

static int64_t hardware_id(const struct machine *m, const struct cg_node *n)
{
    return n->kind == BB_THREAD ? m->item[n->axis] : m->group[n->axis];
}

static void run_item(struct machine *m, const struct cg_node *n)
{
    if (n->type == CG_INST) {
        run_statement(m, n);
    } else if (n->type == CG_COMBINE) {
        combine_item(m, m->p->splits[n->statement]);
    } else if (n->type == CG_AHEAD) {
        for (int64_t i = 0; n->first && i < n->distance; i++) {
            m->digit[n->id] = i;
            run_item_children(m, n);
        }
        m->digit[n->id] = m->digit[n->loop->id] + n->distance;
        if (!n->first && m->digit[n->id] < n->loop->size) run_item_children(m, n);
    } else if (cg_hardware(n)) {
        int64_t id = hardware_id(m, n);
        if (id >= n->run_extent) return;
        m->digit[n->id] = id / n->inner % n->size;
        if (!is_beyond(m, n)) run_item_children(m, n);
    } else {
        for (int64_t i = 0; i < n->size && !cg_machine_failed(m); i++) {
            m->digit[n->id] = i;
            if (!is_beyond(m, n)) run_item_children(m, n);
        }
    }
}

static void run_all_items(struct machine *m, const struct cg_node *n)
{
    const int64_t *size = m->p->local_size;
    m->item_number = 0;
    for (m->item[2] = 0; m->item[2] < size[2]; m->item[2]++)
        for (m->item[1] = 0; m->item[1] < size[1]; m->item[1]++)
            for (m->item[0] = 0; m->item[0] < size[0] && !cg_machine_failed(m);
                 m->item[0]++, m->item_number++)
                run_item(m, n);
}

static void run_group(struct machine *m, const struct cg_node *n);

static void run_group_children(struct machine *m, const struct cg_node *n)
{
    for (unsigned i = 0; i < n->n_children && !cg_machine_failed(m) && !m->ended; i++)
        run_group(m, n->children[i]);
}

static uint32_t first_inst(const struct cg_node *n)
{
    while (n->type != CG_INST)
        n = n->children[n->children[0]->type == CG_BARRIER && n->n_children > 1];
    return n->statement;
}

static void run_group(struct machine *m, const struct cg_node *n)
{
    if (n->type == CG_BARRIER) {
        m->epoch++;
    } else if (n->type == CG_COMBINE) {
        const struct cg_split *s = m->p->splits[n->statement];
        run_all_items(m, n);
        m->epoch++;
        if (s->groups) meet_others(m, s);
    } else if (!n->has_barrier) {
        run_all_items(m, n);
    } else if (cg_hardware(n) && n->kind != BB_THREAD) {
        m->digit[n->id] = m->group[n->axis] / n->inner % n->size;
        run_group_children(m, n);
    } else if (n->kind == BB_LOOP || n->kind == BB_UNROLL) {
        for (int64_t i = 0; i < n->size && !cg_machine_failed(m); i++) {
            m->digit[n->id] = i;
            run_group_children(m, n);
        }
    } else {
        cg_machine_fault(m, CG_DIVERGENT_BARRIER, first_inst(n), "barrier in the nest of ", 0);
    }
}

/* ---- the frame ---- */

/* Elements of all work-items of a group, or of all groups. */
static int64_t all_elements(const struct machine *m, const struct memory *mem)
{
    return mem->own ? mem->elements * cg_items_per_group(m->p) : mem->elements;
}

static void clear(struct machine *m, struct memory *mem, bool set)
{
    for (int64_t i = 0; i < all_elements(m, mem); i++)
        mem->shadow[i] = (struct shadow){NOBODY, NOBODY, 0, 0, set};
}

static void make_memory(struct machine *m, double *const *buffers)
{
    const struct backbone *bb = m->p->bb;
    m->buffers = ARENA_ARRAY(m->arena, struct memory, bb->n_buffers + 1);
    m->regions = ARENA_ARRAY(m->arena, struct memory, bb->n_regions + 1);
    for (unsigned i = 0; i < bb->n_buffers; i++) {
        const struct bb_buffer *b = &bb->buffers[i];
        m->buffers[i] =
            (struct memory){b->name, b->type,    b->elements,
                            false,   buffers[i], ARENA_ARRAY(m->arena, struct shadow, b->elements)};
        clear(m, &m->buffers[i], !b->output || b->updated);
    }
    for (unsigned i = 0; i < bb->n_regions; i++) {
        struct memory *region = &m->regions[i];
        *region = (struct memory){.name = bb->regions[i].name,
                                  .type = bb->regions[i].type,
                                  .elements = m->p->regions[i].used ? m->p->regions[i].elements : 0,
                                  .own = cg_is_private(m->p, i)};
        int64_t n = all_elements(m, region);
        region->data = ARENA_ARRAY(m->arena, double, n);
        region->shadow = ARENA_ARRAY(m->arena, struct shadow, n);
    }
}

/* Scalars of all work-items of a group. */
static int64_t register_count(const struct machine *m, uint32_t inst)
{
    if (!m->p->inst_node[inst]) return 0;
    return m->p->values[inst].registers * cg_items_per_group(m->p) * bb_parts(&m->p->bb->insts[inst]);
}

static void make_registers(struct machine *m)
{
    const struct backbone *bb = m->p->bb;
    m->registers = ARENA_ARRAY(m->arena, double *, bb->n_insts + 1);
    m->set = ARENA_ARRAY(m->arena, bool *, bb->n_insts + 1);
    unsigned deepest = 1;
    for (unsigned i = 0; i < bb->n_insts; i++) {
        int64_t n = register_count(m, i);
        if (bb->insts[i].n_nodes > deepest) deepest = bb->insts[i].n_nodes;
        m->registers[i] = ARENA_ARRAY(m->arena, double, n);
        m->set[i] = ARENA_ARRAY(m->arena, bool, n);
    }
    m->stack = ARENA_ARRAY(m->arena, double, deepest);
}

static void make_meetings(struct machine *m)
{
    const struct cg_split *s = cg_group_split(m->p);
    if (!s) return;
    int64_t n = register_count(m, m->p->bb->insts[s->node->statement].partner);
    m->meetings = ARENA_ARRAY(m->arena, struct meeting, cg_group_slots(m->p, s));
    for (int64_t i = 0; i < cg_group_slots(m->p, s); i++)
        m->meetings[i] =
            (struct meeting){0, ARENA_ARRAY(m->arena, double, n), ARENA_ARRAY(m->arena, bool, n)};
}

static void start_group(struct machine *m)
{
    const struct cg_program *p = m->p;
    m->met = m->ended = false;
    for (unsigned i = 0; i < p->bb->n_regions; i++)
        clear(m, &m->regions[i], false);
    for (unsigned i = 0; i < p->bb->n_insts; i++) {
        int64_t n = register_count(m, i);
        for (int64_t j = 0; j < n; j++)
            m->set[i][j] = false;
    }
}

static void run_groups(struct machine *m)
{
    const int64_t *groups = m->p->groups;
    for (m->group[2] = 0; m->group[2] < groups[2]; m->group[2]++)
        for (m->group[1] = 0; m->group[1] < groups[1]; m->group[1]++)
            for (m->group[0] = 0; m->group[0] < groups[0] && !cg_machine_failed(m);
                 m->group[0]++, m->group_number++) {
                start_group(m);
                run_group_children(m, m->p->root);
            }
}

static void check_outputs(struct machine *m)
{
    for (unsigned i = 0; i < m->p->bb->n_buffers && !cg_machine_failed(m); i++)
        for (int64_t j = 0; j < m->buffers[i].elements && !cg_machine_failed(m); j++) {
            const struct shadow *s = &m->buffers[i].shadow[j];
            if (s->set && (!m->p->bb->buffers[i].updated || s->writer != NOBODY)) continue;
            m->result.fault = CG_UNINITIALIZED;
            snprintf(m->result.where, sizeof m->result.where, "%s[%lld] is never written", m->buffers[i].name,
                     (long long)j);
        }
}

static struct cg_check interpret(const struct cg_program *p, double *const *buffers, bool through)
{
    struct machine m = {.p = p, .arena = arena_new(), .epoch = 1, .through = through};
    make_memory(&m, buffers);
    make_registers(&m);
    make_meetings(&m);
    m.digit = ARENA_ARRAY(m.arena, int64_t, cg_variables(p));
    run_groups(&m);
    if (!through) check_outputs(&m);
    arena_free(m.arena);
    return m.result;
}

struct cg_check cg_interpret(const struct cg_program *p, double *const *buffers)
{
    return interpret(p, buffers, false);
}

struct cg_check cg_interpret_through(const struct cg_program *p, double *const *buffers)
{
    return interpret(p, buffers, true);
}
