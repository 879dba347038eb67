/* What the page shows now: the store as it was last read, the texts of the page's fragments, and since when
 * each is as it is.
 *
 *     board_update(b)                      reads what is new, makes the fragments anew that it concerns
 *     board_page(b, &page)                 the page, with the version of its fragments
 *     board_changes(b, since, &events)     what has changed since that version, as server-sent events
 *
 * Versions grow, also from one process to the next: they begin with the time. */
#ifndef THRESH_WEB_BOARD_H
#define THRESH_WEB_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/report/study.h"
#include "core/base/strbuf.h"

struct board;

/* Reads the store for the first time. Pointers are borrowed until board_free(). NULL after an error. */
struct board *board_new(const char *store, const struct report_opener *opener, const char *version,
                        struct diag *d);
void board_free(struct board *b); /* NULL is allowed */

/* Reads the store if it has changed. What cannot be read now is said on the page, and tried again. */
void board_update(struct board *b);
/* Readable when a study is finished, which board_update() shows. */
int board_fd(const struct board *b);
/* Somebody looks at the page (again: and will see what changes): has missing and old studies made. */
void board_study(struct board *b, bool again);

uint64_t board_version(const struct board *b);
/* Why the store cannot be read at present; "": it can. Borrowed. */
const char *board_trouble(const struct board *b);
const struct report_data *board_data(const struct board *b);
/* As studies_of(). */
const struct report_study *const *board_studies(struct board *b);

/* Appends. */
void board_page(struct board *b, struct strbuf *out);
void board_changes(const struct board *b, uint64_t since, struct strbuf *out);

#endif
