/* The cost of one mapping: the largest of what each resource must at least do.
 *
 * The busiest unit runs at least ceil(groups / units) groups. On a GPU each of them issues for whole bundles
 * of lanes (ceil(items / lanes) * lanes), and every work-item executes every instruction that makes a value.
 * On a CPU a group is one thread that the compiler may vectorize and merge: arithmetic counts once for each
 * work-item that an instruction's own dimensions make, elements once for each group.
 *
 * Where a reduction is divided among work-items, not all of them execute every instruction: each counts for
 * those that its own dimensions make. Where it is divided among groups, only the last of them execute what
 * comes after it: an instruction counts for the groups that its own dimensions make, spread over all.
 *
 * Of a dimension that was rounded up a share of the iterations is within the extent. Which groups, bundles
 * and work-items have less than the others is not looked at: all have that share, on average, and the busiest
 * unit has at least what all have together by the number of units. Terms that need more than averages are
 * left out then. */
#include <math.h>

#include "perfmodel/model.h"

enum { LINE_BYTES = 128 }; /* of the figure unit_lines */

struct costing {
    const struct perfmodel *m;
    const struct perfmodel_split *split;
    const enum staging *staging;
    struct perfmodel_reason *reason; /* may be NULL */
    double groups, items, lanes,
        busy;        /* of the launch; lanes of a group with idle ones; groups of the busiest unit */
    double share;    /* of all iterations, within the extents */
    bool parts;      /* a reduction is divided among work-items or groups */
    bool apart;      /* among groups: these may have different work */
    bool any_groups; /* among any number of groups (logical_any()) */
    double worst;
};

static bool is_rounded(const struct costing *c)
{
    return c->share < 1;
}

static double figure(const struct costing *c, enum perfmodel_figure f)
{
    return c->m->dev.value[f];
}

/* ---- charging ---- */

static void charge_time(struct costing *c, enum perfmodel_term term, double ns, double amount)
{
    enum perfmodel_figure launch;
    double head = term_launch(c->m, term, &launch);
    if (ns + head <= c->worst) return;
    c->worst = ns + head;
    if (c->reason)
        *c->reason = (struct perfmodel_reason){
            .ns = c->worst, .launch_ns = head, .launch = launch, .term = term, .amount = amount};
}

/* A resource does `amount` at its rate: raises the cost. Unknown rates give no term. */
static void charge(struct costing *c, enum perfmodel_term term, enum perfmodel_figure f, double amount)
{
    double rate = figure(c, f);
    if (rate > 0) charge_time(c, term, amount / rate, amount);
}

/* ---- what a work-item does ---- */

struct work {
    double multiplications, additions, special, accesses;
};

/* Adds an instruction's operations, `times` executed. */
static void add_operations(struct work *w, const struct profile *p, double times)
{
    w->multiplications += p->multiplications * times;
    w->additions += p->additions * times;
    w->special += p->special * times;
}

/* A multiplication and an addition may be one operation, or go to units of their own. */
static double arithmetic(const struct work *w)
{
    return fmax(w->multiplications, w->additions);
}

static enum staging staging_of(const struct costing *c, const struct profile *p)
{
    return p->value == BB_NONE ? STAGED_NO : c->staging[p->value];
}

/* Elements along a logical dimension that a work-item has one after the other, or, of a load, so near that an
 * access of `widest` elements has several: a compiler may read what lies between, but not write it. */
static double neighbours(const struct costing *c, const struct profile *p, unsigned logical, double widest)
{
    const struct perfmodel_split *s = &c->split[logical];
    bool apart = c->m->logicals[logical].runs && s->items > 1 && s->run < s->steps;
    double steps = (double)s->steps, run = (double)s->run, gap = (double)s->gap;
    if (!apart) return steps;
    if (!(gap > 0) || !p->load) return run;
    return fmin(steps, run * floor(widest / gap) + fmin(run, fmod(widest, gap)));
}

/* Neighbours that one access of an instruction may take along. Any dimension of a staged tile may be its
 * innermost one, and what lies one after the other in several rows may join. */
