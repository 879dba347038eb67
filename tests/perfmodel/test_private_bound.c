/* The bound where work-items copy for themselves, to registers: it counts no more accesses than the loop
 * program of a random implementation has. */
#include <criterion/criterion.h>

#include "core/base/arena.h"
#include "core/codegen/counts.h"
#include "core/codegen/program.h"
#include "tests/fixture/longer.h"
#include "tests/perfmodel/fixture.h"

enum { PRIVATE_LANES = 32, PRIVATE_WIDEST = 64 /* bytes of a vector of 16 */ };

/* One unit that does nothing but accesses, as wide as any vector. */
static void private_model(struct bound_fixture *f)
{
    f->dev.value[PERFMODEL_UNITS] = 1;
    f->dev.value[PERFMODEL_UNIT_ACCESS] = 1e-3;
    f->dev.value[PERFMODEL_ACCESS_BYTES] = PRIVATE_WIDEST;
    perfmodel_free(f->model);
    f->model = perfmodel_new(f->kernel.bb, f->kernel.space, &f->dev);
}

/* Accesses to global memory of the loop program, for each lane. */
static double private_accesses(const struct bound_fixture *f, const struct space_state *leaf)
{
    static const struct cg_target target = {.dialect = &cg_opencl};
    struct arena *arena = arena_new();
    struct bb_candidate *c = bb_candidate_new(f->kernel.bb, arena);
    const char *why;
    double counts[CG_COUNT_COUNT];
    cr_assert(bb_decode(f->kernel.bb, leaf, c, &why), "%s", why);
    const struct cg_program *p = cg_build(f->kernel.bb, c, &target, arena, &why);
    cr_assert_not_null(p, "%s", why);
    cg_count(p, counts);
    cr_assert_eq(counts[CG_COUNT_LOCAL_ACCESSES], 0);
    arena_free(arena);
    return PRIVATE_LANES * (counts[CG_COUNT_LOADS] + counts[CG_COUNT_STORES]);
}

static void private_compare(const struct kernel_case *k, const char *const *pins, unsigned n)
{
    struct bound_fixture f;
    struct pcg32 rng = pcg32_seed(11, 0);
    unsigned compared = 0;
    bound_open(&f, k, BOUND_H200);
    private_model(&f);
    struct space_state *root = bound_root(&f, pins, n);
    for (unsigned i = 0; i < longer(40, 400); i++) {
        space_mark mark = space_snapshot(root);
        struct perfmodel_reason reason;
        if (kernel_descend(root, &rng)) {
            perfmodel_bound(f.model, root, &reason);
            if (reason.term == PERFMODEL_OF_ACCESS) {
                cr_assert_leq(reason.amount, 1.0001 * private_accesses(&f, root));
                compared++;
            }
        }
        space_rollback(root, mark);
    }
    cr_assert_gt(compared, 10, "%u", compared);
    space_state_free(root);
    bound_close(&f);
}

Test(private_bound, windows_in_a_plane)
{
    static const char *const pins[] = {"staged(A)=YES", "staged(mask)=NO", "mem_space(A.tile)=PRIVATE"};
    private_compare(&(struct kernel_case){"stencil_9point", "H=48,W=64"}, pins, 3);
}

Test(private_bound, windows_on_a_line)
{
    static const char *const pins[] = {"staged(x)=YES", "mem_space(x.tile)=PRIVATE"};
    private_compare(&(struct kernel_case){"stencil_3point", "N=4096"}, pins, 2);
}

Test(private_bound, windows_of_channels)
{
    static const char *const pins[] = {"staged(x)=YES", "staged(kernels)=NO", "mem_space(x.tile)=PRIVATE"};
    private_compare(&(struct kernel_case){"convolution_strided", "O=8,C=4,H=32,W=32"}, pins, 3);
}

/* Five values read what one copy loads. */
Test(private_bound, places_of_windows)
{
    static const char *const pins[] = {"staged(A)=YES", "mem_space(A.tile)=PRIVATE"};
    private_compare(&(struct kernel_case){"stencil_5point", "H=48,W=64"}, pins, 2);
}
