/*
 * plan/describe/describe_dlrm.h - reading a recommendation model. Private to
 * plan/describe.
 */
#ifndef MSIM_PLAN_DESCRIBE_DESCRIBE_DLRM_H
#define MSIM_PLAN_DESCRIBE_DESCRIBE_DLRM_H
#include "core/json/fields.h"
#include "plan/describe/described.h"

/* Errors stay in `f`. */
void msim_described_read_dlrm(struct msim_described *m, struct msim_fields *f);

#endif
