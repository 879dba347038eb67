/* The memory of the machine that runs a loop program: who wrote and read each element last, and in which
 * epoch, so that races, accesses out of bounds and reads of what was not written are found (interpret.c). */
#include "core/codegen/interpret_state.h"

#include <math.h>
#include <stdio.h>

bool cg_machine_failed(const struct machine *m)
{
    return m->result.fault != CG_OK && !m->through;
}

void cg_machine_fault(struct machine *m, enum cg_fault kind, uint32_t inst, const char *place,
                      int64_t element)
{
    if (m->result.fault != CG_OK) return;
    m->result.fault = kind;
    snprintf(m->result.where, sizeof m->result.where, "%s: %s[%lld], work-item %lld of group %lld",
             m->p->bb->insts[inst].name, place, (long long)element, (long long)m->item_number,
             (long long)m->group_number);
}

/* To 11 binary digits; without overflow and subnormal numbers. */
static double rounded_to_half(double x)
{
    int exponent;
    if (!isfinite(x)) return x;
    double fraction = frexp(x, &exponent);
    return ldexp(nearbyint(ldexp(fraction, 11)), exponent - 11);
}

double cg_rounded(enum scalar_type type, double x)
{
    if (type == SCALAR_HALF) return rounded_to_half(x);
    return type == SCALAR_FLOAT ? (double)(float)x : x;
}

/* ---- memory ---- */

static int64_t whole_item(const struct machine *m)
{
    return m->group_number * cg_items_per_group(m->p) + m->item_number;
}

/* The number of the meeting of a group: its number without the axis of the parts. */
int64_t cg_meeting_of(const struct machine *m, int64_t group)
{
    const struct cg_split *s = cg_group_split(m->p);
    int64_t below = 1;
    for (unsigned g = 0; g < s->groups->axis; g++)
        below *= m->p->groups[g];
    return group % below + group / (below * s->groups->size) * below;
}

/* Whether two groups have parts of one result, so that what they did is ordered once they met. */
static bool meet(const struct machine *m, int64_t group)
{
    return m->meetings && cg_meeting_of(m, group) == cg_meeting_of(m, m->group_number);
}

/* Whether `who`, not this work-item, accessed the element with no barrier since. Groups share no barrier, but
 * those that meet are ordered after it. */
static bool other(const struct machine *m, int64_t who, int64_t epoch)
{
    if (who == NOBODY || who == whole_item(m)) return false;
    if (who == SEVERAL) return epoch == m->epoch;
    int64_t group = who / cg_items_per_group(m->p);
    if (group == m->group_number) return epoch == m->epoch;
    return !(m->met && meet(m, group));
}

/* Who reads an element, after `before` did: the last of groups that meet stands for all of them. */
static int64_t readers(const struct machine *m, int64_t before, int64_t epoch)
{
    bool group = before >= 0 && before / cg_items_per_group(m->p) != m->group_number;
    if (group && meet(m, before / cg_items_per_group(m->p))) return whole_item(m);
    return other(m, before, epoch) ? SEVERAL : whole_item(m);
}

/* Where the work-item has its element. */
static int64_t place_of(const struct machine *m, const struct memory *mem, int64_t at)
{
    return mem->own ? m->item_number * mem->elements + at : at;
}

double cg_read_memory(struct machine *m, uint32_t inst, struct memory *mem, int64_t at)
{
    if (at < 0 || at >= mem->elements) {
        cg_machine_fault(m, CG_WRONG_BOUNDS, inst, mem->name, at);
        return 0;
    }
    at = place_of(m, mem, at);
    struct shadow *s = &mem->shadow[at];
    if (!s->set) cg_machine_fault(m, CG_UNINITIALIZED, inst, mem->name, at);
    if (other(m, s->writer, s->write_epoch)) cg_machine_fault(m, CG_RACE, inst, mem->name, at);
    s->reader = readers(m, s->reader, s->read_epoch);
    s->read_epoch = m->epoch;
    return mem->data[at];
}

void cg_write_memory(struct machine *m, uint32_t inst, struct memory *mem, int64_t at, double x)
{
    if (at < 0 || at >= mem->elements) {
        cg_machine_fault(m, CG_WRONG_BOUNDS, inst, mem->name, at);
        return;
    }
    at = place_of(m, mem, at);
    struct shadow *s = &mem->shadow[at];
    if (other(m, s->writer, s->write_epoch) || other(m, s->reader, s->read_epoch))
        cg_machine_fault(m, CG_RACE, inst, mem->name, at);
    s->writer = whole_item(m);
    s->write_epoch = m->epoch;
    s->set = true;
    mem->data[at] = cg_rounded(mem->type, x);
}
