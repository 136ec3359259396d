/*
 * predict/edit/edit_price.c: what an operator takes that the trace does not
 * have.
 */
#include "predict/edit/edit_internal.h"

#include "models/estimate/model.h"
#include "tests/check.h"
#include "tests/unit/made_remake.h"

#include <math.h>

static struct made_remake m;
static struct msim_platform *platform;

static bool begin(const struct msim_platform *p)
{
    remake_new(&m, 1);
    (void)remake_task(&m, MSIM_TASK_KERNEL, 1, 10);
    m.s.data = MSIM_DATA;
    m.to.platform = (struct msim_platform *)p;
    return CHECK_INT(remake_begin(&m), MSIM_OK);
}

/* The one that is predicted for, else the traced one, loaded once. */
static void test_edit_price__finds_a_platform(void)
{
    const struct msim_platform *p = NULL, *again = NULL;

    if (begin(platform)) {
        m.to.traced = "h100";
        CHECK_INT(msim_price_platform(&m.d, &p), MSIM_OK);
        CHECK(p == platform && !m.d.platform);
    }
    remake_done(&m);
    if (begin(NULL)) {
        m.to.traced = "a100";
        CHECK_INT(msim_price_platform(&m.d, &p), MSIM_OK);
        CHECK(p && p == m.d.platform);
        CHECK_STR(msim_platform_name(p), "a100");
        CHECK_INT(msim_price_platform(&m.d, &again), MSIM_OK);
        CHECK(again == p);
    }
    remake_done(&m);
    if (begin(NULL)) {
        CHECK_INT(msim_price_platform(&m.d, &p), MSIM_EUSAGE);
        CHECK_STR(m.err.text,
                  "what inserted work takes is not known: the trace names no "
                  "GPU that is known; want '--platform NAME'");
    }
    remake_done(&m);
}

/* The estimate of a work that somebody asks for, with a job's interval or that
 * of a program by itself, in ps. */
static void test_edit_price__of_a_work(void)
{
    for (int i = 0; i < 4; i++) {
        struct msim_work w = {.family = MSIM_FAMILY_GEMM,
                              .dtype = MSIM_DT_F16,
                              .u.gemm = {1024, 512, 256, 1, false, false}};
        struct msim_work asked;
        struct msim_cost_added cost;
        struct msim_estimate e;
        double factor = i == 2 ? 1.25 : 1;

        msim_work_count(&w);
        w.repeats = i == 3 ? 3 : 0;
        asked = w;
        asked.asked = true;
        if (begin(platform)) {
            m.traces[0].has_gpu_events = i == 1;
            m.d.costs->step.factor = i == 2 ? factor : 0;
            CHECK_INT(msim_price_work(&m.d, &w, &cost), MSIM_OK);
            CHECK_INT(msim_model_predict(platform, &asked, false, &e, NULL),
                      MSIM_OK);
            msim_whole_job_widen(platform, &w, i != 1, &e);
            CHECK_INT(cost.mid, llround(factor * e.us * MSIM_PS_PER_US));
            CHECK_INT(cost.low, llround(factor * e.low_us * MSIM_PS_PER_US));
            CHECK_INT(cost.high, llround(factor * e.high_us * MSIM_PS_PER_US));
            CHECK_INT(cost.source, MSIM_SOURCE_LAW);
            CHECK_INT(cost.made_by, MSIM_FAMILY_GEMM);
            CHECK_REL(cost.flops, 2.0 * 1024 * 512 * 256 * (i == 3 ? 3 : 1),
                      1e-6);
            /* at 312 TFLOP/s, on tensor cores */
            CHECK_REL(cost.limits.tensor, 2.0 * 1024 * 512 * 256 / 312e6, 1e-6);
            CHECK_REL(cost.limits.vector, 0, 0);
        }
        remake_done(&m);
    }
}

/* No time is longer than a run, and what no law knows is no answer to who is
 * strict. */
static void test_edit_price__has_limits(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_BOUND,
                          .dtype = MSIM_DT_F32,
                          .bytes_read = 1e30,
                          .u.vector = {.elems = 4, .rows = 1, .cols = 4}};
    struct msim_cost_added cost;

    if (begin(platform)) {
        CHECK_INT(msim_price_work(&m.d, &w, &cost), MSIM_OK);
        CHECK_INT(cost.mid, MSIM_RUN_MAX);
        CHECK_INT(cost.high, MSIM_RUN_MAX);
        m.s.strict = true;
        CHECK_INT(msim_price_work(&m.d, &w, &cost), MSIM_ENOMODEL);
    }
    remake_done(&m);
}

/* All works of an operator, one after the other: of nonzero a count and a copy,
 * of a convolution's gradients both, in half precision on tensor cores; the
 * source is that of the longer one. */
