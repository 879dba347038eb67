/* The page and what is in it beside the sections of searches (page_search.c). */
#include "coordinator/report/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coordinator/report/curve.h"
#include "coordinator/report/html.h"
#include "core/base/arena.h"
#include "core/base/units.h"

extern const char asset_page_css[]; /* page.css, made by the Makefile */

enum { SHOWN_AGENTS = 200, TIME_BYTES = 40 };

/* "2026-11-23 17:54:13 UTC"; "-": not known. */
static const char *date_text(int64_t unix_s, char out[TIME_BYTES])
{
    time_t t = (time_t)unix_s;
    struct tm tm;
    if (unix_s <= 0 || !gmtime_r(&t, &tm) || strftime(out, TIME_BYTES, "%Y-%m-%d %H:%M:%S UTC", &tm) == 0)
        strcpy(out, "-");
    return out;
}

static const char *state_text(enum report_state s)
{
    static const char *const texts[] = {"searching", "silent", "ended", "finished"};
    return texts[s];
}

/* ---- head ---- */

static void term(struct strbuf *out, const char *name, const char *text)
{
    if (*text) html_add(out, "<div><dt>%s</dt><dd>%s</dd></div>", name, text);
}

/* The distinct texts of all searches, joined. */
static void distinct_term(struct strbuf *out, const char *name, const struct report_search *s, size_t n,
                          const char *(*text_of)(const struct report_search *))
{
    struct strbuf all = {0};
    for (size_t i = 0; i < n; i++) {
        const char *text = text_of(&s[i]);
        bool seen = !*text;
        for (size_t k = 0; k < i && !seen; k++)
            seen = strcmp(text_of(&s[k]), text) == 0;
        if (!seen) strbuf_printf(&all, "%s%s", all.length ? "; " : "", text);
    }
    term(out, name, all.text ? all.text : "");
    strbuf_free(&all);
}

static const char *device_of(const struct report_search *s)
{
    return report_is_space(s) ? "a command" : s->device;
}

static const char *driver_of(const struct report_search *s)
{
    return s->driver;
}

static const char *libraries_of(const struct report_search *s)
{
    return s->libraries;
}

static void state_term(const struct report_view *v, const struct report_search *s, size_t n,
                       struct strbuf *out)
{
    size_t counts[4] = {0};
    struct strbuf text = {0};
    for (size_t i = 0; i < n; i++)
        counts[report_state(&s[i], v->now)]++;
    for (unsigned k = 0; k < 4; k++)
        if (counts[k])
            strbuf_printf(&text, "%s%zu %s", text.length ? ", " : "", counts[k],
                          state_text((enum report_state)k));
    term(out, "Searches", text.text ? text.text : "none");
    strbuf_free(&text);
}

static const char *title_of(const struct report_view *v)
{
    size_t n;
    const struct report_campaign *c = report_campaigns(v->data, &n);
    const char *path = report_data_path(v->data), *slash = strrchr(path, '/');
    if (n > 0 && *c[n - 1].name) return c[n - 1].name;
    return slash && slash[1] ? slash + 1 : path;
}

static void add_head(const struct report_view *v, struct strbuf *out)
{
    size_t n;
    uint64_t evaluations = 0;
    char now[TIME_BYTES], count[UNITS_BYTES];
    const struct report_search *s = report_searches(v->data, &n);
    for (size_t i = 0; i < n; i++)
        evaluations += s[i].evaluations;
    html_add(out, "<header id=\"head\"><p class=\"brand\">thresh</p><h1>%s</h1><dl class=\"facts\">",
             title_of(v));
    state_term(v, s, n, out);
    units_count((double)evaluations, count, sizeof count);
    term(out, "Evaluations", count);
    if (n > 0) term(out, "Started", s[0].started);
    distinct_term(out, "Devices", s, n, device_of);
    distinct_term(out, "Drivers", s, n, driver_of);
    distinct_term(out, "Libraries", s, n, libraries_of);
    term(out, "Store", report_data_path(v->data));
    term(out, "Made by", v->version);
    if (!v->live) term(out, "Made at", date_text(v->now, now));
    html_add(out, "</dl></header>\n");
}

/* ---- headline ---- */

