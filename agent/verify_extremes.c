/* Extreme sets of inputs, for programs that select (min, max, if).
 *
 * The exact and the timing set hide what a selection loses: the maximum of 1,000 elements from {-3, -1, 1, 3}
 * is 3 with any of them left out. In an extreme set the result depends on one element:
 *
 *     reduce(max, -1e30, x)    x = 0.52 0.49 0.51 0.97 0.48 0.03 0.50     losing 0.97 changes the maximum
 *
 * Where a reduction selects, look at its *lines*: what one accumulator reads from an array. In an extreme set
 * the elements of a line lie close together in the middle of the range, all different, but for two: one near
 * the upper end, one near the lower. A kernel that loses the first gets the maximum wrong. The places of the
 * two:
 *  - four fixed sets have them at the ends of the line, in the upper and the lower half of the range, each
 *    way round: a loop that ends early or starts late misses an end of the line, at any level of tiling;
 *  - in the mixed sets they follow a *cover*, up to 64 places such that the digits i / s % z of the index,
 *    for all tiles of z elements at strides s, occur in turn, those of small tiles first. There are so many
 *    mixed sets (64 at most) that all lines together have an extreme at every place of the cover.
 * Only every second of the inputs has extremes at a time: those of one do not cancel those of another.
 *
 * A kernel that loses a share 1/m of the elements of each of L lines, at places that the cover does not know
 * of, passes k mixed sets with probability (1 - 1/m)^(k L); k L is at least 64.
 *
 * Where only elements are selected, as in max(x + b, 0), there are four sets: all inputs in the upper half,
 * all in the lower, and neighbouring inputs in opposite halves. Each operand is taken in one of them.
 *
 * Of integers the whole numbers in these ranges are drawn; a range without any gives the next one below. */
#include <math.h>
#include <stdlib.h>

#include "agent/verify_inputs.h"
#include "core/backbone/backbone.h"
#include "core/base/arena.h"
#include "core/base/pcg32.h"

enum { FORMS = 4, MOST_LEADS = 2, LEAST_MIXED = 2, PLACES = 64, MOST_TILE = 64, TRIES = 256 };
static const double EXTREME_BYTES = 64 << 20; /* of all arrays, for more than FORMS sets */
/* Shares of a range: what the middle leaves on each side, for elements and lines; the ends; the share of
 * elements outside lines that lie there; what inputs without extremes leave below them. */
static const double WIDE = 0.2, NARROW = 0.45, PEAK = 0.1, SPARSE = 0.1, ASIDE = 0.8;

/* ---- covers ---- */

/* Places in a line, in the order in which they are tried. */
struct cover {
    unsigned n;
    int64_t places[PLACES];
};

/* A tile of z elements at stride s, and which of its digits occurred. */
struct tile {
    int64_t stride, size;
    uint64_t met;
};

struct tiles {
    struct tile *items;
    size_t n, room;
};

/* Adds the tiles that a span may be cut into. */
static void add_tiles(struct tiles *t, int64_t span, struct arena *a)
{
    for (int64_t z = 2; z <= MOST_TILE && z <= span; z++) {
        int64_t rest = span / z;
        if (span % z) continue;
        for (int64_t s = 1; s * s <= rest; s++) {
            if (rest % s) continue;
            t->items = arena_grow(a, t->items, &t->room, t->n + 2, sizeof *t->items);
            t->items[t->n++] = (struct tile){s, z, 0};
            if (s != rest / s) t->items[t->n++] = (struct tile){rest / s, z, 0};
        }
    }
}

/* What a place adds: new digits, those of small tiles for more. */
static double gain(const struct tiles *t, int64_t place)
{
    double sum = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct tile *tile = &t->items[i];
        uint64_t digit = UINT64_C(1) << (place / tile->stride % tile->size);
        if (!(tile->met & digit)) sum += 1 / (double)tile->size;
    }
    return sum;
}

static void take(struct cover *c, struct tiles *t, int64_t place)
{
    c->places[c->n++] = place;
    for (size_t i = 0; i < t->n; i++)
        t->items[i].met |= UINT64_C(1) << (place / t->items[i].stride % t->items[i].size);
}

static bool has(const struct cover *c, int64_t place)
{
    for (unsigned i = 0; i < c->n; i++)
        if (c->places[i] == place) return true;
    return false;
}

