/* Name resolution and type checking of formulas and declarations.
 *
 * A formula becomes a tree of space_nodes. Definitions and counters are expanded where they are used: their
 * parameters are bound to the nodes of the arguments, and variables get numbers that no enclosing variable
 * has, so nothing is captured. Types are few: booleans, integers (enum codes, range-set objects), objects of
 * a root set, and lists of the latter two.
 *
 * Over 800 lines, because names, types and expansion walk a formula in one pass and share its scope. */
#include <string.h>

#include "core/base/hash.h"
#include "core/base/panic.h"
#include "spacedsl/model.h"

enum type_kind { TYPE_ERROR, TYPE_BOOL, TYPE_INT, TYPE_OBJECT };

struct type {
    enum type_kind kind;
    bool list;
    int32_t root; /* of objects */
};

struct typed {
    int32_t node;
    struct type type;
};

/* A variable or a parameter of a definition that stands for `value`. */
struct binding {
    const char *name;
    struct typed value;
    const struct binding *outer;
};

struct scope {
    const struct binding *bindings;
    int depth; /* variables in use: the next one gets this number */
};

struct resolver {
    struct model *m;
    struct diag *diag;
    const struct define_decl *expanding[64];
    int n_expanding;
    bool *used_sets;
};

static const struct typed FAILED = {.node = -1};

static struct typed resolve(struct resolver *r, const struct scope *sc, const struct expr *e);

static int32_t find_set(const struct model *m, const char *name)
{
    for (size_t i = 0; i < m->n_sets; i++)
        if (!strcmp(m->sets[i].name, name)) return (int32_t)i;
    return -1;
}

static int32_t find_property(const struct model *m, const char *name)
{
    for (size_t i = 0; i < m->n_properties; i++)
        if (!strcmp(m->properties[i].name, name)) return (int32_t)i;
    return -1;
}

static int32_t find_parameter(const struct model *m, const char *name)
{
    for (size_t i = 0; i < m->n_parameters; i++)
        if (!strcmp(m->parameters[i].name, name)) return (int32_t)i;
    return -1;
}

static int32_t find_choice(const struct model *m, const char *name)
{
    for (size_t i = 0; i < m->n_choices; i++)
        if (!strcmp(m->choices[i].name, name)) return (int32_t)i;
    return -1;
}

static const struct define_decl *find_define(const struct model *m, const char *name)
{
    for (const struct define_decl *d = m->ast->defines; d; d = d->next)
        if (!strcmp(d->name.text, name)) return d;
    return NULL;
}

static int32_t node(struct resolver *r, enum space_op op, int32_t a, int64_t imm, unsigned n,
                    const int32_t *kids)
{
    struct model *m = r->m;
    m->nodes = arena_grow(m->arena, m->nodes, &m->cap_nodes, m->n_nodes + 1, sizeof *m->nodes);
    m->kids = arena_grow(m->arena, m->kids, &m->cap_kids, m->n_kids + n + 1, sizeof *m->kids);
    m->nodes[m->n_nodes] = (struct space_node){
        .op = (uint8_t)op, .n = (uint8_t)n, .a = a, .first = (int32_t)m->n_kids, .imm = imm};
    for (unsigned i = 0; i < n; i++)
        m->kids[m->n_kids++] = kids[i];
    return (int32_t)m->n_nodes++;
}

static struct typed typed(int32_t n, enum type_kind kind)
{
    return (struct typed){n, {.kind = kind}};
}

static int32_t add_domain(struct resolver *r, struct space_domain dom)
{
    struct model *m = r->m;
    m->domains = arena_grow(m->arena, m->domains, &m->cap_domains, m->n_domains + 1, sizeof *m->domains);
    m->domains[m->n_domains] = dom;
    return (int32_t)m->n_domains++;
}

/* Whether a value may stand where an object of the root set is wanted (integers may for range sets). */
static bool fits_root(const struct resolver *r, struct type t, int32_t root)
{
    if (t.list) return false;
    if (t.kind == TYPE_OBJECT) return t.root == root;
    return t.kind == TYPE_INT && r->m->sets[root].range;
}

static bool is_int(const struct resolver *r, struct type t)
{
    return !t.list && (t.kind == TYPE_INT || (t.kind == TYPE_OBJECT && r->m->sets[t.root].range));
}

static unsigned count_args(const struct expr *e)
{
    unsigned n = 0;
    for (const struct expr *a = e->args; a; a = a->next)
        n++;
    return n;
}

static bool check_arity(struct resolver *r, const struct expr *e, unsigned wanted)
{
    unsigned n = count_args(e);
    if (n != wanted) diag_error(r->diag, e->at, "'%s' takes %u arguments, not %u", e->text, wanted, n);
    return n == wanted;
}

