/* Variables and what they range over. A quotient is replaced by its base set and a condition: the object is
 * in it, and no object of smaller id that is in it stands for the same class. The propagators see this
 * condition as certain only when every smaller id is certainly outside or dead. */
#include <string.h>

#include "spacedsl/resolve.h"

bool resolve_range(struct resolver *r, const struct scope *sc, const struct expr *e, struct range *out)
{
    bool ok = true;
    *out = (struct range){.domain = {-1, -1, -1, -1}};
    if (e->kind != EXPR_CALL) {
        diag_error(r->diag, e->at, "expected a set or a list of objects");
        return false;
    }
    out->quotient = find_quotient(r->m, e->text);
    if (!out->quotient) return resolve_domain(r, sc, e, &out->domain);
    out->params = bind_args(r, sc, e->text, out->quotient->params, e, &ok);
    struct scope inside = {out->params, sc->depth, SIDE_BOTH};
    return ok && resolve_domain(r, &inside, out->quotient->domain, &out->domain);
}

static bool resolve_list_domain(struct resolver *r, const struct scope *sc, const struct expr *e,
                                struct space_domain *dom)
{
    struct typed t = resolve_call(r, sc, e);
    if (t.type.kind == TYPE_ERROR) return false;
    if (t.type.kind != TYPE_OBJECT || !t.type.list) {
        diag_error(r->diag, e->at, "'%s' is neither a set nor a list of objects", e->text);
        return false;
    }
    dom->list = t.node;
    dom->root = t.type.root;
    return check_static(r, t, e->at);
}

bool resolve_domain(struct resolver *r, const struct scope *sc, const struct expr *e,
                    struct space_domain *dom)
{
    *dom = (struct space_domain){-1, -1, -1, -1};
    if (find_quotient(r->m, e->text)) {
        diag_error(r->diag, e->at, "quotient '%s' can only be the range of a variable", e->text);
        return false;
    }
    int32_t set = find_set(r->m, e->text);
    if (set < 0) return resolve_list_domain(r, sc, e, dom);
    r->used_sets[set] = true;
    const struct space_set s = r->m->sets[set];
    dom->set = set;
    dom->root = s.root;
    bool whole = s.param < 0 || (s.root == set && !e->args);
    if (whole) return check_arity(r, e, 0);
    int32_t root = r->m->sets[s.param].root;
    return resolve_args(r, sc, e, &root, 1, &dom->arg) &&
           check_static(r, typed(dom->arg, TYPE_OBJECT), e->args->at);
}

static const struct binding *new_binding(struct resolver *r, const struct scope *sc, const char *name,
                                         struct typed value)
{
    struct binding *b = ARENA_NEW(r->m->arena, struct binding);
    *b = (struct binding){name, value, sc->bindings};
    return b;
}

static struct typed new_variable(struct resolver *r, int number, int32_t root)
{
    return (struct typed){add_node(r, SPACE_VAR, number, 0, 0, NULL), {.kind = TYPE_OBJECT, .root = root}};
}

const struct binding *bind_variable(struct resolver *r, struct scope *sc, const struct name *name,
                                    int32_t root)
{
    for (const struct binding *b = sc->bindings; b; b = b->outer)
        if (!strcmp(b->name, name->text))
            diag_error(r->diag, name->at, "variable '%s' shadows another", name->text);
    if (sc->depth >= SPACE_MAX_VARS) {
        diag_error(r->diag, name->at, "more than %d variables", SPACE_MAX_VARS);
        return NULL;
    }
    sc->bindings = new_binding(r, sc, name->text, new_variable(r, sc->depth, root));
    sc->depth++;
    return sc->bindings;
}

/* ---- quotients ---- */

static int32_t both(struct resolver *r, int32_t a, int32_t b)
{
    return add_node(r, SPACE_AND, 0, 0, 2, (int32_t[]){a, b});
}

static int32_t condition_of(struct resolver *r, const struct range *range, struct typed object, int depth)
{
    const struct quotient_decl *q = range->quotient;
    struct scope sc = {range->params, depth, SIDE_BOTH};
    sc.bindings = new_binding(r, &sc, q->item.text, object);
    struct typed t = resolve_formula(r, &sc, q->condition);
    return wants(r, t, TYPE_BOOL, q->condition->at) ? t.node : -1;
}

/* Some object of smaller id satisfies the condition and is in the same class. */
static int32_t smaller_exists(struct resolver *r, const struct scope *sc, const struct range *range,
                              struct typed object)
{
    const struct quotient_decl *q = range->quotient;
    int32_t choice = find_choice(r->m, q->choice.text);
    uint64_t mask = 0;
    for (const struct name *n = q->values; n; n = n->next)
        mask |= value_mask(r, &r->m->choices[choice], n);
    struct typed other = new_variable(r, sc->depth, range->domain.root);
    int32_t condition = condition_of(r, range, other, sc->depth + 1);
    if (condition < 0) return -1;
    int32_t pair[2] = {other.node, object.node};
    int32_t body = both(r, add_node(r, SPACE_LT, 0, 0, 2, pair),
                        both(r, condition, add_object_node(r, SPACE_IS, choice, (int64_t)mask, 2, pair)));
    return add_node(r, SPACE_EXISTS, add_domain(r, range->domain), sc->depth, 1, &body);
}

struct typed quotient_member(struct resolver *r, const struct scope *sc, const struct range *range,
                             struct typed object)
{
    if (sc->depth >= SPACE_MAX_VARS) {
        diag_error(r->diag, range->quotient->name.at, "more than %d variables", SPACE_MAX_VARS);
        return TYPED_ERROR;
    }
    int32_t inside = condition_of(r, range, object, sc->depth);
    int32_t smaller = inside < 0 ? -1 : smaller_exists(r, sc, range, object);
    if (smaller < 0) return TYPED_ERROR;
    return typed(both(r, inside, add_node(r, SPACE_NOT, 0, 0, 1, &smaller)), TYPE_BOOL);
}

