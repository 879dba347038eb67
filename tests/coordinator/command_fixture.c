#include "tests/coordinator/command_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

#include "coordinator/command.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/space/data.h"
#include "spacedsl/model.h"

static const char command_space_text[] =
    "space s parameter p: int = 7 choice x: int in 1..6 choice y: { NO, YES } choice z: int in 0..3\n"
    "require y is YES -> x > 2\n";

struct command_fixture command_setup_of(const char *text)
{
    struct command_fixture f = {.arena = arena_new(), .diag = diag_new(), .data = space_data_new()};
    struct source *src = ARENA_NEW(f.arena, struct source);
    *src = (struct source){"t", text, strlen(text)};
    f.space = space_instantiate(spacedsl_compile(src, f.arena, f.diag), f.data, f.diag);
    f.root = space_root(f.space, NULL);
    cr_assert_not_null(f.root);
    return f;
}

struct command_fixture command_setup(void)
{
    return command_setup_of(command_space_text);
}

void command_teardown(struct command_fixture *f)
{
    space_state_free(f->root);
    space_free(f->space);
    space_data_free(f->data);
    arena_free(f->arena);
    diag_free(f->diag);
}

int command_run(char *const *words, const char *input, double limit_s, struct command_result *out)
{
    struct command_process *p = command_start(words, input, limit_s);
    command_wait(&p, 1, -1, -1);
    return command_finish(p, out);
}
