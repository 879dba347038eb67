/* Spaces against brute force: every assignment of a small instance is checked by an evaluator that walks the
 * definition's formulas directly, without grounding, tables or bounds. brute_value.c has the values of
 * formulas, brute_force.c what is compared. */
#ifndef THRESH_TESTS_SPACE_BRUTE_FORCE_H
#define THRESH_TESTS_SPACE_BRUTE_FORCE_H

#include "core/base/pcg32.h"
#include "core/space/data/lookup.h"
#include "core/space/space.h"

enum { BRUTE_SLOTS = 24, BRUTE_VALUES = 128, BRUTE_OBJECTS = 8, BRUTE_SETS = 8, BRUTE_DEFINES = 8 };

struct brute {
    const struct space_def *def;
    struct space *space;
    struct space_data *data;
    struct diag *diag;
    struct arena *arena;
    struct pcg32 rng;
    uint32_t values[BRUTE_SLOTS];
    int64_t env[SPACE_MAX_VARS];
    bool latent[BRUTE_SETS][BRUTE_OBJECTS], live[BRUTE_SETS][BRUTE_OBJECTS];
    bool dead;                     /* the formula at hand met a choice of an object that is not live */
    unsigned steps[BRUTE_DEFINES]; /* calls at work of each recursive definition */
};

/* The value of a node under b->values and b->env. */
int64_t brute_value(struct brute *b, int32_t node);
int32_t brute_kid(const struct brute *b, const struct space_node *n, int i);
/* The objects of a list node. */
struct data_list brute_list(struct brute *b, const struct space_node *n);
bool brute_in_domain(struct brute *b, const struct space_domain *dom, int64_t object);
bool brute_is_dead(const struct brute *b, int32_t root, int64_t object);

/* Objects "s0", "s1", ... of a set "S". */
void brute_objects(struct brute *b, const char *set, unsigned n);
/* Instantiates the text with what `fill` says, for seeds from 1 on: the search finds exactly the solutions,
 * the root keeps all their values, any order of the same actions gives the same vector, rollback is exact,
 * and the count is right. `look`, if any, sees each space. */
void brute_run(const char *text, void (*fill)(struct brute *b), unsigned seeds,
               void (*look)(const struct space *s));

#endif
