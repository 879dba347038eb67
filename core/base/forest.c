/* Growing, asking and judging the trees of a forest; see forest.h. A node holds the set of codes that go to
 * its left child as bits. While a tree grows, the rows of a node are a range of one array, which a split
 * partitions in place. */
#include "core/base/forest.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/base/pcg32.h"
#include "core/base/stats.h"

enum { STREAM = 0x666f7265, WORDS = FOREST_CODES / 64, TREES = 64, LEAST = 3 };
#define LEAST_GAIN 1e-12 /* of the sum of squares: less is rounding */

struct node {
    uint64_t left[WORDS]; /* the codes that go to child; all others to child + 1 */
    double mean;          /* of y */
    uint32_t child;       /* the first of two neighbours; 0: a leaf */
    uint32_t choice;
};

struct tree {
    struct node *nodes;
    size_t n, capacity;
    uint32_t *outside; /* the out-of-bag rows */
    size_t n_outside;
};

struct forest {
    struct forest_data data;
    struct forest_options options;
    struct tree *trees;
};

/* What growing one tree needs. */
struct growing {
    const struct forest *forest;
    struct tree *tree;
    struct pcg32 *rng;
    uint32_t *rows; /* [n_rows] drawn */
    unsigned *choices;
};

struct split {
    uint64_t left[WORDS];
    double gain; /* of the sum of squares; 0: there is none */
    unsigned choice;
};

static bool has(const uint64_t set[WORDS], uint8_t code)
{
    return set[code / 64] >> code % 64 & 1;
}

static uint8_t code_of(const struct forest_data *d, size_t row, unsigned choice)
{
    return d->codes[row * d->n_choices + choice];
}

/* ---- growing ---- */

/* The rows of a node that have one code. */
struct group {
    double sum, mean;
    uint32_t n;
    uint8_t code;
};

static int by_mean(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->mean != y->mean) return x->mean < y->mean ? -1 : 1;
    return (x->code > y->code) - (x->code < y->code);
}

/* The groups of the rows by their codes, sorted by mean. */
static unsigned group_rows(const struct growing *g, const uint32_t *rows, size_t n, unsigned choice,
                           struct group groups[FOREST_CODES])
{
    const struct forest_data *d = &g->forest->data;
    uint16_t place[FOREST_CODES] = {0}; /* of the group, + 1 */
    unsigned n_groups = 0;
    for (size_t i = 0; i < n; i++) {
        uint8_t code = code_of(d, rows[i], choice);
        if (!place[code]) {
            groups[n_groups] = (struct group){.code = code};
            place[code] = (uint16_t)++n_groups;
        }
        struct group *own = &groups[place[code] - 1];
        own->sum += d->y[rows[i]];
        own->n++;
    }
    for (unsigned i = 0; i < n_groups; i++)
        groups[i].mean = groups[i].sum / groups[i].n;
    qsort(groups, n_groups, sizeof *groups, by_mean);
    return n_groups;
}

/* Takes the best cut of the sorted groups, if it gains more than the best split until now. The sum of squares
 * falls by n_l n_r / n (mean_l - mean_r)^2. false: all rows have the same code. */
static bool try_choice(const struct growing *g, const uint32_t *rows, size_t n, double sum, unsigned choice,
                       struct split *best)
{
    struct group groups[FOREST_CODES];
    unsigned n_groups = group_rows(g, rows, n, choice, groups), least = g->forest->options.least;
    double left_sum = 0;
    size_t left_n = 0;
    unsigned cut = 0;
    for (unsigned i = 0; i + 1 < n_groups; i++) {
        left_sum += groups[i].sum;
        left_n += groups[i].n;
        size_t right_n = n - left_n;
        if (left_n < least || right_n < least) continue;
        double apart = left_sum / (double)left_n - (sum - left_sum) / (double)right_n;
        double gain = (double)left_n * (double)right_n / (double)n * apart * apart;
        if (gain <= best->gain || gain < LEAST_GAIN) continue;
        best->gain = gain;
        best->choice = choice;
        cut = i + 1;
    }
    if (cut == 0) return n_groups > 1;
    memset(best->left, 0, sizeof best->left);
    for (unsigned i = 0; i < cut; i++)
        best->left[groups[i].code / 64] |= UINT64_C(1) << groups[i].code % 64;
    return true;
}

/* Tries some choices in random order: the first ones of a shuffle that ends early. Those that all rows agree
 * on do not count. */
