/* The list of OpenCL devices. A child process loads the drivers, asks and writes plain structures to a
 * socket; the caller's process stays free of driver state, so that it can fork runners.
 *
 * Order: GPUs first, then by platform name, device name and, for equal devices, the loader's order. */
#include "agent/device.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/child.h"
#include "agent/limits.h"
#include "agent/opencl.h"
#include "agent/pocl_folder.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/base/utf8.h"
#include "core/codegen/target.h"

enum { MAX_PLATFORMS = 8, MAX_DEVICES = 32, FAULT_BYTES = 2048 };

/* Why there is no library, or a platform has no device; "": each has one. */
struct fault {
    char text[FAULT_BYTES];
};

struct found {
    cl_device_id id;
    struct device device;
};

/* clang-format off */
#define ERROR_NAMES(X) \
    X(CL_DEVICE_NOT_FOUND) X(CL_DEVICE_NOT_AVAILABLE) X(CL_COMPILER_NOT_AVAILABLE) \
    X(CL_MEM_OBJECT_ALLOCATION_FAILURE) X(CL_OUT_OF_RESOURCES) X(CL_OUT_OF_HOST_MEMORY) \
    X(CL_BUILD_PROGRAM_FAILURE) X(CL_MISALIGNED_SUB_BUFFER_OFFSET) \
    X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) X(CL_INVALID_VALUE) X(CL_INVALID_DEVICE) \
    X(CL_INVALID_CONTEXT) X(CL_INVALID_MEM_OBJECT) X(CL_INVALID_BUILD_OPTIONS) X(CL_INVALID_PROGRAM) \
    X(CL_INVALID_PROGRAM_EXECUTABLE) X(CL_INVALID_KERNEL_NAME) X(CL_INVALID_KERNEL) \
    X(CL_INVALID_ARG_INDEX) X(CL_INVALID_ARG_VALUE) X(CL_INVALID_ARG_SIZE) X(CL_INVALID_KERNEL_ARGS) \
    X(CL_INVALID_WORK_DIMENSION) X(CL_INVALID_WORK_GROUP_SIZE) X(CL_INVALID_WORK_ITEM_SIZE) \
    X(CL_INVALID_GLOBAL_OFFSET) X(CL_INVALID_BUFFER_SIZE) X(CL_INVALID_GLOBAL_WORK_SIZE)
/* clang-format on */

const char *opencl_error_name(cl_int error)
{
    switch (error) {
#define NAME(id)                                                                                             \
    case id:                                                                                                 \
        return #id;
        ERROR_NAMES(NAME)
#undef NAME
    default:
        return "OpenCL error";
    }
}

static void get(cl_device_id id, cl_device_info what, void *out, size_t bytes)
{
    clGetDeviceInfo(id, what, bytes, out, NULL);
}

/* A text that a driver gave, into n bytes. */
static void get_text(cl_device_id id, cl_device_info what, char *out, size_t n)
{
    get(id, what, out, n - 1);
    utf8_clean(out);
}

bool opencl_has(cl_device_id device, const char *extension)
{
    char *text, *rest;
    size_t bytes = 0;
    bool has = false;
    if (clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, 0, NULL, &bytes) || bytes == 0) return false;
    text = base_calloc(bytes + 1, 1);
    clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, bytes, text, NULL);
    for (char *word = strtok_r(text, " ", &rest); word && !has; word = strtok_r(NULL, " ", &rest))
        has = strcmp(word, extension) == 0;
    free(text);
    return has;
}

void device_set_widths(struct bb_device *l)
{
    static const int64_t widths[] = {2, 4, 8, 16};
    l->n_vector_widths = l->gpu ? 2 : 4;
    memcpy(l->vector_widths, widths, l->n_vector_widths * sizeof *widths);
}

static void get_limits(cl_device_id id, bool gpu, struct bb_device *l)
{
    size_t group = 1, items[3] = {1, 1, 1};
    cl_ulong local = 0;
    get(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, &group, sizeof group);
    get(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, items, sizeof items);
    get(id, CL_DEVICE_LOCAL_MEM_SIZE, &local, sizeof local);
    l->gpu = gpu;
    l->max_work_group = (int64_t)group;
    for (int i = 0; i < 3; i++)
        l->max_work_item[i] = (int64_t)items[i];
    l->local_bytes = (int64_t)local;
    device_set_widths(l);
}

/* A GPU's UUID (cl_khr_device_uuid), else its place on the bus (cl_nv_device_attribute_query): two of one
 * kind differ in it, and a process that sees one of them only finds the same. */