static double width_of(const struct costing *c, const struct profile *p)
{
    double widest = figure(c, PERFMODEL_ACCESS_BYTES) / p->element_bytes, run = 1;
    if (!(widest > 1) || p->dense) return widest > 1 ? widest : INFINITY;
    if (staging_of(c, p) == STAGED_NO)
        return p->unit < 0 ? 1 : fmin(neighbours(c, p, (unsigned)p->unit, widest), widest);
    for (unsigned i = 0; i < p->n_logicals; i++)
        run *= neighbours(c, p, p->logicals[i], widest);
    return fmin(run, widest);
}

/* Adds to the sum what exceeds the largest contribution of the buffer so far: two loads of one buffer may be
 * of the same elements. */
static void add_to_buffer(double *per_buffer, uint32_t buffer, double amount, double *sum)
{
    if (amount <= per_buffer[buffer]) return;
    *sum += amount - per_buffer[buffer];
    per_buffer[buffer] = amount;
}

/* The share of the groups that an instruction's own dimensions make, if not all of them execute it. */
static double group_share(const struct costing *c, const struct profile *p)
{
    return c->apart ? profile_product(p->logicals, p->n_logicals, c->split, PART_GROUPS) / c->groups : 1;
}

/* The share of the work-items of all groups that an instruction's own dimensions make. */
static double own_share(const struct costing *c, const struct profile *p)
{
    return profile_product(p->logicals, p->n_logicals, c->split, PART_ITEMS) / c->items * group_share(c, p);
}

/* Of the work-item with the most work; average: of all of them. */
static struct work item_work(const struct costing *c, bool average)
{
    struct work w = {0};
    double per_buffer[2 * MAX_BUFFERS] = {0}; /* loads, then stores: of an updated array there are both */
    for (unsigned i = 0; i < c->m->n_profiles; i++) {
        const struct profile *p = &c->m->profiles[i];
        double share = p->store || (average && c->parts) ? own_share(c, p) : 1;
        unsigned steps = average ? PART_STEPS | PART_ANY : PART_STEPS;
        double times = profile_product(p->logicals, p->n_logicals, c->split, steps);
        add_operations(&w, p, times * share);
        if ((!p->load && !p->store) || p->shared) continue;
        double elements = profile_product(p->distinct, p->n_distinct, c->split, steps) * share;
        uint32_t buffer = p->buffer + (p->store ? MAX_BUFFERS : 0);
        add_to_buffer(per_buffer, buffer, elements / width_of(c, p), &w.accesses);
    }
    return w;
}

/* ---- what a group reads ---- */

/* How many times its bytes an instruction fetches at least, where `parts` of the unit dimension lie together:
 * sectors are fetched whole. */
static double sector_waste(const struct costing *c, const struct profile *p, unsigned parts)
{
    double sector = figure(c, PERFMODEL_SECTOR_BYTES) / p->element_bytes, run = 1;
    if (p->dense) return 1;
    if (p->unit >= 0) run = profile_product(&(uint8_t){(uint8_t)p->unit}, 1, c->split, parts);
    return sector > run ? sector / run : 1;
}

/* Bytes of the elements that an instruction touches in `parts`. */
static double element_bytes(const struct costing *c, const struct profile *p, unsigned parts)
{
    return profile_product(p->distinct, p->n_distinct, c->split, parts) * p->element_bytes;
}

/* Groups of the busiest unit that read other elements than each other. */
static double distinct_groups(const struct costing *c, const struct profile *p)
{
    double own = profile_product(p->logicals, p->n_logicals, c->split, PART_GROUPS);
    return ceil(c->busy / (c->groups / own));
}

