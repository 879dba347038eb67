/* Finds the relation of a pair choice (relation.h): which constraints take part, the tuples of each sort of
 * objects, the classes of pairs, and how each row numbers them. */
#include "core/space/relation.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/space/internal.h"

enum { MAX_PAIR_CLASSES = 1024, MAX_ROLES = 2 * RELATION_CHOICES + 1 };

/* ---- which constraints take part ---- */

/* One constraint of a pair: role 0 is the pair, 1 + i choice i of the lower object, 1 + RELATION_CHOICES + i
 * of the higher. */
struct member {
    uint32_t pair; /* a * n + b, a < b; of a single object a * n + a */
    bool own;      /* of a single object */
    uint32_t shape, instance;
    uint8_t roles[MAX_ROLES];
};

struct finder {
    struct space *s;
    struct square *sq;
    struct relation *r;
    bool *taken;            /* [choices] that are part of another square's tuples */
    int32_t *index_of;      /* object id -> number in the square, or -1 */
    struct member *members; /* of pairs, then of single objects */
    size_t n, cap, n_pairs;
};

static int choice_number(const struct relation *r, int32_t choice)
{
    for (uint32_t i = 0; i < r->n_choices; i++)
        if (r->choices[i] == choice) return (int)i;
    return -1;
}

/* Whether a choice may be part of tuples: an enum choice of one object of the square's set. Its slots have
 * room for one relation, so that of the first square has it. */
static bool is_unary_choice(const struct finder *f, int32_t choice)
{
    const struct space_choice *c = &f->s->def->choices[choice];
    int32_t root = f->s->def->choices[f->s->slots[f->sq->slots[1]].group].args[0].root;
    return c->arity == 1 && c->n_values && c->args[0].root == root && !f->taken[choice];
}

/* Objects of an instance, as numbers in the square. false: it is over something else, or over more than two.
 */
static bool find_objects(const struct finder *f, const struct instance *in, uint32_t *a, uint32_t *b)
{
    const struct shape *sh = &f->s->shapes[in->shape];
    uint32_t seen[2], n = 0;
    for (uint32_t k = 0; k < sh->n_slots; k++) {
        uint32_t slot = f->s->instance_slots[in->slots + k];
        const struct slot_info *info = &f->s->slots[slot];
        bool pair = info->square == (int16_t)(f->sq - f->s->squares);
        if (info->group == UINT16_MAX || (!pair && !is_unary_choice(f, info->group))) return false;
        for (unsigned i = 0; i < info->arity; i++) {
            int32_t at = f->index_of[f->s->origins[slot].objects[i]];
            if (at < 0) return false;
            bool known = (n > 0 && seen[0] == (uint32_t)at) || (n > 1 && seen[1] == (uint32_t)at);
            if (!known && n == 2) return false;
            if (!known) seen[n++] = (uint32_t)at;
        }
    }
    if (!n) return false;
    *a = n == 1 || seen[0] < seen[1] ? seen[0] : seen[1];
    *b = n == 1 ? *a : seen[0] + seen[1] - *a;
    return true;
}

/* Whether the instance is enforced exactly when both objects are live. */
static bool guards_fit(const struct finder *f, const struct instance *in, uint32_t a, uint32_t b)
{
    uint32_t la = f->sq->liveness[a], lb = a == b ? SPACE_NONE : f->sq->liveness[b];
    uint32_t wanted = (la != SPACE_NONE ? 1u : 0u) + (lb != SPACE_NONE ? 1u : 0u);
    for (uint32_t k = 0; k < in->n_guards; k++) {
        uint32_t g = f->s->guards[in->guards + k];
        if (g != la && g != lb) return false;
    }
    return in->n_guards == wanted;
}

static bool add_choices(const struct finder *f, const struct instance *in)
{
    struct relation *r = f->r;
    const struct shape *sh = &f->s->shapes[in->shape];
    for (uint32_t k = 0; k < sh->n_slots; k++) {
        const struct slot_info *info = &f->s->slots[f->s->instance_slots[in->slots + k]];
        if (info->square >= 0 || choice_number(r, info->group) >= 0) continue;
        if (r->n_choices == RELATION_CHOICES) return false;
        r->choices[r->n_choices++] = info->group;
    }
    return true;
}

