/* A pool of a table of all configurations of a space, as ../shared/spaces has them:
 *
 *     tile,staged,time_ns         choice tile   values 1, 2, 4      row ok      0 0   2374015
 *     1,0,2374015                 choice staged values 0, 1         row failed  1 1
 *     2,1,0
 *
 * The last column is the time; 0 or less is a failure. Values are numbers, and sorted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/stats.h"
#include "experiments/search/gather.h"
#include "experiments/search/make_pool.h"

struct table {
    char **names; /* of the columns but the last */
    size_t n_columns, n_rows;
    double *cells; /* [n_rows * (n_columns + 1)], by row, the time last */
};

static bool read_cells(struct table *t, char *line)
{
    size_t width = t->n_columns + 1;
    t->cells = base_realloc(t->cells, (t->n_rows + 1) * width * sizeof *t->cells);
    double *row = t->cells + t->n_rows++ * width;
    for (size_t i = 0; i < width; i++) {
        char *end;
        row[i] = strtod(line, &end);
        if (end == line || *end != (i + 1 < width ? ',' : 0)) return false;
        line = end + 1;
    }
    return true;
}

static void read_names(struct table *t, struct arena *a, char *line)
{
    char *rest = line, *word;
    t->names = ARENA_ARRAY(a, char *, strlen(line) + 1);
    while ((word = strtok_r(rest, ",", &rest)))
        t->names[t->n_columns++] = arena_strdup(a, word);
    t->n_columns -= t->n_columns > 0;
}

static bool read_table(struct table *t, struct arena *a, const char *path, struct diag *d)
{
    FILE *in = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    unsigned at = 0;
    bool ok = in != NULL;
    while (ok && getline(&line, &room, in) > 0) {
        line[strcspn(line, "\r\n")] = 0;
        if (at++ == 0)
            read_names(t, a, line);
        else
            ok = t->n_columns > 0 && read_cells(t, line);
    }
    free(line);
    if (in) fclose(in);
    if (!in)
        diag_plain(d, "%s: cannot be read", path);
    else if (!ok || t->n_rows == 0)
        diag_plain(d, "%s:%u: expected a number for each column of the first line", path, at);
    return ok && t->n_rows > 0;
}

/* Numbers of a column's values, ascending; adds the choice. */
static bool add_column(const struct table *t, size_t column, struct pool *p, uint16_t *values)
{
    size_t width = t->n_columns + 1, n = 0;
    double *seen = base_malloc(t->n_rows * sizeof *seen);
    pool_add_group(p, t->names[column]);
    if (!pool_add_choice(p, t->names[column])) return false;
    for (size_t i = 0; i < t->n_rows; i++)
        seen[i] = t->cells[i * width + column];
    stats_sort(seen, t->n_rows);
    for (size_t i = 0; i < t->n_rows; i++)
        if (i == 0 || seen[i] > seen[n - 1]) seen[n++] = seen[i];
    for (size_t v = 0; v < n; v++) {
        char name[32];
        snprintf(name, sizeof name, "%.15g", seen[v]);
        pool_add_value(p, &p->choices[column], name, (int64_t)seen[v]);
    }
    for (size_t i = 0; i < t->n_rows; i++) {
        size_t v = 0;
        while (seen[v] < t->cells[i * width + column])
            v++;
        values[i * t->n_columns + column] = (uint16_t)v;
    }
    free(seen);
    return true;
}

static void add_rows(const struct table *t, struct pool *p, const uint16_t *values)
{
    struct gather *g = gather_new(t->n_columns, 0);
    uint32_t *all = base_malloc(t->n_columns * sizeof *all);
    for (size_t i = 0; i < t->n_columns; i++)
        all[i] = (uint32_t)i;
    for (size_t i = 0; i < t->n_rows; i++) {
        double time = t->cells[i * (t->n_columns + 1) + t->n_columns];
        gather_add(g, values + i * t->n_columns,
                   (struct gather_result){.status = time > 0 ? POOL_OK : POOL_FAILED, .time_ns = time});
    }
    gather_finish(g, all, t->n_columns, p);
    gather_free(g);
    free(all);
}

struct pool *make_pool_of_csv(const char *path, struct diag *d)
{
    struct table t = {0};
    struct pool *p = pool_new();
    bool ok = read_table(&t, p->arena, path, d);
    uint16_t *values = base_malloc((t.n_rows * t.n_columns + 1) * sizeof *values);
    p->title = arena_printf(p->arena, "all configurations of %s", path);
    for (size_t column = 0; ok && column < t.n_columns; column++)
        ok = add_column(&t, column, p, values) || (diag_plain(d, "%s: a column appears twice", path), false);
    if (ok) add_rows(&t, p, values);
    free(values);
    free(t.cells);
    if (ok) return p;
    pool_free(p);
    return NULL;
}
