/* Searches of small pools by the program search-bench beside this one: it links the rows of a pool in place
 * of core/space, so that it cannot be a part of this program. Likewise search-surrogate, and search-table. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "core/base/strbuf.h"
#include "experiments/search/make_pool.h"
#include "experiments/search/statistics.h"
#include "tests/e2e/run.h"

enum { ROWS = 150, MOST_DRAWN = 1000 };

static const char *const HEURISTICS[] = {"random",     "tag",   "uct",
                                         "roundrobin", "bound", "tag:rollout=leaders+guess"};
enum { N_HEURISTICS = sizeof HEURISTICS / sizeof HEURISTICS[0] };

/* ---- running ---- */

struct shell_run {
    int status;
    char *output; /* of both streams */
};

/* PROGRAM of the folder of this binary with arguments. */
static struct shell_run run(const char *program, const char *arguments)
{
    char self[4096], line[4096];
    struct strbuf command = {0}, out = {0};
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    cr_assert_gt(n, 0);
    self[n] = 0;
    *strrchr(self, '/') = 0;
    strbuf_printf(&command, "%s/%s %s 2>&1", self, program, arguments);
    FILE *p = popen(command.text, "r");
    cr_assert_not_null(p);
    while (fgets(line, sizeof line, p))
        strbuf_add(&out, line);
    int status = pclose(p);
    strbuf_free(&command);
    return (struct shell_run){WIFEXITED(status) ? WEXITSTATUS(status) : -1, strbuf_take(&out)};
}

static struct shell_run search(const char *options, const char *heuristic, const char *pool)
{
    char path[32];
    struct strbuf arguments = {0};
    e2e_file(path, pool);
    strbuf_printf(&arguments, "%s --heuristic %s %s", options, heuristic, path);
    struct shell_run r = run("search-bench", arguments.text);
    unlink(path);
    strbuf_free(&arguments);
    return r;
}

/* What a search drew: --trace. */
struct drawn {
    unsigned n, evaluations, row[MOST_DRAWN];
    char outcome[MOST_DRAWN][12];
};

static struct drawn trace(const char *options, const char *heuristic, const char *pool)
{
    struct strbuf all = {0};
    struct drawn d = {0};
    strbuf_printf(&all, "--trace --seeds 1 %s", options);
    struct shell_run r = search(all.text, heuristic, pool);
    cr_assert_eq(r.status, 0, "%s", r.output);
    for (char *rest = r.output, *line; (line = strtok_r(rest, "\n", &rest)); d.n++) {
        cr_assert_lt(d.n, MOST_DRAWN);
        cr_assert_eq(sscanf(line, "%u %u %11s", &d.evaluations, &d.row[d.n], d.outcome[d.n]), 3, "%s", line);
    }
    free(r.output);
    strbuf_free(&all);
    return d;
}

static unsigned count_outcome(const struct drawn *d, const char *outcome)
{
    unsigned n = 0;
    for (unsigned i = 0; i < d->n; i++)
        n += strcmp(d->outcome[i], outcome) == 0;
    return n;
}

/* ---- pools ---- */

#define HEAD                                                                                                 \
    "pool\t1\ntitle\tT\ngroup\ta\ngroup\tb\nchoice\ta(x)\t0=0\t1=1\t2=2\t3=3\t4=4\t5=5\n"                    \
    "choice\ta(y)\t0=0\t1=1\t2=2\t3=3\t4=4\t5=5\nchoice\tb(x)\t0=0\t1=1\t2=2\t3=3\t4=4\t5=5\n"               \
    "choice\tb(y, x)\t0=0\t1=1\t2=2\t3=3\t4=4\t5=5\n"

/* Random rows, none twice. b(x) is there where a(x) is at least 2, b(y, x) where a(y) is 1; row 3 is the
 * best, every seventh fails. */
