/* The parameters of gpu.space that a user may set: `--param max_unroll=4096`, `--allow tf32`. */
#ifndef THRESH_BACKBONE_PARAMETER_H
#define THRESH_BACKBONE_PARAMETER_H

#include <stdbool.h>
#include <stdint.h>

struct backbone;
struct bb_options;
struct diag;
struct space_data;
struct strbuf;

/* A parameter of gpu.space that does not take its default. */
struct bb_parameter {
    uint32_t number; /* in the order of gpu.space; it has a default there */
    int64_t value;   /* 0 to 2^40, in the parameter's unit */
};
enum { BB_MAX_PARAMETERS = 8 };

/* Adds parameters such as "max_unroll=4096,global_from=0" (cli option --param) to the options. false after
 * adding an error: a malformed text, or a name that is no parameter with a default. */
bool bb_parse_parameters(const char *text, struct bb_options *o, struct diag *d);
/* Sets the parameters of what a user allows, such as "tf32" (cli option --allow). false after adding an error
 * that names what can be allowed. */
bool bb_parse_allowed(const char *text, struct bb_options *o, struct diag *d);
/* Whether products of floats may take 11 significant bits of each factor (TF32). */
bool bb_options_allow_tf32(const struct bb_options *o);
bool bb_allows_tf32(const struct backbone *bb);
/* Appends `prefix` and what bb_parse_parameters() reads back; nothing where no parameter is set. */
void bb_print_parameters(const struct bb_options *o, const char *prefix, struct strbuf *out);
/* Whether number and value can be those of a parameter: for what a peer or a file says. */
bool bb_parameter_valid(const struct bb_parameter *p);
/* Puts it into an instance of gpu.space. */
void bb_parameter_put(const struct bb_parameter *p, struct space_data *data);

#endif