/* Bytes into the busiest unit: its groups may read the rests of each other's sectors. */
static double unit_bytes(const struct costing *c)
{
    double sum = 0, per_buffer[MAX_BUFFERS] = {0};
    for (unsigned i = 0; i < c->m->n_profiles; i++) {
        const struct profile *p = &c->m->profiles[i];
        if (!p->load) continue;
        double bytes = element_bytes(c, p, PART_BLOCK) * sector_waste(c, p, PART_BLOCK | PART_GROUPS);
        add_to_buffer(per_buffer, p->buffer, bytes * distinct_groups(c, p), &sum);
    }
    return sum;
}

/* Bytes into one group. On a CPU it loads elements, not sectors. */
static double group_bytes(const struct costing *c)
{
    double sum = 0, per_buffer[MAX_BUFFERS] = {0};
    for (unsigned i = 0; i < c->m->n_profiles; i++) {
        const struct profile *p = &c->m->profiles[i];
        if (!p->load) continue;
        double waste = c->m->dev.gpu ? sector_waste(c, p, PART_BLOCK) : 1;
        add_to_buffer(per_buffer, p->buffer, element_bytes(c, p, PART_BLOCK) * waste, &sum);
    }
    return sum;
}

/* Up to two logical dimensions that work-items divide. */
struct lane_axes {
    unsigned n;
    uint32_t logical[2];
    double items[2];
};

static bool find_axes(const struct costing *c, struct lane_axes *out)
{
    *out = (struct lane_axes){.items = {1, 1}};
    for (unsigned l = 0; l < c->m->n_logicals; l++) {
        if (c->split[l].items == 1) continue;
        if (out->n == 2) return false;
        out->logical[out->n] = l;
        out->items[out->n++] = (double)c->split[l].items;
    }
    return true;
}

/* Which of the axes an instruction's elements differ along, as bits. */
static unsigned axes_of(const struct profile *p, const struct lane_axes *axes)
{
    unsigned bits = 0;
    for (unsigned j = 0; j < p->n_distinct; j++)
        for (unsigned k = 0; k < axes->n; k++)
            if (p->distinct[j] == axes->logical[k]) bits |= 1u << k;
    return bits;
}

/* What one lane's loads ask of the first-level cache, if every lane differs from the others. */
typedef double (*lane_amount)(const struct costing *c, const struct profile *p);

static double lane_bytes(const struct costing *c, const struct profile *p)
{
    return profile_product(p->distinct, p->n_distinct, c->split, PART_STEPS) * p->element_bytes;
}

/* Lines that a lane adds to those of the bundle, over all its accesses: a whole one unless a neighbouring
 * work-item is in it. A staged load reads no lines of its own, or may not. */
static double lane_lines(const struct costing *c, const struct profile *p)
{
    double elements = profile_product(p->distinct, p->n_distinct, c->split, PART_STEPS);
    double line = LINE_BYTES / p->element_bytes;
    if (p->dense || staging_of(c, p) != STAGED_NO) return elements / line;
    double share = 1;
    if (p->unit >= 0 && c->split[p->unit].items > 1) share = 1 / ceil(line / (double)c->split[p->unit].run);
    return elements / width_of(c, p) * share;
}

/* The sum over the lanes of a bundle, lanes that read equal elements once. Whichever the lanes are, they have
 * p values on one axis and q on the other with p * q at least their number. */
static double bundle_amount(const struct costing *c, lane_amount amount)
{
    struct lane_axes axes;
    double lanes = fmin(c->items, figure(c, PERFMODEL_LANES)), of[4] = {0};
    bool seen[MAX_BUFFERS] = {false};
    if (!find_axes(c, &axes)) return 0;
    for (unsigned i = 0; i < c->m->n_profiles; i++) {
        const struct profile *p = &c->m->profiles[i];
        if (!p->load || p->shared || seen[p->buffer]) continue;
        seen[p->buffer] = true;
        of[axes_of(p, &axes)] += amount(c, p);
    }
    double least = fmax(1, lanes / axes.items[1]), most = fmin(lanes, axes.items[0]);
    double best = of[1] > 0 ? sqrt(of[2] * lanes / of[1]) : most;
    double p = fmin(fmax(best, least), most);
    return of[0] + of[1] * p + of[2] * lanes / p + of[3] * lanes;
}

