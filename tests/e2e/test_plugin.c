/* A user's heuristic that crashes in the middle of a search: it is named, and nothing recorded is lost. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/run.h"
#include "tests/mcts/plugin.h"

/* A plug-in whose callbacks are as good as `random` until the given one is called for the 40th time. */
static struct mcts_plugin_file plugin_build(const char *select_fault, const char *report_fault)
{
    char source[2048], path[32], command[64];
    snprintf(
        source, sizeof source,
        "#include <stdlib.h>\n#include \"mcts/heuristic.h\"\n"
        "static int deep(volatile int *p) {\n    volatile int a[1000];\n    a[0] = *p + 1;\n"
        "    return a[0] > 1000000000 ? 0 : deep(a) + a[0];\n}\n"
        "struct state { double selects, reports; };\n"
        "static uint32_t pick(void *state, const struct mcts_view *view, double *score)\n{\n"
        "    struct state *s = state;\n    uint32_t child;\n    volatile int here = 0;\n"
        "    volatile int *volatile nowhere = NULL;\n    *score = 0;\n"
        "    (void)nowhere, (void)here, (void)deep;\n    if (++s->selects > 40) { %s; }\n"
        "    return mcts_open_child(view, 2, &child, score) ? child : 0;\n}\n"
        "static void hear(void *state, uint32_t node, uint32_t depth, struct mcts_outcome outcome)\n{\n"
        "    struct state *s = state;\n    volatile int *volatile nowhere = NULL;\n"
        "    (void)nowhere, (void)node, (void)depth, (void)outcome;\n"
        "    if (++s->reports > 40) { %s; }\n}\n"
        "extern const struct mcts_plugin thresh_heuristic;\n"
        "const struct mcts_plugin thresh_heuristic = {.abi = MCTS_PLUGIN_ABI, .struct_size = sizeof(struct "
        "mcts_plugin), .name = \"faulty\", .state_size = sizeof(struct state), .select = pick, "
        ".backpropagate = hear};\n",
        select_fault, report_fault);
    e2e_file(path, source);
    snprintf(command, sizeof command, "cat %s", path);
    struct mcts_plugin_file f = mcts_plugin_build(command, "faulty");
    unlink(path);
    return f;
}

static struct e2e_run plugin_search(const struct mcts_plugin_file *f, const char *store)
{
    return E2E_RUN(&cli_tune, "--space", "experiments/spaces/transpose.space", "--command",
                   "echo {tile_rows}0", "--heuristic", f->library, "--evaluations", "400", "--quiet",
                   "--store", store);
}

/* It ends with status 1, its error says `wanted`, and its evaluations are in the store. */
static void plugin_crashes(const char *select_fault, const char *report_fault, const char *wanted)
{
    char folder[32], store[64], message[256], command[64];
    struct mcts_plugin_file f = plugin_build(select_fault, report_fault);
    e2e_folder(folder);
    snprintf(store, sizeof store, "%s/runs.db", folder);
    snprintf(message, sizeof message,
             "thresh: plug-in %s %s\n"
             "thresh: the evaluations until then are in the store; --resume continues the run\n",
             f.library, wanted);
    struct e2e_run r = plugin_search(&f, store);
    cr_expect_eq(r.status, CLI_FAILED, "%d: %s", r.status, r.err);
    cr_expect_str_eq(r.err, message);
    e2e_run_free(&r);
    r = E2E_RUN(&cli_store, "export", store, "--format", "csv");
    cr_expect(strstr(r.out, "\n1,") && strstr(r.out, ",5,ok,"), "%s", r.out);
    e2e_run_free(&r);
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_expect_eq(system(command), 0);
    mcts_plugin_remove(&f);
}

Test(plugin, that_crashes_is_named_with_its_callback, .timeout = 120)
{
    plugin_crashes("*nowhere = 1", "", "crashed in its callback 'select' (segmentation fault)");
    plugin_crashes("", "*nowhere = 1", "crashed in its callback 'backpropagate' (segmentation fault)");
    plugin_crashes("abort()", "", "crashed in its callback 'select' (aborted)");
}

/* The handler has a stack of its own. */
Test(plugin, that_uses_up_its_stack_is_named, .timeout = 120)
{
    plugin_crashes("return (uint32_t)deep(&here)", "",
                   "crashed in its callback 'select' (segmentation fault)");
}

/* An exit status of 0 would look like a search that went well. */
Test(plugin, that_ends_the_process_is_named, .timeout = 120)
{
    plugin_crashes("exit(0)", "", "ended the process in its callback 'select'");
}
