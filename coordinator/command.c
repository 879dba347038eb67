/* Command lines and outputs of a user's program (command.h):
 *
 *     --command './bench {x} --tile {tile(0)}'      words "./bench", "4", "--tile", "16"
 *     "gflops: 12.5\n18250\n"                       a time of 18,250 ns, and a further number gflops */
#include "coordinator/command.h"

#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/shell.h"
#include "core/base/strbuf.h"

enum { NAME_BYTES = 512, NO_SLOT = -1 };

/* A piece of a word: fixed text, or the value of a slot. */
struct piece {
    const char *text;
    int64_t slot; /* or NO_SLOT */
    bool flipped; /* of an antisymmetric pair that the space keeps the other way round */
    bool ends_word;
};

struct command {
    struct arena *arena;
    const struct space *space;
    struct piece *pieces;
    size_t n_pieces, cap_pieces, n_words;
    bool placeholders;
};

/* ---- reading ---- */

struct splitter {
    struct command *c;
    const char *at;
    struct strbuf text; /* of the piece at hand */
    bool in_word;
    struct diag *diag;
};

static void add_piece(struct splitter *s, int64_t slot, bool flipped, bool ends_word)
{
    struct command *c = s->c;
    c->pieces = arena_grow(c->arena, c->pieces, &c->cap_pieces, c->n_pieces + 1, sizeof *c->pieces);
    c->pieces[c->n_pieces++] =
        (struct piece){arena_strdup(c->arena, s->text.text ? s->text.text : ""), slot, flipped, ends_word};
    strbuf_free(&s->text);
}

static void end_word(struct splitter *s)
{
    if (!s->in_word) return;
    add_piece(s, NO_SLOT, false, true);
    s->c->n_words++;
    s->in_word = false;
}

static bool read_placeholder(struct splitter *s)
{
    const char *end = strchr(s->at, '}');
    if (!end) {
        diag_plain(s->diag, "--command: '{' without '}' (write {{ for a plain brace)");
        return false;
    }
    const char *name = arena_strndup(s->c->arena, s->at, (size_t)(end - s->at));
    bool flipped;
    uint32_t slot = space_slot_named(s->c->space, name, &flipped);
    int64_t value;
    s->at = end + 1;
    if (slot != UINT32_MAX) {
        add_piece(s, NO_SLOT, false, false);
        add_piece(s, slot, flipped, false);
        s->c->placeholders = true;
    } else if (space_parameter(s->c->space, name, &value)) {
        strbuf_printf(&s->text, "%" PRId64, value);
    } else {
        diag_plain(s->diag,
                   "--command: the space has no choice or parameter '%s' (write {{ for a plain brace)", name);
        return false;
    }
    return true;
}

/* One character outside of quotes or within double ones, where a backslash is plain but before what would
 * mean something there. */
static bool read_character(struct splitter *s, bool quoted)
{
    char ch = *s->at++;
    s->in_word = true;
    if (ch == '\\' && *s->at && (!quoted || strchr("$`\"\\\n{}", *s->at)))
        ch = *s->at++;
    else if (ch == '{' && *s->at != '{')
        return read_placeholder(s);
    else if ((ch == '{' || ch == '}') && *s->at == ch)
        s->at++;
    strbuf_addn(&s->text, &ch, 1);
    return true;
}

static bool read_quoted(struct splitter *s)
{
    char quote = *s->at++;
    s->in_word = true;
    while (*s->at && *s->at != quote) {
        if (quote == '\'')
            strbuf_addn(&s->text, s->at++, 1);
        else if (!read_character(s, true))
            return false;
    }
    if (!*s->at) {
        diag_plain(s->diag, "--command: a quote is not closed");
        return false;
    }
    s->at++;
    return true;
}

static bool split(struct splitter *s)
{
    bool ok = true;
    while (ok && *s->at) {
        if (isspace((unsigned char)*s->at)) {
            end_word(s);
            s->at++;
        } else {
            ok = *s->at == '\'' || *s->at == '"' ? read_quoted(s) : read_character(s, false);
        }
    }
    if (ok) end_word(s);
    strbuf_free(&s->text);
    if (ok && !s->c->n_words) diag_plain(s->diag, "--command: the program is missing");
    return ok && s->c->n_words;
}