static struct split find_split(const struct growing *g, const uint32_t *rows, size_t n, double sum)
{
    struct split best = {.gain = 0};
    unsigned all = g->forest->data.n_choices, left = g->forest->options.tried;
    for (unsigned i = 0; left > 0 && i < all; i++) {
        unsigned other = i + pcg32_below(g->rng, all - i), choice = g->choices[other];
        g->choices[other] = g->choices[i];
        g->choices[i] = choice;
        left -= try_choice(g, rows, n, sum, choice, &best);
    }
    return best;
}

static uint32_t add_nodes(struct tree *t, unsigned n)
{
    if (t->n + n > t->capacity) {
        t->capacity = 2 * t->capacity + 64;
        t->nodes = base_realloc(t->nodes, t->capacity * sizeof *t->nodes);
    }
    memset(&t->nodes[t->n], 0, n * sizeof *t->nodes);
    t->n += n;
    return (uint32_t)(t->n - n);
}

/* Moves the rows of the left child to the front; returns how many. */
static size_t partition(const struct forest_data *d, const struct split *s, uint32_t *rows, size_t n)
{
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t row = rows[i];
        if (!has(s->left, code_of(d, row, s->choice))) continue;
        rows[i] = rows[left];
        rows[left++] = row;
    }
    return left;
}

static void grow_node(const struct growing *g, uint32_t at, uint32_t *rows, size_t n)
{
    const struct forest_data *d = &g->forest->data;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += d->y[rows[i]];
    g->tree->nodes[at].mean = sum / (double)n;
    struct split s =
        n >= 2 * (size_t)g->forest->options.least ? find_split(g, rows, n, sum) : (struct split){0};
    if (s.gain <= 0) return;
    uint32_t child = add_nodes(g->tree, 2);
    struct node *node = &g->tree->nodes[at];
    node->child = child;
    node->choice = s.choice;
    memcpy(node->left, s.left, sizeof s.left);
    size_t left = partition(d, &s, rows, n);
    grow_node(g, child, rows, left);
    grow_node(g, child + 1, rows + left, n - left);
}

/* Draws n_rows rows with replacement; those that were not drawn are out of the bag. */
static void draw_rows(struct growing *g)
{
    size_t n = g->forest->data.n_rows;
    bool *drawn = base_calloc(n, sizeof *drawn);
    for (size_t i = 0; i < n; i++) {
        g->rows[i] = pcg32_below(g->rng, (uint32_t)n);
        drawn[g->rows[i]] = true;
    }
    g->tree->outside = base_malloc(n * sizeof *g->tree->outside);
    for (size_t i = 0; i < n; i++)
        if (!drawn[i]) g->tree->outside[g->tree->n_outside++] = (uint32_t)i;
    free(drawn);
}

struct forest_options forest_options_default(void)
{
    return (struct forest_options){.trees = TREES, .least = LEAST, .seed = 1};
}

static unsigned usual_tried(unsigned n_choices)
{
    unsigned root = (unsigned)ceil(2 * sqrt(n_choices)), third = (n_choices < 24 ? n_choices : 24) / 3;
    return root > third ? root : third;
}

struct forest *forest_grow(const struct forest_data *data, const struct forest_options *options)
{
    CHECK(data->n_rows >= 1 && data->n_rows <= UINT32_MAX && options->trees >= 1 && options->least >= 1);
    struct forest *f = base_calloc(1, sizeof *f);
    struct pcg32 rng = pcg32_seed(options->seed, STREAM);
    *f = (struct forest){*data, *options, base_calloc(options->trees, sizeof *f->trees)};
    if (f->options.tried == 0) f->options.tried = usual_tried(data->n_choices);
    struct growing g = {.forest = f, .rng = &rng};
    g.rows = base_malloc(data->n_rows * sizeof *g.rows);
    g.choices = base_malloc((data->n_choices + 1) * sizeof *g.choices);
    for (unsigned i = 0; i < data->n_choices; i++)
        g.choices[i] = i;
    for (unsigned t = 0; t < options->trees; t++) {
        g.tree = &f->trees[t];
        draw_rows(&g);
        grow_node(&g, add_nodes(g.tree, 1), g.rows, data->n_rows);
    }
    free(g.rows);
    free(g.choices);
    return f;
}

