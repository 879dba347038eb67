/* Which target a device is, and which workarounds a driver's version needs.
 *
 * Versions are compared number by number: "3.1+debian" is 3, 1; it is not below "3" and not above "3.1", and
 * "580.159.04" is above "580.2". */
#include "core/codegen/target.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/panic.h"

enum { MOST_ARGUMENTS = 9, EVERY_WORKAROUND = (1 << CG_WORKAROUND_COUNT) - 1 };

static const struct cg_workaround_info workarounds[] = {
#define X(id, name, platform, first, last, test, what) {name, platform, first, last, what},
    CG_WORKAROUNDS(X)
#undef X
};

static const struct cg_dialect *const dialects[CG_DIALECTS] = {[CG_OPENCL] = &cg_opencl};

/* ---- versions ---- */

static unsigned long next_number(const char **text)
{
    char *end;
    while (**text && !isdigit((unsigned char)**text))
        ++*text;
    unsigned long number = **text ? strtoul(*text, &end, 10) : 0;
    if (**text) *text = end;
    return number;
}

/* Below 0, 0 or above 0, as far as `rule` has numbers. */
static int compare_version(const char *version, const char *rule)
{
    while (*rule) {
        unsigned long a = next_number(&version), b = next_number(&rule);
        if (a != b) return a < b ? -1 : 1;
    }
    return 0;
}

/* A text without a number may be any version. */
static bool is_between(const char *version, const char *first, const char *last)
{
    if (!strpbrk(version, "0123456789")) return true;
    return compare_version(version, first) >= 0 && compare_version(version, last) <= 0;
}

uint32_t cg_workarounds_off(const char *platform, const char *driver)
{
    uint32_t off = EVERY_WORKAROUND;
    for (unsigned w = 0; w < CG_WORKAROUND_COUNT; w++) {
        const struct cg_workaround_info *x = &workarounds[w];
        if (!strcmp(platform, x->platform) && is_between(driver, x->first, x->last)) off &= ~(1u << w);
    }
    return off;
}

/* NVIDIA's compiler takes the built-in functions and ignores them: loads are plain, stores are no longer
 * known to be to global memory (PTX of driver 580.159.04: ld.global.f32, st.f32). */
enum cg_answer cg_streams(const char *platform, const char *driver)
{
    static const struct {
        const char *platform, *first, *last;
        enum cg_answer answer;
    } seen[] = {{"Portable Computing Language", "3", "3", CG_YES}, {"NVIDIA CUDA", "0", "", CG_NO}};
    for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++)
        if (!strcmp(platform, seen[i].platform) && is_between(driver, seen[i].first, seen[i].last))
            return seen[i].answer;
    return CG_ASK;
}

bool cg_fences(const char *platform)
{
    return !strcmp(platform, "Portable Computing Language") || !strcmp(platform, "NVIDIA CUDA") ||
           !strcmp(platform, "Oclgrind");
}

const struct cg_workaround_info *cg_workaround_info(enum cg_workaround w)
{
    CHECK(w < CG_WORKAROUND_COUNT);
    return &workarounds[w];
}

/* ---- targets ---- */

struct cg_target cg_target_of(const struct bb_device *device)
{
    CHECK(device->dialect < CG_DIALECTS);
    return (struct cg_target){dialects[device->dialect], device->workarounds_off, device->max_work_group,
                              device->half_bits, device->gpu};
}

bool cg_needs(const struct cg_target *t, enum cg_workaround w)
{
    return !(t->workarounds_off >> w & 1u);
}

bool cg_has_width(const struct cg_target *t, int64_t width)
{
    bool power_of_two = width > 1 && (width & (width - 1)) == 0;
    return power_of_two && width <= UINT32_MAX && (t->dialect->vector_widths & (unsigned)width);
}

const struct cg_type_text *cg_type_of(const struct cg_target *t, enum scalar_type type)
{
    return type == SCALAR_HALF && t->half_bits ? &t->dialect->half_bits : &t->dialect->types[type];
}

void cg_fill(struct strbuf *out, const char *format, const char *const *args)
{
    while (*format) {
        size_t plain = strcspn(format, "$");
        strbuf_addn(out, format, plain);
        format += plain;
        if (!*format) return;
        unsigned i = (unsigned)(format[1] - '1');
        CHECK(i < MOST_ARGUMENTS);
        strbuf_add(out, args[i]);
        format += 2;
    }
}
