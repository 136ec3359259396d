/* plan/describe/describe_served.c: what serving asks of a config.json: windows,
 * states, an index, how weights are stored, how long a context may be. */
#include "plan/describe/describe.h"

#include "core/base/json.h"
#include "tests/check.h"

static const char *type = "llama";
static char text[1024];

static const struct msim_described *read_with(const char *more)
{
    static struct msim_described m;
    struct msim_error err = {0};
    char file[2048];
    cJSON *json;

    snprintf(file, sizeof(file),
             "{\"model_type\": \"%s\", \"hidden_size\": 512, "
             "\"num_hidden_layers\": 12, \"num_attention_heads\": 8, "
             "\"num_key_value_heads\": 8, \"vocab_size\": 100, "
             "\"intermediate_size\": 1024, %s}",
             type, more);
    json = cJSON_Parse(file);
    CHECK(json != NULL);
    m = (struct msim_described){.layers = 0};
    if (msim_described_parse(&m, json, "file", &err) == MSIM_OK)
        CHECK_INT(m.layers, 12);
    snprintf(text, sizeof(text), "%s", err.text);
    cJSON_Delete(json);
    return &m;
}

struct row {
    const char *json, *want;
};

#define ROWS(rows) (sizeof(rows) / sizeof((rows)[0]))

/* Size, layers, and of how many one has it. */
static void test_describe_served__windows(void)
{
#define THIRD                                                                  \
    "\"layer_types\": [\"full_attention\", \"sliding_attention\", "            \
    "\"full_attention\"]"
    static const struct row CASES[] = {
        {"\"x\": 0", "0 0 0"},
        {"\"sliding_window\": 64", "64 0 1"},
        {"\"sliding_window\": null, \"use_sliding_window\": true", "0 0 0"},
        {"\"sliding_window\": 64, \"use_sliding_window\": false", "0 0 0"},
        {"\"sliding_window\": 64, \"use_sliding_window\": true", "64 0 1"},
        {"\"sliding_window\": 64, \"sliding_window_pattern\": 6", "64 10 1"},
        {"\"sliding_window\": 64, \"sliding_window_pattern\": 2", "64 6 2"},
        {"\"sliding_window\": 64, \"sliding_window_pattern\": 1", "64 0 1"},
        {"\"sliding_window\": 64, " THIRD, "64 4 3"}, /* and so on */
        {"\"sliding_window\": 64, \"layer_types\": [\"full_attention\"]",
         "0 0 0"},
    };

    for (size_t i = 0; i < ROWS(CASES); i++) {
        const struct msim_described *m = read_with(CASES[i].json);
        char got[64];

        snprintf(got, sizeof(got), "%lld %lld %lld", (long long)m->window,
                 (long long)m->window_layers, (long long)m->window_every);
        CHECK_STR(got, CASES[i].want);
        CHECK_STR(text, "");
    }
}

/* Layers; heads of keys and values, their sizes, the convolution. */
static void test_describe_served__states(void)
{
#define HEADS "\"linear_num_value_heads\": 6"
    static const struct row CASES[] = {
        {"\"full_attention_interval\": 3", "0: 0 0 0 0 0"},
        {HEADS, "9: 16 6 128 128 4"}, /* but every fourth */
        {HEADS ", \"full_attention_interval\": 3", "8: 16 6 128 128 4"},
        {HEADS ", \"layer_types\": [\"linear_attention\", "
               "\"full_attention\"]",
         "6: 16 6 128 128 4"},
        {HEADS ", \"layer_types\": [\"full_attention\"]", "0: 16 6 128 128 4"},
        {"\"linear_num_value_heads\": 1, \"linear_num_key_heads\": 1, "
         "\"linear_key_head_dim\": 1, \"linear_value_head_dim\": 1, "
         "\"linear_conv_kernel_dim\": 1, \"full_attention_interval\": 1",
         "0: 1 1 1 1 1"},
        {HEADS ", \"linear_num_key_heads\": 2, \"linear_key_head_dim\": 3, "
               "\"linear_value_head_dim\": 5, \"linear_conv_kernel_dim\": 7",
         "9: 2 6 3 5 7"},
    };

    for (size_t i = 0; i < ROWS(CASES); i++) {
        const struct msim_described *m = read_with(CASES[i].json);
        char got[64];

        snprintf(got, sizeof(got), "%lld: %lld %lld %lld %lld %lld",
                 (long long)m->linear.layers, (long long)m->linear.key_heads,
                 (long long)m->linear.value_heads, (long long)m->linear.key_dim,
                 (long long)m->linear.value_dim, (long long)m->linear.conv);
        CHECK_STR(got, CASES[i].want);
    }
}

