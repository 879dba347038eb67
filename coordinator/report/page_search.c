/* The section of one search. Each plot has a table with the same figures. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/portrait.h"
#include "coordinator/report/curve.h"
#include "coordinator/report/html.h"
#include "coordinator/report/page.h"
#include "core/base/arena.h"
#include "core/base/units.h"

enum { SHOWN_CHOICES = 12, SHOWN_VALUES = 6, SHOWN_STEPS = 200, ID_BYTES = 48 };

struct section {
    const struct report_view *view;
    const struct report_search *search;
    const struct report_study *study; /* NULL: not made yet */
    struct strbuf *out;
};

static void time_cell(struct strbuf *out, double ns)
{
    char text[UNITS_BYTES];
    units_time(ns, text, sizeof text);
    html_add(out, "<td class=\"n\">%s</td>", text);
}

/* ---- summary ---- */

static void card(struct strbuf *out, const char *name, const char *figure, const char *more)
{
    html_add(out, "<div class=\"card\"><dt>%s</dt><dd>%s<small>%s</small></dd></div>", name, figure, more);
}

static void add_cards(const struct section *s)
{
    char text[FIGURE_TEXT], more[FIGURE_TEXT];
    struct report_time found;
    int64_t number;
    struct figure best = report_best(s->search, &number, &found), naive = report_naive(s->search);
    struct figure_ratio speedup = report_speedup(s->search);
    double bound = s->study ? s->study->bound_ns : 0;
    html_add(s->out, "<dl class=\"cards\">");
    units_time(best.median_ns, text, sizeof text);
    if (figure_quoted(&best))
        snprintf(more, sizeof more, "%.4g to %.4g ns, %u rounds", best.low_ns, best.high_ns, best.rounds);
    else
        snprintf(more, sizeof more, "time of the search");
    if (figure_quoted(&best)) {
        char low[UNITS_BYTES], high[UNITS_BYTES];
        units_time(best.low_ns, low, sizeof low);
        units_time(best.high_ns, high, sizeof high);
        snprintf(more, sizeof more, "%s to %s, %u rounds", low, high, best.rounds);
    }
    card(s->out, "Best", text, more);
    if (speedup.quotient > 0) {
        snprintf(text, sizeof text, "%.3gx", speedup.quotient);
        units_time(naive.median_ns, more, sizeof more);
        strcat(more, " naive");
        card(s->out, "Speedup", text, more);
    }
    if (bound > 0 && figure_known(&best)) {
        snprintf(text, sizeof text, "%.2g %%", 100 * bound / best.median_ns);
        units_time(bound, more, sizeof more);
        strcat(more, " lower bound");
        card(s->out, "Bound / best", text, more);
    }
    units_count((double)s->search->evaluations, text, sizeof text);
    units_time(s->search->last_s * 1e9, more, sizeof more);
    card(s->out, "Evaluations", text, more);
    if (found.evaluation > 0) {
        snprintf(text, sizeof text, "%u", found.evaluation);
        snprintf(more, sizeof more, "implementation %" PRId64, number);
        card(s->out, "Found at", text, more);
    }
    html_add(s->out, "</dl>\n");
}

/* ---- plots ---- */

static void steps_table(const struct section *s, const struct curve *c)
{
    size_t first = c->n_steps > SHOWN_STEPS ? c->n_steps - SHOWN_STEPS : 0;
    double bound = s->study ? s->study->bound_ns : 0;
    html_add(s->out,
             "<details id=\"steps-%" PRId64
             "\"><summary>The improvements as a table</summary><div class=\"scroll\">"
             "<table><caption>Each time that was better than all before it</caption><thead><tr>"
             "<th scope=\"col\">Evaluation</th><th scope=\"col\">After</th><th scope=\"col\">Time</th>"
             "<th scope=\"col\">Bound / time</th></tr></thead><tbody>\n",
             s->search->run);
    for (size_t i = first; i < c->n_steps; i++) {
        const struct report_time *t = c->improvements[i];
        if (t->evaluation > 0)
            html_add(s->out, "<tr><td class=\"n\">%u</td>", t->evaluation);
        else
            html_add(s->out, "<tr><td class=\"n\">%s</td>", t->number == 0 ? "naive" : "plain");
        time_cell(s->out, t->at_s * 1e9);
        time_cell(s->out, t->ns);
        if (bound > 0)
            html_add(s->out, "<td class=\"n\">%.2g %%</td></tr>\n", 100 * bound / t->ns);
        else
            html_add(s->out, "<td class=\"n\">-</td></tr>\n");
    }
    html_add(s->out, "</tbody></table></div></details>\n");
}

