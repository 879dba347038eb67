/* See fixture.h. The address is read from a named pipe, so that nothing waits longer than it must. */
#include "tests/web/fixture.h"

#include <criterion/criterion.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

void web_fixture_start(struct web_fixture *f, const char *store, const char *const *options)
{
    const char *args[WEB_MOST_OPTIONS + 5] = {store, "--port", "0", "--quiet"};
    char pipe[48], line[128] = "";
    for (size_t i = 0; options && options[i]; i++)
        args[4 + i] = options[i];
    e2e_folder(f->folder);
    snprintf(pipe, sizeof pipe, "%s/url", f->folder);
    cr_assert_eq(mkfifo(pipe, 0600), 0);
    f->server = e2e_start_to(pipe, &cli_serve, args);
    FILE *in = fopen(pipe, "r");
    cr_assert_not_null(in);
    cr_assert_not_null(fgets(line, sizeof line, in), "the server has not started");
    fclose(in);
    unlink(pipe);
    cr_assert_eq(sscanf(strrchr(line, ':'), ":%u/", &f->port), 1, "%s", line);
}

void web_fixture_stop(struct web_fixture *f)
{
    kill(f->server.pid, SIGINT);
    struct e2e_run r = e2e_finish(&f->server);
    cr_expect_eq(r.status, 128 + SIGINT, "status %d: %s", r.status, r.err);
    cr_expect_str_eq(r.err, "");
    e2e_run_free(&r);
    cr_expect_eq(rmdir(f->folder), 0);
}

struct web_fixture web_fixture_open(const char *const *options)
{
    struct web_fixture f = {.store = store_fixture_closed()};
    web_fixture_start(&f, f.store.path, options);
    return f;
}

void web_fixture_close(struct web_fixture *f)
{
    web_fixture_stop(f);
    store_fixture_close(&f->store);
}

int web_connect(unsigned port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert_eq(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

void web_send(int fd, const char *text)
{
    size_t n = strlen(text);
    cr_assert_eq(send(fd, text, n, MSG_NOSIGNAL), (ssize_t)n);
}

bool web_read_until(int fd, struct strbuf *got, const char *text)
{
    char part[8192];
    ssize_t n;
    while (!got->text || !text || !strstr(got->text, text)) {
        n = recv(fd, part, sizeof part, 0);
        if (n <= 0) return false;
        strbuf_addn(got, part, (size_t)n);
    }
    return true;
}

char *web_read_all(int fd)
{
    struct strbuf got = {0};
    web_read_until(fd, &got, NULL);
    close(fd);
    return strbuf_take(&got);
}

char *web_get(const struct web_fixture *f, const char *path, const char *headers)
{
    struct strbuf b = {0};
    int fd = web_connect(f->port);
    strbuf_printf(&b, "GET %s HTTP/1.1\r\n%s%sConnection: close\r\n\r\n", path,
                  strstr(headers, "Host:") ? "" : "Host: localhost\r\n", headers);
    web_send(fd, b.text);
    strbuf_free(&b);
    return web_read_all(fd);
}

int web_status(char *answer)
{
    int status = 0;
    cr_expect_eq(sscanf(answer, "HTTP/1.1 %d", &status), 1, "%s", answer);
    free(answer);
    return status;
}
