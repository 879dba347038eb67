/* What a misspelt choice or value most likely is, for messages about pins, orders and patterns. */
#ifndef THRESH_SPACE_HINT_H
#define THRESH_SPACE_HINT_H

#include "core/base/strbuf.h"
#include "core/space/space.h"

/* Appends what a name that matches no choice may stand for: "; did you mean 'size(m.0)'?" for "sise(m.0)", or
 * which choices there are. The name may be a pattern, and lack its arguments. */
void space_hint_choice(const struct space *s, const char *name, struct strbuf *out);
/* Appends which values the choice of a slot has: "; did you mean 'VECTOR'? dim_kind(m.0) is one of
 * LOOP|VECTOR". The middle of a long list is left out. */
void space_hint_value(const struct space *s, uint32_t slot, const char *value, struct strbuf *out);

#endif