static void add_plot(const struct section *s, const struct curve *c, bool over_seconds)
{
    char id[ID_BYTES], description[256], best[UNITS_BYTES] = "-", bound[UNITS_BYTES] = "not known";
    struct report_time found;
    report_best(s->search, NULL, &found);
    snprintf(id, sizeof id, "%s-%" PRId64, over_seconds ? "time" : "progress", s->search->run);
    if (c->n_steps > 0) units_time(c->steps[c->n_steps - 1].y, best, sizeof best);
    if (s->study && s->study->bound_ns > 0) units_time(s->study->bound_ns, bound, sizeof bound);
    snprintf(description, sizeof description,
             "%zu measured times as dots on a logarithmic scale; the best so far falls in %zu steps to %s. "
             "Lower bound: %s.",
             c->n_dots, c->n_steps, best, bound);
    double naive = 0;
    for (size_t i = 0; i < s->search->n_times; i++)
        if (s->search->times[i].number == 0) naive = s->search->times[i].ns;
    struct svg_progress p = {.id = id,
                             .title = over_seconds ? "Best time over time" : "Best time over evaluations",
                             .description = description,
                             .x = {0, c->x_high, false, over_seconds ? SVG_SECONDS : SVG_COUNT,
                                   over_seconds ? "time since the start" : "evaluations"},
                             .dots = c->dots,
                             .steps = c->steps,
                             .n_dots = c->n_dots,
                             .n_steps = c->n_steps,
                             .bound_ns = s->study ? s->study->bound_ns : 0,
                             .naive_ns = naive};
    html_add(s->out, "<figure><figcaption>%s</figcaption>\n", p.title);
    svg_progress(s->out, &p);
    html_add(s->out, "</figure>\n");
}

static void add_plots(const struct section *s)
{
    struct curve evaluations = curve_of(s->search, false), seconds = curve_of(s->search, true);
    if (evaluations.n_dots > 0) {
        html_add(s->out, "<div class=\"pair\">\n");
        add_plot(s, &evaluations, false);
        add_plot(s, &seconds, true);
        html_add(s->out, "</div>\n");
        steps_table(s, &evaluations);
    } else {
        html_add(s->out, "<p class=\"none\">Nothing was measured yet.</p>");
    }
    curve_clear(&evaluations);
    curve_clear(&seconds);
}

/* ---- outcomes ---- */

/* The fill of an outcome: what went well, what was cut or left out, what failed. */
static unsigned kind_of(const struct report_outcome *o)
{
    if (strcmp(o->name, "ok") == 0) return 0;
    return strcmp(o->name, "cut") == 0 || !o->counts ? 4 : 1;
}

