/* The parts of the model, shared by the files of this folder.
 *
 * A *division* (struct logical) knows every split of a logical dimension that the root of the space allows.
 * What a candidate still allows is a set of them, found by walking its tiles: each has a domain of sizes and
 * of classes (sequential, work-item, group, global). A *profile* says what an instruction needs for given
 * splits. */
#ifndef THRESH_PERFMODEL_MODEL_H
#define THRESH_PERFMODEL_MODEL_H

#include "perfmodel/bound.h"

enum {
    MAX_DIVISORS = 64,
    MAX_TILES = BB_MAX_LEVELS,
    MAX_RUN_DIVISORS = 32,   /* beyond that runs are taken to be 1 */
    MANY_MAPPINGS = 1 << 18, /* beyond that the parts of reductions are not looked at */
    MAX_MAPPINGS = 1 << 21,  /* beyond that the model does without mappings */
    MAX_BUFFERS = 32,
    NO_DIVISOR = 255,
    SET_CACHE = 1024,  /* sets of splits kept of each logical dimension */
    BOUND_CACHE = 8192 /* bounds kept */
};

/* Classes of a tile, as bits. */
enum { CLASS_SEQUENTIAL = 1, CLASS_ITEMS = 2, CLASS_GROUPS = 4, CLASS_GLOBAL = 8, CLASS_ALL = 15 };

/* A kernel has either work-groups or global work-items, for all logical dimensions. */
enum mode { MODE_GROUPS, MODE_GLOBAL, MODE_COUNT };

/* The domains of a logical dimension's tiles: divisors as bits, classes as bits. */
struct tile_domains {
    uint64_t sizes[MAX_TILES];
    uint8_t classes[MAX_TILES];
};

/* A set of splits, kept with the domains that it follows from. */
struct split_set {
    struct tile_domains key;
    bool used;
    unsigned count[MODE_COUNT];
    uint64_t *bits[MODE_COUNT]; /* by number of split */
};

struct logical {
    const struct bb_logical *of;
    unsigned n_tiles, n_divisors;
    unsigned reach; /* elements of an access at most */
    bool any;       /* one split stands for all (logical_any()) */
    bool by_groups; /* groups may divide the reduction over it */
    bool runs;      /* the distance of work-items matters: some access runs through it element by element */
    int64_t divisors[MAX_DIVISORS];
    uint8_t product[MAX_DIVISORS][MAX_DIVISORS], /* NO_DIVISOR: it does not divide the extent */
        quotient[MAX_DIVISORS][MAX_DIVISORS];    /* NO_DIVISOR: it is no whole number */
    uint8_t *tile_divisor[MAX_TILES];            /* [value of size(tile)] -> divisor */
    uint32_t size_slot[MAX_TILES];
    uint32_t kind_slot[MAX_TILES]; /* of the dimension that stands for the tile; UINT32_MAX: none */
    unsigned n_splits;
    struct perfmodel_split *splits;
    uint8_t (*split_divisors)[5]; /* [split] groups, items, steps, run; the gap as it is */
    struct split_set *cache;      /* [SET_CACHE] */
};

/* What an instruction needs, for each execution or each distinct element. */
struct profile {
    uint32_t inst;
    unsigned n_logicals;
    uint8_t logicals[BB_MAX_LOGICALS]; /* its own */
    unsigned n_distinct;
    uint8_t distinct[BB_MAX_LOGICALS];          /* those along which it touches other elements for sure */
    double multiplications, additions, special; /* operations an execution */
    bool load, store;
    bool shared; /* a load of a product that bundles may take in matrices: which work-item reads is open */
    uint32_t buffer, value;
    double element_bytes;
    int unit;   /* logical with unit stride, -1: none */
    bool dense; /* rows are so short that they may join */
    bool chain; /* a step of a reduction */
    unsigned n_reduced;
    uint8_t reduced[BB_MAX_LOGICALS]; /* logicals of the chain */
};

/* A mapping's number is that of its splits in mixed radix. */
struct mapping {
    float cost; /* rounded down */
    uint32_t number;
    uint16_t split[PERFMODEL_LOGICALS];
};
/* All mappings for one state of staging. */
struct mapping_table {
    enum { TABLE_MISSING, TABLE_AT_WORK, TABLE_BUILT } state; /* AT_WORK: a thread builds it */
    size_t count;
    struct mapping *mappings;         /* those that the device can run, cheapest first */
    float *costs;                     /* by number; INFINITY: it cannot */
    float *least[PERFMODEL_LOGICALS]; /* [split] of the mappings with that split of the logical dimension */
};

enum staging { STAGED_OPEN, STAGED_NO, STAGED_YES, STAGING_COUNT };

