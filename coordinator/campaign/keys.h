/* The keys that a campaign and a kernel share: who measures, how the search goes, when it ends; and maps of
 * known keys:
 *
 *     static const struct campaign_key keys[] = {{"file", read_file}, {"time", campaign_read_time}};
 *     campaign_read_map(node, "a kernel", keys, 2, &reader)
 *
 * calls read_file(&reader, VALUE) where the map has `file:`, and refuses other keys with the nearest name. */
#ifndef THRESH_CAMPAIGN_KEYS_H
#define THRESH_CAMPAIGN_KEYS_H

#include "coordinator/campaign/spec.h"
#include "coordinator/campaign/yaml.h"

/* What is said of a kernel, or of all kernels that do not say it themselves. */
struct campaign_block {
    struct campaign_settings settings;
    const char **devices; /* selectors; n_devices 0: the first device */
    unsigned n_devices;
    struct campaign_node pins, order, learn_from, data, baseline; /* where they are */
};

/* What functions of keys work on. */
struct campaign_reader {
    struct campaign *campaign;
    struct diag *diag;
    struct campaign_block *block; /* of the map that is read */
    void *more;                   /* what the map's own keys are about */
};

struct campaign_key {
    const char *name;
    bool (*read)(struct campaign_reader *r, struct campaign_node value); /* false after an error */
};

/* Reads every key of a map. what: "a campaign", for messages. false after errors. */
bool campaign_read_map(struct campaign_node n, const char *what, const struct campaign_key *keys,
                       size_t n_keys, struct campaign_reader *r);
/* A text that is not empty; NULL after an error. It is in the tree of nodes. */
const char *campaign_read_text(struct campaign_node n, const char *what, struct diag *d);

bool campaign_read_devices(struct campaign_reader *r, struct campaign_node n);
bool campaign_read_heuristic(struct campaign_reader *r, struct campaign_node n);
bool campaign_read_order(struct campaign_reader *r, struct campaign_node n);
bool campaign_read_pins(struct campaign_reader *r, struct campaign_node n);
bool campaign_read_param(struct campaign_reader *r, struct campaign_node n);
bool campaign_read_allow(struct campaign_reader *r, struct campaign_node n);
bool campaign_read_learn_from(struct campaign_reader *r, struct campaign_node n);
bool campaign_read_evaluations(struct campaign_reader *r, struct campaign_node n);
bool campaign_read_time(struct campaign_reader *r, struct campaign_node n);
bool campaign_read_until(struct campaign_reader *r, struct campaign_node n);
bool campaign_read_baseline(struct campaign_reader *r, struct campaign_node n);
bool campaign_read_inputs(struct campaign_reader *r, struct campaign_node n);
bool campaign_read_reference(struct campaign_reader *r, struct campaign_node n);
bool campaign_read_tolerance(struct campaign_reader *r, struct campaign_node n);
/* The keys above, for tables of keys. */
#define CAMPAIGN_SHARED_KEYS                                                                                 \
    {"device", campaign_read_devices}, {"heuristic", campaign_read_heuristic},                               \
        {"order", campaign_read_order}, {"pins", campaign_read_pins}, {"param", campaign_read_param},        \
        {"allow", campaign_read_allow}, {"learn-from", campaign_read_learn_from},                            \
        {"baseline", campaign_read_baseline}, {"inputs", campaign_read_inputs},                              \
        {"output-reference", campaign_read_reference}, {"tolerance", campaign_read_tolerance},               \
        {"evaluations", campaign_read_evaluations}, {"time", campaign_read_time},                            \
    {                                                                                                        \
        "until", campaign_read_until                                                                         \
    }

#endif
