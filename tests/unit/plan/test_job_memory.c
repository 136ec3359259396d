/*
 * tests/unit/plan/test_job_memory.c - tests of plan/memory/job_memory.h.
 */
#include "plan/describe/strategy.h"
#include "plan/memory/job_memory.h"

#include "core/base/units.h"
#include "tests/check.h"

static const struct msim_described MODEL = {.layers = 8,
                                            .hidden = 1024,
                                            .heads = 16,
                                            .kv_heads = 16,
                                            .head_dim = 64,
                                            .ffn = 4096,
                                            .vocab = 32000,
                                            .gated = true};
static const struct msim_memory_gpu GPU = {.usable = 40 * MSIM_GIB,
                                           .link = 3e11};

static struct msim_strategy split_experts(int64_t tp, int64_t cp, int64_t dp,
                                          int64_t pp, int64_t ep, int64_t etp,
                                          int64_t a_node)
{
    return (struct msim_strategy){.gpus = tp * cp * dp * pp,
                                  .gpus_a_node = a_node,
                                  .tp = tp,
                                  .cp = cp,
                                  .dp = dp,
                                  .pp = pp,
                                  .vp = 1,
                                  .ep = ep,
                                  .etp = etp,
                                  .micro_batch = 1,
                                  .grad_accum = 4,
                                  .global_batch = 4 * dp,
                                  .sequence = 1024,
                                  .precision = MSIM_PRECISION_BF16};
}

static struct msim_strategy split(int64_t tp, int64_t cp, int64_t dp,
                                  int64_t pp, int64_t ep, int64_t a_node)
{
    return split_experts(tp, cp, dp, pp, ep, tp, a_node);
}

/* Rank 0's group of every `apart`th rank: those below a_node are near. */
static struct msim_beside_group group(int64_t ranks, int64_t apart,
                                      int64_t a_node)
{
    double near = 0;

    for (int64_t i = 0; i < ranks; i++)
        near += i * apart < a_node;
    return (struct msim_beside_group){(double)ranks, near};
}

/* NCCL's buffers are those of all communicators that a rank is in. */
static void test_job_memory__knows_its_communicators(void)
{
    static const struct {
        int64_t tp, cp, dp, pp, ep, a_node;
    } CASES[] = {{1, 1, 1, 1, 1, 8},  {4, 1, 1, 1, 1, 8}, {16, 1, 1, 1, 1, 8},
                 {2, 1, 1, 1, 1, 2},  {1, 4, 1, 1, 1, 8}, {2, 8, 1, 1, 1, 8},
                 {1, 1, 4, 1, 1, 8},  {4, 1, 8, 1, 1, 8}, {1, 1, 1, 2, 1, 8},
                 {1, 1, 1, 3, 1, 8},  {4, 1, 1, 4, 1, 8}, {1, 1, 8, 1, 4, 8},
                 {2, 1, 8, 1, 4, 4},  {2, 2, 4, 1, 2, 8}, {1, 1, 4, 1, 4, 8},
                 {2, 2, 4, 4, 4, 16}, {8, 1, 4, 2, 2, 8}, {1, 2, 16, 2, 8, 4}};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        int64_t tp = CASES[i].tp, cp = CASES[i].cp, pp = CASES[i].pp;
        int64_t ep = CASES[i].ep, a = CASES[i].a_node, data = cp * CASES[i].dp;
        struct msim_strategy s = split(tp, cp, CASES[i].dp, pp, ep, a);
        const struct msim_beside_group all[] = {
            group(tp, 1, a), group(cp, tp, a), group(data, tp, a),
            group(ep > 1 ? data / ep : 1, tp * ep, a)};
        struct msim_beside_group experts = group(ep, tp, a),
                                 stages = group(pp, tp * data, a);
        double nccl = msim_beside_messages(&experts, (double)ep - 1, GPU.link) +
                      msim_beside_messages(&stages, pp > 2 ? 2 : (double)pp - 1,
                                           GPU.link);
        struct msim_beside b = msim_job_beside(&s, &GPU);

        for (int k = 0; k < 4; k++)
            nccl += msim_beside_collective(&all[k], GPU.link);
        CHECK_REL(b.nccl, nccl, 1e-12);
        CHECK((b.nccl > 0) == (s.gpus > 1));
        CHECK_REL(b.context, 0.5 * MSIM_GIB, 0);
    }
}

