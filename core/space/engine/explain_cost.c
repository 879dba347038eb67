/* Lists the constraints that are propagated in a slower or weaker way than others (cost.h), for `thresh space
 * check --explain-cost`. It inspects the finished space: the kinds of shapes, guards, the notes of
 * relation_find.c, and constraints over three objects that became no triangles. */
#include "core/space/cost.h"

#include <inttypes.h>

#include "core/base/arena.h"
#include "core/space/engine/events.h"
#include "core/space/engine/relation.h"
#include "core/space/ground/ground.h"

enum reason {
    MANY_CHOICES,
    LARGE_PAIR,
    LARGE_TRIPLE,
    MANY_PATHS,
    MANY_GUARDS,
    CHOICES_FULL,
    SORTS_FULL,
    TUPLES_FULL,
    CLASSES_FULL,
    WIDE_MASKS,
    PLAIN_PAIR,
    LARGE_PAIR_CHOICE,
    CONDITIONAL_PAIR,
    OTHER_SET,
    N_REASONS
};

/* What was found of one constraint for one reason. */
struct finding {
    uint32_t instances;
    uint64_t most;  /* choices, values, combinations or guards */
    uint32_t nodes; /* of the largest formula */
};

struct list {
    const struct space *s;
    struct arena *arena;
    struct finding *found; /* [constraint or trigger][reason] */
    struct space_cost *items;
    size_t n, cap;
};

static uint32_t constraint_count(const struct space *s)
{
    return (uint32_t)(s->def->n_constraints + s->def->n_triggers);
}

static void find(struct list *l, uint32_t constraint, enum reason reason, uint64_t size, uint32_t nodes)
{
    struct finding *f = &l->found[constraint * N_REASONS + reason];
    f->instances++;
    if (size > f->most) f->most = size;
    if (nodes > f->nodes) f->nodes = nodes;
}

/* ---- instances ---- */

static uint64_t largest_universe(const struct shape *sh)
{
    uint64_t most = 0;
    for (uint32_t k = 0; k < sh->n_slots; k++)
        if (sh->sizes[k] > most) most = sh->sizes[k];
    return most;
}

static uint64_t combinations(const struct shape *sh)
{
    uint64_t product = 1;
    for (uint32_t k = 0; k < sh->n_slots; k++)
        product *= sh->sizes[k];
    return product;
}

static void find_formula(struct list *l, const struct instance *in, const struct shape *sh)
{
    if (sh->n_slots > 3)
        find(l, in->constraint, MANY_CHOICES, sh->n_slots, sh->n_nodes);
    else if (largest_universe(sh) > PAIR_VALUES)
        find(l, in->constraint, LARGE_PAIR, largest_universe(sh), sh->n_nodes);
    else
        find(l, in->constraint, LARGE_TRIPLE, combinations(sh), sh->n_nodes);
    if (sh->many_paths) find(l, in->constraint, MANY_PATHS, 0, sh->n_nodes);
}

static void find_in_instances(struct list *l)
{
    const struct space *s = l->s;
    for (size_t i = 0; i < s->n_instances; i++) {
        const struct instance *in = &s->instances[i];
        const struct shape *sh = &s->shapes[in->shape];
        if (in->related || s->entailed[i]) continue;
        if (sh->kind == SHAPE_GENERAL && sh->n_slots > 1) find_formula(l, in, sh);
        if (sh->kind == SHAPE_PAIR && in->n_guards > PAIR_GUARDS)
            find(l, in->constraint, MANY_GUARDS, in->n_guards, 0);
    }
    for (size_t i = 0; i < s->n_relation_notes; i++) {
        const struct relation_note *note = &s->relation_notes[i];
        find(l, s->instances[note->instance].constraint, CHOICES_FULL + (unsigned)note->reason, 0, 0);
    }
}

/* ---- triangles ---- */

