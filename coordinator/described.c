/* Devices from descriptions; see described.h. */
#include "coordinator/described.h"

#include <string.h>

#include "core/base/strbuf.h"
#include "core/codegen/target.h"

bool described_take(const struct perfmodel_device *p, struct device *out)
{
    int64_t items = (int64_t)p->value[PERFMODEL_GROUP_ITEMS],
            local = (int64_t)p->value[PERFMODEL_GROUP_LOCAL];
    *out = (struct device){.gpu = p->gpu, .compute_units = (unsigned)p->value[PERFMODEL_UNITS]};
    memcpy(out->name, p->name, sizeof out->name);
    memcpy(out->driver, p->driver, sizeof out->driver);
    out->limits = (struct bb_device){.gpu = p->gpu,
                                     .max_work_group = items,
                                     .max_work_item = {items, items, p->gpu ? 64 : items},
                                     .local_bytes = local,
                                     .nontemporal = p->streams == PERFMODEL_STREAMS_UNKNOWN
                                                        ? cg_streams(p->platform, p->driver) == CG_YES
                                                        : p->streams == PERFMODEL_STREAMS,
                                     .matrix = p->matrix,
                                     .half_bits = true, /* an agent on it may write another text */
                                     .device_fence = cg_fences(p->platform),
                                     .workarounds_off = cg_workarounds_off(p->platform, p->driver)};
    device_set_widths(&out->limits);
    return items > 0 && local > 0;
}

bool described_find(const char *name, struct device *out, struct diag *d)
{
    struct perfmodel_device p;
    struct strbuf left_out = {0};
    if (device_select(name, out, d)) return true;
    bool found = perfmodel_device_find(name, false, &p, &left_out) && described_take(&p, out);
    strbuf_free(&left_out);
    return found;
}
