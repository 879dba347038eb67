/* Prints a random space in the space language, with parentheses everywhere, and makes its instance. Only what
 * is used is declared: the compiler complains about the rest. */
#include <stdio.h>
#include <string.h>

#include "tests/space/random_space.h"

struct writer {
    struct rs_space *s;
    struct strbuf *out;
    unsigned line;
};

static const char *const set_names[RS_SETS] = {"A", "B", "Of", "L", "T", "V", "R"};

static void print_node(struct writer *w, int node);

static void print_set(struct writer *w, enum rs_set set, int of)
{
    w->s->used.sets[set] = w->s->used.sets[rs_root(set)] = true;
    if (set == RS_OF) w->s->used.sets[RS_L] = true;
    strbuf_add(w->out, set_names[set]);
    if (set == RS_OF) strbuf_printf(w->out, "(v%d)", of);
}

/* A number that may be no object is written as a sum: alone it would be refused. */
static void print_object(struct writer *w, int var)
{
    const struct rs_node *selected = var < 0 ? &w->s->nodes[RS_SELECTED(var)] : NULL;
    if (var >= 0)
        strbuf_printf(w->out, "v%d", var);
    else if (selected->op == RS_CONST)
        strbuf_printf(w->out, "0 + %d", (int)selected->number);
    else
        print_node(w, RS_SELECTED(var));
}

static void print_objects(struct writer *w, const struct rs_node *n, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        strbuf_add(w->out, i ? ", " : "(");
        print_object(w, n->vars[i]);
    }
    if (count) strbuf_add(w->out, ")");
}

static void print_choice(struct writer *w, const struct rs_node *n)
{
    strbuf_printf(w->out, "c%u", n->choice);
    print_objects(w, n, w->s->choices[n->choice].arity);
}

/* Values 0 and 1 together have the alias LOW. */
static void print_mask(struct writer *w, unsigned mask)
{
    const char *separator = "";
    if ((mask & 3) == 3) {
        strbuf_add(w->out, "LOW");
        separator = " | ";
        mask &= ~3u;
    }
    for (unsigned v = 0; v < 4; v++)
        if (mask >> v & 1) {
            strbuf_printf(w->out, "%sV%u", separator, v);
            separator = " | ";
        }
}

static void print_range(struct writer *w, const struct rs_node *n)
{
    strbuf_printf(w->out, "%d..6 step %d", __builtin_ctz(n->mask) - 2, (int)n->number);
}

static void print_list(struct writer *w, unsigned mask)
{
    const char *separator = "{ ";
    for (int i = 0; i < 9; i++)
        if (mask >> i & 1) {
            strbuf_printf(w->out, "%s%d", separator, i - 2);
            separator = ", ";
        }
    strbuf_add(w->out, " }");
}

static void print_quantifier(struct writer *w, const struct rs_node *n)
{
    bool formula = n->op == RS_EXISTS || n->op == RS_FORALL || n->op == RS_FIRST;
    const char *word = n->op == RS_SUM       ? "sum"
                       : n->op == RS_FIRST   ? "first"
                       : n->op == RS_PRODUCT ? "product"
                       : n->op == RS_LEAST   ? "min"
                       : n->op == RS_MOST    ? "max"
                       : n->op == RS_EXISTS  ? "exists"
                                             : "forall";
    strbuf_printf(w->out, "%s ", word);
    if (!formula) {
        strbuf_add(w->out, "of ");
        print_node(w, n->kids[0]);
        strbuf_add(w->out, " over ");
    }
    strbuf_printf(w->out, "v%d in ", n->bound);
    print_set(w, n->set, n->of);
    if (formula) strbuf_add(w->out, ": ");
    if (n->kids[1] >= 0) strbuf_add(w->out, " where ");
    if (formula || n->kids[1] >= 0) print_node(w, formula ? n->kids[0] : n->kids[1]);
}

static void print_operation(struct writer *w, const struct rs_node *n)
{
    static const char *const text[] = {
        [RS_ADD] = "+", [RS_SUB] = "-",  [RS_MUL] = "*",  [RS_DIV] = "/", [RS_MOD] = "%",
        [RS_EQ] = "==", [RS_NE] = "!=",  [RS_LT] = "<",   [RS_LE] = "<=", [RS_AND] = "&&",
        [RS_OR] = "||", [RS_IMP] = "->", [RS_IFF] = "<->"};
    if (n->op == RS_NEG || n->op == RS_NOT) strbuf_add(w->out, n->op == RS_NEG ? "-" : "!");
    if (n->op == RS_MIN || n->op == RS_MAX) strbuf_add(w->out, n->op == RS_MIN ? "min(" : "max(");
    print_node(w, n->kids[0]);
    if (n->op == RS_ITE)
        strbuf_add(w->out, " ? ");
    else if (n->op == RS_MIN || n->op == RS_MAX)
        strbuf_add(w->out, ", ");
    else if (n->kids[1] >= 0)
        strbuf_printf(w->out, " %s ", text[n->op]);
    if (n->kids[1] >= 0) print_node(w, n->kids[1]);
    if (n->op == RS_ITE) {
        strbuf_add(w->out, " : ");
        print_node(w, n->kids[2]);
    }
    if (n->op == RS_MIN || n->op == RS_MAX) strbuf_add(w->out, ")");
}

