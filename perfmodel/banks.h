/* The parts of the bank model: what staged tiles ask of the banks of local memory.
 *
 *     banks.c         reads the decisions, keeps what was counted, takes the cheapest layout and padding
 *     bank_tile.c     who has which element of a staged tile; which layouts and paddings are left
 *     bank_cycles.c   the cycles of a tile's accesses
 *
 * An example: 64 x 64 floats in local memory, a row for each of 64 work-items. Without padding row r begins
 * at word 64 * r, so the 32 work-items of a bundle all want words of bank 0 first: 32 cycles in place of one.
 * With one element of padding row r begins at word 65 * r, in bank r % 32: one cycle. */
#ifndef THRESH_PERFMODEL_BANKS_H
#define THRESH_PERFMODEL_BANKS_H

#include "core/backbone/seat.h"
#include "perfmodel/model.h"

enum {
    BANKS = 32,
    WORD_BYTES = 4,
    WIDEST = 4, /* words of an access of one work-item */
    MOST_ITEMS = 1024,
    MOST_WORDS = 65536 / WORD_BYTES, /* of a tile */
    MOST_SHAPES = 64,                /* of a tile; with more nothing is counted */
    MAX_SEATED = 32
};

/* One tile of a logical dimension as it is decided. */
struct seated {
    int64_t size, stride; /* iterations; words of the staged tile from one to the next */
    int axis;             /* of work-items; -1: sequential */
    int64_t inner;        /* work-items along the axis from one to the next */
};

/* How the elements of a staged tile are divided among work-items, by its readers or by its copy. */
struct division {
    unsigned n;
    struct seated part[MAX_SEATED];
    int64_t extent[BB_AXES]; /* work-items along each axis that take part */
};

/* Strides of a staged tile's coordinates, in words, and what the tile has of them with padding. */
struct shape {
    int64_t stride[BB_MAX_LOGICALS], words;
};

/* A staged tile in one candidate. */
struct staged_tile {
    int64_t extent[BB_MAX_LOGICALS];
    unsigned cut[BB_MAX_LOGICALS]; /* tiles of each coordinate that are outside the copy */
    int64_t fillings;
    const struct shape *shape;
    struct division readers, copy;
};

/* Cycles that were counted. */
struct counted {
    struct shape shape;
    double cycles;
};

struct banks {
    uint32_t *size_slot, *seat_slot; /* [n_tiles] */
    uint32_t *mem_slot, *pad_slot;   /* [n_regions] */
    uint32_t *outside_slot;          /* [n_terms] */
    uint32_t *layout_slot; /* [n_region_dims][BB_MAX_LOGICALS] against the coordinates of its region */
    bool *layout_flipped;  /* the same */
    unsigned n_key;
    int64_t *key, *kept_key; /* decisions but those of shapes, of this candidate and of the last one */
    bool kept;
    int64_t local[BB_AXES],
        waves; /* of kept_key: work-items of a group; groups of the busiest unit, 0: unknown */
    struct counted (*counted)[MOST_SHAPES]; /* [n_regions] with kept_key */
    unsigned *n_counted;                    /* [n_regions] */
    unsigned char *marks;                   /* [MOST_WORDS + WIDEST] 0 between uses */
    int32_t *steps;                         /* [MOST_WORDS] scratch */
};

/* The parts of the key. */
struct decisions {
    const int64_t *size, *seat, *staged, *outside;
};

/* The shapes that a candidate leaves to a staged tile. */
struct shapes {
    const struct perfmodel *m;
    const struct space_state *state;
    const struct bb_region *region;
    const int64_t *extent;
    struct shape list[MOST_SHAPES];
    unsigned n;
    bool many; /* more than MOST_SHAPES */
};

/* ---- bank_tile.c ---- */

/* Work-items along each axis of the run that a tile may be in. */
void banks_run_extents(const struct backbone *bb, const struct decisions *d, uint32_t tile,
                       int64_t extent[BB_AXES]);
/* Sizes of what is staged. false if its cycles cannot be counted: of a window a work-item reads an element
 * several times, or keeps it in a register. */
bool banks_open_staged(const struct backbone *bb, const struct decisions *d, const struct bb_region *r,
                       struct staged_tile *out);
/* Who has which element of a tile of that shape, after banks_open_staged(). false likewise. */
bool banks_divide_staged(const struct backbone *bb, const struct decisions *d, const struct bb_region *r,
                         const struct shape *shape, struct staged_tile *t);
/* Lists the layouts and paddings that are left, for a tile of these extents. */
void banks_list_shapes(const struct perfmodel *m, const struct space_state *state,
                       const struct bb_region *region, const int64_t *extent, struct shapes *out);

/* ---- bank_cycles.c ---- */

/* Cycles of a tile in one group over all its fillings; 0: no work-item reads what another one wrote. */
double banks_tile_cycles(const struct banks *b, const struct staged_tile *t);

#endif
