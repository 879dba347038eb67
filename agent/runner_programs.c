/* Programs that a runner keeps (runner_programs.h). */
#include "agent/runner_programs.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"

cl_program runner_programs_find(const struct runner_programs *p, const char *options, const char *source)
{
    for (unsigned i = 0; i < AGENT_PROGRAMS; i++) {
        const struct runner_built *b = &p->built[i];
        if (b->program && strcmp(b->source, source) == 0 && strcmp(b->options, options) == 0)
            return b->program;
    }
    return NULL;
}

void runner_programs_keep(struct runner_programs *p, cl_program program, const char *options,
                          const char *source)
{
    struct runner_built *b = &p->built[p->next];
    p->next = (p->next + 1) % AGENT_PROGRAMS;
    if (b->program) clReleaseProgram(b->program);
    free(b->options);
    free(b->source);
    *b = (struct runner_built){program, base_strdup(options), base_strdup(source)};
}
