/* The verbs of `thresh space`, one file each. */
#ifndef THRESH_CLI_SPACE_H
#define THRESH_CLI_SPACE_H

#include "coordinator/cli/space_open.h"
#include "mcts/order.h"

/* The solutions of a space below its pins, in the order of --order. Zero-initialise. */
struct space_listing {
    const struct cli_args *args;
    struct space_state *state; /* NULL: there is no solution */
    struct mcts_order order;
    uint64_t printed, limit;
};

/* Instantiates the space and propagates the pins. false after an error. An empty space is not an error: a
 * note names the constraint that excludes all solutions. */
bool space_listing_open(const struct cli_args *a, struct cli_space *o, struct space_listing *l,
                        struct diag *d);
void space_listing_close(struct space_listing *l);
/* A solution as text without a newline: "x=1 y=NO", or JSON if --json is given. malloc'd. */
char *space_solution_line(const struct cli_args *a, const struct space_state *leaf);
void space_print_solution(const struct cli_args *a, const struct space_state *leaf);

/* A verb gets the loaded space; if it needs the instance it calls cli_space_instantiate(). Returns the exit
 * status. */
int space_compile_verb(const struct cli_args *a, struct cli_space *o, struct diag *d);
int space_describe_verb(const struct cli_args *a, struct cli_space *o, struct diag *d);
int space_count_verb(const struct cli_args *a, struct cli_space *o, struct diag *d);
int space_enumerate_verb(const struct cli_args *a, struct cli_space *o, struct diag *d);
int space_sample_verb(const struct cli_args *a, struct cli_space *o, struct diag *d);
int space_descend_verb(const struct cli_args *a, struct cli_space *o, struct diag *d);

#endif
