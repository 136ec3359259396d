/* plan/outcome/plan_words.c: figures of a plan as people write them, on both
 * sides of each bound, and strategies in words. */
#include "plan/outcome/plan_report.h"
#include "tests/check.h"

#include <math.h>

static char text[MSIM_PLAN_STRATEGY_TEXT];

typedef void writes(double v, char *text, size_t size);

struct row {
    double v;
    const char *text;
};

static void check_rows(writes *write, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        write(rows[i].v, text, sizeof(text));
        CHECK_STR(text, rows[i].text);
    }
}

#define CHECK_ROWS(write, ...)                                                 \
    check_rows(write, (const struct row[]){__VA_ARGS__},                       \
               sizeof((const struct row[]){__VA_ARGS__}) / sizeof(struct row))

static void test_plan_words__figures(void)
{
    CHECK_ROWS(msim_plan_memory_text, {0.5, "512 MiB"}, {0.999, "1023 MiB"},
               {1, "1.0 GiB"}, {57.44, "57.4 GiB"});
    CHECK_ROWS(msim_plan_energy_text, {0.25, "0.25 kWh"}, {999, "999 kWh"},
               {999.5, "1 MWh"}, {171e3, "171 MWh"}, {2.5e6, "2.5 GWh"},
               {3e9, "3 TWh"}, {5e12, "5e+03 TWh"});
    CHECK_ROWS(msim_plan_amount_text, {NAN, "-"}, {0.1234, "0.123"},
               {99.96, "100"}, {100, "100"}, {9999, "9999"}, {10000, "10 k"},
               {335640, "335.6 k"}, {999999, "1000 k"}, {1e6, "1 M"},
               {1.23e6, "1.23 M"}, {1e9, "1 G"}, {2e12, "2 T"});
    CHECK_ROWS(msim_plan_time_text, {1.25e6, "1.25 s"}, {1e6, "1.00 s"},
               {999999, "1e+03 ms"}, {340e3, "340 ms"}, {1500, "1.5 ms"});
    CHECK_ROWS(msim_plan_days_text, {NAN, "-"}, {0.567, "0.57"}, {9.96, "10"},
               {10, "10.0"}, {12.34, "12.3"});
    CHECK_ROWS(msim_plan_chance_text, {0.991, "above 99 %"}, {0.99, "99 %"},
               {0.955, "96 %"}, {0.01, "1 %"}, {0.009, "below 1 %"});
}

/* An interval of 0.8 to 1.5 of the time, and of a rate that of its inverse. */
static void test_plan_words__intervals(void)
{
    struct msim_plan_point p = {.us = 100, .low_us = 80, .high_us = 150};
    struct msim_plan_figure f = msim_plan_figure_of(&p, 10);

    CHECK_REL(f.middle, 10, 0);
    CHECK_REL(f.low, 8, 1e-12);
    CHECK_REL(f.high, 15, 1e-12);
    f = msim_plan_inverse_of(&p, 12);
    CHECK_REL(f.middle, 12, 0);
    CHECK_REL(f.low, 8, 1e-12);
    CHECK_REL(f.high, 15, 1e-12);
}

static void test_plan_words__words(void)
{
    struct msim_spec spec = {0};
    struct msim_plan_point p = {.cost = 1};

    CHECK_STR(msim_plan_step_word(&spec), "step");
    CHECK_STR(msim_plan_split_word(&spec), "cannot be split so");
    CHECK_STR(msim_plan_cost_word(&spec, &p), "cost");
    spec.traced = true;
    CHECK_STR(msim_plan_split_word(&spec), "cannot be made of the trace");
    spec.unit = MSIM_SPEC_UNIT_REQUESTS;
    CHECK_STR(msim_plan_step_word(&spec), "latency");
    CHECK_STR(msim_plan_cost_word(&spec, &p), "cost an hour");
    spec.total = 1;
    CHECK_STR(msim_plan_cost_word(&spec, &p), "cost");
    p.cost = NAN;
    CHECK_STR(msim_plan_cost_word(&spec, &p), "GPU time");
    snprintf(spec.platforms[2].name, sizeof(spec.platforms[2].name), "%s",
             "h100");
    msim_plan_platform_text(&spec, 2, text, sizeof(text));
    CHECK_STR(text, "h100");
}

