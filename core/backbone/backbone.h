/* The semantic backbone: what a program means, with no decision in it, and the shape of the decisions about
 * it. A matrix product C[m][n] = sum over k of A[m][k] * B[k][n] is
 *
 *     logicals       m, n (parallel), k (reduction), each cut into tiles: m.0, m.1, ...
 *     instructions   A.load  B.load  init  mad  store
 *     values         A.load -> mad, B.load -> mad, init -> mad -> store; A and B may be staged
 *
 * - A logical dimension is an index range. Its tiles are levels, level 0 the most significant: index = sum
 * over the levels of digit * product of the sizes of the levels after it. The sizes multiply to its *span*,
 * the extent or that rounded up, 1009 as 8 x 128; the code generator guards what is beyond the extent.
 * - An instruction is in a nest of its own dimensions, one for each tile of its logicals.
 * - A value flows from one instruction to another: one scalar in each iteration of the logicals they share.
 * - A load may be *staged*: then the latent instructions copy_load (global -> register) and copy_store
 * (register -> region) fill a region, which the load reads. Copies have logicals of their own ("A.copy.m")
 * with tiles of their own, one for each coordinate of the region (region.h): a logical of the load, or a
 * *window*, the sum of several that overlap. The product of the sizes of those tiles of the load that are not
 * outside (order is OUTER of) the copy_store, minus 1, times its coefficient, is what a term adds to 1.
 * - An array whose elements are computed may be staged, too (stored.h): a TAKE reads its element, from the
 * region or from the registers of the instructions that compute it where it is read.
 *
 * Statements are instructions, then dimensions, in one dense numbering: instruction i is statement i,
 * dimension d is statement n_insts + d. A dimension is live iff its tile's size is > 1 and its instruction is
 * live. Copy instructions are live iff their value is staged, those with `unless` iff it is not; all others
 * always. Names are stable: "mad",
 * "A.load", "A.copy.store", "mad.m.2", "A.copy.load.k.1" (dimension level 1 of copy logical A.copy.k). */
#ifndef THRESH_BACKBONE_BACKBONE_H
#define THRESH_BACKBONE_BACKBONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/backbone/candidate.h"
#include "core/backbone/codes.h"
#include "core/backbone/decisions.h"
#include "core/backbone/node.h"
#include "core/backbone/parameter.h"
#include "core/backbone/region.h"

struct arena;
struct diag;
struct lift_program;
struct lift_size;
struct space;
struct space_data;
struct space_state;
struct strbuf;

#define BB_NONE UINT32_MAX

/* Levels of a logical; logicals of an instruction; scalars that one makes. */
enum { BB_MAX_LEVELS = 4, BB_MAX_LOGICALS = 8, BB_MAX_PARTS = 8 };

struct bb_logical {
    const char *name;
    int64_t extent;  /* main: exact. copy: that of its coordinate (what is staged depends on decisions) */
    bool reduction;  /* some STEP reduces it (bb_reduces()): no output has it; sequential, unless `split` */
    uint32_t of;     /* copy: the main logical, the first of a window; main: BB_NONE */
    uint32_t region; /* copy: its region; main: BB_NONE */
    uint32_t coordinate; /* copy: its region dimension; main, or reduced inside a copy: BB_NONE */
    uint32_t first_tile;
    unsigned n_levels;
    const struct lift_size *size; /* the extent as the program writes it (core/lift/size.h); copy: NULL */
    unsigned n_spans;             /* of a copy: those of `of`; 0 is the same as 1 */
    const int64_t *spans;         /* ascending, the first is the extent */
    bool scanned;                 /* a STEP that is a scan runs over it, perhaps beside an output */
    uint8_t split;                /* enum bb_split: who may divide its reduction (combine.h) */
};

struct bb_tile {
    const char *name; /* "m.0" */
    uint32_t logical;
    unsigned level; /* 0 = most significant */
    unsigned n_sizes;
    const int64_t *sizes; /* candidate sizes, ascending, from 1 */
};

struct bb_dim {
    const char *name; /* "mad.m.0" */
    uint32_t inst;
    uint32_t tile;
};

enum bb_inst_kind {
    BB_LOAD,      /* register = buffer[index], or = region[...] if its value is staged */
    BB_COMPUTE,   /* register = expression of operands */
    BB_INIT,      /* register = expression: initial value of a reduction */
    BB_STEP,      /* register(init) = expression of operands; operand 0 is the accumulator */
    BB_STORE,     /* buffer[index] = operand 0 */
    BB_TAKE,      /* register = operand 0, or = region[...] if its value is staged */
    BB_COPY_LOAD, /* register = buffer[index]; latent */
    BB_COPY_STORE /* region[...] = operand 0; latent */
};

