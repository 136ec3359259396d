/*
 * Queues whose means are known in closed form. Requests are few enough for a
 * test: the mean of an M/M/1 queue at half load has a relative standard
 * deviation of sqrt(24 / T) over T services (Whitt, 1989, "Planning queueing
 * simulations", table 1: 2 rho (1 + rho) / (1 - rho)^4), which is 0.8 % here;
 * all others have less at that load. What may be off is four of these.
 */
#include "tests/unit/serving/sim/made_run.h"

#define REQUESTS 200000
#define OFF      0.032

#define EXPONENTIAL "{'exponential': 1}"

static const char LOAD_HALF[] =
    "'arrivals': {'process': 'poisson', 'rate': 500}, ";

/* Wait, of stage `i`, ms. */
static double wait(const struct made_run *m, uint32_t i)
{
    return m->r.stages[i].wait_ps / (double)m->r.stages[i].visits / 1e9;
}

static double mean(const struct made_run *m, uint32_t cls)
{
    double sum = 0, n = 0;

    for (uint64_t i = 0; i < m->r.n_requests; i++)
        if (m->r.requests[i].cls == cls) {
            sum += made_ms(m, i);
            n++;
        }
    return sum / n;
}

static void one_stage(struct made_run *m, const char *more, const char *stage)
{
    char stages[512];

    snprintf(stages, sizeof(stages), "'s': {'kind': 'measured', %s}", stage);
    made_run(m, more, stages, "'start': 's'", NULL,
             (struct msim_serving_how){.requests = REQUESTS, .seed = 1});
}

/* Little: what is inside is the rate times the time there. The ends of the run
 * are some requests of 200,000. */
static void check_little(const struct made_run *m, uint32_t i)
{
    const struct msim_stage_run *r = &m->r.stages[i];
    double inside =
        r->visits_per_s * 1e-12 * (r->wait_ps + r->self_ps) / (double)r->visits;

    CHECK_REL(r->inside, inside, 1e-3);
}

/* Erlang's C: the wait is C / (c mu - lambda). */
static double erlang_wait(int c, double load)
{
    double a = c * load, term = 1, sum = 0;

    for (int k = 0; k < c; k++) {
        sum += term;
        term *= a / (k + 1);
    }
    term /= 1 - load;
    return term / (sum + term) / (c - a);
}

/*
 * Crommelin, 1932: the wait of M/D/c, of services 1, is the sum over i of
 * e^(-ia) (P(ic) - c/a P(ic + 1)), where P(n) is the sum of (ia)^j / j! from n
 * on, and a = c times the load.
 */
static double crommelin_wait(int c, double load)
{
    double a = c * load, wait = 0;

    for (int i = 1; i < 200; i++) {
        double tail = 0, tail_next = 0;

        for (int j = i * c; j < i * c + 400; j++) {
            double p = exp(j * log(i * a) - i * a - lgamma(j + 1));

            tail += p;
            tail_next += j > i * c ? p : 0;
        }
        wait += tail - c / a * tail_next;
    }
    return wait;
}

static void test_sim_run__m_m_c(void)
{
    static const int C[] = {1, 2, 8};
    char more[128];
    struct made_run m;

    for (int i = 0; i < 3; i++) {
        char stage[128];

        snprintf(more, sizeof(more),
                 "'arrivals': {'process': 'poisson', 'rate': %d}, ",
                 500 * C[i]);
        snprintf(stage, sizeof(stage), "'workers': %d, 'service': " EXPONENTIAL,
                 C[i]);
        one_stage(&m, more, stage);
        CHECK_REL(mean(&m, 0), 1 + erlang_wait(C[i], 0.5), OFF);
        CHECK_REL(wait(&m, 0), erlang_wait(C[i], 0.5), 2 * OFF);
        CHECK_REL(m.r.stages[0].held, 0.5, 0.01);
        check_little(&m, 0);
        made_run_end(&m);
    }
}

/* M/D/1 is half of M/M/1: rho / (2 (1 - rho)). */
static void test_sim_run__m_d_c(void)
{
    struct made_run m;

    CHECK_REL(crommelin_wait(1, 0.5), 0.5, 1e-9);
    one_stage(&m, LOAD_HALF, "'service': 1");
    CHECK_REL(wait(&m, 0), 0.5, OFF);
    check_little(&m, 0);
    made_run_end(&m);
    one_stage(&m, "'arrivals': {'process': 'poisson', 'rate': 1500}, ",
              "'workers': 2, 'service': 1");
    CHECK_REL(wait(&m, 0), crommelin_wait(2, 0.75), OFF);
    made_run_end(&m);
}

/* Pollaczek and Khinchine: rho (1 + cv^2) / (2 (1 - rho)) services. */
static void test_sim_run__m_g_1(void)
{
    struct made_run m;

    one_stage(&m, LOAD_HALF, "'service': {'gamma': {'mean': 1, 'cv': 0.5}}");
    CHECK_REL(wait(&m, 0), 0.625, OFF);
    made_run_end(&m);
    one_stage(&m, LOAD_HALF,
              "'service': {'lognormal': {'mean': 1, 'cv': 1.2}}");
    CHECK_REL(wait(&m, 0), 0.5 * 2.44, 2 * OFF);
    made_run_end(&m);
}

