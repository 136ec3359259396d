/*
 * Plans: order, equal experiments, choices and refusals; and runs of them on
 * backends that are shells.
 */
#include "replay/run/replay_plan.h"

#include "tests/unit/replay/run/planned_step.h"

static void test_plan__order(void)
{
    static const uint32_t ORDER[] = {0, 1, 0, 2};
    struct planned p = plan(step(), NULL);

    CHECK_INT(p.status, MSIM_OK);
    REQUIRE(p.plan.ops.n == 4 && p.plan.order.n == 4);
    CHECK_INT(p.plan.experiments.n, 3);
    for (uint32_t i = 0; i < 4; i++) {
        const struct msim_plan_op *o = msim_plan_op(&p.plan, i);

        CHECK_INT(msim_plan_order(&p.plan, i), ORDER[i]);
        CHECK_INT(p.plan.trace->ops[o->op].et_id, i + 2);
        CHECK_INT(o->first, i);
        CHECK_INT(o->n, 1);
        CHECK_INT(o->how, MSIM_RUN_NATIVE);
    }
    CHECK_INT(msim_plan_op(&p.plan, 0)->family, MSIM_FAMILY_GEMM);
    CHECK_INT(msim_plan_op(&p.plan, 1)->family, MSIM_FAMILY_POINTWISE);
    CHECK_INT(msim_plan_experiment(&p.plan, 2)->work.u.gemm.n, 64);
    done(&p);
}

static void test_plan__choice(void)
{
    const struct msim_choice products = {.ops = "aten::m*"};
    const struct msim_choice others = {.exclude = "aten::m*"};
    const struct msim_choice some = {.from = 3, .to = 4};
    const struct msim_choice none = {.ops = "nothing"};
    struct planned p = plan(step(), &products);

    CHECK_INT(p.plan.ops.n, 3);
    done(&p);
    p = plan(step(), &others);
    CHECK_INT(p.plan.ops.n, 1);
    done(&p);
    p = plan(step(), &some);
    CHECK_INT(p.plan.ops.n, 2);
    done(&p);
    p = plan(step(), &none);
    CHECK_INT(p.status, MSIM_EFORMAT);
    CHECK(strstr(p.err.text, "no operator to run in what was chosen"));
    done(&p);
}

/* Below an operator of the name that is wanted. */
static void test_plan__choice_below(void)
{
    const struct msim_choice inside = {.ops = "aten::linear"};
    const struct msim_choice without = {.exclude = "aten::linear"};
    char nodes[4096];
    size_t n = made_node(nodes, sizeof(nodes), 2, 1, "aten::linear", 8, 16, 32);
    struct planned p;

    n += made_node(nodes + n, sizeof(nodes) - n, 3, 2, "aten::mm", 8, 16, 32);
    made_node(nodes + n, sizeof(nodes) - n, 4, 1, "aten::mm", 8, 16, 32);
    p = plan(nodes, &inside);
    REQUIRE(p.plan.ops.n == 1);
    CHECK_INT(p.plan.trace->ops[msim_plan_op(&p.plan, 0)->op].et_id, 3);
    done(&p);
    p = plan(nodes, &without);
    REQUIRE(p.plan.ops.n == 1);
    CHECK_INT(p.plan.trace->ops[msim_plan_op(&p.plan, 0)->op].et_id, 4);
    done(&p);
}

static void refused(long long a, long long b, long long c,
                    enum msim_status status, const char *why)
{
    char nodes[2048];
    struct planned p;

    made_node(nodes, sizeof(nodes), 7, 1, "aten::mm", a, b, c);
    p = plan(nodes, NULL);
    CHECK_INT(p.status, status);
    if (!strstr(p.err.text, why))
        CHECK_STR(p.err.text, why);
    CHECK(strstr(p.err.text, "operator 'aten::mm' (ET node 7)") != NULL);
    done(&p);
}

static void test_plan__refusals(void)
{
    refused(1LL << 40, 1LL << 40, 8, MSIM_EFORMAT, "bytes no number holds");
    refused(1000000, 2500000, 1, MSIM_ELIMIT,
            "wants 1e+04 GB of operands, the device has 1 GB");
}

static void test_plan__nothing(void)
{
    char nodes[2048];
    struct planned p;

    made_node(nodes, sizeof(nodes), 2, 1, "aten::view", 8, 16, 32);
    p = plan(nodes, NULL);
    CHECK_INT(p.status, MSIM_EFORMAT);
    CHECK(strstr(p.err.text, "found no operator to run, want"));
    done(&p);
}

