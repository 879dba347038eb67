/* Places in JSON texts: those of random texts are known to who writes them; those of broken texts are counted
 * out. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/json_text.h"
#include "core/base/pcg32.h"
#include "core/base/strbuf.h"

/* A text as it is written, with what has to be found in it so far. */
struct json_text_writer {
    struct strbuf text;
    struct pcg32 rng;
    uint64_t seed;
    struct json_text_place {
        struct json_step steps[8];
        unsigned depth;
        bool named;
        size_t name, value;
    } places[4000];
    size_t n;
};

static void json_text_space(struct json_text_writer *w)
{
    static const char *const spaces[] = {"", "", "", " ", "\n", "\t", "\r\n  "};
    strbuf_add(&w->text, spaces[pcg32_below(&w->rng, 7)]);
}

static void json_text_string(struct json_text_writer *w)
{
    static const char *const pieces[] = {"a", "\\\"", "\\\\", "\\u00e4", "\u00e4", "]",
                                         "}", "{",    ",",    ":",       " "};
    strbuf_add(&w->text, "\"");
    while (pcg32_below(&w->rng, 3))
        strbuf_add(&w->text, pieces[pcg32_below(&w->rng, 11)]);
    strbuf_add(&w->text, "\"");
}

static void json_text_random(struct json_text_writer *w, struct json_text_place at);

/* A list or an object of up to three values. */
static void json_text_group(struct json_text_writer *w, struct json_text_place at, bool object)
{
    uint32_t n = pcg32_below(&w->rng, 4);
    strbuf_add(&w->text, object ? "{" : "[");
    at.named = object;
    at.depth++;
    for (uint32_t i = 0; i < n; i++) {
        if (i) strbuf_add(&w->text, ",");
        json_text_space(w);
        at.steps[at.depth].index = i;
        at.name = w->text.length;
        if (object) {
            json_text_string(w);
            json_text_space(w);
            strbuf_add(&w->text, ":");
            json_text_space(w);
        }
        json_text_random(w, at);
        json_text_space(w);
    }
    strbuf_add(&w->text, object ? "}" : "]");
}

static void json_text_random(struct json_text_writer *w, struct json_text_place at)
{
    static const char *const scalars[] = {"0", "-1.5e+3", "true", "false", "null", "12345678901234567890"};
    uint32_t kind = at.depth ? pcg32_below(&w->rng, at.depth < 6 ? 6 : 3) : 3 + pcg32_below(&w->rng, 3);
    at.value = w->text.length;
    cr_assert_lt(w->n, sizeof w->places / sizeof w->places[0]);
    w->places[w->n++] = at;
    if (kind < 2)
        strbuf_add(&w->text, scalars[pcg32_below(&w->rng, 6)]);
    else if (kind == 2)
        json_text_string(w);
    else
        json_text_group(w, at, kind > 3);
}

static void json_text_find(const struct json_text_writer *w, struct json_text_place p)
{
    for (unsigned i = 1; i <= p.depth; i++)
        p.steps[i].up = &p.steps[i - 1];
    const struct json_step *at = &p.steps[p.depth];
    cr_assert_eq(json_text_value(w->text.text, at), p.value, "seed %llu", (unsigned long long)w->seed);
    if (p.depth == 0) return;
    cr_assert_eq(json_text_name(w->text.text, at), p.named ? p.name : p.value, "seed %llu",
                 (unsigned long long)w->seed);
}

Test(base, json_values_are_found_in_random_texts)
{
    struct json_text_writer *w = malloc(sizeof *w);
    size_t found = 0;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        *w = (struct json_text_writer){.rng = pcg32_seed(seed, 7), .seed = seed};
        json_text_space(w);
        json_text_random(w, (struct json_text_place){0});
        json_text_space(w);
        for (size_t i = 0; i < w->n; i++)
            json_text_find(w, w->places[i]);
        found += w->n;
        strbuf_free(&w->text);
    }
    cr_assert_gt(found, 10000);
    free(w);
}

Test(base, json_faults_are_tokens)
{
    static const struct {
        const char *text;
        size_t end, token,
            more; /* where a parser stopped; what it complains of; the same if the text ended */
    } cases[] = {
        {"", 0, 0, 0},
        {" \n", 2, 2, 2},
        {"[1 2]", 4, 3, 5},
        {"[12, abc]", 8, 5, 9},
        {"[\"a\\\"b\" x]", 9, 8, 10},
        {"[\"a\nb\"]", 3, 1, 7},
        {"{\"a\": 1 ", 7, 6, 7},
        {"{\"a\" 1}", 6, 5, 7},
        {"[1,,2]", 4, 3, 6},
        {"[1\\]", 3, 1, 4},
        {"[\"a", 3, 1, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_expect_eq(json_text_fault(cases[i].text, cases[i].end, false), cases[i].token, "case %zu: %zu", i,
                     json_text_fault(cases[i].text, cases[i].end, false));
        cr_expect_eq(json_text_fault(cases[i].text, cases[i].end, true), cases[i].more, "case %zu: %zu", i,
                     json_text_fault(cases[i].text, cases[i].end, true));
    }
}
