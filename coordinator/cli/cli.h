/* The thresh command: one table of options, one file per subcommand. A subcommand lists the options that it
 * takes; parsing, --help, manual pages, completion and the exit status of bad usage follow from that. */
#ifndef THRESH_CLI_CLI_H
#define THRESH_CLI_CLI_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/device.h"
#include "core/pipeline/problem.h"
#include "core/base/diag.h"
#include "mcts/order.h"
#include "mcts/tree.h"

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 }; /* exit status */
enum {
    CLI_MAX_POSITIONAL = 4,
    CLI_MAX_LIST = 512,
    CLI_PROGRAM_BYTES = 1 << 20, /* longest text of a program */
    CLI_MOST_SAMPLES = 100000000
};

/* X(KEY, long name, argument or NULL, help). In the order of --help, whose sections are CLI_SECTIONS. What
 * the argument looks like says what completes it: FILE.db a file of that kind, DIR a folder, a|b|c these
 * words. */
#define CLI_OPTIONS(X)                                                                                       \
    X(SIZE, "size", "M=512,N=512", "values of the program's size parameters; may be repeated")               \
    X(INPUT, "input", "NAME=random:SEED", "data of an input; may be repeated (default random:1)")            \
    X(SPACE, "space", "FILE.space|FILE.so", "use this space instead of the space of a Lift program")         \
    X(DATA, "data", "FILE.json", "the space's instance: its objects and their properties")                   \
    X(PARAM, "param", "x=1,y=2", "parameters of the space, or of that of a Lift program; may be repeated")   \
    X(COMMAND, "command", "'PROG {x}'", "with --space: the program that measures a candidate")               \
    X(DEVICE, "device", "SEL",                                                                               \
      "OpenCL device: part of its name, gpu, cpu or its number in 'thresh device list'")                     \
    X(DESCRIPTION, "description", "FILE.json", "device description for lower bounds")                        \
    X(FRESH, "fresh", NULL, "discard the old figures of the device's description")                           \
    X(HEURISTIC, "heuristic", "NAME|FILE.so[:k=v]",                                                          \
      "search heuristic: tag (default), uct, random, bound, roundrobin or a plug-in, with parameters and "   \
      "rollout policies; see 'thresh heuristics'")                                                           \
    X(SEED, "seed", "N", "seed of the random number generator (default 1)")                                  \
    X(PIN, "pin", "CHOICE(ARGS)=VALUE",                                                                      \
      "fix a decision; * matches any text; may be repeated; see 'thresh choices'")                           \
    X(ORDER, "order", "CHOICE,CHOICE", "decide these choices first: names or patterns such as 'size(m.*)'")  \
    X(NO_PRIOR, "no-prior", NULL, "disable the prior: all values are equally likely at the start")           \
    X(TEXT_LIMIT, "text-limit", "KIB", "skip implementations with a longer OpenCL text (default 64)")        \
    X(ALLOW_NONFINITE, "allow-nonfinite", NULL,                                                              \
      "accept outputs that are infinite or NaN in the reference, which cannot be verified")                  \
    X(METHOD, "method", "knuth|chen|exact", "estimator (default knuth)")                                     \
    X(EVALUATIONS, "evaluations", "N", "stop after N evaluations (default 300 unless --time is given)")      \
    X(TIME, "time", "10m", "stop after this time: 30s, 10m, 2h")                                             \
    X(TIMEOUT, "timeout", "10s", "time limit of one run")                                                    \
    X(LAUNCHES, "launches", "N", "time at least N launches in all (default: 20 batches)")                    \
    X(SAMPLES, "samples", "N", "number of samples (default 1000)")                                           \
    X(LIMIT, "limit", "N", "stop after N nodes of the tree")                                                 \
    X(NO_BOUND, "no-bound", NULL, "do not cut candidates by their lower bound")                              \
    X(DISTANCE, "distance", "5%", "ignore improvements smaller than this")                                   \
    X(AUDIT_CUTS, "audit-cuts", "1%", "share of draws made below cut nodes, to check the bound")             \
    X(CUT, "cut", "NS", "cut candidates whose lower bound is at least this time")                            \
    X(DEPTH, "depth", "D", "cut only in the first D levels (default: all)")                                  \
    X(STORE, "store", "FILE.db", "record every evaluation in this store")                                    \
    X(RESUME, "resume", NULL, "continue the run in the store")                                               \
    X(RECORDED, "recorded", "FILE.db,FILE.db",                                                               \
      "take times from these stores instead of measuring: of --space, or of the device that "                \
      "--description names")                                                                                 \
    X(BEST, "best", NULL, "select the fastest implementation of the last program in a store")                \
    X(NUMBER, "number", "N", "select implementation N of the last run in a store")                           \
    X(CUTS, "cuts", NULL, "print what the lower bound cut in the last run of a store, and why")              \
    X(LEARNT, "learnt", NULL, "print what the evaluations of a store tell about each choice")                \
    X(LISTEN, "listen", "ENDPOINT", "wait for agents at this endpoint instead of running one")               \
    X(CONNECT, "connect", "ENDPOINT", "the coordinator's endpoint")                                          \
    X(RUNNERS, "runners", "N", "runner processes (default: by device)")                                      \
    X(NAME, "name", "NAME", "the agent's name in messages (default: HOST:PID)")                              \
    X(OUT, "out", "DIR", "output folder")                                                                    \
    X(EXPLAIN_COST, "explain-cost", NULL, "check: list the constraints that are slow to propagate, and why") \
    X(FORMAT, "format", "jsonl|csv", "format of the export (default jsonl)")                                 \
    X(JSON, "json", NULL, "print one JSON object")                                                           \
    X(MAN, "man", NULL, "print the manual page as roff")                                                     \
    X(QUIET, "quiet", NULL, "do not show progress")                                                          \
    X(VERBOSE, "verbose", NULL, "print a line for each evaluation")

