/* The description of a device: what the bound knows of it. One JSON file a device, each figure with its unit
 * and where it comes from (README.md).
 *
 * Rates are upper limits: no kernel on the device is faster. Latencies and the launch are lower limits. A
 * figure that is unknown is 0 and gives no term. */
#ifndef THRESH_PERFMODEL_DEVICE_H
#define THRESH_PERFMODEL_DEVICE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/base/diag.h"
#include "core/base/strbuf.h"

/* X(ID, name, unit, least, most, meaning). A unit of the device is a multiprocessor of a GPU, a core of a
 * CPU; "unit_" figures are of one of them, "item_" figures of one work-item. `least` and `most` bound what is
 * believed. */
/* clang-format off */
#define PERFMODEL_FIGURES(X) \
    X(UNITS, "compute_units", "count", 1, 1e6, "units that run work-groups") \
    X(LANES, "lanes", "work-items", 1, 1024, "work-items that are issued together") \
    X(GROUP_ITEMS, "group_items", "work-items", 1, 1e7, "largest work-group") \
    X(RESIDENT_ITEMS, "resident_items", "work-items", 1, 1e6, "work-items that a unit holds at once") \
    X(RESIDENT_GROUPS, "resident_groups", "count", 1, 1e6, "work-groups that a unit holds at once") \
    X(GROUP_LOCAL, "group_local", "bytes", 1, 1e9, "largest local memory of a work-group") \
    X(RESIDENT_LOCAL, "resident_local", "bytes", 1, 1e9, "local memory of a unit, for all its work-groups") \
    X(ACCESS_BYTES, "access_bytes", "bytes", 1, 4096, "widest memory access of one instruction and lane") \
    X(SECTOR_BYTES, "sector_bytes", "bytes", 1, 65536, "smallest transfer of a cache") \
    X(CACHE_BYTES, "cache_bytes", "bytes", 1, 1e13, "size of the last-level cache") \
    X(FP32, "fp32", "operations/ns", 1e-4, 1e8, "float operations of the device; a fused multiply-add counts as one") \
    X(UNIT_FP32, "unit_fp32", "operations/ns", 1e-4, 1e7, "float operations of one unit") \
    X(ITEM_FP32, "item_fp32", "operations/ns", 1e-4, 1e6, "float operations of one work-item") \
    X(ITEM_ISSUE, "item_issue", "instructions/ns", 1e-4, 1e6, "instructions of all kinds of one work-item") \
    X(UNIT_SPECIAL, "unit_special", "operations/ns", 1e-5, 1e7, "divisions, roots, exponentials of one unit") \
    X(UNIT_ISSUE, "unit_issue", "instructions/ns", 1e-4, 1e7, "instructions of all kinds, times lanes, of one unit") \
    X(UNIT_ACCESS, "unit_access", "accesses/ns", 1e-5, 1e7, "loads and stores, times lanes, of one unit") \
    X(UNIT_LINES, "unit_lines", "lines/ns", 1e-5, 1e7, "128-byte cache lines accessed by one unit") \
    X(UNIT_LOCAL, "unit_local", "bytes/ns", 1e-4, 1e7, "local memory and first-level cache of one unit") \
    X(L2, "l2", "bytes/ns", 1e-3, 1e8, "from the last-level cache to all units") \
    X(UNIT_L2, "unit_l2", "bytes/ns", 1e-4, 1e7, "from the last-level cache to one unit") \
    X(DRAM, "dram", "bytes/ns", 1e-4, 1e7, "from and to memory") \
    X(GROUPS, "groups", "groups/ns", 1e-9, 1e6, "work-groups that the device starts") \
    X(LOAD_LATENCY, "load_latency", "ns", 1e-3, 1e5, "a load from the first-level cache") \
    X(CHAIN, "chain", "ns", 1e-3, 1e4, "one addition that depends on the previous one") \
    X(BARRIER, "barrier", "ns", 1e-3, 1e6, "a barrier of a full work-group") \
    X(LAUNCH, "launch", "ns", 1e-1, 1e8, "an empty kernel (least median of 5 launches, less the spread)") \
    X(LAUNCH_STORE, "launch_store", "ns", 1e-1, 1e8, "a kernel that stores one element (least median of 5 launches, less the spread)") \
    X(LAUNCH_TOUCH, "launch_touch", "ns", 1e-1, 1e8, "a kernel that loads, adds and stores one element (least median of 5 launches, less the spread)")
/* clang-format on */

enum perfmodel_figure {
#define X(id, name, unit, least, most, meaning) PERFMODEL_##id,
    PERFMODEL_FIGURES(X)
#undef X
        PERFMODEL_FIGURE_COUNT
};

