/* Certificate files: writing, reading, who may read them; see certificate.h. */
#include "core/keys/certificate.h"

#include <czmq.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/file.h"
#include "core/base/shell.h"
#include "core/base/strbuf.h"

enum { MOST_BYTES = 16 << 10 /* of a file */ };

/* Overwrites a secret; volatile, so that no compiler leaves it out. */
static void forget(void *data, size_t n)
{
    volatile unsigned char *p = data;
    while (n)
        p[--n] = 0;
}

void keys_certificate_forget(struct keys_certificate *c)
{
    forget(c, sizeof *c);
}

/* ---- who may read and write ---- */

/* Adds an error with the command that helps: "PATH: MESSAGE; run: chmod MODE PATH". */
static void add_mode_fault(const char *path, const char *message, const char *mode, struct diag *d)
{
    struct strbuf word = {0};
    shell_add_word(&word, path);
    diag_plain(d, "%s: %s; run: chmod %s %s", path, message, mode, word.text);
    strbuf_free(&word);
}

static bool check_owner(const char *path, const struct stat *st, struct diag *d)
{
    uid_t self = geteuid();
    if (st->st_uid == self || st->st_uid == 0 || self == 0) return true;
    diag_plain(d, "%s: belongs to another user, who can change it", path);
    return false;
}

bool keys_check_folder(const char *path, struct diag *d)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
        diag_plain(d, "%s: no folder of keys; make one: thresh keys new DIR", path);
        return false;
    }
    if (!(st.st_mode & (S_IWGRP | S_IWOTH))) return check_owner(path, &st, d);
    add_mode_fault(path, "group or others can write to this folder and so admit agents", "700", d);
    return false;
}

/* Checks a file before it is read. */
static bool check_file(const char *path, bool secret, struct diag *d)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        diag_plain(d, "%s: %s", path, strerror(errno));
        return false;
    }
    if (!S_ISREG(st.st_mode)) {
        diag_plain(d, "%s: not a file", path);
        return false;
    }
    if (secret && st.st_mode & (S_IRWXG | S_IRWXO)) {
        add_mode_fault(path, "group or others can read this secret", "600", d);
        return false;
    }
    if (st.st_mode & (S_IWGRP | S_IWOTH)) {
        add_mode_fault(path, "group or others can write this certificate", "644", d);
        return false;
    }
    return check_owner(path, &st, d);
}

/* ---- reading ---- */

/* A file that is being read. */
struct reading {
    const struct source *source;
    bool secret; /* its lines are not shown */
    struct diag *diag;
    struct keys_certificate *out;
    bool has_secret;
};

static bool fail(const struct reading *r, const char *at, const char *message)
{
    struct source_pos pos = {r->source, (size_t)(at - r->source->text)};
    unsigned line, column;
    source_locate(pos, &line, &column);
    if (r->secret)
        diag_plain(r->diag, "%s:%u:%u: %s", r->source->path, line, column, message);
    else
        diag_error(r->diag, pos, "%s", message);
    return false;
}

static bool take_key(const struct reading *r, const char *at, const char *text, uint8_t key[KEYS_BYTES])
{
    uint8_t ignored[KEYS_BYTES];
    if (strlen(text) == KEYS_TEXT - 1 && zmq_z85_decode(key ? key : ignored, text)) return true;
    return fail(r, at, "not a key: 40 characters of Z85 are expected");
}

/* A text of the metadata goes to `out` if it fits and is plain; else it is left out. */
static void take_text(const char *text, char *out, size_t n)
{
    size_t length = strlen(text);
    for (const char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || (unsigned char)*p >= 127) return;
    if (length < n) memcpy(out, text, length + 1);
}

static bool is_word(const char *text, size_t n, const char *word)
{
    return strlen(word) == n && strncmp(text, word, n) == 0;
}

/* `name = value` of a section; at: where the value is. */
static bool take_value(struct reading *r, const char *name, size_t n, const char *at, const char *value,
                       bool curve)
{
    struct keys_certificate *c = r->out;
    if (curve && is_word(name, n, "public-key")) {
        if (!take_key(r, at, value, c->public_key)) return false;
        memcpy(c->key, value, KEYS_TEXT);
    } else if (curve && is_word(name, n, "secret-key")) {
        r->has_secret = take_key(r, at, value, c->secret_key);
        return r->has_secret;
    } else if (!curve && is_word(name, n, "server")) {
        if (!take_key(r, at, value, NULL)) return false;
        memcpy(c->server, value, KEYS_TEXT);
    } else if (!curve && is_word(name, n, "name")) {
        take_text(value, c->name, sizeof c->name);
    } else if (!curve && is_word(name, n, "made")) {
        take_text(value, c->when, sizeof c->when);
    }
    return true;
}

/* An indented line: name = value, the value in quotes or up to the end of the line. */
static bool read_value(struct reading *r, const char *line, size_t length, bool curve)
{
    char value[256];
    size_t name = strspn(line, " \t"), name_end = name + strcspn(line + name, " \t=\n");
    size_t equals = name_end + strspn(line + name_end, " \t");
    if (equals >= length || line[equals] != '=') return fail(r, line + name, "expected NAME = VALUE");
    size_t from = equals + 1 + strspn(line + equals + 1, " \t"), end = length;
    if (from < length && line[from] == '"') {
        from++;
        for (end = from; end < length && line[end] != '"';)
            end++;
        if (end == length) return fail(r, line + from - 1, "the quote does not end");
    }
    while (end > from && end == length && (line[end - 1] == ' ' || line[end - 1] == '\r'))
        end = --length;
    if (end - from >= sizeof value) return fail(r, line + from, "the value is too long");
    memcpy(value, line + from, end - from);
    value[end - from] = 0;
    bool ok = take_value(r, line + name, name_end - name, line + from, value, curve);
    forget(value, sizeof value);
    return ok;
}

