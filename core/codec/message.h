/* The messages between coordinator and agents, each defined once: the table below gives the structs, the
 * encoder, the decoder and the round-trip test. A message is one MessagePack map:
 *
 *     {"v": 6, "type": "ready", "jobs": 9, "credits": 4}  <->  {.kind = MESSAGE_READY, .ready = {9, 4}}
 *
 * Any byte string decodes to a message or an error. Before anything is allocated the frame is walked once
 * and refused if it is too long, too deep, or claims more elements than it has bytes (codec_check()). Unknown
 * fields are ignored, so that a newer peer may add some; missing, repeated and mistyped ones are errors. */
#ifndef THRESH_CODEC_MESSAGE_H
#define THRESH_CODEC_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum { MESSAGE_VERSION = 7, MESSAGE_MAX_BYTES = 4 << 20, MESSAGE_MAX_DEPTH = 4 };

/* Arrays in a message; borrowed by the encoder, owned by the arena after decoding. */
struct message_ints {
    const int64_t *items;
    size_t n;
};
struct message_doubles {
    const double *items;
    size_t n;
};

/* Kinds of field and their C types. */
#define MESSAGE_FIELD_KINDS(K)                                                                               \
    K(STRING, const char *)                                                                                  \
    K(COUNT, uint64_t)                                                                                       \
    K(REAL, double)                                                                                          \
    K(FLAG, bool)                                                                                            \
    K(INTS, struct message_ints)                                                                             \
    K(DOUBLES, struct message_doubles)

/* hello: an agent introduces itself; `libraries` are those that it evaluates with and their versions.
 * welcome: the coordinator takes it. program: what will be evaluated; `limits` and `options` are struct
 * bb_device and struct bb_options as numbers (agent/wire.h), `data` names the user's files (given_text()), ""
 * where inputs are generated. reference: how many outputs of the program the
 * agent's reference does not verify (struct verify_doubt), sent before the first ready if there are any.
 * baseline: what became of one of the user's own kernels, which only an agent in the coordinator's process
 * has, since no OpenCL text is sent; before the first ready, too. ready: the agent has taken `jobs` since its
 * hello, and has room for `credits` more; the numbers are absolute, so that a lost or repeated message
 * changes nothing. returned: the agent leaves and has not begun this job. job: actions are slot, value, slot,
 * value, ... result: of one job; idempotent by id; `resources` is struct eval_resources as numbers, nothing
 * where no kernel was built. rounds: quoted figures of several kernels: for each its number of integers, then
 * its actions; -1, -2, ...: the user's own kernel 0, 1, ... figures: their times, kernel by kernel. who: the
 * coordinator does not know the agent (any more): it is to say hello again. heartbeat: the jobs that the
 * agent has at work. bye: the sender leaves, or gives
 * up for the reason said.
 */
#define MESSAGES(M)                                                                                          \
    M(HELLO, hello,                                                                                          \
      F(STRING, name) F(STRING, host) F(STRING, device) F(STRING, driver) F(STRING, libraries)               \
          F(COUNT, capacity) F(INTS, limits))                                                                \
    M(WELCOME, welcome, F(COUNT, heartbeat_ms))                                                              \
    M(PROGRAM, program,                                                                                      \
      F(STRING, path) F(STRING, text) F(STRING, sizes) F(STRING, data) F(INTS, limits) F(INTS, options)      \
          F(COUNT, fingerprint) F(COUNT, seed) F(COUNT, search))                                             \
    M(REFERENCE, reference, F(COUNT, outputs) F(COUNT, not_finite) F(COUNT, loose))                          \
    M(BASELINE, baseline, F(COUNT, index) F(STRING, status) F(REAL, median_ns) F(STRING, message))           \
    M(READY, ready, F(COUNT, jobs) F(COUNT, credits))                                                        \
    M(JOB, job,                                                                                              \
      F(COUNT, id) F(INTS, actions) F(REAL, best_ns) F(REAL, cut_factor) F(REAL, batch_ns) F(FLAG, verify))  \
    M(RESULT, result,                                                                                        \
      F(COUNT, search) F(COUNT, id) F(STRING, status) F(REAL, median_ns) F(DOUBLES, samples)                 \
          F(STRING, message) F(INTS, resources) F(COUNT, kernel_hash))                                       \
    M(RETURNED, returned, F(COUNT, search) F(COUNT, id))                                                     \
    M(ROUNDS, rounds, F(COUNT, id) F(INTS, kernels) F(COUNT, rounds) F(COUNT, seed))                         \
    M(FIGURES, figures, F(COUNT, search) F(COUNT, id) F(DOUBLES, times))                                     \
    M(HEARTBEAT, heartbeat, F(COUNT, jobs))                                                                  \
    M(WHO, who, F(STRING, reason))                                                                           \
    M(BYE, bye, F(STRING, reason))

#define K(KIND, type) MESSAGE_FIELD_##KIND,
enum message_field_kind { MESSAGE_FIELD_KINDS(K) MESSAGE_FIELD_KIND_COUNT };
#undef K
#define K(KIND, type) typedef type message_type_##KIND;
MESSAGE_FIELD_KINDS(K)
#undef K

#define M(KIND, name, fields) MESSAGE_##KIND,
enum message_kind { MESSAGES(M) MESSAGE_KIND_COUNT };
#undef M

#define F(KIND, name) message_type_##KIND name;
#define M(KIND, name, fields)                                                                                \
    struct message_##name {                                                                                  \
        fields                                                                                               \
    };
MESSAGES(M)
#undef M
#undef F

struct message {
    enum message_kind kind;
    union {
#define M(KIND, name, fields) struct message_##name name;
        MESSAGES(M)
#undef M
    };
};

/* Tables derived from the definition: for the codec, for tests and traces. */
struct message_field {
    const char *name;
    enum message_field_kind kind;
    size_t offset; /* in struct message */
};
const char *message_name(enum message_kind kind);
size_t message_fields(enum message_kind kind, const struct message_field **fields);

/* Encodes into a malloc'd buffer. NULL strings are sent as "", others must be UTF-8. */
void *message_encode(const struct message *m, size_t *bytes);
/* Decodes; strings and arrays live in the arena. false with a static reason in *why. */
bool message_decode(const void *data, size_t bytes, struct arena *a, struct message *out, const char **why);

/* Whether `bytes` are exactly one MessagePack value within the limits above. */
bool codec_check(const void *data, size_t bytes, const char **why);

#endif
