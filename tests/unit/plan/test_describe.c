/* Described models and strategies: what is read, refused and derived. */
#include "plan/describe/describe.h"
#include "plan/describe/strategy.h"
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

static struct msim_error err;

/* Read a model from text. */
static enum msim_status read_text(struct msim_described *m, const char *text)
{
    char path[] = "msim-test-describe-XXXXXX";
    int fd = mkstemp(path);
    enum msim_status status = MSIM_EIO;

    err = (struct msim_error){0};
    if (fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text))
        status = msim_described_read(m, path, &err);
    if (fd >= 0)
        close(fd);
    unlink(path);
    return status;
}

static void test_describe__counts_published_parameters(void)
{
    static const struct {
        const char *name;
        double billions;
    } MODELS[] = {{"llama3-8b", 8.03},      {"llama3-70b", 70.6},
                  {"llama3.1-405b", 405.9}, {"qwen3-30b-a3b", 30.5},
                  {"mpt-7b", 6.65},         {"deepseek-v3", 671}};

    for (size_t i = 0; i < sizeof(MODELS) / sizeof(MODELS[0]); i++) {
        struct msim_described m;
        double billions;

        REQUIRE(msim_described_find(&m, MODELS[i].name, MSIM_DATA, NULL,
                                    &err) == MSIM_OK);
        billions = msim_described_parameters(&m) / 1e9;
        CHECK(fabs(billions / MODELS[i].billions - 1) < 0.012);
    }
}

static void test_describe__reads_hugging_face(void)
{
    struct msim_described m;

    REQUIRE(read_text(&m,
                      "{\"model_type\": \"mixtral\", \"hidden_size\": 4096,"
                      "\"num_hidden_layers\": 32, \"num_attention_heads\": 32,"
                      "\"num_key_value_heads\": 8, \"vocab_size\": 32000,"
                      "\"intermediate_size\": 14336, \"num_local_experts\": 8,"
                      "\"num_experts_per_tok\": 2,"
                      "\"tie_word_embeddings\": false}") == MSIM_OK);
    CHECK_INT(m.moe.experts, 8);
    CHECK_INT(m.moe.ffn, 14336);
    CHECK_INT(m.head_dim, 128);
    CHECK(fabs(msim_described_parameters(&m) / 46.7e9 - 1) < 0.01);
}

/*
 * To the last parameter, as transformers counts them: BertForMaskedLM of
 * bert-base-uncased and bert-large-uncased, ViTForImageClassification of
 * vit-base-patch16-224 and vit-large-patch16-224.
 */
/* Every fourth of eight layers sees all keys, the others keep a state; a
 * second stack, which sees, is not described. */
static void test_describe__reads_what_serving_asks(void)
{
    struct msim_described m;

    REQUIRE(
        read_text(&m,
                  "{\"model_type\": \"qwen3_5_moe\", \"text_config\": {"
                  "\"model_type\": \"qwen3_5_moe_text\", \"hidden_size\": 512,"
                  "\"num_hidden_layers\": 8, \"num_attention_heads\": 8,"
                  "\"num_key_value_heads\": 2, \"head_dim\": 64,"
                  "\"vocab_size\": 1000, \"attn_output_gate\": true,"
                  "\"full_attention_interval\": 4, \"num_experts\": 16,"
                  "\"num_experts_per_tok\": 4, \"moe_intermediate_size\": 128,"
                  "\"shared_expert_intermediate_size\": 256,"
                  "\"linear_num_key_heads\": 4, \"linear_num_value_heads\": 8,"
                  "\"linear_key_head_dim\": 32,"
                  "\"linear_value_head_dim\": 32}}") == MSIM_OK);
    CHECK_INT(m.linear.layers, 6);
    CHECK_INT(m.moe.shared_experts, 2);
    CHECK(m.gated_attention && m.qk_norm);
    REQUIRE(read_text(&m,
                      "{\"model_type\": \"gpt_oss\", \"hidden_size\": 64,"
                      "\"num_hidden_layers\": 4, \"num_attention_heads\": 4,"
                      "\"vocab_size\": 10, \"num_local_experts\": 4,"
                      "\"num_experts_per_tok\": 2, \"sliding_window\": 128,"
                      "\"intermediate_size\": 64, \"layer_types\": ["
                      "\"sliding_attention\", \"full_attention\","
                      "\"sliding_attention\", \"full_attention\"],"
                      "\"quantization_config\": {\"quant_method\": \"mxfp4\","
                      "\"modules_to_not_convert\": [\"x.self_attn\"]}}") ==
            MSIM_OK);
    CHECK_INT(m.window, 128);
    CHECK_INT(m.window_layers, 2);
    CHECK_INT(m.window_every, 2);
    CHECK_INT(m.stored.bits, 4);
    CHECK_INT(m.stored.activation_bits, 16);
    CHECK(!m.stored.attention && m.stored.floating);
}