static bool print_atom(struct writer *w, const struct rs_node *n)
{
    switch (n->op) {
    case RS_CONST:
        strbuf_printf(w->out, "%d", (int)n->number);
        return true;
    case RS_PARAM:
        w->s->used.k = true;
        strbuf_add(w->out, "k");
        return true;
    case RS_W:
        w->s->used.w = true;
        strbuf_add(w->out, "w");
        print_objects(w, n, 1);
        return true;
    case RS_OK:
        w->s->used.ok = true;
        strbuf_add(w->out, "ok");
        print_objects(w, n, 2);
        return true;
    case RS_IN_B:
        w->s->used.sets[RS_B] = true;
        print_object(w, n->vars[0]);
        strbuf_add(w->out, " in B");
        return true;
    case RS_SAME:
        print_object(w, n->vars[0]);
        strbuf_add(w->out, " == ");
        print_object(w, n->vars[1]);
        return true;
    case RS_CALL:
        strbuf_printf(w->out, "d%u", n->choice);
        print_objects(w, n, 1);
        return true;
    case RS_PICK:
        print_node(w, n->kids[0]);
        strbuf_printf(w->out, " ? v%d : v%d", n->vars[0], n->vars[1]);
        return true;
    case RS_CODE:
    case RS_IS:
        print_choice(w, n);
        if (n->op == RS_IS) strbuf_add(w->out, n->number ? " is not " : " is ");
        if (n->op == RS_IS) print_mask(w, n->mask);
        return true;
    default:
        return false;
    }
}

static void print_node(struct writer *w, int node)
{
    const struct rs_node *n = &w->s->nodes[node];
    strbuf_add(w->out, "(");
    if (print_atom(w, n)) {
    } else if (n->op == RS_IN_LIST) {
        print_node(w, n->kids[0]);
        strbuf_add(w->out, " in ");
        if (n->number)
            print_range(w, n);
        else
            print_list(w, n->mask);
    } else if (n->op == RS_SUM || n->op == RS_PRODUCT || n->op == RS_LEAST || n->op == RS_MOST ||
               n->op == RS_EXISTS || n->op == RS_FORALL || n->op == RS_FIRST) {
        print_quantifier(w, n);
    } else {
        print_operation(w, n);
    }
    strbuf_add(w->out, ")");
}

/* ---- declarations ---- */

static void print_arguments(struct writer *w, const struct rs_choice *c)
{
    for (unsigned i = 0; i < c->arity; i++) {
        strbuf_printf(w->out, "%sv%u: ", i ? ", " : "(", i);
        print_set(w, c->args[i], 0);
    }
    if (c->arity) strbuf_add(w->out, ")");
}

static void print_domain(struct writer *w, const struct rs_choice *c)
{
    if (!c->integer) {
        for (unsigned v = 0; v < c->n_values; v++)
            strbuf_printf(w->out, "%sV%u = %d", v ? ", " : "{ ", v, (int)c->codes[v]);
        strbuf_add(w->out, " } alias LOW = V0 | V1");
    } else if (c->codes[2]) {
        strbuf_printf(w->out, "int in %d..%d step %d", (int)c->codes[0], (int)c->codes[1], (int)c->codes[2]);
    } else {
        w->s->used.vals = true;
        strbuf_add(w->out, "int in vals(v0)");
    }
    if (c->pairing == RS_SYMMETRIC) strbuf_add(w->out, " symmetric");
    if (c->pairing == RS_ANTISYMMETRIC) strbuf_add(w->out, " antisymmetric V0 ~ V1");
    if (c->where) strbuf_add(w->out, " where ok(v0, v1)");
    w->s->used.ok = w->s->used.ok || c->where;
}

static void end_line(struct writer *w)
{
    strbuf_add(w->out, "\n");
    w->line++;
}

static void print_choices(struct writer *w)
{
    for (unsigned i = 0; i < w->s->n_choices; i++) {
        strbuf_printf(w->out, "choice c%u", i);
        print_arguments(w, &w->s->choices[i]);
        strbuf_add(w->out, ": ");
        print_domain(w, &w->s->choices[i]);
        end_line(w);
    }
}

static void print_calls(struct writer *w)
{
    for (unsigned i = 0; i < w->s->n_calls; i++) {
        const struct rs_call *c = &w->s->calls[i];
        strbuf_printf(w->out, "%s d%u(v0: A)%s = ", c->counter ? "counter" : "define", i,
                      c->counter   ? ""
                      : c->boolean ? ": bool"
                                   : ": int");
        print_node(w, c->body);
        end_line(w);
    }
}

static void print_prefix(struct writer *w, const struct rs_rule *r)
{
    for (unsigned v = 0; v < r->n_vars; v++) {
        strbuf_printf(w->out, "%s v%u in ", v ? "," : " forall", v);
        print_set(w, r->sets[v], -1);
    }
    strbuf_add(w->out, r->n_vars ? ": " : " ");
}

