/* The types and the sizes of a problem's arrays against those of a device. */
#include "agent/fits.h"

#include <inttypes.h>

#include "agent/runner.h"

static struct source_pos place_of(const struct problem *p, const struct bb_buffer *b)
{
    return b->output ? p->program->output->at : p->program->inputs[b->input]->at;
}

static bool has_types(const struct problem *p, const struct device *dev, struct diag *d)
{
    const bool lacks[SCALAR_TYPE_COUNT] = {[SCALAR_DOUBLE] = dev->no_double, [SCALAR_HALF] = dev->no_half};
    for (unsigned i = 0; i < p->backbone->n_buffers; i++) {
        const struct bb_buffer *b = &p->backbone->buffers[i];
        if (!lacks[b->type]) continue;
        diag_error(d, place_of(p, b),
                   "'%s' is %s, which %s does not support (no %s); declare it as float, or choose another "
                   "device with --device",
                   b->name, scalar_type_name(b->type), dev->name,
                   b->type == SCALAR_DOUBLE ? "cl_khr_fp64" : "cl_khr_fp16");
        return false;
    }
    return true;
}

static bool has_memory(const struct problem *p, const struct device *dev, struct diag *d)
{
    int64_t left = dev->global_bytes;
    unsigned sets = verify_sets(p->backbone);
    for (unsigned i = 0; i < p->backbone->n_buffers; i++) {
        const struct bb_buffer *b = &p->backbone->buffers[i];
        int64_t bytes = b->elements * (int64_t)scalar_type_bytes(b->type);
        int64_t held = runner_bytes(bytes, b->output, sets), one = b->output ? held : bytes;
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
