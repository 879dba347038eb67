/* The header of a .npy file: a reader of as much of Python as NumPy writes there.
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (512, 64), }
 *
 * The three keys may come in any order, each once. Blanks, both kinds of quotes, a comma at the end and the L
 * of Python 2's long numbers are read. The reader sees bounded bytes and keeps no state but its place. */
#include <string.h>

#include "core/base/npy.h"
#include "core/base/strbuf.h"

enum { MAGIC = 6, SHORT_PREFIX = 10, LONG_PREFIX = 12, MOST_TEXT = 32 };
static const int64_t most_elements = INT64_C(1) << 50;

struct reader {
    const char *at, *end;
    const char *why;
};

static bool refuse(struct reader *r, const char *why)
{
    if (!r->why) r->why = why;
    return false;
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && *r->at && strchr(" \t\n\r", *r->at))
        r->at++;
}

/* Skips a character, if it is the next one. */
static bool skip(struct reader *r, char c)
{
    skip_blanks(r);
    if (r->at == r->end || *r->at != c) return false;
    r->at++;
    return true;
}

static bool skip_word(struct reader *r, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(r);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0) return false;
    r->at += n;
    return true;
}

/* A string in quotes, without escapes. */
static bool read_text(struct reader *r, char out[MOST_TEXT])
{
    char quote = skip(r, '\'') ? '\'' : skip(r, '"') ? '"' : 0;
    size_t n = 0;
    while (quote && r->at < r->end && *r->at != quote && n < MOST_TEXT - 1)
        out[n++] = *r->at++;
    out[n] = 0;
    return (quote && skip(r, quote)) || refuse(r, "its header is malformed: a text in quotes is expected");
}

/* ---- the three values ---- */

static bool read_descr(struct reader *r, struct npy_header *h)
{
    static const struct {
        char letter;
        enum npy_kind kind;
        const char *sizes;
    } kinds[] = {
        {'f', NPY_FLOAT, "248"}, {'i', NPY_INT, "1248"}, {'u', NPY_UNSIGNED, "1248"}, {'b', NPY_BOOL, "1"}};
    char text[MOST_TEXT];
    if (skip(r, '[')) return refuse(r, "its elements are records; use one array of numbers for each field");
    if (!read_text(r, text)) return false;
    if (!strchr("<>|=", text[0]) || strlen(text) != 3)
        return refuse(r, "its elements are no numbers of a known type");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].letter != text[1] || !strchr(kinds[i].sizes, text[2])) continue;
        h->kind = kinds[i].kind;
        h->bytes = (unsigned)(text[2] - '0');
        h->big_endian = text[0] == '>';
        return h->bytes == 1 || text[0] != '|' || refuse(r, "its header does not tell the order of bytes");
    }
    return refuse(r, text[1] == 'c' ? "its elements are complex numbers; use one array for each part"
                                    : "its elements are no numbers of a known type");
}

static bool read_order(struct reader *r, struct npy_header *h)
{
    h->fortran = skip_word(r, "True");
    return h->fortran || skip_word(r, "False") ||
           refuse(r, "its header is malformed: fortran_order is neither True nor False");
}

static bool read_extent(struct reader *r, int64_t *out)
{
    int64_t n = 0;
    bool any = false;
    skip_blanks(r);
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++, any = true) {
        n = 10 * n + (*r->at - '0');
        if (n > most_elements) return refuse(r, "its shape is implausible: more than 2^50 elements");
    }
    *out = n;
    skip(r, 'L');
    return any || refuse(r, "its header is malformed: an extent of its shape is not a number");
}

/* After the parenthesis. */
static bool read_extents(struct reader *r, struct npy_header *h)
{
    while (!skip(r, ')')) {
        if (h->n_extents == NPY_MOST_EXTENTS) return refuse(r, "its shape has more than 32 extents");
        if (!read_extent(r, &h->extents[h->n_extents++])) return false;
        if (skip(r, ',')) continue;
        return skip(r, ')') || refuse(r, "its header is malformed: the shape has no end");
    }
    return true;
}

