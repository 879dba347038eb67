/* Numbers of 16 bits (IEEE 754 binary16), which C has no type for: 0x3c00 is 1, 0x7c00 infinity. */
#ifndef THRESH_BASE_HALF_H
#define THRESH_BASE_HALF_H

#include <stdint.h>

/* The number that the bits mean, exactly. */
double half_to_double(uint16_t bits);
/* The bits of the nearest number; ties go to the even one. */
uint16_t half_of_double(double x);

#endif
