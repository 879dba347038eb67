/* Names with arguments: variables, definitions, choices, properties, parameters.
 *
 * A definition is expanded where it is used. One that names itself is kept as a table entry and called. If
 * all of its own calls take one argument along a property (weight(c) for c in children(d)), it ends on every
 * instance whose properties have no cycle (core/space/data/data.c checks that). Otherwise they take one
 * argument to an object that may depend on choices (axis(run_parent(d))), and the number of objects bounds
 * the steps.
 */
#include <string.h>

#include "spacedsl/resolve.h"

bool check_arity(struct resolver *r, const struct expr *e, unsigned wanted)
{
    unsigned n = 0;
    for (const struct expr *a = e->args; a; a = a->next)
        n++;
    if (n != wanted)
        diag_error(r->diag, e->at, "'%s' takes %u argument%s, not %u", e->text, wanted,
                   wanted == 1 ? "" : "s", n);
    return n == wanted;
}

bool resolve_args(struct resolver *r, const struct scope *sc, const struct expr *e, const int32_t *roots,
                  unsigned arity, int32_t *kids)
{
    if (!check_arity(r, e, arity)) return false;
    bool ok = true;
    unsigned i = 0;
    for (const struct expr *a = e->args; a; a = a->next, i++) {
        struct typed t = resolve_formula(r, sc, a);
        kids[i] = t.node;
        if (t.type.kind == TYPE_ERROR)
            ok = false;
        else {
            const char *what = arena_printf(r->m->arena, "argument %u of '%s'", i + 1, e->text);
            ok = is_object_of(r, a, t.type, roots[i], what) && ok;
        }
    }
    return ok;
}

static struct typed call_property(struct resolver *r, const struct scope *sc, const struct expr *e,
                                  int32_t property)
{
    const struct space_property p = r->m->properties[property];
    int32_t roots[SPACE_MAX_ARITY], kids[SPACE_MAX_ARITY];
    for (unsigned i = 0; i < p.arity; i++)
        roots[i] = r->m->sets[p.args[i]].root;
    if (!resolve_args(r, sc, e, roots, p.arity, kids)) return TYPED_ERROR;
    enum value_type type = property_decl_at(r->m, property)->type;
    enum type_kind kind = type == VALUE_BOOL ? TYPE_BOOL : type == VALUE_INT ? TYPE_INT : TYPE_OBJECT;
    int32_t root = p.object >= 0 ? r->m->sets[p.object].root : -1;
    return (struct typed){add_object_node(r, SPACE_PROP, property, 0, p.arity, kids), {kind, p.list, root}};
}

static struct typed call_choice(struct resolver *r, const struct scope *sc, const struct expr *e,
                                int32_t choice)
{
    const struct space_choice c = r->m->choices[choice];
    int32_t roots[SPACE_MAX_ARITY], kids[SPACE_MAX_ARITY];
    for (unsigned i = 0; i < c.arity; i++)
        roots[i] = c.args[i].root;
    if (!resolve_args(r, sc, e, roots, c.arity, kids)) return TYPED_ERROR;
    return typed(add_object_node(r, SPACE_CHOICE, choice, 0, c.arity, kids), TYPE_INT);
}

/* ---- definitions ---- */

static unsigned count_binders(const struct binder *b)
{
    unsigned n = 0;
    for (; b; b = b->next)
        n++;
    return n;
}

const struct binding *bind_args(struct resolver *r, const struct scope *sc, const char *name,
                                const struct binder *params, const struct expr *use, bool *ok)
{
    const struct binding *inner = NULL;
    const struct expr *a = use->args;
    *ok = check_arity(r, use, count_binders(params));
    for (const struct binder *b = params; *ok && b; b = b->next, a = a->next) {
        struct scope so_far = {inner, sc->depth, SIDE_BOTH};
        struct space_domain dom;
        struct typed t = resolve_formula(r, sc, a);
        *ok = t.type.kind != TYPE_ERROR && resolve_domain(r, &so_far, b->domain, &dom);
        const char *what = arena_printf(r->m->arena, "'%s' of '%s'", b->name.text, name);
        *ok = *ok && is_object_of(r, a, t.type, dom.root, what);
        if (!*ok) break;
        t.type = (struct type){.kind = TYPE_OBJECT, .root = dom.root};
        struct binding *bound = ARENA_NEW(r->m->arena, struct binding);
        *bound = (struct binding){b->name.text, t, inner};
        inner = bound;
    }
    return inner;
}

