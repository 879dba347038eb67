/* What of a launch is added to a term: the shortest kernel whose work cannot overlap with the term's. A sum
 * of bytes from the last-level cache comes after the first load of the shortest kernel that loads and stores,
 * so its time is added to that kernel's:
 *
 *     PERFMODEL_OF_UNIT_L2      bytes / unit_l2 + launch_touch
 *     PERFMODEL_OF_ISSUE        instructions / unit_issue + launch_store      they need no load to begin */
#include "perfmodel/model.h"

/* What a term's work cannot overlap with, as the figure of the shortest such kernel. */
enum head { HEAD_NONE, HEAD_LAUNCH, HEAD_STORE, HEAD_TOUCH };

static const enum head heads[PERFMODEL_TERM_COUNT] = {
#define X(id, figure, head, text) HEAD_##head,
    PERFMODEL_TERMS(X)
#undef X
};

/* The largest of the figures that hold for a head: what loads and stores also launches. */
static enum perfmodel_figure find_head(const struct perfmodel *m, enum head head)
{
    static const enum perfmodel_figure launches[] = {[HEAD_LAUNCH] = PERFMODEL_LAUNCH,
                                                     [HEAD_STORE] = PERFMODEL_LAUNCH_STORE,
                                                     [HEAD_TOUCH] = PERFMODEL_LAUNCH_TOUCH};
    enum perfmodel_figure largest = PERFMODEL_LAUNCH;
    for (enum head h = HEAD_STORE; h <= head && (h < HEAD_TOUCH || m->loads); h++)
        if (m->dev.value[launches[h]] > m->dev.value[largest]) largest = launches[h];
    return largest;
}

double term_launch(const struct perfmodel *m, enum perfmodel_term term, enum perfmodel_figure *launch)
{
    *launch = find_head(m, heads[term]);
    return m->dev.gpu && heads[term] != HEAD_NONE ? m->dev.value[*launch] : 0;
}
