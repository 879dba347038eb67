/* Options and monitors of sockets; see socket.h. */
#include "core/keys/socket.h"

#include <string.h>

#include "core/keys/limits.h"

void keys_limit_handshakes(void *socket)
{
    static const struct {
        int option, value;
    } options[] = {{ZMQ_HANDSHAKE_IVL, KEYS_HANDSHAKE_MS},
                   {ZMQ_BACKLOG, KEYS_BACKLOG},
                   {ZMQ_TCP_KEEPALIVE, 1},
                   {ZMQ_TCP_KEEPALIVE_IDLE, KEYS_ALIVE_S},
                   {ZMQ_TCP_KEEPALIVE_INTVL, KEYS_ALIVE_AGAIN_S},
                   {ZMQ_TCP_KEEPALIVE_CNT, KEYS_ALIVE_TRIES},
                   {ZMQ_TCP_MAXRT, KEYS_UNANSWERED_MS}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        zmq_setsockopt(socket, options[i].option, &options[i].value, sizeof options[i].value);
}

bool keys_monitor_next(void *monitor, uint16_t *event, uint32_t *value)
{
    uint8_t head[6];
    char endpoint[256];
    if (zmq_recv(monitor, head, sizeof head, ZMQ_DONTWAIT) != (int)sizeof head) return false;
    memcpy(event, head, sizeof *event);
    memcpy(value, head + sizeof *event, sizeof *value);
    zmq_recv(monitor, endpoint, sizeof endpoint, 0);
    return true;
}
