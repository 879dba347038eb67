/* Prints the names of a space as a C header: `spacec --header`. Code that builds an instance of the space, or
 * reads its decisions, names everything through this header, so that the compiler finds what a change of the
 * .space file breaks. What a space `gpu` declares, and what its header has of it:
 *
 *     set Tile                               gpu_add_tile(data, name)
 *     set MainTile : Tile                    gpu_put_main_tile(data, id)
 *     set TilesOf(l: Logical) : Tile         gpu_put_tiles_of(data, of, id)
 *     property level(Tile): int              gpu_set_level(data, a, value)
 *     parameter max_work_group: int          gpu_set_max_work_group(data, value)
 *     define seat_step: int = 100            GPU_SEAT_STEP
 *     choice size(t: Tile): int in ...       GPU_CHOICE_SIZE, gpu_slot_size(), gpu_get_size(), gpu_act_size()
 *     choice dim_kind(d: Dim): { LOOP }      the same, and enum gpu_dim_kind { GPU_DIM_KIND_LOOP }
 *
 * Names in CamelCase become snake_case. A prefix for each kind of function keeps them apart, as a .space file
 * has each name once; where two names still become one in C, the header is refused. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "core/base/strbuf.h"
#include "spacedsl/model.h"

enum { NAME_BYTES = 160 };

struct header {
    const struct model *m;
    struct strbuf out;
    struct diag *diag;
    const char *prefix; /* "gpu" */
    const char **taken; /* identifiers that are declared so far */
    size_t n_taken, cap_taken;
};

/* ---- identifiers ---- */

/* "MainTile" as "main_tile"; "MAIN_TILE" if `upper`. */
static const char *c_name(struct header *h, const char *name, bool upper)
{
    char out[2 * NAME_BYTES];
    size_t n = 0;
    for (const char *c = name; *c && n + 3 < sizeof out; c++) {
        bool begins = c > name && isupper((unsigned char)*c) && islower((unsigned char)c[-1]);
        if (begins) out[n++] = '_';
        out[n++] = (char)(upper ? toupper((unsigned char)*c) : tolower((unsigned char)*c));
    }
    out[n] = 0;
    return arena_strdup(h->m->arena, out);
}

static const char *lower(struct header *h, const char *name)
{
    return c_name(h, name, false);
}

static const char *upper(struct header *h, const char *name)
{
    return c_name(h, name, true);
}

/* Notes an identifier; an error if the header has it already. */
static const char *claim(struct header *h, const char *identifier)
{
    for (size_t i = 0; i < h->n_taken; i++)
        if (!strcmp(h->taken[i], identifier))
            diag_plain(h->diag, "%s: two names of this space are '%s' in C; rename one of them",
                       h->m->ast->files->source->path, identifier);
    h->taken = arena_grow(h->m->arena, h->taken, &h->cap_taken, h->n_taken + 1, sizeof *h->taken);
    return h->taken[h->n_taken++] = identifier;
}

/* "gpu_set_level" */
static const char *function(struct header *h, const char *verb, const char *name)
{
    return claim(h, arena_printf(h->m->arena, "%s_%s_%s", h->prefix, verb, lower(h, name)));
}

/* "GPU_DIM_KIND_LOOP"; `second` may be "". */
static const char *constant(struct header *h, const char *first, const char *second)
{
    return claim(h, arena_printf(h->m->arena, "%s_%s%s%s", upper(h, h->prefix), upper(h, first),
                                 *second ? "_" : "", upper(h, second)));
}

/* ---- pieces ---- */

/* Text inside a comment: it cannot end or begin one. */
static void add_text(struct strbuf *b, const char *text)
{
    for (const char *c = text; *c; c++) {
        char both[] = {*c, 0};
        strbuf_add(b, *c == '\n' ? " " : both);
        if ((c[0] == '*' && c[1] == '/') || (c[0] == '/' && c[1] == '*')) strbuf_add(b, " ");
    }
}

static void add_remark(struct header *h, const char *kind, struct space_remark r)
{
    strbuf_printf(&h->out, "/* %s ", kind);
    add_text(&h->out, r.text);
    if (*r.doc) strbuf_add(&h->out, "\n * ");
    add_text(&h->out, r.doc);
    strbuf_add(&h->out, " */\n");
}

/* ", uint32_t a, uint32_t b" */
static void add_arguments(struct header *h, unsigned arity)
{
    for (unsigned i = 0; i < arity; i++)
        strbuf_printf(&h->out, ", uint32_t %c", 'a' + (int)i);
}

/* "(const uint32_t[]){a, b}, 2" */
static void add_objects(struct header *h, unsigned arity)
{
    strbuf_add(&h->out, arity ? "(const uint32_t[]){" : "NULL");
    for (unsigned i = 0; i < arity; i++)
        strbuf_printf(&h->out, i ? ", %c" : "%c", 'a' + (int)i);
    strbuf_printf(&h->out, arity ? "}, %u" : ", %u", arity);
}

/* ---- the instance ---- */

