/* Diagnostics: a bounded list of located messages. */
#include "core/base/diag.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/strbuf.h"
#include "core/base/utf8.h"

/* Columns of a long line that are shown before and after the caret. */
enum { SHOWN_BEFORE = 160, SHOWN_AFTER = 80 };
enum { LARGEST_READ = 1 << 20 }; /* bytes of a file that is read again to show a line of it */

struct entry {
    char *message; /* "file:line:col: error: text" */
    char *excerpt; /* the line and a caret, or NULL: no file */
    char *path;    /* NULL: no file */
    size_t offset; /* place, for the order of printing */
};

struct diag {
    struct entry entries[DIAG_MAX];
    size_t kept, total;
};

struct diag *diag_new(void)
{
    return base_calloc(1, sizeof(struct diag));
}

void diag_free(struct diag *d)
{
    if (!d) return;
    for (size_t i = 0; i < d->kept; i++) {
        free(d->entries[i].message);
        free(d->entries[i].excerpt);
        free(d->entries[i].path);
    }
    free(d);
}

/* Whether the byte is the first of a character. */
static bool starts_character(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

void source_locate(struct source_pos at, unsigned *line, unsigned *column)
{
    *line = 1;
    *column = 1;
    for (size_t i = 0; i < at.offset && i < at.source->length; i++) {
        if (at.source->text[i] == '\n') {
            ++*line;
            *column = 1;
        } else {
            *column += starts_character(at.source->text[i]);
        }
    }
}

static char *excerpt_of(struct source_pos at)
{
    const char *text = at.source->text;
    size_t offset = at.offset < at.source->length ? at.offset : at.source->length;
    size_t start = offset;
    while (start > 0 && offset - start < SHOWN_BEFORE && text[start - 1] != '\n')
        start--;
    size_t end = start;
    while (end < at.source->length && end < offset + SHOWN_AFTER && text[end] != '\n')
        end++;
    while (start < offset && !starts_character(text[start]))
        start++;
    while (end < at.source->length && !starts_character(text[end]))
        end++;
    struct strbuf b = {0};
    strbuf_printf(&b, "    %.*s\n    ", (int)(end - start), text + start);
    for (size_t i = start; i < offset; i++)
        strbuf_add(&b, text[i] == '\t' ? "\t" : starts_character(text[i]) ? " " : "");
    strbuf_add(&b, "^\n");
    return strbuf_take(&b);
}

/* NULL: enough are kept. */
static struct entry *new_entry(struct diag *d)
{
    d->total++;
    return d->kept == DIAG_MAX ? NULL : &d->entries[d->kept++];
}

static void set_place(struct entry *e, struct source_pos at, struct strbuf *message)
{
    unsigned line, column;
    source_locate(at, &line, &column);
    strbuf_printf(message, "%s:%u:%u: ", at.source->path, line, column);
    e->path = base_strdup(at.source->path);
    e->excerpt = excerpt_of(at);
    e->offset = at.offset;
}

static void set_message(struct entry *e, struct strbuf *message, const char *fmt, va_list args)
{
    strbuf_add(message, "error: ");
    strbuf_vprintf(message, fmt, args);
    e->message = strbuf_take(message);
}

static void add(struct diag *d, struct source_pos at, const char *fmt, va_list args)
{
    struct entry *e = new_entry(d);
    struct strbuf message = {0};
    if (!e) return;
    if (at.source) set_place(e, at, &message);
    set_message(e, &message, fmt, args);
}

void diag_error(struct diag *d, struct source_pos at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add(d, at, fmt, args);
    va_end(args);
}

void diag_plain(struct diag *d, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add(d, (struct source_pos){0}, fmt, args);
    va_end(args);
}

size_t diag_count(const struct diag *d)
{
    return d->total;
}

bool diag_failed(const struct diag *d)
{
    return d->total > 0;
}

const char *diag_message(const struct diag *d, size_t i)
{
    return i < d->kept ? d->entries[i].message : NULL;
}

static int by_place(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int file = strcmp(x->path ? x->path : "", y->path ? y->path : "");
    if (file) return file;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

void diag_print(const struct diag *d, FILE *out)
{
    struct entry sorted[DIAG_MAX];
    memcpy(sorted, d->entries, sizeof sorted);
    qsort(sorted, d->kept, sizeof sorted[0], by_place);
    for (size_t i = 0; i < d->kept; i++)
        fprintf(out, "%s\n%s", sorted[i].message, sorted[i].excerpt ? sorted[i].excerpt : "");
    if (d->total > d->kept) fprintf(out, "error: %zu more errors\n", d->total - d->kept);
}

static char *read_stream(FILE *in, size_t limit, size_t *length)
{
    struct strbuf b = {0};
    char chunk[4096];
    size_t n;
    while ((n = fread(chunk, 1, sizeof chunk, in)) > 0 && b.length <= limit)
        strbuf_addn(&b, chunk, n);
    *length = b.length;
    return strbuf_take(&b);
}

/* Adds an error at the first byte that belongs to no character; false: there is none. */
static bool not_utf8(const char *path, char *text, size_t length, struct diag *d)
{
    size_t valid = utf8_valid(text, length);
    if (valid == length) return false;
    unsigned byte = (unsigned char)text[valid];
    const struct source source = {path, text, length};
    utf8_clean(text);
    diag_error(d, (struct source_pos){&source, valid}, "byte 0x%02x: the file is not UTF-8", byte);
    return true;
}

char *source_read_file(const char *path, size_t limit, size_t *length, struct diag *d)
{
    FILE *in = fopen(path, "rb");
    if (!in) {
        diag_plain(d, "cannot open '%s': %s", path, strerror(errno));
        return NULL;
    }
    char *text = read_stream(in, limit, length);
    int failed = ferror(in) ? errno : 0;
    fclose(in);
    if (failed)
        diag_plain(d, "cannot read '%s': %s", path, strerror(failed));
    else if (*length > limit)
        diag_plain(d, "'%s' is larger than %zu bytes", path, limit);
    else if (*length > 0 && memchr(text, 0, *length))
        diag_plain(d, "'%s' is not text: byte %zu is 0", path, strlen(text) + 1);
    else if (!not_utf8(path, text, *length, d))
        return text;
    free(text);
    return NULL;
}

/* Offset of the first character of a line that is not blank; false: there is no such line. */
static bool find_line(const struct source *source, unsigned line, size_t *offset)
{
    const char *at = source->text;
    for (unsigned i = 1; i < line && at; i++)
        if ((at = strchr(at, '\n'))) at++;
    if (!at) return false;
    *offset = (size_t)(at - source->text) + strspn(at, " \t");
    return true;
}

/* The text of a file that may be gone by now, or NULL. */
static char *read_again(const char *path, size_t *length)
{
    struct diag *gone = diag_new();
    char *text = source_read_file(path, LARGEST_READ, length, gone);
    diag_free(gone);
    return text;
}

void diag_line(struct diag *d, const char *path, unsigned line, const char *fmt, ...)
{
    struct entry *e = new_entry(d);
    if (!e) return;
    struct source source = {.path = path};
    struct source_pos at = {&source, 0};
    struct strbuf message = {0};
    char *text = read_again(path, &source.length);
    source.text = text;
    if (text && find_line(&source, line, &at.offset)) {
        set_place(e, at, &message);
    } else {
        strbuf_printf(&message, "%s:%u: ", path, line);
        e->path = base_strdup(path);
        e->offset = line;
    }
    va_list args;
    va_start(args, fmt);
    set_message(e, &message, fmt, args);
    va_end(args);
    free(text);
}
