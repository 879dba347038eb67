/* Options and monitors of sockets; see socket.h. */
#include "core/keys/socket.h"

#include <string.h>

void keys_limit_handshakes(void *socket)
{
    static const struct {
        int option, value;
    } options[] = {{ZMQ_HANDSHAKE_IVL, 10000},    {ZMQ_BACKLOG, 512},
                   {ZMQ_TCP_KEEPALIVE, 1},        {ZMQ_TCP_KEEPALIVE_IDLE, 30} /* s */,
                   {ZMQ_TCP_KEEPALIVE_INTVL, 10}, {ZMQ_TCP_KEEPALIVE_CNT, 3},
                   {ZMQ_TCP_MAXRT, 60000} /* ms */};
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