struct command *command_new(const char *text, const struct space *s, struct diag *d)
{
    struct arena *a = arena_new();
    struct command *c = ARENA_NEW(a, struct command);
    *c = (struct command){.arena = a, .space = s};
    struct splitter splitter = {.c = c, .at = text, .diag = d};
    if (split(&splitter)) return c;
    command_free(c);
    return NULL;
}

void command_free(struct command *c)
{
    if (c) arena_free(c->arena);
}

bool command_wants_input(const struct command *c)
{
    return !c->placeholders;
}

/* ---- choices that no placeholder names ---- */

static bool is_named(const struct command *c, uint32_t slot)
{
    for (size_t i = 0; i < c->n_pieces; i++)
        if (c->pieces[i].slot == slot) return true;
    return false;
}

char *command_unnamed(const struct command *c, const struct space_state *root, unsigned *n)
{
    enum { MOST_SHOWN = 6 };
    char name[NAME_BYTES];
    struct strbuf b = {0};
    *n = 0;
    for (uint32_t slot = 0; c->placeholders && slot < space_slot_count(c->space); slot++) {
        bool open = !space_is_dead(root, slot) && space_value_count(root, slot) > 1;
        if (!open || is_named(c, slot)) continue;
        space_slot_name(c->space, slot, name, sizeof name);
        if ((*n)++ < MOST_SHOWN) strbuf_printf(&b, "%s'%s'", *n > 1 ? ", " : "", name);
    }
    if (*n > MOST_SHOWN) strbuf_printf(&b, " and %u more", *n - MOST_SHOWN);
    return *n ? strbuf_take(&b) : NULL;
}

/* ---- words of a leaf ---- */

static void add_value(struct strbuf *b, const struct space_state *leaf, const struct piece *p)
{
    char name[NAME_BYTES];
    uint32_t slot = (uint32_t)p->slot;
    if (!space_is_live(leaf, slot)) return;
    uint32_t value = space_first_value(leaf, slot);
    if (p->flipped) value = space_value_mirror(space_of(leaf), slot, value);
    space_value_name(space_of(leaf), slot, value, name, sizeof name);
    strbuf_add(b, name);
}

char **command_words(const struct command *c, const struct space_state *leaf)
{
    struct strbuf b = {0};
    size_t *starts = base_calloc(c->n_words + 1, sizeof *starts), word = 0;
    for (size_t i = 0; i < c->n_pieces; i++) {
        if (c->pieces[i].slot == NO_SLOT)
            strbuf_add(&b, c->pieces[i].text);
        else
            add_value(&b, leaf, &c->pieces[i]);
        if (!c->pieces[i].ends_word) continue;
        strbuf_addn(&b, "", 1);
        starts[++word] = b.length;
    }
    size_t table = (c->n_words + 1) * sizeof(char *);
    char **words = base_calloc(1, table + b.length + 1), *text = (char *)words + table;
    memcpy(text, b.text, b.length);
    for (size_t i = 0; i < c->n_words; i++)
        words[i] = text + starts[i];
    free(starts);
    strbuf_free(&b);
    return words;
}

char *command_line(const struct command *c, const struct space_state *leaf)
{
    struct strbuf b = {0};
    char **words = command_words(c, leaf);
    for (size_t i = 0; words[i]; i++) {
        if (i) strbuf_add(&b, " ");
        shell_add_word(&b, words[i]);
    }
    free(words);
    return strbuf_take(&b);
}

/* ---- output ---- */

/* The start of the last line that is not blank. */
static const char *last_line(const char *text)
{
    const char *end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    while (end > text && end[-1] != '\n')
        end--;
    return end;
}

