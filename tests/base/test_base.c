/* core/base: the published PCG vectors, arena alignment and growth, located errors, order statistics. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/diag.h"
#include "core/base/hash.h"
#include "core/base/pcg32.h"
#include "core/base/shell.h"
#include "core/base/stats.h"
#include "core/base/stop.h"
#include "core/base/strbuf.h"
#include "core/base/utf8.h"

Test(base, pcg32_gives_the_published_numbers)
{
    static const uint32_t expected[] = {0xa15c02b7, 0x7b47f409, 0xba1d3330,
                                        0x83d2f293, 0xbfa4784b, 0xcbed606e};
    struct pcg32 rng = pcg32_seed(42, 54);
    for (size_t i = 0; i < 6; i++)
        cr_assert_eq(pcg32_next(&rng), expected[i]);
}

Test(base, pcg32_below_is_uniform)
{
    struct pcg32 rng = pcg32_seed(1, 1);
    unsigned counts[7] = {0};
    for (int i = 0; i < 70000; i++)
        counts[pcg32_below(&rng, 7)]++;
    for (int i = 0; i < 7; i++)
        cr_assert(counts[i] > 9600 && counts[i] < 10400, "value %d: %u", i, counts[i]);
}

/* Of each order of three as many, and nothing but orders. */
Test(base, pcg32_shuffle_gives_every_order)
{
    struct pcg32 rng = pcg32_seed(2, 1);
    unsigned counts[27] = {0}, order[3], orders = 0;
    for (int i = 0; i < 60000; i++) {
        pcg32_shuffle(&rng, order, 3);
        counts[order[0] + 3 * order[1] + 9 * order[2]]++;
    }
    for (int i = 0; i < 27; i++) {
        cr_assert(counts[i] == 0 || (counts[i] > 9600 && counts[i] < 10400), "order %d: %u", i, counts[i]);
        orders += counts[i] > 0;
    }
    cr_assert_eq(orders, 6);
    pcg32_shuffle(&rng, order, 0);
}

Test(base, shell_words_are_read_back_by_a_shell)
{
    static const char *const words[] = {"a.b", "", "it's", "$HOME `x` \\", "two\nlines", "-n=1,2:3@%+/_"};
    struct strbuf command = {0};
    char got[64] = "";
    strbuf_add(&command, "printf '<%s>'");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        strbuf_add(&command, " ");
        shell_add_word(&command, words[i]);
    }
    cr_expect(strstr(command.text, " a.b '' 'it'\\''s' "), "%s", command.text);
    FILE *in = popen(command.text, "r");
    cr_assert(in && fread(got, 1, sizeof got - 1, in) > 0);
    pclose(in);
    cr_expect_str_eq(got, "<a.b><><it's><$HOME `x` \\><two\nlines><-n=1,2:3@%+/_>", "%s", got);
    strbuf_free(&command);
}

/* A process that stood still finds a long time between two looks. */
Test(base, time_awake_leaves_out_stops)
{
    struct clock_awake w = clock_awake_start();
    w.last_ms -= 60e3;
    double stopped = clock_awake_ms(&w, 100);
    cr_expect_eq(stopped, 100);
    double later = clock_awake_ms(&w, 100);
    cr_expect(later >= stopped && later <= stopped + 100, "%g", later);
    cr_expect_lt(clock_now_ms() - 1e3 * clock_s(), 1e3);
}

