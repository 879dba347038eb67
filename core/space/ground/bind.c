/* Binds an instance to a definition: parameters, the members of sets, the tables of properties. Objects have
 * the ids that the data gave them; objects of a range set are the integers themselves.
 *
 *     "sets": {"Node": ["a", "b"]}, "parameters": {"n": 4}      a is object 0 of Node, b object 1; n is 4 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/space/ground/ground.h"

static void bind_parameters(struct space *s, struct diag *d)
{
    s->parameters = ARENA_ARRAY(s->arena, int64_t, s->def->n_parameters + 1);
    for (int32_t i = 0; i < s->def->n_parameters; i++) {
        const struct space_parameter *p = &s->def->parameters[i];
        s->parameters[i] = p->value;
        if (!data_parameter_get(s->data, p->name, &s->parameters[i]) && !p->has_default)
            diag_plain(d, "space '%s' needs a value for parameter '%s' (--param %s=...)", s->def->name,
                       p->name, p->name);
    }
}

static int compare_ids(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void bind_subset(struct space *s, int32_t i, struct set_members *out, struct diag *d)
{
    const struct space_set *set = &s->def->sets[i];
    struct data_list members = data_table_list(data_table_find(s->data, set->name), NULL, 0);
    int64_t *ids = arena_memdup(s->arena, members.items, members.n * sizeof *ids);
    bool *has = ARENA_ARRAY(s->arena, bool, s->root_sizes[set->root] + 1);
    if (members.n) qsort(ids, members.n, sizeof *ids, compare_ids);
    for (size_t k = 0; k < members.n; k++) {
        bool known = ids[k] >= 0 && ids[k] < s->root_sizes[set->root];
        if (!known || !s->sets[set->parent].has[ids[k]])
            diag_plain(d, "an object of set '%s' is not in set '%s'", set->name,
                       s->def->sets[set->parent].name);
        if (known) has[ids[k]] = true;
    }
    *out = (struct set_members){ids, members.n, has};
}

static void bind_root(struct space *s, int32_t i, struct set_members *out)
{
    const struct space_set *set = &s->def->sets[i];
    int64_t lo = set->range ? set->lo : 0;
    int64_t hi = set->range ? set->hi + 1 : space_data_set_size(s->data, set->name);
    int64_t *ids = ARENA_ARRAY(s->arena, int64_t, hi - lo + 1);
    bool *has = ARENA_ARRAY(s->arena, bool, hi + 1);
    for (int64_t id = lo; id < hi; id++) {
        ids[id - lo] = id;
        has[id] = true;
    }
    s->root_sizes[i] = hi;
    *out = (struct set_members){ids, (size_t)(hi - lo), has};
}

static void name_numbers(struct space *s)
{
    int64_t most = 0;
    for (int32_t i = 0; i < s->def->n_sets; i++)
        if (s->def->sets[i].range && s->def->sets[i].hi >= most) most = s->def->sets[i].hi + 1;
    s->numbers = ARENA_ARRAY(s->arena, const char *, most + 1);
    for (int32_t i = 0; i < s->def->n_sets; i++)
        for (int64_t x = s->def->sets[i].lo; s->def->sets[i].range && x <= s->def->sets[i].hi; x++)
            if (!s->numbers[x]) s->numbers[x] = arena_printf(s->arena, "%" PRId64, x);
}

static void check_disjoint(const struct space *s, int32_t i, struct diag *d)
{
    int32_t other = s->def->sets[i].disjoint;
    if (other < 0 || s->def->sets[other].root != s->def->sets[i].root) return;
    for (size_t k = 0; k < s->sets[i].n; k++)
        if (s->sets[other].has && s->sets[other].has[s->sets[i].ids[k]])
            diag_plain(d, "disjoint sets '%s' and '%s' share an object", s->def->sets[i].name,
                       s->def->sets[other].name);
}

static void bind_sets(struct space *s, struct diag *d)
{
    int32_t n = s->def->n_sets;
    s->sets = ARENA_ARRAY(s->arena, struct set_members, n + 1);
    s->root_sizes = ARENA_ARRAY(s->arena, int64_t, n + 1);
    s->set_tables = ARENA_ARRAY(s->arena, const struct data_table *, n + 1);
    s->liveness = ARENA_ARRAY(s->arena, uint32_t *, n + 1);
    s->properties = ARENA_ARRAY(s->arena, const struct data_table *, s->def->n_properties + 1);
    for (int32_t i = 0; i < n; i++) {
        s->set_tables[i] = data_table_find(s->data, s->def->sets[i].name);
        if (s->def->sets[i].root == i)
            bind_root(s, i, &s->sets[i]);
        else if (s->def->sets[i].param < 0)
            bind_subset(s, i, &s->sets[i], d);
    }
    for (int32_t i = 0; i < n && !diag_failed(d); i++)
        check_disjoint(s, i, d);
    for (int32_t i = 0; i < s->def->n_properties; i++)
        s->properties[i] = data_table_find(s->data, s->def->properties[i].name);
    name_numbers(s);
}

void ground_bind(struct space *s, struct diag *d)
{
    bind_parameters(s, d);
    bind_sets(s, d);
}
