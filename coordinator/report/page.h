/* The page of a store as HTML, whole or in fragments that a live page replaces one by one:
 *
 *     head        what, when, where, state of the runs
 *     searches    the table of all searches
 *     search-3    run 3: plots, outcomes, visits, importance of choices, the best implementation
 *     agents, events
 *
 * The page is one file without references to any other; with `live` it has a script that listens to /events.
 */
#ifndef THRESH_REPORT_PAGE_H
#define THRESH_REPORT_PAGE_H

#include "coordinator/portable.h"
#include "coordinator/report/study.h"

struct report_view {
    const struct report_data *data;
    const struct report_study *const *studies; /* [searches] NULL: not made yet; NULL: none at all */
    const char *version;                       /* of thresh */
    int64_t now;                               /* Unix seconds */
    const struct portable *portables;          /* choices for all devices */
    size_t n_portables;
    bool live;
};

enum { REPORT_FRAGMENT_BYTES = 32 };

/* How many fragments the page has, and the name of the i-th. */
size_t report_fragment_count(const struct report_view *v);
void report_fragment_name(const struct report_view *v, size_t i, char out[REPORT_FRAGMENT_BYTES]);
/* Appends the i-th fragment: an element with the id `name`. */
void report_fragment(const struct report_view *v, size_t i, struct strbuf *out);
/* Appends the best times in a paragraph, which a live page has between head and searches; its id is
 * "headline". Screen readers say it when it changes. */
void report_headline(const struct report_view *v, struct strbuf *out);
/* Appends the page around the texts of its fragments. since: the version of the fragments, for /events. */
void report_page(const struct report_view *v, const char *const *fragments, size_t n, uint64_t since,
                 struct strbuf *out);
/* The section of one search. */
void report_search_section(const struct report_view *v, size_t i, struct strbuf *out);

#endif
