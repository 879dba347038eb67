/* The lock file: made so that every user can open it and nobody can be led elsewhere (no symbolic link, a
 * plain file with one name), then nothing but fcntl() and a record of 16 bytes: who holds it, and a counter.
 *
 *     /dev/shm/thresh-device-cpu.lock    pid 4711, 38 renewals; byte 0 locked by 4711 */
#define _GNU_SOURCE /* F_OFD_SETLK, mkostemp */
#include "agent/device_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/child.h"
#include "agent/device.h"
#include "agent/limits.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/hash.h"

enum { MEASURES, WORKS, WANTS }; /* bytes of the file */
enum { ALL_MAY = 0666 };

/* What the holder writes. */
struct record {
    int64_t pid;
    uint64_t count;
};

struct device_lock {
    int fd;
    bool held, wants, works;
    bool owned;          /* held, and not passed over a silent holder */
    double yields_until; /* ms of clock_now_ms() */
    uint64_t count;      /* renewals by the caller */
    struct record seen;  /* of another holder, unchanged since seen_at */
    double seen_at;      /* ms; 0: the lock was free at the last look */
};

/* ---- the file ---- */

/* Processes that see different folders there, as in containers, can be given one that they share. */
static const char *folder(void)
{
    const char *given = getenv("THRESH_LOCKS");
    if (given && *given) return given;
    return access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
}

void device_lock_path(const struct device *dev, char path[DEVICE_LOCK_PATH])
{
    char hex[HASH_HEX_BYTES] = "cpu";
    uint64_t h = hash_string(hash_string(HASH_START, dev->identity), dev->name);
    if (dev->gpu && !dev->identity[0]) h = hash_bytes(h, &dev->index, sizeof dev->index);
    if (dev->gpu || dev->identity[0]) hash_hex(hash_finish(h), hex);
    snprintf(path, DEVICE_LOCK_PATH, "%s/thresh-device-%s.lock", folder(), hex);
}

/* Gives the file `own` the name `path` unless there is such a file: of several processes the first one wins,
 * and none replaces a file that another has open. Some file systems cannot rename so; a link does it there,
 * and the file has two names for a moment. */
static void name_file(const char *own, const char *path)
{
    if (renameat2(AT_FDCWD, own, AT_FDCWD, path, RENAME_NOREPLACE) == 0) return;
    if (errno == EINVAL || errno == ENOSYS) (void)!link(own, path);
    unlink(own);
}

/* Makes the file under a name of its own, which gets its mode before others see it, and then its name. Where
 * that fails, opening it says why. */
static void make_file(const char *path)
{
    char own[DEVICE_LOCK_PATH];
    snprintf(own, sizeof own, "%s/thresh-%ld-XXXXXX", folder(), (long)getpid());
    int fd = mkostemp(own, O_CLOEXEC);
    if (fd < 0) return;
    if (fchmod(fd, ALL_MAY) == 0)
        name_file(own, path);
    else
        unlink(own);
    close(fd);
}

/* A plain file with this name only; -1 with errno. EAGAIN: it has no name any more, or two, as for a moment
 * while it is made. */
static int try_file(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return -1;
    bool plain = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (plain && st.st_nlink == 1) return fd;
    close(fd);
    errno = plain ? EAGAIN : EPERM;
    return -1;
}

/* Opens the file, which is made where it is missing; -1 with errno. */
static int open_file(const char *path)
{
    int fd = try_file(path);
    for (int i = 0; fd < 0 && (errno == ENOENT || errno == EAGAIN) && i < AGENT_LOCK_TRIES; i++) {
        if (errno == ENOENT)
            make_file(path);
        else
            poll(NULL, 0, AGENT_LOCK_WAIT_MS);
        fd = try_file(path);
    }
    if (fd < 0 && errno == EAGAIN) errno = EPERM;
    return fd;
}

