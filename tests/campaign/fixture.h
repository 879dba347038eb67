/* A campaign in a folder of its own, with a kernel k.lift (a scaled sum of vectors, size N) beside it. */
#ifndef THRESH_TESTS_CAMPAIGN_FIXTURE_H
#define THRESH_TESTS_CAMPAIGN_FIXTURE_H

#include "tests/e2e/run.h"

/* The first key of a campaign whose searches' quality a test does not look at: an eighth of the rollouts. */
#define CAMPAIGN_QUICK "heuristic: 'tag:draws=4,generations=2,redraws=1'\n"

struct campaign_test {
    char folder[32], file[48]; /* the folder; the campaign in it, c.yaml */
};

void campaign_test_begin(struct campaign_test *t, const char *yaml);
/* Writes a file of the folder. */
void campaign_test_write(const struct campaign_test *t, const char *name, const char *text);
void campaign_test_end(const struct campaign_test *t); /* removes the folder */

#endif
