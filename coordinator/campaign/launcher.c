/* See launcher.h. The kind is read first, wherever it stands: it decides which keys there are. */
#include "coordinator/campaign/launcher.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/strbuf.h"

/* Adds what a setting found wrong, at its value. Returns false. */
static bool refuse(struct campaign_reader *r, struct campaign_node n, struct strbuf *why)
{
    campaign_node_error(n, r->diag, "%s", why->text);
    strbuf_free(why);
    return false;
}

static bool set(struct campaign_reader *r, struct launch_options *o, const char *name, struct campaign_node n)
{
    struct strbuf why = {0};
    const char *text = campaign_read_text(n, name, r->diag);
    if (!text) return false;
    return launch_options_set(o, name, text, r->campaign->arena, &why) || refuse(r, n, &why);
}

/* Paths are relative to the campaign file. A program without '/' is looked for in the PATH. */
static bool set_path(struct campaign_reader *r, const char *name, struct campaign_node n)
{
    struct strbuf why = {0};
    const char *text = campaign_read_text(n, name, r->diag);
    if (!text) return false;
    const char *path =
        strchr(text, '/') || strcmp(name, "bundle") == 0 ? campaign_path(r->campaign, text) : text;
    return launch_options_set(r->campaign->launch, name, path, r->campaign->arena, &why) ||
           refuse(r, n, &why);
}

/* ---- hosts ---- */

/* A map {host, agents, device}. */
static bool read_host_map(struct campaign_reader *r, struct campaign_node n)
{
    struct launch_options *o = r->campaign->launch, probe = {.kind = LAUNCH_LOCAL};
    struct campaign_node host = campaign_node_get(n, "host");
    struct strbuf why = {0};
    const char *name = host.yaml ? campaign_read_text(host, "host", r->diag) : NULL;
    if (!host.yaml) return campaign_node_error(n, r->diag, "the entry has no 'host'");
    if (!name) return false;
    if (!launch_options_add_host(o, name, r->campaign->arena, &why)) return refuse(r, host, &why);
    struct launch_host *h = &o->hosts[o->n_hosts - 1];
    for (size_t i = 0; i < campaign_node_count(n); i++) {
        struct campaign_node key = campaign_node_key(n, i);
        const char *text = campaign_node_text(key);
        if (strcmp(text, "host") == 0) continue;
        if (strcmp(text, "agents") != 0 && strcmp(text, "device") != 0)
            return campaign_node_error(
                key, r->diag, "unknown key '%s' of a host; expected one of host, agents, device", text);
        if (!set(r, &probe, text, campaign_node_item(n, i))) return false;
    }
    if (probe.agents) h->agents = probe.agents;
    h->device = probe.device;
    return true;
}

static bool read_host(struct campaign_reader *r, struct campaign_node n)
{
    struct strbuf why = {0};
    if (campaign_node_kind(n) == CAMPAIGN_MAP) return read_host_map(r, n);
    const char *name = campaign_read_text(n, "a host", r->diag);
    if (!name) return false;
    return launch_options_add_host(r->campaign->launch, name, r->campaign->arena, &why) || refuse(r, n, &why);
}

static bool read_hosts(struct campaign_reader *r, struct campaign_node n)
{
    bool ok = true;
    if (campaign_node_kind(n) != CAMPAIGN_LIST)
        return campaign_node_error(n, r->diag, "hosts must be a list, such as [node1, node2]");
    for (size_t i = 0; i < campaign_node_count(n); i++)
        ok = read_host(r, campaign_node_item(n, i)) && ok;
    return ok;
}

static bool read_hostfile(struct campaign_reader *r, struct campaign_node n)
{
    const char *text = campaign_read_text(n, "hostfile", r->diag);
    if (!text) return false;
    const char *path = campaign_path(r->campaign, text);
    if (access(path, R_OK))
        return campaign_node_error(n, r->diag, "cannot read '%s': %s", path, strerror(errno));
    return launch_hosts_read(path, r->campaign->arena, r->campaign->launch, r->diag);
}

/* ---- keys ---- */

static bool read_options(struct campaign_reader *r, struct campaign_node n)
{
    bool ok = true;
    if (campaign_node_kind(n) != CAMPAIGN_LIST)
        return campaign_node_error(n, r->diag, "options must be a list, such as [--gres=gpu:1]");
    for (size_t i = 0; i < campaign_node_count(n); i++)
        ok = set(r, r->campaign->launch, "option", campaign_node_item(n, i)) && ok;
    return ok;
}

static bool skip(struct campaign_reader *r, struct campaign_node n)
{
    (void)r;
    (void)n;
    return true;
}

