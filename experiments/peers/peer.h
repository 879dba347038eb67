/* What a peer computes in single precision: a product C = A * B, row-major, A is m by k, B is k by n; or a
 * convolution C of an image A of k channels, n x n each, with m kernels B of k x 3 x 3, padded by 1, so that
 * C is m x n x n. peer.c measures, one file for each peer calls its library. */
#ifndef THRESH_PEERS_PEER_H
#define THRESH_PEERS_PEER_H

#include <stdbool.h>
#include <stddef.h>

struct peer_work {
    bool convolution;
    size_t m, n, k;
    size_t elements[3]; /* of A, B, C */
    float *arrays[3];   /* on the host */
};

/* Prepares the library; `device` is part of an OpenCL device's name. */
void peer_open(const struct peer_work *p, const char *device);
/* Starts it once. */
void peer_call(const struct peer_work *p);
/* Waits for all that were started. */
void peer_finish(void);
/* Prints the text and ends the program with status 1. */
void peer_die(const char *text);

#endif
