/* The limits of connections over TCP, of both ends, each with its unit and the reason for its value. */
#ifndef THRESH_KEYS_LIMITS_H
#define THRESH_KEYS_LIMITS_H

enum {
    KEYS_HANDSHAKE_MS = 10000,  /* until keys are exchanged: many round trips on any network */
    KEYS_BACKLOG = 512,         /* connections that wait to be accepted: all agents may start at once */
    KEYS_ALIVE_S = 30,          /* of silence until the kernel asks whether the other end is there, */
    KEYS_ALIVE_AGAIN_S = 10,    /* again after as long, */
    KEYS_ALIVE_TRIES = 3,       /* and gives the connection up: dead ends are known after a minute */
    KEYS_UNANSWERED_MS = 60000, /* the same for what was sent and is not acknowledged */
    KEYS_ENDINGS = 3,           /* of handshakes by the other end, until the agent takes that as an answer */
    KEYS_EXPECTED_MS = 200,     /* for a connection to go on whose key was admitted: no other key meanwhile */
    KEYS_EXPECTED_LOOK_MS = 10, /* between two looks at it */
    KEYS_LOOK_MS = 1000,        /* between two looks at the log otherwise */
    KEYS_MONITORED = 100000,    /* events of ZeroMQ's monitor that wait: a flood of connections is counted */
    KEYS_LINES = 10,            /* refused connections that the log names in one window; */
    KEYS_WINDOW_MS = 10000,     /* the others are counted: a flood must not fill the log */
    KEYS_MOST_CONNECTIONS = 1024 /* of one key at a time: a stolen key takes not all the descriptors */
};

#endif