/* The declared type of a definition; a kind of TYPE_ERROR: no such type. */
static struct type declared_type(struct resolver *r, const struct define_decl *def)
{
    if (def->type == VALUE_BOOL) return (struct type){.kind = TYPE_BOOL};
    if (def->type == VALUE_INT) return (struct type){.kind = TYPE_INT};
    int32_t set = find_set(r->m, def->object.text);
    if (set < 0) return (struct type){.kind = TYPE_ERROR};
    r->used_sets[set] = true;
    return (struct type){.kind = TYPE_OBJECT, .root = r->m->sets[set].root};
}

static int32_t find_recursive(const struct model *m, const char *name)
{
    for (size_t i = 0; i < m->n_defines; i++)
        if (!strcmp(m->defines[i].name, name)) return (int32_t)i;
    return -1;
}

static struct typed call_recursive(struct resolver *r, const struct define_decl *def, int32_t number,
                                   const struct binding *params)
{
    int32_t kids[SPACE_MAX_ARITY];
    unsigned n = r->m->defines[number].n_params;
    for (unsigned i = n; i > 0; i--, params = params->outer)
        kids[i - 1] = params->value.node;
    return (struct typed){add_object_node(r, SPACE_DEFINE, number, 0, n, kids), declared_type(r, def)};
}

static bool may_expand(struct resolver *r, const struct define_decl *def, const struct expr *use)
{
    for (int i = 0; i < r->n_expanding; i++) {
        if (r->expanding[i] != def) continue;
        diag_error(r->diag, use->at, "the definition of '%s' is cyclic", def->name.text);
        return false;
    }
    bool room = r->n_expanding < (int)(sizeof r->expanding / sizeof r->expanding[0]);
    if (!room) diag_error(r->diag, use->at, "definitions are nested too deeply");
    return room;
}

static struct typed call_define(struct resolver *r, const struct scope *sc, const struct expr *e,
                                const struct define_decl *def)
{
    bool ok;
    const struct binding *params = bind_args(r, sc, def->name.text, def->params, e, &ok);
    if (!ok) return TYPED_ERROR;
    if (def->half && sc->side != SIDE_LOW) {
        diag_error(r->diag, e->at, "half counter '%s' may only be bounded from above", def->name.text);
        return TYPED_ERROR;
    }
    int32_t recursive = find_recursive(r->m, def->name.text);
    if (recursive >= 0) return call_recursive(r, def, recursive, params);
    if (!may_expand(r, def, e)) return TYPED_ERROR;
    struct scope body = {params, sc->depth, sc->side};
    r->expanding[r->n_expanding++] = def;
    struct typed t = resolve_side(r, &body, def->body, sc->side);
    r->n_expanding--;
    return t;
}

/* The first choice with a value of this name, or NULL. */
static const char *choice_with(const struct model *m, const char *value)
{
    for (const struct choice_decl *c = m->ast->choices; c; c = c->next)
        for (const struct enum_value *v = c->values; v; v = v->next)
            if (!strcmp(v->name.text, value)) return c->name.text;
    return NULL;
}

