/* Opens kernels for the tests of the bound. */
#include "tests/perfmodel/fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>

/* Limits of the device that a description is of. */
static struct bb_device bound_limits(const struct perfmodel_device *dev)
{
    int64_t items = dev->value[PERFMODEL_GROUP_ITEMS] > 0 ? (int64_t)dev->value[PERFMODEL_GROUP_ITEMS] : 256;
    int64_t local =
        dev->value[PERFMODEL_GROUP_LOCAL] > 0 ? (int64_t)dev->value[PERFMODEL_GROUP_LOCAL] : 32768;
    return (struct bb_device){.max_work_group = items,
                              .max_work_item = {items, items, 64},
                              .local_bytes = local,
                              .n_vector_widths = 2,
                              .vector_widths = {2, 4},
                              .gpu = dev->gpu};
}

static void open_fixture(struct bound_fixture *f, const struct kernel_case *c, const char *description,
                         bool fence)
{
    static const struct bb_options options = {0};
    struct diag *d = diag_new();
    *f = (struct bound_fixture){0};
    bool read = !description || perfmodel_device_read(description, &f->dev, d);
    diag_print(d, stderr);
    cr_assert(read, "%s", description);
    diag_free(d);
    struct bb_device limits = bound_limits(&f->dev);
    limits.device_fence = fence;
    kernel_open(&f->kernel, c, &limits, &options);
    f->model = perfmodel_new(f->kernel.bb, f->kernel.space, &f->dev);
}

void bound_open(struct bound_fixture *f, const struct kernel_case *c, const char *description)
{
    open_fixture(f, c, description, false);
}

void bound_open_fenced(struct bound_fixture *f, const struct kernel_case *c, const char *description)
{
    open_fixture(f, c, description, true);
}

struct space_state *bound_root(const struct bound_fixture *f, const char *const *pins, unsigned n)
{
    struct space_state *st = space_pinned_root(f->kernel.space, pins, n, f->kernel.diag);
    diag_print(f->kernel.diag, stderr);
    cr_assert_not_null(st, "the pins leave nothing");
    return st;
}

void bound_close(struct bound_fixture *f)
{
    perfmodel_free(f->model);
    kernel_close(&f->kernel);
}
