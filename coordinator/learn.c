/* From rows of stores to contenders; see learn.h. A row has values of choices as numbers, which mean
 * something only in the space of its own program, sizes and device: that problem is made again, the row is
 * replayed in it, and what it decided is carried over by names. A row whose space cannot be made here as it
 * was (another version of thresh, a device that is neither here nor described) is left out. */
#include "coordinator/learn.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/described.h"
#include "coordinator/learn_rows.h"
#include "coordinator/store.h"
#include "coordinator/transfer.h"
#include "core/base/arena.h"
#include "core/base/strbuf.h"
#include "core/pipeline/code.h"

enum { WHY = 256 };

void learned_clear(struct learned *l)
{
    free(l->label);
    space_state_free(l->leaf);
    *l = (struct learned){0};
}

static char *label_of(unsigned i)
{
    struct strbuf b = {0};
    strbuf_printf(&b, "learned %u", i + 1);
    return strbuf_take(&b);
}

bool learn_check(const char *const *stores, unsigned n, const char *own_path, struct diag *d)
{
    bool ok = true;
    for (unsigned i = 0; i < n; i++) {
        if (own_path && strcmp(stores[i], own_path) == 0 && access(own_path, F_OK)) continue;
        struct store *s = store_open_to_read(stores[i], d);
        ok = ok && s;
        store_close(s);
    }
    return ok;
}

/* ---- the problem of a row ---- */

/* The problem that rows are of, kept while they are of the same run. */
struct origin {
    const struct learn_row *of; /* a row of the run; NULL: none yet */
    struct problem *problem;    /* NULL: it cannot be made here */
};

/* NULL: the space is not the one that was recorded. */
static struct problem *open_with(const struct learn_row *r, const struct bb_device *limits)
{
    struct diag *ignored = diag_new();
    struct bb_options lowering = {0};
    struct problem *p = NULL;
    if (!*r->parameters || bb_parse_parameters(r->parameters, &lowering, ignored))
        p = problem_new(r->path, r->text, r->sizes, limits, &lowering, ignored);
    diag_free(ignored);
    if (!p || p->fingerprint == r->fingerprint) return p;
    problem_free(p);
    return NULL;
}

/* With the limits of the search's device, or with those of the row's, if it is here or described. */
static struct problem *open_problem(const struct learn_row *r, const struct learn_wanted *w)
{
    struct device other;
    struct diag *ignored = diag_new();
    struct problem *p = open_with(r, &w->device->limits);
    if (!p && strcmp(r->device, w->device->name) != 0 && described_find(r->device, &other, ignored))
        p = open_with(r, &other.limits);
    diag_free(ignored);
    return p;
}

static const struct problem *origin_of(struct origin *o, const struct learn_row *r,
                                       const struct learn_wanted *w)
{
    if (o->of && o->of->run == r->run && strcmp(o->of->store, r->store) == 0) return o->problem;
    problem_free(o->problem);
    *o = (struct origin){r, open_problem(r, w)};
    return o->problem;
}

static struct space_state *replay(const struct problem *p, const char *text)
{
    struct space_action *actions;
    const char *why;
    size_t n;
    if (!store_actions_parse(text, &actions, &n)) return NULL;
    struct space_state *leaf = problem_replay(p, actions, n, &why);
    free(actions);
    return leaf;
}

/* ---- contenders ---- */

static bool is_known(const struct learn_wanted *w, const struct learned out[LIMIT_LEARNED], uint64_t hash)
{
    bool known = false;
    for (unsigned i = 0; i < w->n_known; i++)
        known = known || w->known[i] == hash;
    for (unsigned i = 0; i < LIMIT_LEARNED; i++)
        known = known || (out[i].label && out[i].kernel_hash == hash);
    return known;
}

/* The hash of its text; false: the code generator does not know it, or its text is too long. */
static bool lower(const struct problem *p, const struct space_state *leaf, size_t most_bytes, uint64_t *hash)
{
    struct pipeline_code code;
    char why[WHY];
    if (!pipeline_lower(p, leaf, &code, why, sizeof why)) return false;
    bool fits = code.kernel.unrolled <= most_bytes;
    *hash = code.hash;
    pipeline_code_clear(&code);
    return fits;
}

