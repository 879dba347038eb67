/* The time that a search says is left, and the line on terminals of all widths. */
#include "coordinator/progress.h"

#include <criterion/criterion.h>
#include <math.h>
#include <pty.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

Test(progress, the_first_evaluation_tells_no_rate)
{
    struct progress p = progress_start(true);
    cr_expect_eq(progress_left(&p, 0, 300, 2, 0), INFINITY);
    cr_expect_eq(progress_left(&p, 1, 300, 20, 0), INFINITY, "starting took 20 s");
    cr_expect_eq(progress_left(&p, 2, 300, 20.25, 0), INFINITY);
    cr_expect_float_eq(progress_left(&p, 5, 300, 21, 0), 295 * 0.25, 1e-9);
    cr_expect_eq(progress_left(&p, 300, 300, 95, 0), 0);
}

Test(progress, what_was_restored_tells_no_rate)
{
    struct progress p = progress_start(true);
    cr_expect_eq(progress_left(&p, 200, 300, 1, 0), INFINITY);
    cr_expect_float_eq(progress_left(&p, 210, 300, 6, 0), 90 * 0.5, 1e-9);
}

Test(progress, a_time_limit_is_known_at_once)
{
    struct progress p = progress_start(true);
    cr_expect_eq(progress_left(&p, 0, 0, 2, 60), 58);
    cr_expect_eq(progress_left(&p, 1, 100, 20, 60), 40);
    cr_expect_float_eq(progress_left(&p, 11, 100, 21, 60), 8.9, 1e-9, "the count ends it first");
    cr_expect_eq(progress_left(&p, 12, 0, 61, 60), 0);
}

static const struct progress_state progress_full = {
    .done = 120, .total = 300, .failed = 7, .cut = 31, .elapsed_s = 30, .best_ns = 1.234e6};

/* What matters less is left out first; failures and cuts only stand where there are some. */
Test(progress, lines_fit_the_terminal)
{
    static const struct {
        unsigned columns;
        const char *text;
    } cases[] = {
        {0, "120 of 300 evaluations, 7 failed, 31 cut, 4.00/s, best 1.23 ms, 45 s left"},
        {120,
         "[#########...............] 120 of 300 evaluations, 7 failed, 31 cut, 4.00/s, best 1.23 ms, 45 s "
         "left"},
        {80, "120 of 300 evaluations, 7 failed, 31 cut, 4.00/s, best 1.23 ms, 45 s left"},
        {70, "120 of 300 evaluations, 7 failed, 31 cut, best 1.23 ms, 45 s left"},
        {60, "120/300, 7 failed, 31 cut, best 1.23 ms, 45 s left"},
        {39, "120/300, 7 failed, best 1.23 ms"},
        {12, "120/300"},
        {3, "120"},
    };
    char line[256];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        progress_line(&progress_full, 45, cases[i].columns, line, sizeof line);
        cr_expect_str_eq(line, cases[i].text);
    }
    struct progress_state young = {.done = 1, .elapsed_s = 2};
    progress_line(&young, INFINITY, 0, line, sizeof line);
    cr_expect_str_eq(line, "1 evaluation, 0.50/s");
}

Test(progress, no_line_is_longer_than_its_terminal)
{
    struct progress_state s = {.total = UINT64_MAX, .elapsed_s = 1e6, .best_ns = 123.4e9};
    char line[256];
    for (s.done = 1; s.done < UINT64_MAX / 8; s.done *= 7) {
        s.failed = s.cut = s.done / 2;
        for (unsigned columns = 1; columns < 160; columns++) {
            int n = progress_line(&s, 1e5, columns, line, sizeof line);
            cr_expect(n >= 1 && (unsigned)n <= columns && strlen(line) == (size_t)n, "%s", line);
        }
    }
}

enum { PROGRESS_STEPS = 20 };

/* In a process of its own, with the terminal as standard error. */
static void progress_draw(int terminal)
{
    struct progress_state s = progress_full;
    dup2(terminal, STDERR_FILENO);
    struct progress p = progress_start(false);
    for (int i = 0; i < PROGRESS_STEPS; i++) {
        s.done += 7;
        s.elapsed_s += 1;
        if (i % 2)
            progress_show(&p, &s);
        else
            progress_rounds(&p, (unsigned)i, PROGRESS_STEPS, 12, s.elapsed_s);
    }
    progress_end(&p);
    _exit(p.terminal ? 0 : 1);
}

/* Draws on a terminal of so many columns; what it shows goes to `out`. */
static size_t progress_on_terminal(unsigned short columns, char *out, size_t room)
{
    int ours, theirs, status;
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    struct termios raw;
    cr_assert_eq(openpty(&ours, &theirs, NULL, NULL, &size), 0);
    tcgetattr(theirs, &raw);
    raw.c_oflag &= ~(tcflag_t)OPOST;
    tcsetattr(theirs, TCSANOW, &raw);
    pid_t pid = fork();
    if (pid == 0) progress_draw(theirs);
    close(theirs);
    size_t n = 0;
    for (ssize_t got; n < room - 1 && (got = read(ours, out + n, room - 1 - n)) > 0;)
        n += (size_t)got;
    out[n] = 0;
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_expect_eq(status, 0, "not a terminal");
    close(ours);
    return n;
}

/* A line that reaches the last column would move to the next row. */
Test(progress, terminals_of_all_widths_do_not_wrap)
{
    static const unsigned short widths[] = {20, 40, 80, 200};
    char text[PROGRESS_STEPS * 300];
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        size_t n = progress_on_terminal(widths[i], text, sizeof text);
        unsigned lines = 0;
        cr_assert(n > 0 && text[n - 1] == '\n' && strchr(text, '\n') == text + n - 1, "%s", text);
        text[n - 1] = 0;
        for (char *rest = text, *line; (line = strtok_r(rest, "\r", &rest)); lines++)
            cr_expect_lt(strlen(line), widths[i], "%s", line);
        cr_expect_eq(lines, PROGRESS_STEPS);
    }
}
