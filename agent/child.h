/* Child processes without exec: what may crash or hang (an OpenCL driver, a kernel) runs in one, and talks to
 * its parent over a stream socket.
 *
 *     frame: length 4, kind RUNNER_READY | 4 bytes of payload */
#ifndef THRESH_AGENT_CHILD_H
#define THRESH_AGENT_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Forks; the child keeps its standard streams and its end of the socket, dies with the calling thread, has
 * default signal dispositions (SIGINT ignored), runs body(fd, ctx) and ends without running exit handlers.
 * Returns the child's id and the parent's end in *fd, or -1 with errno set. */
pid_t child_fork(int *fd, void (*body)(int fd, void *ctx), void *ctx);
/* Kills and reaps the child, closes fd. Returns its wait status. */
int child_kill(pid_t pid, int fd);

struct child_frame {
    uint32_t length; /* bytes of payload that follow */
    uint32_t kind;
};

/* Whole transfers, restarted after signals; false: the peer is gone. */
bool child_write(int fd, const void *data, size_t bytes);
bool child_read(int fd, void *data, size_t bytes);
/* One frame with its payload. */
bool child_send(int fd, uint32_t kind, const void *payload, size_t bytes);

/* Processor time that the process has used, ms; 0: unknown. */
double child_processor_ms(pid_t pid);
/* Memory of the process alone that is in use now, KiB: without what it shares with others. 0: unknown. */
long child_memory_kib(pid_t pid);
/* Whether any thread of it runs or waits for nothing but a processor. */
bool child_runnable(pid_t pid);

#endif
