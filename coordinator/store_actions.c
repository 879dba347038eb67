/* Lists of actions as the store has them: "slot=value slot=value ...". */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/store.h"
#include "core/base/arena.h"
#include "core/base/strbuf.h"
#include "core/space/space.h"

char *store_actions_print(const struct space_action *actions, size_t n)
{
    struct strbuf b = {0};
    for (size_t i = 0; i < n; i++)
        strbuf_printf(&b, "%s%" PRIu32 "=%" PRIu32, i ? " " : "", actions[i].slot, actions[i].value);
    return strbuf_take(&b);
}

static bool parse_u32(const char **at, char end, uint32_t *out)
{
    char *stop;
    if (**at < '0' || **at > '9') return false;
    unsigned long long v = strtoull(*at, &stop, 10);
    if (v > UINT32_MAX || (*stop != end && (*stop != 0 || end != ' '))) return false;
    *out = (uint32_t)v;
    *at = *stop ? stop + 1 : stop;
    return true;
}

bool store_actions_parse(const char *text, struct space_action **actions, size_t *n)
{
    size_t room = strlen(text) / 3 + 1;
    struct space_action *list = base_calloc(room, sizeof *list);
    bool ok = true;
    for (*n = 0; ok && *text; *n += ok)
        ok = *n < room && parse_u32(&text, '=', &list[*n].slot) && parse_u32(&text, ' ', &list[*n].value);
    if (!ok) free(list);
    *actions = ok ? list : NULL;
    return ok;
}
