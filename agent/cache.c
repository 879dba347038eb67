/* /dev/shm, if it has room for a campaign: some 200 KiB a kernel. A folder bears the id of its process, so
 * that those of killed ones are found and removed by the next. */
#define _XOPEN_SOURCE 700 /* nftw, mkdtemp */
#include "agent/cache.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "agent/limits.h"

static const char shared[] = "/dev/shm";
enum { OPEN_FILES = 16, PATH_BYTES = 300 };

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

void cache_remove(const char *path)
{
    if (path[0]) nftw(path, remove_one, OPEN_FILES, FTW_DEPTH | FTW_PHYS);
}

void cache_part(const char *path, pid_t runner, char part[CACHE_PATH])
{
    part[0] = 0;
    if (path[0]) snprintf(part, CACHE_PATH, "%s/%ld", path, (long)runner);
}

/* Whether the entry is a folder of ours whose process is gone. */
static bool is_stale(const char *name)
{
    long pid;
    char dash;
    return sscanf(name, "thresh-%ld%c", &pid, &dash) == 2 && dash == '-' && pid > 0 && kill((pid_t)pid, 0) &&
           errno == ESRCH;
}

static void remove_stale(void)
{
    char path[PATH_BYTES];
    DIR *dir = opendir(shared);
    if (!dir) return;
    for (struct dirent *e; (e = readdir(dir));) {
        if (!is_stale(e->d_name)) continue;
        snprintf(path, sizeof path, "%s/%s", shared, e->d_name);
        cache_remove(path);
    }
    closedir(dir);
}

void cache_make(char *path, size_t n)
{
    struct statvfs fs;
    path[0] = 0;
    if (statvfs(shared, &fs) || (uint64_t)fs.f_bavail * fs.f_frsize < AGENT_CACHE_BYTES) return;
    remove_stale();
    int length = snprintf(path, n, "%s/thresh-%ld-XXXXXX", shared, (long)getpid());
    if (length < 0 || (size_t)length >= n || !mkdtemp(path)) path[0] = 0;
}
