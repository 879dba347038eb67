/* The tables of the model: finding names, with a guess for a misspelt one; adding nodes; comparing types. */
#include <inttypes.h>
#include <string.h>

#include "core/base/similar.h"
#include "spacedsl/resolve.h"

enum { MAX_NODES = 1 << 20 };

int32_t find_set(const struct model *m, const char *name)
{
    for (size_t i = 0; i < m->n_sets; i++)
        if (!strcmp(m->sets[i].name, name)) return (int32_t)i;
    return -1;
}

int32_t find_property(const struct model *m, const char *name)
{
    for (size_t i = 0; i < m->n_properties; i++)
        if (!strcmp(m->properties[i].name, name)) return (int32_t)i;
    return -1;
}

int32_t find_parameter(const struct model *m, const char *name)
{
    for (size_t i = 0; i < m->n_parameters; i++)
        if (!strcmp(m->parameters[i].name, name)) return (int32_t)i;
    return -1;
}

int32_t find_choice(const struct model *m, const char *name)
{
    for (size_t i = 0; i < m->n_choices; i++)
        if (!strcmp(m->choices[i].name, name)) return (int32_t)i;
    return -1;
}

const struct define_decl *find_define(const struct model *m, const char *name)
{
    for (const struct define_decl *d = m->ast->defines; d; d = d->next)
        if (!strcmp(d->name.text, name)) return d;
    return NULL;
}

const struct quotient_decl *find_quotient(const struct model *m, const char *name)
{
    for (const struct quotient_decl *q = m->ast->quotients; q; q = q->next)
        if (!strcmp(q->name.text, name)) return q;
    return NULL;
}

const struct property_decl *property_decl_at(const struct model *m, int32_t property)
{
    const struct property_decl *decl = m->ast->properties;
    for (int32_t i = 0; i < property; i++)
        decl = decl->next;
    return decl;
}

/* Or whether it is of a live object. */
static bool reads_choice(const struct resolver *r, int32_t node)
{
    return r->m->extents[node].reads;
}

/* Nodes are shared where a definition uses its argument twice; instantiation meets them twice. */
static struct extent extent_of(struct resolver *r, enum space_op op, int32_t a, unsigned n,
                               const int32_t *kids)
{
    struct extent e = {.size = 1, .reads = op == SPACE_CHOICE || op == SPACE_IS || op == SPACE_FIRST};
    e.reads = e.reads || (op == SPACE_DEFINE && define_depends(r, a));
    for (unsigned i = 0; i < n; i++) {
        e.reads = e.reads || reads_choice(r, kids[i]);
        e.size += r->m->extents[kids[i]].size;
        if (e.size > MAX_NODES) e.size = MAX_NODES;
    }
    return e;
}

int32_t add_node(struct resolver *r, enum space_op op, int32_t a, int64_t imm, unsigned n,
                 const int32_t *kids)
{
    struct model *m = r->m;
    r->too_large = r->too_large || m->n_nodes >= MAX_NODES;
    m->nodes = arena_grow(m->arena, m->nodes, &m->cap_nodes, m->n_nodes + 1, sizeof *m->nodes);
    m->extents = arena_grow(m->arena, m->extents, &m->cap_extents, m->n_nodes + 1, sizeof *m->extents);
    m->kids = arena_grow(m->arena, m->kids, &m->cap_kids, m->n_kids + n + 1, sizeof *m->kids);
    m->nodes[m->n_nodes] = (struct space_node){
        .op = (uint8_t)op, .n = (uint8_t)n, .a = a, .first = (int32_t)m->n_kids, .imm = imm};
    m->extents[m->n_nodes] = extent_of(r, op, a, n, kids);
    r->too_large = r->too_large || m->extents[m->n_nodes].size == MAX_NODES;
    for (unsigned i = 0; i < n; i++)
        m->kids[m->n_kids++] = kids[i];
    return (int32_t)m->n_nodes++;
}

int32_t add_object_node(struct resolver *r, enum space_op op, int32_t a, int64_t imm, unsigned n,
                        const int32_t *kids)
{
    int32_t node = add_node(r, op, a, imm, n, kids);
    for (unsigned i = 0; i < n; i++)
        r->m->nodes[node].selects = r->m->nodes[node].selects || reads_choice(r, kids[i]);
    return node;
}

int32_t add_domain(struct resolver *r, struct space_domain dom)
{
    struct model *m = r->m;
    m->domains = arena_grow(m->arena, m->domains, &m->cap_domains, m->n_domains + 1, sizeof *m->domains);
    m->domains[m->n_domains] = dom;
    return (int32_t)m->n_domains++;
}

