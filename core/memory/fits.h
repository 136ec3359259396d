/*
 * core/memory/fits.h - whether a predicted peak of memory fits into a GPU.
 *
 * Thread-safe; nothing is allocated.
 */
#ifndef MSIM_CORE_MEMORY_FITS_H
#define MSIM_CORE_MEMORY_FITS_H

enum msim_fits { MSIM_FITS_YES, MSIM_FITS_EDGE, MSIM_FITS_NO };
/* "yes", "edge", "no" */
const char *msim_fits_text(enum msim_fits f);

/* Whether a peak within low..high bytes fits into a GPU: edge, where that is
 * not sure. */
enum msim_fits msim_memory_fits(double low, double high, double capacity);

#endif
