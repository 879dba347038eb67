/* Running the micro-benchmarks, in a child process. A benchmark is calibrated until a launch takes some
 * milliseconds, then launched in five batches; the fastest launch of all counts, on the device's own clock.
 *
 * The launch of a kernel is too short for that. A search compares it with the median of a batch of five
 * launches or more (measure.h), so the figure is built from least medians of five launches in a row. Each
 * round takes the least of several shapes of a kernel, launched in every way in which a batch can reach the
 * device:
 *
 *     round            1        2        3     ...
 *     least median     3.1 us   3.0 us   3.2 us       least 3.0, median of the rounds 3.1: the figure is 2.9
 *
 * The figure is the least of all rounds minus its distance to the median of the rounds: as rounds differ by
 * that much, one of a later search may be lower than all of these. */
#include "agent/characterize.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/characterize_kernels.h"
#include "agent/child.h"
#include "agent/device.h"
#include "agent/device_lock.h"
#include "agent/limits.h"
#include "agent/measure.h"
#include "agent/opencl.h"
#include "agent/pocl_folder.h"
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/stats.h"

enum { BATCHES = 5, LAUNCHES = 5, MESSAGE = 512 };
enum { ROUNDS = 60 }; /* of launches that are measured themselves */
static const double LAUNCH_NS = 3e6, BATCH_LIMIT_NS = 10e9;
static const size_t DRAM_BYTES_GPU = (size_t)2 << 30, DRAM_BYTES_CPU = (size_t)256 << 20,
                    CHUNK_BYTES = (size_t)16 << 20; /* all powers of two */

/* Facts of NVIDIA's extension cl_nv_device_attribute_query. */
enum { NV_MAJOR = 0x4000, NV_MINOR = 0x4001 };

struct bench {
    const struct device *dev;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    struct measure_hold hold;
    cl_mem out, in;
    size_t in_bytes;
    char error[MESSAGE]; /* "": none */
};

struct reply {
    struct characterize_result result;
    char error[MESSAGE];
};

/* A launch: groups of `local` work-items, each doing `n` rounds. */
struct shot {
    cl_kernel kernel;
    size_t groups, local;
    cl_int rounds;
};

static bool failed(struct bench *b, const char *what, cl_int error)
{
    if (error && !b->error[0]) snprintf(b->error, sizeof b->error, "%s: %s", what, opencl_error_name(error));
    return b->error[0] != '\0';
}

/* ---- one launch ---- */

static void set_rounds(const struct shot *s)
{
    clSetKernelArg(s->kernel, 3, sizeof s->rounds, &s->rounds);
}

static cl_event enqueue(struct bench *b, const struct shot *s)
{
    size_t global = s->groups * s->local;
    cl_event event = NULL;
    set_rounds(s);
    failed(b, "launch",
           clEnqueueNDRangeKernel(b->queue, s->kernel, 1, NULL, &global, &s->local, 0, NULL, &event));
    return event;
}

/* Device time of a launch that was enqueued, ns; 0 after an error. Releases the event. */
static double finish(struct bench *b, cl_event event)
{
    cl_ulong start = 0, end = 0;
    if (!event || failed(b, "waiting for a launch", clWaitForEvents(1, &event))) return 0;
    cl_int e = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    if (!e) e = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    clReleaseEvent(event);
    return failed(b, "the device does not support event profiling", e) ? 0 : (double)(end - start);
}

static double launch(struct bench *b, const struct shot *s)
{
    return finish(b, enqueue(b, s));
}

/* Raises the number of rounds until a launch is long enough for the clock. */
static void calibrate(struct bench *b, struct shot *s)
{
    for (double ns = launch(b, s); !b->error[0] && ns < LAUNCH_NS && s->rounds < 1 << 26; ns = launch(b, s))
        s->rounds *= ns < LAUNCH_NS / 16 ? 8 : 2;
}

static double fastest(struct bench *b, const struct shot *s)
{
    double best = 0;
    for (int i = 0; i < BATCHES * LAUNCHES && !b->error[0]; i++) {
        double ns = launch(b, s);
        if (best == 0 || (ns > 0 && ns < best)) best = ns;
    }
    return best;
}

