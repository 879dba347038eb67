/* Reads the line "cpu USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL ..." of /proc/stat (proc(5)), in ticks.
 * USER includes the time of guests. */
#include "coordinator/load.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { FIELDS = 8, IDLE = 3, IOWAIT = 4 };

bool load_read(const char *path, struct load *out)
{
    double f[FIELDS];
    FILE *in = fopen(path, "r");
    int n = in ? fscanf(in, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &f[0], &f[1], &f[2], &f[3], &f[4], &f[5],
                        &f[6], &f[7])
               : 0;
    if (in) fclose(in);
    *out = (struct load){0, 0};
    for (int i = 0; n == FIELDS && i < FIELDS; i++) {
        out->all += f[i];
        if (i != IDLE && i != IOWAIT) out->busy += f[i];
    }
    return n == FIELDS;
}

double load_of_others(const struct load *from, const struct load *to, double own_ms)
{
    double all = to->all - from->all, own = own_ms * 1e-3 * (double)sysconf(_SC_CLK_TCK);
    return all > 0 ? fmin(1, fmax(0, (to->busy - from->busy - own) / all)) : 0;
}
