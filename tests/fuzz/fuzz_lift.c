/* Fuzzing of the Lift front end: no text may crash it or keep it busy, and what it accepts prints to a text
 * that it accepts too. Built with libFuzzer by `make fuzz`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Gives every size parameter the same value. */
static bool bind(struct lift_program *p, int64_t value, struct arena *a, struct diag *d)
{
    struct lift_size_value *values = ARENA_ARRAY(a, struct lift_size_value, p->n_sizes + 1);
    for (unsigned i = 0; i < p->n_sizes; i++)
        values[i] = (struct lift_size_value){p->sizes[i].name, value};
    return lift_bind(p, values, p->n_sizes, a, d);
}

static void check_print(const struct lift_program *p)
{
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    struct strbuf text = {0};
    lift_print(p, &text);
    struct source again = {"printed.lift", text.text, text.length};
    if (!lift_parse(&again, a, d)) {
        fprintf(stderr, "printed as:\n%s\n", text.text);
        diag_print(d, stderr);
        abort();
    }
    strbuf_free(&text);
    diag_free(d);
    arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (memchr(bytes, 0, n)) return 0;
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    struct source source = {"fuzz.lift", arena_strndup(a, (const char *)bytes, n), n};
    struct lift_program *p = lift_parse(&source, a, d);
    if (p && bind(p, 4, a, d)) check_print(p);
    diag_free(d);
    arena_free(a);
    return 0;
}
