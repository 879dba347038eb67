/* Bound types: symbolic sizes become extents, and types are built from their parts.
 *
 * With N = 512 the written type `[[float]N]M` becomes an array whose elements have the extent 512. Each
 * constructor checks what it builds: sizes of at least 1, fewer than LIFT_MAX_BYTES bytes, at most
 * LIFT_MAX_TERMS parts. NULL means that an error was reported. */
#include "core/lift/bind.h"

#include <inttypes.h>
#include <stdarg.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"

void bind_report(struct binder *b, struct source_pos at, const char *fmt, ...)
{
    if (b->last.source == at.source && b->last.offset == at.offset) return;
    struct strbuf text = {0};
    va_list args;
    va_start(args, fmt);
    strbuf_vprintf(&text, fmt, args);
    va_end(args);
    diag_error(b->diag, at, "%s", text.text);
    strbuf_free(&text);
    b->last = at;
}

const struct lift_type *bind_scalar(struct binder *b, enum scalar_type scalar)
{
    struct lift_type *t = ARENA_NEW(b->arena, struct lift_type);
    t->kind = LIFT_SCALAR;
    t->scalar = scalar;
    t->nodes = 1;
    return t;
}

const char *bind_type_text(struct binder *b, const struct lift_type *t)
{
    struct strbuf text = {0};
    lift_print_type(t, &text);
    const char *copy = arena_strdup(b->arena, text.text);
    strbuf_free(&text);
    return copy;
}

/* "N", or "N = 512" where the size is not a number already. */
const char *bind_size_text(struct binder *b, const struct lift_size *size, int64_t value)
{
    struct strbuf text = {0};
    lift_size_print(size, &text);
    if (size->kind != LIFT_SIZE_CONST) strbuf_printf(&text, " = %" PRId64, value);
    const char *copy = arena_strdup(b->arena, text.text);
    strbuf_free(&text);
    return copy;
}

bool bind_size_value(struct binder *b, const struct lift_size *size, struct source_pos at, int64_t *value)
{
    return bind_size_from(b, size, 1, at, value);
}

bool bind_size_from(struct binder *b, const struct lift_size *size, int64_t least, struct source_pos at,
                    int64_t *value)
{
    enum lift_size_status status = lift_size_value(size, b->program->sizes, value);
    if (status == LIFT_SIZE_OK && *value >= least) return true;
    struct strbuf text = {0};
    lift_size_print(size, &text);
    if (status != LIFT_SIZE_OK)
        bind_report(b, at, "size %s %s", text.text, lift_size_status_text(status));
    else
        bind_report(b, at, "size %s is %" PRId64 "; %s must be at least %" PRId64, text.text, *value,
                    least ? "sizes" : "it", least);
    strbuf_free(&text);
    return false;
}

/* The type, with the number of its nodes; NULL after an error if they are too many. */
static const struct lift_type *count_nodes(struct binder *b, struct lift_type *t, struct source_pos at)
{
    t->nodes = 1;
    if (t->kind == LIFT_ARRAY) t->nodes += t->element->nodes + t->size->nodes;
    for (unsigned i = 0; i < t->n_parts && t->nodes <= LIFT_MAX_TERMS; i++)
        t->nodes += t->parts[i]->nodes;
    if (t->nodes <= LIFT_MAX_TERMS) return t;
    bind_report(b, at, "the type is too large: more than %u parts and size terms", LIFT_MAX_TERMS);
    return NULL;
}

const struct lift_type *bind_array_of(struct binder *b, const struct lift_type *element,
                                      const struct lift_size *size, struct source_pos at)
{
    struct lift_type *t = ARENA_NEW(b->arena, struct lift_type);
    t->kind = LIFT_ARRAY;
    t->element = element;
    t->size = size;
    if (!element || !bind_size_value(b, size, at, &t->extent) || !count_nodes(b, t, at)) return NULL;
    if (lift_type_bytes(t) < LIFT_MAX_BYTES) return t;
    bind_report(b, at, "array %s has 2^50 bytes or more; choose smaller sizes", bind_type_text(b, t));
    return NULL;
}

const struct lift_type *bind_tuple_of(struct binder *b, const struct lift_type **parts, unsigned n,
                                      struct source_pos at)
{
    struct lift_type *t = ARENA_NEW(b->arena, struct lift_type);
    t->kind = LIFT_TUPLE;
    t->n_parts = n;
    t->parts = parts;
    return count_nodes(b, t, at);
}

/* A written type with its extents. */
const struct lift_type *bind_resolve(struct binder *b, const struct lift_type *t, struct source_pos at)
{
    if (t->kind == LIFT_SCALAR) return bind_scalar(b, t->scalar);
    if (t->kind == LIFT_ARRAY) return bind_array_of(b, bind_resolve(b, t->element, at), t->size, at);
    const struct lift_type **parts = ARENA_ARRAY(b->arena, const struct lift_type *, t->n_parts);
    for (unsigned i = 0; i < t->n_parts; i++)
        if (!(parts[i] = bind_resolve(b, t->parts[i], at))) return NULL;
    return bind_tuple_of(b, parts, t->n_parts, at);
}
