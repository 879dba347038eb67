/* The vector forms of the row loops against the plain ones, on random rows. */
#include <criterion/criterion.h>
#include <string.h>

#include "core/base/pcg32.h"
#include "core/space/rows.h"

enum { ROWS_TRIALS = 300 };

static void rows_fill(struct pcg32 *rng, uint8_t *out, uint32_t n, uint32_t below)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = (uint8_t)pcg32_below(rng, below);
}

static uint32_t rows_length(struct pcg32 *rng)
{
    return ROW_ALIGN * (1 + pcg32_below(rng, 5));
}

Test(rows, compose_and_open_equal_the_plain_forms)
{
    struct pcg32 rng = pcg32_seed(5, 1);
    for (int t = 0; t < ROWS_TRIALS; t++) {
        bool narrow = t % 2;
        uint32_t n = rows_length(&rng), changed[2][ROW_MAX / 32];
        uint8_t row[ROW_MAX], via[ROW_MAX], table[256], out[2][ROW_MAX];
        rows_fill(&rng, row, n, 256);
        rows_fill(&rng, via, n, narrow ? 32 : 256);
        rows_fill(&rng, table, 256, 256);
        rows_compose(row, via, table, narrow, n, out[0], changed[0]);
        rows_plain_compose(row, via, table, n, out[1], changed[1]);
        cr_assert(!memcmp(out[0], out[1], n) && !memcmp(changed[0], changed[1], n / 8), "compose, trial %d",
                  t);
        rows_open(row, n, changed[0]);
        rows_plain_open(row, n, changed[1]);
        cr_assert(!memcmp(changed[0], changed[1], n / 8), "open, trial %d", t);
    }
}

Test(rows, relate_equals_the_plain_form)
{
    struct pcg32 rng = pcg32_seed(6, 1);
    static uint8_t tuples[ROW_PLANES * ROW_MAX], kept[2][ROW_PLANES][ROW_MAX];
    for (int t = 0; t < ROWS_TRIALS; t++) {
        uint32_t n = rows_length(&rng), pairs_changed[2][ROW_MAX / 32], tuples_changed[2][ROW_MAX / 32];
        uint8_t classes[ROW_MAX], pairs[ROW_MAX], left[2][ROW_MAX];
        struct row_relation r = {
            classes, pairs, tuples, 1 + pcg32_below(&rng, ROW_VALUES), 1 + pcg32_below(&rng, 4), n};
        struct row_block block;
        rows_fill(&rng, classes, n, ROW_CLASSES);
        rows_fill(&rng, pairs, n, 1u << r.n_values);
        rows_fill(&rng, tuples, n * r.n_planes, 256);
        rows_fill(&rng, &block.allows[0][0][0], sizeof block, t % 2 ? 256 : 8);
        rows_relate(&r, &block, n, left[0], kept[0], pairs_changed[0], tuples_changed[0]);
        rows_plain_relate(&r, &block, n, left[1], kept[1], pairs_changed[1], tuples_changed[1]);
        cr_assert(!memcmp(left[0], left[1], n) && !memcmp(pairs_changed[0], pairs_changed[1], n / 8),
                  "trial %d", t);
        cr_assert(!memcmp(tuples_changed[0], tuples_changed[1], n / 8), "trial %d", t);
        for (uint32_t k = 0; k < r.n_planes; k++)
            cr_assert(!memcmp(kept[0][k], kept[1][k], n), "trial %d, plane %u", t, k);
    }
}
