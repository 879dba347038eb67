/* Who may see the page.
 *
 *     bound to           what a request needs
 *     127.0.0.1, ::1     a Host header that names this machine; with a token file also the token
 *     any other          the token
 *
 * The Host header keeps other pages of a reader's browser out: a name of theirs can be made to lead to
 * 127.0.0.1 (DNS rebinding), but the browser still sends that name. Beyond loopback the token does it.
 *
 * The token is sent as `Authorization: Bearer TOKEN`, or once as `?token=TOKEN`; then the answer sets a
 * cookie. */
#ifndef THRESH_WEB_ACCESS_H
#define THRESH_WEB_ACCESS_H

#include <stdbool.h>

struct diag;

enum { ACCESS_TOKEN_MOST = 256, ACCESS_TOKEN_LEAST = 16, ACCESS_COOKIE_BYTES = 32 };

struct access {
    bool loopback;                     /* bound to an address of this machine only */
    char token[ACCESS_TOKEN_MOST + 1]; /* "": none is needed; filled with zeros */
    char cookie[ACCESS_COOKIE_BYTES];  /* its name, which has the port: a browser gives the cookies of a host
                                          to all its ports */
};

/* Reads the token from a file with mode 0600, or makes the file with a random token. false after an error:
 * the file can be read by others, belongs to another user, or has no token. */
bool access_read_token(struct access *a, const char *path, struct diag *d);
/* Whether a request with this Host header (NULL: none) is for this machine. */
bool access_host(const struct access *a, const char *host);
/* Whether the text (NULL: none) is the token. Takes the same time for every text. */
bool access_token(const struct access *a, const char *text);
/* The same with the value of an Authorization header. */
bool access_bearer(const struct access *a, const char *header);

#endif
