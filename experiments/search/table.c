/* Prints what search-bench has found as Markdown. Input: its lines, from files or standard input.
 *
 *     search-bench --heuristic tag --heuristic uct A.pool B.pool | search-table
 *
 * For each pool, and for all of them together (geometric means of medians): the best time over the optimum
 * after 25, 50, ... evaluations, and the evaluations until it was within 10, 5 and 1 % of it with the share
 * of seeds that came so far. Those that did not count as the limit; a median that is the limit stands as ">
 * 400". Intervals of 95 % by bootstrap (statistics.h). With two labels, such as two programs in turn: the
 * ratio of the second one's evaluations to the first one's, below 1 if the second one needs fewer. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "experiments/search/statistics.h"

enum { N_AT = 5, N_NEAR = 3, MOST_NAMES = 256 };
static const uint32_t AT[N_AT] = {25, 50, 100, 200, 400};
static const double NEAR[N_NEAR] = {1.10, 1.05, 1.01};

struct names {
    char *list[MOST_NAMES];
    size_t n;
};

struct line {
    size_t pool, label, heuristic;
    struct course course;
};

struct table {
    struct names pools, labels, heuristics;
    struct line *lines;
    size_t n, room;
    uint32_t limit; /* the least of all lines */
};

/* What a figure is of: a kind of number for each course. */
struct figure_kind {
    enum { BEST, WITHIN, REACHED } what;
    uint32_t at;
    double near;
};

/* ---- reading ---- */

/* MOST_NAMES: there is no room for another. */
static size_t number_of(struct names *names, const char *name)
{
    size_t i = 0;
    while (i < names->n && strcmp(names->list[i], name) != 0)
        i++;
    if (i == names->n && i < MOST_NAMES) names->list[names->n++] = base_strdup(name);
    return i;
}

static bool add_line(struct table *t, char *text)
{
    char *fields[6], *rest = text, *end;
    for (size_t i = 0; i < 6; i++) {
        fields[i] = rest;
        rest = rest ? strchr(rest, '\t') : NULL;
        if (rest) *rest++ = 0;
    }
    struct line line;
    if (!fields[5] || rest || !course_parse(fields[5], &line.course)) return false;
    uint32_t limit = (uint32_t)strtoul(fields[4], &end, 10);
    line.pool = number_of(&t->pools, fields[0]);
    line.label = number_of(&t->labels, fields[1]);
    line.heuristic = number_of(&t->heuristics, fields[2]);
    if (t->n == t->room) t->room = 2 * t->room + 64;
    t->lines = base_realloc(t->lines, t->room * sizeof *t->lines);
    t->lines[t->n++] = line;
    if (limit < t->limit) t->limit = limit;
    return *end == 0 && limit > 0 && line.pool < MOST_NAMES && line.label < MOST_NAMES &&
           line.heuristic < MOST_NAMES;
}

static bool read_lines(struct table *t, const char *path, FILE *in)
{
    char *line = NULL;
    size_t room = 0;
    bool ok = true;
    for (unsigned at = 1; ok && getline(&line, &room, in) > 0; at++) {
        line[strcspn(line, "\n")] = 0;
        ok = add_line(t, line);
        if (!ok) fprintf(stderr, "search-table: %s:%u: not a line of search-bench\n", path, at);
    }
    free(line);
    return ok;
}

/* ---- numbers ---- */

static double number(const struct table *t, const struct course *c, struct figure_kind kind)
{
    switch (kind.what) {
    case BEST:
        return course_ratio(c, kind.at);
    case WITHIN:
        return course_within(c, kind.near, t->limit);
    case REACHED:
        return course_reaches(c, kind.near, t->limit);
    }
    return NAN;
}

/* The numbers of the lines with these names; returns how many. out has room for all lines. */
static size_t numbers_of(const struct table *t, size_t pool, size_t label, size_t heuristic,
                         struct figure_kind kind, double *out)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct line *l = &t->lines[i];
        if (l->pool == pool && l->label == label && l->heuristic == heuristic)
            out[n++] = number(t, &l->course, kind);
    }
    return n;
}

/* Lists by pool; zero-initialise. */
struct lists {
    double *x[MOST_NAMES];
    size_t n[MOST_NAMES], lists;
};

/* Of one pool, or of all (SIZE_MAX). false: one of them was not searched so. */
static bool collect(const struct table *t, size_t pool, size_t label, size_t heuristic,
                    struct figure_kind kind, struct lists *out)
{
    bool all = true;
    for (size_t p = pool == SIZE_MAX ? 0 : pool; p < t->pools.n && (pool == SIZE_MAX || p == pool); p++) {
        double *x = out->x[out->lists] = base_malloc((t->n + 1) * sizeof *x);
        size_t n = out->n[out->lists++] = numbers_of(t, p, label, heuristic, kind, x);
        all = all && n > 0;
    }
    return all;
}

static struct samples samples_of(const struct lists *l)
{
    return (struct samples){(const double *const *)l->x, l->n, l->lists};
}

static void free_lists(struct lists *l)
{
    for (size_t i = 0; i < l->lists; i++)
        free(l->x[i]);
}

/* ---- printing ---- */

static void print_number(double x, int digits)
{
    if (isfinite(x))
        printf("%.*f", digits, x);
    else
        fputs("none", stdout);
}

static void print_estimate(struct estimate e, int digits)
{
    print_number(e.middle, digits);
    fputs(" (", stdout);
    print_number(e.low, digits);
    fputs(" to ", stdout);
    print_number(e.high, digits);
    fputs(")", stdout);
}

