/* The codec: every message kind survives a round trip; no byte string does harm. The messages are filled from
 * the field tables with seeded random values, so that a new field is tested without a change here. */
#include "core/codec/message.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/pcg32.h"
#include "core/base/utf8.h"

static uint64_t codec_random64(struct pcg32 *rng)
{
    uint64_t high = pcg32_next(rng);
    return (high << 32 | pcg32_next(rng)) >> pcg32_below(rng, 64);
}

static const char *codec_random_text(struct pcg32 *rng, struct arena *a)
{
    size_t n = pcg32_below(rng, 300);
    char *text = arena_alloc(a, n + 1);
    for (size_t i = 0; i < n; i++)
        text[i] = (char)(1 + pcg32_below(rng, 255));
    utf8_clean(text);
    return text;
}

static struct message_ints codec_random_ints(struct pcg32 *rng, struct arena *a)
{
    size_t n = pcg32_below(rng, 40);
    int64_t *items = ARENA_ARRAY(a, int64_t, n);
    for (size_t i = 0; i < n; i++) {
        items[i] = (int64_t)(codec_random64(rng) >> 1);
        if (pcg32_below(rng, 2)) items[i] = -items[i] - 1;
    }
    return (struct message_ints){items, n};
}

static struct message_doubles codec_random_doubles(struct pcg32 *rng, struct arena *a)
{
    size_t n = pcg32_below(rng, 40);
    double *items = ARENA_ARRAY(a, double, n);
    for (size_t i = 0; i < n; i++)
        items[i] = pcg32_unit(rng) * 1e9 - 5e8;
    return (struct message_doubles){items, n};
}

static void codec_fill_field(const struct message_field *f, void *at, struct pcg32 *rng, struct arena *a)
{
    switch (f->kind) {
    case MESSAGE_FIELD_STRING:
        *(const char **)at = codec_random_text(rng, a);
        break;
    case MESSAGE_FIELD_COUNT:
        *(uint64_t *)at = codec_random64(rng);
        break;
    case MESSAGE_FIELD_REAL:
        *(double *)at = pcg32_unit(rng) * 1e9;
        break;
    case MESSAGE_FIELD_FLAG:
        *(bool *)at = pcg32_below(rng, 2);
        break;
    case MESSAGE_FIELD_INTS:
        *(struct message_ints *)at = codec_random_ints(rng, a);
        break;
    case MESSAGE_FIELD_DOUBLES:
        *(struct message_doubles *)at = codec_random_doubles(rng, a);
        break;
    case MESSAGE_FIELD_KIND_COUNT:
        cr_assert_fail("no such kind");
    }
}

static struct message codec_random_message(enum message_kind kind, struct pcg32 *rng, struct arena *a)
{
    struct message m = {.kind = kind};
    const struct message_field *fields;
    size_t n = message_fields(kind, &fields);
    for (size_t i = 0; i < n; i++)
        codec_fill_field(&fields[i], (char *)&m + fields[i].offset, rng, a);
    return m;
}

static bool codec_arrays_equal(size_t n, const void *x, size_t m, const void *y)
{
    return n == m && (n == 0 || memcmp(x, y, n * 8) == 0);
}

static bool codec_field_equal(enum message_field_kind kind, const void *x, const void *y)
{
    const struct message_ints *xi = x, *yi = y;
    const struct message_doubles *xd = x, *yd = y;
    switch (kind) {
    case MESSAGE_FIELD_STRING:
        return strcmp(*(const char *const *)x, *(const char *const *)y) == 0;
    case MESSAGE_FIELD_COUNT:
        return *(const uint64_t *)x == *(const uint64_t *)y;
    case MESSAGE_FIELD_REAL:
        return memcmp(x, y, sizeof(double)) == 0;
    case MESSAGE_FIELD_FLAG:
        return *(const bool *)x == *(const bool *)y;
    case MESSAGE_FIELD_INTS:
        return codec_arrays_equal(xi->n, xi->items, yi->n, yi->items);
    case MESSAGE_FIELD_DOUBLES:
        return codec_arrays_equal(xd->n, xd->items, yd->n, yd->items);
    case MESSAGE_FIELD_KIND_COUNT:
        break;
    }
    return false;
}

static bool codec_equal(const struct message *x, const struct message *y)
{
    const struct message_field *fields;
    size_t n = message_fields(x->kind, &fields);
    if (x->kind != y->kind) return false;
    for (size_t i = 0; i < n; i++) {
        size_t at = fields[i].offset;
        if (!codec_field_equal(fields[i].kind, (const char *)x + at, (const char *)y + at)) return false;
    }
    return true;
}