static void add_member(struct finder *f, uint32_t instance, uint32_t a, uint32_t b)
{
    const struct instance *in = &f->s->instances[instance];
    const struct shape *sh = &f->s->shapes[in->shape];
    struct member m = {.pair = a * f->sq->n + b, .own = a == b, .shape = in->shape, .instance = instance};
    for (uint32_t k = 0; k < sh->n_slots; k++) {
        uint32_t slot = f->s->instance_slots[in->slots + k];
        const struct slot_info *info = &f->s->slots[slot];
        if (info->square >= 0) continue;
        bool higher = (uint32_t)f->index_of[f->s->origins[slot].objects[0]] != a;
        m.roles[k] = (uint8_t)(1 + (higher ? (int)RELATION_CHOICES : 0) + choice_number(f->r, info->group));
    }
    if (f->n == f->cap) {
        f->cap = f->cap ? 2 * f->cap : 1024;
        f->members = base_realloc(f->members, f->cap * sizeof *f->members);
    }
    f->members[f->n++] = m;
    f->n_pairs += a != b;
}

static void collect_members(struct finder *f)
{
    for (uint32_t i = 0; i < f->s->n_instances; i++) {
        const struct instance *in = &f->s->instances[i];
        uint32_t a, b, n_slots = f->s->shapes[in->shape].n_slots;
        if (in->related || n_slots > MAX_ROLES || !find_objects(f, in, &a, &b)) continue;
        if (guards_fit(f, in, a, b) && add_choices(f, in)) add_member(f, i, a, b);
    }
}

/* ---- tuples ---- */

static uint32_t universe_of(const struct finder *f, int32_t choice)
{
    return f->s->def->choices[choice].n_values;
}

/* values[role]: the truth of one constraint. */
static bool holds(const struct finder *f, const struct member *m, const uint8_t *values, int64_t *scratch)
{
    const struct shape *sh = &f->s->shapes[m->shape];
    uint32_t v[MAX_ROLES];
    for (uint32_t k = 0; k < sh->n_slots; k++)
        v[k] = values[m->roles[k]];
    return shape_value(sh, v, scratch) != 0;
}

/* false: there are too many sorts. */
static bool find_sorts(struct finder *f)
{
    struct relation *r = f->r;
    uint32_t n = f->sq->n;
    r->sort_of = ARENA_ARRAY(f->s->arena, uint8_t, n);
    r->slots = ARENA_ARRAY(f->s->arena, uint32_t, n * RELATION_CHOICES);
    memset(r->slots, 0xff, n * RELATION_CHOICES * sizeof *r->slots);
    for (uint32_t c = 0; c < r->n_choices; c++) {
        for (uint32_t i = f->s->group_first[r->choices[c]]; i < f->s->group_first[r->choices[c] + 1]; i++) {
            int32_t at = f->index_of[f->s->origins[i].objects[0]];
            if (at >= 0) r->slots[(uint32_t)at * RELATION_CHOICES + c] = i;
        }
    }
    for (uint32_t a = 0; a < n; a++) {
        uint32_t present = 0, k = 0;
        for (uint32_t c = 0; c < r->n_choices; c++)
            present |= (uint32_t)(r->slots[a * RELATION_CHOICES + c] != SPACE_NONE) << c;
        while (k < r->n_sorts && r->sorts[k].present != present)
            k++;
        if (k == RELATION_SORTS) return false;
        if (k == r->n_sorts) r->sorts[r->n_sorts++].present = present;
        r->sort_of[a] = (uint8_t)k;
    }
    return true;
}

/* Whether some object of the sort may have the values. */
static bool is_tuple(const struct finder *f, uint32_t sort, const uint8_t *value, bool *excluded,
                     int64_t *scratch)
{
    uint8_t values[MAX_ROLES] = {0};
    memcpy(values + 1, value, RELATION_CHOICES);
    memset(excluded, 0, f->sq->n);
    for (size_t i = f->n_pairs; i < f->n; i++) {
        uint32_t a = f->members[i].pair / f->sq->n;
        if (!excluded[a]) excluded[a] = !holds(f, &f->members[i], values, scratch);
    }
    for (uint32_t a = 0; a < f->sq->n; a++)
        if (f->r->sort_of[a] == sort && !excluded[a]) return true;
    return false;
}

/* Fills the tuples of a sort; false: there are too many. */
static bool list_tuples(const struct finder *f, uint32_t sort, bool *excluded, int64_t *scratch)
{
    struct relation_sort *so = &f->r->sorts[sort];
    uint8_t value[RELATION_CHOICES] = {0};
    for (;;) {
        if (is_tuple(f, sort, value, excluded, scratch)) {
            if (so->n == RELATION_TUPLES) return false;
            memcpy(so->value[so->n++], value, RELATION_CHOICES);
        }
        uint32_t c = 0;
        for (; c < RELATION_CHOICES && c < f->r->n_choices; c++) {
            if (!(so->present >> c & 1)) continue;
            if (++value[c] < universe_of(f, f->r->choices[c])) break;
            value[c] = 0;
        }
        if (c >= f->r->n_choices) return so->n > 0;
    }
}