static void test_describe__counts_encoders_exactly(void)
{
    static const struct {
        const char *name;
        double parameters;
    } MODELS[] = {{"bert-base", 109514298},
                  {"bert-large", 335174458},
                  {"vit-b-16", 86567656},
                  {"vit-l-16", 304326632},
                  /* 187,767,399 rows of 128; MLPs of 13-512-256-128 and
                   * 479-1024-1024-512-256-1. */
                  {"dlrm-mlperf", 187767399.0 * 128 + 7168 + 131328 + 32896 +
                                      491520 + 1049600 + 524800 + 131328 +
                                      257}};

    for (size_t i = 0; i < sizeof(MODELS) / sizeof(MODELS[0]); i++) {
        struct msim_described m;

        REQUIRE(msim_described_find(&m, MODELS[i].name, MSIM_DATA, NULL,
                                    &err) == MSIM_OK);
        CHECK_REL(msim_described_parameters(&m), MODELS[i].parameters, 1e-12);
    }
}

#define BERT(class, more)                                                      \
    "{\"architectures\": [\"" class "\"], \"hidden_size\": 768,"               \
                                    "\"num_hidden_layers\": 12, "              \
                                    "\"num_attention_heads\": 12,"             \
                                    "\"intermediate_size\": 3072, " more "}"

/* RobertaForMaskedLM has 124.7 million (roberta-base), BertForPreTraining 110.1
 * (bert-base), ViTForImageClassification of ten classes 85.8. */
static void test_describe__reads_encoders_of_hugging_face(void)
{
    static const struct {
        const char *text;
        double parameters;
    } MODELS[] = {
        {BERT("RobertaForMaskedLM",
              "\"model_type\": \"roberta\", \"max_position_embeddings\": 514,"
              "\"type_vocab_size\": 1, \"vocab_size\": 50265"),
         124697433},
        {BERT("BertForPreTraining",
              "\"model_type\": \"bert\", \"max_position_embeddings\": 512,"
              "\"type_vocab_size\": 2, \"vocab_size\": 30522"),
         110106428},
        {BERT("BertForSequenceClassification",
              "\"model_type\": \"bert\", \"vocab_size\": 30522"),
         109483778},
        {BERT("ViTForImageClassification",
              "\"model_type\": \"vit\", \"image_size\": 224,"
              "\"patch_size\": 16, \"num_channels\": 3, \"id2label\": "
              "{\"0\": \"a\", \"1\": \"b\", \"2\": \"c\"}"),
         85798656 + 3 * 769},
    };

    for (size_t i = 0; i < sizeof(MODELS) / sizeof(MODELS[0]); i++) {
        struct msim_described m;

        REQUIRE(read_text(&m, MODELS[i].text) == MSIM_OK);
        CHECK(m.encoder);
        CHECK_REL(msim_described_parameters(&m), MODELS[i].parameters, 1e-12);
    }
}

/* What a file need not say of images: 3 channels. */
static void test_describe__images_are_in_colour(void)
{
    static const char *const TEXTS[] = {"", ", \"channels\": 1"};
    static const int64_t CHANNELS[] = {3, 1};

    for (int i = 0; i < 2; i++) {
        struct msim_described m;
        char text[256];

        snprintf(text, sizeof(text),
                 "{\"type\": \"vit\", \"layers\": 2, \"hidden\": 8, "
                 "\"heads\": 2, \"ffn\": 8, \"image\": 32, \"patch\": 4, "
                 "\"classes\": 9%s}",
                 TEXTS[i]);
        REQUIRE(read_text(&m, text) == MSIM_OK);
        CHECK_INT(m.image.channels, CHANNELS[i]);
        CHECK_INT(msim_described_sequence(&m, 0), 8 * 8 + 1);
    }
}

