/* The cycles that the banks of local memory are busy for one staged tile. In a cycle each bank delivers or
 * takes one word, for all work-items of a bundle that want that word: an access of a bundle takes as many
 * cycles as one bank has different words in it (banks.h has an example). */
#include "perfmodel/banks.h"

/* First words by the places along each axis. */
struct places {
    int64_t extent[BB_AXES]; /* what is beyond takes no part */
    int32_t word[BB_AXES][MOST_ITEMS];
};

static void places_of(const struct division *v, struct places *out)
{
    for (int a = 0; a < BB_AXES; a++) {
        out->extent[a] = v->extent[a];
        for (int64_t id = 0; id < v->extent[a]; id++) {
            int64_t word = 0;
            for (unsigned i = 0; i < v->n; i++)
                if (v->part[i].axis == a) word += id / v->part[i].inner % v->part[i].size * v->part[i].stride;
            out->word[a][id] = (int32_t)word;
        }
    }
}

/* The word that a work-item's first access touches; -1: it takes no part. */
static int64_t word_of(const struct places *p, const int64_t id[BB_AXES])
{
    int64_t word = 0;
    for (int a = 0; a < BB_AXES; a++) {
        if (id[a] >= p->extent[a]) return -1;
        word += p->word[a][id[a]];
    }
    return word;
}

static void next_item(const int64_t local[BB_AXES], int64_t id[BB_AXES])
{
    for (int a = 0; a < BB_AXES; a++) {
        if (++id[a] < local[a]) return;
        id[a] = 0;
    }
}

/* Lists the words of a work-item, from its first one on; their number. */
static unsigned list_steps(const struct division *v, int32_t *steps)
{
    unsigned n = 1;
    steps[0] = 0;
    for (unsigned i = 0; i < v->n; i++) {
        const struct seated *s = &v->part[i];
        unsigned before = n;
        if (s->axis >= 0) continue;
        for (int64_t k = 1; k < s->size; k++)
            for (unsigned j = 0; j < before; j++)
                steps[n++] = steps[j] + (int32_t)(k * s->stride);
    }
    return n;
}

static void mark(unsigned char *marks, const int32_t *steps, unsigned n, unsigned char as)
{
    for (unsigned i = 0; i < n; i++)
        marks[steps[i]] = as;
}

/* Bit m: some word of a work-item has just the neighbours m, itself included. */
static unsigned neighbourhoods(unsigned char *marks, const int32_t *steps, unsigned n)
{
    unsigned near = 0;
    mark(marks, steps, n, 1);
    for (unsigned i = 0; i < n; i++) {
        const unsigned char *at = &marks[steps[i]];
        near |= 1u << (at[0] | at[1] << 1 | at[2] << 2 | at[3] << 3);
    }
    mark(marks, steps, n, 0);
    return near;
}

/* Most different words in one bank, of a bundle whose work-items touch the words `mask` after their own. */
static unsigned busiest_bank(const int64_t word[BANKS], unsigned mask)
{
    int64_t held[BANKS][WIDEST * BANKS];
    unsigned n[BANKS] = {0}, most = 0;
    for (unsigned lane = 0; lane < BANKS; lane++)
        for (unsigned k = 0; word[lane] >= 0 && k < WIDEST; k++) {
            int64_t w = word[lane] + k;
            unsigned bank = (unsigned)(w % BANKS), i = 0;
            if (!(mask >> k & 1)) continue;
            while (i < n[bank] && held[bank][i] != w)
                i++;
            if (i < n[bank]) continue;
            held[bank][n[bank]++] = w;
            if (n[bank] > most) most = n[bank];
        }
    return most;
}

/* Cycles that a word of each work-item of a bundle takes at least: as many in one access as is cheapest, of
 * those that lie together (`near`: bit m, that some word has just the neighbours m). */
static double cycles_a_word(const int64_t word[BANKS], unsigned near)
{
    double least = BANKS;
    for (unsigned mask = 1; mask < 1u << WIDEST; mask += 2) {
        bool possible = false;
        for (unsigned whole = 1; whole < 1u << WIDEST; whole += 2)
            possible |= (near >> whole & 1) && (mask & ~whole) == 0;
        if (!possible) continue;
        double cycles = (double)busiest_bank(word, mask) / __builtin_popcount(mask);
        if (cycles < least) least = cycles;
    }
    return least;
}

/* Whether two bundles are apart by as many words in each place: banks are the same but for their names. */
static bool shifted(const int64_t one[BANKS], const int64_t other[BANKS])
{
    int64_t by = 0;
    bool known = false;
    for (unsigned lane = 0; lane < BANKS; lane++) {
        if ((one[lane] < 0) != (other[lane] < 0)) return false;
        if (one[lane] < 0) continue;
        if (known && other[lane] - one[lane] != by) return false;
        by = other[lane] - one[lane];
        known = true;
    }
    return true;
}

/* Cycles of all accesses of a group in one filling. */
static double group_cycles(const struct banks *b, const struct division *v, const struct places *p)
{
    unsigned n = list_steps(v, b->steps), near = neighbourhoods(b->marks, b->steps, n);
    int64_t items = b->local[0] * b->local[1] * b->local[2], words[2][BANKS], id[BB_AXES] = {0};
    double sum = 0, cycles = 0;
    for (int64_t first = 0; first < items; first += BANKS) {
        int64_t *word = words[first / BANKS % 2], *before = words[1 - first / BANKS % 2];
        bool any = false;
        for (int64_t lane = 0; lane < BANKS; lane++) {
            word[lane] = first + lane < items ? word_of(p, id) : -1;
            any |= word[lane] >= 0;
            next_item(b->local, id);
        }
        if (first == 0 || !shifted(before, word)) cycles = any ? cycles_a_word(word, near) : 0;
        sum += cycles;
    }
    return n * sum;
}

/* Whether some work-item's first word is written by another one, so that a barrier is between the two. The
 * other words are not looked at: without such a first word nothing is counted. */
static bool crosses(const struct banks *b, const struct division *copy, const struct places *read,
                    const struct places *write)
{
    int64_t items = b->local[0] * b->local[1] * b->local[2], id[BB_AXES] = {0};
    unsigned n = list_steps(copy, b->steps);
    bool found = false;
    mark(b->marks, b->steps, n, 1);
    for (int64_t item = 0; item < items && !found; item++) {
        int64_t wanted = word_of(read, id), own = word_of(write, id);
        found = wanted >= 0 && (own < 0 || wanted < own || !b->marks[wanted - own]);
        next_item(b->local, id);
    }
    mark(b->marks, b->steps, n, 0);
    return found;
}

double banks_tile_cycles(const struct banks *b, const struct staged_tile *t)
{
    struct places read, write;
    places_of(&t->readers, &read);
    places_of(&t->copy, &write);
    if (!crosses(b, &t->copy, &read, &write)) return 0;
    return (double)t->fillings * (group_cycles(b, &t->readers, &read) + group_cycles(b, &t->copy, &write));
}
