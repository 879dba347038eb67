/* Where the dimensions of a tile are in the hardware, as one number: the values of the choice `seat` of
 * gpu.space.
 *
 *     seat = axis + GPU_SEAT_STEP * place; 0: the dimensions are sequential
 *
 * The axis is a code of map_encoding. Tiles that share an axis are a run, and the place of one is how many
 * tiles of the run are around it. An example: tiles m.1 of 8 and n.1 of 4 share the first local axis,
 *
 *     seat(m.1) = LCL0 = 10    seat(n.1) = LCL0 + 100 = 110
 *     get_local_id(0) = 4 * (index in m.1) + (index in n.1) */
#ifndef THRESH_BACKBONE_SEAT_H
#define THRESH_BACKBONE_SEAT_H

#include "gpu.space.h"

enum { BB_AXES = 3 }; /* of work-items of a group, of groups, of global work-items */

_Static_assert((int)GPU_LOCAL_AXES == (int)GPU_MAP_ENCODING_LCL0, "gpu.space: local_axes is not LCL0");
_Static_assert((int)GPU_GROUP_AXES == (int)GPU_MAP_ENCODING_WRG0, "gpu.space: group_axes is not WRG0");
_Static_assert((int)GPU_GLOBAL_AXES == (int)GPU_MAP_ENCODING_GLB0, "gpu.space: global_axes is not GLB0");
_Static_assert((int)GPU_MAP_ENCODING_LCL2 == (int)GPU_MAP_ENCODING_LCL0 + BB_AXES - 1 &&
                   (int)GPU_MAP_ENCODING_WRG2 == (int)GPU_MAP_ENCODING_WRG0 + BB_AXES - 1 &&
                   (int)GPU_MAP_ENCODING_GLB2 == (int)GPU_MAP_ENCODING_GLB0 + BB_AXES - 1,
               "gpu.space: the axes of a level are not numbered one after the other");
_Static_assert(GPU_LOCAL_AXES + BB_AXES <= GPU_GROUP_AXES && GPU_GLOBAL_AXES + BB_AXES <= GPU_SEAT_STEP,
               "gpu.space: codes of two levels overlap");

/* `axis` is a code of map_encoding. */
static inline int64_t bb_seat(int64_t axis, int64_t place)
{
    return axis + GPU_SEAT_STEP * place;
}

/* The code of map_encoding of the run's axis; GPU_MAP_ENCODING_SEQ: sequential. */
static inline int64_t bb_seat_axis(int64_t seat)
{
    return seat % GPU_SEAT_STEP;
}

/* How many tiles of the run are around it. */
static inline int64_t bb_seat_place(int64_t seat)
{
    return seat / GPU_SEAT_STEP;
}

/* Which of the BB_AXES axes from `first` on (GPU_MAP_ENCODING_LCL0, WRG0 or GLB0) it is on; -1: none. */
static inline int bb_seat_on(int64_t seat, enum gpu_map_encoding first)
{
    int64_t axis = bb_seat_axis(seat) - (int64_t)first;
    return axis >= 0 && axis < BB_AXES ? (int)axis : -1;
}

#endif
