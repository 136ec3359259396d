/* Techniques: what they are set from, and what they make of parts, peaks and
 * steps, as can be counted by hand. */
#include "core/base/units.h"
#include "models/platform/platform.h"
#include "plan/memory/job_memory.h"
#include "plan/step/step_law.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

static struct msim_platform *a100;
static struct msim_pricer pricer;
static struct msim_error err;

static const struct msim_described LLAMA = {.layers = 28,
                                            .hidden = 3072,
                                            .heads = 24,
                                            .kv_heads = 8,
                                            .head_dim = 128,
                                            .ffn = 8192,
                                            .vocab = 128256,
                                            .tied = true,
                                            .gated = true};

/* One GPU, weights and states in 16 bits, compiled. */
static struct msim_strategy plain(void)
{
    return (struct msim_strategy){
        .gpus = 1,
        .nodes = 1,
        .dp = 1,
        .tp = 1,
        .pp = 1,
        .vp = 1,
        .cp = 1,
        .ep = 1,
        .micro_batch = 2,
        .grad_accum = 1,
        .global_batch = 2,
        .sequence = 4096,
        .precision = MSIM_PRECISION_BF16,
        .technique = {.compile = MSIM_STATED_YES,
                      .master_weights = MSIM_STATED_NO}};
}

static struct msim_memory memory(const struct msim_strategy *s)
{
    struct msim_memory_constants c = msim_memory_constants_start();

    return msim_memory_of(&LLAMA, s, &c);
}

static double step(const struct msim_strategy *s)
{
    struct msim_step_constants c = msim_step_constants_start();
    struct msim_terms t;

    CHECK_INT(msim_terms_make(&t, &pricer, &LLAMA, s, &err), MSIM_OK);
    return msim_step_us(&t, &c, NULL);
}

static const char *set(struct msim_techniques *t, enum msim_technique k,
                       const char *text, char *reason)
{
    return msim_technique_set(t, k, text, reason, 256);
}

static void test_technique__takes_ranges_lists_and_words(void)
{
    struct msim_techniques t = {0};
    char reason[256];

    CHECK(!msim_techniques_first(&t));
    CHECK(!set(&t, MSIM_TECHNIQUE_lora_rank, "64", reason));
    CHECK(!set(&t, MSIM_TECHNIQUE_lora_targets, "mlp", reason));
    CHECK(!set(&t, MSIM_TECHNIQUE_base_bits, "4", reason));
    CHECK(!set(&t, MSIM_TECHNIQUE_compile, "no", reason));
    CHECK_INT(t.lora_rank, 64);
    CHECK_INT(t.lora_targets, MSIM_LORA_MLP);
    CHECK_INT(t.base_bits, 4);
    CHECK_INT(t.compile, MSIM_STATED_NO);
    CHECK_STR(msim_techniques_first(&t), "lora_rank");
    CHECK_STR(set(&t, MSIM_TECHNIQUE_base_bits, "5", reason),
              "base_bits is '5', want one of 4 8 16");
    CHECK_STR(set(&t, MSIM_TECHNIQUE_compile, "ye", reason),
              "compile is 'ye', want one of no yes");
    CHECK_STR(set(&t, MSIM_TECHNIQUE_loss_chunks, "0", reason),
              "loss_chunks is '0', want a whole number, 1..65536");
}

/* 2 bytes of a weight, 2 of a gradient, 2 x 2 of states; with 8 bits 2 and two
 * 32-bit scales for 256 values. 3.21 G parameters. */
static void test_memory__counts_states_in_their_own_type(void)
{
    struct msim_strategy s = plain();
    double n = msim_described_parameters(&LLAMA);
    struct msim_memory m = memory(&s);

    CHECK_REL(m.parameters, 2 * n, 1e-3);
    CHECK_REL(m.gradients, 2 * n, 1e-3);
    CHECK_REL(m.optimizer, 4 * n, 1e-3);
    s.technique.optimizer_bits = 8;
    CHECK_REL(memory(&s).optimizer, n * (2 + 8.0 / 256), 1e-3);
}

/*
 * Compiled, a layer keeps for each of 8,192 tokens: four inputs of 3,072 and
 * keys and values once a head (2 x 3,072 beside queries and result, 2 x 3,072),
 * gate, up and their product (3 x 8,192): 98,304 bytes, 21 GiB of 28 layers.
 */
