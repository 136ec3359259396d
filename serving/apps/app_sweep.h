/*
 * serving/apps/app_sweep.h - a suite of applications at every point of a sweep;
 * rules of design.
 */
#ifndef MSIM_SERVING_APPS_APP_SWEEP_H
#define MSIM_SERVING_APPS_APP_SWEEP_H
#include "core/base/json.h"
#include "core/base/units.h"
#include "serving/app/app.h"

#include <stdio.h>

/* ---- suite --------------------------------------------------------------- */
/* A folder of applications, one APP.json each. */

struct msim_suite_app {
    char *path, *name; /* name: of the file, without its suffix */
    cJSON *json;
};

struct msim_suite {
    struct msim_suite_app *apps; /* by name */
    uint32_t n;
};

/*
 * Every NAME.json of the folder, or the one file that `path` is. All are read
 * as applications once, so that what is wrong is told before anything runs. On
 * success `s` goes to msim_suite_release(); on failure it holds nothing: EIO,
 * EFORMAT where there is no application, and those of msim_app_read().
 */
MSIM_MUST_CHECK
enum msim_status msim_suite_read(struct msim_suite *s, const char *path,
                                 struct msim_error *err);
void msim_suite_release(struct msim_suite *s);

/* ---- app sweep ----------------------------------------------------------- */
/*
 * What a suite of applications is swept across.
 *
 * SWEEP.json has up to four lists: "scheduler" (members of batching, for LLM
 * stages), "platform" and "replicas" (of LLM and model stages) and "rate". A
 * point is one application with one of each; a list that is absent leaves what
 * the application says. "price_per_hour" and "power_w" say, by platform, what
 * one GPU costs and draws.
 */

#define MSIM_APP_SWEEP_AXIS_MAP(X)                                             \
    X(SCHEDULER, "scheduler")                                                  \
    X(PLATFORM, "platform")                                                    \
    X(RATE, "rate")                                                            \
    X(REPLICAS, "replicas")

enum msim_app_sweep_axis {
#define X(name, text) MSIM_APP_SWEEP_##name,
    MSIM_APP_SWEEP_AXIS_MAP(X)
#undef X
        MSIM_APP_SWEEP_AXES
};

struct msim_app_sweep {
    cJSON *json;                            /* NULL: nothing is swept */
    const cJSON *axes[MSIM_APP_SWEEP_AXES]; /* arrays; NULL: as it is */
    uint32_t n[MSIM_APP_SWEEP_AXES];        /* 1 where it is NULL */
    const cJSON *price_per_hour, *power_w;  /* objects; NULL */
};

/* `path` NULL: nothing is swept. On success `s` goes to
 * msim_app_sweep_release(); on failure it holds nothing: EIO, ESYNTAX, EFORMAT
 * naming the member by its path. */
MSIM_MUST_CHECK
enum msim_status msim_app_sweep_read(struct msim_app_sweep *s, const char *path,
                                     struct msim_error *err);
void msim_app_sweep_release(struct msim_app_sweep *s);

/* Points of one application. */
uint64_t msim_app_sweep_points(const struct msim_app_sweep *s);

/* The item of `axis` that point `i` (of one application) has; NULL: as the
 * application has it. `which`, which may be NULL, is its place in the list. */
const cJSON *msim_app_sweep_item(const struct msim_app_sweep *s, uint64_t i,
                                 enum msim_app_sweep_axis axis,
                                 uint32_t *which);

/*
 * The application as point `i` has it: a copy, the caller's; NULL: ENOMEM.
 * `*guessed`: a price or power of another platform stands for the point's.
 */
cJSON *msim_app_sweep_apply(const struct msim_app_sweep *s, uint64_t i,
                            const cJSON *app, bool *guessed);

