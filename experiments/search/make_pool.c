/* Makes a pool (pool.h) of stores, or of a table of all configurations:
 *
 *     make-pool night1.db night2.db > matmul.pool
 *     make-pool --description gpu.json night.db > matmul.pool     where the device is not here
 *     make-pool conv.csv > conv.pool */
#include "experiments/search/make_pool.h"

#include <getopt.h>
#include <string.h>

#include "core/base/diag.h"

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static void summarize(const struct pool *p)
{
    size_t n[POOL_OVERSIZED + 1] = {0};
    for (size_t i = 0; i < p->n_rows; i++)
        n[p->rows[i].status]++;
    fprintf(
        stderr,
        "%s: %zu implementations, %zu choices; %zu ok, %zu cut, %zu failed, %zu oversized; best %.6g ns\n",
        p->title, p->n_rows, p->n_choices, n[POOL_OK], n[POOL_CUT], n[POOL_FAILED], n[POOL_OVERSIZED],
        pool_best_ns(p));
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"description", required_argument, NULL, 'd'}, {0}};
    const char *description = NULL;
    int key;
    while ((key = getopt_long(argc, argv, "", options, NULL)) == 'd')
        description = optarg;
    if (key != -1 || optind == argc) {
        fprintf(stderr, "usage: make-pool [--description FILE.json] STORE.db... | TABLE.csv\n");
        return 2;
    }
    struct diag *d = diag_new();
    bool table = argc == optind + 1 && ends_with(argv[optind], ".csv");
    struct pool *p = table ? make_pool_of_csv(argv[optind], d)
                           : make_pool_of_stores(argv + optind, (unsigned)(argc - optind), description, d);
    diag_print(d, stderr);
    diag_free(d);
    if (!p) return 1;
    pool_write(p, stdout);
    summarize(p);
    pool_free(p);
    return fflush(stdout) == 0 ? 0 : 1;
}