static void test_describe__names_what_is_wrong(void)
{
    static const struct {
        const char *text, *want;
    } CASES[] = {
        {"{\"layers\": 2}", "hidden is missing, want a whole number from 1"},
        {"{\"layers\": 0, \"hidden\": 8, \"heads\": 2, \"vocab\": 9, "
         "\"ffn\": 9}",
         "layers is 0, want a whole number from 1"},
        {"{\"layers\": 2, \"hidden\": 9, \"heads\": 2, \"vocab\": 9, "
         "\"ffn\": 9}",
         "heads is 2, want a divisor"},
        {"{\"layer\": 2}", "layer is not known, did you mean layers?"},
        {"{\"layers\": 2, \"hidden\": 8, \"heads\": 2, \"vocab\": 9, "
         "\"moe\": {\"experts\": 4, \"topk\": 9, \"ffn\": 8}}",
         "moe.topk is 9, want at most"},
        {"{\"layers\": 2, \"hidden\": 8, \"heads\": 2, \"vocab\": 9, "
         "\"moe\": {\"experts\": 4, \"topk\": 1, \"ffn\": 8, \"groups\": 5}}",
         "moe.groups is 5, want at most the number of experts"},
        {"{\"layers\": 2, \"hidden\": 8, \"heads\": 2, \"vocab\": 9, "
         "\"moe\": {\"experts\": 4, \"topk\": 1, \"ffn\": 8, "
         "\"topk_groups\": 1}}",
         "moe.topk_groups is 1, want at most \"groups\""},
        {"{\"layers\": 2, \"hidden\": 8, \"heads\": 2, \"vocab\": 9, "
         "\"norm\": \"batch\", \"ffn\": 8}",
         "norm is \"batch\", want rmsnorm or layernorm"},
        {"{\"type\": \"encoder\", \"layers\": 2, \"hidden\": 8, \"heads\": 3, "
         "\"vocab\": 9, \"ffn\": 8}",
         "heads is 3, want a divisor"},
        {"{\"type\": \"vit\", \"layers\": 2, \"hidden\": 8, \"heads\": 2, "
         "\"ffn\": 8, \"image\": 32, \"patch\": 5, \"classes\": 9}",
         "patch is 5, want a divisor"},
        {"{\"type\": \"dlrm\", \"dense\": 13, \"dim\": 8, \"bottom\": [9], "
         "\"top\": [1], \"tables\": [{\"rows\": 9}]}",
         "bottom is [9], want \"dim\" last"},
        {"{\"type\": \"dlrm\", \"dense\": 13, \"dim\": 8, \"bottom\": [8], "
         "\"top\": [1], \"tables\": [{\"rows\": 9}, {\"rows\": 0}]}",
         "tables[1].rows is 0, want a whole number from 1"},
        {"{\"type\": \"dlrm\", \"dense\": 13, \"dim\": 8, \"bottom\": [8], "
         "\"top\": [1], \"tables\": [{\"rows\": 9, \"pooling\": 1e9}]}",
         "tables[0].pooling is 1000000000, want at most 10000"},
        {"{\"type\": \"vit\", \"layers\": 2, \"hidden\": 8, \"heads\": 2, "
         "\"ffn\": 8, \"image\": 1e15, \"patch\": 5, \"classes\": 9}",
         "image is 1e+15, want at most 65536"},
        {"{\"model_type\": \"llama9\", \"vocab_size\": 9, "
         "\"hidden_size\": 8, \"num_hidden_layers\": 1, "
         "\"num_attention_heads\": 1}",
         "model_type is \"llama9\", want one of data/models/types.csv"},
        {"{\"model_type\": \"t5\", \"vocab_size\": 9, \"d_model\": 8, "
         "\"is_encoder_decoder\": true}",
         "is_encoder_decoder is true, want false"},
        {"[1]", "not a JSON object"},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct msim_described m;

        CHECK_INT(read_text(&m, CASES[i].text), MSIM_EFORMAT);
        if (!strstr(err.text, CASES[i].want))
            printf("got '%s'\n", err.text);
        CHECK(strstr(err.text, CASES[i].want) != NULL);
    }
}

static void test_describe__lists_models(void)
{
    struct msim_described m;

    err = (struct msim_error){0};
    CHECK_INT(msim_described_find(&m, "llama9", MSIM_DATA, NULL, &err),
              MSIM_EUNKNOWN);
    CHECK(strstr(err.text, " llama3-8b ") != NULL);
}