/* The arguments of a property or a choice into kids[]. */
static bool resolve_args(struct resolver *r, const struct scope *sc, const struct expr *e,
                         const int32_t *roots, unsigned arity, int32_t *kids)
{
    if (!check_arity(r, e, arity)) return false;
    bool ok = true;
    unsigned i = 0;
    for (const struct expr *a = e->args; a; a = a->next, i++) {
        struct typed t = resolve(r, sc, a);
        kids[i] = t.node;
        if (t.type.kind == TYPE_ERROR)
            ok = false;
        else if (!fits_root(r, t.type, roots[i])) {
            diag_error(r->diag, a->at, "argument %u of '%s' must be an object of set '%s'", i + 1, e->text,
                       r->m->sets[roots[i]].name);
            ok = false;
        }
    }
    return ok;
}

static struct typed resolve_property(struct resolver *r, const struct scope *sc, const struct expr *e,
                                     int32_t property)
{
    const struct space_property p = r->m->properties[property];
    int32_t roots[SPACE_MAX_ARITY], kids[SPACE_MAX_ARITY];
    for (unsigned i = 0; i < p.arity; i++)
        roots[i] = r->m->sets[p.args[i]].root;
    if (!resolve_args(r, sc, e, roots, p.arity, kids)) return FAILED;
    const struct property_decl *decl = r->m->ast->properties;
    for (int32_t i = 0; i < property; i++)
        decl = decl->next;
    enum type_kind kind = decl->type == VALUE_BOOL  ? TYPE_BOOL
                          : decl->type == VALUE_INT ? TYPE_INT
                                                    : TYPE_OBJECT;
    int32_t root = p.object >= 0 ? r->m->sets[p.object].root : -1;
    return (struct typed){node(r, SPACE_PROP, property, 0, p.arity, kids), {kind, p.list, root}};
}

static struct typed resolve_choice(struct resolver *r, const struct scope *sc, const struct expr *e,
                                   int32_t choice)
{
    const struct space_choice c = r->m->choices[choice];
    int32_t roots[SPACE_MAX_ARITY], kids[SPACE_MAX_ARITY];
    for (unsigned i = 0; i < c.arity; i++)
        roots[i] = c.args[i].root;
    if (!resolve_args(r, sc, e, roots, c.arity, kids)) return FAILED;
    return typed(node(r, SPACE_CHOICE, choice, 0, c.arity, kids), TYPE_INT);
}

static bool resolve_domain(struct resolver *r, const struct scope *sc, const struct expr *e,
                           struct space_domain *dom);

/* Binds the parameters of a definition to the arguments of its use, in order. */
static const struct binding *bind_args(struct resolver *r, const struct scope *sc,
                                       const struct define_decl *def, const struct expr *use)
{
    const struct binding *inner = NULL;
    const struct expr *a = use->args;
    for (const struct binder *b = def->params; b; b = b->next, a = a->next) {
        struct scope params = {inner, sc->depth};
        struct space_domain dom;
        struct typed t = resolve(r, sc, a);
        if (t.type.kind == TYPE_ERROR || !resolve_domain(r, &params, b->domain, &dom)) return NULL;
        if (!fits_root(r, t.type, dom.root)) {
            diag_error(r->diag, a->at, "'%s' of '%s' must be an object of set '%s'", b->name.text,
                       def->name.text, b->domain->text);
            return NULL;
        }
        t.type = (struct type){.kind = TYPE_OBJECT, .root = dom.root};
        struct binding *bound = ARENA_NEW(r->m->arena, struct binding);
        *bound = (struct binding){b->name.text, t, inner};
        inner = bound;
    }
    return inner;
}

static struct typed resolve_define(struct resolver *r, const struct scope *sc, const struct expr *e,
                                   const struct define_decl *def)
{
    unsigned arity = 0;
    for (const struct binder *b = def->params; b; b = b->next)
        arity++;
    if (!check_arity(r, e, arity)) return FAILED;
    for (int i = 0; i < r->n_expanding; i++) {
        if (r->expanding[i] != def) continue;
        diag_error(r->diag, e->at, "the definition of '%s' is cyclic", def->name.text);
        return FAILED;
    }
    if (r->n_expanding == 64) {
        diag_error(r->diag, e->at, "definitions are nested too deeply");
        return FAILED;
    }
    const struct binding *params = bind_args(r, sc, def, e);
    if (arity && !params) return FAILED;
    struct scope body = {params, sc->depth};
    r->expanding[r->n_expanding++] = def;
    struct typed t = resolve(r, &body, def->body);
    r->n_expanding--;
    return t;
}

