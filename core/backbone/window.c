/* Windows: logicals that an index contains only in one sum. The rows of a stencil of 3 x 3 are
 *
 *     min(max(y + dy - 1, 0), 4095)      y < 4096, dy < 3: the window y + dy, of extent 4098
 *
 * and a staged tile of 8 of the y and all dy has 10 rows, not 8 times 3. So the tile has one coordinate for
 * the window, and its copy the index min(max(w - 1, 0), 4095), where w is the row of the tile plus what the
 * loops around the copy give to y + dy.
 *
 * A window is looked for in the index of each dimension of the array, and must be wherever its logicals occur
 * in the index and the guards of the load, or in all that a computed value (stored.h) is made of. To replace
 * it, its logical of coefficient 1 becomes w minus the other terms: these cancel wherever the sum is a
 * multiple of the window, borders included. Every w below the extent is a value of the sum, so that the copy
 * reads nothing that no load may read. Sums that give each value once, as 32 * i + j with j < 32, are no
 * windows: a coordinate for each logical stores no element twice. */
#include "core/backbone/window.h"

#include "core/backbone/guard.h"
#include "core/base/arena.h"

/* Adds the logicals of the load that an index mentions, as terms without coefficients. */
static void find_logicals(const struct bb_inst *load, const struct index_expr *index,
                          struct bb_coordinate *out)
{
    out->n_terms = 0;
    for (unsigned i = 0; i < load->n_logicals; i++)
        if (index_mentions(index, load->logicals[i]))
            out->terms[out->n_terms++] = (struct bb_term){load->logicals[i], 0};
}

/* The sum, outermost first, that a variable is a term of; NULL: there is none. */
static const struct index_expr *sum_with(const struct index_expr *x, uint32_t v)
{
    const struct index_expr *found = NULL;
    for (unsigned i = 0; i < x->n_terms; i++)
        if (x->terms[i].atom.kind == INDEX_VAR && x->terms[i].atom.var == v) return x;
    for (unsigned i = 0; i < x->n_terms && !found; i++)
        if (x->terms[i].atom.kind != INDEX_VAR) found = sum_with(x->terms[i].atom.of, v);
    return found;
}

/* The least positive coefficients of the terms that are in the proportion of a sum; false if a term is not in
 * it, or their signs differ. */
static bool find_coefficients(const struct index_expr *index, struct bb_coordinate *w)
{
    const struct index_expr *sum = sum_with(index, w->terms[0].logical);
    int64_t divisor = 0;
    int affine;
    if (!sum) return false;
    for (unsigned i = 0; i < w->n_terms; i++) {
        w->terms[i].coefficient = index_stride(sum, w->terms[i].logical, &affine);
        divisor = index_gcd(divisor, w->terms[i].coefficient);
    }
    if (w->terms[0].coefficient < 0) divisor = -divisor;
    bool positive = true;
    for (unsigned i = 0; i < w->n_terms; i++) {
        w->terms[i].coefficient /= divisor;
        positive = positive && w->terms[i].coefficient > 0;
    }
    return positive;
}

static int64_t reach_of(const struct bb_logical *logicals, const struct bb_term *t)
{
    return t->coefficient * (logicals[t->logical].extent - 1);
}

/* Whether the sum takes every value up to its largest one, and some of them more than once. Then the extent
 * is set. Terms are added by their coefficients, the least first. */
static bool overlaps(const struct bb_logical *logicals, struct bb_coordinate *w)
{
    int64_t reach = 0, last = 0;
    bool twice = false;
    for (unsigned added = 0; added < w->n_terms;) {
        int64_t next = INT64_MAX;
        for (unsigned i = 0; i < w->n_terms; i++)
            if (w->terms[i].coefficient > last && w->terms[i].coefficient < next)
                next = w->terms[i].coefficient;
        for (unsigned i = 0; i < w->n_terms; i++) {
            if (w->terms[i].coefficient != next) continue;
            if (next > reach + 1) return false;
            twice = twice || next <= reach;
            reach += reach_of(logicals, &w->terms[i]);
            added++;
        }
        last = next;
    }
    w->extent = reach + 1;
    return twice;
}

static void put_furthest_first(const struct bb_logical *logicals, struct bb_coordinate *w)
{
    for (unsigned i = 1; i < w->n_terms; i++) {
        struct bb_term t = w->terms[i];
        if (reach_of(logicals, &t) <= reach_of(logicals, &w->terms[0])) continue;
        w->terms[i] = w->terms[0];
        w->terms[0] = t;
    }
}

/* The term that stands for the window where it is replaced: one of coefficient 1, which a sum without gaps
 * has. */
static unsigned replaced_term(const struct bb_coordinate *w)
{
    unsigned i = 0;
    while (w->terms[i].coefficient != 1)
        i++;
    return i;
}

/* The expression of an instruction with variables replaced. */
static const struct bb_node *replaced(struct arena *a, const struct bb_inst *inst,
                                      const struct index_expr **by, uint32_t n)
{
    struct bb_node *nodes = arena_memdup(a, inst->nodes, inst->n_nodes * sizeof *nodes);
    for (unsigned i = 0; i < inst->n_nodes; i++) {
        struct bb_node *node = &nodes[i];
        if (node->kind == BB_NODE_INDEX) node->index = index_substitute(a, node->index, by, n);
        if (node->kind == BB_NODE_SELECT)
            node->guards = guard_substitute(a, node->guards, &node->n_guards, by, n);
    }
    return nodes;
}

