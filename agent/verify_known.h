/* What the interpreter has found out about outputs that take long: one of a sum of 2^24 numbers takes it some
 * seconds, and is asked for again and again, as a sample of inputs that were drawn, for the work of an
 * output, for sums of the largest inputs, for the check of the reference. */
#ifndef THRESH_AGENT_VERIFY_KNOWN_H
#define THRESH_AGENT_VERIFY_KNOWN_H

#include "core/lift/lift.h"

/* An output, and the inputs that it is computed from: equal keys have equal inputs. */
struct verify_known_key {
    unsigned set, domain;
    bool units; /* how the set was drawn, with `domain` */
    unsigned buffer;
    int64_t at;
};

struct verify_known;

struct verify_known *verify_known_new(void);
void verify_known_free(struct verify_known *k); /* NULL is allowed */

/* What is known of the output. false: nothing. */
bool verify_recall(const struct verify_known *k, const struct verify_known_key *key,
                   struct lift_value_bound *out);
/* Notes that it was interpreted, and what came of it, if it took long. */
void verify_note(struct verify_known *k, const struct verify_known_key *key, struct lift_value_bound v);
/* Keeps verify_note() of another thread out while this one forks, so that the child has whole entries. Parent
 * and child release it. */
void verify_known_hold(struct verify_known *k);
void verify_known_release(struct verify_known *k);
/* Operations that were interpreted for all outputs so far. */
double verify_known_work(const struct verify_known *k);

#endif
