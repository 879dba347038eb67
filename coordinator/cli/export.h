/* The parts of `thresh export`, which `thresh store export` shares: export.c is the command and the best
 * implementations, export_evaluations.c the formats that have every evaluation. */
#ifndef THRESH_CLI_EXPORT_H
#define THRESH_CLI_EXPORT_H

#include "coordinator/cli/cli.h"
#include "coordinator/export.h"

/* Stores that are open for reading. */
struct cli_stores {
    struct export_store items[CLI_MAX_POSITIONAL];
    size_t n;
};

/* Adds all of them. NULL after an error. */
struct winners *cli_winners(const struct cli_stores *stores, struct diag *d);

/* Writes with `write` to --out, completely or not at all, or to standard output. Returns the exit status;
 * `write` returns false after an error of the input. */
int cli_write_out(const struct cli_args *a, bool (*write)(void *context, FILE *out, struct diag *d),
                  void *context, struct diag *d);

/* "jsonl" or "csv" of the n stores. Returns the exit status. */
int cli_export_rows(const struct cli_args *a, const char *const *paths, size_t n, const char *format,
                    struct diag *d);
/* "kernel-tuner" or "t4". Several problems need a folder as --out and become a file each. Returns the exit
 * status. */
int cli_export_tables(const struct cli_args *a, const struct cli_stores *stores, const char *format,
                      struct diag *d);

#endif
