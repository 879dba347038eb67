/* Which kind of input a file is, by its name or, for stores, by its first bytes, so that a command that gets
 * another kind than it takes can say so: "'axpy.lift' is a Lift program, not a space; ...". */
#ifndef THRESH_CLI_KIND_H
#define THRESH_CLI_KIND_H

#include <stdbool.h>

struct diag;

/* Whether the path ends in `end`, such as ".space". */
bool cli_ends_with(const char *path, const char *end);

enum cli_kind { CLI_KIND_PROGRAM, CLI_KIND_SPACE, CLI_KIND_STORE, CLI_KIND_JSON, CLI_KIND_OTHER };

/* CLI_KIND_OTHER: of no known kind, or there is no such file. */
enum cli_kind cli_kind_of(const char *path);

/* Whether the file can be what is wanted: of that kind or of no known one. false after an error. Of
 * CLI_KIND_JSON and CLI_KIND_STORE, which hold results, one is as good as the other. */
bool cli_expect_kind(const char *path, enum cli_kind wanted, struct diag *d);

#endif
