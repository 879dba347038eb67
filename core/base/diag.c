/* Diagnostics: two bounded lists of located messages, for errors and for warnings. Text and excerpt are
 * copied when a message is added, so that the source may go; the order of places is made when they are
 * printed. */
#include "core/base/diag.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/similar.h"
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

struct list {
    struct entry entries[DIAG_MAX];
    size_t kept, total;
};

struct diag {
    struct list errors, warnings;
};

struct diag *diag_new(void)
{
    return base_calloc(1, sizeof(struct diag));
}

static void clear(struct list *l)
{
    for (size_t i = 0; i < l->kept; i++) {
        free(l->entries[i].message);
        free(l->entries[i].excerpt);
        free(l->entries[i].path);
    }
    *l = (struct list){0};
}

void diag_free(struct diag *d)
{
    if (!d) return;
    clear(&d->errors);
    clear(&d->warnings);
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
static struct entry *new_entry(struct list *l)
{
    l->total++;
    return l->kept == DIAG_MAX ? NULL : &l->entries[l->kept++];
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

static void set_message(struct entry *e, struct strbuf *message, const char *kind, const char *fmt,
                        va_list args)
{
    strbuf_printf(message, "%s: ", kind);
    strbuf_vprintf(message, fmt, args);
    e->message = strbuf_take(message);
}

static void add(struct list *l, struct source_pos at, const char *kind, const char *fmt, va_list args)
{
    struct entry *e = new_entry(l);
    struct strbuf message = {0};
    if (!e) return;
    if (at.source) set_place(e, at, &message);
    set_message(e, &message, kind, fmt, args);
}

static const char error[] = "error", warning[] = "warning";

void diag_error(struct diag *d, struct source_pos at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add(&d->errors, at, error, fmt, args);
    va_end(args);
}

void diag_plain(struct diag *d, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add(&d->errors, (struct source_pos){0}, error, fmt, args);
    va_end(args);
}

void diag_warning(struct diag *d, struct source_pos at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add(&d->warnings, at, warning, fmt, args);
    va_end(args);
}

void diag_plain_warning(struct diag *d, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add(&d->warnings, (struct source_pos){0}, warning, fmt, args);
    va_end(args);
}

size_t diag_count(const struct diag *d)
{
    return d->errors.total;
}

bool diag_failed(const struct diag *d)
{
    return d->errors.total > 0;
}

const char *diag_message(const struct diag *d, size_t i)
{
    return i < d->errors.kept ? d->errors.entries[i].message : NULL;
}

static int by_place(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int file = strcmp(x->path ? x->path : "", y->path ? y->path : "");
    if (file) return file;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Appends what is kept to `to`, which has n; returns how many it then has. */
static size_t gather(const struct list *l, struct entry *to, size_t n)
{
    memcpy(to + n, l->entries, l->kept * sizeof *to);
    return n + l->kept;
}

static void print_more(const struct list *l, const char *kind, FILE *out)
{
    if (l->total > l->kept) fprintf(out, "%s: %zu more %ss\n", kind, l->total - l->kept, kind);
}

void diag_print(const struct diag *d, FILE *out)
{
    struct entry sorted[2 * DIAG_MAX];
    size_t n = gather(&d->warnings, sorted, gather(&d->errors, sorted, 0));
    qsort(sorted, n, sizeof sorted[0], by_place);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s\n%s", sorted[i].message, sorted[i].excerpt ? sorted[i].excerpt : "");
    print_more(&d->warnings, warning, out);
    print_more(&d->errors, error, out);
}

void diag_print_warnings(struct diag *d, FILE *out)
{
    struct diag warnings = {.warnings = d->warnings};
    diag_print(&warnings, out);
    clear(&d->warnings);
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
    diag_error(d, (struct source_pos){&source, valid},
               "invalid byte 0x%02x: the file is not UTF-8; convert it", byte);
    return true;
}

static void report_unopened(const char *path, int code, struct diag *d)
{
    char *similar = code == ENOENT ? similar_file(path) : NULL;
    diag_plain(d, "cannot open '%s': %s%s%s%s", path, strerror(code), similar ? "; did you mean '" : "",
               similar ? similar : "", similar ? "'?" : "");
    free(similar);
}

char *source_read_file(const char *path, size_t limit, size_t *length, struct diag *d)
{
    FILE *in = fopen(path, "rb");
    if (!in) {
        report_unopened(path, errno, d);
        return NULL;
    }
    char *text = read_stream(in, limit, length);
    int failed = ferror(in) ? errno : 0;
    fclose(in);
    if (failed == EISDIR)
        diag_plain(d, "'%s' is a folder; expected a file", path);
    else if (failed)
        diag_plain(d, "cannot read '%s': %s", path, strerror(failed));
    else if (*length > limit)
        diag_plain(d, "'%s' is too large: more than %zu bytes", path, limit);
    else if (*length > 0 && memchr(text, 0, *length))
        diag_plain(d, "'%s' is not a text file: byte %zu is 0", path, strlen(text) + 1);
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
    struct entry *e = new_entry(&d->errors);
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
    set_message(e, &message, error, fmt, args);
    va_end(args);
    free(text);
}
