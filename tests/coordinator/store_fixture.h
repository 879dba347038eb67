/* A store in /tmp with a diag, for the tests of coordinator/store*.c:
 *
 *     struct store_fixture f = store_fixture_open();
 *     store_fixture_fill(&f);
 *     ... f.store, f.run.id, f.diag ...
 *     store_fixture_close(&f); */
#ifndef THRESH_TESTS_COORDINATOR_STORE_FIXTURE_H
#define THRESH_TESTS_COORDINATOR_STORE_FIXTURE_H

#include "coordinator/store.h"
#include "core/base/diag.h"

struct store_fixture {
    char path[64];
    struct diag *diag;
    struct store *store; /* NULL: closed */
    struct store_run run;
};

/* A new empty store that is open for writing, under a name that no other process uses. */
struct store_fixture store_fixture_open(void);
/* The same with store_fixture_fill(), closed. */
struct store_fixture store_fixture_closed(void);
/* Closes what is open and removes the file. */
void store_fixture_close(struct store_fixture *f);

/* The run that store_fixture_fill() adds, without an id. */
struct store_run store_fixture_run(void);
/* Adds f->run with two evaluations: number 1 is ok with the samples 1 and 2.5 ns (recorded twice, kept once),
 * number 2 is a timeout with a message that is not UTF-8. */
void store_fixture_fill(struct store_fixture *f);
/* Closes the store and opens it again; read: with store_open_to_read(). */
void store_fixture_reopen(struct store_fixture *f, bool read);
/* Runs SQL on the file with a connection of its own. */
void store_fixture_execute(const char *path, const char *sql);
/* The number that SQL gives first, read with a connection of its own. */
int store_fixture_int(const char *path, const char *sql);
/* The message of error i; "" if there are fewer. */
const char *store_fixture_error(const struct store_fixture *f, size_t i);

/* Visitors. */
bool store_fixture_sum(void *sum, const struct store_run *run,
                       const struct store_evaluation *e); /* of samples */
bool store_fixture_time(void *ns, const struct store_run *run, const struct store_evaluation *e);
bool store_fixture_count_cut(void *count, const struct store_cut *c);

#endif
