/* Arrays of the device, read part by part into memory that the device can write to by itself. While one part
 * is looked at, the next one is on its way; a part that was just read is still in the processor's caches:
 *
 *     device   | part 0 | part 1 | part 2 | part 3 |
 *     read           ----1----  ----2----  ----3----
 *     looked at      ----0----  ----1----  ----2----  ----3---- */
#ifndef THRESH_AGENT_DOWNLOAD_H
#define THRESH_AGENT_DOWNLOAD_H

#include <CL/cl.h>
#include <stdbool.h>

enum { DOWNLOAD_PART = 4 << 20 }; /* bytes, a multiple of every element's size */

struct download {
    cl_command_queue queue;
    size_t part_bytes;
    unsigned char *parts[2]; /* mapped, or malloc'd where the driver maps none */
};

/* Makes room for parts of an array of `bytes`; it is kept for the life of the process. */
void download_open(struct download *d, cl_context context, cl_command_queue queue, size_t bytes);
/* Calls take(ctx, part, n) for each part of the first `bytes` of `from`, in order, until one call gives
 * false. Returns after all reads have ended. */
cl_int download(const struct download *d, cl_mem from, size_t bytes,
                bool (*take)(void *ctx, const void *part, size_t n), void *ctx);

#endif