/* ---- runs ---------------------------------------------------------------- */

static void test_runs__figures(void)
{
    struct planned p = plan(step(), NULL);
    struct msim_replay_runs runs;
    struct msim_replay_figures f;
    char command[2048];

    two(command, sizeof(command), "", 1);
    CHECK_INT(run(&p, command, &runs), MSIM_OK);
    REQUIRE(runs.n == 2);
    CHECK_STR(runs.counters_error, "not here");
    CHECK_REL(runs.rounds[1].time_us[0], 5, 1e-12);
    CHECK_REL(runs.rounds[1].at_us[3], 30, 1e-12);
    CHECK_INT(msim_replay_figures_make(&f, &p.plan, &runs, p.greeting),
              MSIM_OK);
    CHECK_REL(f.step.us, 40, 1e-12);
    CHECK_REL(f.sum_us, 12, 1e-12);
    CHECK_REL(f.gap_us, 28, 1e-12);
    CHECK_REL(f.ops[0].us, 3, 1e-12);
    CHECK_REL(f.ops[0].low_us, 1.4, 1e-12);
    CHECK_REL(f.ops[0].high_us, 4.6, 1e-12);
    CHECK_INT(f.how[MSIM_RUN_NATIVE].ops, 4);
    CHECK_INT(f.family[MSIM_FAMILY_GEMM].ops, 3);
    CHECK_REL(f.family[MSIM_FAMILY_GEMM].us, 10, 1e-12);
    CHECK_REL(f.family[MSIM_FAMILY_POINTWISE].us, 2, 1e-12);
    CHECK_REL(msim_replay_metric(&f, "cpu_us"), 60, 1e-12);
    CHECK_REL(msim_replay_metric(&f, "busy"), 0.5, 1e-12);
    CHECK(isnan(msim_replay_metric(&f, "us")));
    CHECK_REL(f.utilization, 60.0 / (40 * 2), 1e-12);
    msim_replay_figures_release(&f);
    msim_replay_runs_release(&runs);
    done(&p);
}

/* What is refused runs as bytes; then the backend is asked once more. */
static void test_runs__refused(void)
{
    struct planned p = plan(step(), NULL);
    struct msim_replay_runs runs;
    char command[2048];

    two(command, sizeof(command),
        "read -r line; echo '{\"id\":1,\"error\":\"no\",\"refused\":["
        "{\"experiment\":0,\"error\":\"not that one\"}]}'; ",
        2);
    CHECK_INT(run(&p, command, &runs), MSIM_OK);
    CHECK_INT(runs.n, 2);
    CHECK_INT(msim_plan_experiment(&p.plan, 0)->table, MSIM_TABLE_COPY);
    CHECK_INT(msim_plan_op(&p.plan, 0)->how, MSIM_RUN_BYTES);
    CHECK_STR(msim_plan_op(&p.plan, 2)->why, "not that one");
    CHECK_INT(msim_plan_op(&p.plan, 1)->how, MSIM_RUN_NATIVE);
    CHECK_INT(msim_plan_op(&p.plan, 3)->how, MSIM_RUN_NATIVE);
    msim_replay_runs_release(&runs);
    done(&p);
}

static void fails(const char *command, enum msim_status status, const char *why)
{
    struct planned p = plan(step(), NULL);
    struct msim_replay_runs runs;

    CHECK_INT(run(&p, command, &runs), status);
    if (!strstr(p.err.text, why))
        CHECK_STR(p.err.text, why);
    msim_replay_runs_release(&runs);
    done(&p);
}

static void test_runs__failures(void)
{
    char command[2048], more[2200];

    fails("read -r line; echo '{\"id\":1,\"error\":\"broken\"}'; read -r line",
          MSIM_ENOMODEL, "the backend says: broken");
    fails("read -r line; exit 3", MSIM_EIO, "exit code 3");
    fails("read -r line; echo '{\"id\":1,\"us\":1,\"at_us\":[0,1,2,3],"
          "\"time_us\":[1]}'; read -r line",
          MSIM_EFORMAT, "no time_us for every element");
    fails("read -r line; echo '{\"id\":1,\"done\":true}'; read -r line",
          MSIM_EFORMAT, "no time for every element");
    fails("read -r line; echo '{\"id\":1,\"us\":1e999,\"at_us\":[0,1,2,3],"
          "\"time_us\":[1,1,1,1]}'; read -r line",
          MSIM_EFORMAT, "no us for every element");
    fails("read -r line; echo '{\"id\":7,\"done\":true}'; read -r line",
          MSIM_EFORMAT, "answered question 7, asked was 1");
    two(command, sizeof(command), "", 1);
    snprintf(more, sizeof(more), "%s; echo '{\"id\":1,\"done\":true}'",
             command);
    fails(more, MSIM_EFORMAT, "sent more lines than it was asked for");
}

