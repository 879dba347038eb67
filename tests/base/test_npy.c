/* core/base/npy: what is written reads back; headers of NumPy, damaged ones and random bytes. */
#include "core/base/npy.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "core/base/half.h"
#include "core/base/pcg32.h"
#include "core/base/strbuf.h"

enum { MOST = 64 };

struct read {
    unsigned n;
    double values[MOST];
    bool exact[MOST];
};

static bool take(void *ctx, int64_t at, double value, bool exact)
{
    struct read *r = ctx;
    cr_assert(at >= 0 && at < MOST);
    r->values[at] = value;
    r->exact[at] = exact;
    r->n++;
    return true;
}

/* A file of the format, with a dictionary and elements, as NumPy writes it. */
static char *write_file(int version, const char *dictionary, const void *elements, size_t bytes)
{
    char *path = strdup("/tmp/thresh-npy-XXXXXX");
    int fd = mkstemp(path);
    FILE *out = fdopen(fd, "wb");
    size_t n = strlen(dictionary);
    fwrite("\x93NUMPY", 6, 1, out);
    fputc(version, out);
    fputc(0, out);
    for (int i = 0; i < (version == 1 ? 2 : 4); i++)
        fputc((int)(n >> 8 * i & 255), out);
    fwrite(dictionary, n, 1, out);
    fwrite(elements, 1, bytes, out);
    fclose(out);
    return path;
}

/* Reads a file; the error, or "" where there is none. The caller frees it. */
static char *read_file(const char *path, struct read *r, struct npy_header *h)
{
    struct diag *d = diag_new();
    struct npy_file f;
    if (npy_open(&f, path, d)) {
        *h = f.header;
        npy_read(&f, take, r, d);
        npy_close(&f);
    }
    char *text = strdup(diag_failed(d) ? diag_message(d, 0) : "");
    diag_free(d);
    return text;
}

static void expect_file(int version, const char *dictionary, const void *elements, size_t bytes,
                        const char *header, const double *values, unsigned n)
{
    struct read r = {0};
    struct npy_header h = {0};
    struct strbuf text = {0};
    char *path = write_file(version, dictionary, elements, bytes), *error = read_file(path, &r, &h);
    cr_expect_str_eq(error, "", "%s", dictionary);
    npy_print(&h, &text);
    cr_expect_str_eq(text.text, header);
    cr_expect_eq(r.n, n);
    for (unsigned i = 0; i < n; i++)
        cr_expect(r.values[i] == values[i] && r.exact[i], "%s: element %u is %g", dictionary, i, r.values[i]);
    unlink(path);
    free(path);
    free(error);
    strbuf_free(&text);
}

/* `part` must be in the message. */
static void expect_error(const char *dictionary, size_t bytes, const char *part)
{
    static const char zeros[256];
    struct read r = {0};
    struct npy_header h;
    char *path = write_file(1, dictionary, zeros, bytes), *error = read_file(path, &r, &h);
    cr_expect_not_null(strstr(error, part), "%s: '%s' instead of '%s'", dictionary, error, part);
    unlink(path);
    free(path);
    free(error);
}

Test(npy, headers_of_numpy)
{
    const float f[] = {1.5f, -2, 3, 4, 5, 6};
    const double six[] = {1.5, -2, 3, 4, 5, 6}, turned[] = {1.5, 3, 5, -2, 4, 6};
    expect_file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n", f, sizeof f,
                "float32, shape (2, 3)", six, 6);
    expect_file(2, "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }\n", f, sizeof f,
                "float32, shape (6,)", six, 6);
    expect_file(3, "{\"shape\": (6L,), \"fortran_order\": False, \"descr\": \"<f4\"}", f, sizeof f,
                "float32, shape (6,)", six, 6);
    expect_file(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", f, sizeof f,
                "float32, shape (2, 3), Fortran order", turned, 6);
    expect_file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }", f, 4, "float32, shape ()", six,
                1);
    expect_file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4), }", f, 0,
                "float64, shape (0, 4)", six, 0);
}

