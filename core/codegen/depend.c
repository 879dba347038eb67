/* Whether a work-item may read an element of a region that another one wrote. All sizes are constants, so
 * this is found by running the accesses of one group:
 *
 *     thread0 4: A.cl.i A.cs.i      tile[i] is written by work-item i     writer = 0 1 2 3
 *     thread0 4: A.load.i           tile[i] is read by work-item i        no other work-item: no barrier
 *                                   tile[3 - i] is read by work-item i    another one: dependent
 *
 * The writer of each element, the first of several, is tabulated over all work-items and the loops between
 * the store and the innermost node around store and load. Work-item 0 comes first: what it reads and does not
 * write is another's or nobody's, which is seen before the others are run. More than MOST_ACCESSES accesses
 * count as dependent. */
#include "core/codegen/program.h"

#include "core/base/arena.h"

enum { MOST_ACCESSES = 1 << 16, UNWRITTEN = 0 };

struct walk {
    const struct cg_program *p;
    const struct cg_node *inst;
    const struct cg_node *path[64]; /* dimensions from the common node's child to the instruction */
    unsigned n;
    int64_t *digit;  /* [n_nodes] */
    int64_t *writer; /* [elements] work-item + 1, or UNWRITTEN */
    bool writes;
    int64_t item[CG_AXES], number;
    bool dependent;
};

static void touch(struct walk *w)
{
    const struct cg_access *x = &w->p->access[w->inst->statement];
    if (w->writes && !guard_holds(x->guards, x->n_guards, w->digit)) return;
    int64_t *writer = &w->writer[index_eval(x->offset, w->digit)];
    if (w->writes && *writer == UNWRITTEN) *writer = w->number + 1;
    w->dependent |= *writer != w->number + 1;
}

static void step(struct walk *w, unsigned depth)
{
    if (depth == w->n) {
        touch(w);
        return;
    }
    const struct cg_node *n = w->path[depth];
    if (n->kind == BB_THREAD) {
        if (w->item[n->axis] >= n->run_extent) return;
        w->digit[n->id] = w->item[n->axis] / n->inner % n->size;
        step(w, depth + 1);
        return;
    }
    for (w->digit[n->id] = 0; w->digit[n->id] < n->size && !w->dependent; w->digit[n->id]++)
        step(w, depth + 1);
    w->digit[n->id] = 0;
}

static bool guarded_off(const struct walk *w)
{
    for (unsigned g = 0; g < CG_AXES; g++)
        if ((w->inst->guard_local >> g & 1u) && w->item[g]) return true;
    return false;
}

/* The path from below `common` to the instruction; false if it is too long or has too many accesses. */
static bool set_path(struct walk *w, const struct cg_node *common)
{
    double accesses = (double)cg_items_per_group(w->p);
    w->n = w->inst->depth - common->depth - 1;
    if (w->n > sizeof w->path / sizeof w->path[0]) return false;
    const struct cg_node *n = w->inst->parent;
    for (unsigned i = w->n; i-- > 0; n = n->parent) {
        w->path[i] = n;
        if (n->kind != BB_THREAD) accesses *= (double)n->size;
    }
    return accesses <= MOST_ACCESSES;
}

/* Every access of one instruction by the first `items` work-items; false if one is or may be dependent. */
static bool independent(struct walk *w, const struct cg_node *inst, bool writes, const struct cg_node *common,
                        int64_t items)
{
    const int64_t *size = w->p->local_size;
    w->inst = inst;
    w->writes = writes;
    w->number = 0;
    if (!set_path(w, common)) return false;
    for (w->item[2] = 0; w->item[2] < size[2]; w->item[2]++)
        for (w->item[1] = 0; w->item[1] < size[1]; w->item[1]++)
            for (w->item[0] = 0; w->item[0] < size[0] && w->number < items; w->item[0]++, w->number++)
                if (!guarded_off(w) && !w->dependent) step(w, 0);
    return !w->dependent;
}

bool cg_depends(const struct cg_program *p, const struct bb_value *v)
{
    const struct cg_region *r = &p->regions[v->region];
    struct cg_node *store = p->inst_node[v->copy_store], *load = p->inst_node[v->load];
    const struct cg_node *common = cg_common(store, load);
    if (cg_is_private(p, v->region)) return false;
    if (r->elements > MOST_ACCESSES) return true;
    struct arena *scratch = arena_new();
    struct walk w = {.p = p};
    w.digit = ARENA_ARRAY(scratch, int64_t, p->n_nodes);
    w.writer = ARENA_ARRAY(scratch, int64_t, r->elements);
    bool free_of = true;
    for (unsigned i = 0; i < 2 && free_of; i++) {
        int64_t items = i == 0 ? 1 : cg_items_per_group(p);
        free_of = independent(&w, store, true, common, items) && independent(&w, load, false, common, items);
    }
    arena_free(scratch);
    return !free_of;
}
