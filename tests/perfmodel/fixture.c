/* Opens kernels for the tests of the bound. */
#include "tests/perfmodel/fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/lift/lift.h"
#include "core/space/data.h"

extern const struct space_def space_def_gpu;

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

static void bound_lower(struct bound_fixture *f, const struct bound_case *c)
{
    const char *path = arena_printf(f->arena, "experiments/kernels/%s.lift", c->kernel);
    size_t length = 0;
    f->text = source_read_file(path, 1 << 20, &length, f->diag);
    cr_assert_not_null(f->text, "cannot read %s", path);
    f->source = (struct source){path, f->text, length};
    struct lift_program *p = lift_parse(&f->source, f->arena, f->diag);
    struct lift_size_value *sizes = NULL;
    int n = lift_parse_sizes(c->sizes, &sizes, f->arena, f->diag);
    bool bound = p && n >= 0 && lift_bind(p, sizes, (unsigned)n, f->arena, f->diag);
    struct bb_options options = {0};
    f->bb = bound ? bb_lower(p, &options, f->arena, f->diag) : NULL;
}

void bound_open(struct bound_fixture *f, const struct bound_case *c, const char *description)
{
    *f = (struct bound_fixture){.arena = arena_new(), .diag = diag_new()};
    bool read = !description || perfmodel_device_read(description, &f->dev, f->diag);
    bound_lower(f, c);
    struct bb_device limits = bound_limits(&f->dev);
    if (f->bb) f->data = bb_instance(f->bb, &limits);
    if (f->data) f->space = space_instantiate(&space_def_gpu, f->data, f->diag);
    diag_print(f->diag, stderr);
    cr_assert(read && f->space, "%s %s has no space", c->kernel, c->sizes);
    f->model = perfmodel_new(f->bb, f->space, &f->dev);
}

void bound_close(struct bound_fixture *f)
{
    perfmodel_free(f->model);
    space_free(f->space);
    space_data_free(f->data);
    free(f->text);
    diag_free(f->diag);
    arena_free(f->arena);
}

struct space_state *bound_root(const struct bound_fixture *f)
{
    struct space_failure why = {0};
    struct space_state *st = space_root(f->space, &why);
    cr_assert_not_null(st, "empty space: %s:%u: %s", why.file, why.line, why.text);
    return st;
}

bool bound_step(struct space_state *st, struct pcg32 *rng)
{
    uint32_t values[4096];
    uint32_t slot = space_next_choice(st, NULL, 0);
    if (slot == UINT32_MAX) return false;
    uint32_t n = space_values(st, slot, values);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t pick = i + pcg32_below(rng, n - i), value = values[pick];
        struct space_failure why;
        values[pick] = values[i];
        space_mark mark = space_snapshot(st);
        if (space_apply(st, (struct space_action){slot, value}, &why)) return true;
        space_rollback(st, mark);
    }
    return false;
}
