/* The bound of a candidate, in three steps:
 *
 *     1. read what mappings depend on: the domains of sizes and kinds of the tiles, and staging (the key)
 *     2. if the key was seen before, take the bound that was kept
 *     3. else the allowed splits of each logical dimension (lattice.c) select the cheapest mapping of a table
 *        (table.c); of few combinations each is looked up, of many the table is scanned in order of cost
 *
 * What banks of local memory need (banks.c) is added at the end, as it depends on more than the key. */
#include "perfmodel/bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/backbone/combine.h"
#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/base/panic.h"
#include "gpu.space.h"
#include "perfmodel/model.h"

enum {
    MAX_VALUES = 5,     /* staged values that tables are made for: 3^5 of them */
    FEW_MAPPINGS = 2048 /* so many are looked up one by one */
};

/* ---- setting up ---- */

static const char *find_staging(struct perfmodel *m)
{
    m->n_tables = 1;
    m->staged_slot = base_calloc(m->bb->n_values + 1, sizeof *m->staged_slot);
    if (m->bb->n_values > MAX_VALUES) return "more than 5 values may be staged";
    for (uint32_t v = 0; v < m->bb->n_values; v++) {
        m->staged_slot[v] = gpu_slot_staged(m->space, v);
        if (m->staged_slot[v] == UINT32_MAX) return "the space is not that of the backbone";
        m->n_tables *= STAGING_COUNT;
    }
    return NULL;
}

static const char *check_size(const struct perfmodel *m)
{
    if (m->n_logicals > PERFMODEL_LOGICALS) return "more than 8 logical dimensions";
    if (m->bb->n_buffers > MAX_BUFFERS) return "more than 32 buffers";
    return NULL;
}

/* Whether every reader's dimension of a tile is joined by values to the one that stands for the tile. */
static bool joined(const struct backbone *bb)
{
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        enum bb_inst_kind kind = bb->insts[i].kind;
        if (kind != BB_LOAD && kind != BB_COMPUTE) continue;
        bool read = false;
        for (uint32_t j = 0; j < bb->n_insts; j++)
            for (unsigned o = 0; o < bb->insts[j].n_operands; o++)
                read = read || bb->insts[j].operands[o] == i;
        if (!read) return false;
    }
    return true;
}

static size_t count_mappings(const struct perfmodel *m)
{
    size_t mappings = 1;
    for (unsigned l = 0; l < m->n_logicals && mappings <= MAX_MAPPINGS; l++)
        mappings *= m->logicals[l].n_splits;
    return mappings;
}

static const char *list_splits(struct perfmodel *m)
{
    struct space_failure why;
    struct space_state *root = space_root(m->space, &why);
    if (!root) return "the space is empty";
    for (unsigned l = 0; l < m->n_logicals; l++) {
        struct tile_domains d;
        logical_domains(m, &m->logicals[l], root, &d);
        logical_list(&m->logicals[l], &d);
    }
    space_state_free(root);
    bool many = count_mappings(m) > MANY_MAPPINGS;
    for (unsigned l = 0; many && l < m->n_logicals; l++)
        if (bb_may_split(&m->bb->logicals[l], m->dev.gpu) && m->logicals[l].n_splits)
            logical_any(&m->logicals[l]);
    return count_mappings(m) > MAX_MAPPINGS ? "more than two million mappings" : NULL;
}

static const char *open_mappings(struct perfmodel *m)
{
    const char *why = check_size(m);
    if (!why && !joined(m->bb)) why = "an instruction whose result is not used";
    m->logicals = base_calloc(m->n_logicals + 1, sizeof *m->logicals);
    for (unsigned l = 0; !why && l < m->n_logicals; l++)
        why = logical_open(m, l);
    if (!why) why = find_staging(m);
    if (!why) why = list_splits(m);
    return why;
}

/* Values of dim_kind, in the order of the space. */
static const char *find_classes(struct perfmodel *m)
{
    static const uint8_t classes[] = {
        [GPU_DIM_KIND_LOOP] = CLASS_SEQUENTIAL,   [GPU_DIM_KIND_UNROLL] = CLASS_SEQUENTIAL,
        [GPU_DIM_KIND_VECTOR] = CLASS_SEQUENTIAL, [GPU_DIM_KIND_THREAD] = CLASS_ITEMS,
        [GPU_DIM_KIND_BLOCK] = CLASS_GROUPS,      [GPU_DIM_KIND_GLOBAL] = CLASS_GLOBAL};
    if (!gpu_is_space(m->space)) return "the space is not the GPU space";
    if (m->bb->n_dims == 0) return "the space has no dimensions";
    uint32_t slot = gpu_slot_dim_kind(m->space, bb_dim_statement(m->bb, 0));
    if (slot == UINT32_MAX) return "the space is not that of the backbone";
    CHECK(space_universe(m->space, slot) <= sizeof m->kind_class);
    for (uint32_t v = 0; v < space_universe(m->space, slot); v++)
        m->kind_class[v] = classes[space_value_code(m->space, slot, v)];
    return NULL;
}