static void get_identity(cl_device_id id, char *out, size_t n)
{
    enum { UUID = 0x106A, NV_BUS = 0x4008, NV_SLOT = 0x4009, NV_DOMAIN = 0x400A };
    unsigned char uuid[16];
    cl_uint bus, slot, domain = 0;
    if (!clGetDeviceInfo(id, UUID, sizeof uuid, uuid, NULL)) {
        for (size_t i = 0; i < sizeof uuid && 2 * i + 2 < n; i++)
            snprintf(out + 2 * i, n - 2 * i, "%02x", uuid[i]);
    } else if (!clGetDeviceInfo(id, NV_BUS, sizeof bus, &bus, NULL) &&
               !clGetDeviceInfo(id, NV_SLOT, sizeof slot, &slot, NULL)) {
        get(id, NV_DOMAIN, &domain, sizeof domain);
        snprintf(out, n, "pci %x:%x:%x", domain, bus, slot);
    }
}

/* NVIDIA's multiply matrices of half numbers and of TF32 from compute capability 8.0 on as core/codegen
 * writes it. */
static bool has_matrix_units(cl_device_id id)
{
    enum { NV_CAPABILITY_MAJOR = 0x4000, FIRST = 8 };
    cl_uint major = 0;
    return !clGetDeviceInfo(id, NV_CAPABILITY_MAJOR, sizeof major, &major, NULL) && major >= FIRST &&
           opencl_has(id, "cl_nv_device_attribute_query");
}

static void describe(cl_device_id id, const char *platform, struct device *d)
{
    memset(d, 0, sizeof *d);
    cl_device_type type = 0;
    cl_uint units = 0;
    cl_ulong alloc = 0, global = 0, cache = 0;
    memcpy(d->platform, platform, sizeof d->platform);
    get_text(id, CL_DEVICE_NAME, d->name, sizeof d->name);
    get_text(id, CL_DRIVER_VERSION, d->driver, sizeof d->driver);
    get_text(id, CL_DEVICE_VERSION, d->version, sizeof d->version);
    get(id, CL_DEVICE_TYPE, &type, sizeof type);
    get(id, CL_DEVICE_MAX_COMPUTE_UNITS, &units, sizeof units);
    get(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, &alloc, sizeof alloc);
    get(id, CL_DEVICE_GLOBAL_MEM_SIZE, &global, sizeof global);
    get(id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, &cache, sizeof cache);
    d->gpu = (type & CL_DEVICE_TYPE_GPU) != 0;
    d->cache_bytes = d->gpu ? 0 : (int64_t)cache;
    if (d->gpu) get_identity(id, d->identity, sizeof d->identity);
    d->compute_units = units;
    d->limits.nontemporal = cg_streams(platform, d->driver) == CG_YES;
    d->limits.device_fence = cg_fences(platform);
    d->limits.workarounds_off = cg_workarounds_off(platform, d->driver);
    d->no_double = !opencl_has(id, "cl_khr_fp64");
    d->limits.matrix = d->gpu && has_matrix_units(id);
    d->limits.half_bits = !opencl_has(id, "cl_khr_fp16");
    d->max_alloc_bytes = (int64_t)alloc;
    d->global_bytes = (int64_t)global;
    get_limits(id, d->gpu, &d->limits);
}

/* Why a platform has no device. */
static void explain_platform(const char *name, cl_int error, struct fault *fault)
{
    if (fault->text[0]) return;
    snprintf(fault->text, sizeof fault->text, "the OpenCL platform '%s' has no device: %s", name,
             opencl_error_name(error));
    if (pocl_folder_is_of(name)) pocl_folder_explain(NULL, fault->text, sizeof fault->text);
}

static unsigned find_on_platform(cl_platform_id platform, struct found *out, unsigned n, struct fault *fault)
{
    char name[DEVICE_NAME] = "";
    cl_device_id ids[MAX_DEVICES];
    cl_uint count = 0;
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
    utf8_clean(name);
    cl_device_type kinds = CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_ACCELERATOR;
    cl_int error = clGetDeviceIDs(platform, kinds, MAX_DEVICES, ids, &count);
    if (error || count == 0) {
        explain_platform(name, error ? error : CL_DEVICE_NOT_FOUND, fault);
        return 0;
    }
    if (count > n) count = n;
    for (cl_uint i = 0; i < count; i++) {
        out[i].id = ids[i];
        describe(ids[i], name, &out[i].device);
        out[i].device.index = i;
    }
    return count;
}

static int compare_found(const void *pa, const void *pb)
{
    const struct device *a = &((const struct found *)pa)->device, *b = &((const struct found *)pb)->device;
    if (a->gpu != b->gpu) return a->gpu ? -1 : 1;
    int c = strcmp(a->platform, b->platform);
    if (!c) c = strcmp(a->name, b->name);
    return c ? c : (a->index > b->index) - (a->index < b->index);
}

