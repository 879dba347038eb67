/* Plots; see svg.h. The unit is a CSS pixel at full width. Dots become one path of points with round ends,
 * and of those on the same pixel one is drawn: 100,000 evaluations take a few thousand dots. */
#include "coordinator/report/svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/report/html.h"
#include "core/base/arena.h"
#include "core/base/units.h"

enum {
    WIDTH = 640,
    HEIGHT = 320,
    LEFT = 64,
    RIGHT = 112, /* where lines are named */
    TOP = 14,
    BOTTOM = 44,
    PLOT_W = WIDTH - LEFT - RIGHT,
    PLOT_H = HEIGHT - TOP - BOTTOM,
    GRID = 2, /* pixels of one dot */
    MOST_DOTS = 5000,
    LABEL_GAP = 15, /* pixels between names of lines */
    TICKS = 12,
    TICK_BYTES = 32
};

/* ---- axes ---- */

static double place(const struct svg_axis *a, double v)
{
    if (a->log) return (log(v) - log(a->low)) / (log(a->high) - log(a->low));
    return (v - a->low) / (a->high - a->low);
}

/* The least round step of at least `least`. */
static double round_step(double least, enum svg_quantity quantity)
{
    static const double clock[] = {60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 43200, 86400};
    double power = pow(10, floor(log10(least)));
    if (quantity == SVG_SECONDS && least > 30)
        for (size_t i = 0; i < sizeof clock / sizeof clock[0]; i++)
            if (clock[i] >= least) return clock[i];
    for (double m = 1; m < 10; m = m < 2 ? 2 : m < 5 ? 5 : 10)
        if (m * power >= least * (1 - 1e-9)) return m * power;
    return 10 * power;
}

static unsigned linear_ticks(const struct svg_axis *a, double out[TICKS])
{
    double least = (a->high - a->low) / 7, step;
    unsigned n = 0;
    if (a->quantity == SVG_COUNT && least < 1) least = 1;
    step = round_step(least, a->quantity);
    for (double at = ceil(a->low / step) * step; at <= a->high * (1 + 1e-9) && n < TICKS; at += step)
        out[n++] = at;
    return n;
}

/* Powers of ten; with 2 and 5 times them if these are few, every k-th if they are many. */
static unsigned log_ticks(const struct svg_axis *a, double out[TICKS])
{
    static const double few[] = {1, 2, 5}, one[] = {1};
    double decades = log10(a->high / a->low);
    const double *factors = decades < 3 ? few : one;
    unsigned n_factors = decades < 3 ? 3 : 1, n = 0;
    int every = (int)ceil(decades / 7), first = (int)floor(log10(a->low)), last = (int)ceil(log10(a->high));
    for (int power = first; power <= last; power += every > 1 ? every : 1)
        for (unsigned i = 0; i < n_factors; i++) {
            double at = factors[i] * pow(10, power);
            if (at >= a->low * (1 - 1e-9) && at <= a->high * (1 + 1e-9) && n < TICKS) out[n++] = at;
        }
    return n;
}

/* Round places inside the axis (1, 2 or 5 times a power of ten; of times also quarters and halves of minutes
 * and hours), 2 to about 7 where the axis allows it; returns how many. */
static unsigned find_ticks(const struct svg_axis *a, double out[TICKS])
{
    return a->log ? log_ticks(a, out) : linear_ticks(a, out);
}

static void seconds_text(double s, char out[TICK_BYTES])
{
    unsigned long whole = (unsigned long)llround(s), h = whole / 3600, m = whole / 60 % 60, rest = whole % 60;
    if (s < 60)
        snprintf(out, TICK_BYTES, "%.4g s", s);
    else if (h && m)
        snprintf(out, TICK_BYTES, "%lu h %lu m", h, m);
    else if (h)
        snprintf(out, TICK_BYTES, "%lu h", h);
    else if (rest)
        snprintf(out, TICK_BYTES, "%lu m %lu s", m, rest);
    else
        snprintf(out, TICK_BYTES, "%lu min", m);
}

/* "200 us", "1m 30s", "20k". */
static void tick_text(const struct svg_axis *a, double at, char out[TICK_BYTES])
{
    if (a->quantity == SVG_NS)
        units_time(at, out, TICK_BYTES);
    else if (a->quantity == SVG_SECONDS)
        seconds_text(at, out);
    else
        units_count(at, out, TICK_BYTES);
}

/* ---- the frame ---- */

struct frame {
    struct strbuf *b;
    struct svg_axis x, y;
};

static double x_of(const struct frame *f, double v)
{
    return LEFT + PLOT_W * place(&f->x, v);
}

static double y_of(const struct frame *f, double v)
{
    return TOP + PLOT_H * (1 - place(&f->y, v));
}

static void begin(struct strbuf *b, const char *id, const char *title, const char *description, double height,
                  const char *kind)
{
    html_add(b,
             "<svg class=\"plot %s\" viewBox=\"0 0 %d %.0f\" role=\"img\" aria-labelledby=\"%s-t %s-d\">"
             "<title id=\"%s-t\">%s</title><desc id=\"%s-d\">%s</desc>\n",
             kind, WIDTH, height, id, id, id, title, id, description);
}

