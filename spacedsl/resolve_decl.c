/* Declarations of sets, properties, parameters, choices and quotients: names become indices into the tables
 * of the model. `choice size(t: Tile): int in sizes(t)` becomes an entry of choices[] with one argument of
 * the set Tile, and a node for the list `sizes(t)` in which variable 0 stands for t. */
#include <string.h>

#include "spacedsl/resolve.h"

enum { MOST_NUMBER = 1 << 20 }; /* of an object of a range set; there is a table by it */

static struct space_remark remark_of(struct remark r)
{
    return (struct space_remark){r.doc, r.text};
}

void declare_derived(struct model *m, const struct name *name, struct remark remark)
{
    m->derived[m->n_derived++] = (struct space_derived){name->text, remark_of(remark)};
}

static int32_t set_named(struct resolver *r, const struct name *n)
{
    int32_t set = find_set(r->m, n->text);
    if (set < 0)
        diag_error(r->diag, n->at, "unknown set '%s'%s", n->text, guess_set(r, n->text));
    else
        r->used_sets[set] = true;
    return set;
}

static bool same_place(struct source_pos a, struct source_pos b)
{
    return a.source == b.source && a.offset == b.offset;
}

void check_new(struct resolver *r, const struct name *n)
{
    const struct model *m = r->m;
    const struct define_decl *def = find_define(m, n->text);
    const struct quotient_decl *q = find_quotient(m, n->text);
    bool again = (def && !same_place(def->name.at, n->at)) || (q && !same_place(q->name.at, n->at));
    if (find_set(m, n->text) >= 0 || find_property(m, n->text) >= 0 || find_parameter(m, n->text) >= 0 ||
        find_choice(m, n->text) >= 0 || again)
        diag_error(r->diag, n->at, "'%s' is declared twice", n->text);
}

static void check_range_set(struct resolver *r, const struct set_decl *decl)
{
    if (decl->lo < 0 || decl->hi - decl->lo >= SPACE_MAX_VALUES)
        diag_error(r->diag, decl->name.at, "a range set has 1 to %d objects, none below 0", SPACE_MAX_VALUES);
    else if (decl->hi > MOST_NUMBER)
        diag_error(r->diag, decl->name.at, "the objects of a range set are numbers up to %d", MOST_NUMBER);
    if (decl->hi < decl->lo) diag_error(r->diag, decl->name.at, "the range is empty");
    if (decl->parent.text || decl->param_set.text)
        diag_error(r->diag, decl->name.at, "a range set cannot be part of another set");
}

/* A subset is a list, so what it is part of has to be one too. */
static void check_part(struct resolver *r, const struct set_decl *decl, const struct space_set *s)
{
    const struct space_set *around = s->parent >= 0 ? &r->m->sets[s->parent] : NULL;
    if (around && s->param < 0 && around->param >= 0 && around->root != s->parent)
        diag_error(r->diag, decl->parent.at,
                   "'%s' is a parametric set; only a parametric set can be a subset of it",
                   decl->parent.text);
}

