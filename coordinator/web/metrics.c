/* Prometheus metrics; see metrics.h. A family is its two lines of comment, then a line for each search. */
#define _DEFAULT_SOURCE /* timegm */
#include "coordinator/web/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The value of a label: \, " and the end of a line are escaped. */
static void add_value(struct strbuf *out, const char *text)
{
    for (; *text; text++)
        if (*text == '\n')
            strbuf_add(out, "\\n");
        else if (*text == '\\' || *text == '"')
            strbuf_printf(out, "\\%c", *text);
        else
            strbuf_addn(out, text, 1);
}

static void add_label(struct strbuf *out, const char *name, const char *text)
{
    strbuf_printf(out, "%s=\"", name);
    add_value(out, text);
    strbuf_add(out, "\"");
}

static void begin_family(struct strbuf *out, const char *name, const char *type, const char *help)
{
    strbuf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* NAME{run="1",search="...",device="..."[,more="text"] */
static void begin_line(struct strbuf *out, const char *name, const struct report_search *s)
{
    char *search = report_name(s);
    strbuf_printf(out, "%s{run=\"%" PRId64 "\",", name, s->run);
    add_label(out, "search", search);
    strbuf_add(out, ",");
    add_label(out, "device", s->device);
    free(search);
}

static void add_seconds(struct strbuf *out, const char *name, const struct report_search *s, double seconds)
{
    begin_line(out, name, s);
    strbuf_printf(out, "} %.9g\n", seconds);
}

/* ---- searches ---- */

static void add_evaluations(const struct report_search *s, size_t n, struct strbuf *out)
{
    static const char name[] = "thresh_evaluations_total";
    begin_family(out, name, "counter", "Implementations by outcome.");
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < s[i].n_outcomes; k++) {
            begin_line(out, name, &s[i]);
            strbuf_add(out, ",");
            add_label(out, "outcome", s[i].outcomes[k].name);
            strbuf_printf(out, "} %" PRIu64 "\n", s[i].outcomes[k].count);
        }
}

static void add_best(const struct report_search *s, size_t n, struct strbuf *out)
{
    static const char name[] = "thresh_best_seconds";
    begin_family(out, name, "gauge", "Time of the best implementation.");
    for (size_t i = 0; i < n; i++) {
        struct figure best = report_best(&s[i], NULL, NULL);
        if (figure_known(&best)) add_seconds(out, name, &s[i], best.median_ns / 1e9);
    }
}

static void add_bound(const struct metrics *m, const struct report_search *s, size_t n, struct strbuf *out)
{
    static const char name[] = "thresh_bound_seconds";
    begin_family(out, name, "gauge", "Lower bound of all implementations.");
    for (size_t i = 0; i < n; i++)
        if (m->studies[i] && m->studies[i]->bound_ns > 0)
            add_seconds(out, name, &s[i], m->studies[i]->bound_ns / 1e9);
}

/* When the last row of a search was written: as its owner says, else as its rows do. 0: not known. */
static double last_row(const struct report_search *s)
{
    struct tm tm = {0};
    if (s->seen > 0) return (double)s->seen;
    if (sscanf(s->started, "%d-%d-%d%*1[ T]%d:%d:%d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
               &tm.tm_min, &tm.tm_sec) != 6)
        return 0;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    return (double)timegm(&tm) + s->last_s;
}

static void add_age(const struct metrics *m, const struct report_search *s, size_t n, struct strbuf *out)
{
    static const char name[] = "thresh_last_evaluation_age_seconds";
    begin_family(out, name, "gauge", "Time since the last evaluation was recorded.");
    for (size_t i = 0; i < n; i++) {
        double at = last_row(&s[i]);
        if (at > 0 && s[i].evaluations > 0) add_seconds(out, name, &s[i], fmax((double)m->now - at, 0));
    }
}

static void add_states(const struct metrics *m, const struct report_search *s, size_t n, struct strbuf *out)
{
    static const char name[] = "thresh_search_running";
    begin_family(out, name, "gauge", "1: a process is searching.");
    for (size_t i = 0; i < n; i++) {
        begin_line(out, name, &s[i]);
        strbuf_printf(out, "} %d\n", report_state(&s[i], m->now) == REPORT_SEARCHING);
    }
}

/* ---- agents ---- */

static void add_agents(const struct metrics *m, struct strbuf *out)
{
    static const char name[] = "thresh_agents", results[] = "thresh_agent_results_total";
    size_t n;
    const struct report_agent *a = report_agents(m->data, &n);
    if (n == 0) return;
    begin_family(out, name, "gauge", "Agents by state.");
    for (size_t i = 0; i < n; i++) {
        size_t count = 0;
        bool seen = false;
        for (size_t k = 0; k < n; k++) {
            bool same = strcmp(a[k].state, a[i].state) == 0;
            seen = seen || (same && k < i);
            count += same;
        }
        if (seen) continue;
        strbuf_printf(out, "%s{", name);
        add_label(out, "state", a[i].state);
        strbuf_printf(out, "} %zu\n", count);
    }
    begin_family(out, results, "counter", "Results of an agent.");
    for (size_t i = 0; i < n; i++) {
        strbuf_printf(out, "%s{id=\"%" PRId64 "\",", results, a[i].id);
        add_label(out, "agent", a[i].name);
        strbuf_printf(out, "} %" PRId64 "\n", a[i].results);
    }
}

void metrics_print(const struct metrics *m, struct strbuf *out)
{
    size_t n;
    const struct report_search *s = report_searches(m->data, &n);
    begin_family(out, "thresh_info", "gauge", "The version of thresh.");
    strbuf_add(out, "thresh_info{");
    add_label(out, "version", m->version);
    strbuf_add(out, "} 1\n");
    begin_family(out, "thresh_store_readable", "gauge", "1: the store could be read the last time.");
    strbuf_printf(out, "thresh_store_readable %d\n", m->readable);
    add_evaluations(s, n, out);
    add_best(s, n, out);
    add_bound(m, s, n, out);
    add_age(m, s, n, out);
    add_states(m, s, n, out);
    add_agents(m, out);
}
