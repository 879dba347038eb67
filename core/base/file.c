/* Result files: written beside, forced to the disk, renamed.
 *
 *     best.json.new-4711-0    write, fsync    rename to best.json    fsync of the folder
 *
 * And the reasons why a write failed, as far as they can be found afterwards. */
#define _GNU_SOURCE /* realpath, fallocate */
#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"

enum { MOST_NAMES = 100, PERMISSIONS = 0666, PERMISSION_BITS = 07777 };

const char *file_error_text(int error)
{
    return error == EFBIG ? "File too large (the limit of file sizes: ulimit -f)" : strerror(error);
}

/* Why a file takes no more: its size limit, or no room for another byte. */
static int file_fault(int fd, off_t size)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && (rlim_t)size >= limit.rlim_cur) return EFBIG;
    return fallocate(fd, FALLOC_FL_KEEP_SIZE, size, 1) && errno != EOPNOTSUPP ? errno : EIO;
}

/* Why a device, pipe or socket takes no more; nothing is written. */
static int device_fault(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    if (write(fd, "", 0) < 0) return errno;
    return poll(&p, 1, 0) > 0 && p.revents & (POLLERR | POLLHUP) ? EPIPE : EIO;
}

int file_stream_error(FILE *out)
{
    struct stat st;
    int fd = fileno(out);
    if (fflush(out)) return errno;
    if (!ferror(out)) return 0;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? file_fault(fd, st.st_size) : device_fault(fd);
}

void file_ignore_signals(void)
{
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}

/* The folder of a path, without a final slash; "." is the current one. */
static char *folder_of(const char *path)
{
    size_t n = strlen(path);
    struct strbuf b = {0};
    while (n > 1 && path[n - 1] == '/')
        n--;
    while (n > 0 && path[n - 1] != '/')
        n--;
    while (n > 1 && path[n - 1] == '/')
        n--;
    strbuf_addn(&b, n ? path : ".", n ? n : 1);
    return strbuf_take(&b);
}

/* A file system such as /proc answers ENOENT where nothing can be created. */
char *file_create_fault(const char *path, int error)
{
    struct strbuf b = {0};
    char *folder = folder_of(path);
    if (error == ENOENT && access(folder, F_OK))
        strbuf_printf(&b, "folder '%s' does not exist (create it first)", folder);
    else
        strbuf_add(&b, error == ENOENT ? "its file system accepts no new files" : file_error_text(error));
    free(folder);
    return strbuf_take(&b);
}

static bool say(const char *path, int error, struct diag *d)
{
    char *fault = file_create_fault(path, error);
    diag_plain(d, "cannot write '%s': %s", path, fault);
    free(fault);
    return false;
}

static void release(struct file_new *f)
{
    free(f->path);
    free(f->temporary);
    *f = (struct file_new){0};
}

/* A new file in the folder of f->path; -1 with errno. Names that killed processes left are passed over. */
static int create_temporary(struct file_new *f)
{
    int fd = -1;
    errno = EEXIST;
    for (unsigned i = 0; fd < 0 && errno == EEXIST && i < MOST_NAMES; i++) {
        struct strbuf name = {0};
        strbuf_printf(&name, "%s.new-%ld-%u", f->path, (long)getpid(), i);
        free(f->temporary);
        f->temporary = strbuf_take(&name);
        fd = open(f->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, PERMISSIONS);
    }
    if (fd >= 0) return fd;
    int error = errno;
    free(f->temporary);
    f->temporary = NULL;
    errno = error;
    return -1;
}

/* Opens the temporary file, or what cannot be renamed over; -1 with errno. */
static int open_new(struct file_new *f)
{
    struct stat old;
    bool exists = stat(f->path, &old) == 0;
    if (exists && !S_ISREG(old.st_mode)) return open(f->path, O_WRONLY | O_CLOEXEC);
    if (exists && access(f->path, W_OK)) return -1;
    int fd = create_temporary(f);
    if (fd >= 0 && exists) (void)!fchmod(fd, old.st_mode & PERMISSION_BITS);
    return fd;
}

void file_drop(struct file_new *f)
{
    if (f->out) fclose(f->out);
    if (f->temporary) unlink(f->temporary);
    release(f);
}

bool file_begin(struct file_new *f, const char *path, struct diag *d)
{
    char *real = realpath(path, NULL);
    *f = (struct file_new){.path = base_strdup(real ? real : path)};
    free(real);
    int fd = open_new(f);
    if (fd >= 0) f->out = fdopen(fd, "w");
    if (f->out) return true;
    say(path, errno, d);
    if (fd >= 0) close(fd);
    file_drop(f);
    return false;
}

/* Everything is on the disk, under the temporary name. false with errno. */
static bool complete(struct file_new *f)
{
    int error = file_stream_error(f->out);
    if (!error && f->temporary && fsync(fileno(f->out))) error = errno;
    if (fclose(f->out) && !error) error = errno;
    f->out = NULL;
    errno = error;
    return !error;
}

/* A renaming lasts when its folder is on the disk; not every file system can be asked for that. */
static void sync_folder(const char *path)
{
    char *folder = folder_of(path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) (void)!fsync(fd);
    if (fd >= 0) close(fd);
    free(folder);
}

static bool replace(struct file_new *f)
{
    if (!f->temporary) return true;
    if (rename(f->temporary, f->path)) return false;
    free(f->temporary);
    f->temporary = NULL;
    sync_folder(f->path);
    return true;
}

bool file_end(struct file_new *f, struct diag *d)
{
    bool ok = (complete(f) && replace(f)) || say(f->path, errno, d);
    file_drop(f);
    return ok;
}

bool file_write(const struct file_text *files, size_t n, struct diag *d)
{
    struct file_new *list = base_calloc(n + 1, sizeof *list);
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) {
        ok = file_begin(&list[i], files[i].path, d);
        if (ok) fputs(files[i].text, list[i].out);
        ok = ok && (complete(&list[i]) || say(files[i].path, errno, d));
    }
    for (size_t i = 0; i < n && ok; i++)
        ok = replace(&list[i]) || say(files[i].path, errno, d);
    for (size_t i = 0; i < n; i++)
        file_drop(&list[i]);
    free(list);
    return ok;
}
