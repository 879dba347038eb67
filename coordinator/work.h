/* The work of a program, from its backbone, whatever implementation computes it.
 *
 * Operations are the scalar operations of the algorithm: each instruction's, times its iterations; a sum that
 * elements share counts once, a fused multiply-add counts two, every other operation one, roots and
 * exponentials too. A 512 x 512 x 512 product of matrices has 2 * 512^3. Bytes are the least that must cross
 * the memory of the device: each input that is read and each output, once; of an input, no more than there
 * are reads of it. Dividing them by a time gives the GFLOP/s and GB/s that thresh shows: an implementation
 * that computes or reads something twice gets no credit for it. */
#ifndef THRESH_COORDINATOR_WORK_H
#define THRESH_COORDINATOR_WORK_H

struct backbone;

struct work {
    double operations, bytes;
};

struct work work_of(const struct backbone *bb);

#endif
