/* The vector forms of the row loops against the plain ones, on random rows. */
#include <criterion/criterion.h>
#include <string.h>

#include "core/base/pcg32.h"
#include "core/space/engine/rows.h"

enum { ROWS_TRIALS = 300 };

static void rows_fill(struct pcg32 *rng, uint8_t *out, uint32_t n, uint32_t below)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = (uint8_t)pcg32_below(rng, below);
}

static void rows_fill_flags(struct pcg32 *rng, uint8_t *out, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = pcg32_below(rng, 4) ? 255 : 0;
}

static uint32_t rows_length(struct pcg32 *rng)
{
    return ROW_ALIGN * (1 + pcg32_below(rng, 5));
}

Test(rows, compositions_equal_the_plain_forms)
{
    struct pcg32 rng = pcg32_seed(5, 1);
    static uint8_t x[ROW_MAX], y[ROW_MAX], present[ROW_MAX], tables[2][256], out[2][2 * ROW_MAX];
    for (int t = 0; t < ROWS_TRIALS; t++) {
        uint32_t n = rows_length(&rng);
        bool narrow = t % 2;
        rows_fill(&rng, x, n, 32);
        rows_fill(&rng, y, n, 32);
        rows_fill(&rng, tables[0], sizeof tables, 256);
        rows_fill_flags(&rng, present, n);
        if (t % 3 == 0) memset(tables[t % 2], 255, sizeof tables[0]);
        if (t % 5 == 0) memset(tables[0], 31, sizeof tables[0]);
        unsigned loses = rows_plain_compose(x, y, tables[0], tables[1], present, n, out[0]);
        cr_assert_eq(rows_compose(x, y, tables[0], tables[1], present, n, out[1]), loses);
        cr_assert(!memcmp(out[0], out[1], 2 * n), "compose, trial %d", t);
        bool may_lose = rows_may_lose(x, y, tables[0], tables[1], present, n);
        cr_assert(may_lose || !loses, "may lose, trial %d", t);
#ifdef __AVX2__
        cr_assert(!narrow || may_lose == (loses != 0), "may lose, trial %d", t);
#endif
        rows_fill(&rng, y, n, narrow ? 32 : 256);
        rows_plain_forbid(y, tables[0], present, n, out[0]);
        rows_forbid(y, tables[0], present, narrow, n, out[1]);
        cr_assert(!memcmp(out[0], out[1], n), "forbid, trial %d", t);
        bool any = rows_plain_meet(x, out[0], n, out[0]);
        cr_assert_eq(rows_meet(x, out[1], n, out[1]), any);
        cr_assert(!memcmp(out[0], out[1], n), "meet, trial %d", t);
    }
}

Test(rows, lanes_and_open_equal_the_plain_forms)
{
    struct pcg32 rng = pcg32_seed(7, 1);
    for (int t = 0; t < ROWS_TRIALS; t++) {
        uint32_t n = rows_length(&rng), open[2][ROW_MAX / 32];
        uint8_t row[ROW_MAX], among[ROW_MAX];
        rows_fill(&rng, row, n, t % 2 ? 256 : 3);
        rows_fill_flags(&rng, among, n);
        cr_assert_eq(rows_lanes_with(row, row[7]), rows_plain_lanes_with(row, row[7]), "lanes, trial %d", t);
        rows_open(row, among, n, open[0]);
        rows_plain_open(row, among, n, open[1]);
        cr_assert(!memcmp(open[0], open[1], n / 8), "open, trial %d", t);
    }
}

Test(rows, unite_equals_the_plain_form)
{
    struct pcg32 rng = pcg32_seed(8, 1);
    static uint8_t blocks[32 * ROW_BLOCK_MAX], out[2][ROW_BLOCK_MAX];
    for (int t = 0; t < ROWS_TRIALS; t++) {
        uint32_t bytes = ROW_ALIGN * (1 + pcg32_below(&rng, ROW_BLOCK_MAX / ROW_ALIGN)),
                 which = pcg32_below(&rng, UINT32_MAX) >> pcg32_below(&rng, 32);
        rows_fill(&rng, blocks, sizeof blocks, t % 2 ? 256 : 4);
        rows_unite(blocks, bytes, which, out[0]);
        rows_plain_unite(blocks, bytes, which, out[1]);
        cr_assert(!memcmp(out[0], out[1], bytes), "trial %d", t);
    }
}

Test(rows, relate_equals_the_plain_form)
{
    struct pcg32 rng = pcg32_seed(6, 1);
    static uint8_t classes[ROW_MAX], pairs[ROW_MAX], tuples[4 * ROW_MAX], present[ROW_MAX],
        block[ROW_BLOCK_MAX], lost[2][2][ROW_MAX];
    for (int t = 0; t < ROWS_TRIALS; t++) {
        uint32_t n = rows_length(&rng);
        struct row_relation r = {.classes = classes,
                                 .pairs = pairs,
                                 .tuples = tuples,
                                 .present = present,
                                 .n_values = 1 + pcg32_below(&rng, ROW_VALUES),
                                 .n_planes = 1 + pcg32_below(&rng, ROW_PLANES)};
        rows_fill(&rng, classes, n, ROW_CLASSES);
        rows_fill(&rng, pairs, n, 1u << r.n_values);
        rows_fill_flags(&rng, present, n);
        memset(tuples, 0, sizeof tuples);
        for (uint32_t i = 0; i < n; i++)
            rows_fill(&rng, tuples + 4 * i, r.n_planes, t % 3 ? 256 : 2);
        rows_fill(&rng, block, sizeof block, t % 2 ? 256 : 8);
        if (t % 5 == 0) memset(block, 255, sizeof block);
        unsigned loses = rows_plain_relate(&r, block, n, lost[0][0], lost[0][1]);
        cr_assert_eq(rows_relate(&r, block, n, lost[1][0], lost[1][1]), loses, "trial %d", t);
        cr_assert(!memcmp(lost[0][0], lost[1][0], n), "pairs, trial %d", t);
        cr_assert(!memcmp(lost[0][1], lost[1][1], n), "partners, trial %d", t);
    }
}
