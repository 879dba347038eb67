/* The loop program: what the passes of this folder share. Private to core/codegen.
 *
 * A tree of nodes in execution order, here of a matrix product whose input A is staged (cg_print_tree):
 *
 *     block0 8: store.m.0 mad.m.0            DIM: the dimensions that are merged to one loop
 *       loop 4: mad.k.0 A.load.k.0
 *         thread0 16: A.cl.m.0 A.cs.m.0
 *           A.cl [A]                         INST: reads the buffer A
 *           A.cs [A.tile]                    writes the region A.tile, in local memory
 *         barrier                            BARRIER: barrier.c adds them
 *         thread0 16: mad.m.1 A.load.m.1
 *           ...
 *
 * Node ids are dense and are the variables of the index expressions in cg_access. Values live in registers
 * that are indexed by the UNROLL and VECTOR dimensions of the instruction that makes them. */
#ifndef THRESH_CODEGEN_PROGRAM_H
#define THRESH_CODEGEN_PROGRAM_H

#include "core/backbone/combine.h"
#include "core/codegen/codegen.h"

enum { CG_MAX_STATEMENTS = 16384, CG_ALIGNMENT = 128 /* bytes, of regions */ };

#define CG_KERNEL_NAME "thresh_kernel"
#define CG_NEXT "next_"  /* begins the names of a step's results before they are assigned */
#define CG_POINTER "_at" /* ends the names of pointers, before a number (pointer.c) */

enum cg_node_type { CG_ROOT, CG_DIM, CG_INST, CG_BARRIER, CG_COMBINE, CG_AHEAD };

/* of < below: an index of a dimension that was rounded up is not beyond its extent. (remainder.c) */
struct cg_guard {
    const struct index_expr *of; /* variables are node ids */
    int64_t below;
    const struct index_expr *rest; /* the part of `of` that UNROLL and VECTOR dimensions give */
    int64_t sure;                  /* rest <= sure proves the guard; -1: nothing does */
};

/* An array of a product in matrices (matrix.c). */
struct cg_matrix_side {
    uint32_t load;
    struct cg_node *lanes, *registers, *loaded; /* of the bundle; of the results; of the load */
    uint32_t lane_tile;
    bool transposed; /* rows are lanes, not steps */
};

/* A step that bundles of work-items take together. */
struct cg_matrix {
    uint32_t step;
    int64_t row;           /* elements of 16 bytes */
    struct cg_node *steps; /* the UNROLL dimension of the reduction */
    struct cg_matrix_side left, right;
};

struct cg_node {
    enum cg_node_type type;
    uint32_t id;
    uint32_t statement;     /* DIM: that of its first dimension; INST: the instruction; COMBINE: the STEP */
    struct cg_node *parent; /* NULL: the root */
    unsigned depth;         /* root: 0 */
    unsigned place;         /* number in execution order (preorder) */
    unsigned n_children;
    struct cg_node **children;
    unsigned n_dims; /* DIM: its merged dimensions */
    uint32_t *dims;
    enum bb_dim_kind kind;
    bool fused;          /* DIM: continues the run of its parent */
    unsigned axis;       /* THREAD, BLOCK, GLOBAL: 0..2 */
    int64_t size, inner; /* DIM: iterations; product of the sizes below it in its run */
    int64_t run_extent;  /* DIM: product of all sizes of its run */
    uint8_t guard_local; /* INST: bit g set: only work-items with local id 0 on axis g execute it */
    uint8_t guard_group; /* INST: the same for group ids (global ids if the program uses them) */
    bool guard_last;     /* INST: only the last of the groups that have parts of a reduction executes it */
    unsigned n_guards;   /* DIM: what is inside runs only if all hold; INST: a store or a step is executed, a
                            load   reads memory, otherwise its register gets 0 */
    struct cg_guard *guards;
    bool rolled; /* DIM: UNROLL, and its text is a loop that the compiler unrolls (roll.c) */
    const struct cg_matrix *matrix; /* DIM: bundles do what its copies do; NULL: they do not */
    const struct cg_node
        *exchange; /* DIM: a store in it is in vectors that these lanes exchange (exchange.c) */
    bool fence_local, fence_global; /* BARRIER */
    struct cg_node *loop; /* AHEAD: what is inside is of a later iteration of the loop (stages.c). All AHEAD
                             of a loop have one id, whose variable is that iteration */
    bool first;        /* AHEAD: before the loop, of its first iterations; its children have other parents */
    unsigned distance; /* AHEAD: iterations that it is ahead */
    bool direct;      /* AHEAD: its copies are in the background, and waited for at the end of an iteration */
    bool has_matrix;  /* some node below is a product in matrices (matrix.c) */
    bool has_barrier; /* some node below is a barrier, or combines parts with barriers */
};

