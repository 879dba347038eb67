/* Parameters of the GPU space: their text, and what lifting each guess adds to the space. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/space/space.h"
#include "tests/fixture/kernel.h"

/* ---- text ---- */

typedef bool (*parameter_parser)(const char *text, struct bb_options *o, struct diag *d);

static void parser_refuses(parameter_parser parse, const char *text, const char *message)
{
    struct diag *d = diag_new();
    struct bb_options o = {0};
    cr_expect_not(parse(text, &o, d), "%s", text);
    cr_expect(diag_count(d) == 1 && strstr(diag_message(d, 0), message), "%s: %s", text,
              diag_count(d) ? diag_message(d, 0) : "");
    diag_free(d);
}

Test(parameter, a_later_value_replaces_an_earlier_one)
{
    struct diag *d = diag_new();
    struct bb_options o = {0};
    cr_assert(bb_parse_parameters("", &o, d));
    cr_assert_eq(o.n_parameters, 0);
    cr_assert(bb_parse_parameters("max_unroll=64,global_from=0", &o, d));
    cr_assert(bb_parse_parameters("max_unroll=4096", &o, d));
    cr_assert_eq(o.n_parameters, 2);
    cr_assert_eq(o.parameters[0].value, 4096);
    cr_assert_eq(o.parameters[1].value, 0);
    cr_assert(bb_parameter_valid(&o.parameters[0]) && bb_parameter_valid(&o.parameters[1]));
    cr_assert_not(bb_parameter_valid(&(struct bb_parameter){o.parameters[0].number, -1}));
    cr_assert_not(bb_parameter_valid(&(struct bb_parameter){UINT32_MAX, 1}));
    diag_free(d);
}

Test(parameter, a_printed_text_is_read_back)
{
    static const char text[] = "max_unroll=64,global_from=0";
    struct diag *d = diag_new();
    struct strbuf out = {0};
    struct bb_options o = {0};
    bb_print_parameters(&o, "with ", &out);
    cr_expect_eq(out.length, 0);
    cr_assert(bb_parse_parameters(text, &o, d));
    bb_print_parameters(&o, "", &out);
    cr_expect_str_eq(out.text, text);
    strbuf_free(&out);
    diag_free(d);
}

/* What is allowed is a parameter, too. */
Test(parameter, what_is_allowed)
{
    struct diag *d = diag_new();
    struct strbuf out = {0};
    struct bb_options o = {0};
    cr_expect_not(bb_options_allow_tf32(&o));
    cr_assert(bb_parse_allowed("tf32,tf32", &o, d) && bb_options_allow_tf32(&o));
    bb_print_parameters(&o, "", &out);
    cr_expect_str_eq(out.text, "tf32=1");
    cr_assert(bb_parse_parameters("tf32=0", &o, d));
    cr_expect_not(bb_options_allow_tf32(&o));
    parser_refuses(bb_parse_allowed, "bfloat16", "--allow: 'bfloat16' cannot be allowed; possible: tf32");
    parser_refuses(bb_parse_allowed, "tf32,tf3", "--allow: 'tf3' cannot be allowed");
    parser_refuses(bb_parse_allowed, "", "--allow: '' cannot be allowed");
    strbuf_free(&out);
    diag_free(d);
}

Test(parameter, malformed_texts)
{
    parser_refuses(bb_parse_parameters, "max_unroll", "'max_unroll' is malformed");
    parser_refuses(bb_parse_parameters, "max_unroll=", "'max_unroll=' is malformed");
    parser_refuses(bb_parse_parameters, "max_unroll=-1", "'max_unroll=-1' is malformed");
    parser_refuses(bb_parse_parameters, "max_unroll=1099511627777",
                   "is malformed; write NAME=NUMBER, with a number from 0 to 2^40");
    parser_refuses(bb_parse_parameters, "max_unrol=4",
                   "has no parameter 'max_unrol'; parameters: max_unroll, max_private,");
    parser_refuses(bb_parse_parameters, "max_work_group=4",
                   "'max_work_group' is a limit of the device and cannot be set");
    char longest[256];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    parser_refuses(bb_parse_parameters, longest, "is too long");
}

/* ---- the space ---- */

/* Whether the space has candidates with these pins under these parameters. */
static bool parameter_allows(const struct kernel_case *c, const char *parameters, const char *const *pins,
                             unsigned n)
{
    struct kernel_fixture f;
    struct diag *d = diag_new();
    struct bb_options o = {0};
    struct bb_device device = kernel_device;
    cr_assert(bb_parse_parameters(parameters, &o, d));
    kernel_open(&f, c, &device, &o);
    struct space_state *st = space_pinned_root(f.space, pins, n, d);
    bool allows = st != NULL;
    space_state_free(st);
    kernel_close(&f);
    diag_free(d);
    return allows;
}

Test(parameter, unrolling_is_lifted)
{
    const struct kernel_case c = {"axpy", "N=16"};
    const char *const pins[] = {"size(n.0)=16", "dim_kind(store.n.0)=UNROLL"};
    cr_assert_not(parameter_allows(&c, "max_unroll=8", pins, 2));
    cr_assert(parameter_allows(&c, "max_unroll=16", pins, 2));
    cr_assert_not(parameter_allows(&c, "max_unroll=16,max_private=8", pins, 2));
}

/* 256 bytes of the device's 4 KiB. */
Test(parameter, small_tiles_in_global_memory_are_lifted)
{
    const struct kernel_case c = {"matmul", "M=8,N=8,K=8"};
    const char *const pins[] = {"staged(A)=YES", "outside(A.tile.*)=0", "size(m.*)=2", "size(k.*)=2",
                                "mem_space(A.tile)=GLOBAL"};
    cr_assert_not(parameter_allows(&c, "", pins, 5));
    cr_assert_not(parameter_allows(&c, "global_from=7", pins, 5));
    cr_assert(parameter_allows(&c, "global_from=6", pins, 5));
    cr_assert(parameter_allows(&c, "global_from=0", pins, 5));
}

/* A whole input of 16 KiB. */
Test(parameter, large_tiles_are_lifted)
{
    const struct kernel_case c = {"matmul", "M=64,N=64,K=64"};
    const char *const pins[] = {"staged(A)=YES", "outside(A.tile.*)=0", "size(m.0)=8",
                                "size(m.1)=8",   "size(k.0)=8",         "size(k.1)=8"};
    cr_assert_not(parameter_allows(&c, "", pins, 6));
    cr_assert_not(parameter_allows(&c, "max_staged=399", pins, 6));
    cr_assert(parameter_allows(&c, "max_staged=400", pins, 6));
    cr_assert_not(parameter_allows(&c, "max_staged=400,max_temporary=16383", pins, 6));
}
