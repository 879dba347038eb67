/* The second half of finding a relation (relation.h): the classes of pairs, and how each row numbers those
 * that its pairs belong to. */
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/space/engine/relation_find.h"

enum { MAX_PAIR_CLASSES = 1024 };

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
                    ok = finder_holds(f, &m[i], values, scratch);
                if (!ok) continue;
                low->allowed[p][x] |= UINT32_C(1) << y;
                high->allowed[mirrored][y] |= UINT32_C(1) << x;
            }
        }
    }
}

/* Classes 2 k and 2 k + 1 are the two views of one relation. */
void finder_make_classes(struct finder *f)
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

static bool is_permissive(const struct relation *r, const struct relation_class *class, uint32_t mask)
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

static void find_permissive_masks(const struct finder *f)
{
    struct relation *r = f->r;
    r->permissive_masks = ARENA_ARRAY(f->s->arena, uint32_t, r->n_classes);
    for (uint32_t c = 0; c < r->n_classes; c++) {
        uint32_t busy = 0;
        for (uint32_t mask = 0; mask < 1u << r->n_values; mask++)
            busy |= (uint32_t)!is_permissive(r, &r->classes[c], mask) << mask % 32;
        r->permissive_masks[c] = ~busy;
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
void finder_make_rows(struct finder *f)
{
    struct relation *r = f->r;
    uint32_t n = f->sq->n, stride = (n + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
    find_permissive_masks(f);
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