static void index_tuples(const struct finder *f, struct relation_sort *so)
{
    for (uint32_t c = 0; c < f->r->n_choices; c++) {
        for (uint32_t t = 0; t < so->n; t++) {
            uint32_t v = so->value[t][c];
            for (uint32_t byte = 0; byte < 256; byte++) {
                if (byte >> v % 8 & 1) so->with[c][v / 8][byte] |= UINT32_C(1) << t;
                if (byte >> t % 8 & 1) so->project[c][t / 8][byte] |= (uint16_t)(1u << v);
            }
        }
    }
}

static bool make_tuples(struct finder *f)
{
    bool fits = true, *excluded = base_calloc(f->sq->n, sizeof *excluded);
    int64_t *scratch = base_malloc((f->s->max_nodes + 1) * sizeof *scratch);
    for (uint32_t k = 0; k < f->r->n_sorts && fits; k++) {
        fits = list_tuples(f, k, excluded, scratch);
        index_tuples(f, &f->r->sorts[k]);
        uint32_t planes = (f->r->sorts[k].n + 7) / 8;
        if (planes > f->r->n_planes) f->r->n_planes = planes;
    }
    free(excluded);
    free(scratch);
    return fits;
}

/* ---- classes ---- */

static int compare_members(const void *x, const void *y)
{
    const struct member *a = x, *b = y;
    if (a->own != b->own) return a->own ? 1 : -1;
    if (a->pair != b->pair) return a->pair < b->pair ? -1 : 1;
    if (a->shape != b->shape) return a->shape < b->shape ? -1 : 1;
    int roles = memcmp(a->roles, b->roles, sizeof a->roles);
    return roles ? roles : (a->instance > b->instance) - (a->instance < b->instance);
}

static bool same_class(const struct finder *f, const struct member *x, const struct member *y, size_t n)
{
    uint32_t xa = x->pair / f->sq->n, xb = x->pair % f->sq->n, ya = y->pair / f->sq->n,
             yb = y->pair % f->sq->n;
    if (f->r->sort_of[xa] != f->r->sort_of[ya] || f->r->sort_of[xb] != f->r->sort_of[yb]) return false;
    for (size_t i = 0; i < n; i++)
        if (x[i].shape != y[i].shape || memcmp(x[i].roles, y[i].roles, sizeof x->roles)) return false;
    return true;
}

/* The class of a run of members seen from its lower object, and then from its higher one. */
static void fill_class(const struct finder *f, const struct member *m, size_t n, struct relation_class *low,
                       struct relation_class *high, int64_t *scratch)
{
    const struct relation_sort *sa = &f->r->sorts[f->r->sort_of[m->pair / f->sq->n]],
                               *sb = &f->r->sorts[f->r->sort_of[m->pair % f->sq->n]];
    uint8_t values[MAX_ROLES] = {0};
    for (uint32_t p = 0; p < f->r->n_values; p++) {
        uint32_t mirrored = (uint32_t)__builtin_ctz(f->sq->mirror[1u << p]);
        for (uint32_t x = 0; x < sa->n; x++) {
            for (uint32_t y = 0; y < sb->n; y++) {
                values[0] = (uint8_t)p;
                memcpy(values + 1, sa->value[x], RELATION_CHOICES);
                memcpy(values + 1 + RELATION_CHOICES, sb->value[y], RELATION_CHOICES);
                bool ok = true;
                for (size_t i = 0; i < n && ok; i++)
                    ok = holds(f, &m[i], values, scratch);
                if (!ok) continue;
                low->allowed[p][x] |= UINT32_C(1) << y;
                high->allowed[mirrored][y] |= UINT32_C(1) << x;
            }
        }
    }
}

