/* Tokens and hosts; see access.h. */
#include "coordinator/web/access.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/diag.h"
#include "core/base/shell.h"
#include "core/base/strbuf.h"

enum { RANDOM_BYTES = 32 };

/* ---- the file ---- */

static bool make_token(char out[ACCESS_TOKEN_MOST + 1], struct diag *d)
{
    unsigned char random[RANDOM_BYTES];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        diag_plain(d, "no random numbers for a token: %s", strerror(errno));
        return false;
    }
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(out + 2 * i, 3, "%02x", random[i]);
    return true;
}

/* Makes the file. false: it exists, or cannot be made; errno says which. */
static bool create_file(struct access *a, const char *path, struct diag *d)
{
    if (!make_token(a->token, d)) return false;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        if (errno != EEXIST) diag_plain(d, "--token-file: cannot make '%s': %s", path, strerror(errno));
        return false;
    }
    size_t n = strlen(a->token);
    bool ok = write(fd, a->token, n) == (ssize_t)n && write(fd, "\n", 1) == 1;
    int error = errno;
    if (close(fd) || !ok) {
        diag_plain(d, "--token-file: cannot write '%s': %s", path, strerror(ok ? errno : error));
        unlink(path);
        return false;
    }
    return true;
}

/* Checks who can read the file that is open. */
static bool check_file(int fd, const char *path, struct diag *d)
{
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        diag_plain(d, "--token-file: '%s' is not a file", path);
        return false;
    }
    if (st.st_uid != geteuid() && st.st_uid != 0) {
        diag_plain(d, "--token-file: '%s' belongs to another user", path);
        return false;
    }
    if (!(st.st_mode & (S_IRWXG | S_IRWXO))) return true;
    struct strbuf word = {0};
    shell_add_word(&word, path);
    diag_plain(d, "--token-file: group or others can read '%s'; run: chmod 600 %s", path, word.text);
    strbuf_free(&word);
    return false;
}

/* Checks the first line; what it says is not shown. */
static bool take_line(struct access *a, const char *path, char *text, struct diag *d)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    size_t line = strcspn(text, "\r\n"), valid = strspn(text, allowed);
    if (valid < line) {
        diag_plain(d, "%s:1:%zu: a token has letters, digits and - . _ ~ only", path, valid + 1);
        return false;
    }
    if (line < ACCESS_TOKEN_LEAST || line > ACCESS_TOKEN_MOST) {
        diag_plain(d,
                   "%s:1:1: the token has %zu characters (%d to %d are allowed); remove the file and a new "
                   "one is made",
                   path, line, ACCESS_TOKEN_LEAST, ACCESS_TOKEN_MOST);
        return false;
    }
    snprintf(a->token, sizeof a->token, "%.*s", (int)line, text);
    return true;
}

static bool read_file(struct access *a, const char *path, struct diag *d)
{
    char text[ACCESS_TOKEN_MOST + 8];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        diag_plain(d, "--token-file: cannot read '%s': %s", path, strerror(errno));
        return false;
    }
    bool ok = check_file(fd, path, d);
    ssize_t n = ok ? read(fd, text, sizeof text - 1) : 0;
    close(fd);
    text[n > 0 ? n : 0] = 0;
    return ok && take_line(a, path, text, d);
}

bool access_read_token(struct access *a, const char *path, struct diag *d)
{
    if (create_file(a, path, d)) return true;
    memset(a->token, 0, sizeof a->token);
    return !diag_failed(d) && read_file(a, path, d);
}

/* ---- requests ---- */

/* Whether the n bytes are an address or the name of this machine's loopback. */
static bool is_loopback_name(const char *host, size_t n)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]", "localhost."};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == n && strncasecmp(host, names[i], n) == 0) return true;
    return n > 4 && n < 16 && strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == n;
}

/* The port may differ: a tunnel (ssh -L) has another one. */
bool access_host(const struct access *a, const char *host)
{
    if (!a->loopback) return true;
    if (!host) return false;
    const char *bracket = strchr(host, ']'), *colon = strchr(bracket ? bracket : host, ':');
    if (colon && colon[1 + strspn(colon + 1, "0123456789")]) return false;
    return is_loopback_name(host, colon ? (size_t)(colon - host) : strlen(host));
}

/* Both texts are compared as arrays of the longest length, filled with zeros. */
bool access_token(const struct access *a, const char *text)
{
    char given[ACCESS_TOKEN_MOST + 1] = {0};
    volatile unsigned char differs = 0;
    if (!*a->token) return true;
    if (!text || strlen(text) > ACCESS_TOKEN_MOST) return false;
    memcpy(given, text, strlen(text));
    for (size_t i = 0; i < sizeof given; i++)
        differs = (unsigned char)(differs | (given[i] ^ a->token[i]));
    return differs == 0;
}

bool access_bearer(const struct access *a, const char *header)
{
    static const char scheme[] = "Bearer ";
    if (!*a->token) return true;
    if (!header || strncasecmp(header, scheme, strlen(scheme)) != 0) return false;
    header += strlen(scheme);
    return access_token(a, header + strspn(header, " "));
}
