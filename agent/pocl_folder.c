/* Finds the folder in which PoCL keeps kernels, by the variables that PoCL reads, and tries to write a file
 * there that is as large as those of several builds. */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include "agent/pocl_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/limits.h"
#include "core/base/file.h"

enum { PATH_BYTES = 1024 };

struct folder {
    char path[PATH_BYTES];
    const char *origin; /* the variable that it comes from */
};

static bool is_set(const char *value)
{
    return value && *value;
}

static struct folder find(const char *given)
{
    struct folder f;
    const char *pocl = getenv("POCL_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const char *kept = getenv("POCL_KERNEL_CACHE");
    const char *name = kept && strcmp(kept, "0") == 0 ? "uncached" : "kcache";
    if (is_set(pocl) || is_set(given)) {
        f.origin = "POCL_CACHE_DIR";
        snprintf(f.path, sizeof f.path, "%s", is_set(pocl) ? pocl : given);
    } else if (xdg) {
        f.origin = "XDG_CACHE_HOME";
        snprintf(f.path, sizeof f.path, "%s/pocl/%s", xdg, name);
    } else if (home) {
        f.origin = "HOME";
        snprintf(f.path, sizeof f.path, "%s/.cache/pocl/%s", home, name);
    } else {
        f.origin = "HOME, which is not set";
        snprintf(f.path, sizeof f.path, "/tmp/pocl/%s", name);
    }
    return f;
}

/* Makes the folder with those above it. 0, or the number of errno of the first that could not be made. */
static int make(char *path)
{
    int first = 0;
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(path, 0700) && errno != EEXIST && !first) first = errno;
        *slash = '/';
    }
    if (mkdir(path, 0700) == 0 || errno == EEXIST) return 0;
    return first ? first : errno;
}

/* Whether the files of a build fit; 0 or a number of errno. A build that ends for lack of room removes its
 * files, so that a small file can be written afterwards. */
static int try_file(const char *folder)
{
    char path[PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/thresh-XXXXXX", folder);
    int fd = mkstemp(path);
    if (fd < 0) return errno;
    int error = posix_fallocate(fd, 0, AGENT_POCL_BYTES);
    close(fd);
    unlink(path);
    return error == EOPNOTSUPP || error == EINVAL ? 0 : error;
}

bool pocl_folder_is_of(const char *platform)
{
    return strcmp(platform, "Portable Computing Language") == 0;
}

bool pocl_folder_fault(const char *given, char *why, size_t n)
{
    struct folder f = find(given);
    int error = make(f.path);
    if (!error) error = try_file(f.path);
    if (!error) return false;
    snprintf(why, n,
             "PoCL keeps compiled kernels in '%s' (from %s), which cannot be written: %s; set POCL_CACHE_DIR "
             "to another folder",
             f.path, f.origin, file_error_text(error));
    return true;
}

bool pocl_folder_explain(const char *given, char *why, size_t n)
{
    char fault[PATH_BYTES];
    if (!pocl_folder_fault(given, fault, sizeof fault)) return false;
    size_t at = strlen(why);
    snprintf(why + at, n - at, "; %s", fault);
    return true;
}