static bool reason_of_refusal(enum ground_refusal refusal, enum reason *reason)
{
    switch (refusal) {
    case GROUND_PLAIN_PAIR:
        *reason = PLAIN_PAIR;
        return true;
    case GROUND_LARGE_PAIR:
        *reason = LARGE_PAIR_CHOICE;
        return true;
    case GROUND_CONDITIONAL_PAIR:
        *reason = CONDITIONAL_PAIR;
        return true;
    case GROUND_OTHER_SET:
        *reason = OTHER_SET;
        return true;
    case GROUND_NO_TRIANGLE:
    case GROUND_TRIANGLE:
        break;
    }
    return false;
}

static uint32_t instances_of(const struct space *s, uint32_t constraint)
{
    uint32_t n = 0;
    for (size_t i = 0; i < s->n_instances; i++)
        n += s->instances[i].constraint == constraint && !s->entailed[i];
    return n;
}

static void find_in_triangles(struct list *l)
{
    const struct space *s = l->s;
    for (uint32_t c = 0; c < (uint32_t)s->def->n_constraints; c++) {
        int32_t choice;
        enum reason reason;
        enum ground_refusal refusal = ground_refuse_triangle(s, &s->def->constraints[c], &choice);
        if (!reason_of_refusal(refusal, &reason) || !instances_of(s, c)) continue;
        find(l, c, reason, s->def->choices[choice].n_values, 0);
        l->found[c * N_REASONS + reason].instances = instances_of(s, c);
    }
    for (uint32_t i = 0; i < s->n_squares; i++) {
        const struct square *sq = &s->squares[i];
        if (sq->small_masks) continue;
        find(l, sq->constraint, WIDE_MASKS, sq->n_values, 0);
        l->found[sq->constraint * N_REASONS + WIDE_MASKS].instances = sq->n * (sq->n - 1) / 2;
    }
}

/* ---- in words ---- */

static const char *why_of(const struct list *l, enum reason reason, const struct finding *f)
{
    struct arena *a = l->arena;
    switch (reason) {
    case MANY_CHOICES:
        return arena_printf(a, "up to %" PRIu64 " choices in one formula; a table has at most 3", f->most);
    case LARGE_PAIR:
        return arena_printf(a, "a choice of %" PRIu64 " values; a table has at most %d of each choice",
                            f->most, PAIR_VALUES);
    case LARGE_TRIPLE:
        return arena_printf(a, "%" PRIu64 " combinations of three choices; a table has at most %d", f->most,
                            TRIPLE_TABLE);
    case MANY_PATHS:
        return "definitions use each other so often that the formula is too large as a tree";
    case MANY_GUARDS:
        return arena_printf(a,
                            "it involves %" PRIu64 " latent objects; a table for a pair of choices allows %d",
                            f->most, PAIR_GUARDS);
    case CHOICES_FULL:
        return arena_printf(a, "the constraints of the pair read more than %d choices of an object",
                            RELATION_CHOICES);
    case SORTS_FULL:
        return arena_printf(a, "the objects have more than %d different sets of choices", RELATION_SORTS);
    case TUPLES_FULL:
        return arena_printf(a, "the choices of an object have more than %d combinations of values",
                            RELATION_TUPLES);
    case CLASSES_FULL:
        return arena_printf(a, "the pairs of an object have more than %d different sets of constraints",
                            ROW_CLASSES - 1);
    case WIDE_MASKS:
        return arena_printf(
            a, "a pair choice of %" PRIu64 " values; rows of up to 5 are composed 32 at a time", f->most);
    case PLAIN_PAIR:
        return "a constraint over three objects, of a pair choice that is not symmetric or antisymmetric";
    case LARGE_PAIR_CHOICE:
        return arena_printf(a,
                            "a constraint over three objects, of a pair choice of %" PRIu64
                            " values; rows of pairs have at most %d",
                            f->most, SQUARE_VALUES);
    case CONDITIONAL_PAIR:
        return "a constraint over three objects, of a pair choice with `where`";
    case OTHER_SET:
        return "a constraint over three objects that are not of the set of the pair choice";
    case N_REASONS:
        break;
    }
    return "";
}

