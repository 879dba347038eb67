/* The kind of an input file: by its first bytes for a store, else by its ending. A command that is given the
 * wrong kind says so: "'axpy.lift' is a Lift program, not a space; 'thresh tune', ... take programs". */
#ifndef THRESH_CLI_KIND_H
#define THRESH_CLI_KIND_H

#include <stdbool.h>

struct diag;

/* Whether the path ends in `end`, such as ".space". */
bool cli_ends_with(const char *path, const char *end);

enum cli_kind { CLI_KIND_PROGRAM, CLI_KIND_SPACE, CLI_KIND_STORE, CLI_KIND_JSON, CLI_KIND_OTHER };

/* CLI_KIND_OTHER: the kind is not known, or the file does not exist. */
enum cli_kind cli_kind_of(const char *path);

/* Whether the file can be of the wanted kind: it is, or its kind is not known. false after an error.
 * CLI_KIND_JSON and CLI_KIND_STORE both hold results; either is accepted for the other. */
bool cli_expect_kind(const char *path, enum cli_kind wanted, struct diag *d);

#endif