/* "axpy.lift N=4096: 12.5 us, 3.1 times faster than naive". */
static void add_outcome(const struct report_search *s, struct strbuf *out)
{
    char *name = report_name(s), best_text[UNITS_BYTES];
    struct figure best = report_best(s, NULL, NULL);
    struct figure_ratio speedup = report_speedup(s);
    units_time(best.median_ns, best_text, sizeof best_text);
    if (figure_known(&best))
        html_add(out, "%s: %s", name, best_text);
    else
        html_add(out, "%s: nothing measured yet", name);
    if (speedup.quotient > 0) html_add(out, ", speedup %.3g", speedup.quotient);
    html_add(out, ". ");
    free(name);
}

void report_headline(const struct report_view *v, struct strbuf *out)
{
    enum { SHOWN = 3 };
    size_t n;
    const struct report_search *s = report_searches(v->data, &n);
    html_add(out, "<p id=\"headline\" aria-live=\"polite\" aria-label=\"Best times\">");
    if (n == 0) html_add(out, "The store has no search yet.");
    for (size_t i = n > SHOWN ? n - SHOWN : 0; i < n; i++)
        add_outcome(&s[i], out);
    if (n > SHOWN) html_add(out, "%zu more in the table.", n - SHOWN);
    html_add(out, "</p>\n");
}

/* ---- the table of searches ---- */

static void figure_cell(struct strbuf *out, const struct figure *f)
{
    char median[UNITS_BYTES], low[UNITS_BYTES], high[UNITS_BYTES];
    units_time(f->median_ns, median, sizeof median);
    html_add(out, "<td class=\"n\">%s", median);
    if (figure_quoted(f)) {
        units_time(f->low_ns, low, sizeof low);
        units_time(f->high_ns, high, sizeof high);
        html_add(out, "<small>%s to %s</small>", low, high);
    } else if (figure_known(f)) {
        html_add(out, "<small>of the search</small>");
    }
    html_add(out, "</td>");
}

static void found_cell(struct strbuf *out, const struct figure *best, const struct report_time *found)
{
    char at[UNITS_BYTES];
    units_time(found->at_s * 1e9, at, sizeof at);
    if (!figure_known(best))
        html_add(out, "<td class=\"n\">-</td>");
    else if (found->evaluation == 0)
        html_add(out, "<td class=\"n\">before it</td>");
    else
        html_add(out, "<td class=\"n\">%u<small>%s</small></td>", found->evaluation, at);
}

static void search_row(const struct report_view *v, const struct report_search *s, struct strbuf *out)
{
    struct report_time found;
    struct figure best = report_best(s, NULL, &found), naive = report_naive(s);
    struct figure_ratio speedup = report_speedup(s);
    struct curve curve = curve_of(s, false);
    enum report_state state = report_state(s, v->now);
    char *name = report_name(s), count[UNITS_BYTES];
    units_count((double)s->evaluations, count, sizeof count);
    html_add(out, "<tr><th scope=\"row\"><a href=\"#search-%" PRId64 "\">%s</a><small>%s</small></th>",
             s->run, name, device_of(s));
    html_add(out, "<td><span class=\"state %s\">%s</span></td><td class=\"spark-cell\">", state_text(state),
             state_text(state));
    svg_spark(out, curve.steps, curve.n_steps, curve.x_high);
    html_add(out, "</td>");
    figure_cell(out, &best);
    figure_cell(out, &naive);
    if (speedup.quotient > 0)
        html_add(out, "<td class=\"n strong\">%.3g&#215;", speedup.quotient);
    else
        html_add(out, "<td class=\"n\">-");
    if (speedup.rounds > 0) html_add(out, "<small>%.3g to %.3g</small>", speedup.low, speedup.high);
    html_add(out, "</td><td class=\"n\">%s</td>", count);
    found_cell(out, &best, &found);
    html_add(out, "</tr>\n");
    curve_clear(&curve);
    free(name);
}

/* "cpu: 14 us (1.4 times its best)". */
static void portable_times(const struct portable *p, struct strbuf *out)
{
    for (unsigned i = 0; i < p->n_times; i++) {
        char text[UNITS_BYTES];
        units_time(p->times[i].figure.median_ns, text, sizeof text);
        html_add(out, "%s%s: %s (%.3g times its best)", i ? "; " : "", p->times[i].device, text,
                 p->times[i].slowdown);
    }
}