Test(npy, types_and_byte_orders)
{
    const unsigned char big[] = {0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0},
                        halves[] = {0x3c, 0, 0xc0, 0}, shorts[] = {0xff, 0xfe, 0, 7}, bytes[] = {255, 3};
    const double one[] = {1, -2}, wholes[] = {-2, 7}, small[] = {255, 3}, truths[] = {1, 1};
    expect_file(1, "{'descr': '>f8', 'fortran_order': False, 'shape': (2,)}", big, sizeof big,
                "float64, shape (2,), big-endian", one, 2);
    expect_file(1, "{'descr': '>f2', 'fortran_order': False, 'shape': (2,)}", halves, sizeof halves,
                "float16, shape (2,), big-endian", one, 2);
    expect_file(1, "{'descr': '>i2', 'fortran_order': False, 'shape': (2,)}", shorts, sizeof shorts,
                "int16, shape (2,), big-endian", wholes, 2);
    expect_file(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}", bytes, sizeof bytes,
                "uint8, shape (2,)", small, 2);
    expect_file(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", bytes, sizeof bytes,
                "bool, shape (2,)", truths, 2);
}

Test(npy, large_integers_are_not_exact)
{
    const int64_t x[] = {-5, (INT64_C(1) << 53) + 1, INT64_MIN};
    struct read r = {0};
    struct npy_header h;
    char *path = write_file(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (3,)}", x, sizeof x),
         *error = read_file(path, &r, &h);
    cr_expect_str_eq(error, "");
    cr_expect(r.values[0] == -5 && r.exact[0] && !r.exact[1] && !r.exact[2]);
    unlink(path);
    free(path);
    free(error);
}

