/* The types and the sizes of a problem's arrays against those of a device. */
#include "agent/fits.h"

#include <inttypes.h>

#include "agent/runner.h"

/* The first array of a type; the output where only intermediate results are. */
static unsigned buffer_of(const struct backbone *bb, enum scalar_type t)
{
    for (unsigned i = 0; i < bb->n_buffers; i++)
        if (bb->buffers[i].type == t) return i;
    return bb->n_buffers - 1;
}

static struct source_pos place_of(const struct problem *p, const struct bb_buffer *b)
{
    return p->program->arrays[b - p->backbone->buffers].at;
}

static bool has_types(const struct problem *p, const struct device *dev, struct diag *d)
{
    const struct bb_buffer *b = &p->backbone->buffers[buffer_of(p->backbone, SCALAR_DOUBLE)];
    if (!dev->no_double || !bb_uses_type(p->backbone, SCALAR_DOUBLE)) return true;
    diag_error(d, place_of(p, b),
               "%s%s' is double, which %s does not support (no cl_khr_fp64); declare it as float, or choose "
               "another device with --device",
               b->type == SCALAR_DOUBLE ? "'" : "an intermediate result of '", b->name, dev->name);
    return false;
}

static bool has_memory(const struct problem *p, const struct device *dev, struct diag *d)
{
    int64_t left = dev->global_bytes;
    unsigned sets = verify_sets(p->backbone);
    for (unsigned i = 0; i < p->backbone->n_buffers; i++) {
        const struct bb_buffer *b = &p->backbone->buffers[i];
        int64_t bytes = b->elements * (int64_t)scalar_type_bytes(b->type);
        int64_t held = runner_bytes(bytes, !b->output || b->updated, b->output, sets);
        int64_t one = b->output ? runner_bytes(bytes, false, true, sets) : bytes;
        if (one <= dev->max_alloc_bytes && held <= left) {
            left -= held;
            continue;
        }
        diag_error(d, place_of(p, b),
                   "'%s' takes %" PRId64 " bytes, %" PRId64 " in a runner, but %s has room for %" PRId64
                   " (%" PRId64 " in all, %" PRId64 " in one array); choose smaller sizes",
                   b->name, bytes, held, dev->name, one <= dev->max_alloc_bytes ? left : dev->max_alloc_bytes,
                   dev->global_bytes, dev->max_alloc_bytes);
        return false;
    }
    return true;
}

bool fits_device(const struct problem *p, const struct device *dev, struct diag *d)
{
    return has_types(p, dev, d) && has_memory(p, dev, d);
}