/* Elements that are copied for sure, in accesses: a staged tile is filled by its group. Each work-item may do
 * it for itself instead, and then reads no memory any more: its accesses are those of a load. */
static double copy_accesses(const struct costing *c)
{
    double sum = 0;
    for (unsigned i = 0; i < c->m->n_profiles; i++) {
        const struct profile *p = &c->m->profiles[i];
        if (!p->load || p->value == BB_NONE || c->staging[p->value] != STAGED_YES) continue;
        if (model_is_for_items(c->m, p->value)) continue; /* so is what several values read */
        double widest = figure(c, PERFMODEL_ACCESS_BYTES) / p->element_bytes;
        double copied = profile_product(p->distinct, p->n_distinct, c->split, PART_BLOCK) * group_share(c, p);
        if (widest >= 1) sum += copied / widest;
    }
    return sum;
}

/* ---- devices ---- */

/* Longest chain of dependent steps of a work-item. */
static double longest_chain(const struct costing *c)
{
    double longest = 0;
    for (unsigned i = 0; i < c->m->n_profiles; i++) {
        const struct profile *p = &c->m->profiles[i];
        if (!p->chain) continue;
        longest = fmax(longest, profile_product(p->reduced, p->n_reduced, c->split, PART_STEPS));
    }
    return longest;
}

/* Waves: how often the busiest unit must wait for groups to end. */
static double waves(const struct costing *c)
{
    double most = figure(c, PERFMODEL_RESIDENT_GROUPS), items = figure(c, PERFMODEL_RESIDENT_ITEMS);
    if (!(most > 0) || !(items > 0) || is_rounded(c) || c->apart) return 1;
    double resident = fmax(1, fmin(most, floor(items / c->lanes)));
    return ceil(c->busy / resident);
}

/* A group must wait for a load and for its longest chain; the busiest unit for one group after another. The
 * shortest kernel that loads has done one load and one step of the first group's. */
static void charge_latency(struct costing *c, double times)
{
    enum perfmodel_figure launch;
    double load = figure(c, PERFMODEL_LOAD_LATENCY), step = figure(c, PERFMODEL_CHAIN);
    double length = longest_chain(c), head = term_launch(c->m, PERFMODEL_OF_CHAIN, &launch);
    bool chain = length * step > load, loaded = head > 0 && launch == PERFMODEL_LAUNCH_TOUCH;
    double ns = times * (load + length * step) - (loaded ? load + step : 0);
    charge_time(c, chain ? PERFMODEL_OF_CHAIN : PERFMODEL_OF_LATENCY, fmax(0, ns),
                times * (chain ? length : 1));
}

/* Few units could share what is read, but then they have more work: with q groups on the busiest unit it
 * takes q * work, and at least groups / q units read what one group needs. The two are equal at the best q.
 */
static void charge_l2(struct costing *c, double group_ns)
{
    double rate = figure(c, PERFMODEL_L2), bytes = group_bytes(c);
    if (!(rate > 0) || !(group_ns > 0)) return;
    double q = sqrt(c->groups * bytes / (rate * group_ns));
    if (q > c->busy) charge(c, PERFMODEL_OF_L2, PERFMODEL_L2, c->groups / q * bytes);
}

/* A group's least time on a unit of its own. */
static double group_time(const struct costing *c, double operations, double issue, double accesses)
{
    double rate = figure(c, PERFMODEL_UNIT_FP32), issues = figure(c, PERFMODEL_UNIT_ISSUE);
    double access = figure(c, PERFMODEL_UNIT_ACCESS), ns = 0;
    if (rate > 0) ns = fmax(ns, operations / rate);
    if (issues > 0) ns = fmax(ns, issue / issues);
    return access > 0 ? fmax(ns, accesses / access) : ns;
}