static void emit_set(struct header *h, const struct space_set *s, bool root)
{
    struct strbuf *b = &h->out;
    if (s->range) return;
    add_remark(h, "set", s->remark);
    if (root)
        strbuf_printf(b,
                      "static inline uint32_t %s(struct space_data *data, const char *name)\n"
                      "{\n    return space_data_object(data, \"%s\", name);\n}\n",
                      function(h, "add", s->name), s->name);
    if (s->param >= 0)
        strbuf_printf(b,
                      "static inline void %s(struct space_data *data, uint32_t of, uint32_t id)\n"
                      "{\n    space_data_member_of(data, \"%s\", of, id);\n}\n",
                      function(h, "put", s->name), s->name);
    else if (!root)
        strbuf_printf(b,
                      "static inline void %s(struct space_data *data, uint32_t id)\n"
                      "{\n    space_data_member(data, \"%s\", id);\n}\n",
                      function(h, "put", s->name), s->name);
    strbuf_add(b, "\n");
}

static void emit_sets(struct header *h)
{
    const struct model *m = h->m;
    strbuf_add(&h->out,
               "/* ---- sets: `add` makes an object of a root set and returns its id, `put` puts an object\n"
               " * of the root set into a part of it ---- */\n\n");
    for (size_t i = 0; i < m->n_sets; i++)
        emit_set(h, &m->sets[i], m->sets[i].root == (int32_t)i);
    strbuf_printf(&h->out,
                  "/* Declares every root set, so that it may stay empty. */\n"
                  "static inline void %s_declare_sets(struct space_data *data)\n{\n",
                  h->prefix);
    bool any = false;
    for (size_t i = 0; i < m->n_sets; i++) {
        if (m->sets[i].root != (int32_t)i || m->sets[i].range) continue;
        strbuf_printf(&h->out, "    space_data_set(data, \"%s\");\n", m->sets[i].name);
        any = true;
    }
    strbuf_add(&h->out, any ? "}\n\n" : "    (void)data;\n}\n\n");
}

static void emit_property(struct header *h, const struct space_property *p)
{
    struct strbuf *b = &h->out;
    const char *type = p->condition ? "bool" : p->object >= 0 ? "uint32_t" : "int64_t";
    add_remark(h, "property", p->remark);
    strbuf_printf(b, "static inline void %s(struct space_data *data", function(h, "set", p->name));
    add_arguments(h, p->arity);
    if (p->list)
        strbuf_add(b, ", const int64_t *values, size_t n");
    else
        strbuf_printf(b, ", %s value", type);
    strbuf_printf(b, ")\n{\n    %s(data, \"%s\", ", p->list ? "space_data_list" : "space_data_int", p->name);
    add_objects(h, p->arity);
    strbuf_add(b, p->list ? ", values, n);\n}\n\n" : ", value);\n}\n\n");
}

static void emit_parameter(struct header *h, const struct space_parameter *p)
{
    add_remark(h, "parameter", p->remark);
    strbuf_printf(&h->out,
                  "static inline void %s(struct space_data *data, int64_t value)\n"
                  "{\n    space_data_parameter(data, \"%s\", value);\n}\n\n",
                  function(h, "set", p->name), p->name);
}

/* ---- constants: definitions that are a number ---- */

static bool fits_int(struct header *h, const char *what, int64_t value)
{
    if (value >= INT32_MIN && value <= INT32_MAX) return true;
    diag_plain(h->diag, "%s: %s is %" PRId64 ", which is not an int of C", h->m->ast->files->source->path,
               what, value);
    return false;
}

static void emit_constants(struct header *h)
{
    for (const struct define_decl *d = h->m->ast->defines; d; d = d->next) {
        bool number = !d->params && d->type == VALUE_INT && d->body->kind == EXPR_INT;
        if (!number || !fits_int(h, d->name.text, d->body->number)) continue;
        add_remark(h, "define", (struct space_remark){d->remark.doc, d->remark.text});
        strbuf_printf(&h->out, "enum { %s = %" PRId64 " };\n\n", constant(h, d->name.text, ""),
                      d->body->number);
    }
}

/* ---- choices ---- */

/* "enum gpu_dim_kind" */
static const char *enumeration(struct header *h, const char *name)
{
    return arena_printf(h->m->arena, "enum %s_%s", h->prefix, lower(h, name));
}

static void emit_groups(struct header *h)
{
    strbuf_printf(&h->out, "/* The choices in the order of the file: the groups of space.h. */\n%s {\n",
                  claim(h, enumeration(h, "choice")));
    for (size_t i = 0; i < h->m->n_choices; i++)
        strbuf_printf(&h->out, "    %s,\n", constant(h, "choice", h->m->choices[i].name));
    strbuf_printf(&h->out, "    %s\n};\n\n", constant(h, "choice", "count"));
}

/* Its values; an enumerator is the value's code. */
static void emit_values(struct header *h, const struct space_choice *c)
{
    strbuf_printf(&h->out, "%s {\n", claim(h, enumeration(h, c->name)));
    for (unsigned v = 0; v < c->n_values; v++) {
        fits_int(h, c->value_names[v], c->codes[v]);
        strbuf_printf(&h->out, "    %s = %" PRId64 "%s", constant(h, c->name, c->value_names[v]), c->codes[v],
                      v + 1 < c->n_values ? "," : "");
        if (*c->value_docs[v]) strbuf_add(&h->out, " /* ");
        add_text(&h->out, c->value_docs[v]);
        strbuf_add(&h->out, *c->value_docs[v] ? " */\n" : "\n");
    }
    strbuf_add(&h->out, "};\n");
}

