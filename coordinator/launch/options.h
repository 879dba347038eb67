/* What a launcher is told: how agents are started, where, and how many.
 *
 *     launch_options_parse("slurm:4,partition=gpu,time=2h,option=--gres=gpu:1", arena, &o, d)
 *
 * is the form of --launch; a campaign file says the same with keys (launch_options_set()). One table has all
 * settings. */
#ifndef THRESH_LAUNCH_OPTIONS_H
#define THRESH_LAUNCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct diag;
struct strbuf;

enum {
    LAUNCH_MOST_OPTIONS = 64, /* `option` of one launcher */
    LAUNCH_HOSTS_BYTES = 1 << 20
};

enum launch_kind {
    LAUNCH_LOCAL, /* processes of this machine */
    LAUNCH_SSH,   /* a list of hosts */
    LAUNCH_SLURM, /* one job array */
    LAUNCH_KINDS
};

struct launch_host {
    const char *name;   /* as ssh takes it: node1, user@node1 */
    const char *device; /* selector; NULL: that of the options */
    unsigned agents;    /* on this host, at least 1 */
};

/* Strings are borrowed. */
struct launch_options {
    enum launch_kind kind;
    unsigned agents;           /* local, slurm; 0: not said */
    struct launch_host *hosts; /* ssh */
    unsigned n_hosts;
    const char *device;    /* of each agent, a selector; NULL: its first one */
    const char *runners;   /* of each agent, a number; NULL: its default */
    const char *timeout;   /* how long agents wait for a silent coordinator; NULL: its default */
    const char *program;   /* thresh; NULL: local, slurm: this one; ssh: of the bundle, or in the PATH */
    const char *bundle;    /* ssh: folder of `make bundle`; NULL: nothing is copied */
    const char *ssh;       /* ssh: words of the command; NULL: ssh */
    const char *address;   /* of this machine for agents elsewhere; NULL: see launch.h */
    const char *partition; /* slurm; NULL: Slurm's default */
    const char *options[LAUNCH_MOST_OPTIONS]; /* slurm: further ones of sbatch */
    unsigned n_options;
    double time_s; /* slurm: limit of the job; 0: that of the partition */
};

const char *launch_kind_name(enum launch_kind kind); /* "local" */
/* false: the text is no kind. */
bool launch_kind_find(const char *text, enum launch_kind *out);

/* Parses KIND:COUNT or ssh:HOSTFILE, followed by ,NAME=VALUE; "\," is a comma in a value. Copies are of
 * the arena. false after errors, with places for those of a host file. */
bool launch_options_parse(const char *text, struct arena *a, struct launch_options *out, struct diag *d);
/* Sets one setting from text. false: *why says what is wrong, without the place. */
bool launch_options_set(struct launch_options *o, const char *name, const char *value, struct arena *a,
                        struct strbuf *why);
/* Adds a host. false: *why says what is wrong. */
bool launch_options_add_host(struct launch_options *o, const char *name, struct arena *a, struct strbuf *why);
/* Whether nothing is missing. false: *why says what. */
bool launch_options_check(const struct launch_options *o, struct strbuf *why);
/* Adds the hosts of a file: a line each, HOST [agents=N] [device=SEL]; # begins a comment. false after errors
 * with line and column. */
bool launch_hosts_read(const char *path, struct arena *a, struct launch_options *o, struct diag *d);

#endif
