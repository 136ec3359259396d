/* serving/apps/app_sweep_run.c: the points of small applications with constant
 * services, and which of them nothing beats. */
#include "serving/apps/app_sweep.h"
#include "tests/check.h"

#include <math.h>

static const struct msim_app_sweep_how how = {
    .data_dir = MSIM_DATA, .requests = 400, .seed = 1, .threads = 2};
static char path[] = "app.json", name[] = "app";
static struct msim_suite_app apps[2];
static struct msim_suite suite = {apps, 2};
static struct msim_app_sweep sweep;
static struct msim_app_sweep_runs r;
static struct msim_error err;

/* 10 ms on one worker, of which 31 and 5 are promised. */
#define APP(limit, more)                                                       \
    "{\"schema\": \"mystique-sim/app/1\", \"slo\": [{\"metric\": \"e2e\", "    \
    "\"percentile\": 99, \"limit_ms\": " limit                                 \
    "}], \"arrivals\": {\"process\": \"constant\", \"rate\": 1}, \"stages\": " \
    "{\"front\": {\"kind\": \"measured\", \"service\": 10, \"call\": "         \
    "\"queue\"" more "}}, \"flow\": {\"start\": \"front\"}}"

static enum msim_status run(const char *first, const char *second,
                            const char *rates, const char *replicas)
{
    const char *const TEXTS[] = {first, second};

    for (int i = 0; i < 2; i++)
        apps[i] = (struct msim_suite_app){
            .path = path, .name = name, .json = cJSON_Parse(TEXTS[i])};
    for (int a = 0; a < MSIM_APP_SWEEP_AXES; a++)
        sweep.n[a] = 1;
    sweep.axes[MSIM_APP_SWEEP_RATE] = cJSON_Parse(rates);
    sweep.axes[MSIM_APP_SWEEP_REPLICAS] = cJSON_Parse(replicas);
    for (int a = MSIM_APP_SWEEP_RATE; a < MSIM_APP_SWEEP_AXES; a++)
        sweep.n[a] = (uint32_t)cJSON_GetArraySize(sweep.axes[a]);
    err = (struct msim_error){0};
    return msim_app_sweep_run(&r, &suite, &sweep, &how, &err);
}

static void end(void)
{
    msim_app_sweep_runs_release(&r);
    for (int i = 0; i < 2; i++)
        cJSON_Delete(apps[i].json);
    for (int a = 0; a < MSIM_APP_SWEEP_AXES; a++)
        cJSON_Delete((cJSON *)(uintptr_t)sweep.axes[a]);
    sweep = (struct msim_app_sweep){0};
}

/* Rates of 10 and 200, of which one worker bears 100; the stage's replicas are
 * no model's, and stay. 400 requests at 10 a second take 40 s, at 3 an hour and
 * 500 W; the last one ends behind them. */
static void test_app_sweep_run__points(void)
{
    CHECK_INT(run(APP("31", ", \"price_per_hour\": 3, \"power_w\": 500"),
                  APP("5", ", \"price_per_hour\": 3"), "[10, 200]", "[1, 2]"),
              MSIM_OK);
    REQUIRE(r.n == 8);
    for (uint32_t i = 0; i < 8; i++) {
        const struct msim_app_sweep_point *p = &r.points[i];
        bool slow = i % 4 < 2, second = i >= 4;

        CHECK_UINT(p->app, i / 4);
        CHECK_UINT(p->index, i % 4);
        CHECK(p->ran && !p->guessed && p->few && p->gpus == 0);
        CHECK_INT(p->feasible, slow);
        CHECK_STR(p->reason,
                  slow ? "" : "overloaded: front bears 100 requests/s");
        CHECK_REL(p->rate, slow ? 10 : 200, 1e-9);
        CHECK_UINT(p->n_stages, 1);
        CHECK_STR(p->stages[0].name, "front");
        CHECK_REL(p->stages[0].critical_share, 1, 1e-9);
        /* of two that are alike the first */
        CHECK_INT(p->pareto, i % 4 == 0);
        CHECK_INT(p->cheapest, i == 0);
        if (!slow)
            continue;
        CHECK_REL(p->stages[0].utilisation, 0.1, 0.01);
        CHECK_REL(p->p50_ms, 10, 1e-9);
        CHECK_REL(p->p99_ms, 10, 1e-9);
        CHECK_REL(p->cost_per_1000, 3 * 40 / 3600.0 / 0.4, 1e-9);
        CHECK(second ? isnan(p->energy_wh_per_1000)
                     : fabs(p->energy_wh_per_1000 - 500 * 40 / 3600.0 / 0.4) <
                           1e-9);
        CHECK(p->violations == second && fabs(p->worst - 100 * second) < 1e-9);
        CHECK(fabs(p->goodput_rps - (second ? 0 : 399 / 40.0)) < 1e-9);
    }
    end();
}

/* What is wrong with the sweep, not with a point of it. */
static void test_app_sweep_run__refuses(void)
{
    CHECK_INT(run(APP("31", ", \"replicas\": 0"), APP("5", ""), "[10]", "[1]"),
              MSIM_EFORMAT);
    CHECK_STR(err.text, "a point of the sweep makes app.json wrong: "
                        "stages.front.replicas is 0, want a whole number from "
                        "1");
    CHECK(!r.points);
    end();
    CHECK_INT(run(APP("31", ""), APP("5", ""), "[10]", "[1]"), MSIM_OK);
    CHECK(isnan(r.points[0].cost_per_1000) && !r.points[0].pareto);
    CHECK(r.points[0].feasible && !r.points[0].cheapest);
    msim_app_sweep_runs_release(&r);
    sweep.n[MSIM_APP_SWEEP_SCHEDULER] = 500001;
    CHECK_INT(msim_app_sweep_run(&r, &suite, &sweep, &how, &err), MSIM_EUSAGE);
    CHECK_STR(err.text, "2 applications at more than 500000 points each, want "
                        "at most 1000000 points");
    end();
}

int main(void)
{
    RUN(test_app_sweep_run__points);
    RUN(test_app_sweep_run__refuses);
    return check_summary();
}
