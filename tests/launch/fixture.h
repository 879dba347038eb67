/* A folder with fake programs in front of the PATH: what launchers start and what it was told is written to a
 * log there.
 *
 *     launch_test_open(&t);
 *     launch_test_program(&t, "ssh", "echo \"$@\" >>$LOG\n");       $LOG, $TOP: the log, the folder
 *     launch_test_start(&t, "ssh:hosts", "tcp://10.0.0.1:7000", NULL);
 *     launch_test_await(&t, "node1 1", LAUNCH_FAILED);
 *     launch_test_close(&t); */
#ifndef THRESH_TESTS_LAUNCH_FIXTURE_H
#define THRESH_TESTS_LAUNCH_FIXTURE_H

#include "coordinator/launch/launch.h"
#include "core/base/arena.h"
#include "core/base/diag.h"

struct launch_test {
    char top[32], log[48];
    struct arena *arena;
    struct diag *diag;
    struct launch *launch;
    struct launch_event last;
};

void launch_test_open(struct launch_test *t);
void launch_test_close(struct launch_test *t); /* frees the launch, removes the folder */
/* Makes a shell script TOP/bin/NAME. */
void launch_test_program(const struct launch_test *t, const char *name, const char *body);
/* Writes TOP/NAME; returns its path, of the arena. */
const char *launch_test_write(const struct launch_test *t, const char *name, const char *text);
/* Starts what a --launch text says; it must be sound. */
void launch_test_start(struct launch_test *t, const char *text, const char *endpoint, const char *keys);
/* Polls until this kind of event of the agent; fails the test after 60 s. Returns the event's text, valid
 * until the next call. */
const char *launch_test_await(struct launch_test *t, const char *agent, enum launch_event_kind kind);
/* The log, of the arena; waits until it contains the text. */
const char *launch_test_logged(struct launch_test *t, const char *text);

#endif