/* Bits, of activations, what they are; which modules: attention, shared
 * experts, dense MLPs. */
static void test_describe_served__weights(void)
{
#define Q(q) "\"quantization_config\": {" q "}"
#define GROUP(w, a)                                                            \
    Q("\"quant_method\": \"compressed-tensors\", \"config_groups\": {\"a\": {" \
      "\"weights\": {" w "}" a "}}")
    static const struct row CASES[] = {
        {"\"quantization_config\": null", "0 0 "},
        {Q("\"quant_method\": \"fp8\""), "8 8 float asd"},
        {Q("\"quant_method\": \"FBGEMM_FP8\""), "8 8 float asd"},
        {Q("\"quant_algo\": \"FP8\""), "8 8 float asd"},
        {Q("\"quant_method\": \"fp8\", \"weight_block_size\": [128, 128]"),
         "8 8 float block asd"},
        {Q("\"quant_method\": \"mxfp4\""), "4 16 float asd"},
        {Q("\"quant_method\": \"modelopt\", \"quant_algo\": \"NVFP4\""),
         "4 4 float asd"},
        {Q("\"quant_algo\": \"fp4\""), "4 4 float asd"},
        {GROUP("\"num_bits\": 4, \"type\": \"int\"", ""), "4 16 asd"},
        {GROUP("\"type\": \"float\", \"strategy\": \"block\"",
               ", \"input_activations\": {\"num_bits\": 8}"),
         "8 8 float block asd"},
        {GROUP("\"type\": \"float\", \"strategy\": \"channel\"", ""),
         "8 16 float asd"},
        {Q("\"quant_method\": \"awq\""), "4 16 asd"},
        {Q("\"quant_method\": \"gptq\", \"bits\": 8"), "8 16 asd"},
        {Q("\"quant_method\": \"bitsandbytes\""), "8 16 asd"},
        {Q("\"quant_method\": \"bitsandbytes\", \"load_in_4bit\": true"),
         "4 16 asd"},
        {Q("\"quant_method\": \"fp8\", \"ignore\": [1, \"re:.*self_attn.*\"]"),
         "8 8 float sd"},
        {Q("\"quant_method\": \"fp8\", \"modules_to_not_convert\": "
           "[\"shared_expert\"]"),
         "8 8 float ad"},
        {Q("\"quant_method\": \"fp8\", \"exclude_modules\": [\"up_proj\"]"),
         "8 8 float as"},
        {Q("\"quant_method\": \"fp8\", \"ignore\": [\"re:(up|down)\"]"),
         "8 8 float as"},
        {Q("\"quant_method\": \"fp8\", \"ignore\": [\"mlp.gate_up\"]"),
         "8 8 float as"},
        {Q("\"quant_method\": \"fp8\", \"ignore\": [\"lm_head\"]"),
         "8 8 float asd"},
    };
    static const char *const UNKNOWN[] = {
        Q("\"quant_method\": \"gptq\", \"bits\": 3"),
        Q("\"quant_method\": \"other\""),
        Q("\"bits\": 8"),
    };

    for (size_t i = 0; i < ROWS(CASES); i++) {
        const struct msim_described *m = read_with(CASES[i].json);
        char got[64];

        snprintf(
            got, sizeof(got), "%lld %lld%s%s %s%s%s", (long long)m->stored.bits,
            (long long)m->stored.activation_bits,
            m->stored.floating ? " float" : "", m->stored.block ? " block" : "",
            m->stored.attention ? "a" : "", m->stored.shared ? "s" : "",
            m->stored.dense ? "d" : "");
        CHECK_STR(got, CASES[i].want);
        CHECK_STR(text, "");
    }
    for (size_t i = 0; i < ROWS(UNKNOWN); i++) {
        read_with(UNKNOWN[i]);
        CHECK(strstr(text, "quantization_config") != NULL);
        CHECK(strstr(text, "a quant_method of fp8, fbgemm_fp8, mxfp4, "
                           "modelopt, compressed-tensors, awq, gptq or "
                           "bitsandbytes") != NULL);
    }
}