Test(codec, every_message_survives_a_round_trip)
{
    struct pcg32 rng = pcg32_seed(1, 0);
    for (unsigned i = 0; i < 40 * MESSAGE_KIND_COUNT; i++) {
        struct arena *a = arena_new();
        struct message m = codec_random_message(i % MESSAGE_KIND_COUNT, &rng, a), back;
        size_t bytes;
        const char *why = "";
        void *data = message_encode(&m, &bytes);
        cr_assert(message_decode(data, bytes, a, &back, &why), "%s: %s", message_name(m.kind), why);
        cr_assert(codec_equal(&m, &back), "%s", message_name(m.kind));
        free(data);
        arena_free(a);
    }
}

Test(codec, random_bytes_give_an_error_and_no_harm)
{
    struct pcg32 rng = pcg32_seed(2, 0);
    for (unsigned i = 0; i < 20000; i++) {
        struct arena *a = arena_new();
        uint8_t data[64];
        size_t n = pcg32_below(&rng, sizeof data + 1);
        for (size_t j = 0; j < n; j++)
            data[j] = (uint8_t)pcg32_next(&rng);
        struct message m;
        const char *why = NULL;
        cr_assert(!message_decode(data, n, a, &m, &why) && why);
        arena_free(a);
    }
}

Test(codec, damaged_messages_are_decoded_or_refused)
{
    struct pcg32 rng = pcg32_seed(3, 0);
    for (unsigned i = 0; i < 5000; i++) {
        struct arena *a = arena_new();
        struct message m = codec_random_message(i % MESSAGE_KIND_COUNT, &rng, a), back;
        size_t bytes;
        const char *why = NULL;
        uint8_t *data = message_encode(&m, &bytes);
        for (unsigned hits = 1 + pcg32_below(&rng, 3); hits; hits--)
            data[pcg32_below(&rng, (uint32_t)bytes)] = (uint8_t)pcg32_next(&rng);
        cr_assert(message_decode(data, bytes, a, &back, &why) || why);
        free(data);
        arena_free(a);
    }
}

Test(codec, every_prefix_is_refused)
{
    struct arena *a = arena_new();
    struct pcg32 rng = pcg32_seed(4, 0);
    struct message m = codec_random_message(MESSAGE_JOB, &rng, a), back;
    size_t bytes;
    const char *why;
    void *data = message_encode(&m, &bytes);
    for (size_t n = 0; n < bytes; n++) {
        uint8_t *exact = base_malloc(n + 1);
        memcpy(exact, data, n);
        cr_assert(!message_decode(exact, n, a, &back, &why));
        free(exact);
    }
    free(data);
    arena_free(a);
}

Test(codec, announced_counts_and_depth_are_bounded)
{
    static const uint8_t huge_array[] = {0xdd, 0xff, 0xff, 0xff, 0xff};
    static const uint8_t huge_map[] = {0xdf, 0xff, 0xff, 0xff, 0xff, 0x00};
    static const uint8_t huge_string[] = {0xdb, 0x7f, 0xff, 0xff, 0xff, 'a'};
    static const uint8_t deep[] = {0x91, 0x91, 0x91, 0x91, 0x91, 0x91, 0x00};
    static const uint8_t trailing[] = {0x80, 0x80};
    const char *why;
    cr_assert(!codec_check(huge_array, sizeof huge_array, &why));
    cr_assert(!codec_check(huge_map, sizeof huge_map, &why));
    cr_assert(!codec_check(huge_string, sizeof huge_string, &why));
    cr_assert(!codec_check(deep, sizeof deep, &why));
    cr_assert(!codec_check(trailing, sizeof trailing, &why));
    cr_assert(!codec_check("", 0, &why));
}

Test(codec, strings_are_utf8)
{
    struct arena *a = arena_new();
    struct message m = {.kind = MESSAGE_BYE,
                        .bye = {"Gr\xc3\xb6\xc3\x9f"
                                "e"}},
                   out;
    const char *why;
    size_t bytes;
    char *data = message_encode(&m, &bytes);
    cr_assert(message_decode(data, bytes, a, &out, &why), "%s", why);
    cr_assert_str_eq(out.bye.reason, m.bye.reason);
    *strchr(data, '\xc3') = '\xff';
    cr_assert_not(message_decode(data, bytes, a, &out, &why));
    cr_assert_str_eq(why, "invalid string: not UTF-8");
    free(data);
    arena_free(a);
}