/* Cobham, 1954: W0 = rho; W0 / (1 - rho1) and W0 / ((1 - rho1)(1 - rho)). */
static void test_sim_run__priorities(void)
{
    struct made_run m;

    one_stage(&m,
              "'classes': [{'name': 'hi', 'share': 0.4, 'priority': 0}, "
              "{'name': 'lo', 'share': 0.6, 'priority': 1}], 'arrivals': "
              "{'process': 'poisson', 'rate': 500}, ",
              "'service': " EXPONENTIAL);
    CHECK_REL(mean(&m, 0), 1 + 0.5 / 0.8, OFF);
    CHECK_REL(mean(&m, 1), 1 + 0.5 / (0.8 * 0.5), OFF);
    made_run_end(&m);
}

/* Burke, 1956: departures of M/M/1 are Poisson again. */
static void test_sim_run__tandem(void)
{
    struct made_run m;

    made_run(
        &m, LOAD_HALF,
        "'a': {'kind': 'measured', 'call': 'queue', 'service': " EXPONENTIAL
        "}, 'b': {'kind': 'measured', 'call': 'queue', 'service': "
        "{'exponential': 1.2}}",
        "'start': 'a', 'edges': [{'from': 'a', 'to': 'b'}]", NULL,
        (struct msim_serving_how){.requests = REQUESTS, .seed = 2});
    CHECK_REL(wait(&m, 0), 1, 2 * OFF);
    CHECK_REL(wait(&m, 1), 1.2 * 0.6 / 0.4, 2 * OFF);
    check_little(&m, 1);
    made_run_end(&m);
}

/* Flatto and Hahn, 1984; Nelson and Tantawi, 1988: a request that needs both of
 * two M/M/1 takes (12 - rho) / 8 times as long as one of them. */
static void test_sim_run__fork_and_join(void)
{
    struct made_run m;

    made_run(&m, LOAD_HALF,
             "'gate': {'kind': 'measured', 'call': 'queue', 'service': 0}, "
             "'a': {'kind': 'measured', 'service': " EXPONENTIAL
             "}, 'b': {'kind': 'measured', 'service': " EXPONENTIAL "}",
             "'start': 'gate', 'edges': [{'from': 'gate', 'to': 'a'}, "
             "{'from': 'gate', 'to': 'b'}]",
             NULL, (struct msim_serving_how){.requests = REQUESTS, .seed = 3});
    CHECK_REL(mean(&m, 0), 11.5 / 8 * 2, OFF);
    made_run_end(&m);
}

/* What a run was does not show in the next one of the simulator. */
static void test_sim_run__runs_again(void)
{
    struct msim_serving_how how = {.requests = 5000, .seed = 4};
    struct msim_serving_how other = {
        .requests = 700, .seed = 5, .rate = 5000, .keep = MSIM_KEEP_VISITS};
    struct msim_serving_result r;
    struct made_run m;
    double first, share;

    one_stage(&m, LOAD_HALF, "'workers': 2, 'service': " EXPONENTIAL);
    REQUIRE(!msim_serving_run(m.sim, &how, &m.r, &made_error));
    first = mean(&m, 0);
    share = msim_serving_within(&m.r, MSIM_NONE, 2);
    REQUIRE(!msim_serving_run(m.sim, &other, &r, &made_error));
    REQUIRE(!msim_serving_run(m.sim, &how, &m.r, &made_error));
    CHECK(mean(&m, 0) == first);
    CHECK(msim_serving_within(&m.r, MSIM_NONE, 2) == share);
    CHECK(share > 0.5 && share < 1);
    made_run_end(&m);
}

/* The same requests whatever serves them: with workers for all, what is left is
 * what each drew. */
static void test_sim_run__common_numbers(void)
{
    int64_t many = 1000, most = 2000;
    struct msim_serving_how how = {
        .requests = 1000, .seed = 6, .replicas = &many};
    struct made_run m;
    double first;

    one_stage(&m, LOAD_HALF, "'service': " EXPONENTIAL);
    REQUIRE(!msim_serving_run(m.sim, &how, &m.r, &made_error));
    first = mean(&m, 0);
    how.replicas = &most;
    how.rate = 4000;
    REQUIRE(!msim_serving_run(m.sim, &how, &m.r, &made_error));
    CHECK_REL(mean(&m, 0), first, 1e-9);
    made_run_end(&m);
}

int main(void)
{
    static const char *const FILES[] = {"app.json", NULL};

    made_begin();
    RUN(test_sim_run__m_m_c);
    RUN(test_sim_run__m_d_c);
    RUN(test_sim_run__m_g_1);
    RUN(test_sim_run__priorities);
    RUN(test_sim_run__tandem);
    RUN(test_sim_run__fork_and_join);
    RUN(test_sim_run__runs_again);
    RUN(test_sim_run__common_numbers);
    made_end(FILES);
    return check_summary();
}
