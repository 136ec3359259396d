/*
 * predict/whatif/sweep.c: one job on several GPUs: which names are refused, the
 * order of rows, and tables of predictions that are made up.
 */
#include "predict/whatif/whatif.h"

#include "core/base/units.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

static const char *const GPT2[] = {MSIM_DATA "/traces/gpt2"};

static struct msim_predict_settings settings(void)
{
    return (struct msim_predict_settings){.data = MSIM_DATA,
                                          .paths = GPT2,
                                          .n_paths = 1,
                                          .load = {.threads = 1},
                                          .platform = "not read",
                                          .peers = MSIM_PEERS_FIXED,
                                          .iteration = MSIM_ITERATION_ALL};
}

static void test_sweep__refuses_lists(void)
{
    static const struct {
        const char *list, *says;
    } CASE[] = {
        {"a100,,h100", "option '--platform' is 'a100,,h100', which has an "
                       "empty name; want NAME or NAME,NAME,..."},
        {"a100,", "option '--platform' is 'a100,', which has an empty name; "
                  "want NAME or NAME,NAME,..."},
        {"", "option '--platform' is '', which has an empty name; want NAME or "
             "NAME,NAME,..."},
        {"a100,h100,a100", "option '--platform' is 'a100,h100,a100', which has "
                           "a name twice; want NAME or NAME,NAME,..."},
    };
    const struct msim_predict_settings s = settings();

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        struct msim_error err = {0};
        struct msim_sweep w;

        CHECK_INT(msim_sweep_run(&w, CASE[i].list, &s, &err), MSIM_EUSAGE);
        CHECK_STR(err.text, CASE[i].says);
        msim_sweep_release(&w);
        CHECK(!w.rows && !w.names);
    }
}

/* The fastest first, as each is predicted by itself beside the host of the GPU
 * that is named first; ratios are to the fastest, and its own is 1. */
static void test_sweep__puts_the_best_first(void)
{
    static const char *const BY[] = {"h100", "a100", "t4"};
    const struct msim_predict_settings s = settings();
    struct msim_sweep w;

    REQUIRE(msim_sweep_run(&w, "t4,h100,a100", &s, NULL) == MSIM_OK);
    REQUIRE(w.n == 3);
    for (uint32_t i = 0; i < 3; i++) {
        const struct msim_sweep_row *r = &w.rows[i];
        struct msim_predict_settings own = s;
        struct msim_prediction_run run;
        struct msim_inputs in;
        struct msim_target to;

        CHECK_STR(r->prediction->platform, BY[i]);
        CHECK_INT(r->index, i == 0 ? 1 : i == 1 ? 2 : 0);
        own.platform = BY[i];
        own.host_gpu = "t4";
        if (CHECK_INT(msim_predict_load(&in, &to, &own, NULL), MSIM_OK) &&
            CHECK_INT(msim_predict(&run, &own, &in, &to, NULL), MSIM_OK)) {
            CHECK_REL(r->prediction->period.us.predicted,
                      run.prediction->period.us.predicted, 1e-12);
            msim_prediction_run_release(&run);
        }
        msim_target_release(&to);
        msim_inputs_release(&in);
        CHECK_REL(r->ratio.predicted,
                  r->prediction->period.us.predicted /
                      w.rows[0].prediction->period.us.predicted,
                  1e-9);
        CHECK(isnan(r->ratio.measured));
        CHECK_INT(r->ratio.low<r->ratio.predicted, i> 0);
        /* what ran on another GPU was not measured there */
        CHECK(isnan(r->prediction->period.us.measured) ||
              !strcmp(BY[i], "a100"));
    }
    msim_sweep_release(&w);
}

/* ---- tables -------------------------------------------------------------- */

/* Two predictions; of the second nothing is known of memory. */
static struct msim_prediction made[2];
static struct msim_sweep_row rows[2];

static struct msim_sweep sweep(void)
{
    static const char *inputs[] = {"run"};