static void test_memory__counts_what_a_program_keeps(void)
{
    struct msim_strategy s = plain();
    double compiled = memory(&s).activations, plain_peak;

    CHECK_REL(compiled, 98304.0 * 8192 * 28, 0.01);
    /* And norms' inputs in 32 bits and results, silu's result. */
    s.technique.compile = MSIM_STATED_NO;
    plain_peak = memory(&s).activations;
    CHECK_REL(plain_peak, (98304.0 + 4 * 2 * 3072 + 2 * 8192) * 8192 * 28,
              0.01);
    /* With recomputation inputs alone wait: 28 x 8,192 x 6,144 bytes, and one
     * layer; copied to the host, two of them. */
    s = plain();
    s.recompute = MSIM_RECOMPUTE_FULL;
    CHECK_REL(memory(&s).activations, 8192.0 * (6144 * 28 + 98304), 0.01);
    s.offload = MSIM_OFFLOAD_ACTIVATIONS;
    CHECK_REL(memory(&s).activations, 8192.0 * (6144 * 2 + 98304), 0.01);
}

/* 8 bytes of a logit whole; of 8 chunks the gradients in 16 bits, while two
 * gradients of the table are added. */
static void test_memory__cuts_the_loss(void)
{
    struct msim_strategy s = plain();
    double logits = 8192.0 * 128256, table = 3072.0 * 128256;

    CHECK_REL(memory(&s).loss, 8 * logits, 1e-6);
    s.technique.loss_chunks = 8;
    CHECK_REL(memory(&s).loss, 2 * logits + 2 * 2 * table, 1e-6);
}

static void test_memory__falls_with_adapters(void)
{
    struct msim_strategy s = plain();
    double full = memory(&s).peak, lora, table = 3072.0 * 128256;
    double n = msim_described_parameters(&LLAMA);
    struct msim_memory m;

    s.technique.lora_rank = 8;
    m = memory(&s);
    lora = m.peak;
    /* Of seven matrices a layer: rank x (in + out), 12.2 M in all. */
    CHECK_REL(m.gradients / 2,
              28 * 8.0 *
                  (4 * 3072 + 3072 + 2 * 1024 + 3072 + 3 * (3072 + 8192)),
              0.01);
    CHECK(lora < full - 2 * n);
    /* Layers in 4 bits and an 8-bit scale for 64: 0.516 of 2 bytes. */
    s.technique.base_bits = 4;
    CHECK_REL(lora - memory(&s).peak, (2 - 0.5 - 1.0 / 64) * (n - table), 0.01);
}

/* Shards of ZeRO 3 come together in the bits that they are stored in: an eighth
 * of the layers on each GPU, and two of 28. */
static void test_memory__gathers_few_bits(void)
{
    struct msim_strategy s = plain();
    double n = msim_described_parameters(&LLAMA), table = 3072.0 * 128256;
    double layer = (n - table) / 28, saved, wide;

    s.gpus = s.dp = 8;
    s.global_batch *= 8;
    s.zero = 3;
    s.technique.lora_rank = 8;
    wide = memory(&s).parameters;
    s.technique.base_bits = 4;
    saved = wide - memory(&s).parameters;
    CHECK_REL(saved, (2 - 0.5 - 1.0 / 64) * (28 * layer / 8 + 2 * layer), 0.03);
}

/* Operator by operator, a layer in 4 bits keeps the inputs of `up` and `down`,
 * which have no adapter here; those of adapters and attention's result are kept
 * in 16 bits, too. */
static void test_memory__keeps_inputs_of_few_bits(void)
{
    struct msim_strategy s = plain();
    double kept[2][2];

    s.technique.lora_rank = 8;
    s.technique.lora_targets = MSIM_LORA_ATTENTION;
    for (int plainly = 0; plainly < 2; plainly++)
        for (int few = 0; few < 2; few++) {
            s.technique.compile = plainly ? MSIM_STATED_NO : MSIM_STATED_YES;
            s.technique.base_bits = few ? 4 : 16;
            kept[plainly][few] = memory(&s).activations;
        }
    CHECK_REL(kept[0][1], kept[0][0], 1e-9);
    CHECK_REL(kept[1][1] - kept[1][0], 28.0 * 8192 * 2 * (3072 + 8192), 1e-3);
}

/* Frozen: 4 FLOPs a parameter and token, not 6. */
static void test_parts__drop_gradients_of_frozen_weights(void)
{
    struct msim_strategy s = plain();
    struct msim_parts p;
    double linear[2] = {0};

    for (int lora = 0; lora < 2; lora++) {
        s.technique.lora_rank = lora;
        msim_parts_make(&p, &LLAMA, &s);
        for (uint32_t i = 0; i < p.part[1].n_ops; i++)
            if (p.part[1].ops[i].kind == MSIM_PART_OP_LINEAR)
                linear[lora] += p.part[1].ops[i].work.flops;
    }
    CHECK_REL(linear[1] / linear[0], 4.0 / 6, 0.01);
}

