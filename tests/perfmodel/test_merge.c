/* Two descriptions of one device, made on two days: which figure is kept, with which date, and why. */
#include "perfmodel/merge.h"

#include <criterion/criterion.h>
#include <string.h>

static struct perfmodel_device merge_description(const char *day)
{
    struct perfmodel_device dev = {.name = "dev"};
    memcpy(dev.date, day, strlen(day) + 1);
    return dev;
}

static void merge_put(struct perfmodel_device *dev, enum perfmodel_figure f, double value,
                      enum perfmodel_source source)
{
    dev->value[f] = value;
    dev->source[f] = source;
    memcpy(dev->dated[f].day, dev->date, sizeof dev->date);
}

/* The figure that is kept of an old one of Monday and a new one of Friday; source UNKNOWN: there is none. */
static void merge_keeps(enum perfmodel_figure f, double old, enum perfmodel_source old_source, double new,
                        enum perfmodel_source new_source, bool keeps_old, const char *why)
{
    struct perfmodel_device earlier = merge_description("2026-11-02"),
                            fresh = merge_description("2026-11-06"), kept;
    struct perfmodel_verdict verdicts[PERFMODEL_FIGURE_COUNT];
    merge_put(&earlier, f, old, old_source);
    merge_put(&fresh, f, new, new_source);
    perfmodel_merge(&earlier, &fresh, &kept, verdicts);
    const char *name = perfmodel_figure_name(f);
    cr_expect_eq(verdicts[f].old, keeps_old, "%s: %s", name, verdicts[f].why);
    cr_expect(strstr(verdicts[f].why, why), "%s: \"%s\", not \"%s\"", name, verdicts[f].why, why);
    cr_expect_eq(kept.value[f], keeps_old ? old : new, "%s", name);
    cr_expect_eq(kept.source[f], keeps_old ? old_source : new_source, "%s", name);
    cr_expect_str_eq(kept.dated[f].day, keeps_old ? "2026-11-02" : "2026-11-06", "%s", name);
    cr_expect_str_eq(kept.date, "2026-11-06");
}

Test(merge, of_two_measurements_the_faster_one_stays_with_its_date)
{
    merge_keeps(PERFMODEL_FP32, 124, PERFMODEL_MEASURED, 119, PERFMODEL_MEASURED, true, "faster");
    merge_keeps(PERFMODEL_FP32, 119, PERFMODEL_MEASURED, 124, PERFMODEL_MEASURED, false, "faster");
    merge_keeps(PERFMODEL_LAUNCH, 120, PERFMODEL_MEASURED, 140, PERFMODEL_MEASURED, true, "faster");
    merge_keeps(PERFMODEL_LAUNCH, 140, PERFMODEL_MEASURED, 120, PERFMODEL_MEASURED, false, "faster");
    merge_keeps(PERFMODEL_DRAM, 44, PERFMODEL_MEASURED, 44, PERFMODEL_MEASURED, false, "equal");
}

Test(merge, corrections_outlive_what_they_corrected)
{
    merge_keeps(PERFMODEL_FP32, 150, PERFMODEL_VIOLATED, 124, PERFMODEL_MEASURED, true, "faster");
    merge_keeps(PERFMODEL_FP32, 150, PERFMODEL_VIOLATED, 140, PERFMODEL_GIVEN, true, "corrected");
    merge_keeps(PERFMODEL_FP32, 150, PERFMODEL_VIOLATED, 160, PERFMODEL_GIVEN, false, "data sheet");
    merge_keeps(PERFMODEL_LAUNCH, 90, PERFMODEL_VIOLATED, 95, PERFMODEL_MEASURED, true, "faster");
}

Test(merge, drivers_and_data_sheets_are_asked_anew)
{
    merge_keeps(PERFMODEL_UNITS, 8, PERFMODEL_QUERIED, 2, PERFMODEL_QUERIED, false, "driver");
    merge_keeps(PERFMODEL_FP32, 150, PERFMODEL_MEASURED, 124, PERFMODEL_GIVEN, false, "data sheet");
    merge_keeps(PERFMODEL_FP32, 150, PERFMODEL_GIVEN, 124, PERFMODEL_MEASURED, false, "was not");
}

Test(merge, what_one_of_them_lacks_is_the_other_ones)
{
    merge_keeps(PERFMODEL_BARRIER, 30, PERFMODEL_MEASURED, 0, PERFMODEL_UNKNOWN, true, "not measured");
    merge_keeps(PERFMODEL_BARRIER, 0, PERFMODEL_UNKNOWN, 30, PERFMODEL_MEASURED, false, "no older");
    merge_keeps(PERFMODEL_BARRIER, 0, PERFMODEL_UNKNOWN, 0, PERFMODEL_UNKNOWN, false, "");
}

/* A figure that is kept keeps what is not known of its day. */
Test(merge, an_uncertain_date_stays_uncertain)
{
    struct perfmodel_device earlier = merge_description("2026-11-02"),
                            fresh = merge_description("2026-11-06"), kept;
    struct perfmodel_verdict verdicts[PERFMODEL_FIGURE_COUNT];
    char text[PERFMODEL_TEXT];
    merge_put(&earlier, PERFMODEL_DRAM, 50, PERFMODEL_MEASURED);
    merge_put(&fresh, PERFMODEL_DRAM, 40, PERFMODEL_MEASURED);
    earlier.dated[PERFMODEL_DRAM].or_earlier = true;
    perfmodel_merge(&earlier, &fresh, &kept, verdicts);
    perfmodel_figure_origin(&kept, PERFMODEL_DRAM, text, sizeof text);
    cr_expect_str_eq(text, "measured on 2026-11-02 or earlier");
}
