/* The frame and the control flow of a kernel's text: arguments, local arrays, ids, loops, predicates and
 * barriers. Each node of the loop tree becomes one piece of text:
 *
 *     block0 8: store.m.0             const int m0 = (int)((uint)get_group_id(0));
 *     thread0 16: store.m.1           if (get_local_id(0) < 16) {
 *                                         const int m1 = (int)((uint)get_local_id(0));
 *     loop 4: mad.k.0                     for (int k0 = 0; k0 < 4; ++k0) {
 *     unroll 2: mad.k.1                       the children twice, with k1 = 0 and k1 = 1; or (roll.c)
 *                                             once, in a loop that the compiler unrolls
 *     vector 4: mad.n.0                       the children once, over the lanes
 *     mad                                     mad = fma(...);
 *     barrier                                 barrier(CLK_LOCAL_MEM_FENCE);
 *     next mad.k.0                            const int k0_next = k0 + 1;
 *
 * The predicate is there only if the group has more work-items on the axis. What was rounded up ends with its
 * extent (remainder.c): `k1 < min(13 - k0 * 4, 4)` in the head of a loop, `if (i0 * 4 < 13)` around the
 * others. The words are the dialect's (target.h). The same program gives the same text, byte for byte. */
#include "core/codegen/emit.h"

#include "core/base/arena.h"

void cg_line(struct cg_emitter *e, const char *text)
{
    strbuf_indent(e->out, e->indent);
    strbuf_printf(e->out, "%s\n", text);
}

