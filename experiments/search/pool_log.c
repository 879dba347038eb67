/* Decisions that were undone, taken again: as a list of actions, since a decision costs little here. */
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/panic.h"
#include "experiments/search/pool_state.h"

/* Actions of an entry. */
struct entry {
    struct space_action *actions;
    size_t n, room;
};

struct space_log {
    struct entry *entries;
    size_t n, made;
};

struct space_log *space_log_new(void)
{
    return base_calloc(1, sizeof(struct space_log));
}

void space_log_free(struct space_log *log)
{
    if (!log) return;
    for (size_t i = 0; i < log->made; i++)
        free(log->entries[i].actions);
    free(log->entries);
    free(log);
}

size_t space_log_length(const struct space_log *log)
{
    return log->n;
}

void space_log_cut(struct space_log *log, size_t n)
{
    if (n < log->n) log->n = n;
}

/* Restrictions are left out: an action of the same choice follows them. */
size_t space_log_keep(struct space_log *log, const struct space_state *st, space_mark since)
{
    if (log->n == log->made) {
        log->entries = base_realloc(log->entries, (log->made + 1) * sizeof *log->entries);
        log->entries[log->made++] = (struct entry){0};
    }
    struct entry *e = &log->entries[log->n];
    size_t most = st->depth - since;
    if (e->room < most) {
        e->room = 2 * most;
        e->actions = base_realloc(e->actions, e->room * sizeof *e->actions);
    }
    e->n = 0;
    for (size_t i = since + 1; i <= st->depth; i++)
        if (st->levels[i].action.slot != POOL_NO_SLOT) e->actions[e->n++] = st->levels[i].action;
    return log->n++;
}

void space_log_repeat(const struct space_log *log, size_t number, struct space_state *st)
{
    const struct entry *e = &log->entries[number];
    for (size_t i = 0; i < e->n; i++) {
        bool live = space_apply(st, e->actions[i], NULL);
        CHECK(live);
    }
}
