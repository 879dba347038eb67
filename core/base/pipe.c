/* See pipe.h. */
#include "core/base/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/strbuf.h"

/* A pipe holds less than these reads together; one that is filled as fast as it is read has no end. */
enum { READ_BYTES = 4096, MOST_READS = 256 };

void pipe_close(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

int pipe_above_standard(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO) return fd;
    int higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    return higher;
}

bool pipe_make(bool we_write, int *ours, int *theirs)
{
    int ends[2];
    *ours = *theirs = -1;
    if (pipe(ends)) return false;
    for (int i = 0; i < 2; i++) {
        ends[i] = pipe_above_standard(ends[i]);
        if (ends[i] >= 0) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    }
    *ours = ends[we_write];
    *theirs = ends[!we_write];
    if (*ours >= 0 && *theirs >= 0 && fcntl(*ours, F_SETFL, O_NONBLOCK) == 0) return true;
    int error = errno;
    pipe_close(ours);
    pipe_close(theirs);
    errno = error;
    return false;
}

static void append(struct strbuf *into, const char *data, size_t n, size_t most)
{
    if (into->length + n > most) {
        into->length /= 2;
        memmove(into->text, into->text + into->length, into->length);
    }
    strbuf_addn(into, data, n);
}

void pipe_drain(int *fd, struct strbuf *into, size_t most)
{
    char buffer[READ_BYTES];
    for (int i = 0; *fd >= 0 && i < MOST_READS; i++) {
        ssize_t n = read(*fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (n <= 0)
            pipe_close(fd);
        else
            append(into, buffer, (size_t)n, most);
    }
}