static char *random_pool(uint64_t seed)
{
    struct pcg32 rng = pcg32_seed(seed, 0);
    bool taken[6 * 6 * 7 * 7] = {0};
    struct strbuf out = {0};
    strbuf_add(&out, HEAD);
    for (unsigned i = 0; i < ROWS;) {
        unsigned x = pcg32_below(&rng, 6), y = pcg32_below(&rng, 6);
        unsigned v = x >= 2 ? pcg32_below(&rng, 6) : 6, w = y == 1 ? pcg32_below(&rng, 6) : 6;
        unsigned key = ((x * 6 + y) * 7 + v) * 7 + w;
        if (taken[key]) continue;
        taken[key] = true;
        bool fails = i % 7 == 5;
        strbuf_printf(&out, "row\t%s\t%u\t0\t%u\t%u\t%u\t", fails ? "failed" : "ok",
                      fails    ? 0
                      : i == 3 ? 50
                               : 100 + pcg32_below(&rng, 900),
                      i, x, y);
        strbuf_printf(&out, v < 6 ? "%u\t" : ".\t", v);
        strbuf_printf(&out, w < 6 ? "%u\n" : ".\n", w);
        i++;
    }
    return strbuf_take(&out);
}

/* ---- tests ---- */

/* Nothing is drawn twice, and nothing is left: so nothing leaves the pool either. */
Test(search_bench, every_search_exhausts_a_pool)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        char *pool = random_pool(seed);
        for (unsigned h = 0; h < N_HEURISTICS; h++) {
            struct drawn d = trace("--evaluations 1000", HEURISTICS[h], pool);
            bool seen[ROWS] = {0};
            cr_assert_eq(d.n, ROWS, "%s: %u of %d", HEURISTICS[h], d.n, ROWS);
            cr_assert_eq(d.evaluations, ROWS, "failures count");
            for (unsigned i = 0; i < d.n; i++) {
                cr_assert_lt(d.row[i], ROWS);
                cr_assert_not(seen[d.row[i]], "%s: row %u again", HEURISTICS[h], d.row[i]);
                seen[d.row[i]] = true;
                cr_assert_eq(strcmp(d.outcome[i], "failed") == 0, d.row[i] % 7 == 5);
            }
        }
        free(pool);
    }
}

Test(search_bench, courses_end_at_the_known_optimum)
{
    char *pool = random_pool(4);
    struct shell_run r = search("--seeds 5 --evaluations 1000 --label L", "tag", pool);
    unsigned lines = 0;
    for (char *rest = r.output, *line; (line = strtok_r(rest, "\n", &rest)); lines++) {
        size_t n = strlen(line);
        cr_assert(n > 2 && strcmp(line + n - 2, ":1") == 0, "%s", line);
        cr_assert(strstr(line, "\tL\ttag\t"), "%s", line);
    }
    cr_assert_eq(lines, 5);
    free(r.output);
    free(pool);
}

Test(search_bench, a_seed_decides_the_same_again)
{
    char *pool = random_pool(5);
    struct drawn a = trace("--first-seed 3 --evaluations 60", "tag", pool),
                 b = trace("--first-seed 3 --evaluations 60", "tag", pool),
                 c = trace("--first-seed 4 --evaluations 60", "tag", pool);
    cr_assert_eq(a.n, 60);
    cr_assert_arr_eq(a.row, b.row, 60 * sizeof a.row[0]);
    cr_assert_arr_neq(a.row, c.row, 60 * sizeof a.row[0]);
    free(pool);
}

/* With some in flight each result is told once; the first ones are drawn before any is known. */
Test(search_bench, results_in_flight_are_told_later)
{
    char *pool = random_pool(5);
    struct drawn none = trace("--evaluations 60", "tag", pool),
                 one = trace("--evaluations 60 --in-flight 1", "tag", pool),
                 many = trace("--evaluations 60 --in-flight 9", "tag", pool);
    cr_assert(none.n == 60 && one.n == 60 && many.n == 60 && many.evaluations == 60);
    cr_assert_arr_eq(none.row, one.row, 60 * sizeof none.row[0]);
    cr_assert_arr_neq(none.row, many.row, 60 * sizeof none.row[0]);
    for (unsigned i = 0; i < 60; i++)
        for (unsigned k = 0; k < i; k++)
            cr_assert_neq(many.row[i], many.row[k]);
    struct shell_run r = search("--in-flight 65", "tag", pool);
    cr_expect_eq(r.status, 2);
    free(r.output);
    free(pool);
}

