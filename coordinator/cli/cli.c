/* Option parsing with argp from the one table, and helpers of the subcommands. */
#include "coordinator/cli/cli.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "coordinator/store.h"
#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/base/stats.h"
#include "core/base/utf8.h"
#include "mcts/branch.h"
#include "mcts/heuristic.h"
#include "perfmodel/device.h"

enum { KEY_BASE = 0x200 };

_Static_assert(CLI_KEY_COUNT <= 64, "options are a 64-bit set");

static const struct argp_option all_options[CLI_KEY_COUNT] = {
#define X(key, name, argument, help) {name, KEY_BASE + CLI_##key, argument, 0, help, 0},
    CLI_OPTIONS(X)
#undef X
};

struct parsing {
    const struct cli_command *command;
    struct cli_args args;
    struct arena *arena; /* of joined values */
};

static void add_to_list(struct cli_list *list, const char *value, struct argp_state *state)
{
    if (list->n == CLI_MAX_LIST)
        argp_error(state, "an option is given more than %d times", CLI_MAX_LIST);
    else
        list->items[list->n++] = value;
}

static void take_option(struct parsing *p, int key, const char *value, struct argp_state *state)
{
    struct cli_args *a = &p->args;
    bool joins = (key == CLI_SIZE || key == CLI_PARAM) && a->value[key];
    if (joins) value = arena_printf(p->arena, "%s,%s", a->value[key], value);
    a->value[key] = value ? value : "";
    if (key == CLI_PIN) add_to_list(&a->pins, value, state);
    if (key == CLI_INPUT) add_to_list(&a->inputs, value, state);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct parsing *p = state->input;
    if (key == 'o') key = KEY_BASE + CLI_OUT;
    if (key >= KEY_BASE && key < KEY_BASE + CLI_KEY_COUNT) {
        take_option(p, key - KEY_BASE, value, state);
    } else if (key == ARGP_KEY_ARG) {
        if (p->args.n_positional == p->command->most)
            argp_error(state, "'%s' is one argument too many", value);
        else
            p->args.positional[p->args.n_positional++] = value;
    } else if (key == ARGP_KEY_END) {
        if (p->args.n_positional < p->command->least)
            argp_error(state, "%s is missing", p->command->positional);
    } else {
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* Arguments are repeated in JSON and in stores. */
static bool arguments_are_utf8(const char *command, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (utf8_valid(argv[i], strlen(argv[i])) == strlen(argv[i])) continue;
        fprintf(stderr, "thresh %s: argument %d is not UTF-8\n", command, i);
        return false;
    }
    return true;
}

/* The option as the subcommand has it; --out is -o, too. */
static struct argp_option option_of(const struct cli_command *command, unsigned key)
{
    struct argp_option option = all_options[key];
    if (key == CLI_OUT) option.key = 'o';
    for (unsigned i = 0; i < CLI_MAX_NOTES; i++) {
        const struct cli_note *note = &command->notes[i];
        if (!note->help || note->key != key) continue;
        option.arg = note->argument;
        option.doc = note->help;
    }
    return option;
}

int cli_run(const struct cli_command *command, int argc, char **argv)
{
    struct argp_option options[CLI_KEY_COUNT + 1] = {0};
    unsigned n = 0;
    for (unsigned i = 0; i < CLI_KEY_COUNT; i++)
        if (command->takes >> i & 1) options[n++] = option_of(command, i);
    struct argp argp = {options, parse, command->positional, command->help, NULL, NULL, NULL};
    char name[64];
    snprintf(name, sizeof name, "thresh %s", command->name);
    if (!arguments_are_utf8(command->name, argc, argv)) return CLI_USAGE;
    argv[0] = name;
    argp_program_version = cli_version;
    struct parsing p = {.command = command, .arena = arena_new()};
    int status = argp_parse(&argp, argc, argv, 0, NULL, &p) ? CLI_USAGE : command->run(&p.args);
    arena_free(p.arena);
    return status;
}

/* ---- values ---- */

bool cli_refuse(const struct cli_args *a, const enum cli_key *keys, size_t n, const char *message,
                struct diag *d)
{
    size_t before = diag_count(d);
    for (size_t i = 0; i < n; i++)
        if (cli_given(a, keys[i])) diag_plain(d, "--%s %s", all_options[keys[i]].name, message);
    return diag_count(d) == before;
}

bool cli_refuse_others(const struct cli_args *a, uint64_t takes, const char *message, struct diag *d)
{
    bool ok = true;
    for (enum cli_key key = 0; key < CLI_KEY_COUNT; key++)
        if (!(takes >> key & 1)) ok = cli_refuse(a, &key, 1, message, d) && ok;
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
    diag_plain(d, "--%s: '%s' is not a count", all_options[key].name, text);
    return false;
}

bool cli_positive(const struct cli_args *a, enum cli_key key, uint64_t otherwise, uint64_t *out,
                  struct diag *d)
{
    if (!cli_count(a, key, otherwise, out, d)) return false;
    if (*out > 0 || !cli_given(a, key)) return true;
    diag_plain(d, "--%s: must be at least 1", all_options[key].name);
    return false;
}

bool cli_samples(const struct cli_args *a, uint64_t otherwise, uint64_t *out, struct diag *d)
{
    if (!cli_positive(a, CLI_SAMPLES, otherwise, out, d)) return false;
    if (*out <= CLI_MOST_SAMPLES) return true;
    diag_plain(d, "--samples: at most %d", CLI_MOST_SAMPLES);
    return false;
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
    diag_plain(d, "--%s: '%s' is not a time such as 30s, 10m or 2h", all_options[key].name, text);
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
    diag_plain(d, "--%s: '%s' is not a share such as 5%%", all_options[key].name, text);
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
    diag_plain(d, "--%s: '%s' is not a positive number", all_options[key].name, text);
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
    printf("tree         %" PRIu64 " nodes (%" PRIu64 " live, %" PRIu64 " cut by the bound, %" PRIu64
           " with nothing left below, %" PRIu64 " evaluated); constraints left out %" PRIu64 "\n",
           nodes, by_cause[MCTS_LIVE], by_cause[MCTS_BOUND], by_cause[MCTS_BACKTRACK],
           by_cause[MCTS_EVALUATED], by_cause[MCTS_CONSTRAINT]);
}

json_t *cli_causes_json(const uint64_t by_cause[MCTS_N_CAUSES])
{
    json_t *o = json_object();
    for (int i = 0; i < MCTS_N_CAUSES; i++)
        json_object_set_new(o, mcts_cause_name((enum mcts_cause)i), json_integer((json_int_t)by_cause[i]));
    return o;
}

/* ---- problems ---- */

/* A device as its description tells it. */
static bool described_device(const char *path, struct device *out, struct diag *d)
{
    struct perfmodel_device p;
    if (!perfmodel_device_load(path, NULL, false, &p, NULL, d)) return false;
    int64_t items = (int64_t)p.value[PERFMODEL_GROUP_ITEMS], local = (int64_t)p.value[PERFMODEL_GROUP_LOCAL];
    *out = (struct device){.gpu = p.gpu, .compute_units = (unsigned)p.value[PERFMODEL_UNITS]};
    memcpy(out->name, p.name, sizeof out->name);
    memcpy(out->driver, p.driver, sizeof out->driver);
    out->limits =
        (struct bb_device){.gpu = p.gpu,
                           .max_work_group = items,
                           .max_work_item = {items, items, p.gpu ? 64 : items},
                           .local_bytes = local,
                           .max_unroll = 512,
                           .max_private = p.gpu ? 256 : 512,
                           .n_vector_widths = p.gpu ? 2 : 4,
                           .vector_widths = {2, 4, 8, 16},
                           .nontemporal = strstr(p.platform, "Portable Computing Language") != NULL};
    if (items > 0 && local > 0) return true;
    diag_plain(d, "%s: group_items and group_local must be known", path);
    return false;
}

bool cli_select_device(const struct cli_args *a, const char *otherwise, struct device *out, struct diag *d)
{
    const char *path = a->value[CLI_DESCRIPTION], *selector = a->value[CLI_DEVICE];
    if (path && !selector) return described_device(path, out, d);
    return device_select(selector ? selector : otherwise, out, d);
}

bool cli_problem_open(const struct cli_args *a, struct cli_problem *out, struct diag *d)
{
    *out = (struct cli_problem){0};
    size_t n;
    out->text = source_read_file(a->positional[0], CLI_PROGRAM_BYTES, &n, d);
    if (!out->text || !cli_select_device(a, NULL, &out->device, d)) return false;
    out->problem = problem_new(a->positional[0], out->text, a->value[CLI_SIZE], &out->device.limits, NULL, d);
    if (!out->problem) return false;
    out->root = space_pinned_root(out->problem->space, a->pins.items, a->pins.n, d);
    if (!out->root) return false;
    return mcts_order_parse(out->problem->space, a->value[CLI_ORDER], &out->order, d);
}

void cli_problem_close(struct cli_problem *p)
{
    space_state_free(p->root);
    problem_free(p->problem);
    mcts_order_free(&p->order);
    free(p->text);
}

struct problem *cli_run_problem(const struct cli_args *a, const struct store_run *run, struct device *dev,
                                struct diag *d)
{
    if (strcmp(run->device, STORE_NO_DEVICE) == 0) {
        diag_plain(d,
                   "run %" PRId64 " is of `tune --space`, not of a program: `thresh store export` prints its "
                   "decisions and times",
                   run->id);
        return NULL;
    }
    if (!cli_select_device(a, run->device, dev, d)) return NULL;
    struct problem *p = problem_new(run->path, run->text, run->sizes, &dev->limits, NULL, d);
    if (!p || p->fingerprint == run->fingerprint) return p;
    diag_plain(d, "run %" PRId64 " was of another device or another version of thresh", run->id);
    problem_free(p);
    return NULL;
}

/* ---- signals ---- */

/* `nohup` has the end of the terminal ignored. */
static bool is_ignored(int number)
{
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int cli_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    if (!is_ignored(SIGHUP)) sigaddset(&set, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &set, NULL)) return -1;
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

int cli_signal_status(int fd, int otherwise)
{
    struct signalfd_siginfo info;
    if (fd < 0) return otherwise;
    bool got = read(fd, &info, sizeof info) == (ssize_t)sizeof info;
    close(fd);
    return got ? 128 + (int)info.ssi_signo : otherwise;
}
