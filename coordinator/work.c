/* Counts operations and compulsory memory traffic; see work.h. */
#include "coordinator/work.h"

#include <math.h>
#include <stdlib.h>

#include "core/backbone/backbone.h"
#include "core/base/arena.h"

static double iterations(const struct backbone *bb, const struct bb_inst *inst)
{
    double n = 1;
    for (unsigned i = 0; i < inst->n_logicals; i++)
        n *= (double)bb->logicals[inst->logicals[i]].extent;
    return n;
}

static double operations(const struct bb_inst *inst)
{
    double n = 0;
    for (unsigned i = 0; i < inst->n_nodes; i++)
        if (inst->nodes[i].kind == BB_NODE_OP) n += inst->nodes[i].op == SCALAR_FMA ? 2 : 1;
    return n;
}

/* Bytes of the buffers; reads[b]: how many elements of buffer b are read. */
static double traffic(const struct backbone *bb, const double *reads)
{
    double bytes = 0;
    for (unsigned b = 0; b < bb->n_buffers; b++) {
        double elements = (double)bb->buffers[b].elements;
        double touched = fmin(elements, reads[b]) + (bb->buffers[b].output ? elements : 0);
        bytes += touched * scalar_type_bytes(bb->buffers[b].type);
    }
    return bytes;
}

static bool calculates(const struct bb_inst *inst)
{
    return inst->kind == BB_COMPUTE || inst->kind == BB_STEP || inst->kind == BB_INIT;
}

/* How often the naive implementation repeats each instruction; the caller frees it. */
static int64_t *naive_repeats(const struct backbone *bb)
{
    int64_t *repeats = base_calloc(bb->n_insts + 1, sizeof *repeats);
    bb_naive_repeated(bb, repeats);
    return repeats;
}

struct work work_of(const struct backbone *bb)
{
    struct work w = {0};
    double *reads = base_calloc(bb->n_buffers + 1, sizeof *reads);
    int64_t *repeats = naive_repeats(bb);
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        const struct bb_inst *inst = &bb->insts[i];
        double n = iterations(bb, inst);
        if (inst->kind == BB_LOAD) reads[inst->buffer] += n;
        if (calculates(inst) && repeats[i] > 0) w.operations += n * operations(inst);
    }
    w.bytes = traffic(bb, reads);
    free(repeats);
    free(reads);
    return w;
}

double work_naive_operations(const struct backbone *bb)
{
    double sum = 0;
    int64_t *repeats = naive_repeats(bb);
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        const struct bb_inst *inst = &bb->insts[i];
        if (calculates(inst)) sum += iterations(bb, inst) * operations(inst) * (double)repeats[i];
    }
    free(repeats);
    return sum;
}
