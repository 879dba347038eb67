/* One output on one set of inputs, compared with the reference part by part, in the order in which its parts
 * come from the device:
 *
 *     struct verify_check c = verify_check_of(t, buffer, set, tolerance, alive, ctx);
 *     ok = verify_check_part(&c, part, n) && ... && verify_check_end(&c);
 *     if (!ok) element c.at is wrong; its bytes are c.got
 *     verify_check_free(&c); */
#ifndef THRESH_AGENT_VERIFY_JUDGE_H
#define THRESH_AGENT_VERIFY_JUDGE_H

#include "agent/verify_interpret.h"

enum { VERIFY_MOST_SUSPECTS = 16, VERIFY_MOST_EXCUSED = 256 };

/* An output within the tolerance that is far from the reference for its size. */
struct verify_suspect {
    int64_t at;
    double excess; /* how many times its allowance the output is off */
    unsigned char got[VERIFY_FILL];
};

struct verify_check {
    const struct verify_task *t;
    const struct verify_buffer *b;
    unsigned buffer, set;
    struct verify_tolerance tolerance;
    void (*alive)(void *ctx); /* called before each element that is interpreted */
    void *ctx;
    struct verify_inputs in;
    int64_t done;                   /* elements of the parts so far */
    int64_t at;                     /* the wrong element, or -1 */
    unsigned char got[VERIFY_FILL]; /* its bytes */
    unsigned n_excused;             /* beyond the tolerance, but right since a comparison may go two ways */
    unsigned n_suspects;            /* the worst ones, the worst first */
    struct verify_suspect suspects[VERIFY_MOST_SUSPECTS];
};

struct verify_check verify_check_of(const struct verify_task *t, unsigned buffer, unsigned set,
                                    struct verify_tolerance tolerance, void (*alive)(void *ctx), void *ctx);
/* Compares the next n elements. false: one is wrong. */
bool verify_check_part(struct verify_check *c, const void *got, int64_t n);
/* After the last part: judges the suspects. false: one is wrong. */
bool verify_check_end(struct verify_check *c);
void verify_check_free(struct verify_check *c);

#endif
