/* Joining an older and a newer description, figure by figure. For a lower bound a rate must not be too low
 * and a time not too long, so the faster of two measurements is the better one, however old it is: of 900
 * GB/s measured last month and 880 GB/s today the first stays, with its date. */
#include "perfmodel/merge.h"

/* Whether the older figure promises more: a higher rate or a shorter time. */
static bool faster(const struct perfmodel_device *earlier, const struct perfmodel_device *fresh,
                   enum perfmodel_figure f)
{
    return perfmodel_figure_is_time(f) ? earlier->value[f] < fresh->value[f]
                                       : earlier->value[f] > fresh->value[f];
}

static struct perfmodel_verdict judge_measured(const struct perfmodel_device *earlier,
                                               const struct perfmodel_device *fresh, enum perfmodel_figure f)
{
    if (earlier->source[f] != PERFMODEL_MEASURED && earlier->source[f] != PERFMODEL_VIOLATED)
        return (struct perfmodel_verdict){false, "measured; the older value was not"};
    if (faster(earlier, fresh, f)) return (struct perfmodel_verdict){true, "faster"};
    if (earlier->value[f] == fresh->value[f]) return (struct perfmodel_verdict){false, "equal"};
    return (struct perfmodel_verdict){false, "faster"};
}

static struct perfmodel_verdict judge(const struct perfmodel_device *earlier,
                                      const struct perfmodel_device *fresh, enum perfmodel_figure f)
{
    enum perfmodel_source old = earlier->source[f], new = fresh->source[f];
    if (new == PERFMODEL_UNKNOWN && old == PERFMODEL_UNKNOWN) return (struct perfmodel_verdict){false, ""};
    if (new == PERFMODEL_UNKNOWN) return (struct perfmodel_verdict){true, "not measured this time"};
    if (old == PERFMODEL_UNKNOWN) return (struct perfmodel_verdict){false, "no older value"};
    if (new == PERFMODEL_MEASURED) return judge_measured(earlier, fresh, f);
    if (old == PERFMODEL_VIOLATED && faster(earlier, fresh, f))
        return (struct perfmodel_verdict){true, "corrected by a time below the bound"};
    return (struct perfmodel_verdict){false, new == PERFMODEL_QUERIED ? "reported by the driver"
                                                                      : "from the data sheet"};
}

void perfmodel_merge(const struct perfmodel_device *earlier, const struct perfmodel_device *fresh,
                     struct perfmodel_device *out, struct perfmodel_verdict verdicts[PERFMODEL_FIGURE_COUNT])
{
    struct perfmodel_device joined = *fresh;
    for (int i = 0; i < PERFMODEL_FIGURE_COUNT; i++) {
        enum perfmodel_figure f = (enum perfmodel_figure)i;
        verdicts[f] = judge(earlier, fresh, f);
        if (!verdicts[f].old) continue;
        joined.value[f] = earlier->value[f];
        joined.source[f] = earlier->source[f];
        joined.dated[f] = earlier->dated[f];
    }
    *out = joined;
}
