/* serving/plan/serving_plan_text.c and serving_plan_data.c: a plan that is made
 * up, as text, CSV and JSON. */
#include "tests/unit/serving/plan/made_serving_plan.h"
#include "tests/unit/squeezed.h"

static const char AS_TEXT[] =
    "40 requests/s to m8: TTFT p90 within 500 ms, e2e p99.9 of code within "
    "20000 ms\n"
    "\n"
    "take 4 x h100, tp 1, fp8, kv_cache_dtype fp8, enable_chunked_prefill "
    "true: 8 GPUs\n"
    "  TTFT p90     200.000 ms  90 %: 150.000 ms to 250.000 ms, promised "
    "500.000 ms\n"
    "  e2e p99.9 of code    4.000 s  90 %: 3.000 s to 5.000 s, promised 20.000 "
    "s\n"
    "  capacity           12.5  requests/s each (90 %: 10 to 15), 1250 output "
    "tokens/s; 75 % of it used\n"
    "  memory              8.5  GiB a GPU for weights and workspace; KV cache "
    "of 100000 tokens a replica\n"
    "  cost           10.0 EUR  an hour; 2.5 EUR for 1,000 requests, 1.25 EUR "
    "for a million output tokens\n"
    "  power              5.25  kW\n"
    "cheaper? 3 x h100, tp 1, fp8, kv_cache_dtype fp8, enable_chunked_prefill "
    "true: 6 GPUs, 7.5 EUR an hour. The promises are kept as predicted, and "
    "not where steps take as long as the end of their 90 % interval says\n"
    "\n"
    "the best of each GPU                 replicas   GPUs   cost an hour  "
    "% used of limit, 90 %\n"
    "h100, tp 2, fp8, kv_cache_dtype fp8, enable_chunked_prefill true        3 "
    "     6              -      40     30 to   90  sure\n"
    "b200                                        -\n"
    "\n"
    "the frontier                         replicas   GPUs   cost an hour  "
    "% used of limit, 90 %\n"
    "h100, tp 1, fp8, kv_cache_dtype fp8, enable_chunked_prefill true        4 "
    "     8       10.0 EUR      40     30 to  100  sure\n"
    "\n"
    "left out: b200, tp 1, fp8, kv_cache_dtype fp8, enable_chunked_prefill "
    "true: too large\n"
    "left out: b200, tp 2, fp8, kv_cache_dtype fp8, enable_chunked_prefill "
    "true: too slow\n";

static const char AS_CSV[] =
    "platform,gpus,replicas,gpus_per_replica,tp,pp,dp,ep,precision,kv_cache_"
    "dtype,engine,max_num_seqs,max_num_batched_tokens,enable_chunked_prefill,"
    "enable_prefix_caching,block_size,gpu_memory_utilization,max_model_len,"
    "predicted_memory_gib,fits,kv_cache_tokens,load,replica_capacity_rps,ttft_"
    "p90_ms,ttft_p90_ms_low,ttft_p90_ms_high,code_e2e_p99.9_ms,code_e2e_p99.9_"
    "ms_low,code_e2e_p99.9_ms_high,of_limit,of_limit_low,of_limit_high,sure,"
    "within_limits,cost_per_hour,cost_per_1000_requests,cost_per_million_"
    "output_tokens,power_kw,frontier\n"
    "h100,6,3,1,1,,,,fp8,fp8,,,,true,,,,,8.5,1,100000,0.75,12.5,200,150,250,"
    "4000,3000,5000,0.4,0.3,1.1,0,1,7.5,1.875,0.9375,,0\n"
    "h100,8,4,1,1,,,,fp8,fp8,,,,true,,,,,8.5,1,100000,0.75,12.5,200,150,250,"
    "4000,3000,5000,0.4,0.3,1,1,1,10,2.5,1.25,5.25,1\n"
    "h100,6,3,2,2,,,,fp8,fp8,,,,true,,,,,8.5,1,100000,0.75,12.5,200,150,250,"
    "4000,3000,5000,0.4,0.3,0.9,1,1,,,,,0\n";

