/* A peer's product C = A * B in single precision, row-major: A is m by k, B is k by n. peer.c measures, one
 * file for each peer calls its library. */
#ifndef THRESH_PEERS_PEER_H
#define THRESH_PEERS_PEER_H

#include <stddef.h>

struct peer_product {
    size_t m, n, k;
    float *a, *b, *c; /* on the host */
};

/* Prepares the library; `device` is part of an OpenCL device's name. */
void peer_open(const struct peer_product *p, const char *device);
/* Starts one product. */
void peer_call(const struct peer_product *p);
/* Waits for all that were started. */
void peer_finish(void);
/* Prints the text and ends the program with status 1. */
void peer_die(const char *text);

#endif