/* Where a memory instruction reads or writes. */
struct cg_access {
    uint32_t buffer;                 /* or BB_NONE */
    uint32_t region;                 /* or BB_NONE */
    const struct index_expr *offset; /* elements; NULL: no memory access. Variables are node ids */
    const struct index_expr **by;    /* buffer: the index of each variable that is in the offset */
    unsigned n_guards; /* a load reads nothing where one does not hold, and gives `otherwise`; a copy's store
                          is beyond its region there, and guarded (remainder.c) */
    const struct index_guard *guards;
    double otherwise;
    bool direct;       /* a copy in the background: the load gives the address, the store starts it */
    bool words;        /* a copy of 16 bytes of numbers as four words (words.c) */
    bool streaming;    /* used once: leaves the caches first */
    unsigned n_clamps; /* loads: indices that are at most below - 1, where what they read is not used */
    struct cg_clamp {
        uint32_t variable;
        struct cg_guard in_range;
    } * clamps;
};

/* A register array: one index for each UNROLL or VECTOR dimension of its maker; an iteration of a rolled one
 * has its own array. A tuple has one for each of its parts, all alike but for the type. */
struct cg_value {
    uint32_t inst;
    unsigned n_axes;
    struct cg_node **axes;  /* the maker's nodes */
    uint32_t *tiles;        /* their tiles */
    int64_t registers;      /* product of the sizes */
    struct cg_node *vector; /* the VECTOR axis; NULL: scalars, also if an axis is VECTOR */
    struct cg_node *scope;  /* the node whose braces hold all uses */
    struct cg_node *around; /* the scope is this node or around it: copies that run ahead; NULL: any */
    bool direct;            /* an address in global memory, for a copy in the background */
    bool words;             /* a vector of 16 bytes is words (words.c) */
    bool declared_inline;   /* declared where it is made */
};

struct cg_operand {
    const struct cg_value *value;
    struct cg_node **digits; /* [value->n_axes] the reader's node that gives each index */
};

/* A reduction whose parts are combined. */
struct cg_split {
    struct cg_node *part;      /* THREAD: its work-items have the parts; NULL: a group has one part */
    struct cg_node *groups;    /* BLOCK: its groups have the parts; NULL: a group has all */
    struct cg_node *node;      /* COMBINE */
    struct bb_combination how; /* of two partial results */
};

struct cg_region {
    bool used;
    enum bb_mem_space space; /* PRIVATE: each work-item has the elements for itself */
    unsigned n_dims;
    int64_t extent[BB_MAX_LOGICALS], stride[BB_MAX_LOGICALS]; /* elements */
    int64_t rotated;  /* elements of a row, whose parts of 16 bytes are rotated by its number; 0: they are not
                       */
    int64_t part;     /* elements of 16 bytes */
    int64_t elements; /* with padding, a multiple of the alignment */
};