static void close_brace(struct cg_emitter *e)
{
    e->indent--;
    cg_line(e, "}");
    cg_drop_pointers(e);
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

/* Iterations of a loop: its size, or those within the extent of what was rounded up. */
static const char *end_text(struct cg_emitter *e, const struct cg_node *n)
{
    const struct index_expr *end = index_constant(e->scratch, n->size);
    struct strbuf b = {0};
    for (unsigned i = 0; i < n->n_guards; i++) {
        const struct cg_guard *g = &n->guards[i];
        int affine;
        int64_t weight = index_stride(g->of, n->id, &affine);
        const struct index_expr *own =
            index_scale(e->scratch, index_var(e->scratch, n->id, n->size), -weight);
        const struct index_expr *before = index_add(e->scratch, g->of, own);
        const struct index_expr *left =
            index_add(e->scratch, index_constant(e->scratch, g->below + weight - 1),
                      index_scale(e->scratch, before, -1));
        end = index_min(e->scratch, index_div(e->scratch, left, weight), n->size);
    }
    end = index_substitute(e->scratch, end, e->fixed, cg_variables(e->p));
    index_print(end, index_fits_int(end) ? e->names->node : e->names->wide, &b);
    const char *text = arena_strndup(e->scratch, b.text, b.length);
    strbuf_free(&b);
    return text;
}

static bool is_repeated(const struct cg_node *n)
{
    while (n && !(n->type == CG_DIM && n->kind == BB_LOOP))
        n = n->parent;
    return n != NULL;
}

/* The last iteration of a loop that copies run ahead of, without them. The barrier at its end is needed only
 * if a loop around it starts the copies again. */
static void emit_last(struct cg_emitter *e, struct cg_node *n)
{
    strbuf_indent(e->out, e->indent++);
    strbuf_add(e->out, "{");
    emit_dim_names(e, n);
    cg_fix(e, n, n->size - 1);
    emit_declarations(e, n);
    for (unsigned i = 0; i < n->n_children; i++) {
        struct cg_node *child = n->children[i];
        bool at_end = child->type == CG_BARRIER && i + 1 == n->n_children;
        if (cg_runs_ahead(child, n) || (at_end && !is_repeated(n->parent))) continue;
        emit_node(e, child);
    }
    cg_unfix(e, n);
    close_brace(e);
}

static void emit_loop(struct cg_emitter *e, struct cg_node *n)
{
    const char *name = e->names->node[n->id];
    bool peels = cg_peels(n);
    strbuf_indent(e->out, e->indent);
    strbuf_printf(e->out, "for (%s %s = 0; %s < %s; ++%s) {",
                  n->size > INT32_MAX ? e->dialect->wide_index : e->dialect->index, name, name,
                  peels ? cg_number(e, n->size - 1) : end_text(e, n), name);
    emit_dim_names(e, n);
    e->indent++;
    emit_declarations(e, n);
    emit_children(e, n);
    close_brace(e);
    if (peels) emit_last(e, n);
}

/* A loop that the compiler unrolls. */
static void emit_rolled(struct cg_emitter *e, struct cg_node *n)
{
    size_t begin = e->out->length, before = e->left_out;
    e->left_out = 0;
    cg_line(e, e->dialect->unroll);
    emit_loop(e, n);
    size_t once = e->out->length - begin + e->left_out;
    e->left_out += before + (size_t)(n->size - 1) * once;
}

static void emit_unrolled(struct cg_emitter *e, struct cg_node *n)
{
    e->copies++;
    for (int64_t i = 0; i < n->size; i++) {
        cg_fix(e, n, i);
        emit_children(e, n);
    }
    cg_unfix(e, n);
    e->copies--;
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
    const struct cg_dialect *d = e->dialect;
    const char *type = n->size > INT32_MAX ? d->wide_index : d->index,
               *id = n->run_extent > UINT32_MAX ? d->wide_id : d->id;
    strbuf_indent(e->out, e->indent);
    strbuf_printf(e->out, "const %s %s = (%s)((%s)%s", type, e->names->node[n->id], type, id,
                  cg_id_text(e, n->kind, n->axis));
    if (n->inner > 1) strbuf_printf(e->out, " / %lldu", (long long)n->inner);
    if (n->inner * n->size < n->run_extent) strbuf_printf(e->out, " %% %lldu", (long long)n->size);
    strbuf_add(e->out, ");");
    emit_dim_names(e, n);
}

static void open_threads(struct cg_emitter *e, const struct cg_node *n)
{
    strbuf_indent(e->out, e->indent++);
    if (cg_is_short(e->p, n))
        strbuf_printf(e->out, "if (%s < %lld) ", cg_id_text(e, BB_THREAD, n->axis), (long long)n->run_extent);
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
    for (unsigned i = 0; i < n->n_guards; i++) {
        strbuf_indent(e->out, e->indent++);
        strbuf_printf(e->out, "if (%s) {\n", cg_guard_text(e, &n->guards[i]));
    }
    emit_children(e, n);
    for (unsigned i = 0; i < n->n_guards; i++)
        close_brace(e);
    if (braces) close_brace(e);
}

/* In a loop that does not peel, the last iterations have nothing to copy. */
static void emit_ahead(struct cg_emitter *e, struct cg_node *n)
{
    const struct cg_node *loop = n->loop;
    const char *type = loop->size > INT32_MAX ? e->dialect->wide_index : e->dialect->index,
               *name = e->names->node[loop->id];
    const char *distance = cg_number(e, n->distance), *end = cg_number(e, loop->size - n->distance);
    cg_line(e, cg_peels(loop) ? "{" : CG_TEXT(e, "if ($1 < $2) {", name, end));
    e->indent++;
    cg_line(e, CG_TEXT(e, "const $1 $2 = $3 + $4;", type, e->names->node[n->id], name, distance));
    emit_children(e, n);
    close_brace(e);
}

/* Before the loop the index of the iteration is a constant. */
static void emit_first(struct cg_emitter *e, struct cg_node *n)
{
    for (int64_t i = 0; i < n->distance; i++) {
        cg_fix(e, n, i);
        emit_children(e, n);
        if (n->direct) cg_line(e, e->dialect->direct_end);
    }
    cg_unfix(e, n);
}

/* Copies in the background: those that an iteration starts are one group, which is committed also where it is
 * empty. At the end of the loop's body, and before the loop, all but the last `distance` - 1 groups have
 * arrived.
 */
static void emit_stage(struct cg_emitter *e, struct cg_node *n)
{
    bool start = n->loop->children[0] == n;
    if (n->first)
        emit_first(e, n);
    else if (n->n_children)
        emit_ahead(e, n);
    if (!n->direct) return;
    if (start && !n->first) cg_line(e, e->dialect->direct_end);
    if (!start) cg_line(e, CG_TEXT(e, e->dialect->direct_wait, cg_number(e, n->distance - 1)));
}

static void emit_barrier(struct cg_emitter *e, const struct cg_node *n)
{
    const struct cg_dialect *d = e->dialect;
    const char *both = n->fence_local ? d->barrier_both : d->barrier_global;
    cg_line(e, n->fence_global ? both : d->barrier_local);
}

static void emit_dim(struct cg_emitter *e, struct cg_node *n)
{
    switch (n->kind) {
    case BB_LOOP:
        emit_loop(e, n);
        break;
    case BB_UNROLL:
        if (n->matrix)
            cg_emit_matrix(e, n->matrix);
        else if (n->exchange)
            cg_emit_exchange(e, n);
        else if (n->rolled)
            emit_rolled(e, n);
        else
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
    case CG_COMBINE:
        cg_emit_combine(e, n);
        break;
    case CG_AHEAD:
        emit_stage(e, n);
        break;
    case CG_ROOT:
        break;
    }
}

/* ---- the frame ---- */

static const char *format_of(const struct cg_dialect *d, const struct bb_buffer *b)
{
    if (b->by_value) return d->value;
    return b->output ? d->output : d->input;
}

static void emit_argument(struct cg_emitter *e, const char *format, enum scalar_type type, const char *name)
{
    cg_fill(e->out, format, (const char *const[]){cg_type_of(&e->p->target, type)->name, name});
}

static void emit_arguments(struct cg_emitter *e)
{
    const struct backbone *bb = e->p->bb;
    static const char separator[] = ",\n                   ";
    for (unsigned i = 0; i < bb->n_buffers; i++) {
        const struct bb_buffer *b = &bb->buffers[i];
        if (i) strbuf_add(e->out, separator);
        emit_argument(e, format_of(e->dialect, b), b->type, e->names->buffer[i]);
    }
    for (unsigned i = 0; i < bb->n_regions; i++) {
        if (!cg_is_temporary(&e->p->regions[i])) continue;
        strbuf_add(e->out, separator);
        emit_argument(e, e->dialect->temporary, bb->regions[i].type, e->names->region[i]);
    }
    cg_emit_group_arguments(e, separator);
}

static bool uses_on_int(const struct backbone *bb, enum scalar_op op)
{
    for (unsigned i = 0; i < bb->n_insts; i++)
        for (unsigned j = 0; j < bb->insts[i].n_nodes; j++) {
            const struct bb_node *n = &bb->insts[i].nodes[j];
            if (n->kind == BB_NODE_OP && n->op == op && n->type == SCALAR_INT) return true;
        }
    return false;
}

/* The functions of an operation on int, for scalars and each width of a vector. */
static void emit_functions(struct cg_emitter *e, enum scalar_op op)
{
    const struct cg_dialect *d = e->dialect;
    const char *scalar = d->types[SCALAR_INT].name;
    bool has[CG_MAX_WIDTH + 1] = {0};
    if (!d->int_functions[op] || !uses_on_int(e->p->bb, op)) return;
    cg_line(e, CG_TEXT(e, d->int_functions[op], scalar, ""));
    for (unsigned i = 0; i < e->p->n_nodes; i++) {
        const struct cg_node *n = e->p->nodes[i];
        if (n->type != CG_DIM || n->kind != BB_VECTOR || has[n->size]) continue;
        has[n->size] = true;
        const char *width = cg_number(e, n->size);
        cg_line(e, CG_TEXT(e, d->int_functions[op], CG_TEXT(e, d->vector_type, scalar, width), width));
    }
}

static bool has_direct(const struct cg_program *p)
{
    bool has = false;
    for (uint32_t i = 0; i < p->bb->n_insts; i++)
        has |= p->access[i].direct;
    return has;
}

static void emit_signature(struct cg_emitter *e)
{
    const struct cg_dialect *d = e->dialect;
    const int64_t *n = e->p->local_size;
    for (int t = 0; t < SCALAR_TYPE_COUNT; t++) {
        const char *before = cg_type_of(&e->p->target, (enum scalar_type)t)->before;
        if (before && bb_uses_type(e->p->bb, (enum scalar_type)t)) cg_line(e, before);
    }
    for (int op = 0; op < SCALAR_OP_COUNT; op++)
        emit_functions(e, (enum scalar_op)op);
    if (cg_group_split(e->p)) cg_line(e, d->fence_before);
    if (e->p->root->has_matrix) cg_line(e, d->matrix_before);
    if (has_direct(e->p)) cg_line(e, d->direct_before);
    if (e->p->has_exchange) cg_line(e, d->exchange_before);
    const char *const parts[] = {CG_KERNEL_NAME, cg_number(e, n[0]), cg_number(e, n[1]), cg_number(e, n[2])};
    cg_fill(e->out, e->p->global_ids ? d->kernel : d->kernel_in_groups, parts);
    emit_arguments(e);
    strbuf_add(e->out, ")\n{\n");
}

static void emit_local_array(struct cg_emitter *e, unsigned region)
{
    const char *type = cg_type_of(&e->p->target, e->p->bb->regions[region].type)->name;
    cg_line(e, CG_TEXT(e, e->dialect->local_array, type, e->names->region[region],
                       cg_number(e, e->p->regions[region].elements), cg_number(e, CG_ALIGNMENT)));
}

static void emit_private_array(struct cg_emitter *e, unsigned region)
{
    const char *type = cg_type_of(&e->p->target, e->p->bb->regions[region].type)->name;
    cg_line(e, CG_TEXT(e, "$1 $2[$3];", type, e->names->region[region],
                       cg_number(e, e->p->regions[region].elements)));
}

/* Moves the pointer to the part of this group. */
static void emit_own_part(struct cg_emitter *e, unsigned region)
{
    const int64_t *g = e->p->groups;
    const char *id[CG_AXES];
    for (unsigned axis = 0; axis < CG_AXES; axis++)
        id[axis] = cg_id_text(e, cg_group_kind(e->p), axis);
    strbuf_indent(e->out, e->indent);
    strbuf_printf(e->out, "%s += (%s + %lld * (%s + %lld * %s)) * %lld;\n", e->names->region[region], id[0],
                  (long long)g[0], id[1], (long long)g[1], id[2], (long long)e->p->regions[region].elements);
}

static void emit_regions(struct cg_emitter *e)
{
    for (unsigned i = 0; i < e->p->bb->n_regions; i++) {
        if (!e->p->regions[i].used) continue;
        if (cg_is_temporary(&e->p->regions[i]))
            emit_own_part(e, i);
        else if (cg_is_private(e->p, i))
            emit_private_array(e, i);
        else
            emit_local_array(e, i);
    }
    cg_emit_part_arrays(e);
    if (cg_group_split(e->p)) cg_line(e, CG_TEXT(e, e->dialect->flag, "thresh_last"));
}

void cg_emit(const struct cg_program *p, struct cg_kernel *out)
{
    struct strbuf text = {0};
    struct arena *scratch = arena_new();
    struct cg_emitter e = {.p = p, .dialect = p->target.dialect, .scratch = scratch, .out = &text};
    e.points = cg_needs_pointers(p);
    e.names = cg_make_names(p, scratch);
    e.fixed = ARENA_ARRAY(scratch, const struct index_expr *, cg_variables(p));
    e.digit = ARENA_ARRAY(scratch, int64_t, p->n_nodes);
    emit_signature(&e);
    e.indent = 1;
    emit_regions(&e);
    emit_declarations(&e, p->root);
    emit_children(&e, p->root);
    strbuf_add(&text, "}\n");
    arena_free(scratch);
    *out = (struct cg_kernel){.name = base_strdup(CG_KERNEL_NAME), .unrolled = text.length + e.left_out};
    out->source = strbuf_take(&text);
    cg_describe_launch(p, out);
    cg_describe_arguments(p, out);
}
