/* What tests of whole campaigns share: a small matrix product on the first OpenCL device. */
#ifndef THRESH_TESTS_TUNE_FIXTURE_H
#define THRESH_TESTS_TUNE_FIXTURE_H

#include "coordinator/tune.h"

enum { TUNE_TEST_PATH = 64 };

/* Where a test has its store; nothing is there yet. */
void tune_test_store(char path[TUNE_TEST_PATH], const char *test);
/* The matrix product; the caller frees it. */
char *tune_test_text(struct diag *d);
struct tune_options tune_test_options(const char *text, const char *store, uint64_t evaluations);
/* Runs a campaign; with `dir` also the final rounds, and writes the result there. Returns its report, of
 * which only the numbers are valid. */
struct tune_report tune_test_run(const struct tune_options *o, const char *dir);
/* Runs a statement on a store. */
void tune_test_sql(const char *store, const char *sql);

#endif
