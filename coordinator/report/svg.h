/* Plots as SVG inside a page. Colours are classes of page.css, so that they follow the reader's colour
 * scheme; what differs in colour differs in form, too. Each plot has a title and a description for screen
 * readers; the page has a table with the same figures beside it.
 *
 *     svg_progress(b, &(struct svg_progress){.id = "best-1", .x = {.high = 300}, ...}); */
#ifndef THRESH_REPORT_SVG_H
#define THRESH_REPORT_SVG_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/strbuf.h"

enum svg_quantity { SVG_COUNT, SVG_SECONDS, SVG_NS };

/* From low to high, low < high; a logarithmic one has low > 0. */
struct svg_axis {
    double low, high;
    bool log;
    enum svg_quantity quantity;
    const char *title;
};

struct svg_point {
    double x, y;
};

/* Times over evaluations or over seconds: each as a dot, the best until then as steps, and levels. */
struct svg_progress {
    const char *id; /* unique in the page */
    const char *title, *description;
    struct svg_axis x;
    const struct svg_point *dots, *steps; /* y in ns; steps by ascending x, falling */
    size_t n_dots, n_steps;
    double bound_ns, naive_ns; /* 0: not known */
};
void svg_progress(struct strbuf *b, const struct svg_progress *p);
/* The steps alone, as small as a word. */
void svg_spark(struct strbuf *b, const struct svg_point *steps, size_t n, double x_high);

struct svg_bar {
    const char *label, *text; /* text: the figure beside the bar */
    double share;             /* of the longest possible bar, 0 to 1 */
    unsigned kind;            /* of the fill, from 0 */
};
/* A bar for each row. */
void svg_bars(struct strbuf *b, const char *id, const char *title, const char *description,
              const struct svg_bar *bars, size_t n);
/* All of them one after the other in one bar; their shares add up to 1 at most. */
void svg_stack(struct strbuf *b, const char *id, const char *title, const char *description,
               const struct svg_bar *parts, size_t n);

#endif
