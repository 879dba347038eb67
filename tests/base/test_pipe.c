/* Pipes: both directions, the end of a long text, ends. */
#include "core/base/pipe.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "core/base/strbuf.h"

Test(pipe, an_end_is_read_without_waiting_and_closed_after_the_last_byte)
{
    int ours, theirs;
    struct strbuf text = {0};
    cr_assert(pipe_make(false, &ours, &theirs));
    cr_assert_gt(ours, STDERR_FILENO);
    cr_assert_gt(theirs, STDERR_FILENO);
    pipe_drain(&ours, &text, 100);
    cr_expect_eq(text.length, 0, "nothing was written");
    cr_assert_eq(write(theirs, "abc", 3), 3);
    pipe_drain(&ours, &text, 100);
    cr_expect_str_eq(text.text, "abc");
    pipe_close(&theirs);
    cr_expect_eq(theirs, -1);
    pipe_drain(&ours, &text, 100);
    cr_expect_eq(ours, -1);
    cr_expect_str_eq(text.text, "abc");
    strbuf_free(&text);
}

Test(pipe, of_a_long_text_the_end_is_kept)
{
    int ours, theirs;
    char part[50];
    struct strbuf text = {0};
    cr_assert(pipe_make(false, &ours, &theirs));
    for (char c = 'a'; c <= 'e'; c++) {
        memset(part, c, sizeof part);
        cr_assert_eq(write(theirs, part, sizeof part), sizeof part);
        pipe_drain(&ours, &text, 2 * sizeof part);
        cr_expect_leq(text.length, 2 * sizeof part);
        cr_expect_eq(text.text[text.length - 1], c);
    }
    pipe_close(&ours);
    pipe_close(&theirs);
    strbuf_free(&text);
}

Test(pipe, a_full_pipe_does_not_block_the_writer)
{
    int ours, theirs;
    char zero[4096] = {0};
    ssize_t n = 0;
    cr_assert(pipe_make(true, &ours, &theirs));
    while (n >= 0)
        n = write(ours, zero, sizeof zero);
    cr_expect_eq(read(theirs, zero, sizeof zero), sizeof zero);
    pipe_close(&ours);
    pipe_close(&theirs);
}