static unsigned main_logicals(const struct backbone *bb)
{
    unsigned n = 0;
    while (n < bb->n_logicals && bb->logicals[n].of == BB_NONE)
        n++;
    return n;
}

/* `beside`: a model whose tables are shared, or NULL. */
static struct perfmodel *make(const struct backbone *bb, const struct space *space,
                              const struct perfmodel_device *dev, const struct perfmodel *beside)
{
    struct perfmodel *m = base_calloc(1, sizeof *m);
    m->bb = bb;
    m->space = space;
    m->dev = *dev;
    m->n_logicals = main_logicals(bb);
    profiles_make(m);
    m->unmapped = find_classes(m);
    if (!m->unmapped) m->unmapped = open_mappings(m);
    m->mapped = m->unmapped == NULL;
    if (m->n_logicals <= PERFMODEL_LOGICALS && bb->n_buffers <= MAX_BUFFERS) model_floor(m);
    if (!m->mapped) return m;
    if (!m->matrices) m->banks = banks_open(m);
    m->key_words = m->n_logicals * (unsigned)(sizeof(struct tile_domains) / sizeof(uint64_t)) + 1;
    m->key = base_calloc(m->key_words, sizeof *m->key);
    m->kept = base_calloc(BOUND_CACHE, sizeof *m->kept);
    m->tables = beside ? mapping_tables_share(beside->tables, m) : mapping_tables_new(m);
    return m;
}

struct perfmodel *perfmodel_new(const struct backbone *bb, const struct space *space,
                                const struct perfmodel_device *dev)
{
    return make(bb, space, dev, NULL);
}

struct perfmodel *perfmodel_new_beside(const struct perfmodel *m)
{
    return make(m->bb, m->space, &m->dev, m);
}

void perfmodel_free(struct perfmodel *m)
{
    if (!m) return;
    for (unsigned l = 0; m->logicals && l < m->n_logicals; l++)
        logical_close(&m->logicals[l]);
    for (unsigned i = 0; m->kept && i < BOUND_CACHE; i++)
        free(m->kept[i].key);
    banks_close(m->banks);
    free(m->logicals);
    mapping_tables_free(m->tables);
    free(m->kept);
    free(m->key);
    free(m->profiles);
    free(m->staged_slot);
    free(m);
}

const struct perfmodel_device *perfmodel_described(const struct perfmodel *m)
{
    return &m->dev;
}

/* ---- the bound ---- */

/* The number of the table for the state's staging. */
static unsigned read_staging(const struct perfmodel *m, const struct space_state *state)
{
    unsigned table = 0;
    for (uint32_t v = m->bb->n_values; v-- > 0;) {
        uint32_t slot = m->staged_slot[v];
        enum staging staging = STAGED_OPEN;
        if (space_value_count(state, slot) == 1)
            staging = space_value_code(m->space, slot, space_first_value(state, slot)) == GPU_STAGED_YES
                          ? STAGED_YES
                          : STAGED_NO;
        table = table * STAGING_COUNT + staging;
    }
    return table;
}

static struct tile_domains *domains_in(const struct perfmodel *m, unsigned l)
{
    return (struct tile_domains *)(void *)(m->key + 1) + l;
}

static void read_key(struct perfmodel *m, const struct space_state *state)
{
    m->key[0] = read_staging(m, state);
    for (unsigned l = 0; l < m->n_logicals; l++)
        logical_domains(m, &m->logicals[l], state, domains_in(m, l));
}

/* The splits of each logical dimension in one mode, as bits. */
struct allowed {
    const uint64_t *bits[PERFMODEL_LOGICALS];
    double combinations;
};

static bool allows(const struct allowed *a, unsigned n, const struct mapping *mapping)
{
    for (unsigned l = 0; l < n; l++) {
        unsigned s = mapping->split[l];
        if (!(a->bits[l][s / 64] >> s % 64 & 1)) return false;
    }
    return true;
}

