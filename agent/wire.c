/* Structs <-> integers for messages: a device is {gpu, compute units, largest buffer, ...}. The order of the
 * integers is part of the protocol version. */
#include "agent/wire.h"

#include <msgpack.h>
#include <stdio.h>
#include <zmq.h>

#include "core/base/arena.h"
#include "core/codegen/target.h"
#include "core/space/space.h"

void wire_libraries(const struct device *dev, char out[WIRE_LIBRARIES])
{
    int major, minor, patch;
    zmq_version(&major, &minor, &patch);
    snprintf(out, WIRE_LIBRARIES, "%s, ZeroMQ %d.%d.%d, MessagePack %s", dev->version, major, minor, patch,
             msgpack_version());
}

/* Files of earlier versions have no target (OLD_DEVICE_INTS): all workarounds were on; they do not know of
 * the fence (TARGET_DEVICE_INTS), or of bits of half numbers and of matrix units (FENCE_DEVICE_INTS): no
 * space had a choice that needs it. */
enum {
    OLD_DEVICE_INTS = 19,
    TARGET_DEVICE_INTS = 21,
    FENCE_DEVICE_INTS = 22,
    DEVICE_INTS = 24,
    OPTION_INTS = 5,
    VECTOR_WIDTHS = 5
};

struct message_ints wire_device(const struct device *dev, struct arena *a)
{
    const struct bb_device *l = &dev->limits;
    int64_t head[] = {dev->gpu,
                      dev->compute_units,
                      dev->max_alloc_bytes,
                      dev->global_bytes,
                      l->gpu,
                      l->max_work_group,
                      l->max_work_item[0],
                      l->max_work_item[1],
                      l->max_work_item[2],
                      l->local_bytes,
                      0,
                      0, /* once guesses of the device, now parameters of the space */
                      l->nontemporal,
                      l->n_vector_widths};
    int64_t *items = ARENA_ARRAY(a, int64_t, DEVICE_INTS);
    unsigned n = 0;
    for (; n < sizeof head / sizeof head[0]; n++)
        items[n] = head[n];
    for (unsigned i = 0; i < VECTOR_WIDTHS; i++)
        items[n++] = l->vector_widths[i];
    items[n++] = l->dialect;
    items[n++] = l->workarounds_off;
    items[n++] = l->device_fence;
    items[n++] = l->half_bits;
    items[n++] = l->matrix;
    return (struct message_ints){items, n};
}

/* Powers of two up to 16, each larger than the one before. */
static bool widths_ascend(const struct bb_device *l)
{
    int64_t last = 1;
    for (unsigned i = 0; i < l->n_vector_widths; i++) {
        int64_t width = l->vector_widths[i];
        if (width <= last || width > 16 || (width & (width - 1))) return false;
        last = width;
    }
    return true;
}

/* Whether a device can have these numbers: groups that hold a work-item, memory, nothing that overflows where
 * sizes are multiplied. */
static bool is_plausible(const struct device *dev)
{
    const struct bb_device *l = &dev->limits;
    const int64_t most_bytes = INT64_C(1) << 50, most_items = 1 << 20;
    for (int i = 0; i < 3; i++)
        if (l->max_work_item[i] < 1 || l->max_work_item[i] > INT32_MAX) return false;
    return dev->compute_units >= 1 && dev->max_alloc_bytes >= 1 && dev->max_alloc_bytes <= most_bytes &&
           dev->global_bytes >= 1 && dev->global_bytes <= most_bytes && l->max_work_group >= 1 &&
           l->max_work_group <= most_items && l->local_bytes <= most_bytes && dev->gpu == l->gpu;
}

/* false: this version has no such dialect or workaround. */
static bool read_target(const int64_t *v, struct bb_device *l)
{
    if (v[0] >= CG_DIALECTS || v[1] >= INT64_C(1) << CG_WORKAROUND_COUNT) return false;
    l->dialect = (unsigned)v[0];
    l->workarounds_off = (uint32_t)v[1];
    return true;
}

