/*
 * serving/tune/tune.c - the constants of an engine from one measured run.
 *
 * Hooke and Jeeves' search (1961): a constant at a time is moved up or down,
 * what helps is kept, and where nothing helps steps are halved. It needs no
 * slopes, which a simulation with a queue in it does not have.
 */
#include "serving/tune/tune.h"

#include "core/base/quantile.h"
#include "serving/llm/llm_law.h"
#include "serving/log/request_log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOST, SEQUENCE, DECODE, PREFILL, CONSTANTS };

struct tuning {
    const struct msim_app *app;
    struct msim_deploy *d;
    const char *path;
    struct msim_llm_law base;
    enum msim_llm_engine engine;
    struct msim_request_log log;
    uint32_t head;  /* requests that constants are chosen by */
    double *sorted; /* room for a number a request */
    uint32_t stage; /* of the LLM */
};

/* ---- a run --------------------------------------------------------------- */

static bool is_of_prompts(int piece)
{
    return piece == MSIM_LLM_PRODUCT_MANY || piece == MSIM_LLM_EXPERT_MANY ||
           piece == MSIM_LLM_VECTOR_MANY ||
           piece == MSIM_LLM_ATTENTION_PROMPT ||
           piece == MSIM_LLM_ALL_REDUCE_MANY;
}

/* The base with constants times exp(x). */
static struct msim_llm_law law_at(const struct tuning *t, const double *x)
{
    struct msim_llm_law law = t->base;

    law.host_us[t->engine] *= exp(x[HOST]);
    law.sequence_us[t->engine] *= exp(x[SEQUENCE]);
    for (int p = 0; p < MSIM_LLM_PIECES; p++)
        law.factor[t->engine][p] *=
            exp(is_of_prompts(p) ? x[PREFILL] : x[DECODE]);
    return law;
}

/* log(measured / simulated) of a request; NAN: one of them is not known. */
struct off {
    double tpot, ttft, e2e;
};

static double log_ratio(double measured, double simulated)
{
    return measured > 0 && simulated > 0 ? log(measured / simulated) : NAN;
}

static double tpot_of(double e2e, double ttft, double tokens)
{
    return tokens > 1 ? (e2e - ttft) / (tokens - 1) : NAN;
}

static struct off off_by(const struct msim_logged *m,
                         const struct msim_served *s)
{
    double tokens = s->output_tokens, e2e = NAN, ttft = NAN;

    if (s->ended != MSIM_TIME_NONE)
        e2e = (double)(s->ended - s->arrived) * 1e-9;
    if (s->first != MSIM_TIME_NONE)
        ttft = (double)(s->first - s->arrived) * 1e-9;
    return (struct off){log_ratio(tpot_of(m->e2e_ms, m->ttft_ms, tokens),
                                  tpot_of(e2e, ttft, tokens)),
                        log_ratio(m->ttft_ms, ttft), log_ratio(m->e2e_ms, e2e)};
}

/* The simulated run with constants at `x`. The simulator is the caller's. */
static enum msim_status simulate(struct tuning *t, const double *x,
                                 struct msim_serving **s,
                                 struct msim_serving_result *result,
                                 struct msim_error *err)
{
    const struct msim_serving_how how = {.log = t->path, .seed = 1};
    struct msim_llm_law law = law_at(t, x);
    enum msim_status status;

    msim_deploy_set_law(t->d, &law);
    status = msim_deploy_simulator(s, t->d, err);
    if (status == MSIM_OK)
        status = msim_serving_run(*s, &how, result, err);
    if (status == MSIM_OK && result->n_requests != t->log.n)
        status = msim_fail(err, MSIM_EINTERNAL, NULL, MSIM_OFFSET_NONE,
                           "the simulation had not all requests of the log");
    return status;
}

/* ---- how good ------------------------------------------------------------ */

#define E2E_WEIGHT 0.5
#define STAY       0.01 /* a constant that is off by e costs so much */

static void add(double off, double weight, double *sum, double *weights)
{
    if (!isfinite(off))
        return;
    *sum += weight * fabs(off);
    *weights += weight;
}