struct device_lock *device_lock_open(const struct device *dev, char *why, size_t n)
{
    char path[DEVICE_LOCK_PATH];
    device_lock_path(dev, path);
    int fd = open_file(path);
    if (fd < 0) {
        snprintf(
            why, n,
            "cannot open the lock file %s: %s; other processes may measure on the device at the same time, "
            "so times may be too long; set THRESH_LOCKS to a folder that you can write",
            path, strerror(errno));
        return NULL;
    }
    struct device_lock *l = base_calloc(1, sizeof *l);
    l->fd = fd;
    return l;
}

void device_lock_close(struct device_lock *l)
{
    if (!l) return;
    close(l->fd);
    free(l);
}

/* ---- bytes ---- */

static bool set(const struct device_lock *l, off_t byte, short type)
{
    struct flock f = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(l->fd, F_OFD_SETLK, &f) == 0;
}

static bool others_have(const struct device_lock *l, off_t byte)
{
    struct flock f = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(l->fd, F_OFD_GETLK, &f) == 0 && f.l_type != F_UNLCK;
}

static struct record read_record(const struct device_lock *l)
{
    struct record r;
    return pread(l->fd, &r, sizeof r, 0) == sizeof r ? r : (struct record){0};
}

/* A file system that is full takes no record: then the others pass over this holder too soon. */
static void write_record(struct device_lock *l)
{
    struct record r = {getpid(), ++l->count};
    if (pwrite(l->fd, &r, sizeof r, 0) != sizeof r) l->count--;
}

/* Whether the holder has not moved for so long that it must be stopped. */
static bool is_silent(struct device_lock *l)
{
    struct record now = read_record(l);
    bool same = l->seen_at > 0 && now.pid == l->seen.pid && now.count == l->seen.count;
    if (!same) l->seen_at = clock_now_ms();
    l->seen = now;
    return clock_now_ms() - l->seen_at > AGENT_LOCK_SILENT_MS;
}

/* ---- measuring ---- */

static void want(struct device_lock *l, bool wants)
{
    if (l->wants == wants) return;
    set(l, WANTS, wants ? F_RDLCK : F_UNLCK);
    l->wants = wants;
}

bool device_lock_busy(struct device_lock *l)
{
    if (l && others_have(l, MEASURES)) return !is_silent(l);
    if (l) l->seen_at = 0;
    return false;
}

bool device_lock_busy_elsewhere(struct device_lock *l)
{
    return device_lock_busy(l) && l->seen.pid != getpid();
}

/* Whether the holder is to be ignored. A lock that was given back since the last look is no such case: a
 * third process may take it. */
static bool passes_over(struct device_lock *l)
{
    return others_have(l, MEASURES) && is_silent(l);
}

bool device_lock_try(struct device_lock *l)
{
    if (!l || l->held) return true;
    want(l, true);
    if (clock_now_ms() < l->yields_until && others_have(l, WANTS)) {
        if (others_have(l, MEASURES)) l->yields_until = 0;
        return false;
    }
    l->owned = set(l, MEASURES, F_WRLCK);
    l->held = l->owned || passes_over(l);
    if (l->held) want(l, false);
    if (l->owned) write_record(l);
    return l->held;
}

bool device_lock_held(const struct device_lock *l)
{
    return !l || l->held;
}

void device_lock_renew(struct device_lock *l)
{
    if (l && l->owned) write_record(l);
}

void device_lock_release(struct device_lock *l)
{
    if (!l) return;
    want(l, false);
    if (!l->held) return;
    set(l, MEASURES, F_UNLCK);
    l->held = l->owned = false;
    l->yields_until = clock_now_ms() + AGENT_LOCK_YIELD_MS;
}

bool device_lock_others_work(const struct device_lock *l)
{
    return l && others_have(l, WORKS);
}

void device_lock_work(struct device_lock *l, bool working)
{
    if (!l || l->works == working) return;
    set(l, WORKS, working ? F_RDLCK : F_UNLCK);
    l->works = working;
}
