/* plan/search/described_points.c: points of a described model have the peak of
 * its formula, and the step of its law, part by part. */
#include "plan/search/plan.h"

#include "core/base/units.h"
#include "plan/describe/strategy.h"
#include "plan/memory/job_memory.h"
#include "plan/search/spec.h"
#include "tests/unit/made_plan.h"

static struct msim_step_fit fit;
static struct msim_memory_fit memory;
static struct msim_plan_platforms platforms;
static struct msim_described_points points;
static struct msim_plan_predictor predictor;
static void *thread;

/* On h100 and a v100, which has no 8 bits. */
static bool begin(void)
{
    struct msim_spec *s = &made_plan.spec;
    struct msim_error err = {0};

    made_plan_begin();
    snprintf(s->platforms[1].name, sizeof(s->platforms[1].name), "v100");
    s->model = (struct msim_described){.layers = 8,
                                       .hidden = 1024,
                                       .heads = 16,
                                       .kv_heads = 16,
                                       .head_dim = 64,
                                       .ffn = 4096,
                                       .vocab = 32000};
    points = (struct msim_described_points){s, &fit, &memory};
    predictor = msim_described_predictor(&points);
    return CHECK_INT(msim_steps_read(&fit, &memory, MSIM_DATA, NULL, &err),
                     MSIM_OK) &&
           CHECK_INT(msim_plan_platforms_load(&platforms, s, MSIM_DATA, &err),
                     MSIM_OK) &&
           CHECK_INT(
               predictor.begin(&thread, predictor.own, platforms.of, &err),
               MSIM_OK);
}

static void finish(void)
{
    predictor.end(thread);
    msim_plan_platforms_release(&platforms);
    msim_step_fit_release(&fit);
}

static struct msim_plan_point point(int64_t gpus)
{
    struct msim_plan_point p = {.strategy = made_plan_point(gpus, 1).strategy,
                                .room_gib = 79};

    p.strategy.dp = p.strategy.grad_accum = p.strategy.nodes = 0;
    p.strategy.etp = 0;
    p.strategy.sequence = 1024;
    p.strategy.global_batch = 32;
    return p;
}

static void test_described_points__names(void)
{
    static const char *const STEP[] = {
        "compute", "host",      "tensor parallel", "context/experts",
        "bubble",  "gradients", "copies",          "optimizer"};
    static const char *const MEMORY[] = {
        "parameters", "gradients",          "optimizer", "activations",
        "loss",       "step's temporaries", "all else"};

    for (int i = 0; i < 8; i++)
        CHECK_STR(predictor.step_parts[i], STEP[i]);
    CHECK(predictor.step_parts[8] == NULL);
    CHECK_STR(predictor.step_parts[MSIM_DESCRIBED_GRADIENTS], "gradients");
    CHECK_STR(predictor.step_parts[MSIM_DESCRIBED_OPTIMIZER], "optimizer");
    for (int i = 0; i < 7; i++)
        CHECK_STR(predictor.memory_parts[i], MEMORY[i]);
    CHECK(predictor.memory_parts[7] == NULL);
}

/* What follows from the rest: copies, micro batches, nodes where they are not
 * tried. */
static void test_described_points__split(void)
{
    struct msim_plan_point p = point(16);
    char why[MSIM_PLAN_WHY] = "";

    p.strategy.tp = 2;
    CHECK(predictor.split(thread, &p, why));
    CHECK_INT(p.strategy.dp, 8);
    CHECK_INT(p.strategy.grad_accum, 4);
    CHECK_INT(p.strategy.nodes, 2);
    CHECK_INT(p.strategy.gpus_a_node, 8);
    p = point(16);
    p.strategy.nodes = 4;
    p.strategy.dp = p.strategy.grad_accum = 3; /* of another point */
    CHECK(predictor.split(thread, &p, why));
    CHECK_INT(p.strategy.nodes, 4);
    CHECK_INT(p.strategy.gpus_a_node, 4);
    CHECK_INT(p.strategy.dp, 16);
    CHECK_INT(p.strategy.grad_accum, 2);
    CHECK_STR(why, "");
    p = point(16);
    p.strategy.tp = 3;
    CHECK(!predictor.split(thread, &p, why));
    CHECK_STR(why, "gpus 16 cannot be split by tp x pp x cp 3");
}