static struct typed resolve_call(struct resolver *r, const struct scope *sc, const struct expr *e)
{
    for (const struct binding *b = sc->bindings; b; b = b->outer) {
        if (strcmp(b->name, e->text)) continue;
        return check_arity(r, e, 0) ? b->value : FAILED;
    }
    int32_t i;
    const struct define_decl *def = find_define(r->m, e->text);
    if (def) return resolve_define(r, sc, e, def);
    if ((i = find_choice(r->m, e->text)) >= 0) return resolve_choice(r, sc, e, i);
    if ((i = find_property(r->m, e->text)) >= 0) return resolve_property(r, sc, e, i);
    if ((i = find_parameter(r->m, e->text)) >= 0)
        return check_arity(r, e, 0) ? typed(node(r, SPACE_PARAM, i, 0, 0, NULL), TYPE_INT) : FAILED;
    diag_error(r->diag, e->at, "unknown name '%s'", e->text);
    return FAILED;
}

/* What a quantifier, a parameter or `in` names: a set, a parametric set, or a property whose values are
 * lists. */
static bool resolve_domain(struct resolver *r, const struct scope *sc, const struct expr *e,
                           struct space_domain *dom)
{
    *dom = (struct space_domain){-1, -1, -1, -1};
    int32_t set = find_set(r->m, e->text);
    if (set < 0) {
        struct typed t = resolve_call(r, sc, e);
        if (t.type.kind == TYPE_ERROR) return false;
        if (t.type.kind != TYPE_OBJECT || !t.type.list) {
            diag_error(r->diag, e->at, "'%s' is neither a set nor a list of objects", e->text);
            return false;
        }
        dom->list = t.node;
        dom->root = t.type.root;
        return true;
    }
    r->used_sets[set] = true;
    const struct space_set s = r->m->sets[set];
    dom->set = set;
    dom->root = s.root;
    bool whole = s.param < 0 || (s.root == set && !e->args);
    if (whole) return check_arity(r, e, 0);
    int32_t root = r->m->sets[s.param].root;
    return resolve_args(r, sc, e, &root, 1, &dom->arg);
}

static const struct binding *bind_variable(struct resolver *r, struct scope *sc, const struct name *name,
                                           int32_t root)
{
    for (const struct binding *b = sc->bindings; b; b = b->outer)
        if (!strcmp(b->name, name->text))
            diag_error(r->diag, name->at, "variable '%s' shadows another", name->text);
    if (sc->depth >= SPACE_MAX_VARS) {
        diag_error(r->diag, name->at, "more than %d variables", SPACE_MAX_VARS);
        return NULL;
    }
    struct binding *b = ARENA_NEW(r->m->arena, struct binding);
    b->name = name->text;
    b->value = (struct typed){node(r, SPACE_VAR, sc->depth, 0, 0, NULL), {.kind = TYPE_OBJECT, .root = root}};
    b->outer = sc->bindings;
    sc->bindings = b;
    sc->depth++;
    return b;
}

static bool wants(struct resolver *r, struct typed t, enum type_kind kind, struct source_pos at)
{
    if (t.type.kind == TYPE_ERROR) return false;
    bool ok = kind == TYPE_BOOL ? t.type.kind == TYPE_BOOL && !t.type.list : is_int(r, t.type);
    if (!ok) diag_error(r->diag, at, "expected %s", kind == TYPE_BOOL ? "a condition" : "a number");
    return ok;
}

/* One variable at a time, the innermost first wrapped around the value. */
static struct typed resolve_quantifier(struct resolver *r, const struct scope *outer, const struct expr *e,
                                       const struct binder *b)
{
    bool logic = e->op == SPACE_EXISTS || e->op == SPACE_FORALL;
    enum type_kind kind = logic ? TYPE_BOOL : TYPE_INT;
    struct space_domain dom;
    if (!resolve_domain(r, outer, b->domain, &dom)) return FAILED;
    struct scope sc = *outer;
    if (!bind_variable(r, &sc, &b->name, dom.root)) return FAILED;
    int32_t kids[2];
    unsigned n = 1;
    struct typed value = b->next ? resolve_quantifier(r, &sc, e, b->next) : resolve(r, &sc, e->kids[0]);
    if (!wants(r, value, kind, e->kids[0]->at)) return FAILED;
    kids[0] = value.node;
    if (e->kids[1] && !b->next) {
        struct typed where = resolve(r, &sc, e->kids[1]);
        if (!wants(r, where, TYPE_BOOL, e->kids[1]->at)) return FAILED;
        kids[n++] = where.node;
    }
    return typed(node(r, e->op, add_domain(r, dom), outer->depth, n, kids), kind);
}

