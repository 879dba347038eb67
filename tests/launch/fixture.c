#include "tests/launch/fixture.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/clock.h"
#include "tests/e2e/run.h"

enum { PATIENCE_MS = 60000, LOOK_MS = 10 };

void launch_test_open(struct launch_test *t)
{
    *t = (struct launch_test){.arena = arena_new(), .diag = diag_new()};
    e2e_folder(t->top);
    snprintf(t->log, sizeof t->log, "%s/log", t->top);
    cr_assert_eq(mkdir(arena_printf(t->arena, "%s/bin", t->top), 0700), 0);
    setenv("PATH", arena_printf(t->arena, "%s/bin:%s", t->top, getenv("PATH")), 1);
    setenv("TOP", t->top, 1);
    setenv("LOG", t->log, 1);
}

void launch_test_close(struct launch_test *t)
{
    launch_free(t->launch);
    cr_expect_eq(system(arena_printf(t->arena, "rm -rf %s", t->top)), 0);
    diag_free(t->diag);
    arena_free(t->arena);
}

const char *launch_test_write(const struct launch_test *t, const char *name, const char *text)
{
    const char *path = arena_printf(t->arena, "%s/%s", t->top, name);
    FILE *out = fopen(path, "w");
    cr_assert_not_null(out, "%s", path);
    fputs(text, out);
    cr_assert_eq(fclose(out), 0);
    return path;
}

void launch_test_program(const struct launch_test *t, const char *name, const char *body)
{
    const char *path = launch_test_write(t, arena_printf(t->arena, "bin/%s", name),
                                         arena_printf(t->arena, "#!/bin/sh\n%s", body));
    cr_assert_eq(chmod(path, 0700), 0);
}

void launch_test_start(struct launch_test *t, const char *text, const char *endpoint, const char *keys)
{
    struct launch_options o;
    bool ok = launch_options_parse(text, t->arena, &o, t->diag);
    if (ok) t->launch = launch_start(&o, endpoint, keys, t->diag);
    cr_assert(t->launch, "%s: %s", text, diag_count(t->diag) ? diag_message(t->diag, 0) : "no message");
}

const char *launch_test_await(struct launch_test *t, const char *agent, enum launch_event_kind kind)
{
    for (int64_t end = clock_ms() + PATIENCE_MS; clock_ms() < end; poll(NULL, 0, LOOK_MS))
        while (launch_poll(t->launch, &t->last))
            if (strcmp(t->last.agent, agent) == 0 && t->last.kind == kind) return t->last.text;
    cr_assert_fail("no event %d of '%s'", (int)kind, agent);
    return NULL;
}

const char *launch_test_logged(struct launch_test *t, const char *text)
{
    const char *all = "";
    for (int64_t end = clock_ms() + PATIENCE_MS; clock_ms() < end; poll(NULL, 0, LOOK_MS)) {
        size_t n;
        struct launch_event e;
        struct diag *d = diag_new();
        char *read = source_read_file(t->log, 1 << 20, &n, d);
        all = arena_strdup(t->arena, read ? read : "");
        free(read);
        diag_free(d);
        if (strstr(all, text)) return all;
        while (t->launch && launch_poll(t->launch, &e))
            continue;
    }
    cr_assert_fail("no '%s' in the log: %s", text, all);
    return NULL;
}
