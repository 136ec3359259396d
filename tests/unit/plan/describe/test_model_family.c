/* plan/describe/model_family.c: a row a model_type; models of many of them have
 * the parameters that their makers publish. */
#include "plan/describe/describe_internal.h"

#include "core/base/json.h"
#include "tests/check.h"

#include <string.h>

/* Texts have ' for ". In 10^9, as the cards of the models print them or as the
 * weights add up; gemma3's, llama4's and llava's are of the stack that reads.
 */
static const struct {
    const char *json;
    double parameters;
} MODELS[] = {
    {"{'model_type': 'gemma3', 'text_config': {'model_type': "
     "'gemma3_text', 'hidden_size': 2560, 'intermediate_size': 10240, "
     "'num_hidden_layers': 34, 'num_attention_heads': 8, "
     "'num_key_value_heads': 4, 'head_dim': 256, 'vocab_size': "
     "262208}}",
     3.88},
    {"{'model_type': 'opt', 'hidden_size': 4096, 'ffn_dim': 16384, "
     "'num_hidden_layers': 32, 'num_attention_heads': 32, "
     "'vocab_size': 50272}",
     6.66},
    {"{'model_type': 'bloom', 'hidden_size': 4096, 'n_layer': 30, "
     "'n_head': 32, 'vocab_size': 250880}",
     7.07},
    {"{'model_type': 'falcon', 'hidden_size': 4544, "
     "'num_hidden_layers': 32, 'num_attention_heads': 71, "
     "'multi_query': true, 'new_decoder_architecture': false, "
     "'vocab_size': 65024}",
     6.92},
    {"{'model_type': 'falcon', 'hidden_size': 8192, "
     "'num_hidden_layers': 60, 'num_attention_heads': 128, "
     "'num_kv_heads': 8, 'new_decoder_architecture': true, "
     "'vocab_size': 65024}",
     41.3},
    {"{'model_type': 'gpt_neox', 'hidden_size': 6144, "
     "'intermediate_size': 24576, 'num_hidden_layers': 44, "
     "'num_attention_heads': 64, 'vocab_size': 50432}",
     20.55},
    {"{'model_type': 'starcoder2', 'hidden_size': 4608, "
     "'intermediate_size': 18432, 'num_hidden_layers': 32, "
     "'num_attention_heads': 36, 'num_key_value_heads': 4, "
     "'vocab_size': 49152}",
     7.17},
    {"{'model_type': 'cohere', 'hidden_size': 8192, "
     "'intermediate_size': 22528, 'num_hidden_layers': 40, "
     "'num_attention_heads': 64, 'num_key_value_heads': 64, "
     "'vocab_size': 256000}",
     35.0},
    {"{'model_type': 'olmo2', 'hidden_size': 4096, "
     "'intermediate_size': 11008, 'num_hidden_layers': 32, "
     "'num_attention_heads': 32, 'num_key_value_heads': 32, "
     "'vocab_size': 100352, 'tie_word_embeddings': false}",
     7.3},
    {"{'model_type': 'deepseek_v2', 'hidden_size': 2048, "
     "'intermediate_size': 10944, 'moe_intermediate_size': 1408, "
     "'num_hidden_layers': 27, 'num_attention_heads': 16, "
     "'num_key_value_heads': 16, 'n_routed_experts': 64, "
     "'n_shared_experts': 2, 'num_experts_per_tok': 6, "
     "'first_k_dense_replace': 1, 'moe_layer_freq': 1, "
     "'kv_lora_rank': 512, 'q_lora_rank': null, 'qk_nope_head_dim': "
     "128, 'qk_rope_head_dim': 64, 'v_head_dim': 128, 'vocab_size': "
     "102400}",
     15.7},
    {"{'model_type': 'qwen2_moe', 'hidden_size': 2048, "
     "'intermediate_size': 5632, 'moe_intermediate_size': 1408, "
     "'shared_expert_intermediate_size': 5632, 'num_hidden_layers': "
     "24, 'num_attention_heads': 16, 'num_key_value_heads': 16, "
     "'num_experts': 60, 'num_experts_per_tok': 4, "
     "'decoder_sparse_step': 1, 'vocab_size': 151936, "
     "'tie_word_embeddings': false}",
     14.3},
    {"{'model_type': 'ernie4_5_moe', 'hidden_size': 2560, "
     "'intermediate_size': 12288, 'num_hidden_layers': 28, "
     "'num_attention_heads': 20, 'num_key_value_heads': 4, 'head_dim': 128, "
     "'vocab_size': 103424, 'moe_num_experts': 64, 'moe_k': 6, "
     "'moe_intermediate_size': 1536, 'moe_num_shared_experts': 2, "
     "'moe_layer_start_index': 1, 'tie_word_embeddings': true}",
     21.8},
    {"{'model_type': 'bailing_moe_v2', 'hidden_size': 2048, "
     "'intermediate_size': 5120, 'num_hidden_layers': 20, "
     "'num_attention_heads': 16, 'num_key_value_heads': 4, 'head_dim': 128, "
     "'vocab_size': 157184, 'num_experts': 256, 'num_experts_per_tok': 8, "
     "'moe_intermediate_size': 512, 'num_shared_experts': 1, "
     "'first_k_dense_replace': 1}",
     16.26},
    {"{'model_type': 'hunyuan_v1_moe', 'hidden_size': 4096, "
     "'intermediate_size': 3072, 'num_hidden_layers': 32, "
     "'num_attention_heads': 32, 'num_key_value_heads': 8, 'head_dim': 128, "
     "'vocab_size': 128167, 'num_experts': 64, 'moe_topk': [8, 8], "
     "'moe_intermediate_size': [3072, 3072], 'num_shared_expert': [1, 1], "
     "'tie_word_embeddings': true}",
     80.4},
    {"{'model_type': 'llama4', 'text_config': {'model_type': "
     "'llama4_text', 'hidden_size': 5120, 'intermediate_size': 8192, "
     "'intermediate_size_mlp': 16384, 'num_hidden_layers': 48, "
     "'num_attention_heads': 40, 'num_key_value_heads': 8, "
     "'head_dim': 128, 'num_local_experts': 16, "
     "'num_experts_per_tok': 1, 'interleave_moe_layer_step': 1, "
     "'vocab_size': 202048}}",
     107.8},
    {"{'model_type': 'glm4', 'hidden_size': 4096, "
     "'intermediate_size': 13696, 'num_hidden_layers': 40, "
     "'num_attention_heads': 32, 'num_key_value_heads': 2, "
     "'head_dim': 128, 'vocab_size': 151552, 'tie_word_embeddings': "
     "false}",
     9.4},
    {"{'model_type': 'smollm3', 'hidden_size': 2048, "
     "'intermediate_size': 11008, 'num_hidden_layers': 36, "
     "'num_attention_heads': 16, 'num_key_value_heads': 4, "
     "'vocab_size': 128256, 'tie_word_embeddings': true}",
     3.08},
    {"{'model_type': 'mistral', 'hidden_size': 5120, "
     "'intermediate_size': 32768, 'num_hidden_layers': 40, "
     "'num_attention_heads': 32, 'num_key_value_heads': 8, "
     "'head_dim': 128, 'vocab_size': 131072, 'tie_word_embeddings': "
     "false}",
     23.6},
    {"{'model_type': 'gptj', 'n_embd': 4096, 'n_layer': 28, 'n_head': "
     "16, 'vocab_size': 50400, 'tie_word_embeddings': false}",
     6.05},
    {"{'model_type': 'glm4_moe', 'hidden_size': 4096, "
     "'intermediate_size': 10944, 'moe_intermediate_size': 1408, "
     "'num_hidden_layers': 46, 'num_attention_heads': 96, "
     "'num_key_value_heads': 8, 'head_dim': 128, 'n_routed_experts': "
     "128, 'n_shared_experts': 1, 'num_experts_per_tok': 8, "
     "'first_k_dense_replace': 1, 'vocab_size': 151552, "
     "'tie_word_embeddings': false}",
     106.85},
    {"{'model_type': 'minimax_m2', 'hidden_size': 3072, "
     "'intermediate_size': 1536, 'num_hidden_layers': 62, "
     "'num_attention_heads': 48, 'num_key_value_heads': 8, "
     "'head_dim': 128, 'num_local_experts': 256, "
     "'num_experts_per_tok': 8, 'vocab_size': 200064, "
     "'tie_word_embeddings': false}",
     228.7},
    {"{'model_type': 'internlm2', 'hidden_size': 4096, "
     "'intermediate_size': 14336, 'num_hidden_layers': 32, "
     "'num_attention_heads': 32, 'num_key_value_heads': 8, "
     "'vocab_size': 92544, 'tie_word_embeddings': false}",
     7.74},
    {"{'model_type': 'stablelm', 'hidden_size': 2560, "
     "'intermediate_size': 6912, 'num_hidden_layers': 32, "
     "'num_attention_heads': 32, 'num_key_value_heads': 32, "
     "'vocab_size': 50304, 'tie_word_embeddings': false}",
     2.8},
    {"{'model_type': 'gpt_bigcode', 'n_embd': 6144, 'n_layer': 40, "
     "'n_head': 48, 'n_inner': 24576, 'multi_query': true, "
     "'vocab_size': 49152}",
     15.52},
    {"{'model_type': 'phi', 'hidden_size': 2560, 'intermediate_size': "
     "10240, 'num_hidden_layers': 32, 'num_attention_heads': 32, "
     "'vocab_size': 51200}",
     2.78},
    {"{'model_type': 'codegen', 'n_embd': 4096, 'n_layer': 33, "
     "'n_head': 16, 'vocab_size': 51200, 'tie_word_embeddings': false}",
     7.07},
    {"{'model_type': 'olmo', 'hidden_size': 4096, "
     "'intermediate_size': 11008, 'num_hidden_layers': 32, "
     "'num_attention_heads': 32, 'num_key_value_heads': 32, "
     "'vocab_size': 50304, 'tie_word_embeddings': false}",
     6.89},
    {"{'model_type': 'olmoe', 'hidden_size': 2048, "
     "'intermediate_size': 1024, 'num_hidden_layers': 16, "
     "'num_attention_heads': 16, 'num_key_value_heads': 16, "
     "'num_experts': 64, 'num_experts_per_tok': 8, 'vocab_size': "
     "50304}",
     6.92},
    {"{'model_type': 'phimoe', 'hidden_size': 4096, "
     "'intermediate_size': 6400, 'num_hidden_layers': 32, "
     "'num_attention_heads': 32, 'num_key_value_heads': 8, "
     "'num_local_experts': 16, 'num_experts_per_tok': 2, "
     "'vocab_size': 32064}",
     41.9},
    {"{'model_type': 'gpt_neo', 'hidden_size': 2560, 'num_layers': "
     "32, 'num_heads': 20, 'vocab_size': 50257}",
     2.65},
    {"{'model_type': 'distilbert', 'dim': 768, 'hidden_dim': 3072, "
     "'n_layers': 6, 'n_heads': 12, 'vocab_size': 30522}",
     0.067},
    {"{'model_type': 'llama4', 'text_config': {'model_type': "
     "'llama4_text', 'hidden_size': 5120, 'intermediate_size': 8192, "
     "'intermediate_size_mlp': 16384, 'num_hidden_layers': 48, "
     "'num_attention_heads': 40, 'num_key_value_heads': 8, "
     "'head_dim': 128, 'num_local_experts': 128, "
     "'num_experts_per_tok': 1, 'interleave_moe_layer_step': 2, "
     "'vocab_size': 202048, 'attention_chunk_size': 8192}}",
     400.7},
};