    memset(made, 0, sizeof(made));
    for (int i = 0; i < 2; i++) {
        made[i] = (struct msim_prediction){
            .platform = i ? "b, c" : "a",
            .costs = i ? "scaled" : "model",
            .inputs = inputs,
            .n_inputs = 1,
            .period = {.us = {1000 << i, 900 << i, 1200 << i, NAN}},
            .breakdown_us = {.compute = 500,
                             .communication = 300,
                             .memory_copy = 100,
                             .host = 60,
                             .idle = 40},
            .memory = {.peak = i ? NAN : 3 * MSIM_GIB,
                       .needed = i ? NAN : 4 * MSIM_GIB,
                       .capacity = i ? NAN : 8 * MSIM_GIB,
                       .fits = i ? NULL : "yes"}};
        rows[i] = (struct msim_sweep_row){
            .prediction = &made[i],
            .ratio = {1 + i, 1 + 0.5 * i, 1 + 1.5 * i, NAN}};
    }
    return (struct msim_sweep){.rows = rows, .n = 2};
}

static char *written(enum msim_status (*write)(const struct msim_sweep *,
                                               FILE *),
                     const struct msim_sweep *w)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    CHECK_INT(write(w, out), MSIM_OK);
    fclose(out);
    return text;
}

static void test_sweep__writes_csv(void)
{
    struct msim_sweep w = sweep();
    char *text = written(msim_sweep_csv, &w);

    CHECK_STR(text,
              "platform,costs,period_us,low_us,high_us,ratio,ratio_low,"
              "ratio_high,compute_us,communication_us,memory_copy_us,host_us,"
              "idle_us,per_second,cost_usd,energy_joules,peak_bytes,"
              "needed_bytes,capacity_bytes,fits\n"
              "a,model,1000,900,1200,1,1,1,500,300,100,60,40,,,,3221225472,"
              "4294967296,8589934592,yes\n"
              "\"b, c\",scaled,2000,1800,2400,2,1.5,2.5,500,300,100,60,40,,,,,,"
              ",\n");
    free(text);
}

static bool has(const char *text, const char *part)
{
    if (strstr(text, part))
        return true;
    CHECK_STR(text, part);
    return false;
}

static void test_sweep__writes_text(void)
{
    struct msim_sweep w = sweep();
    char *text = written(msim_sweep_text, &w);

    CHECK(has(text, "run on 2 platforms, best first\n\n"));
    CHECK(has(text, "    1.00  -                    3.00     50 %   30 %  10 % "
                    "  6 %   4 %  model   \n"));
    CHECK(has(text, "    2.00  1.50 to 2.50            -     50 %   30 %  10 % "
                    "  6 %   4 %  scaled  \n"));
    CHECK(!strstr(text, "USD") && !strstr(text, "joules"));
    CHECK(!strstr(text, "!: ") && !strstr(text, "?: "));
    free(text);
    /* what is not sure to fit, or does not, has a sign, and that its meaning */
    made[0].memory.fits = "edge";
    text = written(msim_sweep_text, &w);
    CHECK(has(text, "3.00 ?") &&
          has(text, "?: not sure to fit into the memory of the GPU\n"));
    CHECK(!strstr(text, "!: "));
    free(text);
    made[0].memory.needed = 9 * MSIM_GIB;
    text = written(msim_sweep_text, &w);
    CHECK(has(text, "3.00 !") &&
          has(text, "!: not expected to fit into the memory of the GPU\n"));
    CHECK(!strstr(text, "?: "));
    free(text);
    /* rates that are asked for have columns: 64 an iteration of 1 ms */
    for (int i = 0; i < 2; i++)
        made[i].rates = (struct msim_rates){64, "tokens", 3.6, 100};
    text = written(msim_sweep_text, &w);
    CHECK(has(text, "tokens/s") && has(text, "USD/1000") &&
          has(text, "joules"));
    CHECK(has(text, "     64.00 k       0.001         0.1\n"));
    CHECK(has(text, "     32.00 k       0.002         0.2\n"));
    free(text);
}

static void test_sweep__writes_ratios(void)
{
    struct msim_sweep w = sweep();
    char *text;

    w.n = 0; /* predictions have a writer of their own */
    text = written(msim_sweep_json, &w);
    CHECK_STR(text, "{\"schema\": \"mystique-sim/predictions/1\",\n"
                    "\"ratios_to_best\": []\n,\"platforms\": [\n]}\n");
    free(text);
}

int main(void)
{
    RUN(test_sweep__refuses_lists);
    RUN(test_sweep__puts_the_best_first);
    RUN(test_sweep__writes_csv);
    RUN(test_sweep__writes_text);
    RUN(test_sweep__writes_ratios);
    return check_summary();
}