static cl_kernel open_kernel(struct bench *b, const char *name)
{
    cl_int error;
    cl_float a = 1.0001f, c = 1e-7f;
    cl_kernel k = clCreateKernel(b->program, name, &error);
    if (failed(b, name, error)) return NULL;
    clSetKernelArg(k, 0, sizeof b->out, &b->out);
    clSetKernelArg(k, 1, sizeof a, &a);
    clSetKernelArg(k, 2, sizeof c, &c);
    return k;
}

/* Units of work per ns, where a round of a work-item is `work` units. */
static double rate(struct bench *b, const char *name, size_t groups, size_t local, double work)
{
    struct shot s = {open_kernel(b, name), groups, local, 16};
    if (!s.kernel) return 0;
    calibrate(b, &s);
    double ns = fastest(b, &s);
    clReleaseKernel(s.kernel);
    return ns > 0 ? work * (double)s.rounds * (double)(groups * local) / ns : 0;
}

/* ---- the figures ---- */

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static size_t full_group(const struct bench *b)
{
    size_t most = (size_t)b->dev->limits.max_work_group;
    return !b->dev->gpu ? 1 : most < 1024 ? most : 1024;
}

static double arithmetic(struct bench *b, size_t groups, size_t local)
{
    static const char *const names[] = {"fma_rate", "mul_rate", "add_rate"};
    double best = 0, lanes = b->dev->gpu ? 1 : 16;
    for (int i = 0; i < 3; i++)
        best = larger(best, rate(b, names[i], groups, local, 48 * lanes));
    return best;
}

static double special(struct bench *b, size_t groups, size_t local)
{
    static const char *const names[] = {"div_rate", "sqrt_rate", "rsqrt_rate", "exp_rate",
                                        "log_rate", "sin_rate",  "native_rate"};
    double best = 0, lanes = b->dev->gpu ? 1 : 16;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        best = larger(best, rate(b, names[i], groups, local, 12 * lanes));
    return best;
}

static void measure_arithmetic(struct bench *b, double *value)
{
    size_t units = b->dev->compute_units, local = full_group(b), many = b->dev->gpu ? 8 * units : 4 * units;
    value[CHARACTERIZE_FP32] = arithmetic(b, many, local);
    value[CHARACTERIZE_UNIT_FP32] = arithmetic(b, 1, local);
    value[CHARACTERIZE_ITEM_FP32] = arithmetic(b, 1, 1);
    value[CHARACTERIZE_UNIT_SPECIAL] = special(b, 1, local);
    double additions = rate(b, "chain", 1, 1, 16);
    value[CHARACTERIZE_CHAIN] = additions > 0 ? 1 / additions : 0;
}

static void measure_local(struct bench *b, double *value)
{
    if (!b->dev->gpu) {
        value[CHARACTERIZE_UNIT_LOCAL] = rate(b, "cached_read", 1, 1, 128 * 64);
        return;
    }
    size_t local = full_group(b);
    double one = rate(b, "local_read1", 1, local, 4), four = rate(b, "local_read4", 1, local, 4);
    double same = larger(rate(b, "local_same1", 1, local, 4), rate(b, "local_same4", 1, local, 4));
    value[CHARACTERIZE_UNIT_ACCESS] = larger(larger(one, four), same);
    value[CHARACTERIZE_UNIT_LOCAL] = larger(4 * one, 16 * four);
    value[CHARACTERIZE_UNIT_LINES] =
        larger(rate(b, "lines_same", 1, local, 4), rate(b, "lines_skewed", 1, local, 4));
}

/* Bytes per ns of reading the first `bytes` of the input, again and again. */
static double stream(struct bench *b, size_t groups, size_t local, size_t bytes)
{
    struct shot s = {open_kernel(b, "stream"), groups, local, 16};
    if (!s.kernel) return 0;
    cl_ulong elements = bytes / 16;
    clSetKernelArg(s.kernel, 1, sizeof b->in, &b->in);
    clSetKernelArg(s.kernel, 2, sizeof elements, &elements);
    calibrate(b, &s);
    double ns = fastest(b, &s);
    clReleaseKernel(s.kernel);
    return ns > 0 ? 64.0 * (double)s.rounds * (double)(groups * local) / ns : 0;
}

