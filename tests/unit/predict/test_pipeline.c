/* predict/pipeline.c: traces loaded once, predicted from many times. */
#include "predict/pipeline.h"

#include "core/report/write/report.h"

#include "tests/unit/made_job.h"

#include <stdlib.h>

static const char *const PATHS[] = {MSIM_DATA "/traces/gpt2"};

static struct msim_predict_settings settings_for(const char *platform,
                                                 enum msim_cost_mode costs)
{
    return (struct msim_predict_settings){
        .data = MSIM_DATA,
        .paths = PATHS,
        .n_paths = 1,
        .load = {.threads = 1},
        .platform = platform,
        .costs = costs,
        .peers = MSIM_PEERS_FIXED,
        .iteration = MSIM_ITERATION_ALL,
    };
}

/* The report of a run as JSON, which the caller frees; NULL on failure. */
static char *predicted(const struct msim_predict_settings *s,
                       const struct msim_inputs *in,
                       const struct msim_target *to)
{
    struct msim_prediction_run run;
    struct msim_error err = {0};
    char *text = NULL;
    size_t size;

    if (CHECK_INT(msim_predict(&run, s, in, to, &err), MSIM_OK)) {
        FILE *out = open_memstream(&text, &size);

        CHECK_INT(msim_report_json(run.prediction, out), MSIM_OK);
        fclose(out);
    }
    CHECK_STR(err.text, "");
    msim_prediction_run_release(&run);
    return text;
}

/* Likewise with traces and a target of its own. */
static char *predicted_afresh(const struct msim_predict_settings *s)
{
    struct msim_inputs in;
    struct msim_target to;
    char *text = NULL;

    if (CHECK_INT(msim_predict_load(&in, &to, s, NULL), MSIM_OK))
        text = predicted(s, &in, &to);
    msim_target_release(&to);
    msim_inputs_release(&in);
    return text;
}

/* One result after another on the same traces is what each is alone. */
static void check_same(struct msim_inputs *in,
                       const struct msim_predict_settings *s)
{
    struct msim_target to;
    char *again = NULL, *afresh = predicted_afresh(s);

    CHECK_INT(msim_target_load(&to, s, NULL), MSIM_OK);
    CHECK_INT(msim_inputs_place(in, false), MSIM_OK);
    if (CHECK_INT(msim_target_choose(&to, s, in, NULL), MSIM_OK) &&
        CHECK_INT(msim_inputs_place(in, msim_target_forms_gpu(&to)), MSIM_OK))
        again = predicted(s, in, &to);
    if (CHECK(again && afresh))
        CHECK_STR(again, afresh);
    free(again);
    free(afresh);
    msim_target_release(&to);
}

static void test_pipeline__many_targets(void)
{
    struct msim_predict_settings s = settings_for(NULL, MSIM_COSTS_MEASURED);
    const struct msim_predict_settings others[] = {
        settings_for("h100", MSIM_COSTS_MODEL),
        settings_for(NULL, MSIM_COSTS_MEASURED),
        settings_for("v100", MSIM_COSTS_MODEL),
        settings_for("h100", MSIM_COSTS_MODEL),
    };
    struct msim_inputs in;

    if (CHECK_INT(msim_inputs_load(&in, &s, NULL), MSIM_OK))
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
            check_same(&in, &others[i]);
    msim_inputs_release(&in);
}

/* What one run is told of (factors, an iteration that is not there) is gone in
 * the next. */
static void test_pipeline__many_runs(void)
{
    struct msim_predict_settings s = settings_for("a100", MSIM_COSTS_MODEL);
    struct msim_predict_settings longer = s, wrong = s;
    struct msim_scale scale;
    struct msim_prediction_run run;
    struct msim_inputs in;
    struct msim_target to;
    uint32_t warnings;
    char *first, *twice, *last;

    REQUIRE(msim_predict_load(&in, &to, &s, NULL) == MSIM_OK);
    REQUIRE(msim_scale_parse(&scale, "kernels=2", NULL) == MSIM_OK);
    warnings = in.job->n_warnings;
    longer.scales = &scale;
    longer.n_scales = 1;
    wrong.iteration = 1000000;
    first = predicted(&s, &in, &to);
    twice = predicted(&longer, &in, &to);
    CHECK_INT(msim_predict(&run, &wrong, &in, &to, NULL), MSIM_EUSAGE);
    CHECK(run.prediction == NULL);
    msim_prediction_run_release(&run);
    last = predicted(&s, &in, &to);
    if (CHECK(first && twice && last)) {
        CHECK_STR(last, first);
        CHECK(strcmp(twice, first) != 0);
    }
    CHECK_INT(in.job->n_warnings, warnings);
    free(first);
    free(twice);
    free(last);
    msim_target_release(&to);
    msim_inputs_release(&in);
}

/* A product of 4096 x 512 by 512 x 512, which took 100 us. */
static bool load_made(struct made_job *j)
{
    struct made m = made_trace(0, 1);

    made_event(&m, "cpu_op", "aten::mm", MADE_HOST, 1, 0, 10);
    made_add(&m, "\"Input Dims\":[[4096,512],[512,512]],"
                 "\"Input type\":[\"c10::Half\",\"c10::Half\"]}},");
    made_call(&m, 1, "cudaLaunchKernel", 2, 2, 1);
    made_kernel(&m, 7, "gemm", 10, 100, 1);
    return made_load(j, &m, 1);
}