static uint64_t value_mask(struct resolver *r, const struct space_choice *c, const struct name *n)
{
    for (unsigned i = 0; i < c->n_values; i++)
        if (!strcmp(c->value_names[i], n->text)) return UINT64_C(1) << i;
    for (unsigned i = 0; i < c->n_aliases; i++)
        if (!strcmp(c->aliases[i].name, n->text)) return c->aliases[i].mask;
    diag_error(r->diag, n->at, "'%s' is not a value of '%s'", n->text, c->name);
    return 0;
}

static struct typed resolve_is(struct resolver *r, const struct scope *sc, const struct expr *e)
{
    struct typed left = resolve(r, sc, e->kids[0]);
    if (left.type.kind == TYPE_ERROR) return FAILED;
    struct space_node choice = r->m->nodes[left.node];
    if (choice.op != SPACE_CHOICE || !r->m->choices[choice.a].n_values) {
        diag_error(r->diag, e->at, "'is' needs a choice with named values on its left");
        return FAILED;
    }
    uint64_t mask = 0;
    for (const struct name *n = e->values; n; n = n->next)
        mask |= value_mask(r, &r->m->choices[choice.a], n);
    int32_t kids[SPACE_MAX_ARITY];
    memcpy(kids, r->m->kids + choice.first, choice.n * sizeof *kids);
    int32_t is = node(r, SPACE_IS, choice.a, (int64_t)mask, choice.n, kids);
    if (e->negated) is = node(r, SPACE_NOT, 0, 0, 1, &is);
    return typed(is, TYPE_BOOL);
}

static struct typed resolve_list(struct resolver *r, const struct scope *sc, const struct expr *e)
{
    int32_t kids[255];
    unsigned n = 0;
    for (const struct expr *a = e->args; a; a = a->next) {
        struct typed t = resolve(r, sc, a);
        if (t.type.kind == TYPE_ERROR) return FAILED;
        if (n == 255) {
            diag_error(r->diag, a->at, "a list of more than 255 items");
            return FAILED;
        }
        kids[n++] = t.node;
    }
    return (struct typed){node(r, SPACE_LIST, 0, 0, n, kids), {.kind = TYPE_INT, .list = true}};
}

static struct typed resolve_range(struct resolver *r, const struct scope *sc, const struct expr *e)
{
    int32_t kids[3];
    unsigned n = e->kids[2] ? 3 : 2;
    for (unsigned i = 0; i < n; i++) {
        struct typed t = resolve(r, sc, e->kids[i]);
        if (!wants(r, t, TYPE_INT, e->kids[i]->at)) return FAILED;
        kids[i] = t.node;
    }
    return (struct typed){node(r, SPACE_RANGE, 0, 0, n, kids), {.kind = TYPE_INT, .list = true}};
}

static struct typed negate_if(struct resolver *r, bool negated, int32_t n)
{
    return typed(negated ? node(r, SPACE_NOT, 0, 0, 1, &n) : n, TYPE_BOOL);
}

static struct typed resolve_in(struct resolver *r, const struct scope *sc, const struct expr *e)
{
    struct typed left = resolve(r, sc, e->kids[0]);
    if (left.type.kind == TYPE_ERROR) return FAILED;
    const struct expr *right = e->kids[1];
    if (right->kind == EXPR_CALL && left.type.kind == TYPE_OBJECT && find_set(r->m, right->text) >= 0) {
        struct space_domain dom;
        if (!resolve_domain(r, sc, right, &dom)) return FAILED;
        if (!fits_root(r, left.type, dom.root))
            diag_error(r->diag, e->at, "the object can never be in '%s'", right->text);
        return negate_if(r, e->negated, node(r, SPACE_IN_SET, add_domain(r, dom), 0, 1, &left.node));
    }
    struct typed list = resolve(r, sc, right);
    if (list.type.kind == TYPE_ERROR) return FAILED;
    if (!list.type.list) {
        diag_error(r->diag, right->at, "expected a set or a list");
        return FAILED;
    }
    return negate_if(r, e->negated, node(r, SPACE_IN, 0, 0, 2, (int32_t[]){left.node, list.node}));
}

static bool is_equality(enum space_op op)
{
    return op == SPACE_EQ || op == SPACE_NE;
}

static enum type_kind operand_type(enum space_op op, unsigned i)
{
    if (op == SPACE_AND || op == SPACE_OR || op == SPACE_NOT || op == SPACE_IMP) return TYPE_BOOL;
    return op == SPACE_ITE && i == 0 ? TYPE_BOOL : TYPE_INT;
}

