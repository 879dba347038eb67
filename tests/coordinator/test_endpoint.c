/* Where a coordinator may listen: beyond loopback only with keys; socket files are for their owner. What is
 * refused without keys is in test_hub.c. */
#include "coordinator/endpoint.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include "core/base/diag.h"
#include "tests/keys/fixture.h"

Test(endpoint, a_socket_file_is_for_its_owner)
{
    struct diag *d = diag_new();
    void *context = zmq_ctx_new();
    char path[64], address[80];
    struct stat st;
    umask(0);
    snprintf(path, sizeof path, "/tmp/thresh-endpoint-%d", (int)getpid());
    snprintf(address, sizeof address, "ipc://%s", path);
    struct endpoint *e = endpoint_listen(context, &(struct endpoint_options){.address = address}, d);
    cr_assert_not_null(e);
    cr_assert_eq(stat(path, &st), 0);
    cr_expect_eq(st.st_mode & (S_IRWXG | S_IRWXO), 0, "mode %o", st.st_mode);
    cr_expect_eq(umask(0), 0, "the umask has changed");
    endpoint_close(e);
    zmq_ctx_term(context);
    diag_free(d);
}

Test(endpoint, beyond_loopback_with_keys)
{
    struct keys_test f;
    struct diag *d = diag_new();
    void *context = zmq_ctx_new();
    keys_test_open(&f, KEYS_TEST_PLAIN, 0);
    struct endpoint_options o = {.address = "tcp://0.0.0.0:*"};
    cr_expect_null(endpoint_listen(context, &o, d));
    o.keys = keys_test_path(&f, "keys");
    struct endpoint *e = endpoint_listen(context, &o, d);
    cr_assert_not_null(e, "%s", diag_message(d, diag_count(d) - 1));
    struct keys_test other = f;
    unsigned port = 0;
    cr_expect_eq(sscanf(endpoint_address(e), "tcp://0.0.0.0:%u", &port), 1, "%s", endpoint_address(e));
    snprintf(other.endpoint, sizeof other.endpoint, "tcp://127.0.0.1:%u", port);
    cr_expect(keys_test_connect(&other, "keys/agents/agent.key_secret", NULL, NULL));
    cr_expect_not(keys_test_connect(&other, NULL, "--key FILE", NULL));
    endpoint_close(e);
    zmq_ctx_term(context);
    keys_test_close(&f);
    diag_free(d);
}
