/* What the files of this folder share. One thread owns all of it. */
#ifndef THRESH_LAUNCH_LAUNCH_STATE_H
#define THRESH_LAUNCH_LAUNCH_STATE_H

#include <stdint.h>

#include "coordinator/launch/launch.h"
#include "coordinator/launch/process.h"
#include "core/base/attr.h"

enum { LAUNCH_AGENT_NAME = 80 };

enum launch_agent_state { LAUNCH_WAITS /* until start_ms */, LAUNCH_RUNS, LAUNCH_OVER };

/* An agent that is a process of ours, or an ssh to it. */
struct launch_agent {
    char name[LAUNCH_AGENT_NAME];
    enum launch_agent_state state;
    struct process process;
    unsigned host;     /* ssh: which of the options */
    unsigned failures; /* in a row */
    int64_t start_ms;  /* when it is to be started; when it was */
};

struct launch_queued {
    enum launch_event_kind kind;
    char *agent, *text;
};

struct launch {
    struct launch_options options;
    const struct launch_ops *ops;
    struct arena *arena;
    char *endpoint; /* that agents connect to */
    char *key;      /* file of the secret; NULL: none */
    char *program;  /* path of this program, or options.program */
    struct launch_agent *agents;
    unsigned n_agents;
    struct ssh *ssh;     /* ssh.c */
    struct slurm *slurm; /* slurm.c */
    struct launch_queued *events;
    unsigned n_events, next_event;
    struct launch_queued last; /* that launch_poll() has given out */
    bool stopped;
};

/* How a kind does it. No call waits, but for start and stop. */
struct launch_ops {
    bool (*start)(struct launch *l, struct diag *d);
    void (*turn)(struct launch *l); /* looks what has happened; adds events */
    void (*stop)(struct launch *l);
    void (*free)(struct launch *l);
    unsigned (*left)(const struct launch *l);
};
extern const struct launch_ops launch_local, launch_ssh, launch_slurm;

void launch_add_event(struct launch *l, enum launch_event_kind kind, const char *agent, const char *fmt, ...)
    BASE_PRINTF(4, 5);

/* The words of `thresh agent` with the key's file (NULL: none), of the arena; they end with NULL. device:
 * NULL: not said. */
char **launch_agent_words(struct launch *l, const char *program, const char *key, const char *device);
/* Words as a line for a POSIX shell. */
void launch_add_words(struct strbuf *out, char *const *words);
/* The words of a command that was given as a text: divided at spaces, with room for `more` after them. */
char **launch_split_words(struct launch *l, const char *text, size_t more, size_t *n);

/* ---- agents.c: agents that are processes ---- */

/* Starts what is due with `start` and looks at what runs. start: false: errno says why not. */
void launch_agents_turn(struct launch *l, bool (*start)(struct launch *l, struct launch_agent *a));
unsigned launch_agents_left(const struct launch *l);
/* Waits for them to end, then kills them. */
void launch_agents_end(struct launch *l, int timeout_ms);

/* ---- bundle.c ---- */

/* A name for what is in a folder of a bundle: another one if any file has another name, mode or content. NULL
 * after an error. Of the arena. */
char *launch_bundle_name(struct launch *l, const char *folder, struct diag *d);

#endif