void declare_set(struct resolver *r, const struct set_decl *decl)
{
    struct model *m = r->m;
    check_new(r, &decl->name);
    int32_t self = (int32_t)m->n_sets;
    struct space_set s = {.name = decl->name.text,
                          .remark = remark_of(decl->remark),
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
    if (decl->range) check_range_set(r, decl);
    check_part(r, decl, &s);
    if (s.param >= 0 && !decl->parent.text && !decl->relation)
        diag_error(
            r->diag, decl->name.at,
            "a parametric set must be a subset of a set: write 'set S(x: X) : T', or declare a relation");
    m->sets[m->n_sets++] = s;
}

void declare_property(struct resolver *r, const struct property_decl *decl)
{
    struct model *m = r->m;
    check_new(r, &decl->name);
    struct space_property p = {.name = decl->name.text,
                               .remark = remark_of(decl->remark),
                               .object = -1,
                               .list = decl->list,
                               .condition = decl->type == VALUE_BOOL};
    for (const struct name *n = decl->args; n; n = n->next) {
        int32_t set = set_named(r, n);
        if (p.arity == SPACE_MAX_ARITY)
            diag_error(r->diag, n->at, "more than %d arguments", SPACE_MAX_ARITY);
        else
            p.args[p.arity++] = set < 0 ? 0 : set;
    }
    if (decl->type == VALUE_OBJECT) p.object = set_named(r, &decl->object);
    if (decl->type == VALUE_BOOL && decl->list)
        diag_error(r->diag, decl->name.at, "a list must be a list of int or of objects");
    m->properties[m->n_properties++] = p;
}

void declare_parameter(struct resolver *r, const struct parameter_decl *decl)
{
    check_new(r, &decl->name);
    r->m->parameters[r->m->n_parameters++] = (struct space_parameter){.name = decl->name.text,
                                                                      .remark = remark_of(decl->remark),
                                                                      .unit = decl->unit,
                                                                      .has_default = decl->has_default,
                                                                      .value = decl->value};
}

static void declare_values(struct resolver *r, const struct choice_decl *decl, struct space_choice *c)
{
    const char **names = ARENA_ARRAY(r->m->arena, const char *, SPACE_MAX_ENUM);
    const char **docs = ARENA_ARRAY(r->m->arena, const char *, SPACE_MAX_ENUM);
    int64_t *codes = ARENA_ARRAY(r->m->arena, int64_t, SPACE_MAX_ENUM);
    for (const struct enum_value *v = decl->values; v; v = v->next) {
        for (unsigned i = 0; i < c->n_values; i++)
            if (!strcmp(names[i], v->name.text) || codes[i] == v->code)
                diag_error(r->diag, v->name.at, "a value of this name or code exists already");
        if (c->n_values == SPACE_MAX_ENUM) {
            diag_error(r->diag, v->name.at, "more than %d values", SPACE_MAX_ENUM);
            break;
        }
        names[c->n_values] = v->name.text;
        docs[c->n_values] = v->doc;
        codes[c->n_values++] = v->code;
    }
    c->value_names = names;
    c->value_docs = docs;
    c->codes = codes;
}

enum { MAX_ALIASES = 255 };

static void declare_aliases(struct resolver *r, const struct choice_decl *decl, struct space_choice *c)
{
    unsigned n = 0;
    for (const struct alias_decl *a = decl->aliases; a; a = a->next)
        n++;
    struct space_alias *aliases = ARENA_ARRAY(r->m->arena, struct space_alias, n + 1);
    c->aliases = aliases;
    for (const struct alias_decl *a = decl->aliases; a; a = a->next) {
        uint64_t mask = 0;
        if (find_value(c, a->name.text))
            diag_error(r->diag, a->name.at, "a value or alias of this name exists already");
        if (c->n_aliases == MAX_ALIASES) {
            diag_error(r->diag, a->name.at, "more than %d aliases", MAX_ALIASES);
            break;
        }
        for (const struct name *v = a->values; v; v = v->next)
            mask |= value_mask(r, c, v);
        aliases[c->n_aliases++] = (struct space_alias){a->name.text, mask};
    }
}

/* A value that goes with another one, as a mask; 0 after an error. */
static uint64_t paired_value(struct resolver *r, const struct space_choice *c, const struct name *n,
                             uint64_t paired)
{
    uint64_t value = value_mask(r, c, n);
    bool several = value & (value - 1);
    if (several)
        diag_error(r->diag, n->at, "'%s' stands for several values; a pair takes one", n->text);
    else if (value & paired)
        diag_error(r->diag, n->at, "'%s' is in two pairs", n->text);
    return several ? 0 : value;
}

static void declare_pairing(struct resolver *r, const struct choice_decl *decl, struct space_choice *c)
{
    uint8_t *mirror = ARENA_ARRAY(r->m->arena, uint8_t, SPACE_MAX_ENUM);
    for (unsigned i = 0; i < SPACE_MAX_ENUM; i++)
        mirror[i] = (uint8_t)i;
    uint64_t paired = 0;
    for (const struct pair_decl *p = decl->pairs; p; p = p->next) {
        uint64_t left = paired_value(r, c, &p->left, paired), right = paired_value(r, c, &p->right, paired);
        if (!left || !right) continue;
        paired |= left | right;
        unsigned a = (unsigned)__builtin_ctzll(left), b = (unsigned)__builtin_ctzll(right);
        mirror[a] = (uint8_t)b;
        mirror[b] = (uint8_t)a;
    }
    c->mirror = mirror;
    c->pairing = decl->antisymmetric ? SPACE_ANTISYMMETRIC : decl->symmetric ? SPACE_SYMMETRIC : SPACE_PLAIN;
    bool pair = c->arity == 2 && c->args[0].set >= 0 && c->args[0].set == c->args[1].set &&
                c->args[0].arg < 0 && c->args[1].arg < 0;
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

unsigned line_of(struct source_pos at)
{
    unsigned line, column;
    source_locate(at, &line, &column);
    return line;
}

void declare_choice(struct resolver *r, const struct choice_decl *decl)
{
    struct model *m = r->m;
    struct space_choice c = {.name = decl->name.text,
                             .remark = remark_of(decl->remark),
                             .values = -1,
                             .where = -1,
                             .file = decl->name.at.source->path,
                             .line = line_of(decl->name.at)};
    struct scope sc = {0};
    check_new(r, &decl->name);
    bool ok = declare_arguments(r, decl, &c, &sc);
    if (decl->values) declare_values(r, decl, &c);
    declare_aliases(r, decl, &c);
    declare_pairing(r, decl, &c);
    if (ok && decl->where) {
        struct typed t = resolve_formula(r, &sc, decl->where);
        if (wants(r, t, TYPE_BOOL, decl->where->at) && check_static(r, t, decl->where->at)) c.where = t.node;
    }
    if (ok && decl->domain) {
        struct typed t = resolve_formula(r, &sc, decl->domain);
        if (t.type.kind != TYPE_ERROR && (!t.type.list || t.type.kind != TYPE_INT))
            diag_error(r->diag, decl->domain->at, "the values of '%s' must be a list of numbers", c.name);
        else
            check_static(r, t, decl->domain->at);
        c.values = t.node;
    }
    m->choices[m->n_choices++] = c;
}

void declare_quotient(struct resolver *r, const struct quotient_decl *decl)
{
    struct scope sc = {0};
    struct space_domain dom;
    check_new(r, &decl->name);
    int32_t choice = find_choice(r->m, decl->choice.text);
    if (choice < 0) {
        diag_error(r->diag, decl->choice.at, "unknown choice '%s'", decl->choice.text);
        return;
    }
    const struct space_choice *c = &r->m->choices[choice];
    uint64_t mask = 0, mirrored = 0;
    for (const struct name *n = decl->values; n; n = n->next)
        mask |= value_mask(r, c, n);
    for (unsigned v = 0; v < c->n_values; v++)
        if (mask >> v & 1) mirrored |= UINT64_C(1) << c->mirror[v];
    if (c->pairing == SPACE_PLAIN || mask != mirrored)
        diag_error(
            r->diag, decl->choice.at,
            "a quotient needs a symmetric or antisymmetric choice, and values that do not depend on the "
            "order of the pair; '%s' does not have both",
            c->name);
    for (const struct binder *b = decl->params; b; b = b->next)
        if (!resolve_domain(r, &sc, b->domain, &dom) || !bind_variable(r, &sc, &b->name, dom.root)) return;
    if (!resolve_domain(r, &sc, decl->domain, &dom)) return;
    const struct binding *item = bind_variable(r, &sc, &decl->item, dom.root);
    if (item) wants(r, resolve_formula(r, &sc, decl->condition), TYPE_BOOL, decl->condition->at);
    if (item && c->pairing != SPACE_PLAIN && c->args[0].root != dom.root)
        diag_error(r->diag, decl->choice.at, "the arguments of '%s' are not objects of '%s'", c->name,
                   decl->domain->text);
}
