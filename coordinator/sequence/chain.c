/* Kernels of parts as one launch (chain.h). */
#include "coordinator/sequence/chain.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/strbuf.h"

static bool in_name(char c)
{
    return c == '_' || isalnum((unsigned char)c);
}

/* Appends the text with the kernel's name, as a whole word, followed by the number of its part. */
static void add_renamed(const struct cg_kernel *k, unsigned number, struct strbuf *out)
{
    size_t n = strlen(k->name);
    for (const char *at = k->source; *at;) {
        const char *found = strstr(at, k->name);
        size_t before = found ? (size_t)(found - at) + n : strlen(at);
        strbuf_addn(out, at, before);
        if (!found) return;
        bool whole = (found == k->source || !in_name(found[-1])) && !in_name(found[n]);
        if (whole) strbuf_printf(out, "_%u", number);
        at += before;
    }
}

/* The text of all parts. */
static char *join_texts(const struct lift_sequence *s, const struct cg_kernel *const *parts)
{
    struct strbuf text = {0};
    for (unsigned i = 0; i < s->n_parts; i++) {
        strbuf_printf(&text, "%s/* Part %u: %s. */\n", i ? "\n" : "", i + 1, s->parts[i].name);
        add_renamed(parts[i], i + 1, &text);
    }
    return strbuf_take(&text);
}

static char *kernel_name(const char *name, unsigned number)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "%s_%u", name, number);
    return strbuf_take(&text);
}

/* The kernel of a step: that of its part, with buffers of the whole. */
static struct cg_kernel step_kernel(const struct lift_step *step, const struct cg_kernel *part)
{
    struct cg_kernel k = *part;
    k.source = NULL;
    k.name = kernel_name(part->name, step->part + 1);
    k.args = base_calloc(k.n_args + 1, sizeof *k.args);
    for (unsigned i = 0; i < k.n_args; i++) {
        k.args[i] = part->args[i];
        if (k.args[i].buffer != BB_NONE) k.args[i].buffer = step->buffers[k.args[i].buffer];
    }
    return k;
}

void sequence_chain_make(const struct lift_sequence *s, const struct cg_kernel *const *parts,
                         struct sequence_chain *out)
{
    *out = (struct sequence_chain){.n = s->n_steps, .kernels = base_calloc(s->n_steps, sizeof *out->kernels)};
    for (unsigned i = 0; i < s->n_steps; i++) {
        out->kernels[i] = step_kernel(&s->steps[i], parts[s->steps[i].part]);
        out->kernels[i].next = i + 1 < s->n_steps ? &out->kernels[i + 1] : NULL;
    }
    out->kernels[0].source = join_texts(s, parts);
}

void sequence_chain_clear(struct sequence_chain *c)
{
    for (unsigned i = 0; i < c->n; i++)
        cg_kernel_free(&c->kernels[i]);
    free(c->kernels);
    *c = (struct sequence_chain){0};
}