/* What the allowed splits of one logical dimension cost at least, whatever those of the others are. */
static float least_of(const struct perfmodel *m, const struct mapping_table *t, const struct allowed *a,
                      unsigned l)
{
    float least = INFINITY;
    for (unsigned w = 0; w <= m->logicals[l].n_splits / 64; w++)
        for (uint64_t bits = a->bits[l][w]; bits; bits &= bits - 1)
            least = fminf(least, t->least[l][w * 64 + (unsigned)__builtin_ctzll(bits)]);
    return least;
}

/* The first mapping that is not cheaper. */
static size_t find_cost(const struct mapping_table *t, float cost)
{
    size_t low = 0, high = t->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->mappings[middle].cost < cost)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first allowed mapping in ascending order of cost; none is cheaper than `least`. */
static uint32_t scan(const struct perfmodel *m, const struct mapping_table *t, const struct allowed *a,
                     float least)
{
    for (size_t i = find_cost(t, least); i < t->count; i++)
        if (allows(a, m->n_logicals, &t->mappings[i])) return t->mappings[i].number;
    return UINT32_MAX;
}

static float cost_of(const struct mapping_table *t, uint32_t number)
{
    return number == UINT32_MAX ? INFINITY : t->costs[number];
}

/* The cheapest of all combinations of allowed splits: of the logical dimensions from l on, `number` and
 * `radix` being those of the ones before. Splits that are in no cheaper mapping than the best are passed
 * over. */
static void combine(const struct perfmodel *m, const struct mapping_table *t, const struct allowed *a,
                    unsigned l, uint32_t number, uint32_t radix, uint32_t *best)
{
    if (l == m->n_logicals) {
        if (t->costs[number] < cost_of(t, *best)) *best = number;
        return;
    }
    unsigned n = m->logicals[l].n_splits;
    for (unsigned w = 0; w <= n / 64; w++)
        for (uint64_t bits = a->bits[l][w]; bits; bits &= bits - 1) {
            uint32_t split = w * 64 + (uint32_t)__builtin_ctzll(bits);
            if (t->least[l][split] < cost_of(t, *best))
                combine(m, t, a, l + 1, number + split * radix, radix * n, best);
        }
}

static uint32_t cheapest_of(const struct perfmodel *m, const struct mapping_table *t, const struct allowed *a)
{
    uint32_t best = UINT32_MAX;
    float least = 0;
    if (a->combinations <= FEW_MAPPINGS) {
        combine(m, t, a, 0, 0, 1, &best);
        return best;
    }
    for (unsigned l = 0; l < m->n_logicals; l++)
        least = fmaxf(least, least_of(m, t, a, l));
    return scan(m, t, a, least);
}

bool model_is_for_items(const struct perfmodel *m, uint32_t value)
{
    return bb_is_repeated(&m->bb->regions[m->bb->values[value].region], m->bb->region_dims);
}

/* Regions belong to groups: what has global work-items reads no staged tile (gpu.space, "staging"), unless
 * registers of a work-item may hold it. */
static unsigned table_of_mode(const struct perfmodel *m, unsigned table, enum mode mode)
{
    unsigned unstaged = 0, place = 1;
    if (mode != MODE_GLOBAL) return table;
    for (uint32_t v = 0; v < m->bb->n_values; v++, place *= STAGING_COUNT) {
        unsigned staging = table / place % STAGING_COUNT;
        unstaged += place * (model_is_for_items(m, v) ? staging : (unsigned)STAGED_NO);
    }
    return unstaged;
}

/* The splits of each logical dimension that the key allows in one mode. */
static struct allowed allowed_in(struct perfmodel *m, enum mode mode)
{
    struct allowed out = {.combinations = 1};
    for (unsigned l = 0; l < m->n_logicals; l++) {
        const struct split_set *set = logical_set(&m->logicals[l], domains_in(m, l));
        out.bits[l] = set->bits[mode];
        out.combinations *= set->count[mode];
    }
    return out;
}

/* The cheapest mapping that the key allows. */
static void find_cheapest(struct perfmodel *m, struct kept_bound *k)
{
    k->ns = INFINITY;
    k->mapping = UINT32_MAX;
    for (int mode = 0; mode < MODE_COUNT; mode++) {
        struct allowed a = allowed_in(m, (enum mode)mode);
        if (!(a.combinations > 0)) continue;
        unsigned table = table_of_mode(m, (unsigned)m->key[0], (enum mode)mode);
        const struct mapping_table *t = mapping_table_get(m, table);
        uint32_t best = cheapest_of(m, t, &a);
        double ns = (double)cost_of(t, best);
        if (!(ns < k->ns)) continue;
        *k = (struct kept_bound){k->key, k->used, ns, best, (enum mode)mode, table};
    }
}