static struct cover cover_of(const struct bb_logical *l, struct pcg32 *rng)
{
    struct arena *a = arena_new();
    struct tiles tiles = {0};
    struct cover c = {0};
    int64_t extent = l->extent;
    for (unsigned i = 0; i < l->n_spans; i++)
        add_tiles(&tiles, l->spans[i], a);
    take(&c, &tiles, extent - 1);
    if (extent > 1) take(&c, &tiles, 0);
    while (c.n < PLACES && c.n < extent) {
        int64_t best = -1;
        double most_gain = -1;
        for (int i = 0; i < TRIES || best < 0; i++) {
            int64_t place = (int64_t)(pcg32_unit(rng) * (double)extent);
            double x = has(&c, place) ? -1 : gain(&tiles, place);
            if (x <= most_gain) continue;
            most_gain = x;
            best = place;
        }
        take(&c, &tiles, best);
    }
    arena_free(a);
    return c;
}

/* ---- lines ---- */

static bool selects(const struct bb_inst *in)
{
    for (unsigned i = 0; i < in->n_nodes; i++)
        if (in->nodes[i].kind == BB_NODE_OP &&
            (in->nodes[i].op == SCALAR_MIN || in->nodes[i].op == SCALAR_MAX ||
             in->nodes[i].op == SCALAR_SELECT))
            return true;
    return false;
}

/* Product of the extents of the load's logicals that are of a reduction, or that are not. */
static int64_t product(const struct backbone *bb, const struct bb_inst *load, bool reduction)
{
    int64_t n = 1;
    for (unsigned i = 0; i < load->n_logicals; i++)
        if (bb->logicals[load->logicals[i]].reduction == reduction)
            n *= bb->logicals[load->logicals[i]].extent;
    return n;
}

static bool is_line_load(const struct backbone *bb, const struct bb_inst *in)
{
    return in->kind == BB_LOAD && !in->n_data && product(bb, in, true) > 1;
}

static bool has_lines(const struct backbone *bb, uint32_t buffer)
{
    for (unsigned i = 0; i < bb->n_insts; i++)
        if (bb->insts[i].buffer == buffer && is_line_load(bb, &bb->insts[i])) return true;
    return false;
}

/* The most lines that a load has. */
static int64_t most_lines(const struct backbone *bb)
{
    int64_t most = 1;
    for (unsigned i = 0; i < bb->n_insts; i++)
        if (is_line_load(bb, &bb->insts[i]) && product(bb, &bb->insts[i], false) > most)
            most = product(bb, &bb->insts[i], false);
    return most;
}

/* Groups of inputs with lines, of which one has extremes at a time; 0: no reduction selects. */
static unsigned count_leads(const struct backbone *bb)
{
    unsigned n = 0;
    bool any = false;
    for (unsigned i = 0; i < bb->n_insts; i++)
        any = any || (bb->insts[i].kind == BB_STEP && selects(&bb->insts[i]));
    for (unsigned b = 0; any && b < bb->n_buffers; b++)
        n += (!bb->buffers[b].output || bb->buffers[b].updated) && has_lines(bb, b);
    return n < MOST_LEADS ? n : MOST_LEADS;
}

static double bytes_of(const struct backbone *bb)
{
    double sum = 0;
    for (unsigned i = 0; i < bb->n_buffers; i++)
        sum += (double)bb->buffers[i].elements * scalar_type_bytes(bb->buffers[i].type);
    return sum;
}

unsigned verify_sets(const struct backbone *bb)
{
    bool any = false;
    for (unsigned i = 0; i < bb->n_insts; i++)
        any = any || selects(&bb->insts[i]);
    if (!any) return VERIFY_EXTREME;
    unsigned leads = count_leads(bb);
    double wanted = FORMS, room = fmax(EXTREME_BYTES / bytes_of(bb), FORMS);
    if (leads > 0) wanted = FORMS * leads + fmax(ceil(PLACES / (double)most_lines(bb)), LEAST_MIXED);
    return VERIFY_EXTREME + (unsigned)fmin(fmin(wanted, room), VERIFY_MOST_EXTREMES);
}

/* ---- the extreme sets ---- */

/* What extreme set k of n is: one of the FORMS, or mixed; which inputs have extremes. */
struct plan {
    unsigned form; /* FORMS: mixed */
    unsigned lead; /* of n_leads groups */
    unsigned turn; /* of n_turns mixed sets */
    unsigned n_leads, n_turns;
};

