/* One certificate file, in the format of czmq's zcert:
 *
 *     metadata
 *         name = "node1"
 *         made = "2026-01-31T12:00:00Z"
 *         server = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"      public key of the coordinator
 *     curve
 *         public-key = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
 *         secret-key = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"   only in NAME.key_secret
 *
 * zcert makes and writes them. It does not read them here: its reader prints what it does not understand to
 * standard error, takes metadata for a format of printf, and names no line. */
#ifndef THRESH_KEYS_CERTIFICATE_H
#define THRESH_KEYS_CERTIFICATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/keys/keys.h"

struct keys_certificate {
    uint8_t public_key[KEYS_BYTES], secret_key[KEYS_BYTES];
    char key[KEYS_TEXT];                   /* the public key as text */
    char server[KEYS_TEXT];                /* public key of the coordinator; "": not stated */
    char name[KEYS_NAME], when[KEYS_WHEN]; /* "": not stated */
};

/* Makes a pair of keys and writes both files, PATH (public) and PATH_secret. server: public key of the
 * coordinator, NULL for its own certificate. false after an error; a file that exists is not touched. */
bool keys_certificate_make(const char *path, const char *name, const char *server, struct diag *d);
/* Reads a public certificate. false after an error with its place. Others may not write it. */
bool keys_certificate_read(const char *path, struct keys_certificate *out, struct diag *d);
/* The same with the secret key, which fits the public one. Only the owner may read or write the file. Errors
 * do not show the file's text. The caller forgets the result. */
bool keys_certificate_read_secret(const char *path, struct keys_certificate *out, struct diag *d);
void keys_certificate_forget(struct keys_certificate *c); /* overwrites it */

/* Whether a folder is one that nobody else can write. false after an error. */
bool keys_check_folder(const char *path, struct diag *d);

#endif