static void add_outcomes(const struct section *s)
{
    const struct report_search *search = s->search;
    uint64_t all = 0, most = 1;
    char id[ID_BYTES];
    if (search->n_outcomes == 0) return;
    struct svg_bar *bars = base_calloc(search->n_outcomes, sizeof *bars);
    char(*texts)[UNITS_BYTES + 16] = base_calloc(search->n_outcomes, sizeof *texts);
    for (unsigned i = 0; i < search->n_outcomes; i++) {
        all += search->outcomes[i].count;
        if (search->outcomes[i].count > most) most = search->outcomes[i].count;
    }
    for (unsigned i = 0; i < search->n_outcomes; i++) {
        const struct report_outcome *o = &search->outcomes[i];
        snprintf(texts[i], sizeof texts[i], "%" PRIu64 " (%.3g %%)", o->count,
                 100 * (double)o->count / (double)all);
        bars[i] = (struct svg_bar){o->name, texts[i], (double)o->count / (double)most, kind_of(o)};
    }
    snprintf(id, sizeof id, "outcomes-%" PRId64, search->run);
    html_add(s->out, "<figure><figcaption>Implementations by outcome</figcaption>\n");
    svg_bars(s->out, id, "Implementations by outcome",
             "A bar for each outcome; duplicates and oversized texts are no evaluations.", bars,
             search->n_outcomes);
    html_add(s->out,
             "</figure><details id=\"%s-more\"><summary>Outcomes as a table</summary><table>"
             "<caption>Implementations by outcome</caption><thead><tr><th scope=\"col\">Outcome</th>"
             "<th scope=\"col\">Implementations</th></tr></thead><tbody>",
             id);
    for (unsigned i = 0; i < search->n_outcomes; i++)
        html_add(s->out, "<tr><th scope=\"row\">%s</th><td class=\"n\">%" PRIu64 "</td></tr>",
                 search->outcomes[i].name, search->outcomes[i].count);
    html_add(s->out, "</tbody></table></details>\n");
    free(bars);
    free(texts);
}

/* ---- visits ---- */

static void add_visit(const struct section *s, const struct report_choice *c, unsigned number)
{
    enum { MOST = 7 };
    struct svg_bar parts[MOST + 1];
    char id[ID_BYTES], texts[MOST + 1][24];
    size_t rest = s->study->visited;
    unsigned n = 0;
    for (; n < c->n_values && n < MOST; n++) {
        double share = (double)c->values[n].count / (double)s->study->visited;
        snprintf(texts[n], sizeof texts[n], "%.3g %%", 100 * share);
        parts[n] = (struct svg_bar){c->values[n].name, texts[n], share, n};
        rest -= c->values[n].count;
    }
    if (rest > 0) {
        double share = (double)rest / (double)s->study->visited;
        snprintf(texts[n], sizeof texts[n], "%.3g %%", 100 * share);
        parts[n] = (struct svg_bar){"others", texts[n], share, 9};
        n++;
    }
    snprintf(id, sizeof id, "visits-%" PRId64 "-%u", s->search->run, number);
    html_add(s->out, "<tr><th scope=\"row\">%s</th><td>", c->name);
    svg_stack(s->out, id, c->name, "The share of the implementations with each value.", parts, n);
    html_add(s->out, "</td><td class=\"values\">");
    for (unsigned i = 0; i < n; i++)
        html_add(s->out, "%s%s %s", i ? ", " : "", parts[i].label, texts[i]);
    html_add(s->out, "</td></tr>\n");
}

static void add_visits(const struct section *s)
{
    if (s->study->n_visits == 0) return;
    html_add(
        s->out,
        "<h4>Where the tree went</h4><div class=\"scroll\"><table class=\"visits\"><caption>The choices that "
        "are "
        "decided first, and the share of %zu drawn implementations with each value; others: the value "
        "followed "
        "from earlier decisions</caption><thead><tr><th scope=\"col\">Choice</th><th scope=\"col\">Share</th>"
        "<th scope=\"col\">Values</th></tr></thead><tbody>\n",
        s->study->visited);
    for (unsigned i = 0; i < s->study->n_visits; i++)
        add_visit(s, &s->study->visits[i], i);
    html_add(s->out, "</tbody></table></div>\n");
}

/* ---- importance ---- */

static void choice_row(const struct section *s, const struct report_choice *c)
{
    html_add(s->out, "<tr><th scope=\"row\">%s", c->name);
    if (c->same > 0) html_add(s->out, "<small>and %u that go with it</small>", c->same);
    html_add(s->out, "</th><td class=\"n\">%.3g</td><td class=\"n\">%.0f %%</td><td class=\"values\">",
             c->importance, 100 * c->share);
    for (unsigned i = 0; i < c->n_values && i < SHOWN_VALUES; i++) {
        char time[UNITS_BYTES];
        units_time(c->values[i].forest_ns, time, sizeof time);
        html_add(s->out, "%s%s: %s (%zu)", i ? ", " : "", c->values[i].name, time, c->values[i].count);
    }
    if (c->n_values > SHOWN_VALUES) html_add(s->out, ", %u more", c->n_values - SHOWN_VALUES);
    html_add(s->out, "</td></tr>\n");
}