/* Whole experts: tensor parallel ranks have others, or the same. */
static void test_job_memory__knows_those_of_whole_experts(void)
{
    static const int64_t EP[] = {1, 4, 8, 32};

    for (size_t i = 0; i < sizeof(EP) / sizeof(*EP); i++) {
        struct msim_strategy s = split_experts(4, 1, 8, 1, EP[i], 1, 8);
        const struct msim_beside_group all[] = {group(4, 1, 8), group(8, 4, 8),
                                                group(32 / EP[i], EP[i], 8)};
        struct msim_beside_group experts = group(EP[i], 1, 8);
        double nccl =
            msim_beside_messages(&experts, (double)EP[i] - 1, GPU.link);

        for (int k = 0; k < 3; k++)
            nccl += msim_beside_collective(&all[k], GPU.link);
        CHECK_REL(msim_job_beside(&s, &GPU).nccl, nccl, 1e-12);
    }
}

/* A job fits where the upper end of its peak, and what lies beside, do. */
static void test_job_memory__fits_by_the_interval(void)
{
    struct msim_memory_fit fit = {.constants = msim_memory_constants_start()};
    struct msim_strategy s = split(2, 1, 2, 1, 1, 8);
    struct msim_memory at = msim_memory_of(&MODEL, &s, &fit.constants);
    struct msim_memory_gpu gpu = GPU;
    double beside;

    for (int c = 0; c < MSIM_MEMORY_CLASSES; c++)
        fit.interval[c] = (struct msim_memory_interval){9, 9};
    fit.interval[msim_memory_class_of(&s)] =
        (struct msim_memory_interval){1.25, 1.5};
    beside =
        msim_job_memory_of(&MODEL, &s, &fit, &gpu).beside.nccl + MSIM_GIB / 2;
    for (int k = 0; k < 3; k++) {
        static const double SHARES[] = {1.51, 1.49, 0.79};
        static const enum msim_fits FITS[] = {MSIM_FITS_YES, MSIM_FITS_EDGE,
                                              MSIM_FITS_NO};
        struct msim_job_memory j;

        gpu.usable = SHARES[k] * at.most + beside;
        j = msim_job_memory_of(&MODEL, &s, &fit, &gpu);
        CHECK_REL(j.at.most, at.most, 0);
        CHECK_REL(j.low, at.most / 1.25, 1e-12);
        CHECK_REL(j.high, at.most * 1.5, 1e-12);
        CHECK_REL(j.room, SHARES[k] * at.most, 1e-9);
        CHECK_INT(j.fits, FITS[k]);
    }
}

/* A job that nobody says it of may compute layers again: it is on the edge
 * where that alone fits. */
static void test_job_memory__may_compute_again(void)
{
    struct msim_memory_fit fit = {.constants = msim_memory_constants_start()};
    struct msim_strategy s = split(1, 1, 1, 1, 1, 8), least = s;
    struct msim_memory_gpu gpu = GPU;
    struct msim_job_memory j, again;

    for (int c = 0; c < MSIM_MEMORY_CLASSES; c++)
        fit.interval[c] = (struct msim_memory_interval){1.01, 1.01};
    CHECK(msim_again_most(&least, NULL, 0));
    again = msim_job_memory_of(&MODEL, &least, &fit, &gpu);
    gpu.usable = again.high + msim_beside_bytes(&again.beside);
    j = msim_job_memory_given(&MODEL, &s, 1ULL << MSIM_GIVEN_recompute, &fit,
                              &gpu);
    CHECK_INT(j.fits, MSIM_FITS_NO);
    j = msim_job_memory_given(&MODEL, &s, 0, &fit, &gpu);
    CHECK_INT(j.fits, MSIM_FITS_EDGE);
    CHECK_REL(j.low, again.low, 0);
    CHECK_REL(j.high, msim_job_memory_of(&MODEL, &s, &fit, &gpu).high, 0);
}

int main(void)
{
    RUN(test_job_memory__may_compute_again);
    RUN(test_job_memory__knows_its_communicators);
    RUN(test_job_memory__knows_those_of_whole_experts);
    RUN(test_job_memory__fits_by_the_interval);
    return check_summary();
}