/* ---- quantifiers ---- */

/* Adds the membership of a quotient to the operands of a quantifier; returns how many there are. */
static unsigned add_member(struct resolver *r, enum space_op op, struct typed member, int32_t *kids,
                           unsigned n)
{
    int32_t pair[2] = {member.node, kids[0]};
    if (op == SPACE_EXISTS || op == SPACE_FORALL || op == SPACE_FIRST) {
        kids[0] = add_node(r, op == SPACE_FORALL ? SPACE_IMP : SPACE_AND, 0, 0, 2, pair);
        return n;
    }
    kids[1] = n > 1 ? both(r, member.node, kids[1]) : member.node;
    return 2;
}

/* One variable at a time, the innermost first wrapped around the value. */
struct typed resolve_quantifier(struct resolver *r, const struct scope *outer, const struct expr *e,
                                const struct binder *b)
{
    bool selects = e->op == SPACE_FIRST, logic = e->op == SPACE_EXISTS || e->op == SPACE_FORALL;
    enum type_kind kind = logic || selects ? TYPE_BOOL : TYPE_INT;
    enum side side = selects ? SIDE_BOTH : outer->side;
    struct range range;
    if (!resolve_range(r, outer, b->domain, &range)) return TYPED_ERROR;
    struct scope sc = *outer;
    const struct binding *variable = bind_variable(r, &sc, &b->name, range.domain.root);
    if (!variable) return TYPED_ERROR;
    int32_t kids[2];
    unsigned n = 1;
    struct typed value =
        b->next ? resolve_quantifier(r, &sc, e, b->next) : resolve_side(r, &sc, e->kids[0], side);
    if (!wants(r, value, kind, e->kids[0]->at)) return TYPED_ERROR;
    kids[0] = value.node;
    if (e->kids[1] && !b->next) {
        struct typed where = resolve_formula(r, &sc, e->kids[1]);
        if (!wants(r, where, TYPE_BOOL, e->kids[1]->at)) return TYPED_ERROR;
        kids[n++] = where.node;
    }
    if (range.quotient) {
        struct typed member = quotient_member(r, &sc, &range, variable->value);
        if (member.type.kind == TYPE_ERROR) return TYPED_ERROR;
        n = add_member(r, e->op, member, kids, n);
    }
    int32_t node = add_node(r, e->op, add_domain(r, range.domain), outer->depth, n, kids);
    if (selects) return (struct typed){node, variable->value.type};
    return typed(node, kind);
}

/* ---- `in` ---- */

static struct typed negate_if(struct resolver *r, bool negated, int32_t n)
{
    return typed(negated ? add_node(r, SPACE_NOT, 0, 0, 1, &n) : n, TYPE_BOOL);
}

static struct typed resolve_in_set(struct resolver *r, const struct scope *sc, const struct expr *e,
                                   struct typed left)
{
    struct range range;
    if (!resolve_range(r, sc, e->kids[1], &range)) return TYPED_ERROR;
    if (!fits_root(r, left.type, range.domain.root)) {
        diag_error(r->diag, e->at, "'%s' contains objects of another set", e->kids[1]->text);
        return TYPED_ERROR;
    }
    int32_t in = add_object_node(r, SPACE_IN_SET, add_domain(r, range.domain), 0, 1, &left.node);
    if (range.quotient) {
        struct typed member = quotient_member(r, sc, &range, left);
        if (member.type.kind == TYPE_ERROR) return TYPED_ERROR;
        in = both(r, in, member.node);
    }
    return negate_if(r, e->negated, in);
}

/* The numbers of a range set as a list, else what the expression says. */
static struct typed resolve_elements(struct resolver *r, const struct scope *sc, const struct expr *e)
{
    int32_t set = e->kind == EXPR_CALL ? find_set(r->m, e->text) : -1;
    if (set < 0 || !r->m->sets[set].range) return resolve_formula(r, sc, e);
    r->used_sets[set] = true;
    int32_t ends[2] = {add_node(r, SPACE_CONST, 0, r->m->sets[set].lo, 0, NULL),
                       add_node(r, SPACE_CONST, 0, r->m->sets[set].hi, 0, NULL)};
    return (struct typed){add_node(r, SPACE_RANGE, 0, 0, 2, ends), {.kind = TYPE_INT, .list = true}};
}

struct typed resolve_in(struct resolver *r, const struct scope *sc, const struct expr *e)
{
    struct typed left = resolve_formula(r, sc, e->kids[0]);
    const struct expr *right = e->kids[1];
    if (left.type.kind == TYPE_ERROR) return TYPED_ERROR;
    bool named = right->kind == EXPR_CALL && left.type.kind == TYPE_OBJECT &&
                 (find_set(r->m, right->text) >= 0 || find_quotient(r->m, right->text));
    if (named) return resolve_in_set(r, sc, e, left);
    struct typed list = resolve_elements(r, sc, right);
    if (list.type.kind == TYPE_ERROR) return TYPED_ERROR;
    bool same =
        list.type.kind == TYPE_OBJECT ? fits_root(r, left.type, list.type.root) : is_int(r, left.type);
    if (!list.type.list || !same) {
        diag_error(r->diag, right->at,
                   list.type.list ? "the two sides have different types" : "expected a set or a list");
        return TYPED_ERROR;
    }
    return negate_if(r, e->negated, add_node(r, SPACE_IN, 0, 0, 2, (int32_t[]){left.node, list.node}));
}