static void measure_memory(struct bench *b, double *value)
{
    size_t units = b->dev->compute_units, local = full_group(b);
    size_t many = b->dev->gpu ? 2 * units : units;
    value[CHARACTERIZE_DRAM] = stream(b, many, local, b->in_bytes);
    if (!b->dev->gpu) return;
    for (size_t bytes = (size_t)2 << 20; bytes <= (size_t)16 << 20; bytes *= 2) {
        value[CHARACTERIZE_L2] = larger(value[CHARACTERIZE_L2], stream(b, many, local, bytes));
        value[CHARACTERIZE_UNIT_L2] = larger(value[CHARACTERIZE_UNIT_L2], stream(b, 1, local, bytes));
    }
}

/* Empty work-groups of one work-item: the fastest of several numbers of them. */
static double start_groups(struct bench *b)
{
    double best = 0;
    for (size_t groups = 1 << 12; groups <= 1 << 20; groups *= 16) {
        struct shot s = {open_kernel(b, "nothing"), groups, 1, 1};
        if (!s.kernel) return 0;
        double ns = fastest(b, &s);
        if (ns > 0) best = larger(best, (double)groups / ns);
        clReleaseKernel(s.kernel);
    }
    return best;
}

/* ---- launches ---- */

/* How a batch comes to the device: each launch when the one before it is done, all at once as the runners do
 * it with long kernels, or all behind a hold as they do it with short ones. */
enum pace { ONE_BY_ONE, AT_ONCE, BEHIND_HOLD, PACES };

/* The least median of AGENT_BATCH_LEAST launches in a row. */
static double least_median(const double samples[AGENT_BATCH_MOST])
{
    double least = INFINITY;
    for (int i = 0; i + AGENT_BATCH_LEAST <= AGENT_BATCH_MOST; i++)
        least = fmin(least, stats_median(samples + i, AGENT_BATCH_LEAST));
    return least;
}

/* Nobody waits for a sign of life. */
static void stay_quiet(void *ctx)
{
    (void)ctx;
}

static void launch_batch(struct bench *b, const struct shot *s, struct measure_hold *hold,
                         double samples[AGENT_BATCH_MOST])
{
    const struct measure_launch l = {.queue = b->queue,
                                     .kernel = s->kernel,
                                     .global = {s->groups * s->local, 1, 1},
                                     .local = {s->local, 1, 1},
                                     .hold = hold,
                                     .alive = stay_quiet};
    set_rounds(s);
    struct measure_result r = measure_batch(&l, AGENT_BATCH_MOST, BATCH_LIMIT_NS, samples);
    failed(b, "a batch of launches", r.end == MEASURE_OVERDUE ? CL_OUT_OF_RESOURCES : r.error);
}

static double least_of_batch(struct bench *b, const struct shot *s, enum pace pace)
{
    double samples[AGENT_BATCH_MOST];
    for (int i = 0; pace == ONE_BY_ONE && i < AGENT_BATCH_MOST; i++)
        samples[i] = launch(b, s);
    if (pace != ONE_BY_ONE) launch_batch(b, s, pace == BEHIND_HOLD ? &b->hold : NULL, samples);
    return b->error[0] ? INFINITY : least_median(samples);
}

/* The least of one round of a kernel. */
static double least_of_round(struct bench *b, cl_kernel kernel)
{
    const size_t shapes[][2] = {{1, 1}, {1, full_group(b)}, {b->dev->compute_units, 1}};
    double least = INFINITY;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (int pace = 0; pace < PACES && !b->error[0]; pace++) {
            struct shot s = {kernel, shapes[i][0], shapes[i][1], 1};
            least = fmin(least, least_of_batch(b, &s, (enum pace)pace));
        }
    return least;
}