static void print_within(const struct table *t, struct estimate e)
{
    if (e.middle >= t->limit * (1 - 1e-9))
        printf("> %" PRIu32 " (from %.0f)", t->limit, e.low);
    else
        print_estimate(e, 0);
}

static void print_share(const struct table *t, size_t pool, size_t label, size_t heuristic, double near)
{
    struct lists l = {0};
    double sum = 0, n = 0;
    collect(t, pool, label, heuristic, (struct figure_kind){REACHED, 0, near}, &l);
    for (size_t k = 0; k < l.lists; k++)
        for (size_t i = 0; i < l.n[k]; i++) {
            sum += l.x[k][i];
            n++;
        }
    printf(", %.0f %%", 100 * sum / n);
    free_lists(&l);
}

static void print_figure(const struct table *t, size_t pool, size_t label, size_t heuristic,
                         struct figure_kind kind)
{
    struct lists l = {0};
    fputs(" ", stdout);
    if (!collect(t, pool, label, heuristic, kind, &l)) {
        fputs("- |", stdout);
    } else if (kind.what == BEST) {
        print_estimate(mean_of_medians(samples_of(&l)), 3);
        fputs(" |", stdout);
    } else {
        print_within(t, mean_of_medians(samples_of(&l)));
        print_share(t, pool, label, heuristic, kind.near);
        fputs(" |", stdout);
    }
    free_lists(&l);
}

static bool was_searched(const struct table *t, size_t pool, size_t label, size_t heuristic)
{
    for (size_t i = 0; i < t->n; i++)
        if ((pool == SIZE_MAX || t->lines[i].pool == pool) && t->lines[i].label == label &&
            t->lines[i].heuristic == heuristic)
            return true;
    return false;
}

static void print_rows(const struct table *t, size_t pool, const struct figure_kind *kinds, size_t n)
{
    for (size_t k = 0; k < n + 1; k++)
        fputs(k ? "---|" : "|---|", stdout);
    puts("");
    for (size_t h = 0; h < t->heuristics.n; h++)
        for (size_t label = 0; label < t->labels.n; label++) {
            if (!was_searched(t, pool, label, h)) continue;
            printf("| %s%s%s |", t->heuristics.list[h], t->labels.n > 1 ? ", " : "",
                   t->labels.n > 1 ? t->labels.list[label] : "");
            for (size_t k = 0; k < n; k++)
                print_figure(t, pool, label, h, kinds[k]);
            puts("");
        }
}

static void print_pool(const struct table *t, size_t pool)
{
    struct figure_kind best[N_AT], within[N_NEAR];
    size_t n = 0;
    printf("\n## %s\n\n| best / optimum after |",
           pool == SIZE_MAX ? "All pools (geometric means of medians)" : t->pools.list[pool]);
    for (size_t i = 0; i < N_AT; i++) {
        if (AT[i] > t->limit) continue;
        best[n++] = (struct figure_kind){BEST, AT[i], 0};
        printf(" %" PRIu32 " |", AT[i]);
    }
    puts("");
    print_rows(t, pool, best, n);
    printf("\n| evaluations to within, share of seeds |");
    for (size_t i = 0; i < N_NEAR; i++) {
        within[i] = (struct figure_kind){WITHIN, 0, NEAR[i]};
        printf(" %.0f %% |", 100 * (NEAR[i] - 1));
    }
    puts("");
    print_rows(t, pool, within, N_NEAR);
}

/* The second label over the first. */
static void print_ratios(const struct table *t)
{
    printf(
        "\n## Evaluations of %s over those of %s\n\n| all pools | 10 %% | 5 %% | 1 %% |\n|---|---|---|---|\n",
        t->labels.list[1], t->labels.list[0]);
    for (size_t h = 0; h < t->heuristics.n; h++) {
        printf("| %s |", t->heuristics.list[h]);
        for (size_t i = 0; i < N_NEAR; i++) {
            struct lists before = {0}, now = {0};
            const struct figure_kind kind = {WITHIN, 0, NEAR[i]};
            bool both = collect(t, SIZE_MAX, 0, h, kind, &before);
            both = collect(t, SIZE_MAX, 1, h, kind, &now) && both;
            fputs(" ", stdout);
            if (both)
                print_estimate(ratio_of_medians(samples_of(&now), samples_of(&before)), 2);
            else
                fputs("-", stdout);
            fputs(" |", stdout);
            free_lists(&before);
            free_lists(&now);
        }
        puts("");
    }
}

/* ---- main ---- */

static void free_names(struct names *n)
{
    for (size_t i = 0; i < n->n; i++)
        free(n->list[i]);
}

static void free_table(struct table *t)
{
    for (size_t i = 0; i < t->n; i++)
        course_free(&t->lines[i].course);
    free(t->lines);
    free_names(&t->pools);
    free_names(&t->labels);
    free_names(&t->heuristics);
}

int main(int argc, char **argv)
{
    struct table t = {.limit = UINT32_MAX};
    bool ok = argc > 1 || read_lines(&t, "standard input", stdin);
    for (int i = 1; ok && i < argc; i++) {
        FILE *in = fopen(argv[i], "r");
        ok = in && read_lines(&t, argv[i], in);
        if (!in) fprintf(stderr, "search-table: %s: cannot be read\n", argv[i]);
        if (in) fclose(in);
    }
    for (size_t pool = 0; ok && pool < t.pools.n; pool++)
        print_pool(&t, pool);
    if (ok && t.pools.n > 1) print_pool(&t, SIZE_MAX);
    if (ok && t.labels.n == 2) print_ratios(&t);
    free_table(&t);
    return ok ? 0 : 1;
}
