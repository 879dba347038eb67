/* Folders of keys: what is made, what is never overwritten, what is refused and with which words. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include "core/base/diag.h"
#include "core/keys/agent.h"
#include "core/keys/certificate.h"
#include "core/keys/connections.h"
#include "core/keys/keys.h"
#include "core/keys/server.h"

struct keys_folder_test {
    char top[32], path[64];
    struct diag *diag;
};

static struct keys_folder_test keys_folder_new(void)
{
    struct keys_folder_test f = {.top = "/tmp/thresh-keys-XXXXXX", .diag = diag_new()};
    cr_assert_not_null(mkdtemp(f.top));
    snprintf(f.path, sizeof f.path, "%s/keys", f.top);
    const char *names[] = {"node1", "node2"};
    cr_assert(keys_new(f.path, names, 2, f.diag), "%s", diag_message(f.diag, 0));
    return f;
}

static void keys_folder_end(struct keys_folder_test *f)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", f->top);
    cr_expect_eq(system(command), 0);
    diag_free(f->diag);
}

static const char *keys_folder_file(const struct keys_folder_test *f, const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", f->path, name);
    return path;
}

static unsigned keys_folder_mode(const struct keys_folder_test *f, const char *name)
{
    struct stat st;
    cr_assert_eq(stat(keys_folder_file(f, name), &st), 0);
    return st.st_mode & 07777;
}

/* The error of the last call contains all the words. */
static void keys_folder_said(struct keys_folder_test *f, const char *first, const char *second)
{
    cr_assert(diag_failed(f->diag));
    const char *message = diag_message(f->diag, diag_count(f->diag) - 1);
    cr_expect(strstr(message, first) && strstr(message, second), "no '%s', '%s' in: %s", first, second,
              message);
}

Test(keys, secrets_are_for_their_owner_and_nothing_is_overwritten)
{
    umask(0);
    struct keys_folder_test f = keys_folder_new();
    struct keys_certificate before, after;
    cr_expect_eq(keys_folder_mode(&f, "."), 0700);
    cr_expect_eq(keys_folder_mode(&f, "agents"), 0700);
    cr_expect_eq(keys_folder_mode(&f, "server.key_secret"), 0600);
    cr_expect_eq(keys_folder_mode(&f, "agents/node1.key_secret"), 0600);
    cr_assert(keys_certificate_read_secret(keys_folder_file(&f, "server.key_secret"), &before, f.diag));
    const char *third[] = {"node3"}, *again[] = {"node4", "node1"}, *bad[] = {"../node"},
               *twice[] = {"a", "a"};
    cr_expect(keys_new(f.path, third, 1, f.diag));
    cr_assert(keys_certificate_read_secret(keys_folder_file(&f, "server.key_secret"), &after, f.diag));
    cr_expect_arr_eq(before.secret_key, after.secret_key, KEYS_BYTES, "the server's key has changed");
    cr_expect_not(keys_new(f.path, again, 2, f.diag));
    keys_folder_said(&f, "node1.key exists", "never overwritten");
    cr_expect_neq(access(keys_folder_file(&f, "agents/node4.key"), F_OK), 0, "half of the names were made");
    cr_expect_not(keys_new(f.path, bad, 1, f.diag));
    keys_folder_said(&f, "'../node' is not a name", "letters, digits");
    cr_expect_not(keys_new(f.path, twice, 2, f.diag));
    keys_folder_said(&f, "'a' is given twice", "");
    keys_folder_end(&f);
}

/* As root, too: the mode counts, not what this user may do. */
Test(keys, what_others_can_read_or_write_is_not_used)
{
    struct keys_folder_test f = keys_folder_new();
    void *context = zmq_ctx_new();
    const struct keys_server_options o = {.folder = f.path};
    cr_assert_eq(chmod(keys_folder_file(&f, "agents/node1.key_secret"), 0640), 0);
    cr_expect_null(keys_agent_read(keys_folder_file(&f, "agents/node1.key_secret"), f.diag));
    keys_folder_said(&f, "can read this secret", "chmod 600 ");
    cr_assert_eq(chmod(keys_folder_file(&f, "server.key_secret"), 0604), 0);
    cr_expect_null(keys_server_open(context, &o, f.diag));
    keys_folder_said(&f, "server.key_secret", "chmod 600 ");
    cr_assert_eq(chmod(keys_folder_file(&f, "server.key_secret"), 0600), 0);
    cr_assert_eq(chmod(keys_folder_file(&f, "agents"), 0770), 0);
    cr_expect_null(keys_server_open(context, &o, f.diag));
    keys_folder_said(&f, "can write to this folder", "chmod 700 ");
    zmq_ctx_term(context);
    keys_folder_end(&f);
}

static void keys_folder_write(const struct keys_folder_test *f, const char *name, const char *text)
{
    FILE *out = fopen(keys_folder_file(f, name), "w");
    cr_assert_not_null(out);
    fputs(text, out);
    cr_assert_eq(fclose(out), 0);
}