/* The least of all rounds, less what it is below the usual one. */
static double lower_limit(const double rounds[ROUNDS])
{
    double least = INFINITY;
    for (int i = 0; i < ROUNDS; i++)
        least = fmin(least, rounds[i]);
    return fmax(0, 2 * least - stats_median(rounds, ROUNDS));
}

static void measure_launches(struct bench *b, double *value)
{
    static const struct {
        const char *name;
        enum characterize_figure figure;
    } launches[] = {{"nothing", CHARACTERIZE_LAUNCH},
                    {"store", CHARACTERIZE_LAUNCH_STORE},
                    {"touch", CHARACTERIZE_LAUNCH_TOUCH}};
    enum { N = sizeof launches / sizeof launches[0] };
    double least[N][ROUNDS];
    cl_kernel kernels[N];
    for (int k = 0; k < N; k++)
        kernels[k] = open_kernel(b, launches[k].name);
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < N && !b->error[0]; k++)
            least[k][round] = least_of_round(b, kernels[k]);
    for (int k = 0; k < N; k++) {
        bool wanted = b->dev->gpu || launches[k].figure == CHARACTERIZE_LAUNCH;
        if (wanted && !b->error[0]) value[launches[k].figure] = lower_limit(least[k]);
        if (kernels[k]) clReleaseKernel(kernels[k]);
    }
}

static void measure_latencies(struct bench *b, double *value)
{
    double loads = rate(b, "chase", 1, 1, 4);
    value[CHARACTERIZE_LOAD_LATENCY] = loads > 0 ? 1 / loads : 0;
    value[CHARACTERIZE_GROUPS] = start_groups(b);
    if (!b->dev->gpu) return;
    size_t local = full_group(b);
    double barriers = rate(b, "barriers", 1, local, 1) / (double)local;
    value[CHARACTERIZE_BARRIER] = barriers > 0 ? 1 / barriers : 0;
}

/* ---- setting up ---- */

static void query(struct bench *b, struct characterize_facts *f)
{
    cl_uint mhz = 0, major = 0, minor = 0;
    cl_ulong cache = 0;
    clGetDeviceInfo(b->id, CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof mhz, &mhz, NULL);
    clGetDeviceInfo(b->id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof cache, &cache, NULL);
    if (opencl_has(b->id, "cl_nv_device_attribute_query")) {
        clGetDeviceInfo(b->id, NV_MAJOR, sizeof major, &major, NULL);
        clGetDeviceInfo(b->id, NV_MINOR, sizeof minor, &minor, NULL);
    }
    *f = (struct characterize_facts){mhz * 1e-3, (double)cache, major, minor};
}

static void explain_build(struct bench *b)
{
    size_t used = strlen(b->error);
    snprintf(b->error + used, sizeof b->error - used, "\n");
    used = strlen(b->error);
    clGetProgramBuildInfo(b->program, b->id, CL_PROGRAM_BUILD_LOG, sizeof b->error - used - 1,
                          b->error + used, NULL);
}

static bool build(struct bench *b)
{
    const char *source = characterize_source;
    const char *options = b->dev->gpu ? "-cl-std=CL1.2 -DV=float -DFIRST(x)=(x)"
                                      : "-cl-std=CL1.2 -DCPU -DV=float16 -DFIRST(x)=((x).s0)";
    cl_int error;
    b->program = clCreateProgramWithSource(b->context, 1, &source, NULL, &error);
    if (failed(b, "compiling the benchmarks", error)) return false;
    if (!failed(b, "compiling the benchmarks", clBuildProgram(b->program, 1, &b->id, options, NULL, NULL)))
        return true;
    explain_build(b);
    return false;
}

/* The largest power of two that fits a quarter of the memory. */
static size_t input_bytes(const struct bench *b)
{
    size_t bytes = b->dev->gpu ? DRAM_BYTES_GPU : DRAM_BYTES_CPU;
    while ((int64_t)bytes > b->dev->max_alloc_bytes || (int64_t)bytes > b->dev->global_bytes / 4)
        bytes /= 2;
    return bytes;
}