static void draw_axes(const struct frame *f)
{
    double at[TICKS];
    char text[TICK_BYTES];
    html_add(f->b, "<g class=\"grid\">");
    for (unsigned i = 0, n = find_ticks(&f->y, at); i < n; i++)
        html_add(f->b, "<path d=\"M%d %.1fH%d\"/>", LEFT, y_of(f, at[i]), LEFT + PLOT_W);
    html_add(f->b, "<path class=\"base\" d=\"M%d %dH%d\"/></g><g class=\"tick\">", LEFT, TOP + PLOT_H,
             LEFT + PLOT_W);
    for (unsigned i = 0, n = find_ticks(&f->y, at); i < n; i++) {
        tick_text(&f->y, at[i], text);
        html_add(f->b, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>", LEFT - 8,
                 y_of(f, at[i]) + 4, text);
    }
    for (unsigned i = 0, n = find_ticks(&f->x, at); i < n; i++) {
        tick_text(&f->x, at[i], text);
        html_add(f->b, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>", x_of(f, at[i]),
                 TOP + PLOT_H + 18, text);
    }
    html_add(f->b, "<text class=\"axis\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text></g>\n",
             LEFT + PLOT_W / 2, HEIGHT - 6, f->x.title);
}

/* ---- progress ---- */

static void widen(struct svg_axis *a, double ns)
{
    if (!(ns > 0) || !isfinite(ns)) return;
    if (!(a->low > 0) || ns < a->low) a->low = ns;
    if (ns > a->high) a->high = ns;
}

/* The times with some room above and below. */
static struct svg_axis time_axis(const struct svg_progress *p)
{
    struct svg_axis y = {.log = true, .quantity = SVG_NS};
    widen(&y, p->bound_ns);
    widen(&y, p->naive_ns);
    for (size_t i = 0; i < p->n_dots; i++)
        widen(&y, p->dots[i].y);
    for (size_t i = 0; i < p->n_steps; i++)
        widen(&y, p->steps[i].y);
    if (!(y.low > 0)) y.low = y.high = 1000;
    double room = fmax(pow(y.high / y.low, 0.06), 1.1);
    y.low /= room;
    y.high *= room;
    return y;
}

/* Appends a dot for each cell of the grid that has one. Returns how many. */
static size_t add_dots(const struct frame *f, const struct svg_progress *p, unsigned grid, struct strbuf *out)
{
    size_t columns = PLOT_W / grid + 2, rows = PLOT_H / grid + 2, n = 0;
    bool *drawn = base_calloc(columns * rows, sizeof *drawn);
    for (size_t i = 0; i < p->n_dots; i++) {
        double x = x_of(f, p->dots[i].x), y = y_of(f, p->dots[i].y);
        size_t cell = (size_t)((x - LEFT) / grid) * rows + (size_t)((y - TOP) / grid);
        if (drawn[cell]) continue;
        drawn[cell] = true;
        n++;
        strbuf_printf(out, "M%.1f %.1fh0", x, y);
    }
    free(drawn);
    return n;
}

/* Of very many dots fewer are drawn: a live page gets them again with each change. */
static void draw_dots(const struct frame *f, const struct svg_progress *p)
{
    struct strbuf dots = {0};
    for (unsigned grid = GRID; add_dots(f, p, grid, &dots) > MOST_DOTS; grid *= 2)
        strbuf_free(&dots);
    html_add(f->b, "<path class=\"dots\" d=\"");
    strbuf_add(f->b, dots.text ? dots.text : "");
    html_add(f->b, "\"/>\n");
    strbuf_free(&dots);
}

static void draw_steps(const struct frame *f, const struct svg_progress *p)
{
    if (p->n_steps == 0) return;
    html_add(f->b, "<path class=\"best\" d=\"M%.1f %.1f", x_of(f, p->steps[0].x), y_of(f, p->steps[0].y));
    for (size_t i = 1; i < p->n_steps; i++)
        strbuf_printf(f->b, "H%.1fV%.1f", x_of(f, p->steps[i].x), y_of(f, p->steps[i].y));
    html_add(f->b, "H%d\"/>\n", LEFT + PLOT_W);
}

/* A line across the plot and its name beside it. */
struct level {
    const char *class, *name;
    double ns, label_y;
};

static int by_height(const void *a, const void *b)
{
    const struct level *x = a, *y = b;
    return (x->label_y > y->label_y) - (x->label_y < y->label_y);
}

/* Names of lines that are near each other are moved apart: down, then up from the bottom. */
static void spread_labels(struct level *levels, unsigned n)
{
    qsort(levels, n, sizeof *levels, by_height);
    for (unsigned i = 1; i < n; i++)
        levels[i].label_y = fmax(levels[i].label_y, levels[i - 1].label_y + 2 * LABEL_GAP);
    double lowest = TOP + PLOT_H - LABEL_GAP + 4;
    for (unsigned i = n; i-- > 0; lowest = levels[i].label_y - 2 * LABEL_GAP)
        levels[i].label_y = fmin(levels[i].label_y, lowest);
}

