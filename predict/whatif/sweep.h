/*
 * predict/whatif/sweep.h - one job on several GPUs: a table, best first.
 *
 * Names are looked up before a trace is read, and traces are loaded once. Each
 * GPU has a prediction of its own, and the ratio of its period to that of the
 * best (ratio.h).
 */
#ifndef MSIM_PREDICT_WHATIF_SWEEP_H
#define MSIM_PREDICT_WHATIF_SWEEP_H
#include "predict/pipeline.h"
#include "predict/whatif/ratio.h"

#include <stdio.h>

struct msim_sweep_row {
    struct msim_target to;
    uint32_t index;                     /* in the list */
    struct msim_prediction *prediction; /* its rates are the caller's to set */
    struct msim_figure ratio;           /* to the best; nothing measured */
    struct msim_ratio_parts parts;
};

struct msim_sweep {
    struct msim_inputs in;
    struct msim_sweep_row *rows; /* best first */
    uint32_t n;
    char *names; /* the platforms, one after another */
};

/*
 * Predict for each of the platforms in `list`, which commas separate; the
 * settings' own is not read. EUSAGE where a name is empty, twice, or not known.
 * Release in any case.
 */
MSIM_MUST_CHECK
enum msim_status msim_sweep_run(struct msim_sweep *w, const char *list,
                                const struct msim_predict_settings *s,
                                struct msim_error *err);
void msim_sweep_release(struct msim_sweep *w);

/* As text, JSON (schema mystique-sim/predictions/1) or CSV; EIO. */
MSIM_MUST_CHECK
enum msim_status msim_sweep_text(const struct msim_sweep *w, FILE *out);
MSIM_MUST_CHECK
enum msim_status msim_sweep_json(const struct msim_sweep *w, FILE *out);
MSIM_MUST_CHECK
enum msim_status msim_sweep_csv(const struct msim_sweep *w, FILE *out);

#endif
