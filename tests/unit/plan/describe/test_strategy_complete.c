/* plan/describe/strategy_complete.c: what follows from what is given, what is
 * assumed, and each way in which model and strategy do not go together. */
#include "plan/describe/strategy.h"
#include "tests/check.h"

#include <stdlib.h>

static struct msim_strategy s;
static struct msim_described model;
static char defaults[256], reason[256];

/* Four layers, 8 heads, a network of 48. */
static void begin(void)
{
    model = (struct msim_described){.type = MSIM_MODEL_DECODER,
                                    .layers = 4,
                                    .hidden = 64,
                                    .heads = 8,
                                    .kv_heads = 8,
                                    .head_dim = 8,
                                    .ffn = 48,
                                    .vocab = 1000};
}

/* Complete "tp=2 pp=4", on servers of `usual` GPUs; "" or why not. */
static const char *with(const char *members, int64_t usual)
{
    char text[256], *rest = text, *word;
    uint64_t given = 0;

    snprintf(text, sizeof(text), "%s", members);
    memset(&s, 0, sizeof(s));
    while ((word = strtok_r(rest, " ", &rest))) {
        char *value = strchr(word, '=');
        int g = 0;

        *value++ = '\0';
        while (g < MSIM_GIVEN_COUNT &&
               strcmp(msim_given_text((enum msim_given)g), word) != 0)
            g++;
        if (!CHECK(g < MSIM_GIVEN_COUNT) ||
            !CHECK(!msim_strategy_set(&s, (enum msim_given)g, value, &given,
                                      reason, sizeof(reason))))
            return "not set";
    }
    reason[0] = '\0';
    return msim_strategy_complete(&s, given, &model, usual, defaults,
                                  sizeof(defaults), reason, sizeof(reason))
               ? reason
               : "";
}

static void test_strategy_complete__of_nothing(void)
{
    begin();
    CHECK_STR(with("", 8), "");
    CHECK_INT(s.gpus, 1);
    CHECK_INT(s.nodes, 1);
    CHECK_INT(s.dp, 1);
    CHECK_INT(s.tp * s.pp * s.vp * s.cp * s.ep, 1);
    CHECK_INT(s.zero, 0);
    CHECK_INT(s.micro_batch, 1);
    CHECK_INT(s.grad_accum, 1);
    CHECK_INT(s.global_batch, 1);
    CHECK_INT(s.sequence, 2048);
    CHECK_INT(s.precision, MSIM_PRECISION_BF16);
    CHECK_INT(s.recompute, MSIM_RECOMPUTE_NONE);
    CHECK_INT(s.gpus_a_node, 8);
    CHECK_STR(defaults, "tp=1 pp=1 vp=1 cp=1 ep=1 micro_batch=1 sequence=2048 "
                        "zero=0 precision=bf16 recompute=none "
                        "framework=common");
    CHECK_STR(with("tp=1 pp=1 vp=1 cp=1 ep=1 micro_batch=1 sequence=64 zero=1 "
                   "precision=fp16 recompute=full framework=megatron",
                   8),
              "");
    CHECK_STR(defaults, "");
}

/* Each is assumed by itself. */
static void test_strategy_complete__assumes(void)
{
    static const char *const MEMBERS[] = {
        "tp=1",           "pp=1",          "vp=1",          "cp=1",
        "ep=1",           "zero=0",        "micro_batch=1", "sequence=2048",
        "precision=bf16", "recompute=none"};

    begin();
    for (size_t i = 0; i < sizeof(MEMBERS) / sizeof(*MEMBERS); i++) {
        CHECK_STR(with(MEMBERS[i], 8), "");
        for (size_t k = 0; k < sizeof(MEMBERS) / sizeof(*MEMBERS); k++)
            if ((strstr(defaults, MEMBERS[k]) != NULL) != (k != i))
                CHECK_STR(defaults, MEMBERS[k]);
    }
    CHECK_STR(with("framework=nanotron", 8), "");
    CHECK(strstr(defaults, "framework") == NULL);
}

