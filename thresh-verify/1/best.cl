__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void thresh_kernel(__global const float *restrict X,
                   __global float *restrict mean,
                   __global float *restrict variance)
{
    const float2 X_load_0_0_0 = *(const __global float2 *)&X[0];
    const float2 X_load_0_0_1 = *(const __global float2 *)&X[2];
    const float2 X_load_1_0_0 = *(const __global float2 *)&X[16];
    const float2 X_load_1_0_1 = *(const __global float2 *)&X[18];
    const float2 X_load_2_0_0 = *(const __global float2 *)&X[32];
    const float2 X_load_2_0_1 = *(const __global float2 *)&X[34];
    const float2 X_load_3_0_0 = *(const __global float2 *)&X[48];
    const float2 X_load_3_0_1 = *(const __global float2 *)&X[50];
    const float2 X_load_4_0_0 = *(const __global float2 *)&X[64];
    const float2 X_load_4_0_1 = *(const __global float2 *)&X[66];
    const float2 X_load_5_0_0 = *(const __global float2 *)&X[80];
    const float2 X_load_5_0_1 = *(const __global float2 *)&X[82];
    const float2 X_load_6_0_0 = *(const __global float2 *)&X[96];
    const float2 X_load_6_0_1 = *(const __global float2 *)&X[98];
    const float2 X_load_7_0_0 = *(const __global float2 *)&X[112];
    const float2 X_load_7_0_1 = *(const __global float2 *)&X[114];
    const float2 X_load_0_1_0 = *(const __global float2 *)&X[4];
    const float2 X_load_0_1_1 = *(const __global float2 *)&X[6];
    const float2 X_load_1_1_0 = *(const __global float2 *)&X[20];
    const float2 X_load_1_1_1 = *(const __global float2 *)&X[22];
    const float2 X_load_2_1_0 = *(const __global float2 *)&X[36];
    const float2 X_load_2_1_1 = *(const __global float2 *)&X[38];
    const float2 X_load_3_1_0 = *(const __global float2 *)&X[52];
    const float2 X_load_3_1_1 = *(const __global float2 *)&X[54];
    const float2 X_load_4_1_0 = *(const __global float2 *)&X[68];
    const float2 X_load_4_1_1 = *(const __global float2 *)&X[70];
    const float2 X_load_5_1_0 = *(const __global float2 *)&X[84];
    const float2 X_load_5_1_1 = *(const __global float2 *)&X[86];
    const float2 X_load_6_1_0 = *(const __global float2 *)&X[100];
    const float2 X_load_6_1_1 = *(const __global float2 *)&X[102];
    const float2 X_load_7_1_0 = *(const __global float2 *)&X[116];
    const float2 X_load_7_1_1 = *(const __global float2 *)&X[118];
    const float2 X_load_0_2_0 = *(const __global float2 *)&X[8];
    const float2 X_load_0_2_1 = *(const __global float2 *)&X[10];
    const float2 X_load_1_2_0 = *(const __global float2 *)&X[24];
    const float2 X_load_1_2_1 = *(const __global float2 *)&X[26];
    const float2 X_load_2_2_0 = *(const __global float2 *)&X[40];
    const float2 X_load_2_2_1 = *(const __global float2 *)&X[42];
    const float2 X_load_3_2_0 = *(const __global float2 *)&X[56];
    const float2 X_load_3_2_1 = *(const __global float2 *)&X[58];
    const float2 X_load_4_2_0 = *(const __global float2 *)&X[72];
    const float2 X_load_4_2_1 = *(const __global float2 *)&X[74];
    const float2 X_load_5_2_0 = *(const __global float2 *)&X[88];
    const float2 X_load_5_2_1 = *(const __global float2 *)&X[90];
    const float2 X_load_6_2_0 = *(const __global float2 *)&X[104];
    const float2 X_load_6_2_1 = *(const __global float2 *)&X[106];
    const float2 X_load_7_2_0 = *(const __global float2 *)&X[120];
    const float2 X_load_7_2_1 = *(const __global float2 *)&X[122];
    const float2 X_load_0_3_0 = *(const __global float2 *)&X[12];
    const float2 X_load_0_3_1 = *(const __global float2 *)&X[14];
    const float2 X_load_1_3_0 = *(const __global float2 *)&X[28];
    const float2 X_load_1_3_1 = *(const __global float2 *)&X[30];
    const float2 X_load_2_3_0 = *(const __global float2 *)&X[44];
    const float2 X_load_2_3_1 = *(const __global float2 *)&X[46];
    const float2 X_load_3_3_0 = *(const __global float2 *)&X[60];
    const float2 X_load_3_3_1 = *(const __global float2 *)&X[62];
    const float2 X_load_4_3_0 = *(const __global float2 *)&X[76];
    const float2 X_load_4_3_1 = *(const __global float2 *)&X[78];
    const float2 X_load_5_3_0 = *(const __global float2 *)&X[92];
    const float2 X_load_5_3_1 = *(const __global float2 *)&X[94];
    const float2 X_load_6_3_0 = *(const __global float2 *)&X[108];
    const float2 X_load_6_3_1 = *(const __global float2 *)&X[110];
    const float2 X_load_7_3_0 = *(const __global float2 *)&X[124];
    const float2 X_load_7_3_1 = *(const __global float2 *)&X[126];
    float red_a_0 = 0.0f;
    float red_b_0 = 0.0f;
    {
        const float next_a = (red_a_0 + X_load_0_0_0.s0);
        const float next_b = fma(X_load_0_0_0.s0, X_load_0_0_0.s0, red_b_0);
        red_a_0 = next_a;
        red_b_0 = next_b;
    }
    {
        const float next_a = (red_a_0 + X_load_0_0_1.s0);
        const float next_b = fma(X_load_0_0_1.s0, X_load_0_0_1.s0, red_b_0);
        red_a_0 = next_a;
        red_b_0 = next_b;
    }
    {
        const float next_a = (red_a_0 + X_load_0_1_0.s0);
        const float next_b = fma(X_load_0_1_0.s0, X_load_0_1_0.s0, red_b_0);
        red_a_0 = next_a;
        red_b_0 = next_b;
    }
    {
        const float next_a = (red_a_0 + X_load_0_1_1.s0);
        const float next_b = fma(X_load_0_1_1.s0, X_load_0_1_1.s0, red_b_0);
        red_a_0 = next_a;
        red_b_0 = next_b;
    }
    {
        const float next_a = (red_a_0 + X_load_0_2_0.s0);
        const float next_b = fma(X_load_0_2_0.s0, X_load_0_2_0.s0, red_b_0);
        red_a_0 = next_a;
        red_b_0 = next_b;
    }
    {
        const float next_a = (red_a_0 + X_load_0_2_1.s0);
        const float next_b = fma(X_load_0_2_1.s0, X_load_0_2_1.s0, red_b_0);
        red_a_0 = next_a;
        red_b_0 = next_b;
    }
    {
        const float next_a = (red_a_0 + X_load_0_3_0.s0);
        const float next_b = fma(X_load_0_3_0.s0, X_load_0_3_0.s0, red_b_0);
        red_a_0 = next_a;
        red_b_0 = next_b;
    }
    {
        const float next_a = (red_a_0 + X_load_0_3_1.s0);
        const float next_b = fma(X_load_0_3_1.s0, X_load_0_3_1.s0, red_b_0);
        red_a_0 = next_a;
        red_b_0 = next_b;
    }
    {
        const float next_a = (red_a_0 + X_load_0_0_0.s1);
        const float next_b = fma(X_load_0_0_0.s1, X_load_0_0_0.s1, red_b_0);
        red_a_0 = next_a;
        red_b_0 = next_b;
    }
    {
        const float next_a = (red_a_0 + X_load_0_0_1.s1);
        const float next_b = fma(X_load_0_0_1.s1, X_load_0_0_1.s1, red_b_0);
        red_a_0 = next_a;
        red_b_0 = next_b;
    }
    {
        const float next_a = (red_a_0 + X_load_0_1_0.s1);
        const float next_b = fma(X_load_0_1_0.s1, X_load_0_1_0.s1, red_b_0);
        red_a_0 = next_a;
        red_b_0 = next_b;
    }
    {
        const float next_a = (red_a_0 + X_load_0_1_1.s1);
        const float next_b = fma(X_load_0_1_1.s1, X_load_0_1_1.s1, red_b_0);
        red_a_0 = next_a;
        red_b_0 = next_b;
    }
    {
        const float next_a = (red_a_0 + X_load_0_2_0.s1);
        const float next_b = fma(X_load_0_2_0.s1, X_load_0_2_0.s1, red_b_0);
        red_a_0 = next_a;
        red_b_0 = next_b;
    }
    {
        const float next_a = (red_a_0 + X_load_0_2_1.s1);
        const float next_b = fma(X_load_0_2_1.s1, X_load_0_2_1.s1, red_b_0);
        red_a_0 = next_a;
        red_b_0 = next_b;
    }
    {
        const float next_a = (red_a_0 + X_load_0_3_0.s1);
        const float next_b = fma(X_load_0_3_0.s1, X_load_0_3_0.s1, red_b_0);
        red_a_0 = next_a;
        red_b_0 = next_b;
    }
    {
        const float next_a = (red_a_0 + X_load_0_3_1.s1);
        const float next_b = fma(X_load_0_3_1.s1, X_load_0_3_1.s1, red_b_0);
        red_a_0 = next_a;
        red_b_0 = next_b;
    }
    float red_a_1 = 0.0f;
    float red_b_1 = 0.0f;
    {
        const float next_a = (red_a_1 + X_load_1_0_0.s0);
        const float next_b = fma(X_load_1_0_0.s0, X_load_1_0_0.s0, red_b_1);
        red_a_1 = next_a;
        red_b_1 = next_b;
    }
    {
        const float next_a = (red_a_1 + X_load_1_0_1.s0);
        const float next_b = fma(X_load_1_0_1.s0, X_load_1_0_1.s0, red_b_1);
        red_a_1 = next_a;
        red_b_1 = next_b;
    }
    {
        const float next_a = (red_a_1 + X_load_1_1_0.s0);
        const float next_b = fma(X_load_1_1_0.s0, X_load_1_1_0.s0, red_b_1);
        red_a_1 = next_a;
        red_b_1 = next_b;
    }
    {
        const float next_a = (red_a_1 + X_load_1_1_1.s0);
        const float next_b = fma(X_load_1_1_1.s0, X_load_1_1_1.s0, red_b_1);
        red_a_1 = next_a;
        red_b_1 = next_b;
    }
    {
        const float next_a = (red_a_1 + X_load_1_2_0.s0);
        const float next_b = fma(X_load_1_2_0.s0, X_load_1_2_0.s0, red_b_1);
        red_a_1 = next_a;
        red_b_1 = next_b;
    }
    {
        const float next_a = (red_a_1 + X_load_1_2_1.s0);
        const float next_b = fma(X_load_1_2_1.s0, X_load_1_2_1.s0, red_b_1);
        red_a_1 = next_a;
        red_b_1 = next_b;
    }
    {
        const float next_a = (red_a_1 + X_load_1_3_0.s0);
        const float next_b = fma(X_load_1_3_0.s0, X_load_1_3_0.s0, red_b_1);
        red_a_1 = next_a;
        red_b_1 = next_b;
    }
    {
        const float next_a = (red_a_1 + X_load_1_3_1.s0);
        const float next_b = fma(X_load_1_3_1.s0, X_load_1_3_1.s0, red_b_1);
        red_a_1 = next_a;
        red_b_1 = next_b;
    }
    {
        const float next_a = (red_a_1 + X_load_1_0_0.s1);
        const float next_b = fma(X_load_1_0_0.s1, X_load_1_0_0.s1, red_b_1);
        red_a_1 = next_a;
        red_b_1 = next_b;
    }
    {
        const float next_a = (red_a_1 + X_load_1_0_1.s1);
        const float next_b = fma(X_load_1_0_1.s1, X_load_1_0_1.s1, red_b_1);
        red_a_1 = next_a;
        red_b_1 = next_b;
    }
    {
        const float next_a = (red_a_1 + X_load_1_1_0.s1);
        const float next_b = fma(X_load_1_1_0.s1, X_load_1_1_0.s1, red_b_1);
        red_a_1 = next_a;
        red_b_1 = next_b;
    }
    {
        const float next_a = (red_a_1 + X_load_1_1_1.s1);
        const float next_b = fma(X_load_1_1_1.s1, X_load_1_1_1.s1, red_b_1);
        red_a_1 = next_a;
        red_b_1 = next_b;
    }
    {
        const float next_a = (red_a_1 + X_load_1_2_0.s1);
        const float next_b = fma(X_load_1_2_0.s1, X_load_1_2_0.s1, red_b_1);
        red_a_1 = next_a;
        red_b_1 = next_b;
    }
    {
        const float next_a = (red_a_1 + X_load_1_2_1.s1);
        const float next_b = fma(X_load_1_2_1.s1, X_load_1_2_1.s1, red_b_1);
        red_a_1 = next_a;
        red_b_1 = next_b;
    }
    {
        const float next_a = (red_a_1 + X_load_1_3_0.s1);
        const float next_b = fma(X_load_1_3_0.s1, X_load_1_3_0.s1, red_b_1);
        red_a_1 = next_a;
        red_b_1 = next_b;
    }
    {
        const float next_a = (red_a_1 + X_load_1_3_1.s1);
        const float next_b = fma(X_load_1_3_1.s1, X_load_1_3_1.s1, red_b_1);
        red_a_1 = next_a;
        red_b_1 = next_b;
    }
    float red_a_2 = 0.0f;
    float red_b_2 = 0.0f;
    {
        const float next_a = (red_a_2 + X_load_2_0_0.s0);
        const float next_b = fma(X_load_2_0_0.s0, X_load_2_0_0.s0, red_b_2);
        red_a_2 = next_a;
        red_b_2 = next_b;
    }
    {
        const float next_a = (red_a_2 + X_load_2_0_1.s0);
        const float next_b = fma(X_load_2_0_1.s0, X_load_2_0_1.s0, red_b_2);
        red_a_2 = next_a;
        red_b_2 = next_b;
    }
    {
        const float next_a = (red_a_2 + X_load_2_1_0.s0);
        const float next_b = fma(X_load_2_1_0.s0, X_load_2_1_0.s0, red_b_2);
        red_a_2 = next_a;
        red_b_2 = next_b;
    }
    {
        const float next_a = (red_a_2 + X_load_2_1_1.s0);
        const float next_b = fma(X_load_2_1_1.s0, X_load_2_1_1.s0, red_b_2);
        red_a_2 = next_a;
        red_b_2 = next_b;
    }
    {
        const float next_a = (red_a_2 + X_load_2_2_0.s0);
        const float next_b = fma(X_load_2_2_0.s0, X_load_2_2_0.s0, red_b_2);
        red_a_2 = next_a;
        red_b_2 = next_b;
    }
    {
        const float next_a = (red_a_2 + X_load_2_2_1.s0);
        const float next_b = fma(X_load_2_2_1.s0, X_load_2_2_1.s0, red_b_2);
        red_a_2 = next_a;
        red_b_2 = next_b;
    }
    {
        const float next_a = (red_a_2 + X_load_2_3_0.s0);
        const float next_b = fma(X_load_2_3_0.s0, X_load_2_3_0.s0, red_b_2);
        red_a_2 = next_a;
        red_b_2 = next_b;
    }
    {
        const float next_a = (red_a_2 + X_load_2_3_1.s0);
        const float next_b = fma(X_load_2_3_1.s0, X_load_2_3_1.s0, red_b_2);
        red_a_2 = next_a;
        red_b_2 = next_b;
    }
    {
        const float next_a = (red_a_2 + X_load_2_0_0.s1);
        const float next_b = fma(X_load_2_0_0.s1, X_load_2_0_0.s1, red_b_2);
        red_a_2 = next_a;
        red_b_2 = next_b;
    }
    {
        const float next_a = (red_a_2 + X_load_2_0_1.s1);
        const float next_b = fma(X_load_2_0_1.s1, X_load_2_0_1.s1, red_b_2);
        red_a_2 = next_a;
        red_b_2 = next_b;
    }
    {
        const float next_a = (red_a_2 + X_load_2_1_0.s1);
        const float next_b = fma(X_load_2_1_0.s1, X_load_2_1_0.s1, red_b_2);
        red_a_2 = next_a;
        red_b_2 = next_b;
    }
    {
        const float next_a = (red_a_2 + X_load_2_1_1.s1);
        const float next_b = fma(X_load_2_1_1.s1, X_load_2_1_1.s1, red_b_2);
        red_a_2 = next_a;
        red_b_2 = next_b;
    }
    {
        const float next_a = (red_a_2 + X_load_2_2_0.s1);
        const float next_b = fma(X_load_2_2_0.s1, X_load_2_2_0.s1, red_b_2);
        red_a_2 = next_a;
        red_b_2 = next_b;
    }
    {
        const float next_a = (red_a_2 + X_load_2_2_1.s1);
        const float next_b = fma(X_load_2_2_1.s1, X_load_2_2_1.s1, red_b_2);
        red_a_2 = next_a;
        red_b_2 = next_b;
    }
    {
        const float next_a = (red_a_2 + X_load_2_3_0.s1);
        const float next_b = fma(X_load_2_3_0.s1, X_load_2_3_0.s1, red_b_2);
        red_a_2 = next_a;
        red_b_2 = next_b;
    }
    {
        const float next_a = (red_a_2 + X_load_2_3_1.s1);
        const float next_b = fma(X_load_2_3_1.s1, X_load_2_3_1.s1, red_b_2);
        red_a_2 = next_a;
        red_b_2 = next_b;
    }
    float red_a_3 = 0.0f;
    float red_b_3 = 0.0f;
    {
        const float next_a = (red_a_3 + X_load_3_0_0.s0);
        const float next_b = fma(X_load_3_0_0.s0, X_load_3_0_0.s0, red_b_3);
        red_a_3 = next_a;
        red_b_3 = next_b;
    }
    {
        const float next_a = (red_a_3 + X_load_3_0_1.s0);
        const float next_b = fma(X_load_3_0_1.s0, X_load_3_0_1.s0, red_b_3);
        red_a_3 = next_a;
        red_b_3 = next_b;
    }
    {
        const float next_a = (red_a_3 + X_load_3_1_0.s0);
        const float next_b = fma(X_load_3_1_0.s0, X_load_3_1_0.s0, red_b_3);
        red_a_3 = next_a;
        red_b_3 = next_b;
    }
    {
        const float next_a = (red_a_3 + X_load_3_1_1.s0);
        const float next_b = fma(X_load_3_1_1.s0, X_load_3_1_1.s0, red_b_3);
        red_a_3 = next_a;
        red_b_3 = next_b;
    }
    {
        const float next_a = (red_a_3 + X_load_3_2_0.s0);
        const float next_b = fma(X_load_3_2_0.s0, X_load_3_2_0.s0, red_b_3);
        red_a_3 = next_a;
        red_b_3 = next_b;
    }
    {
        const float next_a = (red_a_3 + X_load_3_2_1.s0);
        const float next_b = fma(X_load_3_2_1.s0, X_load_3_2_1.s0, red_b_3);
        red_a_3 = next_a;
        red_b_3 = next_b;
    }
    {
        const float next_a = (red_a_3 + X_load_3_3_0.s0);
        const float next_b = fma(X_load_3_3_0.s0, X_load_3_3_0.s0, red_b_3);
        red_a_3 = next_a;
        red_b_3 = next_b;
    }
    {
        const float next_a = (red_a_3 + X_load_3_3_1.s0);
        const float next_b = fma(X_load_3_3_1.s0, X_load_3_3_1.s0, red_b_3);
        red_a_3 = next_a;
        red_b_3 = next_b;
    }
    {
        const float next_a = (red_a_3 + X_load_3_0_0.s1);
        const float next_b = fma(X_load_3_0_0.s1, X_load_3_0_0.s1, red_b_3);
        red_a_3 = next_a;
        red_b_3 = next_b;
    }
    {
        const float next_a = (red_a_3 + X_load_3_0_1.s1);
        const float next_b = fma(X_load_3_0_1.s1, X_load_3_0_1.s1, red_b_3);
        red_a_3 = next_a;
        red_b_3 = next_b;
    }
    {
        const float next_a = (red_a_3 + X_load_3_1_0.s1);
        const float next_b = fma(X_load_3_1_0.s1, X_load_3_1_0.s1, red_b_3);
        red_a_3 = next_a;
        red_b_3 = next_b;
    }
    {
        const float next_a = (red_a_3 + X_load_3_1_1.s1);
        const float next_b = fma(X_load_3_1_1.s1, X_load_3_1_1.s1, red_b_3);
        red_a_3 = next_a;
        red_b_3 = next_b;
    }
    {
        const float next_a = (red_a_3 + X_load_3_2_0.s1);
        const float next_b = fma(X_load_3_2_0.s1, X_load_3_2_0.s1, red_b_3);
        red_a_3 = next_a;
        red_b_3 = next_b;
    }
    {
        const float next_a = (red_a_3 + X_load_3_2_1.s1);
        const float next_b = fma(X_load_3_2_1.s1, X_load_3_2_1.s1, red_b_3);
        red_a_3 = next_a;
        red_b_3 = next_b;
    }
    {
        const float next_a = (red_a_3 + X_load_3_3_0.s1);
        const float next_b = fma(X_load_3_3_0.s1, X_load_3_3_0.s1, red_b_3);
        red_a_3 = next_a;
        red_b_3 = next_b;
    }
    {
        const float next_a = (red_a_3 + X_load_3_3_1.s1);
        const float next_b = fma(X_load_3_3_1.s1, X_load_3_3_1.s1, red_b_3);
        red_a_3 = next_a;
        red_b_3 = next_b;
    }
    float red_a_4 = 0.0f;
    float red_b_4 = 0.0f;
    {
        const float next_a = (red_a_4 + X_load_4_0_0.s0);
        const float next_b = fma(X_load_4_0_0.s0, X_load_4_0_0.s0, red_b_4);
        red_a_4 = next_a;
        red_b_4 = next_b;
    }
    {
        const float next_a = (red_a_4 + X_load_4_0_1.s0);
        const float next_b = fma(X_load_4_0_1.s0, X_load_4_0_1.s0, red_b_4);
        red_a_4 = next_a;
        red_b_4 = next_b;
    }
    {
        const float next_a = (red_a_4 + X_load_4_1_0.s0);
        const float next_b = fma(X_load_4_1_0.s0, X_load_4_1_0.s0, red_b_4);
        red_a_4 = next_a;
        red_b_4 = next_b;
    }
    {
        const float next_a = (red_a_4 + X_load_4_1_1.s0);
        const float next_b = fma(X_load_4_1_1.s0, X_load_4_1_1.s0, red_b_4);
        red_a_4 = next_a;
        red_b_4 = next_b;
    }
    {
        const float next_a = (red_a_4 + X_load_4_2_0.s0);
        const float next_b = fma(X_load_4_2_0.s0, X_load_4_2_0.s0, red_b_4);
        red_a_4 = next_a;
        red_b_4 = next_b;
    }
    {
        const float next_a = (red_a_4 + X_load_4_2_1.s0);
        const float next_b = fma(X_load_4_2_1.s0, X_load_4_2_1.s0, red_b_4);
        red_a_4 = next_a;
        red_b_4 = next_b;
    }
    {
        const float next_a = (red_a_4 + X_load_4_3_0.s0);
        const float next_b = fma(X_load_4_3_0.s0, X_load_4_3_0.s0, red_b_4);
        red_a_4 = next_a;
        red_b_4 = next_b;
    }
    {
        const float next_a = (red_a_4 + X_load_4_3_1.s0);
        const float next_b = fma(X_load_4_3_1.s0, X_load_4_3_1.s0, red_b_4);
        red_a_4 = next_a;
        red_b_4 = next_b;
    }
    {
        const float next_a = (red_a_4 + X_load_4_0_0.s1);
        const float next_b = fma(X_load_4_0_0.s1, X_load_4_0_0.s1, red_b_4);
        red_a_4 = next_a;
        red_b_4 = next_b;
    }
    {
        const float next_a = (red_a_4 + X_load_4_0_1.s1);
        const float next_b = fma(X_load_4_0_1.s1, X_load_4_0_1.s1, red_b_4);
        red_a_4 = next_a;
        red_b_4 = next_b;
    }
    {
        const float next_a = (red_a_4 + X_load_4_1_0.s1);
        const float next_b = fma(X_load_4_1_0.s1, X_load_4_1_0.s1, red_b_4);
        red_a_4 = next_a;
        red_b_4 = next_b;
    }
    {
        const float next_a = (red_a_4 + X_load_4_1_1.s1);
        const float next_b = fma(X_load_4_1_1.s1, X_load_4_1_1.s1, red_b_4);
        red_a_4 = next_a;
        red_b_4 = next_b;
    }
    {
        const float next_a = (red_a_4 + X_load_4_2_0.s1);
        const float next_b = fma(X_load_4_2_0.s1, X_load_4_2_0.s1, red_b_4);
        red_a_4 = next_a;
        red_b_4 = next_b;
    }
    {
        const float next_a = (red_a_4 + X_load_4_2_1.s1);
        const float next_b = fma(X_load_4_2_1.s1, X_load_4_2_1.s1, red_b_4);
        red_a_4 = next_a;
        red_b_4 = next_b;
    }
    {
        const float next_a = (red_a_4 + X_load_4_3_0.s1);
        const float next_b = fma(X_load_4_3_0.s1, X_load_4_3_0.s1, red_b_4);
        red_a_4 = next_a;
        red_b_4 = next_b;
    }
    {
        const float next_a = (red_a_4 + X_load_4_3_1.s1);
        const float next_b = fma(X_load_4_3_1.s1, X_load_4_3_1.s1, red_b_4);
        red_a_4 = next_a;
        red_b_4 = next_b;
    }
    float red_a_5 = 0.0f;
    float red_b_5 = 0.0f;
    {
        const float next_a = (red_a_5 + X_load_5_0_0.s0);
        const float next_b = fma(X_load_5_0_0.s0, X_load_5_0_0.s0, red_b_5);
        red_a_5 = next_a;
        red_b_5 = next_b;
    }
    {
        const float next_a = (red_a_5 + X_load_5_0_1.s0);
        const float next_b = fma(X_load_5_0_1.s0, X_load_5_0_1.s0, red_b_5);
        red_a_5 = next_a;
        red_b_5 = next_b;
    }
    {
        const float next_a = (red_a_5 + X_load_5_1_0.s0);
        const float next_b = fma(X_load_5_1_0.s0, X_load_5_1_0.s0, red_b_5);
        red_a_5 = next_a;
        red_b_5 = next_b;
    }
    {
        const float next_a = (red_a_5 + X_load_5_1_1.s0);
        const float next_b = fma(X_load_5_1_1.s0, X_load_5_1_1.s0, red_b_5);
        red_a_5 = next_a;
        red_b_5 = next_b;
    }
    {
        const float next_a = (red_a_5 + X_load_5_2_0.s0);
        const float next_b = fma(X_load_5_2_0.s0, X_load_5_2_0.s0, red_b_5);
        red_a_5 = next_a;
        red_b_5 = next_b;
    }
    {
        const float next_a = (red_a_5 + X_load_5_2_1.s0);
        const float next_b = fma(X_load_5_2_1.s0, X_load_5_2_1.s0, red_b_5);
        red_a_5 = next_a;
        red_b_5 = next_b;
    }
    {
        const float next_a = (red_a_5 + X_load_5_3_0.s0);
        const float next_b = fma(X_load_5_3_0.s0, X_load_5_3_0.s0, red_b_5);
        red_a_5 = next_a;
        red_b_5 = next_b;
    }
    {
        const float next_a = (red_a_5 + X_load_5_3_1.s0);
        const float next_b = fma(X_load_5_3_1.s0, X_load_5_3_1.s0, red_b_5);
        red_a_5 = next_a;
        red_b_5 = next_b;
    }
    {
        const float next_a = (red_a_5 + X_load_5_0_0.s1);
        const float next_b = fma(X_load_5_0_0.s1, X_load_5_0_0.s1, red_b_5);
        red_a_5 = next_a;
        red_b_5 = next_b;
    }
    {
        const float next_a = (red_a_5 + X_load_5_0_1.s1);
        const float next_b = fma(X_load_5_0_1.s1, X_load_5_0_1.s1, red_b_5);
        red_a_5 = next_a;
        red_b_5 = next_b;
    }
    {
        const float next_a = (red_a_5 + X_load_5_1_0.s1);
        const float next_b = fma(X_load_5_1_0.s1, X_load_5_1_0.s1, red_b_5);
        red_a_5 = next_a;
        red_b_5 = next_b;
    }
    {
        const float next_a = (red_a_5 + X_load_5_1_1.s1);
        const float next_b = fma(X_load_5_1_1.s1, X_load_5_1_1.s1, red_b_5);
        red_a_5 = next_a;
        red_b_5 = next_b;
    }
    {
        const float next_a = (red_a_5 + X_load_5_2_0.s1);
        const float next_b = fma(X_load_5_2_0.s1, X_load_5_2_0.s1, red_b_5);
        red_a_5 = next_a;
        red_b_5 = next_b;
    }
    {
        const float next_a = (red_a_5 + X_load_5_2_1.s1);
        const float next_b = fma(X_load_5_2_1.s1, X_load_5_2_1.s1, red_b_5);
        red_a_5 = next_a;
        red_b_5 = next_b;
    }
    {
        const float next_a = (red_a_5 + X_load_5_3_0.s1);
        const float next_b = fma(X_load_5_3_0.s1, X_load_5_3_0.s1, red_b_5);
        red_a_5 = next_a;
        red_b_5 = next_b;
    }
    {
        const float next_a = (red_a_5 + X_load_5_3_1.s1);
        const float next_b = fma(X_load_5_3_1.s1, X_load_5_3_1.s1, red_b_5);
        red_a_5 = next_a;
        red_b_5 = next_b;
    }
    float red_a_6 = 0.0f;
    float red_b_6 = 0.0f;
    {
        const float next_a = (red_a_6 + X_load_6_0_0.s0);
        const float next_b = fma(X_load_6_0_0.s0, X_load_6_0_0.s0, red_b_6);
        red_a_6 = next_a;
        red_b_6 = next_b;
    }
    {
        const float next_a = (red_a_6 + X_load_6_0_1.s0);
        const float next_b = fma(X_load_6_0_1.s0, X_load_6_0_1.s0, red_b_6);
        red_a_6 = next_a;
        red_b_6 = next_b;
    }
    {
        const float next_a = (red_a_6 + X_load_6_1_0.s0);
        const float next_b = fma(X_load_6_1_0.s0, X_load_6_1_0.s0, red_b_6);
        red_a_6 = next_a;
        red_b_6 = next_b;
    }
    {
        const float next_a = (red_a_6 + X_load_6_1_1.s0);
        const float next_b = fma(X_load_6_1_1.s0, X_load_6_1_1.s0, red_b_6);
        red_a_6 = next_a;
        red_b_6 = next_b;
    }
    {
        const float next_a = (red_a_6 + X_load_6_2_0.s0);
        const float next_b = fma(X_load_6_2_0.s0, X_load_6_2_0.s0, red_b_6);
        red_a_6 = next_a;
        red_b_6 = next_b;
    }
    {
        const float next_a = (red_a_6 + X_load_6_2_1.s0);
        const float next_b = fma(X_load_6_2_1.s0, X_load_6_2_1.s0, red_b_6);
        red_a_6 = next_a;
        red_b_6 = next_b;
    }
    {
        const float next_a = (red_a_6 + X_load_6_3_0.s0);
        const float next_b = fma(X_load_6_3_0.s0, X_load_6_3_0.s0, red_b_6);
        red_a_6 = next_a;
        red_b_6 = next_b;
    }
    {
        const float next_a = (red_a_6 + X_load_6_3_1.s0);
        const float next_b = fma(X_load_6_3_1.s0, X_load_6_3_1.s0, red_b_6);
        red_a_6 = next_a;
        red_b_6 = next_b;
    }
    {
        const float next_a = (red_a_6 + X_load_6_0_0.s1);
        const float next_b = fma(X_load_6_0_0.s1, X_load_6_0_0.s1, red_b_6);
        red_a_6 = next_a;
        red_b_6 = next_b;
    }
    {
        const float next_a = (red_a_6 + X_load_6_0_1.s1);
        const float next_b = fma(X_load_6_0_1.s1, X_load_6_0_1.s1, red_b_6);
        red_a_6 = next_a;
        red_b_6 = next_b;
    }
    {
        const float next_a = (red_a_6 + X_load_6_1_0.s1);
        const float next_b = fma(X_load_6_1_0.s1, X_load_6_1_0.s1, red_b_6);
        red_a_6 = next_a;
        red_b_6 = next_b;
    }
    {
        const float next_a = (red_a_6 + X_load_6_1_1.s1);
        const float next_b = fma(X_load_6_1_1.s1, X_load_6_1_1.s1, red_b_6);
        red_a_6 = next_a;
        red_b_6 = next_b;
    }
    {
        const float next_a = (red_a_6 + X_load_6_2_0.s1);
        const float next_b = fma(X_load_6_2_0.s1, X_load_6_2_0.s1, red_b_6);
        red_a_6 = next_a;
        red_b_6 = next_b;
    }
    {
        const float next_a = (red_a_6 + X_load_6_2_1.s1);
        const float next_b = fma(X_load_6_2_1.s1, X_load_6_2_1.s1, red_b_6);
        red_a_6 = next_a;
        red_b_6 = next_b;
    }
    {
        const float next_a = (red_a_6 + X_load_6_3_0.s1);
        const float next_b = fma(X_load_6_3_0.s1, X_load_6_3_0.s1, red_b_6);
        red_a_6 = next_a;
        red_b_6 = next_b;
    }
    {
        const float next_a = (red_a_6 + X_load_6_3_1.s1);
        const float next_b = fma(X_load_6_3_1.s1, X_load_6_3_1.s1, red_b_6);
        red_a_6 = next_a;
        red_b_6 = next_b;
    }
    float red_a_7 = 0.0f;
    float red_b_7 = 0.0f;
    {
        const float next_a = (red_a_7 + X_load_7_0_0.s0);
        const float next_b = fma(X_load_7_0_0.s0, X_load_7_0_0.s0, red_b_7);
        red_a_7 = next_a;
        red_b_7 = next_b;
    }
    {
        const float next_a = (red_a_7 + X_load_7_0_1.s0);
        const float next_b = fma(X_load_7_0_1.s0, X_load_7_0_1.s0, red_b_7);
        red_a_7 = next_a;
        red_b_7 = next_b;
    }
    {
        const float next_a = (red_a_7 + X_load_7_1_0.s0);
        const float next_b = fma(X_load_7_1_0.s0, X_load_7_1_0.s0, red_b_7);
        red_a_7 = next_a;
        red_b_7 = next_b;
    }
    {
        const float next_a = (red_a_7 + X_load_7_1_1.s0);
        const float next_b = fma(X_load_7_1_1.s0, X_load_7_1_1.s0, red_b_7);
        red_a_7 = next_a;
        red_b_7 = next_b;
    }
    {
        const float next_a = (red_a_7 + X_load_7_2_0.s0);
        const float next_b = fma(X_load_7_2_0.s0, X_load_7_2_0.s0, red_b_7);
        red_a_7 = next_a;
        red_b_7 = next_b;
    }
    {
        const float next_a = (red_a_7 + X_load_7_2_1.s0);
        const float next_b = fma(X_load_7_2_1.s0, X_load_7_2_1.s0, red_b_7);
        red_a_7 = next_a;
        red_b_7 = next_b;
    }
    {
        const float next_a = (red_a_7 + X_load_7_3_0.s0);
        const float next_b = fma(X_load_7_3_0.s0, X_load_7_3_0.s0, red_b_7);
        red_a_7 = next_a;
        red_b_7 = next_b;
    }
    {
        const float next_a = (red_a_7 + X_load_7_3_1.s0);
        const float next_b = fma(X_load_7_3_1.s0, X_load_7_3_1.s0, red_b_7);
        red_a_7 = next_a;
        red_b_7 = next_b;
    }
    {
        const float next_a = (red_a_7 + X_load_7_0_0.s1);
        const float next_b = fma(X_load_7_0_0.s1, X_load_7_0_0.s1, red_b_7);
        red_a_7 = next_a;
        red_b_7 = next_b;
    }
    {
        const float next_a = (red_a_7 + X_load_7_0_1.s1);
        const float next_b = fma(X_load_7_0_1.s1, X_load_7_0_1.s1, red_b_7);
        red_a_7 = next_a;
        red_b_7 = next_b;
    }
    {
        const float next_a = (red_a_7 + X_load_7_1_0.s1);
        const float next_b = fma(X_load_7_1_0.s1, X_load_7_1_0.s1, red_b_7);
        red_a_7 = next_a;
        red_b_7 = next_b;
    }
    {
        const float next_a = (red_a_7 + X_load_7_1_1.s1);
        const float next_b = fma(X_load_7_1_1.s1, X_load_7_1_1.s1, red_b_7);
        red_a_7 = next_a;
        red_b_7 = next_b;
    }
    {
        const float next_a = (red_a_7 + X_load_7_2_0.s1);
        const float next_b = fma(X_load_7_2_0.s1, X_load_7_2_0.s1, red_b_7);
        red_a_7 = next_a;
        red_b_7 = next_b;
    }
    {
        const float next_a = (red_a_7 + X_load_7_2_1.s1);
        const float next_b = fma(X_load_7_2_1.s1, X_load_7_2_1.s1, red_b_7);
        red_a_7 = next_a;
        red_b_7 = next_b;
    }
    {
        const float next_a = (red_a_7 + X_load_7_3_0.s1);
        const float next_b = fma(X_load_7_3_0.s1, X_load_7_3_0.s1, red_b_7);
        red_a_7 = next_a;
        red_b_7 = next_b;
    }
    {
        const float next_a = (red_a_7 + X_load_7_3_1.s1);
        const float next_b = fma(X_load_7_3_1.s1, X_load_7_3_1.s1, red_b_7);
        red_a_7 = next_a;
        red_b_7 = next_b;
    }
    const float8 compute_2v = (((float8)(red_b_0, red_b_1, red_b_2, red_b_3, red_b_4, red_b_5, red_b_6, red_b_7) / (float8)(16.0f)) - (((float8)(red_a_0, red_a_1, red_a_2, red_a_3, red_a_4, red_a_5, red_a_6, red_a_7) / (float8)(16.0f)) * ((float8)(red_a_0, red_a_1, red_a_2, red_a_3, red_a_4, red_a_5, red_a_6, red_a_7) / (float8)(16.0f))));
    *(__global float8 *)&variance[0] = compute_2v;
    const float8 compute = ((float8)(red_a_0, red_a_1, red_a_2, red_a_3, red_a_4, red_a_5, red_a_6, red_a_7) / (float8)(16.0f));
    __builtin_nontemporal_store(compute, (__global float8 *)&mean[0]);
}
