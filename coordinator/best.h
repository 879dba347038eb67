/* The files of a result: best.json (everything needed to rebuild it, to measure it again and to compare it
 * with the naive implementation and the other contenders, with a checksum), best.cl (the OpenCL text) and
 * host.c (a complete program that builds and runs it). */
#ifndef THRESH_COORDINATOR_BEST_H
#define THRESH_COORDINATOR_BEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/device.h"
#include "core/pipeline/problem.h"
#include "coordinator/figure.h"

struct cg_kernel;
struct diag;
struct strbuf;

/* An implementation of the final rounds, or one that was compared without them. */
struct best_contender {
    const char *label;    /* "search", "naive", "plain: ..." */
    int64_t number;       /* of its evaluation: from 1, 0 the naive one, below 0 a plain one */
    struct figure figure; /* quoted, or of the search */
    struct space_action *actions;
    size_t n_actions;
};

/* An implementation as it is kept. Pointers are borrowed for writing; best_read() owns what it makes. */
struct best {
    const struct problem *problem;
    const struct device *device;
    const struct bb_options *lowering;
    const char *sizes;
    const struct space_action *actions;
    size_t n_actions;
    struct figure figure, naive;             /* the implementation's own, and that of the naive one */
    const struct best_contender *contenders; /* the winner, which this is, first; may be none */
    unsigned n_contenders;
    const char *store; /* that the search was recorded in; NULL: none */
};

/* Makes `dir` if it is missing. false after an error: it is no folder or cannot be written. */
bool best_make_folder(const char *dir, struct diag *d);
/* Writes best.json, best.cl and host.c into `dir`, made if it is missing. */
bool best_write(const char *dir, const struct best *b, struct diag *d);

/* What best_read() gives. */
struct best_file {
    struct problem *problem;
    struct device device; /* as recorded */
    struct space_action *actions;
    size_t n_actions;
    struct figure figure, naive; /* naive: may be missing. Of format 1, which did not say: as of the search */
    struct best_contender *contenders; /* the winner first; none in a file of format 1 */
    unsigned n_contenders;
    uint64_t kernel_hash; /* of the text that was measured, as candidate.hash */
    char *store;          /* that the search was recorded in, as its command line named it; NULL: not known */
};
/* Reads best.json, checks its checksum and rebuilds the problem. false after errors: edited, damaged, of a
 * newer format, or made for a space that this version no longer has. */
bool best_read(const char *path, struct best_file *out, struct diag *d);
void best_file_clear(struct best_file *f);

/* A standalone OpenCL program in C that builds the kernel text in `kernel_file` and runs it on random data.
 */
void best_host_program(const struct best *b, const struct cg_kernel *k, const char *kernel_file,
                       struct strbuf *out);

#endif
