/* Searches whose agents connect with keys, as users run them: what is refused before anything is bound, a
 * search among strangers, one across two network namespaces, and a coordinator under garbage. */
#include <criterion/criterion.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/pcg32.h"
#include "core/keys/certificate.h"
#include "tests/coordinator/store_fixture.h"
#include "tests/e2e/run.h"
#include "tests/keys/fixture.h"
#include "tests/fixture/longer.h"

#define AXPY "experiments/kernels/axpy.lift", "--size", "N=4096", "--evaluations", "3"

/* A folder with keys of an agent, and a port that was free. */
struct keys_run {
    char top[32], keys[64], secret[96], endpoint[64];
    unsigned port;
};

static struct keys_run keys_run_open(void)
{
    struct keys_run f;
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t n = sizeof any;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert_eq(bind(fd, (struct sockaddr *)&any, sizeof any), 0);
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&any, &n), 0);
    close(fd);
    f.port = ntohs(any.sin_port);
    snprintf(f.endpoint, sizeof f.endpoint, "tcp://127.0.0.1:%u", f.port);
    e2e_folder(f.top);
    snprintf(f.keys, sizeof f.keys, "%s/keys", f.top);
    snprintf(f.secret, sizeof f.secret, "%s/agents/agent.key_secret", f.keys);
    struct e2e_run r = E2E_RUN(&cli_keys, "new", f.keys);
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    cr_expect(strstr(r.out, "agents/agent.key_secret") && strstr(r.out, "--keys"), "%s", r.out);
    e2e_run_free(&r);
    return f;
}

static void keys_run_close(const struct keys_run *f)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", f->top);
    cr_expect_eq(system(command), 0);
}

static void keys_run_refused(struct e2e_run r, const char *first, const char *second)
{
    cr_expect_eq(r.status, CLI_USAGE, "status %d: %s", r.status, r.err);
    cr_expect(strstr(r.err, first) && strstr(r.err, second), "no '%s', '%s' in: %s", first, second, r.err);
    e2e_run_free(&r);
}

Test(keys_run, what_is_not_safe_is_refused_with_the_command_that_helps, .timeout = 120)
{
    struct keys_run f = keys_run_open();
    char server[96];
    snprintf(server, sizeof server, "%s/server.key_secret", f.keys);
    keys_run_refused(E2E_RUN(&cli_tune, AXPY, "--listen", "tcp://0.0.0.0:7000"), "tcp://0.0.0.0:7000",
                     "thresh keys new");
    keys_run_refused(E2E_RUN(&cli_tune, AXPY, "--listen", "ipc:///tmp/x", "--keys", f.keys), "--keys",
                     "tcp://");
    keys_run_refused(E2E_RUN(&cli_tune, AXPY, "--listen", "ipc://@x"), "any user can connect", "ipc://FILE");
    keys_run_refused(E2E_RUN(&cli_tune, AXPY, "--keys", f.keys), "--keys", "--listen");
    keys_run_refused(E2E_RUN(&cli_tune, AXPY, "--listen", f.endpoint, "--keys", f.top), f.top,
                     "thresh keys new");
    cr_assert_eq(chmod(server, 0644), 0);
    cr_assert_eq(chmod(f.secret, 0640), 0);
    keys_run_refused(E2E_RUN(&cli_tune, AXPY, "--listen", f.endpoint, "--keys", f.keys), "server.key_secret",
                     "chmod 600 ");
    keys_run_refused(E2E_RUN(&cli_agent, "--connect", f.endpoint, "--key", f.secret), "agent.key_secret",
                     "chmod 600 ");
    keys_run_close(&f);
}

/* The text of the agent's secret key, which must appear nowhere. */
static void keys_run_secret(const struct keys_run *f, char text[KEYS_TEXT])
{
    struct diag *d = diag_new();
    struct keys_certificate c;
    cr_assert(keys_certificate_read_secret(f->secret, &c, d));
    zmq_z85_encode(text, c.secret_key, KEYS_BYTES);
    diag_free(d);
}

/* Refused connections that a store has. */
static int keys_run_refusals(const char *store)
{
    static const char sql[] = "SELECT count(*) FROM event WHERE kind = 'connection refused' AND agent = 0"
                              " AND message LIKE 'refused 127.0.0.1:%'";
    return store_fixture_int(store, sql);
}

