/* thresh device characterize: makes a device description from micro-benchmarks.
 *
 * A lower bound on times needs upper limits of rates, and a measured rate can only be too low. So
 *
 *     rate = max(peak of the architecture at its highest clock, if known, 1.05 * best measured rate)
 *     time = shortest measured time / 1.05
 *
 * except that the times of launches are taken as measured: a bound on them is made like a search's time, as
 * the median of a batch (agent/characterize.c). */
#include "agent/characterize.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "coordinator/cli/characterize.h"
#include "core/base/file.h"

#define MARGIN 1.05

/* The throughput of a unit of an NVIDIA architecture in a cycle ("CUDA C++ programming guide", tables of
 * arithmetic throughput and of technical specifications per compute capability; bytes: micro-architecture
 * guides). */
struct architecture {
    unsigned major, minor;
    double float_lanes, special_lanes, access_lanes; /* operations a cycle */
    double local_bytes, cache_bytes;                 /* bytes a cycle, from local memory and from the L2 */
    double resident_items, resident_groups, resident_local, last_level_bytes;
};

static const struct architecture architectures[] = {
    {8, 0, 64, 16, 32, 128, 64, 2048, 32, 164 << 10, 40 << 20},
    {8, 6, 128, 16, 32, 128, 64, 1536, 16, 100 << 10, 6 << 20},
    {8, 9, 128, 16, 32, 128, 64, 1536, 24, 100 << 10, 96 << 20},
    {9, 0, 128, 16, 32, 128, 64, 2048, 32, 228 << 10, 60 << 20},
};

static const struct architecture *find_architecture(const struct characterize_facts *f)
{
    for (size_t i = 0; i < sizeof architectures / sizeof architectures[0]; i++)
        if (architectures[i].major == f->nvidia_major && architectures[i].minor == f->nvidia_minor)
            return &architectures[i];
    return NULL;
}

static void put(struct perfmodel_device *out, enum perfmodel_figure f, double value,
                enum perfmodel_source source)
{
    if (!(value > 0)) return;
    out->value[f] = value;
    out->source[f] = source;
    memcpy(out->dated[f].day, out->date, sizeof out->dated[f].day);
}

/* A rate: the larger of the known one and of the measured one with its margin. */
static void put_rate(struct perfmodel_device *out, enum perfmodel_figure f, double known, double measured)
{
    bool given = known >= MARGIN * measured;
    put(out, f, given ? known : MARGIN * measured, given ? PERFMODEL_GIVEN : PERFMODEL_MEASURED);
}

void cli_today(char out[PERFMODEL_DATE])
{
    time_t now = time(NULL);
    struct tm day;
    strftime(out, PERFMODEL_DATE, "%Y-%m-%d", gmtime_r(&now, &day));
}

static void put_identity(struct perfmodel_device *out, const struct device *dev)
{
    *out = (struct perfmodel_device){.gpu = dev->gpu,
                                     .streams =
                                         dev->limits.nontemporal ? PERFMODEL_STREAMS : PERFMODEL_STREAMS_NOT,
                                     .matrix = dev->limits.matrix};
    memcpy(out->name, dev->name, sizeof out->name);
    memcpy(out->platform, dev->platform, sizeof out->platform);
    memcpy(out->driver, dev->driver, sizeof out->driver);
    cli_today(out->date);
}

