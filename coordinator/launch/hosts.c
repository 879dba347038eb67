/* Lists of hosts for ssh:
 *
 *     # the two nodes of the old rack
 *     node1 agents=2 device=gpu
 *     tuner@node2
 *
 * A host is passed to ssh as a word of its own and never begins with '-', so that it is no option. */
#include <stdlib.h>
#include <string.h>

#include "coordinator/launch/options.h"
#include "coordinator/limits.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"

static const char blank[] = " \t\r";

static bool is_host(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@:%[]";
    return *name && *name != '-' && *name != '@' && !name[strspn(name, allowed)];
}

bool launch_options_add_host(struct launch_options *o, const char *name, struct arena *a, struct strbuf *why)
{
    if (!is_host(name)) {
        strbuf_printf(why, "'%s' is not a host; write for example node1 or user@node1", name);
        return false;
    }
    if (o->n_hosts == LIMIT_LAUNCHED) {
        strbuf_printf(why, "more than %d hosts", LIMIT_LAUNCHED);
        return false;
    }
    for (unsigned i = 0; i < o->n_hosts; i++) {
        if (strcmp(o->hosts[i].name, name) != 0) continue;
        strbuf_printf(why, "%s is given twice; for two agents write '%s agents=2'", name, name);
        return false;
    }
    if ((o->n_hosts & (o->n_hosts + 1)) == 0) { /* grows by doubling: 0, 1, 3, 7, ... are full */
        struct launch_host *more = arena_array(a, 2 * o->n_hosts + 1, sizeof *more);
        for (unsigned i = 0; i < o->n_hosts; i++)
            more[i] = o->hosts[i];
        o->hosts = more;
    }
    o->hosts[o->n_hosts++] = (struct launch_host){.name = arena_strdup(a, name), .agents = 1};
    return true;
}

struct reader {
    const struct source *source;
    struct arena *arena;
    struct launch_options *options;
    struct diag *diag;
};

static bool error_at(const struct reader *r, const char *at, const char *text)
{
    diag_error(r->diag, (struct source_pos){r->source, (size_t)(at - r->source->text)}, "%s", text);
    return false;
}

/* agents=N or device=SEL of the last host. */
static bool read_setting(struct reader *r, const char *at, const char *word)
{
    static const char agents[] = "agents=", device[] = "device=";
    struct launch_host *h = &r->options->hosts[r->options->n_hosts - 1];
    struct launch_options probe = {.kind = LAUNCH_LOCAL};
    struct strbuf why = {0};
    bool is_agents = strncmp(word, agents, strlen(agents)) == 0,
         is_device = strncmp(word, device, strlen(device)) == 0;
    if (!is_agents && !is_device)
        return error_at(
            r, at,
            arena_printf(r->arena, "unexpected '%s' after a host; expected agents=N or device=SEL", word));
    const char *value = strchr(word, '=') + 1;
    bool ok = launch_options_set(&probe, is_agents ? "agents" : "device", value, r->arena, &why);
    if (!ok) error_at(r, at + (value - word), why.text);
    if (ok && is_agents) h->agents = probe.agents;
    if (ok && is_device) h->device = probe.device;
    strbuf_free(&why);
    return ok;
}

/* A word of a line: the host if it is the first. */
static bool read_word(struct reader *r, const char *at, size_t n, bool first)
{
    const char *word = arena_strndup(r->arena, at, n);
    struct strbuf why = {0};
    if (!first) return read_setting(r, at, word);
    bool ok = launch_options_add_host(r->options, word, r->arena, &why);
    if (!ok) error_at(r, at, why.text);
    strbuf_free(&why);
    return ok;
}

/* Words after what is not a host are ignored. */
static bool read_line(struct reader *r, const char *at, const char *end)
{
    bool first = true;
    for (;;) {
        at += strspn(at, blank);
        if (at >= end || *at == '#') return true;
        size_t n = strcspn(at, " \t\r\n#");
        if (!read_word(r, at, n, first)) return false;
        at += n;
        first = false;
    }
}

bool launch_hosts_read(const char *path, struct arena *a, struct launch_options *o, struct diag *d)
{
    size_t length;
    char *text = source_read_file(path, LAUNCH_HOSTS_BYTES, &length, d);
    if (!text) return false;
    const struct source source = {path, text, length};
    struct reader r = {&source, a, o, d};
    bool ok = true;
    for (const char *at = text; at < text + length;) {
        const char *end = at + strcspn(at, "\n");
        ok = read_line(&r, at, end) && ok;
        at = *end ? end + 1 : end;
    }
    if (ok && o->n_hosts == 0) ok = error_at(&r, text, "the file has no hosts");
    free(text);
    return ok;
}
