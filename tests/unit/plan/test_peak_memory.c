/* Peak memory of described jobs: bounds that hold whatever the constants are.
 */
#include "plan/memory/job_memory.h"
#include "tests/check.h"

static const struct msim_described LLAMA = {.layers = 32,
                                            .hidden = 4096,
                                            .heads = 32,
                                            .kv_heads = 8,
                                            .head_dim = 128,
                                            .ffn = 14336,
                                            .vocab = 128256,
                                            .gated = true};

static struct msim_strategy plain(void)
{
    return (struct msim_strategy){.gpus = 8,
                                  .nodes = 1,
                                  .dp = 8,
                                  .tp = 1,
                                  .pp = 1,
                                  .vp = 1,
                                  .cp = 1,
                                  .ep = 1,
                                  .micro_batch = 1,
                                  .grad_accum = 8,
                                  .global_batch = 64,
                                  .sequence = 4096,
                                  .precision = MSIM_PRECISION_BF16};
}

static double peak(const struct msim_strategy *s)
{
    struct msim_memory_constants c = msim_memory_constants_start();

    return msim_memory_of(&LLAMA, s, &c).peak;
}

/* 2 + 6 + 12 bytes a parameter without ZeRO. */
static void test_memory__holds_the_states(void)
{
    struct msim_memory_constants c = msim_memory_constants_start();
    struct msim_strategy s = plain();
    struct msim_memory m = msim_memory_of(&LLAMA, &s, &c);
    double n = msim_described_parameters(&LLAMA);

    CHECK_REL(m.parameters + m.gradients + m.optimizer, 20 * n, 1e-3);
    CHECK(m.activations > 0 && m.loss > 0);
    CHECK(m.peak >= m.parameters + m.gradients + m.optimizer);
}

static void test_memory__falls_with_every_technique(void)
{
    struct msim_strategy s = plain(), t;
    double base = peak(&s), zero1, zero2, zero3;

    s.zero = 1;
    zero1 = peak(&s);
    s.zero = 2;
    zero2 = peak(&s);
    s.zero = 3;
    zero3 = peak(&s);
    CHECK(base > zero1 && zero1 > zero2 && zero2 > zero3);
    /* With sharded states activations decide. */
    t = plain();
    t.zero = 1;
    t.recompute = MSIM_RECOMPUTE_FULL;
    CHECK(peak(&t) < zero1);
    t.recompute = MSIM_RECOMPUTE_NONE;
    t.micro_batch = 2;
    CHECK(peak(&t) > zero1);
    t = plain();
    t.tp = 8;
    t.dp = 1;
    CHECK(peak(&t) < base / 4);
    t = plain();
    t.offload = MSIM_OFFLOAD_OPTIMIZER;
    CHECK(peak(&t) < base);
}

/* The first of four stages holds four micro batches: about the activations of
 * one on all layers. */
static void test_memory__counts_micro_batches_in_flight(void)
{
    struct msim_memory_constants c = msim_memory_constants_start();
    struct msim_strategy one = plain(), four = plain(), few = plain();
    double all, staged;

    four.pp = few.pp = 4;
    four.dp = few.dp = 2;
    few.grad_accum = 2;
    all = msim_memory_of(&LLAMA, &one, &c).activations;
    staged = msim_memory_of(&LLAMA, &four, &c).activations;
    CHECK(staged >= all && staged < 1.2 * all);
    CHECK_REL(msim_memory_of(&LLAMA, &few, &c).activations, staged / 2, 1e-9);
}

/* The last of four stages has one micro batch in flight and the logits: 32
 * sequences of 4096 tokens and 128256 words are 63 GiB in 32 bits, where the
 * first has 8 layers of four micro batches. With one sequence it has less. */
