/* Results by hash; of several the first counts. Then the evaluator that answers with them, one candidate at a
 * time, at once. */
#include "coordinator/recorded.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "coordinator/session.h"
#include "core/base/arena.h"
#include "core/base/diag.h"

struct result {
    uint64_t key;
    char *status, *message, *numbers;
    double ns;
    UT_hash_handle hh;
};

struct recorded {
    uint64_t fingerprint;
    const char *device; /* its name */
    bool of_space;      /* the key is the hash of the candidate, not of the kernel text */
    struct result *results;
    bool waiting; /* a candidate was started and its result not yet collected: */
    int64_t number;
    uint64_t key;
};

/* A run with --recorded measured nothing: what it had no timing for is no failure of a device. */
static bool is_recorded_run(const struct recorded *r, const struct store_run *run)
{
    return r->of_space ? strncmp(run->settings, RECORDED_COMMAND, strlen(RECORDED_COMMAND)) == 0
                       : strstr(run->settings, RECORDED_SETTING) != NULL;
}

/* An evaluation without a kernel was none: a duplicate, or a text that was too large. */
static bool keep_row(void *context, const struct store_run *run, const struct store_evaluation *e)
{
    struct recorded *r = context;
    struct result *found;
    if (run->fingerprint != r->fingerprint || strcmp(run->device, r->device) != 0) return true;
    if (is_recorded_run(r, run)) return true;
    uint64_t key = r->of_space ? e->state_hash : e->kernel_hash;
    if (!key) return true;
    if (strcmp(e->status, "duplicate") == 0 || strcmp(e->status, "oversized") == 0) return true;
    HASH_FIND(hh, r->results, &key, sizeof key, found);
    if (found) return true;
    found = base_calloc(1, sizeof *found);
    *found = (struct result){.key = key,
                             .status = base_strdup(e->status),
                             .message = base_strdup(e->message),
                             .numbers = base_strdup(e->numbers),
                             .ns = e->median_ns};
    HASH_ADD(hh, r->results, key, sizeof found->key, found);
    return true;
}

static bool read_store(struct recorded *r, const char *path, struct diag *d)
{
    struct store *s = store_open_to_read(path, d);
    bool ok = s && store_each(s, 0, keep_row, r, d);
    store_close(s);
    return ok;
}

struct recorded *recorded_open(const char *paths, uint64_t fingerprint, const char *device, struct diag *d)
{
    struct recorded *r = base_calloc(1, sizeof *r);
    char *copy = base_strdup(paths), *rest = copy;
    bool ok = true;
    r->fingerprint = fingerprint;
    r->device = device;
    r->of_space = strcmp(device, STORE_NO_DEVICE) == 0;
    for (char *path; ok && (path = strtok_r(rest, ",", &rest));)
        ok = read_store(r, path, d);
    if (ok && !r->results && r->of_space)
        diag_plain(d, "%s: nothing was recorded for this space and these parameters", paths);
    else if (ok && !r->results)
        diag_plain(d, "%s: nothing was recorded for this program, these sizes and this device ('%s')", paths,
                   device);
    free(copy);
    if (ok && r->results) return r;
    recorded_close(r);
    return NULL;
}

void recorded_close(struct recorded *r)
{
    struct result *e, *next;
    if (!r) return;
    HASH_ITER(hh, r->results, e, next)
    {
        HASH_DEL(r->results, e);
        free(e->status);
        free(e->message);
        free(e->numbers);
        free(e);
    }
    free(r);
}

static struct result *find(const struct recorded *r, uint64_t hash)
{
    struct result *e;
    HASH_FIND(hh, r->results, &hash, sizeof hash, e);
    return e;
}

bool recorded_has(const struct recorded *r, uint64_t hash)
{
    return find(r, hash) != NULL;
}

/* What was recorded for the hash; what was not counts as failed. */
static struct store_evaluation result_of(const struct recorded *r, uint64_t hash)
{
    const struct result *e = find(r, hash);
    if (!e) return (struct store_evaluation){.status = "crashed", .message = "no timing was recorded"};
    return (struct store_evaluation){
        .status = e->status, .message = e->message, .numbers = e->numbers, .median_ns = e->ns};
}

/* ---- the evaluator ---- */

static unsigned recorded_room(void *self)
{
    const struct recorded *r = self;
    return !r->waiting;
}

static void recorded_start(void *self, const struct session_job *job, double best_ns)
{
    struct recorded *r = self;
    (void)best_ns;
    r->waiting = true;
    r->number = job->number;
    r->key = r->of_space ? job->descent.hash : job->kernel_hash;
}

static struct session_event recorded_collect(void *self, int timeout_ms)
{
    struct recorded *r = self;
    (void)timeout_ms;
    if (!r->waiting) return (struct session_event){.kind = SESSION_NOTHING};
    r->waiting = false;
    return (struct session_event){
        .kind = SESSION_RESULT, .number = r->number, .result = result_of(r, r->key)};
}

const struct session_evaluator recorded_evaluator = {
    .room = recorded_room, .start = recorded_start, .collect = recorded_collect, .runs_nothing = true};
