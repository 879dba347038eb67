/* Whole searches on small spaces whose number of solutions is known. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/space/data.h"
#include "core/space/space.h"
#include "spacedsl/model.h"

static uint64_t queens_count(struct space_state *st)
{
    uint32_t slot = space_next_choice(st, NULL, 0);
    if (slot == UINT32_MAX) return 1;
    uint32_t values[64], n = space_values(st, slot, values);
    uint64_t total = 0;
    for (uint32_t i = 0; i < n; i++) {
        space_mark m = space_snapshot(st);
        if (space_apply(st, (struct space_action){slot, values[i]}, NULL)) total += queens_count(st);
        space_rollback(st, m);
    }
    return total;
}

static uint64_t queens_solve(const char *path, const struct space_data *data)
{
    struct diag *d = diag_new();
    struct arena *a = arena_new();
    struct source src = {.path = path};
    char *text = source_read_file(path, 1 << 20, &src.length, d);
    cr_assert(text, "cannot read %s", path);
    src.text = text;
    const struct space_def *def = spacedsl_compile(&src, a, d);
    diag_print(d, stderr);
    cr_assert(def);
    struct space *s = space_instantiate(def, data, d);
    diag_print(d, stderr);
    cr_assert(s);
    struct space_state *st = space_root(s, NULL);
    uint64_t n = st ? queens_count(st) : 0;
    space_state_free(st);
    space_free(s);
    arena_free(a);
    diag_free(d);
    free(text);
    return n;
}

static uint64_t queens_of(int n)
{
    struct space_data *data = space_data_new();
    space_data_parameter(data, "n", n);
    for (int i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "r%d", i);
        uint32_t id = space_data_object(data, "Row", name);
        space_data_int(data, "index", &id, 1, i);
    }
    uint64_t count = queens_solve("spacedsl/spaces/queens.space", data);
    space_data_free(data);
    return count;
}

Test(space_queens, six_has_four)
{
    cr_assert_eq(queens_of(6), 4);
}

Test(space_queens, eight_has_92)
{
    cr_assert_eq(queens_of(8), 92);
}

Test(space_queens, colourings_of_a_cycle)
{
    enum { N = 7 };
    struct space_data *data = space_data_new();
    for (uint32_t i = 0; i < N; i++)
        space_data_object(data, "Node", (char[]){(char)('a' + i), 0});
    for (uint32_t i = 0; i < N; i++)
        space_data_int(data, "edge", (uint32_t[]){i, (i + 1) % N}, 2, 1);
    cr_assert_eq(queens_solve("spacedsl/spaces/colouring.space", data), 128 - 2);
    space_data_free(data);
}

static unsigned blocked_reference(void)
{
    unsigned n = 0;
    for (int i = 0; i < 37; i++) {
        int bx = i < 5 ? 1 << i : (i - 4) * 32;
        for (int by = 1; by <= 32; by *= 2)
            for (int tile = 1; tile <= 10; tile++)
                for (int staged = 0; staged < 2; staged++)
                    n += 32 <= bx * by && bx * by <= 1024 &&
                         (!staged || (bx * tile + 2) * (by + 2) * 4 <= 49152) && 1024 % (bx * tile) == 0;
    }
    return n;
}

Test(space_queens, blocked_stencil_has_as_many_points_as_loops_find)
{
    struct space_data *data = space_data_new();
    cr_assert_eq(queens_solve("spacedsl/spaces/blocked_stencil.space", data), blocked_reference());
    space_data_free(data);
}
