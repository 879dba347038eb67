/* Pools in memory and as text; see pool.h. */
#include "experiments/search/pool.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "mcts/policy.h"
#include "perfmodel/estimate.h"

enum { VERSION = 1 };

static const char *const STATUS[] = {"ok", "cut", "failed", "oversized"};

struct pool *pool_new(void)
{
    struct arena *a = arena_new();
    struct pool *p = ARENA_NEW(a, struct pool);
    *p = (struct pool){.arena = a, .title = arena_strdup(a, "")};
    return p;
}

void pool_free(struct pool *p)
{
    if (p) arena_free(p->arena);
}

/* ---- filling in ---- */

#define GROW(p, list)                                                                                        \
    (p)->list = arena_grow((p)->arena, (p)->list, &(p)->list##_room, (p)->n_##list + 1, sizeof *(p)->list)

void pool_add_fact(struct pool *p, const char *name, double value)
{
    GROW(p, facts);
    p->facts[p->n_facts++] = (struct pool_fact){arena_strdup(p->arena, name), value};
}

unsigned pool_add_group(struct pool *p, const char *name)
{
    GROW(p, groups);
    p->groups[p->n_groups] = arena_strdup(p->arena, name);
    return (unsigned)p->n_groups++;
}

/* Cuts "a, b)" into arguments. */
static void add_arguments(struct pool *p, struct pool_choice *c, const char *text)
{
    char *rest = arena_strdup(p->arena, text), *argument;
    rest[strcspn(rest, ")")] = 0;
    while (c->n_arguments < POOL_ARGUMENTS && (argument = strtok_r(rest, ", ", &rest)))
        c->arguments[c->n_arguments++] = argument;
}

bool pool_add_choice(struct pool *p, const char *name)
{
    size_t length = strcspn(name, "(");
    unsigned group = p->n_choices ? p->choices[p->n_choices - 1].group : 0;
    while (group < p->n_groups &&
           (strncmp(p->groups[group], name, length) != 0 || p->groups[group][length] != 0))
        group++;
    if (group == p->n_groups) return false;
    GROW(p, choices);
    struct pool_choice *c = &p->choices[p->n_choices++];
    *c = (struct pool_choice){.name = arena_strdup(p->arena, name), .group = group};
    if (name[length]) add_arguments(p, c, name + length + 1);
    return true;
}

void pool_add_value(struct pool *p, struct pool_choice *c, const char *name, int64_t code)
{
    size_t room = c->n_values;
    if ((c->n_values & (c->n_values - 1)) == 0)
        c->values = arena_grow(p->arena, c->values, &room, 2 * (size_t)c->n_values + 1, sizeof *c->values);
    c->values[c->n_values++] = (struct pool_value){arena_strdup(p->arena, name), code};
}

void pool_add_row(struct pool *p, struct pool_row row, const uint16_t *values)
{
    size_t used = p->n_rows * p->n_choices;
    GROW(p, rows);
    if (p->n_features)
        row.features = arena_memdup(p->arena, row.features, p->n_features * sizeof row.features[0]);
    p->rows[p->n_rows++] = row;
    p->values = arena_grow(p->arena, p->values, &p->values_room, used + p->n_choices + 1, sizeof *p->values);
    memcpy(p->values + used, values, p->n_choices * sizeof *values);
}

double pool_best_ns(const struct pool *p)
{
    double best = INFINITY;
    for (size_t i = 0; i < p->n_rows; i++)
        if (p->rows[i].status == POOL_OK) best = fmin(best, p->rows[i].time_ns);
    return best;
}

/* ---- reading ---- */

struct reading {
    struct pool *pool;
    char *rest; /* of the line */
    uint16_t *values;
    double features[MCTS_FEATURES_MAX];
};

static const char *word(struct reading *r)
{
    const char *w = strtok_r(r->rest, "\t", &r->rest);
    return w ? w : "";
}

static bool number(struct reading *r, double *out)
{
    const char *text = word(r);
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == 0 && isfinite(*out) && *out >= 0;
}

static bool read_fact(struct reading *r)
{
    const char *name = word(r);
    double value;
    if (!number(r, &value)) return false;
    pool_add_fact(r->pool, name, value);
    return true;
}

static bool read_choice(struct reading *r)
{
    if (r->pool->n_rows || !pool_add_choice(r->pool, word(r))) return false;
    struct pool_choice *c = &r->pool->choices[r->pool->n_choices - 1];
    for (const char *w = word(r); *w; w = word(r)) {
        char *end, *equals = strrchr(w, '=');
        if (!equals) return false;
        *equals = 0;
        int64_t code = strtoll(equals + 1, &end, 10);
        if (end == equals + 1 || *end) return false;
        pool_add_value(r->pool, c, w, code);
    }
    return c->n_values > 0 && c->n_values < POOL_ABSENT;
}

/* "3", ".", "3x12" */
static bool read_run(const char *text, unsigned long *value, unsigned long *times)
{
    char *end = (char *)text + 1;
    *value = POOL_ABSENT;
    *times = 1;
    if (*text != '.') *value = strtoul(text, &end, 10);
    if (end == text) return false;
    const char *more = end + 1;
    if (*end == 'x') *times = strtoul(more, &end, 10);
    return end != more && *end == 0;
}

static bool read_values(struct reading *r)
{
    const struct pool *p = r->pool;
    for (size_t i = 0; i < p->n_choices;) {
        unsigned long value, times;
        if (!read_run(word(r), &value, &times) || times > p->n_choices - i) return false;
        for (; times > 0; times--, i++) {
            if (value != POOL_ABSENT && value >= p->choices[i].n_values) return false;
            r->values[i] = (uint16_t)value;
        }
    }
    return *word(r) == 0;
}

static bool read_row(struct reading *r)
{
    struct pool *p = r->pool;
    const char *status = word(r);
    unsigned s = 0;
    double kernel;
    struct pool_row row;
    while (s < sizeof STATUS / sizeof STATUS[0] && strcmp(STATUS[s], status) != 0)
        s++;
    row.status = (enum pool_status)s;
    if (s == sizeof STATUS / sizeof STATUS[0] || !number(r, &row.time_ns) || !number(r, &row.bound_ns) ||
        !number(r, &kernel) || kernel >= UINT32_MAX || (row.status == POOL_OK && row.time_ns <= 0))
        return false;
    row.kernel = (uint32_t)kernel;
    row.features = r->features;
    for (unsigned i = 0; i < p->n_features; i++)
        if (!number(r, &r->features[i])) return false;
    if (!r->values) r->values = arena_alloc(p->arena, (p->n_choices + 1) * sizeof *r->values);
    if (!read_values(r)) return false;
    pool_add_row(p, row, r->values);
    return true;
}

static bool read_features(struct reading *r)
{
    double n;
    if (r->pool->n_rows || !number(r, &n) || n > MCTS_FEATURES_MAX) return false;
    r->pool->n_features = (unsigned)n;
    return true;
}

static bool read_line(struct reading *r)
{
    struct pool *p = r->pool;
    const char *key = word(r);
    if (strcmp(key, "title") == 0) p->title = arena_strdup(p->arena, word(r));
    if (strcmp(key, "title") == 0) return true;
    if (strcmp(key, "limit") == 0) return number(r, &p->cut_factor) && number(r, &p->least_ns);
    if (strcmp(key, "known") == 0) return number(r, &p->known_ns);
    if (strcmp(key, "fact") == 0) return read_fact(r);
    if (strcmp(key, "group") == 0) return pool_add_group(p, word(r)), true;
    if (strcmp(key, "choice") == 0) return read_choice(r);
    if (strcmp(key, "features") == 0) return read_features(r);
    return strcmp(key, "row") == 0 && read_row(r);
}

static bool read_version(const char *line)
{
    char expected[32];
    snprintf(expected, sizeof expected, "pool\t%d", VERSION);
    return strcmp(line, expected) == 0;
}

static double fact(const struct pool *p, const char *name)
{
    for (size_t i = 0; i < p->n_facts; i++)
        if (strcmp(p->facts[i].name, name) == 0) return p->facts[i].value;
    return 0;
}

/* Of implementations on a GPU, by today's fit. false: they have other features. */
static bool estimate_rows(struct pool *p)
{
    if (p->n_features == 0 || fact(p, "gpu") == 0) return true;
    if (p->n_features != ESTIMATE_FEATURES) return false;
    for (size_t i = 0; i < p->n_rows; i++)
        estimate_again(p->rows[i].features, (unsigned)fact(p, "compute_units"));
    return true;
}

struct pool *pool_read(const char *path, FILE *in, struct diag *d)
{
    struct reading r = {.pool = pool_new()};
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    bool ok = true;
    unsigned at = 0;
    while (ok && (n = getline(&line, &room, in)) > 0) {
        if (line[n - 1] == '\n') line[n - 1] = 0;
        r.rest = line;
        at++;
        ok = at == 1 ? read_version(line) : read_line(&r);
    }
    free(line);
    if (!ok) diag_plain(d, "%s:%u: not a line of a pool", path, at);
    if (ok && r.pool->n_rows == 0) diag_plain(d, "%s: a pool without implementations", path);
    bool whole = ok && r.pool->n_rows > 0, estimated = whole && estimate_rows(r.pool);
    if (whole && !estimated)
        diag_plain(
            d, "%s: implementations on a GPU have %u features, not %d: make the pool again from its stores",
            path, r.pool->n_features, ESTIMATE_FEATURES);
    if (estimated) return r.pool;
    pool_free(r.pool);
    return NULL;
}

/* ---- writing ---- */

static void write_row(const struct pool *p, size_t i, FILE *out)
{
    const struct pool_row *r = &p->rows[i];
    const uint16_t *values = pool_values(p, i);
    fprintf(out, "row\t%s\t%.9g\t%.9g\t%" PRIu32, STATUS[r->status], r->time_ns, r->bound_ns, r->kernel);
    for (unsigned k = 0; k < p->n_features; k++)
        fprintf(out, "\t%.5g", r->features[k]);
    for (size_t k = 0, times; k < p->n_choices; k += times) {
        for (times = 1; k + times < p->n_choices && values[k + times] == values[k];)
            times++;
        if (values[k] == POOL_ABSENT)
            fputs("\t.", out);
        else
            fprintf(out, "\t%u", values[k]);
        if (times > 1) fprintf(out, "x%zu", times);
    }
    fputc('\n', out);
}

void pool_write(const struct pool *p, FILE *out)
{
    fprintf(out, "pool\t%d\ntitle\t%s\n", VERSION, p->title);
    if (p->cut_factor > 0) fprintf(out, "limit\t%g\t%.9g\n", p->cut_factor, p->least_ns);
    if (p->known_ns > 0) fprintf(out, "known\t%.9g\n", p->known_ns);
    for (size_t i = 0; i < p->n_facts; i++)
        fprintf(out, "fact\t%s\t%.9g\n", p->facts[i].name, p->facts[i].value);
    for (size_t i = 0; i < p->n_groups; i++)
        fprintf(out, "group\t%s\n", p->groups[i]);
    for (size_t i = 0; i < p->n_choices; i++) {
        const struct pool_choice *c = &p->choices[i];
        fprintf(out, "choice\t%s", c->name);
        for (uint32_t v = 0; v < c->n_values; v++)
            fprintf(out, "\t%s=%" PRId64, c->values[v].name, c->values[v].code);
        fputc('\n', out);
    }
    if (p->n_features) fprintf(out, "features\t%u\n", p->n_features);
    for (size_t i = 0; i < p->n_rows; i++)
        write_row(p, i, out);
}
