/* `thresh device characterize` on a device that has a description already: both are shown, and of each figure
 * the faster one is kept with the day on which it was measured, unless --fresh starts anew. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/described.h"
#include "tests/e2e/run.h"

static const char characterize_day[] = "2020-02-03";

/* A folder with a description of the first device: its arithmetic is faster than any device's, its memory
 * slower, the rest is not known. */
static void characterize_describe(char folder[32], char path[64])
{
    struct perfmodel_device p = {.date = "2021-01-01"};
    e2e_folder(folder);
    snprintf(path, 64, "%s/old.json", folder);
    p.value[PERFMODEL_FP32] = 1e7;
    p.value[PERFMODEL_DRAM] = 1e-3;
    p.source[PERFMODEL_FP32] = p.source[PERFMODEL_DRAM] = PERFMODEL_MEASURED;
    memcpy(p.dated[PERFMODEL_FP32].day, characterize_day, sizeof characterize_day);
    memcpy(p.dated[PERFMODEL_DRAM].day, characterize_day, sizeof characterize_day);
    described_write(&p, path);
}

/* The comparison of a figure; borrowed. */
static json_t *characterize_row(json_t *report, const char *figure)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(report, "figures"), i, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "figure")), figure) == 0) return row;
    }
    cr_assert_fail("no row for %s", figure);
    return NULL;
}

static const char *characterize_text(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

/* What the report says of a figure, and what the written description has. */
static void characterize_kept(json_t *report, const char *figure, const char *kept)
{
    json_t *row = characterize_row(report, figure), *side = json_object_get(row, kept);
    json_t *written = json_object_get(json_object_get(report, "description"), figure);
    cr_expect_str_eq(characterize_text(row, "kept"), kept, "%s", figure);
    cr_expect(json_equal(side, written), "%s is not the %s one", figure, kept);
    bool old = strcmp(kept, "old") == 0;
    cr_expect_eq(strcmp(characterize_text(written, "date"), characterize_day) == 0, old, "%s", figure);
}

static json_t *characterize_run(const char *folder, const char *option)
{
    struct e2e_run r = E2E_RUN(&cli_device, "characterize", "--json", "--quiet", "--out", folder, option);
    json_t *report = json_loads(r.out, 0, NULL);
    cr_assert(r.status == CLI_OK && report, "%s", r.err);
    e2e_run_free(&r);
    return report;
}

Test(characterize, old_and_new_figures_are_compared)
{
    char folder[32], path[64];
    struct perfmodel_device written;
    struct diag *d = diag_new();
    characterize_describe(folder, path);
    setenv("THRESH_DEVICES", folder, 1);
    json_t *report = characterize_run(folder, NULL);
    characterize_kept(report, "fp32", "old");
    characterize_kept(report, "dram", "new");
    characterize_kept(report, "chain", "new");
    cr_expect_str_eq(characterize_text(characterize_row(report, "chain"), "why"), "no older value");
    const char *file = characterize_text(report, "file");
    cr_assert(perfmodel_device_read(file, &written, d));
    cr_expect_str_eq(written.dated[PERFMODEL_FP32].day, characterize_day);
    cr_expect_eq(written.value[PERFMODEL_FP32], 1e7);
    cr_expect_str_eq(written.dated[PERFMODEL_DRAM].day, written.date);
    unlink(file);
    json_decref(report);
    report = characterize_run(folder, "--fresh");
    characterize_kept(report, "fp32", "new");
    cr_expect(json_equal(json_object_get(characterize_row(report, "fp32"), "old"),
                         json_object_get(characterize_row(report, "fp32"), "new")) == 0);
    unlink(characterize_text(report, "file"));
    unlink(path);
    rmdir(folder);
    json_decref(report);
    diag_free(d);
}