/* dp of the GPUs, GPUs of dp, the batch of both, and back. */
static void test_strategy_complete__follows(void)
{
    begin();
    CHECK_STR(with("gpus=48 tp=2 pp=4 cp=2", 8), "");
    CHECK_INT(s.dp, 3);
    CHECK_INT(s.nodes, 6);
    CHECK_STR(with("dp=3 tp=2", 8), "");
    CHECK_INT(s.gpus, 6);
    CHECK_INT(s.nodes, 1);
    CHECK_STR(with("tp=2 cp=2", 8), "");
    CHECK_INT(s.gpus, 4);
    CHECK_INT(s.dp, 1);
    CHECK_STR(with("gpus=12 dp=6 tp=2", 8), "");
    CHECK_INT(s.nodes, 2);
    CHECK_STR(with("gpus=2 global_batch=24 micro_batch=3", 8), "");
    CHECK_INT(s.grad_accum, 4);
    CHECK_STR(with("gpus=2 grad_accum=5 micro_batch=3", 8), "");
    CHECK_INT(s.global_batch, 30);
    CHECK_STR(with("gpus=2 micro_batch=3", 8), "");
    CHECK_INT(s.global_batch, 6);
    CHECK_INT(s.grad_accum, 1);
    CHECK_STR(with("gpus=2 global_batch=12 micro_batch=3 grad_accum=2", 8), "");
}

/* GPUs of a node: those of the nodes that are given, but of racks. */
static void test_strategy_complete__nodes(void)
{
    begin();
    CHECK_STR(with("gpus=16 nodes=1", 8), "");
    CHECK_INT(s.gpus_a_node, 16);
    CHECK_STR(with("gpus=15 nodes=2", 16), "");
    CHECK_INT(s.gpus_a_node, 8);
    CHECK_STR(with("gpus=16 nodes=4", 17), "");
    CHECK_INT(s.gpus_a_node, 17);
    CHECK_INT(s.nodes, 4);
    CHECK_STR(with("gpus=17", 8), "");
    CHECK_INT(s.nodes, 3);
    CHECK_INT(s.gpus_a_node, 8);
    CHECK_STR(with("gpus=2 nodes=2", 8), "");
    CHECK_STR(with("gpus=2 nodes=3", 8), "nodes is 3, but gpus is 2");
}

/* Attention in parts on several nodes computes whole layers again. */
static void test_strategy_complete__recomputes(void)
{
    uint32_t none = 0;

    begin();
    for (int i = 0; i < 4; i++) {
        memset(&s, 0, sizeof(s));
        s.unfused = i % 2;
        s.nodes = s.gpus = s.dp = i / 2 + 1;
        none = 1ULL << MSIM_GIVEN_nodes | 1ULL << MSIM_GIVEN_gpus |
               1ULL << MSIM_GIVEN_dp;
        CHECK(!msim_strategy_complete(&s, none, &model, 8, defaults,
                                      sizeof(defaults), reason,
                                      sizeof(reason)));
        CHECK_INT(s.recompute,
                  i == 3 ? MSIM_RECOMPUTE_FULL : MSIM_RECOMPUTE_NONE);
        CHECK(strstr(defaults, i == 3 ? "recompute=full" : "recompute=none") !=
              NULL);
    }
}

struct refused {
    const char *members, *says;
};

static void check_refused(const struct refused *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        CHECK_STR(with(rows[i].members, 8), rows[i].says);
}

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

static void test_strategy_complete__refuses_splits(void)
{
    static const struct refused ROWS[] = {
        {"gpus=9 tp=2", "gpus 9 cannot be split by tp x pp x cp 2"},
        {"gpus=8 dp=3 tp=2", "dp x tp x pp x cp is 6, but gpus is 8"},
        {"gpus=2 global_batch=7 micro_batch=3",
         "global_batch 7 cannot be split by dp x micro_batch 6"},
        {"gpus=2 global_batch=7 micro_batch=3 grad_accum=1",
         "dp x micro_batch x grad_accum is 6, but global_batch is 7"},
        {"tp=3", "heads 8 cannot be split by tp 3"},
        {"cp=2 sequence=7", "sequence 7 cannot be split by cp 2"},
        {"ep=2", "ep is 2, but the model has no experts"},
        {"pp=7", "pp x vp is 7, but the model has 4 layers"},
        {"pp=2 vp=4", "pp x vp is 8, but the model has 4 layers"},
        {"vp=2", "vp is 2, but pp is 1"},
    };

    begin();
    check_refused(ROWS, COUNT(ROWS));
    CHECK_STR(with("pp=6", 8), ""); /* embedding and head may be alone */
    CHECK_STR(with("pp=3 vp=2", 8), "");
    model.heads = 32;
    CHECK_STR(with("tp=32", 8), "ffn 48 cannot be split by tp 32");
    model.ffn = 0; /* all layers have experts */
    CHECK_STR(with("tp=32", 8), "");
    model.moe.experts = 6;
    model.moe.topk = 2;
    CHECK_STR(with("gpus=4 ep=4", 8), "experts 6 cannot be split by ep 4");
    CHECK_STR(with("gpus=2 ep=3", 8), "dp x cp x tp 2 cannot be split by ep 3");
    CHECK_STR(with("gpus=2 ep=2", 8), "");
    CHECK_STR(with("tp=2 cp=3 sequence=6 ep=6", 8), "");
    begin();
    model.linear.layers = 3;
    CHECK_STR(with("", 8), "the model has 3 layers of linear attention, whose "
                           "training is not described");
}