/* "int64_t", or the enumeration of its values. */
static const char *type_of(struct header *h, const struct space_choice *c)
{
    return c->n_values ? enumeration(h, c->name) : "int64_t";
}

static void emit_slot(struct header *h, const struct space_choice *c, const char *group)
{
    strbuf_printf(&h->out, "static inline uint32_t %s(const struct space *s", function(h, "slot", c->name));
    add_arguments(h, c->arity);
    strbuf_printf(&h->out, ")\n{\n    return space_slot_find(s, %s, ", group);
    add_objects(h, c->arity);
    strbuf_add(&h->out, ", NULL);\n}\n");
}

static void emit_get(struct header *h, const struct space_choice *c, const char *group)
{
    const char *type = type_of(h, c);
    strbuf_printf(&h->out, "static inline bool %s(const struct space_state *st", function(h, "get", c->name));
    add_arguments(h, c->arity);
    strbuf_printf(&h->out,
                  ", %s *value)\n{\n    int64_t code = 0;\n    bool decided = space_decided(st, %s, ", type,
                  group);
    add_objects(h, c->arity);
    strbuf_printf(&h->out, ", &code);\n    if (decided) *value = (%s)code;\n    return decided;\n}\n", type);
}

static void emit_act(struct header *h, const struct space_choice *c, const char *group)
{
    strbuf_printf(&h->out, "static inline struct space_action %s(const struct space *s",
                  function(h, "act", c->name));
    add_arguments(h, c->arity);
    strbuf_printf(&h->out, ", %s value)\n{\n    return space_action_of(s, %s, ", type_of(h, c), group);
    add_objects(h, c->arity);
    strbuf_add(&h->out, ", (int64_t)value);\n}\n\n");
}

static void emit_choices(struct header *h)
{
    strbuf_add(&h->out,
               "/* ---- choices: `slot` finds one (UINT32_MAX: there is none), `get` reads it once it is\n"
               " * decided, `act` is the action that gives it a value; see core/space/access.h ---- */\n\n");
    emit_groups(h);
    for (size_t i = 0; i < h->m->n_choices; i++) {
        const struct space_choice *c = &h->m->choices[i];
        const char *group = arena_printf(h->m->arena, "%s_CHOICE_%s", upper(h, h->prefix), upper(h, c->name));
        add_remark(h, "choice", c->remark);
        if (c->n_values) emit_values(h, c);
        emit_slot(h, c, group);
        emit_get(h, c, group);
        emit_act(h, c, group);
    }
}

/* ---- the file ---- */

/* Its functions would be called as those of space.h are. */
static void check_prefix(struct header *h)
{
    if (!strcmp(h->prefix, "space"))
        diag_plain(h->diag, "%s: a space that has a header in C cannot be called '%s'; rename it",
                   h->m->ast->files->source->path, h->m->ast->name.text);
}

static void emit_head(struct header *h)
{
    const struct space_def *def = spacedsl_model_def(h->m);
    strbuf_printf(&h->out,
                  "/* Names of space '%s' as C, made by spacec from %s; do not edit.\n"
                  " *\n"
                  " * Objects are ids of their root set, or the numbers of a range set. */\n"
                  "#ifndef THRESH_SPACE_%s_H\n#define THRESH_SPACE_%s_H\n\n"
                  "#include \"core/space/access.h\"\n#include \"core/space/data.h\"\n"
                  "#include \"core/space/def.h\"\n\n"
                  "extern const struct space_def space_def_%s;\n\n",
                  def->name, def->file, upper(h, h->prefix), upper(h, h->prefix), def->name);
    strbuf_printf(&h->out,
                  "/* Whether a space is made from this file: the other functions ask for such a space. */\n"
                  "static inline bool %s_is_space(const struct space *s)\n"
                  "{\n    return space_definition(s)->hash == UINT64_C(%" PRIu64 ");\n}\n\n",
                  h->prefix, def->hash);
}

char *spacedsl_emit_header(const struct model *m, struct diag *d)
{
    struct header h = {.m = m, .diag = d};
    size_t errors = diag_count(d);
    h.prefix = lower(&h, m->ast->name.text);
    check_prefix(&h);
    emit_head(&h);
    emit_constants(&h);
    emit_sets(&h);
    strbuf_add(&h.out, "/* ---- properties and parameters ---- */\n\n");
    for (size_t i = 0; i < m->n_properties; i++)
        emit_property(&h, &m->properties[i]);
    for (size_t i = 0; i < m->n_parameters; i++)
        emit_parameter(&h, &m->parameters[i]);
    emit_choices(&h);
    strbuf_add(&h.out, "#endif\n");
    if (diag_count(d) == errors) return strbuf_take(&h.out);
    strbuf_free(&h.out);
    return NULL;
}
