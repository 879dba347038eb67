#include "coordinator/guidance.h"

#include "agent/device.h"
#include "core/backbone/combine.h"
#include "core/codegen/counts.h"
#include "core/pipeline/code.h"

void guidance_facts(const struct problem *p, const struct device *device,
                    struct mcts_fact facts[GUIDANCE_FACTS])
{
    facts[0] = (struct mcts_fact){"gpu", device->gpu};
    facts[1] = (struct mcts_fact){"compute_units", device->compute_units};
    facts[2] = (struct mcts_fact){"max_work_group", (double)device->limits.max_work_group};
    facts[3] = (struct mcts_fact){"results", bb_split_results(p->backbone, device->gpu)};
}

struct mcts_prior *guidance_prior(const struct problem *p, const struct device *device, struct diag *d)
{
    struct mcts_fact facts[GUIDANCE_FACTS];
    guidance_facts(p, device, facts);
    return mcts_prior_new(prior_gpu, p->space, facts, GUIDANCE_FACTS, d);
}

void guidance_features(const struct problem *p, const struct device *device, const struct space_state *leaf,
                       double *features)
{
    double counts[CG_COUNT_COUNT];
    if (pipeline_count(p, leaf, counts))
        estimate_features(counts, device->compute_units, device->gpu, features);
    else
        estimate_none(features);
}
