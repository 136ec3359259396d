/* Peak memory of described jobs: bounds that hold whatever the constants are.
 */
#include "plan/describe/strategy.h"
#include "plan/memory/job_memory.h"
#include "tests/check.h"

#include <math.h>

static const struct msim_described LLAMA = {.layers = 32,
                                            .hidden = 4096,
                                            .heads = 32,
                                            .kv_heads = 8,
                                            .head_dim = 128,
                                            .ffn = 14336,
                                            .vocab = 128256,
                                            .gated = true};

/* Of the program whose constants are fitted. */
static struct msim_strategy plain(void)
{
    struct msim_strategy s = {.gpus_a_node = 8,
                              .gpus = 8,
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

    msim_framework_default(&s, "nanotron");
    return s;
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

/* Bytes of a parameter by program, whatever the fit says: 16 where none is
 * named (the models of ZeRO's paper: 7.5 billion parameters on 64 GPUs take
 * 120, 31.4, 16.6 and 1.9 GB), 18 of Megatron-LM, 16 in fp32. */
static void test_memory__states_by_program(void)
{
    static const struct {
        const char *framework;
        enum msim_precision precision;
        int64_t zero;
        double each;
    } CASES[] = {{"common", MSIM_PRECISION_BF16, 0, 16},
                 {"common", MSIM_PRECISION_BF16, 1, 4 + 12.0 / 64},
                 {"common", MSIM_PRECISION_BF16, 2, 2 + 14.0 / 64},
                 {"pytorch", MSIM_PRECISION_AMP_BF16, 0, 16},
                 {"deepspeed", MSIM_PRECISION_FP16, 0, 16},
                 {"megatron", MSIM_PRECISION_BF16, 0, 18},
                 {"common", MSIM_PRECISION_FP32, 0, 16}};
    struct msim_memory_constants c = msim_memory_constants_start();
    double n = msim_described_parameters(&LLAMA);

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        struct msim_strategy s = plain();
        struct msim_memory m;

        s.gpus = s.dp = 64;
        s.technique.framework = 0;
        msim_framework_default(&s, CASES[i].framework);
        s.precision = CASES[i].precision;
        s.zero = CASES[i].zero;
        m = msim_memory_of(&LLAMA, &s, &c);
        CHECK_REL(m.parameters + m.gradients + m.optimizer, CASES[i].each * n,
                  1e-3);
        CHECK_REL(m.peak,
                  m.parameters + m.gradients + m.optimizer + m.other +
                      fmax(m.activations + m.loss, m.temporary),
                  1e-9);
    }
}

static struct msim_memory_constants constants(void);

/* Bytes of what SiLU made in a layer. */
static double layer_silu(const struct msim_strategy *s)
{
    return 2 * (double)(s->micro_batch * s->sequence * LLAMA.ffn / s->tp);
}

/* What tensor parallel ranks gathered is gathered again, not kept: a rank has
 * its rows alone. Fitted programs keep a share. */
static void test_memory__gathers_again(void)
{
    struct msim_memory_constants c = msim_memory_constants_start();
    struct msim_strategy s = plain();
    const struct msim_part *layer;
    struct msim_parts parts;

    s.technique.framework = 0;
    s.tp = 4;
    s.dp = 2;
    msim_parts_make(&parts, &LLAMA, &s);
    layer = msim_parts_find(&parts, MSIM_PART_DENSE);
    CHECK(layer->gathered > 0);
    CHECK_REL(msim_memory_of(&LLAMA, &s, &c).activations,
              32 * (layer->saved - layer->gathered), 1e-9);
    msim_framework_default(&s, "nanotron");
    c.gathered = 1;
    c.pieces = 0;
    CHECK_REL(msim_memory_of(&LLAMA, &s, &c).activations,
              32 * (layer->saved + layer_silu(&s)), 1e-9);
}

/* What a rank of four holds, by the constants, over what its layers keep. */
static void check_ahead(int64_t stages, int64_t micro_batches, double pace,
                        double gathered, double pieces)
{
    struct msim_memory_constants c = constants();
    struct msim_strategy s = plain();
    const struct msim_part *layer;
    struct msim_parts parts;
    double own, flops = 0;

    s.tp = 4;
    s.pp = stages;
    s.dp = 2;
    s.grad_accum = micro_batches;
    msim_parts_make(&parts, &LLAMA, &s);
    layer = msim_parts_find(&parts, MSIM_PART_DENSE);
    own = layer->saved - layer->gathered;
    for (uint32_t i = 0; i < layer->n_ops; i++)
        if (layer->ops[i].pass == MSIM_PASS_FORWARD)
            flops += layer->ops[i].work.flops;
    c.gathered = 0.5;
    c.pieces = 0.25;
    c.pace = pace * flops / 1e12;
    CHECK_REL(msim_memory_of(&LLAMA, &s, &c).activations,
              1.5 * (double)msim_stage_layers(&LLAMA, &s, 0) *
                  fmin((double)stages, (double)micro_batches) *
                  (own * (1 + pieces) + gathered * layer->gathered),
              1e-6);
}

/* One stage is not waited for by its host; of four micro batches in flight, two
 * are launched without a wait, of two none, unless a layer takes the GPU longer
 * than the host. Freed memory is in pieces once a forward pass follows a
 * backward one: behind the first micro batch, or behind as many as there are
 * stages. */
static void test_memory__the_host_goes_ahead(void)
{
    check_ahead(1, 1, 1e3, 0.5, 0);
    check_ahead(1, 2, 1e3, 0.5, 0.25);
    check_ahead(2, 8, 1e3, 0, 0);
    check_ahead(4, 8, 1e3, 0.25, 0.125);
    check_ahead(4, 4, 1e3, 0.25, 0);
    check_ahead(4, 3, 1e3, 0.5 / 3, 0);
    check_ahead(2, 8, 1e-3, 0.5, 0.25);
    check_ahead(2, 8, 1, 0.25, 0.125);
    check_ahead(2, 2, 1, 0.25, 0);
}

/* SiLU's result beside the product, of a program that has two kernels for them;
 * of another, or of one that is stated, its parts say. */
static void test_memory__keeps_silu(void)
{
    struct msim_strategy s = plain(), other = plain();
    struct msim_parts parts, common;

    other.technique.framework = 0;
    msim_parts_make(&parts, &LLAMA, &s);
    msim_parts_make(&common, &LLAMA, &other);
    CHECK_REL(parts.part[1].saved - common.part[1].saved, 4096 * 14336 * 2,
              1e-9);
    s.technique.compile = other.technique.compile = MSIM_STATED_YES;
    msim_parts_make(&parts, &LLAMA, &s);
    msim_parts_make(&common, &LLAMA, &other);
    CHECK_REL(parts.part[1].saved, common.part[1].saved, 0);
}

/* Pipelines with ZeRO 2 keep all gradients until the last micro batch. */
static void test_memory__stages_keep_gradients(void)
{
    struct msim_memory_constants c = msim_memory_constants_start();
    struct msim_strategy one = plain(), two = plain();

    one.technique.framework = two.technique.framework = 0;
    one.zero = 1;
    two.zero = 2;
    one.pp = two.pp = 4;
    one.dp = two.dp = 2;
    CHECK_REL(msim_memory_of(&LLAMA, &two, &c).gradients,
              msim_memory_of(&LLAMA, &one, &c).gradients, 1e-12);
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

/* What one rank holds of embedding, 32 layers and head, as parts count it. */
struct counted {
    struct msim_parts p;
    double embedding, layer, head, all, saved, logits;
};

static struct counted count(const struct msim_strategy *s)
{
    struct counted c;

    msim_parts_make(&c.p, &LLAMA, s);
    CHECK_UINT(c.p.n, 3);
    c.embedding = c.p.part[0].parameters;
    c.layer = c.p.part[1].parameters;
    c.head = c.p.part[2].parameters;
    c.all = c.embedding + 32 * c.layer + c.head;
    c.saved = c.p.part[1].saved;
    c.logits = c.p.part[2].saved;
    return c;
}

static struct msim_memory_constants constants(void)
{
    return (struct msim_memory_constants){.gradient = 6,
                                          .optimizer = 12,
                                          .temporary = 8,
                                          .activations = 1.5,
                                          .gathered = 0.25,
                                          .loss = 1.25,
                                          .fixed_gib = 2};
}

/* Parameters, gradients, states, activations, loss and what the optimizer needs
 * beside them; the peak has whichever is more of activations and that. */
static void check_held(const struct msim_strategy *s, const double want[6])
{
    const struct msim_memory_constants c = constants();
    struct msim_memory m = msim_memory_of(&LLAMA, s, &c);

    CHECK_REL(m.parameters, want[0], 1e-9);
    CHECK_REL(m.gradients, want[1], 1e-9);
    CHECK_REL(m.optimizer, want[2], 1e-9);
    CHECK_REL(m.activations, want[3], 1e-9);
    CHECK_REL(m.loss, want[4], 1e-9);
    CHECK_REL(m.temporary, want[5], 1e-9);
    CHECK_REL(m.other, 2 * 1073741824.0, 1e-9);
    CHECK_REL(m.peak,
              want[0] + want[1] + want[2] + 2 * 1073741824.0 +
                  fmax(want[3] + want[4], want[5]),
              1e-9);
}

static void test_memory__deals_states(void)
{
    struct msim_strategy s = plain();
    struct counted n = count(&s);
    double all = n.all, kept = 1.5 * 32 * n.saved, logits = n.logits;

    check_held(&s, (double[]){2 * all, 6 * all, 12 * all, kept, 1.25 * logits,
                              8 * all});
    s.zero = 1; /* states */
    check_held(&s, (double[]){2 * all, 6 * all, 12 * all / 8, kept,
                              1.25 * logits, all});
    s.zero = 2; /* and gradients, by programs that keep the least */
    check_held(&s, (double[]){2 * all, 2 * all / 8, 12 * all / 8, 32 * n.saved,
                              logits, 4 * all / 8});
    s.zero = 3; /* and weights, of which two layers come together */
    check_held(&s, (double[]){2 * (all / 8 + 2 * n.layer), 2 * all / 8,
                              12 * all / 8, 32 * n.saved, logits, 4 * all / 8});
    s.zero = 1;
    s.cp = 2; /* dealt to context parallel ranks, too: of half a sequence */
    s.dp = 4;
    n = count(&s);
    check_held(&s, (double[]){2 * all, 6 * all, 12 * all / 8,
                              1.5 * 32 * n.saved, 1.25 * n.logits, all});
}

/* The first of four stages: the head is as large as 2.4 layers, so that it has
 * 9 of 32 and the last stage 5. It holds 4 micro batches, or as many as there
 * are; with chunks 8 layers, and 11 pieces, or as many as there are. */
static void test_memory__holds_a_stage(void)
{
    struct msim_strategy s = plain();
    struct counted n;
    double held;

    s.pp = 4;
    s.dp = 2;
    n = count(&s);
    held = n.embedding + 9 * n.layer;
    check_held(&s, (double[]){2 * held, 6 * held, 12 * held,
                              1.5 * 9 * n.saved * 4, 0, 8 * held});
    s.grad_accum = 3;
    check_held(&s, (double[]){2 * held, 6 * held, 12 * held,
                              1.5 * 9 * n.saved * 3, 0, 8 * held});
    s.vp = 2;
    held = n.embedding + 8 * n.layer;
    check_held(&s, (double[]){2 * held, 6 * held, 12 * held,
                              1.5 * 8 * n.saved * 3, 0, 8 * held});
    s.grad_accum = 6; /* 11 pieces of the 12 that there are */
    check_held(&s, (double[]){2 * held, 6 * held, 12 * held,
                              1.5 * 8 * n.saved * 11 / 2, 0, 8 * held});
}

/* Inputs of layers, and all of the one that is computed again; states on the
 * host; gathered inputs, of which a quarter is kept. */
static void test_memory__holds_less(void)
{
    struct msim_strategy s = plain();
    struct counted n = count(&s);
    double all = n.all;

    s.recompute = MSIM_RECOMPUTE_FULL;
    check_held(&s, (double[]){2 * all, 6 * all, 12 * all,
                              32 * n.p.part[1].input + 1.5 * n.saved,
                              1.25 * n.logits, 8 * all});
    s.recompute = MSIM_RECOMPUTE_SELECTIVE;
    check_held(&s,
               (double[]){2 * all, 6 * all, 12 * all,
                          1.5 * 32 * (n.saved - n.p.part[1].saved_selective),
                          1.25 * n.logits, 8 * all});
    s.recompute = MSIM_RECOMPUTE_NONE;
    s.offload = MSIM_OFFLOAD_OPTIMIZER;
    check_held(&s, (double[]){2 * all, 6 * all, 0, 1.5 * 32 * n.saved,
                              1.25 * n.logits, 0});
    s = plain();
    s.tp = 4;
    s.dp = 2;
    n = count(&s);
    CHECK(n.p.part[1].gathered > 0);
    check_held(&s,
               (double[]){2 * n.all, 6 * n.all, 12 * n.all,
                          1.5 * 32 * (n.saved - 0.75 * n.p.part[1].gathered),
                          1.25 * n.logits, 8 * n.all});
}

static void test_memory__classes(void)
{
    struct msim_strategy s = plain();

    CHECK_INT(msim_memory_class_of(&s), MSIM_MEMORY_ALONE);
    s.zero = 1;
    CHECK_INT(msim_memory_class_of(&s), MSIM_MEMORY_ALONE);
    s.tp = 2;
    CHECK_INT(msim_memory_class_of(&s), MSIM_MEMORY_TENSOR);
    s.pp = 2;
    CHECK_INT(msim_memory_class_of(&s), MSIM_MEMORY_PIPELINE);
    s.zero = 2;
    CHECK_INT(msim_memory_class_of(&s), MSIM_MEMORY_OTHER);
    s.zero = 1;
    s.cp = 2;
    CHECK_INT(msim_memory_class_of(&s), MSIM_MEMORY_OTHER);
    s.cp = 1;
    s.precision = MSIM_PRECISION_AMP_FP8;
    CHECK_INT(msim_memory_class_of(&s), MSIM_MEMORY_OTHER);
    s.precision = MSIM_PRECISION_BF16;
    s.technique.optimizer_bits = 8;
    CHECK_INT(msim_memory_class_of(&s), MSIM_MEMORY_OTHER);
}

/* 8 data parallel ranks of an A100's node: 24 channels of 1 + 2 * 7 / 8
 * connections, 12 MiB each, and half a GiB of context. The peak has what they
 * leave. */
static void test_memory__keeps_room_beside(void)
{
    const struct msim_memory_gpu gpu = {.usable = 79e9, .link = 3e11};
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
        &(struct msim_memory_gpu){peak + nccl + 536870913.0, 3e11});
    CHECK_STR(msim_fits_text(m.fits), "yes");
    m = msim_job_memory_of(
        &LLAMA, &s, &fit,
        &(struct msim_memory_gpu){peak + nccl + 536870911.0 - 1, 3e11});
    CHECK_STR(msim_fits_text(m.fits), "edge");
}

/* A stage sends to the next and hears of the one before: the first of two has
 * one neighbour, a middle one of four or eight has two, all in the node. */
static void test_memory__has_neighbours_of_stages(void)
{
    const struct msim_memory_gpu gpu = {.usable = 79e9, .link = 3e11};
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
    RUN(test_memory__states_by_program);
    RUN(test_memory__stages_keep_gradients);
    RUN(test_memory__gathers_again);
    RUN(test_memory__the_host_goes_ahead);
    RUN(test_memory__keeps_silu);
    RUN(test_memory__falls_with_every_technique);
    RUN(test_memory__counts_micro_batches_in_flight);
    RUN(test_memory__the_last_stage_may_hold_most);
    RUN(test_memory__deals_states);
    RUN(test_memory__holds_a_stage);
    RUN(test_memory__holds_less);
    RUN(test_memory__classes);
    RUN(test_memory__keeps_room_beside);
    RUN(test_memory__has_neighbours_of_stages);
    RUN(test_memory__says_whether_it_fits);
    return check_summary();
}
