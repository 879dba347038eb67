/* Where device descriptions lie: the folder that $THRESH_DEVICES names, or else the user's own, then those
 * shipped with the binary (perfmodel/devices beside the sources it was built from, share/thresh/devices where
 * it is installed, devices in a bundle). */
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/panic.h"
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

static void leave_out(const struct diag *faults, struct strbuf *left_out)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out) PANIC("out of memory");
    diag_print(faults, out);
    fclose(out);
    strbuf_printf(left_out, "%s%sthis description is ignored", left_out->length ? "\n" : "", text);
    free(text);
}

static bool read_or_leave_out(const char *path, struct perfmodel_device *out, struct strbuf *left_out)
{
    struct diag *d = diag_new();
    bool read = perfmodel_device_read(path, out, d);
    if (!read) leave_out(d, left_out);
    diag_free(d);
    return read;
}

/* As perfmodel_device_find(), in one folder. A folder that cannot be opened holds none. */
static bool find_in(const char *folder, const char *name, struct perfmodel_device *out,
                    struct strbuf *left_out)
{
    struct dirent **files;
    int n = scandir(folder, &files, NULL, alphasort);
    bool found = false;
    for (int i = 0; i < n; i++) {
        char path[2 * PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]->d_name);
        if (!found && is_description(files[i]->d_name))
            found = read_or_leave_out(path, out, left_out) && strcmp(out->name, name) == 0;
        free(files[i]);
    }
    if (n >= 0) free(files);
    return found;
}

static bool find_shipped(const char *name, struct perfmodel_device *out, struct strbuf *left_out)
{
    char binary[PATH_MAX], folder[PATH_MAX + 64];
    bool found = false;
    if (!binary_folder(binary, sizeof binary)) return false;
    for (unsigned i = 0; i < SHIPPED && !found; i++) {
        snprintf(folder, sizeof folder, "%s/%s", binary, shipped[i]);
        found = find_in(folder, name, out, left_out);
    }
    return found;
}

bool perfmodel_device_find(const char *name, bool gpu, struct perfmodel_device *out, struct strbuf *left_out)
{
    char user[PATH_MAX];
    const char *only = getenv("THRESH_DEVICES");
    perfmodel_device_folder(user, sizeof user);
    if (find_in(only ? only : user, name, out, left_out)) return true;
    if (!only && find_shipped(name, out, left_out)) return true;
    *out = (struct perfmodel_device){.gpu = gpu};
    snprintf(out->name, sizeof out->name, "%s", name);
    return false;
}

bool perfmodel_device_load(const char *path, const char *name, bool gpu, struct perfmodel_device *out,
                           struct strbuf *left_out, struct diag *d)
{
    if (!path) {
        perfmodel_device_find(name, gpu, out, left_out);
        return true;
    }
    if (!perfmodel_device_read(path, out, d)) return false;
    if (!name || strcmp(out->name, name) == 0) return true;
    diag_plain(d, "%s:1:1: error: describes '%s', not '%s'", path, out->name, name);
    return false;
}