/* X(title, first option): the sections of --help, each up to the first option of the next. */
#define CLI_SECTIONS(X)                                                                                      \
    X("Input", SIZE)                                                                                         \
    X("Device", DEVICE)                                                                                      \
    X("Search", HEURISTIC)                                                                                   \
    X("Budget", EVALUATIONS)                                                                                 \
    X("Lower bound", NO_BOUND)                                                                               \
    X("Records", STORE)                                                                                      \
    X("Processes", LISTEN)                                                                                   \
    X("Output", OUT)

enum cli_key {
#define X(key, name, argument, help) CLI_##key,
    CLI_OPTIONS(X)
#undef X
        CLI_KEY_COUNT
};
#define CLI_TAKES(key) (UINT64_C(1) << CLI_##key)
#define CLI_INSTANCE                                                                                         \
    (CLI_TAKES(SIZE) | CLI_TAKES(PARAM) | CLI_TAKES(DEVICE) | CLI_TAKES(PIN) | CLI_TAKES(SEED) |             \
     CLI_TAKES(JSON))
#define CLI_PROGRAM (CLI_INSTANCE | CLI_TAKES(ORDER)) /* and an order of its choices */

/* A list option: its values in order. */
struct cli_list {
    const char *items[CLI_MAX_LIST];
    unsigned n;
};

/* A parsed command line. Strings are borrowed. */
struct cli_args {
    const char *positional[CLI_MAX_POSITIONAL];
    unsigned n_positional;
    /* The last one given; of --size and --param all of them, with commas between; "" for a flag; NULL: not
     * given. */
    const char *value[CLI_KEY_COUNT];
    struct cli_list pins, inputs;
};

/* The argument and help of an option for one subcommand, where those of the table do not fit. */
struct cli_note {
    enum cli_key key;
    const char *argument, *help;
};
enum { CLI_MAX_NOTES = 4 };

struct cli_command {
    const char *name;
    const char *positional;                  /* for the usage line; " | " separates ways to call it */
    unsigned least, most;                    /* how many positional arguments */
    uint64_t takes;                          /* CLI_TAKES() of its options */
    struct cli_note notes[CLI_MAX_NOTES];    /* those without help are unused */
    const char *help;                        /* one sentence, details, \v, "Example: thresh ..." lines */
    int (*run)(const struct cli_args *args); /* returns the exit status */
};

extern const struct cli_command cli_tune, cli_estimate, cli_descend, cli_explain, cli_replay, cli_agent,
    cli_device, cli_lift, cli_space, cli_store, cli_verify, cli_levels, cli_bound, cli_audit, cli_heuristics,
    cli_choices, cli_help, cli_completion;

