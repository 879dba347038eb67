/* What a kernel does, counted in its loop program: work-items, registers, steps, accesses to memory by their
 * cost. A program that is not run yet says much about its time: of two products of 1024 x 1024 x 1024
 *
 *     groups  items  registers  steps   loads   sectors  cycles of banks   measured on an H100
 *     128     512    352        25640   2.1 M   17 M     17 M              65 us
 *     1024    256    44         6145    17 M    143 M    0                 195 us
 *
 * Counts are estimates, not bounds: what compilers merge is counted as the text has it, and one bundle of
 * work-items stands for all of a kernel. */
#ifndef THRESH_CODEGEN_COUNTS_H
#define THRESH_CODEGEN_COUNTS_H

struct cg_program;

/* Of one launch, if not said otherwise. An X(id, what) each. */
#define CG_COUNTS(X)                                                                                         \
    X(GROUPS, "work-groups")                                                                                 \
    X(ITEMS, "work-items of a group")                                                                        \
    X(REGISTERS, "scalars that a work-item holds in registers")                                              \
    X(LOCAL_BYTES, "local memory of a group")                                                                \
    X(TEXT, "statements in the text")                                                                        \
    X(STEPS, "statements that a work-item executes")                                                         \
    X(ITERATIONS, "iterations of loops of a work-item")                                                      \
    X(BARRIERS, "barriers that a work-item meets")                                                           \
    X(OPERATIONS, "scalar operations")                                                                       \
    X(LOADS, "loads from global memory, by bundles of work-items")                                           \
    X(LOAD_SECTORS, "sectors of 32 bytes that they touch")                                                   \
    X(STORES, "stores to global memory, by bundles of work-items")                                           \
    X(STORE_SECTORS, "sectors that they touch")                                                              \
    X(LOCAL_ACCESSES, "loads and stores of local memory, by bundles of work-items")                          \
    X(LOCAL_CYCLES, "cycles in which banks of local memory serve them")                                      \
    X(TRAFFIC, "bytes of global memory that groups touch, each element once a group")                        \
    X(AHEAD, "loads of copies that run ahead, by bundles of work-items")

enum cg_count {
#define X(id, what) CG_COUNT_##id,
    CG_COUNTS(X)
#undef X
        CG_COUNT_COUNT
};

/* counts: [CG_COUNT_COUNT], all >= 0. */
void cg_count(const struct cg_program *p, double *counts);
/* What a count is, in words; static. */
const char *cg_count_text(enum cg_count count);

#endif
