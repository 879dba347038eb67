/* The agents that a coordinator admits: the certificates in the folder `agents` of its keys. They are read
 * again when a file there was added, removed or changed.
 *
 *     name = admit_find(a, key, &news);       "node1", or NULL: not admitted
 *
 * czmq has such a set, zcertstore; it reads with zcert's reader (certificate.h says why that is not used),
 * and does not notice a file that was changed within a second. */
#ifndef THRESH_KEYS_ADMIT_H
#define THRESH_KEYS_ADMIT_H

#include <stdint.h>

#include "core/base/strbuf.h"
#include "core/keys/keys.h"

struct admit;

struct admit *admit_new(const char *folder); /* of keys; copied */
void admit_free(struct admit *a);            /* NULL is allowed */
/* Reads the folder if it changed. What is wrong with it is appended to *news, a line each: certificates that
 * are left out, that nobody is admitted. If the folder cannot be read, nobody is. */
void admit_update(struct admit *a, struct strbuf *news);
/* The name of the admitted agent with the public key, as of the last update; NULL: there is none. */
const char *admit_find(const struct admit *a, const uint8_t key[KEYS_BYTES]);

#endif
