/* A user's program that evaluates candidates of any space:
 *
 *     thresh tune --space X.space --command 'PROG {block_x} {tile}'
 *
 * The command line is split into words here (spaces; single quotes, double quotes and backslashes as in a
 * shell), never given to a shell. `{name}` stands for the value of a choice or of a parameter, `{{` and
 * `}}` for braces; a command without placeholders of choices gets the decisions as a JSON object on its
 * standard input. The program prints a time in nanoseconds on its last line, or a JSON object with "time_ns"
 * (or "error": a text). Anything else is a failed evaluation, not an error of the search. Further numbers
 * that it prints are kept: lines "gflops: 12.5" or "gflops=12.5" before the last one, and members of the
 * object. Of what it prints the last half megabyte at least is looked at. */
#ifndef THRESH_COORDINATOR_COMMAND_H
#define THRESH_COORDINATOR_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/evaluate.h"
#include "core/space/space.h"

struct diag;
struct command;

/* Splits the text and checks that every placeholder names something of the space. Borrows the space. NULL
 * after an error. */
struct command *command_new(const char *text, const struct space *s, struct diag *d);
void command_free(struct command *c); /* NULL is allowed */

/* The words for a leaf, NULL-terminated; a choice that is not live is an empty text. One block: free() it. */
char **command_words(const struct command *c, const struct space_state *leaf);
/* The same as a line for a shell; malloc'd. */
char *command_line(const struct command *c, const struct space_state *leaf);
/* The choices that no placeholder names, as "'x', 'y(0)' and 3 more", though they are open in the root and
 * others are named; malloc'd. NULL: there are none. */
char *command_unnamed(const struct command *c, const struct space_state *root, unsigned *n);
/* Whether the program reads the decisions from its standard input. */
bool command_wants_input(const struct command *c);

enum command_end {
    COMMAND_DONE,        /* *out has the outcome, good or bad */
    COMMAND_CANNOT_RUN,  /* there is no such program: out->message */
    COMMAND_INTERRUPTED, /* stop_fd became readable */
};

enum { COMMAND_NUMBERS = 2048 };

struct command_result {
    enum eval_status status;
    double time_ns;                /* EVAL_OK only */
    char numbers[COMMAND_NUMBERS]; /* further ones as JSON, {"gflops":12.5}, as many as there is room for; "":
                                      none */
    char message[EVAL_MESSAGE];    /* why not OK */
};

/* Lets this process, and the programs that it starts, have the descriptors of so many programs at work at
 * once, as far as its hard limit goes.
 */
void command_make_room(size_t programs);

/* A program at work. */
struct command_process;

/* Starts the program with the words and `input` on its standard input, in a process group of its own. The
 * texts are copied. Never NULL: what goes wrong is in the outcome. The program, not what it has started, is
 * killed when the calling thread ends. */
struct command_process *command_start(char *const *words, const char *input, double limit_s);
/* Waits until one of the programs has ended or is out of time, stop_fd is readable, or timeout_ms (-1: any
 * time) are over. */
void command_wait(struct command_process *const *programs, size_t n, int timeout_ms, int stop_fd);
/* Whether it has ended or is out of time. */
bool command_is_over(const struct command_process *p);
/* Kills what is left of its group, fills in the outcome and frees it. */
enum command_end command_finish(struct command_process *p, struct command_result *out);

/* Reads the program's output. Exposed for tests. */
struct command_result command_read_output(const char *text);

#endif
