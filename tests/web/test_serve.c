/* thresh serve as browsers, monitoring and strangers meet it, over raw sockets. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "coordinator/limits.h"
#include "coordinator/web/access.h"
#include "coordinator/web/metrics.h"
#include "coordinator/web/server.h"
#include "tests/e2e/described.h"
#include "tests/web/fixture.h"

static char *web_body(char *answer)
{
    char *end = strstr(answer, "\r\n\r\n");
    cr_assert_not_null(end, "%s", answer);
    return end + 4;
}

static void web_expect(const char *answer, const char *text)
{
    cr_expect(strstr(answer, text), "no '%s' in: %.2000s", text, answer);
}

/* ---- the page ---- */

Test(serve, page_has_its_figures_and_refers_to_nothing_else)
{
    struct web_fixture f = web_fixture_open(NULL);
    char *a = web_get(&f, "/", "");
    static const char *const texts[] = {"HTTP/1.1 200",
                                        "text/html; charset=utf-8",
                                        "Content-Security-Policy: default-src 'none'",
                                        "nosniff",
                                        "<svg",
                                        "1.75 ns",
                                        "<script src=\"/thresh.js\"></script>",
                                        "data-since=",
                                        "aria-live=\"polite\"",
                                        "k.lift M=4: 1.75 ns"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        web_expect(a, texts[i]);
    cr_expect_null(strstr(a, "http:"));
    cr_expect_null(strstr(a, "https:"));
    free(a);
    a = web_get(&f, "/thresh.js", "");
    web_expect(a, "text/javascript");
    web_expect(a, "new EventSource(");
    cr_expect_null(strstr(a, "http:"));
    free(a);
    cr_expect_eq(web_status(web_get(&f, "/page", "")), 404);
    web_fixture_close(&f);
}

Test(serve, head_is_answered_without_content)
{
    struct web_fixture f = web_fixture_open(NULL);
    int fd = web_connect(f.port);
    web_send(fd, "HEAD / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
    char *a = web_read_all(fd);
    web_expect(a, "HTTP/1.1 200");
    web_expect(a, "Content-Length: ");
    cr_expect_str_eq(web_body(a), "");
    free(a);
    web_fixture_close(&f);
}

Test(serve, health_follows_the_store, .timeout = 60)
{
    struct web_fixture f = web_fixture_open(NULL);
    char *a = web_get(&f, "/healthz", "");
    web_expect(a, "HTTP/1.1 200");
    cr_expect_str_eq(web_body(a), "ok\n");
    free(a);
    cr_assert_eq(unlink(f.store.path), 0);
    while (web_status(web_get(&f, "/healthz", "")) == 200)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    a = web_get(&f, "/metrics", "");
    web_expect(a, "\nthresh_store_readable 0\n");
    web_expect(a, "thresh_evaluations_total{");
    free(a);
    web_fixture_close(&f);
}

/* ---- metrics ---- */

/* Length of a name of the text format; 0: it is none. */
static size_t metric_name(const char *s)
{
    return strspn(s, "abcdefghijklmnopqrstuvwxyz_");
}

/* Checks one line, which is NAME{LABEL="VALUE",...} NUMBER. */
static void metric_check_line(const char *line)
{
    const char *s = line + metric_name(line);
    cr_assert(s > line, "no name: %s", line);
    if (*s == '{') {
        do {
            size_t n = metric_name(++s);
            cr_assert(n > 0 && s[n] == '=' && s[n + 1] == '"', "no label: %s", line);
            for (s += n + 2; *s && *s != '"'; s++)
                if (*s == '\\') cr_assert(strchr("\\\"n", *++s), "wrong escape: %s", line);
            cr_assert_eq(*s++, '"', "%s", line);
        } while (*s == ',');
        cr_assert_eq(*s++, '}', "%s", line);
    }
    char *end;
    cr_assert_eq(*s, ' ', "%s", line);
    double value = strtod(s + 1, &end);
    cr_assert(end > s + 1 && !*end && value >= 0, "no number: %s", line);
}

/* Every line is of a family that was introduced before it. */
static unsigned metric_check(char *text)
{
    char family[64] = "";
    unsigned n = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char type[16];
        if (strncmp(line, "# HELP ", 7) == 0) continue;
        if (*line == '#') {
            cr_assert_eq(sscanf(line, "# TYPE %63s %15s", family, type), 2, "%s", line);
            cr_assert(strcmp(type, "counter") == 0 || strcmp(type, "gauge") == 0);
            continue;
        }
        metric_check_line(line);
        cr_assert(strncmp(line, family, strlen(family)) == 0, "%s is not of %s", line, family);
        n++;
    }
    return n;
}

Test(serve, metrics_are_in_the_format_of_prometheus)
{
    struct web_fixture f = web_fixture_open(NULL);
    char *a = web_get(&f, "/metrics", "");
    web_expect(a, "Content-Type: text/plain; version=0.0.4");
    web_expect(a,
               "thresh_evaluations_total{run=\"1\",search=\"k.lift M=4\",device=\"dev\",outcome=\"ok\"} 1\n");
    web_expect(a, "outcome=\"timeout\"} 1\n");
    web_expect(a, "thresh_best_seconds{run=\"1\",search=\"k.lift M=4\",device=\"dev\"} 1.75e-09\n");
    web_expect(a, "thresh_last_evaluation_age_seconds{run=\"1\"");
    web_expect(a, "\nthresh_store_readable 1\n");
    cr_expect_geq(metric_check(strchr(web_body(a), '#')), 6);
    free(a);
    web_fixture_close(&f);
}

Test(serve, labels_are_escaped)
{
    struct store_fixture f = store_fixture_closed();
    struct strbuf out = {0};
    store_fixture_execute(f.path, "UPDATE run SET device = 'a\\b\"c' || char(10) || 'd'");
    struct report_data *data = report_data_new(f.path);
    cr_assert(report_data_update(data, f.diag));
    const struct report_study *none[] = {NULL};
    metrics_print(&(struct metrics){data, none, "1", true, 2000000000}, &out);
    web_expect(out.text, "device=\"a\\\\b\\\"c\\nd\"");
    cr_expect_geq(metric_check(out.text), 6);
    report_data_free(data);
    strbuf_free(&out);
    store_fixture_close(&f);
}

/* ---- events ---- */

/* A stream of events from what the page shows on. */
static int events_open(const struct web_fixture *f)
{
    char request[160];
    uint64_t since;
    char *page = web_get(f, "/", "");
    const char *at = strstr(page, "data-since=\"");
    cr_assert(at && sscanf(at, "data-since=\"%" SCNu64, &since) == 1);
    free(page);
    snprintf(request, sizeof request, "GET /events?since=%" PRIu64 " HTTP/1.1\r\nHost: localhost\r\n\r\n",
             since);
    int fd = web_connect(f->port);
    web_send(fd, request);
    return fd;
}

/* A process that records in the run that the store has. */
static void events_resume(struct web_fixture *f)
{
    store_fixture_reopen(&f->store, false);
    cr_assert(store_run_resume(f->store.store, &f->store.run, f->store.diag), "%s",
              store_fixture_error(&f->store, 0));
}

static void events_add_row(struct web_fixture *f, int64_t number, double ns)
{
    struct store_evaluation e = {
        .number = number, .drawn = 3, .actions = "1=3", .status = "ok", .median_ns = ns, .message = ""};
    e.samples = &ns;
    e.n_samples = 1;
    cr_assert(store_add(f->store.store, f->store.run.id, &e, f->store.diag));
}

Test(serve, new_rows_arrive_as_events, .timeout = 60)
{
    struct web_fixture f = web_fixture_open(NULL);
    struct strbuf got = {0};
    int fd = events_open(&f);
    cr_assert(web_read_until(fd, &got, "retry: 2000"));
    web_expect(got.text, "text/event-stream");
    events_resume(&f);
    events_add_row(&f, 3, 1.25);
    cr_assert(web_read_until(fd, &got, "data: headline\ndata: <p id=\"headline\""), "%s", got.text);
    cr_assert(web_read_until(fd, &got, "event: current\n"));
    web_expect(got.text, "event: fragment\ndata: search-1\ndata: <section id=\"search-1\"");
    web_expect(got.text, "k.lift M=4: 1.25 ns");
    web_expect(got.text, "1 searching");
    strbuf_free(&got);
    events_add_row(&f, 4, 1.125);
    cr_assert(web_read_until(fd, &got, "k.lift M=4: 1.12"), "%s", got.text);
    strbuf_free(&got);
    close(fd);
    web_fixture_close(&f);
}

/* What needs the program comes when it is worked out, and its bound is a metric then. */
Test(serve, studies_arrive_as_events, .timeout = 300)
{
    struct web_fixture f = {0};
    struct strbuf got = {0};
    char folder[32], store[64], out[64], device[64], command[64];
    const char *const options[] = {"--description", device, NULL};
    e2e_folder(folder);
    snprintf(device, sizeof device, "%s/device.json", folder);
    described_write_one(device, PERFMODEL_FP32, 100);
    snprintf(store, sizeof store, "%s/a.db", folder);
    snprintf(out, sizeof out, "%s/best", folder);
    struct e2e_run r = E2E_RUN(&cli_tune, E2E_QUICK, "experiments/kernels/axpy.lift", "--size", "N=4096",
                               "--evaluations", "3", "--quiet", "--store", store, "--out", out);
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    e2e_run_free(&r);
    web_fixture_start(&f, store, options);
    int fd = events_open(&f);
    cr_assert(web_read_until(fd, &got, "Loop nest"), "%s", got.text);
    web_expect(got.text, "OpenCL text");
    char *a = web_get(&f, "/metrics", "");
    web_expect(a, "thresh_bound_seconds{run=\"1\",search=\"axpy.lift N=4096\"");
    free(a);
    strbuf_free(&got);
    close(fd);
    web_fixture_stop(&f);
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_expect_eq(system(command), 0);
}

Test(serve, another_store_makes_pages_load_again, .timeout = 60)
{
    struct web_fixture f = web_fixture_open(NULL);
    struct strbuf got = {0};
    char command[320];
    int fd = events_open(&f);
    snprintf(command, sizeof command, "cp %s %s.new && mv %s.new %s", f.store.path, f.store.path,
             f.store.path, f.store.path);
    cr_assert_eq(system(command), 0);
    cr_assert(web_read_until(fd, &got, "event: reload\n"), "%s", got.text);
    strbuf_free(&got);
    close(fd);
    web_fixture_close(&f);
}

/* Readers of events do not keep others from the page, and ^C ends in spite of them. */
Test(serve, number_of_streams_is_limited)
{
    struct web_fixture f = web_fixture_open(NULL);
    int fds[LIMIT_STREAMS];
    for (int i = 0; i < LIMIT_STREAMS; i++) {
        struct strbuf got = {0};
        fds[i] = web_connect(f.port);
        web_send(fds[i], "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
        cr_assert(web_read_until(fds[i], &got, "event: current\n"));
        strbuf_free(&got);
    }
    cr_expect_eq(web_status(web_get(&f, "/events", "")), 503);
    cr_expect_eq(web_status(web_get(&f, "/", "")), 200);
    web_fixture_close(&f);
    for (int i = 0; i < LIMIT_STREAMS; i++)
        close(fds[i]);
}

/* ---- requests that are refused ---- */

static int serve_raw(const struct web_fixture *f, const char *request)
{
    int fd = web_connect(f->port);
    web_send(fd, request);
    return web_status(web_read_all(fd));
}

Test(serve, only_get_and_head_without_content)
{
    struct web_fixture f = web_fixture_open(NULL);
    static const char *const methods[] = {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "NONSENSE"};
    char request[256];
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        snprintf(request, sizeof request, "%s / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                 methods[i]);
        cr_expect_eq(serve_raw(&f, request), 405, "%s", methods[i]);
    }
    int fd = web_connect(f.port);
    web_send(fd, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n");
    char *a = web_read_all(fd);
    web_expect(a, "405");
    web_expect(a, "Allow: GET, HEAD");
    free(a);
    cr_expect_eq(serve_raw(&f, "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc"), 413);
    web_fixture_close(&f);
}

/* A page elsewhere can make its own name lead to 127.0.0.1. */
Test(serve, host_must_name_this_machine)
{
    struct web_fixture f = web_fixture_open(NULL);
    cr_expect_eq(web_status(web_get(&f, "/", "Host: evil.example\r\n")), 403);
    cr_expect_eq(web_status(web_get(&f, "/metrics", "Host: localhost.evil.example:8780\r\n")), 403);
    cr_expect_eq(web_status(web_get(&f, "/healthz", "Host: 127.evil.example\r\n")), 403);
    cr_expect_eq(web_status(web_get(&f, "/", "Host: \r\n")), 403);
    cr_expect_geq(serve_raw(&f, "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"), 400);
    cr_expect_eq(web_status(web_get(&f, "/", "Host: localhost:9000\r\n")), 200);
    cr_expect_eq(web_status(web_get(&f, "/", "Host: [::1]:8780\r\n")), 200);
    web_fixture_close(&f);
}

Test(serve, hosts_of_loopback)
{
    const struct access loopback = {.loopback = true}, other = {.loopback = false};
    static const char *const good[] = {"localhost", "LOCALHOST:80", "127.0.0.1", "127.1.2.3:8780", "[::1]"};
    static const char *const bad[] = {"",           "localhost.example", "127.0.0.1.example", "10.0.0.1",
                                      "[::2]:8780", "localhost:80a",     "1270.0.0.1",        "[::1"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        cr_expect(access_host(&loopback, good[i]), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_expect_not(access_host(&loopback, bad[i]), "%s", bad[i]);
    cr_expect_not(access_host(&loopback, NULL));
    cr_expect(access_host(&other, "any.example"));
}

Test(serve, long_and_broken_requests_are_refused)
{
    struct web_fixture f = web_fixture_open(NULL);
    struct strbuf b = {0};
    strbuf_add(&b, "GET / HTTP/1.1\r\nHost: localhost\r\nX: ");
    for (int i = 0; i < 2 * LIMIT_REQUEST_BYTES; i++)
        strbuf_add(&b, "x");
    strbuf_add(&b, "\r\n\r\n");
    int fd = web_connect(f.port);
    web_send(fd, b.text);
    char *a = web_read_all(fd);
    cr_expect_null(strstr(a, "200 OK"));
    free(a);
    strbuf_free(&b);
    fd = web_connect(f.port);
    web_send(fd, "\x16\x03\x01\x02\x01\r\n\r\n");
    a = web_read_all(fd);
    cr_expect_null(strstr(a, "200 OK"));
    free(a);
    cr_expect_eq(web_status(web_get(&f, "/healthz", "")), 200);
    web_fixture_close(&f);
}

/* ---- tokens ---- */

static void token_read(const char *path, char out[80])
{
    FILE *in = fopen(path, "r");
    cr_assert(in && fgets(out, 80, in));
    fclose(in);
    out[strcspn(out, "\n")] = 0;
}

static int token_bearer(const struct web_fixture *f, const char *path, const char *token)
{
    char header[160];
    snprintf(header, sizeof header, "Authorization: Bearer %s\r\n", token);
    return web_status(web_get(f, path, header));
}

Test(serve, token_is_made_and_needed)
{
    char folder[32], file[64], token[80], text[160];
    struct stat st;
    e2e_folder(folder);
    snprintf(file, sizeof file, "%s/token", folder);
    struct web_fixture f = web_fixture_open((const char *const[]){"--token-file", file, NULL});
    cr_assert_eq(stat(file, &st), 0);
    cr_expect_eq(st.st_mode & 0777, 0600);
    token_read(file, token);
    cr_expect_eq(strlen(token), 64);
    static const char *const paths[] = {"/", "/events", "/metrics", "/thresh.js", "/?token=", "/?token=x"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        cr_expect_eq(web_status(web_get(&f, paths[i], "")), 401, "%s", paths[i]);
    cr_expect_eq(web_status(web_get(&f, "/healthz", "")), 200);
    cr_expect_eq(token_bearer(&f, "/metrics", token), 200);
    snprintf(text, sizeof text, "/?token=%s", token);
    char *a = web_get(&f, text, "");
    web_expect(a, "HTTP/1.1 200");
    snprintf(text, sizeof text, "Set-Cookie: thresh_%u=%s; Path=/; HttpOnly; SameSite=Strict\r\n", f.port,
             token);
    web_expect(a, text);
    free(a);
    snprintf(text, sizeof text, "Cookie: other=1; thresh_%u=%s\r\n", f.port, token);
    a = web_get(&f, "/", text);
    web_expect(a, "HTTP/1.1 200");
    cr_expect_null(strstr(a, "Set-Cookie"));
    free(a);
    web_fixture_close(&f);
    unlink(file);
    rmdir(folder);
}

Test(serve, wrong_tokens_are_refused)
{
    char file[32], token[80], wrong[160];
    e2e_file(file, "0123456789abcdef0123456789abcdef\n");
    struct web_fixture f = web_fixture_open((const char *const[]){"--token-file", file, NULL});
    token_read(file, token);
    cr_expect_eq(token_bearer(&f, "/", token), 200);
    snprintf(wrong, sizeof wrong, "%.31s", token);
    cr_expect_eq(token_bearer(&f, "/", wrong), 401);
    snprintf(wrong, sizeof wrong, "%s0", token);
    cr_expect_eq(token_bearer(&f, "/", wrong), 401);
    snprintf(wrong, sizeof wrong, "1%s", token + 1);
    cr_expect_eq(token_bearer(&f, "/", wrong), 401);
    snprintf(wrong, sizeof wrong, "Authorization: Basic %s\r\n", token);
    cr_expect_eq(web_status(web_get(&f, "/", wrong)), 401);
    snprintf(wrong, sizeof wrong, "Cookie: thresh_%u=%.31sx\r\n", f.port, token);
    cr_expect_eq(web_status(web_get(&f, "/events", wrong)), 401);
    web_fixture_close(&f);
    unlink(file);
}

/* ---- bad starts ---- */

#define SERVE_REFUSED(text, ...) serve_refused(E2E_RUN(&cli_serve, __VA_ARGS__), text)

static void serve_refused(struct e2e_run r, const char *text)
{
    cr_expect_eq(r.status, CLI_USAGE, "status %d: %s", r.status, r.err);
    cr_expect(strstr(r.err, text), "no '%s' in: %s", text, r.err);
    cr_expect_str_eq(r.out, "");
    e2e_run_free(&r);
}

Test(serve, bad_starts_are_explained)
{
    struct web_fixture f = web_fixture_open(NULL);
    const char *store = f.store.path;
    char port[16], text[96];
    snprintf(port, sizeof port, "%u", f.port);
    snprintf(text, sizeof text, "port %u of 127.0.0.1 is in use; choose another one with --port", f.port);
    SERVE_REFUSED(text, store, "--port", port);
    SERVE_REFUSED("does not exist", "/tmp/there-is-no-such.db");
    SERVE_REFUSED("not a thresh store", "/proc/self/status");
    SERVE_REFUSED("not a port number", store, "--port", "65536");
    SERVE_REFUSED("is not an address", store, "--bind", "here");
    SERVE_REFUSED("--token-file", store, "--bind", "0.0.0.0");
    SERVE_REFUSED("--token-file", store, "--bind", "::");
    web_fixture_close(&f);
}

Test(serve, bad_token_files_are_refused)
{
    struct store_fixture f = store_fixture_closed();
    char file[32], empty[32], odd[32];
    e2e_file(file, "0123456789abcdef0123456789abcdef\n");
    e2e_file(empty, "");
    e2e_file(odd, "0123456789abcdef 0123456789\n");
    chmod(file, 0644);
    SERVE_REFUSED("chmod 600", f.path, "--token-file", file);
    chmod(file, 0620);
    SERVE_REFUSED("chmod 600", f.path, "--token-file", file);
    SERVE_REFUSED(":1:1: the token has 0 characters", f.path, "--token-file", empty);
    SERVE_REFUSED(":1:17: a token has letters", f.path, "--token-file", odd);
    SERVE_REFUSED("is not a file", f.path, "--token-file", "/tmp");
    SERVE_REFUSED("cannot make", f.path, "--token-file", "/proc/none/token");
    unlink(file);
    unlink(empty);
    unlink(odd);
    store_fixture_close(&f);
}
