/* Agents on a list of hosts, over ssh. A host is made ready first, unless there is no bundle:
 *
 *     CHECKED --it has the bundle--> READY          ssh HOST 'test -x .../HASH/thresh'
 *        |                             |
 *        +--it has not--> COPIED ------+            tar | ssh HOST 'tar -x, rename'
 *
 * Then each of its agents is an ssh of its own. The remote script reads the key from the connection into a
 * file of mode 0600, starts the agent, and waits for the connection to end, whereupon the agent gets SIGTERM:
 * no agent stays behind when the coordinator, its machine or the network is gone. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coordinator/launch/launch_state.h"
#include "coordinator/limits.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/shell.h"

enum { SSH_WORDS = 16, NOT_THERE = 1, KEY_BYTES = 4096 };

enum host_state { HOST_NEW, HOST_CHECKED, HOST_COPIED, HOST_READY, HOST_LOST };

struct ssh_host {
    enum host_state state;
    struct process process, tar; /* of the step */
    unsigned failures;
    int64_t again_ms; /* not before */
};

struct ssh {
    struct ssh_host *hosts; /* as in the options */
    const char *bundle;     /* its name; NULL: none */
    const char *key;        /* text of the key; "": none */
};

/* ---- remote scripts ---- */

/* Where a bundle is; the remote shell expands it. */
static const char place[] = "\"${XDG_CACHE_HOME:-$HOME/.cache}/thresh/";

/* ssh HOST sh -c SCRIPT; ssh hands over a line, which the user's shell there divides into words again. */
static char **ssh_words(struct launch *l, const char *host, const char *script)
{
    size_t n;
    struct strbuf line = {0};
    char **words = launch_split_words(l, l->options.ssh ? l->options.ssh : "ssh", SSH_WORDS, &n);
    strbuf_add(&line, "exec sh -c ");
    shell_add_word(&line, script);
    words[n++] = "-T";
    words[n++] = "-o";
    words[n++] = "BatchMode=yes";
    words[n++] = "-o";
    words[n++] = "ConnectTimeout=20";
    words[n++] = "-o";
    words[n++] = "ServerAliveInterval=15";
    words[n++] = "--";
    words[n++] = (char *)host;
    words[n++] = arena_strdup(l->arena, line.text);
    strbuf_free(&line);
    return words;
}

static char *check_script(struct launch *l)
{
    return arena_printf(l->arena, "test -x %s%s/thresh\" || exit %d", place, l->ssh->bundle, NOT_THERE);
}

/* The folder appears whole or not at all, also if two hosts share their home. */
static char *copy_script(struct launch *l)
{
    return arena_printf(
        l->arena,
        "set -e; d=%s%s\"; n=\"$d.new.$(hostname).$$\"; mkdir -p \"$n\"; tar -x -f - -C \"$n\"; mv -T "
        "\"$n\" \"$d\" 2>/dev/null || rm -rf \"$n\"; test -x \"$d/thresh\"",
        place, l->ssh->bundle);
}

/* The program with its libraries, as words of the script. */
static void add_program(struct launch *l, struct strbuf *b)
{
    const char *bundle = l->ssh->bundle;
    if (l->options.program)
        shell_add_word(b, l->options.program);
    else if (bundle)
        strbuf_printf(b, "env LD_LIBRARY_PATH=%s%s\" %s%s/thresh\"", place, bundle, place, bundle);
    else
        strbuf_add(b, "thresh");
}