static const char AS_JSON[] =
    "{'schema': 'mystique-sim/plan/serving/1','workload': 'serving','model': "
    "'m8','rate': 40,'currency': 'EUR',"
    "'slo': [{'class': 'all', 'metric': 'ttft', 'percentile': 90, 'limit_ms': "
    "500},{'class': 'code', 'metric': 'e2e', 'percentile': 99.9, 'limit_ms': "
    "20000}],"
    "'configurations': 4,"
    "'recommended': {'platform': 'h100','tp': 1,"
    "'precision': 'fp8','kv_cache_dtype': 'fp8','enable_chunked_prefill': true,"
    "'replicas': 4,'gpus': 8,'memory_gib': 8.5,'kv_cache_tokens': 100000,"
    "'load': 0.75,"
    "'replica_capacity_rps': {'value': 12.5, 'low': 10, 'high': 15},"
    "'replica_capacity_tokens_per_s': {'value': 1250, 'low': 1000, 'high': "
    "1500},"
    "'ttft_p90_ms': {'value': 200, 'low': 150, 'high': 250},"
    "'code_e2e_p99.9_ms': {'value': 4000, 'low': 3000, 'high': 5000},"
    "'of_limit': {'value': 0.4, 'low': 0.3, 'high': 1},"
    "'sure': true,"
    "'cost_per_hour': 10,'cost_per_1000_requests': "
    "2.5,'cost_per_million_output_tokens': 1.25,'power_kw': 5.25},"
    "'sure': true,"
    "'cheaper': {'platform': 'h100','tp': 1,"
    "'precision': 'fp8','kv_cache_dtype': 'fp8','enable_chunked_prefill': true,"
    "'replicas': 3,'gpus': 6,'memory_gib': 8.5,'kv_cache_tokens': 100000,"
    "'load': 0.75,"
    "'replica_capacity_rps': {'value': 12.5, 'low': 10, 'high': 15},"
    "'replica_capacity_tokens_per_s': {'value': 1250, 'low': 1000, 'high': "
    "1500},"
    "'ttft_p90_ms': {'value': 200, 'low': 150, 'high': 250},"
    "'code_e2e_p99.9_ms': {'value': 4000, 'low': 3000, 'high': 5000},"
    "'of_limit': {'value': 0.4, 'low': 0.3, 'high': 1.1},"
    "'sure': false,"
    "'cost_per_hour': 7.5,'cost_per_1000_requests': "
    "1.875,'cost_per_million_output_tokens': 0.9375,'power_kw': null},"
    "'frontier': ["
    "{'platform': 'h100','tp': 1,"
    "'precision': 'fp8','kv_cache_dtype': 'fp8','enable_chunked_prefill': true,"
    "'replicas': 4,'gpus': 8,'memory_gib': 8.5,'kv_cache_tokens': 100000,"
    "'load': 0.75,"
    "'replica_capacity_rps': {'value': 12.5, 'low': 10, 'high': 15},"
    "'replica_capacity_tokens_per_s': {'value': 1250, 'low': 1000, 'high': "
    "1500},"
    "'ttft_p90_ms': {'value': 200, 'low': 150, 'high': 250},"
    "'code_e2e_p99.9_ms': {'value': 4000, 'low': 3000, 'high': 5000},"
    "'of_limit': {'value': 0.4, 'low': 0.3, 'high': 1},"
    "'sure': true,"
    "'cost_per_hour': 10,'cost_per_1000_requests': "
    "2.5,'cost_per_million_output_tokens': 1.25,'power_kw': 5.25}],"
    "'left_out': ["
    "{'platform': 'b200', 'tp': 1, 'precision': 'fp8', 'kv_cache_dtype': "
    "'fp8', 'enable_chunked_prefill': true, 'reason': 'too large'},"
    "{'platform': 'b200', 'tp': 2, 'precision': 'fp8', 'kv_cache_dtype': "
    "'fp8', 'enable_chunked_prefill': true, 'reason': 'too slow'}]}";

enum what { TEXT, CSV, FRONTIER, JSON };

static const char *written(enum what what)
{
    FILE *out = fmemopen(text, sizeof(text), "w");

    if (!CHECK(out != NULL))
        return "";
    if (what == TEXT)
        msim_serving_plan_text(&c, out);
    else if (what == JSON)
        CHECK_INT(msim_serving_plan_json(&c, out), MSIM_OK);
    else
        msim_serving_plan_csv(&c, what == FRONTIER, out);
    fclose(out);
    return text;
}