/* Kernel 0 has three rows, one of them oversized texts' kernel 1: neither is an evaluation twice or at all.
 */
Test(search_bench, equal_kernels_and_long_texts_are_no_evaluations)
{
    static const char pool[] = HEAD "row\tok\t100\t0\t0\t0\t0\t.x2\nrow\tok\t100\t0\t0\t0\t2\t.x2\n"
                                    "row\tok\t100\t0\t0\t0\t3\t.x2\nrow\toversized\t0\t0\t1\t1\t0\t.x2\n"
                                    "row\tcut\t0\t0\t2\t1\t2\t.x2\nrow\tfailed\t0\t0\t3\t1\t3\t.x2\n";
    for (unsigned h = 0; h < N_HEURISTICS; h++) {
        struct drawn d = trace("--evaluations 100", HEURISTICS[h], pool);
        cr_assert_eq(d.n, 6);
        cr_assert_eq(d.evaluations, 3);
        cr_assert_eq(count_outcome(&d, "timed"), 1);
        cr_assert_eq(count_outcome(&d, "duplicate"), 2);
        cr_assert_eq(count_outcome(&d, "cut"), 2);
        cr_assert_eq(count_outcome(&d, "failed"), 1);
    }
}

/* What takes more than 4 times the known time, and more than 300 ns, is given up. */
Test(search_bench, slow_launches_are_stopped)
{
    static const char pool[] = HEAD "limit\t4\t300\nknown\t100\nrow\tok\t90\t0\t0\t0\t0\t.x2\n"
                                    "row\tok\t350\t0\t1\t0\t2\t.x2\nrow\tok\t401\t0\t2\t0\t3\t.x2\n";
    struct drawn d = trace("--evaluations 100", "random", pool);
    cr_assert_eq(d.n, 3);
    for (unsigned i = 0; i < d.n; i++)
        if (d.row[i] == 2 || d.row[i] == 0) cr_assert_str_eq(d.outcome[i], d.row[i] == 2 ? "cut" : "timed");
}

/* Rows whose bound is not below a known time are pruned. */
Test(search_bench, bounds_prune)
{
    static const char pool[] = HEAD "known\t100\nrow\tok\t90\t80\t0\t0\t0\t.x2\n"
                                    "row\tok\t350\t100\t1\t0\t2\t.x2\nrow\tok\t401\t99\t2\t0\t3\t.x2\n"
                                    "row\tok\t150\t120\t3\t1\t2\t.x2\n";
    for (unsigned h = 0; h < N_HEURISTICS; h++) {
        struct drawn d = trace("--evaluations 100", HEURISTICS[h], pool);
        cr_assert_geq(d.n, 1);
        cr_assert_leq(d.n, 2);
        for (unsigned i = 0; i < d.n; i++)
            cr_assert(d.row[i] == 0 || d.row[i] == 2, "%s: row %u", HEURISTICS[h], d.row[i]);
    }
}

