/* thresh choices: the choices of a program's space or of another space, with the values that remain after the
 * pins. --pin and --order take these names.
 *
 *     $ thresh choices axpy.lift --size N=64 --pin 'size(i.0)=64' 'size(*)'
 *     size: Size of the tile; all dimensions of the tile have this size.
 *       size(i.0)  = 64
 *       size(i.1)  = 1
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/cli/cli.h"
#include "coordinator/cli/space_open.h"
#include "core/base/arena.h"
#include "core/base/strbuf.h"
#include "core/space/hint.h"

enum { MOST_NAME_COLUMNS = 32, MOST_VALUES = 24, FIRST_VALUES = 12, MOST_ROWS = 32, FIRST_ROWS = 24 };

struct listing {
    const struct space_state *root;
    const struct space *space;
    bool *listed; /* [slots] */
    bool all;     /* no pattern was given */
    struct arena *arena;
};

/* ---- patterns ---- */

static bool list_group(struct listing *l, const char *name)
{
    int group = space_group_find(l->space, name);
    for (uint32_t i = 0; group >= 0 && i < space_slot_count(l->space); i++)
        l->listed[i] = l->listed[i] || (int)space_slot_group(l->space, i) == group;
    return group >= 0;
}

static bool list_matching(struct listing *l, const char *pattern)
{
    uint32_t *slots = ARENA_ARRAY(l->arena, uint32_t, space_slot_count(l->space) + 1);
    uint32_t n = space_slots_matching(l->space, pattern, slots);
    for (uint32_t i = 0; i < n; i++)
        l->listed[slots[i]] = true;
    return n > 0;
}

static bool list_pattern(struct listing *l, const char *pattern, struct diag *d)
{
    struct strbuf hint = {0};
    if ((strpbrk(pattern, "(*") ? list_matching : list_group)(l, pattern)) return true;
    space_hint_choice(l->space, pattern, &hint);
    diag_plain(d, "'%s' matches no choice%s", pattern, hint.text ? hint.text : "");
    strbuf_free(&hint);
    return false;
}

/* Marks the choices that the patterns name: `size`, or `size(m.*)` with arguments. No pattern: all choices.
 */
static bool read_patterns(struct listing *l, const char *const *patterns, unsigned n, struct diag *d)
{
    l->all = n == 0;
    for (uint32_t i = 0; l->all && i < space_slot_count(l->space); i++)
        l->listed[i] = true;
    bool ok = true;
    for (unsigned i = 0; i < n; i++)
        ok = list_pattern(l, patterns[i], d) && ok;
    return ok;
}

/* ---- printing ---- */

/* Choices that exist in no implementation are not listed. */
static bool is_listed(const struct listing *l, uint32_t slot, unsigned group)
{
    return l->listed[slot] && space_slot_group(l->space, slot) == group && !space_is_dead(l->root, slot);
}

static uint32_t count_rows(const struct listing *l, unsigned group, int *width)
{
    uint32_t n = 0;
    *width = 0;
    for (uint32_t i = 0; i < space_slot_count(l->space); i++) {
        char name[CLI_NAME_BYTES];
        if (!is_listed(l, i, group)) continue;
        int length = space_slot_name(l->space, i, name, sizeof name);
        *width = length > *width && length <= MOST_NAME_COLUMNS ? length : *width;
        n++;
    }
    return n;
}

/* As a pin takes them: 1|2|4. A long list is shortened in the middle. */
static void add_values(const struct listing *l, uint32_t slot, struct strbuf *b)
{
    uint32_t n = space_value_count(l->root, slot), *values = ARENA_ARRAY(l->arena, uint32_t, n + 1);
    space_values(l->root, slot, values);
    for (uint32_t i = 0; i < n; i++) {
        char name[CLI_NAME_BYTES];
        if (n > MOST_VALUES && i == FIRST_VALUES) {
            strbuf_add(b, "|...");
            i = n - 1;
        }
        space_value_name(l->space, slot, values[i], name, sizeof name);
        strbuf_printf(b, "%s%s", i ? "|" : "", name);
    }
    if (n > MOST_VALUES) strbuf_printf(b, " (%" PRIu32 " values)", n);
}

static void print_row(const struct listing *l, uint32_t slot, int width)
{
    char name[CLI_NAME_BYTES];
    struct strbuf values = {0};
    space_slot_name(l->space, slot, name, sizeof name);
    add_values(l, slot, &values);
    printf("  %-*s  %s%s%s\n", width, name, space_value_count(l->root, slot) == 1 ? "= " : "", values.text,
           space_is_live(l->root, slot) ? "" : "  (if it exists)");
    strbuf_free(&values);
}

/* Prints `between` and the group, unless the group has no rows. Returns whether it has. */
static bool print_group(const struct listing *l, unsigned group, const char *between)
{
    const char *name = space_group_name(l->space, group),
               *doc = space_definition(l->space)->choices[group].remark.doc;
    int width;
    uint32_t n = count_rows(l, group, &width), rows = 0;
    if (n == 0) return false;
    printf("%s%s%s%s\n", between, name, *doc ? ": " : "", doc);
    for (uint32_t i = 0; i < space_slot_count(l->space); i++) {
        if (!is_listed(l, i, group)) continue;
        if (l->all && n > MOST_ROWS && rows++ == FIRST_ROWS) {
            printf("  ... %" PRIu32 " more; the argument '%s' lists them\n", n - FIRST_ROWS, name);
            break;
        }
        print_row(l, i, width);
    }
    return true;
}