static enum msim_status badness(struct tuning *t, const double *x, double *out,
                                struct msim_error *err)
{
    struct msim_serving_result r;
    struct msim_serving *s = NULL;
    enum msim_status status = simulate(t, x, &s, &r, err);
    double sum = 0, weights = 0;

    for (uint32_t i = 0; status == MSIM_OK && i < t->head; i++) {
        struct off o = off_by(&t->log.rows[i], &r.requests[i]);

        add(o.tpot, 1, &sum, &weights);
        add(o.e2e, E2E_WEIGHT, &sum, &weights);
    }
    *out = sum / fmax(weights, 1e-9);
    for (int i = 0; i < CONSTANTS; i++)
        *out += STAY * x[i] * x[i];
    msim_serving_free(s);
    return status;
}

/* The quantile of |simulated / measured - 1| over the tail. */
static double quantile(struct tuning *t, const struct msim_serving_result *r,
                       int figure, double share)
{
    uint32_t n = 0;

    for (uint32_t i = t->head; i < t->log.n; i++) {
        struct off o = off_by(&t->log.rows[i], &r->requests[i]);
        double off = figure == 0 ? o.tpot : figure == 1 ? o.ttft : o.e2e;

        if (isfinite(off))
            t->sorted[n++] = fabs(exp(-off) - 1);
    }
    if (n == 0)
        return NAN;
    qsort(t->sorted, n, sizeof(*t->sorted), msim_compare_values);
    return t->sorted[(uint32_t)(share * (n - 1))];
}

/* Errors of the tail; `halves`: 90 % of the logarithms of TPOT and TTFT, or
 * NULL. */
static enum msim_status judge(struct tuning *t, const double *x,
                              struct msim_tune_error *e, double *halves,
                              struct msim_error *err)
{
    struct msim_serving_result r;
    struct msim_serving *s = NULL;
    enum msim_status status = simulate(t, x, &s, &r, err);

    if (status == MSIM_OK)
        *e = (struct msim_tune_error){quantile(t, &r, 0, 0.5),
                                      quantile(t, &r, 1, 0.5),
                                      quantile(t, &r, 2, 0.5)};
    for (int f = 0; halves && status == MSIM_OK && f < MSIM_LLM_FIGURES; f++)
        halves[f] = log(1 + quantile(t, &r, f, 0.9));
    msim_serving_free(s);
    return status;
}

/* ---- the search ---------------------------------------------------------- */

#define FIRST_STEP 0.4
#define LAST_STEP  0.02
#define FARTHEST   2.3 /* of a logarithm: a factor of ten */

/* Move one constant by `step` either way if that helps. */
static enum msim_status try_one(struct tuning *t, double *x, int i, double step,
                                double *best, bool *moved,
                                struct msim_error *err)
{
    for (int side = 0; side < 2; side++) {
        double was = x[i], got;

        x[i] += side ? -step : step;
        if (fabs(x[i]) <= FARTHEST) {
            MSIM_TRY(badness(t, x, &got, err));
            if (got < *best) {
                *best = got;
                *moved = true;
                return MSIM_OK;
            }
        }
        x[i] = was;
    }
    return MSIM_OK;
}

static enum msim_status search(struct tuning *t, double *x,
                               struct msim_error *err)
{
    double best;

    MSIM_TRY(badness(t, x, &best, err));
    for (double step = FIRST_STEP; step >= LAST_STEP;) {
        bool moved = false;

        for (int i = 0; i < CONSTANTS; i++)
            MSIM_TRY(try_one(t, x, i, step, &best, &moved, err));
        if (!moved)
            step /= 2;
    }
    return MSIM_OK;
}

/* ---- all of it ----------------------------------------------------------- */

