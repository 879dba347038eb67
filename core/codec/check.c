/* A walk over MessagePack bytes before they are unpacked. msgpack-c allocates what a header announces, so
 * that five bytes can ask for 64 GiB:
 *
 *     dd ff ff ff ff      an array of 4294967295 elements, with 0 bytes left: refused
 *
 * Here each announced count is compared with the bytes that are left (an element takes one at least) and the
 * depth is bounded. Nothing is allocated, and the recursion is as deep as MESSAGE_MAX_DEPTH. The format:
 * https://github.com/msgpack/msgpack/blob/master/spec.md */
#include "core/codec/message.h"

struct walk {
    const uint8_t *at, *end;
    const char *why;
};

static bool refuse(struct walk *w, const char *why)
{
    w->why = why;
    return false;
}

static size_t left(const struct walk *w)
{
    return (size_t)(w->end - w->at);
}

static bool skip(struct walk *w, uint64_t bytes)
{
    if (bytes > left(w)) return refuse(w, "truncated message");
    w->at += bytes;
    return true;
}

/* A big-endian number of 1, 2, 4 or 8 bytes. */
static bool number(struct walk *w, unsigned bytes, uint64_t *out)
{
    const uint8_t *from = w->at;
    if (!skip(w, bytes)) return false;
    *out = 0;
    for (unsigned i = 0; i < bytes; i++)
        *out = *out << 8 | from[i];
    return true;
}

static bool value(struct walk *w, unsigned depth);

static bool container(struct walk *w, uint64_t elements, unsigned depth)
{
    if (depth == MESSAGE_MAX_DEPTH) return refuse(w, "message nested too deeply");
    if (elements > left(w)) return refuse(w, "element count exceeds the length of the message");
    for (uint64_t i = 0; i < elements; i++)
        if (!value(w, depth + 1)) return false;
    return true;
}

static bool sized_skip(struct walk *w, unsigned length_bytes, unsigned extra)
{
    uint64_t n;
    return number(w, length_bytes, &n) && skip(w, n + extra);
}

static bool sized_container(struct walk *w, unsigned length_bytes, unsigned per_element, unsigned depth)
{
    uint64_t n;
    return number(w, length_bytes, &n) && container(w, n * per_element, depth);
}

/* Headers 0xc0 to 0xdf: what follows them. */
static bool extended(struct walk *w, uint8_t head, unsigned depth)
{
    switch (head) {
    case 0xc0:
    case 0xc2:
    case 0xc3:
        return true;
    case 0xc4:
    case 0xd9:
        return sized_skip(w, 1, 0);
    case 0xc5:
    case 0xda:
        return sized_skip(w, 2, 0);
    case 0xc6:
    case 0xdb:
        return sized_skip(w, 4, 0);
    case 0xc7:
        return sized_skip(w, 1, 1);
    case 0xc8:
        return sized_skip(w, 2, 1);
    case 0xc9:
        return sized_skip(w, 4, 1);
    case 0xca:
    case 0xce:
    case 0xd2:
        return skip(w, 4);
    case 0xcb:
    case 0xcf:
    case 0xd3:
        return skip(w, 8);
    case 0xcc:
    case 0xd0:
        return skip(w, 1);
    case 0xcd:
    case 0xd1:
        return skip(w, 2);
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8:
        return skip(w, 1 + (1u << (head - 0xd4)));
    case 0xdc:
        return sized_container(w, 2, 1, depth);
    case 0xdd:
        return sized_container(w, 4, 1, depth);
    case 0xde:
        return sized_container(w, 2, 2, depth);
    case 0xdf:
        return sized_container(w, 4, 2, depth);
    default:
        return refuse(w, "byte 0xc1 is not valid MessagePack");
    }
}

static bool value(struct walk *w, unsigned depth)
{
    uint64_t head;
    if (!number(w, 1, &head)) return false;
    if (head < 0x80 || head >= 0xe0) return true;
    if (head < 0x90) return container(w, (head & 0xf) * 2, depth);
    if (head < 0xa0) return container(w, head & 0xf, depth);
    if (head < 0xc0) return skip(w, head & 0x1f);
    return extended(w, (uint8_t)head, depth);
}

bool codec_check(const void *data, size_t bytes, const char **why)
{
    struct walk w = {.at = data, .end = (const uint8_t *)data + bytes};
    bool ok = bytes <= MESSAGE_MAX_BYTES ? value(&w, 0) : refuse(&w, "message too long");
    if (ok && w.at != w.end) ok = refuse(&w, "unexpected bytes after the message");
    if (!ok) *why = w.why;
    return ok;
}
