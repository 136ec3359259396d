/*
 * calibrate/machine/machine_text.h - what experiments say beside what is fitted
 * to them, for people.
 */
#ifndef MSIM_CALIBRATE_MACHINE_MACHINE_TEXT_H
#define MSIM_CALIBRATE_MACHINE_MACHINE_TEXT_H
#include "calibrate/measure/journal.h"

#include <stdio.h>

/* How far backends are apart, what computing takes beside a collective, and
 * what hardware counters say; nothing of what was not timed. */
MSIM_MUST_CHECK
enum msim_status msim_cal_show(FILE *out, const struct msim_cal_journal *j);

#endif