struct cg_program {
    const struct backbone *bb;
    const struct bb_candidate *c;
    struct cg_target target;
    struct arena *arena;
    struct cg_node *root;
    bool has_exchange; /* some node has (exchange.c) */
    unsigned n_nodes;
    struct cg_node **nodes; /* [n_nodes], by id */
    unsigned
        first_datum; /* the variable of number 0 that the index of a load contains by data: beyond all ids */
    struct cg_node **inst_node; /* [n_insts], NULL: not live */
    struct cg_node **dim_node;  /* [n_dims], NULL: not live */
    bool global_ids; /* GLOBAL dimensions: work-items are numbered over the whole range, no groups */
    int64_t local_size[CG_AXES];       /* work-items of a group */
    int64_t groups[CG_AXES];           /* groups, or work-items if global_ids */
    struct cg_access *access;          /* [n_insts] */
    const struct bb_node **expression; /* [n_insts] expressions, whose indices are over node ids */
    struct cg_split **splits;          /* [n_insts] of a STEP that is split, else NULL */
    struct cg_value *values;           /* [n_insts]; a STEP shares its INIT's */
    struct cg_operand **operands;      /* [n_insts][n_operands] */
    struct cg_region *regions;         /* [n_regions] */
    unsigned n_barriers;
};

/* The passes of cg_build(), in order. Each returns NULL, or a static reason why the candidate cannot be
 * implemented. */
const char *cg_build_tree(struct cg_program *p);       /* loop.c: nodes, parents, siblings */
const char *cg_map_axes(struct cg_program *p);         /* axes.c: runs, sizes of groups, guards */
const char *cg_split_reductions(struct cg_program *p); /* split.c: where parts of reductions are combined */
const char *cg_place_memory(struct cg_program *p);     /* memory.c: regions and accesses */
/* Whether an instruction reads a region: it is the LOAD or TAKE of a staged value. */
bool cg_reads_region(const struct cg_program *p, uint32_t inst);
const char *cg_place_values(struct cg_program *p);     /* values.c: registers, crossings */
const char *cg_stage_copies(struct cg_program *p);     /* stages.c: copies that run ahead of their loop */
const char *cg_place_barriers(struct cg_program *p);   /* barrier.c */
const char *cg_guard_remainders(struct cg_program *p); /* remainder.c: guards of what was rounded up */
const char *cg_find_words(struct cg_program *p);       /* words.c: vectors of 16 bytes that are copied */
const char *cg_find_matrices(struct cg_program *p);    /* matrix.c: steps that bundles of work-items take */
const char *cg_find_exchanges(struct cg_program *p);   /* exchange.c: results that bundles store in vectors */
const char *cg_roll(struct cg_program *p);             /* roll.c: loops that the compiler unrolls */
const char *cg_find_scopes(struct cg_program *p);      /* values.c: where registers are declared */
const char *cg_work_around(struct cg_program *p);      /* workaround.c: barriers for faulty drivers */

/* Variables of indices: node ids, then data. */
static inline unsigned cg_variables(const struct cg_program *p)
{
    return p->first_datum + BB_MAX_PARTS;
}

/* ---- small questions about the tree ---- */

struct cg_node *cg_node_new(struct cg_program *p, enum cg_node_type type);
void cg_number_nodes(struct cg_program *p);                              /* place, depth, has_barrier */
bool cg_inside(const struct cg_node *n, const struct cg_node *ancestor); /* strictly */
struct cg_node *cg_common(struct cg_node *x, struct cg_node *y);         /* innermost node around both */
bool cg_hardware(const struct cg_node *n);                               /* THREAD, BLOCK or GLOBAL */
/* The node of an instruction's own dimension of a tile; NULL if it has none that is live. */
struct cg_node *cg_own(const struct cg_program *p, uint32_t inst, uint32_t tile);
bool cg_owns(const struct cg_program *p, uint32_t inst, const struct cg_node *n);
/* Whether a dimension is one of a STEP that reduces over it. */
bool cg_is_reduced(const struct cg_program *p, uint32_t dim);
/* Whether a node is groups that have parts of a reduction. */
bool cg_divides(const struct cg_program *p, const struct cg_node *n);
/* Whether each work-item has the region for itself; false of BB_NONE. */
bool cg_is_private(const struct cg_program *p, uint32_t region);
/* Whether a work-item may read an element of the value's region that another one wrote (depend.c). */
bool cg_depends(const struct cg_program *p, const struct bb_value *v);
/* The loop that the value's copy runs ahead of; NULL: it does not (stages.c). */
struct cg_node *cg_staged_loop(const struct cg_program *p, const struct bb_value *v);
/* Whether a node holds copies that run ahead of this loop. */
bool cg_runs_ahead(const struct cg_node *n, const struct cg_node *loop);
/* Whether copies run ahead of the loop and its last iteration, which copies nothing, is after it in the text
 * (stages.c). A loop whose number of iterations depends on others around it does not peel. */
