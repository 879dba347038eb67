/* Keys: who may take part in a campaign over TCP. A coordinator and each agent have a certificate (a pair of
 * CURVE keys); what goes over TCP is encrypted with them, and only agents whose public certificate the
 * coordinator has are admitted. `thresh keys new keys --agent node1` makes a folder of keys:
 *
 *     keys/server.key                  public certificate of the coordinator
 *     keys/server.key_secret           its secret: stays with the coordinator
 *     keys/agents/node1.key            public certificate of an agent: as long as it is here, it is admitted
 *     keys/agents/node1.key_secret     what the agent needs: its secret, and the coordinator's public key
 *
 * A secret is a file with mode 0600. It is not used if group or others can read it. This header is about the
 * folder; server.h and agent.h are about the two ends of a connection. */
#ifndef THRESH_KEYS_KEYS_H
#define THRESH_KEYS_KEYS_H

#include <stdbool.h>
#include <stddef.h>

struct diag;

enum {
    KEYS_BYTES = 32,        /* of a key */
    KEYS_TEXT = 41,         /* a key as text (Z85, ZeroMQ RFC 32), with its 0 */
    KEYS_NAME = 65,         /* name of an agent, with its 0 */
    KEYS_WHEN = 32,         /* when a certificate was made: 2026-01-31T12:00:00Z */
    KEYS_MOST_AGENTS = 4096 /* certificates of one folder */
};

/* Makes certificates for the n agents in the folder; the folder and the coordinator's certificate, too, if
 * they are missing. Nothing is ever overwritten: false after an error if an agent has a certificate, if a
 * name is none, or if a file cannot be written. */
bool keys_new(const char *folder, const char *const *agents, size_t n, struct diag *d);

/* A certificate of a folder. */
struct keys_entry {
    char name[KEYS_NAME]; /* of the agent; "server" */
    char key[KEYS_TEXT];  /* public key; "": not known */
    char when[KEYS_WHEN]; /* when it was made; "": not known */
    bool admitted;        /* of an agent: the coordinator takes it */
    bool secret;          /* the secret is in the folder, too */
    char *problem;        /* why it cannot be used, and the command that helps; NULL: nothing is wrong */
};

/* All certificates of a folder: the coordinator's, then those of agents, by name. */
struct keys_list {
    struct keys_entry server, *agents;
    size_t n_agents;
};

/* Reads the folder. false after an error if it is none. */
bool keys_list_read(const char *folder, struct keys_list *out, struct diag *d);
void keys_list_clear(struct keys_list *l);

#endif
