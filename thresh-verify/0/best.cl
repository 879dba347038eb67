__kernel __attribute__((reqd_work_group_size(2, 4, 2)))
void thresh_kernel(__global const float *restrict X,
                   __global float *restrict mean,
                   __global float *restrict variance)
{
    __local float X_tile[16] __attribute__((aligned(128)));
    const int m0 = (int)((uint)get_group_id(1)); /* X.load.m.0 init.m.0 red.m.0 compute.m.0 mean.store.m.0 compute_2.m.0 variance.store.m.0 */
    const int m2 = (int)((uint)get_group_id(0)); /* X.load.m.2 init.m.2 red.m.2 compute.m.2 mean.store.m.2 compute_2.m.2 variance.store.m.2 */
    for (int m1 = 0; m1 < 2; ++m1) { /* X.load.m.1 init.m.1 red.m.1 compute.m.1 mean.store.m.1 compute_2.m.1 variance.store.m.1 */
        {
            float X_copy_load;
            const int X_copy_n0 = (int)((uint)get_local_id(2)); /* X.copy.load.n.0 X.copy.store.n.0 */
            {
                const int X_copy_n1 = (int)((uint)get_local_id(1)); /* X.copy.load.n.1 */
                {
                    const int X_copy_n2 = (int)((uint)get_local_id(0)); /* X.copy.load.n.2 */
                    X_copy_load = X[m0 * 64 + m1 * 32 + m2 * 16 + X_copy_n0 * 8 + X_copy_n1 * 2 + X_copy_n2];
                }
            }
            {
                const int X_copy_store_n1 = (int)((uint)get_local_id(1)); /* X.copy.store.n.1 */
                {
                    const int X_copy_store_n2 = (int)((uint)get_local_id(0)); /* X.copy.store.n.2 */
                    X_tile[X_copy_n0 * 8 + X_copy_store_n1 * 2 + X_copy_store_n2] = X_copy_load;
                }
            }
        }
        float red_a = 0.0f;
        float red_b = 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int n0 = 0; n0 < 16; ++n0) { /* X.load.n.0 red.n.0 */
            const float X_load = X_tile[n0];
            {
                const float next_a = (red_a + X_load);
                const float next_b = fma(X_load, X_load, red_b);
                red_a = next_a;
                red_b = next_b;
            }
        }
        const float compute = (red_a / 16.0f);
        if (get_local_id(0) == 0 && get_local_id(1) == 0 && get_local_id(2) == 0) __builtin_nontemporal_store(compute, &mean[m0 * 4 + m1 * 2 + m2]);
        const float compute_2v = ((red_b / 16.0f) - ((red_a / 16.0f) * (red_a / 16.0f)));
        if (get_local_id(0) == 0 && get_local_id(1) == 0 && get_local_id(2) == 0) variance[m0 * 4 + m1 * 2 + m2] = compute_2v;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