static void put_counts(struct perfmodel_device *out, const struct device *dev,
                       const struct characterize_facts *f, const struct architecture *a)
{
    put(out, PERFMODEL_UNITS, dev->compute_units, PERFMODEL_QUERIED);
    put(out, PERFMODEL_GROUP_ITEMS, (double)dev->limits.max_work_group, PERFMODEL_QUERIED);
    put(out, PERFMODEL_GROUP_LOCAL, (double)dev->limits.local_bytes, PERFMODEL_QUERIED);
    double private_caches = dev->gpu ? 1 : 1.25; /* a processor's other caches, which drivers do not report */
    put(out, PERFMODEL_CACHE_BYTES, f->cache_bytes * private_caches, PERFMODEL_QUERIED);
    if (!dev->gpu) put(out, PERFMODEL_ACCESS_BYTES, 64, PERFMODEL_GIVEN);
    if (!dev->gpu) put(out, PERFMODEL_SECTOR_BYTES, 64, PERFMODEL_GIVEN);
    if (!dev->gpu) put(out, PERFMODEL_LANES, 1, PERFMODEL_GIVEN);
    if (!a) return;
    put(out, PERFMODEL_LANES, 32, PERFMODEL_GIVEN);
    put(out, PERFMODEL_ACCESS_BYTES, 16, PERFMODEL_GIVEN);
    put(out, PERFMODEL_SECTOR_BYTES, 32, PERFMODEL_GIVEN);
    put(out, PERFMODEL_RESIDENT_ITEMS, a->resident_items, PERFMODEL_GIVEN);
    put(out, PERFMODEL_RESIDENT_LOCAL, a->resident_local, PERFMODEL_GIVEN);
    put(out, PERFMODEL_RESIDENT_GROUPS, a->resident_groups, PERFMODEL_GIVEN);
    if (a->last_level_bytes > f->cache_bytes)
        put(out, PERFMODEL_CACHE_BYTES, a->last_level_bytes, PERFMODEL_GIVEN);
}

/* The units of a processor are independent: the device's rate is at least that of all units together, even if
 * other load disturbed the measurement. */
static void put_cpu_rates(struct perfmodel_device *out, const struct device *dev, const double *m)
{
    double units = dev->compute_units, one = m[CHARACTERIZE_UNIT_FP32], all = m[CHARACTERIZE_FP32];
    if (all > units * one) one = all / units;
    put_rate(out, PERFMODEL_FP32, 0, units * one);
    put_rate(out, PERFMODEL_UNIT_FP32, 0, one);
    put_rate(out, PERFMODEL_ITEM_FP32, 0, one);
    put_rate(out, PERFMODEL_UNIT_SPECIAL, 0, m[CHARACTERIZE_UNIT_SPECIAL]);
    put_rate(out, PERFMODEL_UNIT_LOCAL, 0, m[CHARACTERIZE_UNIT_LOCAL]);
    put_rate(out, PERFMODEL_DRAM, 0, m[CHARACTERIZE_DRAM]);
}

static void put_gpu_rates(struct perfmodel_device *out, const struct device *dev,
                          const struct characterize_result *r, const struct architecture *a)
{
    static const struct architecture unknown;
    const double *m = r->value, ghz = r->facts.clock_ghz;
    if (!a) a = &unknown;
    double peak = ghz * a->float_lanes;
    put_rate(out, PERFMODEL_FP32, peak * dev->compute_units, m[CHARACTERIZE_FP32]);
    put_rate(out, PERFMODEL_UNIT_FP32, peak, m[CHARACTERIZE_UNIT_FP32]);
    put_rate(out, PERFMODEL_ITEM_FP32, a->float_lanes > 0 ? ghz : 0, m[CHARACTERIZE_ITEM_FP32]);
    if (a->float_lanes > 0) put_rate(out, PERFMODEL_ITEM_ISSUE, ghz, m[CHARACTERIZE_ITEM_FP32]);
    put_rate(out, PERFMODEL_UNIT_SPECIAL, ghz * a->special_lanes, m[CHARACTERIZE_UNIT_SPECIAL]);
    if (a->float_lanes > 0) put_rate(out, PERFMODEL_UNIT_ISSUE, ghz * 128, m[CHARACTERIZE_UNIT_FP32]);
    put_rate(out, PERFMODEL_UNIT_ACCESS, ghz * a->access_lanes, m[CHARACTERIZE_UNIT_ACCESS]);
    put_rate(out, PERFMODEL_UNIT_LOCAL, ghz * a->local_bytes, m[CHARACTERIZE_UNIT_LOCAL]);
    put_rate(out, PERFMODEL_UNIT_LINES, ghz * a->local_bytes / 128, m[CHARACTERIZE_UNIT_LINES]);
    put_rate(out, PERFMODEL_GROUPS, a->float_lanes > 0 ? ghz : 0, m[CHARACTERIZE_GROUPS]);
    put_rate(out, PERFMODEL_L2, 0, m[CHARACTERIZE_L2]);
    put_rate(out, PERFMODEL_UNIT_L2, ghz * a->cache_bytes, m[CHARACTERIZE_UNIT_L2]);
    put_rate(out, PERFMODEL_DRAM, 0, m[CHARACTERIZE_DRAM]);
}

