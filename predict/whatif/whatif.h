/*
 * predict/whatif/whatif.h - what-ifs of a prediction: what is selected, by how
 * much it changes, and what the whole does then.
 */
#ifndef MSIM_PREDICT_WHATIF_WHATIF_H
#define MSIM_PREDICT_WHATIF_WHATIF_H
#include "core/base/status.h"
#include "core/report/analyse/outcome.h"
#include "core/report/page/page.h"
#include "predict/cost.h"
#include "predict/pipeline.h"

#include <stdio.h>

/* ---- select -------------------------------------------------------------- */
/*
 * What a what-if selects, and what it does not.
 *
 * A pattern that matches nothing is an error, since it is nearly always a slip;
 * it names what comes near. A class of work that the job does not have, or an
 * option that changes no duration, is a warning.
 */

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

/* ---- deviate ------------------------------------------------------------- */
/*
 * The period of a job while one thing deviates.
 *
 * What is uncertain are a few deviations: one for each family of operators, one
 * for the host, and one for the whole GPU. Each alone goes to one end of its
 * 90 % interval, and the job is simulated again. The largest SEPARATE families
 * deviate by themselves, the others as one, with the share of their sum that
 * independent deviations leave (scenarios.c).
 */

#define MSIM_DEVIATE_SEPARATE 5

/* A job, as one of those that are compared. */
struct msim_ratio_side {
    const struct msim_outcome *outcome; /* its middle run */
    const struct msim_costs *costs;
    uint32_t iteration; /* index, or UINT32_MAX: all */
    bool exact;         /* it is known that no duration of it deviates, */
    double period_us;   /* and its period; else 0 */
};

/* What deviates: a family (an index as costs.made_by), or one of these. */
#define MSIM_DEVIATE_GPU    (MSIM_MADE_BY_MAX + 0) /* all kernels together */
#define MSIM_DEVIATE_OTHERS (MSIM_MADE_BY_MAX + 1) /* families not named */

/* Which families of some jobs deviate by themselves, and the rest. */
struct msim_deviations {
    uint32_t separate; /* bits of 1 << family */
    uint32_t others;   /* likewise */
    bool gpu;
    double share; /* of each of the others */
};

/* How some jobs deviate together. */
void msim_deviations_choose(struct msim_deviations *d,
                            const struct msim_ratio_side *const *sides,
                            uint32_t n_sides);

/* A job while it deviates: what its runs need, and the periods found. */
struct msim_deviating; /* opaque */

/* What `side` points to must outlive it, and so must `beside`: another job, or
 * NULL. Where both are of one graph and iteration, with the same states, it
 * runs with what that one runs with, by turns. On success `*out` is owned by
 * the caller; ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_deviating_new(struct msim_deviating **out,
                                    const struct msim_ratio_side *side,
                                    struct msim_deviating *beside);
void msim_deviating_free(struct msim_deviating *x); /* accepts NULL */
const struct msim_ratio_side *
msim_deviating_side(const struct msim_deviating *x);

/* The period of the job (us) as predicted. */
MSIM_MUST_CHECK
enum msim_status msim_deviating_middle(struct msim_deviating *x, double *us);
/* Its period while `what` is at one end; simulated when it is first asked for,
 * that of others again where other families or shares of them are. */
MSIM_MUST_CHECK
enum msim_status msim_deviating_period(struct msim_deviating *x,
                                       const struct msim_deviations *d,
                                       unsigned what, bool high, double *us,
                                       struct msim_error *err);

/* ---- ratio --------------------------------------------------------------- */
/*
 * How many times as long a changed job takes, with an interval of its own.
 *
 * Two predictions of one job share most of their errors: where a law takes all
 * products for 10 % too short, it does so in both. So the interval of their
 * ratio is not that of two independent figures. Each deviation ("deviate")
 * alone goes to the end of its 90 % interval, low and high, in both jobs at
 * once; what that moves the ratio by are its parts:
 *
 *     r        = period of the changed job / period of the base
 *     r(d)     = the same while deviation d is at one end
 *     r - low  = root of the sum over d of max(r - r(d low), r - r(d high),
 * 0)^2 high - r = root of the sum over d of max(r(d low) - r, r(d high) - r,
 * 0)^2
 *
 * Deviations that both jobs have cancel; what only one of them has, and what
 * the two feel differently, stays. Example: a job that kernels bound, with all
 * kernels halved, takes 0.500 times as long, whatever its kernels take. Under
 * measured costs nothing deviates, and the interval is a point.
 */

/* `us`: r, low, high, and nothing measured. Both must have the same states
 * (msim_outcome.states). What is found of the base serves the next ratio. */
MSIM_MUST_CHECK
enum msim_status msim_ratio_find(struct msim_deviating *base,
                                 const struct msim_ratio_side *changed,
                                 struct msim_figure *ratio,
                                 struct msim_error *err);

/*
 * The laws of two GPUs are fitted apart, so the deviations of their families
 * and machines count as independent. What both periods share cancels: the host,
 * whose deviation goes to each end in both at once, if it is one host:
 *
 *     log ratio - log low = root of (host part^2 + the base's GPU part up^2
 *                                    + its own GPU part down^2)
 */
struct msim_ratio_parts {
    double us; /* the period, and what moves it, as logarithms >= 0 */
    double gpu_down, gpu_up, host_down, host_up;
};

MSIM_MUST_CHECK
enum msim_status msim_ratio_parts_find(struct msim_ratio_parts *out,
                                       const struct msim_ratio_side *of,
                                       double us, struct msim_error *err);
