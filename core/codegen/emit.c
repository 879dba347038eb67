/* Control flow and frame of the kernel text: arguments, local memory, ids, loops, predicates, barriers.
 * Dimensions of kind UNROLL are expanded here; VECTOR dimensions become the lanes of statements. The text is
 * deterministic. */
#include "core/codegen/emit.h"

#include <stdlib.h>

#include "core/base/arena.h"

static void line(struct cg_emitter *e, const char *text)
{
    strbuf_indent(e->out, e->indent);
    strbuf_printf(e->out, "%s\n", text);
}

/* ---- the tree ---- */

static void emit_node(struct cg_emitter *e, struct cg_node *n);

static void emit_declarations(struct cg_emitter *e, const struct cg_node *scope)
{
    for (uint32_t i = 0; i < e->p->bb->n_insts; i++) {
        const struct cg_value *v = &e->p->values[i];
        if (v->scope == scope && !v->declared_inline && e->p->bb->insts[i].kind != BB_STEP)
            cg_emit_declaration(e, v);
    }
}

static void emit_children(struct cg_emitter *e, const struct cg_node *n)
{
    for (unsigned i = 0; i < n->n_children; i++)
        emit_node(e, n->children[i]);
}

static void emit_dim_names(struct cg_emitter *e, const struct cg_node *n)
{
    strbuf_add(e->out, " /*");
    for (unsigned i = 0; i < n->n_dims; i++)
        strbuf_printf(e->out, " %s", e->p->bb->dims[n->dims[i]].name);
    strbuf_add(e->out, " */\n");
}

static void emit_loop(struct cg_emitter *e, struct cg_node *n)
{
    const char *name = e->names->node[n->id];
    strbuf_indent(e->out, e->indent);
    strbuf_printf(e->out, "for (%s %s = 0; %s < %lld; ++%s) {", n->size > INT32_MAX ? "long" : "int", name,
                  name, (long long)n->size, name);
    emit_dim_names(e, n);
    e->indent++;
    emit_declarations(e, n);
    emit_children(e, n);
    e->indent--;
    line(e, "}");
}

static void emit_unrolled(struct cg_emitter *e, struct cg_node *n)
{
    for (int64_t i = 0; i < n->size; i++) {
        cg_fix(e, n, i);
        emit_children(e, n);
    }
    cg_unfix(e, n);
}

static void emit_vector(struct cg_emitter *e, struct cg_node *n)
{
    e->lane = n;
    emit_children(e, n);
    e->lane = NULL;
}

/* const int m1 = (int)((uint)get_local_id(0) / 2u % 16u); */
static void emit_id(struct cg_emitter *e, const struct cg_node *n)
{
    static const char *const functions[] = {
        [BB_THREAD] = "get_local_id", [BB_BLOCK] = "get_group_id", [BB_GLOBAL] = "get_global_id"};
    const char *type = n->size > INT32_MAX ? "long" : "int",
               *id = n->run_extent > UINT32_MAX ? "ulong" : "uint";
    strbuf_indent(e->out, e->indent);
    strbuf_printf(e->out, "const %s %s = (%s)((%s)%s(%u)", type, e->names->node[n->id], type, id,
                  functions[n->kind], n->axis);
    if (n->inner > 1) strbuf_printf(e->out, " / %lldu", (long long)n->inner);
    if (n->inner * n->size < n->run_extent) strbuf_printf(e->out, " %% %lldu", (long long)n->size);
    strbuf_add(e->out, ");");
    emit_dim_names(e, n);
}

static void open_threads(struct cg_emitter *e, const struct cg_node *n)
{
    bool guard = n->run_extent < e->p->local_size[n->axis] || e->p->options.no_control_flow_simplification;
    strbuf_indent(e->out, e->indent++);
    if (guard) strbuf_printf(e->out, "if (get_local_id(%u) < %lld) ", n->axis, (long long)n->run_extent);
    strbuf_add(e->out, "{\n");
}

static void emit_hardware(struct cg_emitter *e, struct cg_node *n)
{
    bool braces = n->kind == BB_THREAD && !n->fused;
    if (braces) {
        open_threads(e, n);
        emit_declarations(e, n);
    }
    emit_id(e, n);
    emit_children(e, n);
    if (!braces) return;
    e->indent--;
    line(e, "}");
}

static void emit_barrier(struct cg_emitter *e, const struct cg_node *n)
{
    const char *both = n->fence_local ? "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"
                                      : "barrier(CLK_GLOBAL_MEM_FENCE);";
    line(e, n->fence_global ? both : "barrier(CLK_LOCAL_MEM_FENCE);");
}

static void emit_dim(struct cg_emitter *e, struct cg_node *n)
{
    switch (n->kind) {
    case BB_LOOP:
        emit_loop(e, n);
        break;
    case BB_UNROLL:
        emit_unrolled(e, n);
        break;
    case BB_VECTOR:
        emit_vector(e, n);
        break;
    case BB_THREAD:
    case BB_BLOCK:
    case BB_GLOBAL:
        emit_hardware(e, n);
        break;
    }
}

static void emit_node(struct cg_emitter *e, struct cg_node *n)
{
    switch (n->type) {
    case CG_DIM:
        emit_dim(e, n);
        break;
    case CG_INST:
        cg_emit_statement(e, n);
        break;
    case CG_BARRIER:
        emit_barrier(e, n);
        break;
    case CG_ROOT:
        break;
    }
}

/* ---- the frame ---- */

