/* Fragments with versions; see board.h. A fragment is made again when its search has changed or was studied;
 * those of all searches, when anything has, and every few seconds, since states depend on the time. */
#include "coordinator/web/board.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coordinator/limits.h"
#include "coordinator/report/page.h"
#include "coordinator/web/studies.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"

enum { VERSION_BITS = 20 };
static const char headline[] = "headline";

struct fragment {
    char name[REPORT_FRAGMENT_BYTES], *text;
    uint64_t version;        /* since when its text is as it is */
    uint64_t search_version; /* that it was made from; 0: of all searches, or it has a new study */
};

struct board {
    struct report_data *data;
    struct studies *studies;
    const char *program; /* version of thresh */
    struct fragment *fragments;
    size_t n;
    uint64_t version, first; /* first: versions before it are of another store or process */
    uint64_t generation;
    int64_t rendered_ms;
    int64_t failing_ms; /* since when it cannot be read; 0: it can */
    char *trouble;      /* NULL: none */
};

/* ---- fragments ---- */

static struct report_view view_of(struct board *b)
{
    struct report_view v = {.data = b->data,
                            .studies = studies_of(b->studies, b->data),
                            .version = b->program,
                            .now = (int64_t)time(NULL),
                            .live = true};
    v.portables = studies_portables(b->studies, &v.n_portables);
    return v;
}

static void clear_fragments(struct board *b)
{
    for (size_t i = 0; i < b->n; i++)
        free(b->fragments[i].text);
    b->n = 0;
}

/* The version of the i-th fragment's search; 0: it is of all. */
static uint64_t search_version(const struct report_view *v, const char *name)
{
    size_t n;
    const struct report_search *s = report_searches(v->data, &n);
    int64_t run;
    if (sscanf(name, "search-%" SCNd64, &run) != 1) return 0;
    for (size_t i = 0; i < n; i++)
        if (s[i].run == run) return s[i].version;
    return 0;
}

/* Keeps the fragments whose place moves by new searches. */
static void place_fragments(struct board *b, const struct report_view *v)
{
    size_t n = report_fragment_count(v), had = b->n;
    struct fragment *old = b->fragments;
    b->fragments = base_calloc(n + 1, sizeof *b->fragments);
    for (size_t i = 0; i <= n; i++) {
        struct fragment *f = &b->fragments[i];
        if (i < n)
            report_fragment_name(v, i, f->name);
        else
            strcpy(f->name, headline);
        for (size_t k = 0; k < had; k++)
            if (strcmp(old[k].name, f->name) == 0) *f = old[k], old[k].text = NULL;
    }
    for (size_t k = 0; k < had; k++)
        free(old[k].text);
    free(old);
    b->n = n + 1;
}

/* Makes a fragment again. Whether its text is another one. */
static bool render_one(const struct report_view *v, struct fragment *f, size_t i, size_t n)
{
    struct strbuf text = {0};
    if (i + 1 < n)
        report_fragment(v, i, &text);
    else
        report_headline(v, &text);
    bool same = f->text && strcmp(f->text, text.text) == 0;
    if (same) {
        strbuf_free(&text);
        return false;
    }
    free(f->text);
    f->text = strbuf_take(&text);
    return true;
}

static void render(struct board *b)
{
    struct report_view v = view_of(b);
    bool changed = false;
    place_fragments(b, &v);
    for (size_t i = 0; i < b->n; i++) {
        struct fragment *f = &b->fragments[i];
        uint64_t version = search_version(&v, f->name);
        if (f->text && version && version == f->search_version) continue;
        f->search_version = version;
        if (!render_one(&v, f, i, b->n)) continue;
        f->version = b->version + 1;
        changed = true;
    }
    b->version += changed;
    b->rendered_ms = clock_ms();
}

/* ---- the store ---- */

static void set_trouble(struct board *b, const char *text)
{
    if (!b->trouble && !text) return;
    if (b->trouble && text && strcmp(b->trouble, text) == 0) return;
    free(b->trouble);
    b->trouble = text ? base_strdup(text) : NULL;
    b->version++;
}