/* A buffer of zeros; NULL after an error. Written from the host: some drivers take minutes to fill one. */
static cl_mem make_buffer(struct bench *b, size_t bytes, const char *what)
{
    cl_int error;
    cl_mem m = clCreateBuffer(b->context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    if (failed(b, what, error)) return NULL;
    size_t chunk = bytes < CHUNK_BYTES ? bytes : CHUNK_BYTES;
    void *zeros = base_calloc(chunk, 1);
    for (size_t at = 0; at < bytes && !error; at += chunk)
        error = clEnqueueWriteBuffer(b->queue, m, CL_TRUE, at, chunk, zeros, 0, NULL, NULL);
    free(zeros);
    return failed(b, what, error) ? NULL : m;
}

static bool make_buffers(struct bench *b)
{
    b->in_bytes = input_bytes(b);
    b->out = make_buffer(b, (size_t)16 << 20, "allocating the output");
    b->in = b->out ? make_buffer(b, b->in_bytes, "allocating the input") : NULL;
    return b->in != NULL;
}

static bool open_device(struct bench *b)
{
    cl_int error = CL_DEVICE_NOT_FOUND;
    b->id = opencl_device(b->dev->index);
    if (b->id) b->context = clCreateContext(NULL, 1, &b->id, NULL, NULL, &error);
    if (failed(b, "opening the device", error)) return false;
    b->queue = clCreateCommandQueue(b->context, b->id, CL_QUEUE_PROFILING_ENABLE, &error);
    if (!error) measure_hold_open(&b->hold, b->context, b->id);
    return !failed(b, "the device does not support event profiling", error) && make_buffers(b) && build(b);
}

static void bench_body(int fd, void *ctx)
{
    struct bench b = {.dev = ctx};
    struct reply r = {0};
    if (open_device(&b)) {
        query(&b, &r.result.facts);
        measure_arithmetic(&b, r.result.value);
        measure_local(&b, r.result.value);
        measure_memory(&b, r.result.value);
        measure_latencies(&b, r.result.value);
        measure_launches(&b, r.result.value);
    }
    memcpy(r.error, b.error, sizeof r.error);
    child_write(fd, &r, sizeof r);
}

/* Waits until no other process measures on the device, and on a CPU a moment more until their builds stand
 * still (evaluate_lock.c). */
static void take_device(const struct device *dev, struct device_lock *lock)
{
    while (!device_lock_try(lock))
        poll(NULL, 0, AGENT_LOCK_LOOK_MS);
    double end = clock_now_ms() + AGENT_LOCK_GRACE_MS;
    while (!dev->gpu && device_lock_others_work(lock) && clock_now_ms() < end)
        poll(NULL, 0, AGENT_LOCK_LOOK_MS);
}

static bool await_reply(int fd, struct device_lock *lock, struct reply *r)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    double end = clock_now_ms() + AGENT_CHARACTERIZE_MS;
    while (poll(&p, 1, AGENT_LOCK_RENEW_MS) != 1 && clock_now_ms() < end)
        device_lock_renew(lock);
    return p.revents && child_read(fd, r, sizeof *r);
}

bool characterize(const struct device *dev, struct characterize_result *out, struct diag *d)
{
    struct reply r = {0};
    struct device copy = *dev;
    int fd = -1;
    char why[MESSAGE] = "the OpenCL driver crashed or does not respond", unlocked[MESSAGE];
    struct device_lock *lock = device_lock_open(dev, unlocked, sizeof unlocked);
    if (!lock) diag_plain_warning(d, "%s", unlocked);
    take_device(dev, lock);
    pid_t pid = child_fork(&fd, bench_body, &copy);
    bool ok = pid > 0 && await_reply(fd, lock, &r);
    if (pid > 0) child_kill(pid, fd);
    device_lock_close(lock);
    if (!ok && !dev->gpu) pocl_folder_explain(NULL, why, sizeof why);
    if (!ok)
        diag_plain(d, "%s: %s", dev->name, why);
    else if (r.error[0])
        diag_plain(d, "%s cannot be characterized: %s", dev->name, r.error);
    *out = r.result;
    return ok && !r.error[0];
}