Test(base, arena_is_aligned_zeroed_and_grows)
{
    struct arena *a = arena_new();
    size_t cap = 0;
    uint32_t *list = NULL;
    for (uint32_t i = 0; i < 100000; i++) {
        list = arena_grow(a, list, &cap, i + 1, sizeof *list);
        list[i] = i;
    }
    for (uint32_t i = 0; i < 100000; i++)
        cr_assert_eq(list[i], i);
    for (size_t n = 1; n < 200; n++) {
        unsigned char *p = arena_alloc(a, n);
        cr_assert_eq((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < n; i++)
            cr_assert_eq(p[i], 0);
        memset(p, 0xff, n);
    }
    cr_assert_str_eq(arena_printf(a, "%s-%d", "x", 7), "x-7");
    arena_free(a);
}

Test(base, arena_that_is_reset_is_filled_again_with_zeros)
{
    struct arena *a = arena_new();
    unsigned char *first = arena_alloc(a, 100);
    memset(first, 1, 100);
    arena_alloc(a, 1 << 20);
    arena_reset(a);
    unsigned char *again = arena_alloc(a, 100);
    cr_assert_eq(first, again);
    for (int i = 0; i < 100; i++)
        cr_assert_eq(again[i], 0);
    arena_reset(a);
    arena_reset(a);
    arena_free(a);
}

Test(base, diagnostics_are_located_bounded_and_counted)
{
    struct source src = {.path = "k.lift", .text = "size M\nbad line\n", .length = 16};
    struct diag *d = diag_new();
    diag_error(d, (struct source_pos){&src, 11}, "what is %s", "this");
    cr_assert_str_eq(diag_message(d, 0), "k.lift:2:5: error: what is this");
    for (int i = 0; i < 30; i++)
        diag_plain(d, "more");
    cr_assert_eq(diag_count(d), 31);
    cr_assert_null(diag_message(d, DIAG_MAX));
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    diag_print(d, out);
    fclose(out);
    cr_assert_not_null(strstr(text, "    bad line\n        ^\n"));
    cr_assert_not_null(strstr(text, "11 more errors"));
    free(text);
    diag_free(d);
}

static char *printed_diag(const struct diag *d)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    diag_print(d, out);
    fclose(out);
    return text;
}

Test(base, warnings_are_printed_with_errors_and_are_none)
{
    struct source src = {.path = "k.space", .text = "first\nsecond\n", .length = 13};
    struct diag *d = diag_new();
    diag_warning(d, (struct source_pos){&src, 6}, "dull %d", 2);
    cr_assert_not(diag_failed(d));
    cr_assert_eq(diag_count(d), 0);
    diag_error(d, (struct source_pos){&src, 0}, "wrong");
    cr_assert_str_eq(diag_message(d, 0), "k.space:1:1: error: wrong");
    char *text = printed_diag(d);
    cr_assert_str_eq(text, "k.space:1:1: error: wrong\n    first\n    ^\n"
                           "k.space:2:1: warning: dull 2\n    second\n    ^\n");
    free(text);
    FILE *nowhere = fopen("/dev/null", "w");
    diag_print_warnings(d, nowhere);
    fclose(nowhere);
    text = printed_diag(d);
    cr_assert_str_eq(text, "k.space:1:1: error: wrong\n    first\n    ^\n");
    free(text);
    cr_assert_eq(diag_count(d), 1);
    for (int i = 0; i < DIAG_MAX + 3; i++)
        diag_plain_warning(d, "more");
    text = printed_diag(d);
    cr_assert_not_null(strstr(text, "warning: more\n"));
    cr_assert_not_null(strstr(text, "warning: 3 more warnings\n"));
    free(text);
    diag_free(d);
}

Test(base, order_statistics)
{
    double x[] = {5, 1, 4, 2, 3};
    cr_assert_eq(stats_median(x, 5), 3);
    cr_assert_eq(stats_median(x, 4), 3);
    cr_assert_eq(stats_quantile(x, 5, 0.25), 2);
    cr_assert_eq(stats_mean(x, 5), 3);
    cr_assert_eq(stats_variance(x, 5), 2.5);
    cr_assert_eq(x[0], 5, "the input is left as it was");
}

/* Wilson's interval holds the true share in about 95 of 100 experiments, whatever it is; the values are those
 * of the formula for 0, 1 and 10 of 100. */
Test(base, intervals_of_shares)
{
    static const struct {
        double k, n, low, high;
    } known[] = {{0, 100, 0, 0.036995},
                 {1, 100, 0.001767, 0.054486},
                 {10, 100, 0.055229, 0.174368},
                 {100, 100, 0.963005, 1}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        double low, high;
        stats_share(known[i].k, known[i].n, &low, &high);
        cr_expect_float_eq(low, known[i].low, 1e-5, "%g", low);
        cr_expect_float_eq(high, known[i].high, 1e-5, "%g", high);
    }
    struct pcg32 rng = pcg32_seed(5, 5);
    unsigned held = 0;
    for (unsigned t = 0; t < 2000; t++) {
        double share = 0.05 + 0.9 * pcg32_unit(&rng), k = 0, low, high;
        for (unsigned i = 0; i < 200; i++)
            k += pcg32_unit(&rng) < share;
        stats_share(k, 200, &low, &high);
        held += low <= share && share <= high;
    }
    cr_expect(held > 1860 && held < 1940, "%u of 2000", held);
}

