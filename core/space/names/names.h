/* Names, shared by the files of this room. */
#ifndef THRESH_SPACE_NAMES_NAMES_H
#define THRESH_SPACE_NAMES_NAMES_H

#include "core/space/layout.h"

enum { NAME_BYTES = 512 };

/* How many ways round a choice can be named: 2 of a pair. */
unsigned names_ways_round(const struct space *s, uint32_t slot);
/* Whether a pattern without spaces matches what a choice is called one way round. */
bool names_match(const struct space *s, uint32_t slot, bool flip, const char *pattern);

#endif
