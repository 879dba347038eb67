/* The known name that a misspelt one most likely stands for, for messages such as "unknown option
 * '--evaluation'; did you mean '--evaluations'?". */
#ifndef THRESH_BASE_SIMILAR_H
#define THRESH_BASE_SIMILAR_H

#include <stddef.h>

/* The entry of known[0..n) that is nearest to `name`, the first of equally near ones; NULL if none is close.
 * Close means: at most one edit in three characters (an edit inserts, deletes or replaces a character or
 * swaps two neighbours; upper and lower case count as equal), or an entry that begins with `name` (three
 * characters at least). NULL entries are left out. The result is borrowed from known[]. */
const char *similar_find(const char *name, const char *const *known, size_t n);

/* The path of the file whose name is nearest to the last part of `path`, in the same folder; NULL if none is
 * close. The caller frees it. */
char *similar_file(const char *path);

#endif
