/* Halves: a sign, 5 bits of exponent with a bias of 15, 10 bits of fraction. */
#include "core/base/half.h"

#include <math.h>

double half_to_double(uint16_t bits)
{
    int exponent = (bits >> 10) & 31, fraction = bits & 1023;
    double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 31) return fraction ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0) return sign * ldexp(fraction, -24);
    return sign * ldexp(1024 + fraction, exponent - 25);
}

uint16_t half_of_double(double x)
{
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    double magnitude = fabs(x);
    if (isnan(x)) return 0x7e00;
    if (magnitude >= 65520) return sign | 0x7c00;
    if (magnitude < ldexp(1, -14)) return (uint16_t)(sign | (unsigned)nearbyint(ldexp(magnitude, 24)));
    int exponent;
    double fraction = frexp(magnitude, &exponent);              /* in [0.5, 1) */
    unsigned digits = (unsigned)nearbyint(ldexp(fraction, 11)); /* 1024..2048 */
    return (uint16_t)(sign | (((unsigned)(exponent + 13) << 10) + digits));
}
