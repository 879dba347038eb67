/* Checks searches one by one. The parts of thresh that find an error name the place in the program, or an
 * option; here the place in the campaign file is put before it:
 *
 *     night.yaml:7:13: error: matmul.lift:2:9: size 'N' is 0; sizes must be at least 1
 *
 * After an error in a program its other sizes are not tried, since they would fail in the same way. */
#include "coordinator/campaign/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/fits.h"
#include "coordinator/baseline.h"
#include "coordinator/learn.h"
#include "core/base/arena.h"
#include "core/base/strbuf.h"
#include "core/pipeline/problem.h"
#include "mcts/heuristic.h"
#include "mcts/order.h"

static const char error_word[] = "error: ";

static const char *without_word(const char *message)
{
    return message + (strncmp(message, error_word, strlen(error_word)) ? 0 : strlen(error_word));
}

/* ---- devices ---- */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

const struct campaign_device *campaign_device_of(const struct campaign_devices *d,
                                                 const struct campaign_search *s)
{
    for (unsigned i = 0; i < d->n; i++)
        if (same_text(d->items[i].selector, s->device)) return &d->items[i];
    return NULL;
}

static struct campaign_device find_device(const char *selector)
{
    struct campaign_device found = {.selector = selector};
    struct diag *d = diag_new();
    found.found = device_select(selector, &found.device, d);
    if (!found.found && diag_count(d))
        snprintf(found.why, sizeof found.why, "%s", without_word(diag_message(d, 0)));
    diag_free(d);
    return found;
}

struct campaign_devices campaign_find_devices(const struct campaign *c)
{
    struct campaign_devices d = {.items = base_calloc(c->n_searches + 1, sizeof *d.items)};
    for (unsigned i = 0; i < c->n_searches; i++)
        if (!campaign_device_of(&d, &c->searches[i])) d.items[d.n++] = find_device(c->searches[i].device);
    return d;
}

void campaign_devices_free(struct campaign_devices *d)
{
    free(d->items);
    *d = (struct campaign_devices){0};
}

bool campaign_require_devices(const struct campaign *c, const struct campaign_devices *devices,
                              struct diag *d)
{
    bool all = true;
    for (unsigned i = 0; i < devices->n; i++) {
        const struct campaign_device *device = &devices->items[i];
        unsigned k = 0;
        while (!same_text(c->searches[k].device, device->selector))
            k++;
        if (!device->found) diag_error(d, c->searches[k].at, "%s", device->why);
        all = all && device->found;
    }
    return all;
}

/* ---- searches ---- */

/* A message of another part of thresh in the words of a campaign file: without a second "error:", and about
 * its key instead of the option. */
static void adapt(const char *message, struct strbuf *out)
{
    static const char option[] = "; add --size ";
    const char *text = without_word(message), *second = strstr(text, ": error: "),
               *add = strstr(text, option);
    if (second) {
        strbuf_addn(out, text, (size_t)(second + 2 - text));
        text = second + strlen(": error: ");
    }
    strbuf_addn(out, text, add && add > text ? (size_t)(add - text) : strlen(text));
    if (add && add > text) strbuf_add(out, "; add it to 'sizes'");
}

/* Adds errors of `from` at a place; returns whether there were none. */
static bool relay(const struct diag *from, struct source_pos at, struct diag *d)
{
    for (size_t i = 0; i < diag_count(from) && i < DIAG_MAX; i++) {
        struct strbuf text = {0};
        adapt(diag_message(from, i), &text);
        diag_error(d, at, "%s", text.text);
        strbuf_free(&text);
    }
    return diag_count(from) == 0;
}

static bool check_program(const struct campaign_search *s, struct diag *d)
{
    struct diag *own = diag_new();
    const struct bb_options lowering = campaign_lowering(&s->settings);
    problem_check(s->path, s->text, s->sizes, &lowering, own);
    bool ok = relay(own, s->at_sizes, d);
    diag_free(own);
    return ok;
}

static bool check_pins(const struct campaign_search *s, const struct problem *p, struct diag *d)
{
    struct diag *own = diag_new();
    space_state_free(space_pinned_root(p->space, s->settings.pins, s->settings.n_pins, own));
    bool ok = relay(own, s->at_pins, d);
    diag_free(own);
    return ok;
}

