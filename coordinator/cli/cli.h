/* The thresh command: one table of options, one file per subcommand. A subcommand says which of the options
 * it takes; parsing, --help and the exit status of bad usage come from here. */
#ifndef THRESH_CLI_CLI_H
#define THRESH_CLI_CLI_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/device.h"
#include "agent/problem.h"
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

/* X(KEY, long name, argument or NULL, help) */
#define CLI_OPTIONS(X)                                                                                       \
    X(SIZE, "size", "M=512,N=512", "values of the program's size parameters; may be repeated")               \
    X(DEVICE, "device", "SEL",                                                                               \
      "OpenCL device: part of its name, gpu, cpu or its number in `thresh device list`")                     \
    X(HEURISTIC, "heuristic", "NAME_OR_SO[:k=v]",                                                            \
      "tag (default), uct, random, bound, roundrobin or a plug-in; `thresh heuristics` tells of them")       \
    X(SEED, "seed", "N", "seed of all randomness (default 1)")                                               \
    X(EVALUATIONS, "evaluations", "N", "stop after N evaluations (default 300 where no time is given)")      \
    X(TIME, "time", "10m", "stop after that time: 30s, 10m, 2h")                                             \
    X(PIN, "pin", "CHOICE(ARGS)=VALUE", "fix a decision; may be repeated")                                   \
    X(ORDER, "order", "CHOICE,CHOICE", "choices to take first; patterns too: 'size(m.*)'")                   \
    X(NO_BOUND, "no-bound", NULL, "do not leave out candidates by their lower bound")                        \
    X(DISTANCE, "distance", "5%", "do not care for gains below that")                                        \
    X(AUDIT_CUTS, "audit-cuts", "1%", "share of the draws that look below what the bound cut")               \
    X(DESCRIPTION, "description", "FILE.json", "description of the device, for lower bounds")                \
    X(CUT, "cut", "NS", "leave out what has no implementation below that time")                              \
    X(DEPTH, "depth", "D", "the cut acts on the first D levels (default: all)")                              \
    X(NO_PRIOR, "no-prior", NULL, "draw all values alike before anything is measured")                       \
    X(TEXT_LIMIT, "text-limit", "KIB", "leave out what has a longer OpenCL text (default 64)")               \
    X(STORE, "store", "FILE.db", "record every evaluation there")                                            \
    X(RESUME, "resume", NULL, "go on with the run in the store")                                             \
    X(RECORDED, "recorded", "FILE.db,FILE.db",                                                               \
      "search on the timings of these stores instead of a device; --description names it")                   \
    X(LISTEN, "listen", "ENDPOINT", "wait for agents there instead of running one")                          \
    X(CONNECT, "connect", "ENDPOINT", "the coordinator's endpoint")                                          \
    X(RUNNERS, "runners", "N", "runner processes (default: by device)")                                      \
    X(OUT, "out", "DIR", "folder of what is written")                                                        \
    X(METHOD, "method", "knuth|chen|exact", "estimator (default knuth)")                                     \
    X(SAMPLES, "samples", "N", "number of samples (default 1000)")                                           \
    X(BEST, "best", NULL, "take the fastest implementation of the last program in a store")                  \
    X(NUMBER, "number", "N", "take evaluation N of a store (of its last run)")                               \
    X(CUTS, "cuts", NULL, "print what the lower bound left out of a store's last run, and why")              \
    X(LEARNT, "learnt", NULL, "print what the evaluations of a store tell about each choice")                \
    X(FRESH, "fresh", NULL, "keep no figure of the description that the device has")                         \
    X(FORMAT, "format", "jsonl|csv", "format of the export (default jsonl)")                                 \
    X(SPACE, "space", "FILE.space|FILE.so", "search this space instead of a program's")                      \
    X(COMMAND, "command", "'PROG {x}'", "program that evaluates a candidate of --space")                     \
    X(TIMEOUT, "timeout", "10s", "time for one run")                                                         \
    X(DATA, "data", "FILE.json", "instance of the space")                                                    \
    X(PARAM, "param", "x=1,y=2", "parameters of the space; may be repeated")                                 \
    X(LIMIT, "limit", "N", "stop after N nodes of the tree")                                                 \
    X(INPUT, "input", "NAME=random:SEED", "data of an input; may be repeated (default random:1)")            \
    X(JSON, "json", NULL, "print one JSON object")                                                           \
    X(QUIET, "quiet", NULL, "no progress")                                                                   \
    X(VERBOSE, "verbose", NULL, "a line for each evaluation")

