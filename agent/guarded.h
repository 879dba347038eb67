/* Device buffers between guard zones: a kernel's stores outside its buffer show as changed bytes of a zone.
 *
 *     whole:  | zone 64 KiB | view: what the kernel gets | zone 64 KiB |
 *
 * Zones and buffer are filled with the same bytes before a run. */
#ifndef THRESH_AGENT_GUARDED_H
#define THRESH_AGENT_GUARDED_H

#include <CL/cl.h>
#include <stdbool.h>

enum { GUARDED_ZONE = 64 << 10, GUARDED_FILL = 8 }; /* bytes of one zone, of the longest fill */

/* `view` is what a kernel gets: `bytes` of `whole`, GUARDED_ZONE from its start. Zero is an empty one. */
struct guarded {
    cl_mem whole, view;
    size_t bytes;
    size_t unit; /* bytes of an element; a power of 2 up to GUARDED_FILL */
    unsigned char fill[GUARDED_FILL];
};

/* Makes a buffer of `bytes`, a multiple of `unit`; the caller frees it, after an error too. */
cl_int guarded_new(cl_context context, size_t bytes, size_t unit, struct guarded *g);
void guarded_free(struct guarded *g);
/* Enqueues the filling of buffer and zones with the first `unit` bytes of `fill`, again and again. */
cl_int guarded_fill(cl_command_queue queue, struct guarded *g, const unsigned char fill[GUARDED_FILL]);
/* Whether both zones hold what they were filled with. `scratch` has room for one; false where the device
 * cannot be read. */
bool guarded_intact(cl_command_queue queue, const struct guarded *g, unsigned char *scratch);

#endif
