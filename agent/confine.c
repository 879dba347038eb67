/* The system calls that are refused are a filter of the kernel (seccomp), a program of a few dozen
 * instructions that sees the number of each call and its arguments:
 *
 *     load architecture     another than this one's (32 bits): refuse
 *     load number           one of the list: refuse
 *                           socket: load the family; neither AF_UNIX nor AF_NETLINK: refuse
 *     allow
 *
 * A refused call fails with EPERM, which a driver can deal with. The list is short by intention: drivers of
 * GPUs use calls that nobody documents. What asks the kernel to do calls in another's name (io_uring) is on
 * it, since the filter would not see those. */
#define _GNU_SOURCE /* prlimit */
#include "agent/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/limits.h"

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "name the architecture of <linux/audit.h>"
#endif

/* Other processes, the system's state, and calls that a filter does not see. */
static const uint32_t refused[] = {
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_pidfd_getfd,
    SYS_perf_event_open,
    SYS_bpf,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_move_mount,
    SYS_open_tree,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_setns,
    SYS_unshare,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_quotactl,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_open_by_handle_at,
};
enum { N_REFUSED = sizeof refused / sizeof *refused, OTHER_ABI = 0x40000000 /* calls of x32 on x86-64 */ };
enum { MOST_INSTRUCTIONS = N_REFUSED + 16 };
/* A jump counts instructions in a byte. */
_Static_assert(MOST_INSTRUCTIONS < 256, "the filter has jumps over all of it");

struct filter {
    struct sock_filter code[MOST_INSTRUCTIONS];
    unsigned short n;
};

static void add(struct filter *f, uint32_t code, uint32_t k, unsigned yes, unsigned no)
{
    f->code[f->n++] = (struct sock_filter){(uint16_t)code, (uint8_t)yes, (uint8_t)no, k};
}

static void load(struct filter *f, size_t offset)
{
    add(f, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void answer(struct filter *f, uint32_t action)
{
    add(f, BPF_RET | BPF_K, action, 0, 0);
}

/* Jumps over `skip` instructions if the loaded value is k. */
static void skip_if(struct filter *f, uint32_t k, unsigned skip)
{
    add(f, BPF_JMP | BPF_JEQ | BPF_K, k, skip, 0);
}

static void make_filter(struct filter *f)
{
    f->n = 0;
    load(f, offsetof(struct seccomp_data, arch));
    skip_if(f, ARCHITECTURE, 1);
    answer(f, SECCOMP_RET_ERRNO | EPERM);
    load(f, offsetof(struct seccomp_data, nr));
    add(f, BPF_JMP | BPF_JGE | BPF_K, OTHER_ABI, N_REFUSED + 5, 0);
    for (unsigned i = 0; i < N_REFUSED; i++)
        skip_if(f, refused[i], N_REFUSED - i + 4);
    add(f, BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3);
    load(f, offsetof(struct seccomp_data, args));
    skip_if(f, AF_UNIX, 1);
    add(f, BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 1);
    answer(f, SECCOMP_RET_ALLOW);
    answer(f, SECCOMP_RET_ERRNO | EPERM);
}

static void refuse_calls(void)
{
    struct filter f;
    make_filter(&f);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &(struct sock_fprog){f.n, f.code});
}

/* Lowers a limit to `most`, if it is not lower. */
static void lower(int resource, rlim_t most)
{
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit)) return;
    if (limit.rlim_max > most) limit.rlim_max = most;
    if (limit.rlim_cur > limit.rlim_max) limit.rlim_cur = limit.rlim_max;
    setrlimit((__rlimit_resource_t)resource, &limit);
}

static void prefer_for_oom(void)
{
    char text[16];
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    int length = snprintf(text, sizeof text, "%d", AGENT_OOM_SCORE);
    if (write(fd, text, (size_t)length) < 0) errno = 0; /* it may be higher already */
    close(fd);
}

/* A core limit of one byte also stops dumps into a program, which zero does not. A file that grows too large
 * is an error of write(), which a compiler reports, and no signal. */
void confine_self(void)
{
    lower(RLIMIT_CORE, 1);
    lower(RLIMIT_FSIZE, AGENT_FILE_BYTES);
    lower(RLIMIT_NOFILE, AGENT_FILES);
    sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    prefer_for_oom();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) refuse_calls();
}

bool confine_refuses(char *why, size_t n)
{
    uint32_t action = SECCOMP_RET_ERRNO;
    if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0) return true;
    snprintf(why, n, "this system cannot refuse system calls (%s): runners can reach the network",
             strerror(errno));
    return false;
}

void confine_processor(pid_t pid, double ms)
{
    struct rlimit limit;
    if (prlimit(pid, RLIMIT_CPU, NULL, &limit)) return;
    rlim_t seconds = ms < 1e12 ? (rlim_t)ceil(ms * 1e-3) : RLIM_INFINITY;
    limit.rlim_cur = seconds < limit.rlim_max ? seconds : limit.rlim_max;
    prlimit(pid, RLIMIT_CPU, &limit, NULL);
}
