/* Device descriptions: those that are shipped are sound, one written reads back the same, a bad one is
 * refused with its place. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "perfmodel/device.h"
#include "tests/e2e/run.h"

static const char description_h200[] = "perfmodel/devices/nvidia-h200.json";

static void description_put(const char *folder, const char *name, const char *text, char path[96])
{
    snprintf(path, 96, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* A folder of the test's own, with one file of the text. */
static void description_write(const char *text, char dir[32], char path[96])
{
    e2e_folder(dir);
    description_put(dir, "device.json", text, path);
}

static void description_remove(const char *dir, const char *path)
{
    unlink(path);
    rmdir(dir);
}

/* The shipped text with its first `from` replaced. */
static char *description_changed(const char *from, const char *to)
{
    struct diag *d = diag_new();
    size_t n;
    char *text = source_read_file(description_h200, 1 << 20, &n, d);
    char *at = strstr(text, from);
    cr_assert_not_null(at, "'%s' is not in the description", from);
    char *changed = malloc(n + strlen(to) + 1);
    sprintf(changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    free(text);
    diag_free(d);
    return changed;
}

/* Reads the changed text: refused, with a message that has `place` (":line:") and `what`. */
static void description_refused(const char *from, const char *to, const char *what)
{
    char *text = description_changed(from, to), dir[64], path[96];
    struct perfmodel_device dev;
    struct diag *d = diag_new();
    description_write(text, dir, path);
    cr_expect_not(perfmodel_device_read(path, &dev, d), "'%s' was taken", to);
    cr_assert_gt(diag_count(d), 0);
    const char *message = diag_message(d, 0);
    cr_expect(strstr(message, what), "'%s' is not about '%s'", message, what);
    cr_expect(strncmp(message, path, strlen(path)) == 0 && message[strlen(path)] == ':', "no place: %s",
              message);
    description_remove(dir, path);
    diag_free(d);
    free(text);
}

Test(device_description, shipped_files_are_sound)
{
    struct perfmodel_device dev;
    struct diag *d = diag_new();
    cr_assert(perfmodel_device_read(description_h200, &dev, d), "%s",
              diag_count(d) ? diag_message(d, 0) : "");
    cr_assert_str_eq(dev.name, "NVIDIA H200");
    cr_assert(dev.gpu);
    cr_assert_eq(dev.value[PERFMODEL_UNITS], 132);
    cr_assert_geq(dev.value[PERFMODEL_FP32], 33000);
    diag_free(d);
}

Test(device_description, reads_back_what_was_written)
{
    struct perfmodel_device dev, again;
    struct diag *d = diag_new();
    char dir[32], path[96];
    cr_assert(perfmodel_device_read(description_h200, &dev, d));
    description_write("", dir, path);
    FILE *f = fopen(path, "w");
    cr_assert(perfmodel_device_write(&dev, f) && fclose(f) == 0);
    cr_assert(perfmodel_device_read(path, &again, d));
    cr_assert_str_eq(again.name, dev.name);
    for (int i = 0; i < PERFMODEL_FIGURE_COUNT; i++) {
        cr_assert_float_eq(again.value[i], dev.value[i], 1e-5 * dev.value[i] + 1e-12);
        cr_assert_eq(again.source[i], dev.source[i]);
        cr_assert_str_eq(again.dated[i].day, dev.dated[i].day);
        cr_assert_eq(again.dated[i].or_earlier, dev.dated[i].or_earlier);
    }
    description_remove(dir, path);
    diag_free(d);
}

static void description_figure_is(const struct perfmodel_device *dev, enum perfmodel_figure f,
                                  const char *value, const char *origin)
{
    char text[PERFMODEL_TEXT];
    perfmodel_figure_print(f, dev->value[f], text, sizeof text);
    cr_expect_str_eq(text, value, "%s: \"%s\"", perfmodel_figure_name(f), text);
    perfmodel_figure_origin(dev, f, text, sizeof text);
    cr_expect_str_eq(text, origin, "%s: \"%s\"", perfmodel_figure_name(f), text);
}

/* A file of an earlier version dates the whole description: what it measured may be older. */
Test(device_description, figures_have_units_and_dates)
{
    struct perfmodel_device dev;
    struct diag *d = diag_new();
    cr_assert(perfmodel_device_read(description_h200, &dev, d));
    description_figure_is(&dev, PERFMODEL_UNITS, "132", "reported by the driver");
    description_figure_is(&dev, PERFMODEL_GROUP_LOCAL, "48 KiB", "reported by the driver");
    description_figure_is(&dev, PERFMODEL_RESIDENT_ITEMS, "2048 work-items", "from the data sheet");
    dev.value[PERFMODEL_DRAM] = 44.61;
    description_figure_is(&dev, PERFMODEL_DRAM, "44.6 GB/s", "measured on 2026-11-21 or earlier");
    dev.value[PERFMODEL_UNIT_FP32] = 247.1;
    dev.source[PERFMODEL_UNIT_FP32] = PERFMODEL_VIOLATED;
    dev.dated[PERFMODEL_UNIT_FP32] = (struct perfmodel_date){"2026-12-01", false};
    description_figure_is(&dev, PERFMODEL_UNIT_FP32, "247 G operations/s",
                          "corrected after a time below the bound on 2026-12-01");
    dev.value[PERFMODEL_CHAIN] = 2.1234;
    dev.source[PERFMODEL_CHAIN] = PERFMODEL_MEASURED;
    dev.dated[PERFMODEL_CHAIN] = (struct perfmodel_date){"2026-12-02", false};
    description_figure_is(&dev, PERFMODEL_CHAIN, "2.12 ns", "measured on 2026-12-02");
    diag_free(d);
}

Test(device_description, bad_ones_are_refused_with_their_place)
{
    description_refused("\"value\": 132.0", "\"value\": -132", "\"compute_units\" (count) is negative");
    description_refused("\"value\": 132.0", "\"value\": 0", "\"compute_units\" (count) is zero");
    description_refused("\"value\": 132.0", "\"value\": 1e300", "outside the plausible range");
    description_refused("\"value\": 132.0", "\"value\": \"132\"", "not a number");
    description_refused("\"value\": 132.0,", "", "not a number");
    description_refused("\"unit\": \"count\"", "\"unit\": \"GHz\"", "missing or different \"unit\"");
    description_refused("\"source\": \"queried\"", "\"source\": \"guessed\"",
                        "missing or unknown \"source\"");
    description_refused("\"compute_units\"", "\"compute_unit\"", "\"compute_units\" (count) is missing");
    description_refused("\"version\": 1", "\"version\": 2", "not a device description of version 1");
    description_refused("\"source\": \"queried\"", "\"source\": \"queried\", \"date\": 7",
                        "\"date\" is missing");
    description_refused("\"type\": \"gpu\"", "\"type\": \"tpu\"", "\"type\" must be gpu or cpu");
    description_refused("\"device\": \"NVIDIA H200\"", "\"device\": 7", "\"device\" is missing");
    description_refused("{", "[", "");
}

/* Reads a text that is no JSON: the message begins with the place of the token at fault. */
static void description_fault(const char *text, const char *place)
{
    char dir[32], path[96], want[128];
    struct perfmodel_device dev;
    struct diag *d = diag_new();
    description_write(text, dir, path);
    sprintf(want, "%s%s", path, place);
    cr_expect_not(perfmodel_device_read(path, &dev, d), "'%s' was taken", text);
    cr_assert_eq(diag_count(d), 1);
    cr_expect(strncmp(diag_message(d, 0), want, strlen(want)) == 0, "'%s' is not at %s", diag_message(d, 0),
              place);
    description_remove(dir, path);
    diag_free(d);
}

Test(device_description, faults_of_syntax_have_their_place)
{
    description_fault("{\"version\": 1,\n \"device\": nvidia}", ":2:12:");
    description_fault("{\"version\": 1,\n \"device\" \"nvidia\"}", ":2:11:");
    description_fault("{\"version\": 1,\n \"device\": \"nvi", ":2:16:");
    description_fault("[1, 2]", ":1:1:");
}

Test(device_description, another_device_is_refused)
{
    struct perfmodel_device dev;
    struct diag *d = diag_new();
    cr_assert(perfmodel_device_load(description_h200, "NVIDIA H200", true, &dev, NULL, d));
    cr_assert_not(perfmodel_device_load(description_h200, "NVIDIA H100", true, &dev, NULL, d));
    cr_assert_eq(diag_count(d), 1);
    cr_assert(strstr(diag_message(d, 0), "describes 'NVIDIA H200'"));
    diag_free(d);
}

Test(device_description, found_by_name_in_the_folder)
{
    struct perfmodel_device dev;
    struct strbuf left_out = {0};
    setenv("THRESH_DEVICES", "perfmodel/devices", 1);
    cr_assert(perfmodel_device_find("NVIDIA H200", true, &dev, &left_out));
    cr_assert_not(perfmodel_device_find("no such device", false, &dev, &left_out));
    cr_assert_str_eq(dev.name, "no such device");
    for (int i = 0; i < PERFMODEL_FIGURE_COUNT; i++)
        cr_assert_eq(dev.source[i], PERFMODEL_UNKNOWN);
    setenv("THRESH_DEVICES", "/nonexistent", 1);
    cr_assert_not(perfmodel_device_find("NVIDIA H200", true, &dev, &left_out));
    cr_assert_eq(left_out.length, 0);
}

/* A damaged file, of this device or of another one, hides no other; what is wrong with it is told. */
Test(device_description, damaged_ones_are_left_out)
{
    char folder[32], paths[3][96];
    struct perfmodel_device dev;
    struct strbuf left_out = {0};
    struct diag *d = diag_new();
    size_t n;
    char *good = source_read_file(description_h200, 1 << 20, &n, d);
    cr_assert_not_null(good);
    e2e_folder(folder);
    setenv("THRESH_DEVICES", folder, 1);
    description_put(folder, "a.json", "{\"version\": 1,\n \"device\": \"NVIDIA", paths[0]);
    description_put(folder, "b.json", "{\"version\": 9, \"device\": \"NVIDIA H200\"}", paths[1]);
    cr_expect_not(perfmodel_device_find("NVIDIA H200", true, &dev, &left_out));
    cr_expect(strstr(left_out.text, "a.json:2:19: error: "), "%s", left_out.text);
    cr_expect(strstr(left_out.text, "b.json:1:2: error: not a device description of version 1"));
    cr_expect_str_eq(dev.name, "NVIDIA H200");
    cr_expect_eq(dev.source[PERFMODEL_FP32], PERFMODEL_UNKNOWN);
    description_put(folder, "c.json", good, paths[2]);
    cr_expect(perfmodel_device_find("NVIDIA H200", true, &dev, &left_out));
    cr_expect_neq(dev.source[PERFMODEL_FP32], PERFMODEL_UNKNOWN);
    for (int i = 0; i < 3; i++)
        unlink(paths[i]);
    rmdir(folder);
    strbuf_free(&left_out);
    free(good);
    diag_free(d);
}