static void add_importance_plot(const struct section *s, unsigned n)
{
    const struct report_study *study = s->study;
    struct svg_bar bars[SHOWN_CHOICES];
    char id[ID_BYTES], texts[SHOWN_CHOICES][24];
    for (unsigned i = 0; i < n; i++) {
        snprintf(texts[i], sizeof texts[i], "%.2g", study->choices[i].importance);
        bars[i] = (struct svg_bar){study->choices[i].name, texts[i],
                                   study->choices[i].importance / study->choices[0].importance, 0};
    }
    snprintf(id, sizeof id, "importance-%" PRId64, s->search->run);
    html_add(s->out, "<figure><figcaption>Which choices matter</figcaption>\n");
    svg_bars(s->out, id, "Importance of choices",
             "How much the error of a random forest grows when the values of one choice are shuffled, as a "
             "share of "
             "the variance of log times.",
             bars, n);
    html_add(s->out, "</figure>\n");
}

static void add_importance(const struct section *s)
{
    const struct report_study *study = s->study;
    unsigned n = study->n_choices < SHOWN_CHOICES ? study->n_choices : SHOWN_CHOICES;
    if (n == 0) {
        html_add(s->out,
                 "<p class=\"none\">Too few measured implementations to tell which choices matter.</p>");
        return;
    }
    add_importance_plot(s, n);
    html_add(s->out,
             "<details id=\"choices-%" PRId64
             "\"><summary>Choices as a table</summary><p>A random forest learnt log "
             "times from %zu measured implementations and explains %.0f %% of the variance of those that it "
             "had not "
             "seen. Importance: by how much its error grows when the values of one choice are shuffled, as a "
             "share "
             "of the variance. Alone: the share of the variance between the choice's values. Choices that "
             "depend on "
             "each other share their importance.</p><div class=\"scroll\"><table><caption>The %u most "
             "important of "
             "%u choices; for each value the time that the forest expects (measured implementations), "
             "the fastest in the search first</caption><thead><tr><th scope=\"col\">Choice</th>"
             "<th scope=\"col\">Importance</th><th scope=\"col\">Alone</th><th scope=\"col\">Values</th></tr>"
             "</thead><tbody>\n",
             s->search->run, study->learnt_from, 100 * fmax(study->explained, 0), n, study->all_choices);
    for (unsigned i = 0; i < n; i++)
        choice_row(s, &study->choices[i]);
    html_add(s->out, "</tbody></table></div></details>\n");
}

/* ---- the best implementation ---- */

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "-";
}

static void fact(struct strbuf *out, const char *name, const char *text)
{
    if (text && *text) html_add(out, "<div><dt>%s</dt><dd>%s</dd></div>", name, text);
}

static void add_differences(const struct section *s, const json_t *rival)
{
    size_t i;
    json_t *o;
    char text[FIGURE_TEXT];
    struct figure f;
    if (!json_is_object(rival) || !figure_read_json(json_object_get(rival, "figure"), &f)) return;
    html_add(s->out,
             "<table><caption>The %s implementation, %s, in what differs</caption><thead><tr>"
             "<th scope=\"col\">What</th><th scope=\"col\">Here</th><th scope=\"col\">There</th></tr>"
             "</thead><tbody>",
             text_of(rival, "role"), figure_print(&f, text));
    json_array_foreach(json_object_get(rival, "differences"), i, o)
        html_add(s->out, "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s</td></tr>", text_of(o, "name"),
                 text_of(o, "here"), text_of(o, "there"));
    html_add(s->out, "</tbody></table>\n");
}

static void code_block(const struct section *s, const char *name, const char *title, const char *text,
                       bool open)
{
    html_add(s->out, "<details id=\"%s-%" PRId64 "\"", name, s->search->run);
    strbuf_add(s->out, open ? " open=\"open\"" : "");
    html_add(s->out, "><summary>%s</summary><pre tabindex=\"0\">%s</pre></details>\n", title, text);
}

