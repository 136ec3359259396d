/*
 * core/memory/fits.c - a peak and its interval against a GPU's memory.
 */
#include "core/memory/life_memory.h"

const char *msim_fits_text(enum msim_fits f)
{
    static const char *const TEXTS[] = {"yes", "edge", "no"};

    return TEXTS[f];
}

enum msim_fits msim_memory_fits(double low, double high, double capacity)
{
    if (high <= capacity)
        return MSIM_FITS_YES;
    return low > capacity ? MSIM_FITS_NO : MSIM_FITS_EDGE;
}