static void put_times(struct perfmodel_device *out, const double *m)
{
    static const struct {
        enum perfmodel_figure figure;
        enum characterize_figure measured;
        double margin;
    } times[] = {
        {PERFMODEL_LOAD_LATENCY, CHARACTERIZE_LOAD_LATENCY, MARGIN},
        {PERFMODEL_CHAIN, CHARACTERIZE_CHAIN, MARGIN},
        {PERFMODEL_BARRIER, CHARACTERIZE_BARRIER, MARGIN},
        {PERFMODEL_LAUNCH, CHARACTERIZE_LAUNCH, 1},
        {PERFMODEL_LAUNCH_STORE, CHARACTERIZE_LAUNCH_STORE, 1},
        {PERFMODEL_LAUNCH_TOUCH, CHARACTERIZE_LAUNCH_TOUCH, 1},
    };
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        put(out, times[i].figure, m[times[i].measured] / times[i].margin, PERFMODEL_MEASURED);
}

bool cli_description(const struct device *dev, struct perfmodel_device *out)
{
    struct strbuf left_out = {0};
    bool found = perfmodel_device_find(dev->name, dev->gpu, out, &left_out);
    if (left_out.length > 0) fprintf(stderr, "%s\n", left_out.text);
    strbuf_free(&left_out);
    return found;
}

/* The description from this run of the benchmarks. */
static void describe(const struct device *dev, const struct characterize_result *r,
                     struct perfmodel_device *out)
{
    const struct architecture *a = find_architecture(&r->facts);
    put_identity(out, dev);
    put_counts(out, dev, &r->facts, a);
    if (dev->gpu)
        put_gpu_rates(out, dev, r, a);
    else
        put_cpu_rates(out, dev, r->value);
    put_times(out, r->value);
}

/* Keeps all new values. */
static void start_anew(struct cli_characterization *c)
{
    c->kept = c->fresh;
    for (int f = 0; f < PERFMODEL_FIGURE_COUNT; f++)
        c->verdicts[f] = (struct perfmodel_verdict){false, "--fresh discards older values"};
}

bool cli_characterize(const struct device *dev, bool anew, struct cli_characterization *out, struct diag *d)
{
    struct characterize_result r;
    out->found = cli_description(dev, &out->earlier);
    if (!characterize(dev, &r, d)) return false;
    describe(dev, &r, &out->fresh);
    if (anew)
        start_anew(out);
    else
        perfmodel_merge(&out->earlier, &out->fresh, &out->kept, out->verdicts);
    return true;
}

/* ---- the file ---- */

static bool make_folder(const char *folder)
{
    char path[PATH_MAX_TEXT];
    for (const char *slash = strchr(folder + 1, '/');; slash = strchr(slash + 1, '/')) {
        size_t n = slash ? (size_t)(slash - folder) : strlen(folder);
        if (n >= sizeof path) return false;
        memcpy(path, folder, n);
        path[n] = '\0';
        if (mkdir(path, 0777) && errno != EEXIST) return false;
        if (!slash) return true;
    }
}

/* "NVIDIA H200" -> "nvidia-h200.json" */
static void file_name(const struct perfmodel_device *dev, const char *folder, char *out, size_t n)
{
    size_t at = (size_t)snprintf(out, n, "%s/", folder);
    for (const char *c = dev->name; *c && at + 6 < n; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9');
        if (*c >= 'A' && *c <= 'Z')
            out[at++] = (char)(*c - 'A' + 'a');
        else if (letter || out[at - 1] != '-')
            out[at++] = letter ? *c : '-';
    }
    snprintf(out + at, n - at, ".json");
}

bool cli_save_description(const struct perfmodel_device *dev, const char *folder, char *path, size_t n,
                          struct diag *d)
{
    char own[PATH_MAX_TEXT];
    perfmodel_device_folder(own, sizeof own);
    if (!folder) folder = own;
    file_name(dev, folder, path, n);
    struct file_new f;
    if (!make_folder(folder)) {
        diag_plain(d, "cannot create folder '%s': %s; choose another one with --out DIR or XDG_DATA_HOME",
                   folder, file_error_text(errno));
        return false;
    }
    bool ok = file_begin(&f, path, d);
    if (ok) perfmodel_device_write(dev, f.out);
    ok = ok && file_end(&f, d);
    return ok;
}