/* What the bundles of lanes ask of the first-level cache. */
static void charge_bundles(struct costing *c)
{
    double bundles = c->busy * c->lanes / fmax(1, figure(c, PERFMODEL_LANES));
    charge(c, PERFMODEL_OF_LOCAL, PERFMODEL_UNIT_LOCAL, bundles * bundle_amount(c, lane_bytes));
    charge(c, PERFMODEL_OF_LINES, PERFMODEL_UNIT_LINES, bundles * bundle_amount(c, lane_lines));
}

static void charge_gpu(struct costing *c)
{
    struct work w = item_work(c, true), item = item_work(c, false);
    double operations = c->lanes * arithmetic(&w), accesses = c->lanes * w.accesses + copy_accesses(c);
    double issue = operations + c->lanes * w.special + accesses;
    charge(c, PERFMODEL_OF_FP32, PERFMODEL_UNIT_FP32, c->busy * operations);
    charge(c, PERFMODEL_OF_ITEM, PERFMODEL_ITEM_FP32, arithmetic(&item));
    charge(c, PERFMODEL_OF_ITEM_ISSUE, PERFMODEL_ITEM_ISSUE,
           arithmetic(&item) + item.special + item.accesses);
    charge(c, PERFMODEL_OF_SPECIAL, PERFMODEL_UNIT_SPECIAL, c->busy * c->lanes * w.special);
    charge(c, PERFMODEL_OF_ISSUE, PERFMODEL_UNIT_ISSUE, c->busy * issue);
    charge(c, PERFMODEL_OF_ACCESS, PERFMODEL_UNIT_ACCESS, c->busy * accesses);
    charge(c, PERFMODEL_OF_GROUPS, PERFMODEL_GROUPS, c->groups - 1);
    charge_latency(c, waves(c));
    if (is_rounded(c) || c->apart) return;
    charge(c, PERFMODEL_OF_UNIT_L2, PERFMODEL_UNIT_L2, unit_bytes(c));
    if (!c->parts) charge_bundles(c);
    charge_l2(c, group_time(c, operations, issue, accesses));
}

static void charge_cpu(struct costing *c)
{
    struct work w = {0};
    for (unsigned i = 0; i < c->m->n_profiles; i++) {
        const struct profile *p = &c->m->profiles[i];
        double times = profile_product(p->logicals, p->n_logicals, c->split, PART_BLOCK);
        add_operations(&w, p, times * group_share(c, p));
    }
    charge(c, PERFMODEL_OF_FP32, PERFMODEL_UNIT_FP32, c->busy * arithmetic(&w));
    charge(c, PERFMODEL_OF_SPECIAL, PERFMODEL_UNIT_SPECIAL, c->busy * w.special);
    if (!c->apart) charge(c, PERFMODEL_OF_LOCAL, PERFMODEL_UNIT_LOCAL, c->busy * group_bytes(c));
    charge_latency(c, 1);
}

/* ---- one mapping ---- */

/* Work-items of a group: of the instruction with the most. */
static double group_items(const struct costing *c)
{
    double most = 1;
    for (unsigned i = 0; i < c->m->n_profiles; i++) {
        const struct profile *p = &c->m->profiles[i];
        most = fmax(most, profile_product(p->logicals, p->n_logicals, c->split, PART_ITEMS));
    }
    return most;
}

static double all_groups(const struct costing *c)
{
    double product = 1;
    for (unsigned l = 0; l < c->m->n_logicals; l++)
        product *= (double)c->split[l].groups;
    return product;
}

static double all_share(const struct costing *c)
{
    double product = 1;
    for (unsigned l = 0; l < c->m->n_logicals; l++)
        product *= c->split[l].share;
    return product;
}

/* Groups of the busiest unit, and lanes of a group. */
static void set_busy(struct costing *c)
{
    double units = figure(c, PERFMODEL_UNITS), bundle = fmax(1, figure(c, PERFMODEL_LANES));
    double busy = units > 0 ? c->groups / units : 1;
    bool average = is_rounded(c) || c->apart;
    c->busy = !average ? ceil(busy) : c->any_groups ? busy * c->share : fmax(1, busy) * c->share;
    c->lanes = is_rounded(c) || c->parts ? c->items : ceil(c->items / bundle) * bundle;
}

