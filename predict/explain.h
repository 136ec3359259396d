/*
 * predict/explain.h - how the time of one operator comes about: which law,
 * which inputs, which rows.
 */
#ifndef MSIM_PREDICT_EXPLAIN_H
#define MSIM_PREDICT_EXPLAIN_H
#include "predict/target.h"

#include <stdio.h>

/*
 * Write to `out` the estimate of every distinct call of operator `op` on the
 * first rank, in the order of their first calls, as text or JSON (schema
 * mystique-sim/explanation/1). EUSAGE without a platform; EUNKNOWN where no
 * operator has this name, or where it launches nothing.
 */
MSIM_MUST_CHECK
enum msim_status msim_explain(const char *op,
                              const struct msim_predict_settings *s,
                              const struct msim_inputs *in,
                              const struct msim_target *to, bool json,
                              FILE *out, struct msim_error *err);

#endif