static bool same_type(const struct resolver *r, struct type a, struct type b)
{
    if (a.list || b.list) return false;
    if (a.kind == TYPE_OBJECT && b.kind == TYPE_OBJECT) return a.root == b.root;
    return (a.kind == TYPE_BOOL && b.kind == TYPE_BOOL) || (is_int(r, a) && is_int(r, b));
}

static struct typed resolve_op(struct resolver *r, const struct scope *sc, const struct expr *e)
{
    int32_t kids[3];
    struct type types[3];
    unsigned n = 0;
    bool ok = true;
    for (; n < 3 && e->kids[n]; n++) {
        struct typed t = resolve(r, sc, e->kids[n]);
        kids[n] = t.node;
        types[n] = t.type;
        bool free_type = is_equality(e->op) || (e->op == SPACE_ITE && n > 0);
        if (t.type.kind == TYPE_ERROR)
            ok = false;
        else if (!free_type && !wants(r, t, operand_type(e->op, n), e->kids[n]->at))
            ok = false;
    }
    if (!ok) return FAILED;
    if ((is_equality(e->op) && !same_type(r, types[0], types[1])) ||
        (e->op == SPACE_ITE && !same_type(r, types[1], types[2]))) {
        diag_error(r->diag, e->at, "the two sides have different types");
        return FAILED;
    }
    int32_t result = node(r, e->op, 0, 0, n, kids);
    if (e->op == SPACE_ITE) return (struct typed){result, types[1]};
    bool logic =
        is_equality(e->op) || operand_type(e->op, 0) == TYPE_BOOL || e->op == SPACE_LE || e->op == SPACE_LT;
    return typed(result, logic ? TYPE_BOOL : TYPE_INT);
}

static struct typed resolve(struct resolver *r, const struct scope *sc, const struct expr *e)
{
    switch (e->kind) {
    case EXPR_INT:
        return typed(node(r, SPACE_CONST, 0, e->number, 0, NULL), TYPE_INT);
    case EXPR_BOOL:
        return typed(node(r, SPACE_CONST, 0, e->number, 0, NULL), TYPE_BOOL);
    case EXPR_CALL:
        return resolve_call(r, sc, e);
    case EXPR_OP:
        return resolve_op(r, sc, e);
    case EXPR_IS:
        return resolve_is(r, sc, e);
    case EXPR_IN:
        return resolve_in(r, sc, e);
    case EXPR_LIST:
        return resolve_list(r, sc, e);
    case EXPR_RANGE:
        return resolve_range(r, sc, e);
    case EXPR_QUANTIFIER:
        return resolve_quantifier(r, sc, e, e->binders);
    }
    PANIC("expression of unknown kind %d", e->kind);
}

/* ---- declarations ---- */

static int32_t set_named(struct resolver *r, const struct name *n)
{
    int32_t set = find_set(r->m, n->text);
    if (set < 0)
        diag_error(r->diag, n->at, "unknown set '%s'", n->text);
    else
        r->used_sets[set] = true;
    return set;
}

static void check_new(struct resolver *r, const struct name *n)
{
    const struct model *m = r->m;
    if (find_set(m, n->text) >= 0 || find_property(m, n->text) >= 0 || find_parameter(m, n->text) >= 0 ||
        find_choice(m, n->text) >= 0)
        diag_error(r->diag, n->at, "'%s' is declared twice", n->text);
}

static void declare_set(struct resolver *r, const struct set_decl *decl)
{
    struct model *m = r->m;
    check_new(r, &decl->name);
    int32_t self = (int32_t)m->n_sets;
    struct space_set s = {.name = decl->name.text,
                          .root = self,
                          .parent = -1,
                          .param = -1,
                          .disjoint = -1,
                          .range = decl->range,
                          .lo = decl->lo,
                          .hi = decl->hi};
    if (decl->param_set.text) s.param = set_named(r, &decl->param_set);
    if (decl->parent.text && (s.parent = set_named(r, &decl->parent)) >= 0) s.root = m->sets[s.parent].root;
    if (decl->disjoint.text) s.disjoint = set_named(r, &decl->disjoint);
    if (decl->range && (decl->lo < 0 || decl->hi - decl->lo >= SPACE_MAX_VALUES))
        diag_error(r->diag, decl->name.at, "a range set has 1 to %d objects from 0 on", SPACE_MAX_VALUES);
    if (decl->range && decl->hi < decl->lo) diag_error(r->diag, decl->name.at, "the range is empty");
    if (s.param >= 0 && s.parent < 0 && !decl->relation)
        diag_error(r->diag, decl->name.at,
                   "a parametric set needs a set that it is part of; or declare a relation");
    m->sets[m->n_sets++] = s;
}

