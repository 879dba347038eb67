/* The OpenCL text of the micro-benchmarks. V is the type of one operand: float on a GPU, float16 on a CPU. */
#ifndef THRESH_AGENT_CHARACTERIZE_KERNELS_H
#define THRESH_AGENT_CHARACTERIZE_KERNELS_H

extern const char characterize_source[];

#endif