/* Megatron-Core's default where ep leaves tensor parallel ranks alone. */
static void test_strategy_complete__splits_experts(void)
{
    static const struct {
        const char *members;
        int64_t etp, copies, apart;
    } ROWS[] = {{"gpus=8 tp=8", 8, 1, 8},
                {"gpus=8 tp=2", 2, 4, 2},
                {"gpus=8 tp=2 ep=4", 2, 1, 8},
                {"gpus=16 tp=2 cp=2 ep=2", 2, 4, 4},
                {"gpus=8 tp=4 ep=8", 1, 1, 8},
                {"gpus=8 tp=2 ep=4 etp=2", 2, 1, 8},
                {"gpus=8 tp=2 ep=4 etp=1", 1, 2, 4},
                {"gpus=8 tp=8 etp=1", 1, 8, 1},
                {"gpus=32 tp=2 pp=4 etp=1", 1, 8, 1},
                {"gpus=8", 1, 8, 1}};
    static const struct refused REFUSED[] = {
        {"gpus=8 tp=8 etp=2", "etp is 2, want 1 (experts are whole) or 8, as "
                              "tp (they are split as all else)"},
        {"gpus=8 tp=2 ep=8 etp=2", "dp x cp 4 cannot be split by ep 8"},
        {"gpus=8 tp=2 ep=3 etp=1", "experts 8 cannot be split by ep 3"},
        {"gpus=48 tp=16", "ffn of an expert 24 cannot be split by etp 16"},
        {"gpus=8 grad_accum=2 dispatch_overlap=yes",
         "dispatch_overlap is yes, but ep is 1: no token is sent to experts"},
        {"gpus=8 ep=8 grad_accum=1 dispatch_overlap=yes",
         "dispatch_overlap is yes, but grad_accum is 1: tokens of a micro "
         "batch go beside computing of another"},
    };

    begin();
    CHECK_STR(with("gpus=8 tp=2", 8), "");
    CHECK_INT(s.etp, 2);
    CHECK_STR(with("gpus=8 tp=2 etp=1", 8),
              "etp is 1, but the model has no experts");
    model.moe.experts = 8;
    model.moe.topk = 2;
    model.moe.ffn = 24;
    model.heads = 16;
    for (size_t i = 0; i < COUNT(ROWS); i++) {
        CHECK_STR(with(ROWS[i].members, 8), "");
        CHECK_INT(s.etp, ROWS[i].etp);
        CHECK_INT(msim_expert_copies(&s), ROWS[i].copies);
        CHECK_INT(msim_expert_copies_apart(&s), ROWS[i].apart);
        CHECK_INT(msim_expert_copies_are_usual(&s), s.ep == 1 && s.etp == s.tp);
        CHECK(strstr(defaults, "etp") == NULL);
    }
    check_refused(REFUSED, COUNT(REFUSED));
    model.moe.shared_experts = 1;
    CHECK_STR(with("tp=16 etp=1", 16),
              "ffn of shared experts 24 cannot be split by tp 16");
}

/* What is completed may be completed again, with another tp: 0 is not given. */
static void test_strategy_complete__splits_experts_again(void)
{
    uint64_t all = (1ULL << MSIM_GIVEN_COUNT) - 1;

    begin();
    model.moe.experts = 8;
    model.moe.topk = 2;
    model.moe.ffn = 24;
    CHECK_STR(with("gpus=8 tp=4", 8), "");
    s.tp = 2;
    s.dp = 4;
    s.grad_accum = s.global_batch = 0;
    all &= ~(1ULL << MSIM_GIVEN_grad_accum | 1ULL << MSIM_GIVEN_global_batch);
    CHECK_STR(msim_strategy_complete(&s, all, &model, 8, defaults,
                                     sizeof(defaults), reason, sizeof(reason)),
              "etp is 4, want 1 (experts are whole) or 2, as tp (they are "
              "split as all else)");
    s.etp = 0;
    CHECK(!msim_strategy_complete(&s, all, &model, 8, defaults,
                                  sizeof(defaults), reason, sizeof(reason)));
    CHECK_INT(s.etp, 2);
}