static void test_serving_plan_report__whole(void)
{
    begin();
    CHECK_STR(written(TEXT), AS_TEXT);
    CHECK_STR(written(CSV), AS_CSV);
    written(JSON);
    CHECK_STR(squeezed(text), AS_JSON);
    written(FRONTIER); /* the head, and the second row */
    CHECK(strstr(text, "\nh100,8,4,") == strchr(text, '\n'));
    CHECK(!strstr(text, "\nh100,6,"));
    end();
}

/* Nothing is taken: the reason. */
static void test_serving_plan_report__none(void)
{
    char why[600];

    begin();
    c.best = c.cheaper = NULL;
    c.sure = false;
    msim_serving_none_text(&c, why, sizeof(why));
    CHECK_STR(why,
              "what keeps the promises does not keep the limits of the spec");
    written(JSON);
    CHECK(strstr(squeezed(text),
                 "'recommended': null,'sure': false,'cheaper': null,'why_none':"
                 " 'what keeps ") != NULL);
    for (int i = 0; i < CONFIGS; i++)
        memset(fleets[i].points, 0, sizeof(fleets[i].points));
    snprintf(fleets[0].why, sizeof(fleets[0].why), "no room");
    msim_serving_none_text(&c, why, sizeof(why));
    CHECK_STR(why, "nothing can be served: h100, " TP1 ": no room");
    c.nearest = &fleets[B200_TP2];
    msim_serving_none_text(&c, why, sizeof(why));
    CHECK_STR(why, "no number of replicas keeps the promises; the nearest is "
                   "b200, " TP2 ": too slow");
    CHECK_STR(written(TEXT),
              "40 requests/s to m8: TTFT p90 within 500 ms, e2e p99.9 of code "
              "within 20000 ms\n\n"
              "left out: h100, " TP1 ": no room\n"
              "left out: b200, " TP1 ": too large\n"
              "left out: b200, " TP2 ": too slow\n");
    end();
}

/* Of a GPU the fewest that are sure, else the fewest as predicted. */
static void test_serving_plan_report__platforms(void)
{
    static const struct {
        double first, second; /* the ends of their intervals */
        int64_t replicas[2], want;
    } CASES[] = {{1, 1.1, {9, 2}, 9},   {1.1, 1, {2, 9}, 9},
                 {1, 1, {3, 2}, 2},     {1, 1, {2, 3}, 2},
                 {1.1, 1.1, {3, 2}, 2}, {1.1, 1.1, {2, 3}, 2},
                 {1.1, 1, {3, 0}, 3}};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        char want[300];

        begin();
        c.cheaper = NULL;
        c.sure = false;
        memset(fleets[H100_TP1].points, 0, sizeof(fleets[0].points));
        memset(fleets[H100_TP2].points, 0, sizeof(fleets[0].points));
        fleets[H100_TP1].points[MSIM_FLEET_MIDDLE] =
            point(H100_TP1, CASES[i].replicas[0], CASES[i].first, 7);
        fleets[H100_TP2].points[MSIM_FLEET_SURE] =
            point(H100_TP2, CASES[i].replicas[1], CASES[i].second, 7);
        c.best = &fleets[H100_TP1].points[MSIM_FLEET_MIDDLE];
        written(TEXT);
        snprintf(want, sizeof(want),
                 "h100, tp %d, fp8, kv_cache_dtype fp8, "
                 "enable_chunked_prefill true %8lld %6d",
                 CASES[i].want == CASES[i].replicas[0] ? 1 : 2,
                 (long long)CASES[i].want, (int)(2 * CASES[i].want));
        CHECK(strstr(text, want) != NULL);
        CHECK(strstr(text, "GPUs (not sure: it keeps the promises as "
                           "predicted, and nothing does at the end of the "
                           "interval)\n") != NULL);
        CHECK(!strstr(text, "cheaper?") && !strstr(text, "  power"));
        end();
    }
}

/* One class is not named; what has no price costs nothing that is told. */
static void test_serving_plan_report__words(void)
{
    char what[64];

    begin();
    c.app.n_classes = 1;
    msim_serving_promise_text(&c, 1, what, sizeof(what));
    CHECK_STR(what, "e2e p99.9");
    c.app.n_classes = 2;
    c.best = &fleets[H100_TP2].points[MSIM_FLEET_MIDDLE];
    CHECK(!strstr(written(TEXT), "an hour;"));
    end();
}

int main(void)
{
    RUN(test_serving_plan_report__whole);
    RUN(test_serving_plan_report__none);
    RUN(test_serving_plan_report__platforms);
    RUN(test_serving_plan_report__words);
    return check_summary();
}
