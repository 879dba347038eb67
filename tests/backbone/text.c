#include "tests/backbone/text.h"

#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/base/strbuf.h"

static void print_access(const struct backbone *bb, const struct bb_inst *inst, struct strbuf *out)
{
    const char **names = base_calloc(bb->n_logicals + 1, sizeof *names);
    for (unsigned i = 0; i < bb->n_logicals; i++)
        names[i] = bb->logicals[i].name;
    strbuf_printf(out, "%s[", bb->buffers[inst->buffer].name);
    index_print(inst->index, names, out);
    strbuf_add(out, "]");
    free(names);
}

/* Position of the first node of the postfix expression that ends before `end`. */
static unsigned start_of(const struct bb_inst *inst, unsigned end)
{
    const struct bb_node *n = &inst->nodes[--end];
    for (unsigned i = n->kind == BB_NODE_OP ? scalar_op_arity(n->op) : 0; i > 0; i--)
        end = start_of(inst, end);
    return end;
}

static void print_node(const struct backbone *bb, const struct bb_inst *inst, unsigned end,
                       struct strbuf *out)
{
    const struct bb_node *n = &inst->nodes[end - 1];
    if (n->kind == BB_NODE_OPERAND) {
        const struct bb_inst *from = &bb->insts[inst->operands[n->operand]];
        strbuf_add(out, from->name);
        if (from->n_more) strbuf_printf(out, ".%u", n->part);
        return;
    }
    if (n->kind == BB_NODE_CONST) {
        strbuf_printf(out, "%.17g", n->value);
        return;
    }
    unsigned arity = scalar_op_arity(n->op), ends[SCALAR_MAX_ARITY] = {0};
    for (unsigned i = arity, at = end - 1; i > 0; i--) {
        ends[i - 1] = at;
        at = start_of(inst, at);
    }
    strbuf_printf(out, "%s(", scalar_op_name(n->op));
    for (unsigned i = 0; i < arity; i++) {
        strbuf_add(out, i ? ", " : "");
        print_node(bb, inst, ends[i], out);
    }
    strbuf_add(out, ")");
}

/* The last n expressions of those that end before `end`. */
static void print_parts(const struct backbone *bb, const struct bb_inst *inst, unsigned end, unsigned n,
                        struct strbuf *out)
{
    if (n > 1) {
        print_parts(bb, inst, start_of(inst, end), n - 1, out);
        strbuf_add(out, ", ");
    }
    print_node(bb, inst, end, out);
}

static const char *kind_name(enum bb_inst_kind kind)
{
    switch (kind) {
    case BB_LOAD:
        return "load";
    case BB_COMPUTE:
        return "compute";
    case BB_INIT:
        return "init";
    case BB_STEP:
        return "step";
    case BB_STORE:
        return "store";
    case BB_TAKE:
        return "take";
    case BB_COPY_LOAD:
        return "copy_load";
    case BB_COPY_STORE:
        return "copy_store";
    }
    PANIC("no such instruction kind (%d)", (int)kind);
}

static void print_inst(const struct backbone *bb, const struct bb_inst *inst, struct strbuf *out)
{
    strbuf_printf(out, "%s %s [", kind_name(inst->kind), inst->name);
    for (unsigned i = 0; i < inst->n_logicals; i++)
        strbuf_printf(out, "%s%s", i ? " " : "", bb->logicals[inst->logicals[i]].name);
    strbuf_add(out, "]");
    for (unsigned i = 0; i < bb_parts(inst); i++)
        strbuf_printf(out, " %s", scalar_type_name(bb_part_type(inst, i)));
    if (inst->kind == BB_STORE) {
        strbuf_add(out, " ");
        print_access(bb, inst, out);
    } else if (inst->kind == BB_COPY_STORE) {
        strbuf_printf(out, " %s", bb->regions[bb->values[inst->value].region].name);
    }
    strbuf_add(out, " = ");
    if (inst->n_nodes)
        print_parts(bb, inst, inst->n_nodes, bb_parts(inst), out);
    else
        print_access(bb, inst, out);
    strbuf_add(out, "\n");
}

char *backbone_text(const struct backbone *bb)
{
    struct strbuf out = {0};
    for (unsigned i = 0; i < bb->n_insts; i++)
        print_inst(bb, &bb->insts[i], &out);
    strbuf_printf(&out, "%u instructions, %u dimensions, %u values that may be staged\n", bb->n_insts,
                  bb->n_dims, bb->n_values);
    return strbuf_take(&out);
}
