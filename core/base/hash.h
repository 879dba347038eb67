/* 64-bit hashing of bytes (FNV-1a with a final avalanche), for fingerprints and duplicate detection; not for
 * security.
 *
 *     uint64_t h = hash_finish(hash_string(HASH_START, text)); */
#ifndef THRESH_BASE_HASH_H
#define THRESH_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { HASH_HEX_BYTES = 17 }; /* 16 hex digits and a 0 */

#define HASH_START 0xcbf29ce484222325u

/* Mixes `bytes` bytes into `h`; start with HASH_START. Order matters. */
uint64_t hash_bytes(uint64_t h, const void *data, size_t bytes);
uint64_t hash_string(uint64_t h, const char *s); /* includes the terminating 0 */
/* The avalanche step: call once, at the end. */
uint64_t hash_finish(uint64_t h);
void hash_hex(uint64_t h, char out[HASH_HEX_BYTES]);

#endif
