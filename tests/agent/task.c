/* See task.h. */
#include "tests/agent/task.h"

#include <criterion/criterion.h>

#include "agent/verify_inputs.h"

struct verify_task *task_make(const struct verify_buffer *shape, unsigned n, uint64_t seed, struct diag *d)
{
    struct verify_task *t = verify_task_new(shape, n, VERIFY_EXTREME, d);
    cr_assert_not_null(t);
    verify_draw(t, VERIFY_SIGNED, seed);
    return t;
}
