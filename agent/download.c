/* Downloads: two parts in turn, on the runner's own queue, in order. A driver copies to ordinary memory by
 * way of a buffer of its own, at a fraction of the bus's rate; to memory that it has mapped it does not. */
#include "agent/download.h"

#include <string.h>

#include "core/base/arena.h"

/* NULL: the driver maps no memory. */
static void *map_memory(cl_context context, cl_command_queue queue, size_t bytes)
{
    cl_int error;
    cl_mem m = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &error);
    if (error) return NULL;
    void *p =
        clEnqueueMapBuffer(queue, m, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &error);
    if (!error && p) return p;
    clReleaseMemObject(m);
    return NULL;
}

/* The memory is taken now: its first use would look like growth (retire.h). */
void download_open(struct download *d, cl_context context, cl_command_queue queue, size_t bytes)
{
    d->queue = queue;
    d->part_bytes = bytes < DOWNLOAD_PART ? bytes : DOWNLOAD_PART;
    for (int i = 0; i < 2; i++) {
        d->parts[i] = map_memory(context, queue, d->part_bytes);
        if (!d->parts[i]) d->parts[i] = base_malloc(d->part_bytes);
        memset(d->parts[i], 0, d->part_bytes);
    }
}

static size_t part_at(const struct download *d, size_t at, size_t bytes)
{
    return bytes - at < d->part_bytes ? bytes - at : d->part_bytes;
}

static cl_int read_part(const struct download *d, cl_mem from, size_t at, size_t n, cl_event *event)
{
    unsigned char *to = d->parts[at / d->part_bytes % 2];
    cl_int error = clEnqueueReadBuffer(d->queue, from, CL_FALSE, at, n, to, 0, NULL, event);
    return error ? error : clFlush(d->queue);
}

static cl_int await(cl_event event)
{
    cl_int error = clWaitForEvents(1, &event);
    clReleaseEvent(event);
    return error;
}

cl_int download(const struct download *d, cl_mem from, size_t bytes,
                bool (*take)(void *ctx, const void *part, size_t n), void *ctx)
{
    cl_event event, next = NULL;
    cl_int error = read_part(d, from, 0, part_at(d, 0, bytes), &event);
    if (error) return error;
    for (size_t at = 0, n; at < bytes; at += n, event = next) {
        n = part_at(d, at, bytes);
        if ((error = await(event))) return error;
        bool more = at + n < bytes;
        if (more) error = read_part(d, from, at + n, part_at(d, at + n, bytes), &next);
        if (error) return error;
        if (take(ctx, d->parts[at / d->part_bytes % 2], n)) continue;
        return more ? await(next) : CL_SUCCESS;
    }
    return CL_SUCCESS;
}
