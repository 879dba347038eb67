/* The target table: how a dialect of C spells what a kernel is made of, and what a driver needs besides.
 *
 * The passes of this folder are written once. What differs between dialects is a row, struct cg_dialect, of
 * short formats in which $1, $2, ... stand for the parts of the text:
 *
 *     .load_vector = "vload$1(0, &$2)"      in the text: vload4(0, &x[5 * i])
 *     .operations = {[SCALAR_MAX] = "fmax($1, $2)", ...}
 *
 * All rows are dialects of C: loops, braces, declarations, indices, operators and comments are spelled alike.
 * A target is a row with the workarounds that a driver needs. It is made of a device's limits (struct
 * bb_device), which travel between agent and coordinator, so that both write the same text.
 *
 * README.md says how to add a dialect, a feature of a compiler, and a workaround. */
#ifndef THRESH_CODEGEN_TARGET_H
#define THRESH_CODEGEN_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "core/backbone/backbone.h"
#include "core/base/strbuf.h"
#include "core/lift/scalar.h"

/* ---- dialects ---- */

enum cg_dialect_id { CG_OPENCL, CG_DIALECTS };
enum { CG_AXES = 3 /* of work-items and groups */, CG_MAX_WIDTH = 16 /* of a vector */ };

/* How a dialect writes one scalar type. */
struct cg_type_text {
    const char *name;
    const char *literal;  /* of the digits of a number, $1; a floating-point number has a point or exponent */
    const char *constant; /* of a literal with its sign, $1 */
    const char *before;   /* text before a kernel that uses the type; NULL: none */
    const char *mask;     /* the signed integer type of its width, of comparisons of its vectors */
};

struct cg_dialect {
    const char *name; /* "OpenCL C" */

    struct cg_type_text types[SCALAR_TYPE_COUNT];
    /* Half numbers as their bits, on devices that have no arithmetic on them (cg_target.half_bits).
     * Operations are in float; numbers and bits are converted by functions: operand $1, width $2 of vectors,
     * "" of scalars. */
    struct cg_type_text half_bits;
    const char *half_to_float, *float_to_half, *double_to_half;
    const char *half_words; /* the type of 16 bytes of them, or of floats, that are copied (words.c); NULL:
                               none */
    /* Operations by their last operand: a vector, an int (scalar or vector) or else, the first of these that
     * is not NULL. Operands $1 $2 $3, mask $8 of the last one's type, width $9 of vectors, "" of scalars. A
     * bool is an int that is not 0. */
    const char *vector_operations[SCALAR_OP_COUNT];
    const char *int_operations[SCALAR_OP_COUNT];
    const char *operations[SCALAR_OP_COUNT];
    /* Functions before a kernel that uses an operation on int: its type $1, width $2 as above. */
    const char *int_functions[SCALAR_OP_COUNT];
    const char *infinity, *nan;
    const char *unroll;             /* line before a loop that the compiler unrolls, whole; NULL: none does */
    const char *index, *wide_index; /* signed types of 32 and 64 bits, of loop variables and indices */
    const char *id, *wide_id;       /* unsigned ones, in which work-item ids are divided */

    const char *kernel;           /* head of a kernel up to its arguments; name $1 */
    const char *kernel_in_groups; /* the same with the size of its work-groups $2 $3 $4 */
    const char *input, *output;   /* arguments; type $1, name $2. No other argument reaches their elements */
    const char *value;            /* an argument that is a scalar */
    const char *temporary;        /* the same; work-items read what other work-items wrote */
    const char *global_space, *local_space; /* words for address spaces; "": none */
    const char *local_array;                /* declaration: type $1, name $2, elements $3, alignment $4 */
    const char *local_id[CG_AXES], *group_id[CG_AXES], *global_id[CG_AXES]; /* of a work-item, by axis */
    const char *barrier_local, *barrier_global, *barrier_both; /* statement; the memory that it orders */
    const char *fence_before; /* text before the kernel that device_fence needs */
    const char *device_fence; /* statement: orders a work-item's accesses to global memory for all groups */
    const char *count_up;     /* the value of the counter $1, which is raised by one for all groups */
    const char *flag, *counters; /* declaration of a number in local memory, name $1; argument of that name */
    const char *shared;          /* argument: global memory of type $1 that other groups write, name $2 */
    const char *shared_space;    /* words for the address space of that memory */

    unsigned vector_widths;          /* sum of the widths that vector types have: 2, 4, 8, 16 */
    const char *vector_type;         /* scalar type $1, width $2 */
    const char *pack;                /* vector of type $1 from the scalars $2, separated by commas */
    const char *broadcast;           /* vector of type $1 with the scalar $2 in each lane */
    const char *lanes[CG_MAX_WIDTH]; /* members of a variable of a vector type */

    /* Vectors in memory: address space $1, vector type $2, first element $3. A NULL pointer: the dialect has
     * no vectors at aligned addresses, so that load_vector and store_vector take all. */
    const char *input_pointer, *output_pointer;
    const char *load_vector;  /* at any address: width $1, first element $2 */
    const char *store_vector; /* width $1, value $2, first element $3; without the semicolon */
    /* Accesses that leave the caches first; used if bb_device.nontemporal is set. Pointer $1, value $2. */
    const char *stream_load, *stream_store;