Test(base, hashes_see_every_byte_and_boundary)
{
    cr_assert_neq(hash_string(hash_string(HASH_START, "ab"), "c"),
                  hash_string(hash_string(HASH_START, "a"), "bc"));
    char hex[HASH_HEX_BYTES];
    hash_hex(0x1234, hex);
    cr_assert_str_eq(hex, "0000000000001234");
}

Test(base, strbuf_appends_and_is_taken)
{
    struct strbuf b = {0};
    for (int i = 0; i < 1000; i++)
        strbuf_printf(&b, "%d,", i);
    cr_assert_eq(b.length, 10 * 2 + 90 * 3 + 900 * 4);
    char *text = strbuf_take(&b);
    cr_assert_eq(strlen(text), 3890);
    free(text);
    text = strbuf_take(&b);
    cr_assert_str_eq(text, "");
    free(text);
}

Test(base, utf8_is_what_rfc_3629_says)
{
    static const struct {
        const char *text;
        size_t valid;
        const char *clean;
    } cases[] = {{"", 0, ""},
                 {"plain", 5, "plain"},
                 {"\xc3\xb6\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\xc3\xb6\xe2\x82\xac\xf0\x9f\x98\x80"},
                 {"a\xf6z", 1, "a?z"},            /* Latin-1 */
                 {"a\xc3", 1, "a?"},              /* cut off */
                 {"\xc0\xaf", 0, "??"},           /* overlong */
                 {"\xe0\x80\xaf", 0, "???"},      /* overlong */
                 {"\xed\xa0\x80", 0, "???"},      /* a surrogate */
                 {"\xf4\x90\x80\x80", 0, "????"}, /* above U+10FFFF */
                 {"\xf0\x8f\xbf\xbf", 0, "????"}, /* overlong */
                 {"\xe2\x82z", 0, "??z"},
                 {"\x80", 0, "?"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[16];
        strcpy(text, cases[i].text);
        cr_expect_eq(utf8_valid(text, strlen(text)), cases[i].valid, "%zu", i);
        utf8_clean(text);
        cr_expect_str_eq(text, cases[i].clean, "%zu", i);
    }
}

Test(base, columns_count_characters)
{
    static const char text[] = "\xc3\xa4\xc3\xb6 ?\n";
    const struct source s = {"k.lift", text, sizeof text - 1};
    struct diag *d = diag_new();
    diag_error(d, (struct source_pos){&s, 5}, "here");
    cr_assert_str_eq(diag_message(d, 0), "k.lift:1:4: error: here");
    char *printed = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&printed, &length);
    diag_print(d, out);
    fclose(out);
    cr_assert_not_null(strstr(printed, "    \xc3\xa4\xc3\xb6 ?\n       ^\n"), "%s", printed);
    free(printed);
    diag_free(d);
}

/* A line of a file is shown while the file has it. */
Test(base, errors_in_a_line_of_a_file)
{
    char path[] = "/tmp/thresh-line-XXXXXX", wanted[256], got[512] = "";
    int fd = mkstemp(path);
    struct diag *d = diag_new();
    cr_assert_eq(write(fd, "one\n  two\n", 10), 10);
    close(fd);
    diag_line(d, path, 2, "this is %s", "two");
    diag_line(d, path, 4, "this is not");
    unlink(path);
    diag_line(d, path, 2, "this is gone");
    snprintf(wanted, sizeof wanted,
             "%s:2: error: this is gone\n%s:4: error: this is not\n%s:2:3: error: this is two\n      two\n   "
             "   ^\n",
             path, path, path);
    FILE *out = fmemopen(got, sizeof got, "w");
    diag_print(d, out);
    fclose(out);
    cr_expect_str_eq(got, wanted, "%s", got);
    diag_free(d);
}

Test(base, runs_end_when_their_descriptor_is_readable)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_expect(!stop_requested(-1));
    cr_expect(!stop_requested(ends[0]));
    cr_assert_eq(write(ends[1], "x", 1), 1);
    cr_expect(stop_requested(ends[0]));
    close(ends[0]);
    close(ends[1]);
}
