/* Steps over the fastest possible issue rate. The constants are upper limits of real devices: 6 GHz, 8
 * statements issued a cycle by one thread, 128 lanes a cycle by one GPU unit, 16 lanes of a CPU vector. */
#include "perfmodel/floor.h"

static const double HIGHEST_GHZ = 6.0, ISSUES_A_CYCLE = 8.0, GPU_LANES = 128.0, CPU_LANES = 16.0;

double perfmodel_floor_ns(double item_steps, double items, unsigned compute_units, bool gpu)
{
    double one_item = item_steps / (ISSUES_A_CYCLE * HIGHEST_GHZ);
    double lanes = (gpu ? GPU_LANES : CPU_LANES) * (compute_units ? compute_units : 1);
    double all_items = item_steps * items / (lanes * ISSUES_A_CYCLE * HIGHEST_GHZ);
    double longest = gpu ? one_item : one_item / CPU_LANES;
    return longest > all_items ? longest : all_items;
}
