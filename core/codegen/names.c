/* Names of the generated text. "mad.m.2" gives m2, "A.copy.load" gives A_copy_load; a name that is taken or a
 * word of OpenCL C gets a suffix, one of a family of them a prefix. No base of a register name ends in
 * _digits, so that base_1_2 belongs to one base alone. */
#include "core/codegen/names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/base/arena.h"

struct table {
    struct arena *arena;
    unsigned n;
    const char **names;
};

static bool reserved(const char *s)
{
    static const char *const words[] = {
        "kernel",   "global",   "local",     "constant",   "private",    "float",     "double",
        "half",     "int",      "uint",      "long",       "ulong",      "short",     "char",
        "uchar",    "ushort",   "bool",      "void",       "if",         "else",      "for",
        "while",    "do",       "switch",    "case",       "default",    "break",     "continue",
        "return",   "goto",     "const",     "restrict",   "volatile",   "static",    "extern",
        "struct",   "union",    "enum",      "typedef",    "sizeof",     "signed",    "unsigned",
        "inline",   "register", "auto",      "image",      "event_t",    "sampler_t", "size_t",
        "vec_step", "fma",      "fmin",      "fmax",       "sqrt",       "rsqrt",     "exp",
        "log",      "sin",      "cos",       "tanh",       "fabs",       "barrier",   "thresh_kernel",
        "pipe",     "uniform",  "read_only", "write_only", "read_write", "complex",   "imaginary",
        "quad",     "true",     "false",     "NULL",       "INFINITY",   "NAN",       "generic",
        "lanes"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!strcmp(s, words[i])) return true;
    return false;
}

static bool begins_with(const char *s, const char *begin)
{
    return strncmp(s, begin, strlen(begin)) == 0;
}

/* float4, int16, ... */
static bool is_vector_type(const char *s)
{
    for (int t = 0; t < SCALAR_TYPE_COUNT; t++) {
        const char *scalar = scalar_type_name((enum scalar_type)t);
        if (begins_with(s, scalar) && isdigit((unsigned char)s[strlen(scalar)])) return true;
    }
    return false;
}

/* Families of names of OpenCL C: macros in capitals (M_PI, FLT_MAX), extensions, the functions of work-items,
 * types of images and vectors, loads and stores of vectors. */
static bool reserved_alike(const char *s)
{
    size_t n = strlen(s), capitals = 0;
    while (capitals < n && !islower((unsigned char)s[capitals]))
        capitals++;
    return (n > 1 && capitals == n) || begins_with(s, "cl_") || begins_with(s, "get_") ||
           begins_with(s, "image") || begins_with(s, "vload") || begins_with(s, "vstore") ||
           is_vector_type(s);
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

static const char *unique(struct table *t, const char *name)
{
    char base[96], text[112];
    spell(name, base, sizeof base - 1);
    const char *prefix = reserved_alike(base) ? "v_" : "";
    snprintf(text, sizeof text, "%s%s", prefix, base);
    for (unsigned i = 2; reserved(text) || taken(t, text); i++)
        snprintf(text, sizeof text, "%s%s_v%u", prefix, base, i);
    return t->names[t->n++] = arena_strdup(t->arena, text);
}

static const char *node_name(const struct cg_program *p, struct table *t, const struct cg_node *n)
{
    const struct bb_dim *d = &p->bb->dims[n->dims[0]];
    char text[112];
    spell(p->bb->tiles[d->tile].name, text, 96);
    return unique(t, taken(t, text) ? d->name : p->bb->tiles[d->tile].name);
}

struct cg_names *cg_make_names(const struct cg_program *p, struct arena *a)
{
    const struct backbone *bb = p->bb;
    struct cg_names *out = ARENA_NEW(a, struct cg_names);
    struct table t = {.arena = a};
    t.names = ARENA_ARRAY(a, const char *, p->n_nodes + bb->n_insts + bb->n_regions + bb->n_buffers);
    out->node = ARENA_ARRAY(a, const char *, p->n_nodes);
    out->wide = ARENA_ARRAY(a, const char *, p->n_nodes);
    out->value = ARENA_ARRAY(a, const char *, bb->n_insts + 1);
    out->region = ARENA_ARRAY(a, const char *, bb->n_regions + 1);
    out->buffer = ARENA_ARRAY(a, const char *, bb->n_buffers + 1);
    for (uint32_t i = 0; i < bb->n_buffers; i++)
        out->buffer[i] = unique(&t, bb->buffers[i].name);
    for (uint32_t i = 0; i < bb->n_regions; i++)
        out->region[i] = unique(&t, bb->regions[i].name);
    for (unsigned i = 0; i < p->n_nodes; i++) {
        if (p->nodes[i]->type != CG_DIM) continue;
        out->node[i] = node_name(p, &t, p->nodes[i]);
        out->wide[i] = arena_printf(a, "(long)%s", out->node[i]);
    }
    for (uint32_t i = 0; i < bb->n_insts; i++) {
        bool step = bb->insts[i].kind == BB_INIT && bb->insts[i].partner != BB_NONE;
        out->value[i] = unique(&t, step ? bb->insts[bb->insts[i].partner].name : bb->insts[i].name);
    }
    return out;
}