/* The leads take turns, so that the first four sets, often the only ones, have extremes at both ends of every
 * line: of two leads the first has forms 0, 2, 1, 3, the second 1, 3, 2, 0. */
static struct plan plan_of(unsigned k, unsigned n, unsigned n_leads)
{
    unsigned fixed = FORMS * n_leads;
    struct plan p = {.form = FORMS, .lead = k % n_leads, .n_leads = n_leads};
    p.n_turns = n > fixed ? n - fixed : 0;
    p.turn = k >= fixed ? k - fixed : 0;
    if (k < fixed) p.form = (k + k / FORMS) % FORMS;
    return p;
}

static struct lift_range half_of(struct lift_range r, bool upper)
{
    double middle = r.low / 2 + r.high / 2;
    *(upper ? &r.low : &r.high) = middle;
    return r;
}

/* The half of its range that an input has: upper, lower, upper, lower; mixed: the upper one, where the
 * largest number has the largest magnitude, too. */
static struct lift_range part_of(const struct lift_range *r, const struct plan *p)
{
    return half_of(*r, p->form % 2 == 0);
}

/* Where an input that does not lead lies: near the end of its part, so that its sum, product and distance
 * with a leading input have their extremes at one of that one's two places. */
static struct lift_range end_of(const struct lift_range *r, const struct plan *p)
{
    struct lift_range part = part_of(r, p);
    double width = part.high - part.low;
    bool upper = p->form % 2 == 0;
    *(upper ? &part.low : &part.high) += (upper ? ASIDE : -ASIDE) * width;
    return part;
}

