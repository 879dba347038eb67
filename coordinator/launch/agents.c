/* Agents that are processes: when each is started, and what its end means.
 *
 *     WAITS --start_ms--> RUNS --status 0, 2--> OVER
 *       ^                   |
 *       +---- other ends ---+   after 1, 2, 4 s; a fourth in a row: OVER
 *
 * Status 0: the coordinator has said bye. Status 2: the command line or the machine is wrong, which time does
 * not heal. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "coordinator/launch/launch_state.h"
#include "coordinator/limits.h"
#include "core/base/clock.h"

enum { BAD_USAGE = 2 };

static void fail(struct launch *l, struct launch_agent *a, const char *why)
{
    if (a->failures++ < LIMIT_RESTARTS) {
        int64_t wait = (int64_t)LIMIT_AGAIN_MS << (a->failures - 1);
        a->state = LAUNCH_WAITS;
        a->start_ms = clock_ms() + wait;
        launch_add_event(l, LAUNCH_AGAIN, a->name, "agent %s ended: %s; it is started again (%u of %d)",
                         a->name, why, a->failures, LIMIT_RESTARTS);
        return;
    }
    a->state = LAUNCH_OVER;
    launch_add_event(l, LAUNCH_FAILED, a->name, "agent %s ended %d times: %s", a->name, LIMIT_RESTARTS + 1,
                     why);
}

static void judge(struct launch *l, struct launch_agent *a)
{
    struct strbuf why = {0};
    int status = a->process.status;
    process_reason(&a->process, &why);
    if (clock_ms() - a->start_ms >= LIMIT_SOUND_MS) a->failures = 0;
    bool usage =
        WIFEXITED(status) && (WEXITSTATUS(status) == BAD_USAGE || WEXITSTATUS(status) == PROCESS_NEVER);
    if (process_succeeded(&a->process)) {
        a->state = LAUNCH_OVER;
        launch_add_event(l, LAUNCH_ENDED, a->name, "agent %s left", a->name);
    } else if (usage) {
        a->state = LAUNCH_OVER;
        launch_add_event(l, LAUNCH_FAILED, a->name, "agent %s cannot work: %s", a->name, why.text);
    } else {
        fail(l, a, why.text);
    }
    strbuf_free(&why);
    process_end(&a->process);
}

static void begin(struct launch *l, struct launch_agent *a,
                  bool (*start)(struct launch *l, struct launch_agent *a))
{
    if (!start(l, a)) {
        fail(l, a, strerror(errno));
        return;
    }
    a->state = LAUNCH_RUNS;
    a->start_ms = clock_ms();
    launch_add_event(l, LAUNCH_STARTED, a->name, "agent %s started", a->name);
}

void launch_agents_turn(struct launch *l, bool (*start)(struct launch *l, struct launch_agent *a))
{
    for (unsigned i = 0; i < l->n_agents; i++) {
        struct launch_agent *a = &l->agents[i];
        if (a->state == LAUNCH_RUNS && process_turn(&a->process))
            judge(l, a);
        else if (a->state == LAUNCH_WAITS && clock_ms() >= a->start_ms)
            begin(l, a, start);
    }
}

unsigned launch_agents_left(const struct launch *l)
{
    unsigned n = 0;
    for (unsigned i = 0; i < l->n_agents; i++)
        n += l->agents[i].state != LAUNCH_OVER;
    return n;
}

void launch_agents_end(struct launch *l, int timeout_ms)
{
    int64_t end = clock_ms() + timeout_ms;
    for (unsigned i = 0; i < l->n_agents; i++) {
        struct launch_agent *a = &l->agents[i];
        int64_t rest = end - clock_ms();
        if (a->state == LAUNCH_RUNS) process_wait(&a->process, rest > 0 ? (int)rest : 0);
        process_end(&a->process);
        a->state = LAUNCH_OVER;
    }
}