static void draw_levels(const struct frame *f, const struct svg_progress *p)
{
    struct level all[] = {{"naive", "naive", p->naive_ns, 0},
                          {"best", "best", p->n_steps ? p->steps[p->n_steps - 1].y : 0, 0},
                          {"bound", "lower bound", p->bound_ns, 0}};
    struct level levels[3];
    unsigned n = 0;
    for (unsigned i = 0; i < 3; i++) {
        if (!(all[i].ns > 0) || !isfinite(all[i].ns)) continue;
        levels[n] = all[i];
        levels[n++].label_y = y_of(f, all[i].ns) - 1;
        if (i != 1)
            html_add(f->b, "<path class=\"%s\" d=\"M%d %.1fH%d\"/>", all[i].class, LEFT, y_of(f, all[i].ns),
                     LEFT + PLOT_W);
    }
    spread_labels(levels, n);
    for (unsigned i = 0; i < n; i++) {
        char time[UNITS_BYTES];
        units_time(levels[i].ns, time, sizeof time);
        html_add(
            f->b,
            "<text class=\"name %s-name\" x=\"%d\" y=\"%.1f\">%s<tspan x=\"%d\" dy=\"%d\">%s</tspan></text>",
            levels[i].class, LEFT + PLOT_W + 8, levels[i].label_y, levels[i].name, LEFT + PLOT_W + 8,
            LABEL_GAP, time);
    }
}

void svg_progress(struct strbuf *b, const struct svg_progress *p)
{
    struct frame f = {b, p->x, time_axis(p)};
    begin(b, p->id, p->title, p->description, HEIGHT, "progress");
    draw_axes(&f);
    draw_dots(&f, p);
    draw_levels(&f, p);
    draw_steps(&f, p);
    html_add(b, "</svg>\n");
}

void svg_spark(struct strbuf *b, const struct svg_point *steps, size_t n, double x_high)
{
    enum { W = 96, H = 24, EDGE = 2 };
    if (n == 0) return;
    double low = log(steps[n - 1].y), span = fmax(log(steps[0].y) - low, 0.01);
    html_add(b, "<svg class=\"spark\" viewBox=\"0 0 %d %d\" aria-hidden=\"true\"><path class=\"best\" d=\"",
             W, H);
    for (size_t i = 0; i < n; i++) {
        double x = EDGE + (W - 2 * EDGE) * steps[i].x / fmax(x_high, 1);
        double y = H - EDGE - (H - 2 * EDGE) * (log(steps[i].y) - low) / span;
        strbuf_printf(b, i ? "H%.1fV%.1f" : "M%.1f %.1f", x, y);
    }
    html_add(b, "H%d\"/></svg>", W - EDGE);
}

/* ---- bars ---- */

void svg_bars(struct strbuf *b, const char *id, const char *title, const char *description,
              const struct svg_bar *bars, size_t n)
{
    enum { NAME = 216, ROW = 26, BAR = 16, FIGURE = 92, LONGEST = WIDTH - NAME - FIGURE };
    begin(b, id, title, description, (double)n * ROW + 4, "bars");
    for (size_t i = 0; i < n; i++) {
        double y = (double)i * ROW + 4, length = LONGEST * fmin(1, fmax(0, bars[i].share));
        html_add(b, "<text class=\"label\" x=\"%d\" y=\"%.0f\" text-anchor=\"end\">%s</text>", NAME - 10,
                 y + BAR - 3, bars[i].label);
        html_add(b, "<rect class=\"kind%u\" x=\"%d\" y=\"%.0f\" width=\"%.1f\" height=\"%d\" rx=\"2\"/>",
                 bars[i].kind, NAME, y, fmax(length, 1), BAR);
        html_add(b, "<text class=\"figure\" x=\"%.1f\" y=\"%.0f\">%s</text>\n", NAME + length + 8,
                 y + BAR - 3, bars[i].text);
    }
    html_add(b, "</svg>\n");
}

void svg_stack(struct strbuf *b, const char *id, const char *title, const char *description,
               const struct svg_bar *parts, size_t n)
{
    enum { BAR = 26, ROOM = 7 /* pixels of a character */ };
    double x = 0;
    begin(b, id, title, description, BAR, "stack");
    for (size_t i = 0; i < n; i++) {
        double w = WIDTH * parts[i].share;
        html_add(b,
                 "<rect class=\"kind%u\" x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"%d\"><title>%s: "
                 "%s</title></rect>",
                 parts[i].kind, x, fmax(w - 1, 0.5), BAR, parts[i].label, parts[i].text);
        if ((double)strlen(parts[i].label) * ROOM + 10 < w)
            html_add(b, "<text class=\"in kind%u-in\" x=\"%.1f\" y=\"%d\">%s</text>", parts[i].kind, x + 6,
                     BAR - 9, parts[i].label);
        x += w;
    }
    html_add(b, "</svg>\n");
}
