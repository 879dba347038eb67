/* Buffers between guard zones: one large buffer, and a sub-buffer in its middle for the kernel. */
#include "agent/guarded.h"

#include <string.h>

cl_int guarded_new(cl_context context, size_t bytes, size_t unit, struct guarded *g)
{
    cl_int error;
    *g = (struct guarded){.bytes = bytes, .unit = unit};
    g->whole = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes + 2 * GUARDED_ZONE, NULL, &error);
    if (error) return error;
    cl_buffer_region region = {.origin = GUARDED_ZONE, .size = bytes};
    g->view = clCreateSubBuffer(g->whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    return error;
}

void guarded_free(struct guarded *g)
{
    if (g->view) clReleaseMemObject(g->view);
    if (g->whole) clReleaseMemObject(g->whole);
}

cl_int guarded_fill(cl_command_queue queue, struct guarded *g, const unsigned char fill[GUARDED_FILL])
{
    memcpy(g->fill, fill, GUARDED_FILL);
    return clEnqueueFillBuffer(queue, g->whole, g->fill, g->unit, 0, g->bytes + 2 * GUARDED_ZONE, 0, NULL,
                               NULL);
}

static bool zone_intact(cl_command_queue queue, const struct guarded *g, size_t offset,
                        unsigned char *scratch)
{
    if (clEnqueueReadBuffer(queue, g->whole, CL_TRUE, offset, GUARDED_ZONE, scratch, 0, NULL, NULL))
        return false;
    return memcmp(scratch, g->fill, g->unit) == 0 &&
           memcmp(scratch + g->unit, scratch, GUARDED_ZONE - g->unit) == 0;
}

bool guarded_intact(cl_command_queue queue, const struct guarded *g, unsigned char *scratch)
{
    return zone_intact(queue, g, 0, scratch) && zone_intact(queue, g, GUARDED_ZONE + g->bytes, scratch);
}