/* The devices of all platforms; fault: why the library or a platform has none, "" if each has one. */
static unsigned find_all(struct found *out, struct fault *fault)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint n_platforms = 0;
    if (!opencl_load(fault->text, sizeof fault->text)) return 0;
    if (clGetPlatformIDs(MAX_PLATFORMS, platforms, &n_platforms)) return 0;
    if (n_platforms > MAX_PLATFORMS) n_platforms = MAX_PLATFORMS;
    unsigned n = 0;
    for (cl_uint i = 0; i < n_platforms; i++)
        n += find_on_platform(platforms[i], out + n, MAX_DEVICES - n, fault);
    qsort(out, n, sizeof *out, compare_found);
    for (unsigned i = 0; i < n; i++)
        out[i].device.index = i;
    return n;
}

cl_device_id opencl_device(unsigned index)
{
    struct found found[MAX_DEVICES];
    struct fault fault = {0};
    return index < find_all(found, &fault) ? found[index].id : NULL;
}

static void query_body(int fd, void *ctx)
{
    (void)ctx;
    struct found found[MAX_DEVICES];
    struct fault fault = {0};
    uint32_t n = find_all(found, &fault);
    if (!child_write(fd, &fault, sizeof fault) || !child_write(fd, &n, sizeof n)) return;
    for (uint32_t i = 0; i < n; i++)
        if (!child_write(fd, &found[i].device, sizeof found[i].device)) return;
}

static bool read_devices(int fd, struct device *out, uint32_t *n, struct fault *fault)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, AGENT_QUERY_MS) == 1 && child_read(fd, fault, sizeof *fault) &&
           child_read(fd, n, sizeof *n) && *n <= MAX_DEVICES && child_read(fd, out, *n * sizeof *out);
}

/* device_list() that does not take a platform without a device for an error if another has one. */
static unsigned list(struct device *out, unsigned n, struct fault *fault, struct diag *d)
{
    struct device all[MAX_DEVICES];
    uint32_t count = 0;
    int fd;
    pid_t pid = child_fork(&fd, query_body, NULL);
    bool ok = pid > 0 && read_devices(fd, all, &count, fault);
    if (pid > 0) child_kill(pid, fd);
    if (!ok) {
        diag_plain(d, "the query of the OpenCL devices failed: a driver crashed or did not answer");
        return 0;
    }
    fault->text[sizeof fault->text - 1] = 0;
    if (count == 0 && fault->text[0])
        diag_plain(d, "no OpenCL device: %s", fault->text);
    else if (count == 0)
        diag_plain(d, "no OpenCL device: install a driver (on Debian, pocl-opencl-icd runs on any CPU)");
    if (count > n) count = n;
    memcpy(out, all, count * sizeof *out);
    return count;
}

unsigned device_list(struct device *out, unsigned n, struct diag *d)
{
    struct fault fault = {0};
    return list(out, n, &fault, d);
}

static bool is_number(const char *s, unsigned long *value)
{
    char *end;
    *value = strtoul(s, &end, 10);
    return *s >= '0' && *s <= '9' && *end == '\0';
}

static bool contains(const char *text, const char *part)
{
    size_t n = strlen(part);
    for (; *text; text++)
        if (!strncasecmp(text, part, n)) return true;
    return false;
}

bool device_matches(const struct device *dev, const char *selector)
{
    unsigned long number;
    if (!selector || !*selector) return true;
    if (is_number(selector, &number)) return dev->index == number;
    if (!strcasecmp(selector, "gpu")) return dev->gpu;
    if (!strcasecmp(selector, "cpu")) return !dev->gpu;
    return contains(dev->name, selector);
}

/* Lists the devices as `thresh device list` does, and why a platform has none. */
static void refuse_selector(const char *selector, const struct device *all, unsigned n, const char *fault,
                            struct diag *d)
{
    struct strbuf names = {0};
    for (unsigned i = 0; i < n; i++)
        strbuf_printf(&names, "%s%u: %s", i ? ", " : "", all[i].index, all[i].name);
    diag_plain(d, "no OpenCL device matches '%s'; available: %s%s%s", selector, names.text,
               *fault ? "; " : "", fault);
    strbuf_free(&names);
}

bool device_select(const char *selector, struct device *out, struct diag *d)
{
    struct device all[MAX_DEVICES];
    struct fault fault = {0};
    unsigned n = list(all, MAX_DEVICES, &fault, d);
    for (unsigned i = 0; i < n; i++)
        if (device_matches(&all[i], selector)) {
            *out = all[i];
            if (cg_streams(out->platform, out->driver) == CG_ASK)
                out->limits.nontemporal = opencl_probe_streaming(out);
            return true;
        }
    if (n > 0) refuse_selector(selector, all, n, fault.text, d);
    return false;
}