Test(npy, damaged_files_are_errors)
{
    expect_error("{'descr': '<f4', 'fortran_order': False, 'shape': (4,)}", 12,
                 "it is truncated: its header says float32, shape (4,), which takes 16 bytes; 12 are there");
    expect_error("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 12, "more bytes than elements");
    expect_error("{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}", 16, "complex numbers");
    expect_error("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", 8, "records");
    expect_error("{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", 8, "no numbers of a known type");
    expect_error("{'descr': '<U3', 'fortran_order': False, 'shape': (2,)}", 8, "no numbers of a known type");
    expect_error("{'descr': '<f4', 'shape': (2,)}", 8, "lacks descr, fortran_order or shape");
    expect_error("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8, "twice");
    expect_error("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", 8, "other than descr");
    expect_error("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", 8, "not a number");
    expect_error("{'descr': '<f4', 'fortran_order': False, 'shape': (1048576, 1048576, 1048576)}", 8,
                 "implausible");
    expect_error("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,)}", 8,
                 "implausible");
    expect_error("{'descr': '<f4', 'fortran_order': 1, 'shape': (2,)}", 8, "neither True nor False");
    expect_error("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} exit()", 8, "something follows");
    expect_error("import os", 8, "'{' is expected");
    expect_error("", 8, "'{' is expected");
}

Test(npy, other_files_are_errors)
{
    static const char *const cases[][2] = {{"/missing.npy", "cannot open /missing.npy: No such file"},
                                           {"/dev/zero", "/dev/zero is not a regular file"},
                                           {"/tmp", "/tmp is not a regular file"},
                                           {"/proc/self/cmdline", "not a .npy file"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct read r = {0};
        struct npy_header h;
        char *error = read_file(cases[i][0], &r, &h);
        cr_expect_not_null(strstr(error, cases[i][1]), "'%s'", error);
        free(error);
    }
}

static void expect_round_trip(const struct npy_header *h, const void *elements, const double *values)
{
    char path[] = "/tmp/thresh-npy-XXXXXX";
    struct diag *d = diag_new();
    struct read r = {0};
    struct npy_header back;
    close(mkstemp(path));
    cr_assert(npy_write(path, h, elements, d));
    char *error = read_file(path, &r, &back);
    cr_expect_str_eq(error, "");
    cr_expect(back.kind == h->kind && back.bytes == h->bytes && back.n_extents == h->n_extents);
    cr_expect_eq(back.data_at % 64, 0u);
    for (unsigned i = 0; i < r.n; i++)
        cr_expect_eq(r.values[i], values[i]);
    unlink(path);
    free(error);
    diag_free(d);
}

Test(npy, what_is_written_reads_back)
{
    const float f[] = {1, 2.5f, -3, 4};
    const int32_t i[] = {7, -8};
    const uint8_t b[] = {1, 0, 1};
    expect_round_trip(&(struct npy_header){.kind = NPY_FLOAT, .bytes = 4, .n_extents = 2, .extents = {2, 2}},
                      f, (const double[]){1, 2.5, -3, 4});
    expect_round_trip(&(struct npy_header){.kind = NPY_FLOAT, .bytes = 4}, f, (const double[]){1});
    expect_round_trip(&(struct npy_header){.kind = NPY_INT, .bytes = 4, .n_extents = 1, .extents = {2}}, i,
                      (const double[]){7, -8});
    expect_round_trip(&(struct npy_header){.kind = NPY_BOOL, .bytes = 1, .n_extents = 1, .extents = {3}}, b,
                      (const double[]){1, 0, 1});
}

/* No file of a folder that cannot be written. */
Test(npy, a_file_that_cannot_be_written_is_an_error)
{
    struct diag *d = diag_new();
    const float f = 1;
    cr_expect_not(npy_write("/missing/x.npy", &(struct npy_header){.kind = NPY_FLOAT, .bytes = 4}, &f, d));
    cr_expect(diag_failed(d));
    diag_free(d);
}

/* What a damaged header may not do: take more elements than it has, or point beyond what was read. */
static void check_header(const struct npy_header *h, size_t n)
{
    int64_t elements = 1;
    cr_assert(h->n_extents <= NPY_MOST_EXTENTS);
    for (unsigned i = 0; i < h->n_extents; i++)
        elements *= h->extents[i];
    cr_expect_eq(elements, h->elements);
    cr_expect(h->data_at <= n && h->elements >= 0 && h->elements <= INT64_C(1) << 50);
    cr_expect(h->bytes == 1 || h->bytes == 2 || h->bytes == 4 || h->bytes == 8);
}

/* Headers with a few random changes, and cut off: most of them are refused, all are survived. */
Test(npy, random_headers_are_survived)
{
    static const char dictionary[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4, 500), }\n",
                      alphabet[] = "{}()[]'\",:<>|=0123456789fiubL TrueFals\\descrshape\n";
    const char *given = getenv("THRESH_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 1;
    struct pcg32 rng = pcg32_seed(seed, 0);
    unsigned accepted = 0;
    for (int round = 0; round < 200000; round++) {
        char file[16 + sizeof dictionary];
        const char *why = NULL;
        struct npy_header h;
        size_t n = 10 + sizeof dictionary - 1;
        memcpy(file, "\x93NUMPY\1\0", 8);
        file[8] = (char)(sizeof dictionary - 1);
        file[9] = 0;
        memcpy(file + 10, dictionary, sizeof dictionary - 1);
        for (unsigned changes = pcg32_below(&rng, 5); changes > 0; changes--) {
            size_t at = 6 + pcg32_below(&rng, (uint32_t)n - 6);
            bool any = at < 10 || pcg32_below(&rng, 4) == 0;
            file[at] = any ? (char)pcg32_below(&rng, 256)
                           : alphabet[pcg32_below(&rng, (uint32_t)sizeof alphabet - 1)];
        }
        if (pcg32_below(&rng, 8) == 0) n = pcg32_below(&rng, (uint32_t)n);
        char *copy = memcpy(malloc(n + 1), file, n); /* so that the sanitizer sees a read beyond it */
        bool ok = npy_parse(copy, n, &h, &why);
        cr_assert(ok || why, "seed %llu, round %d: no reason", (unsigned long long)seed, round);
        if (ok) check_header(&h, n);
        accepted += ok;
        free(copy);
    }
    cr_expect(accepted > 20000 && accepted < 180000, "%u", accepted);
}

Test(npy, halves_round_to_nearest)
{
    for (unsigned bits = 0; bits < 0x7c00; bits++)
        cr_assert_eq(half_of_double(half_to_double((uint16_t)bits)), bits);
    cr_expect_eq(half_of_double(-65536.0), 0xfc00);
    cr_expect(isnan(half_to_double(half_of_double((double)NAN))));
    cr_expect_eq(half_of_double(1 + 0x1p-11), 0x3c00);
    cr_expect_eq(half_of_double(1 + 3 * 0x1p-11), 0x3c02);
}
