#include "experiments/search/options.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"

static bool count(const char *text, uint32_t *out)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    *out = (uint32_t)n;
    return end != text && *end == 0 && n > 0 && n < UINT32_MAX;
}

static bool take_option(struct search_options *o, const char *allowed, int key, const char *text)
{
    if ((key == 'o' || key == 'd' || key == 't') && !strchr(allowed, key)) return false;
    switch (key) {
    case 'l':
        o->label = text;
        return true;
    case 'o':
        o->order = text;
        return true;
    case 'd':
        o->description = text;
        return true;
    case 'h':
        if (o->n_heuristics < SEARCH_HEURISTICS) o->heuristics[o->n_heuristics++] = text;
        return true;
    case 'f':
        return count(text, &o->first_seed);
    case 's':
        return count(text, &o->seeds);
    case 'e':
        return count(text, &o->evaluations);
    case 'i':
        return count(text, &o->in_flight) && o->in_flight <= SEARCH_IN_FLIGHT;
    case 't':
        return o->trace = true;
    default:
        return false;
    }
}

bool search_options_read(struct search_options *o, const char *allowed, int argc, char **argv)
{
    static const struct option options[] = {{"label", required_argument, NULL, 'l'},
                                            {"heuristic", required_argument, NULL, 'h'},
                                            {"order", required_argument, NULL, 'o'},
                                            {"description", required_argument, NULL, 'd'},
                                            {"first-seed", required_argument, NULL, 'f'},
                                            {"seeds", required_argument, NULL, 's'},
                                            {"evaluations", required_argument, NULL, 'e'},
                                            {"in-flight", required_argument, NULL, 'i'},
                                            {"trace", no_argument, NULL, 't'},
                                            {0}};
    bool ok = true;
    for (int key; ok && (key = getopt_long(argc, argv, "", options, NULL)) != -1;)
        ok = take_option(o, allowed, key, optarg);
    if (o->n_heuristics == 0) o->heuristics[o->n_heuristics++] = "tag";
    return ok;
}

char *search_pool_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = base_strdup(slash ? slash + 1 : path);
    name[strcspn(name, ".")] = 0;
    return name;
}

void search_print_head(const struct search_options *o, const char *pool, const char *heuristic, uint32_t seed)
{
    printf("%s\t%s\t%s\t%" PRIu32 "\t%" PRIu32 "\t", pool, o->label, heuristic, seed, o->evaluations);
}
