/* The values of gpu.space's choices by the names of this folder. Their codes are written once, in
 * spacedsl/spaces/gpu.space, of which spacec makes gpu.space.h. */
#ifndef THRESH_BACKBONE_CODES_H
#define THRESH_BACKBONE_CODES_H

#include "gpu.space.h"

/* order(a, b) = INNER: a is inside b. */
enum bb_order {
    BB_BEFORE = GPU_ORDER_BEFORE,
    BB_AFTER = GPU_ORDER_AFTER,
    BB_INNER = GPU_ORDER_INNER,
    BB_OUTER = GPU_ORDER_OUTER,
    BB_MERGED = GPU_ORDER_MERGED
};
enum bb_dim_kind {
    BB_LOOP = GPU_DIM_KIND_LOOP,
    BB_UNROLL = GPU_DIM_KIND_UNROLL,
    BB_VECTOR = GPU_DIM_KIND_VECTOR,
    BB_THREAD = GPU_DIM_KIND_THREAD,
    BB_BLOCK = GPU_DIM_KIND_BLOCK,
    BB_GLOBAL = GPU_DIM_KIND_GLOBAL
};
/* map_encoding; LCL, WRG and GLB are followed by the axis 0..2: BB_LCL + 1 is LCL1. */
enum {
    BB_SEQ = GPU_MAP_ENCODING_SEQ,
    BB_FUSED = GPU_MAP_ENCODING_FUSED,
    BB_LCL = GPU_MAP_ENCODING_LCL0,
    BB_WRG = GPU_MAP_ENCODING_WRG0,
    BB_GLB = GPU_MAP_ENCODING_GLB0
};
enum bb_mem_space {
    BB_MEM_GLOBAL = GPU_MEM_SPACE_GLOBAL,
    BB_MEM_LOCAL = GPU_MEM_SPACE_LOCAL,
    BB_MEM_PRIVATE = GPU_MEM_SPACE_PRIVATE
};
enum bb_cache {
    BB_CACHE_DEFAULT = GPU_CACHE_DEFAULT,
    BB_CACHE_READ_ONLY = GPU_CACHE_READ_ONLY,
    BB_CACHE_STREAMING = GPU_CACHE_STREAMING,
    BB_CACHE_NONE = GPU_CACHE_NONE
};

#endif
