/* Who may run: one runner of this evaluator at a time, and one evaluator of the machine (device_lock.h). On a
 * CPU device everything else that uses its processors stands still meanwhile: the other runners of this
 * evaluator, and those of the others, which see the lock and stop theirs. A stopped runner's kill time moves
 * on by as long as it stood still. */
#include <math.h>
#include <signal.h>

#include "agent/evaluate_state.h"
#include "agent/limits.h"
#include "core/base/clock.h"

static void stop_others(struct evaluator *ev)
{
    for (unsigned i = 0; i < ev->n_slots; i++) {
        struct slot *s = &ev->slots[i];
        if (s == ev->holder || s->pid <= 0 || s->stopped_at > 0) continue;
        kill(s->pid, SIGSTOP);
        s->stopped_at = clock_now_ms();
    }
}

static void continue_all(struct evaluator *ev)
{
    for (unsigned i = 0; i < ev->n_slots; i++) {
        struct slot *s = &ev->slots[i];
        if (!(s->stopped_at > 0)) continue;
        double stood = clock_now_ms() - s->stopped_at;
        kill(s->pid, SIGCONT);
        evaluate_excuse(s, stood);
        s->stopped_at = 0;
    }
}

void evaluate_unlock(struct evaluator *ev, const struct slot *s)
{
    if (ev->holder != s) return;
    ev->holder = NULL;
    continue_all(ev);
    if (!ev->keeps) device_lock_release(ev->lock);
}

static struct slot *longest_waiting(struct evaluator *ev)
{
    struct slot *first = NULL;
    for (unsigned i = 0; i < ev->n_slots; i++) {
        struct slot *s = &ev->slots[i];
        if (s->pid > 0 && s->state == WAITING && (!first || s->ticket < first->ticket)) first = s;
    }
    return first;
}

/* Whether the device is this evaluator's, and on a CPU the others' runners had time to stop. */
static bool take_device(struct evaluator *ev)
{
    if (!device_lock_held(ev->lock)) {
        if (!device_lock_try(ev->lock)) return false;
        ev->locked_at = clock_now_ms();
    }
    return ev->gpu || !device_lock_others_work(ev->lock) ||
           clock_now_ms() - ev->locked_at >= AGENT_LOCK_GRACE_MS;
}

void evaluate_grant(struct evaluator *ev)
{
    device_lock_renew(ev->lock);
    if (ev->holder) return;
    struct slot *next = longest_waiting(ev);
    if (!next && !ev->keeps) device_lock_release(ev->lock);
    if (!next || !take_device(ev)) return;
    ev->paused = false;
    continue_all(ev);
    ev->holder = next;
    if (!ev->gpu) stop_others(ev);
    next->state = RUNNING;
    evaluate_begin_launch(ev, next);
    child_send(next->fd, RUNNER_GO, NULL, 0);
}

/* Whether any runner starts or builds, or would if it were not stopped. */
static bool any_at_work(const struct evaluator *ev)
{
    for (unsigned i = 0; i < ev->n_slots; i++) {
        const struct slot *s = &ev->slots[i];
        if (s->pid > 0 && (s->state == STARTING || s->state == BUILDING)) return true;
    }
    return false;
}

void evaluate_heed(struct evaluator *ev)
{
    if (ev->gpu || !ev->lock || ev->holder) return;
    bool work = any_at_work(ev) || ev->waiting.first;
    bool pause = work && !device_lock_held(ev->lock) && device_lock_busy(ev->lock);
    if (pause) stop_others(ev);
    if (ev->paused && !pause) continue_all(ev);
    ev->paused = pause;
    device_lock_work(ev->lock, work && !pause);
}

double evaluate_next_look(const struct evaluator *ev)
{
    if (!ev->lock) return INFINITY;
    if (ev->holder) return clock_now_ms() + AGENT_LOCK_RENEW_MS;
    bool waits = false;
    for (unsigned i = 0; i < ev->n_slots; i++)
        waits = waits || ev->slots[i].state == WAITING;
    bool looks = waits || (!ev->gpu && (any_at_work(ev) || ev->paused));
    if (looks) return clock_now_ms() + AGENT_LOCK_LOOK_MS;
    return device_lock_held(ev->lock) ? clock_now_ms() + AGENT_LOCK_RENEW_MS : INFINITY;
}
