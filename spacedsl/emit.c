/* Prints the tables of a model as one C file, which exports `space_def_<name>`, and `thresh_space` if it is
 * compiled with THRESH_SPACE_PLUGIN. Of `choice tile: int in { 1, 2 }` it has, among others,
 *
 *     static const struct space_choice choices[] = {
 *         {.name = "tile", .arity = 0, .n_values = 0, .values = 2, ...},          node 2 is the list
 *     static const struct space_node nodes[] = {
 *         {SPACE_CONST, ... 1}, {SPACE_CONST, ... 2}, {SPACE_LIST, 2, ...},
 *
 * The text depends on the input alone. */
#include <inttypes.h>
#include <string.h>

#include "core/base/strbuf.h"
#include "spacedsl/model.h"

static void quote(struct strbuf *b, const char *s)
{
    strbuf_add(b, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            strbuf_printf(b, "\\%c", *s);
        else if (*s == '?')
            strbuf_add(b, "\\?");
        else
            strbuf_printf(b, (unsigned char)*s < 32 ? "\\%03o" : "%c", *s);
    }
    strbuf_add(b, "\"");
}

static void emit_remark(struct strbuf *b, struct space_remark r)
{
    strbuf_add(b, "{");
    quote(b, r.doc);
    strbuf_add(b, ", ");
    quote(b, r.text);
    strbuf_add(b, "}");
}

static void emit_domain(struct strbuf *b, struct space_domain d)
{
    strbuf_printf(b, "{%d, %d, %d, %d}", d.set, d.arg, d.list, d.root);
}

static void emit_sets(struct strbuf *b, const struct model *m)
{
    strbuf_add(b, "static const struct space_set sets[] = {\n");
    for (size_t i = 0; i < m->n_sets; i++) {
        const struct space_set *s = &m->sets[i];
        strbuf_printf(b, "    {\"%s\", ", s->name);
        emit_remark(b, s->remark);
        strbuf_printf(b, ", %d, %d, %d, %d, %d, %" PRId64 ", %" PRId64 "},\n", s->root, s->parent, s->param,
                      s->disjoint, s->range, s->lo, s->hi);
    }
    strbuf_add(b, "    {0}};\n\n");
}

static void emit_properties(struct strbuf *b, const struct model *m)
{
    strbuf_add(b, "static const struct space_property properties[] = {\n");
    for (size_t i = 0; i < m->n_properties; i++) {
        const struct space_property *p = &m->properties[i];
        strbuf_printf(b, "    {\"%s\", ", p->name);
        emit_remark(b, p->remark);
        strbuf_printf(b, ", %u, {%d, %d, %d, %d}, %d, %d, %d},\n", p->arity, p->args[0], p->args[1],
                      p->args[2], p->args[3], p->object, p->list, p->condition);
    }
    strbuf_add(b, "    {0}};\n\nstatic const struct space_parameter parameters[] = {\n");
    for (size_t i = 0; i < m->n_parameters; i++) {
        const struct space_parameter *p = &m->parameters[i];
        strbuf_printf(b, "    {\"%s\", ", p->name);
        emit_remark(b, p->remark);
        strbuf_add(b, ", ");
        quote(b, p->unit);
        strbuf_printf(b, ", %d, %" PRId64 "},\n", p->has_default, p->value);
    }
    strbuf_add(b, "    {0}};\n\n");
}

static void emit_enum(struct strbuf *b, size_t i, const struct space_choice *c)
{
    strbuf_printf(b, "static const char *const names_%zu[] = {", i);
    for (unsigned v = 0; v < c->n_values; v++)
        strbuf_printf(b, "\"%s\", ", c->value_names[v]);
    strbuf_printf(b, "0};\nstatic const char *const docs_%zu[] = {", i);
    for (unsigned v = 0; v < c->n_values; v++) {
        quote(b, c->value_docs[v]);
        strbuf_add(b, ", ");
    }
    strbuf_printf(b, "0};\nstatic const int64_t codes_%zu[] = {", i);
    for (unsigned v = 0; v < c->n_values; v++)
        strbuf_printf(b, "%" PRId64 ", ", c->codes[v]);
    strbuf_printf(b, "0};\nstatic const uint8_t mirror_%zu[] = {", i);
    for (unsigned v = 0; v < SPACE_MAX_ENUM; v++)
        strbuf_printf(b, v ? ", %u" : "%u", c->mirror[v]);
    strbuf_printf(b, "};\nstatic const struct space_alias aliases_%zu[] = {", i);
    for (unsigned v = 0; v < c->n_aliases; v++)
        strbuf_printf(b, "{\"%s\", UINT64_C(%" PRIu64 ")}, ", c->aliases[v].name, c->aliases[v].mask);
    strbuf_add(b, "{0}};\n");
}

