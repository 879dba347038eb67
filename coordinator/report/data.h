/* What a page shows of a store: a search for each run with its outcomes and its times, agents, events.
 * Reading goes on where it ended, so that a page that is open while 100,000 evaluations arrive reads each of
 * them once:
 *
 *     struct report_data *data = report_data_new("runs.db");
 *     report_data_update(data, d)      reads all
 *     report_data_update(data, d)      reads what is new, if the file has changed
 *
 * A row of the store that was read is taken not to change, as the store never changes one. Where the file is
 * replaced by another one, all is read again. Stores of earlier versions have no agents and no events.
 *
 * Times are in ns, those of days in Unix seconds, others in seconds since the run began. */
#ifndef THRESH_REPORT_DATA_H
#define THRESH_REPORT_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/figure.h"

struct diag;
struct report_data;

/* A measured time. */
struct report_time {
    double ns, at_s;
    uint32_t
        evaluation; /* its place among the evaluations that count, from 1; 0: of the naive or a plain one */
    int32_t number;
};

struct report_outcome {
    char *name;
    uint64_t count;
    bool counts; /* as an evaluation; else a duplicate or oversized text */
};

/* A contender of the final rounds, or one of the search where there are none. */
struct report_contender {
    char *label;
    int64_t number;
    struct figure figure;
    double *times; /* ns of the rounds; NAN: not measured in one */
    unsigned n_times;
};

enum report_state { REPORT_SEARCHING, REPORT_SILENT, REPORT_ENDED, REPORT_FINISHED };

/* A run of the store. */
struct report_search {
    int64_t run, campaign; /* campaign 0: none */
    char *path, *text, *sizes, *device, *driver, *libraries, *settings, *seed, *started;
    uint64_t fingerprint;
    int64_t seen;              /* when its process last wrote; 0: not known */
    bool owned;                /* a process has it, or was killed */
    char *owner;               /* "HOST, process 12"; "" */
    struct report_time *times; /* valid evaluations in order of recording */
    size_t n_times, capacity;
    struct report_outcome *outcomes; /* in order of appearance */
    unsigned n_outcomes;
    uint64_t evaluations;                /* that count */
    double last_s;                       /* of the last row */
    struct report_contender *contenders; /* of the final rounds, the winner first */
    unsigned n_contenders;
    uint64_t version, figures_hash; /* the first grows with each change */
};

struct report_agent {
    int64_t id, running, results, first_seen, seen;
    char *name, *host, *device, *driver, *state;
};

struct report_event {
    int64_t id, run; /* run 0: of no run */
    double at;       /* Unix seconds; 0: not known */
    char *agent, *kind, *message;
};

struct report_campaign {
    int64_t id;
    char *name, *path, *started;
};

enum { REPORT_EVENTS = 200 }; /* the last ones are kept */

/* Borrowed views of the data, valid until the next update. */
const struct report_search *report_searches(const struct report_data *d, size_t *n);
const struct report_agent *report_agents(const struct report_data *d, size_t *n);
/* The latest first, at most REPORT_EVENTS; *all: how many the store has. */
const struct report_event *report_events(const struct report_data *d, size_t *n, uint64_t *all);
const struct report_campaign *report_campaigns(const struct report_data *d, size_t *n);
const char *report_data_path(const struct report_data *d);

/* Reads nothing yet. The path is copied. */
struct report_data *report_data_new(const char *path);
void report_data_free(struct report_data *d); /* NULL is allowed */
/* Whether the file or its write-ahead log has changed since the last update. */
bool report_data_stale(const struct report_data *d);
/* Grows when the file was replaced by another one: its runs are not those of before. */
uint64_t report_data_generation(const struct report_data *d);
/* Reads what is new. false after an error; what was read before stays. */
bool report_data_update(struct report_data *d, struct diag *diag);

/* ---- figures of a search ---- */

/* The winner of the final rounds, else the least time of the search (quoted ones have priority); its
 * evaluation's number in *number, its place and time of finding in *found (NULL, or evaluation 0: it was not
 * found by the search). */
struct figure report_best(const struct report_search *s, int64_t *number, struct report_time *found);
/* The naive implementation's, of the same kind as the best: quoted or of the search. */
struct figure report_naive(const struct report_search *s);
/* Naive over best with its spread within rounds; quotient 0: not known. */
struct figure_ratio report_speedup(const struct report_search *s);
/* What the run does at the time `now` (Unix seconds). */
enum report_state report_state(const struct report_search *s, int64_t now);
/* "matmul.lift M=512,N=512", of the file's name without its folder; malloc'd. */
char *report_name(const struct report_search *s);
/* Whether it is of `tune --space`. */
bool report_is_space(const struct report_search *s);

#endif