static bool check_order(const struct campaign_search *s, const struct problem *p, struct diag *d)
{
    struct mcts_order order = {0};
    struct diag *own = diag_new();
    mcts_order_parse(p->space, s->settings.order, &order, own);
    mcts_order_free(&order);
    bool ok = relay(own, s->at_order, d);
    diag_free(own);
    return ok;
}

static bool check_data(const struct campaign_search *s, const struct problem *p, struct diag *d)
{
    const struct given_files files = campaign_data(&s->settings);
    struct diag *own = diag_new();
    given_look(&files, p->program, own);
    bool ok = relay(own, s->at_data, d);
    diag_free(own);
    return ok;
}

static bool check_baselines(const struct campaign *c, const struct campaign_search *s,
                            const struct problem *p, struct diag *d)
{
    struct diag *own = diag_new();
    if (s->settings.n_baselines > 0 && (c->listen || campaign_launch_options(c)))
        diag_plain(own, "baseline does not apply with agents of other processes: they accept no OpenCL text; "
                        "leave out 'listen' and 'launcher'");
    for (unsigned i = 0; i < s->settings.n_baselines; i++) {
        struct baseline b;
        if (baseline_read(s->settings.baselines[i], p->program, &b, own)) baseline_clear(&b);
    }
    bool ok = relay(own, s->at_baseline, d);
    diag_free(own);
    return ok;
}

/* Once for each kernel: its searches name the same stores. */
static bool check_stores(const struct campaign *c, unsigned i, struct diag *d)
{
    const struct campaign_search *s = &c->searches[i];
    if (i > 0 && c->searches[i - 1].kernel == s->kernel) return true;
    struct diag *own = diag_new();
    learn_check(s->settings.learn_from, s->settings.n_learn_from, c->store, own);
    bool ok = relay(own, s->at_learn_from, d);
    diag_free(own);
    return ok;
}

static bool check_space(const struct campaign *c, const struct campaign_search *s,
                        const struct campaign_device *device, struct work *work, struct diag *d)
{
    const struct bb_device *limits = device->found ? &device->device.limits : &problem_any_device;
    struct diag *own = diag_new();
    const struct bb_options lowering = campaign_lowering(&s->settings);
    struct problem *p = problem_new(s->path, s->text, s->sizes, limits, &lowering, own);
    if (p && device->found) fits_device(p, &device->device, own);
    bool ok = relay(own, s->at_sizes, d) && p;
    if (ok) *work = work_of(p->backbone);
    ok = ok && check_pins(s, p, d) && check_order(s, p, d) && check_data(s, p, d) &&
         check_baselines(c, s, p, d);
    problem_free(p);
    diag_free(own);
    return ok;
}

/* Whether an earlier search has the same heuristic, which was tried then. */
static bool was_tried(const struct campaign *c, unsigned i)
{
    for (unsigned k = 0; k < i; k++)
        if (same_text(c->searches[k].settings.heuristic, c->searches[i].settings.heuristic)) return true;
    return false;
}

static bool check_heuristics(const struct campaign *c, struct diag *d)
{
    bool ok = true;
    for (unsigned i = 0; i < c->n_searches; i++) {
        const struct campaign_search *s = &c->searches[i];
        struct diag *own = diag_new();
        if (s->settings.heuristic && !was_tried(c, i)) mcts_heuristic_try(s->settings.heuristic, own);
        ok = relay(own, s->at, d) && ok;
        diag_free(own);
    }
    return ok;
}

bool campaign_check(const struct campaign *c, const struct campaign_devices *devices, struct work *works,
                    struct diag *d)
{
    bool ok = check_heuristics(c, d);
    unsigned broken = UINT32_MAX; /* the kernel of the last error */
    for (unsigned i = 0; i < c->n_searches; i++) {
        const struct campaign_search *s = &c->searches[i];
        struct work ignored;
        if (s->kernel == broken) continue;
        bool sound = check_stores(c, i, d) && check_program(s, d) &&
                     check_space(c, s, campaign_device_of(devices, s), works ? &works[i] : &ignored, d);
        if (!sound) broken = s->kernel;
        ok = ok && sound;
    }
    return ok;
}