struct typed typed(int32_t node, enum type_kind kind)
{
    return (struct typed){node, {.kind = kind}};
}

bool fits_root(const struct resolver *r, struct type t, int32_t root)
{
    if (t.list) return false;
    if (t.kind == TYPE_OBJECT) return t.root == root;
    return t.kind == TYPE_INT && r->m->sets[root].range;
}

bool is_object_of(struct resolver *r, const struct expr *e, struct type t, int32_t root, const char *what)
{
    const struct space_set *set = &r->m->sets[root];
    bool fits = fits_root(r, t, root),
         inside = e->kind != EXPR_INT || (e->number >= set->lo && e->number <= set->hi);
    if (!fits)
        diag_error(r->diag, e->at, "%s must be an object of set '%s'", what, set->name);
    else if (!inside)
        diag_error(r->diag, e->at,
                   "%" PRId64 " is not an object of set '%s', which has %" PRId64 " to %" PRId64, e->number,
                   set->name, set->lo, set->hi);
    return fits && inside;
}

bool is_int(const struct resolver *r, struct type t)
{
    return !t.list && (t.kind == TYPE_INT || (t.kind == TYPE_OBJECT && r->m->sets[t.root].range));
}

bool wants(struct resolver *r, struct typed t, enum type_kind kind, struct source_pos at)
{
    if (t.type.kind == TYPE_ERROR) return false;
    bool ok = kind == TYPE_BOOL ? t.type.kind == TYPE_BOOL && !t.type.list : is_int(r, t.type);
    if (!ok)
        diag_error(r->diag, at, "expected %s", kind == TYPE_BOOL ? "a condition, such as x > 0" : "a number");
    return ok;
}

/* As "; did you mean 'NAME'?", or "". */
static const char *as_guess(struct resolver *r, const char *name, const char *const *known, size_t n)
{
    const char *similar = similar_find(name, known, n);
    return similar ? arena_printf(r->m->arena, "; did you mean '%s'?", similar) : "";
}

const char *guess_set(struct resolver *r, const char *name)
{
    const char **known = ARENA_ARRAY(r->m->arena, const char *, r->m->n_sets + 1);
    for (size_t i = 0; i < r->m->n_sets; i++)
        known[i] = r->m->sets[i].name;
    return as_guess(r, name, known, r->m->n_sets);
}

const char *guess_name(struct resolver *r, const struct scope *sc, const char *name)
{
    const struct model *m = r->m;
    size_t n = 0, most = m->n_choices + m->n_properties + m->n_parameters + m->n_derived + m->n_sets + 1;
    for (const struct binding *b = sc->bindings; b; b = b->outer)
        most++;
    const char **known = ARENA_ARRAY(m->arena, const char *, most);
    for (const struct binding *b = sc->bindings; b; b = b->outer)
        known[n++] = b->name;
    for (size_t i = 0; i < m->n_choices; i++)
        known[n++] = m->choices[i].name;
    for (size_t i = 0; i < m->n_parameters; i++)
        known[n++] = m->parameters[i].name;
    for (size_t i = 0; i < m->n_derived; i++)
        known[n++] = m->derived[i].name;
    for (size_t i = 0; i < m->n_properties; i++)
        known[n++] = m->properties[i].name;
    for (size_t i = 0; i < m->n_sets; i++)
        known[n++] = m->sets[i].name;
    return as_guess(r, name, known, n);
}

uint64_t find_value(const struct space_choice *c, const char *name)
{
    for (unsigned i = 0; i < c->n_values; i++)
        if (!strcmp(c->value_names[i], name)) return UINT64_C(1) << i;
    for (unsigned i = 0; i < c->n_aliases; i++)
        if (!strcmp(c->aliases[i].name, name)) return c->aliases[i].mask;
    return 0;
}

uint64_t value_mask(struct resolver *r, const struct space_choice *c, const struct name *n)
{
    uint64_t mask = find_value(c, n->text);
    if (!mask) diag_error(r->diag, n->at, "'%s' is not a value of '%s'", n->text, c->name);
    return mask;
}

bool check_static(struct resolver *r, struct typed t, struct source_pos at)
{
    if (t.type.kind == TYPE_ERROR || !reads_choice(r, t.node)) return t.type.kind != TYPE_ERROR;
    diag_error(r->diag, at, "this expression must not depend on a choice");
    return false;
}