    /* Matrices that bundles of 32 work-items load and multiply (matrix.c); NULL: they do not. */
    const char *matrix_before;                        /* text before a kernel that has some */
    const char *matrix_type;                          /* of a work-item's elements of four matrices */
    const char *matrix_load, *matrix_load_transposed; /* statement: variable $1, pointer to a row $2 */
    const char *matrix_words;    /* statement: variable $1, its elements, floats, $2 $3 $4 $5 */
    const char *matrix_multiply; /* statement: results $1 $2 $3 $4; the left matrices are in variable $5, the
                                    right ones are $6 and $7; of half numbers */
    const char *tf32_multiply;   /* the same of TF32 */
    const char *tf32_round;      /* statement: floats to TF32, variable $2 */

    /* 8 lanes of a bundle, each with 8 half numbers, to vectors of the type half_words: lane $1 gets the
       numbers $1 (0..7) of all of them, in the order of the lanes; $2: its 8 numbers (exchange.c). NULL: they
       do not. */
    const char *exchange_before; /* text before a kernel with it */
    const char *exchange;

    /* Copies in the background of 16 bytes from global to local memory (stages.c); NULL: none. */
    const char *direct_before; /* text before a kernel that has some */
    const char *direct_type;   /* of the address that is copied from */
    const char *direct_copy;   /* starts one, without the semicolon: to the pointer $1, from $2 */
    const char *direct_end;    /* statement: commits those of an iteration as a group */
    const char *direct_wait;   /* statement: waits for all groups but the last $1 */

    const char *const *words;    /* that no variable may be called; the last is NULL */
    const char *const *prefixes; /* that no variable's name may begin with; the last is NULL */
};

/* opencl.c */
extern const struct cg_dialect cg_opencl;

/* ---- drivers ---- */

/* A driver is known by the platform that its version numbers are of: CL_PLATFORM_NAME and CL_DRIVER_VERSION,
 * "Portable Computing Language" and "3.1+debian". A range of versions is from `first` to `last`, as far as
 * these have numbers: 3.1 is in "3" to "3". `last` "": later ones, too. */

enum cg_answer { CG_NO, CG_YES, CG_ASK };

/* Whether the driver's compiler has streaming accesses (stream_load, stream_store) that have an effect.
 * CG_ASK: no such version was seen; an agent builds a kernel to find out (agent/opencl_probe.c). */
enum cg_answer cg_streams(const char *platform, const char *driver);
/* Whether the dialect's device_fence orders memory accesses of several groups on a driver: its platform is
 * one on which it was seen to (tests/codegen/test_descents.c, experiments/results/2026-11-25-groups.md), or
 * the simulator Oclgrind (tests/e2e/test_oclgrind.c), which makes each access at once, in the host's memory.
 * OpenCL 1.2 promises no such order. */
bool cg_fences(const char *platform);

/* X(ID, name, platform, first, last, test, what goes wrong without it). The tests, in
 * tests/codegen/test_workarounds.c, show on a driver in the range that the workaround is needed. */
/* clang-format off */
#define CG_WORKAROUNDS(X) \
    X(SPLIT_LOOP_HEADS, "split-loop-heads", "Portable Computing Language", "3", "", "split_loop_heads", \
      "a loop with barriers that begins with an independent loop or an inner reduction ends the compiler") \
    X(SPLIT_PREDICATES, "split-predicates", "Portable Computing Language", "3", "", "split_predicates", \
      "predicates at the end of a loop with barriers and after it: the code after the loop is not run") \
    X(ONE_EXIT, "one-exit", "Portable Computing Language", "3", "", "one_exit", \
      "a group that ends between barriers: the work-items of other groups end, too")
/* clang-format on */

enum cg_workaround {
#define X(id, name, platform, first, last, test, what) CG_##id,
    CG_WORKAROUNDS(X)
#undef X
        CG_WORKAROUND_COUNT
};

struct cg_workaround_info {
    const char *name, *platform, *first, *last, *what;
};

const struct cg_workaround_info *cg_workaround_info(enum cg_workaround w);
/* The workarounds that a driver does without, as bits 1 << enum cg_workaround: for bb_device.workarounds_off.
 * A driver whose version has no number needs those of all versions. */
uint32_t cg_workarounds_off(const char *platform, const char *driver);

/* ---- targets ---- */

struct cg_target {
    const struct cg_dialect *dialect;
    uint32_t workarounds_off; /* bits 1 << enum cg_workaround; 0: an unknown driver, all are on */
    int64_t
        part_elements; /* of an array for parts of reductions at least, if the group has fewer work-items */
    bool half_bits;    /* half numbers are their bits */
    bool brief;        /* its compiler is slow, and is given short texts (roll.c, pointer.c) */
};

struct cg_target cg_target_of(const struct bb_device *device);
bool cg_needs(const struct cg_target *t, enum cg_workaround w);
bool cg_has_width(const struct cg_target *t, int64_t width); /* of vectors */
/* How the target writes a type: of half numbers, perhaps their bits. Of the dialect. */
const struct cg_type_text *cg_type_of(const struct cg_target *t, enum scalar_type type);

/* Appends the format with $1 to $9 replaced by args[0] to args[8]. */
void cg_fill(struct strbuf *out, const char *format, const char *const *args);

#endif