Test(search_bench, wrong_calls_are_refused)
{
    static const struct {
        const char *options, *heuristic, *pool, *said;
    } BAD[] = {
        {"", "tag", "pool\t1\nrow\n", ":2: not a line of a pool"},
        {"", "tag", HEAD "row\tcut\t0\t0\t0\t0\t0\t.x2\n", "no implementation has a time"},
        {"", "tag", HEAD "row\tok\t1\t0\t9\t0\t0\t.x2\n", "numbers that are too large"},
        {"", "nosuch", HEAD "row\tok\t1\t0\t0\t0\t0\t.x2\n", "nosuch"},
        {"--order c", "tag", HEAD "row\tok\t1\t0\t0\t0\t0\t.x2\n", "'c' is not a choice"},
        {"--seeds 0", "tag", HEAD "row\tok\t1\t0\t0\t0\t0\t.x2\n", "usage"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        struct shell_run r = search(BAD[i].options, BAD[i].heuristic, BAD[i].pool);
        cr_assert_neq(r.status, 0);
        cr_assert(strstr(r.output, BAD[i].said), "%s", r.output);
        free(r.output);
    }
}

/* An order decides which choice is first: of b(*, x) only b(y, x) has two arguments. */
Test(search_bench, an_order_is_followed)
{
    char *pool = random_pool(6);
    struct drawn a = trace("--evaluations 60 --order 'a(y)'", "tag", pool),
                 b = trace("--evaluations 60 --order 'a(x),b(x,*)'", "tag", pool),
                 c = trace("--evaluations 60", "tag", pool);
    cr_assert_arr_neq(a.row, c.row, 60 * sizeof a.row[0]);
    cr_assert_arr_neq(a.row, b.row, 60 * sizeof a.row[0]);
    free(pool);
}

/* ---- surrogates ---- */

struct surrogate {
    char folder[32], store[64], pool[64];
};

/* A search of a small program, and a pool of it. */
static struct surrogate open_surrogate(void)
{
    struct surrogate x;
    char out[64];
    e2e_folder(x.folder);
    snprintf(x.store, sizeof x.store, "%s/s.db", x.folder);
    snprintf(x.pool, sizeof x.pool, "%s/small.pool", x.folder);
    snprintf(out, sizeof out, "%s/out", x.folder);
    struct e2e_run r = E2E_RUN(&cli_tune, "experiments/kernels/axpy.lift", "--size", "N=64", "--evaluations",
                               "6", "--heuristic", "random", "--rounds-time", "0.5", "--no-bound", "--store",
                               x.store, "--out", out, "--quiet");
    cr_assert_eq(r.status, 0, "%s", r.err);
    e2e_run_free(&r);
    struct diag *d = diag_new();
    struct pool *p = make_pool_of_stores((char *[]){x.store}, 1, NULL, d);
    FILE *f = fopen(x.pool, "w");
    cr_assert(p && f);
    pool_write(p, f);
    fclose(f);
    pool_free(p);
    diag_free(d);
    return x;
}

static void close_surrogate(const struct surrogate *x)
{
    struct strbuf command = {0};
    strbuf_printf(&command, "rm -r %s", x->folder);
    cr_assert_eq(system(command.text), 0);
    strbuf_free(&command);
}

static struct shell_run search_surrogate(const char *options, const char *pool, const char *store)
{
    struct strbuf arguments = {0};
    strbuf_printf(&arguments, "%s %s %s", options, pool, store);
    struct shell_run r = run("search-surrogate", arguments.text);
    strbuf_free(&arguments);
    return r;
}

/* The course of a line; its other columns are checked. */
static struct course course_of(const char *output, const char *expected)
{
    struct course c;
    const char *line = strstr(output, expected);
    cr_assert_not_null(line, "%s", output);
    char *text = base_strdup(line + strlen(expected));
    text[strcspn(text, "\n")] = 0;
    cr_assert(course_parse(text, &c), "%s", text);
    free(text);
    return c;
}

/* No time is below the best of the pool, and a seed decides the same again. */
Test(search_surrogate, the_whole_space_is_searched)
{
    struct surrogate x = open_surrogate();
    const char *options = "--label new --seeds 2 --evaluations 40 --heuristic tag:draws=2";
    struct shell_run a = search_surrogate(options, x.pool, x.store),
                     b = search_surrogate(options, x.pool, x.store);
    cr_assert_eq(a.status, 0, "%s", a.output);
    cr_assert_str_eq(a.output, b.output);
    struct course c = course_of(a.output, "small\tnew\ttag:draws=2\t1\t40\t"),
                  d = course_of(a.output, "small\tnew\ttag:draws=2\t2\t40\t");
    cr_assert_geq(course_ratio(&c, 40), 1);
    cr_assert_geq(course_ratio(&d, 40), 1);
    cr_assert_lt(course_ratio(&c, 40), INFINITY);
    course_free(&c);
    course_free(&d);
    free(a.output);
    free(b.output);
    close_surrogate(&x);
}

Test(search_surrogate, wrong_calls_are_refused)
{
    struct surrogate x = open_surrogate();
    char plain[32];
    e2e_file(plain, HEAD "row\tok\t1\t0\t0\t0\t0\t.x2\n");
    const struct {
        const char *options, *pool, *store, *said;
    } BAD[] = {
        {"", "/nosuch.pool", x.store, "cannot be read"},
        {"", x.pool, "/nosuch.db", "does not exist"},
        {"", plain, x.store, "less than 3 implementations"},
        {"--heuristic nosuch", x.pool, x.store, "nosuch"},
        {"--in-flight 65", x.pool, x.store, "usage"},
        {"--trace", x.pool, x.store, "usage"},
        {"", x.pool, "", "usage"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        struct shell_run r = search_surrogate(BAD[i].options, BAD[i].pool, BAD[i].store);
        cr_assert_eq(r.status, 2, "%s", r.output);
        cr_assert(strstr(r.output, BAD[i].said), "%s", r.output);
        free(r.output);
    }
    unlink(plain);
    close_surrogate(&x);
}

/* ---- the table ---- */

static struct shell_run table(const char *lines)
{
    char path[32];
    e2e_file(path, lines);
    struct shell_run r = run("search-table", path);
    unlink(path);
    return r;
}

Test(search_table, figures_of_two_pools)
{
    struct shell_run r = table("A\t-\ttag\t1\t50\t1:4 10:1.0\nA\t-\ttag\t2\t50\t1:4 10:1.0\n"
                               "B\t-\ttag\t1\t50\t1:4 40:1.05\nB\t-\ttag\t2\t50\t2:8 40:1.05\n");
    cr_assert_eq(r.status, 0, "%s", r.output);
    cr_assert(strstr(r.output, "| tag | 1.000 (1.000 to 1.000) | 1.000 (1.000 to 1.000) |\n"), "%s",
              r.output);
    cr_assert(strstr(r.output, "| tag | 10 (10 to 10), 100 % | 10 (10 to 10), 100 % |"), "%s", r.output);
    cr_assert(strstr(r.output, "| tag | 6.000 (4.000 to 8.000) | 1.050"), "%s", r.output);
    cr_assert(strstr(r.output, "| 40 (40 to 40), 100 % | > 50 (from 50), 0 % |"), "%s", r.output);
    cr_assert(strstr(r.output, "| tag | 20 (20 to 20), 100 % | 20 (20 to 20), 100 % | 22 (22 to 22), 50 % |"),
              "%s", r.output);
    free(r.output);
}

Test(search_table, two_labels_are_compared)
{
    struct shell_run r = table("A\told\ttag\t1\t50\t20:1\nA\tnew\ttag\t1\t50\t10:1\n");
    cr_assert_eq(r.status, 0, "%s", r.output);
    cr_assert(strstr(r.output, "## Evaluations of new over those of old"), "%s", r.output);
    cr_assert(strstr(r.output, "| tag | 0.50 (0.50 to 0.50) | 0.50 (0.50 to 0.50) |"), "%s", r.output);
    free(r.output);
}

Test(search_table, other_lines_are_refused)
{
    static const char *const BAD[] = {"A\t-\ttag\t1\t50\n", "A\t-\ttag\t1\tx\t1:1\n",
                                      "A\t-\ttag\t1\t50\t1:2\t3\n", "A\t-\ttag\t1\t50\t1:0.5\n"};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        struct shell_run r = table(BAD[i]);
        cr_assert_eq(r.status, 1, "%s", BAD[i]);
        cr_assert(strstr(r.output, ":1: not a line of search-bench"), "%s", r.output);
        free(r.output);
    }
}
