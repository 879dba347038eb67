/* Encoding and decoding of the messages that message.h defines. Both directions walk a table of fields, which
 * is made from the definition:
 *
 *     M(READY, ready, F(COUNT, credits))  ->  {"credits", MESSAGE_FIELD_COUNT, offset in struct message}
 *
 * so a new message or field is one more entry there and no code here. Reading starts with codec_check(), so
 * that msgpack-c never sees a frame whose announced sizes exceed its bytes. */
#include "core/codec/message.h"

#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/panic.h"
#include "core/base/utf8.h"

/* ---- the tables ---- */

struct field_list {
    const struct message_field *fields;
    size_t n;
};

#define F(KIND, member)                                                                                      \
    {#member, MESSAGE_FIELD_##KIND, offsetof(struct message, hello) + offsetof(owner, member)},
#define M(KIND, message, list)                                                                               \
    static struct field_list fields_of_##message(void)                                                       \
    {                                                                                                        \
        typedef struct message_##message owner;                                                              \
        static const struct message_field fields[] = {list};                                                 \
        return (struct field_list){fields, sizeof fields / sizeof fields[0]};                                \
    }
MESSAGES(M)
#undef M
#undef F

static const struct {
    const char *name;
    struct field_list (*fields)(void);
} definitions[MESSAGE_KIND_COUNT] = {
#define M(KIND, message, list) {#message, fields_of_##message},
    MESSAGES(M)
#undef M
};

const char *message_name(enum message_kind kind)
{
    CHECK((unsigned)kind < MESSAGE_KIND_COUNT);
    return definitions[kind].name;
}

size_t message_fields(enum message_kind kind, const struct message_field **fields)
{
    CHECK((unsigned)kind < MESSAGE_KIND_COUNT);
    struct field_list list = definitions[kind].fields();
    *fields = list.fields;
    return list.n;
}

/* ---- encoding ---- */

static void pack_string(msgpack_packer *p, const char *s)
{
    size_t n = s ? strlen(s) : 0;
    msgpack_pack_str(p, n);
    msgpack_pack_str_body(p, s, n);
}

static void pack_ints(msgpack_packer *p, const struct message_ints *v)
{
    msgpack_pack_array(p, v->n);
    for (size_t i = 0; i < v->n; i++)
        msgpack_pack_int64(p, v->items[i]);
}

static void pack_doubles(msgpack_packer *p, const struct message_doubles *v)
{
    msgpack_pack_array(p, v->n);
    for (size_t i = 0; i < v->n; i++)
        msgpack_pack_double(p, v->items[i]);
}

static void pack_field(msgpack_packer *p, enum message_field_kind kind, const void *at)
{
    switch (kind) {
    case MESSAGE_FIELD_STRING:
        pack_string(p, *(const char *const *)at);
        return;
    case MESSAGE_FIELD_COUNT:
        msgpack_pack_uint64(p, *(const uint64_t *)at);
        return;
    case MESSAGE_FIELD_REAL:
        msgpack_pack_double(p, *(const double *)at);
        return;
    case MESSAGE_FIELD_FLAG:
        *(const bool *)at ? msgpack_pack_true(p) : msgpack_pack_false(p);
        return;
    case MESSAGE_FIELD_INTS:
        pack_ints(p, at);
        return;
    case MESSAGE_FIELD_DOUBLES:
        pack_doubles(p, at);
        return;
    case MESSAGE_FIELD_KIND_COUNT:
        break;
    }
    PANIC("unknown field kind %d", (int)kind);
}

/* msgpack_sbuffer_write(), which fails where there is no memory. */
static int write_bytes(void *buffer, const char *data, size_t n)
{
    CHECK(msgpack_sbuffer_write(buffer, data, n) == 0);
    return 0;
}

void *message_encode(const struct message *m, size_t *bytes)
{
    const struct message_field *fields;
    size_t n = message_fields(m->kind, &fields);
    msgpack_sbuffer buffer;
    msgpack_packer p;
    msgpack_sbuffer_init(&buffer);
    msgpack_packer_init(&p, &buffer, write_bytes);
    msgpack_pack_map(&p, n + 2);
    pack_string(&p, "v");
    msgpack_pack_uint64(&p, MESSAGE_VERSION);
    pack_string(&p, "type");
    pack_string(&p, message_name(m->kind));
    for (size_t i = 0; i < n; i++) {
        pack_string(&p, fields[i].name);
        pack_field(&p, fields[i].kind, (const char *)m + fields[i].offset);
    }
    *bytes = buffer.size;
    return msgpack_sbuffer_release(&buffer);
}

/* ---- decoding ---- */

struct reading {
    struct arena *arena;
    const char *why;
};

static bool refuse(struct reading *r, const char *why)
{
    r->why = why;
    return false;
}

static bool is_text(const msgpack_object *o, const char *text)
{
    size_t n = strlen(text);
    return o->type == MSGPACK_OBJECT_STR && o->via.str.size == n && memcmp(o->via.str.ptr, text, n) == 0;
}

/* The value of a key; NULL if it is missing or there twice. */
static const msgpack_object *lookup(const msgpack_object_map *map, const char *key)
{
    const msgpack_object *found = NULL;
    for (uint32_t i = 0; i < map->size; i++) {
        if (!is_text(&map->ptr[i].key, key)) continue;
        if (found) return NULL;
        found = &map->ptr[i].val;
    }
    return found;
}

static bool read_string(struct reading *r, const msgpack_object *o, const char **out)
{
    if (o->type != MSGPACK_OBJECT_STR) return refuse(r, "wrong field type: expected a string");
    if (o->via.str.size && memchr(o->via.str.ptr, 0, o->via.str.size))
        return refuse(r, "invalid string: it contains a zero byte");
    if (utf8_valid(o->via.str.ptr, o->via.str.size) < o->via.str.size)
        return refuse(r, "invalid string: not UTF-8");
    *out = arena_strndup(r->arena, o->via.str.size ? o->via.str.ptr : "", o->via.str.size);
    return true;
}

static bool read_count(struct reading *r, const msgpack_object *o, uint64_t *out)
{
    if (o->type != MSGPACK_OBJECT_POSITIVE_INTEGER) return refuse(r, "wrong field type: expected a count");
    *out = o->via.u64;
    return true;
}

static bool read_int(struct reading *r, const msgpack_object *o, int64_t *out)
{
    bool fits = o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER ||
                (o->type == MSGPACK_OBJECT_POSITIVE_INTEGER && o->via.u64 <= INT64_MAX);
    if (!fits) return refuse(r, "wrong field type: expected an integer");
    *out = o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER ? o->via.i64 : (int64_t)o->via.u64;
    return true;
}

static bool read_real(struct reading *r, const msgpack_object *o, double *out)
{
    bool real = o->type == MSGPACK_OBJECT_FLOAT64 || o->type == MSGPACK_OBJECT_FLOAT32;
    if (!real) return refuse(r, "wrong field type: expected a real number");
    *out = o->via.f64;
    return true;
}

static bool read_flag(struct reading *r, const msgpack_object *o, bool *out)
{
    if (o->type != MSGPACK_OBJECT_BOOLEAN) return refuse(r, "wrong field type: expected a flag");
    *out = o->via.boolean;
    return true;
}

static bool read_ints(struct reading *r, const msgpack_object *o, struct message_ints *out)
{
    if (o->type != MSGPACK_OBJECT_ARRAY) return refuse(r, "wrong field type: expected an array");
    int64_t *items = ARENA_ARRAY(r->arena, int64_t, o->via.array.size);
    *out = (struct message_ints){items, o->via.array.size};
    for (uint32_t i = 0; i < o->via.array.size; i++)
        if (!read_int(r, &o->via.array.ptr[i], &items[i])) return false;
    return true;
}

static bool read_doubles(struct reading *r, const msgpack_object *o, struct message_doubles *out)
{
    if (o->type != MSGPACK_OBJECT_ARRAY) return refuse(r, "wrong field type: expected an array");
    double *items = ARENA_ARRAY(r->arena, double, o->via.array.size);
    *out = (struct message_doubles){items, o->via.array.size};
    for (uint32_t i = 0; i < o->via.array.size; i++)
        if (!read_real(r, &o->via.array.ptr[i], &items[i])) return false;
    return true;
}

static bool read_field(struct reading *r, const msgpack_object *o, enum message_field_kind kind, void *at)
{
    switch (kind) {
    case MESSAGE_FIELD_STRING:
        return read_string(r, o, at);
    case MESSAGE_FIELD_COUNT:
        return read_count(r, o, at);
    case MESSAGE_FIELD_REAL:
        return read_real(r, o, at);
    case MESSAGE_FIELD_FLAG:
        return read_flag(r, o, at);
    case MESSAGE_FIELD_INTS:
        return read_ints(r, o, at);
    case MESSAGE_FIELD_DOUBLES:
        return read_doubles(r, o, at);
    case MESSAGE_FIELD_KIND_COUNT:
        break;
    }
    PANIC("unknown field kind %d", (int)kind);
}

static bool read_kind(struct reading *r, const msgpack_object_map *map, enum message_kind *out)
{
    const msgpack_object *version = lookup(map, "v"), *type = lookup(map, "type");
    if (!version || version->type != MSGPACK_OBJECT_POSITIVE_INTEGER) return refuse(r, "no protocol version");
    if (version->via.u64 != MESSAGE_VERSION)
        return refuse(r, "version mismatch: the peer uses a different protocol version");
    for (unsigned k = 0; type && k < MESSAGE_KIND_COUNT; k++) {
        if (!is_text(type, definitions[k].name)) continue;
        *out = (enum message_kind)k;
        return true;
    }
    return refuse(r, "unknown message type");
}

static bool read_message(struct reading *r, const msgpack_object *o, struct message *out)
{
    if (o->type != MSGPACK_OBJECT_MAP) return refuse(r, "not a message: expected a map");
    if (!read_kind(r, &o->via.map, &out->kind)) return false;
    const struct message_field *fields;
    size_t n = message_fields(out->kind, &fields);
    for (size_t i = 0; i < n; i++) {
        const msgpack_object *value = lookup(&o->via.map, fields[i].name);
        if (!value) return refuse(r, "missing or repeated field");
        if (!read_field(r, value, fields[i].kind, (char *)out + fields[i].offset)) return false;
    }
    return true;
}

bool message_decode(const void *data, size_t bytes, struct arena *a, struct message *out, const char **why)
{
    struct reading r = {.arena = a, .why = "not MessagePack"};
    *out = (struct message){.kind = MESSAGE_BYE};
    if (!codec_check(data, bytes, why)) return false;
    msgpack_unpacked unpacked;
    msgpack_unpacked_init(&unpacked);
    size_t offset = 0;
    bool ok = msgpack_unpack_next(&unpacked, data, bytes, &offset) == MSGPACK_UNPACK_SUCCESS &&
              read_message(&r, &unpacked.data, out);
    msgpack_unpacked_destroy(&unpacked);
    if (!ok) *why = r.why;
    return ok;
}
