/* Points of a plot; see curve.h. */
#include "coordinator/report/curve.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/arena.h"

struct curve curve_of(const struct report_search *s, bool over_seconds)
{
    struct curve c = {.dots = base_malloc((s->n_times + 1) * sizeof *c.dots)};
    double best = INFINITY;
    size_t room = 0;
    c.x_high = over_seconds ? fmax(s->last_s, 1e-3) : fmax((double)s->evaluations, 1);
    for (size_t i = 0; i < s->n_times; i++) {
        const struct report_time *t = &s->times[i];
        struct svg_point at = {over_seconds ? fmax(t->at_s, 0) : t->evaluation, t->ns};
        c.dots[c.n_dots++] = at;
        if (!(t->ns < best)) continue;
        best = t->ns;
        if (c.n_steps == room) {
            room = 2 * room + 32;
            c.steps = base_realloc(c.steps, room * sizeof *c.steps);
            c.improvements = base_realloc(c.improvements, room * sizeof *c.improvements);
        }
        c.improvements[c.n_steps] = t;
        c.steps[c.n_steps++] = at;
    }
    return c;
}

void curve_clear(struct curve *c)
{
    free(c->dots);
    free(c->steps);
    free(c->improvements);
    *c = (struct curve){0};
}