static void declare_property(struct resolver *r, const struct property_decl *decl)
{
    struct model *m = r->m;
    check_new(r, &decl->name);
    struct space_property p = {.name = decl->name.text, .object = -1, .list = decl->list};
    for (const struct name *n = decl->args; n; n = n->next) {
        int32_t set = set_named(r, n);
        if (p.arity == SPACE_MAX_ARITY)
            diag_error(r->diag, n->at, "more than %d arguments", SPACE_MAX_ARITY);
        else
            p.args[p.arity++] = set < 0 ? 0 : set;
    }
    if (decl->type == VALUE_OBJECT) p.object = set_named(r, &decl->object);
    if (decl->type == VALUE_BOOL && decl->list)
        diag_error(r->diag, decl->name.at, "lists are of int or of objects");
    m->properties[m->n_properties++] = p;
}

static void declare_parameter(struct resolver *r, const struct parameter_decl *decl)
{
    check_new(r, &decl->name);
    r->m->parameters[r->m->n_parameters++] = (struct space_parameter){
        .name = decl->name.text, .unit = decl->unit, .has_default = decl->has_default, .value = decl->value};
}

static void declare_values(struct resolver *r, const struct choice_decl *decl, struct space_choice *c)
{
    const char **names = ARENA_ARRAY(r->m->arena, const char *, SPACE_MAX_ENUM);
    int64_t *codes = ARENA_ARRAY(r->m->arena, int64_t, SPACE_MAX_ENUM);
    for (const struct enum_value *v = decl->values; v; v = v->next) {
        for (unsigned i = 0; i < c->n_values; i++)
            if (!strcmp(names[i], v->name.text) || codes[i] == v->code)
                diag_error(r->diag, v->name.at, "value or code used twice");
        if (c->n_values == SPACE_MAX_ENUM) {
            diag_error(r->diag, v->name.at, "more than %d values", SPACE_MAX_ENUM);
            break;
        }
        names[c->n_values] = v->name.text;
        codes[c->n_values++] = v->code;
    }
    c->value_names = names;
    c->codes = codes;
}

static void declare_aliases(struct resolver *r, const struct choice_decl *decl, struct space_choice *c)
{
    unsigned n = 0;
    for (const struct alias_decl *a = decl->aliases; a; a = a->next)
        n++;
    struct space_alias *aliases = ARENA_ARRAY(r->m->arena, struct space_alias, n + 1);
    c->aliases = aliases;
    for (const struct alias_decl *a = decl->aliases; a && c->n_aliases < 255; a = a->next) {
        uint64_t mask = 0;
        for (const struct name *v = a->values; v; v = v->next)
            mask |= value_mask(r, c, v);
        aliases[c->n_aliases++] = (struct space_alias){a->name.text, mask};
    }
}

static void declare_pairing(struct resolver *r, const struct choice_decl *decl, struct space_choice *c)
{
    uint8_t *mirror = ARENA_ARRAY(r->m->arena, uint8_t, SPACE_MAX_ENUM);
    for (unsigned i = 0; i < SPACE_MAX_ENUM; i++)
        mirror[i] = (uint8_t)i;
    for (const struct pair_decl *p = decl->pairs; p; p = p->next) {
        uint64_t left = value_mask(r, c, &p->left), right = value_mask(r, c, &p->right);
        if (!left || !right) continue;
        unsigned a = (unsigned)__builtin_ctzll(left), b = (unsigned)__builtin_ctzll(right);
        mirror[a] = (uint8_t)b;
        mirror[b] = (uint8_t)a;
    }
    c->mirror = mirror;
    c->pairing = decl->antisymmetric ? SPACE_ANTISYMMETRIC : decl->symmetric ? SPACE_SYMMETRIC : SPACE_PLAIN;
    bool pair =
        c->arity == 2 && c->args[0].set >= 0 && c->args[0].set == c->args[1].set && c->args[0].arg < 0;
    if (c->pairing != SPACE_PLAIN && !(pair && c->n_values))
        diag_error(r->diag, decl->name.at,
                   "only a choice with named values over two objects of one set can be symmetric");
}

static bool declare_arguments(struct resolver *r, const struct choice_decl *decl, struct space_choice *c,
                              struct scope *sc)
{
    for (const struct binder *b = decl->params; b; b = b->next) {
        if (c->arity == SPACE_MAX_ARITY) {
            diag_error(r->diag, b->name.at, "more than %d arguments", SPACE_MAX_ARITY);
            return false;
        }
        struct space_domain *dom = &c->args[c->arity];
        if (!resolve_domain(r, sc, b->domain, dom) || !bind_variable(r, sc, &b->name, dom->root))
            return false;
        c->arity++;
    }
    return true;
}

