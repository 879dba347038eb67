/* The options that programs of searches have in common, and what they print first of a search. For example
 *
 *     search-bench --seeds 50 --evaluations 400 --label new --heuristic tag --heuristic uct:c=2 A.pool */
#ifndef THRESH_SEARCH_OPTIONS_H
#define THRESH_SEARCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SEARCH_HEURISTICS = 64,
    SEARCH_IN_FLIGHT = 64,
    SEARCH_STUCK = 20 /* calls in a row without a new implementation: a search ends */
};

/* Texts are the caller's. */
struct search_options {
    const char *label, *heuristics[SEARCH_HEURISTICS];
    const char *order;       /* NULL: the default */
    const char *description; /* file of a device; NULL: the one of its name */
    unsigned n_heuristics;
    uint32_t first_seed, seeds, evaluations, in_flight;
    bool trace;
};

/* Reads the options into *o, which has the defaults; without --heuristic it is `tag`. allowed: the letters of
 * --order (o), --description (d) and --trace (t) that the program has. The first argument that is no option
 * is argv[optind] of <unistd.h>. false: a wrong call. */
bool search_options_read(struct search_options *o, const char *allowed, int argc, char **argv);
/* "build/search/conv.pool" -> "conv"; free it. */
char *search_pool_name(const char *path);
/* What a line begins with, up to the course (statistics.h). */
void search_print_head(const struct search_options *o, const char *pool, const char *heuristic,
                       uint32_t seed);

#endif