/* ---- JSON ---- */

static json_t *row_json(const struct listing *l, uint32_t slot)
{
    char name[CLI_NAME_BYTES];
    json_t *arguments = json_array(), *names = json_array();
    uint32_t n = space_value_count(l->root, slot), *values = ARENA_ARRAY(l->arena, uint32_t, n + 1);
    for (unsigned i = 0; i < space_slot_arity(l->space, slot); i++)
        json_array_append_new(arguments, json_string(space_slot_argument(l->space, slot, i)));
    space_values(l->root, slot, values);
    for (uint32_t i = 0; i < n; i++) {
        space_value_name(l->space, slot, values[i], name, sizeof name);
        json_array_append_new(names, json_string(name));
    }
    space_slot_name(l->space, slot, name, sizeof name);
    return json_pack("{s:s,s:o,s:o,s:b}", "name", name, "arguments", arguments, "values", names, "exists",
                     (int)space_is_live(l->root, slot));
}

static json_t *group_json(const struct listing *l, unsigned group)
{
    json_t *rows = json_array();
    for (uint32_t i = 0; i < space_slot_count(l->space); i++)
        if (is_listed(l, i, group)) json_array_append_new(rows, row_json(l, i));
    return json_pack("{s:s,s:s,s:o}", "choice", space_group_name(l->space, group), "doc",
                     space_definition(l->space)->choices[group].remark.doc, "decisions", rows);
}

static void print_listing(const struct listing *l, bool json)
{
    json_t *groups = json ? json_array() : NULL;
    const char *between = "";
    int width;
    for (unsigned g = 0; g < space_group_count(l->space); g++) {
        if (!json)
            between = print_group(l, g, between) ? "\n" : between;
        else if (count_rows(l, g, &width) > 0)
            json_array_append_new(groups, group_json(l, g));
    }
    if (json) cli_print_json(json_pack("{s:o}", "choices", groups));
}

/* ---- the command ---- */

static int list(const struct cli_args *a, const struct space_state *root, unsigned first, struct diag *d)
{
    struct listing l = {.root = root, .space = space_of(root), .arena = arena_new()};
    l.listed = ARENA_ARRAY(l.arena, bool, space_slot_count(l.space) + 1);
    bool ok = read_patterns(&l, a->positional + first, a->n_positional - first, d);
    if (ok) print_listing(&l, cli_given(a, CLI_JSON));
    arena_free(l.arena);
    return ok ? CLI_OK : CLI_USAGE;
}

static int list_space(const struct cli_args *a, struct diag *d)
{
    static const enum cli_key others[] = {CLI_SIZE, CLI_DEVICE, CLI_DESCRIPTION, CLI_ALLOW};
    struct cli_space o = {0};
    struct space_state *root = NULL;
    if (cli_refuse(a, others, 4, "does not apply to --space", d) &&
        cli_space_load(a->value[CLI_SPACE], &o, d) && cli_space_instantiate(a, &o, d))
        root = space_pinned_root(o.space, a->pins.items, a->pins.n, d);
    int status = root ? list(a, root, 0, d) : CLI_USAGE;
    space_state_free(root);
    cli_space_close(&o);
    return status;
}

static int list_program(const struct cli_args *a, struct diag *d)
{
    static const enum cli_key others[] = {CLI_DATA};
    struct cli_problem p = {0};
    if (a->n_positional == 0) diag_plain(d, "missing argument: KERNEL.lift or --space FILE.space");
    bool opened = !diag_failed(d) && cli_refuse(a, others, 1, "does not apply to a Lift program", d) &&
                  cli_problem_open(a, &p, d);
    int status = opened ? list(a, p.root, 1, d) : CLI_USAGE;
    cli_problem_close(&p);
    return status;
}

static int run(const struct cli_args *a)
{
    struct diag *d = diag_new();
    int status = cli_given(a, CLI_SPACE) ? list_space(a, d) : list_program(a, d);
    return cli_finish(d, status);
}

const struct cli_command cli_choices = {
    .name = "choices",
    .positional = "KERNEL.lift [PATTERN...] | --space FILE.space [PATTERN...]",
    .least = 0,
    .most = CLI_MAX_POSITIONAL,
    .takes = {CLI_TAKES(SIZE), CLI_TAKES(DEVICE), CLI_TAKES(DESCRIPTION), CLI_TAKES(PIN), CLI_TAKES(SPACE),
              CLI_TAKES(DATA), CLI_TAKES(PARAM), CLI_TAKES(ALLOW), CLI_TAKES(JSON)},
    .notes = {{CLI_DESCRIPTION, "FILE.json", "description of the device, if the device is not present"}},
    .help =
        "Lists the choices of a program's space or of another space. Each choice is printed with the values "
        "that remain after the pins; --pin and --order take these names. A choice marked '(if it exists)' "
        "depends "
        "on other decisions. A PATTERN is the name of a choice, "
        "or a name with arguments in which * matches any text; without a PATTERN all choices are "
        "listed.\v"
        "Example: thresh choices matmul.lift --size M=512,N=512,K=512 'size(m.*)' dim_kind\n"
        "         thresh choices --space tiles.space --pin block_x=8",
    .run = run,
};