/* The entry for the key, computed if it is not the one that is kept there. */
static const struct kept_bound *look_up(struct perfmodel *m)
{
    size_t bytes = m->key_words * sizeof *m->key;
    uint64_t h = hash_finish(hash_bytes(HASH_START, m->key, bytes));
    struct kept_bound *k = &m->kept[h % BOUND_CACHE];
    if (k->used && memcmp(k->key, m->key, bytes) == 0) return k;
    if (!k->key) k->key = base_malloc(bytes);
    memcpy(k->key, m->key, bytes);
    k->used = true;
    find_cheapest(m, k);
    if (k->ns < m->floor.ns) k->ns = m->floor.ns;
    return k;
}

static void mapping_reason(struct perfmodel *m, const struct kept_bound *k, struct perfmodel_reason *r)
{
    *r = m->floor;
    r->ns = k->ns;
    if (k->mapping == UINT32_MAX) return;
    enum staging staging[MAX_VALUES + 1];
    struct perfmodel_split split[PERFMODEL_LOGICALS];
    struct perfmodel_reason own = {0};
    staging_of_table(m, k->table, staging);
    mapping_splits(m, k->mapping, split);
    for (unsigned l = 0; l < m->n_logicals; l++)
        split[l].global = k->mode == MODE_GLOBAL;
    mapping_cost(m, split, staging, &own);
    if (own.ns > m->floor.ns) *r = own;
    r->ns = k->ns;
    r->n_logicals = m->n_logicals;
    memcpy(r->split, split, sizeof split);
}

/* Raises the bound to what the banks of local memory need. */
static double add_banks(const struct perfmodel *m, const struct space_state *state, double ns,
                        struct perfmodel_reason *reason)
{
    double rate = m->dev.value[PERFMODEL_UNIT_LOCAL], bytes = rate > 0 ? banks_bytes(m, state) : 0;
    enum perfmodel_figure launch;
    double launch_ns = term_launch(m, PERFMODEL_OF_BANKS, &launch), own = launch_ns + bytes / rate;
    if (!(bytes > 0) || own <= ns) return ns;
    if (reason) {
        reason->ns = own;
        reason->term = PERFMODEL_OF_BANKS;
        reason->amount = bytes;
        reason->launch = launch;
        reason->launch_ns = launch_ns;
    }
    return own;
}

double perfmodel_bound(struct perfmodel *m, const struct space_state *state, struct perfmodel_reason *reason)
{
    if (!m->mapped) {
        if (reason) *reason = m->floor;
        return m->floor.ns;
    }
    read_key(m, state);
    const struct kept_bound *k = look_up(m);
    if (reason) mapping_reason(m, k, reason);
    return m->banks ? add_banks(m, state, k->ns, reason) : k->ns;
}

double perfmodel_hook(void *context, const struct space_state *state)
{
    return perfmodel_bound(context, state, NULL);
}

/* ---- corrections ---- */

/* What follows from the figures is computed anew. */
static void forget(struct perfmodel *m)
{
    if (m->tables) mapping_tables_follow(m->tables, &m->dev);
    for (unsigned i = 0; m->mapped && i < BOUND_CACHE; i++)
        m->kept[i].used = false;
    m->floor = (struct perfmodel_reason){0};
    model_floor(m);
}

bool perfmodel_correct(struct perfmodel *m, const struct space_state *implementation, double measured_ns)
{
    static const double ROUNDING = 1e-6;
    struct perfmodel_reason reason;
    for (int i = 0; i < PERFMODEL_FIGURE_COUNT; i++) {
        double bound = perfmodel_bound(m, implementation, &reason);
        if (bound <= (1 + ROUNDING) * measured_ns) return true;
        if (isinf(bound) || reason.term == PERFMODEL_NOTHING) return false;
        perfmodel_violated(&m->dev, &reason, measured_ns);
        forget(m);
    }
    return false;
}

void perfmodel_take(struct perfmodel *m, const struct perfmodel_device *dev)
{
    bool same = memcmp(m->dev.value, dev->value, sizeof m->dev.value) == 0;
    if (dev != &m->dev) m->dev = *dev;
    if (!same) forget(m);
}
