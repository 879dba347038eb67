/* Descriptors of database files, for the locks of owners.
 *
 * SQLite locks a database with POSIX locks, which the kernel releases when this process closes any
 * descriptor of the file. So a descriptor is closed only when no store is open in this process; until then it
 * is kept, without its locks, for the next store that needs one of the same file. */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/store_state.h"
#include "core/base/arena.h"

static struct {
    pthread_mutex_t lock;
    unsigned n_stores; /* open ones */
    int *kept;
    unsigned n_kept;
} descriptors = {.lock = PTHREAD_MUTEX_INITIALIZER};

void store_descriptors_begin(void)
{
    pthread_mutex_lock(&descriptors.lock);
    descriptors.n_stores++;
    pthread_mutex_unlock(&descriptors.lock);
}

static bool same_file(int fd, const struct stat *file)
{
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

int store_descriptor_open(const char *path, int mode)
{
    struct stat file;
    int fd = -1;
    pthread_mutex_lock(&descriptors.lock);
    bool exists = stat(path, &file) == 0;
    for (unsigned i = 0; exists && fd < 0 && i < descriptors.n_kept; i++) {
        int kept = descriptors.kept[i];
        if ((fcntl(kept, F_GETFL) & O_ACCMODE) != mode || !same_file(kept, &file)) continue;
        fd = kept;
        descriptors.kept[i] = descriptors.kept[--descriptors.n_kept];
    }
    if (fd < 0) fd = open(path, mode | O_CLOEXEC);
    pthread_mutex_unlock(&descriptors.lock);
    return fd;
}

static void keep(int fd)
{
    struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    fcntl(fd, F_OFD_SETLK, &all);
    descriptors.kept = base_realloc(descriptors.kept, (descriptors.n_kept + 1) * sizeof *descriptors.kept);
    descriptors.kept[descriptors.n_kept++] = fd;
}

void store_descriptors_end(int fd)
{
    pthread_mutex_lock(&descriptors.lock);
    if (fd >= 0) keep(fd);
    if (--descriptors.n_stores == 0) {
        for (unsigned i = 0; i < descriptors.n_kept; i++)
            close(descriptors.kept[i]);
        free(descriptors.kept);
        descriptors.kept = NULL;
        descriptors.n_kept = 0;
    }
    pthread_mutex_unlock(&descriptors.lock);
}
