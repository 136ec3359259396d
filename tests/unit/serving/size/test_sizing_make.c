/* serving/size: the plans of all methods where they are known, and what no
 * method plans. Requests come one by one, services are constant: nobody waits
 * where there is a worker for each that comes meanwhile. */
#include "serving/size/size_plan.h"
#include "tests/unit/serving/made_app.h"

#include <math.h>
#include <stdlib.h>

static struct msim_app app;
static struct msim_stage_demand load;
static struct msim_sizing z;

static const char STAGES[] =
    "'front': {'kind': 'measured', 'call': 'queue', 'routing': 'shared', "
    "'service': 10, 'price_per_hour': 3}, 'back': {'kind': 'measured', 'call': "
    "'queue', 'routing': 'shared', 'service': 20, 'price_per_hour': 2}";
static const char FLOW[] =
    "'start': 'front', 'edges': [{'from': 'front', 'to': 'back'}]";

/* "" or why there is no plan; what there is goes to end(). */
static const char *size_it(double rate, double limit_ms,
                           enum msim_sizing_method method)
{
    enum msim_status status;
    char more[256];

    snprintf(more, sizeof(more),
             "'slo': [{'metric': 'e2e', 'percentile': 99, 'limit_ms': %g}], "
             "'arrivals': {'process': 'constant', 'rate': 1}, ",
             limit_ms);
    made_error = (struct msim_error){0};
    z = (struct msim_sizing){0};
    if (!CHECK_INT(made_read(&app, more, STAGES, FLOW), MSIM_OK) ||
        !CHECK_INT(msim_demand_init(&load, &app, rate, &made_error), MSIM_OK))
        return made_error.text;
    status = msim_sizing_make(&z, &load, method, 1, &made_error);
    CHECK_INT(status, made_error.status);
    CHECK(status == MSIM_OK || status == MSIM_ECHECK);
    return made_error.text;
}

static void end(void)
{
    msim_sizing_release(&z);
    CHECK(!z.stages && !z.classes);
    msim_demand_release(&load);
    msim_app_release(&app);
}

/* At 100 a second one worker of 10 ms is held all the time, and two of 20 ms
 * are: one more of each has some time left. Requests take 30 ms. */
static void test_sizing_make__plans(void)
{
    for (int m = 0; m < 3; m++) {
        CHECK_STR(size_it(100, 31, (enum msim_sizing_method)m), "");
        REQUIRE(z.stages != NULL);
        CHECK_INT(z.method, m);
        CHECK_INT(z.stages[0].replicas, 2);
        CHECK_INT(z.stages[1].replicas, 3);
        CHECK_INT(z.total, 5);
        CHECK_REL(z.cost_per_hour, 2 * 3 + 3 * 2, 1e-12);
        CHECK_REL(z.stages[0].visits_per_s, 100, 1e-12);
        CHECK_REL(z.classes[0].within, 1, 1e-12);
        CHECK_REL(z.classes[0].low, 1, 1e-12);
        CHECK_REL(z.classes[0].high, 1, 1e-12);
        CHECK_REL(z.classes[0].p99_ms, 30, 1e-9);
        CHECK(!z.searched);
        end();
    }
}

static void test_sizing_make__refuses(void)
{
    static const char *const SAYS[] = {
        "the union bound finds no plan: if all queues of class 'all' are long "
        "at once, 100 % of its requests are later than 25.6 ms, want 1 %, and "
        "more replicas gain nothing; 100 % are late without any queue, most of "
        "the time in stage 'back' (20 ms of service a request); --method "
        "convolution takes queues as independent and may find a plan",
        "no number of replicas keeps the promise of class 'all': p99 is 30.02 "
        "ms, want 25.6 ms; most of its time goes to stage 'back' (20 ms of "
        "service a request)",
    };

    for (int m = 0; m < 3; m++) {
        CHECK_STR(size_it(100, 25.6, (enum msim_sizing_method)m), SAYS[m > 0]);
        end();
        CHECK_STR(size_it(2e7, 31, (enum msim_sizing_method)m),
                  "stage 'front' wants 2e+05 replicas at least, for 2e+07 "
                  "requests/s: want at most 100000; ask for a lower --rate, or "
                  "a share of it");
        end();
    }
}

int main(void)
{
    static const char *const FILES[] = {"app.json", NULL};

    made_begin();
    RUN(test_sizing_make__plans);
    RUN(test_sizing_make__refuses);
    made_end(FILES);
    return check_summary();
}