static void test_step__moves_as_physics_says(void)
{
    struct msim_strategy s = plain(), t = plain();
    double base = step(&s), copied, hidden;

    t.technique.compile = MSIM_STATED_NO;
    CHECK(step(&t) > 1.1 * base);
    t = plain();
    t.technique.document = 128; /* attention of short documents */
    CHECK(step(&t) < 0.95 * base);
    t = plain();
    t.technique.lora_rank = 8;
    CHECK(step(&t) < 0.85 * base && step(&t) > 0.6 * base);
    t.technique.base_bits = 4;
    CHECK(step(&t) < 0.9 * base);
    /* Copies of inputs hide behind compute; those of all activations do not:
     * 21 GiB each way at 25 GB/s are 0.9 s. */
    s.recompute = MSIM_RECOMPUTE_FULL;
    hidden = step(&s);
    s.offload = MSIM_OFFLOAD_ACTIVATIONS;
    copied = step(&s);
    CHECK(copied > hidden && copied < 1.01 * hidden);
    t = plain();
    t.offload = MSIM_OFFLOAD_ACTIVATIONS;
    CHECK(step(&t) > base + 0.4e6);
    /* The host updates 3.2 G weights of 28 bytes at 51 GB/s. */
    t = plain();
    t.offload = MSIM_OFFLOAD_OPTIMIZER;
    CHECK(step(&t) > base + 0.5e6);
}

static void test_step__waits_less_without_bubbles(void)
{
    struct msim_strategy s = plain();
    double usual, none;

    s.gpus = s.pp = 4;
    s.global_batch = 16;
    s.grad_accum = 8;
    usual = step(&s);
    s.technique.schedule = MSIM_SCHEDULE_ZERO_BUBBLE;
    none = step(&s);
    /* 3 of 11 steps are bubbles, 1 is left of those. */
    CHECK(none < usual && none > 0.75 * usual);
}

static void test_step__sends_narrow_messages_faster(void)
{
    struct msim_strategy s = plain();
    double wide;

    s.gpus = s.dp = 64;
    s.nodes = 8;
    s.global_batch = 128;
    wide = step(&s);
    s.technique.gradient_bits = 8;
    CHECK(step(&s) < wide);
}

/* Logits and the weights that make them are dealt to tensor parallel ranks: two
 * have half of each, whichever of loss and head has more. */
static void test_loss__is_dealt_to_ranks(void)
{
    static const int64_t SEQUENCES[] = {128, 512, 8192};

    for (int i = 0; i < 3; i++) {
        struct msim_strategy s = plain();
        struct msim_parts one, two;

        s.sequence = SEQUENCES[i];
        msim_parts_make(&one, &LLAMA, &s);
        s.tp = s.gpus = 2;
        msim_parts_make(&two, &LLAMA, &s);
        CHECK(one.part[one.n - 1].loss > 0);
        CHECK_REL(two.part[two.n - 1].loss, one.part[one.n - 1].loss / 2,
                  1e-12);
    }
}

/* What rope adds where nothing is compiled, of both passes: of queries and keys
 * of 2 x 4,096 tokens, 32 heads of 128, 24 bytes read and 20 written forward,
 * 54 and 54 backward. */
static void test_parts__plain_rope(void)
{
    struct msim_described m = LLAMA;
    struct msim_strategy s = plain();
    const struct msim_part *part;
    struct msim_parts p;
    double read = 0, written = 0;

    m.positions = MSIM_POSITIONS_ROPE;
    s.technique.compile = MSIM_STATED_NO;
    msim_parts_make(&p, &m, &s);
    part = msim_parts_find(&p, MSIM_PART_DENSE);
    for (uint32_t k = 0; k < part->n_ops; k++) {
        const struct msim_part_op *op = &part->ops[k];

        if (op->kind == MSIM_PART_OP_PLAIN && strcmp(op->name, "rope") == 0) {
            read += (double)op->work.bytes_read;
            written += (double)op->work.bytes_written;
        }
    }
    CHECK_REL(read, 8192.0 * 32 * 128 * (24 + 54), 1e-9);
    CHECK_REL(written, 8192.0 * 32 * 128 * (20 + 54), 1e-9);
}

int main(void)
{
    if (msim_platform_load(&a100, MSIM_DATA, "a100", &err) != MSIM_OK)
        return 1;
    pricer = (struct msim_pricer){.platform = a100};
    RUN(test_technique__takes_ranges_lists_and_words);
    RUN(test_parts__plain_rope);
    RUN(test_memory__counts_states_in_their_own_type);
    RUN(test_memory__counts_what_a_program_keeps);
    RUN(test_memory__cuts_the_loss);
    RUN(test_memory__falls_with_adapters);
    RUN(test_memory__gathers_few_bits);
    RUN(test_memory__keeps_inputs_of_few_bits);
    RUN(test_parts__drop_gradients_of_frozen_weights);
    RUN(test_step__moves_as_physics_says);
    RUN(test_step__waits_less_without_bubbles);
    RUN(test_step__sends_narrow_messages_faster);
    RUN(test_loss__is_dealt_to_ranks);
    msim_pricer_release(&pricer);
    msim_platform_free(a100);
    return check_summary();
}