/* Parts are those at the moment of the peak, and come to it. */
static void test_described_points__memory(void)
{
    for (int i = 0; i < 4; i++) {
        struct msim_plan_point p = point(8);
        struct msim_memory_gpu gpu = {
            .usable = 79 * MSIM_GIB,
            .link = msim_platform_link_rate(platforms.of[i % 2])};
        struct msim_job_memory want;
        char why[MSIM_PLAN_WHY] = "";
        double all = 0;
        bool update;

        p.platform = (uint32_t)i % 2;
        p.strategy.tp = 1 << i % 2;
        if (i > 1) { /* one token: then the optimizer's step needs most */
            p.strategy.sequence = 1;
            msim_framework_default(&p.strategy, "pytorch");
        }
        REQUIRE(predictor.split(thread, &p, why));
        CHECK(predictor.memory(thread, &p, why));
        want = msim_job_memory_of(&made_plan.spec.model, &p.strategy, &memory,
                                  &gpu);
        update = want.at.activations + want.at.loss < want.at.temporary;
        CHECK_INT(update, i > 1);
        CHECK_REL(p.part_gib[0], want.at.parameters / MSIM_GIB, 1e-12);
        CHECK_REL(p.part_gib[1], want.at.gradients / MSIM_GIB, 1e-12);
        CHECK_REL(p.part_gib[2], want.at.optimizer / MSIM_GIB, 1e-12);
        CHECK_REL(p.part_gib[3], update ? 0 : want.at.activations / MSIM_GIB,
                  1e-12);
        CHECK_REL(p.part_gib[4], update ? 0 : want.at.loss / MSIM_GIB, 1e-12);
        CHECK_REL(p.part_gib[5], update ? want.at.temporary / MSIM_GIB : 0,
                  1e-12);
        for (int k = 0; k < 7; k++)
            all += p.part_gib[k];
        CHECK_REL(all, p.peak_gib, 1e-9);
        CHECK_REL(p.peak_gib, want.at.most / MSIM_GIB, 1e-12);
        CHECK_REL(p.low_gib, want.low / MSIM_GIB, 1e-12);
        CHECK_REL(p.high_gib, want.high / MSIM_GIB, 1e-12);
        CHECK_REL(p.room_gib + msim_beside_bytes(&p.beside) / MSIM_GIB, 79,
                  1e-9);
        CHECK(p.beside.nccl > 0);
        CHECK_INT(p.fits, want.fits);
    }
}

static void test_described_points__step(void)
{
    struct msim_plan_point p = point(16);
    struct msim_pricer pricer = {.platform = platforms.of[0]};
    struct msim_error err = {0};
    struct msim_step_estimate e;
    struct msim_terms terms;
    char why[MSIM_PLAN_WHY] = "";
    double all = 0;

    made_plan.spec.model.moe.experts = 8;
    made_plan.spec.model.moe.topk = 2;
    made_plan.spec.model.moe.ffn = 512;
    p.strategy.tp = p.strategy.cp = p.strategy.pp = p.strategy.ep = 2;
    p.strategy.global_batch = 16;
    REQUIRE(predictor.split(thread, &p, why));
    REQUIRE(predictor.step(thread, &p, why));
    REQUIRE(msim_terms_make(&terms, &pricer, &made_plan.spec.model, &p.strategy,
                            &err) == MSIM_OK);
    e = msim_step_predict(&terms, &fit);
    CHECK_REL(p.us, e.us, 1e-12);
    CHECK_REL(p.low_us, e.low_us, 1e-12);
    CHECK_REL(p.high_us, e.high_us, 1e-12);
    CHECK_REL(p.mfu, msim_step_mfu(&e, platforms.of[0], &p.strategy), 1e-12);
    CHECK_REL(p.correction, e.correction, 1e-12);
    CHECK_INT(p.measured, e.near);
    CHECK_INT(p.class, e.class);
    CHECK(e.parts.tp > 0 && e.parts.cp > 0 && e.parts.ep > 0 &&
          e.parts.bubble > 0);
    CHECK_REL(p.part_us[0], e.parts.compute, 1e-12);
    CHECK_REL(p.part_us[1], e.parts.host, 1e-12);
    CHECK_REL(p.part_us[2], e.parts.tp, 1e-12);
    CHECK_REL(p.part_us[3], e.parts.cp + e.parts.ep, 1e-12);
    CHECK_REL(p.part_us[4], e.parts.bubble, 1e-12);
    CHECK_REL(p.part_us[5], e.parts.gradients, 1e-12);
    CHECK_REL(p.part_us[6], e.parts.copies, 1e-12);
    CHECK_REL(p.part_us[7], e.parts.optimizer, 1e-12);
    for (int i = 0; i < 8; i++)
        all += p.part_us[i];
    CHECK_REL(all, p.us, 1e-9);
    msim_pricer_release(&pricer);
    p.platform = 1; /* a V100 has no such type */
    p.strategy.precision = MSIM_PRECISION_FP8;
    CHECK(!predictor.step(thread, &p, why));
    CHECK(*why != '\0');
}

/* What would fit on the GPU of a point that does not, with all that CUDA and
 * NCCL take. */
static void test_described_points__ways(void)
{
    struct msim_plan_point p = point(8);
    struct msim_memory_ways want;
    struct msim_plan_ways got;
    char why[MSIM_PLAN_WHY] = "", text[sizeof(got.text)];

    p.room_gib = 4;
    p.strategy.micro_batch = 4;
    REQUIRE(predictor.split(thread, &p, why));
    predictor.memory(thread, &p, why);
    CHECK_INT(p.fits, MSIM_FITS_NO);
    predictor.ways(thread, &p, &got);
    msim_memory_ways_find(
        &want, &(struct msim_memory_asked){
                   &made_plan.spec.model,
                   &p.strategy,
                   &memory,
                   {.usable = 4 * MSIM_GIB,
                    .link = msim_platform_link_rate(platforms.of[0])}});
    CHECK(want.n > 1);
    CHECK_INT(got.n, want.n);
    for (uint32_t i = 0; i < want.n; i++) {
        CHECK_STR(got.way[i].change, want.ways[i].change);
        CHECK_REL(got.way[i].peak, want.ways[i].peak, 1e-12);
        CHECK_INT(got.way[i].fits, want.ways[i].fits);
    }
    msim_memory_ways_text(&want, text);
    CHECK_STR(got.text, text);
}

int main(void)
{
    if (!begin())
        return 1;
    RUN(test_described_points__names);
    RUN(test_described_points__split);
    RUN(test_described_points__memory);
    RUN(test_described_points__step);
    RUN(test_described_points__ways);
    finish();
    return check_summary();
}
