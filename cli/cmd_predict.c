#include "cli/cmd.h"
#include "cli/explain.h"
#include "cli/message.h"
#include "cli/session.h"
#include "core/report/write/report.h"

#include <math.h>
#include <time.h>

static double seconds_since(const struct timespec *begin)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin->tv_sec) +
           (double)(now.tv_nsec - begin->tv_nsec) / 1e9;
}

static enum msim_status write_files(struct msim_session *s,
                                    struct msim_error *err)
{
    struct msim_timeline *tl;
    enum msim_status status = MSIM_OK;

    if (s->o->chart)
        MSIM_TRY(msim_report_chart(s->prediction, s->o->chart, err));
    if (!s->o->timeline)
        return MSIM_OK;
    MSIM_TRY(msim_timeline_new(&tl, &s->outcome));
    status = msim_report_timeline(tl, s->o->timeline, err);
    msim_timeline_free(tl);
    return status;
}

static void forget(struct msim_figure *f)
{
    f->measured = NAN;
}

/*
 * Model costs read no GPU time, and a report under them holds none either:
 * the same shapes give the same bytes. (A step's own mark is host time.) How
 * far off they are is said beside the report instead. What was scaled to
 * another GPU was not measured there.
 */
static void set_measured_aside(struct msim_session *s)
{
    struct msim_prediction *p = s->prediction;
    bool marked = s->graph->iterations[0] >= 0;

    if (p->kernel_us.measured > 0)
        msim_message("the trace measured %.1f us of kernels, this predicts "
                     "%.1f us (%+.1f %%)",
                     p->kernel_us.measured, p->kernel_us.predicted,
                     100 *
                         (p->kernel_us.predicted / p->kernel_us.measured - 1));
    forget(&p->kernel_us);
    if (!marked)
        forget(&p->iteration_us);
    for (uint32_t i = 0; i < p->n_iterations && !marked; i++)
        forget(&p->iterations[i].us);
    for (uint32_t i = 0; i < p->n_ops; i++)
        forget(&p->ops[i].us);
    for (uint32_t i = 0; i < p->n_uncovered; i++)
        forget(&p->uncovered[i].us);
    for (uint32_t i = 0; i < p->n_families; i++)
        forget(&p->families[i].us);
    for (uint32_t i = 0; i < p->n_ranks_detail; i++) {
        forget(&p->ranks_detail[i].kernel_us);
        if (!marked)
            forget(&p->ranks_detail[i].iteration_us);
    }
}

static enum msim_status write_report(const struct msim_session *s)
{
    if (s->o->json)
        return msim_report_json(s->prediction, stdout);
    if (s->o->csv)
        return msim_report_csv(s->prediction, stdout);
    return msim_report_text(s->prediction, stdout);
}

static enum msim_status predict(struct msim_session *s,
                                const struct timespec *begin,
                                struct msim_error *err)
{
    MSIM_TRY(msim_session_run(s, err));
    s->prediction->seconds = seconds_since(begin);
    MSIM_TRY(write_files(s, err));
    if (!msim_session_replays(s))
        set_measured_aside(s);
    MSIM_TRY(write_report(s));
    msim_message_warnings(s->job->warnings, s->job->n_warnings, !s->o->csv);
    return MSIM_OK;
}

int msim_cmd_predict(int argc, char **argv)
{
    struct msim_predict_options o;
    struct msim_error err = {0};
    struct msim_session s;
    struct timespec begin;
    enum msim_status status;
    int rc = msim_predict_options_parse(&o, argc, argv);

    if (rc >= 0) {
        msim_predict_options_release(&o);
        return rc;
    }
    clock_gettime(CLOCK_MONOTONIC, &begin);
    status = msim_session_load(&s, &o, &err);
    if (status == MSIM_OK)
        status = o.explain ? msim_explain(&s, stdout, &err)
                           : predict(&s, &begin, &err);
    rc = status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
    msim_session_release(&s);
    msim_predict_options_release(&o);
    return rc;
}
