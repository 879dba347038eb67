/* Results that several subcommands print, as lines and as JSON; and the end of standard output. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "coordinator/cli/cli.h"
#include "core/base/file.h"
#include "core/base/panic.h"
#include "core/base/stats.h"

json_t *cli_real_json(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *cli_count_json(double log_count)
{
    return cli_real_json(exp(log_count));
}

void cli_print_json(json_t *o)
{
    CHECK(o);
    json_dumpf(o, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
    putchar('\n');
    json_decref(o);
}

void cli_print_dead_ends(double ratio, uint64_t descents)
{
    double low, high;
    printf("dead-end ratio   %.4f", ratio);
    if (descents) {
        stats_share(ratio * (double)descents, (double)descents, &low, &high);
        printf(" (95 %% interval %.4f to %.4f)", low, high);
    }
    putchar('\n');
}

void cli_add_dead_ends(json_t *o, double ratio, uint64_t descents)
{
    double low = 0, high = 1;
    if (descents) stats_share(ratio * (double)descents, (double)descents, &low, &high);
    json_object_set_new(o, "dead_end_ratio", json_real(ratio));
    json_object_set_new(o, "dead_end_low", descents ? json_real(low) : json_null());
    json_object_set_new(o, "dead_end_high", descents ? json_real(high) : json_null());
}

void cli_print_nodes(uint64_t nodes, const uint64_t by_cause[MCTS_N_CAUSES])
{
    uint64_t explored = by_cause[MCTS_BACKTRACK] + by_cause[MCTS_EVALUATED];
    uint64_t excluded = by_cause[MCTS_CONSTRAINT];
    printf("search tree  %" PRIu64 " node%s (%" PRIu64 " open, %" PRIu64 " pruned by the bound, %" PRIu64
           " fully explored); %" PRIu64 " value%s excluded by constraints\n",
           nodes, nodes == 1 ? "" : "s", by_cause[MCTS_LIVE], by_cause[MCTS_BOUND], explored, excluded,
           excluded == 1 ? "" : "s");
}

json_t *cli_causes_json(const uint64_t by_cause[MCTS_N_CAUSES])
{
    json_t *o = json_object();
    for (int i = 0; i < MCTS_N_CAUSES; i++)
        json_object_set_new(o, mcts_cause_name((enum mcts_cause)i), json_integer((json_int_t)by_cause[i]));
    return o;
}

/* ---- standard output ---- */

/* Whether standard output is a pipe whose reader has closed it, as `head` does: this is not an error. */
static bool is_unread(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};
    return poll(&out, 1, 0) > 0 && out.revents & POLLERR;
}

bool cli_flush_output(void)
{
    int error = file_stream_error(stdout);
    if (!error && close(STDOUT_FILENO) && errno != EBADF) error = errno;
    if (!error || error == EPIPE || is_unread()) return true;
    fprintf(stderr, "error: cannot write to standard output: %s\n", file_error_text(error));
    return false;
}
