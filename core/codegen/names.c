/* Names of the generated text, from the names of the backbone:
 *
 *     mad.m.2      m2          the index of a dimension, named after its tile
 *     A.copy.load  A_copy_load
 *     k.0          k0_next     the index of its next iteration, of copies that run ahead
 *     float        float_v2    a word of the dialect, or a name that is taken, gets a suffix
 *     x_at0        x_at0_v2    so does a name like that of a pointer to x (pointer.c)
 *     get_x        v_get_x     a name that begins like one of the dialect's gets a prefix
 *
 *     red(2 parts)  red_a, red_b
 *
 * Registers of a value append numbers to its name, acc_0_1. No name of a value ends in _ and digits, so that
 * acc_0_1 can belong to one value only. */
#include "core/codegen/names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/base/arena.h"

struct table {
    const struct cg_dialect *dialect;
    struct arena *arena;
    unsigned n;
    const char **names;
};

static bool begins_with(const char *s, const char *begin)
{
    return strncmp(s, begin, strlen(begin)) == 0;
}

/* A word of the dialect, or one that the generator writes itself. */
static bool is_word(const struct cg_dialect *d, const char *s)
{
    for (unsigned i = 0; d->words[i]; i++)
        if (!strcmp(s, d->words[i])) return true;
    bool type =
        (d->half_words && !strcmp(s, d->half_words)) || (d->matrix_type && !strcmp(s, d->matrix_type));
    return type || !strcmp(s, CG_KERNEL_NAME) || !strcmp(s, "lanes");
}

static bool is_vector_of(const char *scalar, const char *s)
{
    return scalar && begins_with(s, scalar) && isdigit((unsigned char)s[strlen(scalar)]);
}

/* float4, int16, ... */
static bool is_vector_type(const struct cg_dialect *d, const char *s)
{
    bool is = is_vector_of(d->half_bits.name, s);
    for (int t = 0; t < SCALAR_TYPE_COUNT; t++)
        is |= is_vector_of(d->types[t].name, s);
    return is;
}

/* Families of names: macros in capitals (M_PI, FLT_MAX), vector types, the dialect's prefixes. */
static bool is_like_word(const struct cg_dialect *d, const char *s)
{
    size_t n = strlen(s), capitals = 0;
    while (capitals < n && !islower((unsigned char)s[capitals]))
        capitals++;
    bool like = (n > 1 && capitals == n) || is_vector_type(d, s) || begins_with(s, CG_NEXT);
    for (unsigned i = 0; d->prefixes[i]; i++)
        like |= begins_with(s, d->prefixes[i]);
    return like;
}

static bool taken(const struct table *t, const char *s)
{
    for (unsigned i = 0; i < t->n; i++)
        if (!strcmp(t->names[i], s)) return true;
    return false;
}

/* Letters, digits and single underscores; a dot before a digit vanishes. */
static void spell(const char *name, char *out, size_t room)
{
    size_t n = 0;
    if (!isalpha((unsigned char)name[0])) out[n++] = 'v';
    for (; *name && n + 2 < room; name++) {
        bool word = isalnum((unsigned char)*name) || *name == '_';
        if (word)
            out[n++] = *name;
        else if (!isdigit((unsigned char)name[1]))
            out[n++] = '_';
    }
    size_t digits = n;
    while (digits > 0 && isdigit((unsigned char)out[digits - 1]))
        digits--;
    if (digits < n && digits > 0 && out[digits - 1] == '_') out[n++] = 'v';
    out[n] = 0;
}

/* x_at0, as pointer.c calls pointers. */
static bool is_pointer(const char *s)
{
    size_t n = strlen(s), digits = n, suffix = strlen(CG_POINTER);
    while (digits > 0 && isdigit((unsigned char)s[digits - 1]))
        digits--;
    return digits < n && digits >= suffix && begins_with(s + digits - suffix, CG_POINTER);
}

static const char *unique(struct table *t, const char *name)
{
    char base[96], text[112];
    spell(name, base, sizeof base - 1);
    const char *prefix = is_like_word(t->dialect, base) ? "v_" : "";
    snprintf(text, sizeof text, "%s%s", prefix, base);
    for (unsigned i = 2; is_word(t->dialect, text) || is_pointer(text) || taken(t, text); i++)
        snprintf(text, sizeof text, "%s%s_v%u", prefix, base, i);
    return t->names[t->n++] = arena_strdup(t->arena, text);
}

static const char *node_name(const struct cg_program *p, struct table *t, const struct cg_node *n)
{
    const struct bb_dim *d = &p->bb->dims[(n->type == CG_AHEAD ? n->loop : n)->dims[0]];
    char text[112];
    if (n->type == CG_AHEAD) return unique(t, arena_printf(t->arena, "%s.next", p->bb->tiles[d->tile].name));
    spell(p->bb->tiles[d->tile].name, text, 96);
    return unique(t, taken(t, text) ? d->name : p->bb->tiles[d->tile].name);
}

/* Names of a value's parts; a scalar has the name of the instruction. */
static void name_value(struct table *t, const struct bb_inst *inst, const char **parts)
{
    if (!inst->n_more) parts[0] = unique(t, inst->name);
    for (unsigned i = 0; inst->n_more && i < bb_parts(inst); i++)
        parts[i] = unique(t, arena_printf(t->arena, "%s_%c", inst->name, 'a' + (int)i));
}

struct cg_names *cg_make_names(const struct cg_program *p, struct arena *a)
{
    const struct backbone *bb = p->bb;
    struct cg_names *out = ARENA_NEW(a, struct cg_names);
    struct table t = {.dialect = p->target.dialect, .arena = a};
    t.names =
        ARENA_ARRAY(a, const char *, p->n_nodes + BB_MAX_PARTS * bb->n_insts + bb->n_regions + bb->n_buffers);
    out->node = ARENA_ARRAY(a, const char *, cg_variables(p));
    out->wide = ARENA_ARRAY(a, const char *, cg_variables(p));
    out->value = arena_alloc(a, (bb->n_insts + 1) * sizeof *out->value);
    out->region = ARENA_ARRAY(a, const char *, bb->n_regions + 1);
    out->buffer = ARENA_ARRAY(a, const char *, bb->n_buffers + 1);
    for (uint32_t i = 0; i < bb->n_buffers; i++)
        out->buffer[i] = unique(&t, bb->buffers[i].name);
    for (uint32_t i = 0; i < bb->n_regions; i++)
        out->region[i] = unique(&t, bb->regions[i].name);
    for (unsigned i = 0; i < p->n_nodes; i++) {
        if (p->nodes[i]->type != CG_DIM && p->nodes[i]->type != CG_AHEAD) continue;
        out->node[i] = node_name(p, &t, p->nodes[i]);
        out->wide[i] = arena_printf(a, "(%s)%s", t.dialect->wide_index, out->node[i]);
    }
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        bool step = bb->insts[i].kind == BB_INIT && bb->insts[i].partner != BB_NONE;
        name_value(&t, step ? &bb->insts[bb->insts[i].partner] : &bb->insts[i], out->value[i]);
    }
    return out;
}
