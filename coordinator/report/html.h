/* Writing HTML that is XML as well (every element is closed, every attribute quoted), so that a strict parser
 * reads it. Texts of the store may be hostile: a device can be named "<script>". Each text that is inserted
 * is escaped by the function that inserts it:
 *
 *     html_add(b, "<td title=\"%s\">%s</td>", agent->driver, agent->name);
 *
 * The format is a literal of ours with the markup; %s inserts a text escaped, numbers are as in printf(). */
#ifndef THRESH_REPORT_HTML_H
#define THRESH_REPORT_HTML_H

#include "core/base/attr.h"
#include "core/base/strbuf.h"

/* Appends. Conversions: %s, %d, %u, %zu, %c, those of PRId64 and PRIu64, %f and %g with flags and precision;
 * %% is a percent sign. Texts are escaped for content and for quoted attributes; bytes that are no UTF-8, and
 * characters that XML does not allow, become '?'. */
void html_add(struct strbuf *b, const char *format, ...) BASE_PRINTF(2, 3);

#endif