/* A truth value may be given as a number: what is not 0 is true. */
static struct typed parameter_value(struct resolver *r, int32_t number)
{
    int32_t kids[2] = {add_node(r, SPACE_PARAM, number, 0, 0, NULL), 0};
    const struct parameter_decl *decl = r->m->ast->parameters;
    for (int32_t i = 0; i < number; i++)
        decl = decl->next;
    if (!decl->is_bool) return typed(kids[0], TYPE_INT);
    kids[1] = add_node(r, SPACE_CONST, 0, 0, 0, NULL);
    return typed(add_node(r, SPACE_NE, 0, 0, 2, kids), TYPE_BOOL);
}

struct typed resolve_call(struct resolver *r, const struct scope *sc, const struct expr *e)
{
    for (const struct binding *b = sc->bindings; b; b = b->outer) {
        if (strcmp(b->name, e->text)) continue;
        return check_arity(r, e, 0) ? b->value : TYPED_ERROR;
    }
    int32_t i;
    const struct define_decl *def = find_define(r->m, e->text);
    if (def) return call_define(r, sc, e, def);
    if ((i = find_choice(r->m, e->text)) >= 0) return call_choice(r, sc, e, i);
    if ((i = find_property(r->m, e->text)) >= 0) return call_property(r, sc, e, i);
    if ((i = find_parameter(r->m, e->text)) >= 0)
        return check_arity(r, e, 0) ? parameter_value(r, i) : TYPED_ERROR;
    bool other = find_set(r->m, e->text) >= 0 || find_quotient(r->m, e->text);
    const char *choice = choice_with(r->m, e->text);
    if (!other && choice)
        diag_error(r->diag, e->at, "unknown name '%s'; of a choice that has this value write '%s is %s'",
                   e->text, choice, e->text);
    else if (!strcmp(e->text, "sum") || !strcmp(e->text, "product"))
        diag_error(r->diag, e->at, "write '%s of E over x in SET'", e->text);
    else if (other)
        diag_error(r->diag, e->at, "'%s' is a set, not a value", e->text);
    else
        diag_error(r->diag, e->at, "unknown name '%s'%s", e->text, guess_name(r, sc, e->text));
    return TYPED_ERROR;
}

/* ---- recursion ---- */

/* Variables of quantifiers around an expression, with their domains. */
struct stepping {
    const char *name;
    const struct expr *domain;
    const struct stepping *outer;
};

struct recursion {
    struct resolver *r;
    const struct define_decl *def;
    struct space_define *out;
    const struct expr *first;    /* the first call of itself, or NULL */
    bool along[SPACE_MAX_ARITY]; /* whether all calls take the argument along a property */
    bool moves[SPACE_MAX_ARITY]; /* whether none passes it on as it is */
    int32_t steps[SPACE_MAX_ARITY][SPACE_MAX_ARITY]; /* [argument][step] */
    uint8_t n_steps[SPACE_MAX_ARITY];
};

/* The property p if the expression is p(param), or a variable over p(param); else -1. */
static int32_t step_property(const struct recursion *rec, const struct expr *e, const char *param,
                             const struct stepping *around)
{
    bool plain = e->kind == EXPR_CALL && !e->args;
    for (const struct stepping *s = around; plain && s; s = s->outer)
        if (!strcmp(s->name, e->text)) return step_property(rec, s->domain, param, NULL);
    if (e->kind != EXPR_CALL || !e->args || e->args->next) return -1;
    const struct expr *of = e->args;
    if (of->kind != EXPR_CALL || of->args || strcmp(of->text, param)) return -1;
    int32_t p = find_property(rec->r->m, e->text);
    return p >= 0 && rec->r->m->properties[p].object >= 0 && rec->r->m->properties[p].arity == 1 ? p : -1;
}

static void note_step(struct recursion *rec, unsigned arg, int32_t property)
{
    uint8_t *n = &rec->n_steps[arg];
    for (unsigned i = 0; i < *n; i++)
        if (rec->steps[arg][i] == property) return;
    if (property < 0 || *n == SPACE_MAX_ARITY)
        rec->along[arg] = false;
    else
        rec->steps[arg][(*n)++] = property;
}

