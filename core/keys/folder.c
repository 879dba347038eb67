/* Making a folder of keys, and listing one; see keys.h. */
#include "core/keys/keys.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/base/shell.h"
#include "core/base/strbuf.h"
#include "core/keys/certificate.h"

static const char public_end[] = ".key", secret_end[] = ".key_secret";

/* 1 to 64 letters, digits, '.', '_', '-', the first one a letter or digit. */
static bool is_name(const char *text)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    static const char later[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t n = strlen(text);
    return n > 0 && n < KEYS_NAME && strchr(first, text[0]) && strspn(text, later) == n;
}

/* ---- making ---- */

static bool make_folder(const char *path, struct diag *d)
{
    if (mkdir(path, S_IRWXU) == 0) return true;
    if (errno == EEXIST) return keys_check_folder(path, d);
    char *why = file_create_fault(path, errno);
    diag_plain(d, "cannot make the folder %s: %s", path, why);
    free(why);
    return false;
}

/* Makes the coordinator's certificate unless there is one; reads its public key. */
static bool make_server(const char *folder, struct arena *a, struct keys_certificate *server, struct diag *d)
{
    const char *path = arena_printf(a, "%s/server%s", folder, public_end);
    bool exists = access(path, F_OK) == 0;
    return (exists || keys_certificate_make(path, "server", NULL, d)) &&
           keys_certificate_read(path, server, d);
}

/* All names are checked before anything is written. */
static bool check_names(const char *const *names, size_t n, struct diag *d)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_name(names[i])) {
            diag_plain(d,
                       "'%s' is not a name of an agent: write 1 to %d letters, digits, '.', '_' or '-', the "
                       "first one a letter or digit",
                       names[i], KEYS_NAME - 1);
            return false;
        }
        for (size_t k = 0; k < i; k++) {
            if (strcmp(names[i], names[k]) != 0) continue;
            diag_plain(d, "the name '%s' is given twice", names[i]);
            return false;
        }
    }
    return true;
}

static bool check_new(const char *path, struct diag *d)
{
    if (access(path, F_OK) != 0) return true;
    diag_plain(d, "%s exists; keys are never overwritten: choose another name with --agent", path);
    return false;
}

bool keys_new(const char *folder, const char *const *names, size_t n, struct diag *d)
{
    struct arena *a = arena_new();
    struct keys_certificate server;
    const char *agents = arena_printf(a, "%s/agents", folder);
    const char **paths = arena_alloc(a, (n + 1) * sizeof *paths);
    bool ok = check_names(names, n, d);
    for (size_t i = 0; i < n && ok; i++) {
        paths[i] = arena_printf(a, "%s/%s%s", agents, names[i], public_end);
        ok = check_new(paths[i], d) && check_new(arena_printf(a, "%s_secret", paths[i]), d);
    }
    ok = ok && make_folder(folder, d) && make_folder(agents, d) && make_server(folder, a, &server, d);
    for (size_t i = 0; i < n && ok; i++)
        ok = keys_certificate_make(paths[i], names[i], server.key, d);
    arena_free(a);
    return ok;
}

/* ---- listing ---- */

/* The first error of d without "error: ", which the caller frees; NULL: there is none. */
static char *take_problem(struct diag *d)
{
    static const char prefix[] = "error: ";
    struct strbuf text = {0};
    if (!diag_failed(d)) return NULL;
    const char *message = diag_message(d, 0), *at = strstr(message, prefix);
    if (at) {
        strbuf_addn(&text, message, (size_t)(at - message));
        strbuf_add(&text, at + strlen(prefix));
    } else {
        strbuf_add(&text, message);
    }
    return strbuf_take(&text);
}

/* Says what is wrong with the secret beside a public certificate. */
static void check_secret(const char *path, const struct keys_entry *e, struct diag *d)
{
    struct keys_certificate secret;
    if (keys_certificate_read_secret(path, &secret, d) && strcmp(secret.key, e->key) != 0)
        diag_plain(d, "%s: is of other keys than the public certificate", path);
    keys_certificate_forget(&secret);
}

