/* Progress display; see progress.h. */
#include "coordinator/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/units.h"

enum { BAR = 24, RATE_LEAST = 3 /* evaluations that tell a rate */ };
static const double terminal_period_s = 0.2, line_period_s = 5;

struct progress progress_start(bool quiet)
{
    return (struct progress){.quiet = quiet, .terminal = isatty(STDERR_FILENO) == 1, .last_s = -1};
}

int progress_time(double ns, char *out, unsigned n)
{
    return units_time(ns, out, n);
}

static double fraction_done(uint64_t done, uint64_t total, double elapsed_s, double limit_s)
{
    double by_count = total ? (double)done / (double)total : 0,
           by_time = limit_s > 0 ? elapsed_s / limit_s : 0;
    return fmin(1, fmax(by_count, by_time));
}

static void draw_bar(double fraction)
{
    char bar[BAR + 1];
    for (int i = 0; i < BAR; i++)
        bar[i] = i < (int)(fraction * BAR) ? '#' : '.';
    bar[BAR] = 0;
    fprintf(stderr, "\r[%s] ", bar);
}

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

void progress_show(struct progress *p, uint64_t done, uint64_t total, double elapsed_s, double time_limit_s,
                   double best_ns)
{
    double left_s = progress_left(p, done, total, elapsed_s, time_limit_s);
    if (p->quiet || elapsed_s - p->last_s < (p->terminal ? terminal_period_s : line_period_s)) return;
    char best[32], left[32];
    double fraction = fraction_done(done, total, elapsed_s, time_limit_s);
    progress_time(best_ns, best, sizeof best);
    progress_time(left_s * 1e9, left, sizeof left);
    if (p->terminal) draw_bar(fraction);
    fprintf(stderr, "%" PRIu64 " evaluations, %.2f/s, best %s, left %s%s", done,
            elapsed_s > 0 ? (double)done / elapsed_s : 0, best, left, p->terminal ? "   " : "\n");
    p->drawn = p->terminal;
    p->last_s = elapsed_s;
}

void progress_note(struct progress *p, const char *text)
{
    if (p->quiet) return;
    progress_end(p);
    fprintf(stderr, "%s\n", text);
}

void progress_evaluation(struct progress *p, uint64_t number, const char *status, double ns, double elapsed_s,
                         const char *message)
{
    char time[32];
    if (p->quiet) return;
    progress_end(p);
    progress_time(ns, time, sizeof time);
    fprintf(stderr, "%6.1f s  #%" PRIu64 "  %s  %s%s%.*s\n", elapsed_s, number, status, time,
            message[0] ? "  " : "", (int)strcspn(message, "\n"), message);
}

void progress_end(struct progress *p)
{
    if (p->drawn) fputc('\n', stderr);
    p->drawn = false;
}