extern const char cli_version[]; /* "thresh 0.1 (REVISION)", made by the Makefile */

/* `thresh ARGS...`: finds the subcommand and runs it. argv[0] is the program. Returns the exit status. */
int cli_main(int argc, char **argv);
/* Parses and runs. argv[0] is the subcommand; argv is permuted. `program`: how thresh was called. */
int cli_run(const char *program, const struct cli_command *command, int argc, char **argv);

/* ---- for subcommands ---- */

static inline bool cli_given(const struct cli_args *a, enum cli_key key)
{
    return a->value[key] != NULL;
}
/* Adds an error "--NAME MESSAGE" for each of the n options that is given. false if any is. */
bool cli_refuse(const struct cli_args *a, const enum cli_key *keys, size_t n, const char *message,
                struct diag *d);
/* The same for each option that is not in the set `takes` of CLI_TAKES(). */
bool cli_refuse_others(const struct cli_args *a, uint64_t takes, const char *message, struct diag *d);
/* Counts, counts of at least 1 and times of options; the default if not given. false after an error. */
bool cli_count(const struct cli_args *a, enum cli_key key, uint64_t otherwise, uint64_t *out, struct diag *d);
bool cli_positive(const struct cli_args *a, enum cli_key key, uint64_t otherwise, uint64_t *out,
                  struct diag *d);
/* --samples: at least 1 and at most CLI_MOST_SAMPLES, each of which may be kept in memory. */
bool cli_samples(const struct cli_args *a, uint64_t otherwise, uint64_t *out, struct diag *d);
/* A share such as 5% or 0.05, at least 0 and below 1; 0 if not given. */
bool cli_share(const struct cli_args *a, enum cli_key key, double *out, struct diag *d);
/* A positive number; `otherwise` if not given. */
bool cli_number(const struct cli_args *a, enum cli_key key, double otherwise, double *out, struct diag *d);
bool cli_seconds(const struct cli_args *a, enum cli_key key, double *out, struct diag *d);

/* Whether the heuristic that --heuristic names can be loaded, if it is given. Call it while this process has
 * no thread but that of cli_signals(). */
bool cli_try_heuristic(const struct cli_args *a, struct diag *d);

/* Prints the errors and gives the exit status for bad input; frees d. CLI_OK if there are none. */
int cli_finish(struct diag *d, int status);
/* The share of dead ends and its 95 % interval by so many independent descents (0: none is known), as a line
 * and as keys of an object. */
void cli_print_dead_ends(double ratio, uint64_t descents);
void cli_add_dead_ends(json_t *o, double ratio, uint64_t descents);
/* The nodes of a search tree by their state (mcts_stats.nodes), as a line and as an object. */
void cli_print_nodes(uint64_t nodes, const uint64_t by_cause[MCTS_N_CAUSES]);
json_t *cli_causes_json(const uint64_t by_cause[MCTS_N_CAUSES]);
/* A number; null if it is not finite, which JSON cannot say. */
json_t *cli_real_json(double x);
/* A count by its natural logarithm; null if a double does not hold it. */
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
    struct bb_options lowering; /* with the parameters of --param */
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
void cli_problem_close(struct cli_problem *p);

struct store_run;
/* The problem of a stored run on its device, which may be here or described, or on the one that options name;
 * the device goes to *dev. NULL after an error: a run of `tune --space` has none, another device or version
 * another one. */
struct problem *cli_run_problem(const struct cli_args *a, const struct store_run *run, struct device *dev,
                                struct diag *d);

/* Writes out what standard output still has, and closes it. false after a message: it did not take
 * everything, and the work has failed. */
bool cli_flush_output(void);

/* A descriptor that becomes readable at the first SIGINT, SIGTERM or, unless it is ignored, SIGHUP, which are
 * blocked in this and all later threads. A second signal ends the process and all that it has started at
 * once, whatever its threads are doing. -1: signals cannot be caught. */
int cli_signals(void);
/* 130, 143 or 129 after a signal; `otherwise` if there was none. Closes the descriptor. */
int cli_signal_status(int fd, int otherwise);

#endif
