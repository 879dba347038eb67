/* Where device descriptions lie: the folder that $THRESH_DEVICES names, or else the user's own, then those
 * shipped with the binary (perfmodel/devices beside the sources it was built from, share/thresh/devices where
 * it is installed, devices in a bundle). */
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfmodel/device.h"

enum { SHIPPED = 4 };
static const char *const shipped[SHIPPED] = {"devices", "../perfmodel/devices", "../../perfmodel/devices",
                                             "../share/thresh/devices"};

void perfmodel_device_folder(char *out, size_t n)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (data && *data)
        snprintf(out, n, "%s/thresh/devices", data);
    else
        snprintf(out, n, "%s/.local/share/thresh/devices", home ? home : ".");
}

/* The folder of the running binary. */
static bool binary_folder(char *out, size_t n)
{
    ssize_t length = readlink("/proc/self/exe", out, n - 1);
    if (length <= 0) return false;
    out[length] = '\0';
    char *slash = strrchr(out, '/');
    if (slash) *slash = '\0';
    return slash != NULL;
}

static bool is_description(const char *file)
{
    size_t n = strlen(file);
    return n > 5 && strcmp(file + n - 5, ".json") == 0;
}

/* As perfmodel_device_find(), in one folder. A folder that cannot be opened holds none. */
static int find_in(const char *folder, const char *name, struct perfmodel_device *out, struct diag *d)
{
    struct dirent **files;
    int n = scandir(folder, &files, NULL, alphasort), found = 0;
    for (int i = 0; i < n; i++) {
        char path[2 * PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]->d_name);
        if (found == 0 && is_description(files[i]->d_name)) {
            found = perfmodel_device_read(path, out, d) ? strcmp(out->name, name) == 0 : -1;
        }
        free(files[i]);
    }
    if (n >= 0) free(files);
    return found;
}

static int find_shipped(const char *name, struct perfmodel_device *out, struct diag *d)
{
    char binary[PATH_MAX], folder[PATH_MAX + 64];
    int found = 0;
    if (!binary_folder(binary, sizeof binary)) return 0;
    for (unsigned i = 0; i < SHIPPED && found == 0; i++) {
        snprintf(folder, sizeof folder, "%s/%s", binary, shipped[i]);
        found = find_in(folder, name, out, d);
    }
    return found;
}

int perfmodel_device_find(const char *name, bool gpu, struct perfmodel_device *out, struct diag *d)
{
    char user[PATH_MAX];
    const char *only = getenv("THRESH_DEVICES");
    perfmodel_device_folder(user, sizeof user);
    int found = find_in(only ? only : user, name, out, d);
    if (found == 0 && !only) found = find_shipped(name, out, d);
    if (found != 0) return found;
    *out = (struct perfmodel_device){.gpu = gpu};
    snprintf(out->name, sizeof out->name, "%s", name);
    return 0;
}

int perfmodel_device_load(const char *path, const char *name, bool gpu, struct perfmodel_device *out,
                          struct diag *d)
{
    if (!path) return perfmodel_device_find(name, gpu, out, d);
    if (!perfmodel_device_read(path, out, d)) return -1;
    if (!name || strcmp(out->name, name) == 0) return 1;
    diag_plain(d, "%s:1:1: error: describes '%s', not '%s'", path, out->name, name);
    return -1;
}
