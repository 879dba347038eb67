/* Constraints, triggers and the order of the passes, each of which needs the names of those before it:
 *
 *     1. sets, properties, parameters; which definitions there are
 *     2. choices; quotients; bodies of definitions and counters
 *     3. constraints and triggers
 *
 * A pass with errors is the last one, so that its errors cause no others. */
#include <string.h>

#include "core/base/hash.h"
#include "spacedsl/resolve.h"

/* The variables of a `forall` prefix. */
struct prefix {
    struct scope scope;
    int32_t first; /* their domains, consecutive */
    uint8_t n;
    int32_t members; /* node: variables over quotients represent their classes; -1: there are none */
};

static int32_t combine(struct resolver *r, enum space_op op, int32_t a, int32_t b)
{
    return add_node(r, op, 0, 0, 2, (int32_t[]){a, b});
}

static bool resolve_variable(struct resolver *r, const struct binder *b, struct prefix *out,
                             struct space_domain *dom)
{
    struct range range;
    if (!resolve_range(r, &out->scope, b->domain, &range)) return false;
    const struct binding *variable = bind_variable(r, &out->scope, &b->name, range.domain.root);
    if (!variable) return false;
    *dom = range.domain;
    if (!range.quotient) return true;
    struct typed member = quotient_member(r, &out->scope, &range, variable->value);
    if (member.type.kind == TYPE_ERROR) return false;
    out->members = out->members < 0 ? member.node : combine(r, SPACE_AND, out->members, member.node);
    return true;
}

static bool resolve_prefix(struct resolver *r, const struct binder *vars, struct prefix *out)
{
    struct space_domain doms[SPACE_MAX_VARS];
    *out = (struct prefix){.scope = {.side = SIDE_TRUE}, .members = -1};
    for (const struct binder *b = vars; b; b = b->next)
        if (!resolve_variable(r, b, out, &doms[out->n++])) return false;
    out->first = (int32_t)r->m->n_domains;
    for (unsigned i = 0; i < out->n; i++)
        add_domain(r, doms[i]);
    return true;
}

static void declare_require(struct resolver *r, const struct require_decl *decl)
{
    struct prefix p;
    struct space_constraint c = {.text = decl->remark.text,
                                 .doc = decl->remark.doc,
                                 .file = decl->at.source->path,
                                 .line = line_of(decl->at)};
    size_t errors = diag_count(r->diag);
    if (!resolve_prefix(r, decl->vars, &p)) return;
    struct typed t = resolve_side(r, &p.scope, decl->body, SIDE_TRUE);
    if (!wants(r, t, TYPE_BOOL, decl->body->at) || diag_count(r->diag) > errors) return;
    c.n_vars = p.n;
    c.domains = p.first;
    c.body = p.members < 0 ? t.node : combine(r, SPACE_IMP, p.members, t.node);
    enum verdict v = prove(r->m, &c);
    if (v == VERDICT_ALWAYS)
        diag_warning(r->diag, decl->at, "the condition is always true: it excludes nothing");
    if (v == VERDICT_NEVER)
        diag_error(r->diag, decl->at, "the condition is never true: it excludes everything");
    r->m->constraints[r->m->n_constraints++] = c;
}

/* The objects that a trigger activates, with their root sets. */
static bool resolve_activated(struct resolver *r, const struct scope *sc, const struct trigger_decl *decl,
                              struct space_trigger *out)
{
    enum { MOST = 64 };
    int32_t kids[MOST];
    int32_t *roots = ARENA_ARRAY(r->m->arena, int32_t, MOST);
    unsigned n = 0;
    bool ok = true;
    for (const struct expr *e = decl->objects; e; e = e->next) {
        if (n == MOST) {
            diag_error(r->diag, e->at, "more than %d objects in one trigger", MOST);
            return false;
        }
        struct typed o = resolve_formula(r, sc, e);
        bool object = o.type.kind == TYPE_OBJECT;
        if (!object && o.type.kind != TYPE_ERROR)
            diag_error(r->diag, e->at, "expected an object or a list of objects");
        ok = object && check_static(r, o, e->at) && ok;
        roots[n] = o.type.root;
        kids[n++] = o.node;
    }
    if (!ok) return false;
    out->roots = roots;
    out->objects = add_node(r, SPACE_LIST, 0, 0, n, kids);
    return true;
}