static const char *cost_of(const struct list *l, enum reason reason, const struct finding *f)
{
    switch (reason) {
    case MANY_CHOICES:
    case LARGE_PAIR:
    case LARGE_TRIPLE:
        return arena_printf(
            l->arena,
            "bounds instead of a table: a propagation evaluates up to %u operations, and values "
            "between the bounds remain until the last choice is decided",
            f->nodes);
    case MANY_PATHS:
        return arena_printf(l->arena, "each propagation evaluates all %u operations of the formula",
                            f->nodes);
    case MANY_GUARDS:
        return "it is propagated after every change of its choices, even if nothing can follow";
    case CHOICES_FULL:
    case SORTS_FULL:
    case TUPLES_FULL:
    case CLASSES_FULL:
        return "the constraints of a pair are propagated one by one instead of a row of pairs at once, and "
               "values "
               "that only several of them exclude together remain";
    case WIDE_MASKS:
        return "rows of pairs are composed one byte at a time";
    case PLAIN_PAIR:
    case LARGE_PAIR_CHOICE:
    case CONDITIONAL_PAIR:
    case OTHER_SET:
        return "each triple of objects is a separate instance instead of a part of two rows: memory and time "
               "grow "
               "with the third power of the number of objects";
    case N_REASONS:
        break;
    }
    return "";
}

static const char *change_of(enum reason reason)
{
    switch (reason) {
    case MANY_CHOICES:
        return "state a condition as several constraints over at most 3 choices each; sums and products over "
               "many choices cannot be divided";
    case LARGE_PAIR:
        return "give the choice fewer values, or split it into two choices (a coarse and a fine one)";
    case LARGE_TRIPLE:
        return "give the choices fewer values, or state the constraint over two of them at a time";
    case MANY_PATHS:
        return "add a choice for an intermediate result, with a constraint that defines it";
    case MANY_GUARDS:
        return "state the constraint over at most 2 latent objects";
    case CHOICES_FULL:
        return "let constraints of this pair choice read fewer choices of the two objects";
    case SORTS_FULL:
        return "give the objects the same choices: use the same `where` conditions";
    case TUPLES_FULL:
        return "give the choices fewer values, exclude combinations by a constraint over one object, or let "
               "constraints of the pair read fewer choices";
    case CLASSES_FULL:
        return "let the constraints of a pair depend on fewer properties of the two objects";
    case WIDE_MASKS:
        return "give the pair choice at most 5 values";
    case PLAIN_PAIR:
        return "declare the choice symmetric or antisymmetric";
    case LARGE_PAIR_CHOICE:
        return "give the pair choice at most 8 values, or split it into two choices";
    case CONDITIONAL_PAIR:
        return "remove `where`, and add a value to the choice for the pairs that it left out";
    case OTHER_SET:
        return "let the constraint range over the set that the choice is declared for";
    case N_REASONS:
        break;
    }
    return "";
}

static void report(struct list *l, uint32_t constraint, enum reason reason)
{
    const struct space_def *def = l->s->def;
    const struct finding *f = &l->found[constraint * N_REASONS + reason];
    uint32_t n = (uint32_t)def->n_constraints;
    bool trigger = constraint >= n;
    if (!f->instances) return;
    l->items = arena_grow(l->arena, l->items, &l->cap, l->n + 1, sizeof *l->items);
    l->items[l->n++] = (struct space_cost){
        .file = trigger ? def->triggers[constraint - n].file : def->constraints[constraint].file,
        .line = trigger ? def->triggers[constraint - n].line : def->constraints[constraint].line,
        .text = trigger ? def->triggers[constraint - n].text : def->constraints[constraint].text,
        .instances = f->instances,
        .why = why_of(l, reason, f),
        .cost = cost_of(l, reason, f),
        .change = change_of(reason)};
}

size_t space_explain_cost(const struct space *s, struct arena *a, struct space_cost **out)
{
    struct list l = {.s = s, .arena = a};
    l.found = ARENA_ARRAY(a, struct finding, constraint_count(s) * N_REASONS + 1);
    find_in_instances(&l);
    find_in_triangles(&l);
    for (uint32_t c = 0; c < constraint_count(s); c++)
        for (unsigned r = 0; r < N_REASONS; r++)
            report(&l, c, (enum reason)r);
    *out = l.items;
    return l.n;
}
