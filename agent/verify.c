/* The task: arrays in shared memory, elements of every type, fills. An output that still has the bytes that
 * it was filled with was not written, whatever the reference is. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "agent/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/given.h"
#include "agent/verify_inputs.h"
#include "agent/verify_interpret.h"
#include "agent/verify_known.h"
#include "core/backbone/backbone.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/lift/lift.h"

_Static_assert((int)VERIFY_MOST_OUTPUTS == (int)LIFT_MAX_OUTPUTS, "a program has more outputs");

/* ---- fills ---- */

void verify_fill(enum scalar_type type, unsigned set, unsigned char pattern[VERIFY_FILL])
{
    static const uint16_t half = 0xff5a;
    static const uint32_t single = 0xffd5a5a5;
    static const uint64_t twice = 0xfffd5a5aa5a5d5a5;
    const void *from = type == SCALAR_HALF ? (const void *)&half : &single;
    size_t n = type == SCALAR_HALF ? sizeof half : sizeof single;
    if (type == SCALAR_DOUBLE) {
        from = &twice;
        n = sizeof twice;
    }
    for (size_t i = 0; i < VERIFY_FILL; i += n)
        memcpy(pattern + i, from, n);
    if (verify_integer(type)) memset(pattern, set % 2 ? 0x5a : 0xa5, VERIFY_FILL);
}

bool verify_unwritten(enum scalar_type type, const void *data, int64_t i)
{
    unsigned char pattern[VERIFY_FILL];
    size_t n = scalar_type_bytes(type);
    if (verify_integer(type)) return false;
    verify_fill(type, 0, pattern);
    return !memcmp((const unsigned char *)data + (size_t)i * n, pattern, n);
}

/* ---- the task ---- */

