/* Device buffers between guard zones: a kernel's stores outside its buffer show as changed bytes of a zone.
 * Zones and buffer are filled alike: with NaN, or 0xA5 for integers. */
#ifndef THRESH_AGENT_GUARDED_H
#define THRESH_AGENT_GUARDED_H

#include <CL/cl.h>
#include <stdbool.h>

enum { GUARDED_ZONE = 64 << 10 }; /* bytes of one zone */

/* `view` is what a kernel gets: `bytes` of `whole`, GUARDED_ZONE from its start. Zero is an empty one. */
struct guarded {
    cl_mem whole, view;
    size_t bytes;
    unsigned char fill;
};

/* Makes a buffer of `bytes`; the caller frees it, after an error too. */
cl_int guarded_new(cl_context context, size_t bytes, bool integer, struct guarded *g);
void guarded_free(struct guarded *g);
/* Enqueues the filling of buffer and zones. */
cl_int guarded_fill(cl_command_queue queue, const struct guarded *g);
/* Whether both zones hold what they were filled with. `scratch` has room for one; false where the device
 * cannot be read. */
bool guarded_intact(cl_command_queue queue, const struct guarded *g, unsigned char *scratch);

#endif
