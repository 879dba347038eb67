/* Pools: their text, the joining of what was measured several times, and where they come from. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/store.h"
#include "core/base/arena.h"
#include "core/base/strbuf.h"
#include "experiments/search/gather.h"
#include "experiments/search/make_pool.h"
#include "perfmodel/estimate.h"
#include "tests/e2e/run.h"

#define HEAD "pool\t1\ntitle\tT\ngroup\tsize\ngroup\tkind\n"
#define CHOICES "choice\tsize(m.0)\t1=1\t2=2\t4=4\nchoice\tkind(a, b)\tLOOP=0\tVECTOR=1\n"

static struct pool *parse(const char *text, struct diag *d)
{
    FILE *in = fmemopen((void *)text, strlen(text), "r");
    struct pool *p = pool_read("x.pool", in, d);
    fclose(in);
    return p;
}

static char *print(const struct pool *p)
{
    char *text;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    pool_write(p, out);
    fclose(out);
    return text;
}

Test(search_pool, a_text_is_read_and_printed_alike)
{
    static const char text[] = HEAD CHOICES "row\tok\t1200.5\t310\t0\t2\t.\nrow\tcut\t0\t0\t1\t1x2\n"
                                            "row\tfailed\t0\t0\t2\t.x2\nrow\toversized\t0\t0\t3\t0\t1\n";
    struct diag *d = diag_new();
    struct pool *p = parse(text, d);
    cr_assert_not_null(p);
    cr_assert_eq(p->n_rows, 4);
    cr_assert_eq(p->rows[0].time_ns, 1200.5);
    cr_assert_eq(pool_best_ns(p), 1200.5);
    cr_assert_eq(pool_values(p, 0)[0], 2);
    cr_assert_eq(pool_values(p, 0)[1], POOL_ABSENT);
    cr_assert_eq(pool_values(p, 1)[1], 1);
    cr_assert_eq(p->choices[1].n_arguments, 2);
    cr_assert_str_eq(p->choices[1].arguments[1], "b");
    cr_assert_eq(p->choices[0].values[2].code, 4);
    char *printed = print(p);
    cr_assert_str_eq(printed, text);
    free(printed);
    pool_free(p);
    diag_free(d);
}

Test(search_pool, features_are_read_and_printed)
{
    static const char text[] = HEAD CHOICES "features\t2\nrow\tok\t5\t0\t0\t1.5\t20\t2\t.\n";
    struct diag *d = diag_new();
    struct pool *p = parse(text, d);
    cr_assert_not_null(p);
    cr_assert_eq(p->n_features, 2);
    cr_assert_eq(p->rows[0].features[0], 1.5);
    cr_assert_eq(p->rows[0].features[1], 20);
    cr_assert_eq(pool_values(p, 0)[0], 2);
    char *printed = print(p);
    cr_assert_str_eq(printed, text);
    free(printed);
    pool_free(p);
    cr_assert_null(parse(HEAD CHOICES "features\t2\nrow\tok\t5\t0\t0\t1.5\t2\t.\n", d)); /* one is missing */
    cr_assert_null(parse(HEAD CHOICES "features\t41\n", d));                             /* too many */
    diag_free(d);
}

/* Of a row of a GPU's pool the first feature is today's estimate, whatever was written. */
Test(search_pool, implementations_on_a_gpu_are_estimated_again)
{
    char text[1024];
    double counts[CG_COUNT_COUNT] = {
        [CG_COUNT_GROUPS] = 128, [CG_COUNT_ITEMS] = 512, [CG_COUNT_STEPS] = 25673};
    double features[ESTIMATE_FEATURES];
    struct diag *d = diag_new();
    estimate_features(counts, 132, true, features);
    for (int gpu = 0; gpu < 2; gpu++) {
        int n = snprintf(text, sizeof text,
                         "pool\t1\ntitle\tT\nfact\tgpu\t%d\nfact\tcompute_units\t132\ngroup\tsize\n"
                         "choice\tsize(m.0)\t1=1\nfeatures\t%d\nrow\tok\t5\t0\t0\t1.5",
                         gpu, ESTIMATE_FEATURES);
        for (int i = 1; i < ESTIMATE_FEATURES; i++)
            n += snprintf(text + n, sizeof text - (size_t)n, "\t%.9g", features[i]);
        snprintf(text + n, sizeof text - (size_t)n, "\t0\n");
        struct pool *p = parse(text, d);
        cr_assert_not_null(p);
        cr_expect_float_eq(p->rows[0].features[0], gpu ? features[0] : 1.5, 1e-6);
        pool_free(p);
    }
    cr_assert_not(diag_failed(d));
    cr_assert_null(parse("pool\t1\ntitle\tT\nfact\tgpu\t1\ngroup\tsize\nchoice\tsize(m.0)\t1=1\n"
                         "features\t2\nrow\tok\t5\t0\t0\t1.5\t3\t0\n",
                         d));
    cr_expect(strstr(diag_message(d, 0), "have 2 features"), "%s", diag_message(d, 0));
    diag_free(d);
}