static void add_best(const struct section *s)
{
    const struct explanation *e = &s->study->explanation;
    struct strbuf words = {0}, rate = {0}, bound = {0};
    explanation_print_rate(e, &rate);
    explanation_print_bound(e, &bound);
    portrait_print(e->portrait, &words);
    html_add(s->out, "<h4>The best implementation</h4><dl class=\"facts\">");
    fact(s->out, "Rate", rate.text);
    fact(s->out, "Lower bound", bound.text);
    fact(s->out, "Limit", e->limit.text);
    html_add(s->out, "</dl>\n");
    if (s->study->best.kernel_hash != e->code.hash)
        html_add(
            s->out,
            "<p class=\"none\">The measured OpenCL text differs from this one: another version of thresh "
            "generated it.</p>");
    code_block(s, "loops", "Loop nest", e->loops.text ? e->loops.text : "", true);
    code_block(s, "portrait", "What its decisions mean", words.text ? words.text : "", false);
    code_block(s, "opencl", "OpenCL text", e->code.kernel.source, false);
    code_block(s, "bound", "Lower bound, term by term", e->bound.text ? e->bound.text : "", false);
    add_differences(s, e->rival);
    strbuf_free(&words);
    strbuf_free(&rate);
    strbuf_free(&bound);
}

static void add_contenders(const struct section *s)
{
    char text[FIGURE_TEXT];
    if (s->search->n_contenders == 0) return;
    html_add(s->out,
             "<details id=\"contenders-%" PRId64
             "\"><summary>Final rounds</summary><table><caption>The contenders, "
             "measured again in rounds; the winner first</caption><thead><tr><th scope=\"col\">Contender</th>"
             "<th scope=\"col\">Implementation</th><th scope=\"col\">Time</th></tr></thead><tbody>",
             s->search->run);
    for (unsigned i = 0; i < s->search->n_contenders; i++)
        html_add(s->out, "<tr><th scope=\"row\">%s</th><td class=\"n\">%" PRId64 "</td><td>%s</td></tr>",
                 s->search->contenders[i].label, s->search->contenders[i].number,
                 figure_print(&s->search->contenders[i].figure, text));
    html_add(s->out, "</tbody></table></details>\n");
}

/* ---- all ---- */

static void add_study(const struct section *s)
{
    if (!s->study) {
        html_add(s->out, "<p class=\"none\">%s</p>",
                 s->search->n_times ? "What the search learnt is being worked out." : "");
        return;
    }
    if (s->study->trouble) html_add(s->out, "<p class=\"none\">Not explained: %s</p>", s->study->trouble);
    if (s->study->notes && *s->study->notes) html_add(s->out, "<p class=\"none\">%s</p>", s->study->notes);
    add_visits(s);
    if (s->study->best_decisions)
        code_block(s, "decisions", "Decisions of the best one", s->study->best_decisions, true);
    if (s->study->explained_best) add_best(s);
}

void report_search_section(const struct report_view *v, size_t i, struct strbuf *out)
{
    size_t n;
    const struct report_search *search = &report_searches(v->data, &n)[i];
    struct section s = {v, search, v->studies ? v->studies[i] : NULL, out};
    char *name = report_name(search);
    html_add(out,
             "<section id=\"search-%" PRId64 "\" class=\"search\" aria-labelledby=\"search-%" PRId64
             "-h\"><h3 id=\"search-%" PRId64 "-h\">%s</h3><p class=\"sub\">run %" PRId64
             " on %s, seed %s; %s</p>\n",
             search->run, search->run, search->run, name, search->run,
             report_is_space(search) ? "a command" : search->device, search->seed, search->settings);
    add_cards(&s);
    add_plots(&s);
    html_add(out, "<div class=\"pair\"><div>\n");
    add_outcomes(&s);
    add_contenders(&s);
    html_add(out, "</div><div>\n");
    if (s.study) add_importance(&s);
    html_add(out, "</div></div>\n");
    add_study(&s);
    html_add(out, "</section>\n");
    free(name);
}