/* Standard input is kept as 3: what a shell starts in the background reads nothing. */
static char *agent_script(struct launch *l, const struct launch_host *h)
{
    struct strbuf b = {0};
    size_t key = strlen(l->ssh->key);
    char **words = launch_agent_words(l, "", NULL, h->device ? h->device : l->options.device);
    strbuf_add(&b, "umask 077; exec 3<&0; k=; ");
    if (key)
        strbuf_printf(&b, "k=$(mktemp -d) || exit 1; dd bs=1 count=%zu of=\"$k/key\" 2>/dev/null || exit 1; ",
                      key);
    add_program(l, &b);
    strbuf_add(&b, " ");
    launch_add_words(&b, words + 1);
    if (key) strbuf_add(&b, " --key \"$k/key\"");
    strbuf_add(&b, " </dev/null 3<&- & a=$!; (cat <&3; kill -TERM $a) >/dev/null 2>&1 & w=$!; exec 3<&-; "
                   "trap 'kill -TERM $a' TERM HUP INT; wait $a; s=$?; kill $w 2>/dev/null; "
                   "test -z \"$k\" || rm -rf \"$k\"; exit $s");
    char *script = arena_strdup(l->arena, b.text);
    strbuf_free(&b);
    return script;
}

/* ---- hosts ---- */

static struct ssh_host *host_of(const struct launch *l, unsigned i)
{
    return &l->ssh->hosts[i];
}

static const char *host_name(const struct launch *l, unsigned i)
{
    return l->options.hosts[i].name;
}

static bool start_check(struct launch *l, unsigned i)
{
    char **words = ssh_words(l, host_name(l, i), check_script(l));
    return process_start(&host_of(l, i)->process, words, PROCESS_NONE, PROCESS_KEPT);
}

/* tar writes into the pipe that ssh reads. */
static bool start_copy(struct launch *l, unsigned i)
{
    struct ssh_host *h = host_of(l, i);
    char *tar[] = {"tar", "-c", "-h", "-f", "-", "-C", (char *)l->options.bundle, ".", NULL};
    int ends[2];
    if (pipe(ends)) return false;
    bool ok =
        process_start(&h->tar, tar, PROCESS_NONE, ends[1]) &&
        process_start(&h->process, ssh_words(l, host_name(l, i), copy_script(l)), ends[0], PROCESS_KEPT);
    close(ends[0]);
    close(ends[1]);
    return ok;
}

static void lose_agents(struct launch *l, unsigned host, const char *why)
{
    for (unsigned i = 0; i < l->n_agents; i++) {
        struct launch_agent *a = &l->agents[i];
        if (a->host != host || a->state == LAUNCH_OVER) continue;
        a->state = LAUNCH_OVER;
        launch_add_event(l, LAUNCH_FAILED, a->name, "agent %s cannot be started: %s", a->name, why);
    }
}

/* A step of a host has failed: from the beginning, some times. */
static void fail_host(struct launch *l, unsigned i, const char *why)
{
    struct ssh_host *h = host_of(l, i);
    process_end(&h->process);
    process_end(&h->tar);
    h->state = HOST_NEW;
    if (h->failures++ < LIMIT_RESTARTS) {
        h->again_ms = clock_ms() + ((int64_t)LIMIT_AGAIN_MS << (h->failures - 1));
        launch_add_event(l, LAUNCH_NEWS, host_name(l, i), "%s: %s; trying again (%u of %d)", host_name(l, i),
                         why, h->failures, LIMIT_RESTARTS);
        return;
    }
    h->state = HOST_LOST;
    lose_agents(l, i, why);
}

/* Its agents may start. */
static void make_ready(struct launch *l, unsigned host)
{
    host_of(l, host)->state = HOST_READY;
    for (unsigned i = 0; i < l->n_agents; i++)
        if (l->agents[i].host == host) l->agents[i].start_ms = 0;
}

static void begin_step(struct launch *l, unsigned i, enum host_state state,
                       bool (*start)(struct launch *l, unsigned i))
{
    if (start(l, i))
        host_of(l, i)->state = state;
    else
        fail_host(l, i, strerror(errno));
}

/* ssh ends with the status of the script, or with 255. */
static void end_step(struct launch *l, unsigned i)
{
    struct ssh_host *h = host_of(l, i);
    struct strbuf why = {0};
    bool ok = process_succeeded(&h->process), check = h->state == HOST_CHECKED;
    bool missing = check && WIFEXITED(h->process.status) && WEXITSTATUS(h->process.status) == NOT_THERE;
    process_reason(&h->process, &why);
    if (!ok && !missing) {
        fail_host(l, i, why.text);
    } else {
        process_end(&h->process);
        process_end(&h->tar);
        if (!check)
            launch_add_event(l, LAUNCH_NEWS, host_name(l, i), "%s: copied the bundle", host_name(l, i));
        if (missing)
            begin_step(l, i, HOST_COPIED, start_copy);
        else
            make_ready(l, i);
    }
    strbuf_free(&why);
}

