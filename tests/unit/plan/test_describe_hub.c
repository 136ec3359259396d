/*
 * A model of a Hugging Face config.json: every member that it has, and those
 * that a file leaves out.
 */
#include "core/base/json.h"
#include "plan/describe/describe.h"
#include "tests/check.h"

#include <inttypes.h>
#include <string.h>

/* Sizes that most of the files below have; their texts have ' for ". */
#define USUAL                                                                  \
    ", 'num_hidden_layers': 12, 'hidden_size': 64, 'num_attention_heads': 4, " \
    "'vocab_size': 100, 'intermediate_size': 128}"

static const struct {
    const char *json;
    const char *want; /* members that are not 0, or what is wrong */
} FILES[] = {
    {"{'model_type': 'llama', 'num_key_value_heads': 2, "
     "'head_dim': 32" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 2, head_dim"
     " 32, ffn 128, vocab 100, dropout 0"},
    {"{'num_hidden_layers': 12, 'hidden_size': 64, "
     "'num_attention_heads': 4, 'vocab_size': 100, 'model_type': "
     "'llama', 'tie_word_embeddings': true, "
     "'max_position_embeddings': 4096"
     "}",
     "tied 1, gated 1, layers 12, hidden 64, heads 4, kv_heads 4, "
     "head_dim 16, ffn 256, vocab 100, context 4096, dropout 0"},
    {"{'model_type': 'gpt2', 'n_layer': 3, 'n_embd': 64, 'n_head':"
     " 2, 'vocab_size': 100, 'n_positions': 1024"
     "}",
     "tied 1, layernorm 1, bias 1, positions 1, layers 3, hidden "
     "64, heads 2, kv_heads 2, head_dim 32, ffn 256, vocab 100, "
     "context 1024, dropout 0"},
    {"{'model_type': 'gpt2', 'n_layer': 3, 'n_embd': 64, 'n_head':"
     " 2, 'vocab_size': 100, 'n_inner': 100, 'hidden_act': 'relu',"
     " 'max_position_embeddings': 9, 'n_positions': 1024, "
     "'tie_word_embeddings': false"
     "}",
     "layernorm 1, bias 1, positions 1, activation 1, layers 3, "
     "hidden 64, heads 2, kv_heads 2, head_dim 32, ffn 100, vocab "
     "100, context 9, dropout 0"},
    {"{'model_type': 'opt', 'hidden_act': 'relu'" USUAL,
     "tied 1, layernorm 1, bias 1, positions 1, activation 1, "
     "layers 12, hidden 64, heads 4, kv_heads 4, head_dim 16, ffn "
     "128, vocab 100, dropout 0"},
    {"{'model_type': 'gpt_neox', 'hidden_act': 'gelu_fast'" USUAL,
     "layernorm 1, bias 1, layers 12, hidden 64, heads 4, kv_heads"
     " 4, head_dim 16, ffn 128, vocab 100, dropout 0"},
    {"{'model_type': 'gemma', 'hidden_act': 'swish'" USUAL,
     "tied 1, gated 1, activation 2, layers 12, hidden 64, heads "
     "4, kv_heads 4, head_dim 16, ffn 128, vocab 100, dropout 0"},
    {"{'model_type': 'gemma2'" USUAL,
     "tied 1, gated 1, layers 12, hidden 64, heads 4, kv_heads 4, "
     "head_dim 16, ffn 128, vocab 100, dropout 0"},
    {"{'model_type': 'mixtral', 'num_local_experts': 8, "
     "'num_experts_per_tok': 2" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim "
     "16, ffn 128, vocab 100, moe.experts 8, moe.topk 2, moe.ffn "
     "128, dropout 0"},
    {"{'model_type': 'gpt_oss', 'num_local_experts': 8, "
     "'experts_per_token': 4, 'moe_intermediate_size': 32" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, moe.experts 8, moe.topk 4, moe.ffn "
     "32, dropout 0"},
    {"{'model_type': 'qwen3_moe', 'num_experts': 8, "
     "'moe_intermediate_size': 32, 'decoder_sparse_step': 2, "
     "'mlp_only_layers': [0, 1]" USUAL,
     "gated 1, qk_norm 1, layers 12, hidden 64, heads 4, kv_heads "
     "4, head_dim 16, ffn 128, vocab 100, moe.experts 8, moe.topk "
     "2, moe.ffn 32, moe.dense_layers 8, dropout 0"},
    {"{'model_type': 'qwen2_moe', 'num_experts': 8, "
     "'moe_intermediate_size': 32, "
     "'shared_expert_intermediate_size': 33" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, moe.experts 8, moe.topk 2, moe.ffn "
     "32, moe.shared_experts 2, dropout 0"},
    {"{'model_type': 'qwen2_moe', 'num_experts': 8, "
     "'moe_intermediate_size': 32, "
     "'shared_expert_intermediate_size': 64" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, moe.experts 8, moe.topk 2, moe.ffn "
     "32, moe.shared_experts 2, dropout 0"},
    {"{'model_type': 'deepseek_v2', 'n_routed_experts': 8, "
     "'n_shared_experts': 2, 'moe_intermediate_size': 32, "
     "'first_k_dense_replace': 1, 'num_nextn_predict_layers': 1, "
     "'q_lora_rank': 24, 'kv_lora_rank': 16, 'qk_nope_head_dim': "
     "8, 'qk_rope_head_dim': 4, 'v_head_dim': 6" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, ffn 128,"
     " vocab 100, mla.q_rank 24, mla.kv_rank 16, mla.nope_dim 8, "
     "mla.rope_dim 4, mla.v_dim 6, moe.experts 8, moe.topk 2, "
     "moe.ffn 32, moe.shared_experts 2, moe.dense_layers 1, "
     "mtp_layers 1, dropout 0"},
    {"{'model_type': 'deepseek_v2', 'kv_lora_rank': 16, "
     "'qk_nope_head_dim': 8, 'qk_rope_head_dim': 4, 'v_head_dim': "
     "6, 'mtp_num_hidden_layers': 2" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, ffn 128,"
     " vocab 100, mla.kv_rank 16, mla.nope_dim 8, mla.rope_dim 4, "
     "mla.v_dim 6, mtp_layers 2, dropout 0"},
    {"{'model_type': 'ernie4_5_moe', 'num_experts': 8, "
     "'interleave_moe_layer_step': 4" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, moe.experts 8, moe.topk 2, moe.ffn "
     "128, moe.dense_layers 9, dropout 0"},
    {"{'model_type': 'dots1', 'n_routed_experts': 8, "
     "'moe_layer_freq': 1" USUAL,
     "gated 1, qk_norm 1, layers 12, hidden 64, heads 4, kv_heads "
     "4, head_dim 16, ffn 128, vocab 100, moe.experts 8, moe.topk "
     "2, moe.ffn 128, dropout 0"},
    {"{'model_type': 'mixtral', 'num_local_experts': 8, "
     "'num_experts_per_tok': 8, 'first_k_dense_replace': 12" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, moe.experts 8, moe.topk 8, moe.ffn "
     "128, moe.dense_layers 12, dropout 0"},
    {"{'model_type': 'mixtral', 'num_local_experts': 8, "
     "'num_experts_per_tok': 9" USUAL,
     "num_experts_per_tok is 9, want at most the number of experts"},
    {"{'model_type': 'mixtral', 'num_local_experts': 8, 'n_group': 4, "
     "'topk_group': 2" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, moe.experts 8, moe.topk 2, moe.ffn "
     "128, moe.groups 4, moe.topk_groups 2, dropout 0"},
    {"{'model_type': 'mixtral', 'num_local_experts': 8, 'n_group': 2, "
     "'topk_group': 3" USUAL,
     "topk_group is 3, want at most the number of groups"},
    {"{'model_type': 'mixtral', 'num_local_experts': 8, "
     "'first_k_dense_replace': 13" USUAL,
     "first_k_dense_replace is 13, want at most "
     "\"num_hidden_layers\""},
    {"{'model_type': 'mistral', 'sliding_window': 64" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim "
     "16, ffn 128, vocab 100, window 64, window_every 1, dropout 0"},
    {"{'model_type': 'mistral', 'use_sliding_window': true" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, dropout 0"},
    {"{'model_type': 'qwen2', 'sliding_window': 64, "
     "'use_sliding_window': false" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, dropout 0"},
    {"{'model_type': 'gemma3', 'sliding_window': 64, "
     "'sliding_window_pattern': 6" USUAL,
     "tied 1, gated 1, qk_norm 1, layers 12, hidden 64, heads 4, "
     "kv_heads 4, head_dim 16, ffn 128, vocab 100, window 64, "
     "window_every 1, window_layers 10, dropout 0"},
    {"{'model_type': 'gemma3_text', 'sliding_window': 64, "
     "'sliding_window_pattern': 1" USUAL,
     "tied 1, gated 1, qk_norm 1, layers 12, hidden 64, heads 4, "
     "kv_heads 4, head_dim 16, ffn 128, vocab 100, window 64, "
     "window_every 1, dropout 0"},
    {"{'model_type': 'olmo3', 'sliding_window': 64, 'layer_types':"
     " ['sliding_attention', 'sliding_attention', "
     "'full_attention']" USUAL,
     "gated 1, qk_norm 1, layers 12, hidden 64, heads 4, kv_heads "
     "4, head_dim 16, ffn 128, vocab 100, window 64, window_every "
     "2, window_layers 8, dropout 0"},
    {"{'model_type': 'olmo3', 'sliding_window': 64, 'layer_types':"
     " ['full_attention']" USUAL,
     "gated 1, qk_norm 1, layers 12, hidden 64, heads 4, kv_heads "
     "4, head_dim 16, ffn 128, vocab 100, dropout 0"},
    {"{'model_type': 'gpt_oss', 'sliding_window': 64, "
     "'layer_types': ['sliding_attention', 'sliding_attention', "
     "'sliding_attention', 'sliding_attention', "
     "'sliding_attention', 'full_attention', 'full_attention', "
     "'full_attention', 'full_attention', 'full_attention', "
     "'full_attention', 'full_attention']" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, window 64, window_every 2, "
     "window_layers 5, dropout 0"},
    {"{'model_type': 'qwen3_next', 'linear_num_value_heads': 8, "
     "'full_attention_interval': 4, 'attn_output_gate': true" USUAL,
     "gated 1, qk_norm 1, layers 12, hidden 64, heads 4, kv_heads "
     "4, head_dim 16, ffn 128, vocab 100, gated_attention 1, "
     "linear.layers 9, linear.key_heads 16, linear.value_heads 8, "
     "linear.key_dim 128, linear.value_dim 128, linear.conv 4, "
     "dropout 0"},
    {"{'model_type': 'qwen3_next', 'linear_num_value_heads': 8, "
     "'linear_num_key_heads': 4, 'linear_key_head_dim': 64, "
     "'linear_value_head_dim': 32, 'linear_conv_kernel_dim': 3, "
     "'layer_types': ['linear_attention', 'full_attention']" USUAL,
     "gated 1, qk_norm 1, layers 12, hidden 64, heads 4, kv_heads "
     "4, head_dim 16, ffn 128, vocab 100, linear.layers 6, "
     "linear.key_heads 4, linear.value_heads 8, linear.key_dim 64,"
     " linear.value_dim 32, linear.conv 3, dropout 0"},
    {"{'model_type': 'qwen3_5_text', 'full_attention_interval': 3" USUAL,
     "gated 1, qk_norm 1, layers 12, hidden 64, heads 4, kv_heads "
     "4, head_dim 16, ffn 128, vocab 100, dropout 0"},
    {"{'model_type': 'qwen3_next', 'linear_num_value_heads': 8" USUAL,
     "gated 1, qk_norm 1, layers 12, hidden 64, heads 4, kv_heads "
     "4, head_dim 16, ffn 128, vocab 100, linear.layers 9, "
     "linear.key_heads 16, linear.value_heads 8, linear.key_dim "
     "128, linear.value_dim 128, linear.conv 4, dropout 0"},
    {"{'model_type': 'deepseek_v32', 'index_topk': 2048, "
     "'index_n_heads': 8, 'index_head_dim': 16" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, index.heads 8, index.dim 16, "
     "index.topk 2048, dropout 0"},
    {"{'model_type': 'deepseek_v32', 'index_topk': 2048, "
     "'index_n_heads': 8" USUAL,
     "index_head_dim is missing, want a whole number from 1"},
    {"{'model_type': 'yi', 'max_position_embeddings': 1000, "
     "'rope_scaling': {'rope_type': 'yarn', 'factor': 4, "
     "'original_max_position_embeddings': 500}" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, context 2000, dropout 0"},
    {"{'model_type': 'yi', 'max_position_embeddings': 1000, "
     "'rope_scaling': {'type': 'yarn', 'factor': 2, "
     "'original_max_position_embeddings': 500}" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, context 1000, dropout 0"},
    {"{'model_type': 'yi', 'max_position_embeddings': 1000, "
     "'rope_scaling': {'type': 'yarn', "
     "'original_max_position_embeddings': 5000}" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, context 5000, dropout 0"},
    {"{'model_type': 'yi', 'max_position_embeddings': 1000, "
     "'rope_scaling': {'rope_type': 'llama3', 'factor': 4, "
     "'original_max_position_embeddings': 500}" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, context 1000, dropout 0"},
    {"{'model_type': 'yi', 'max_position_embeddings': 1000, "
     "'rope_scaling': {'rope_type': 'yarn', 'factor': "
     "1000000000.0, 'original_max_position_embeddings': 500}" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, context 1000, dropout 0"},
    {"{'model_type': 'yi', 'rope_scaling': {'rope_type': 'yarn', "
     "'factor': 4, 'original_max_position_embeddings': 500}" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, dropout 0"},
    {"{'model_type': 'minimax_m2', 'use_qk_norm': true" USUAL,
     "gated 1, qk_norm 1, layers 12, hidden 64, heads 4, kv_heads "
     "4, head_dim 16, ffn 128, vocab 100, dropout 0"},
    {"{'model_type': 'qwen3'" USUAL,
     "gated 1, qk_norm 1, layers 12, hidden 64, heads 4, kv_heads "
     "4, head_dim 16, ffn 128, vocab 100, dropout 0"},
    {"{'model_type': 'gemma3'" USUAL,
     "tied 1, gated 1, qk_norm 1, layers 12, hidden 64, heads 4, "
     "kv_heads 4, head_dim 16, ffn 128, vocab 100, dropout 0"},
    {"{'model_type': 'llama', 'quantization_config': "
     "{'quant_method': 'fp8'}" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, stored.bits 8, "
     "stored.activation_bits 8, stored.floating 1, "
     "stored.attention 1, stored.dense 1, stored.shared 1, dropout"
     " 0"},
    {"{'model_type': 'llama', 'quantization_config': "
     "{'quant_method': 'fp8', 'weight_block_size': [128, 128]}" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, stored.bits 8, "
     "stored.activation_bits 8, stored.floating 1, stored.block 1,"
     " stored.attention 1, stored.dense 1, stored.shared 1, "
     "dropout 0"},
    {"{'model_type': 'llama', 'quantization_config': "
     "{'quant_method': 'fbgemm_fp8', 'modules_to_not_convert': "
     "['model.layers.0.self_attn']}" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, stored.bits 8, "
     "stored.activation_bits 8, stored.floating 1, stored.dense 1,"
     " stored.shared 1, dropout 0"},
    {"{'model_type': 'llama', 'quantization_config': "
     "{'quant_method': 'modelopt', 'quant_algo': 'FP8'}" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, stored.bits 8, "
     "stored.activation_bits 8, stored.floating 1, "
     "stored.attention 1, stored.dense 1, stored.shared 1, dropout"
     " 0"},
    {"{'model_type': 'llama', 'quantization_config': "
     "{'quant_method': 'modelopt', 'quant_algo': 'NVFP4', "
     "'exclude_modules': ['lm_head', 'x.self_attn.*']}" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, stored.bits 4, "
     "stored.activation_bits 4, stored.floating 1, stored.dense 1,"
     " stored.shared 1, dropout 0"},
    {"{'model_type': 'llama', 'quantization_config': "
     "{'quant_method': 'modelopt', 'quant_algo': 'fp4', 'ignore': "
     "['mlp.gate_up']}" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, stored.bits 4, "
     "stored.activation_bits 4, stored.floating 1, "
     "stored.attention 1, stored.shared 1, dropout 0"},
    {"{'model_type': 'llama', 'quantization_config': "
     "{'quant_method': 'mxfp4', 'ignore': ['re:.*(up|down)_proj']}" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, stored.bits 4, "
     "stored.activation_bits 16, stored.floating 1, "
     "stored.attention 1, stored.shared 1, dropout 0"},
    {"{'model_type': 'llama', 'quantization_config': "
     "{'quant_method': 'mxfp4', 'modules_to_not_convert': "
     "['mlp.up_proj', 7]}" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, stored.bits 4, "
     "stored.activation_bits 16, stored.floating 1, "
     "stored.attention 1, stored.shared 1, dropout 0"},
    {"{'model_type': 'llama', 'quantization_config': "
     "{'quant_method': 'mxfp4', 'ignore': ['mlp.shared_expert.x']}" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, stored.bits 4, "
     "stored.activation_bits 16, stored.floating 1, "
     "stored.attention 1, stored.dense 1, dropout 0"},
    {"{'model_type': 'llama', 'quantization_config': "
     "{'quant_method': 'compressed-tensors', 'config_groups': "
     "{'group_0': {'weights': {'num_bits': 4, 'type': 'float', "
     "'strategy': 'block'}, 'input_activations': {'num_bits': "
     "8}}}}" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, stored.bits 4, "
     "stored.activation_bits 8, stored.floating 1, stored.block 1,"
     " stored.attention 1, stored.dense 1, stored.shared 1, "
     "dropout 0"},
    {"{'model_type': 'llama', 'quantization_config': "
     "{'quant_method': 'compressed-tensors', 'config_groups': "
     "{'g': {'weights': {'type': 'int', 'strategy': 'channel'}}}}" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, stored.bits 8, "
     "stored.activation_bits 16, stored.attention 1, stored.dense "
     "1, stored.shared 1, dropout 0"},
    {"{'model_type': 'llama', 'quantization_config': "
     "{'quant_method': 'compressed-tensors'}" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, stored.bits 8, "
     "stored.activation_bits 16, stored.attention 1, stored.dense "
     "1, stored.shared 1, dropout 0"},
    {"{'model_type': 'llama', 'quantization_config': "
     "{'quant_method': 'awq'}" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, stored.bits 4, "
     "stored.activation_bits 16, stored.attention 1, stored.dense "
     "1, stored.shared 1, dropout 0"},
    {"{'model_type': 'llama', 'quantization_config': "
     "{'quant_method': 'gptq', 'bits': 8}" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, stored.bits 8, "
     "stored.activation_bits 16, stored.attention 1, stored.dense "
     "1, stored.shared 1, dropout 0"},
    {"{'model_type': 'llama', 'quantization_config': "
     "{'quant_method': 'gptq', 'bits': 3}" USUAL,
     "quantization_config is "
     "{\"quant_method\":\"gptq\",\"bits\":3}, want a quant_method "
     "of fp8, fbgemm_fp8, mxfp4, modelopt, compressed-tensors, "
     "awq, gptq or bitsandbytes, with 4 or 8 bits"},
    {"{'model_type': 'llama', 'quantization_config': "
     "{'quant_method': 'bitsandbytes', 'load_in_4bit': true}" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, stored.bits 4, "
     "stored.activation_bits 16, stored.attention 1, stored.dense "
     "1, stored.shared 1, dropout 0"},
    {"{'model_type': 'llama', 'quantization_config': "
     "{'quant_method': 'bitsandbytes'}" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, stored.bits 8, "
     "stored.activation_bits 16, stored.attention 1, stored.dense "
     "1, stored.shared 1, dropout 0"},
    {"{'model_type': 'llama', 'quantization_config': "
     "{'quant_method': 'none'}" USUAL,
     "quantization_config is {\"quant_method\":\"none\"}, want a "
     "quant_method of fp8, fbgemm_fp8, mxfp4, modelopt, "
     "compressed-tensors, awq, gptq or bitsandbytes, with 4 or 8 bits"},
    {"{'model_type': 'llama', 'quantization_config': 7" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, dropout 0"},
    {"{'model_type': 'bert'" USUAL,
     "type 1, encoder 1, tied 1, layernorm 1, bias 1, post_norm 1,"
     " pooler 1, positions 1, layers 12, hidden 64, heads 4, "
     "kv_heads 4, head_dim 16, ffn 128, vocab 100, head 1, classes"
     " 2, token_types 2, max_positions 512, dropout 0.1"},
    {"{'model_type': 'bert', 'max_position_embeddings': 64, "
     "'type_vocab_size': 0, 'tie_word_embeddings': false, "
     "'hidden_dropout_prob': 0.2, 'architectures': "
     "['BertForPreTraining']" USUAL,
     "type 1, encoder 1, layernorm 1, bias 1, post_norm 1, pooler "
     "1, positions 1, layers 12, hidden 64, heads 4, kv_heads 4, "
     "head_dim 16, ffn 128, vocab 100, head 2, classes 2, "
     "max_positions 64, dropout 0.2"},
    {"{'model_type': 'roberta', 'architectures': "
     "['RobertaForSequenceClassification'], 'hidden_dropout_prob':"
     " 1" USUAL,
     "type 1, encoder 1, tied 1, layernorm 1, bias 1, post_norm 1,"
     " pooler 1, positions 1, layers 12, hidden 64, heads 4, "
     "kv_heads 4, head_dim 16, ffn 128, vocab 100, head 3, classes"
     " 2, token_types 2, max_positions 512, dropout 0"},
    {"{'model_type': 'camembert', 'architectures': "
     "['CamembertForSequenceClassification'], 'num_labels': 5, "
     "'id2label': {'0': 'a'}" USUAL,
     "type 1, encoder 1, tied 1, layernorm 1, bias 1, post_norm 1,"
     " pooler 1, positions 1, layers 12, hidden 64, heads 4, "
     "kv_heads 4, head_dim 16, ffn 128, vocab 100, head 3, classes"
     " 5, token_types 2, max_positions 512, dropout 0.1"},
    {"{'model_type': 'xlm-roberta', 'architectures': "
     "['XForSequenceClassification'], 'id2label': {'0': 'a', '1': "
     "'b', '2': 'c'}, 'hidden_dropout_prob': 0" USUAL,
     "type 1, encoder 1, tied 1, layernorm 1, bias 1, post_norm 1,"
     " pooler 1, positions 1, layers 12, hidden 64, heads 4, "
     "kv_heads 4, head_dim 16, ffn 128, vocab 100, head 3, classes"
     " 3, token_types 2, max_positions 512, dropout 0"},
    {"{'num_hidden_layers': 12, 'hidden_size': 64, "
     "'num_attention_heads': 4, 'intermediate_size': 128, "
     "'model_type': 'vit'"
     "}",
     "type 2, encoder 1, layernorm 1, bias 1, positions 1, layers "
     "12, hidden 64, heads 4, kv_heads 4, head_dim 16, ffn 128, "
     "head 3, classes 2, image.size 224, image.patch 16, "
     "image.channels 3, dropout 0"},
    {"{'num_hidden_layers': 12, 'hidden_size': 64, "
     "'num_attention_heads': 4, 'intermediate_size': 128, "
     "'model_type': 'vit', 'image_size': 64, 'patch_size': 8, "
     "'num_channels': 1, 'num_labels': 10, 'hidden_dropout_prob': "
     "0.1, 'num_nextn_predict_layers': 0"
     "}",
     "type 2, encoder 1, layernorm 1, bias 1, positions 1, layers "
     "12, hidden 64, heads 4, kv_heads 4, head_dim 16, ffn 128, "
     "head 3, classes 10, image.size 64, image.patch 8, "
     "image.channels 1, dropout 0.1"},
    {"{'model_type': 't5'" USUAL,
     "model_type is \"t5\", want one of data/models/types.csv: "
     "llama, mistral, qwen3, gemma3, gpt2, bert, vit, ..."},
    {"{'model_type': 'llama', 'is_encoder_decoder': true" USUAL,
     "is_encoder_decoder is true, want false: a model is one stack"
     " of layers"},
    {"{'model_type': 'qwen2_vl', 'text_config': "
     "{'num_hidden_layers': 12, 'hidden_size': 64, "
     "'num_attention_heads': 4, 'vocab_size': 100, "
     "'intermediate_size': 128, 'model_type': 'qwen2'}, "
     "'quantization_config': {'quant_method': 'fp8'}"
     "}",
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, stored.bits 8, "
     "stored.activation_bits 8, stored.floating 1, "
     "stored.attention 1, stored.dense 1, stored.shared 1, dropout"
     " 0"},
    {"{'model_type': 'qwen3_vl', 'text_config': "
     "{'num_hidden_layers': 12, 'hidden_size': 64, "
     "'num_attention_heads': 4, 'vocab_size': 100, "
     "'intermediate_size': 128, 'model_type': 'qwen3', "
     "'quantization_config': {'quant_method': 'awq'}}, "
     "'quantization_config': {'quant_method': 'fp8'}"
     "}",
     "gated 1, qk_norm 1, layers 12, hidden 64, heads 4, kv_heads "
     "4, head_dim 16, ffn 128, vocab 100, stored.bits 4, "
     "stored.activation_bits 16, stored.attention 1, stored.dense "
     "1, stored.shared 1, dropout 0"},
    {"{'model_type': 'llava', 'text_config': {'num_hidden_layers':"
     " 12, 'hidden_size': 64, 'num_attention_heads': 4, "
     "'vocab_size': 100, 'intermediate_size': 128, 'model_type': "
     "'llama'}"
     "}",
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim "
     "16, ffn 128, vocab 100, dropout 0"},
    {"{'model_type': 'llava', 'text_config': {'model_type': 'llama'}" USUAL,
     "text_config.num_hidden_layers is missing, want a whole number from 1"},
    {"{'model_type': 'llava'" USUAL,
     "text_config is missing, want the stack of layers that reads"},
    {"{'model_type': 'llama', 'n_fine_experts': 8" USUAL,
     "n_fine_experts is 8, want experts as num_experts, num_local_experts, "
     "n_routed_experts or moe_num_experts"},
    {"{'model_type': 'hunyuan_v1_moe', 'num_experts': 8, 'moe_topk': [2, "
     "3]" USUAL,
     "moe_topk is [2,3], want a whole number from 1, or the same of every "
     "layer"},
    {"{'model_type': 'falcon', 'multi_query': true" USUAL,
     "tied 1, layernorm 1, layers 12, hidden 64, heads 4, kv_heads 1, "
     "head_dim 16, ffn 128, vocab 100, dropout 0"},
    {"{'model_type': 'falcon', 'multi_query': true, 'num_kv_heads': 2, "
     "'new_decoder_architecture': true" USUAL,
     "tied 1, layernorm 1, layers 12, hidden 64, heads 4, kv_heads 2, "
     "head_dim 16, ffn 128, vocab 100, dropout 0"},
    {"{'model_type': 'gpt_neo', 'num_layers': 3, 'num_heads': 2, "
     "'hidden_size': 64, 'vocab_size': 100, 'activation_function': 'relu', "
     "'max_position_embeddings': 9"
     "}",
     "tied 1, layernorm 1, bias 1, positions 1, activation 1, layers 3, "
     "hidden 64, heads 2, kv_heads 2, head_dim 32, ffn 256, vocab 100, "
     "context 9, dropout 0"},
    {"{'model_type': 'bloom', 'n_layer': 3, 'n_head': 2, 'n_embed': 64, "
     "'vocab_size': 100"
     "}",
     "tied 1, layernorm 1, bias 1, positions 2, layers 3, hidden 64, heads "
     "2, kv_heads 2, head_dim 32, ffn 256, vocab 100, dropout 0"},
    {"{'model_type': 'llama4_text', 'num_local_experts': 8, "
     "'num_experts_per_tok': 1, 'intermediate_size_mlp': 256, "
     "'interleave_moe_layer_step': 2, 'attention_chunk_size': 64" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim 16, ffn "
     "256, vocab 100, window 64, window_every 1, window_layers 9, "
     "moe.experts 8, moe.topk 1, moe.ffn 128, moe.shared_experts 1, "
     "moe.dense_layers 6, dropout 0"},
    {"{'model_type': 'mistral3', 'text_config': {}" USUAL,
     "gated 1, layers 12, hidden 64, heads 4, kv_heads 4, head_dim"
     " 16, ffn 128, vocab 100, dropout 0"},
};

/* Members by their places, each where it is not 0. */
static void tell(char *text, size_t size, const struct msim_described *m)
{
    const struct {
        const char *name;
        int64_t value;
    } members[] = {
#define X(member) {#member, (int64_t)m->member}
        X(type),
        X(encoder),
        X(tied),
        X(gated),
        X(layernorm),
        X(bias),
        X(qk_norm),
        X(post_norm),
        X(pooler),
        X(positions),
        X(activation),
        X(layers),
        X(hidden),
        X(heads),
        X(kv_heads),
        X(head_dim),
        X(ffn),
        X(vocab),
        X(attention),
        X(window),
        X(window_every),
        X(window_layers),
        X(gated_attention),
        X(linear.layers),
        X(linear.key_heads),
        X(linear.value_heads),
        X(linear.key_dim),
        X(linear.value_dim),
        X(linear.conv),
        X(index.heads),
        X(index.dim),
        X(index.topk),
        X(stored.bits),
        X(stored.activation_bits),
        X(stored.floating),
        X(stored.block),
        X(stored.attention),
        X(stored.dense),
        X(stored.shared),
        X(mla.q_rank),
        X(mla.kv_rank),
        X(mla.nope_dim),
        X(mla.rope_dim),
        X(mla.v_dim),
        X(moe.experts),
        X(moe.topk),
        X(moe.ffn),
        X(moe.shared_experts),
        X(moe.dense_layers),
        X(moe.groups),
        X(moe.topk_groups),
        X(mtp_layers),
        X(head),
        X(classes),
        X(token_types),
        X(max_positions),
        X(context),
        X(image.size),
        X(image.patch),
        X(image.channels)};
#undef X

    for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++)
        if (members[i].value) {
            snprintf(text, size, "%s %" PRId64 ", ", members[i].name,
                     members[i].value);
            size -= strlen(text);
            text += strlen(text);
        }
    snprintf(text, size, "dropout %g", m->dropout);
}

static void test_describe_hub__reads_every_member(void)
{
    for (size_t i = 0; i < sizeof(FILES) / sizeof(*FILES); i++) {
        struct msim_described m;
        struct msim_error err = {0};
        char json[1024], text[1024];
        cJSON *tree;

        snprintf(json, sizeof(json), "%s", FILES[i].json);
        for (char *at = json; (at = strchr(at, '\''));)
            *at = '"';
        tree = cJSON_Parse(json);
        REQUIRE(tree != NULL);
        if (msim_described_parse(&m, tree, "config.json", &err) == MSIM_OK)
            tell(text, sizeof(text), &m);
        else
            snprintf(text, sizeof(text), "%s", err.text);
        CHECK_STR(text, FILES[i].want);
        cJSON_Delete(tree);
    }
}

int main(void)
{
    RUN(test_describe_hub__reads_every_member);
    return check_summary();
}