static void test_memory__the_last_stage_may_hold_most(void)
{
    struct msim_memory_constants c = msim_memory_constants_start();
    struct msim_strategy s = plain();
    struct msim_memory m;

    s.pp = 4;
    s.dp = 2;
    m = msim_memory_of(&LLAMA, &s, &c);
    CHECK_REL(m.most, m.peak, 1e-12);
    s.micro_batch = 32;
    s.grad_accum = 1;
    c.loss = 3;
    m = msim_memory_of(&LLAMA, &s, &c);
    CHECK(m.most > m.peak);
    CHECK(m.most > 3 * 62 * 1073741824.0);
}

/* 8 data parallel ranks of an A100's node: 24 channels of 1 + 2 * 7 / 8
 * connections, 12 MiB each, and half a GiB of context. The peak has what they
 * leave. */
static void test_memory__keeps_room_beside(void)
{
    const struct msim_memory_gpu gpu = {
        .usable = 79e9, .link = 3e11, .gpus_a_node = 8};
    struct msim_memory_fit fit = {.constants = msim_memory_constants_start()};
    struct msim_strategy s = plain();
    double nccl = 24 * 2.75 * 12 * 1048576, peak;
    struct msim_job_memory m;

    for (int i = 0; i < MSIM_MEMORY_CLASSES; i++)
        fit.interval[i] = (struct msim_memory_interval){1.1, 1.2};
    s.zero = 3;
    m = msim_job_memory_of(&LLAMA, &s, &fit, &gpu);
    CHECK_REL(m.beside.nccl, nccl, 1e-12);
    CHECK_REL(m.room, 79e9 - nccl - 536870912.0, 1e-12);
    CHECK_REL(m.high, 1.2 * m.at.most, 1e-12);
    CHECK_STR(msim_fits_text(m.fits), "yes");
    /* What the peak's upper end needs, and one byte less. */
    peak = m.high;
    m = msim_job_memory_of(
        &LLAMA, &s, &fit,
        &(struct msim_memory_gpu){peak + nccl + 536870913.0, 3e11, 8});
    CHECK_STR(msim_fits_text(m.fits), "yes");
    m = msim_job_memory_of(
        &LLAMA, &s, &fit,
        &(struct msim_memory_gpu){peak + nccl + 536870911.0 - 1, 3e11, 8});
    CHECK_STR(msim_fits_text(m.fits), "edge");
}

/* A stage sends to the next and hears of the one before: the first of two has
 * one neighbour, a middle one of four or eight has two, all in the node. */
static void test_memory__has_neighbours_of_stages(void)
{
    const struct msim_memory_gpu gpu = {
        .usable = 79e9, .link = 3e11, .gpus_a_node = 8};
    static const int64_t STAGES[] = {1, 2, 4, 8};
    static const double NEIGHBOURS[] = {0, 1, 2, 2};
    struct msim_beside_group two = {.ranks = 2, .near = 2};
    double one = msim_beside_messages(&two, 1, gpu.link);

    CHECK(one > 0);
    for (int i = 0; i < 4; i++) {
        struct msim_strategy s = plain();

        s.dp = 1;
        s.pp = STAGES[i];
        CHECK_REL(msim_job_beside(&s, &gpu).nccl, NEIGHBOURS[i] * one, 1e-12);
    }
}

static void test_memory__says_whether_it_fits(void)
{
    CHECK_STR(msim_fits_text(msim_memory_fits(1, 2, 3)), "yes");
    CHECK_STR(msim_fits_text(msim_memory_fits(2, 4, 3)), "edge");
    CHECK_STR(msim_fits_text(msim_memory_fits(4, 5, 3)), "no");
}

int main(void)
{
    RUN(test_memory__holds_the_states);
    RUN(test_memory__falls_with_every_technique);
    RUN(test_memory__counts_micro_batches_in_flight);
    RUN(test_memory__the_last_stage_may_hold_most);
    RUN(test_memory__keeps_room_beside);
    RUN(test_memory__has_neighbours_of_stages);
    RUN(test_memory__says_whether_it_fits);
    return check_summary();
}
