/* Loads at constant places of windows that read one staged value. Of a clamped array A of H rows
 *
 *     map(fun w -> at(0, w) + at(2, w), slide(3, 1, pad(1, 1, clamp, A)))
 *
 *     A.load      A[max(y - 1, 0)]          A[F(y)]       F(w) = min(max(w - 1, 0), H - 1)
 *     A_2.load    A[min(y + 1, H - 1)]      A[F(y + 2)]
 *
 * The first load is the *owner*: with its spots as variables (view_spot.c) it is A[F(y + s)], and F comes
 * from the window y + s. A load that is F(y + c) for some c, when written out, is a reader of the same tile.
 * Its coordinate is y, which has more elements than y alone (`spread`): as many as the readers' c differ. A
 * computed value (stored.h) is the same: F is in all that makes it. Internal to core/backbone. */
#ifndef THRESH_BACKBONE_SPOTS_H
#define THRESH_BACKBONE_SPOTS_H

#include "core/backbone/window.h"

struct lowering;

/* A LOAD or TAKE, and what it adds to each coordinate. */
struct bb_spot_reader {
    uint32_t load;
    int64_t at[BB_MAX_LOGICALS];
};

/* Readers of one region. */
struct bb_spots {
    unsigned n_readers; /* the first is the owner */
    struct bb_spot_reader *readers;
    unsigned n_coordinates;
    struct bb_coordinate coordinates[BB_MAX_LOGICALS]; /* without spots */
    int64_t least[BB_MAX_LOGICALS];                    /* what the sum is at coordinate 0 */
    struct bb_inst *insts; /* what makes the owner's value, and the load: with variable sum + j for the sum of
                              coordinate j */
    uint32_t sum;
    bool is_sum[BB_MAX_LOGICALS]; /* coordinate j is one; else a logical */
};

/* Finds the readers of the value of a LOAD or TAKE among those after it that are not taken yet. false: it is
 * the only one, or what it reads is no window. */
bool bb_find_spots(const struct lowering *l, uint32_t load, const uint32_t *makers, unsigned n_makers,
                   const bool *taken, struct bb_spots *out);
/* Writes a copy of maker number k, its indices and guards, where the copies' logicals are numbered from
 * `first` on. */
void bb_put_spots(struct arena *a, const struct bb_spots *s, unsigned k, uint32_t first,
                  struct bb_inst *inst);

#endif
