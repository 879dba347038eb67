/* The example of objects that choices select (experiments/spaces/pipeline.space): its solutions are those of
 * a loop over all assignments with the rules written out. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/space/count.h"
#include "core/space/data.h"
#include "core/space/space.h"
#include "spacedsl/model.h"
#include "tests/spacedsl/fixture.h"

enum { PIPELINE_FILTERS = 4, PIPELINE_REGISTERS = 40 };

static const int pipeline_cost[] = {18, 12, 9, 25}, pipeline_halo[] = {2, 1, 1, 3};

struct pipeline {
    bool joined[PIPELINE_FILTERS], gpu[PIPELINE_FILTERS];
    int lines[PIPELINE_FILTERS];
};

static struct pipeline pipeline_number(unsigned k)
{
    struct pipeline p;
    for (int f = 0; f < PIPELINE_FILTERS; f++) {
        p.joined[f] = k >> f & 1;
        p.gpu[f] = k >> (4 + f) & 1;
        p.lines[f] = 1 << (k >> (8 + 2 * f) & 3) * 2;
    }
    return p;
}

static int pipeline_head(const struct pipeline *p, int f)
{
    while (f > 0 && p->joined[f])
        f--;
    return f;
}

static int pipeline_work(const struct pipeline *p, int head)
{
    int work = 0;
    for (int f = 0; f < PIPELINE_FILTERS; f++)
        if (pipeline_head(p, f) == head) work += pipeline_cost[f];
    return work;
}

static bool pipeline_holds(const struct pipeline *p)
{
    int upload = 0;
    if (p->joined[0]) return false;
    for (int f = 0; f < PIPELINE_FILTERS; f++) {
        int head = pipeline_head(p, f), reach = 0;
        for (int e = head; e <= f; e++)
            reach += pipeline_halo[e];
        if (p->gpu[f] != p->gpu[head] || pipeline_work(p, f) > PIPELINE_REGISTERS) return false;
        if (p->lines[head] < reach || (head != f && p->lines[f] != 1)) return false;
    }
    while (upload < PIPELINE_FILTERS && !p->gpu[upload])
        upload++;
    return upload == PIPELINE_FILTERS || pipeline_work(p, pipeline_head(p, upload)) >= 10;
}

Test(spacedsl_pipeline, has_the_solutions_of_its_rules)
{
    struct spacedsl_files f =
        spacedsl_files_open("experiments/spaces/pipeline.space", "experiments/spaces/pipeline.json");
    unsigned solutions = 0;
    for (unsigned k = 0; k < 1u << 16; k++) {
        struct pipeline p = pipeline_number(k);
        solutions += pipeline_holds(&p);
    }
    struct space_count count = space_count(f.root, 0);
    cr_assert_gt(solutions, 1000);
    cr_assert(count.complete && count.solutions == (long double)solutions, "%.0Lf, not %u", count.solutions,
              solutions);
    spacedsl_files_close(&f);
}

static int pipeline_fibonacci(int c, int d)
{
    int f[61];
    for (int i = 0; i <= 60; i++)
        f[i] = i == c ? d : ((i > 0 ? f[i - 1] : 0) % 97 + (i > 1 ? f[i - 2] : 0)) % 97;
    return f[60];
}

Test(spacedsl_pipeline, recursion_shares_what_it_meets_again, .timeout = 20)
{
    static const char text[] = "space fibonacci set N = 0..60 choice c: int in 1..9 choice d: int in 1..9\n"
                               "define f(i: N): int = i == c ? d : (f(i - 1) % 97 + f(i - 2)) % 97\n"
                               "require f(60) > 3\n";
    struct arena *a = arena_new();
    struct diag *diag = diag_new();
    struct source src = {"t", text, strlen(text)};
    const struct space_def *def = spacedsl_compile(&src, a, diag);
    struct space_data *data = space_data_new();
    struct space *s = def ? space_instantiate(def, data, diag) : NULL;
    cr_assert(s, "%s", diag_count(diag) ? diag_message(diag, 0) : "");
    unsigned solutions = 0;
    for (int c = 1; c <= 9; c++)
        for (int d = 1; d <= 9; d++)
            solutions += pipeline_fibonacci(c, d) > 3;
    struct space_state *root = space_root(s, NULL);
    cr_assert(root && space_count(root, 0).solutions == (long double)solutions);
    space_state_free(root);
    space_free(s);
    space_data_free(data);
    diag_free(diag);
    arena_free(a);
}