static bool read_lines(struct reading *r)
{
    enum { NONE, METADATA, CURVE } section = NONE;
    for (const char *line = r->source->text, *next; *line; line = next) {
        size_t length = strcspn(line, "\n"), indent = strspn(line, " \t"), word = strcspn(line, " \t\r\n=");
        next = line + length + (line[length] == '\n');
        if (indent == length || line[indent] == '#' || line[indent] == '\r') continue;
        if (indent == 0)
            section = is_word(line, word, "curve")      ? CURVE
                      : is_word(line, word, "metadata") ? METADATA
                                                        : NONE;
        else if (section != NONE && !read_value(r, line, length, section == CURVE))
            return false;
    }
    return true;
}

/* Whether the secret key belongs to the public one. */
static bool keys_fit(const struct keys_certificate *c)
{
    char secret[KEYS_TEXT], public[KEYS_TEXT];
    zmq_z85_encode(secret, c->secret_key, KEYS_BYTES);
    bool fit = zmq_curve_public(public, secret) == 0 && strcmp(public, c->key) == 0;
    forget(secret, sizeof secret);
    return fit;
}

static bool check_complete(const struct reading *r)
{
    const char *path = r->source->path;
    if (!r->out->key[0])
        diag_plain(r->diag, "%s: no certificate: it has no public-key", path);
    else if (r->secret && !r->has_secret)
        diag_plain(r->diag, "%s: has no secret-key; the file that has one ends in .key_secret", path);
    else if (!r->secret && r->has_secret)
        diag_plain(r->diag, "%s: holds a secret key; put the public certificate (.key) here instead", path);
    else if (r->secret && !keys_fit(r->out))
        diag_plain(r->diag, "%s: secret-key does not belong to public-key", path);
    else
        return true;
    return false;
}

static bool read_certificate(const char *path, bool secret, struct keys_certificate *out, struct diag *d)
{
    size_t n;
    *out = (struct keys_certificate){.key = ""};
    if (!check_file(path, secret, d)) return false;
    char *text = source_read_file(path, MOST_BYTES, &n, d);
    if (!text) return false;
    const struct source source = {path, text, n};
    struct reading r = {.source = &source, .secret = secret, .diag = d, .out = out};
    bool ok = read_lines(&r) && check_complete(&r);
    forget(text, n);
    free(text);
    if (!ok || !secret) forget(out->secret_key, sizeof out->secret_key);
    return ok;
}

bool keys_certificate_read(const char *path, struct keys_certificate *out, struct diag *d)
{
    return read_certificate(path, false, out, d);
}

bool keys_certificate_read_secret(const char *path, struct keys_certificate *out, struct diag *d)
{
    return read_certificate(path, true, out, d);
}

/* ---- making ---- */

/* Creates an empty file that did not exist. */
static bool reserve(const char *path, mode_t mode, struct diag *d)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd >= 0) {
        close(fd);
        return true;
    }
    char *why = file_create_fault(path, errno);
    if (errno == EEXIST)
        diag_plain(d, "%s exists; keys are never overwritten: choose another name, or remove the file", path);
    else
        diag_plain(d, "cannot write %s: %s", path, why);
    free(why);
    return false;
}

static zcert_t *new_keys(const char *name, const char *server)
{
    char when[KEYS_WHEN];
    time_t now = time(NULL);
    struct tm utc;
    zcert_t *cert = zcert_new();
    if (!cert) return NULL;
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    zcert_set_meta(cert, "name", "%s", name);
    zcert_set_meta(cert, "made", "%s", when);
    if (server) zcert_set_meta(cert, "server", "%s", server);
    return cert;
}

/* Writes both files and reads them back: a full disk shows there. */
static bool save(zcert_t *cert, const char *path, const char *secret, struct diag *d)
{
    struct keys_certificate public, both;
    bool saved = zcert_save_secret(cert, secret) == 0 && zcert_save_public(cert, path) == 0;
    if (!saved) diag_plain(d, "cannot write %s: %s", path, strerror(errno));
    bool ok = saved && keys_certificate_read(path, &public, d) &&
              keys_certificate_read_secret(secret, &both, d) && strcmp(public.key, both.key) == 0;
    if (saved) keys_certificate_forget(&both);
    return ok;
}

bool keys_certificate_make(const char *path, const char *name, const char *server, struct diag *d)
{
    struct strbuf secret = {0};
    strbuf_printf(&secret, "%s_secret", path);
    bool ok = reserve(secret.text, S_IRUSR | S_IWUSR, d);
    if (ok && !reserve(path, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH, d)) {
        unlink(secret.text);
        ok = false;
    }
    zcert_t *cert = ok ? new_keys(name, server) : NULL;
    if (ok && !cert) diag_plain(d, "cannot make keys: this libzmq has no CURVE");
    if (ok && !(cert && save(cert, path, secret.text, d))) {
        unlink(secret.text);
        unlink(path);
        ok = false;
    }
    zcert_destroy(&cert);
    strbuf_free(&secret);
    return ok;
}
