/* Settings are read by their names in the order in which tune.c and tune_command.c print them. A value may
 * have spaces: it ends where the name of a later setting begins. What was misread shows when the settings are
 * printed again and compared (tune.c). */
#include "coordinator/replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/recorded.h"
#include "coordinator/tune.h"
#include "coordinator/tune_command.h"
#include "core/base/arena.h"
#include "core/base/diag.h"

enum { MOST_PINS = 512 };

/* ---- settings ---- */

static const char *const names[] = {
    " order=", " bound=", " prior=", STORE_PARAMETERS, RECORDED_SETTING, " distance=", " text=",
    " audit=", " pin=",   " input=", " reference=",    " tolerance=",    STORE_FILES,  STORE_DESCRIPTION};

/* Where the value that begins at `from` ends. */
static const char *end_of(const char *from)
{
    const char *end = from + strlen(from);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *at = strstr(from, names[i]);
        if (at && at < end) end = at;
    }
    return end;
}

/* The value of a setting; NULL: the run has none. */
static const char *value_of(struct arena *a, const char *settings, const char *name)
{
    const char *at = strstr(settings, name);
    if (!at) return NULL;
    at += strlen(name);
    return arena_strndup(a, at, (size_t)(end_of(at) - at));
}

static double number_of(struct arena *a, const char *settings, const char *name)
{
    const char *value = value_of(a, settings, name);
    return value ? strtod(value, NULL) : 0;
}

static const char *or_null(const char *text)
{
    return text && *text ? text : NULL;
}

/* Returns how many there are. */
static unsigned read_pins(struct arena *a, const char *settings, const char *pins[MOST_PINS])
{
    static const char pin[] = " pin=";
    unsigned n = 0;
    for (const char *at = strstr(settings, pin); at && n < MOST_PINS; at = strstr(at, pin)) {
        at += strlen(pin);
        pins[n++] = arena_strndup(a, at, (size_t)(end_of(at) - at));
    }
    return n;
}

/* ---- a program ---- */

static bool read_options(struct arena *a, const char *settings, struct tune_options *o, struct diag *d)
{
    const char *parameters = value_of(a, settings, STORE_PARAMETERS),
               *prior = value_of(a, settings, " prior=");
    o->heuristic = or_null(value_of(a, settings, "heuristic="));
    o->order = or_null(value_of(a, settings, " order="));
    o->no_bound = number_of(a, settings, " bound=") <= 0;
    o->no_prior = !prior || strspn(prior, "0") == strlen(prior);
    o->distance = number_of(a, settings, " distance=");
    o->most_text_bytes = (size_t)number_of(a, settings, " text=");
    o->audit_cuts = number_of(a, settings, " audit=");
    return !parameters || bb_parse_parameters(parameters, &o->lowering, d);
}

bool replay_program(const struct replay_options *r, const struct store_run *run, const struct device *dev,
                    struct session_replayed *out, struct diag *d)
{
    struct arena *a = arena_new();
    const char *pins[MOST_PINS];
    struct tune_options o = {.path = run->path,
                             .text = run->text,
                             .sizes = run->sizes,
                             .seed = run->seed,
                             .store = r->store,
                             .replays = run,
                             .stands_for = dev,
                             .description = r->description,
                             .resume = true,
                             .quiet = true,
                             .pins = pins,
                             .stop_fd = r->stop_fd};
    o.n_pins = read_pins(a, run->settings, pins);
    struct tune *t = read_options(a, run->settings, &o, d) ? tune_new(&o, d) : NULL;
    bool ok = t && tune_replay(t, out, d);
    tune_free(t);
    arena_free(a);
    return ok;
}

/* ---- a space ---- */

/* The command comes first and may contain anything: the heuristic is behind the last of that name. */
static const char *behind_command(const char *settings)
{
    static const char name[] = " heuristic=";
    const char *last = NULL;
    for (const char *at = strstr(settings, name); at; at = strstr(at + 1, name))
        last = at;
    return last ? last + 1 : settings;
}

bool replay_space(const struct replay_options *r, const struct store_run *run, const struct space *space,
                  struct session_replayed *out, struct diag *d)
{
    struct arena *a = arena_new();
    const char *pins[MOST_PINS], *settings = behind_command(run->settings);
    unsigned n = read_pins(a, settings, pins);
    struct space_state *root = space_pinned_root(space, pins, n, d);
    const struct tune_command_options o = {.path = run->path,
                                           .parameters = run->sizes,
                                           .root = root,
                                           .heuristic = or_null(value_of(a, settings, "heuristic=")),
                                           .order = or_null(value_of(a, settings, " order=")),
                                           .seed = run->seed,
                                           .store = r->store,
                                           .resume = true,
                                           .quiet = true,
                                           .replays = run,
                                           .stop_fd = r->stop_fd};
    bool ok = root && tune_command_replay(&o, out, d);
    space_state_free(root);
    arena_free(a);
    return ok;
}