/* Around the text's part of a model that sees, where that says nothing. */
static void test_describe_served__weights_of_all(void)
{
#define INSIDE(more)                                                           \
    "\"text_config\": {\"model_type\": \"llama\", \"hidden_size\": 512, "      \
    "\"num_hidden_layers\": 12, \"num_attention_heads\": 8, "                  \
    "\"num_key_value_heads\": 8, \"vocab_size\": 100, "                        \
    "\"intermediate_size\": 1024" more "}, " Q("\"quant_method\": \"mxfp4\"")
    CHECK_INT(read_with(INSIDE(""))->stored.bits, 4);
    CHECK_STR(text, "");
    CHECK_INT(
        read_with(INSIDE(", " Q("\"quant_method\": \"fp8\"")))->stored.bits, 8);
}

static void test_describe_served__contexts(void)
{
#define YARN(key, factor)                                                      \
    "\"rope_scaling\": {\"" key "\": \"yarn\", \"factor\": " factor            \
    ", \"original_max_position_embeddings\": 1000}"
    static const struct {
        const char *json;
        int64_t context;
    } CASES[] = {
        {"\"x\": 0", 0},
        {"\"max_position_embeddings\": 4096", 4096},
        {"\"n_positions\": 2048", 2048},
        {"\"n_positions\": 2048, \"max_position_embeddings\": 4096", 4096},
        {"\"max_position_embeddings\": 1000, " YARN("rope_type", "4"), 4000},
        {"\"max_position_embeddings\": 1000, " YARN("type", "4"), 4000},
        {"\"max_position_embeddings\": 5000, " YARN("type", "4"), 5000},
        {"\"max_position_embeddings\": 1000, " YARN("type", "1e7"), 1000},
        {"\"max_position_embeddings\": 1000, \"rope_scaling\": {\"type\": "
         "\"linear\", \"factor\": 4, \"original_max_position_embeddings\": "
         "1000}",
         1000},
        {"\"max_position_embeddings\": 1000, \"rope_scaling\": {\"type\": "
         "\"yarn\", \"original_max_position_embeddings\": 1500}",
         1500},
        {YARN("type", "4"), 0}, /* of how many, nothing says */
    };

    for (size_t i = 0; i < ROWS(CASES); i++)
        CHECK_INT(read_with(CASES[i].json)->context, CASES[i].context);
}

static void test_describe_served__words(void)
{
    const struct msim_described *m =
        read_with("\"index_topk\": 64, \"index_n_heads\": 4, "
                  "\"index_head_dim\": 32, \"use_qk_norm\": true, "
                  "\"attn_output_gate\": true");

    CHECK_INT(m->index.topk, 64);
    CHECK_INT(m->index.heads, 4);
    CHECK_INT(m->index.dim, 32);
    CHECK(m->qk_norm && m->gated_attention);
    read_with("\"index_topk\": 64, \"index_n_heads\": 4");
    CHECK(strstr(text, "index_head_dim") != NULL);
    m = read_with("\"index_topk\": 1, \"index_n_heads\": 1, "
                  "\"index_head_dim\": 1");
    CHECK(m->index.topk == 1 && m->index.heads == 1 && m->index.dim == 1);
    CHECK_STR(text, "");
    m = read_with("\"index_n_heads\": 4");
    CHECK_INT(m->index.heads, 0);
    CHECK(!m->qk_norm && !m->gated_attention);
    type = "qwen3"; /* whose files do not say so */
    CHECK(read_with("\"x\": 0")->qk_norm);
    type = "gemma3_text";
    CHECK(read_with("\"x\": 0")->qk_norm);
    type = "qwen2";
    CHECK(!read_with("\"x\": 0")->qk_norm);
}

int main(void)
{
    RUN(test_describe_served__windows);
    RUN(test_describe_served__states);
    RUN(test_describe_served__weights);
    RUN(test_describe_served__weights_of_all);
    RUN(test_describe_served__contexts);
    RUN(test_describe_served__words);
    return check_summary();
}
