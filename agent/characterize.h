/* Micro-benchmarks: how fast a device can be at each kind of work; perfmodel/device.h says what
 * the figures mean. Each is built to run as fast as anything can: independent operations, coalesced
 * accesses, nothing else in the loop. No other process of the machine measures on the device meanwhile
 * (device_lock.h). */
#ifndef THRESH_AGENT_CHARACTERIZE_H
#define THRESH_AGENT_CHARACTERIZE_H

#include <stdbool.h>

struct device;
struct diag;

/* X(ID, meaning). Rates are of the best of the quiet batches, latencies too; launches are lower limits. */
#define CHARACTERIZE_FIGURES(X)                                                                              \
    X(FP32, "float operations/ns of the device")                                                             \
    X(UNIT_FP32, "float operations/ns of one unit")                                                          \
    X(ITEM_FP32, "float operations/ns of one work-item")                                                     \
    X(UNIT_SPECIAL, "special functions/ns of one unit")                                                      \
    X(UNIT_ACCESS, "loads of local memory/ns of one unit, times lanes")                                      \
    X(UNIT_LINES, "cache lines/ns accessed by one unit")                                                     \
    X(UNIT_LOCAL, "bytes/ns of local memory or first-level cache of one unit")                               \
    X(L2, "bytes/ns from the last-level cache to the device")                                                \
    X(UNIT_L2, "bytes/ns from the last-level cache to one unit")                                             \
    X(DRAM, "bytes/ns from memory")                                                                          \
    X(GROUPS, "work-groups/ns that the device starts")                                                       \
    X(LOAD_LATENCY, "ns of a load that depends on the previous one")                                         \
    X(CHAIN, "ns of a dependent addition")                                                                   \
    X(BARRIER, "ns of a barrier")                                                                            \
    X(LAUNCH, "ns of an empty kernel")                                                                       \
    X(LAUNCH_STORE, "ns of a kernel that stores one element")                                                \
    X(LAUNCH_TOUCH, "ns of a kernel that loads, adds and stores one element")

enum characterize_figure {
#define X(id, meaning) CHARACTERIZE_##id,
    CHARACTERIZE_FIGURES(X)
#undef X
        CHARACTERIZE_FIGURE_COUNT
};

/* What the driver says beyond struct device; 0: not said. */
struct characterize_facts {
    double clock_ghz;   /* highest */
    double cache_bytes; /* last-level cache */
    unsigned nvidia_major, nvidia_minor;
};

struct characterize_result {
    struct characterize_facts facts;
    double value[CHARACTERIZE_FIGURE_COUNT]; /* 0: not measured on this kind of device */
};

/* Runs all benchmarks in a child process, some 20 seconds. false after an error: the device has no events, a
 * kernel does not build or launch, the driver hangs or crashes. */
bool characterize(const struct device *dev, struct characterize_result *out, struct diag *d);

#endif
