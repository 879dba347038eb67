/* The values of options: counts, times, shares; and options that do not apply.
 *
 *     cli_seconds(a, CLI_TIME, &seconds, d)    --time 10m: seconds = 600
 *     cli_share(a, CLI_DISTANCE, &share, d)    --distance 5%: share = 0.05 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/evaluate.h"
#include "coordinator/cli/cli.h"
#include "coordinator/cli/table.h"
#include "mcts/heuristic.h"

bool cli_refuse(const struct cli_args *a, const enum cli_key *keys, size_t n, const char *message,
                struct diag *d)
{
    size_t before = diag_count(d);
    for (size_t i = 0; i < n; i++)
        if (cli_given(a, keys[i])) diag_plain(d, "--%s %s", cli_option(keys[i]).name, message);
    return diag_count(d) == before;
}

bool cli_refuse_others(const struct cli_args *a, struct cli_set takes, const char *message, struct diag *d)
{
    bool ok = true;
    for (enum cli_key key = 0; key < CLI_KEY_COUNT; key++)
        if (!takes.has[key]) ok = cli_refuse(a, &key, 1, message, d) && ok;
    return ok;
}

bool cli_count(const struct cli_args *a, enum cli_key key, uint64_t otherwise, uint64_t *out, struct diag *d)
{
    const char *text = a->value[key];
    *out = otherwise;
    if (!text) return true;
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno) return true;
    const char *name = cli_option(key).name;
    if (errno == ERANGE)
        diag_plain(d, "--%s: %s is too large; choose a number below 2^64", name, text);
    else
        diag_plain(d, "--%s: '%s' is not a whole number; write digits only, such as --%s 100", name, text,
                   name);
    return false;
}

bool cli_positive(const struct cli_args *a, enum cli_key key, uint64_t otherwise, uint64_t *out,
                  struct diag *d)
{
    if (!cli_count(a, key, otherwise, out, d)) return false;
    if (*out > 0 || !cli_given(a, key)) return true;
    diag_plain(d, "--%s: must be at least 1", cli_option(key).name);
    return false;
}

bool cli_samples(const struct cli_args *a, uint64_t otherwise, uint64_t *out, struct diag *d)
{
    if (!cli_positive(a, CLI_SAMPLES, otherwise, out, d)) return false;
    if (*out <= CLI_MOST_SAMPLES) return true;
    diag_plain(d, "--samples: %" PRIu64 " is too large; the maximum is %d", *out, CLI_MOST_SAMPLES);
    return false;
}

bool cli_runners(const struct cli_args *a, unsigned *out, struct diag *d)
{
    uint64_t n;
    if (!cli_count(a, CLI_RUNNERS, 0, &n, d)) return false;
    *out = n < AGENT_RUNNERS_MOST ? (unsigned)n : AGENT_RUNNERS_MOST;
    return true;
}

bool cli_seconds(const struct cli_args *a, enum cli_key key, double *out, struct diag *d)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    const char *text = a->value[key];
    *out = 0;
    if (!text) return true;
    char *end;
    double value = strtod(text, &end);
    for (size_t i = 0; end != text && value > 0 && value < 1e9 && i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].unit) != 0) continue;
        *out = value * units[i].seconds;
        return true;
    }
    diag_plain(d, "--%s: '%s' is not a time; write a positive number with s, m, h or d, such as 30s or 10m",
               cli_option(key).name, text);
    return false;
}

bool cli_share(const struct cli_args *a, enum cli_key key, double *out, struct diag *d)
{
    const char *text = a->value[key];
    *out = 0;
    if (!text) return true;
    char *end;
    double value = strtod(text, &end);
    bool percent = *end == '%';
    *out = percent ? value / 100 : value;
    if (end != text && !end[percent] && *out >= 0 && *out < 1) return true;
    diag_plain(d, "--%s: '%s' is not a percentage from 0 to less than 100; write for example 5%%",
               cli_option(key).name, text);
    return false;
}

bool cli_number(const struct cli_args *a, enum cli_key key, double otherwise, double *out, struct diag *d)
{
    const char *text = a->value[key];
    *out = otherwise;
    if (!text) return true;
    char *end;
    *out = strtod(text, &end);
    if (end != text && !*end && *out > 0 && *out < 1e18) return true;
    diag_plain(d, "--%s: '%s' is not a positive number; write for example 2500", cli_option(key).name, text);
    return false;
}

bool cli_try_heuristic(const struct cli_args *a, struct diag *d)
{
    return !cli_given(a, CLI_HEURISTIC) || mcts_heuristic_try(a->value[CLI_HEURISTIC], d);
}

int cli_finish(struct diag *d, int status)
{
    diag_print(d, stderr);
    if (status == CLI_OK && diag_failed(d)) status = CLI_USAGE;
    diag_free(d);
    return status;
}
