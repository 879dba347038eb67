/* A pool: implementations of one program that were measured on one device, with all their decisions. Searches
 * are compared on it without the device. As a text, its fields separated by tabs:
 *
 *     pool     1
 *     title    matmul M=64,N=64,K=64 on GPU
 *     limit    4       20000000               a launch is given up after max(4 times the best, 20 ms)
 *     known    935700                         ns: the best time that a search has before it draws
 *     fact     gpu     0                      of the declared prior
 *     group    size                           the choices of the space, by declaration
 *     choice   size(m.0)       1=1     2=2    its values: name=code
 *     features 23                             numbers of each row after its kernel; none: 0
 *     row      ok      1200.5  310    5       0    2    .      ok, ns, bound in ns, kernel, values by choice
 *     row      failed  0       310    6       1x3              the same as 1 1 1
 *
 * A value is a number in the list of its choice; a dot: the implementation does not have the choice. Rows of
 * the same kernel have the same OpenCL text: only the first one that a search draws is an evaluation. The
 * first feature of a GPU's implementation is the estimate of its time, which is made again when the text is
 * read. */
#ifndef THRESH_SEARCH_POOL_H
#define THRESH_SEARCH_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct diag;

enum { POOL_ABSENT = UINT16_MAX, POOL_ARGUMENTS = 4 };

struct pool_value {
    char *name;
    int64_t code;
};

struct pool_choice {
    char *name; /* "size(m.0)" */
    unsigned group;
    unsigned n_arguments;
    char *arguments[POOL_ARGUMENTS];
    struct pool_value *values;
    uint32_t n_values;
};

/* OVERSIZED: its text was too long to be measured; drawing it is no evaluation. */
enum pool_status { POOL_OK, POOL_CUT, POOL_FAILED, POOL_OVERSIZED };

struct pool_row {
    enum pool_status status;
    double time_ns;  /* POOL_OK only */
    double bound_ns; /* 0: none */
    uint32_t kernel;
    double *features; /* [n_features] of the pool (perfmodel/estimate.h) */
};

struct pool_fact {
    char *name;
    double value;
};

/* Owned by its arena; read or filled in once. */
struct pool {
    struct arena *arena;
    char *title;
    double cut_factor, least_ns; /* of the limit of a launch; 0: none is given up */
    double known_ns;             /* 0: none */
    struct pool_fact *facts;     /* none: there is no declared prior */
    char **groups;
    struct pool_choice *choices; /* in the order of the space: the groups one after the other */
    struct pool_row *rows;
    uint16_t *values; /* [n_rows * n_choices], by row */
    size_t n_facts, n_groups, n_choices, n_rows;
    unsigned n_features; /* of each row; at most MCTS_FEATURES_MAX */
    size_t facts_room, groups_room, choices_room, rows_room, values_room;
};

struct pool *pool_new(void);
void pool_free(struct pool *p); /* NULL is allowed */

/* Texts are copied. */
void pool_add_fact(struct pool *p, const char *name, double value);
unsigned pool_add_group(struct pool *p, const char *name);
/* A choice "group(argument, argument)" without values. false: its group is not known, or is not the last
 * choice's and is declared before it. */
bool pool_add_choice(struct pool *p, const char *name);
void pool_add_value(struct pool *p, struct pool_choice *c, const char *name, int64_t code);
/* A row with n_choices values and n_features features; their numbers are known by then. */
void pool_add_row(struct pool *p, struct pool_row row, const uint16_t *values);
static inline const uint16_t *pool_values(const struct pool *p, size_t row)
{
    return p->values + row * p->n_choices;
}

/* The shortest time in ns; INFINITY: no row has one. */
double pool_best_ns(const struct pool *p);

/* NULL after adding an error with its line: not a pool, or damaged. */
struct pool *pool_read(const char *path, FILE *in, struct diag *d);
void pool_write(const struct pool *p, FILE *out);

#endif
