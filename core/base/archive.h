/* A file with the state of a computation, which the same program reads back. One function writes and reads,
 * so that both do the same in the same order:
 *
 *     void tree_archive(struct tree *t, struct archive *a)
 *     {
 *         ARCHIVE(a, t->best_time);
 *         t->list = archive_array(a, t->list, &t->count, sizeof t->list[0]);
 *     }
 *
 *     struct archive *a = archive_write("run.snapshot", d);     a = archive_read("run.snapshot");
 *     tree_archive(t, a);                                       if (a) tree_archive(t, a);
 *     archive_close(a, d);                                      archive_close(a, d);
 *
 * Bytes are as they are in memory: an archive is no format for exchange. A checksum at its end is compared
 * before anything is read. */
#ifndef THRESH_BASE_ARCHIVE_H
#define THRESH_BASE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct archive;
struct diag;

/* Begins a file, which takes its name when it is closed. NULL after an error. */
struct archive *archive_write(const char *path, struct diag *d);
/* Opens one. NULL: there is none, or it is not complete. */
struct archive *archive_read(const char *path);
/* Ends either; NULL is allowed. false: it could not be written (after an error), or did not have what was
 * read. */
bool archive_close(struct archive *a, struct diag *d);

bool archive_reads(const struct archive *a);
/* What was read makes no sense, or the file has ended: from now on zeros are read. */
void archive_fail(struct archive *a);
bool archive_failed(const struct archive *a);

/* Writes n bytes, or reads over them. */
void archive_bytes(struct archive *a, void *data, size_t n);
#define ARCHIVE(a, object) archive_bytes(a, &(object), sizeof(object))
/* A list with its length. Reading returns a new one (malloc'd, room for one more) and frees `list`. */
void *archive_array(struct archive *a, void *list, size_t *n, size_t size);
/* A string, or NULL. Reading returns a new one (malloc'd) and frees `text`. */
char *archive_string(struct archive *a, char *text);

#endif
