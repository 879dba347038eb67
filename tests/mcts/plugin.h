/* Plug-ins that tests build as a user would. */
#ifndef THRESH_TESTS_MCTS_PLUGIN_H
#define THRESH_TESTS_MCTS_PLUGIN_H

struct mcts_plugin_file {
    char folder[32], library[64]; /* the shared object, alone in its folder */
};

/* Compiles what a shell command prints to NAME.so. */
struct mcts_plugin_file mcts_plugin_build(const char *source_command, const char *name);
/* The same with options of the compiler that come before `-I.`. */
struct mcts_plugin_file mcts_plugin_build_with(const char *source_command, const char *name,
                                               const char *options);
void mcts_plugin_remove(const struct mcts_plugin_file *f);

#endif
