/* Buffers between guard zones: a large buffer and a sub-buffer in its middle. */
#include "agent/guarded.h"

cl_int guarded_new(cl_context context, size_t bytes, bool integer, struct guarded *g)
{
    cl_int error;
    *g = (struct guarded){.bytes = bytes, .fill = integer ? 0xA5 : 0xFF};
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

cl_int guarded_fill(cl_command_queue queue, const struct guarded *g)
{
    return clEnqueueFillBuffer(queue, g->whole, &g->fill, 1, 0, g->bytes + 2 * GUARDED_ZONE, 0, NULL, NULL);
}

static bool zone_intact(cl_command_queue queue, const struct guarded *g, size_t offset,
                        unsigned char *scratch)
{
    if (clEnqueueReadBuffer(queue, g->whole, CL_TRUE, offset, GUARDED_ZONE, scratch, 0, NULL, NULL))
        return false;
    for (size_t i = 0; i < GUARDED_ZONE; i++)
        if (scratch[i] != g->fill) return false;
    return true;
}

bool guarded_intact(cl_command_queue queue, const struct guarded *g, unsigned char *scratch)
{
    return zone_intact(queue, g, 0, scratch) && zone_intact(queue, g, GUARDED_ZONE + g->bytes, scratch);
}
