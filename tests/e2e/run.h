/* Running a subcommand as a process of its own, with what it prints. */
#ifndef THRESH_TESTS_E2E_RUN_H
#define THRESH_TESTS_E2E_RUN_H

#include "coordinator/cli/cli.h"

struct e2e_run {
    int status;      /* exit status; 128 + signal if it died of one */
    char *out, *err; /* standard output and error */
};

enum { E2E_MOST_ARGS = 24 };

/* Options of a search whose times and whose quality a test does not look at: few final rounds, and an eighth
 * of the rollouts, which take most of the time under the sanitizers. */
#define E2E_QUICK "--rounds-time", "0.5", "--heuristic", "tag:draws=4,generations=2,redraws=1"

/* Runs `thresh COMMAND ARGS...`, or `thresh ARGS...` if command is NULL; args end with NULL. Environment and
 * limits are the caller's. */
struct e2e_run e2e_run(const struct cli_command *command, const char *const *args);
#define E2E_RUN(command, ...) e2e_run((command), (const char *const[]){__VA_ARGS__, NULL})
/* The same with its standard output in a file or device of less than 32 bytes, which is not read back. */
struct e2e_run e2e_run_to(const char *out, const struct cli_command *command, const char *const *args);
void e2e_run_free(struct e2e_run *r);

/* Starts it and goes on; e2e_finish() waits. The test's process ends it if the test fails. */
struct e2e_process {
    int pid;
    char out[32], err[32]; /* files */
    bool keeps_out;        /* out is the caller's, and is not read back */
};
struct e2e_process e2e_start(const struct cli_command *command, const char *const *args);
struct e2e_process e2e_start_to(const char *out, const struct cli_command *command, const char *const *args);
bool e2e_has_ended(const struct e2e_process *p); /* e2e_finish() would not wait */
struct e2e_run e2e_finish(const struct e2e_process *p);

/* Makes a file in /tmp with the text; path has 32 bytes. */
void e2e_file(char path[32], const char *text);

/* Makes an empty folder in /tmp; path has 32 bytes. */
void e2e_folder(char path[32]);

/* Makes an OpenCL library of the C text in the folder, to which the real one is linked; this process, and
 * what it starts, uses it from here on. */
void e2e_use_library(const char *folder, const char *text);

#endif
