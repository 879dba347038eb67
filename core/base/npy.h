/* NumPy's files of one array, .npy: a header that is the text of a Python dictionary, then the elements.
 *
 *     \x93NUMPY 1 0 | 118 | {'descr': '<f4', 'fortran_order': False, 'shape': (512, 64), } | elements
 *
 *     struct npy_file f;
 *     if (npy_open(&f, "x.npy", d) && npy_read(&f, take, ctx, d)) ...     take() gets each element
 *     npy_close(&f);
 *
 * Files of the formats 1.0, 2.0 and 3.0 are read, in either byte order, in C order and in Fortran order.
 * They are read in pieces, once, whatever their size. */
#ifndef THRESH_BASE_NPY_H
#define THRESH_BASE_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diag;
struct strbuf;

enum npy_kind { NPY_FLOAT, NPY_INT, NPY_UNSIGNED, NPY_BOOL };
enum {
    NPY_MOST_EXTENTS = 32,      /* NumPy's own limit */
    NPY_MOST_HEADER = 64 << 10, /* bytes; NumPy's are 128, it refuses those over 10,000 */
};

struct npy_header {
    enum npy_kind kind;
    unsigned bytes;     /* of an element: 1, 2, 4 or 8 */
    bool big_endian;    /* the order of an element's bytes */
    bool fortran;       /* the first index varies fastest in the file */
    unsigned n_extents; /* 0: one element */
    int64_t extents[NPY_MOST_EXTENTS];
    int64_t elements; /* their product; below 2^50 */
    size_t data_at;   /* bytes from the start of the file to the first element */
};

/* Reads the header in the first n bytes of a file. Total: any bytes give a header or false with a reason in
 * *why (static). More than NPY_MOST_HEADER bytes are never looked at. */
bool npy_parse(const void *data, size_t n, struct npy_header *out, const char **why);
/* Appends "float32, shape (512, 64)", with the orders that differ from the usual. */
void npy_print(const struct npy_header *h, struct strbuf *out);

/* A file that is open. */
struct npy_file {
    const char *path; /* borrowed */
    int fd;           /* -1: none */
    struct npy_header header;
};

/* Opens a file and reads its header; its length must be that of the elements. false after an error, which
 * shows what the header says; then there is nothing to close. */
bool npy_open(struct npy_file *f, const char *path, struct diag *d);
void npy_close(struct npy_file *f);

/* Of an element: its place, with the last index varying fastest, its value, and whether that is exact: no
 * double has the value of some integers of 64 bits. false: enough was seen. */
typedef bool npy_take(void *ctx, int64_t at, double value, bool exact);
/* Hands all elements to `take`, in the order of the file. false after an error, which a `take` that
 * returns false adds itself. */
bool npy_read(const struct npy_file *f, npy_take *take, void *ctx, struct diag *d);

/* Writes an array in format 1.0, C order, this machine's byte order; completely or not at all. Of the header
 * kind, bytes and extents count. false after an error. */
bool npy_write(const char *path, const struct npy_header *h, const void *elements, struct diag *d);

#endif