/* A bound that was computed before. */
struct kept_bound {
    uint64_t *key;
    bool used;
    double ns;
    uint32_t mapping; /* its number; UINT32_MAX: none */
    enum mode mode;   /* that allows it */
    unsigned table;   /* that it is of */
};

struct banks;

struct perfmodel {
    const struct backbone *bb;
    const struct space *space;
    struct perfmodel_device dev;
    unsigned n_logicals; /* main ones */
    struct logical *logicals;
    unsigned n_profiles;
    struct profile *profiles;
    bool loads;                    /* what is stored waits for a load */
    bool matrices;                 /* some product may be in matrices */
    uint32_t *staged_slot;         /* [n_values] */
    struct banks *banks;           /* NULL: nothing can be staged, or another kind of local memory */
    bool mapped;                   /* mappings can be looked at */
    const char *unmapped;          /* why not; static */
    struct perfmodel_reason floor; /* of every implementation */
    unsigned n_tables;             /* STAGING_COUNT ^ n_values */
    struct mapping_tables *tables; /* of this model and those beside it; NULL: not mapped */
    unsigned key_words;
    uint64_t *key; /* scratch */
    struct kept_bound *kept;
    uint8_t kind_class[8]; /* [value of dim_kind] -> class */
};

/* ---- lattice.c ---- */

/* Reads the logical's divisors and the slots of its tiles. NULL, or why no mapping can be made (static). */
const char *logical_open(struct perfmodel *m, unsigned l);
void logical_close(struct logical *l);
/* The domains of its tiles in a state. */
void logical_domains(const struct perfmodel *m, const struct logical *l, const struct space_state *state,
                     struct tile_domains *out);
/* Lists the splits that domains allow as the logical's own. */
void logical_list(struct logical *l, const struct tile_domains *d);
/* Makes one split of a reduction stand for all: any number of work-items, and of groups where they may,
 * divide it at no cost. */
void logical_any(struct logical *l);
/* The set of splits that domains allow; valid until the next call for this logical. */
const struct split_set *logical_set(struct logical *l, const struct tile_domains *d);

/* ---- profile.c ---- */

void profiles_make(struct perfmodel *m);
/* Executions of a sequential nest, and elements: product of a part of the splits over logicals. PART_ANY: the
 * iterations that any number of work-items may divide, of which each has one at least. */
enum part {
    PART_STEPS = 1,
    PART_ITEMS = 2,
    PART_GROUPS = 4,
    PART_ANY = 8,
    PART_BLOCK = PART_STEPS | PART_ITEMS | PART_ANY
};
double profile_product(const uint8_t *logicals, unsigned n, const struct perfmodel_split *split,
                       unsigned parts);

/* ---- cost.c ---- */

/* The cost of one mapping under a staging of each value, with its reason if that is not NULL. INFINITY: the
 * device cannot run it. */
double mapping_cost(const struct perfmodel *m, const struct perfmodel_split *split,
                    const enum staging *staging, struct perfmodel_reason *reason);
/* Whether each work-item may copy what is staged of a value for itself, to registers. */
bool model_is_for_items(const struct perfmodel *m, uint32_t value);
/* What every implementation needs: fills the model's floor. */
void model_floor(struct perfmodel *m);

/* What a term's work cannot overlap with, ns, and the figure that says so. */
double term_launch(const struct perfmodel *m, enum perfmodel_term term, enum perfmodel_figure *launch);

/* ---- banks.c ---- */

struct banks *banks_open(const struct perfmodel *m); /* NULL: nothing to say */
void banks_close(struct banks *b);                   /* NULL is allowed */
/* Cycles of the busiest unit's local memory for the staged tiles, as bytes that it could have moved, with the
 * cheapest layouts and paddings that are left; 0 if what else they depend on is not decided. */
double banks_bytes(const struct perfmodel *m, const struct space_state *state);

/* ---- table.c ---- */

/* Room for the tables of a model. Another one may share them if its logical dimensions have the same splits:
 * each frees them. */
struct mapping_tables *mapping_tables_new(const struct perfmodel *m);
struct mapping_tables *mapping_tables_share(struct mapping_tables *t, const struct perfmodel *m);
void mapping_tables_free(struct mapping_tables *t); /* NULL is allowed */
/* The mappings under the staging that `table` numbers, built on first use; another thread that asks for the
 * table meanwhile waits for it. */
const struct mapping_table *mapping_table_get(struct perfmodel *m, unsigned table);
/* Forgets the tables if they were built for other figures; no other thread asks for one meanwhile. */
void mapping_tables_follow(struct mapping_tables *t, const struct perfmodel_device *dev);
/* The splits of a mapping. */
void mapping_splits(const struct perfmodel *m, uint32_t number, struct perfmodel_split *split);
void staging_of_table(const struct perfmodel *m, unsigned table, enum staging *out);

#endif
