/* The work of a program, independent of its implementation: a product of 512 x 512 matrices has 2 * 512^3
 * operations and 3 * 512^2 * 4 bytes. Divided by a time they give the GFLOP/s and GB/s that thresh prints.
 *
 * Operations are the scalar operations of the algorithm: those of each instruction times its iterations. A
 * fused multiply-add counts as two, every other operation as one, including roots and exponentials; a sum
 * that several outputs share counts once. Bytes are the least traffic to the device's memory: each input that
 * is read and each output once, and of an input no more elements than it is read. An implementation that
 * computes or reads a value twice does not get a higher rate for it. */
#ifndef THRESH_COORDINATOR_WORK_H
#define THRESH_COORDINATOR_WORK_H

struct backbone;

struct work {
    double operations, bytes; /* of one run of the program */
};

struct work work_of(const struct backbone *bb);
/* The operations of the naive implementation: those that it repeats count each time. */
double work_naive_operations(const struct backbone *bb);

#endif
