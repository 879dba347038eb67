/* The name of a bundle on other hosts: a hash of all its files. Another build has another name, so that a
 * host has what it needs or does not have it, and agents of an earlier search go on with theirs. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "coordinator/launch/launch_state.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/hash.h"

enum { READ_BYTES = 65536, MOST_DEPTH = 16 };

static bool fail(const char *path, struct diag *d)
{
    diag_plain(d, "bundle: '%s': %s", path, strerror(errno));
    return false;
}

static bool add_file(const char *path, uint64_t *hash, struct diag *d)
{
    static const size_t room = READ_BYTES;
    FILE *in = fopen(path, "rb");
    if (!in) return fail(path, d);
    char *buffer = base_malloc(room);
    for (size_t n; (n = fread(buffer, 1, room, in)) > 0;)
        *hash = hash_bytes(*hash, buffer, n);
    bool ok = !ferror(in) || fail(path, d);
    fclose(in);
    free(buffer);
    return ok;
}

static bool add_folder(struct arena *a, const char *path, unsigned depth, uint64_t *hash, struct diag *d);

static bool add_entry(struct arena *a, const char *folder, const char *name, unsigned depth, uint64_t *hash,
                      struct diag *d)
{
    struct stat s;
    const char *path = arena_printf(a, "%s/%s", folder, name);
    if (name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]))) return true;
    if (stat(path, &s)) return fail(path, d);
    *hash = hash_string(*hash, name);
    *hash = hash_bytes(*hash, &s.st_mode, sizeof s.st_mode);
    return S_ISDIR(s.st_mode) ? add_folder(a, path, depth + 1, hash, d) : add_file(path, hash, d);
}

/* In the order of names, whatever the file system's. */
static bool add_folder(struct arena *a, const char *path, unsigned depth, uint64_t *hash, struct diag *d)
{
    struct dirent **entries;
    if (depth > MOST_DEPTH) errno = ELOOP;
    int n = depth > MOST_DEPTH ? -1 : scandir(path, &entries, NULL, alphasort);
    bool ok = n >= 0 || fail(path, d);
    for (int i = 0; i < n; i++) {
        ok = ok && add_entry(a, path, entries[i]->d_name, depth, hash, d);
        free(entries[i]);
    }
    if (n >= 0) free(entries);
    return ok;
}

char *launch_bundle_name(struct launch *l, const char *folder, struct diag *d)
{
    struct stat s;
    char text[HASH_HEX_BYTES];
    uint64_t hash = HASH_START;
    const char *program = arena_printf(l->arena, "%s/thresh", folder);
    if (stat(program, &s) || !S_ISREG(s.st_mode) || !(s.st_mode & S_IXUSR)) {
        diag_plain(d, "bundle: '%s' has no program thresh; make one with 'make bundle'", folder);
        return NULL;
    }
    if (!add_folder(l->arena, folder, 0, &hash, d)) return NULL;
    hash_hex(hash_finish(hash), text);
    return arena_strdup(l->arena, text);
}
