/* Outputs that are judged one by one: small ones, and those of which a comparison may go two ways.
 *
 * One absolute tolerance for a set says nothing of outputs that are smaller than it, as most of a softmax
 * are: 1e-8 beside 0.3. Each output has an error bound of its own, but only the interpreter knows it, and it
 * is too slow to be asked of all. So the reference check finds how large the bound is beside the output in a
 * sample; what is farther away than that is suspect, and the interpreter is asked:
 *
 *     relative 0.03    reference 1e-8    got 1.001e-8: fine    got 2e-8: suspect, then wrong
 *
 * A correct output that is suspect, after much cancellation, passes: the interpreter's bound decides. So it
 * does for outputs beyond the tolerance that have a jump, as if a + b < 1.0 then 0.0 else 5.0 has where a + b
 * is 1 but for its rounding error: the tolerance leaves jumps out, else it would be of their size. */
#include <math.h>

#include "agent/verify_interpret.h"

enum { MOST_SUSPECTS = 16, MOST_EXCUSED = 256 };

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

/* The interpreter at hand, with the inputs of a set once it is asked. */
struct judge {
    const struct verify_task *t;
    unsigned buffer, set;
    double **in;
    void (*alive)(void *ctx);
    void *ctx;
};

static struct lift_value_bound ask(struct judge *j, int64_t at)
{
    j->alive(j->ctx);
    if (!j->in) j->in = verify_inputs_new(j->t, j->set);
    return verify_element(j->t, j->in, j->buffer, at);
}

static bool is_excused(struct judge *j, const struct verify_buffer *b, const void *got, int64_t at,
                       bool stated)
{
    if (!j->t->program || stated || verify_unwritten(b->type, got, at)) return false;
    struct lift_value_bound v = ask(j, at);
    return v.jumps && verify_agrees(b, verify_get(b->type, got, at), v);
}

/* The first output beyond the tolerance that is not excused. */
static int64_t find_beyond(struct judge *j, const struct verify_buffer *b, const void *got,
                           struct verify_tolerance tolerance)
{
    int64_t at = verify_compare(b, j->set, got, tolerance);
    for (int n = 0; at >= 0 && n < MOST_EXCUSED && is_excused(j, b, got, at, tolerance.stated); n++)
        at = verify_compare_from(b, j->set, got, tolerance, at + 1);
    return at;
}

static int64_t find_small(struct judge *j, const struct verify_buffer *b, const void *got,
                          struct verify_tolerance tolerance)
{
    if (!(tolerance.relative > 0)) return -1;
    struct suspects s = find(b, j->set, got, tolerance);
    for (unsigned i = 0; i < s.n; i++) {
        int64_t at = s.list[i].at;
        if (!verify_agrees(b, verify_get(b->type, got, at), ask(j, at))) return at;
    }
    return -1;
}

int64_t verify_wrong(const struct verify_task *t, unsigned buffer, unsigned set, const void *got,
                     struct verify_tolerance tolerance, void (*alive)(void *ctx), void *ctx)
{
    const struct verify_buffer *b = &t->buffers[buffer];
    struct judge j = {.t = t, .buffer = buffer, .set = set, .alive = alive, .ctx = ctx};
    int64_t at = find_beyond(&j, b, got, tolerance);
    if (at < 0) at = find_small(&j, b, got, tolerance);
    if (j.in) verify_inputs_free(j.in, t);
    return at;
}
