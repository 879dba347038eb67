/* Pointers to what the copies of unrolled code access:
 *
 *     const __global float *x_at0 = &x[c0 * 3136 + h1 * 392 + w0];
 *     x_load_0 = x_at0[0];                     and not x[c0 * 3136 + h1 * 392 + w0],
 *     x_load_1 = x_at0[56];                    x[c0 * 3136 + h1 * 392 + w0 + 56],
 *     x_load_2 = x_at0[112];                   x[c0 * 3136 + h1 * 392 + w0 + 112]
 *
 * A pointer is declared before the statement that needs it first, and holds to the end of the braces around
 * it. It may point outside of its array: only the elements that it is indexed by are within. Offsets that are
 * cut off at an extent, min(i0 * 4 + 1, 52), differ between copies and are written out.
 *
 * Kernels with loads under conditions, such as those of a padded border, are written so: NVIDIA's compiler
 * computes each offset under a condition by itself. Of four kernels of a layer of 3 x 3 one took 0.58 of the
 * time and the others 0.98 to 1.00; they were built in 0.67 to 0.94 of the time. Of five kernels without
 * conditions two took 2 and 4 % longer: these have no pointers (experiments/results/2026-11-29-builds.md). */
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

/* Whether copies have a part of an offset in common: not if it is cut off in each of them at another place.
 */
static bool is_common(const struct index_expr *offset)
{
    for (unsigned i = 0; i < offset->n_terms; i++)
        if (offset->terms[i].atom.kind == INDEX_MIN || offset->terms[i].atom.kind == INDEX_MAX) return false;
    return offset->n_terms > 0;
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
    if (!e->declarations || !e->copies || !is_common(offset)) return NULL;
    if (cg_is_private(e->p, x->region) || cg_is_from_data(e->p, offset)) return NULL;
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
