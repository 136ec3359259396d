/*
 * calibrate/machine/machine_text.h - the comparisons that a journal allows, as
 * text.
 */
#ifndef MSIM_CALIBRATE_MACHINE_MACHINE_TEXT_H
#define MSIM_CALIBRATE_MACHINE_MACHINE_TEXT_H
#include "calibrate/measure/journal.h"

#include <stdio.h>

/* Print how far backends differ, how much a collective slows compute, and
 * hardware counters over assumed figures; each only where it was timed. */
MSIM_MUST_CHECK
enum msim_status msim_cal_show(FILE *out, const struct msim_cal_journal *j);

#endif