static void note(const struct learn_row *r, const struct transfer *t, const char *label, struct strbuf *notes)
{
    strbuf_printf(
        notes, "%s: from %s on %s (%s, run %" PRId64 ", implementation %" PRId64 "): %u of %u decisions\n",
        label, *r->sizes ? r->sizes : "no sizes", r->device, r->store, r->run, r->number, t->taken, t->all);
}

/* What became of rows. */
struct tally {
    size_t foreign;  /* their space cannot be made here */
    size_t unusable; /* nothing valid of this search follows from them */
    size_t repeated; /* what follows is a contender already */
};

static void learn_row(const struct learn_row *r, const struct problem *from, const struct learn_wanted *w,
                      struct learned *place, const struct learned out[LIMIT_LEARNED], struct tally *tally,
                      struct strbuf *notes)
{
    struct transfer t = {0};
    uint64_t hash = 0;
    struct space_state *leaf = replay(from, r->actions);
    bool made = leaf && transfer_by_names(leaf, w->root, w->prior, &t) &&
                lower(w->problem, t.leaf, w->most_text_bytes, &hash);
    space_state_free(leaf);
    tally->unusable += !made;
    if (made && !is_known(w, out, hash)) {
        *place = (struct learned){label_of((unsigned)(place - out)), t.leaf, hash};
        note(r, &t, place->label, notes);
        return;
    }
    tally->repeated += made;
    space_state_free(t.leaf);
}

static struct learned *free_place(struct learned out[LIMIT_LEARNED])
{
    for (unsigned i = 0; i < LIMIT_LEARNED; i++)
        if (!out[i].label) return &out[i];
    return NULL;
}

static bool has_any(const struct learned out[LIMIT_LEARNED])
{
    bool any = false;
    for (unsigned i = 0; i < LIMIT_LEARNED; i++)
        any = any || out[i].label;
    return any;
}

static void note_nothing(size_t rows, const struct tally *t, struct strbuf *notes)
{
    strbuf_add(notes, "note: nothing to learn with --learn-from: ");
    if (rows == 0)
        strbuf_add(notes, "the stores have no valid implementation of this program that a search drew\n");
    else
        strbuf_printf(
            notes,
            "of %zu implementations of this program %zu are of a device that is neither here nor "
            "described, or of another version of thresh; %zu are not possible here; %zu are known\n",
            rows, t->foreign, t->unusable, t->repeated);
}

bool learn_from(const char *const *stores, unsigned n, const struct learn_wanted *w,
                struct learned out[LIMIT_LEARNED], struct strbuf *notes, struct diag *d)
{
    struct learn_rows rows = {.arena = arena_new()};
    struct origin origin = {0};
    struct tally tally = {0};
    struct learned *place;
    bool ok = true;
    for (unsigned i = 0; ok && i < n; i++)
        ok = learn_rows_add(&rows, stores[i], w, d);
    learn_rows_sort(&rows);
    for (size_t i = 0; ok && i < rows.n && (place = free_place(out)); i++) {
        const struct problem *from = origin_of(&origin, &rows.items[i], w);
        tally.foreign += !from;
        if (from) learn_row(&rows.items[i], from, w, place, out, &tally, notes);
    }
    if (ok && n > 0 && !has_any(out)) note_nothing(rows.n, &tally, notes);
    problem_free(origin.problem);
    arena_free(rows.arena);
    return ok;
}

/* ---- a resumed run ---- */

/* Rows that do not replay are left to session_restore(), which names them. */
bool learn_restore(struct store *s, int64_t run, const struct problem *p, struct learned out[LIMIT_LEARNED],
                   struct diag *d)
{
    struct learn_rows rows = {.arena = arena_new()};
    bool ok = learn_rows_of_run(&rows, s, run, d);
    for (size_t i = 0; ok && i < rows.n; i++) {
        int64_t place = LEARN_NUMBER - rows.items[i].number;
        struct space_state *leaf = place < LIMIT_LEARNED ? replay(p, rows.items[i].actions) : NULL;
        if (leaf) out[place] = (struct learned){label_of((unsigned)place), leaf, rows.items[i].kernel_hash};
    }
    arena_free(rows.arena);
    return ok;
}