/* Without a kind, a misspelt key is the likely cause. */
static bool miss_kind(struct campaign_reader *r, struct campaign_node n)
{
    static const struct campaign_key all[] = {
        {"kind", skip},    {"agents", skip},    {"device", skip},   {"runners", skip}, {"timeout", skip},
        {"program", skip}, {"hosts", skip},     {"hostfile", skip}, {"bundle", skip},  {"ssh", skip},
        {"address", skip}, {"partition", skip}, {"time", skip},     {"options", skip}};
    return campaign_read_map(n, "a launcher", all, sizeof all / sizeof all[0], r) &&
           campaign_node_error(n, r->diag, "the launcher has no 'kind'");
}

static bool read_kind(struct campaign_reader *r, struct campaign_node launcher)
{
    struct campaign_node n = campaign_node_get(launcher, "kind");
    if (!n.yaml) return miss_kind(r, launcher);
    const char *kind = campaign_read_text(n, "kind", r->diag);
    if (!kind) return false;
    return launch_kind_find(kind, &r->campaign->launch->kind) ||
           campaign_node_error(n, r->diag, "unknown launcher '%s'; expected local, ssh or slurm", kind);
}

#define SETTING(name)                                                                                        \
    static bool read_##name(struct campaign_reader *r, struct campaign_node n)                               \
    {                                                                                                        \
        return set(r, r->campaign->launch, #name, n);                                                        \
    }
SETTING(agents)
SETTING(device)
SETTING(runners)
SETTING(timeout)
SETTING(ssh)
SETTING(address)
SETTING(partition)
SETTING(time)
#undef SETTING

static bool read_program(struct campaign_reader *r, struct campaign_node n)
{
    return set_path(r, "program", n);
}

static bool read_bundle(struct campaign_reader *r, struct campaign_node n)
{
    return set_path(r, "bundle", n);
}

#define OF_ALL                                                                                               \
    {"kind", skip}, {"device", read_device}, {"runners", read_runners}, {"timeout", read_timeout},           \
    {                                                                                                        \
        "program", read_program                                                                              \
    }
static const struct campaign_key local_keys[] = {OF_ALL, {"agents", read_agents}},
                                 ssh_keys[] = {OF_ALL,
                                               {"hosts", read_hosts},
                                               {"hostfile", read_hostfile},
                                               {"bundle", read_bundle},
                                               {"ssh", read_ssh},
                                               {"address", read_address}},
                                 slurm_keys[] = {OF_ALL,
                                                 {"agents", read_agents},
                                                 {"partition", read_partition},
                                                 {"time", read_time},
                                                 {"options", read_options},
                                                 {"address", read_address}};
static const struct {
    const char *what;
    const struct campaign_key *keys;
    size_t n;
} kinds[LAUNCH_KINDS] = {{"a launcher of kind local", local_keys, sizeof local_keys / sizeof local_keys[0]},
                         {"a launcher of kind ssh", ssh_keys, sizeof ssh_keys / sizeof ssh_keys[0]},
                         {"a launcher of kind slurm", slurm_keys, sizeof slurm_keys / sizeof slurm_keys[0]}};

/* A local launcher with no other key means the agent in this process. */
static bool is_plain(struct campaign_node n, const struct launch_options *o)
{
    return o->kind == LAUNCH_LOCAL && campaign_node_count(n) == 1;
}

static bool read_launcher(struct campaign_reader *r, struct campaign_node n)
{
    struct launch_options *o = r->campaign->launch;
    struct strbuf why = {0};
    if (!read_kind(r, n)) return false;
    if (!campaign_read_map(n, kinds[o->kind].what, kinds[o->kind].keys, kinds[o->kind].n, r)) return false;
    return is_plain(n, o) || launch_options_check(o, &why) || refuse(r, n, &why);
}

bool campaign_read_launcher(struct campaign_reader *r, struct campaign_node n)
{
    struct campaign *c = r->campaign;
    if (campaign_node_kind(n) != CAMPAIGN_MAP)
        return campaign_node_error(n, r->diag, "a launcher must be a map of keys, not %s",
                                   campaign_node_kind_name(n));
    c->launcher = n;
    c->launch = arena_alloc(c->arena, sizeof *c->launch);
    bool ok = read_launcher(r, n);
    if (!ok || is_plain(n, c->launch)) c->launch = NULL;
    return ok;
}

bool campaign_check_launcher(struct campaign_reader *r)
{
    const struct campaign *c = r->campaign;
    if (!c->launch || c->listen || c->launch->kind == LAUNCH_LOCAL) return true;
    return campaign_node_error(c->launcher, r->diag,
                               "agents of kind %s need 'listen: tcp://0.0.0.0:PORT' and 'keys: DIR'",
                               launch_kind_name(c->launch->kind));
}

const struct launch_options *campaign_launch_options(const struct campaign *c)
{
    return c->launch;
}
