/*
 * cli/explain.h - `--explain OP`: which law, which inputs, which rows.
 */
#ifndef MSIM_CLI_EXPLAIN_H
#define MSIM_CLI_EXPLAIN_H
#include "cli/session.h"

/*
 * Explain the estimate of every distinct call of the operator, most calls
 * first come. EUNKNOWN where no rank calls it, or where it launches nothing.
 */
MSIM_MUST_CHECK
enum msim_status msim_explain(struct msim_session *s, FILE *out,
                              struct msim_error *err);

#endif