/* Classes 2 k and 2 k + 1 are the two views of one relation. */
static void make_classes(struct finder *f)
{
    int64_t *scratch = base_malloc((f->s->max_nodes + 1) * sizeof *scratch);
    const struct member **first = base_malloc(MAX_PAIR_CLASSES * sizeof *first);
    size_t *count = base_malloc(MAX_PAIR_CLASSES * sizeof *count), cap = 0, end;
    for (size_t i = 0; i < f->n_pairs; i = end) {
        for (end = i; end < f->n_pairs && f->members[end].pair == f->members[i].pair;)
            end++;
        uint32_t a = f->members[i].pair / f->sq->n, b = f->members[i].pair % f->sq->n, k = 0;
        while (k < f->r->n_classes / 2 &&
               (count[k] != end - i || !same_class(f, first[k], &f->members[i], end - i)))
            k++;
        if (k == MAX_PAIR_CLASSES) continue;
        if (2 * k == f->r->n_classes) {
            f->r->classes = arena_grow(f->s->arena, f->r->classes, &cap, 2 * k + 2, sizeof *f->r->classes);
            memset(f->r->classes + 2 * k, 0, 2 * sizeof *f->r->classes);
            f->r->n_classes += 2;
            first[k] = &f->members[i];
            count[k] = end - i;
            fill_class(f, &f->members[i], end - i, &f->r->classes[2 * k], &f->r->classes[2 * k + 1], scratch);
        }
        f->r->class[a * f->sq->n + b] = (uint16_t)(2 * k + 1);
        f->r->class[b * f->sq->n + a] = (uint16_t)(2 * k + 2);
    }
    free(scratch);
    free(first);
    free(count);
}

static bool is_idle(const struct relation *r, const struct relation_class *class, uint32_t mask)
{
    for (uint32_t x = 0; x < RELATION_TUPLES; x++) {
        uint32_t all = 0, some = 0;
        for (uint32_t p = 0; p < r->n_values; p++) {
            all |= class->allowed[p][x];
            some |= mask >> p & 1 ? class->allowed[p][x] : 0;
        }
        if (some != all) return false;
    }
    return true;
}

static void find_idle(struct finder *f)
{
    struct relation *r = f->r;
    r->idle = ARENA_ARRAY(f->s->arena, uint32_t, r->n_classes);
    for (uint32_t c = 0; c < r->n_classes; c++) {
        uint32_t busy = 0;
        for (uint32_t mask = 0; mask < 1u << r->n_values; mask++)
            busy |= (uint32_t)!is_idle(r, &r->classes[c], mask) << mask % 32;
        r->idle[c] = ~busy;
    }
}

/* ---- rows ---- */

/* The number of a class in a row's type, from 1; 0: it has none. */
static uint32_t local_class(const struct relation_row *t, uint16_t class)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->classes[i] == class) return i + 1;
    return 0;
}

static int compare_classes(const void *x, const void *y)
{
    const uint16_t *a = x, *b = y;
    return (*a > *b) - (*a < *b);
}

/* What an object with tuple x allows its partners; with NONE, an object without tuples. */
static void fill_block(const struct relation *r, const struct relation_row *t, uint32_t x, uint8_t *out)
{
    for (uint32_t p = 0; p < r->n_values; p++) {
        for (uint32_t k = 0; k < r->n_planes; k++) {
            uint8_t *allows = out + (p * r->n_planes + k) * ROW_CLASSES;
            allows[0] = 255;
            for (uint32_t c = 0; c < t->n && x != SPACE_NONE; c++)
                allows[c + 1] = (uint8_t)(r->classes[t->classes[c]].allowed[p][x] >> 8 * k);
        }
    }
}

/* Which blocks contain block x. */
static uint32_t dominators(const uint8_t *blocks, uint32_t bytes, uint32_t n, uint32_t x)
{
    uint32_t found = 0;
    for (uint32_t y = 0; y < n; y++) {
        bool contains = y != x;
        for (uint32_t i = 0; i < bytes && contains; i++)
            contains = !(blocks[x * bytes + i] & ~blocks[y * bytes + i]);
        found |= (uint32_t)contains << y;
    }
    return found;
}

static void make_blocks(struct finder *f, uint32_t n_tuples, struct relation_row *t)
{
    uint32_t bytes = f->r->block_bytes;
    uint8_t *blocks = ARENA_ARRAY(f->s->arena, uint8_t, (n_tuples + 1) * bytes);
    for (uint32_t x = 0; x < n_tuples; x++)
        fill_block(f->r, t, x, blocks + x * bytes);
    fill_block(f->r, t, SPACE_NONE, blocks + n_tuples * bytes);
    t->blocks = blocks;
    t->none = blocks + n_tuples * bytes;
    uint32_t *dominating = ARENA_ARRAY(f->s->arena, uint32_t, n_tuples);
    for (uint32_t x = 0; x < n_tuples; x++)
        dominating[x] = dominators(blocks, bytes, n_tuples, x);
    t->dominators = dominating;
}