double mapping_cost(const struct perfmodel *m, const struct perfmodel_split *split,
                    const enum staging *staging, struct perfmodel_reason *reason)
{
    struct costing c = {.m = m, .split = split, .staging = staging, .reason = reason};
    double most = figure(&c, PERFMODEL_GROUP_ITEMS);
    c.items = group_items(&c);
    if (most > 0 && c.items > most) return INFINITY;
    c.groups = all_groups(&c);
    c.share = all_share(&c);
    for (unsigned l = 0; l < m->n_logicals; l++) {
        bool groups = m->bb->logicals[l].reduction && split[l].groups > 1;
        c.any_groups = c.any_groups || (split[l].any && m->logicals[l].by_groups);
        c.apart = c.apart || groups || c.any_groups;
        c.parts = c.parts || split[l].any || groups || (m->bb->logicals[l].reduction && split[l].items > 1);
    }
    set_busy(&c);
    if (m->dev.gpu)
        charge_gpu(&c);
    else
        charge_cpu(&c);
    return c.worst;
}

/* ---- every implementation ---- */

static void raise_floor(struct perfmodel *m, enum perfmodel_term term, double ns, double amount)
{
    struct perfmodel_reason reason = {.term = term, .amount = amount};
    reason.launch_ns = term_launch(m, term, &reason.launch);
    reason.ns = reason.launch_ns + ns;
    if (reason.ns > m->floor.ns) m->floor = reason;
}

/* Bytes that must cross to memory and back, even if the cache keeps all it can from the launch before. What
 * is updated in place crosses twice where the cache has no room for it; kept there, it saves both ways. */
static double memory_bytes(const struct perfmodel *m, const struct costing *c)
{
    double cache = m->dev.value[PERFMODEL_CACHE_BYTES], sum = 0, per_buffer[MAX_BUFFERS] = {0};
    double updated = 0, updated_per_buffer[MAX_BUFFERS] = {0};
    for (unsigned i = 0; i < m->n_profiles; i++) {
        const struct profile *p = &m->profiles[i];
        if (!p->load && !p->store) continue;
        double bytes = element_bytes(c, p, PART_STEPS) * sector_waste(c, p, PART_STEPS);
        add_to_buffer(per_buffer, p->buffer, bytes, &sum);
        if (p->load && m->bb->buffers[p->buffer].updated)
            add_to_buffer(updated_per_buffer, p->buffer, bytes, &updated);
    }
    return sum + fmax(0, updated - cache) - cache;
}

void model_floor(struct perfmodel *m)
{
    struct perfmodel_split whole[PERFMODEL_LOGICALS];
    struct costing c = {.m = m, .split = whole};
    const double *v = m->dev.value;
    struct work w = {0};
    for (unsigned l = 0; l < m->n_logicals; l++)
        whole[l] = (struct perfmodel_split){1, 1, m->bb->logicals[l].extent, 1, 0, false, 1, false};
    for (unsigned i = 0; i < m->n_profiles; i++) {
        const struct profile *p = &m->profiles[i];
        add_operations(&w, p, profile_product(p->logicals, p->n_logicals, whole, PART_STEPS));
    }
    double bytes = memory_bytes(m, &c);
    raise_floor(m, PERFMODEL_OF_LAUNCH, v[PERFMODEL_LAUNCH], 1);
    if (m->loads) raise_floor(m, PERFMODEL_OF_TOUCH, v[PERFMODEL_LAUNCH_TOUCH], 1);
    if (v[PERFMODEL_FP32] > 0)
        raise_floor(m, PERFMODEL_OF_DEVICE, arithmetic(&w) / v[PERFMODEL_FP32], arithmetic(&w));
    if (v[PERFMODEL_DRAM] > 0 && v[PERFMODEL_CACHE_BYTES] > 0 && bytes > 0)
        raise_floor(m, PERFMODEL_OF_DRAM, bytes / v[PERFMODEL_DRAM], bytes);
}