struct bb_inst {
    const char *name;
    enum bb_inst_kind kind;
    enum scalar_type type; /* of the value it makes or stores; of a tuple its first scalar's */
    unsigned n_more;       /* INIT, STEP of a reduction to a tuple: scalars after the first, their types */
    enum scalar_type more[BB_MAX_PARTS - 1];
    unsigned n_logicals;
    uint32_t logicals[BB_MAX_LOGICALS]; /* own logicals: copies' are copy logicals */
    uint32_t first_dim;                 /* own dimensions: logicals in order, levels in order */
    unsigned n_dims;
    unsigned n_operands;
    const uint32_t *operands; /* producing instructions. STEP: operand 0 is its INIT. A reader of a reduction
                                 names the STEP */
    unsigned n_nodes;
    const struct bb_node *nodes;    /* COMPUTE, INIT, STEP; of a LOAD its data; of STORE and TAKE OPERAND 0 */
    uint32_t buffer;                /* LOAD, STORE, COPY_LOAD: index into buffers; else BB_NONE */
    const struct index_expr *index; /* element offset in the buffer; variables are MAIN logical ids, of a
                                       COPY_LOAD also its logicals that are windows */
    unsigned n_axes; /* LOAD, TAKE: the index in each dimension of the array, outermost first */
    const struct index_expr *const *axes;
    unsigned n_guards; /* LOAD, COPY_LOAD: where one does not hold, nothing is read */
    const struct index_guard *guards;
    double otherwise; /* what the register gets then */
    unsigned n_data; /* LOAD: ints that its expression makes and that index and guards contain: number k is */
    struct bb_datum { /* least + a variable, bb_datum_var(k) */
        int64_t least, most;
        uint32_t var;
    } data[BB_MAX_PARTS];
    uint32_t value;   /* LOAD or TAKE that may be staged, all of a copy: its value; else BB_NONE */
    uint32_t unless;  /* it only makes this computed value, and is dead if that is staged; or BB_NONE */
    uint32_t partner; /* INIT: its STEP; STEP: its INIT; else BB_NONE */
    bool scan; /* STEP: its readers get the accumulator after each step, in the order of the elements */
};

struct bb_buffer {
    const char *name; /* "A", "out" */
    enum scalar_type type;
    int64_t elements;
    bool output;
    bool by_value;  /* an input that is a scalar: a kernel argument, no memory */
    bool updated;   /* an output that is also an input; an element is read only where it is written */
    unsigned input; /* index of the program's input; LIFT_NONE: it is no input */
};

/* An element of an updated buffer is loaded before it is overwritten, where no operands say so already. */
struct bb_overwrite {
    uint32_t load, store; /* instructions */
};

struct backbone {
    const struct lift_program *program; /* borrowed */
    unsigned n_logicals, n_tiles, n_dims, n_insts, n_values, n_regions, n_region_dims, n_buffers;
    unsigned n_terms, n_overwrites;
    unsigned n_parameters;
    const struct bb_parameter *parameters; /* of the space, that do not have their default */
    struct bb_logical *logicals;
    struct bb_tile *tiles;
    struct bb_dim *dims;
    struct bb_inst *insts;
    struct bb_value *values;
    struct bb_region *regions;
    struct bb_region_dim *region_dims;
    struct bb_term *terms;     /* of the region dimensions, in order */
    struct bb_buffer *buffers; /* the program's arrays, in order */
    struct bb_overwrite *overwrites;
};

/* What the instantiation may choose: levels, staging, parameters. Zero-initialised fields take the defaults
 * in parentheses; levels take fewer in programs of many statements (build.c). */
struct bb_options {
    unsigned parallel_levels;  /* tiles of a parallel logical (4) */
    unsigned reduction_levels; /* (3) */
    unsigned copy_levels;      /* tiles of a copy logical, at most those of its main one (4) */
    unsigned max_sizes;        /* candidate sizes kept per tile (all divisors) */
    int64_t round_from;        /* extents from here on may be rounded up (12) */
    bool no_staging;           /* no latent copies */
    unsigned n_parameters;     /* of gpu.space (its defaults) */
    struct bb_parameter parameters[BB_MAX_PARAMETERS];
};

/* Lowers a bound program. NULL after adding located errors. Lives in the arena. A tile whose only size is 1
 * is left out: a prime extent keeps level 0 alone. */
struct backbone *bb_lower(const struct lift_program *p, const struct bb_options *o, struct arena *a,
                          struct diag *d);

/* Whether a logical's span is a choice. */
static inline bool bb_has_span(const struct backbone *bb, uint32_t logical)
{
    return bb->logicals[logical].n_spans > 1 && bb->logicals[logical].of == BB_NONE;
}
/* Whether a value or an intermediate result of the program has this type. */
bool bb_uses_type(const struct backbone *bb, enum scalar_type t);
/* Whether several values have the region of this one. */
static inline bool bb_is_shared(const struct backbone *bb, const struct bb_value *v)
{
    return bb->regions[v->region].several;
}