static bool uses_type(const struct backbone *bb, enum scalar_type t)
{
    for (unsigned i = 0; i < bb->n_buffers; i++)
        if (bb->buffers[i].type == t) return true;
    for (unsigned i = 0; i < bb->n_insts; i++)
        if (bb->insts[i].type == t) return true;
    return false;
}

static bool is_temporary(const struct cg_region *r)
{
    return r->used && r->space == BB_MEM_GLOBAL;
}

/* Temporaries are written by one work-item and read by another, so they are not `restrict`: NVIDIA's compiler
 * then moves a load above the barrier where the work-item itself has not stored. */
static void emit_arguments(struct cg_emitter *e)
{
    const struct backbone *bb = e->p->bb;
    const char *sep = "";
    for (unsigned i = 0; i < bb->n_buffers; i++, sep = ",\n                   ")
        strbuf_printf(e->out, "%s__global %s%s *restrict %s", sep, bb->buffers[i].output ? "" : "const ",
                      scalar_type_name(bb->buffers[i].type), e->names->buffer[i]);
    for (unsigned i = 0; i < bb->n_regions; i++)
        if (is_temporary(&e->p->regions[i]))
            strbuf_printf(e->out, "%s__global %s *%s", sep, scalar_type_name(bb->regions[i].type),
                          e->names->region[i]);
}

static void emit_signature(struct cg_emitter *e)
{
    const int64_t *n = e->p->local_size;
    if (uses_type(e->p->bb, SCALAR_DOUBLE)) line(e, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable");
    if (uses_type(e->p->bb, SCALAR_HALF)) line(e, "#pragma OPENCL EXTENSION cl_khr_fp16 : enable");
    strbuf_add(e->out, "__kernel ");
    if (!e->p->global_ids)
        strbuf_printf(e->out, "__attribute__((reqd_work_group_size(%lld, %lld, %lld)))\n", (long long)n[0],
                      (long long)n[1], (long long)n[2]);
    strbuf_add(e->out, "void thresh_kernel(");
    emit_arguments(e);
    strbuf_add(e->out, ")\n{\n");
}

/* Local arrays; a temporary in global memory starts at the part of this group. */
static void emit_regions(struct cg_emitter *e)
{
    const int64_t *g = e->p->groups;
    const char *id = e->p->global_ids ? "get_global_id" : "get_group_id";
    for (unsigned i = 0; i < e->p->bb->n_regions; i++) {
        const struct cg_region *r = &e->p->regions[i];
        if (!r->used) continue;
        strbuf_indent(e->out, e->indent);
        if (r->space == BB_MEM_LOCAL)
            strbuf_printf(e->out, "__local %s %s[%lld] __attribute__((aligned(%d)));\n",
                          scalar_type_name(e->p->bb->regions[i].type), e->names->region[i],
                          (long long)r->elements, CG_ALIGNMENT);
        else
            strbuf_printf(e->out, "%s += (%s(0) + %lld * (%s(1) + %lld * %s(2))) * %lld;\n",
                          e->names->region[i], id, (long long)g[0], id, (long long)g[1], id,
                          (long long)r->elements);
    }
}

static void describe_launch(const struct cg_program *p, struct cg_kernel *out)
{
    for (unsigned g = 0; g < CG_AXES; g++) {
        out->global[g] = (size_t)(p->groups[g] * p->local_size[g]);
        out->local[g] = p->global_ids ? 0 : (size_t)p->local_size[g];
    }
    out->barriers = p->n_barriers;
    for (unsigned i = 0; i < p->bb->n_regions; i++) {
        const struct cg_region *r = &p->regions[i];
        if (r->used && r->space == BB_MEM_LOCAL)
            out->local_bytes += (size_t)r->elements * scalar_type_bytes(p->bb->regions[i].type);
    }
}

static void describe_arguments(const struct cg_program *p, struct cg_kernel *out)
{
    const struct backbone *bb = p->bb;
    size_t groups = (size_t)(p->groups[0] * p->groups[1] * p->groups[2]);
    out->args = base_calloc(bb->n_buffers + bb->n_regions + 1, sizeof *out->args);
    for (unsigned i = 0; i < bb->n_buffers; i++)
        out->args[out->n_args++] =
            (struct cg_arg){i, (size_t)bb->buffers[i].elements * scalar_type_bytes(bb->buffers[i].type)};
    for (unsigned i = 0; i < bb->n_regions; i++) {
        size_t bytes = (size_t)p->regions[i].elements * scalar_type_bytes(bb->regions[i].type);
        if (is_temporary(&p->regions[i])) out->args[out->n_args++] = (struct cg_arg){BB_NONE, groups * bytes};
    }
}

void cg_emit(const struct cg_program *p, struct cg_kernel *out)
{
    struct strbuf text = {0};
    struct arena *scratch = arena_new();
    struct cg_emitter e = {.p = p, .scratch = scratch, .out = &text};
    e.names = cg_make_names(p, scratch);
    e.fixed = ARENA_ARRAY(scratch, const struct index_expr *, p->n_nodes);
    e.digit = ARENA_ARRAY(scratch, int64_t, p->n_nodes);
    emit_signature(&e);
    e.indent = 1;
    emit_regions(&e);
    emit_declarations(&e, p->root);
    emit_children(&e, p->root);
    strbuf_add(&text, "}\n");
    arena_free(scratch);
    *out = (struct cg_kernel){.name = base_strdup("thresh_kernel")};
    out->source = strbuf_take(&text);
    describe_launch(p, out);
    describe_arguments(p, out);
}

void cg_kernel_free(struct cg_kernel *k)
{
    free(k->source);
    free(k->name);
    free(k->args);
    *k = (struct cg_kernel){0};
}
