/* best.json, the best implementations as JSON, and what the header has of an entry, too. An entry:
 *
 *     {"program": "matmul", "sizes": {"M": 512, ...}, "device": "NVIDIA H200", "figure": {"median_ns": ...},
 *      "decisions": {...}, "kernel": {"name": "thresh_kernel", "source": "...", "global_size": [...], ...}}
 *
 * A portable choice is an entry of its first device with the times on all. */
#include "coordinator/export.h"

#include <stdlib.h>

#include "agent/device.h"
#include "coordinator/solution.h"
#include "core/lift/scalar.h"

enum { FORMAT = 1 };

struct export_argument export_argument(const struct export_entry *e, unsigned i)
{
    const struct cg_arg *arg = &e->code->kernel.args[i];
    struct export_argument a = {"temporary", "char", arg->bytes, EXPORT_TEMPORARY};
    if (arg->zero) a = (struct export_argument){"counters", "uint", arg->bytes, EXPORT_COUNTERS};
    if (arg->buffer == BB_NONE) return a;
    const struct bb_buffer *b = &e->problem->backbone->buffers[arg->buffer];
    a.name = b->name;
    a.type = scalar_type_name(b->type);
    a.use = b->by_value  ? EXPORT_VALUE
            : b->updated ? EXPORT_UPDATED
            : b->output  ? EXPORT_OUTPUT
                         : EXPORT_INPUT;
    return a;
}

json_t *export_decisions(const struct export_entry *e)
{
    struct space_action *actions;
    size_t n;
    if (!e->problem) return json_loads(e->winner->decisions, 0, NULL);
    if (!store_actions_parse(e->winner->actions, &actions, &n)) return json_object();
    json_t *decisions = solution_actions_json(e->problem->space, actions, n);
    free(actions);
    return decisions;
}

static json_t *arguments_json(const struct export_entry *e)
{
    static const char *const uses[] = {"input", "output", "temporary", "value", "updated", "counters"};
    json_t *list = json_array();
    for (unsigned i = 0; i < e->code->kernel.n_args; i++) {
        struct export_argument a = export_argument(e, i);
        json_array_append_new(list, json_pack("{s:s,s:s,s:I,s:s}", "name", a.name, "type", a.type, "bytes",
                                              (json_int_t)a.bytes, "use", uses[a.use]));
    }
    return list;
}

static json_t *range_json(const size_t range[3])
{
    return json_pack("[III]", (json_int_t)range[0], (json_int_t)range[1], (json_int_t)range[2]);
}

static json_t *kernel_json(const struct export_entry *e)
{
    if (!e->problem) return json_null();
    const struct cg_kernel *k = &e->code->kernel;
    return json_pack("{s:s,s:s,s:o,s:o,s:o,s:I}", "name", k->name, "source", k->source, "global_size",
                     range_json(k->global), "local_size", k->local[0] ? range_json(k->local) : json_null(),
                     "arguments", arguments_json(e), "local_bytes", (json_int_t)k->local_bytes);
}

/* Of `tune --space` the parameters are a text. */
static json_t *sizes_json(const struct export_entry *e)
{
    if (!e->problem) return json_string(e->winner->run.sizes);
    json_t *o = json_object();
    const struct lift_program *p = e->problem->program;
    for (unsigned i = 0; i < p->n_sizes; i++)
        json_object_set_new(o, p->sizes[i].name, json_integer(p->sizes[i].value));
    return o;
}

static json_t *device_type_json(const struct export_entry *e)
{
    return e->device ? json_string(e->device->gpu ? "gpu" : "cpu") : json_null();
}

static json_t *entry_json(const struct export_entry *e)
{
    const struct winner *w = e->winner;
    return json_pack("{s:s,s:s,s:o,s:s,s:o,s:s,s:o,s:o,s:o,s:o,s:{s:s,s:I,s:I,s:s,s:I,s:I}}", "program",
                     e->name, "path", w->run.path, "sizes", sizes_json(e), "device", w->run.device,
                     "device_type", device_type_json(e), "driver", w->run.driver, "figure",
                     figure_json(&w->figure), "naive", figure_json(&w->naive), "decisions",
                     export_decisions(e), "kernel", kernel_json(e), "from", "store", w->store, "run",
                     (json_int_t)w->run.id, "number", (json_int_t)w->number, "started", w->started, "runs",
                     (json_int_t)w->runs, "evaluations", (json_int_t)w->evaluations);
}

/* {"by": "geometric mean", "mean": 1.37, "worst": 1.4, "candidates": 14, "devices": [...], ...as an entry} */
static json_t *portable_json(const struct export_portable *p)
{
    const struct portable *c = p->choice;
    json_t *devices = json_array(), *entry = entry_json(&p->entry);
    for (unsigned i = 0; i < c->n_times; i++)
        json_array_append_new(devices,
                              json_pack("{s:s,s:o,s:f}", "device", c->times[i].device, "figure",
                                        figure_json(&c->times[i].figure), "slowdown", c->times[i].slowdown));
    json_t *o = json_pack("{s:s,s:f,s:f,s:i,s:o}", "by", portable_rule_names[c->rule], "mean", c->mean,
                          "worst", c->worst, "candidates", (int)c->candidates, "devices", devices);
    json_object_update_missing(o, entry);
    json_decref(entry);
    return o;
}

json_t *export_database(const struct export_best *b)
{
    json_t *list = json_array(), *portables = json_array();
    for (size_t i = 0; i < b->n; i++)
        json_array_append_new(list, entry_json(&b->entries[i]));
    for (size_t i = 0; i < b->n_portables; i++)
        json_array_append_new(portables, portable_json(&b->portables[i]));
    return json_pack("{s:i,s:s,s:o,s:o}", "format", FORMAT, "written_by", b->version, "entries", list,
                     "portable", portables);
}
