/* The options of all subcommands in one table, and the sections in which --help shows them. cli.h makes keys
 * and sets of it, cli.c parses it, help.c, man.c and completion.c print it:
 *
 *     X(STORE, "store", "FILE.db", "record ...")      CLI_STORE, --store FILE.db */
#ifndef THRESH_CLI_OPTIONS_H
#define THRESH_CLI_OPTIONS_H

/* X(KEY, long name, argument or NULL, help). In the order of --help, whose sections are CLI_SECTIONS. The
 * help says what the option does, its unit and its default. The argument's spelling decides what completes
 * it: FILE.db a file with that ending, DIR a folder, a|b|c one of these words. */
#define CLI_OPTIONS(X)                                                                                       \
    X(SIZE, "size", "M=512,N=512", "values of the program's size parameters; may be repeated")               \
    X(INPUT, "input", "NAME=FILE.npy",                                                                       \
      "the data of this input, a NumPy file (default: random numbers); may be repeated")                     \
    X(OUTPUT_REFERENCE, "output-reference", "[NAME=]FILE.npy",                                               \
      "the result that you expect of these inputs; the program and its kernels must agree with it. Of "      \
      "several outputs, NAME is one; may be repeated")                                                       \
    X(TOLERANCE, "tolerance", "T",                                                                           \
      "an output may differ from its reference r by T * max(1, |r|) (default: the bound of its rounding "    \
      "error)")                                                                                              \
    X(BASELINE, "baseline", "FILE.cl:NAME,global=N",                                                         \
      "compare with your own OpenCL kernel: arguments are the inputs and the output, sizes are macros; may " \
      "be repeated")                                                                                         \
    X(AT, "at", "NAME,NAME", "cut: cut at these values (default: all that compute)")                         \
    X(OUTPUT, "output", "[NAME=]FILE.npy",                                                                   \
      "write the result to this NumPy file instead of printing it. Of several outputs, NAME is one; may be " \
      "repeated")                                                                                            \
    X(SPACE, "space", "FILE.space|FILE.so", "use this space instead of a Lift program's space")              \
    X(DATA, "data", "FILE.json", "objects of the space and their properties")                                \
    X(PARAM, "param", "x=1,y=2",                                                                             \
      "values of parameters of the space (also of a Lift program's space); may be repeated")                 \
    X(ALLOW, "allow", "tf32",                                                                                \
      "let products of floats take 11 significant bits of each factor (TF32), which some devices multiply "  \
      "in matrices. Runs and best.json record it")                                                           \
    X(COMMAND, "command", "'PROG {x}'",                                                                      \
      "with --space: the command that measures a candidate and prints its time in ns")                       \
    X(DEVICE, "device", "SEL",                                                                               \
      "OpenCL device: gpu, cpu, a part of its name, or its number in 'thresh device list' (default: the "    \
      "first one)")                                                                                          \
    X(DESCRIPTION, "description", "FILE.json",                                                               \
      "description of the device for lower bounds (default: found by the device's name; see 'thresh device " \
      "show')")                                                                                              \
    X(FRESH, "fresh", NULL, "discard the values of the device's earlier description")                        \
    X(HEURISTIC, "heuristic", "NAME|FILE.so[:k=v]",                                                          \
      "search heuristic: tag, uct, random, bound, roundrobin or a plug-in, with parameters and rollout "     \
      "policies; see 'thresh heuristics' (default: tag with 32 rollouts for an evaluation; on a GPU 400 "    \
      "for sixteen; with --space 64)")                                                                       \
    X(SEED, "seed", "N", "seed of the random number generator (default 1)")                                  \
    X(PIN, "pin", "CHOICE(ARGS)=VALUE",                                                                      \
      "fix a decision; * matches any text, A|B allows two values; may be repeated; see 'thresh choices'")    \
    X(ORDER, "order", "CHOICE,CHOICE", "decide these choices first: names or patterns such as 'size(m.*)'")  \
    X(NO_PRIOR, "no-prior", NULL, "disable the prior: all values are equally likely at the start")           \
    X(TEXT_LIMIT, "text-limit", "KIB",                                                                       \
      "skip implementations whose OpenCL text, its #pragma unroll loops written out, is longer than this "   \
      "many KiB (default 64; 128 on a GPU)")                                                                 \
    X(ALLOW_NONFINITE, "allow-nonfinite", NULL,                                                              \
      "accept programs with outputs that are infinite or NaN; these outputs are not verified")               \
    X(METHOD, "method", "knuth|chen|exact", "estimator (default knuth)")                                     \
    X(EVALUATIONS, "evaluations", "N", "stop after N evaluations (default 300 unless --time is given)")      \
    X(TIME, "time", "10m", "stop after this time: 30s, 10m, 2h (default: no limit)")                         \
    X(ROUNDS_TIME, "rounds-time", "1s",                                                                      \
      "end the final rounds after this time, but not before three (default: 10s, or a tenth of the search)") \
    X(TIMEOUT, "timeout", "10s", "time limit of one run")                                                    \
    X(LAUNCHES, "launches", "N",                                                                             \
      "time at least N launches (default: 20 rounds or 0.4 s, whichever is longer; 20 s at most)")           \
    X(SAMPLES, "samples", "N", "number of samples (default 1000)")                                           \
    X(LIMIT, "limit", "N", "stop after N nodes of the tree (default: no limit)")                             \
    X(NO_BOUND, "no-bound", NULL, "do not prune candidates by their lower bound")                            \
    X(DISTANCE, "distance", "5%", "ignore improvements smaller than this (default 0%)")                      \
    X(AUDIT_CUTS, "audit-cuts", "1%",                                                                        \
      "share of draws made below pruned nodes to check the bound (default 0%)")                              \
    X(CUT, "cut", "NS", "prune candidates whose lower bound is at least NS ns (default: none)")              \
    X(DEPTH, "depth", "D", "prune only in the first D levels of the tree (default: all)")                    \
    X(STORE, "store", "FILE.db", "record every evaluation in this SQLite file; created if missing")          \
    X(RESUME, "resume", NULL, "continue the run in the store")                                               \
    X(RECORDED, "recorded", "FILE.db,FILE.db",                                                               \
      "take times from these stores instead of measuring; a Lift program also needs --description")          \
    X(LEARN_FROM, "learn-from", "FILE.db",                                                                   \
      "measure the best implementations of other sizes, devices and runs in this store first; may be "       \
      "repeated")                                                                                            \
    X(BEST, "best", NULL, "select the fastest implementation of the last program in a store")                \
    X(NUMBER, "number", "N", "select implementation N of the last run in a store (0: the naive one)")        \
    X(CUTS, "cuts", NULL, "print the candidates that the lower bound pruned in the last run, with reasons")  \
    X(LEARNT, "learnt", NULL, "print how each choice affects the time, from a store's evaluations")          \
    X(LISTEN, "listen", "ENDPOINT",                                                                          \
      "wait for agents at tcp://ADDRESS:PORT or ipc://FILE instead of starting one")                         \
    X(KEYS, "keys", "DIR",                                                                                   \
      "admit only agents whose certificates are in this folder ('thresh keys new DIR' makes it)")            \
    X(LAUNCH, "launch", "KIND:N|FILE[,NAME=VALUE]",                                                          \
      "start agents: local:2, ssh:HOSTFILE or slurm:4, with settings such as device=gpu")                    \
    X(CONNECT, "connect", "ENDPOINT", "the coordinator's endpoint: tcp://HOST:PORT or ipc://FILE")           \
    X(KEY, "key", "FILE.key_secret",                                                                         \
      "the agent's secret, for a coordinator with --keys: DIR/agents/NAME.key_secret of its keys")           \
    X(AGENT, "agent", "NAME,NAME", "names of the agents that get keys (default: agent)")                     \
    X(RUNNERS, "runners", "N",                                                                               \
      "runner processes, at most 16 (default: 2 on a CPU; on a GPU one a core, at least 4)")                 \
    X(NAME, "name", "NAME", "the agent's name in messages (default: HOST:PID)")                              \
    X(UNTIL, "until", "90m|@TIME",                                                                           \
      "leave after this time, or at this time in seconds since 1970; jobs that are not begun are returned "  \
      "(default: no limit)")                                                                                 \
    X(PORT, "port", "N", "port of the page; 0: any free one (default 8780)")                                 \
    X(PAGE, "page", "PORT|none",                                                                             \
      "serve the live page of the store at this port of this machine; 0: any free one (default: none)")      \
    X(BIND, "bind", "ADDRESS",                                                                               \
      "address of this machine to listen at, as numbers (default 127.0.0.1: this machine only)")             \
    X(TOKEN_FILE, "token-file", "FILE",                                                                      \
      "show the page only with the token in this file of mode 0600; made with a random token if missing")    \
    X(OUT, "out", "DIR", "output folder")                                                                    \
    X(EXPLAIN_COST, "explain-cost", NULL, "check: list the constraints that are slow to propagate, and why") \
    X(FORMAT, "format", "jsonl|csv", "format of the export (default jsonl)")                                 \
    X(WATCH, "watch", NULL, "refresh the output each second")                                                \
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

#endif
