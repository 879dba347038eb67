/* What is stored of agents: a row for each one, with its state once a second at most, and an
 * event for everything that the user is told of it.
 *
 *     connected node1:17     agent 3 (node1:17, NVIDIA H200, 535.1)   event "connected"
 *     RESULT 17              evaluation.agent = 3
 *     no heartbeat           agent 3: lost                            event "disconnected: no heartbeat"
 *
 * If the store cannot be written, the next result says so: errors of these rows are not reported. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/agents_state.h"
#include "coordinator/limits.h"
#include "coordinator/progress.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/base/utf8.h"

static struct agents_peer *entry(struct agents *a, unsigned peer)
{
    if (peer >= a->n_peers) {
        a->peers = base_realloc(a->peers, (peer + 1) * sizeof *a->peers);
        memset(a->peers + a->n_peers, 0, (peer + 1 - a->n_peers) * sizeof *a->peers);
        a->n_peers = peer + 1;
    }
    return &a->peers[peer];
}

static void add_row(struct agents *a, unsigned peer)
{
    struct agents_peer *p = entry(a, peer);
    if (!a->store || p->id || !p->live) return;
    const struct store_agent row = {.name = roster_name(a->roster, peer),
                                    .host = p->host,
                                    .device = a->device.name,
                                    .driver = p->driver,
                                    .libraries = p->libraries};
    struct diag *d = diag_new();
    p->id = store_agent_add(a->store, &row, d);
    if (p->id) store_event_add(a->store, a->run, p->id, "connected", "", d);
    diag_free(d);
}

static void copy(char *to, const char *from, size_t n)
{
    snprintf(to, n, "%s", from);
    utf8_clean_line(to);
}

/* Times of two drivers are not those of one device: the user is told. */
static void compare_driver(struct agents *a, unsigned peer)
{
    const struct agents_peer *p = entry(a, peer);
    if (!a->driver[0] || strcmp(p->driver, a->driver) == 0) return;
    struct strbuf text = {0};
    strbuf_printf(&text, "it measures with driver '%s'; the run was begun with '%s'", p->driver, a->driver);
    agents_note(a, peer, "has another driver", text.text);
    strbuf_free(&text);
}

void agents_peer_comes(struct agents *a, unsigned peer, const struct message_hello *hello)
{
    struct agents_peer *p = entry(a, peer);
    *p = (struct agents_peer){.live = true};
    copy(p->host, hello->host, sizeof p->host);
    copy(p->driver, hello->driver, sizeof p->driver);
    copy(p->libraries, hello->libraries, sizeof p->libraries);
    add_row(a, peer);
    compare_driver(a, peer);
}

void agents_peer_answers(struct agents *a, unsigned peer)
{
    entry(a, peer)->results++;
}

int64_t agents_peer_id(struct agents *a, unsigned peer)
{
    return entry(a, peer)->id;
}

static void update_row(struct agents *a, struct agents_peer *p, const char *state)
{
    struct diag *d = diag_new();
    if (a->store && p->id) store_agent_update(a->store, p->id, state, p->running, p->results, d);
    p->stored_results = p->results;
    p->stored_running = p->running;
    diag_free(d);
}

void agents_peer_goes(struct agents *a, unsigned peer, const char *state)
{
    struct agents_peer *p = entry(a, peer);
    if (!p->live) return;
    p->live = false;
    p->running = 0;
    update_row(a, p, state);
}

static bool has_changed(const struct agents_peer *p)
{
    return p->live && (p->results != p->stored_results || p->running != p->stored_running);
}

/* In one transaction; where that is not possible now, what has changed is written a second later. */
static void store_changes(struct agents *a)
{
    unsigned i = 0;
    while (i < a->n_peers && !has_changed(&a->peers[i]))
        i++;
    if (i == a->n_peers) return;
    struct diag *d = diag_new();
    bool open = store_begin(a->store, a->run, d);
    for (; open && i < a->n_peers; i++)
        if (has_changed(&a->peers[i])) update_row(a, &a->peers[i], a->peers[i].running ? "working" : "idle");
    if (open) store_commit(a->store, d);
    diag_free(d);
}

void agents_peers_store(struct agents *a)
{
    int64_t now = clock_ms();
    if (!a->store || now - a->stored_ms < LIMIT_AGENT_ROWS_MS) return;
    a->stored_ms = now;
    for (unsigned i = 0; i < a->n_peers; i++)
        a->peers[i].running = 0;
    for (const struct agents_job *j = a->jobs; j; j = j->hh.next)
        if (j->peer != AGENTS_NOBODY) entry(a, (unsigned)j->peer)->running++;
    store_changes(a);
}

void agents_peer_event(struct agents *a, unsigned peer, const char *what, const char *reason)
{
    if (!a->store) return;
    struct diag *d = diag_new();
    store_event_add(a->store, a->run, agents_peer_id(a, peer), what, reason ? reason : "", d);
    diag_free(d);
}

/* The first ones are all stored, then one a second: an agent may send any number of them. */
void agents_late_result(struct agents *a, unsigned peer, int64_t number, bool settled)
{
    char text[96];
    int64_t now = clock_ms();
    if (a->late++ >= LIMIT_EVENTS && now - a->late_ms < LIMIT_EVENTS_MS) return;
    a->late_ms = now;
    snprintf(text, sizeof text, "job %lld %s", (long long)number,
             settled ? "is settled, or was never sent" : "is another agent's");
    agents_peer_event(a, peer, "late result", text);
}

void agents_connection_refused(struct agents *a, const char *line)
{
    if (!a->store) return;
    struct diag *d = diag_new();
    store_event_add(a->store, a->run, 0, "connection refused", line, d);
    diag_free(d);
}

void agents_record(struct agents *a, struct store *store, int64_t run)
{
    struct diag *d = diag_new();
    a->store = store;
    a->run = run;
    if (store) store_run_driver(store, run, a->driver, sizeof a->driver, d);
    for (unsigned i = 0; i < a->n_peers; i++) {
        add_row(a, i);
        if (a->peers[i].live) compare_driver(a, i);
    }
    diag_free(d);
}

void agents_peers_end(struct agents *a)
{
    for (unsigned i = 0; i < a->n_peers; i++)
        agents_peer_goes(a, i, "done");
}
