/* A space and an instance of it from files of the repository. */
#ifndef THRESH_TESTS_SPACEDSL_FIXTURE_H
#define THRESH_TESTS_SPACEDSL_FIXTURE_H

#include "core/space/space.h"

struct spacedsl_files {
    struct space *space;
    struct space_state *root;
    struct space_data *data;
    struct arena *arena;
    struct diag *diag;
    char *text, *json;
};

/* Without a JSON file the instance is empty. The test fails if the space is empty or one of them has an
 * error. */
struct spacedsl_files spacedsl_files_open(const char *space, const char *json);
void spacedsl_files_close(struct spacedsl_files *f);

#endif
