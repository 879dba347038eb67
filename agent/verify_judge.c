/* The check of an output, part by part. Few of its elements are judged one by one: small ones, and those of
 * which a comparison may go two ways.
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
#include "agent/verify_judge.h"

#include <math.h>
#include <string.h>

struct verify_check verify_check_of(const struct verify_task *t, unsigned buffer, unsigned set,
                                    struct verify_tolerance tolerance, void (*alive)(void *ctx), void *ctx)
{
    return (struct verify_check){.t = t,
                                 .b = &t->buffers[buffer],
                                 .buffer = buffer,
                                 .set = set,
                                 .tolerance = tolerance,
                                 .alive = alive,
                                 .ctx = ctx,
                                 .in = verify_inputs_of(t, set),
                                 .at = -1};
}

void verify_check_free(struct verify_check *c)
{
    verify_inputs_free(&c->in);
}

static bool refuse(struct verify_check *c, int64_t at, const void *got)
{
    c->at = at;
    memcpy(c->got, got, scalar_type_bytes(c->b->type));
    return false;
}

static struct lift_value_bound ask(struct verify_check *c, int64_t at)
{
    c->alive(c->ctx);
    return verify_element(&c->in, c->buffer, at);
}

/* ---- small outputs ---- */

static void add(struct verify_check *c, const struct verify_suspect *x)
{
    const unsigned last = VERIFY_MOST_SUSPECTS - 1;
    struct verify_suspect *list = c->suspects;
    unsigned at = c->n_suspects < VERIFY_MOST_SUSPECTS ? c->n_suspects++ : last;
    if (list[at].excess > x->excess && at == last) return;
    for (; at > 0 && list[at - 1].excess < x->excess; at--)
        list[at] = list[at - 1];
    list[at] = *x;
}

static void find_suspects(struct verify_check *c, const struct verify_span *s, int64_t from, int64_t end)
{
    size_t unit = scalar_type_bytes(s->type);
    for (int64_t i = from; i < end; i++) {
        double y = verify_get(s->type, s->want, i), off = fabs(verify_get(s->type, s->got, i) - y);
        double allowed = c->tolerance.relative * fabs(y) + c->tolerance.floor;
        if (!(off > allowed)) continue;
        struct verify_suspect x = {.at = c->done + i, .excess = off / allowed};
        memcpy(x.got, (const unsigned char *)s->got + (size_t)i * unit, unit);
        add(c, &x);
    }
}

/* ---- outputs beyond the tolerance ---- */

static bool is_excused(struct verify_check *c, const struct verify_span *s, int64_t i)
{
    if (!c->t->program || c->tolerance.stated || c->n_excused >= VERIFY_MOST_EXCUSED ||
        verify_unwritten(s->type, s->got, i))
        return false;
    c->n_excused++;
    struct lift_value_bound v = ask(c, c->done + i);
    return v.jumps && verify_agrees(c->b, verify_get(s->type, s->got, i), v);
}

/* The first output beyond the tolerance that is not excused, or -1. */
static int64_t find_beyond(struct verify_check *c, const struct verify_span *s, int64_t from, int64_t end)
{
    int64_t i = verify_compare_span(s, c->tolerance, from, end);
    while (i >= 0 && is_excused(c, s, i))
        i = verify_compare_span(s, c->tolerance, i + 1, end);
    return i;
}

/* ---- the check ---- */

static bool check_block(struct verify_check *c, const struct verify_span *s, int64_t from, int64_t end)
{
    if (verify_near(s, c->tolerance, from, end - from)) return true;
    int64_t i = find_beyond(c, s, from, end);
    if (i >= 0)
        return refuse(c, c->done + i, (const unsigned char *)s->got + (size_t)i * scalar_type_bytes(s->type));
    if (c->tolerance.relative > 0) find_suspects(c, s, from, end);
    return true;
}

bool verify_check_part(struct verify_check *c, const void *got, int64_t n)
{
    const unsigned char *want = c->b->data[c->set];
    const struct verify_span s = {
        .type = c->b->type, .want = want + (size_t)c->done * scalar_type_bytes(c->b->type), .got = got};
    bool ok = true;
    for (int64_t from = 0; ok && from < n; from += VERIFY_BLOCK)
        ok = check_block(c, &s, from, from + VERIFY_BLOCK < n ? from + VERIFY_BLOCK : n);
    c->done += n;
    return ok;
}

bool verify_check_end(struct verify_check *c)
{
    for (unsigned i = 0; i < c->n_suspects; i++) {
        const struct verify_suspect *x = &c->suspects[i];
        if (!verify_agrees(c->b, verify_get(c->b->type, x->got, 0), ask(c, x->at)))
            return refuse(c, x->at, x->got);
    }
    return true;
}

int64_t verify_wrong(const struct verify_task *t, unsigned buffer, unsigned set, const void *got,
                     struct verify_tolerance tolerance, void (*alive)(void *ctx), void *ctx)
{
    struct verify_check c = verify_check_of(t, buffer, set, tolerance, alive, ctx);
    if (verify_check_part(&c, got, c.b->elements)) verify_check_end(&c);
    verify_check_free(&c);
    return c.at;
}
