/* Making and saving device descriptions: `thresh device characterize` measures them, `thresh audit` corrects
 * them. */
#ifndef THRESH_CLI_CHARACTERIZE_H
#define THRESH_CLI_CHARACTERIZE_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/device.h"
#include "perfmodel/merge.h"

struct diag;

enum { PATH_MAX_TEXT = 4096 };

/* Finds the device's description. false: there is none. Damaged descriptions are noted on standard error. */
bool cli_description(const struct device *dev, struct perfmodel_device *out);
/* Today's date, YYYY-MM-DD (UTC). */
void cli_today(char out[PERFMODEL_DATE]);

/* A new description beside the earlier one. */
struct cli_characterization {
    bool found; /* there is an earlier one */
    struct perfmodel_device earlier, fresh, kept;
    struct perfmodel_verdict verdicts[PERFMODEL_FIGURE_COUNT]; /* how `kept` follows from the others */
};
/* Runs the micro-benchmarks and merges their results with known values of the architecture and, unless
 * `anew`, with the earlier description. false after an error. */
bool cli_characterize(const struct device *dev, bool anew, struct cli_characterization *out, struct diag *d);
/* Writes FOLDER/NAME-OF-THE-DEVICE.json and stores its path in `path` (n bytes). folder NULL: the user's
 * folder. false after an error. */
bool cli_save_description(const struct perfmodel_device *dev, const char *folder, char *path, size_t n,
                          struct diag *d);

#endif
