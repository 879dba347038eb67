/* Pointers to what the copies of unrolled code access:
 *
 *     const __global float *x_at0 = &x[c0 * 3136 + h1 * 392 + w0];
 *     x_load_0 = x_at0[0];                     and not x[c0 * 3136 + h1 * 392 + w0],
 *     x_load_1 = x_at0[56];                    x[c0 * 3136 + h1 * 392 + w0 + 56],
 *     x_load_2 = x_at0[112];                   x[c0 * 3136 + h1 * 392 + w0 + 112]
 *
 * A pointer is declared before the statement that needs it first, and holds to the end of the braces around
 * it. Beyond a border it may point outside of its array: nothing is read there.
 *
 * Kernels with loads under conditions, such as those of a padded border, are written so: NVIDIA's compiler
 * computes each offset under a condition by itself. Of a layer of 3 x 3 the text above has a quarter of the
 * instructions for addresses, and is built in two thirds of the time. Kernels without conditions gain
 * nothing: of six products two took 2 and 4 % longer (experiments/results/2026-11-29-builds.md). */
#include "core/codegen/emit.h"

#include <string.h>

#include "core/base/arena.h"

struct cg_pointer {
    const char *array, *offset, *name;
    int indent; /* of its declaration */
    struct cg_pointer *before;
};

bool cg_needs_pointers(const struct cg_program *p)
{
    bool needs = false;
    for (uint32_t i = 0; i < p->bb->n_insts; i++) {
        bool load = p->bb->insts[i].kind == BB_LOAD || p->bb->insts[i].kind == BB_COPY_LOAD;
        needs |= load && p->inst_node[i] && (p->access[i].n_guards > 0 || p->inst_node[i]->n_guards > 0);
    }
    return needs && p->target.brief;
}

static bool is_from_data(const struct cg_emitter *e, const struct index_expr *x)
{
    bool from = false;
    for (uint32_t v = e->p->first_datum; v < cg_variables(e->p); v++)
        from |= index_mentions(x, v);
    return from;
}

/* "const __global float" */
static const char *element_type(struct cg_emitter *e, const struct cg_access *x)
{
    const struct cg_dialect *d = e->dialect;
    const struct backbone *bb = e->p->bb;
    bool buffer = x->buffer != BB_NONE, input = buffer && !bb->buffers[x->buffer].output;
    bool local = !buffer && e->p->regions[x->region].space == BB_MEM_LOCAL;
    enum scalar_type type = buffer ? bb->buffers[x->buffer].type : bb->regions[x->region].type;
    const char *text =
        CG_TEXT(e, "$1 $2", local ? d->local_space : d->global_space, cg_type_of(&e->p->target, type)->name);
    return input ? CG_TEXT(e, "const $1", text) : text;
}

static const char *declare(struct cg_emitter *e, const struct cg_access *x, const char *array,
                           const char *offset)
{
    struct cg_pointer *p = ARENA_NEW(e->scratch, struct cg_pointer);
    const char *name = CG_TEXT(e, "$1" CG_POINTER "$2", array, cg_number(e, e->n_pointers++));
    *p = (struct cg_pointer){array, offset, name, e->indent, e->pointers};
    e->pointers = p;
    strbuf_indent(e->declarations, e->indent);
    strbuf_printf(e->declarations, "%s *%s = &%s[%s];\n", element_type(e, x), name, array, offset);
    return name;
}

const char *cg_pointer_text(struct cg_emitter *e, const struct cg_access *x, const char *array,
                            const struct index_expr *offset)
{
    if (!e->declarations || !e->copies || offset->n_terms == 0) return NULL;
    if (cg_is_private(e->p, x->region) || is_from_data(e, offset)) return NULL;
    const char *text = cg_index_text(e, index_shift(e->scratch, offset, -offset->constant));
    for (const struct cg_pointer *p = e->pointers; p; p = p->before)
        if (p->array == array && !strcmp(p->offset, text)) return p->name;
    return declare(e, x, array, text);
}

void cg_drop_pointers(struct cg_emitter *e)
{
    while (e->pointers && e->pointers->indent > e->indent)
        e->pointers = e->pointers->before;
}
