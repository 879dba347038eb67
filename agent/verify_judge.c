/* Small outputs, judged one by one.
 *
 * One absolute tolerance for a set says nothing of outputs that are smaller than it, as most of a softmax
 * are: 1e-8 beside 0.3. Each output has an error bound of its own, but only the interpreter knows it, and it
 * is too slow to be asked of all. So the reference check finds how large the bound is beside the output in a
 * sample; what is farther away than that is suspect, and the interpreter is asked:
 *
 *     relative 0.03    reference 1e-8    got 1.001e-8: fine    got 2e-8: suspect, then wrong
 *
 * A correct output that is suspect, after much cancellation, passes: the interpreter's bound decides. */
#include <math.h>

#include "agent/verify_interpret.h"

enum { MOST_SUSPECTS = 16 };

struct suspect {
    int64_t at;
    double excess; /* how many times its allowance the output is off */
};

struct suspects {
    unsigned n; /* the worst ones, the worst first */
    struct suspect list[MOST_SUSPECTS];
};

static void add(struct suspects *s, struct suspect x)
{
    unsigned at = s->n < MOST_SUSPECTS ? s->n++ : MOST_SUSPECTS - 1;
    if (s->list[at].excess > x.excess && at == MOST_SUSPECTS - 1) return;
    for (; at > 0 && s->list[at - 1].excess < x.excess; at--)
        s->list[at] = s->list[at - 1];
    s->list[at] = x;
}

static struct suspects find(const struct verify_buffer *b, unsigned set, const void *got,
                            struct verify_tolerance t)
{
    struct suspects s = {0};
    for (int64_t i = 0; i < b->elements; i++) {
        double y = verify_get(b->type, b->data[set], i), off = fabs(verify_get(b->type, got, i) - y);
        double allowed = t.relative * fabs(y) + t.floor;
        if (off > allowed) add(&s, (struct suspect){i, off / allowed});
    }
    return s;
}

int64_t verify_judge(const struct verify_task *t, unsigned set, const void *got,
                     struct verify_tolerance tolerance, void (*alive)(void *ctx), void *ctx)
{
    const struct verify_buffer *b = verify_output(t);
    if (!(tolerance.relative > 0)) return -1;
    struct suspects s = find(b, set, got, tolerance);
    if (s.n == 0) return -1;
    double **in = verify_inputs_new(t, set);
    int64_t wrong = -1;
    for (unsigned i = 0; i < s.n && wrong < 0; i++) {
        int64_t at = s.list[i].at;
        alive(ctx);
        if (!verify_agrees(b, verify_get(b->type, got, at), verify_element(t, in, at))) wrong = at;
    }
    verify_inputs_free(in, t);
    return wrong;
}