static void declare_trigger(struct resolver *r, const struct trigger_decl *decl)
{
    struct prefix p;
    struct space_trigger t = {.text = decl->remark.text,
                              .doc = decl->remark.doc,
                              .file = decl->at.source->path,
                              .line = line_of(decl->at)};
    if (!resolve_prefix(r, decl->vars, &p)) return;
    struct typed when = resolve_formula(r, &p.scope, decl->when);
    bool ok = wants(r, when, TYPE_BOOL, decl->when->at);
    if (!resolve_activated(r, &p.scope, decl, &t) || !ok) return;
    t.n_vars = p.n;
    t.domains = p.first;
    t.when = p.members < 0 ? when.node : combine(r, SPACE_AND, p.members, when.node);
    r->m->triggers[r->m->n_triggers++] = t;
}

static void check_used(struct resolver *r)
{
    size_t i = 0;
    for (const struct set_decl *s = r->m->ast->sets; s; s = s->next, i++)
        if (!r->used_sets[i]) diag_error(r->diag, s->name.at, "set '%s' is never used", s->name.text);
}

/* Room for every declaration, so that the tables below never move. */
#define COUNT(n, type, list)                                                                                 \
    for (const struct type *x = (list); x; x = x->next)                                                      \
    (n)++

static void reserve(struct model *m)
{
    size_t sets = 1, properties = 1, parameters = 1, choices = 1, defines = 1, requires = 1, triggers = 1,
           derived = 1;
    COUNT(sets, set_decl, m->ast->sets);
    COUNT(properties, property_decl, m->ast->properties);
    COUNT(parameters, parameter_decl, m->ast->parameters);
    COUNT(choices, choice_decl, m->ast->choices);
    COUNT(defines, define_decl, m->ast->defines);
    COUNT(requires, require_decl, m->ast->requires);
    COUNT(triggers, trigger_decl, m->ast->triggers);
    COUNT(derived, quotient_decl, m->ast->quotients);
    m->derived = ARENA_ARRAY(m->arena, struct space_derived, derived + defines);
    m->sets = ARENA_ARRAY(m->arena, struct space_set, sets);
    m->properties = ARENA_ARRAY(m->arena, struct space_property, properties);
    m->parameters = ARENA_ARRAY(m->arena, struct space_parameter, parameters);
    m->choices = ARENA_ARRAY(m->arena, struct space_choice, choices);
    m->defines = ARENA_ARRAY(m->arena, struct space_define, defines);
    m->constraints = ARENA_ARRAY(m->arena, struct space_constraint, requires);
    m->triggers = ARENA_ARRAY(m->arena, struct space_trigger, triggers);
    m->cap_domains = m->cap_nodes = m->cap_extents = m->cap_kids = 64;
    m->domains = ARENA_ARRAY(m->arena, struct space_domain, m->cap_domains);
    m->nodes = ARENA_ARRAY(m->arena, struct space_node, m->cap_nodes);
    m->extents = ARENA_ARRAY(m->arena, struct extent, m->cap_extents);
    m->kids = ARENA_ARRAY(m->arena, int32_t, m->cap_kids);
}

static void declare_instance(struct resolver *r, const struct ast *ast)
{
    for (const struct set_decl *x = ast->sets; x; x = x->next)
        declare_set(r, x);
    if (diag_failed(r->diag)) return;
    for (const struct property_decl *x = ast->properties; x; x = x->next)
        declare_property(r, x);
    for (const struct parameter_decl *x = ast->parameters; x; x = x->next)
        declare_parameter(r, x);
    if (diag_failed(r->diag)) return;
    for (const struct define_decl *x = ast->defines; x; x = x->next)
        declare_define(r, x);
}

