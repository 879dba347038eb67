#include "tests/e2e/described.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "agent/device.h"

void described_write(struct perfmodel_device *p, const char *path)
{
    struct device dev;
    struct diag *d = diag_new();
    cr_assert(device_select(NULL, &dev, d), "%s", diag_failed(d) ? diag_message(d, 0) : "");
    snprintf(p->name, sizeof p->name, "%s", dev.name);
    snprintf(p->platform, sizeof p->platform, "%s", dev.platform);
    p->gpu = dev.gpu;
    p->value[PERFMODEL_GROUP_ITEMS] = (double)dev.limits.max_work_group;
    p->value[PERFMODEL_GROUP_LOCAL] = (double)dev.limits.local_bytes;
    p->source[PERFMODEL_GROUP_ITEMS] = p->source[PERFMODEL_GROUP_LOCAL] = PERFMODEL_QUERIED;
    FILE *f = fopen(path, "w");
    cr_assert(f && perfmodel_device_write(p, f) && fclose(f) == 0);
    diag_free(d);
}

void described_write_one(const char *path, enum perfmodel_figure figure, double value)
{
    struct perfmodel_device p = {.date = "2026-11-02"};
    p.value[figure] = value;
    p.source[figure] = PERFMODEL_MEASURED;
    described_write(&p, path);
}