static uint64_t spread(int64_t line)
{
    uint64_t x = (uint64_t)line * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

/* Which of n places of a cover, which begins with the last and the first, a line's upper extreme takes. */
static unsigned place_of(const struct plan *p, int64_t line, int64_t lines, unsigned n)
{
    if (p->form < FORMS) return p->form == 1 || p->form == 2 ? 1 % n : 0;
    uint64_t start = lines < PLACES ? (uint64_t)line * p->n_turns : spread(line);
    return (unsigned)((p->turn + start) % n);
}

/* And the lower one. */
static unsigned opposite_of(const struct plan *p, unsigned place, unsigned n)
{
    return p->form < FORMS ? (place + 1) % (n < 2 ? 1 : 2) : (place + n / 2) % n;
}

static double peak(const struct lift_range *r, enum scalar_type type, bool upper, struct pcg32 *rng)
{
    double width = r->high - r->low;
    struct lift_range end = upper ? (struct lift_range){.low = r->high - PEAK * width, .high = r->high}
                                  : (struct lift_range){.low = r->low, .high = r->low + PEAK * width};
    return lift_range_draw(&end, type, pcg32_unit(rng));
}

/* A load of which lines are drawn. */
struct lines {
    const struct backbone *bb;
    const struct bb_inst *load;
    struct cover covers[BB_MAX_LOGICALS]; /* of the reductions */
    unsigned n;                           /* places of the longest cover */
    int64_t *at;                          /* [n_logicals] digits */
};

/* Puts an extreme into the line whose parallel digits are set. */
static void put_extreme(struct lines *x, struct verify_buffer *b, unsigned set, unsigned place, double value)
{
    for (unsigned j = 0; j < x->load->n_logicals; j++) {
        uint32_t l = x->load->logicals[j];
        if (x->bb->logicals[l].reduction) x->at[l] = x->covers[j].places[place % x->covers[j].n];
    }
    if (guard_holds(x->load->guards, x->load->n_guards, x->at))
        verify_put(b->type, verify_values(b, set), index_eval(x->load->index, x->at), value);
}

/* Sets the digits of the parallel logicals of a line. */
static void find_line(struct lines *x, int64_t line)
{
    for (unsigned j = x->load->n_logicals; j-- > 0;) {
        const struct bb_logical *l = &x->bb->logicals[x->load->logicals[j]];
        if (l->reduction) continue;
        x->at[x->load->logicals[j]] = line % l->extent;
        line /= l->extent;
    }
}

static void draw_lines(struct lines *x, struct verify_buffer *b, unsigned set, const struct plan *plan,
                       const struct lift_range *r, struct pcg32 *rng)
{
    const struct lift_range part = part_of(r, plan);
    int64_t lines = product(x->bb, x->load, false);
    for (int64_t line = 0; line < lines; line++) {
        unsigned high = place_of(plan, line, lines, x->n), low = opposite_of(plan, high, x->n);
        find_line(x, line);
        put_extreme(x, b, set, low, peak(&part, b->type, false, rng));
        put_extreme(x, b, set, high, peak(&part, b->type, true, rng));
    }
}

static struct lines lines_of(const struct backbone *bb, const struct bb_inst *load, struct pcg32 *rng)
{
    struct lines x = {.bb = bb, .load = load, .n = 1};
    x.at = base_calloc(bb->n_logicals, sizeof *x.at);
    for (unsigned j = 0; j < load->n_logicals; j++) {
        const struct bb_logical *l = &bb->logicals[load->logicals[j]];
        if (!l->reduction) continue;
        x.covers[j] = cover_of(l, rng);
        if (x.covers[j].n > x.n) x.n = x.covers[j].n;
    }
    return x;
}

/* Numbers from the middle of a range, and some from its ends. */
static void draw_middle(struct verify_buffer *b, unsigned set, const struct lift_range *r, double margin,
                        double ends, struct pcg32 *rng)
{
    struct lift_range middle = *r;
    middle.low += margin * (r->high - r->low);
    middle.high -= margin * (r->high - r->low);
    for (int64_t i = 0; i < b->elements; i++) {
        double x = lift_range_draw(&middle, b->type, pcg32_unit(rng));
        if (pcg32_unit(rng) < ends) x = peak(r, b->type, pcg32_below(rng, 2), rng);
        verify_put(b->type, verify_values(b, set), i, x);
    }
}

/* An input that is read element by element: in the upper or the lower half, as its neighbour or opposite. */
static void draw_elements(struct verify_buffer *b, unsigned k, unsigned input, const struct lift_range *r,
                          struct pcg32 *rng)
{
    bool upper = k % FORMS < 2 ? k % 2 == 0 : (k + input) % 2 == 0;
    const struct lift_range half = half_of(*r, upper);
    draw_middle(b, VERIFY_EXTREME + k, &half, WIDE, SPARSE, rng);
}

/* An input with lines. */
static void draw_lined(struct verify_task *t, const struct backbone *bb, uint32_t buffer, unsigned ordinal,
                       const struct lift_range *r, struct pcg32 *rng)
{
    struct verify_buffer *b = &t->buffers[buffer];
    unsigned n = t->n_sets - VERIFY_EXTREME, n_leads = count_leads(bb);
    for (unsigned k = 0; k < n; k++) {
        const struct plan plan = plan_of(k, n, n_leads);
        bool leads = ordinal % n_leads == plan.lead;
        const struct lift_range part = leads ? part_of(r, &plan) : end_of(r, &plan);
        draw_middle(b, VERIFY_EXTREME + k, &part, NARROW, 0, rng);
    }
    for (unsigned i = 0; i < bb->n_insts; i++) {
        if (bb->insts[i].buffer != buffer || !is_line_load(bb, &bb->insts[i])) continue;
        struct lines x = lines_of(bb, &bb->insts[i], rng);
        for (unsigned k = 0; k < n; k++) {
            const struct plan plan = plan_of(k, n, n_leads);
            if (ordinal % n_leads == plan.lead) draw_lines(&x, b, VERIFY_EXTREME + k, &plan, r, rng);
        }
        free(x.at);
    }
}

void verify_draw_extremes(struct verify_task *t, const struct backbone *bb, enum verify_domain domain,
                          uint64_t seed)
{
    struct pcg32 rng = pcg32_seed(seed, 0xe7);
    unsigned ordinal = 0, n_leads = count_leads(bb);
    for (unsigned b = 0; b < t->n_buffers; b++) {
        if (!verify_is_input(&t->buffers[b]) || verify_is_given(&t->buffers[b], VERIFY_EXTREME)) continue;
        const struct lift_range r = verify_range(&t->buffers[b], domain);
        if (n_leads > 0 && has_lines(bb, b))
            draw_lined(t, bb, b, ordinal++, &r, &rng);
        else
            for (unsigned k = 0; k < t->n_sets - VERIFY_EXTREME; k++)
                draw_elements(&t->buffers[b], k, b, &r, &rng);
    }
}
