__kernel void thresh_kernel(__global const float *restrict x,
                   __global float *restrict out)
{
    const int i00 = (int)((uint)get_global_id(0)); /* x.load.i0.0 store.i0.0 */
    for (int i10 = 0; i10 < 3; ++i10) { /* x.load.i1.0 store.i1.0 */
        const float x_load = x[i00 + i10];
        out[i00 * 3 + i10] = x_load;
    }
}
