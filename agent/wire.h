/* Devices, lowering options and actions as the integers that messages carry. Reading checks counts and
 * ranges. */
#ifndef THRESH_AGENT_WIRE_H
#define THRESH_AGENT_WIRE_H

#include <stdbool.h>

#include "agent/device.h"
#include "core/codec/message.h"

struct arena;
struct space_action;

enum { WIRE_LIBRARIES = 256 };
/* The libraries that evaluate on the device, with their versions: "OpenCL 3.0 CUDA, ZeroMQ 4.3.4, ...". */
void wire_libraries(const struct device *dev, char out[WIRE_LIBRARIES]);

struct message_ints wire_device(const struct device *dev, struct arena *a); /* all but the names */
/* false: no device has such numbers, or their count differs. */
bool wire_read_device(struct message_ints ints, struct device *dev);
struct message_ints wire_options(const struct bb_options *o, struct arena *a);
bool wire_read_options(struct message_ints ints, struct bb_options *o);

/* slot, value, slot, value, ... */
struct message_ints wire_actions(const struct space_action *actions, size_t n, struct arena *a);
bool wire_read_actions(struct message_ints ints, struct arena *a, struct space_action **actions, unsigned *n);

#endif
