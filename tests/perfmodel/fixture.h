/* A kernel's backbone and GPU space with a model over a description of the repository, for the tests of the
 * bound. */
#ifndef THRESH_TESTS_PERFMODEL_FIXTURE_H
#define THRESH_TESTS_PERFMODEL_FIXTURE_H

#include "core/backbone/backbone.h"
#include "core/base/diag.h"
#include "core/base/pcg32.h"
#include "core/space/space.h"
#include "perfmodel/bound.h"

struct bound_fixture {
    struct arena *arena;
    struct diag *diag;
    struct source source;
    char *text;
    struct backbone *bb;
    struct space_data *data;
    struct space *space;
    struct perfmodel_device dev;
    struct perfmodel *model;
};

struct bound_case {
    const char *kernel, *sizes;
};

#define BOUND_H200 "perfmodel/devices/nvidia-h200.json"

/* `description`: a file; NULL: a device of which nothing is known. Fails the test if anything is missing. */
void bound_open(struct bound_fixture *f, const struct bound_case *c, const char *description);
void bound_close(struct bound_fixture *f);
struct space_state *bound_root(const struct bound_fixture *f);
/* Goes down by one random live value. false: a leaf or a dead end. */
bool bound_step(struct space_state *st, struct pcg32 *rng);

#endif