static void host_turn(struct launch *l, unsigned i)
{
    struct ssh_host *h = host_of(l, i);
    if (h->state == HOST_NEW && clock_ms() >= h->again_ms) {
        if (l->ssh->bundle)
            begin_step(l, i, HOST_CHECKED, start_check);
        else
            make_ready(l, i);
    } else if (h->state == HOST_CHECKED || h->state == HOST_COPIED) {
        if (h->tar.pid > 0) process_turn(&h->tar);
        if (process_turn(&h->process)) end_step(l, i);
    }
}

/* ---- agents ---- */

/* The key is less than a pipe holds. The pipe stays open: its end is the agent's. */
static bool start_agent(struct launch *l, struct launch_agent *a)
{
    const struct launch_host *h = &l->options.hosts[a->host];
    const char *key = l->ssh->key;
    if (!process_start(&a->process, ssh_words(l, h->name, agent_script(l, h)), PROCESS_OURS, PROCESS_KEPT))
        return false;
    if (write(a->process.input, key, strlen(key)) == (ssize_t)strlen(key)) return true;
    process_end(&a->process);
    return false;
}

static void make_agents(struct launch *l)
{
    const struct launch_options *o = &l->options;
    unsigned n = 0;
    for (unsigned i = 0; i < o->n_hosts; i++)
        n += o->hosts[i].agents;
    l->agents = arena_array(l->arena, n, sizeof *l->agents);
    for (unsigned i = 0; i < o->n_hosts; i++) {
        for (unsigned k = 1; k <= o->hosts[i].agents; k++) {
            struct launch_agent *a = &l->agents[l->n_agents++];
            *a = (struct launch_agent){.host = i, .start_ms = INT64_MAX};
            snprintf(a->name, sizeof a->name, "%s %u", o->hosts[i].name, k);
        }
    }
}

static bool read_key(struct launch *l, struct diag *d)
{
    size_t n;
    if (!l->key) return true;
    char *text = source_read_file(l->key, KEY_BYTES, &n, d);
    if (text) l->ssh->key = arena_strdup(l->arena, text);
    free(text);
    return text != NULL;
}

static void ssh_turn(struct launch *l)
{
    for (unsigned i = 0; i < l->options.n_hosts; i++)
        host_turn(l, i);
    launch_agents_turn(l, start_agent);
}

static bool ssh_start(struct launch *l, struct diag *d)
{
    l->ssh = arena_alloc(l->arena, sizeof *l->ssh);
    l->ssh->key = "";
    l->ssh->hosts = arena_array(l->arena, l->options.n_hosts, sizeof *l->ssh->hosts);
    if (l->options.bundle && !(l->ssh->bundle = launch_bundle_name(l, l->options.bundle, d))) return false;
    if (!read_key(l, d)) return false;
    make_agents(l);
    ssh_turn(l);
    return true;
}

/* An agent whose connection ends leaves; what is being copied stays in a folder that nobody uses. */
static void ssh_stop(struct launch *l)
{
    for (unsigned i = 0; i < l->n_agents; i++)
        process_close_input(&l->agents[i].process);
    launch_agents_end(l, LIMIT_LEAVE_MS);
}

static void ssh_free(struct launch *l)
{
    for (unsigned i = 0; l->ssh && i < l->options.n_hosts; i++) {
        process_end(&host_of(l, i)->process);
        process_end(&host_of(l, i)->tar);
    }
}

const struct launch_ops launch_ssh = {
    .start = ssh_start, .turn = ssh_turn, .stop = ssh_stop, .free = ssh_free, .left = launch_agents_left};
