/* See options.h. Each setting checks its own text; nothing of it ever reaches a shell unquoted. */
#include "coordinator/launch/options.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/limits.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/similar.h"
#include "core/base/strbuf.h"

enum { VALUE_BYTES = 4096 };

const char *launch_kind_name(enum launch_kind kind)
{
    static const char *const names[LAUNCH_KINDS] = {"local", "ssh", "slurm"};
    return names[kind];
}

bool launch_kind_find(const char *text, enum launch_kind *out)
{
    for (int kind = 0; kind < LAUNCH_KINDS; kind++) {
        if (strcmp(text, launch_kind_name((enum launch_kind)kind)) != 0) continue;
        *out = (enum launch_kind)kind;
        return true;
    }
    return false;
}

/* ---- values ---- */

static bool fail(struct strbuf *why, const char *what, const char *text, const char *rule)
{
    strbuf_printf(why, "%s is '%s'; %s", what, text, rule);
    return false;
}

/* A whole number from 1 to `most`, written with digits only. */
static bool read_count(const char *text, unsigned most, unsigned *out)
{
    size_t n = strspn(text, "0123456789");
    unsigned long value = n > 0 && n < 10 && !text[n] ? strtoul(text, NULL, 10) : 0;
    *out = (unsigned)value;
    return value >= 1 && value <= most;
}

static bool read_seconds(const char *text, double *out)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    char *end;
    double value = strtod(text, &end);
    for (size_t i = 0; end != text && isfinite(value) && value > 0 && i < sizeof units / sizeof units[0];
         i++) {
        if (strcmp(end, units[i].unit) != 0) continue;
        *out = value * units[i].seconds;
        return *out <= LIMIT_TIME_S;
    }
    return false;
}

/* ---- settings ---- */

typedef bool setter(struct launch_options *o, const char *value, struct strbuf *why);

static bool set_agents(struct launch_options *o, const char *value, struct strbuf *why)
{
    return read_count(value, LIMIT_LAUNCHED, &o->agents) ||
           fail(why, "the number of agents", value, "it must be a whole number from 1 to 4096");
}

static bool set_device(struct launch_options *o, const char *value, struct strbuf *why)
{
    (void)why;
    o->device = value;
    return true;
}

static bool set_runners(struct launch_options *o, const char *value, struct strbuf *why)
{
    unsigned n;
    o->runners = value;
    return read_count(value, AGENT_RUNNERS_MOST, &n) ||
           fail(why, "runners", value, "it must be a whole number from 1 to 16");
}

static bool set_timeout(struct launch_options *o, const char *value, struct strbuf *why)
{
    double seconds;
    o->timeout = value;
    return read_seconds(value, &seconds) ||
           fail(why, "timeout", value,
                "write a positive time with s, m, h or d, such as 30s; the maximum is 366d");
}

static bool set_program(struct launch_options *o, const char *value, struct strbuf *why)
{
    o->program = value;
    return *value != '-' || fail(why, "program", value, "it must not begin with '-'");
}

static bool set_bundle(struct launch_options *o, const char *value, struct strbuf *why)
{
    o->bundle = value;
    return *value != '-' || fail(why, "bundle", value, "it must not begin with '-'");
}

static bool set_ssh(struct launch_options *o, const char *value, struct strbuf *why)
{
    o->ssh = value;
    return value[strspn(value, " ")] || fail(why, "ssh", value, "it must have a command");
}

static bool set_address(struct launch_options *o, const char *value, struct strbuf *why)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]";
    o->address = value;
    return !value[strspn(value, allowed)] ||
           fail(why, "address", value, "it must be a host's name or address, without port");
}

static bool set_partition(struct launch_options *o, const char *value, struct strbuf *why)
{
    o->partition = value;
    return *value != '-' || fail(why, "partition", value, "it must not begin with '-'");
}

static bool set_time(struct launch_options *o, const char *value, struct strbuf *why)
{
    static const char rule[] = "write a time with m, h or d, such as 90m; from 1m to 366d";
    return (read_seconds(value, &o->time_s) && o->time_s >= 60) || fail(why, "time", value, rule);
}

/* Options that this launcher sets itself. */
static bool is_ours(const char *option)
{
    static const char *const ours[] = {"--array",     "--wrap", "--parsable", "--job-name", "--time",
                                       "--partition", "-a",     "-J",         "-t",         "-p"};
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        size_t n = strlen(ours[i]);
        bool is_long = ours[i][1] == '-';
        if (strncmp(option, ours[i], n) == 0 && (!is_long || !option[n] || option[n] == '=')) return true;
    }
    return false;
}

static bool set_option(struct launch_options *o, const char *value, struct strbuf *why)
{
    if (*value != '-')
        return fail(why, "option", value, "it must be an option of sbatch, such as --gres=gpu:1");
    if (is_ours(value)) return fail(why, "option", value, "the launcher sets this one itself");
    if (o->n_options == LAUNCH_MOST_OPTIONS) return fail(why, "option", value, "the maximum is 64 of these");
    o->options[o->n_options++] = value;
    return true;
}

enum { OF_LOCAL = 1 << LAUNCH_LOCAL, OF_SSH = 1 << LAUNCH_SSH, OF_SLURM = 1 << LAUNCH_SLURM };
enum { OF_ALL = OF_LOCAL | OF_SSH | OF_SLURM };