static unsigned line_of(struct source_pos at)
{
    unsigned line, column;
    source_locate(at, &line, &column);
    return line;
}

static void declare_choice(struct resolver *r, const struct choice_decl *decl)
{
    struct model *m = r->m;
    struct space_choice c = {
        .name = decl->name.text, .doc = decl->doc, .values = -1, .where = -1, .line = line_of(decl->name.at)};
    struct scope sc = {0};
    check_new(r, &decl->name);
    bool ok = declare_arguments(r, decl, &c, &sc);
    if (decl->values) declare_values(r, decl, &c);
    declare_aliases(r, decl, &c);
    declare_pairing(r, decl, &c);
    if (ok && decl->where) {
        struct typed t = resolve(r, &sc, decl->where);
        if (wants(r, t, TYPE_BOOL, decl->where->at)) c.where = t.node;
    }
    if (ok && decl->domain) {
        struct typed t = resolve(r, &sc, decl->domain);
        if (t.type.kind != TYPE_ERROR && (!t.type.list || t.type.kind != TYPE_INT))
            diag_error(r->diag, decl->domain->at, "the values of '%s' must be a list of numbers", c.name);
        c.values = t.node;
    }
    m->choices[m->n_choices++] = c;
}

/* Checks a definition that nothing uses, with its parameters as free variables. */
static void check_define(struct resolver *r, const struct define_decl *decl)
{
    struct scope sc = {0};
    check_new(r, &decl->name);
    for (const struct binder *b = decl->params; b; b = b->next) {
        struct space_domain dom;
        if (!resolve_domain(r, &sc, b->domain, &dom) || !bind_variable(r, &sc, &b->name, dom.root)) return;
    }
    r->expanding[r->n_expanding++] = decl;
    resolve(r, &sc, decl->body);
    r->n_expanding--;
}

/* Binds the variables of a `forall` prefix; their domains are consecutive. */
static bool resolve_prefix(struct resolver *r, const struct binder *vars, struct scope *sc, int32_t *first,
                           uint8_t *n)
{
    struct space_domain doms[SPACE_MAX_VARS];
    *n = 0;
    for (const struct binder *b = vars; b; b = b->next) {
        if (*n == SPACE_MAX_VARS) return false;
        if (!resolve_domain(r, sc, b->domain, &doms[*n]) || !bind_variable(r, sc, &b->name, doms[*n].root))
            return false;
        ++*n;
    }
    *first = (int32_t)r->m->n_domains;
    for (unsigned i = 0; i < *n; i++)
        add_domain(r, doms[i]);
    return true;
}

static void declare_require(struct resolver *r, const struct require_decl *decl)
{
    struct space_constraint c = {.text = decl->text, .doc = decl->doc, .line = line_of(decl->at)};
    struct scope sc = {0};
    if (!resolve_prefix(r, decl->vars, &sc, &c.domains, &c.n_vars)) return;
    struct typed t = resolve(r, &sc, decl->body);
    if (!wants(r, t, TYPE_BOOL, decl->body->at)) return;
    c.body = t.node;
    if (r->m->nodes[t.node].op == SPACE_CONST)
        diag_error(r->diag, decl->at, "the condition is always %s",
                   r->m->nodes[t.node].imm ? "true" : "false");
    r->m->constraints[r->m->n_constraints++] = c;
}

static void declare_trigger(struct resolver *r, const struct trigger_decl *decl)
{
    struct space_trigger t = {.text = decl->text, .line = line_of(decl->at)};
    struct scope sc = {0};
    int32_t kids[64];
    int32_t *roots = ARENA_ARRAY(r->m->arena, int32_t, 64);
    unsigned n = 0;
    if (!resolve_prefix(r, decl->vars, &sc, &t.domains, &t.n_vars)) return;
    struct typed when = resolve(r, &sc, decl->when);
    bool ok = wants(r, when, TYPE_BOOL, decl->when->at);
    for (const struct expr *e = decl->objects; e && n < 64; e = e->next) {
        struct typed o = resolve(r, &sc, e);
        if (o.type.kind == TYPE_ERROR)
            ok = false;
        else if (o.type.kind != TYPE_OBJECT) {
            diag_error(r->diag, e->at, "expected an object or a list of objects");
            ok = false;
        }
        roots[n] = o.type.root;
        kids[n++] = o.node;
    }
    if (!ok) return;
    t.when = when.node;
    t.roots = roots;
    t.objects = node(r, SPACE_LIST, 0, 0, n, kids);
    r->m->triggers[r->m->n_triggers++] = t;
}

