/* What a page says of a search beyond its rows: it needs the program, and takes seconds instead of
 * milliseconds. The lower bound; where the tree's visits went; which choices matter, by a forest over the
 * measured implementations; the explanation of the best one.
 *
 *     struct report_study *study = report_study_make("runs.db", search, open_problem, context);
 *     study->choices[0].name, .importance ...
 *
 * The program of a run is opened by a function of the caller, since a device may be named by options. A run
 * of `tune --space` has no program: it has visits and choices by the names in its rows. */
#ifndef THRESH_REPORT_STUDY_H
#define THRESH_REPORT_STUDY_H

#include "coordinator/explanation.h"
#include "coordinator/report/data.h"

struct store_run;

/* How the programs of runs are opened. */
struct report_opener {
    /* The program of a run on its device, which goes to *dev. NULL after an error. */
    struct problem *(*open)(void *context, const struct store_run *run, struct device *dev, struct diag *d);
    void *context;
    const char *description; /* of the device, for lower bounds; NULL: found by the device's name */
    int stop_fd;             /* a study ends early, with less in it, when it is readable; -1: never */
};

/* A value of a choice. */
struct report_value {
    char *name;
    size_t count;     /* evaluations */
    double mean_ns;   /* geometric mean of the times of the search; 0: of visits, which have none */
    double forest_ns; /* the time that the forest expects if only this value changed */
};

/* A choice with its values: of visits the most visited first, else the fastest first. */
struct report_choice {
    char *name;
    unsigned same;        /* how many choices always go together with it */
    double importance;    /* forest_importance() */
    double share, chance; /* insight_effect */
    size_t count;         /* evaluations that have the choice */
    struct report_value *values;
    unsigned n_values;
};

struct report_study {
    int64_t run;
    uint64_t version;             /* of the search when it was made */
    char *trouble;                /* why the program could not be opened or explained; NULL: nothing */
    double bound_ns;              /* lower bound of all implementations; 0: not known */
    char *notes;                  /* what the description of the device lacks */
    struct report_choice *visits; /* of the choices that are decided first, in that order */
    unsigned n_visits;
    size_t visited;                  /* evaluations that the visits are of */
    struct report_choice *choices;   /* the most important first */
    unsigned n_choices, all_choices; /* kept; that had several values */
    size_t learnt_from;              /* measured implementations */
    double explained;                /* forest_explained() of log times */
    struct best_file best;           /* with a problem, if `explained_best` */
    struct explanation explanation;
    bool explained_best;
    char *best_decisions; /* of `tune --space`, as JSON; NULL: of a program, or none */
};

/* Reads the run's rows from the store. Never NULL: what is not known is left out, with the reason. */
struct report_study *report_study_make(const char *store, const struct report_search *s,
                                       const struct report_opener *opener);
void report_study_free(struct report_study *s); /* NULL is allowed */

#endif
