/* Plain implementations as points of the space; see contend.h. What their decisions leave open (the kinds of
 * the loads' dimensions, the sequence of loops) is decided one choice after the other: the value with the
 * highest prior weight first, the first of equals. A contender that takes more than LIMIT_PLAIN_STEPS
 * decisions is left out. */
#include "coordinator/contend.h"

#include <stdlib.h>
#include <string.h>

#include "coordinator/limits.h"
#include "coordinator/solution.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/pipeline/code.h"
#include "mcts/prior.h"

enum { WHY = 256 };

/* The value of the slot that weighs most and is not yet in tried[]; UINT32_MAX: none is left. */
static uint32_t heaviest(const struct space_state *st, struct mcts_prior *prior, uint32_t slot,
                         const bool *tried)
{
    uint32_t best = UINT32_MAX;
    double most = -1;
    for (uint32_t v = 0; v < space_universe(space_of(st), slot); v++) {
        if (tried[v] || !space_has_value(st, slot, v)) continue;
        double weight = mcts_prior_weight(prior, st, (struct space_action){slot, v});
        if (weight > most) best = v;
        if (weight > most) most = weight;
    }
    return best;
}

bool contend_complete(struct space_state *st, struct mcts_prior *prior, unsigned *steps)
{
    struct space_failure why;
    uint32_t slot = space_next_choice(st, NULL, 0), value;
    if (slot == UINT32_MAX) return true;
    bool *tried = base_calloc(space_universe(space_of(st), slot), sizeof *tried), done = false;
    while (!done && *steps > 0 && (value = heaviest(st, prior, slot, tried)) != UINT32_MAX) {
        space_mark mark = space_snapshot(st);
        --*steps;
        tried[value] = true;
        done =
            space_apply(st, (struct space_action){slot, value}, &why) && contend_complete(st, prior, steps);
        if (!done) space_rollback(st, mark);
    }
    free(tried);
    return done;
}

/* A leaf that has the user's pins and the decisions of the plain one; NULL: there is none. */
static struct space_state *leaf_of(const struct problem *p, const char *const *pins, unsigned n_pins,
                                   const struct bb_plain *plain, struct mcts_prior *prior)
{
    struct diag *ignored = diag_new();
    struct space_failure why;
    unsigned steps = LIMIT_PLAIN_STEPS;
    struct space_state *st = space_pinned_root(p->space, pins, n_pins, ignored);
    bool done = st && space_apply_all(st, plain->decisions.items, plain->decisions.n, &why) &&
                contend_complete(st, prior, &steps);
    if (st && !done) space_state_free(st);
    diag_free(ignored);
    return done ? st : NULL;
}

/* Takes the leaf. false: the code generator does not know it. */
static bool make(const struct problem *p, struct space_state *leaf, const char *label,
                 struct contend_plain *out)
{
    struct pipeline_code code;
    struct strbuf text = {0};
    char why[WHY];
    if (!pipeline_lower(p, leaf, &code, why, sizeof why)) {
        space_state_free(leaf);
        return false;
    }
    strbuf_printf(&text, "plain: %s", label);
    *out = (struct contend_plain){.label = strbuf_take(&text), .leaf = leaf, .kernel_hash = code.hash};
    out->actions = solution_actions(NULL, leaf, &out->n_actions);
    pipeline_code_clear(&code);
    return true;
}

static bool is_known(const struct contend_plain *c, const struct contend_plain *others, unsigned n,
                     uint64_t naive_hash)
{
    bool known = c->kernel_hash == naive_hash;
    for (unsigned i = 0; i < n; i++)
        known = known || others[i].kernel_hash == c->kernel_hash;
    return known;
}

unsigned contend_plain(const struct problem *p, const char *const *pins, unsigned n_pins,
                       struct mcts_prior *prior, uint64_t naive_hash, struct contend_plain out[BB_MAX_PLAIN])
{
    struct arena *a = arena_new();
    struct bb_plain plain[BB_MAX_PLAIN];
    unsigned n = bb_plain(p->backbone, p->space, &p->limits, a, plain), made = 0;
    for (unsigned i = 0; i < n; i++) {
        struct space_state *leaf = leaf_of(p, pins, n_pins, &plain[i], prior);
        bool lowered = leaf && make(p, leaf, plain[i].label, &out[made]);
        bool known = lowered && is_known(&out[made], out, made, naive_hash);
        if (known) contend_plain_clear(&out[made]);
        made += lowered && !known;
    }
    arena_free(a);
    return made;
}

void contend_plain_clear(struct contend_plain *c)
{
    free(c->label);
    free(c->actions);
    space_state_free(c->leaf);
    *c = (struct contend_plain){0};
}

bool contend_allowed(const struct space_state *root, const struct space_action *actions, size_t n)
{
    struct space_state *st = space_state_clone(root);
    struct space_failure why;
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++)
        ok = space_apply(st, actions[i], &why);
    space_state_free(st);
    return ok;
}
