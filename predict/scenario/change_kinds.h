/*
 * predict/scenario/change_kinds.h - all kinds of changes.
 */
#ifndef MSIM_PREDICT_SCENARIO_CHANGE_KINDS_H
#define MSIM_PREDICT_SCENARIO_CHANGE_KINDS_H
#include "predict/scenario/change.h"

/* The names of all kinds; the end is NULL. */
extern const char *const msim_change_names[];

/* Read the change `key` of `r->f`, one of the names. */
void msim_change_read(struct msim_change_reader *r, const char *key);

#endif