static const struct keys_entry *keys_folder_entry(const struct keys_list *l, const char *name)
{
    size_t i = 0;
    while (i < l->n_agents && strcmp(l->agents[i].name, name) != 0)
        i++;
    cr_assert_lt(i, l->n_agents, "%s is not listed", name);
    return &l->agents[i];
}

Test(keys, a_list_says_who_is_admitted_and_what_is_wrong)
{
    struct keys_folder_test f = keys_folder_new();
    struct keys_list l;
    keys_folder_write(&f, "agents/half.key", "curve\n    public-key = \"abc\"\n");
    keys_folder_write(&f, "agents/open.key", "curve\n    public-key \"abc\"\n");
    keys_folder_write(&f, "agents/empty.key", "# %n%s\n");
    keys_folder_write(&f, "agents/.hidden.key", "x");
    char *from = strdup(keys_folder_file(&f, "agents/node2.key"));
    cr_assert_eq(rename(from, keys_folder_file(&f, "removed")), 0);
    free(from);
    cr_assert(keys_list_read(f.path, &l, f.diag));
    cr_expect_eq(l.n_agents, 5);
    const struct keys_entry *one = keys_folder_entry(&l, "node1"), *two = keys_folder_entry(&l, "node2");
    cr_expect(one->admitted && one->secret && !one->problem && strlen(one->key) == KEYS_TEXT - 1);
    cr_expect_eq(strlen(one->when), strlen("2026-01-31T12:00:00Z"), "%s", one->when);
    cr_expect(!two->admitted && strstr(two->problem, "is missing"), "%s", two->problem);
    static const char *const wrong[][2] = {{"half", "half.key:2:19: not a key"},
                                           {"open", "open.key:2:5: expected NAME = VALUE"},
                                           {"empty", "has no public-key"}};
    for (size_t i = 0; i < 3; i++) {
        const struct keys_entry *e = keys_folder_entry(&l, wrong[i][0]);
        cr_expect(!e->admitted && strstr(e->problem, wrong[i][1]), "%s", e->problem);
    }
    keys_list_clear(&l);
    keys_folder_end(&f);
}

/* Errors of a secret file name the place, but do not show the line. */
Test(keys, errors_never_show_a_secret)
{
    struct keys_folder_test f = keys_folder_new();
    const char *file = "agents/node1.key_secret";
    keys_folder_write(&f, file, "curve\n    secret-key = \"the-secret-itself\"\n");
    cr_expect_null(keys_agent_read(keys_folder_file(&f, file), f.diag));
    keys_folder_said(&f, "node1.key_secret:2:19: not a key", "");
    char shown[4096] = "";
    FILE *out = fmemopen(shown, sizeof shown - 1, "w");
    diag_print(f.diag, out);
    fclose(out);
    cr_expect(strstr(shown, "not a key") && !strstr(shown, "the-secret"), "%s", shown);
    keys_folder_end(&f);
}

/* ---- the log and the counts of connections, by a clock of the test ---- */

static void keys_count_line(void *ctx, const char *line)
{
    unsigned *n = ctx;
    cr_expect_gt(strlen(line), 0);
    n[strstr(line, "more connections") != NULL]++;
}

Test(keys, the_log_is_limited_and_counts_return_to_zero)
{
    enum { MANY = 1000, FD = 1 << 20 /* no descriptor of this process */ };
    unsigned lines[2] = {0};
    char key[KEYS_TEXT] = "0123456789012345678901234567890123456789";
    struct connections *c = connections_new(true, keys_count_line, lines);
    for (int i = 0; i < MANY; i++) {
        connections_event(c, ZMQ_EVENT_ACCEPTED, FD, KEYS_WINDOW_MS);
        connections_event(c, ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL, ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC,
                          KEYS_WINDOW_MS);
        connections_event(c, ZMQ_EVENT_DISCONNECTED, FD, KEYS_WINDOW_MS);
    }
    cr_expect_eq(lines[0], KEYS_LINES);
    connections_tick(c, 2 * KEYS_WINDOW_MS);
    cr_expect_eq(lines[1], 1);
    for (unsigned i = 0; i < MANY; i++) {
        connections_event(c, ZMQ_EVENT_ACCEPTED, FD + i, 0);
        connections_expect(c, key, "", 0);
        cr_expect(connections_expecting(c, 1));
        connections_event(c, ZMQ_EVENT_HANDSHAKE_SUCCEEDED, 0, 0);
        cr_expect_not(connections_expecting(c, 1));
        cr_expect_eq(connections_of(c, key), i + 1);
    }
    for (unsigned i = 0; i < MANY; i++)
        connections_event(c, ZMQ_EVENT_DISCONNECTED, FD + i, 0);
    cr_expect_eq(connections_of(c, key), 0);
    cr_expect_eq(lines[0], KEYS_LINES, "an admitted agent that leaves is no refusal");
    connections_free(c);
}
