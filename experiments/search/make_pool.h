/* Where pools come from: stores of `thresh tune KERNEL.lift --store`, or a table of all configurations. */
#ifndef THRESH_SEARCH_MAKE_POOL_H
#define THRESH_SEARCH_MAKE_POOL_H

#include "experiments/search/pool.h"

/* NULL after adding an error. */
struct pool *make_pool_of_csv(const char *path, struct diag *d);
/* Of n stores with runs of one program with the same sizes on one device. description: of the device, for
 * lower bounds; NULL: the one that is found by its name. NULL after adding an error. */
struct pool *make_pool_of_stores(char **paths, unsigned n, const char *description, struct diag *d);

#endif