enum cli_key {
#define X(key, name, argument, help) CLI_##key,
    CLI_OPTIONS(X)
#undef X
        CLI_KEY_COUNT
};
#define CLI_TAKES(key) (UINT64_C(1) << CLI_##key)
#define CLI_INSTANCE                                                                                         \
    (CLI_TAKES(SIZE) | CLI_TAKES(DEVICE) | CLI_TAKES(PIN) | CLI_TAKES(SEED) | CLI_TAKES(JSON))
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

/* What an option means to one subcommand, where the table of options cannot say it for all. */
struct cli_note {
    enum cli_key key;
    const char *argument, *help;
};
enum { CLI_MAX_NOTES = 4 };

struct cli_command {
    const char *name;
    const char *positional;                  /* for the usage line */
    unsigned least, most;                    /* how many positional arguments */
    uint64_t takes;                          /* CLI_TAKES() of its options */
    struct cli_note notes[CLI_MAX_NOTES];    /* those without help are unused */
    const char *help;                        /* a sentence on what it does, more of it, then an example */
    int (*run)(const struct cli_args *args); /* returns the exit status */
};

extern const struct cli_command cli_tune, cli_estimate, cli_descend, cli_explain, cli_replay, cli_agent,
    cli_device, cli_lift, cli_space, cli_store, cli_verify, cli_levels, cli_bound, cli_audit, cli_heuristics;

extern const char cli_version[]; /* "thresh 0.1 (REVISION)", made by the Makefile */

/* Parses and runs. argv[0] is the subcommand. */
int cli_run(const struct cli_command *command, int argc, char **argv);

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
 * one thread. */
bool cli_try_heuristic(const struct cli_args *a, struct diag *d);

/* Prints the errors and gives the exit status for bad input; frees d. CLI_OK if there are none. */
int cli_finish(struct diag *d, int status);
/* The share of dead ends and its 95 % interval by so many independent descents (0: none is known), as a line
 * and as keys of an object. */
void cli_print_dead_ends(double ratio, uint64_t descents);
void cli_add_dead_ends(json_t *o, double ratio, uint64_t descents);
/* How many nodes a search tree has, and by what they died (mcts_stats.nodes), as a line and as an object. */
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

/* A program on a device with the pins applied: what estimate, descend and explain start from. With
 * --description the device need not be here: its description stands for it. */
struct cli_problem {
    char *text;
    struct device device;
    struct problem *problem;
    struct space_state *root;
    struct mcts_order order; /* of --order */
};
bool cli_problem_open(const struct cli_args *a, struct cli_problem *out, struct diag *d);
void cli_problem_close(struct cli_problem *p);

struct store_run;
/* The problem of a stored run on its device, or on the one that options name; the device goes to *dev. NULL
 * after an error: a run of `tune --space` has none, another device or version another one. */
struct problem *cli_run_problem(const struct cli_args *a, const struct store_run *run, struct device *dev,
                                struct diag *d);

/* A descriptor that becomes readable at SIGINT, SIGTERM or, unless it is ignored, SIGHUP, which are blocked
 * from then on; -1: none. */
int cli_signals(void);
/* 130, 143 or 129 after a signal; `otherwise` if there was none. Closes the descriptor. */
int cli_signal_status(int fd, int otherwise);

#endif
