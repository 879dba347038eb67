/* Making and saving device descriptions, for `thresh device characterize`. */
#ifndef THRESH_CLI_CHARACTERIZE_H
#define THRESH_CLI_CHARACTERIZE_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/device.h"

struct diag;
struct perfmodel_device;

enum { PATH_MAX_TEXT = 4096 };

/* The description that the device has, if it has one; those that are left out are told on the error output.
 */
bool cli_description(const struct device *dev, struct perfmodel_device *out);
/* Runs the micro-benchmarks and joins them with what is known of the architecture. false after an error. */
bool cli_characterize(const struct device *dev, struct perfmodel_device *out, struct diag *d);
/* Writes FOLDER/NAME-OF-THE-DEVICE.json; NULL: the user's folder. The path goes to `path` (n bytes). false
 * after an error. */
bool cli_save_description(const struct perfmodel_device *dev, const char *folder, char *path, size_t n,
                          struct diag *d);

#endif
