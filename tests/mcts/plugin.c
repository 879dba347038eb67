#include "tests/mcts/plugin.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/e2e/run.h"

struct mcts_plugin_file mcts_plugin_build_with(const char *source_command, const char *name,
                                               const char *options)
{
    struct mcts_plugin_file f;
    char command[2048];
    e2e_folder(f.folder);
    snprintf(f.library, sizeof f.library, "%s/%s.so", f.folder, name);
    snprintf(command, sizeof command, "%s | cc -std=c11 -Wall -Werror -shared -fPIC %s -I. -o %s -x c - -lm",
             source_command, options, f.library);
    cr_assert_eq(system(command), 0);
    return f;
}

struct mcts_plugin_file mcts_plugin_build(const char *source_command, const char *name)
{
    return mcts_plugin_build_with(source_command, name, "");
}

void mcts_plugin_remove(const struct mcts_plugin_file *f)
{
    remove(f->library);
    remove(f->folder);
}