/* Of a described model with an interval; nothing where nothing is sent. */
static void test_plan_words__exchange(void)
{
    static struct msim_spec spec;
    struct msim_plan_point p = {.us = 200, .exchange = {50, 4, 2, 31}};

    msim_plan_exchange_text(&spec, &p, text, sizeof(text));
    CHECK_STR(text, "gradients 25 % of the step before overlap, of which it "
                    "waits for 2 % [1-16]");
    spec.traced = true;
    p.exchange.low = p.exchange.high = NAN;
    msim_plan_exchange_text(&spec, &p, text, sizeof(text));
    CHECK_STR(text, "communication 25 % of the step before overlap, of which "
                    "it waits for 2 %");
    p.exchange.in_flight = 0;
    msim_plan_exchange_text(&spec, &p, text, sizeof(text));
    CHECK_STR(text, "");
    spec.traced = false;
}

/* ---- strategies ---------------------------------------------------------- */

static const char *strategy(const struct msim_spec *spec,
                            const struct msim_plan_point *p)
{
    msim_plan_strategy_text(spec, p, text, sizeof(text));
    return text;
}

/* What is as usual is not said, but for dp, ZeRO and the micro batch. */
static void test_plan_words__strategies(void)
{
    static struct msim_spec spec;
    struct msim_plan_point p = {.strategy = {.nodes = 2,
                                             .tp = 1,
                                             .pp = 1,
                                             .vp = 1,
                                             .cp = 1,
                                             .ep = 1,
                                             .dp = 1,
                                             .zero = 0,
                                             .micro_batch = 1,
                                             .precision = MSIM_PRECISION_BF16}};

    CHECK_STR(strategy(&spec, &p),
              "dp 1, zero 0, micro batch 1, recompute none, bf16");
    p.strategy.tp = 4;
    p.strategy.pp = 2;
    p.strategy.vp = 3;
    p.strategy.cp = 5;
    p.strategy.ep = 6;
    p.strategy.dp = 8;
    p.strategy.zero = 1;
    p.strategy.micro_batch = 2;
    p.strategy.recompute = MSIM_RECOMPUTE_FULL;
    p.strategy.precision = MSIM_PRECISION_FP8;
    CHECK_STR(strategy(&spec, &p),
              "tp 4, pp 2, vp 3, cp 5, ep 6, dp 8, zero 1, micro batch 2, "
              "recompute full, fp8");
    p.strategy.etp = 4; /* as tp */
    CHECK(strstr(strategy(&spec, &p), "etp") == NULL);
    p.strategy.etp = 1;
    CHECK(strstr(strategy(&spec, &p), "micro batch 2, etp 1, recompute"));
    p.strategy.etp = 0;
    /* nodes where the spec says them, and techniques that are stated */
    spec.values[0].n = 2;
    spec.values[0].v[1] = 2;
    p.strategy.offload = MSIM_OFFLOAD_OPTIMIZER;
    p.strategy.technique.lora_rank = 64;
    p.strategy.technique.compile = MSIM_STATED_NO;
    CHECK_STR(strategy(&spec, &p),
              "nodes 2, tp 4, pp 2, vp 3, cp 5, ep 6, dp 8, zero 1, micro "
              "batch 2, recompute full, fp8, offload optimizer, lora_rank 64, "
              "compile no");
    spec.values[0].v[1] = 0;
    CHECK(strncmp(strategy(&spec, &p), "tp 4", 4) == 0);
    /* a short buffer has the beginning */
    msim_plan_strategy_text(&spec, &p, text, 10);
    CHECK_STR(text, "tp 4, pp ");
}

static void put(struct msim_plan_point *p, const char *name, int64_t v)
{
    const struct msim_spec_dimension *d;

    for (uint32_t i = 0; (d = msim_spec_dimension_at(true, i)); i++)
        if (strcmp(d->name, name) == 0)
            msim_plan_point_put(p, d, v);
}