static void emit_choices(struct strbuf *b, const struct model *m)
{
    for (size_t i = 0; i < m->n_choices; i++)
        if (m->choices[i].n_values) emit_enum(b, i, &m->choices[i]);
    strbuf_add(b, "\nstatic const struct space_choice choices[] = {\n");
    for (size_t i = 0; i < m->n_choices; i++) {
        const struct space_choice *c = &m->choices[i];
        strbuf_printf(b, "    {.name = \"%s\", .remark = ", c->name);
        emit_remark(b, c->remark);
        strbuf_printf(b, ", .arity = %u, .pairing = %u, .n_values = %u, .n_aliases = %u, .args = {", c->arity,
                      c->pairing, c->n_values, c->n_aliases);
        for (unsigned k = 0; k < SPACE_MAX_ARITY; k++) {
            if (k) strbuf_add(b, ", ");
            emit_domain(b, c->args[k]);
        }
        strbuf_add(b, "},\n     ");
        if (c->n_values)
            strbuf_printf(b,
                          ".value_names = names_%zu, .value_docs = docs_%zu, .codes = codes_%zu, .mirror = "
                          "mirror_%zu, .aliases = aliases_%zu, ",
                          i, i, i, i, i);
        strbuf_printf(b, ".values = %d, .where = %d, .file = ", c->values, c->where);
        quote(b, c->file);
        strbuf_printf(b, ", .line = %u},\n", c->line);
    }
    strbuf_add(b, "    {0}};\n\n");
}

static void emit_line(struct strbuf *b, unsigned line, const char *file)
{
    strbuf_printf(b, "#line %u ", line);
    quote(b, file);
    strbuf_add(b, "\n");
}

/* Text, reason and place of a constraint or a trigger. */
static void emit_rule(struct strbuf *b, const char *text, const char *doc, const char *file, unsigned line)
{
    emit_line(b, line, file);
    strbuf_add(b, "    {");
    quote(b, text);
    strbuf_add(b, ", ");
    quote(b, doc);
    strbuf_add(b, ", ");
    quote(b, file);
    strbuf_printf(b, ", %u, ", line);
}

static void emit_constraints(struct strbuf *b, const struct model *m)
{
    strbuf_add(b, "static const struct space_constraint constraints[] = {\n");
    for (size_t i = 0; i < m->n_constraints; i++) {
        const struct space_constraint *c = &m->constraints[i];
        emit_rule(b, c->text, c->doc, c->file, c->line);
        strbuf_printf(b, "%u, %d, %d},\n", c->n_vars, c->domains, c->body);
    }
    strbuf_add(b, "    {0}};\n\n");
}

static void emit_triggers(struct strbuf *b, const struct model *m)
{
    for (size_t i = 0; i < m->n_triggers; i++) {
        const struct space_trigger *t = &m->triggers[i];
        strbuf_printf(b, "static const int32_t roots_%zu[] = {", i);
        for (unsigned k = 0; k < m->nodes[t->objects].n; k++)
            strbuf_printf(b, "%d, ", t->roots[k]);
        strbuf_add(b, "0};\n");
    }
    strbuf_add(b, "static const struct space_trigger triggers[] = {\n");
    for (size_t i = 0; i < m->n_triggers; i++) {
        const struct space_trigger *t = &m->triggers[i];
        emit_rule(b, t->text, t->doc, t->file, t->line);
        strbuf_printf(b, "%u, %d, %d, %d, roots_%zu},\n", t->n_vars, t->domains, t->when, t->objects, i);
    }
    strbuf_add(b, "    {0}};\n\n");
}

