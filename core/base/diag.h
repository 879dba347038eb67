/* Diagnostics: what is wrong with a user's input, where, with the line and a caret. Parsers and checkers
 * collect up to DIAG_MAX errors and go on; the command prints them and exits with status 2. Warnings are
 * printed in the same form, but the work goes on and the exit status stays as it is:
 *
 *     k.space:7:1: warning: the condition is always true
 *         require n >= 0
 *         ^
 */
#ifndef THRESH_BASE_DIAG_H
#define THRESH_BASE_DIAG_H

#include <stdbool.h>
#include <stdio.h>

#include "core/base/attr.h"

enum { DIAG_MAX = 20 };

/* A source text that errors point into. The text is borrowed; diagnostics copy
 * what they print of it. */
struct source {
    const char *path; /* as the user named it */
    const char *text; /* 0-terminated */
    size_t length;    /* bytes */
};

/* A place in a source: byte offset. Line and column are 1-based, columns count characters; both are computed
 * when printed. */
struct source_pos {
    const struct source *source; /* NULL: no file */
    size_t offset;               /* bytes from the start of the text */
};

struct diag; /* a list of errors, and one of warnings */

struct diag *diag_new(void);
void diag_free(struct diag *d);

/* Adds an error. Beyond DIAG_MAX errors are counted, not kept. */
void diag_error(struct diag *d, struct source_pos at, const char *fmt, ...) BASE_PRINTF(3, 4);
/* Adds an error at the first character of a line of which only the number (1-based) is known: the line is
 * shown if the file can still be read. */
void diag_line(struct diag *d, const char *path, unsigned line, const char *fmt, ...) BASE_PRINTF(4, 5);
/* Adds an error that no file is to blame for (an option, a device). */
void diag_plain(struct diag *d, const char *fmt, ...) BASE_PRINTF(2, 3);

/* Adds a warning. Those beyond DIAG_MAX are not kept. */
void diag_warning(struct diag *d, struct source_pos at, const char *fmt, ...) BASE_PRINTF(3, 4);
/* Adds a warning without a place (an option, a device). */
void diag_plain_warning(struct diag *d, const char *fmt, ...) BASE_PRINTF(2, 3);

/* Errors; warnings do not count. */
size_t diag_count(const struct diag *d);
bool diag_failed(const struct diag *d);
/* The i-th error as one line "file:line:col: error: text" (no caret); owned by d. */
const char *diag_message(const struct diag *d, size_t i);
/* Prints every error and warning with its line and a caret, in the order of their places. */
void diag_print(const struct diag *d, FILE *out);
/* Prints the warnings and removes them: at the start of work that takes long. */
void diag_print_warnings(struct diag *d, FILE *out);
/* 1-based line and column of a place. */
void source_locate(struct source_pos at, unsigned *line, unsigned *column);

/* Reads a whole text file (UTF-8, at most `limit` bytes, none of them 0). Returns a malloc'd 0-terminated
 * text, or NULL after adding an error. */
char *source_read_file(const char *path, size_t limit, size_t *length, struct diag *d);

#endif
