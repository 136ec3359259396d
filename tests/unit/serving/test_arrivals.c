/*
 * tests/unit/serving/test_arrivals.c - tests of serving/app/arrivals.h.
 *
 * Of n gaps with variation cv the rate is off by 5 cv / sqrt(n) at most, which
 * chance exceeds once in 1.7 million; the seeds are fixed.
 */
#include "serving/app/arrivals.h"

#include "tests/unit/serving/made_app.h"

#define N 200000

static struct msim_app app;
static struct msim_arrival_source *source;
static double times[N];

static enum msim_status open_with(const char *members,
                                  const struct msim_arrival_how *how)
{
    enum msim_status status;

    msim_arrival_source_free(source);
    msim_app_release(&app);
    source = NULL;
    status = made_read(&app, members, "'a': {'kind': 'tool'}", "'start': 'a'");
    return status != MSIM_OK
               ? status
               : msim_arrival_source_new(&source, &app, how, &made_error);
}

static bool open_arrivals(const char *arrivals)
{
    char members[1024];

    snprintf(members, sizeof(members), "'arrivals': {%s}, ", arrivals);
    return open_with(members, &(struct msim_arrival_how){.seed = 11}) ==
           MSIM_OK;
}

/* Times of N requests, and the variation of the gaps between them. */
static double take_all(void)
{
    double sum = 0, mean;

    for (uint32_t i = 0; i < N; i++) {
        struct msim_arrival a;

        CHECK(msim_arrival_source_next(source, &a));
        times[i] = a.t_s;
    }
    mean = (times[N - 1] - times[0]) / (N - 1);
    for (uint32_t i = 1; i < N; i++) {
        double off = (times[i] - times[i - 1]) / mean - 1;

        sum += off * off;
    }
    return sqrt(sum / (N - 2));
}

/* Requests in a window of so many seconds: variance over mean, 1 of a Poisson
 * process (its index of dispersion for counts). */
static double dispersion(double window)
{
    uint32_t n = 0, at = 0;
    double sum = 0, squares = 0;

    for (double end = window; end < times[N - 1]; end += window, n++) {
        uint32_t count = 0;

        for (; at < N && times[at] < end; at++)
            count++;
        sum += count;
        squares += (double)count * count;
    }
    return (squares / n - sum / n * sum / n) / (sum / n);
}

/* The variation of n exponential gaps is within 5 sqrt(2 / n) of 1: the
 * variance of a squared deviation is 8, and half of it falls on the root. */
static void test_arrivals__poisson(void)
{
    REQUIRE(open_arrivals("'process': 'poisson', 'rate': 40"));
    CHECK_REL(take_all(), 1, 5 * sqrt(2.0 / N));
    CHECK_REL(N / times[N - 1], 40, 5 / sqrt(N));
    CHECK_REL(dispersion(1), 1, 0.15); /* 5,000 windows: 5 sqrt(2 / 5000) */
}

static void test_arrivals__gamma(void)
{
    REQUIRE(open_arrivals("'process': 'gamma', 'rate': 40, 'cv': 1.5"));
    CHECK_REL(take_all(), 1.5, 0.03);
    CHECK_REL(N / times[N - 1], 40, 5 * 1.5 / sqrt(N));
}

static void test_arrivals__constant(void)
{
    REQUIRE(open_arrivals("'process': 'constant', 'rate': 40"));
    CHECK(take_all() < 1e-6);
    CHECK_REL(times[9], 0.25, 1e-12);
}

/*
 * On for 2 s at 120/s, off for 6 s at (8 x 40 - 2 x 120) / 6 = 13.3/s. The
 * index of dispersion of a two-state MMPP is for long windows 1 + 2 s1 s2 (r1 -
 * r2)^2 / ((s1 + s2)^2 (r1 s2 + r2 s1)), s the rates of leaving a state (1/2,
 * 1/6): 1 + 2 / 12 x 106.67^2 / ((2/3)^2 (20 + 6.67)) = 161. Windows of 100 s
 * (1.5 s is what the states forget in) have 1.5 % less. 50 windows: 5
 * sqrt(2 / 50) would be 100 %, so ten times as many requests and 20 s: 7.5 %
 * less, 2,500 windows, 14 %.
 */
