/*
 * predict/inputs.c: the traces of a prediction, the user's table that both are
 * read by, and which iteration is meant.
 */
#include "predict/inputs.h"

#include "tests/unit/made_job.h"

#include <stdlib.h>

#define OPS "inputs_test_ops.csv"

/* An operator that no rule knows, on two tensors of 64 x 512 numbers, and the
 * kernel that it launches. */
static char *trace_text(void)
{
    struct made m = made_trace(0, 1);
    char *text;

    made_event(&m, "cpu_op", "mylib::add", MADE_HOST, 1, 0, 10);
    made_add(&m, "\"Input Dims\":[[64,512],[64,512]],"
                 "\"Input type\":[\"float\",\"float\"]}},");
    made_call(&m, 1, "cudaLaunchKernel", 2, 2, 1);
    made_kernel(&m, 7, "k", 10, 50, 1);
    text = made_text(&m);
    made_free(&m);
    return text;
}

static struct msim_predict_settings settings_of(const struct msim_job_text *t)
{
    static const char *const PATHS[] = {"made.json"};

    return (struct msim_predict_settings){.data = MSIM_DATA,
                                          .paths = PATHS,
                                          .n_paths = 1,
                                          .texts = t,
                                          .n_texts = 1,
                                          .load = {.threads = 1},
                                          .peers = MSIM_PEERS_FIXED,
                                          .iteration = MSIM_ITERATION_ALL};
}

static bool load(struct msim_inputs *in, const char *ops,
                 const char *source_trace, struct msim_error *err)
{
    char *text = trace_text();
    const struct msim_job_text t = {"made.json", text, strlen(text)};
    struct msim_predict_settings s = settings_of(&t);
    FILE *out = fopen(OPS, "w");
    enum msim_status status;

    *err = (struct msim_error){0};
    if (CHECK(out != NULL)) {
        fputs("operator,law,read,written\n"
              "mylib::*,pointwise,bytes(in),elems(in0)\n",
              out);
        fclose(out);
    }
    s.ops = ops;
    s.source_trace = source_trace;
    status = msim_inputs_load(in, &s, err);
    unlink(OPS);
    free(text);
    return status == MSIM_OK;
}

static const struct msim_work *work_of(const struct msim_works *works)
{
    for (uint32_t i = 0; i < works->trace->n_ops; i++) {
        const struct msim_work *w;
        uint32_t n;

        (void)msim_works_of(works, i, &w, &n);
        if (n)
            return w;
    }
    return NULL;
}

/* What was traced and what is asked have the works of the table: with a batch
 * of 128, twice of what 64 reads and writes. */
static void test_inputs__both_by_the_users_table(void)
{
    struct msim_reshape twice = {.n_axes = 1,
                                 .axes = {{.from = 64, .to = 128}}};
    const struct msim_work *asked_of, *traced;
    struct msim_asked asked;
    struct msim_error err;
    struct msim_inputs in;

    REQUIRE(load(&in, OPS, NULL, &err));
    CHECK(in.ops[0] && !in.ops[1] && !in.source_job);
    REQUIRE(msim_asked_views(&asked, &in, &twice, &err) == MSIM_OK);
    CHECK(asked.views && msim_asked_ranks(&asked, &in) == asked.views);
    REQUIRE(msim_asked_works(&asked, &in, false) == MSIM_OK);
    REQUIRE(asked.works && asked.works_traced);
    asked_of = work_of(asked.works[0]);
    traced = work_of(asked.works_traced[0]);
    if (CHECK(asked_of && traced)) {
        CHECK_REL(traced->bytes_read, 2.0 * 64 * 512 * 4, 0);
        CHECK_REL(traced->bytes_written, 64 * 512, 0);
        CHECK_REL(asked_of->bytes_read, 2.0 * 128 * 512 * 4, 0);
        CHECK_REL(asked_of->bytes_written, 128 * 512, 0);
        CHECK(traced->user.origin && asked_of->user.origin);
        CHECK_INT(traced->family, MSIM_FAMILY_POINTWISE);
    }
    msim_asked_drop_works(&asked);
    CHECK(!asked.works && !asked.works_traced && asked.views);
    msim_asked_release(&asked);
    CHECK(!asked.views);
    msim_inputs_release(&in);
    CHECK(!in.job && !in.ops[0]);
}

/* Nothing reshaped: the traces themselves, and one list of works. */
static void test_inputs__as_they_are(void)
{
    static const struct msim_reshape none;
    struct msim_asked asked;
    struct msim_error err;
    struct msim_inputs in;

    REQUIRE(load(&in, NULL, NULL, &err));
    CHECK(!in.ops[0] && !in.ops[1]);
    REQUIRE(msim_asked_views(&asked, &in, &none, &err) == MSIM_OK);
    CHECK(!asked.views && msim_asked_ranks(&asked, &in) == in.job->ranks);
    CHECK_UINT(asked.n, 1);
    REQUIRE(msim_asked_works(&asked, &in, false) == MSIM_OK);
    CHECK(asked.works && !asked.works_traced);
    msim_asked_release(&asked);
    msim_inputs_release(&in);
}

