/* Printing an implementation's comparison with another contender of the final rounds, for `thresh explain`.
 */
#ifndef THRESH_CLI_CONTENDERS_H
#define THRESH_CLI_CONTENDERS_H

#include <jansson.h>

/* Prints what rival_json() made as a line of the summary with the differences below it. */
void cli_print_contender(const json_t *contender);

#endif