static struct command_result garbage(const char *text)
{
    struct command_result r = {.status = EVAL_WRONG_RESULT};
    const char *line = last_line(text);
    size_t n = strcspn(line, "\n");
    if (n > 100) n = 100;
    snprintf(r.message, sizeof r.message, "the last line of the output is not a time in ns: '%.*s'", (int)n,
             line);
    for (char *c = r.message; *c; c++)
        if (!isprint((unsigned char)*c)) *c = '?';
    return r;
}

/* Adds a number unless there is no room for it. */
static void keep_number(json_t *numbers, const char *name, json_t *value)
{
    enum { MOST_NAME = 64 };
    char text[COMMAND_NUMBERS];
    if (!*name || strlen(name) > MOST_NAME) {
        json_decref(value);
        return;
    }
    json_object_set_new(numbers, name, value);
    size_t n = json_dumpb(numbers, text, sizeof text, JSON_COMPACT | JSON_REAL_PRECISION(12));
    if (n >= sizeof text) json_object_del(numbers, name);
}

/* "name: number" or "name=number", spaces aside, at `line`. */
static void keep_line(json_t *numbers, const char *line)
{
    static const char name[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./%-";
    char copy[80], *end;
    line += strspn(line, " \t");
    size_t n = strspn(line, name);
    const char *at = line + n + strspn(line + n, " \t");
    if (!n || n >= sizeof copy || isdigit((unsigned char)*line) || (*at != ':' && *at != '=')) return;
    double value = strtod(at + 1, &end);
    if (end == at + 1 || !isfinite(value) || memchr(at + 1, '\n', (size_t)(end - at - 1))) return;
    end += strspn(end, " \t\r");
    if (*end && *end != '\n') return;
    snprintf(copy, sizeof copy, "%.*s", (int)n, line);
    bool whole = value == floor(value) && fabs(value) < 1e15;
    keep_number(numbers, copy, whole ? json_integer((json_int_t)value) : json_real(value));
}

static void set_numbers(struct command_result *r, json_t *numbers)
{
    if (!json_object_size(numbers)) return;
    size_t n = json_dumpb(numbers, r->numbers, sizeof r->numbers - 1, JSON_COMPACT | JSON_REAL_PRECISION(12));
    r->numbers[n] = 0;
}

/* A time, with the numbers on the lines before it. */
static struct command_result timed(double ns, const char *text)
{
    if (!(ns > 0) || !isfinite(ns)) return garbage(text);
    struct command_result r = {.status = EVAL_OK, .time_ns = ns};
    const char *end = last_line(text);
    json_t *numbers = json_object();
    for (const char *line = text; line < end; line = strchr(line, '\n') + 1)
        keep_line(numbers, line);
    set_numbers(&r, numbers);
    json_decref(numbers);
    return r;
}

static struct command_result timed_object(json_t *o, const char *text)
{
    json_t *time = json_object_get(o, "time_ns"), *numbers = json_object(), *value;
    const char *name;
    struct command_result r = timed(json_is_number(time) ? json_number_value(time) : 0, text);
    json_object_foreach(o, name, value) if (json_is_number(value) && strcmp(name, "time_ns") != 0)
        keep_number(numbers, name, json_incref(value));
    if (r.status == EVAL_OK) set_numbers(&r, numbers);
    json_decref(numbers);
    return r;
}

static struct command_result read_object(json_t *o, const char *text)
{
    json_t *error = json_object_get(o, "error");
    if (!json_is_string(error)) return timed_object(o, text);
    struct command_result r = {.status = EVAL_LAUNCH_ERROR};
    snprintf(r.message, sizeof r.message, "%s", json_string_value(error));
    return r;
}

struct command_result command_read_output(const char *text)
{
    const char *line = last_line(text);
    char *end;
    double ns = strtod(line, &end);
    bool number = end != line && !end[strspn(end, " \t\r\n")];
    if (number) return timed(ns, text);
    json_t *o = json_loads(text, 0, NULL);
    if (!o) o = json_loads(line, 0, NULL);
    struct command_result r = json_is_object(o) ? read_object(o, text) : garbage(text);
    json_decref(o);
    return r;
}
