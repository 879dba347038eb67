/* What a search is told about implementations of a program before any is measured: features, from which it
 * guesses times, and the declared prior, by which it draws values.
 *
 *     device with its limits  --facts-->     spacedsl/spaces/gpu.prior   weights of values (mcts/prior.h)
 *     an implementation       --counts-->    perfmodel/estimate.h        features (struct mcts_leaf)
 *
 * `thresh tune`, pools and the surrogate (experiments/search) tell the same. */
#ifndef THRESH_COORDINATOR_GUIDANCE_H
#define THRESH_COORDINATOR_GUIDANCE_H

#include "mcts/prior.h"
#include "perfmodel/estimate.h"

struct device;
struct diag;
struct problem;
struct space_state;

enum { GUIDANCE_FACTS = 4 };

/* The declared prior of GPUs and CPUs: spacedsl/spaces/gpu.prior, compiled in. */
extern const char prior_gpu[];

/* Facts of the prior: the device, and results of the program among which work-items may be divided. */
void guidance_facts(const struct problem *p, const struct device *device,
                    struct mcts_fact facts[GUIDANCE_FACTS]);
/* The prior with these facts, for the space of the problem (borrowed); mcts_prior_free() it. NULL after
 * adding errors. */
struct mcts_prior *guidance_prior(const struct problem *p, const struct device *device, struct diag *d);
/* features: [ESTIMATE_FEATURES]. May be called on several threads at once. */
void guidance_features(const struct problem *p, const struct device *device, const struct space_state *leaf,
                       double *features);

#endif
