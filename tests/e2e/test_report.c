/* thresh report: the page is well-formed, has the figures of its store, and escapes what the store says. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/coordinator/store_fixture.h"
#include "tests/e2e/run.h"

enum { REPORT_DEPTH = 64, REPORT_NAME = 32 };

/* The name of the element at s, which is behind its `<` or `</`. */
static void report_name_of(const char *s, char name[REPORT_NAME])
{
    size_t n = strcspn(s, " \t\n/>");
    cr_assert(n > 0 && n < REPORT_NAME, "an element without a name: %.40s", s);
    memcpy(name, s, n);
    name[n] = 0;
}

/* The `>` of the element: attributes are quoted, and have no `<`. */
static const char *report_end_of(const char *s)
{
    bool quoted = false;
    for (; *s && (quoted || *s != '>'); s++) {
        quoted ^= *s == '"';
        cr_assert_neq(*s, '<', "'<' in an element: %.60s", s);
    }
    cr_assert_eq(*s, '>');
    return s;
}

/* Every element is closed by its own end, and every `&` begins an entity. Returns the number of elements. */
static unsigned report_check_xml(const char *page)
{
    char open[REPORT_DEPTH][REPORT_NAME], name[REPORT_NAME];
    unsigned depth = 0, elements = 0;
    const char *s = strchr(page, '>') + 1; /* behind <!DOCTYPE html> */
    for (; *s; s++) {
        if (*s == '&') {
            size_t n = strcspn(s, "; <\n");
            cr_assert(n < 9 && s[n] == ';', "no entity: %.20s", s);
        }
        if (*s != '<') continue;
        bool closes = s[1] == '/';
        report_name_of(s + 1 + closes, name);
        const char *end = report_end_of(s + 1);
        elements += !closes;
        if (closes) {
            cr_assert(depth > 0 && strcmp(open[depth - 1], name) == 0, "</%s> closes <%s>", name,
                      depth ? open[depth - 1] : "nothing");
            depth--;
        } else if (end[-1] != '/') {
            cr_assert_lt(depth, REPORT_DEPTH);
            strcpy(open[depth++], name);
        }
        s = end;
    }
    cr_assert_eq(depth, 0, "<%s> is not closed", open[depth ? depth - 1 : 0]);
    return elements;
}

static unsigned report_count(const char *page, const char *text)
{
    unsigned n = 0;
    for (const char *s = page; (s = strstr(s, text)); s += strlen(text))
        n++;
    return n;
}

Test(report, figures_are_those_of_the_store_and_texts_are_escaped)
{
    struct store_fixture f = store_fixture_closed();
    store_fixture_execute(f.path, "UPDATE run SET device = '<script>alert(\"1\")</script> & co'");
    struct e2e_run r = E2E_RUN(&cli_report, f.path);
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    cr_assert_gt(report_check_xml(r.out), 50);
    cr_assert_eq(report_count(r.out, "<script"), 0);
    cr_assert_geq(report_count(r.out, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; co"), 1);
    cr_assert(strstr(r.out, "1.75 ns"), "the best time");
    cr_assert(strstr(r.out, "timeout"), "the outcome of the other evaluation");
    cr_assert(strstr(r.out, "k.lift M=4"));
    cr_assert_geq(report_count(r.out, "<svg"), 2);
    e2e_run_free(&r);
    store_fixture_close(&f);
}

/* Nothing of the page comes from elsewhere, and nothing of it runs. */
Test(report, page_needs_no_other_file)
{
    struct store_fixture f = store_fixture_closed();
    struct e2e_run r = E2E_RUN(&cli_report, f.path);
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    static const char *const none[] = {"http:", "https:", "src=",    "@import",
                                       "url(",  "<link",  "<script", "onload"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        cr_expect_eq(report_count(r.out, none[i]), 0, "%s", none[i]);
    e2e_run_free(&r);
    store_fixture_close(&f);
}

Test(report, file_is_written_whole_or_not_at_all)
{
    struct store_fixture f = store_fixture_closed();
    char folder[32], path[64];
    e2e_folder(folder);
    snprintf(path, sizeof path, "%s/page.html", folder);
    struct e2e_run r = E2E_RUN(&cli_report, f.path, "--out", path);
    cr_assert_eq(r.status, CLI_OK, "%s", r.err);
    cr_assert_eq(access(path, R_OK), 0);
    e2e_run_free(&r);
    r = E2E_RUN(&cli_report, f.path, "--out", "/proc/none/page.html");
    cr_assert_eq(r.status, CLI_FAILED);
    cr_assert(strstr(r.err, "/proc/none"), "%s", r.err);
    e2e_run_free(&r);
    r = E2E_RUN(&cli_report, "/tmp/there-is-no-such.db");
    cr_assert_eq(r.status, CLI_USAGE);
    e2e_run_free(&r);
    unlink(path);
    rmdir(folder);
    store_fixture_close(&f);
}
