/* Parameters of heuristics and rollout policies, as users write them: "topk=20,value=best".
 *
 * Several owners may share one text: in `tag:topk=20,draws=4` the key `topk` is the heuristic's and `draws`
 * is that of its rollout policy `guess`. A key belongs to the first owner that has it. */
#ifndef THRESH_MCTS_PARAMETER_H
#define THRESH_MCTS_PARAMETER_H

#include "mcts/view.h"

struct diag;

/* Who has the parameters. */
struct mcts_parameter_owner {
    const char *name; /* of the heuristic or policy */
    const struct mcts_parameter *parameters;
    uint32_t n;
    void *state; /* where the values go; NULL: it may not be set here (mcts_parameters_set() says so) */
};

/* Whether the parameters lie in a state of that size, with keys. */
bool mcts_parameters_valid(const struct mcts_parameter *p, uint32_t n, size_t state_size);
void mcts_parameters_set_defaults(const struct mcts_parameter_owner *o);
/* Writes the values of a text, a key "rollout" left out that no owner has. `name` is that of the heuristic in
 * errors: not key=value, an unknown key, a value out of range, an owner without a state. */
void mcts_parameters_set(const char *name, const struct mcts_parameter_owner *owners, size_t n_owners,
                         const char *text, struct diag *d);
/* The value of a key in a text: its start, with its length in *n; NULL: the key is not there. The last one
 * counts. */
const char *mcts_parameter_text(const char *text, const char *key, size_t *n);

#endif
