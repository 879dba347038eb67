/* What tests of a user's program as evaluator share: a space of three choices. */
#ifndef THRESH_TESTS_COMMAND_FIXTURE_H
#define THRESH_TESTS_COMMAND_FIXTURE_H

#include "core/space/space.h"

struct arena;
struct command_result;
struct diag;
struct space_data;

struct command_fixture {
    struct arena *arena;
    struct diag *diag;
    struct space_data *data;
    struct space *space;
    struct space_state *root;
};

/* Of the text of a space that has a solution; ended by command_teardown(). */
struct command_fixture command_setup_of(const char *text);
/* Of x in 1..6, y NO or YES, z in 0..3, where YES needs x > 2. */
struct command_fixture command_setup(void);
void command_teardown(struct command_fixture *f);
/* Runs a program to its end, an enum command_end. */
int command_run(char *const *words, const char *input, double limit_s, struct command_result *out);

#endif