static void test_arrivals__mmpp_comes_in_bursts(void)
{
    uint32_t n = 0;
    double sum = 0, squares = 0, end = 20, count = 0, last = 0;
    struct msim_arrival a;

    REQUIRE(open_arrivals("'process': 'mmpp', 'rate': 40, 'factor': 3, "
                          "'on_s': 2, 'off_s': 6"));
    for (uint32_t i = 0; i < 10 * N; i++) {
        REQUIRE(msim_arrival_source_next(source, &a));
        CHECK(a.t_s >= last);
        last = a.t_s;
        for (; a.t_s >= end; end += 20, n++, count = 0) {
            sum += count;
            squares += count * count;
        }
        count++;
    }
    CHECK_REL((squares / n - sum / n * sum / n) / (sum / n), 161 * 0.925, 0.14);
    /* The mean of n windows is off by 5 sqrt(161 / 800 / n). */
    CHECK_REL(sum / n / 20, 40, 5 * sqrt(161.0 / 800 / n));
}

/* Rises from 1 to 3 within 100 s and stays: 200 x 10 requests until then, and
 * half of them by the time t at which t + t^2 / 100 = 100, 61.8 s. */
static void test_arrivals__profile(void)
{
    uint32_t until = 0, half = 0;

    REQUIRE(open_arrivals("'process': 'poisson', 'rate': 10, 'profile': [[0, "
                          "1], [100, 3]]"));
    (void)take_all();
    for (uint32_t i = 0; i < N; i++) {
        until += times[i] < 100;
        half += times[i] < 61.803;
    }
    CHECK_REL(until, 2000, 5 / sqrt(2000));
    CHECK_REL(half, 1000, 5 / sqrt(1000));
    CHECK_REL((N - until) / (times[N - 1] - 100), 30, 5 / sqrt(N));
    /* Without chance: at the rate t / 5 the k-th comes at sqrt(10 k). */
    REQUIRE(open_arrivals("'process': 'constant', 'rate': 1, 'profile': [[0, "
                          "0], [10, 2]]"));
    (void)take_all();
    for (int k = 1; k <= 10; k++)
        CHECK_REL(times[k - 1], sqrt(10.0 * k), 1e-12);
    CHECK_REL(times[11], 11, 1e-12);
    /* Without chance, and with a pause: no request between 1 s and 2 s. */
    REQUIRE(open_arrivals("'process': 'constant', 'rate': 10, 'profile': [[1, "
                          "1], [1.000001, 0], [2, 0], [2.000001, 1]]"));
    (void)take_all();
    CHECK_REL(times[8], 0.9, 1e-9);
    CHECK_REL(times[10], 2.1, 1e-5);
}

/* Faster, the same requests; another seed, others. */
static void test_arrivals__are_a_function_of_seed_and_index(void)
{
    static const char MEMBERS[] =
        "'classes': [{'name': 'x', 'share': 0.3, 'input_tokens': {'lognormal': "
        "{'mean': 300, 'cv': 1}}, 'output_tokens': 20}, {'name': 'y', 'share': "
        "0.7}], 'arrivals': {'process': 'poisson', 'rate': 10}, ";
    struct msim_arrival a[100], b;
    uint32_t x = 0, same = 0;

    REQUIRE(open_with(MEMBERS, &(struct msim_arrival_how){.seed = 1}) ==
            MSIM_OK);
    for (int i = 0; i < 100; i++) {
        REQUIRE(msim_arrival_source_next(source, &a[i]));
        CHECK_UINT(a[i].input_tokens > 0, a[i].cls == 0);
        CHECK_UINT(a[i].output_tokens, a[i].cls == 0 ? 20 : 0);
        x += a[i].cls == 0;
    }
    CHECK(x > 10 && x < 55);
    REQUIRE(open_with(MEMBERS, &(struct msim_arrival_how){
                                   .seed = 1, .rate = 20}) == MSIM_OK);
    for (int i = 0; i < 100; i++) {
        REQUIRE(msim_arrival_source_next(source, &b));
        CHECK_REL(b.t_s, a[i].t_s / 2, 1e-12);
        CHECK_UINT(b.cls, a[i].cls);
        CHECK_UINT(b.input_tokens, a[i].input_tokens);
        CHECK_REL(b.size, a[i].size, 0);
    }
    msim_arrival_source_rewind(source, 2);
    for (int i = 0; i < 100; i++) {
        REQUIRE(msim_arrival_source_next(source, &b));
        same += b.cls == a[i].cls && b.input_tokens == a[i].input_tokens;
    }
    CHECK(same < 75); /* y and y: 49 by chance */
}