/* ---- app sweep run ------------------------------------------------------- */
/*
 * Every point of a sweep, simulated.
 *
 * All points of one application see the same requests (common random numbers),
 * so that small differences between points are real. Points are numbered
 * application by application, then scheduler, platform, rate, replicas.
 *
 * A point that cannot be, because its model does not fit its GPUs or a word is
 * not known there, has a reason and no figures; one whose load is beyond its
 * capacity has the figures of its run, and is not feasible either.
 */

struct msim_app_sweep_stage {
    char *name;
    double critical_share, utilisation;
};

/* NAN: not known. */
struct msim_app_sweep_point {
    uint32_t app;
    uint64_t index; /* of the application's points */
    bool ran, feasible, pareto;
    bool cheapest;    /* of those that keep the promises at its rate */
    bool guessed;     /* another platform's price or power stands for its own */
    bool few;         /* requests for the percentiles that are given */
    double worst;     /* late requests over what the promises allow: up to 1 all
                         are kept; NAN: nothing was promised */
    char reason[512]; /* why it is not feasible; empty */
    double rate;      /* of what arrived */
    double p50_ms, p99_ms, goodput_rps, violations;
    double cost_per_1000, energy_wh_per_1000, gpus;
    struct msim_app_sweep_stage *stages;
    uint32_t n_stages;
};

struct msim_app_sweep_runs {
    const struct msim_suite *suite;
    const struct msim_app_sweep *sweep;
    struct msim_app_sweep_point *points;
    uint32_t n;
};

struct msim_recorder; /* serving/deploy/deploy.h */

struct msim_app_sweep_how {
    const char *data_dir;
    const struct msim_recorder *recorder; /* serving/deploy/deploy.h */
    uint64_t requests;                    /* that arrive at each point */
    uint64_t seed;
    uint32_t threads;
};

#define MSIM_APP_SWEEP_POINTS_MOST 1000000

/* On success `r` goes to msim_app_sweep_runs_release(); ENOMEM, EUSAGE where
 * there are too many points, EFORMAT, EUNKNOWN and EIO where a point asks for
 * what is no member, platform or file. */
MSIM_MUST_CHECK
enum msim_status msim_app_sweep_run(struct msim_app_sweep_runs *r,
                                    const struct msim_suite *suite,
                                    const struct msim_app_sweep *sweep,
                                    const struct msim_app_sweep_how *how,
                                    struct msim_error *err);
void msim_app_sweep_runs_release(struct msim_app_sweep_runs *r);

/* ---- app sweep rules ----------------------------------------------------- */
/*
 * Rules of design, tested on the points of a sweep: of how many pairs (or
 * points) a rule speaks, and in how many it holds.
 */

struct msim_app_sweep_rule {
    const char *text;
    uint32_t holds, of;
};

#define MSIM_APP_SWEEP_RULES 7

void msim_app_sweep_rules(
    struct msim_app_sweep_rule rules[MSIM_APP_SWEEP_RULES],
    const struct msim_app_sweep_runs *r);

/* ---- app sweep report ---------------------------------------------------- */
/* A sweep as text, JSON, CSV and a chart. */

/* How the two files of a folder begin: told from those of others. */
#define MSIM_APP_SWEEP_JSON_MARK "{\n  \"schema\": \"mystique-sim/apps/1\""
#define MSIM_APP_SWEEP_CSV_MARK  "app,scheduler,platform,rate,replicas,feasible"

/* The points that nothing beats, by application and rate, and the rules. */
void msim_app_sweep_text(const struct msim_app_sweep_runs *r, FILE *out);
/* Schema mystique-sim/apps/1. */
MSIM_MUST_CHECK
enum msim_status msim_app_sweep_json(const struct msim_app_sweep_runs *r,
                                     FILE *out);
/* A line a point. */
void msim_app_sweep_csv(const struct msim_app_sweep_runs *r, FILE *out);
/* Cost against p99 of every feasible point; a line joins those that nothing
 * beats at one rate. */
MSIM_MUST_CHECK
enum msim_status msim_app_sweep_chart(const struct msim_app_sweep_runs *r,
                                      const char *path, struct msim_error *err);

#endif