static void declare_choices(struct resolver *r, const struct ast *ast)
{
    for (const struct choice_decl *x = ast->choices; x; x = x->next)
        declare_choice(r, x);
    if (diag_failed(r->diag)) return;
    for (const struct quotient_decl *x = ast->quotients; x; x = x->next) {
        declare_quotient(r, x);
        declare_derived(r->m, &x->name, x->remark);
    }
    if (diag_failed(r->diag)) return;
    for (const struct define_decl *x = ast->defines; x; x = x->next) {
        resolve_define(r, x);
        declare_derived(r->m, &x->name, x->remark);
    }
}

static void declare_rules(struct resolver *r, const struct ast *ast)
{
    for (const struct require_decl *x = ast->requires; x; x = x->next)
        declare_require(r, x);
    for (const struct trigger_decl *x = ast->triggers; x; x = x->next)
        declare_trigger(r, x);
    check_used(r);
    if (!diag_failed(r->diag)) check_triggers(r);
}

struct model *spacedsl_resolve(const struct ast *ast, struct arena *a, struct diag *d)
{
    struct model *m = ARENA_NEW(a, struct model);
    m->arena = a;
    m->ast = ast;
    reserve(m);
    size_t n_sets = 1;
    COUNT(n_sets, set_decl, ast->sets);
    struct resolver *r = ARENA_NEW(a, struct resolver);
    *r = (struct resolver){.m = m, .diag = d, .used_sets = ARENA_ARRAY(a, bool, n_sets)};
    size_t n_defines = 1;
    COUNT(n_defines, define_decl, ast->defines);
    r->dependence = ARENA_ARRAY(a, enum dependence, n_defines);
    declare_instance(r, ast);
    if (!diag_failed(d)) declare_choices(r, ast);
    if (!diag_failed(d)) declare_rules(r, ast);
    return diag_failed(d) ? NULL : m;
}

static uint64_t hash_files(const struct ast *ast)
{
    uint64_t h = HASH_START;
    for (const struct source_file *f = ast->files; f; f = f->next)
        h = hash_bytes(h, f->source->text, f->source->length);
    return hash_finish(h);
}

const struct space_def *spacedsl_model_def(const struct model *m)
{
    struct space_def *def = ARENA_NEW(m->arena, struct space_def);
    *def = (struct space_def){.name = m->ast->name.text,
                              .file = m->ast->files->source->path,
                              .doc = m->ast->doc,
                              .hash = hash_files(m->ast),
                              .sets = m->sets,
                              .properties = m->properties,
                              .parameters = m->parameters,
                              .choices = m->choices,
                              .constraints = m->constraints,
                              .triggers = m->triggers,
                              .defines = m->defines,
                              .domains = m->domains,
                              .nodes = m->nodes,
                              .kids = m->kids,
                              .n_sets = (int32_t)m->n_sets,
                              .n_properties = (int32_t)m->n_properties,
                              .n_parameters = (int32_t)m->n_parameters,
                              .n_choices = (int32_t)m->n_choices,
                              .n_constraints = (int32_t)m->n_constraints,
                              .n_triggers = (int32_t)m->n_triggers,
                              .n_defines = (int32_t)m->n_defines,
                              .n_domains = (int32_t)m->n_domains,
                              .n_nodes = (int32_t)m->n_nodes,
                              .derived = m->derived,
                              .n_derived = (int32_t)m->n_derived};
    return def;
}

const struct space_def *spacedsl_compile(const struct source *source, struct arena *a, struct diag *d)
{
    const struct ast *ast = spacedsl_parse(source, a, d);
    if (diag_failed(d)) return NULL;
    const struct model *m = spacedsl_resolve(ast, a, d);
    return m ? spacedsl_model_def(m) : NULL;
}
