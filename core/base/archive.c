/* Layout: the bytes, then the checksum of all of them. */
#include "core/base/archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/base/hash.h"

struct archive {
    struct file_new file; /* that is written */
    FILE *in;             /* that is read; NULL: none */
    uint64_t left;        /* bytes to read before the checksum */
    uint64_t sum;
    bool failed;
};

enum { BUFFER = 1 << 16, WORD = 8 };

/* By words: a snapshot has hundreds of megabytes. */
static uint64_t add_to_sum(uint64_t h, const unsigned char *data, size_t n)
{
    for (; n >= WORD; n -= WORD, data += WORD) {
        uint64_t word;
        memcpy(&word, data, WORD);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return hash_bytes(h, data, n);
}

struct archive *archive_write(const char *path, struct diag *d)
{
    struct archive *a = base_calloc(1, sizeof *a);
    a->sum = HASH_START;
    if (file_begin(&a->file, path, d)) return a;
    free(a);
    return NULL;
}

/* ---- reading ---- */

/* Whether the stream has `bytes` bytes and their sum; it is at its beginning afterwards. */
static bool is_whole(FILE *in, uint64_t bytes)
{
    unsigned char *buffer = base_malloc(BUFFER);
    uint64_t sum = HASH_START, kept;
    bool ok = true;
    for (uint64_t left = bytes; ok && left > 0;) {
        size_t n = left < BUFFER ? (size_t)left : BUFFER;
        ok = fread(buffer, 1, n, in) == n;
        if (ok) sum = add_to_sum(sum, buffer, n);
        left -= n;
    }
    ok = ok && fread(&kept, sizeof kept, 1, in) == 1 && kept == hash_finish(sum);
    free(buffer);
    rewind(in);
    return ok;
}

struct archive *archive_read(const char *path)
{
    FILE *in = fopen(path, "rbe");
    if (!in) return NULL;
    struct archive *a = base_calloc(1, sizeof *a);
    a->in = in;
    long size = fseek(in, 0, SEEK_END) == 0 ? ftell(in) : -1;
    rewind(in);
    if (size >= WORD) {
        a->left = (uint64_t)size - WORD;
        if (is_whole(in, a->left)) return a;
    }
    fclose(in);
    free(a);
    return NULL;
}

bool archive_reads(const struct archive *a)
{
    return a->in != NULL;
}

void archive_fail(struct archive *a)
{
    a->failed = true;
}

bool archive_failed(const struct archive *a)
{
    return a->failed;
}

static void read_bytes(struct archive *a, void *data, size_t n)
{
    if (!a->failed && n <= a->left && fread(data, 1, n, a->in) == n) {
        a->left -= n;
        return;
    }
    a->failed = true;
    memset(data, 0, n);
}

/* ---- both ---- */

void archive_bytes(struct archive *a, void *data, size_t n)
{
    if (n == 0) return;
    if (a->in)
        read_bytes(a, data, n);
    else
        fwrite(data, 1, n, a->file.out);
}

void *archive_array(struct archive *a, void *list, size_t *n, size_t size)
{
    uint64_t count = *n;
    ARCHIVE(a, count);
    if (a->in) {
        if (count > a->left / size) archive_fail(a);
        *n = a->failed ? 0 : (size_t)count;
        free(list);
        list = base_malloc((*n + 1) * size);
    }
    archive_bytes(a, list, *n * size);
    return list;
}

char *archive_string(struct archive *a, char *text)
{
    bool is_there = text != NULL;
    size_t n = text ? strlen(text) : 0;
    ARCHIVE(a, is_there);
    if (!is_there) return NULL;
    text = archive_array(a, text, &n, 1);
    if (a->in) text[n] = 0;
    return text;
}

/* ---- the end ---- */

/* The sum is that of the file as it is read later. */
static bool end_writing(struct archive *a, struct diag *d)
{
    bool ok = fflush(a->file.out) == 0;
    FILE *in = ok && a->file.temporary ? fopen(a->file.temporary, "rbe") : NULL;
    unsigned char *buffer = base_malloc(BUFFER);
    uint64_t sum = HASH_START;
    for (size_t n; in && (n = fread(buffer, 1, BUFFER, in)) > 0;)
        sum = add_to_sum(sum, buffer, n);
    if (in) fclose(in);
    free(buffer);
    sum = hash_finish(sum);
    fwrite(&sum, sizeof sum, 1, a->file.out);
    return file_end(&a->file, d);
}

bool archive_close(struct archive *a, struct diag *d)
{
    if (!a) return true;
    bool ok = !a->failed;
    if (a->in)
        fclose(a->in);
    else if (ok)
        ok = end_writing(a, d);
    else
        file_drop(&a->file);
    free(a);
    return ok;
}