static void check_used(struct resolver *r)
{
    size_t i = 0;
    for (const struct set_decl *s = r->m->ast->sets; s; s = s->next, i++)
        if (!r->used_sets[i]) diag_error(r->diag, s->name.at, "set '%s' is never used", s->name.text);
}

/* Room for every declaration, so that the tables below never move. */
static void reserve(struct model *m)
{
    size_t n = 1;
    for (const struct set_decl *x = m->ast->sets; x; x = x->next)
        n++;
    m->sets = ARENA_ARRAY(m->arena, struct space_set, n);
    n = 1;
    for (const struct property_decl *x = m->ast->properties; x; x = x->next)
        n++;
    m->properties = ARENA_ARRAY(m->arena, struct space_property, n);
    n = 1;
    for (const struct parameter_decl *x = m->ast->parameters; x; x = x->next)
        n++;
    m->parameters = ARENA_ARRAY(m->arena, struct space_parameter, n);
    n = 1;
    for (const struct choice_decl *x = m->ast->choices; x; x = x->next)
        n++;
    m->choices = ARENA_ARRAY(m->arena, struct space_choice, n);
    n = 1;
    for (const struct require_decl *x = m->ast->requires; x; x = x->next)
        n++;
    m->constraints = ARENA_ARRAY(m->arena, struct space_constraint, n);
    n = 1;
    for (const struct trigger_decl *x = m->ast->triggers; x; x = x->next)
        n++;
    m->triggers = ARENA_ARRAY(m->arena, struct space_trigger, n);
}

struct model *spacedsl_resolve(const struct ast *ast, struct arena *a, struct diag *d)
{
    struct model *m = ARENA_NEW(a, struct model);
    m->arena = a;
    m->ast = ast;
    reserve(m);
    size_t n_sets = 0;
    for (const struct set_decl *s = ast->sets; s; s = s->next)
        n_sets++;
    struct resolver *r = ARENA_NEW(a, struct resolver);
    *r = (struct resolver){.m = m, .diag = d, .used_sets = ARENA_ARRAY(a, bool, n_sets + 1)};
    for (const struct set_decl *x = ast->sets; x; x = x->next)
        declare_set(r, x);
    if (diag_failed(d)) return NULL;
    for (const struct property_decl *x = ast->properties; x; x = x->next)
        declare_property(r, x);
    for (const struct parameter_decl *x = ast->parameters; x; x = x->next)
        declare_parameter(r, x);
    if (diag_failed(d)) return NULL;
    for (const struct choice_decl *x = ast->choices; x; x = x->next)
        declare_choice(r, x);
    if (diag_failed(d)) return NULL;
    for (const struct define_decl *x = ast->defines; x; x = x->next)
        check_define(r, x);
    if (diag_failed(d)) return NULL;
    for (const struct require_decl *x = ast->requires; x; x = x->next)
        declare_require(r, x);
    for (const struct trigger_decl *x = ast->triggers; x; x = x->next)
        declare_trigger(r, x);
    check_used(r);
    return diag_failed(d) ? NULL : m;
}

const struct space_def *spacedsl_model_def(const struct model *m)
{
    struct space_def *def = ARENA_NEW(m->arena, struct space_def);
    const struct source *src = m->ast->source;
    *def = (struct space_def){.name = m->ast->name.text,
                              .file = src->path,
                              .hash = hash_finish(hash_bytes(HASH_START, src->text, src->length)),
                              .sets = m->sets,
                              .properties = m->properties,
                              .parameters = m->parameters,
                              .choices = m->choices,
                              .constraints = m->constraints,
                              .triggers = m->triggers,
                              .domains = m->domains,
                              .nodes = m->nodes,
                              .kids = m->kids,
                              .n_sets = (int32_t)m->n_sets,
                              .n_properties = (int32_t)m->n_properties,
                              .n_parameters = (int32_t)m->n_parameters,
                              .n_choices = (int32_t)m->n_choices,
                              .n_constraints = (int32_t)m->n_constraints,
                              .n_triggers = (int32_t)m->n_triggers,
                              .n_domains = (int32_t)m->n_domains,
                              .n_nodes = (int32_t)m->n_nodes};
    return def;
}

const struct space_def *spacedsl_compile(const struct source *source, struct arena *a, struct diag *d)
{
    const struct ast *ast = spacedsl_parse(source, a, d);
    if (diag_failed(d)) return NULL;
    const struct model *m = spacedsl_resolve(ast, a, d);
    return m ? spacedsl_model_def(m) : NULL;
}