/* The size of a request is its tokens over their mean, or drawn. */
static void test_arrivals__sizes(void)
{
    struct msim_arrival a;
    double sum = 0;

    REQUIRE(open_with("'classes': [{'name': 'x', 'input_tokens': {'samples': "
                      "[100, 300]}, 'output_tokens': 50}], 'arrivals': "
                      "{'rate': 1}, ",
                      &(struct msim_arrival_how){.seed = 1}) == MSIM_OK);
    for (int i = 0; i < 20; i++) {
        REQUIRE(msim_arrival_source_next(source, &a));
        CHECK_REL(a.size, a.input_tokens == 100 ? 0.6 : 1.4, 1e-12);
    }
    REQUIRE(open_with("'size': {'exponential': 1}, 'arrivals': {'rate': 1}, ",
                      &(struct msim_arrival_how){.seed = 1}) == MSIM_OK);
    for (int i = 0; i < N; i++) {
        REQUIRE(msim_arrival_source_next(source, &a));
        sum += a.size;
    }
    CHECK_REL(sum / N, 1, 5 / sqrt(N));
}

static void test_arrivals__log(void)
{
    static const char MEMBERS[] =
        "'classes': [{'name': 'x', 'share': 0.5, 'output_tokens': 3}, "
        "{'name': 'y', 'share': 0.5, 'output_tokens': 4}], 'arrivals': "
        "{'process': 'log', 'file': 'log.csv'}, ";
    struct msim_arrival_how how = {.seed = 1};
    struct msim_arrival a;

    made_put("log.csv", "t_s,class,input_tokens,blocks,output_tokens\n"
                        "1,y,1000,7 8,\n2,x,5,,77\n5,y,600,7 9,\n");
    REQUIRE(open_with(MEMBERS, &how) == MSIM_OK);
    CHECK_UINT(msim_arrival_source_count(source), 3);
    REQUIRE(msim_arrival_source_next(source, &a));
    CHECK_REL(a.t_s, 1, 0);
    CHECK_UINT(a.cls, 1);
    CHECK_UINT(a.input_tokens, 1000);
    CHECK_UINT(a.output_tokens, 4);
    REQUIRE(msim_arrival_source_next(source, &a));
    CHECK_UINT(a.cls, 0);
    CHECK_UINT(a.output_tokens, 77);
    REQUIRE(msim_arrival_source_next(source, &a));
    CHECK(!msim_arrival_source_next(source, &a));
    how.rate = 2; /* 4 s become 1 s */
    REQUIRE(open_with(MEMBERS, &how) == MSIM_OK);
    REQUIRE(msim_arrival_source_next(source, &a));
    CHECK_REL(a.t_s, 0.25, 1e-15);
    made_put("log.csv", "t_s,class\n1,z\n2,x\n");
    CHECK_INT(open_with(MEMBERS, &how), MSIM_EFORMAT);
    CHECK(strstr(made_error.text, "class 'z' is none of the application's"));
    made_put("log.csv", "t_s\n1\n1\n");
    CHECK_INT(open_with(MEMBERS, &how), MSIM_EFORMAT);
    CHECK(strstr(made_error.text, "all requests come at once"));
}

static void test_arrivals__closed(void)
{
    struct msim_arrival a;

    REQUIRE(open_arrivals("'process': 'closed', 'concurrency': 8, 'think_ms': "
                          "{'exponential': 5}"));
    CHECK_INT(msim_arrival_source_clients(source), 8);
    REQUIRE(msim_arrival_source_next(source, &a));
    CHECK_REL(a.t_s, 0, 0);
    CHECK(msim_arrival_source_think_ms(source, 0) > 0 &&
          msim_arrival_source_think_ms(source, 0) !=
              msim_arrival_source_think_ms(source, 1));
    CHECK(!open_arrivals("'process': 'closed'"));
    CHECK(strstr(made_error.text, "arrivals.concurrency is missing"));
    CHECK(!open_arrivals("'process': 'poisson'"));
    CHECK(strstr(made_error.text, "arrivals.rate is missing"));
    REQUIRE(open_with("'arrivals': {'rate': 3}, ",
                      &(struct msim_arrival_how){.concurrency = 5}) == MSIM_OK);
    CHECK_INT(msim_arrival_source_clients(source), 5);
}