bool wire_read_device(struct message_ints ints, struct device *dev)
{
    if (ints.n != DEVICE_INTS && ints.n != FENCE_DEVICE_INTS && ints.n != TARGET_DEVICE_INTS &&
        ints.n != OLD_DEVICE_INTS)
        return false;
    for (size_t i = 0; i < ints.n; i++)
        if (ints.items[i] < 0) return false;
    const int64_t *v = ints.items;
    const int64_t most = 1 << 20;
    if (v[1] > most || v[10] > most || v[11] > most || v[13] > VECTOR_WIDTHS) return false;
    dev->gpu = v[0] != 0;
    dev->compute_units = (unsigned)v[1];
    dev->max_alloc_bytes = v[2];
    dev->global_bytes = v[3];
    dev->limits = (struct bb_device){.gpu = v[4] != 0,
                                     .max_work_group = v[5],
                                     .max_work_item = {v[6], v[7], v[8]},
                                     .local_bytes = v[9],
                                     .nontemporal = v[12] != 0,
                                     .n_vector_widths = (unsigned)v[13]};
    for (unsigned i = 0; i < VECTOR_WIDTHS; i++)
        dev->limits.vector_widths[i] = v[14 + i];
    if (ints.n >= TARGET_DEVICE_INTS && !read_target(v + OLD_DEVICE_INTS, &dev->limits)) return false;
    if (ints.n >= FENCE_DEVICE_INTS) dev->limits.device_fence = v[TARGET_DEVICE_INTS] != 0;
    if (ints.n == DEVICE_INTS) {
        dev->limits.half_bits = v[FENCE_DEVICE_INTS] != 0;
        dev->limits.matrix = v[FENCE_DEVICE_INTS + 1] != 0;
    }
    return widths_ascend(&dev->limits) && is_plausible(dev);
}

struct message_ints wire_options(const struct bb_options *o, struct arena *a)
{
    int64_t v[OPTION_INTS + 2 * BB_MAX_PARAMETERS] = {o->parallel_levels, o->reduction_levels, o->copy_levels,
                                                      o->max_sizes, o->no_staging};
    unsigned n = OPTION_INTS;
    for (unsigned i = 0; i < o->n_parameters; i++) {
        v[n++] = o->parameters[i].number;
        v[n++] = o->parameters[i].value;
    }
    return (struct message_ints){arena_memdup(a, v, n * sizeof *v), n};
}

/* Pairs of a parameter's number and its value. */
static bool read_parameters(const int64_t *v, size_t n, struct bb_options *o)
{
    if (n % 2 || n > 2 * BB_MAX_PARAMETERS) return false;
    o->n_parameters = (unsigned)(n / 2);
    for (unsigned i = 0; i < o->n_parameters; i++) {
        int64_t number = v[2 * i];
        if (number < 0 || number > UINT32_MAX) return false;
        o->parameters[i] = (struct bb_parameter){(uint32_t)number, v[2 * i + 1]};
        if (!bb_parameter_valid(&o->parameters[i])) return false;
    }
    return true;
}

bool wire_read_options(struct message_ints ints, struct bb_options *o)
{
    if (ints.n < OPTION_INTS) return false;
    for (size_t i = 0; i < OPTION_INTS; i++)
        if (ints.items[i] < 0 || ints.items[i] > 1 << 20) return false;
    const int64_t *v = ints.items;
    if (v[0] > BB_MAX_LEVELS || v[1] > BB_MAX_LEVELS || v[2] > BB_MAX_LEVELS) return false;
    *o = (struct bb_options){.parallel_levels = (unsigned)v[0],
                             .reduction_levels = (unsigned)v[1],
                             .copy_levels = (unsigned)v[2],
                             .max_sizes = (unsigned)v[3],
                             .no_staging = v[4] != 0};
    return read_parameters(v + OPTION_INTS, ints.n - OPTION_INTS, o);
}

struct message_ints wire_actions(const struct space_action *actions, size_t n, struct arena *a)
{
    int64_t *items = ARENA_ARRAY(a, int64_t, 2 * n);
    for (size_t i = 0; i < n; i++) {
        items[2 * i] = actions[i].slot;
        items[2 * i + 1] = actions[i].value;
    }
    return (struct message_ints){items, 2 * n};
}

bool wire_read_actions(struct message_ints ints, struct arena *a, struct space_action **actions, unsigned *n)
{
    if (ints.n % 2) return false;
    *n = (unsigned)(ints.n / 2);
    *actions = ARENA_ARRAY(a, struct space_action, *n);
    for (size_t i = 0; i < ints.n; i++)
        if (ints.items[i] < 0 || ints.items[i] > UINT32_MAX) return false;
    for (unsigned i = 0; i < *n; i++)
        (*actions)[i] = (struct space_action){(uint32_t)ints.items[2 * i], (uint32_t)ints.items[2 * i + 1]};
    return true;
}