static void test_strategy_complete__refuses_techniques(void)
{
    static const struct refused ROWS[] = {
        {"base_bits=4", "base_bits is given without lora_rank: only frozen "
                        "weights are kept in fewer bits"},
        {"lora_targets=all", "lora_targets is given without lora_rank"},
        {"lora_rank=65", "lora_rank is above the model's hidden"},
        {"optimizer_in_backward=yes grad_accum=2",
         "optimizer_in_backward is yes, but grad_accum is above 1: gradients "
         "of several micro batches are summed first"},
        {"loss_chunks=2049", "loss_chunks is above the sequence"},
        {"document=2049", "document is above the sequence"},
        {"schedule=interleaved pp=2",
         "schedule is interleaved, but vp is 1: stages are not cut"},
        {"schedule=zero-bubble",
         "schedule is zero-bubble: want pp above 1 and vp 1"},
        {"schedule=zero-bubble pp=2 vp=2",
         "schedule is zero-bubble: want pp above 1 and vp 1"},
        {"schedule=1f1b pp=2 vp=2",
         "schedule is 1f1b, but vp is above 1: that is interleaved"},
    };
    static const char *const FINE[] = {
        "base_bits=4 lora_rank=64 lora_targets=all",
        "optimizer_in_backward=yes grad_accum=1",
        "optimizer_in_backward=no grad_accum=2",
        "loss_chunks=2048 document=2048",
        "schedule=interleaved pp=2 vp=2",
        "schedule=zero-bubble pp=2",
        "schedule=1f1b pp=2"};

    begin();
    check_refused(ROWS, COUNT(ROWS));
    for (size_t i = 0; i < COUNT(FINE); i++)
        CHECK_STR(with(FINE[i], 8), "");
    model.moe.experts = 8;
    CHECK_STR(with("lora_rank=8 lora_targets=all", 8),
              "the model has experts, whose weights get no adapters: want "
              "lora_targets attention");
    CHECK_STR(with("lora_rank=8 lora_targets=attention", 8), "");
}

/* Its tables are spread over all GPUs; the rest is on each. */
static void test_strategy_complete__of_a_dlrm(void)
{
    static const struct refused ROWS[] = {
        {"tp=2", "tp is not 1"},
        {"pp=2", "pp is not 1"},
        {"vp=2", "vp is not 1"},
        {"cp=2", "cp is not 1"},
        {"ep=2", "ep is not 1"},
        {"zero=1", "zero is not 0"},
        {"grad_accum=2", "grad_accum is not 1"},
        {"recompute=full", "recompute is not none"},
        {"offload=optimizer", "offload is not none"},
        {"precision=fp8", "precision is not one of 16 or 32 bits"},
    };

    begin();
    model.type = MSIM_MODEL_DLRM;
    for (size_t i = 0; i < COUNT(ROWS); i++) {
        char want[256];

        snprintf(want, sizeof(want),
                 "%s, but the model is a dlrm: its tables are spread over all "
                 "GPUs, the rest is data parallel",
                 ROWS[i].says);
        CHECK_STR(with(ROWS[i].members, 8), want);
    }
    CHECK_STR(with("gpus=8 global_batch=64 micro_batch=8", 8), "");
    CHECK(strstr(defaults, "sequence") == NULL); /* it has none to assume */
}

/* Images say their tokens, tables of positions how many there may be. */
static void test_strategy_complete__sequences(void)
{
    begin();
    model.type = MSIM_MODEL_VIT;
    model.image.size = 224;
    model.image.patch = 16;
    CHECK_STR(with("", 8), "");
    CHECK_INT(s.sequence, 197);
    CHECK(strstr(defaults, "sequence") == NULL);
    CHECK_STR(with("sequence=197", 8), "");
    CHECK_STR(with("sequence=196", 8),
              "sequence is 196, but the model has as many tokens as its images "
              "make: 197");
    begin();
    model.type = MSIM_MODEL_ENCODER;
    model.positions = MSIM_POSITIONS_LEARNED;
    model.max_positions = 512;
    CHECK_STR(with("", 8), "");
    CHECK_INT(s.sequence, 512);
    CHECK(strstr(defaults, "sequence=512") != NULL);
    CHECK_STR(with("sequence=512", 8), "");
    CHECK_STR(with("sequence=513", 8),
              "sequence is 513, but the model has positions up to 512");
    CHECK_STR(with("sequence=128", 8), "");
    CHECK_INT(s.sequence, 128);
}

int main(void)
{
    RUN(test_strategy_complete__of_nothing);
    RUN(test_strategy_complete__assumes);
    RUN(test_strategy_complete__follows);
    RUN(test_strategy_complete__nodes);
    RUN(test_strategy_complete__recomputes);
    RUN(test_strategy_complete__refuses_splits);
    RUN(test_strategy_complete__splits_experts);
    RUN(test_strategy_complete__splits_experts_again);
    RUN(test_strategy_complete__refuses_techniques);
    RUN(test_strategy_complete__of_a_dlrm);
    RUN(test_strategy_complete__sequences);
    return check_summary();
}