Test(search_pool, damaged_texts_are_refused_with_their_line)
{
    static const struct {
        const char *text, *place;
    } BAD[] = {
        {"pool\t2\n", "x.pool:1"},
        {"", "x.pool"},
        {HEAD CHOICES, "without implementations"},
        {HEAD CHOICES "row\tok\t5\t0\t0\t3\t.\n", "x.pool:7"},    /* no such value */
        {HEAD CHOICES "row\tok\t5\t0\t0\t1\n", "x.pool:7"},       /* too few */
        {HEAD CHOICES "row\tok\t5\t0\t0\t1\t1\t1\n", "x.pool:7"}, /* too many */
        {HEAD CHOICES "row\tok\t5\t0\t0\t1x3\n", "x.pool:7"},     /* likewise */
        {HEAD CHOICES "row\tok\t0\t0\t0\t1\t1\n", "x.pool:7"},    /* no time */
        {HEAD CHOICES "row\tfine\t5\t0\t0\t1\t1\n", "x.pool:7"},  /* no such status */
        {HEAD CHOICES "row\tok\t5\t0\t-1\t1\t1\n", "x.pool:7"},   /* no such kernel */
        {HEAD CHOICES "row\tok\t5\t0\t0\tx\t1\n", "x.pool:7"},    /* not a number */
        {HEAD "choice\tother(m)\t1=1\nrow\tok\t5\t0\t0\t0\n", "x.pool:5"},
        {HEAD "choice\tsize(m)\t1\n", "x.pool:5"},
        {HEAD "choice\tkind(m)\t1=1\nchoice\tsize(m)\t1=1\n", "x.pool:6"}, /* not by declaration */
        {HEAD CHOICES "row\tok\t5\t0\t0\t1\t1\nnews\n", "x.pool:8"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        struct diag *d = diag_new();
        cr_assert_null(parse(BAD[i].text, d), "%s", BAD[i].text);
        cr_assert_eq(diag_count(d), 1);
        cr_assert(strstr(diag_message(d, 0), BAD[i].place), "%s: %s", BAD[i].text, diag_message(d, 0));
        diag_free(d);
    }
}

/* ---- joining ---- */

static struct pool *two_choices(void)
{
    struct pool *p = pool_new();
    for (unsigned i = 0; i < 2; i++) {
        pool_add_group(p, i ? "b" : "a");
        cr_assert(pool_add_choice(p, i ? "b" : "a"));
        for (int v = 0; v < 4; v++)
            pool_add_value(p, &p->choices[i], v % 2 ? "odd" : "even", v);
    }
    return p;
}

Test(search_pool, times_of_a_kernel_are_joined)
{
    static const uint32_t both[] = {0, 1};
    static const uint16_t x[] = {0, 1}, y[] = {1, POOL_ABSENT}, z[] = {2, 2}, w[] = {3, 3};
    struct gather *g = gather_new(2, 0);
    struct pool *p = two_choices();
    gather_add(g, x, (struct gather_result){.status = POOL_OK, .time_ns = 90, .bound_ns = 95, .kernel = 7});
    gather_add(g, y, (struct gather_result){.status = POOL_CUT, .kernel = 8});
    gather_add(g, x, (struct gather_result){.status = POOL_OK, .time_ns = 110, .kernel = 7});
    gather_add(g, x, (struct gather_result){.status = POOL_CUT, .kernel = 7});
    gather_add(g, z, (struct gather_result){.duplicate = true, .kernel = 7});
    gather_add(g, w, (struct gather_result){.duplicate = true, .kernel = 9});
    gather_finish(g, both, 2, p);
    cr_assert_eq(p->n_rows, 3, "a kernel that was never measured is left out");
    cr_assert_eq(p->rows[0].time_ns, 100);
    cr_assert_eq(p->rows[0].bound_ns, 95);
    cr_assert_eq(p->rows[1].status, POOL_CUT);
    cr_assert_eq(p->rows[2].status, POOL_OK);
    cr_assert_eq(p->rows[2].time_ns, 100);
    cr_assert_eq(p->rows[2].kernel, p->rows[0].kernel);
    cr_assert_neq(p->rows[1].kernel, p->rows[0].kernel);
    cr_assert_eq(pool_values(p, 1)[1], POOL_ABSENT);
    pool_free(p);
    gather_free(g);
}

Test(search_pool, a_bound_above_the_time_is_lowered)
{
    static const uint32_t both[] = {0, 1};
    static const uint16_t x[] = {0, 1};
    struct gather *g = gather_new(2, 0);
    struct pool *p = two_choices();
    gather_add(g, x, (struct gather_result){.status = POOL_OK, .time_ns = 90, .bound_ns = 95});
    gather_finish(g, both, 2, p);
    cr_assert_eq(p->rows[0].bound_ns, 90);
    pool_free(p);
    gather_free(g);
}

Test(search_pool, choices_that_decide_each_other_divide_alike)
{
    static const uint16_t rows[3][4] = {{0, 5, 0, 9}, {1, POOL_ABSENT, 0, 9}, {0, 5, 1, 9}};
    struct gather *g = gather_new(4, 0);
    for (size_t i = 0; i < 3; i++)
        gather_add(g, rows[i], (struct gather_result){.status = POOL_FAILED});
    cr_assert_eq(gather_division(g, 0), gather_division(g, 1));
    cr_assert_neq(gather_division(g, 0), gather_division(g, 2));
    cr_assert_neq(gather_division(g, 0), gather_division(g, 3));
    gather_free(g);
}

/* ---- tables and stores ---- */

/* A file that ends with .csv. */
static struct pool *pool_of_csv(const char *text, struct diag *d)
{
    char path[32], name[40];
    e2e_file(path, text);
    snprintf(name, sizeof name, "%s.csv", path);
    cr_assert_eq(rename(path, name), 0);
    struct pool *p = make_pool_of_csv(name, d);
    unlink(name);
    return p;
}

Test(search_pool, a_table_becomes_a_pool)
{
    struct diag *d = diag_new();
    struct pool *p = pool_of_csv("tile,staged,time_ns\r\n16,0,50\r\n2,1,-1\r\n2,0,40.5\r\n", d);
    cr_assert_not_null(p);
    cr_assert_eq(p->n_rows, 3);
    cr_assert_eq(p->choices[0].n_values, 2);
    cr_assert_str_eq(p->choices[0].values[0].name, "2");
    cr_assert_eq(p->choices[0].values[1].code, 16);
    cr_assert_eq(pool_values(p, 0)[0], 1);
    cr_assert_eq(p->rows[1].status, POOL_FAILED);
    cr_assert_eq(pool_best_ns(p), 40.5);
    pool_free(p);
    cr_assert_null(pool_of_csv("tile,time_ns\n16,x\n", d));
    cr_assert_null(pool_of_csv("tile,time_ns\n16\n", d));
    cr_assert_null(pool_of_csv("tile,time_ns\n", d));
    cr_assert_eq(diag_count(d), 3);
    diag_free(d);
}

struct stored {
    size_t rows;
    double best, known; /* ns */
};

static bool look_at_row(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct stored *s = context;
    (void)run;
    s->rows++;
    if (strcmp(e->status, "ok") != 0) return true;
    s->best = fmin(s->best, e->median_ns);
    if (e->number <= 0) s->known = fmin(s->known, e->median_ns);
    return true;
}

/* Two searches in one store: every implementation is a row once, with its time. */
Test(search_pool, a_store_becomes_a_pool)
{
    char folder[32], store[64], out[64];
    struct stored stored = {.best = INFINITY, .known = INFINITY};
    e2e_folder(folder);
    snprintf(store, sizeof store, "%s/s.db", folder);
    snprintf(out, sizeof out, "%s/out", folder);
    for (int seed = 1; seed <= 2; seed++) {
        struct e2e_run r =
            E2E_RUN(&cli_tune, "experiments/kernels/axpy.lift", "--size", "N=64", "--evaluations", "4",
                    "--heuristic", "random", "--rounds-time", "0.5", "--seed", seed == 1 ? "1" : "2",
                    "--no-bound", "--store", store, "--out", out, "--quiet");
        cr_assert_eq(r.status, 0, "%s", r.err);
        e2e_run_free(&r);
    }
    struct diag *d = diag_new();
    struct store *s = store_open_to_read(store, d);
    cr_assert(store_each(s, 0, look_at_row, &stored, d));
    store_close(s);
    char *paths[] = {store};
    struct pool *p = make_pool_of_stores(paths, 1, "perfmodel/devices/nvidia-h200.json", d);
    cr_assert_null(p, "the device of that description has other limits");
    diag_free(d);
    d = diag_new();
    p = make_pool_of_stores(paths, 1, NULL, d);
    cr_assert_not_null(p, "%s", diag_count(d) ? diag_message(d, 0) : "");
    cr_assert_lt(p->n_rows, stored.rows, "both searches measure the naive implementation");
    cr_assert_geq(p->n_rows, 8);
    cr_assert_geq(pool_best_ns(p), stored.best * (1 - 1e-9));
    cr_assert_eq(p->known_ns, stored.known);
    cr_assert_gt(p->n_facts, 0);
    pool_free(p);
    diag_free(d);
    struct strbuf command = {0};
    strbuf_printf(&command, "rm -r %s", folder);
    cr_assert_eq(system(command.text), 0);
    strbuf_free(&command);
}
