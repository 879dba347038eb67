/* The lower bound: nanoseconds that no implementation below a candidate can beat on the described device
 * (Beaugnon, Pouille, Pouzet, Pienaar, Cohen, "Optimization space pruning without regrets", CC 2017;
 * "Partially specified implementations", section 5.4). README.md says how it is computed.
 *
 * A candidate leaves open how each logical dimension is divided among groups, work-items and sequential
 * iterations: a *mapping*. The bound is the cost of the cheapest mapping that its domains still allow, where
 * the cost of a mapping is the largest of what each resource must at least do for it. A child allows fewer
 * mappings, so its bound is not below its parent's. */
#ifndef THRESH_PERFMODEL_BOUND_H
#define THRESH_PERFMODEL_BOUND_H

#include <stdbool.h>

#include "core/backbone/backbone.h"
#include "perfmodel/device.h"

struct space;
struct space_state;
struct strbuf;
struct perfmodel;

/* What limits a mapping. X(ID, figure of the description, head, text): the head is the shortest kernel that
 * the term's work cannot overlap with, on a GPU. What waits for loaded data comes after a load and before a
 * store (TOUCH); what may be issued at once comes before a store (STORE). */
#define PERFMODEL_TERMS(X)                                                                                   \
    X(NOTHING, LAUNCH, NONE, "the device has no description")                                                \
    X(OF_LAUNCH, LAUNCH, NONE, "the launch of an empty kernel")                                              \
    X(OF_TOUCH, LAUNCH_TOUCH, NONE, "the launch of a kernel that loads and stores one element")              \
    X(OF_DRAM, DRAM, LAUNCH, "memory traffic that exceeds the caches")                                       \
    X(OF_DEVICE, FP32, TOUCH, "float arithmetic of the whole device")                                        \
    X(OF_FP32, UNIT_FP32, TOUCH, "float arithmetic of the busiest unit")                                     \
    X(OF_ITEM, ITEM_FP32, TOUCH, "arithmetic of one work-item")                                              \
    X(OF_ITEM_ISSUE, ITEM_ISSUE, STORE, "instructions of one work-item")                                     \
    X(OF_SPECIAL, UNIT_SPECIAL, TOUCH, "special functions of the busiest unit")                              \
    X(OF_ISSUE, UNIT_ISSUE, STORE, "instructions of the busiest unit")                                       \
    X(OF_ACCESS, UNIT_ACCESS, STORE, "loads and stores of the busiest unit")                                 \
    X(OF_LOCAL, UNIT_LOCAL, STORE, "first-level cache or local memory of the busiest unit")                  \
    X(OF_BANKS, UNIT_LOCAL, STORE, "bank conflicts of staged tiles in local memory, of the busiest unit")    \
    X(OF_LINES, UNIT_LINES, STORE, "cache lines accessed by the busiest unit")                               \
    X(OF_UNIT_L2, UNIT_L2, TOUCH, "traffic from the last-level cache to the busiest unit")                   \
    X(OF_L2, L2, STORE, "traffic from the last-level cache to all units")                                    \
    X(OF_GROUPS, GROUPS, TOUCH, "starting the work-groups")                                                  \
    X(OF_LATENCY, LOAD_LATENCY, TOUCH, "one load in each wave of work-groups")                               \
    X(OF_CHAIN, CHAIN, TOUCH, "dependent steps of a reduction, times waves of work-groups")

enum perfmodel_term {
#define X(id, figure, head, text) PERFMODEL_##id,
    PERFMODEL_TERMS(X)
#undef X
        PERFMODEL_TERM_COUNT
};

/* How one logical dimension is divided: groups x work-items of a group x sequential iterations = a span. */
struct perfmodel_split {
    int64_t groups, items, steps;
    int64_t run;  /* least distance of two work-items of a group: sizes that are less significant than any of
                     theirs */
    int64_t gap;  /* distance of a work-item's runs, if an access may have elements of two; otherwise 0 */
    bool global;  /* groups * items are global work-items; the device divides them */
    double share; /* of all iterations, within the extent; 1 if it is not rounded up */
    bool any; /* any number of work-items may divide the iterations: of a reduction, in a program with many */
};

enum { PERFMODEL_LOGICALS = BB_MAX_LOGICALS };

/* Why the bound is what it is: the cheapest mapping left, and what limits it. */
struct perfmodel_reason {
    double ns;
    double
        launch_ns; /* of them, of the kernel that the term's work cannot overlap with; the term is the rest */
    enum perfmodel_figure launch; /* that kernel's figure */
    enum perfmodel_term term;
    double amount;       /* work in the unit of the term's figure times ns: operations, bytes, ...  */
    unsigned n_logicals; /* 0: no mapping was looked at */
    struct perfmodel_split split[PERFMODEL_LOGICALS]; /* of the main logical dimensions */
};

/* A model: one backbone, its space, one device. Not shared between threads (it keeps what it computed).
 * Borrows all three. */
struct perfmodel *perfmodel_new(const struct backbone *bb, const struct space *space,
                                const struct perfmodel_device *dev);
/* A model of the same for another thread. What takes long is computed by one of the threads for all. While
 * one of these models is corrected or takes other figures, no other is asked for a bound, and each of the
 * others takes these figures before it is asked again. They are freed in any order. */
struct perfmodel *perfmodel_new_beside(const struct perfmodel *m);
void perfmodel_free(struct perfmodel *m);                                      /* NULL is allowed */
const struct perfmodel_device *perfmodel_described(const struct perfmodel *m); /* its device */

/* The bound in ns; 0: nothing known. `reason` may be NULL. */
double perfmodel_bound(struct perfmodel *m, const struct space_state *state, struct perfmodel_reason *reason);
/* The same as a hook of the search: `context` is the model. */
double perfmodel_hook(void *context, const struct space_state *state);

/* The reason as a small tree of text: resource, cheapest mapping, statements with their loops. */
void perfmodel_explain(const struct perfmodel *m, const struct perfmodel_reason *reason, struct strbuf *out);
/* The first line of it, without the time: "float arithmetic of the whole device: fp32 = 124 G operations/s
 * (measured on 2026-11-21), for 262 k operations". */
void perfmodel_explain_limit(const struct perfmodel *m, const struct perfmodel_reason *reason,
                             struct strbuf *out);
/* What limits a mapping, as PERFMODEL_TERMS says it; static. */
const char *perfmodel_term_text(enum perfmodel_term term);
/* The figure that a term rests on. */
enum perfmodel_figure perfmodel_term_figure(enum perfmodel_term term);
/* Takes a measurement below the bound for what it is: the figure that the reason names is raised (a rate) or
 * lowered (a time) by as much and 5 % more, with source `violated` and no date. Larger corrections than those
 * known win. */
void perfmodel_violated(struct perfmodel_device *dev, const struct perfmodel_reason *reason,
                        double measured_ns);

/* The same in the model itself, figure after figure, until the implementation's bound is not above the
 * measurement; bounds are computed anew from then on. false: none of the figures was to blame. */
bool perfmodel_correct(struct perfmodel *m, const struct space_state *implementation, double measured_ns);

/* Takes the figures of another description of the device; bounds are computed anew if they differ. */
void perfmodel_take(struct perfmodel *m, const struct perfmodel_device *dev);

/* What the model leaves out, as one line for people; nothing if it leaves nothing out. */
void perfmodel_gaps(const struct perfmodel *m, struct strbuf *out);

#endif