void bb_put_indices(struct arena *a, struct bb_inst *inst, const struct index_expr **by, uint32_t n)
{
    const struct index_expr **axes = ARENA_ARRAY(a, const struct index_expr *, inst->n_axes + 1);
    if (inst->index) inst->index = index_substitute(a, inst->index, by, n);
    for (unsigned k = 0; k < inst->n_axes; k++)
        axes[k] = index_substitute(a, inst->axes[k], by, n);
    inst->axes = axes;
    inst->guards = guard_substitute(a, inst->guards, &inst->n_guards, by, n);
    if (inst->n_nodes) inst->nodes = replaced(a, inst, by, n);
}

/* Writes the indices and guards of an instruction with a variable in place of the window. */
static void put_window(struct arena *a, const struct bb_logical *logicals, const struct bb_coordinate *w,
                       uint32_t variable, struct bb_inst *inst)
{
    unsigned one = replaced_term(w);
    uint32_t n = w->terms[one].logical + 1;
    const struct index_expr **by = ARENA_ARRAY(a, const struct index_expr *, n);
    const struct index_expr *sum = index_var(a, variable, w->extent);
    for (unsigned i = 0; i < w->n_terms; i++) {
        const struct bb_term *t = &w->terms[i];
        const struct index_expr *other = index_var(a, t->logical, logicals[t->logical].extent);
        if (i != one) sum = index_add(a, sum, index_scale(a, other, -t->coefficient));
    }
    by[n - 1] = sum;
    bb_put_indices(a, inst, by, n);
}

static bool mentions(const struct bb_inst *inst, uint32_t logical)
{
    bool any = (inst->index && index_mentions(inst->index, logical)) ||
               guard_mentions(inst->guards, inst->n_guards, logical);
    for (unsigned i = 0; i < inst->n_nodes; i++)
        any = any || bb_node_mentions(&inst->nodes[i], logical);
    return any;
}

/* Whether the instruction contains the logicals of the window in their sum only. */
static bool is_everywhere(struct arena *a, const struct bb_logical *logicals, const struct bb_coordinate *w,
                          const struct bb_inst *inst)
{
    struct bb_inst without = *inst;
    bool mentioned = false;
    put_window(a, logicals, w, UINT32_MAX, &without);
    for (unsigned i = 0; i < w->n_terms; i++)
        mentioned = mentioned || mentions(&without, w->terms[i].logical);
    return !mentioned;
}

/* Finds the window that the index of a dimension of the array is made of; false if there is none. */
static bool find_window(const struct bb_logical *logicals, const struct bb_inst *load,
                        const struct index_expr *axis, struct bb_coordinate *out)
{
    find_logicals(load, axis, out);
    return out->n_terms > 1 && find_coefficients(axis, out) && overlaps(logicals, out);
}

/* The place of the coordinate that a logical is in; n: none of them has it. */
static unsigned place_of(const struct bb_coordinate *list, unsigned n, uint32_t logical)
{
    unsigned j = 0;
    while (j < n && !bb_has_term(list[j].terms, list[j].n_terms, logical))
        j++;
    return j;
}

/* The windows of a load, in the order of the array's dimensions. */
static unsigned find_windows(struct arena *a, const struct bb_logical *logicals, const struct bb_inst *load,
                             const struct bb_inst *const *all, unsigned n_all,
                             struct bb_coordinate out[BB_MAX_LOGICALS])
{
    unsigned n = 0;
    for (unsigned k = 0; k < load->n_axes; k++) {
        struct bb_coordinate w = {0};
        bool found = find_window(logicals, load, load->axes[k], &w);
        for (unsigned i = 0; found && i < n_all; i++)
            found = is_everywhere(a, logicals, &w, all[i]);
        if (!found) continue;
        if (place_of(out, n, w.terms[0].logical) == n)
            out[n++] = w; /* the diagonal of a matrix has it twice */
    }
    for (unsigned j = 0; j < n; j++)
        put_furthest_first(logicals, &out[j]);
    return n;
}

unsigned bb_coordinates(struct arena *a, const struct bb_logical *logicals, const struct bb_inst *load,
                        const struct bb_inst *const *all, unsigned n_all,
                        struct bb_coordinate out[BB_MAX_LOGICALS])
{
    struct bb_coordinate windows[BB_MAX_LOGICALS];
    unsigned n_windows = find_windows(a, logicals, load, all, n_all, windows), n = 0;
    for (unsigned i = 0; i < load->n_logicals; i++) {
        uint32_t l = load->logicals[i];
        unsigned j = place_of(windows, n_windows, l);
        if (place_of(out, n, l) < n) continue;
        out[n++] = j < n_windows ? windows[j] : (struct bb_coordinate){1, {{l, 1}}, logicals[l].extent, 0};
    }
    return n;
}

void bb_put_windows(struct arena *a, const struct bb_logical *logicals,
                    const struct bb_coordinate *coordinates, unsigned n, uint32_t first, struct bb_inst *inst)
{
    for (unsigned j = 0; j < n; j++)
        if (coordinates[j].n_terms > 1) put_window(a, logicals, &coordinates[j], first + j, inst);
}
