/* Edit distance with swaps of neighbours (optimal string alignment), row by row: three rows are kept. */
#include "core/base/similar.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/strbuf.h"

enum { LONGEST = 63 }; /* longer names are not compared */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned least(unsigned x, unsigned y)
{
    return x < y ? x : y;
}

struct rows {
    unsigned before[LONGEST + 1], above[LONGEST + 1], row[LONGEST + 1];
};

/* Fills the row of x[i], i >= 1, counted from 1. */
static void fill_row(struct rows *r, const char *x, size_t i, const char *y, size_t ny)
{
    r->row[0] = (unsigned)i;
    for (size_t j = 1; j <= ny; j++) {
        char c = lower(x[i - 1]), e = lower(y[j - 1]);
        unsigned best = least(r->above[j], r->row[j - 1]) + 1;
        best = least(best, r->above[j - 1] + (c != e));
        if (i > 1 && j > 1 && c == lower(y[j - 2]) && lower(x[i - 2]) == e)
            best = least(best, r->before[j - 2] + 1);
        r->row[j] = best;
    }
}

/* Edits that make y of x. */
static unsigned distance(const char *x, size_t nx, const char *y, size_t ny)
{
    struct rows r = {{0}, {0}, {0}};
    for (size_t j = 0; j <= ny; j++)
        r.row[j] = (unsigned)j;
    for (size_t i = 1; i <= nx; i++) {
        memcpy(r.before, r.above, sizeof r.above);
        memcpy(r.above, r.row, sizeof r.row);
        fill_row(&r, x, i, y, ny);
    }
    return r.row[ny];
}

/* Edits from `name` to `other`; UINT_MAX if they are not close. A beginning counts as one edit. */
static unsigned apart(const char *name, const char *other)
{
    size_t n = strlen(name), m = strlen(other), longer = n > m ? n : m;
    if (n == 0 || longer > LONGEST) return UINT_MAX;
    unsigned edits = distance(name, n, other, m);
    if (edits <= longer / 3) return edits;
    return n >= 3 && strncmp(name, other, n) == 0 ? 1 : UINT_MAX;
}

const char *similar_find(const char *name, const char *const *known, size_t n)
{
    const char *nearest = NULL;
    unsigned fewest = UINT_MAX;
    for (size_t i = 0; i < n; i++) {
        unsigned edits = known[i] ? apart(name, known[i]) : UINT_MAX;
        if (edits >= fewest) continue;
        fewest = edits;
        nearest = known[i];
    }
    return nearest;
}

/* The name among the folder's that is nearest to `name`, or NULL. Frees the entries. */
static char *nearest_entry(const char *name, struct dirent **entries, int n)
{
    const char **names = base_calloc((size_t)n + 1, sizeof *names);
    for (int i = 0; i < n; i++)
        names[i] = entries[i]->d_name[0] == '.' ? NULL : entries[i]->d_name;
    const char *nearest = similar_find(name, names, (size_t)n);
    char *copy = nearest ? base_strdup(nearest) : NULL;
    for (int i = 0; i < n; i++)
        free(entries[i]);
    free(names);
    return copy;
}

char *similar_file(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct strbuf folder = {0};
    struct dirent **entries = NULL;
    strbuf_addn(&folder, path, (size_t)(name - path));
    int n = scandir(slash ? folder.text : ".", &entries, NULL, alphasort);
    char *nearest = n >= 0 ? nearest_entry(name, entries, n) : NULL;
    free(entries);
    if (!nearest) {
        strbuf_free(&folder);
        return NULL;
    }
    strbuf_add(&folder, nearest);
    free(nearest);
    return strbuf_take(&folder);
}
