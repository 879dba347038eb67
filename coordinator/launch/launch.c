/* See launch.h. What all kinds share: where agents connect, which key they have, events. */
#include "coordinator/launch/launch_state.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/shell.h"
#include "core/keys/keys.h"

enum { HOST_BYTES = 256, MOST_WORDS = 20 };
static const char tcp[] = "tcp://", key_name[] = "launcher";

/* ---- where agents connect ---- */

static bool is_any(const char *host)
{
    return strcmp(host, "*") == 0 || strcmp(host, "0.0.0.0") == 0 || strcmp(host, "[::]") == 0;
}

static bool is_loopback(const char *host)
{
    return strncmp(host, "127.", 4) == 0 || strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0;
}

/* The host that agents are told; NULL after an error. */
static const char *choose_host(struct launch *l, const char *host, struct diag *d)
{
    const struct launch_options *o = &l->options;
    if (o->kind == LAUNCH_LOCAL) return is_any(host) ? "127.0.0.1" : host;
    if (o->address) return o->address;
    if (is_loopback(host)) {
        diag_plain(d,
                   "agents of the launcher '%s' cannot connect to %s: listen at tcp://0.0.0.0:PORT with "
                   "--keys, or name "
                   "the launcher's 'address'",
                   launch_kind_name(o->kind), host);
        return NULL;
    }
    char *name = arena_alloc(l->arena, HOST_BYTES);
    if (!is_any(host)) return host;
    if (gethostname(name, HOST_BYTES - 1) == 0) return name;
    diag_plain(d, "this host has no name; name the launcher's 'address'");
    return NULL;
}

static bool choose_endpoint(struct launch *l, const char *endpoint, struct diag *d)
{
    const char *colon = strrchr(endpoint, ':'), *from = endpoint + strlen(tcp);
    bool is_tcp = strncmp(endpoint, tcp, strlen(tcp)) == 0;
    if (!is_tcp && l->options.kind != LAUNCH_LOCAL) {
        diag_plain(d, "agents of the launcher '%s' cannot connect to %s; listen at tcp://ADDRESS:PORT",
                   launch_kind_name(l->options.kind), endpoint);
        return false;
    }
    l->endpoint = arena_strdup(l->arena, endpoint);
    if (!is_tcp) return true;
    if (colon < from || strcmp(colon, ":*") == 0) {
        diag_plain(d, "%s: a launcher needs the number of the port", endpoint);
        return false;
    }
    const char *host = choose_host(l, arena_strndup(l->arena, from, (size_t)(colon - from)), d);
    if (host) l->endpoint = arena_printf(l->arena, "%s%s%s", tcp, host, colon);
    return host != NULL;
}

/* ---- keys ---- */

/* An absolute path: nodes of a cluster start agents in other folders. */
static char *absolute(struct launch *l, const char *path, struct diag *d)
{
    char folder[PATH_MAX];
    if (*path == '/') return arena_strdup(l->arena, path);
    if (getcwd(folder, sizeof folder)) return arena_printf(l->arena, "%s/%s", folder, path);
    diag_plain(d, "the working folder: %s", strerror(errno));
    return NULL;
}

/* The launcher's own key of the folder, made if it is missing. */
static bool choose_key(struct launch *l, const char *folder, struct diag *d)
{
    const char *names[] = {key_name};
    if (!folder) return true;
    l->key = absolute(l, arena_printf(l->arena, "%s/agents/%s.key_secret", folder, key_name), d);
    return l->key && (access(l->key, F_OK) == 0 || keys_new(folder, names, 1, d));
}

/* ---- command lines ---- */

static bool choose_program(struct launch *l, struct diag *d)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n > 0) path[n] = 0;
    if (n <= 0 && !l->options.program) {
        diag_plain(d, "this program's file is not known; name the launcher's 'program'");
        return false;
    }
    l->program = arena_strdup(l->arena, l->options.program ? l->options.program : path);
    return true;
}

char **launch_agent_words(struct launch *l, const char *program, const char *key, const char *device)
{
    const struct {
        const char *name, *value;
    } all[] = {{"--connect", l->endpoint},
               {"--key", key},
               {"--device", device},
               {"--runners", l->options.runners},
               {"--timeout", l->options.timeout}};
    const char **words = arena_array(l->arena, MOST_WORDS, sizeof *words);
    size_t n = 0;
    words[n++] = program;
    words[n++] = "agent";
    words[n++] = "--quiet";
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].value) words[n++] = arena_printf(l->arena, "%s=%s", all[i].name, all[i].value);
    return (char **)words;
}

void launch_add_words(struct strbuf *out, char *const *words)
{
    for (size_t i = 0; words[i]; i++) {
        if (i) strbuf_add(out, " ");
        shell_add_word(out, words[i]);
    }
}

char **launch_split_words(struct launch *l, const char *text, size_t more, size_t *n)
{
    char **words = arena_array(l->arena, strlen(text) / 2 + 2 + more, sizeof *words);
    *n = 0;
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        words[(*n)++] = arena_strndup(l->arena, at, length);
        at += length;
    }
    return words;
}

/* ---- events ---- */

void launch_add_event(struct launch *l, enum launch_event_kind kind, const char *agent, const char *fmt, ...)
{
    struct strbuf text = {0};
    va_list args;
    va_start(args, fmt);
    strbuf_vprintf(&text, fmt, args);
    va_end(args);
    l->events = base_realloc(l->events, (l->n_events + 1) * sizeof *l->events);
    l->events[l->n_events++] = (struct launch_queued){kind, base_strdup(agent), strbuf_take(&text)};
}

static void forget(struct launch_queued *e)
{
    free(e->agent);
    free(e->text);
    *e = (struct launch_queued){0};
}

bool launch_poll(struct launch *l, struct launch_event *out)
{
    if (l->next_event == l->n_events && !l->stopped) {
        l->next_event = l->n_events = 0;
        l->ops->turn(l);
    }
    forget(&l->last);
    if (l->next_event == l->n_events) return false;
    l->last = l->events[l->next_event++];
    *out = (struct launch_event){l->last.kind, l->last.agent, l->last.text};
    return true;
}

/* ---- life ---- */

struct launch *launch_start(const struct launch_options *o, const char *endpoint, const char *keys,
                            struct diag *d)
{
    static const struct launch_ops *const kinds[LAUNCH_KINDS] = {&launch_local, &launch_ssh, &launch_slurm};
    struct launch *l = base_calloc(1, sizeof *l);
    l->arena = arena_new();
    l->options = *o;
    l->ops = kinds[o->kind];
    if (choose_endpoint(l, endpoint, d) && choose_key(l, keys, d) && choose_program(l, d) &&
        l->ops->start(l, d))
        return l;
    l->stopped = true;
    launch_free(l);
    return NULL;
}

unsigned launch_left(const struct launch *l)
{
    return l->stopped ? 0 : l->ops->left(l);
}

void launch_stop(struct launch *l)
{
    if (!l->stopped) l->ops->stop(l);
    l->stopped = true;
}

void launch_free(struct launch *l)
{
    if (!l) return;
    launch_stop(l);
    if (l->ops->free) l->ops->free(l);
    for (unsigned i = l->next_event; i < l->n_events; i++)
        forget(&l->events[i]);
    forget(&l->last);
    free(l->events);
    arena_free(l->arena);
    free(l);
}