/* Whether a logical is one of the instruction's own. */
static inline bool bb_owns(const struct bb_inst *inst, uint32_t logical)
{
    for (unsigned i = 0; i < inst->n_logicals; i++)
        if (inst->logicals[i] == logical) return true;
    return false;
}
/* Whether an instruction reads the register of another one. */
static inline bool bb_reads(const struct bb_inst *inst, uint32_t operand)
{
    for (unsigned i = 0; i < inst->n_operands; i++)
        if (inst->operands[i] == operand) return true;
    return false;
}
/* The variable of datum k of a LOAD, and the number of variables of indices. */
static inline uint32_t bb_datum_var(const struct backbone *bb, unsigned k)
{
    return bb->n_logicals + k;
}
static inline uint32_t bb_variables(const struct backbone *bb)
{
    return bb->n_logicals + BB_MAX_PARTS;
}
static inline unsigned bb_parts(const struct bb_inst *inst)
{
    return 1 + inst->n_more;
}
static inline enum scalar_type bb_part_type(const struct bb_inst *inst, unsigned part)
{
    return part ? inst->more[part - 1] : inst->type;
}
/* Whether a STEP reduces the logical: its INIT lacks it. A reduction inside another one owns both. */
static inline bool bb_reduces(const struct backbone *bb, const struct bb_inst *inst, uint32_t logical)
{
    return inst->kind == BB_STEP && bb_owns(inst, logical) && !bb_owns(&bb->insts[inst->partner], logical);
}
/* Whether a logical is that of a copy along a window. */
static inline bool bb_is_window(const struct backbone *bb, const struct bb_logical *l)
{
    return l->of != BB_NONE && l->coordinate != BB_NONE && bb_overlaps(&bb->region_dims[l->coordinate]);
}
/* Whether an instruction is of a copy: it is latent, and its logicals are copies. */
static inline bool bb_is_copy(const struct bb_inst *inst)
{
    return inst->value != BB_NONE && inst->kind != BB_LOAD && inst->kind != BB_TAKE;
}
/* The terms of a value in a coordinate of its region. */
static inline const struct bb_term *bb_value_terms(const struct backbone *bb, const struct bb_value *v,
                                                   const struct bb_region_dim *c)
{
    return &bb->terms[v->first_term + (c->first_term - bb->values[v->owner].first_term)];
}
/* Whether a value is computed, not loaded. */
static inline bool bb_is_computed(const struct backbone *bb, const struct bb_value *v)
{
    return bb->insts[v->load].kind == BB_TAKE;
}
static inline uint32_t bb_dim_statement(const struct backbone *bb, uint32_t dim)
{
    return bb->n_insts + dim;
}
static inline unsigned bb_statement_count(const struct backbone *bb)
{
    return bb->n_insts + bb->n_dims;
}

/* ---- the GPU space over a backbone (instance.c, candidate.c, naive.c, plain.c) ---- */

/* What the space needs to know of a device: what it can do. Guesses about what is fast are parameters. */
struct bb_device {
    int64_t max_work_group;   /* work-items */
    int64_t max_work_item[3]; /* work-items per axis of a group */
    int64_t local_bytes;      /* local memory of a group */
    unsigned n_vector_widths;
    int64_t vector_widths[5]; /* e.g. 2 4 8 16, ascending */
    bool gpu;
    bool nontemporal;  /* its compiler has accesses that leave the caches first (an agent asks it) */
    bool half_bits;    /* it has no arithmetic on half numbers (cl_khr_fp16): they are bits in memory */
    bool matrix;       /* bundles of work-items multiply matrices (core/codegen/matrix.c) */
    bool device_fence; /* its compiler has a fence that orders memory accesses of several groups */
    unsigned dialect;  /* of its text: enum cg_dialect_id (core/codegen/target.h) */
    uint32_t workarounds_off; /* bits 1 << enum cg_workaround: its driver does without; 0: unknown */
};

/* The tables that gpu.space is instantiated with. The caller frees the result with space_data_free(). */
struct space_data *bb_instance(const struct backbone *bb, const struct bb_device *device);
/* Reads the decisions off a leaf. false with a static reason in *why: it is no leaf of the space. */
bool bb_decode(const struct backbone *bb, const struct space_state *leaf, struct bb_candidate *out,
               const char **why);
/* The naive implementation: the store's parallel dimensions of level 0 GLOBAL, all others of size 1. */
struct bb_decisions bb_naive(const struct backbone *bb, const struct space *space, struct arena *a);
/* How often the naive implementation computes the same reduction: 1024 where all elements of a row of 1,024
 * share its sum. The most of all reductions; 1: it repeats none. */
int64_t bb_naive_repeats(const struct backbone *bb);
/* The same of each instruction, out[n_insts]; 0: it makes a tile, and naive implementations have none. */
void bb_naive_repeated(const struct backbone *bb, int64_t *out);

/* A plain implementation: one that needs no search. */
struct bb_plain {
    const char *label;             /* "one work-item per row, in vectors of 16" */
    struct bb_decisions decisions; /* which leave little open */
};
enum { BB_MAX_PLAIN = 57 }; /* the sum of those of each kind: plain.c */
/* The plain implementations of a program, in the arena; their number. The space may still refuse one. */
unsigned bb_plain(const struct backbone *bb, const struct space *space, const struct bb_device *device,
                  struct arena *a, struct bb_plain out[BB_MAX_PLAIN]);

#endif
