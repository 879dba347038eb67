/* The elements of a .npy file, read in pieces and written at once.
 *
 *     file, Fortran order, shape (2, 3):   a d b e c f
 *     places in C order:                   0 3 1 4 2 5
 *
 * Nothing is mapped: a file that somebody shortens meanwhile is an error, not a signal. */
#include "core/base/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/base/half.h"
#include "core/base/strbuf.h"

enum { PIECE = 1 << 16, ALIGNMENT = 64, MOST_BYTES = 8 };
_Static_assert(PIECE % MOST_BYTES == 0, "no element is in two pieces");

/* ---- open ---- */

/* Reads n bytes from a place of the file; fewer at its end. -1: errno. */
static ssize_t read_at(int fd, void *to, size_t n, size_t at)
{
    size_t done = 0;
    while (done < n) {
        ssize_t got = pread(fd, (char *)to + done, n - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

static bool read_header(struct npy_file *f, struct diag *d)
{
    char *text = base_malloc(NPY_MOST_HEADER);
    const char *why = NULL;
    ssize_t n = read_at(f->fd, text, NPY_MOST_HEADER, 0);
    bool ok = n >= 0 && npy_parse(text, (size_t)n, &f->header, &why);
    if (n < 0)
        diag_plain(d, "cannot read %s: %s", f->path, strerror(errno));
    else if (!ok)
        diag_plain(d, "%s: %s", f->path, why);
    free(text);
    return ok;
}

/* The file must be as long as its header says. */
static bool check_length(const struct npy_file *f, off_t bytes, struct diag *d)
{
    const struct npy_header *h = &f->header;
    int64_t there = (int64_t)bytes - (int64_t)h->data_at, wanted = h->elements * h->bytes;
    struct strbuf text = {0};
    if (there == wanted) return true;
    npy_print(h, &text);
    diag_plain(d, "%s: %s: its header says %s, which takes %lld bytes; %lld are there", f->path,
               there < wanted ? "it is truncated" : "it has more bytes than elements", text.text,
               (long long)wanted, (long long)there);
    strbuf_free(&text);
    return false;
}

bool npy_open(struct npy_file *f, const char *path, struct diag *d)
{
    struct stat st;
    *f = (struct npy_file){.path = path, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (f->fd < 0 || fstat(f->fd, &st) != 0)
        diag_plain(d, "cannot open %s: %s", path, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        diag_plain(d, "%s is not a regular file", path);
    else if (read_header(f, d) && check_length(f, st.st_size, d))
        return true;
    npy_close(f);
    return false;
}

void npy_close(struct npy_file *f)
{
    if (f->fd >= 0) close(f->fd);
    f->fd = -1;
}

/* ---- elements ---- */

static bool is_big_endian(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 0;
}

/* The bits of an element, in the lowest bytes. */
static uint64_t bits_of(const struct npy_header *h, const unsigned char *p)
{
    uint64_t x = 0;
    for (unsigned i = 0; i < h->bytes; i++)
        x = x << 8 | p[h->big_endian ? i : h->bytes - 1 - i];
    return x;
}

static double real_of(const struct npy_header *h, uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    double d;
    float f;
    memcpy(&d, &bits, sizeof d);
    memcpy(&f, &low, sizeof f);
    return h->bytes == 8 ? d : h->bytes == 4 ? (double)f : half_to_double((uint16_t)bits);
}

/* The value; whether a double has it. */
static double value_of(const struct npy_header *h, uint64_t bits, bool *exact)
{
    unsigned unused = 64 - 8 * h->bytes;
    int64_t i = (int64_t)(bits << unused) >> unused;
    *exact = true;
    switch (h->kind) {
    case NPY_FLOAT:
        return real_of(h, bits);
    case NPY_INT:
        *exact = i > -(INT64_C(1) << 53) && i < INT64_C(1) << 53;
        return (double)i;
    case NPY_UNSIGNED:
        *exact = bits < UINT64_C(1) << 53;
        return (double)bits;
    default:
        return bits != 0;
    }
}

/* Where element k of the file is in C order: its digits, of which the first varies fastest in Fortran order.
 */
static int64_t place_of(const struct npy_header *h, int64_t k)
{
    int64_t at = 0, below = h->elements;
    if (!h->fortran) return k;
    for (unsigned i = 0; i < h->n_extents; i++) {
        below /= h->extents[i];
        at += k % h->extents[i] * below;
        k /= h->extents[i];
    }
    return at;
}

static bool take_piece(const struct npy_header *h, const unsigned char *piece, int64_t first, int64_t n,
                       npy_take *take, void *ctx)
{
    for (int64_t i = 0; i < n; i++) {
        bool exact;
        double value = value_of(h, bits_of(h, piece + i * h->bytes), &exact);
        if (!take(ctx, place_of(h, first + i), value, exact)) return false;
    }
    return true;
}

bool npy_read(const struct npy_file *f, npy_take *take, void *ctx, struct diag *d)
{
    const struct npy_header *h = &f->header;
    unsigned char *piece = base_malloc(PIECE);
    int64_t most = PIECE / h->bytes;
    bool ok = true;
    for (int64_t k = 0; ok && k < h->elements; k += most) {
        int64_t n = h->elements - k < most ? h->elements - k : most;
        size_t bytes = (size_t)n * h->bytes;
        ssize_t got = read_at(f->fd, piece, bytes, h->data_at + (size_t)k * h->bytes);
        if (got != (ssize_t)bytes)
            diag_plain(d, "cannot read %s: %s", f->path,
                       got < 0 ? strerror(errno) : "it became shorter meanwhile");
        ok = got == (ssize_t)bytes && take_piece(h, piece, k, n, take, ctx);
    }
    free(piece);
    return ok;
}

/* ---- writing ---- */

/* Appends the header's text, filled up so that the elements begin at a multiple of 64 bytes. */
static void print_dictionary(const struct npy_header *h, struct strbuf *out)
{
    static const char letters[] = "fiub";
    char order = h->bytes == 1 ? '|' : is_big_endian() ? '>' : '<';
    strbuf_printf(out, "{'descr': '%c%c%u', 'fortran_order': False, 'shape': (", order, letters[h->kind],
                  h->bytes);
    for (unsigned i = 0; i < h->n_extents; i++)
        strbuf_printf(out, "%s%lld", i ? ", " : "", (long long)h->extents[i]);
    strbuf_add(out, h->n_extents == 1 ? ",), }" : "), }");
    while ((10 + out->length + 1) % ALIGNMENT)
        strbuf_add(out, " ");
    strbuf_add(out, "\n");
}

bool npy_write(const char *path, const struct npy_header *h, const void *elements, struct diag *d)
{
    struct file_new f;
    struct strbuf text = {0};
    size_t n = h->bytes;
    for (unsigned i = 0; i < h->n_extents; i++)
        n *= (size_t)h->extents[i];
    if (!file_begin(&f, path, d)) return false;
    print_dictionary(h, &text);
    const unsigned char prefix[] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)text.length, (unsigned char)(text.length >> 8)};
    fwrite(prefix, sizeof prefix, 1, f.out);
    fwrite(text.text, text.length, 1, f.out);
    fwrite(elements, 1, n, f.out);
    strbuf_free(&text);
    return file_end(&f, d);
}