static bool is_name(const struct expr *e, const char *name)
{
    return e->kind == EXPR_CALL && !e->args && !strcmp(e->text, name);
}

static void note_call(struct recursion *rec, const struct expr *e, const struct stepping *around)
{
    const struct expr *a = e->args;
    if (!rec->first) rec->first = e;
    unsigned i = 0;
    for (const struct binder *b = rec->def->params; b; b = b->next, i++) {
        if (i == SPACE_MAX_ARITY) return;
        note_step(rec, i, a ? step_property(rec, a, b->name.text, around) : -1);
        if (!a || is_name(a, b->name.text)) rec->moves[i] = false;
        a = a ? a->next : NULL;
    }
}

/* Visits the calls that a definition makes of itself. */
static void find_calls(struct recursion *rec, const struct expr *e, const struct stepping *around)
{
    struct stepping frames[SPACE_MAX_VARS];
    unsigned n = 0;
    for (const struct binder *b = e->binders; b && n < SPACE_MAX_VARS; b = b->next) {
        find_calls(rec, b->domain, around);
        frames[n] = (struct stepping){b->name.text, b->domain, around};
        around = &frames[n++];
    }
    if (e->kind == EXPR_CALL && !strcmp(e->text, rec->def->name.text)) note_call(rec, e, around);
    for (unsigned i = 0; i < 3; i++)
        if (e->kids[i]) find_calls(rec, e->kids[i], around);
    for (const struct expr *a = e->args; a; a = a->next)
        find_calls(rec, a, around);
}

/* The first argument of which `holds` is true, or n. */
static unsigned find_argument(const bool *holds, unsigned n)
{
    unsigned i = 0;
    while (i < n && !holds[i])
        i++;
    return i;
}

/* Enters a definition that names itself into the table, without its body and the sets of its arguments. */
static void note_recursion(struct resolver *r, const struct define_decl *decl)
{
    struct recursion rec = {
        .r = r, .def = decl, .along = {true, true, true, true}, .moves = {true, true, true, true}};
    find_calls(&rec, decl->body, NULL);
    unsigned n = count_binders(decl->params);
    if (!rec.first) return;
    if (n > SPACE_MAX_ARITY) {
        diag_error(r->diag, rec.first->at, "recursive definition '%s' has more than %d arguments",
                   decl->name.text, SPACE_MAX_ARITY);
        return;
    }
    unsigned along = find_argument(rec.along, n);
    bool property = along < n;
    if (!property) along = find_argument(rec.moves, n);
    if (along == n) {
        diag_error(r->diag, rec.first->at, "the definition of '%s' is cyclic", decl->name.text);
        return;
    }
    struct space_define *d = &r->m->defines[r->m->n_defines++];
    *d = (struct space_define){.name = decl->name.text,
                               .n_params = (uint8_t)n,
                               .condition = decl->type == VALUE_BOOL,
                               .object = decl->type == VALUE_OBJECT ? declared_type(r, decl).root : -1,
                               .along = (uint8_t)along,
                               .n_steps = property ? rec.n_steps[along] : 0,
                               .file = decl->name.at.source->path,
                               .line = line_of(decl->name.at)};
    if (property) memcpy(d->steps, rec.steps[along], sizeof d->steps);
}

/* ---- definitions that depend on choices ---- */

static bool is_choice(const struct model *m, const char *name)
{
    for (const struct choice_decl *c = m->ast->choices; c; c = c->next)
        if (!strcmp(c->name.text, name)) return true;
    return false;
}

static bool expr_depends(struct resolver *r, const struct expr *e);

/* A definition that is being looked at is taken not to: its other parts decide. */
static bool decl_depends(struct resolver *r, const struct define_decl *decl)
{
    enum dependence *known = r->dependence;
    for (const struct define_decl *d = r->m->ast->defines; d != decl; d = d->next)
        known++;
    if (*known == DEPENDENCE_UNKNOWN) {
        *known = DEPENDENCE_NONE;
        if (expr_depends(r, decl->body)) *known = DEPENDENCE_CHOICES;
    }
    return *known == DEPENDENCE_CHOICES;
}

