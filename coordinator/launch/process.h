/* Programs that a launcher runs: an agent, ssh, tar, sbatch. Each is the leader of a process group, dies with
 * the thread that started it, and is run without a shell. What it writes is read as it comes; its last bytes
 * are kept, since they say why it ended.
 *
 *     struct process p;
 *     process_start(&p, words, PROCESS_NONE, PROCESS_KEPT);
 *     while (!process_turn(&p)) ...                    does not wait
 *     process_reason(&p, &text);                       "exit status 2: error: no OpenCL device" */
#ifndef THRESH_LAUNCH_PROCESS_H
#define THRESH_LAUNCH_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/strbuf.h"

enum {
    PROCESS_NONE = -1,  /* input: empty */
    PROCESS_OURS = -2,  /* input: a pipe, whose other end is p->input */
    PROCESS_KEPT = -3,  /* output: goes to p->out */
    PROCESS_NEVER = 127 /* exit status of what cannot be run */
};

struct process {
    pid_t pid; /* 0: there is none */
    int input; /* ours to write and close; -1: none */
    int out_fd, err_fd;
    struct strbuf out, err; /* the last bytes of them */
    int status;             /* of waitpid, once it has ended */
};

/* Starts words[0], which is looked for in the PATH. input, output: one of the above, or a descriptor, which
 * stays the caller's. false: errno says why there is no process. */
bool process_start(struct process *p, char *const *words, int input, int output);
/* Reads what there is. true: the process has ended, and everything that it wrote was read. */
bool process_turn(struct process *p);
/* Waits for its end. false: it has not ended after timeout_ms. */
bool process_wait(struct process *p, int timeout_ms);
void process_close_input(struct process *p); /* PROCESS_OURS: it reads the end */
void process_signal(const struct process *p, int number);
/* Kills its group if it is still there, and releases what p has. It may be zero-initialised. */
void process_end(struct process *p);
/* Whether it ended with status 0. */
bool process_succeeded(const struct process *p);
/* "signal 9", "exit status 1: the last line that it wrote to standard error". */
void process_reason(const struct process *p, struct strbuf *out);

#endif
