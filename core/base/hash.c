/* FNV-1a with the finalizer of MurmurHash3 (A. Appleby). */
#include "core/base/hash.h"

#include <stdio.h>
#include <string.h>

uint64_t hash_bytes(uint64_t h, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

uint64_t hash_string(uint64_t h, const char *s)
{
    return hash_bytes(h, s, strlen(s) + 1);
}

uint64_t hash_finish(uint64_t h)
{
    h = (h ^ h >> 33) * 0xff51afd7ed558ccdu;
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 33;
}

void hash_hex(uint64_t h, char out[HASH_HEX_BYTES])
{
    snprintf(out, HASH_HEX_BYTES, "%016llx", (unsigned long long)h);
}
