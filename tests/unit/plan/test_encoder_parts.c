/* Parts of encoders and vision transformers: their sizes add up. */
#include "plan/describe/describe.h"
#include "plan/parts/parts.h"
#include "tests/check.h"

static double parameters(const struct msim_parts *p)
{
    double sum = 0;

    for (uint32_t i = 0; i < p->n; i++)
        sum += p->part[i].layers * p->part[i].parameters;
    return sum;
}

/* FLOPs of operators of one family. */
static double flops(const struct msim_parts *p, enum msim_family family)
{
    double sum = 0;

    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t k = 0; k < p->part[i].n_ops; k++)
            if (p->part[i].ops[k].work.family == family)
                sum += p->part[i].ops[k].work.flops * p->part[i].layers;
    return sum;
}

/* What operators of one kind read. */
static double bytes(const struct msim_parts *p, enum msim_part_op_kind kind)
{
    double sum = 0;

    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t k = 0; k < p->part[i].n_ops; k++)
            if (p->part[i].ops[k].kind == kind)
                sum += (double)p->part[i].ops[k].work.bytes_read *
                       p->part[i].layers;
    return sum;
}

static struct msim_described read(const char *name)
{
    struct msim_described m;
    struct msim_error err = {0};

    CHECK(msim_described_find(&m, name, MSIM_DATA, NULL, &err) == MSIM_OK);
    return m;
}

static struct msim_strategy of(int64_t micro_batch, int64_t sequence)
{
    return (struct msim_strategy){.gpus = 1,
                                  .nodes = 1,
                                  .tp = 1,
                                  .pp = 1,
                                  .vp = 1,
                                  .cp = 1,
                                  .ep = 1,
                                  .dp = 1,
                                  .micro_batch = micro_batch,
                                  .grad_accum = 1,
                                  .global_batch = micro_batch,
                                  .sequence = sequence,
                                  .precision = MSIM_PRECISION_BF16};
}

/* What the parts hold is what the model has, to the last bias. */
static void test_parts__hold_all_parameters(void)
{
    static const char *const MODELS[] = {"bert-base", "bert-large", "vit-b-16",
                                         "vit-l-16"};

    for (size_t i = 0; i < sizeof(MODELS) / sizeof(*MODELS); i++) {
        struct msim_described m = read(MODELS[i]);
        struct msim_strategy s = of(4, msim_described_sequence(&m, 128));
        struct msim_parts p;

        msim_parts_make(&p, &m, &s);
        CHECK_REL(parameters(&p), msim_described_parameters(&m), 1e-12);
    }
}

/* 6 FLOPs a token and weight of a matrix, that of the logits too. */
static void test_parts__have_the_flops_of_bert(void)
{
    struct msim_described m = read("bert-base");
    struct msim_strategy s = of(4, 128);
    struct msim_parts p;
    double h = 768, layer = 4 * h * h + 2 * h * 3072;
    double weights = 12 * layer + h * h + 30522 * h;

    msim_parts_make(&p, &m, &s);
    CHECK_REL(flops(&p, MSIM_FAMILY_GEMM), 6 * 512 * weights, 1e-9);
    /* All pairs of tokens: nothing is hidden from an encoder's. Scores and sums
     * take 4 FLOPs a pair and channel forward, 10 backward. */
    CHECK_REL(flops(&p, MSIM_FAMILY_ATTENTION), 12 * 14.0 * 4 * 128 * 128 * h,
              1e-9);
}

/* Patches: 2 FLOPs a pixel, channel and width forward, and again for the
 * weights' gradient; an image has none. */
static void test_parts__have_the_flops_of_patches(void)
{
    struct msim_described m = read("vit-b-16");
    struct msim_strategy s = of(8, 197);
    struct msim_parts p;

    msim_parts_make(&p, &m, &s);
    CHECK_REL(flops(&p, MSIM_FAMILY_CONV), 2 * 2.0 * 8 * 224 * 224 * 3 * 768,
              1e-9);
}

/* A logit a token and word: read in 16 bits to be copied into 32, twice for the
 * loss, once for its gradient, which is read to be copied into 16. */
static void test_parts__have_the_loss_of_all_logits(void)
{
    struct msim_described m = read("bert-base");
    struct msim_strategy s = of(4, 128);
    struct msim_parts p;

    msim_parts_make(&p, &m, &s);
    CHECK_REL(bytes(&p, MSIM_PART_OP_LOSS), (2 + 2 * 4 + 4 + 4) * 512.0 * 30522,
              1e-9);
}

/* A number has 4 bytes in 32 bits, and 2 in 16. */
static void test_parts__double_in_fp32(void)
{
    struct msim_described m = read("bert-base");
    struct msim_strategy s = of(4, 128);
    struct msim_parts half, full;

    msim_parts_make(&half, &m, &s);
    s.precision = MSIM_PRECISION_FP32;
    msim_parts_make(&full, &m, &s);
    CHECK_REL(bytes(&full, MSIM_PART_OP_POINTWISE),
              2 * bytes(&half, MSIM_PART_OP_POINTWISE), 1e-9);
    CHECK_REL(full.part[1].input, 2 * half.part[1].input, 1e-9);
    CHECK_REL(full.part[1].input, 4 * 512.0 * 768, 1e-9);
}

int main(void)
{
    RUN(test_parts__hold_all_parameters);
    RUN(test_parts__have_the_flops_of_bert);
    RUN(test_parts__have_the_flops_of_patches);
    RUN(test_parts__have_the_loss_of_all_logits);
    RUN(test_parts__double_in_fp32);
    return check_summary();
}