/* Units that two prompts have in common have the same hash, and no others. */
static uint32_t common(const struct msim_arrival *a,
                       const struct msim_arrival *b, uint32_t unit)
{
    uint64_t x[256], y[256];
    uint32_t n = msim_arrival_hashes(a, unit, x, 256), i = 0;
    uint32_t m = msim_arrival_hashes(b, unit, y, 256);

    while (i < n && i < m && x[i] == y[i])
        i++;
    for (uint32_t k = i; k < n; k++)
        for (uint32_t l = 0; l < m; l++)
            CHECK(x[k] != y[l]);
    return i;
}

static void test_arrivals__prompts_begin_alike(void)
{
    struct msim_arrival a, b;
    uint64_t h[8];

    REQUIRE(open_with("'classes': [{'name': 'x', 'input_tokens': 200, "
                      "'prefix': {'shared_tokens': 100, 'groups': 1}}], "
                      "'arrivals': {'rate': 1}, ",
                      &(struct msim_arrival_how){.seed = 1}) == MSIM_OK);
    REQUIRE(msim_arrival_source_next(source, &a));
    REQUIRE(msim_arrival_source_next(source, &b));
    CHECK_UINT(common(&a, &b, 16), 6); /* of 100 tokens */
    CHECK_UINT(common(&a, &a, 16), 12);
    REQUIRE(open_with("'classes': [{'name': 'x', 'input_tokens': {'samples': "
                      "[64, 640]}, 'prefix': {'shared_tokens': 0, "
                      "'distinct_prompts': 1}}], 'arrivals': {'rate': 1}, ",
                      &(struct msim_arrival_how){.seed = 1}) == MSIM_OK);
    REQUIRE(msim_arrival_source_next(source, &a));
    REQUIRE(msim_arrival_source_next(source, &b));
    CHECK_UINT(a.input_tokens, b.input_tokens);
    CHECK_UINT(common(&a, &b, 16), a.input_tokens / 16);
    made_put("log.csv", "t_s,input_tokens,blocks,prefix_id\n0,1024,7 8,\n"
                        "1,900,7 9,\n2,100,,k\n3,300,,k\n4,9000,,\n");
    REQUIRE(open_with("'arrivals': {'process': 'log', 'file': 'log.csv'}, ",
                      &(struct msim_arrival_how){.seed = 1}) == MSIM_OK);
    REQUIRE(msim_arrival_source_next(source, &a));
    REQUIRE(msim_arrival_source_next(source, &b));
    CHECK_UINT(common(&a, &b, 16), 32);
    CHECK_UINT(common(&a, &b, 512), 1);
    REQUIRE(msim_arrival_source_next(source, &a));
    REQUIRE(msim_arrival_source_next(source, &b));
    CHECK_UINT(common(&a, &b, 16), 6);
    REQUIRE(msim_arrival_source_next(source, &a));
    CHECK_UINT(msim_arrival_hashes(&a, 16, h, 8), 0);
}

int main(void)
{
    static const char *const FILES[] = {"app.json", "log.csv", NULL};

    made_begin();
    RUN(test_arrivals__poisson);
    RUN(test_arrivals__gamma);
    RUN(test_arrivals__constant);
    RUN(test_arrivals__mmpp_comes_in_bursts);
    RUN(test_arrivals__profile);
    RUN(test_arrivals__are_a_function_of_seed_and_index);
    RUN(test_arrivals__sizes);
    RUN(test_arrivals__log);
    RUN(test_arrivals__closed);
    RUN(test_arrivals__prompts_begin_alike);
    msim_arrival_source_free(source);
    msim_app_release(&app);
    made_end(FILES);
    return check_summary();
}
