/* OpenBLAS, on the host; OPENBLAS_NUM_THREADS says with how many threads. */
#include <cblas.h>

#include "peer.h"

void peer_open(const struct peer_work *p, const char *device)
{
    (void)device;
    if (p->convolution) peer_die("OpenBLAS has no convolution");
}

void peer_call(const struct peer_work *p)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)p->m, (int)p->n, (int)p->k, 1, p->arrays[0],
                (int)p->k, p->arrays[1], (int)p->n, 0, p->arrays[2], (int)p->n);
}

void peer_finish(void)
{
}
