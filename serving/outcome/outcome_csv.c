/*
 * serving/outcome/outcome_csv.c - one line a request, and counters of windows.
 */
#include "core/base/csv.h"
#include "serving/outcome/serving_outcome_internal.h"

#include <math.h>

#define PS_PER_MS 1e9
#define PS_PER_S  1e12

void msim_serving_csv(const struct msim_serving_outcome *o, FILE *out)
{
    fputs("t_s,class,input_tokens,output_tokens,queued_ms,ttft_ms,tpot_ms,"
          "e2e_ms\n",
          out);
    for (uint64_t i = 0; i < o->run.n_requests; i++) {
        const struct msim_served *q = &o->run.requests[i];
        bool ended = q->ended != MSIM_TIME_NONE;

        msim_csv_print(out, "%.9f", (double)q->arrived / PS_PER_S);
        msim_csv_add(out, o->classes[q->cls].name);
        msim_csv_add_number(out, q->input_tokens ? (double)q->input_tokens
                                                 : (double)NAN);
        msim_csv_add_number(out, q->output_tokens ? (double)q->output_tokens
                                                  : (double)NAN);
        msim_csv_add_number(out, ended ? (double)q->queued / PS_PER_MS : NAN);
        msim_csv_add_number(out, msim_serving_metric(q, MSIM_PROMISE_TTFT));
        msim_csv_add_number(out, msim_serving_metric(q, MSIM_PROMISE_TPOT));
        msim_csv_add_number(out, msim_serving_metric(q, MSIM_PROMISE_E2E));
        fputs("\n", out);
    }
}

/* ---- counters ------------------------------------------------------------ */

/* A comma and the number; nothing behind it where it is not known. */
static enum msim_status put_number(struct msim_file *f, double value)
{
    if (isnan(value))
        return msim_file_write(f, ",", 1);
    return msim_csv_print_draft(f, ",%.6g", value);
}

static enum msim_status put_window(struct msim_file *f, double t,
                                   const char *stage,
                                   const struct msim_window_row *w)
{
    MSIM_TRY(msim_csv_print_draft(f, "%.1f,%s,%u,%u", t, stage, w->arrivals,
                                  w->queue));
    MSIM_TRY(put_number(f, w->busy));
    MSIM_TRY(put_number(f, w->replicas ? (double)w->replicas : (double)NAN));
    MSIM_TRY(put_number(f, w->mean_ms));
    MSIM_TRY(put_number(f, w->p99_ms));
    MSIM_TRY(put_number(f, w->self_ms));
    MSIM_TRY(put_number(f, w->wait_ms));
    MSIM_TRY(msim_file_write(f, ",,,", 3)); /* psi: nothing stalls here */
    MSIM_TRY(put_number(f, w->net_ms));
    return msim_file_write(f, "\n", 1);
}

static enum msim_status put_windows(const struct msim_serving_outcome *o,
                                    struct msim_file *f)
{
    uint32_t n = o->app->n_stages;

    MSIM_TRY(msim_csv_print_draft(
        f, "t,stage,arrivals,queue,busy,replicas,mean_ms,p99_ms,self_ms,"
           "wait_ms,psi_cpu,psi_mem,psi_io,net_ms\n"));
    for (uint32_t i = 0; i < o->run.n_windows; i++)
        for (uint32_t k = 0; k <= n; k++)
            MSIM_TRY(put_window(f, (i + 1) * MSIM_WINDOW_S,
                                k < n ? o->app->stages[k].name : "e2e",
                                &o->run.windows[i * (n + 1) + k]));
    return MSIM_OK;
}

enum msim_status msim_serving_counters(const struct msim_serving_outcome *o,
                                       const char *path, struct msim_error *err)
{
    struct msim_file *f;

    MSIM_TRY(msim_file_open(&f, path, NULL, err));
    return msim_file_close(f, put_windows(o, f), err);
}
