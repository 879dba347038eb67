/* A kernel's backbone and GPU space with a model over a description of the repository, for the tests of the
 * bound. */
#ifndef THRESH_TESTS_PERFMODEL_FIXTURE_H
#define THRESH_TESTS_PERFMODEL_FIXTURE_H

#include "perfmodel/bound.h"
#include "tests/fixture/kernel.h"

struct bound_fixture {
    struct kernel_fixture kernel;
    struct perfmodel_device dev;
    struct perfmodel *model;
};

#define BOUND_H200 "perfmodel/devices/nvidia-h200.json"

/* `description`: a file; NULL: a device of which nothing is known. Fails the test if anything is missing. */
void bound_open(struct bound_fixture *f, const struct kernel_case *c, const char *description);
/* The same of a device with a fence: groups may have parts of reductions. */
void bound_open_fenced(struct bound_fixture *f, const struct kernel_case *c, const char *description);
/* The root with pins, all of which it must allow. The caller frees it. */
struct space_state *bound_root(const struct bound_fixture *f, const char *const *pins, unsigned n);
void bound_close(struct bound_fixture *f);

#endif