/* One implementation for all devices of a program; nothing where no program has several. */
static void add_portables(const struct report_view *v, struct strbuf *out)
{
    if (v->n_portables == 0) return;
    html_add(out, "<h3 id=\"portable-h\">Best portable choice</h3><div class=\"scroll\" role=\"region\" "
                  "aria-labelledby=\"portable-h\" tabindex=\"0\"><table><caption>One implementation for all "
                  "devices: how many times as long as the best of each device it takes, of those that were "
                  "measured on all</caption><thead><tr><th scope=\"col\">Kernel, sizes</th>"
                  "<th scope=\"col\">Chosen by</th><th scope=\"col\">Implementation</th>"
                  "<th scope=\"col\">Geometric mean</th><th scope=\"col\">Worst</th>"
                  "<th scope=\"col\">On each device</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < v->n_portables; i++) {
        const struct portable *p = &v->portables[i];
        html_add(out,
                 "<tr><th scope=\"row\">%s %s</th><td>%s<small>of %u</small></td><td>number %" PRId64
                 " of run %" PRId64
                 "<small>%s</small></td><td class=\"n\">%.3g</td><td class=\"n\">%.3g</td><td>",
                 p->entry->kernel, p->entry->run.sizes, portable_rule_names[p->rule], p->candidates,
                 p->entry->number, p->entry->run.id, p->entry->label, p->mean, p->worst);
        portable_times(p, out);
        html_add(out, "</td></tr>\n");
    }
    html_add(out, "</tbody></table></div>");
}

static void add_searches(const struct report_view *v, struct strbuf *out)
{
    size_t n;
    const struct report_search *s = report_searches(v->data, &n);
    html_add(
        out,
        "<section id=\"searches\" aria-labelledby=\"searches-h\"><h2 id=\"searches-h\">Searches</h2>"
        "<div class=\"scroll\" role=\"region\" aria-labelledby=\"searches-h\" tabindex=\"0\"><table>"
        "<caption>Each search: the best implementation, its time with quartiles over the final rounds, and "
        "when it was found</caption><thead><tr><th scope=\"col\">Kernel, sizes, device</th>"
        "<th scope=\"col\">State</th><th scope=\"col\">Best so far</th><th scope=\"col\">Best</th>"
        "<th scope=\"col\">Naive</th><th scope=\"col\">Speedup</th><th scope=\"col\">Evaluations</th>"
        "<th scope=\"col\">Found at</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < n; i++)
        search_row(v, &s[i], out);
    if (n == 0) html_add(out, "<tr><td colspan=\"8\">The store has no search yet.</td></tr>");
    html_add(out, "</tbody></table></div>");
    add_portables(v, out);
    html_add(out, "</section>\n");
}

/* ---- agents and events ---- */

static void count_states(const struct report_agent *a, size_t n, struct strbuf *out)
{
    for (size_t i = 0; i < n; i++) {
        size_t count = 0;
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++)
            seen = strcmp(a[k].state, a[i].state) == 0;
        for (size_t k = i; k < n && !seen; k++)
            count += strcmp(a[k].state, a[i].state) == 0;
        if (!seen) html_add(out, "<span class=\"state %s\">%s %zu</span> ", a[i].state, a[i].state, count);
    }
}

static void add_agents(const struct report_view *v, struct strbuf *out)
{
    size_t n;
    char seen[TIME_BYTES];
    const struct report_agent *a = report_agents(v->data, &n);
    html_add(out, "<section id=\"agents\" aria-labelledby=\"agents-h\"><h2 id=\"agents-h\">Agents</h2>");
    if (n == 0) {
        html_add(out, "<p class=\"none\">The store names no agents.</p></section>\n");
        return;
    }
    html_add(out, "<p>");
    count_states(a, n, out);
    html_add(out,
             "</p><div class=\"scroll\" role=\"region\" aria-labelledby=\"agents-h\" tabindex=\"0\"><table>"
             "<caption>%zu of %zu agents</caption><thead><tr><th scope=\"col\">Agent</th>"
             "<th scope=\"col\">State</th><th scope=\"col\">Host</th><th scope=\"col\">Device, driver</th>"
             "<th scope=\"col\">Jobs</th><th scope=\"col\">Results</th><th scope=\"col\">Last seen</th></tr>"
             "</thead><tbody>\n",
             n < SHOWN_AGENTS ? n : (size_t)SHOWN_AGENTS, n);
    for (size_t i = 0; i < n && i < SHOWN_AGENTS; i++)
        html_add(out,
                 "<tr><th scope=\"row\">%s</th><td><span class=\"state %s\">%s</span></td><td>%s</td>"
                 "<td>%s<small>%s</small></td><td class=\"n\">%" PRId64 "</td><td class=\"n\">%" PRId64
                 "</td><td class=\"n\">%s</td></tr>\n",
                 a[i].name, a[i].state, a[i].state, a[i].host, a[i].device, a[i].driver, a[i].running,
                 a[i].results, date_text(a[i].seen, seen));
    html_add(out, "</tbody></table></div></section>\n");
}