/* NULL: there is none. */
static void *shared_memory(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static bool allocate(struct verify_buffer *b, unsigned n_sets)
{
    for (unsigned set = 0; set < n_sets; set++) {
        bool given = verify_is_given(b, set);
        if (b->output) b->data[set] = shared_memory(b->bytes);
        if (verify_is_input(b))
            *(b->updated ? &b->before[set] : &b->data[set]) =
                given ? (void *)b->given : shared_memory(b->bytes);
        if (!b->data[set] || (b->updated && !b->before[set])) return false;
    }
    return true;
}

struct verify_task *verify_task_new(const struct verify_buffer *shape, unsigned n, unsigned n_sets,
                                    struct diag *d)
{
    struct verify_task *t = base_calloc(1, sizeof *t);
    t->n_buffers = n;
    t->n_sets = n_sets;
    t->buffers = base_calloc(n, sizeof *t->buffers);
    t->known = verify_known_new();
    for (unsigned i = 0; i < n; i++) {
        struct verify_buffer *b = &t->buffers[i];
        *b = (struct verify_buffer){.name = shape[i].name,
                                    .type = shape[i].type,
                                    .elements = shape[i].elements,
                                    .output = shape[i].output,
                                    .by_value = shape[i].by_value,
                                    .updated = shape[i].updated,
                                    .range = shape[i].range,
                                    .given = shape[i].given};
        b->bytes = (size_t)b->elements * scalar_type_bytes(b->type);
        if (allocate(b, n_sets)) continue;
        diag_plain(
            d,
            "not enough memory for %u arrays of %zu bytes, one for each set of inputs; choose smaller sizes",
            n_sets, b->bytes);
        verify_task_free(t);
        return NULL;
    }
    return t;
}

/* Draws in the domain where the fewest outputs of a sample are not finite; in the first such one. */
static enum verify_domain draw_finite(struct verify_task *t, uint64_t seed)
{
    enum verify_domain best = VERIFY_SIGNED, drawn = best;
    int64_t least = INT64_MAX;
    for (enum verify_domain x = best; x < VERIFY_DOMAINS && least > 0; x++) {
        verify_draw(t, drawn = x, seed);
        int64_t n = verify_sample_not_finite(t, seed);
        if (n >= least) continue;
        least = n;
        best = x;
    }
    if (best != drawn) verify_draw(t, best, seed);
    return best;
}

/* Where exact sums of the drawn numbers would be too large for their type, those of 1 and -1 may be not. */
static void draw_units(struct verify_task *t, enum verify_domain domain, uint64_t seed)
{
    if (verify_sums_fit(t)) return;
    t->units = true;
    verify_draw(t, domain, seed);
    if (verify_sums_fit(t)) return;
    t->units = false;
    verify_draw(t, domain, seed);
}

/* The arrays of a program as buffers. */
static struct verify_task *task_of_arrays(const struct lift_program *p, bool rounds_factors,
                                          const struct given *data, unsigned n_sets, struct diag *d)
{
    struct verify_buffer *shape = base_calloc(p->n_arrays, sizeof *shape);
    for (unsigned i = 0; i < p->n_arrays; i++) {
        const struct lift_array *array = &p->arrays[i];
        bool input = array->input != LIFT_NONE, output = array->output != LIFT_NONE;
        shape[i] = (struct verify_buffer){.name = array->name,
                                          .elements = lift_type_scalars(array->type),
                                          .output = output,
                                          .by_value = !output && array->type->kind == LIFT_SCALAR,
                                          .updated = input && output};
        lift_type_bottom(array->type, &shape[i].type);
        if (!input) continue;
        shape[i].range = p->inputs[array->input]->range;
        shape[i].given = given_input(data, i);
    }
    struct verify_task *t = verify_task_new(shape, p->n_arrays, n_sets, d);
    free(shape);
    if (!t) return NULL;
    t->program = p;
    t->rounds_factors = rounds_factors;
    return t;
}

struct verify_task *verify_task_of(const struct backbone *bb, bool rounds_factors, const struct given *data,
                                   uint64_t seed, struct diag *d)
{
    struct verify_task *t = task_of_arrays(bb->program, rounds_factors, data, verify_sets(bb), d);
    if (!t) return NULL;
    enum verify_domain domain = draw_finite(t, seed);
    draw_units(t, domain, seed);
    if (t->n_sets > VERIFY_EXTREME) verify_draw_extremes(t, bb, domain, seed);
    return t;
}

struct verify_task *verify_task_of_program(const struct lift_program *p, bool rounds_factors,
                                           const struct given *data, uint64_t seed, struct diag *d)
{
    struct verify_task *t = task_of_arrays(p, rounds_factors, data, VERIFY_EXTREME, d);
    if (t) draw_units(t, draw_finite(t, seed), seed);
    return t;
}

static void protect(void *array, size_t bytes, bool writable)
{
    if (array) mprotect(array, bytes, PROT_READ | (writable ? PROT_WRITE : 0));
}

void verify_protect(const struct verify_task *t, bool reference)
{
    for (unsigned i = 0; i < t->n_buffers; i++)
        for (unsigned set = 0; set < t->n_sets; set++) {
            const struct verify_buffer *b = &t->buffers[i];
            protect(b->data[set], b->bytes, reference && b->output);
            protect(b->before[set], b->bytes, false);
        }
}

/* The user's data are borrowed. */
static void release(const struct verify_buffer *b, unsigned set)
{
    bool given = verify_is_given(b, set);
    if (b->data[set] && (b->output || !given)) munmap(b->data[set], b->bytes);
    if (b->before[set] && !given) munmap(b->before[set], b->bytes);
}

void verify_task_free(struct verify_task *t)
{
    if (!t) return;
    for (unsigned i = 0; i < t->n_buffers; i++)
        for (unsigned set = 0; set < t->n_sets; set++)
            release(&t->buffers[i], set);
    verify_known_free(t->known);
    free(t->buffers);
    free(t);
}

unsigned verify_outputs(const struct verify_task *t)
{
    unsigned n = 0;
    for (unsigned b = 0; b < t->n_buffers; b++)
        n += t->buffers[b].output;
    return n;
}

unsigned verify_output(const struct verify_task *t, unsigned output)
{
    unsigned b = 0;
    while (!t->buffers[b].output || output-- > 0)
        b++;
    return b;
}