/* A second trace, whose times are scaled, has the table in its own words. */
static void test_inputs__another_source(void)
{
    struct msim_error err;
    struct msim_inputs in;

    REQUIRE(load(&in, OPS, MSIM_DATA "/traces/gpt2", &err));
    CHECK(in.source_job && in.source_job->n_ranks > 0);
    CHECK(in.ops[0] && in.ops[1] && in.ops[0] != in.ops[1]);
    msim_inputs_release(&in);
    CHECK(!load(&in, OPS, "no/such/trace", &err));
    CHECK(err.text[0] != '\0');
    msim_inputs_release(&in);
    CHECK(!load(&in, "no/such/table.csv", NULL, &err));
    CHECK(strstr(err.file, "table.csv") != NULL);
    msim_inputs_release(&in);
}

/* Memory is what the traced run needed where nothing is asked of the sizes, the
 * ranks or the steps. */
static void test_inputs__as_traced(void)
{
    struct msim_predict_settings s = settings_of(NULL);
    struct msim_origin origin = {0};
    struct msim_error err;
    struct msim_inputs in;

    REQUIRE(load(&in, NULL, NULL, &err));
    CHECK(msim_inputs_as_traced(&in, &s));
    s.ranks = 1;
    CHECK(msim_inputs_as_traced(&in, &s));
    s.ranks = 2;
    CHECK(!msim_inputs_as_traced(&in, &s));
    s.ranks = 0;
    s.reshape.tf32 = true;
    CHECK(!msim_inputs_as_traced(&in, &s));
    s.reshape.tf32 = false;
    in.origin = &origin;
    CHECK(!msim_inputs_as_traced(&in, &s));
    in.origin = NULL;
    msim_inputs_release(&in);
}

/* ---- iterations ---------------------------------------------------------- */

/* The index of iteration `want`, of a graph with those numbers; -1: refused. */
static int64_t found(const struct msim_job *job, int64_t want,
                     const int64_t *numbers, uint32_t n, struct msim_error *err)
{
    struct msim_predict_settings s = settings_of(NULL);
    struct msim_graph g = {0};
    int64_t copy[8];
    uint32_t index = 77;

    memcpy(copy, numbers, n * sizeof(*copy));
    g.iterations = copy;
    g.n_iterations = n;
    s.iteration = want;
    *err = (struct msim_error){0};
    if (msim_iteration_find(&index, &s, job, &g, err) != MSIM_OK) {
        CHECK_STR(err->file, "made.json");
        return -1;
    }
    return index;
}

/* A number that the files mark comes first, then a count from 0. */
static void test_iteration__numbers(void)
{
    static const int64_t MARKED[] = {4, 2, 7};
    struct msim_error err;
    struct msim_inputs in;

    REQUIRE(load(&in, NULL, NULL, &err));
    CHECK_INT(found(in.job, MSIM_ITERATION_ALL, MARKED, 3, &err), UINT32_MAX);
    CHECK_INT(found(in.job, 4, MARKED, 3, &err), 0);
    CHECK_INT(found(in.job, 7, MARKED, 3, &err), 2);
    CHECK_INT(found(in.job, 2, MARKED, 3, &err), 1);
    CHECK_INT(found(in.job, 0, MARKED, 3, &err), 0);
    CHECK_INT(found(in.job, 1, MARKED, 3, &err), 1);
    CHECK_INT(found(in.job, 3, MARKED, 3, &err), -1);
    CHECK_STR(err.text, "no iteration 3, want one of the 3 that 'mystique-sim "
                        "info' counts as steps");
    msim_inputs_release(&in);
}

/* Of two ranks, that whose steps are known says why one was left out. */
static void test_iteration__left_out(void)
{
    static const int64_t MARKED[] = {5, 6};
    struct msim_left_step left = {.number = 1, .why = MSIM_LEFT_LOST};
    struct msim_step steps[] = {{.number = 5}, {.number = 6}};
    struct msim_trace none = {0}, t = {0};
    struct msim_trace *ranks[] = {&none, &t};
    struct msim_job job = {.ranks = ranks, .n_ranks = 2};
    struct msim_error err;

    t.left_steps = &left;
    t.n_left_steps = 1;
    t.steps = steps;
    t.n_steps = 2;
    CHECK_INT(found(&job, 1, MARKED, 2, &err), -1);
    CHECK(strstr(err.text, "iteration 1 is left out of the run: ") == err.text);
    CHECK(strstr(err.text, ", want one of 5, 6") != NULL);
    CHECK_INT(found(&job, 0, MARKED, 2, &err), 0);
    CHECK_INT(found(&job, 6, MARKED, 2, &err), 1);
}

int main(void)
{
    RUN(test_inputs__another_source);
    RUN(test_inputs__as_they_are);
    RUN(test_inputs__as_traced);
    RUN(test_inputs__both_by_the_users_table);
    RUN(test_iteration__left_out);
    RUN(test_iteration__numbers);
    return check_summary();
}