/* Of a traced step what differs from it, and how ranks share it. */
static void test_plan_words__traced_strategies(void)
{
    static struct msim_spec spec = {.traced = true};
    struct msim_plan_point p = {.strategy = {.tp = 1, .pp = 1, .dp = 1}};

    CHECK_STR(strategy(&spec, &p), "as traced");
    p.strategy.grad_accum = 1;
    CHECK_STR(strategy(&spec, &p), "as traced");
    p.strategy.dp = 2;
    CHECK_STR(strategy(&spec, &p), "ddp");
    p.strategy.micro_batch = 32;
    p.strategy.grad_accum = 2;
    put(&p, "shard", 3);
    put(&p, "precision", 4);
    put(&p, "recompute", 1);
    put(&p, "optimizer_bits", 1);
    put(&p, "tp", 2);
    put(&p, "layers", 12);
    CHECK_STR(strategy(&spec, &p),
              "batch 32, micro batches 2, zero3, recompute full, amp_bf16, "
              "optimizer_bits 8, tp 2, layers 12");
    p.strategy.dp = 1; /* nobody shares it */
    put(&p, "layers", 0);
    put(&p, "hidden", 64);
    put(&p, "tp", 1);
    put(&p, "pp", 3);
    put(&p, "optimizer_bits", 0);
    CHECK_STR(strategy(&spec, &p), "batch 32, micro batches 2, recompute full, "
                                   "amp_bf16, pp 3, hidden 64");
}

/* ---- nothing ------------------------------------------------------------- */

static void test_plan_words__nothing(void)
{
    static struct msim_spec spec;
    struct msim_plan_point points[2] = {{.allowed = false}};
    struct msim_plan plan = {.points = points};

    spec.most_memory_gib = INFINITY;
    CHECK_STR(msim_plan_none_word(&plan), "no way is feasible");
    CHECK_STR(msim_plan_none_text(&plan, &spec),
              "no point is feasible: the job cannot be split so, other "
              "strategies or numbers of GPUs may be");
    spec.traced = true;
    CHECK_STR(msim_plan_none_text(&plan, &spec),
              "no point is feasible: none can be made of the trace, other "
              "values may be");
    for (int i = 0; i < 2; i++) {
        plan.left_out[MSIM_PLAN_MEMORY] = i == 0;
        plan.left_out[MSIM_PLAN_NO_MODEL] = i == 1;
        CHECK_STR(msim_plan_none_text(&plan, &spec),
                  "no point is feasible: more GPUs, other strategies or GPUs "
                  "with more memory may be");
    }
    spec.most_memory_gib = 10;
    CHECK(strstr(msim_plan_none_text(&plan, &spec), "limits") == NULL);
    plan.left_out[MSIM_PLAN_MEMORY] = 1;
    CHECK_STR(msim_plan_none_text(&plan, &spec),
              "no point is feasible: a larger limits.memory_gib, more GPUs or "
              "other strategies may be");
    plan.n = 2;
    CHECK_STR(msim_plan_none_text(&plan, &spec),
              "no point keeps the limits; points.csv has all that are "
              "feasible");
    CHECK_STR(msim_plan_none_word(&plan), "no way keeps the limits");
    points[1].marks = MSIM_GUARD_BIT(LARGER); /* it breaks limits, too */
    CHECK(strncmp(msim_plan_none_text(&plan, &spec), "no point keeps", 14) ==
          0);
    points[1].allowed = true;
    CHECK_STR(msim_plan_none_text(&plan, &spec),
              "nothing is recommended: no point that keeps the limits is free "
              "of marks; points.csv has all that are feasible");
    CHECK_STR(msim_plan_none_word(&plan),
              "no way that keeps the limits is free of marks");
    plan.n = 1; /* it is none of them */
    CHECK(strncmp(msim_plan_none_text(&plan, &spec), "no point keeps", 14) ==
          0);
    plan.n = 2;
    points[1].marks = MSIM_GUARD_BIT(EVIDENCE); /* that bars none */
    CHECK(strncmp(msim_plan_none_text(&plan, &spec), "no point keeps", 14) ==
          0);
}

int main(void)
{
    RUN(test_plan_words__figures);
    RUN(test_plan_words__intervals);
    RUN(test_plan_words__words);
    RUN(test_plan_words__exchange);
    RUN(test_plan_words__strategies);
    RUN(test_plan_words__traced_strategies);
    RUN(test_plan_words__nothing);
    return check_summary();
}