static void emit_defines(struct strbuf *b, const struct model *m)
{
    strbuf_add(b, "static const struct space_define defines[] = {\n");
    for (size_t i = 0; i < m->n_defines; i++) {
        const struct space_define *d = &m->defines[i];
        emit_line(b, d->line, d->file);
        strbuf_printf(b, "    {\"%s\", %u, %d, %d, %d, %u, %u, {%d, %d, %d, %d}, {%d, %d, %d, %d}, ", d->name,
                      d->n_params, d->body, d->condition, d->object, d->along, d->n_steps, d->steps[0],
                      d->steps[1], d->steps[2], d->steps[3], d->sets[0], d->sets[1], d->sets[2], d->sets[3]);
        quote(b, d->file);
        strbuf_printf(b, ", %u},\n", d->line);
    }
    strbuf_add(b, "    {0}};\n\n");
}

static void emit_derived(struct strbuf *b, const struct model *m)
{
    strbuf_add(b, "static const struct space_derived derived[] = {\n");
    for (size_t i = 0; i < m->n_derived; i++) {
        strbuf_printf(b, "    {\"%s\", ", m->derived[i].name);
        emit_remark(b, m->derived[i].remark);
        strbuf_add(b, "},\n");
    }
    strbuf_add(b, "    {0}};\n\n");
}

static void emit_formulas(struct strbuf *b, const struct model *m)
{
    strbuf_add(b, "static const struct space_domain domains[] = {\n");
    for (size_t i = 0; i < m->n_domains; i++) {
        strbuf_add(b, "    ");
        emit_domain(b, m->domains[i]);
        strbuf_add(b, ",\n");
    }
    strbuf_add(b, "    {0}};\n\nstatic const struct space_node nodes[] = {\n");
    static const char *const ops[] = {
#define X(name, text) "SPACE_" #name,
        SPACE_OPS(X)
#undef X
    };
    for (size_t i = 0; i < m->n_nodes; i++) {
        const struct space_node *n = &m->nodes[i];
        strbuf_printf(b, "    {%s, %u, %d, %d, %d, %" PRId64 "}, /* %zu */\n", ops[n->op], n->n, n->selects,
                      n->a, n->first, n->imm, i);
    }
    strbuf_add(b, "    {0}};\n\nstatic const int32_t kids[] = {");
    for (size_t i = 0; i < m->n_kids; i++)
        strbuf_printf(b, i % 20 ? " %d," : "\n    %d,", m->kids[i]);
    strbuf_add(b, " 0};\n\n");
}

static unsigned count_lines(const char *s)
{
    unsigned n = 1;
    for (; *s; s++)
        n += *s == '\n';
    return n;
}

static void emit_definition(struct strbuf *b, const struct model *m)
{
    const struct space_def *def = spacedsl_model_def(m);
    strbuf_printf(b, "#line %u \"%s.c\"\n", count_lines(b->text) + 1, def->name);
    strbuf_printf(
        b, "extern const struct space_def space_def_%s;\nconst struct space_def space_def_%s = {\n    ",
        def->name, def->name);
    quote(b, def->name);
    strbuf_add(b, ", ");
    quote(b, def->file);
    strbuf_add(b, ",\n    ");
    quote(b, def->doc);
    strbuf_printf(b,
                  ",\n    UINT64_C(%" PRIu64
                  "), sets, properties, parameters, choices, constraints,\n    triggers, defines, domains, "
                  "nodes, kids, %d, %d, %d, %d, %d, %d, %d, %d, %d, derived, %d};\n",
                  def->hash, def->n_sets, def->n_properties, def->n_parameters, def->n_choices,
                  def->n_constraints, def->n_triggers, def->n_defines, def->n_domains, def->n_nodes,
                  def->n_derived);
    strbuf_printf(b,
                  "\n#ifdef THRESH_SPACE_PLUGIN\nextern const struct space_plugin thresh_space;\n"
                  "const struct space_plugin thresh_space = {SPACE_PLUGIN_ABI, sizeof(struct space_def), "
                  "&space_def_%s};\n#endif\n",
                  def->name);
}

char *spacedsl_emit(const struct model *m)
{
    struct strbuf b = {0};
    strbuf_printf(&b,
                  "/* Space '%s', made by spacec from %s; do not edit. */\n#include \"core/space/def.h\"\n\n",
                  m->ast->name.text, m->ast->files->source->path);
    emit_sets(&b, m);
    emit_properties(&b, m);
    emit_choices(&b, m);
    emit_formulas(&b, m);
    emit_constraints(&b, m);
    emit_triggers(&b, m);
    emit_defines(&b, m);
    emit_derived(&b, m);
    emit_definition(&b, m);
    return strbuf_take(&b);
}