static const struct setting {
    const char *name;
    unsigned kinds;
    setter *set;
} settings[] = {
    {"agents", OF_LOCAL | OF_SLURM, set_agents},
    {"device", OF_ALL, set_device},
    {"runners", OF_ALL, set_runners},
    {"timeout", OF_ALL, set_timeout},
    {"program", OF_ALL, set_program},
    {"bundle", OF_SSH, set_bundle},
    {"ssh", OF_SSH, set_ssh},
    {"address", OF_SSH | OF_SLURM, set_address},
    {"partition", OF_SLURM, set_partition},
    {"time", OF_SLURM, set_time},
    {"option", OF_SLURM, set_option},
};
enum { N_SETTINGS = sizeof settings / sizeof settings[0] };

/* The names of the settings of a kind, in the table's order; returns how many. */
static size_t names_of(enum launch_kind kind, const char *out[N_SETTINGS])
{
    size_t n = 0;
    for (size_t i = 0; i < N_SETTINGS; i++)
        if (settings[i].kinds & (1u << kind)) out[n++] = settings[i].name;
    return n;
}

static bool refuse_name(enum launch_kind kind, const char *name, struct strbuf *why)
{
    const char *names[N_SETTINGS];
    size_t n = names_of(kind, names);
    const char *similar = similar_find(name, names, n);
    strbuf_printf(why, "unknown setting '%s' of a launcher of kind %s; ", name, launch_kind_name(kind));
    if (similar) strbuf_printf(why, "did you mean '%s'?", similar);
    for (size_t i = 0; i < n && !similar; i++)
        strbuf_printf(why, "%s%s", i ? ", " : "expected one of ", names[i]);
    return false;
}

/* No value has control characters: they are arguments of programs and lines of scripts. */
static bool check_value(const char *name, const char *value, struct strbuf *why)
{
    if (!*value) {
        strbuf_printf(why, "%s has no value", name);
        return false;
    }
    for (const char *c = value; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return fail(why, name, "...", "it must be without control characters");
    return strlen(value) < VALUE_BYTES || fail(why, name, "...", "it is too long");
}

bool launch_options_set(struct launch_options *o, const char *name, const char *value, struct arena *a,
                        struct strbuf *why)
{
    for (size_t i = 0; i < N_SETTINGS; i++) {
        if (strcmp(settings[i].name, name) != 0 || !(settings[i].kinds & (1u << o->kind))) continue;
        return check_value(name, value, why) && settings[i].set(o, arena_strdup(a, value), why);
    }
    return refuse_name(o->kind, name, why);
}

bool launch_options_check(const struct launch_options *o, struct strbuf *why)
{
    unsigned agents = o->agents;
    for (unsigned i = 0; i < o->n_hosts; i++)
        agents += o->hosts[i].agents;
    if (agents >= 1 && agents <= LIMIT_LAUNCHED) return true;
    if (agents)
        strbuf_printf(why, "%u agents; the maximum is %d", agents, LIMIT_LAUNCHED);
    else
        strbuf_add(why, o->kind == LAUNCH_SSH ? "no hosts are given" : "the number of agents is missing");
    return false;
}

/* ---- the form of --launch ---- */

/* The text up to a comma; *at moves past it. */
static char *next_part(const char **at, struct arena *a)
{
    struct strbuf b = {0};
    const char *c = *at;
    for (; *c && *c != ','; c++) {
        if (c[0] == '\\' && c[1] == ',') c++;
        strbuf_addn(&b, c, 1);
    }
    *at = *c ? c + 1 : c;
    char *part = arena_strndup(a, b.text ? b.text : "", b.length);
    strbuf_free(&b);
    return part;
}

static bool parse_settings(const char *rest, struct arena *a, struct launch_options *o, struct strbuf *why)
{
    while (*rest) {
        char *part = next_part(&rest, a), *equals = strchr(part, '=');
        if (!equals) return fail(why, "a setting", part, "write NAME=VALUE");
        *equals = 0;
        if (!launch_options_set(o, part, equals + 1, a, why)) return false;
    }
    return true;
}

static bool parse(const char *text, struct arena *a, struct launch_options *o, struct strbuf *why,
                  struct diag *d)
{
    size_t n = strcspn(text, ":,");
    const char *kind = arena_strndup(a, text, n), *rest = text + n;
    if (!launch_kind_find(kind, &o->kind))
        return fail(why, "the kind", kind, "write local:AGENTS, ssh:HOSTFILE or slurm:AGENTS");
    if (*rest == ':') {
        rest++;
        const char *first = next_part(&rest, a);
        if (o->kind == LAUNCH_SSH ? !launch_hosts_read(first, a, o, d)
                                  : !launch_options_set(o, "agents", first, a, why))
            return false;
    } else if (*rest) {
        rest++;
    }
    return parse_settings(rest, a, o, why) && launch_options_check(o, why);
}

bool launch_options_parse(const char *text, struct arena *a, struct launch_options *out, struct diag *d)
{
    struct strbuf why = {0};
    *out = (struct launch_options){0};
    bool ok = parse(text, a, out, &why, d);
    if (why.length) diag_plain(d, "--launch: %s", why.text);
    strbuf_free(&why);
    return ok;
}
