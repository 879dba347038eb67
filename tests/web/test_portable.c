/* The choice for all devices on a live page, which is worked out after the page was loaded. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/web/fixture.h"

/* Run 1, of "dev", again on another device, where its text 0b takes 7 ns. */
static const char another_device[] =
    "UPDATE evaluation SET kernel_hash = '0b' WHERE number = 1;"
    "INSERT INTO run (path, text, sizes, device, driver, settings, fingerprint, seed)"
    " SELECT path, text, sizes, 'other', driver, settings, fingerprint, seed FROM run;"
    "INSERT INTO evaluation (run, number, drawn, state_hash, actions, status, median_ns, samples, "
    "kernel_hash,"
    " message, found_at) VALUES (2, 1, 1, '9', '1=2', 'ok', 7, '[7]', '0b', '', 1)";

Test(serve_portable, choices_for_all_devices_arrive_as_events, .timeout = 120)
{
    struct web_fixture f = {.store = store_fixture_closed()};
    struct strbuf got = {0};
    store_fixture_execute(f.store.path, another_device);
    web_fixture_start(&f, f.store.path, NULL);
    char *page = web_get(&f, "/", "");
    int fd = web_connect(f.port);
    web_send(fd, "GET /events?since=0 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    cr_assert(web_read_until(fd, &got, "Best portable choice"), "%s", got.text);
    cr_assert(web_read_until(fd, &got, "event: current\n"));
    cr_expect(strstr(got.text, "dev: 1.75 ns (1 times its best); other: 7 ns (1 times its best)"), "%s",
              got.text);
    free(page);
    strbuf_free(&got);
    close(fd);
    web_fixture_close(&f);
}
