/* The keys about the user's data:
 *
 *     inputs: {x: data/x.npy, y: data/y.npy}
 *     output-reference: data/z.npy           of several outputs: {mean: data/m.npy, variance: data/v.npy}
 *     tolerance: 1e-4
 *
 * Paths are relative to the folder of the campaign file. */
#include <math.h>
#include <stdlib.h>

#include "coordinator/campaign/keys.h"
#include "core/base/arena.h"

/* The i-th file of a map of files, which are `what`. */
static bool read_file(struct campaign_reader *r, struct campaign_node map, size_t i, const char *what,
                      struct given_file *out)
{
    struct campaign_node key = campaign_node_key(map, i);
    const char *path = campaign_read_text(campaign_node_item(map, i), what, r->diag);
    out->name = campaign_read_text(key, "a name", r->diag);
    if (path) out->path = campaign_path(r->campaign, path);
    return path && out->name;
}

/* A map from names to files. */
static bool read_files(struct campaign_reader *r, struct campaign_node n, const char *what, unsigned most,
                       const struct given_file **out, unsigned *n_out)
{
    size_t count = campaign_node_count(n);
    if (count > most) return campaign_node_error(n, r->diag, "%s: over %u of them", what, most);
    struct given_file *files = ARENA_ARRAY(r->campaign->arena, struct given_file, count + 1);
    bool ok = true;
    for (size_t i = 0; i < count; i++)
        ok = read_file(r, n, i, what, &files[i]) && ok;
    *out = files;
    *n_out = (unsigned)count;
    r->block->data = n;
    return ok;
}

bool campaign_read_inputs(struct campaign_reader *r, struct campaign_node n)
{
    struct campaign_settings *s = &r->block->settings;
    if (campaign_node_kind(n) != CAMPAIGN_MAP)
        return campaign_node_error(n, r->diag,
                                   "inputs must be a map from inputs to files, such as {x: x.npy}");
    return read_files(r, n, "a file of inputs", GIVEN_MOST_INPUTS, &s->inputs, &s->n_inputs);
}

bool campaign_read_reference(struct campaign_reader *r, struct campaign_node n)
{
    struct campaign_settings *s = &r->block->settings;
    if (campaign_node_kind(n) == CAMPAIGN_MAP)
        return read_files(r, n, "a file of outputs", GIVEN_MOST_OUTPUTS, &s->references, &s->n_references);
    const char *path = campaign_read_text(n, "output-reference", r->diag);
    struct given_file *file = ARENA_ARRAY(r->campaign->arena, struct given_file, 1);
    if (path) file->path = campaign_path(r->campaign, path);
    s->references = file;
    s->n_references = 1;
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
                            .n_references = s->n_references,
                            .has_tolerance = s->has_tolerance,
                            .tolerance = s->tolerance};
    for (unsigned i = 0; i < s->n_inputs; i++)
        f.inputs[i] = s->inputs[i];
    for (unsigned i = 0; i < s->n_references; i++)
        f.references[i] = s->references[i];
    return f;
}
