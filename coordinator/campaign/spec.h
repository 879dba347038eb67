/* A campaign file: many searches, named in YAML (README.md has the format):
 *
 *     device: cpu
 *     evaluations: 100
 *     kernels:
 *       - {file: matmul.lift, sizes: {M: [64, 128], N: 64, K: 64}}
 *       - {file: axpy.lift, sizes: {N: 64..1024 *4}, time: 30s}
 *
 * is five searches. Each has everything that `thresh tune` is told by its options; what a kernel does not
 * say it takes from the campaign. Paths are relative to the folder of the file. */
#ifndef THRESH_CAMPAIGN_SPEC_H
#define THRESH_CAMPAIGN_SPEC_H

#include <stdint.h>

#include "agent/given.h"
#include "coordinator/campaign/yaml.h"
#include "coordinator/launch/options.h"
#include "coordinator/session.h"
#include "core/backbone/backbone.h"
#include "core/base/diag.h"

enum {
    CAMPAIGN_BYTES = 1 << 20,               /* longest campaign file, and longest program */
    CAMPAIGN_MOST_PINS = 512,               /* of one search */
    CAMPAIGN_MOST_LEARN_FROM = 64,          /* stores of one search */
    CAMPAIGN_MOST_EVALUATIONS = 1000000000, /* decades */
    CAMPAIGN_MOST_SEEDS = 1000,
    CAMPAIGN_NO_PAGE = -1
};

/* How a search goes and when it ends. */
struct campaign_settings {
    const char *heuristic, *order; /* NULL: as tune does */
    const char **pins;
    unsigned n_pins;
    const char *param, *allow; /* as for --param and --allow; NULL: none */
    uint64_t evaluations;      /* 0: no limit */
    double time_s;             /* 0: no limit */
    struct session_until until;
    const char **learn_from; /* stores */
    unsigned n_learn_from;
    const char **baselines; /* the user's own kernels, as for --baseline */
    unsigned n_baselines;
    const struct given_file *references; /* files of expected results */
    unsigned n_references;
    const struct given_file *inputs; /* files of inputs */
    unsigned n_inputs;
    bool has_tolerance;
    double tolerance;
};

struct campaign_search {
    unsigned number;         /* from 1, in the order of the file */
    const char *name;        /* of the kernel */
    const char *path, *text; /* of its program */
    const char *sizes;       /* "M=64,K=256"; "": it has none */
    const char *device;      /* selector; NULL: the first */
    uint64_t seed;
    struct campaign_settings settings;
    unsigned kernel; /* its place in `kernels`, from 0 */
    struct source_pos at, at_sizes, at_pins, at_order, at_learn_from, at_data,
        at_baseline; /* of its parts; of the kernel where it has none */
};

/* Owns all that it points to. */
struct campaign {
    const char *path;                           /* of the file, as the user named it; borrowed */
    const char *name, *store, *report, *header; /* report, header: files to write */
    const char *listen;                         /* endpoint for agents; NULL: none is named */
    int page;                                   /* port of the live page; 0: any free one; CAMPAIGN_NO_PAGE */
    const char *keys;                           /* folder of keys; NULL: none */
    struct launch_options *launch;              /* NULL: agents run in the coordinator's process */
    struct campaign_node launcher;              /* where it is */
    struct campaign_search *searches;
    unsigned n_searches;
    struct arena *arena;
    struct source source;
    struct campaign_yaml *yaml;
};

/* Reads a file with the programs that it names. NULL after errors, of which it finds as many as it can. */
struct campaign *campaign_read(const char *path, struct diag *d);
/* The files of a search, as tune is told them. */
struct given_files campaign_data(const struct campaign_settings *s);
/* The parameters that `param` and `allow` set. */
struct bb_options campaign_lowering(const struct campaign_settings *s);
/* Reads the port of a page, "8780" or "none". false: it is neither. */
bool campaign_parse_page(const char *text, int *page);
void campaign_free(struct campaign *c); /* NULL is allowed */

/* A path as the file means it: relative to the file's folder. Of the campaign's arena, or the text itself. */
const char *campaign_path(const struct campaign *c, const char *path);

/* Who starts agents: for launch_start() or launch_keep(), with the campaign's `listen` and `keys`; NULL:
 * agents run in the coordinator's process. Owned by the campaign. listen may be NULL for local agents: the
 * caller chooses an ipc:// endpoint then. */
const struct launch_options *campaign_launch_options(const struct campaign *c);

/* The budget of a search as the store has it: "evaluations=300 time=60 until=2%/200". */
void campaign_print_budget(const struct campaign_settings *s, struct strbuf *out);
/* The same as people read it: "300 evaluations, 1m, within 2% for 200 evaluations". */
void campaign_describe_budget(const struct campaign_settings *s, struct strbuf *out);

#endif