struct msim_figure msim_ratio_of_gpus(const struct msim_ratio_parts *base,
                                      const struct msim_ratio_parts *changed,
                                      bool one_host);

/*
 * Where measured jobs tell the changed job apart from the base
 * (predict/pipeline.h), by factors of what their graphs take, the ratio
 * is as unsure as these differ: its interval holds the ratio that one factor
 * for both would give, too.
 */
void msim_ratio_widen(struct msim_figure *ratio, double base_factor,
                      double factor);

/* ---- whatif -------------------------------------------------------------- */
/*
 * A prediction that says what it changes.
 *
 * What is compared with what:
 *
 *     another GPU (scaled costs)    with the traced run
 *     --scale, a clock, a power     with the prediction of the same job in the
 *     cap, a network, nodes,        same mode, on the same GPU and by the same
 *     ranks, a host, a skew,        costs, without these
 *     a part of the run
 *
 * Both are periods (core/report/analyse/period.c), over the same iterations.
 */

/*
 * msim_predict(), and what it is a change to: fills in `scenario` and
 * `elsewhere` of the prediction. Without a change it costs no more. The run
 * owns what it was made from, but for `in` and `to`.
 */
MSIM_MUST_CHECK
enum msim_status msim_whatif_predict(struct msim_prediction_run *run,
                                     const struct msim_predict_settings *s,
                                     const struct msim_inputs *in,
                                     const struct msim_target *to,
                                     struct msim_error *err);

/* ---- price list ---------------------------------------------------------- */
/*
 * Prices of instances from a user's table.
 *
 *     platform,gpus,usd_per_hour,kind,source,date
 *     h100,8,24.00,on demand,quote of our provider,2026-11-02
 *
 * says that a GPU of an H100 instance costs 3 US dollars an hour. Without
 * `gpus` the price is one GPU's. Other columns are for readers.
 */

/*
 * The prices of an hour of one GPU of each of `platforms` ("a100,h100@vllm"; a
 * stack has its GPU's), in `of`, which has room for all of them; at most
 * `most`. The table may call a platform by any name that `data` (its folder)
 * has of it. EFORMAT names what is wrong in the table, such as a second price
 * of one; EUSAGE a platform that it has not.
 */
MSIM_MUST_CHECK
enum msim_status msim_price_list_read(double *of, double most, const char *path,
                                      const char *platforms, const char *data,
                                      struct msim_error *err);

/* ---- plane search -------------------------------------------------------- */
/*
 * The planes by which a page computes the period (core/report/page/page.h).
 *
 * Points of factors are drawn evenly; each is simulated, and where the planes
 * so far are off by more than MSIM_PLANES_OFF, a plane is made of it: its
 * slopes are differences of simulations beside it. At the end points that were
 * not seen are simulated, and the largest deviation of them is kept.
 */

/* Factors that the planes are made for: ten times as fast, four times as slow.
 */
#define MSIM_PLANES_LEAST 0.1
#define MSIM_PLANES_MOST  4.0
#define MSIM_PLANES_OFF   0.003

/*
 * Fill in `out`, to be released in any case; no planes where the period is not
 * known. NETWORK is told apart where the costs know groups of work
 * (msim_predict_settings.groups). ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_plane_search(struct msim_planes *out,
                                   const struct msim_prediction_run *run,
                                   struct msim_error *err);

/* ---- sensitivity --------------------------------------------------------- */
/*
 * What bounds a job: how much shorter its period would be if kernels,
 * communication, copies or the host took half the time.
 *
 * Each is one more run over the same graph, as `--scale SELECT=0.5` would make
 * it. One more halves kernels, communication and copies at once. What bounds
 * the job all the time saves half of the period, what bounds nothing saves
 * nothing, however busy it is. The verdict is the first of these that holds:
 *
 *     "GPU-bound, by work that overlaps"
 *                 GPU work at once saves a quarter, and over 1.5 times as much
 *                 as its kinds one by one: each hides behind the others
 *     "bound by A and B together"
 *                 the two that save most save a quarter, in sum, and the second
 *                 over 0.6 of the first
 *     "A-bound"   the one that saves most saves a quarter
 *     "host-bound", "GPU-bound"
 *                 a thread or the GPU is busy all the time (`period.bounds`):
 *                 half of its work saves less, for another bounds the job then
 *     "held up by ranks without a trace, which arrive when they did"
 *                 there are such ranks, at instants, and no kind of work saves
 *                 2 %
 *     "held up by 'W'"
 *                 the largest wait or latency is a quarter of the critical
 *                 path, or there is one and no kind of work saves 2 %
 *     "no one kind of work bounds the job"
 *
 * Behind it come the savings: of copies where they are 2 %, of all GPU work
 * where it overlaps or no kind saves a quarter. Of a job that is recorded in
 * part (msim_job.partial, unrecorded) there is no verdict: a wait for what is
 * not recorded looks like work of the host.
 */

/* Fill in `sensitivity` and `verdict` of the run's prediction. Kinds of work
 * that the job does not have get no row. */
MSIM_MUST_CHECK
enum msim_status msim_sensitivity_find(struct msim_prediction_run *run,
                                       struct msim_error *err);

/* ---- sweep --------------------------------------------------------------- */
/*
 * One job on several GPUs: a table, best first.
 *
 * Names are looked up before a trace is read, and traces are loaded once. Each
 * GPU has a prediction of its own, and the ratio of its period to that of the
 * best ("ratio").
 */

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
