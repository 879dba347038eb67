/* Pipes to child processes: one end is ours and does not block, the other one becomes a descriptor of the
 * child.
 *
 *     int ours, theirs;
 *     pipe_make(false, &ours, &theirs);        we read
 *     ... fork(); dup2(theirs, STDOUT_FILENO) in the child; pipe_close(&theirs) here ...
 *     pipe_drain(&ours, &text, 1 << 20);       what there is now; ours becomes -1 at the end */
#ifndef THRESH_BASE_PIPE_H
#define THRESH_BASE_PIPE_H

#include <stdbool.h>
#include <stddef.h>

struct strbuf;

/* Makes a pipe whose ends close when a program is run, and are none of 0, 1, 2: those are written over in the
 * child. false: errno says why; both are -1. */
bool pipe_make(bool we_write, int *ours, int *theirs);
/* The same number, or a copy above 2 of a descriptor below, which is closed. Keeps -1. */
int pipe_above_standard(int fd);
/* Closes the descriptor unless it is -1, which it is then. */
void pipe_close(int *fd);
/* Appends what there is. `into` has about `most` bytes at the most: the earlier half of more is dropped,
 * since its end is what counts. At the end of the pipe, or after an error, *fd is closed. */
void pipe_drain(int *fd, struct strbuf *into, size_t most);

#endif
