/* The pruned candidates of a store's last run, as text and as JSON. A candidate is printed with its
 * decisions, its bound, the best time when it was pruned, and the reason:
 *
 *     size(m.0)=1
 *         bound 2.1 ms, time to beat 150 us
 *         ... */
#include "coordinator/cli/cuts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/store.h"
#include "core/base/strbuf.h"
#include "core/base/units.h"

static bool print_cut(void *context, const struct store_cut *c)
{
    struct strbuf text = {0};
    char bound[UNITS_BYTES], cut[UNITS_BYTES];
    ++*(uint64_t *)context;
    strbuf_add(&text, c->reason);
    units_time(c->bound_ns, bound, sizeof bound);
    units_time(c->cut_ns, cut, sizeof cut);
    printf("%s\n    bound %s, time to beat %s\n", *c->candidate ? c->candidate : "all candidates", bound,
           cut);
    for (char *rest = text.text, *line; (line = strtok_r(rest, "\n", &rest));)
        printf("    %s\n", line);
    strbuf_free(&text);
    return true;
}

static json_t *cut_json(const struct store_cut *c)
{
    return json_pack("{s:s,s:o,s:o,s:s}", "candidate", c->candidate, "bound_ns", cli_real_json(c->bound_ns),
                     "cut_ns", cli_real_json(c->cut_ns), "reason", c->reason);
}

static bool collect_cut(void *context, const struct store_cut *c)
{
    json_array_append_new(context, cut_json(c));
    return true;
}

int cli_cuts(const struct cli_args *a)
{
    struct diag *d = diag_new();
    uint64_t n = 0;
    json_t *list = cli_given(a, CLI_JSON) ? json_array() : NULL;
    bool alone =
        cli_refuse_others(a, CLI_SET(CLI_TAKES(CUTS), CLI_TAKES(JSON)), "does not apply with --cuts", d);
    struct store *s = alone ? store_open_to_read(a->positional[0], d) : NULL;
    bool read = s && (list ? store_each_cut(s, collect_cut, list, d) : store_each_cut(s, print_cut, &n, d));
    if (read && list) cli_print_json(json_pack("{s:O}", "cuts", list));
    if (read && !list) printf("%" PRIu64 " pruned candidate%s\n", n, n == 1 ? "" : "s");
    json_decref(list);
    store_close(s);
    return cli_finish(d, CLI_OK);
}
