/* The files of a result:
 *
 *     best.cl     the OpenCL text of the kernel
 *     best.json   what is needed to rebuild the kernel, to measure it again, and to compare it with
 *                 the naive implementation and the other contenders
 *     host.c      a complete program that builds and runs best.cl */
#ifndef THRESH_COORDINATOR_BEST_H
#define THRESH_COORDINATOR_BEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/device.h"
#include "core/pipeline/problem.h"
#include "coordinator/figure.h"

struct cg_kernel;
struct diag;
struct strbuf;

/* An implementation that was compared at the end of a search, usually in final rounds. */
struct best_contender {
    const char *label;    /* "search", "naive", "plain: ..." */
    int64_t number;       /* of its evaluation: from 1, 0 the naive one, below 0 a plain or a learned one */
    struct figure figure; /* quoted, or of the search */
    struct space_action *actions;
    size_t n_actions;
};

/* An implementation to write. Pointers are borrowed. */
struct best {
    const struct problem *problem;
    const struct device *device;
    const struct bb_options *lowering;
    const char *sizes;
    const struct space_action *actions;
    size_t n_actions;
    struct figure figure, naive;             /* the implementation's own, and that of the naive one */
    const struct best_contender *contenders; /* this implementation first; there may be none */
    unsigned n_contenders;
    const char *store; /* the store of the search; NULL: none */
    const char *data;  /* that it was measured on: given_text(); NULL: generated */
};

/* Creates `dir` if it is missing. false after an error: it is not a folder, or not writable. */
bool best_make_folder(const char *dir, struct diag *d);
/* Writes best.json, best.cl and host.c into `dir`, which is created if it is missing. Actions are written as
 * the shortest lists (solution_actions()), so that equal implementations give equal files whatever led to
 * them. false after an error; then no file has changed. */
bool best_write(const char *dir, const struct best *b, struct diag *d);

/* The object of best.json; a new reference. NULL after an error. */
json_t *best_json(const struct best *b, struct diag *d);
/* Adds `checksums`, a sum for each key, so that an edited one can be named. */
void best_seal(json_t *object);
/* Writes all three files or none. false after an error. */
bool best_write_files(const char *dir, const char *opencl, const json_t *result, const char *host,
                      struct diag *d);

/* An implementation that was read. It owns its pointers. */
struct best_file {
    struct problem *problem;
    struct device device; /* as recorded */
    struct space_action *actions;
    size_t n_actions;
    struct figure figure, naive; /* naive may be missing; times of format 1 count as times of the search */
    struct best_contender *contenders; /* the winner first; none in a file of format 1 */
    unsigned n_contenders;
    uint64_t kernel_hash; /* of the measured OpenCL text, as candidate.hash */
    char *store;          /* the store of the search, as its command line named it; NULL: not known */
    char *data;           /* that it was measured on: given_text(); NULL: generated */
};
/* Reads best.json, checks its checksums and rebuilds the problem. false after errors: the file was edited or
 * is damaged, has a newer format, or belongs to the space of another version. */
bool best_read(const char *path, struct best_file *out, struct diag *d);
void best_file_clear(struct best_file *f);
/* The steps of best_read(), which a sequence of kernels shares (coordinator/sequence): the object of a file,
 * whose checksums agree, a new reference, NULL after an error; whether it is one of a sequence; the
 * implementation in it, false after an error. */
json_t *best_load(const char *path, struct diag *d);
bool best_is_sequence(const json_t *o);
bool best_from_json(json_t *o, struct best_file *out, struct diag *d);

/* Appends host.c: a C program that builds the OpenCL text in `kernel_file` and times it on random data. */
void best_host_program(const struct best *b, const struct cg_kernel *k, const char *kernel_file,
                       struct strbuf *out);
/* The same for a sequence of kernels (cg_kernel.next) of a bound program, whose buffers are the program's
 * arrays and, beyond these, temporaries. */
void best_host_sequence(const struct lift_program *p, const struct device *device,
                        const struct cg_kernel *first, const char *kernel_file, struct strbuf *out);

#endif