/* Whether anything was read. A process that begins or ends to write may be in the way for a moment. */
static bool read_store(struct board *b)
{
    bool stale = report_data_stale(b->data);
    if (!stale && !b->failing_ms) return false;
    struct diag *d = diag_new();
    bool ok = !stale || report_data_update(b->data, d);
    int64_t now = clock_ms();
    if (ok) b->failing_ms = 0;
    if (!ok && !b->failing_ms) b->failing_ms = now;
    if (ok || now - b->failing_ms >= LIMIT_PAGE_STORE_MS) set_trouble(b, ok ? NULL : diag_message(d, 0));
    diag_free(d);
    return ok && stale;
}

/* Pages that show another store load anew. */
static void follow_file(struct board *b)
{
    if (b->generation == report_data_generation(b->data)) return;
    b->generation = report_data_generation(b->data);
    clear_fragments(b);
    b->first = ++b->version;
}

/* Fragments with a new study are made again. Whether there are any. */
static bool take_studies(struct board *b)
{
    int64_t run;
    bool any = false;
    char name[REPORT_FRAGMENT_BYTES];
    for (; studies_take(b->studies, b->data, &run); any = true) {
        snprintf(name, sizeof name, "search-%" PRId64, run);
        for (size_t i = 0; i < b->n; i++)
            if (strcmp(b->fragments[i].name, name) == 0) b->fragments[i].search_version = 0;
    }
    return any;
}

void board_update(struct board *b)
{
    bool news = read_store(b);
    follow_file(b);
    news = take_studies(b) || news;
    if (news || b->n == 0 || clock_ms() - b->rendered_ms > LIMIT_PAGE_STATES_MS) render(b);
}

struct board *board_new(const char *store, const struct report_opener *opener, const char *version,
                        struct diag *d)
{
    struct board *b = base_calloc(1, sizeof *b);
    b->program = version;
    b->version = b->first = (uint64_t)time(NULL) << VERSION_BITS;
    b->data = report_data_new(store);
    if (report_data_update(b->data, d)) b->studies = studies_start(store, opener, d);
    if (b->studies) {
        render(b);
        return b;
    }
    board_free(b);
    return NULL;
}

void board_free(struct board *b)
{
    if (!b) return;
    studies_end(b->studies);
    report_data_free(b->data);
    clear_fragments(b);
    free(b->fragments);
    free(b->trouble);
    free(b);
}

int board_fd(const struct board *b)
{
    return studies_fd(b->studies);
}

void board_study(struct board *b, bool again)
{
    studies_ask(b->studies, b->data, again, clock_ms());
}

/* ---- views ---- */

uint64_t board_version(const struct board *b)
{
    return b->version;
}

const char *board_trouble(const struct board *b)
{
    return b->trouble ? b->trouble : "";
}

const struct report_data *board_data(const struct board *b)
{
    return b->data;
}

const struct report_study *const *board_studies(struct board *b)
{
    return studies_of(b->studies, b->data);
}

void board_page(struct board *b, struct strbuf *out)
{
    struct report_view v = view_of(b);
    const char **texts = base_calloc(b->n, sizeof *texts);
    for (size_t i = 0; i < b->n; i++)
        texts[i] = b->fragments[i].text;
    report_page(&v, texts, b->n - 1, b->version, out);
    free(texts);
}

/* ---- events ---- */

/* Each line of a text as a line of data: the text has no '\r', which would end one (html.c). */
static void add_data(const char *text, struct strbuf *out)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        strbuf_add(out, "data: ");
        strbuf_addn(out, text, n);
        strbuf_add(out, "\n");
        text += n + (text[n] == '\n');
    }
}

static void add_trouble(const struct board *b, struct strbuf *out)
{
    char *text = base_strdup(board_trouble(b));
    for (char *c = text; *c; c++)
        if (*c == '\n' || *c == '\r') *c = ' ';
    strbuf_printf(out, "data: %s\n", text);
    free(text);
}

void board_changes(const struct board *b, uint64_t since, struct strbuf *out)
{
    if (since && (since < b->first || since > b->version)) {
        strbuf_printf(out, "event: reload\ndata: \n\n");
        return;
    }
    for (size_t i = 0; i < b->n; i++) {
        const struct fragment *f = &b->fragments[i];
        if (f->version <= since) continue;
        strbuf_printf(out, "event: fragment\ndata: %s\n", f->name);
        add_data(f->text, out);
        strbuf_add(out, "\n");
    }
    strbuf_printf(out, "id: %" PRIu64 "\nevent: current\n", b->version);
    add_trouble(b, out);
    strbuf_add(out, "\n");
}