/* Whether an expression names a choice, or a quotient, which has one, or what depends on one. */
static bool expr_depends(struct resolver *r, const struct expr *e)
{
    const struct define_decl *decl = e->kind == EXPR_CALL ? find_define(r->m, e->text) : NULL;
    if (e->kind == EXPR_CALL && (is_choice(r->m, e->text) || find_quotient(r->m, e->text))) return true;
    if ((e->kind == EXPR_QUANTIFIER && e->op == SPACE_FIRST) || (decl && decl_depends(r, decl))) return true;
    for (const struct binder *b = e->binders; b; b = b->next)
        if (expr_depends(r, b->domain)) return true;
    for (unsigned i = 0; i < 3; i++)
        if (e->kids[i] && expr_depends(r, e->kids[i])) return true;
    for (const struct expr *a = e->args; a; a = a->next)
        if (expr_depends(r, a)) return true;
    return false;
}

bool define_depends(struct resolver *r, int32_t define)
{
    return decl_depends(r, find_define(r->m, r->m->defines[define].name));
}

void declare_define(struct resolver *r, const struct define_decl *decl)
{
    bool aggregate = decl->body->kind == EXPR_QUANTIFIER && decl->body->op != SPACE_EXISTS &&
                     decl->body->op != SPACE_FORALL;
    check_new(r, &decl->name);
    if (!decl->object.text && !aggregate)
        diag_error(r->diag, decl->body->at,
                   "a counter must be a sum, product, min or max: write 'sum of E over x in SET'");
    if (decl->object.text && declared_type(r, decl).kind == TYPE_ERROR)
        diag_error(r->diag, decl->object.at, "unknown set '%s'%s", decl->object.text,
                   guess_set(r, decl->object.text));
    note_recursion(r, decl);
}

static bool has_type(const struct resolver *r, struct type t, struct type declared)
{
    if (t.list) return false;
    if (declared.kind == TYPE_OBJECT) return fits_root(r, t, declared.root);
    return declared.kind == TYPE_BOOL ? t.kind == TYPE_BOOL : is_int(r, t);
}

/* The set that an argument of this domain is in: the smallest with a list of its objects. */
static int32_t set_of(const struct resolver *r, const struct space_domain *dom)
{
    return dom->set >= 0 && r->m->sets[dom->set].param < 0 ? dom->set : dom->root;
}

static struct typed resolve_body(struct resolver *r, const struct scope *sc, const struct define_decl *decl,
                                 enum side side)
{
    r->expanding[r->n_expanding++] = decl;
    struct typed t = resolve_side(r, sc, decl->body, side);
    r->n_expanding--;
    return t;
}

void resolve_define(struct resolver *r, const struct define_decl *decl)
{
    struct scope sc = {0};
    struct type declared = declared_type(r, decl);
    int32_t recursive = find_recursive(r->m, decl->name.text);
    for (const struct binder *b = decl->params; b; b = b->next) {
        struct space_domain dom;
        unsigned i = (unsigned)sc.depth;
        if (!resolve_domain(r, &sc, b->domain, &dom) || !bind_variable(r, &sc, &b->name, dom.root)) return;
        if (recursive >= 0) r->m->defines[recursive].sets[i] = set_of(r, &dom);
    }
    enum side side = recursive >= 0 ? SIDE_BOTH : declared.kind == TYPE_BOOL ? SIDE_TRUE : SIDE_LOW;
    struct typed t = resolve_body(r, &sc, decl, side);
    if (t.type.kind == TYPE_ERROR) return;
    if (recursive >= 0) r->m->defines[recursive].body = t.node;
    if (!has_type(r, t.type, declared))
        diag_error(r->diag, decl->body->at, "'%s' is declared %s, but its value is of another type",
                   decl->name.text, decl->object.text ? decl->object.text : "a counter");
}