bool cg_peels(const struct cg_node *loop);
/* Whether the coefficients of an index are multiples of a number. */
bool cg_is_multiple(const struct index_expr *x, int64_t of);
/* Statements of a work-item for a product in matrices. */
double cg_matrix_steps(const struct cg_matrix *m);
int64_t cg_items_per_group(const struct cg_program *p);
/* What the sizes of a logical's tiles multiply to. */
int64_t cg_span(const struct cg_program *p, uint32_t logical);
/* The variable of indices that a logical is: of a copy along one logical, that one. */
uint32_t cg_indexed(const struct cg_program *p, uint32_t logical);
/* What a level's digit counts in the index: the product of the later sizes. */
int64_t cg_weight(const struct cg_program *p, const struct bb_logical *l, unsigned level);
/* Whether all work-items of the group meet at the node. */
bool cg_is_barrier(const struct cg_node *n);
/* The split of an INIT's reduction if all its parts but the first start from the neutral element; else NULL.
 */
const struct cg_split *cg_split_start(const struct cg_program *p, uint32_t inst);
/* Whether a work-item, by its local ids, has a part. */
bool cg_takes_part(const struct cg_program *p, const struct cg_split *s, const int64_t item[CG_AXES]);
/* Whether some work-items of the group have none. */
bool cg_is_shorter(const struct cg_program *p, const struct cg_split *s);
/* Registers that are combined together; elements of the array for the parts of a type. */
int64_t cg_split_together(const struct cg_program *p, const struct cg_split *s);
int64_t cg_part_elements(const struct cg_program *p, enum scalar_type type);
/* The split whose parts groups have; NULL: there is none. */
const struct cg_split *cg_group_split(const struct cg_program *p);
/* Groups that differ in the place of their part alone share a counter: how many counters there are. */
int64_t cg_group_slots(const struct cg_program *p, const struct cg_split *s);
/* Work-items of a group that have different results: without those that have parts. */
int64_t cg_split_results(const struct cg_program *p, const struct cg_split *s);
unsigned cg_combine_barriers(const struct cg_program *p, const struct cg_split *s);
/* Whether a run of threads is shorter than the group: some work-items take no part (axes.c). */
bool cg_is_short(const struct cg_program *p, const struct cg_node *n);
/* Whether a predicate is around the node's text that may differ between work-items (axes.c). */
bool cg_is_guarded(const struct cg_program *p, const struct cg_node *n);
/* Whether n is a loop and the first thing in its body is a loop whose head LLVM may merge with that of n
 * (workaround.c). */
bool cg_begins_with_loop(const struct cg_program *p, const struct cg_node *n);
/* An access to a buffer, with an index clamped unless it is proven to be in range (NULL: none is): its offset
 * and its guards. In the arena. */
typedef bool cg_is_proven(void *context, const struct cg_guard *in_range);
struct cg_access cg_clamped(const struct cg_program *p, struct arena *a, uint32_t inst,
                            cg_is_proven *is_proven, void *context);
/* The child of `up` that is n or around n, as an index. */
unsigned cg_child_towards(const struct cg_node *up, const struct cg_node *n);

#endif