void forest_free(struct forest *f)
{
    if (!f) return;
    for (unsigned t = 0; t < f->options.trees; t++) {
        free(f->trees[t].nodes);
        free(f->trees[t].outside);
    }
    free(f->trees);
    free(f);
}

/* ---- asking ---- */

/* The prediction for a row whose code of one choice is replaced. */
static double ask(const struct tree *t, const uint8_t *codes, unsigned choice, uint8_t code)
{
    const struct node *node = t->nodes;
    while (node->child) {
        uint8_t own = node->choice == choice ? code : codes[node->choice];
        node = &t->nodes[node->child + !has(node->left, own)];
    }
    return node->mean;
}

static double ask_as_is(const struct tree *t, const uint8_t *codes)
{
    return ask(t, codes, UINT32_MAX, 0);
}

double forest_marginal(const struct forest *f, unsigned choice, uint8_t code)
{
    double sum = 0;
    for (unsigned t = 0; t < f->options.trees; t++)
        for (size_t i = 0; i < f->data.n_rows; i++)
            sum += ask(&f->trees[t], f->data.codes + i * f->data.n_choices, choice, code);
    return sum / f->options.trees / (double)f->data.n_rows;
}

/* ---- judging ---- */

double forest_explained(const struct forest *f)
{
    size_t n = f->data.n_rows, judged = 0;
    double *sum = base_calloc(n, sizeof *sum), mean = stats_mean(f->data.y, n), error = 0, spread = 0;
    uint32_t *votes = base_calloc(n, sizeof *votes);
    for (unsigned t = 0; t < f->options.trees; t++)
        for (size_t i = 0; i < f->trees[t].n_outside; i++) {
            uint32_t row = f->trees[t].outside[i];
            sum[row] += ask_as_is(&f->trees[t], f->data.codes + row * (size_t)f->data.n_choices);
            votes[row]++;
        }
    for (size_t i = 0; i < n; i++) {
        if (!votes[i]) continue;
        error += pow(f->data.y[i] - sum[i] / votes[i], 2);
        spread += pow(f->data.y[i] - mean, 2);
        judged++;
    }
    free(sum);
    free(votes);
    return judged > 0 && spread > 0 ? 1 - error / spread : 0;
}

/* The mean of the squared errors over the out-of-bag rows, row i with the code of row order[i]; order NULL:
 * as they are. */
static double squared_error(const struct forest *f, const struct tree *t, unsigned choice,
                            const unsigned *order)
{
    const struct forest_data *d = &f->data;
    double sum = 0;
    for (size_t i = 0; i < t->n_outside; i++) {
        uint32_t row = t->outside[i];
        const uint8_t *codes = d->codes + row * (size_t)d->n_choices;
        uint8_t code = order ? code_of(d, t->outside[order[i]], choice) : 0;
        sum += pow(d->y[row] - ask(t, codes, order ? choice : UINT32_MAX, code), 2);
    }
    return sum / (double)t->n_outside;
}

/* Adds what the errors of one tree grow by, for each choice that it asks for. */
static void add_importance(const struct forest *f, const struct tree *t, struct pcg32 *rng,
                           double *importance)
{
    bool *asked = base_calloc(f->data.n_choices + 1, sizeof *asked);
    unsigned *order = base_malloc((t->n_outside + 1) * sizeof *order);
    double plain = squared_error(f, t, 0, NULL);
    for (size_t i = 0; i < t->n; i++)
        if (t->nodes[i].child) asked[t->nodes[i].choice] = true;
    for (unsigned c = 0; c < f->data.n_choices; c++) {
        if (!asked[c]) continue;
        pcg32_shuffle(rng, order, (unsigned)t->n_outside);
        importance[c] += squared_error(f, t, c, order) - plain;
    }
    free(asked);
    free(order);
}

void forest_importance(const struct forest *f, double *importance)
{
    struct pcg32 rng = pcg32_seed(f->options.seed, STREAM + 1);
    double variance = stats_variance(f->data.y, f->data.n_rows);
    unsigned judged = 0;
    memset(importance, 0, f->data.n_choices * sizeof *importance);
    for (unsigned t = 0; t < f->options.trees; t++) {
        if (f->trees[t].n_outside == 0) continue;
        add_importance(f, &f->trees[t], &rng, importance);
        judged++;
    }
    for (unsigned c = 0; c < f->data.n_choices; c++)
        importance[c] = judged > 0 && variance > 0 ? importance[c] / judged / variance : 0;
}