/* Fills in the entry of the certificate PATH. server: its coordinator's public key; "": not known. */
static void read_entry(const char *path, const char *name, const char *server, struct keys_entry *e)
{
    struct diag *d = diag_new();
    struct keys_certificate c;
    struct strbuf secret = {0};
    strbuf_printf(&secret, "%s_secret", path);
    *e = (struct keys_entry){.secret = access(secret.text, F_OK) == 0};
    snprintf(e->name, sizeof e->name, "%s", name);
    e->admitted = keys_certificate_read(path, &c, d);
    if (e->admitted) {
        memcpy(e->key, c.key, sizeof e->key);
        memcpy(e->when, c.when, sizeof e->when);
        if (e->secret) check_secret(secret.text, e, d);
        if (c.server[0] && server[0] && strcmp(c.server, server) != 0)
            diag_plain(d, "%s: was made for another coordinator", path);
    } else if (e->secret && access(path, F_OK) != 0) {
        diag_free(d);
        d = diag_new();
        diag_plain(d, "%s is missing: the agent is not admitted", path);
    }
    e->problem = take_problem(d);
    strbuf_free(&secret);
    diag_free(d);
}

/* The name of an agent from the name of one of its files; false: it is none. */
static bool name_of_file(const char *file, char name[KEYS_NAME])
{
    size_t n = strlen(file);
    const char *ends[] = {secret_end, public_end};
    for (size_t i = 0; i < 2; i++) {
        size_t end = strlen(ends[i]);
        if (n <= end || n - end >= KEYS_NAME || strcmp(file + n - end, ends[i]) != 0) continue;
        memcpy(name, file, n - end);
        name[n - end] = 0;
        return is_name(name);
    }
    return false;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct keys_entry *)a)->name, ((const struct keys_entry *)b)->name);
}

/* Collects the names in the folder of agents, sorted, each once. */
static void collect_names(DIR *folder, struct keys_list *out)
{
    size_t room = 0, n = 0, kept = 0;
    for (struct dirent *f; n < KEYS_MOST_AGENTS * 2 && (f = readdir(folder));) {
        char name[KEYS_NAME];
        if (!name_of_file(f->d_name, name)) continue;
        if (n == room) out->agents = base_realloc(out->agents, (room = 2 * room + 16) * sizeof *out->agents);
        out->agents[n] = (struct keys_entry){.admitted = false};
        memcpy(out->agents[n++].name, name, sizeof name);
    }
    if (n) qsort(out->agents, n, sizeof *out->agents, by_name);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || strcmp(out->agents[kept - 1].name, out->agents[i].name) != 0)
            out->agents[kept++] = out->agents[i];
    out->n_agents = kept < KEYS_MOST_AGENTS ? kept : KEYS_MOST_AGENTS;
}

bool keys_list_read(const char *folder, struct keys_list *out, struct diag *d)
{
    struct arena *a = arena_new();
    *out = (struct keys_list){.n_agents = 0};
    const char *agents = arena_printf(a, "%s/agents", folder);
    const char *server = arena_printf(a, "%s/server%s", folder, public_end);
    DIR *dir = keys_check_folder(folder, d) && keys_check_folder(agents, d) ? opendir(agents) : NULL;
    bool ok = dir != NULL;
    if (!ok && !diag_failed(d)) diag_plain(d, "%s: %s", agents, strerror(errno));
    if (ok) {
        collect_names(dir, out);
        closedir(dir);
        read_entry(server, "server", "", &out->server);
        out->server.admitted = false;
    }
    for (size_t i = 0; i < out->n_agents; i++) {
        struct keys_entry *e = &out->agents[i];
        const char *path = arena_printf(a, "%s/%s%s", agents, e->name, public_end);
        read_entry(path, arena_printf(a, "%s", e->name), out->server.key, e);
    }
    arena_free(a);
    return ok;
}

void keys_list_clear(struct keys_list *l)
{
    free(l->server.problem);
    for (size_t i = 0; i < l->n_agents; i++)
        free(l->agents[i].problem);
    free(l->agents);
    *l = (struct keys_list){.n_agents = 0};
}
