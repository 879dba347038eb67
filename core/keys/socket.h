/* What both ends of a TCP connection need of their socket: limits, and what its monitor says. */
#ifndef THRESH_KEYS_SOCKET_H
#define THRESH_KEYS_SOCKET_H

#include <stdbool.h>
#include <stdint.h>
#include <zmq.h>

/* Events of the monitor (zmq_socket_monitor) that the keys look at. */
enum {
    KEYS_EVENTS = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_ACCEPT_FAILED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CLOSED |
                  ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                  ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH
};
/* The next event of a monitor that waits already, with its value: a descriptor, an errno, a code. false:
 * there is none. */
bool keys_monitor_next(void *monitor, uint16_t *event, uint32_t *value);

/* Ends handshakes that take too long, and connections whose other end does not answer (limits.h). Heartbeats
 * of ZeroMQ are not used: a process that was stopped for longer than their time would lose all connections as
 * it goes on, while the kernel answers keepalive meanwhile. */
void keys_limit_handshakes(void *socket);

#endif