static void print_triggers(struct writer *w)
{
    static const char *const objects[] = {"gives(v0)", "more(v0)"};
    for (unsigned i = 0; i < w->s->n_triggers; i++) {
        w->s->used.sets[i ? RS_V : RS_T] = true;
        strbuf_add(w->out, "trigger");
        print_prefix(w, &w->s->triggers[i]);
        strbuf_add(w->out, "when ");
        print_node(w, w->s->triggers[i].body);
        strbuf_printf(w->out, " activate %s", objects[i]);
        end_line(w);
    }
}

static void print_rules(struct writer *w, const bool dropped[RS_RULES])
{
    for (unsigned i = 0; i < w->s->n_rules; i++) {
        w->s->rules[i].line = w->line;
        if (!dropped[i]) {
            strbuf_add(w->out, "require");
            print_prefix(w, &w->s->rules[i]);
            print_node(w, w->s->rules[i].body);
        }
        end_line(w);
    }
}

static void print_header(const struct writer *w, struct strbuf *out)
{
    const struct rs_used *u = &w->s->used;
    strbuf_add(out, "space random");
    strbuf_add(out, " set A");
    if (u->sets[RS_B]) strbuf_add(out, " set B : A");
    if (u->sets[RS_L]) strbuf_add(out, " set L");
    if (u->sets[RS_OF]) strbuf_add(out, " set Of(l: L) : A");
    if (u->sets[RS_T]) strbuf_add(out, " set T");
    if (u->sets[RS_V]) strbuf_add(out, " set V");
    if (u->sets[RS_R]) strbuf_printf(out, " set R = 0..%u", w->s->n[RS_R] - 1);
    if (u->ok) strbuf_add(out, " property ok(A, A): bool");
    if (u->w) strbuf_add(out, " property w(A): int");
    if (u->vals) strbuf_add(out, " property vals(A): int list");
    if (w->s->n_triggers > 0) strbuf_add(out, " property gives(A): T");
    if (w->s->n_triggers > 1) strbuf_add(out, " property more(T): V list");
    if (u->k) strbuf_add(out, " parameter k: int");
    strbuf_add(out, "\n");
}

void rs_text(struct rs_space *s, const bool dropped[RS_RULES], struct strbuf *out)
{
    struct strbuf body = {0};
    s->used = (struct rs_used){.sets = {[RS_A] = true}};
    struct writer w = {.s = s, .out = &body, .line = 2};
    print_choices(&w);
    print_triggers(&w);
    print_calls(&w);
    print_rules(&w, dropped);
    print_header(&w, out);
    strbuf_add(out, body.text);
    strbuf_free(&body);
}

/* ---- the instance ---- */

void rs_name(enum rs_set root, unsigned object, char out[8])
{
    snprintf(out, 8, "%c%u", "a??ltvr"[root], object % 10);
}

static void add_objects(const struct rs_space *s, struct space_data *data)
{
    static const enum rs_set roots[] = {RS_A, RS_L, RS_T, RS_V};
    char name[8];
    for (unsigned i = 0; i < sizeof roots / sizeof *roots; i++)
        for (unsigned o = 0; s->used.sets[roots[i]] && o < s->n[roots[i]]; o++) {
            rs_name(roots[i], o, name);
            space_data_object(data, set_names[roots[i]], name);
        }
    for (uint32_t a = 0; a < s->n[RS_A]; a++) {
        if (s->used.sets[RS_B] && s->in_b[a]) space_data_member(data, "B", a);
        for (uint32_t l = 0; s->used.sets[RS_OF] && l < s->n[RS_L]; l++)
            if (s->of[l][a]) space_data_member_of(data, "Of", l, a);
    }
}

static void add_properties(const struct rs_space *s, struct space_data *data, uint32_t a)
{
    if (s->used.w) space_data_int(data, "w", &a, 1, s->w[a]);
    if (s->used.vals) space_data_list(data, "vals", &a, 1, s->vals[a], s->n_vals[a]);
    if (s->n_triggers > 0 && s->gives[a] >= 0) space_data_int(data, "gives", &a, 1, s->gives[a]);
    for (uint32_t b = 0; s->used.ok && b < s->n[RS_A]; b++)
        space_data_int(data, "ok", (uint32_t[]){a, b}, 2, s->ok[a][b]);
}

struct space_data *rs_data(const struct rs_space *s)
{
    struct space_data *data = space_data_new();
    add_objects(s, data);
    for (uint32_t a = 0; a < s->n[RS_A]; a++)
        add_properties(s, data, a);
    for (uint32_t t = 0; s->n_triggers > 1 && t < s->n[RS_T]; t++) {
        int64_t objects[RS_OBJECTS];
        size_t n = 0;
        for (int v = 0; v < (int)s->n[RS_V]; v++)
            if (s->more[t] >> v & 1) objects[n++] = v;
        space_data_list(data, "more", &t, 1, objects, n);
    }
    if (s->used.k) space_data_parameter(data, "k", s->k);
    return data;
}
