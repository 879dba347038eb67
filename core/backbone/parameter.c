/* Parameters of gpu.space that a user may set: those that have a default, since they express a guess about
 * speed, or what is allowed. The others are what a device can do. Examples: `--param
 * max_unroll=4096,global_from=0` allows more unrolling, and staged tiles of any size in global memory;
 * `--allow tf32` is `--param tf32=1`. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/backbone/backbone.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "gpu.space.h"

enum { TEXT_BYTES = 128 };
#define MOST_VALUE (INT64_C(1) << 40)

bool bb_parameter_valid(const struct bb_parameter *p)
{
    return p->number < (uint32_t)space_def_gpu.n_parameters &&
           space_def_gpu.parameters[p->number].has_default && p->value >= 0 && p->value <= MOST_VALUE;
}

void bb_parameter_put(const struct bb_parameter *p, struct space_data *data)
{
    space_data_parameter(data, space_def_gpu.parameters[p->number].name, p->value);
}

/* The number of the parameter of that name; that of the parameters if there is none. */
static uint32_t find_parameter(const char *name)
{
    uint32_t i = 0, n = (uint32_t)space_def_gpu.n_parameters;
    while (i < n && strcmp(space_def_gpu.parameters[i].name, name) != 0)
        i++;
    return i;
}

static void refuse_name(const char *name, uint32_t number, struct diag *d)
{
    struct strbuf known = {0};
    for (int i = 0; i < space_def_gpu.n_parameters; i++)
        if (space_def_gpu.parameters[i].has_default)
            strbuf_printf(&known, "%s%s", known.length ? ", " : "", space_def_gpu.parameters[i].name);
    if (number < (uint32_t)space_def_gpu.n_parameters)
        diag_plain(d, "--param: '%s' is a limit of the device and cannot be set; parameters that can: %s",
                   name, known.text);
    else
        diag_plain(d, "--param: the space of Lift programs has no parameter '%s'; parameters: %s", name,
                   known.text);
    strbuf_free(&known);
}

/* Sets one parameter; a later value replaces an earlier one. */
static void set(struct bb_options *o, struct bb_parameter p)
{
    unsigned i = 0;
    while (i < o->n_parameters && o->parameters[i].number != p.number)
        i++;
    o->parameters[i] = p;
    if (i == o->n_parameters) o->n_parameters++;
}

/* Parses "NAME=N", `item`, which is overwritten. */
static bool parse_one(char *item, struct bb_options *o, struct diag *d)
{
    char *equals = strchr(item, '='), *end = NULL;
    errno = 0;
    long long value = equals ? strtoll(equals + 1, &end, 10) : 0;
    if (!equals || end == equals + 1 || *end || errno || value < 0 || value > MOST_VALUE) {
        diag_plain(d, "--param: '%s' is malformed; write NAME=NUMBER, with a number from 0 to 2^40", item);
        return false;
    }
    *equals = 0;
    struct bb_parameter p = {find_parameter(item), value};
    bool valid = bb_parameter_valid(&p);
    if (valid)
        set(o, p);
    else
        refuse_name(item, p.number, d);
    return valid;
}

/* ---- what is allowed ---- */

static const char *const allowances[] = {"tf32"};
enum { ALLOWANCES = sizeof allowances / sizeof allowances[0] };

/* The n letters at `text`. */
static bool allow_one(const char *text, size_t n, struct bb_options *o, struct diag *d)
{
    struct strbuf known = {0};
    for (unsigned i = 0; i < ALLOWANCES; i++) {
        if (strlen(allowances[i]) == n && !strncmp(allowances[i], text, n)) {
            set(o, (struct bb_parameter){find_parameter(allowances[i]), 1});
            return true;
        }
    }
    for (unsigned i = 0; i < ALLOWANCES; i++)
        strbuf_printf(&known, "%s%s", i ? ", " : "", allowances[i]);
    diag_plain(d, "--allow: '%.*s' cannot be allowed; possible: %s", (int)n, text, known.text);
    strbuf_free(&known);
    return false;
}

bool bb_parse_allowed(const char *text, struct bb_options *o, struct diag *d)
{
    do {
        size_t n = strcspn(text, ",");
        if (!allow_one(text, n, o, d)) return false;
        text += n + (text[n] == ',');
    } while (*text);
    return true;
}

static bool allows_tf32(const struct bb_parameter *p, unsigned n)
{
    uint32_t number = find_parameter("tf32");
    for (unsigned i = 0; i < n; i++)
        if (p[i].number == number) return p[i].value > 0;
    return false;
}

bool bb_options_allow_tf32(const struct bb_options *o)
{
    return allows_tf32(o->parameters, o->n_parameters);
}

bool bb_allows_tf32(const struct backbone *bb)
{
    return allows_tf32(bb->parameters, bb->n_parameters);
}

/* ---- texts ---- */

bool bb_parse_parameters(const char *text, struct bb_options *o, struct diag *d)
{
    char item[TEXT_BYTES];
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, ",");
        if (n >= sizeof item) {
            diag_plain(d, "--param: '%.*s' is too long", (int)n, at);
            return false;
        }
        memcpy(item, at, n);
        item[n] = 0;
        if (!parse_one(item, o, d)) return false;
        at += n + (at[n] == ',');
    }
    return true;
}

void bb_print_parameters(const struct bb_options *o, const char *prefix, struct strbuf *out)
{
    for (unsigned i = 0; i < o->n_parameters; i++)
        strbuf_printf(out, "%s%s=%" PRId64, i ? "," : prefix,
                      space_def_gpu.parameters[o->parameters[i].number].name, o->parameters[i].value);
}