/* Where a figure comes from: the driver, a benchmark, a data sheet. VIOLATED: corrected after a measurement
 * below the bound. */
enum perfmodel_source {
    PERFMODEL_UNKNOWN,
    PERFMODEL_QUERIED,
    PERFMODEL_MEASURED,
    PERFMODEL_GIVEN,
    PERFMODEL_VIOLATED,
    PERFMODEL_SOURCE_COUNT
};

enum { PERFMODEL_VERSION = 1, PERFMODEL_NAME = 128, PERFMODEL_DATE = 16, PERFMODEL_TEXT = 96 };

/* When a figure was found. A description keeps figures of earlier ones, so each has a date of its own; files
 * of earlier versions of thresh give the day of the last characterization only. */
struct perfmodel_date {
    char day[PERFMODEL_DATE]; /* YYYY-MM-DD; "": not known */
    bool or_earlier;          /* the day is the latest that it can be */
};

/* Whether the device's compiler has accesses that leave the caches first. Files of earlier versions of thresh
 * do not say. */
enum perfmodel_streams { PERFMODEL_STREAMS_UNKNOWN, PERFMODEL_STREAMS_NOT, PERFMODEL_STREAMS };

struct perfmodel_device {
    char name[PERFMODEL_NAME], platform[PERFMODEL_NAME], driver[PERFMODEL_NAME];
    char date[PERFMODEL_DATE]; /* of the last characterization, YYYY-MM-DD; or "" */
    bool gpu;
    enum perfmodel_streams streams;
    bool matrix;                          /* it multiplies matrices of half numbers and TF32 (bb_device) */
    double value[PERFMODEL_FIGURE_COUNT]; /* 0: unknown */
    enum perfmodel_source source[PERFMODEL_FIGURE_COUNT];
    struct perfmodel_date dated[PERFMODEL_FIGURE_COUNT];
};

const char *perfmodel_figure_name(enum perfmodel_figure f);
const char *perfmodel_figure_unit(enum perfmodel_figure f);
const char *perfmodel_figure_meaning(enum perfmodel_figure f);
/* Whether it is a time, of which the shorter one is the safer; all others are rates, sizes and counts. */
bool perfmodel_figure_is_time(enum perfmodel_figure f);
/* An amount of what the figure's unit counts, as people read it: "48 KiB", "1.55 ns"; rates a second: "124 G
 * operations/s", "44.6 GB/s". As snprintf. */
int perfmodel_figure_print(enum perfmodel_figure f, double value, char *out, size_t n);
/* The day of a figure: "2026-11-21", "2026-11-21 or earlier", "". As snprintf. */
int perfmodel_date_print(const struct perfmodel_date *date, char *out, size_t n);
/* Where a figure comes from and when: "measured on 2026-11-21", "from the data sheet". As snprintf. */
int perfmodel_figure_origin(const struct perfmodel_device *dev, enum perfmodel_figure f, char *out, size_t n);

/* A hash of all figures, whatever their sources are. */
uint64_t perfmodel_device_hash(const struct perfmodel_device *dev);

/* Reads and checks a description. false after located errors: not JSON, another version, a missing, negative,
 * zero or absurd figure, an unknown unit or source. */
bool perfmodel_device_read(const char *path, struct perfmodel_device *out, struct diag *d);
/* A figure as in the file, with value, unit, source and date. */
json_t *perfmodel_figure_json(const struct perfmodel_device *dev, enum perfmodel_figure f);
/* Writes it as JSON. false if the stream did not take it. */
bool perfmodel_device_write(const struct perfmodel_device *dev, FILE *out);

/* Finds the description of a device by its name among the *.json files of the folders: $THRESH_DEVICES (the
 * only one if set), the user's ($XDG_DATA_HOME/thresh/devices), those shipped beside the binary. A file that
 * is damaged, or of another version, is left out, which is added to `left_out` with its errors, as lines for
 * the user. false: the device has none, *out is the device with every figure unknown. */
bool perfmodel_device_find(const char *name, bool gpu, struct perfmodel_device *out, struct strbuf *left_out);
/* The same, or the one in the file `path` if that is not NULL: then it may not be damaged, nor of another
 * device than `name` (NULL: any device). false after adding an error. */
bool perfmodel_device_load(const char *path, const char *name, bool gpu, struct perfmodel_device *out,
                           struct strbuf *left_out, struct diag *d);
/* The user's folder, into out (n bytes). */
void perfmodel_device_folder(char *out, size_t n);

#endif
