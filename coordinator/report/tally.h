/* Counts of the values of choices, in order of the choices' places: where the visits of a search went. For
 * example, of the actions "0=1 3=2" and "0=1 3=4": choice 0 has value 1 twice; choice 3 has 2 and 4, once
 * each.
 */
#ifndef THRESH_REPORT_TALLY_H
#define THRESH_REPORT_TALLY_H

#include <stddef.h>
#include <stdint.h>

struct tally_value {
    uint32_t value;
    size_t count;
};

struct tally_choice {
    uint32_t choice;
    size_t count;
    double places; /* sum of its places in the lists */
    struct tally_value *values;
    unsigned n_values;
};

/* Zero-initialise. */
struct tally {
    struct tally_choice *choices;
    unsigned n;
};

void tally_add(struct tally *t, uint32_t choice, uint32_t value, unsigned place);
/* Sorts the choices that have two values or more, and at least `least` counts, by their mean places, their
 * values by their counts; drops the others. */
void tally_finish(struct tally *t, size_t least);
void tally_clear(struct tally *t);

#endif