/* Biases of decoders are not counted. */
static void test_model_family__parameters(void)
{
    for (size_t i = 0; i < sizeof(MODELS) / sizeof(*MODELS); i++) {
        struct msim_described m;
        struct msim_error err = {0};
        char json[1024];
        cJSON *tree;

        snprintf(json, sizeof(json), "%s", MODELS[i].json);
        for (char *at = json; (at = strchr(at, '\''));)
            *at = '"';
        tree = cJSON_Parse(json);
        REQUIRE(tree != NULL);
        REQUIRE(msim_described_parse(&m, tree, "config.json", &err) == MSIM_OK);
        CHECK_REL(msim_described_parameters(&m) / 1e9, MODELS[i].parameters,
                  0.01);
        cJSON_Delete(tree);
    }
}

static void test_model_family__find(void)
{
    for (size_t i = 0; i < msim_model_families_n; i++)
        CHECK(msim_model_family_find(msim_model_families[i].type) ==
              &msim_model_families[i]);
    CHECK_STR(msim_model_family_find(NULL)->type, "llama");
    CHECK(msim_model_family_find("") == NULL);
    CHECK(msim_model_family_find("llama9") == NULL);
    CHECK(msim_model_family_find("zzz") == NULL);
}

int main(void)
{
    RUN(test_model_family__parameters);
    RUN(test_model_family__find);
    return check_summary();
}
