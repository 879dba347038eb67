/* A set of 64-bit hashes: the implementations that were returned for evaluation. Open addressing, at most
 * half full; 16 bytes each in the worst case. Two different ones among a million have the same hash with
 * probability 3e-8, and the only effect is that the second is never evaluated. */
#ifndef THRESH_MCTS_SEEN_H
#define THRESH_MCTS_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise; release with mcts_seen_free(). */
struct mcts_seen {
    uint64_t *slots; /* 0: empty */
    size_t capacity; /* 0 or a power of two */
    size_t count;
};

bool mcts_seen_has(const struct mcts_seen *s, uint64_t hash);
void mcts_seen_add(struct mcts_seen *s, uint64_t hash);
struct archive;
/* Writes the set or reads it. */
void mcts_seen_archive(struct mcts_seen *s, struct archive *a);
void mcts_seen_free(struct mcts_seen *s);

#endif
