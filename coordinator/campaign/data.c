/* The keys about the user's data:
 *
 *     inputs: {x: data/x.npy, y: data/y.npy}
 *     output-reference: data/z.npy
 *     tolerance: 1e-4
 *
 * Paths are relative to the folder of the campaign file. */
#include <math.h>
#include <stdlib.h>

#include "coordinator/campaign/keys.h"
#include "core/base/arena.h"

/* The i-th file of a map. */
static bool read_input(struct campaign_reader *r, struct campaign_node map, size_t i, struct given_file *out)
{
    struct campaign_node key = campaign_node_key(map, i);
    const char *path = campaign_read_text(campaign_node_item(map, i), "a file of inputs", r->diag);
    out->name = campaign_read_text(key, "an input", r->diag);
    if (path) out->path = campaign_path(r->campaign, path);
    return path && out->name;
}

bool campaign_read_inputs(struct campaign_reader *r, struct campaign_node n)
{
    struct campaign_settings *s = &r->block->settings;
    size_t count = campaign_node_count(n);
    if (campaign_node_kind(n) != CAMPAIGN_MAP)
        return campaign_node_error(n, r->diag,
                                   "inputs must be a map from inputs to files, such as {x: x.npy}");
    if (count > GIVEN_MOST_INPUTS)
        return campaign_node_error(n, r->diag, "inputs: over %d of them", GIVEN_MOST_INPUTS);
    struct given_file *files = ARENA_ARRAY(r->campaign->arena, struct given_file, count + 1);
    bool ok = true;
    for (size_t i = 0; i < count; i++)
        ok = read_input(r, n, i, &files[i]) && ok;
    s->inputs = files;
    s->n_inputs = (unsigned)count;
    r->block->data = n;
    return ok;
}

bool campaign_read_reference(struct campaign_reader *r, struct campaign_node n)
{
    const char *path = campaign_read_text(n, "output-reference", r->diag);
    if (path) r->block->settings.reference = campaign_path(r->campaign, path);
    r->block->data = n;
    return path != NULL;
}

bool campaign_read_tolerance(struct campaign_reader *r, struct campaign_node n)
{
    struct campaign_settings *s = &r->block->settings;
    const char *text = campaign_read_text(n, "tolerance", r->diag);
    char *end;
    if (!text) return false;
    s->has_tolerance = true;
    s->tolerance = strtod(text, &end);
    if (end != text && !*end && s->tolerance >= 0 && isfinite(s->tolerance)) return true;
    return campaign_node_error(n, r->diag, "tolerance is '%s'; write a number from 0, such as 1e-4", text);
}

struct given_files campaign_data(const struct campaign_settings *s)
{
    struct given_files f = {.n_inputs = s->n_inputs,
                            .reference = s->reference,
                            .has_tolerance = s->has_tolerance,
                            .tolerance = s->tolerance};
    for (unsigned i = 0; i < s->n_inputs; i++)
        f.inputs[i] = s->inputs[i];
    return f;
}
