/* --baseline as a text: sizes are arithmetic, everything that is wrong is said. */
#include "coordinator/baseline.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coordinator/extent.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"
#include "tests/e2e/run.h"

static const char baseline_text[] = "size M, N\ninput x: [[float]N]M\noutput x\n";

struct baseline_bench {
    struct arena *arena;
    struct diag *d;
    struct source source;
    struct lift_program *p;
    char file[32];
};

/* M is 100, N is 7; a file with some text. */
static void baseline_open(struct baseline_bench *b)
{
    static const struct lift_size_value sizes[] = {{"M", 100}, {"N", 7}};
    b->arena = arena_new();
    b->d = diag_new();
    b->source = (struct source){"k.lift", baseline_text, strlen(baseline_text)};
    b->p = lift_parse(&b->source, b->arena, b->d);
    cr_assert(b->p && lift_bind(b->p, sizes, 2, b->arena, b->d));
    e2e_file(b->file, "kernel\n");
}

static void baseline_close(struct baseline_bench *b)
{
    unlink(b->file);
    diag_free(b->d);
    arena_free(b->arena);
}

Test(baseline, sizes_are_arithmetic)
{
    static const struct {
        const char *text;
        int64_t value; /* -1: an error */
    } cases[] = {{"M", 100},
                 {"2*M+N", 207},
                 {"(M+15)/16*16", 112},
                 {"M % 16 * N", 28},
                 {" ( M - 1 ) ", 99},
                 {"M/N/2", 7},
                 {"M-N-3", 90},
                 {"", -1},
                 {"M+", -1},
                 {"(M", -1},
                 {"M)", -1},
                 {"Q", -1},
                 {"M/(N-7)", -1},
                 {"M^2", -1},
                 {"2M", -1},
                 {"M N", -1},
                 {"9223372036854775807+1", -1},
                 {"99999999999999999999", -1},
                 {"M*M*M*M*M*M*M*M*M*M", -1},
                 {"-M", -1}};
    struct baseline_bench b;
    baseline_open(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t value;
        const char *why = NULL;
        bool ok = extent_evaluate(cases[i].text, b.p, &value, &why);
        cr_expect_eq(ok, cases[i].value >= 0, "%s", cases[i].text);
        cr_expect(ok ? value == cases[i].value : why != NULL, "%s", cases[i].text);
    }
    char deep[200];
    int64_t value;
    const char *why;
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    cr_expect_not(extent_evaluate(deep, b.p, &value, &why));
    cr_expect_str_eq(why, "has too many parentheses");
    baseline_close(&b);
}

Test(baseline, an_option_is_a_kernel_and_its_range)
{
    struct baseline_bench b;
    struct baseline x;
    struct strbuf option = {0};
    baseline_open(&b);
    strbuf_printf(&option, "%s:mm,global=(M+15)/16*16,N,local=16,1,option=-DTILE=8", b.file);
    cr_assert(baseline_read(option.text, b.p, &x, b.d), "%s", diag_failed(b.d) ? diag_message(b.d, 0) : "");
    const struct cg_kernel *k = &x.kernel;
    cr_expect(k->global[0] == 112 && k->global[1] == 7 && k->global[2] == 1);
    cr_expect(k->local[0] == 16 && k->local[1] == 1 && k->local[2] == 1);
    cr_expect_str_eq(k->name, "mm");
    cr_expect_str_eq(k->options, "-cl-std=CL1.2 -cl-kernel-arg-info -DM=100 -DN=7 -I/tmp -DTILE=8");
    cr_expect(strncmp(k->source, "#line 1 \"/tmp/", 14) == 0 && strstr(k->source, "\nkernel\n"), "%s",
              k->source);
    cr_expect(strncmp(x.label, "baseline thresh-e2e-", 20) == 0, "%s", x.label);
    baseline_clear(&x);
    strbuf_free(&option);
    baseline_close(&b);
}

Test(baseline, options_that_are_none)
{
    static const char *const cases[][2] = {
        {"#", "it names no kernel of a file"},
        {"#:", "it names no kernel of a file"},
        {":k,global=M", "it names no kernel of a file"},
        {"#:2k,global=M", "it names no kernel of a file"},
        {"#:k", "it has no global size"},
        {"#:k,M", "'M' is none of global=, local=, option="},
        {"#:k,global=M,N,M,N", "over 3 dimensions"},
        {"#:k,global=M,locla=5", "'locla=5' is none of global=, local=, option="},
        {"#:k,global=M,N,local=4", "global and local sizes have different numbers of dimensions"},
        {"#:k,global=M,local=16", "the global size 100 is no multiple of the local size 16; round it up"},
        {"#:k,global=M-100", "'M-100' is 0; a size must be positive"},
        {"#:k,global=", "'' is not arithmetic over whole numbers and sizes"},
        {"#:k,global=K", "'K' names what is no size of the program"},
        {"#.missing:k,global=M", "cannot open"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct baseline_bench b;
        struct baseline x;
        struct strbuf option = {0};
        baseline_open(&b);
        bool named = cases[i][0][0] == '#';
        strbuf_printf(&option, "%s%s", named ? b.file : "", cases[i][0] + named);
        cr_expect_not(baseline_read(option.text, b.p, &x, b.d), "%s", cases[i][0]);
        cr_assert(diag_failed(b.d));
        cr_expect(strstr(diag_message(b.d, 0), cases[i][1]), "%s: %s", cases[i][0], diag_message(b.d, 0));
        strbuf_free(&option);
        baseline_close(&b);
    }
}