static bool read_shape(struct reader *r, struct npy_header *h)
{
    h->elements = 1;
    if (!skip(r, '(')) return refuse(r, "its header is malformed: its shape is not in parentheses");
    if (!read_extents(r, h)) return false;
    for (unsigned i = 0; i < h->n_extents; i++)
        if (h->extents[i] == 0) h->elements = 0;
    for (unsigned i = 0; i < h->n_extents && h->elements; i++) {
        if (h->elements > most_elements / h->extents[i])
            return refuse(r, "its shape is implausible: more than 2^50 elements");
        h->elements *= h->extents[i];
    }
    return true;
}

/* ---- the dictionary ---- */

static bool read_entry(struct reader *r, unsigned *seen, struct npy_header *h)
{
    static const struct {
        const char *name;
        bool (*read)(struct reader *r, struct npy_header *h);
    } keys[] = {{"descr", read_descr}, {"fortran_order", read_order}, {"shape", read_shape}};
    char name[MOST_TEXT];
    if (!read_text(r, name)) return false;
    if (!skip(r, ':')) return refuse(r, "its header is malformed: ':' is expected after a key");
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(keys[i].name, name) != 0) continue;
        if (*seen & 1u << i) return refuse(r, "its header is malformed: a key is there twice");
        *seen |= 1u << i;
        return keys[i].read(r, h);
    }
    return refuse(r, "its header has a key other than descr, fortran_order and shape");
}

static bool read_dictionary(struct reader *r, struct npy_header *h)
{
    unsigned seen = 0;
    if (!skip(r, '{')) return refuse(r, "its header is malformed: '{' is expected");
    while (!skip(r, '}')) {
        if (!read_entry(r, &seen, h)) return false;
        if (skip(r, ',')) continue;
        if (skip(r, '}')) break;
        return refuse(r, "its header is malformed: ',' or '}' is expected after a value");
    }
    skip_blanks(r);
    if (r->at != r->end) return refuse(r, "its header is malformed: something follows '}'");
    return seen == 7 || refuse(r, "its header lacks descr, fortran_order or shape");
}

/* The number of n bytes, the lowest first. */
static uint32_t number(const unsigned char *p, int n)
{
    uint32_t x = 0;
    for (int i = n - 1; i >= 0; i--)
        x = x << 8 | p[i];
    return x;
}

bool npy_parse(const void *data, size_t n, struct npy_header *out, const char **why)
{
    const unsigned char *p = data;
    struct reader r = {0};
    *out = (struct npy_header){0};
    if (n < MAGIC || memcmp(p, "\x93NUMPY", MAGIC) != 0) {
        *why = "it is not a .npy file: it does not begin with \\x93NUMPY";
        return false;
    }
    size_t prefix = n > MAGIC && p[MAGIC] == 1 ? SHORT_PREFIX : LONG_PREFIX;
    if (n < prefix) {
        *why = "it is truncated: it ends within its header";
        return false;
    }
    if (p[MAGIC] < 1 || p[MAGIC] > 3 || p[MAGIC + 1] != 0) {
        *why = "its format is none of 1.0, 2.0 and 3.0";
        return false;
    }
    size_t length = number(p + MAGIC + 2, prefix == SHORT_PREFIX ? 2 : 4);
    if (length > NPY_MOST_HEADER - prefix)
        refuse(&r, "its header is implausible: longer than 64 KiB");
    else if (length > n - prefix)
        refuse(&r, "it is truncated: it ends within its header");
    r.at = (const char *)p + prefix;
    r.end = r.at + (r.why ? 0 : length);
    out->data_at = prefix + length;
    bool ok = !r.why && read_dictionary(&r, out);
    *why = r.why;
    return ok;
}

void npy_print(const struct npy_header *h, struct strbuf *out)
{
    static const char *const names[] = {"float", "int", "uint", "bool"};
    strbuf_add(out, names[h->kind]);
    if (h->kind != NPY_BOOL) strbuf_printf(out, "%u", 8 * h->bytes);
    strbuf_add(out, ", shape (");
    for (unsigned i = 0; i < h->n_extents; i++)
        strbuf_printf(out, "%s%lld", i ? ", " : "", (long long)h->extents[i]);
    strbuf_add(out, h->n_extents == 1 ? ",)" : ")");
    if (h->fortran) strbuf_add(out, ", Fortran order");
    if (h->big_endian) strbuf_add(out, ", big-endian");
}
