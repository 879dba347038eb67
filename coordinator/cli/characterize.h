/* Making and saving device descriptions, for `thresh device characterize`. */
#ifndef THRESH_CLI_CHARACTERIZE_H
#define THRESH_CLI_CHARACTERIZE_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/device.h"
#include "perfmodel/merge.h"

struct diag;

enum { PATH_MAX_TEXT = 4096 };

/* The description that the device has, if it has one; those that are left out are told on the error output.
 */
bool cli_description(const struct device *dev, struct perfmodel_device *out);
/* The day of now, YYYY-MM-DD. */
void cli_today(char out[PERFMODEL_DATE]);

/* A description that is made again. */
struct cli_characterization {
    bool found; /* there was an earlier one */
    struct perfmodel_device earlier, fresh, kept;
    struct perfmodel_verdict verdicts[PERFMODEL_FIGURE_COUNT]; /* how `kept` follows from the others */
};
/* Runs the micro-benchmarks, joins them with what is known of the architecture and, unless `anew`, with the
 * description that the device has. false after an error. */
bool cli_characterize(const struct device *dev, bool anew, struct cli_characterization *out, struct diag *d);
/* Writes FOLDER/NAME-OF-THE-DEVICE.json; NULL: the user's folder. The path goes to `path` (n bytes). false
 * after an error. */
bool cli_save_description(const struct perfmodel_device *dev, const char *folder, char *path, size_t n,
                          struct diag *d);

#endif
