/* The thresh command: one table of options, one file per subcommand.
 *
 * A subcommand is a constant that names its arguments and its options, with a function that runs it:
 *
 *     const struct cli_command cli_bound = {.name = "bound",
 *                                           .positional = "KERNEL.lift",
 *                                           .least = 1,
 *                                           .most = 1,
 *                                           .takes = {CLI_TAKES(SIZE), CLI_TAKES(JSON)},
 *                                           .help = "Prints ... .\vExample: thresh bound ...",
 *                                           .run = run};
 *
 * Parsing, --help, manual pages, completion and the messages about bad usage are made from these constants
 * and from the table of options below. README.md in this folder says how to add a subcommand or an option. */
#ifndef THRESH_CLI_CLI_H
#define THRESH_CLI_CLI_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/device.h"
#include "core/pipeline/problem.h"
#include "core/base/diag.h"
#include "coordinator/cli/options.h"
#include "mcts/order.h"
#include "mcts/tree.h"

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 }; /* exit status */
enum {
    CLI_MAX_POSITIONAL = 64,      /* stores to join */
    CLI_MAX_LIST = 512,           /* how often --pin or --input may be given */
    CLI_PROGRAM_BYTES = 1 << 20,  /* longest text of a program */
    CLI_MOST_SAMPLES = 100000000, /* each may be kept in memory */
    CLI_NAME_BYTES = 512          /* room for the name of a choice or of a value; longer ones are cut off */
};

enum cli_key {
#define X(key, name, argument, help) CLI_##key,
    CLI_OPTIONS(X)
#undef X
        CLI_KEY_COUNT
};
/* A set of options: {CLI_TAKES(STORE), CLI_TAKES(JSON)}; in an expression CLI_SET(CLI_TAKES(STORE), ...). */
struct cli_set {
    bool has[CLI_KEY_COUNT];
};
#define CLI_TAKES(key) .has[CLI_##key] = true
#define CLI_SET(...) ((struct cli_set){__VA_ARGS__})
#define CLI_INSTANCE                                                                                         \
    CLI_TAKES(SIZE), CLI_TAKES(PARAM), CLI_TAKES(ALLOW), CLI_TAKES(DEVICE), CLI_TAKES(PIN), CLI_TAKES(SEED), \
        CLI_TAKES(JSON)
#define CLI_PROGRAM CLI_INSTANCE, CLI_TAKES(ORDER) /* and an order of its choices */

/* An option that may be repeated, with its values in order. */
struct cli_list {
    const char *items[CLI_MAX_LIST];
    unsigned n;
};

/* A parsed command line. Strings are borrowed. */
struct cli_args {
    const char *positional[CLI_MAX_POSITIONAL];
    unsigned n_positional;
    /* NULL: not given; "": a flag. Of a repeated option the last value; of --size, --param and --allow all
     * values, joined by commas. */
    const char *value[CLI_KEY_COUNT];
    struct cli_list pins, inputs, references, outputs, learned, baselines; /* learned: --learn-from */
};

/* An option's argument and help for one subcommand, in place of those in the table. */
struct cli_note {
    enum cli_key key;
    const char *argument, *help;
};
enum { CLI_MAX_NOTES = 4 };

struct cli_command {
    const char *name;
    const char *positional;               /* for the usage line; " | " separates ways to call it */
    unsigned least, most;                 /* how many positional arguments */
    struct cli_set takes;                 /* its options */
    struct cli_note notes[CLI_MAX_NOTES]; /* entries without help are unused */
    /* One sentence, details, \v, "Example: thresh ..." lines. In the details \n begins a paragraph, and a
     * paragraph that begins with "# " is the title of a section. */
    const char *help;
    int (*run)(const struct cli_args *args); /* returns the exit status */
};

extern const struct cli_command cli_tune, cli_campaign, cli_report, cli_serve, cli_export, cli_estimate,
    cli_descend, cli_explain, cli_replay, cli_replay_search, cli_agent, cli_keys, cli_device, cli_lift,
    cli_space, cli_store, cli_verify, cli_levels, cli_bound, cli_audit, cli_heuristics, cli_choices, cli_help,
    cli_completion;

extern const char cli_tune_help[]; /* cli_tune.help */
extern const char cli_version[];   /* "thresh 0.1 (REVISION)", made by the Makefile */

/* `thresh ARGS...`: finds the subcommand and runs it. argv[0] is the program. Returns the exit status. */
int cli_main(int argc, char **argv);
/* Parses and runs. argv[0] is the subcommand; argv is permuted. `program`: how thresh was called. */
int cli_run(const char *program, const struct cli_command *command, int argc, char **argv);

/* ---- for subcommands ---- */

static inline bool cli_given(const struct cli_args *a, enum cli_key key)
{
    return a->value[key] != NULL;
}
/* Adds an error "--NAME MESSAGE" for each of the n options that is given. true: none is given. */
bool cli_refuse(const struct cli_args *a, const enum cli_key *keys, size_t n, const char *message,
                struct diag *d);
/* The same for each option that is not in the set. */
bool cli_refuse_others(const struct cli_args *a, struct cli_set takes, const char *message, struct diag *d);
/* The same for the options of a verb: "--out does not apply to 'thresh device list'". The verb is the first
 * positional argument. */
bool cli_refuse_of_verb(const struct cli_command *command, const struct cli_args *a, struct cli_set takes,
                        struct diag *d);

