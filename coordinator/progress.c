/* Progress display; see progress.h. */
#include "coordinator/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/limits.h"
#include "core/base/strbuf.h"
#include "core/base/terminal.h"
#include "core/base/units.h"

enum { BAR = 24, RATE_LEAST = 3 /* evaluations that tell a rate */, USUAL_COLUMNS = 80, LINE_BYTES = 256 };

struct progress progress_start(bool quiet)
{
    return (struct progress){.quiet = quiet, .terminal = isatty(STDERR_FILENO) == 1, .last_s = -1};
}

static double fraction_done(uint64_t done, uint64_t total, double elapsed_s, double limit_s)
{
    double by_count = total ? (double)done / (double)total : 0,
           by_time = limit_s > 0 ? elapsed_s / limit_s : 0;
    return fmin(1, fmax(by_count, by_time));
}

/* ---- the line ---- */

/* What a line may say, the least important last. */
enum {
    SHOW_BEST = 1,
    SHOW_FAILED = 2,
    SHOW_LEFT = 4,
    SHOW_CUT = 8,
    SHOW_WORDS = 16, /* "120 of 300 evaluations", not "120/300" */
    SHOW_RATE = 32,
    SHOW_BAR = 64,
    SHOW_ALL = 127
};

static void add_bar(double fraction, struct strbuf *b)
{
    strbuf_add(b, "[");
    for (int i = 0; i < BAR; i++)
        strbuf_add(b, i < (int)(fraction * BAR) ? "#" : ".");
    strbuf_add(b, "] ");
}

static void add_count(const struct progress_state *s, bool words, struct strbuf *b)
{
    strbuf_printf(b, "%" PRIu64, s->done);
    if (s->total > 0) strbuf_printf(b, "%s%" PRIu64, words ? " of " : "/", s->total);
    if (words) strbuf_add(b, s->done == 1 && s->total == 0 ? " evaluation" : " evaluations");
}

static void add_line(const struct progress_state *s, double left_s, unsigned shown, struct strbuf *b)
{
    char time[32];
    if (shown & SHOW_BAR) add_bar(fraction_done(s->done, s->total, s->elapsed_s, s->limit_s), b);
    add_count(s, shown & SHOW_WORDS, b);
    if (shown & SHOW_FAILED && s->failed > 0) strbuf_printf(b, ", %" PRIu64 " failed", s->failed);
    if (shown & SHOW_CUT && s->cut > 0) strbuf_printf(b, ", %" PRIu64 " cut", s->cut);
    if (shown & SHOW_RATE)
        strbuf_printf(b, ", %.2f/s", s->elapsed_s > 0 ? (double)s->done / s->elapsed_s : 0);
    units_time(s->best_ns, time, sizeof time);
    if (shown & SHOW_BEST && s->best_ns > 0) strbuf_printf(b, ", best %s", time);
    units_time(left_s * 1e9, time, sizeof time);
    if (shown & SHOW_LEFT && isfinite(left_s)) strbuf_printf(b, ", %s left", left_s > 0 ? time : "0 s");
}

int progress_line(const struct progress_state *s, double left_s, unsigned columns, char *out, unsigned n)
{
    struct strbuf b = {0};
    unsigned shown = columns ? SHOW_ALL : SHOW_ALL & ~(unsigned)SHOW_BAR;
    add_line(s, left_s, shown, &b);
    for (unsigned least = SHOW_BAR; columns && b.length > columns && least > 0; least /= 2) {
        shown &= ~least;
        b.length = 0;
        add_line(s, left_s, shown, &b);
    }
    int length = (int)(columns && b.length > columns ? columns : b.length);
    length = snprintf(out, n, "%.*s", length, b.text);
    strbuf_free(&b);
    return length;
}

/* ---- showing it ---- */

double progress_left(struct progress *p, uint64_t done, uint64_t total, double elapsed_s, double time_limit_s)
{
    if (done > 0 && p->first_done == 0) {
        p->first_done = done;
        p->first_s = elapsed_s;
    }
    uint64_t measured = done - p->first_done;
    double by_time = time_limit_s > 0 ? fmax(0, time_limit_s - elapsed_s) : INFINITY, by_count = INFINITY;
    if (total > 0 && measured >= RATE_LEAST)
        by_count = (elapsed_s - p->first_s) / (double)measured * (double)(total > done ? total - done : 0);
    return fmin(by_time, by_count);
}

/* Columns that a line may take: the last one stays free, since a terminal wraps there. */
static unsigned line_columns(void)
{
    unsigned columns = terminal_columns(STDERR_FILENO, USUAL_COLUMNS);
    return columns > LINE_BYTES ? LINE_BYTES - 1 : columns > 1 ? columns - 1 : 1;
}

/* On a terminal over the last line. */
static void show_line(struct progress *p, const char *line, double elapsed_s)
{
    if (p->terminal)
        fprintf(stderr, "\r%-*.*s", (int)line_columns(), (int)line_columns(), line);
    else
        fprintf(stderr, "%s\n", line);
    p->drawn = p->terminal;
    p->last_s = elapsed_s;
}

/* Whether it is time for another line. */
static bool is_due(const struct progress *p, double elapsed_s)
{
    return !p->quiet && elapsed_s - p->last_s >= (p->terminal ? LIMIT_TERMINAL_S : LIMIT_LINE_S);
}

void progress_show(struct progress *p, const struct progress_state *s)
{
    double left_s = progress_left(p, s->done, s->total, s->elapsed_s, s->limit_s);
    char line[LINE_BYTES];
    if (!is_due(p, s->elapsed_s)) return;
    progress_line(s, left_s, p->terminal ? line_columns() : 0, line, sizeof line);
    show_line(p, line, s->elapsed_s);
}

void progress_rounds(struct progress *p, unsigned done, unsigned total, unsigned contenders, double elapsed_s)
{
    char line[LINE_BYTES];
    if (!is_due(p, elapsed_s)) return;
    snprintf(line, sizeof line, "final round %u of %u, %u contenders", done + 1, total, contenders);
    show_line(p, line, elapsed_s);
}

void progress_note(struct progress *p, const char *text)
{
    if (p->quiet) return;
    progress_end(p);
    fprintf(stderr, "%s\n", text);
}

void progress_evaluation(struct progress *p, int64_t number, const char *status, double ns, double elapsed_s,
                         const char *message)
{
    char time[32];
    if (p->quiet) return;
    progress_end(p);
    units_time(ns, time, sizeof time);
    fprintf(stderr, "%6.1f s  #%" PRId64 "  %s  %s%s%.*s\n", elapsed_s, number, status, time,
            message[0] ? "  " : "", (int)strcspn(message, "\n"), message);
}

void progress_end(struct progress *p)
{
    if (p->drawn) fputc('\n', stderr);
    p->drawn = false;
}
