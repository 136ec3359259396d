/*
 * predict/whatif/select.h - what a what-if selects, and what it does not.
 *
 * A pattern that matches nothing is an error, since it is nearly always a slip;
 * it names what comes near. A class of work that the job does not have, or an
 * option that changes no duration, is a warning.
 */
#ifndef MSIM_PREDICT_WHATIF_SELECT_H
#define MSIM_PREDICT_WHATIF_SELECT_H
#include "predict/pipeline.h"

/*
 * Check every `--scale` of the settings, and the part that is chosen, against
 * the graph and its costs. EUSAGE where a pattern selects nothing; else
 * warnings of the job say what is without effect.
 */
MSIM_MUST_CHECK
enum msim_status msim_select_check(const struct msim_predict_settings *s,
                                   const struct msim_inputs *in,
                                   const struct msim_costs *c,
                                   const struct msim_graph *g,
                                   struct msim_error *err);

/* Why `--peers` has no effect, or NULL where it is not asked for or has one. */
const char *msim_select_idle(const struct msim_predict_settings *s,
                             const struct msim_target *to,
                             const struct msim_graph *g);

#endif