Test(keys_run, a_search_with_an_honest_agent_among_strangers, .timeout = 300)
{
    struct keys_run f = keys_run_open(), other = keys_run_open();
    char secret[KEYS_TEXT], out[64], store[64];
    keys_run_secret(&f, secret);
    snprintf(out, sizeof out, "%s/out", f.top);
    snprintf(store, sizeof store, "%s/s.db", f.top);
    struct e2e_process tune =
        e2e_start(&cli_tune, (const char *const[]){E2E_QUICK, AXPY, "--listen", f.endpoint, "--keys", f.keys,
                                                   "--out", out, "--store", store, NULL});
    struct e2e_run r = E2E_RUN(&cli_agent, "--connect", f.endpoint, "--key", other.secret, "--quiet");
    cr_expect_eq(r.status, CLI_FAILED);
    cr_expect(strstr(r.err, "is for another coordinator"), "%s", r.err);
    e2e_run_free(&r);
    r = E2E_RUN(&cli_agent, "--connect", f.endpoint, "--key", f.secret);
    cr_expect_eq(r.status, CLI_OK, "%s", r.err);
    cr_expect(!strstr(r.err, secret) && !strstr(r.out, secret));
    e2e_run_free(&r);
    r = e2e_finish(&tune);
    cr_expect_eq(r.status, CLI_OK, "%s", r.err);
    cr_expect(strstr(r.err, "refused 127.0.0.1:"), "%s", r.err);
    cr_expect(strstr(r.out, "speedup"), "%s", r.out);
    cr_expect_geq(keys_run_refusals(store), 1, "the store has what was refused");
    cr_expect(!strstr(r.err, secret) && !strstr(r.out, secret));
    e2e_run_free(&r);
    r = E2E_RUN(&cli_keys, "list", f.keys, "--json");
    cr_expect(r.status == CLI_OK && strstr(r.out, "\"admitted\": true") && !strstr(r.out, secret), "%s",
              r.out);
    e2e_run_free(&r);
    keys_run_close(&other);
    keys_run_close(&f);
}

/* The folder of this binary, which has the release binary, too. */
static char *keys_run_binary(void)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 16);
    cr_assert_gt(n, 0);
    self[n] = '\0';
    strcpy(strrchr(self, '/'), "/thresh");
    return base_strdup(self);
}

/* Runs a script of this folder with the binary and an empty folder. */
static void keys_run_script(const char *script, const char *needs)
{
    char folder[32], command[4300], *thresh = keys_run_binary();
    e2e_folder(folder);
    snprintf(command, sizeof command, "tests/e2e/%s %s %s >%s/log 2>&1", script, thresh, folder, folder);
    int status = system(command);
    bool skipped = WIFEXITED(status) && WEXITSTATUS(status) == 77;
    snprintf(command, sizeof command, "cat %s/log %s/tune.err; rm -r %s", folder, folder, folder);
    if (status != 0 && !skipped) (void)!system(command);
    cr_expect(status == 0 || skipped, "status %d", WEXITSTATUS(status));
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_expect_eq(system(command), 0);
    free(thresh);
    if (skipped) cr_skip_test("needs %s", needs);
}

Test(keys_run, a_search_across_two_network_namespaces, .timeout = 300)
{
    keys_run_script("two_machines.sh", "root and network namespaces");
}

Test(keys_run, a_search_whose_agents_a_real_sshd_starts, .timeout = 300)
{
    keys_run_script("ssh_machines.sh", "root, network namespaces and sshd");
}

/* ---- memory under garbage ---- */

static long keys_run_resident_kib(pid_t pid)
{
    char path[64], line[256];
    long kib = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *in = fopen(path, "r");
    while (in && fgets(line, sizeof line, in))
        sscanf(line, "VmRSS: %ld", &kib);
    if (in) fclose(in);
    return kib;
}

static void keys_run_garbage(unsigned port, unsigned n, struct pcg32 *rng)
{
    unsigned char bytes[2000];
    for (unsigned i = 0; i < n; i++) {
        size_t length = pcg32_below(rng, sizeof bytes);
        for (size_t k = 0; k < length; k++)
            bytes[k] = (unsigned char)pcg32_next(rng);
        if (pcg32_below(rng, 2)) memcpy(bytes, "\xff\0\0\0\0\0\0\0\1\x7f\3\0CURVE", 17);
        int fd = keys_test_dial(port);
        (void)!send(fd, bytes, length, MSG_NOSIGNAL);
        close(fd);
    }
}

static bool keys_run_listens(unsigned port)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool ok = connect(fd, (struct sockaddr *)&to, sizeof to) == 0;
    close(fd);
    return ok;
}

/* The release binary, whose memory no sanitizer keeps. It must not grow between the first garbage and the
 * last. THRESH_LONG sends 200,000 connections. */
static void keys_run_expect_no_growth(bool keys)
{
    unsigned n = longer(3000, 200000);
    struct keys_run f = keys_run_open();
    char *thresh = keys_run_binary();
    struct pcg32 rng = pcg32_seed(22, keys);
    pid_t pid = fork();
    if (pid == 0) {
        (void)!freopen("/dev/null", "w", stderr);
        execl(thresh, "thresh", "tune", AXPY, "--quiet", "--out", f.top, "--listen", f.endpoint,
              keys ? "--keys" : NULL, f.keys, NULL);
        _exit(127);
    }
    while (!keys_run_listens(f.port))
        cr_assert_eq(waitpid(pid, NULL, WNOHANG), 0, "the coordinator ended");
    keys_run_garbage(f.port, n / 3, &rng);
    long before = keys_run_resident_kib(pid);
    keys_run_garbage(f.port, n, &rng);
    long after = keys_run_resident_kib(pid);
    cr_expect(before > 0 && after > 0, "the coordinator ended");
    cr_expect_lt(after - before, 4096, "%ld KiB became %ld KiB", before, after);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    free(thresh);
    keys_run_close(&f);
}

Test(keys_run, memory_under_garbage_with_keys, .timeout = 3600)
{
    keys_run_expect_no_growth(true);
}

Test(keys_run, memory_under_garbage_without_keys, .timeout = 3600)
{
    keys_run_expect_no_growth(false);
}
