/* The device list and the selection of a device; needs at least one OpenCL driver for the CPU. */
#define _GNU_SOURCE /* sched_setaffinity() */
#include <criterion/criterion.h>
#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "agent/device.h"
#include "agent/opencl.h"
#include "core/base/cores.h"
#include "core/base/diag.h"

Test(agent_device, lists_devices_with_limits_gpus_first)
{
    struct diag *d = diag_new();
    struct device all[8];
    unsigned n = device_list(all, 8, d);
    cr_assert(n >= 1 && !diag_failed(d));
    for (unsigned i = 0; i < n; i++) {
        cr_assert_eq(all[i].index, i);
        cr_assert(all[i].name[0] && all[i].compute_units > 0 && all[i].max_alloc_bytes > 0);
        cr_assert(all[i].limits.max_work_group > 0 && all[i].limits.local_bytes > 0);
        cr_assert(i == 0 || all[i - 1].gpu >= all[i].gpu);
    }
    diag_free(d);
}

Test(agent_device, selects_by_kind_number_and_name)
{
    struct diag *d = diag_new();
    struct device first, dev;
    cr_assert(device_select(NULL, &first, d) && device_select("0", &dev, d));
    cr_assert_str_eq(first.name, dev.name);
    cr_assert(device_select("cpu", &dev, d) && !dev.gpu);
    char part[6] = "";
    memcpy(part, dev.name, 5);
    cr_assert(device_select(part, &dev, d));
    cr_assert_not(diag_failed(d));
    diag_free(d);
}

/* The devices that the target table knows are as the probe finds them. */
Test(agent_device, probes_streaming_accesses)
{
    struct diag *d = diag_new();
    struct device dev;
    cr_assert(device_select("cpu", &dev, d));
    cr_expect_eq(opencl_probe_streaming(&dev), dev.limits.nontemporal, "%s %s", dev.platform, dev.driver);
    dev.index = 1000;
    cr_expect_not(opencl_probe_streaming(&dev), "there is no such device");
    diag_free(d);
}

Test(agent_device, says_when_nothing_matches)
{
    struct diag *d = diag_new();
    struct device dev;
    cr_assert_not(device_select("no such device", &dev, d));
    cr_assert_eq(diag_count(d), 1);
    cr_assert(strstr(diag_message(d, 0), "no such device"));
    diag_free(d);
}

/* Threads of this process that may use one core only. */
static unsigned device_bound_threads(void)
{
    unsigned bound = 0;
    DIR *tasks = opendir("/proc/self/task");
    cr_assert_not_null(tasks);
    for (struct dirent *e; (e = readdir(tasks)) != NULL;) {
        cpu_set_t set;
        CPU_ZERO(&set);
        if (e->d_name[0] != '.' && sched_getaffinity(atoi(e->d_name), sizeof set, &set) == 0)
            bound += CPU_COUNT(&set) == 1;
    }
    closedir(tasks);
    return bound;
}

static struct device device_open_cpu(void)
{
    struct diag *d = diag_new();
    struct device dev;
    cr_assert(device_select("cpu", &dev, d));
    cr_assert_not_null(opencl_device(dev.index));
    diag_free(d);
    return dev;
}

Test(agent_device, threads_of_pocl_have_a_core_each)
{
    unsetenv("POCL_AFFINITY");
    if (!cores_all_available() || cores_available() == 1)
        cr_skip_test("this process may use a part of the cores");
    struct device dev = device_open_cpu();
    if (!strstr(dev.platform, "Portable Computing Language")) cr_skip_test("the device is not PoCL's");
    cr_expect_eq(device_bound_threads(), dev.compute_units);
}

Test(agent_device, the_users_setting_for_threads_is_kept)
{
    setenv("POCL_AFFINITY", "0", 1);
    device_open_cpu();
    cr_expect_str_eq(getenv("POCL_AFFINITY"), "0");
}

Test(agent_device, threads_are_left_alone_where_the_process_has_a_part_of_the_cores)
{
    cpu_set_t set;
    if (cores_available() == 1) cr_skip_test("this process may use one core");
    unsetenv("POCL_AFFINITY");
    CPU_ZERO(&set);
    cr_assert_eq(sched_getaffinity(0, sizeof set, &set), 0);
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set)) {
            CPU_CLR(i, &set);
            break;
        }
    cr_assert_eq(sched_setaffinity(0, sizeof set, &set), 0);
    cr_expect_not(cores_all_available());
    device_open_cpu();
    cr_expect_null(getenv("POCL_AFFINITY"));
}