/* Under model costs a prediction holds what the traces measured until it is
 * taken out. */
static void test_pipeline__drops_measured(void)
{
    struct msim_predict_settings s = settings_for("a100", MSIM_COSTS_MODEL);
    struct msim_prediction_run run;
    struct msim_inputs in = {0};
    struct msim_target to;
    struct made_job j;

    REQUIRE(load_made(&j));
    in.job = j.job;
    REQUIRE(msim_target_load(&to, &s, NULL) == MSIM_OK);
    REQUIRE(msim_target_choose(&to, &s, &in, NULL) == MSIM_OK);
    CHECK(!msim_target_reads_gpu_times(&to));
    CHECK(!msim_target_replays(&to));
    REQUIRE(msim_predict(&run, &s, &in, &to, NULL) == MSIM_OK);
    CHECK_REL(run.prediction->kernel_us.measured, 100, 1e-9);
    msim_run_drop_measured(run.prediction, run.graph->iterations[0] >= 0);
    CHECK(isnan(run.prediction->kernel_us.measured));
    CHECK(run.prediction->kernel_us.predicted > 0);
    msim_prediction_run_release(&run);
    msim_target_release(&to);
    made_unload(&j);
}

/* Operators with a law of their own kernel, with the nearest one, and without a
 * law whose kernel tells one. */
static bool load_covered(struct made_job *j)
{
    struct made m = made_trace(0, 1);

    m.sms = 108;
    made_event(&m, "cpu_op", "aten::mm", MADE_HOST, 1, 0, 10);
    made_add(&m, "\"Input Dims\":[[4096,512],[512,512]],"
                 "\"Input type\":[\"c10::Half\",\"c10::Half\"]}},");
    made_call(&m, 1, "cudaLaunchKernel", 2, 2, 1);
    made_kernel(&m, 7, "gemm", 10, 100, 1);
    made_event(&m, "cpu_op", "aten::isin", MADE_HOST, 1, 20, 10);
    made_add(&m, "\"Input Dims\":[[1048576],[64]],"
                 "\"Input type\":[\"float\",\"float\"]}},");
    made_call(&m, 1, "cudaLaunchKernel", 22, 2, 2);
    made_kernel(&m, 7, "isin", 110, 100, 2);
    made_op(&m, 1, "mine::add", 40, 10);
    made_call(&m, 1, "cudaLaunchKernel", 42, 2, 3);
    made_grid(&m, 7,
              "void at::native::vectorized_elementwise_kernel<4, "
              "at::native::CUDAFunctor_add<float>, "
              "at::detail::Array<char*, 3> >",
              210, 100, 3, 1000);
    return made_load(j, &m, 1);
}

/* Of three operators that of the nearest law and that whose size is guessed
 * from its launch are not covered. */
static void test_pipeline__not_covered(void)
{
    struct msim_predict_settings s = settings_for("a100", MSIM_COSTS_MODEL);
    struct msim_prediction_run run;
    struct msim_inputs in = {0};
    struct msim_target to;
    struct made_job j;

    REQUIRE(load_covered(&j));
    in.job = j.job;
    REQUIRE(msim_target_load(&to, &s, NULL) == MSIM_OK);
    REQUIRE(msim_target_choose(&to, &s, &in, NULL) == MSIM_OK);
    REQUIRE(msim_predict(&run, &s, &in, &to, NULL) == MSIM_OK);
    CHECK_INT(run.prediction->n_ops, 3);
    CHECK_REL(run.prediction->coverage_ops, 1.0 / 3, 1e-9);
    if (CHECK_INT(run.prediction->n_uncovered, 2)) {
        CHECK_STR(run.prediction->uncovered[0].name, "mine::add");
        CHECK_STR(run.prediction->uncovered[1].name, "aten::isin");
    }
    msim_prediction_run_release(&run);
    msim_target_release(&to);
    made_unload(&j);
}

/* A name is checked before a trace is read. */
static void test_pipeline__names_first(void)
{
    static const char *const NO_FILE[] = {"no-such-trace.json"};
    struct msim_predict_settings s = settings_for("h1000", MSIM_COSTS_MODEL);
    struct msim_inputs in;
    struct msim_target to;

    s.paths = NO_FILE;
    CHECK_INT(msim_predict_load(&in, &to, &s, NULL), MSIM_EUNKNOWN);
    CHECK(in.job == NULL);
    msim_target_release(&to);
    msim_inputs_release(&in);
    s.platform = "h100";
    CHECK_INT(msim_predict_load(&in, &to, &s, NULL), MSIM_EIO);
    CHECK(in.job == NULL);
    msim_target_release(&to);
    msim_inputs_release(&in);
}

int main(void)
{
    RUN(test_pipeline__many_targets);
    RUN(test_pipeline__many_runs);
    RUN(test_pipeline__drops_measured);
    RUN(test_pipeline__not_covered);
    RUN(test_pipeline__names_first);
    return check_summary();
}