/* The value of an option; `otherwise` if it is not given. false after an error. A count is a whole number; a
 * positive one is at least 1. */
bool cli_count(const struct cli_args *a, enum cli_key key, uint64_t otherwise, uint64_t *out, struct diag *d);
bool cli_positive(const struct cli_args *a, enum cli_key key, uint64_t otherwise, uint64_t *out,
                  struct diag *d);
/* --samples: 1 to CLI_MOST_SAMPLES. */
bool cli_samples(const struct cli_args *a, uint64_t otherwise, uint64_t *out, struct diag *d);
/* --runners: 0 if not given; more than AGENT_RUNNERS_MOST are that many. */
bool cli_runners(const struct cli_args *a, unsigned *out, struct diag *d);
/* A share such as 5% or 0.05: at least 0 and less than 1; 0 if not given. */
bool cli_share(const struct cli_args *a, enum cli_key key, double *out, struct diag *d);
/* A positive number. */
bool cli_number(const struct cli_args *a, enum cli_key key, double otherwise, double *out, struct diag *d);
/* A time such as 30s or 10m, in seconds; 0 if not given. */
bool cli_seconds(const struct cli_args *a, enum cli_key key, double *out, struct diag *d);

/* Checks that the heuristic that --heuristic names can be loaded. false after an error. Loading is tried in a
 * child process: call this before the process starts threads other than that of cli_signals(). */
bool cli_try_heuristic(const struct cli_args *a, struct diag *d);

/* Writes the page of a store and best.h, as `thresh report` and `thresh export` do: the store is the only
 * positional argument, --out the file. Returns the exit status. */
int cli_write_report(const struct cli_args *a, struct diag *d);
int cli_write_header(const struct cli_args *a, struct diag *d);

/* Prints the errors and frees d. Returns the exit status: `status`, or CLI_USAGE in place of CLI_OK if there
 * are errors. */
int cli_finish(struct diag *d, int status);
/* The share of descents that ended without an implementation, as a line and as keys of an object, with its
 * 95 % interval for that many independent descents (0: no interval). */
void cli_print_dead_ends(double ratio, uint64_t descents);
void cli_add_dead_ends(json_t *o, double ratio, uint64_t descents);
/* The nodes of a search tree by their state (mcts_stats.nodes), as a line and as an object. */
void cli_print_nodes(uint64_t nodes, const uint64_t by_cause[MCTS_N_CAUSES]);
json_t *cli_causes_json(const uint64_t by_cause[MCTS_N_CAUSES]);
/* A number; null if it is not finite, which JSON cannot say. */
json_t *cli_real_json(double x);
/* A count from its natural logarithm; null if a double cannot hold it. */
json_t *cli_count_json(double log_count);
/* Prints an object on standard output and releases it. */
void cli_print_json(json_t *o);

/* The device that --device selects, else the one that --description describes, else `otherwise`. */
bool cli_select_device(const struct cli_args *a, const char *otherwise, struct device *out, struct diag *d);
/* The same for a command that only needs the limits: where no device is named and none is here, *out has
 * limits that every device has, no memory and no known name, and why (n bytes) says why; else why is "". */
bool cli_select_limits(const struct cli_args *a, struct device *out, char *why, size_t n, struct diag *d);

/* A program on a device with the pins applied: what estimate, descend and verify start from. */
struct cli_problem {
    char *text;
    struct device device;
    struct bb_options lowering; /* with the parameters of --param and --allow */
    struct problem *problem;
    struct space_state *root;
    struct mcts_order order; /* of --order */
};
/* For commands that measure nothing: the device may be described, or not known, which is said on standard
 * error with what is assumed. */
bool cli_problem_open(const struct cli_args *a, struct cli_problem *out, struct diag *d);
/* For commands that measure. With --description alone the device is the described one, which has no memory.
 */
bool cli_problem_open_to_measure(const struct cli_args *a, struct cli_problem *out, struct diag *d);
/* The same of a text that is no file: a kernel of a sequence. */
bool cli_problem_open_part(const struct cli_args *a, const char *path, const char *text,
                           struct cli_problem *out, struct diag *d);
void cli_problem_close(struct cli_problem *p);
/* The options of the lowering with the parameters of --param and --allow. false after an error. */
bool cli_lowering(const struct cli_args *a, struct bb_options *out, struct diag *d);

struct store_run;
/* The problem of a stored run, on its device (present or described) or on the one that the options name; the
 * device goes to *dev. Parameters are those of --param, else those of the run. NULL after an error: a run of
 * `tune --space` has no program, and the space of another device or of another version of thresh differs from
 * the recorded one. */
struct problem *cli_run_problem(const struct cli_args *a, const struct store_run *run, struct device *dev,
                                struct diag *d);
/* The same with a context that is the const struct cli_args: for struct report_opener. */
struct problem *cli_open_run(void *args, const struct store_run *run, struct device *dev, struct diag *d);

/* Flushes standard output and closes it. false after a message: not everything could be written. */
bool cli_flush_output(void);

/* Returns a descriptor that becomes readable at the first SIGINT, SIGTERM or (unless it is ignored) SIGHUP;
 * -1: signals cannot be caught. The signals are blocked in this thread and in all threads that it starts
 * later. A second signal ends the process and its children immediately. */
int cli_signals(void);
/* The exit status: 130, 143 or 129 after a signal, else `otherwise`. Closes the descriptor. */
int cli_signal_status(int fd, int otherwise);

#endif
