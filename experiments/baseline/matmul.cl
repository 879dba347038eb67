/* A matrix product as it is taught: each work-group computes a tile of C of TILE x TILE elements, and stages tiles
 * of A and B in local memory. M, N and K are macros that thresh defines; they are multiples of TILE. */
#ifndef TILE
#define TILE 16
#endif

__kernel void matmul(__global const float *A, __global const float *B, __global float *C)
{
    __local float a[TILE][TILE], b[TILE][TILE];
    const int column = get_global_id(0), row = get_global_id(1);
    const int x = get_local_id(0), y = get_local_id(1);
    float sum = 0;
    for (int k = 0; k < K; k += TILE) {
        a[y][x] = A[row * K + k + x];
        b[y][x] = B[(k + y) * N + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < TILE; i++)
            sum += a[y][i] * b[i][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    C[row * N + column] = sum;
}