static void add_events(const struct report_view *v, struct strbuf *out)
{
    size_t n;
    uint64_t all;
    char at[TIME_BYTES];
    const struct report_event *e = report_events(v->data, &n, &all);
    html_add(out, "<section id=\"events\" aria-labelledby=\"events-h\"><h2 id=\"events-h\">Events</h2>");
    if (n == 0) {
        html_add(out, "<p class=\"none\">The store has no events.</p></section>\n");
        return;
    }
    html_add(out,
             "<div class=\"scroll\" role=\"region\" aria-labelledby=\"events-h\" tabindex=\"0\"><table>"
             "<caption>The last %zu of %" PRIu64 " events, the latest first</caption><thead><tr>"
             "<th scope=\"col\">Time</th><th scope=\"col\">What</th><th scope=\"col\">Agent</th>"
             "<th scope=\"col\">Message</th></tr></thead><tbody>\n",
             n, all);
    for (size_t i = 0; i < n; i++)
        html_add(out, "<tr><td class=\"n\">%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
                 date_text((int64_t)e[i].at, at), e[i].kind, e[i].agent, e[i].message);
    html_add(out, "</tbody></table></div></section>\n");
}

/* ---- fragments ---- */

enum { BEFORE = 2, AFTER = 2 }; /* fragments before and after those of the searches */

size_t report_fragment_count(const struct report_view *v)
{
    size_t n;
    report_searches(v->data, &n);
    return BEFORE + n + AFTER;
}

void report_fragment_name(const struct report_view *v, size_t i, char out[REPORT_FRAGMENT_BYTES])
{
    static const char *const before[] = {"head", "searches"}, *const after[] = {"agents", "events"};
    size_t n;
    const struct report_search *s = report_searches(v->data, &n);
    if (i < BEFORE)
        snprintf(out, REPORT_FRAGMENT_BYTES, "%s", before[i]);
    else if (i < BEFORE + n)
        snprintf(out, REPORT_FRAGMENT_BYTES, "search-%" PRId64, s[i - BEFORE].run);
    else
        snprintf(out, REPORT_FRAGMENT_BYTES, "%s", after[i - BEFORE - n]);
}

void report_fragment(const struct report_view *v, size_t i, struct strbuf *out)
{
    size_t n;
    report_searches(v->data, &n);
    if (i == 0)
        add_head(v, out);
    else if (i == 1)
        add_searches(v, out);
    else if (i < BEFORE + n)
        report_search_section(v, i - BEFORE, out);
    else if (i == BEFORE + n)
        add_agents(v, out);
    else
        add_events(v, out);
}

void report_page(const struct report_view *v, const char *const *fragments, size_t n, uint64_t since,
                 struct strbuf *out)
{
    html_add(out,
             "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>"
             "<meta name=\"color-scheme\" content=\"light dark\"/>"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
             "style-src 'unsafe-inline'%s\"/><title>%s - thresh</title>\n<style>\n",
             v->live ? "; script-src 'self'; connect-src 'self'" : "", title_of(v));
    strbuf_add(out, asset_page_css);
    html_add(out,
             "</style></head>\n<body data-since=\"%" PRIu64 "\"><a class=\"skip\" href=\"#main\">Skip to the "
             "searches</a>\n",
             since);
    for (size_t i = 0; i < n; i++) {
        if (i == 1 && v->live) report_headline(v, out);
        if (i == 1) html_add(out, "<main id=\"main\">\n");
        strbuf_add(out, fragments[i]);
    }
    html_add(
        out,
        "</main>\n<footer><p>Times are medians. A quoted time is measured in final rounds, with its lower "
        "and upper quartile; a time of the search is for comparing candidates only.</p>");
    if (v->live) html_add(out, "<p id=\"link\" role=\"status\"></p><script src=\"/thresh.js\"></script>");
    html_add(out, "</footer></body></html>\n");
}