static void test_runs__no_sequences(void)
{
    struct planned p = plan(step(), NULL);
    struct msim_replay_runs runs;
    struct msim_child child = {0};
    cJSON *greeting = cJSON_Parse("{\"backend\":\"torch\"}");

    CHECK_INT(msim_replay_run(&runs, &p.plan, &child, greeting,
                              &(struct msim_replay_how){1, 2, 10}, &p.err),
              MSIM_ENOMODEL);
    CHECK(strstr(p.err.text, "backend 'torch' runs no sequences"));
    msim_replay_runs_release(&runs);
    cJSON_Delete(greeting);
    done(&p);
}

/* ---- the trace of a replay ----------------------------------------------- */

static char *written(const struct msim_replay *r)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    struct msim_json j;

    msim_json_begin(&j, msim_sink_file, f);
    msim_replay_write_trace(r, &j);
    CHECK_INT(msim_json_end(&j), MSIM_OK);
    fclose(f);
    return text;
}

static void check_ran(const struct msim_trace *t, uint32_t i, const char *name,
                      double start_us, double us)
{
    CHECK_STR(msim_trace_text(t, t->ops[i].name), name);
    CHECK_REL((double)t->ops[i].start / MSIM_PS_PER_US, start_us, 1e-9);
    CHECK_REL((double)t->ops[i].dur / MSIM_PS_PER_US, us, 1e-9);
}

/* Read back: steps, operators in order, with times and shapes. */
static void test_trace__read_back(void)
{
    struct planned p = plan(step(), NULL);
    struct msim_replay_runs runs;
    struct msim_replay_figures figures;
    struct msim_replay r = {.path = "x",
                            .plan = &p.plan,
                            .runs = &runs,
                            .figures = &figures,
                            .greeting = p.greeting};
    struct msim_job *job;
    const struct msim_trace *t;
    char command[2048], *text;

    two(command, sizeof(command), "", 1);
    CHECK_INT(run(&p, command, &runs), MSIM_OK);
    CHECK_INT(msim_replay_figures_make(&figures, &p.plan, &runs, p.greeting),
              MSIM_OK);
    text = written(&r);
    CHECK(strstr(text, "\"mystiqueSystem\": {") != NULL);
    job = load_text(text, false, &p.err);
    REQUIRE(job != NULL);
    t = job->ranks[0];
    CHECK_INT(t->n_steps, 2);
    CHECK_INT(t->steps[0].number, 0);
    REQUIRE(t->n_ops == 10);
    check_ran(t, 1, "aten::mm", 0 + 0.0, 1);
    check_ran(t, 2, "aten::add", 10, 2);
    check_ran(t, 6, "aten::mm", 41, 5);
    check_ran(t, 9, "aten::mm", 71, 4);
    CHECK_INT(t->ops[1].parent, 0);
    CHECK_INT(t->n_gpu, 0);
    CHECK_INT(msim_args_count(t, t->ops[9].args), 2);
    CHECK_INT(msim_arg_dims(t, msim_args_get(t, t->ops[9].args, 1))[1], 64);
    CHECK_INT(msim_args_get(t, t->ops[9].args, 1)->dtype, MSIM_DT_F32);
    msim_job_free(job);
    free(text);
    msim_replay_figures_release(&figures);
    msim_replay_runs_release(&runs);
    done(&p);
}

int main(void)
{
    RUN(test_plan__order);
    RUN(test_plan__choice);
    RUN(test_plan__choice_below);
    RUN(test_plan__refusals);
    RUN(test_plan__nothing);
    RUN(test_runs__figures);
    RUN(test_runs__refused);
    RUN(test_runs__failures);
    RUN(test_runs__no_sequences);
    RUN(test_trace__read_back);
    return check_summary();
}
