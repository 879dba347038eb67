/* The set of admitted agents; see admit.h. */
#include "core/keys/admit.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <uthash.h>
#include <zmq.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/hash.h"

struct agent {
    uint8_t key[KEYS_BYTES];
    char name[KEYS_NAME];
    UT_hash_handle hh;
};

struct admit {
    char *folder, *agents;
    struct agent *set; /* by key */
    uint64_t seen;     /* signature of the folder as it was read */
    bool read;
};

struct admit *admit_new(const char *folder)
{
    struct admit *a = base_calloc(1, sizeof *a);
    struct strbuf text = {0};
    strbuf_add(&text, folder);
    a->folder = strbuf_take(&text);
    strbuf_printf(&text, "%s/agents", folder);
    a->agents = strbuf_take(&text);
    return a;
}

static void clear(struct admit *a)
{
    struct agent *at, *next;
    HASH_ITER(hh, a->set, at, next)
    {
        HASH_DEL(a->set, at);
        free(at);
    }
}

void admit_free(struct admit *a)
{
    if (!a) return;
    clear(a);
    free(a->folder);
    free(a->agents);
    free(a);
}

static uint64_t hash_status(uint64_t h, const struct stat *st)
{
    const uint64_t facts[] = {(uint64_t)st->st_ino,  (uint64_t)st->st_ctim.tv_sec,
                              (uint64_t)st->st_size, (uint64_t)st->st_ctim.tv_nsec,
                              (uint64_t)st->st_mode, (uint64_t)st->st_uid};
    return hash_bytes(h, facts, sizeof facts);
}

/* Names, times of change and sizes of all files; the order of the folder does not matter. */
static uint64_t signature(const char *path)
{
    struct stat st;
    uint64_t sum = stat(path, &st) == 0 ? hash_finish(hash_status(HASH_START, &st)) : 0;
    DIR *dir = opendir(path);
    if (!dir) return sum;
    for (struct dirent *f; (f = readdir(dir));)
        if (fstatat(dirfd(dir), f->d_name, &st, 0) == 0)
            sum += hash_finish(hash_status(hash_string(HASH_START, f->d_name), &st));
    closedir(dir);
    return sum;
}

static void add(struct admit *a, const struct keys_entry *e)
{
    struct agent *at = base_calloc(1, sizeof *at), *other;
    memcpy(at->name, e->name, sizeof at->name);
    zmq_z85_decode(at->key, e->key);
    HASH_FIND(hh, a->set, at->key, KEYS_BYTES, other);
    if (other)
        free(at);
    else
        HASH_ADD(hh, a->set, key, KEYS_BYTES, at);
}

void admit_update(struct admit *a, struct strbuf *news)
{
    struct keys_list list;
    uint64_t now = signature(a->agents);
    if (a->read && a->seen == now) return;
    struct diag *d = diag_new();
    bool ok = keys_list_read(a->folder, &list, d);
    a->seen = now;
    a->read = true;
    clear(a);
    for (size_t i = 0; i < list.n_agents && ok; i++) {
        const struct keys_entry *e = &list.agents[i];
        if (e->admitted)
            add(a, e);
        else
            strbuf_printf(news, "not admitted: %s\n", e->problem ? e->problem : e->name);
    }
    if (!ok) strbuf_printf(news, "no agent is admitted: %s\n", diag_message(d, 0));
    if (ok && !a->set)
        strbuf_printf(news, "no agent is admitted: %s has no certificates; make one: thresh keys new\n",
                      a->agents);
    keys_list_clear(&list);
    diag_free(d);
}

const char *admit_find(const struct admit *a, const uint8_t key[KEYS_BYTES])
{
    struct agent *found;
    HASH_FIND(hh, a->set, key, KEYS_BYTES, found);
    return found ? found->name : NULL;
}