static enum msim_status find_stage(struct tuning *t, struct msim_error *err)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < t->app->n_stages; i++)
        if (t->app->stages[i].kind == MSIM_STAGE_LLM) {
            t->stage = i;
            found++;
        }
    if (found != 1)
        return msim_fail(err, MSIM_EFORMAT, t->app->path, MSIM_OFFSET_NONE,
                         "%u stages are of kind llm, want one, whose engine "
                         "the requests measure",
                         found);
    t->engine = t->app->stages[t->stage].engine.engine;
    return MSIM_OK;
}

static enum msim_status check_log(struct tuning *t, struct msim_error *err)
{
    uint32_t measured = 0;

    for (uint32_t i = 0; i < t->log.n; i++)
        measured += t->log.rows[i].e2e_ms > 0;
    if (measured < MSIM_TUNE_LEAST)
        return msim_fail(err, MSIM_EFORMAT, t->path, MSIM_OFFSET_NONE,
                         "%u requests have e2e_ms, want %d at least", measured,
                         MSIM_TUNE_LEAST);
    t->head = t->log.n * 7 / 10;
    t->sorted = malloc(t->log.n * sizeof(*t->sorted));
    return t->sorted ? MSIM_OK : MSIM_ENOMEM;
}

/* Intervals: of this model on this GPU those of the tail; of others what the
 * base has of a model or a GPU that it did not see, or more. */
static void set_seen(struct tuning *t, struct msim_tuned *out,
                     const double *halves)
{
    struct msim_llm_law *law = &out->law;

    law->n_models = law->n_gpus = 1;
    snprintf(law->models[0], sizeof(law->models[0]), "%.63s",
             msim_deploy_model(t->d, t->stage));
    snprintf(law->gpus[0], sizeof(law->gpus[0]), "%.63s",
             msim_deploy_platform(t->d, t->stage));
    for (int f = 0; f < MSIM_LLM_FIGURES; f++) {
        struct msim_llm_halves *h = &law->half[f];

        if (isfinite(halves[f]))
            h->other_model = fmax(h->seen, halves[f]);
        h->seen = isfinite(halves[f]) ? fmax(halves[f], 0.01) : h->seen;
    }
}

static enum msim_status tune(struct tuning *t, struct msim_tuned *out,
                             struct msim_error *err)
{
    double x[CONSTANTS] = {0}, halves[MSIM_LLM_FIGURES];

    MSIM_TRY(check_log(t, err));
    MSIM_TRY(judge(t, x, &out->before, NULL, err));
    MSIM_TRY(search(t, x, err));
    MSIM_TRY(judge(t, x, &out->after, halves, err));
    out->law = law_at(t, x);
    set_seen(t, out, halves);
    out->engine = t->engine;
    out->requests = t->log.n;
    out->tail = t->log.n - t->head;
    out->host = exp(x[HOST]);
    out->sequence = exp(x[SEQUENCE]);
    out->decode = exp(x[DECODE]);
    out->prefill = exp(x[PREFILL]);
    msim_deploy_set_law(t->d, &out->law);
    return MSIM_OK;
}

enum msim_status msim_tune(struct msim_tuned *out, const struct msim_app *app,
                           struct msim_deploy *d, const char *path,
                           struct msim_error *err)
{
    struct tuning t = {.app = app, .d = d, .path = path};
    enum msim_status status;

    memset(out, 0, sizeof(*out));
    t.base = *msim_deploy_law(d);
    MSIM_TRY(find_stage(&t, err));
    MSIM_TRY(msim_request_log_read(&t.log, path, err));
    status = tune(&t, out, err);
    msim_request_log_release(&t.log);
    free(t.sorted);
    return status;
}

enum msim_status msim_tuned_write(const struct msim_tuned *t, const char *log,
                                  const char *path, struct msim_error *err)
{
    const char *slash = strrchr(log, '/');
    const struct msim_llm_law_source from = {
        .how = "least mean |log(measured / simulated)| of TPOT and of the "
               "whole latency, over the first seven tenths of the requests; "
               "intervals are of the rest",
        .command = "mystique-sim learn APP.json --requests LOG -o FIT.json",
        .file = slash ? slash + 1 : log,
        .used = t->requests - t->tail};

    return msim_llm_law_write(&t->law, &from, path, err);
}