/* The type of a row: its classes in ascending order, or as many of them as there is room for. */
static void make_type(struct finder *f, uint32_t a)
{
    struct relation *r = f->r;
    struct relation_row t = {0};
    for (uint32_t b = 0; b < f->sq->n; b++) {
        uint16_t c = r->class[a * f->sq->n + b];
        if (c && t.n < ROW_CLASSES - 1 && !local_class(&t, (uint16_t)(c - 1)))
            t.classes[t.n++] = (uint16_t)(c - 1);
    }
    qsort(t.classes, t.n, sizeof t.classes[0], compare_classes);
    uint32_t k = 0;
    while (k < r->n_types &&
           (r->types[k].n != t.n || memcmp(r->types[k].classes, t.classes, sizeof t.classes)))
        k++;
    if (k == r->n_types) {
        make_blocks(f, r->sorts[r->sort_of[a]].n, &t);
        r->types[r->n_types++] = t;
    }
    r->type_of[a] = (uint16_t)k;
}

/* Pairs whose class finds no room in one of its two rows keep their instances. */
static void make_rows(struct finder *f, uint32_t stride)
{
    struct relation *r = f->r;
    uint32_t n = f->sq->n;
    r->local = ARENA_ARRAY(f->s->arena, uint8_t, n * stride);
    r->type_of = ARENA_ARRAY(f->s->arena, uint16_t, n);
    r->types = ARENA_ARRAY(f->s->arena, struct relation_row, n);
    for (uint32_t a = 0; a < n; a++)
        make_type(f, a);
    for (uint32_t a = 0; a < n; a++) {
        for (uint32_t b = a + 1; b < n; b++) {
            uint16_t *ab = &r->class[a * n + b], *ba = &r->class[b * n + a];
            if (!*ab) continue;
            uint32_t in_a = local_class(&r->types[r->type_of[a]], (uint16_t)(*ab - 1)),
                     in_b = local_class(&r->types[r->type_of[b]], (uint16_t)(*ba - 1));
            if (!in_a || !in_b) *ab = *ba = 0;
            r->local[a * stride + b] = (uint8_t)(*ab ? in_a : 0);
            r->local[b * stride + a] = (uint8_t)(*ba ? in_b : 0);
        }
    }
}

static void mark_related(const struct finder *f)
{
    for (size_t i = 0; i < f->n_pairs; i++) {
        if (f->r->class[f->members[i].pair]) f->s->instances[f->members[i].instance].related = true;
    }
    for (uint32_t a = 0; a < f->sq->n; a++) {
        for (uint32_t c = 0; c < f->r->n_choices; c++) {
            uint32_t slot = f->r->slots[a * RELATION_CHOICES + c];
            if (slot == SPACE_NONE) continue;
            f->s->slots[slot].tuple_of = (int16_t)(f->sq - f->s->squares);
            f->s->slots[slot].tuple_choice = (uint8_t)c;
            f->s->slots[slot].row = (uint16_t)a;
        }
    }
}

static void index_objects(struct finder *f)
{
    const struct space_choice *c = &f->s->def->choices[f->s->slots[f->sq->slots[1]].group];
    size_t n = (size_t)f->s->root_sizes[c->args[0].root];
    const struct set_members *set = &f->s->sets[c->args[0].set];
    f->index_of = base_malloc((n + 1) * sizeof *f->index_of);
    memset(f->index_of, 0xff, (n + 1) * sizeof *f->index_of);
    for (size_t i = 0; i < set->n; i++)
        f->index_of[set->ids[i]] = (int32_t)i;
}

static void find_taken(struct finder *f)
{
    f->taken = base_calloc((size_t)f->s->def->n_choices + 1, sizeof *f->taken);
    for (uint32_t i = 0; i < f->s->n_slots; i++)
        if (f->s->slots[i].tuple_of >= 0) f->taken[f->s->slots[i].group] = true;
}

void relation_find(struct space *s, struct square *sq)
{
    struct finder f = {.s = s, .sq = sq, .r = ARENA_NEW(s->arena, struct relation)};
    uint32_t stride = (sq->n + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
    f.r->n_values = slot_values(s, sq->slots[1]);
    find_taken(&f);
    index_objects(&f);
    collect_members(&f);
    if (f.n) qsort(f.members, f.n, sizeof *f.members, compare_members);
    if (f.n && find_sorts(&f) && make_tuples(&f)) {
        f.r->class = ARENA_ARRAY(s->arena, uint16_t, (size_t)sq->n * sq->n);
        f.r->block_bytes =
            (f.r->n_values * f.r->n_planes * ROW_CLASSES + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
        make_classes(&f);
        find_idle(&f);
        make_rows(&f, stride);
        mark_related(&f);
        sq->relation = f.r;
    }
    free(f.taken);
    free(f.index_of);
    free(f.members);
}