static void of_operator(const struct msim_edit_op *op, const char *args,
                        bool tensor)
{
    const struct msim_work *w;
    struct msim_cost_added cost, part[2] = {{.mid = 0}};
    struct msim_works *works;
    uint32_t n;

    if (begin(platform)) {
        /* the same, of a trace */
        (void)build_op(&m.b, 0, op->name, args, NULL);
        REQUIRE(msim_works_new(&works, &m.b.t, NULL, MSIM_OPMAP_ON_GPU) ==
                MSIM_OK);
        (void)msim_works_of(works, 0, &w, &n);
        REQUIRE(n == 2);
        for (uint32_t i = 0; i < 2; i++)
            CHECK_INT(msim_price_work(&m.d, &w[i], &part[i]), MSIM_OK);
        CHECK_INT(msim_price_op(&m.d, op, &cost), MSIM_OK);
        CHECK_INT(cost.mid, part[0].mid + part[1].mid);
        CHECK_INT(cost.low, part[0].low + part[1].low);
        CHECK_INT(cost.high, part[0].high + part[1].high);
        CHECK_REL(cost.flops, part[0].flops + part[1].flops, 1e-6);
        CHECK_REL(cost.limits.memory,
                  part[0].limits.memory + part[1].limits.memory, 1e-6);
        CHECK_REL(cost.limits.tensor,
                  part[0].limits.tensor + part[1].limits.tensor, 1e-6);
        CHECK_REL(cost.limits.vector,
                  part[0].limits.vector + part[1].limits.vector, 1e-6);
        CHECK_REL(cost.limits.latency,
                  part[0].limits.latency + part[1].limits.latency, 1e-6);
        CHECK_INT(cost.limits.tensor > 0, tensor);
        CHECK_INT(cost.made_by,
                  part[part[1].mid > part[0].mid ? 1 : 0].made_by);
        msim_works_free(works);
    }
    remake_done(&m);
}

static void test_edit_price__of_an_operator(void)
{
    of_operator(
        &(struct msim_edit_op){
            .name = "aten::nonzero",
            .tensors = {{.n = 2, .sizes = {64, 128}, .dtype = MSIM_DT_F32}},
            .n = 1},
        "f32[64,128]", false);
    of_operator(
        &(struct msim_edit_op){
            .name = "aten::convolution_backward",
            .tensors = {{.n = 4, .sizes = {2, 8, 16, 16}, .dtype = MSIM_DT_F16},
                        {.n = 4, .sizes = {2, 8, 16, 16}, .dtype = MSIM_DT_F16},
                        {.n = 4, .sizes = {8, 8, 3, 3}, .dtype = MSIM_DT_F16}},
            .n = 3},
        "f16[2,8,16,16] f16[2,8,16,16] f16[8,8,3,3]", true);
}

/* Sizes of several tensors, each in its place: of a product m, k and n. */
static void test_edit_price__reads_tensors(void)
{
    const struct msim_edit_op op = {
        .name = "aten::mm",
        .tensors = {{.n = 2, .sizes = {1024, 256}, .dtype = MSIM_DT_F16},
                    {.n = 2, .sizes = {256, 512}, .dtype = MSIM_DT_F16}},
        .n = 2};
    struct msim_cost_added cost;

    if (begin(platform)) {
        CHECK_INT(msim_price_op(&m.d, &op, &cost), MSIM_OK);
        CHECK_REL(cost.flops, 2.0 * 1024 * 512 * 256, 1e-6);
        CHECK_REL(cost.limits.memory,
                  2.0 * (1024 * 256 + 256 * 512 + 1024 * 512) / 2.039e6, 1e-3);
    }
    remake_done(&m);
}

static void test_edit_price__refuses_operators(void)
{
    static const struct msim_edit_op OP[] = {
        {.name = "aten::view",
         .tensors = {{.n = 1, .sizes = {64}, .dtype = MSIM_DT_F32}},
         .n = 1},
        {.name = "my::own",
         .tensors = {{.n = 1, .sizes = {64}, .dtype = MSIM_DT_F32}},
         .n = 1},
        {.name = "aten::mm",
         .tensors = {{.n = 1, .sizes = {64}, .dtype = MSIM_DT_F32}},
         .n = 1},
    };
    struct msim_cost_added cost;
    char says[160];

    for (size_t i = 0; i < sizeof(OP) / sizeof(*OP); i++) {
        if (begin(platform)) {
            CHECK_INT(msim_price_op(&m.d, &OP[i], &cost), MSIM_EUSAGE);
            snprintf(says, sizeof(says),
                     "no kernel is known of an operator '%s' with these sizes",
                     OP[i].name);
            CHECK_STR(m.err.text, says);
        }
        remake_done(&m);
    }
}

int main(void)
{
    if (!CHECK_INT(msim_platform_load(&platform, MSIM_DATA, "a100", NULL),
                   MSIM_OK))
        return check_summary();
    RUN(test_edit_price__finds_a_platform);
    RUN(test_edit_price__of_a_work);
    RUN(test_edit_price__has_limits);
    RUN(test_edit_price__of_an_operator);
    RUN(test_edit_price__reads_tensors);
    RUN(test_edit_price__refuses_operators);
    msim_platform_free(platform);
    return check_summary();
}