/* ---- strategies ---------------------------------------------------------- */

static const struct msim_described SMALL = {.layers = 8,
                                            .hidden = 1024,
                                            .heads = 16,
                                            .kv_heads = 16,
                                            .head_dim = 64,
                                            .ffn = 4096,
                                            .vocab = 1000};

/* Complete "tp=2 gpus=8"; the reason, or NULL. */
static const char *complete(struct msim_strategy *s, const char *text,
                            char *defaults)
{
    static char reason[256];
    uint64_t given = 0;
    char copy[256], *save = NULL;

    *s = (struct msim_strategy){0};
    snprintf(copy, sizeof(copy), "%s", text);
    for (char *w = strtok_r(copy, " ", &save); w;
         w = strtok_r(NULL, " ", &save)) {
        char *value = strchr(w, '=');

        *value++ = '\0';
        for (uint32_t g = 0; g < MSIM_GIVEN_COUNT; g++)
            if (strcmp(msim_given_text((enum msim_given)g), w) == 0 &&
                msim_strategy_set(s, (enum msim_given)g, value, &given, reason,
                                  sizeof(reason)))
                return reason;
    }
    return msim_strategy_complete(s, given, &SMALL, 8, defaults, 256, reason,
                                  sizeof(reason));
}

/* Backward passes of such layers are in no part of plan/parts. */
static void test_strategy__refuses_linear_attention(void)
{
    struct msim_described m = SMALL;
    struct msim_strategy s = {0};
    char reason[256], defaults[256];

    m.linear.layers = 6;
    CHECK(msim_strategy_complete(&s, 0, &m, 8, defaults, sizeof(defaults),
                                 reason, sizeof(reason)) != NULL);
    CHECK(strstr(reason, "6 layers of linear attention") != NULL);
}

static void test_strategy__derives_the_rest(void)
{
    struct msim_strategy s;
    char defaults[256];

    CHECK(complete(&s, "gpus=32 tp=2 pp=4 micro_batch=2 global_batch=64",
                   defaults) == NULL);
    CHECK_INT(s.dp, 4);
    CHECK_INT(s.grad_accum, 8);
    CHECK_INT(s.nodes, 4);
    CHECK(strstr(defaults, "zero=0") && strstr(defaults, "precision"));
    CHECK(!strstr(defaults, "tp="));
}

static void test_strategy__refuses_what_does_not_fit(void)
{
    static const struct {
        const char *text, *want;
    } CASES[] = {
        {"gpus=6 tp=4", "gpus 6 cannot be split by tp x pp x cp 4"},
        {"gpus=8 tp=3 dp=2", "dp x tp x pp x cp is 6, but gpus is 8"},
        {"gpus=32 tp=32", "heads 16 cannot be split by tp 32"},
        {"gpus=4 micro_batch=3 global_batch=16",
         "global_batch 16 cannot be split by dp x micro_batch 12"},
        {"gpus=16 pp=16", "pp x vp is 16, but the model has 8 layers"},
        {"gpus=2 vp=2", "vp is 2, but pp is 1"},
        {"gpus=2 ep=2", "the model has no experts"},
        {"tp=0", "tp is '0', want a whole number from 1"},
        {"zero=4", "zero is '4', want a whole number from 0 to 3"},
        {"precision=bf17", "precision is 'bf17', want one of fp32"},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct msim_strategy s;
        char defaults[256];
        const char *why = complete(&s, CASES[i].text, defaults);

        if (!why || !strstr(why, CASES[i].want))
            printf("%s: got '%s'\n", CASES[i].text, why ? why : "");
        CHECK(why && strstr(why, CASES[i].want));
    }
}

int main(void)
{
    RUN(test_describe__counts_published_parameters);
    RUN(test_describe__reads_hugging_face);
    RUN(test_describe__reads_what_serving_asks);
    RUN(test_describe__counts_encoders_exactly);
    RUN(test_describe__reads_encoders_of_hugging_face);
    RUN(test_describe__images_are_in_colour);
    RUN(test_describe__names_what_is_wrong);
    RUN(test_describe__lists_models);
    RUN(test_strategy__refuses_linear_attention);
    RUN(test_strategy__derives_the_rest);
    RUN(test_strategy__refuses_what_does_not_fit);
    return check_summary();
}
