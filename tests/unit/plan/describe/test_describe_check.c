/*
 * What sizes of a config.json must be of one another, and members that say
 * nothing: errors name the member that the file has.
 */
#include "core/base/json.h"
#include "plan/describe/describe.h"
#include "tests/check.h"

#include <string.h>

/* Members behind those of a small Llama; texts have ' for ". `m` where the
 * text that it is refused with is "". */
static const char *read(struct msim_described *m, const char *members)
{
    static struct msim_error err;
    char json[1024];
    cJSON *tree;

    snprintf(json, sizeof(json),
             "{'model_type': 'llama', 'num_hidden_layers': 12, 'hidden_size': "
             "64, 'num_attention_heads': 4, 'vocab_size': 100, "
             "'intermediate_size': 128, %s}",
             members);
    for (char *at = json; (at = strchr(at, '\''));)
        *at = '"';
    err = (struct msim_error){0};
    tree = cJSON_Parse(json);
    if (!CHECK(tree != NULL) ||
        msim_described_parse(m, tree, "config.json", &err) == MSIM_OK)
        err.text[0] = '\0';
    cJSON_Delete(tree);
    return err.text;
}

static void test_describe_check__names_what_the_file_has(void)
{
    struct msim_described m;

    CHECK_STR(
        read(&m, "'num_key_value_heads': 3"),
        "num_key_value_heads is 3, want a divisor of the number of heads");
    CHECK_STR(read(&m, "'new_decoder_architecture': true, 'num_kv_heads': 3"),
              "num_kv_heads is 3, want a divisor of the number of heads");
    CHECK_STR(read(&m, "'text_config': {'model_type': 'llama', "
                       "'num_hidden_layers': 2, 'hidden_size': 6, "
                       "'n_head': 4, 'vocab_size': 9}"),
              "text_config.n_head is 4, want a divisor of the model's width, "
              "or \"head_dim\"");
    CHECK_STR(read(&m, "'num_experts': 8, 'num_expert_group': 9"),
              "num_expert_group is 9, want at most the number of experts");
}

/* What says nothing hides no other name of the same; no experts are none. */
static void test_describe_check__members_that_say_nothing(void)
{
    struct msim_described m;

    CHECK_STR(read(&m, "'num_local_experts': null, 'num_experts': 8"), "");
    CHECK_INT(m.moe.experts, 8);
    CHECK_STR(read(&m, "'num_experts': 0, 'n_group': 0"), "");
    CHECK_INT(m.moe.experts, 0);
    CHECK_STR(read(&m, "'head_dim': null"), "");
    CHECK_INT(m.head_dim, 16);
}

/* Lists that differ are no size that others are made of. */
static void test_describe_check__lists(void)
{
    struct msim_described m;

    CHECK_STR(read(&m, "'num_experts': 8, 'moe_intermediate_size': [8, 4]"),
              "moe_intermediate_size is [8,4], want a whole number from 1, or "
              "the same of every layer");
}

/* Bits of weights are 4 or 8, of what they are multiplied with 16, too. */
static void test_describe_check__bits(void)
{
#define STORED "'quantization_config': {'quant_method': "
#define GROUPS STORED "'compressed-tensors', 'config_groups': {'a': "
    static const struct {
        const char *members;
        int64_t bits, activations; /* 0: refused */
    } ROWS[] = {{STORED "'gptq', 'bits': 8}", 8, 16},
                {STORED "'awq'}", 4, 16},
                {STORED "'gptq', 'bits': 16}", 0, 0},
                {STORED "'gptq', 'bits': 1e300}", 0, 0},
                {GROUPS "{'weights': {'num_bits': 4}}}}", 4, 16},
                {GROUPS "{'weights': {'num_bits': -4}}}}", 0, 0},
                {GROUPS "{'weights': {'num_bits': 1e300}}}}", 0, 0},
                {GROUPS "{'input_activations': {'num_bits': 8}}}}", 8, 8},
                {GROUPS "{'input_activations': {'num_bits': 7}}}}", 0, 0}};

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_described m;
        const char *said = read(&m, ROWS[i].members);

        CHECK_INT(*said == 0, ROWS[i].bits > 0);
        if (ROWS[i].bits == 0)
            CHECK(strstr(said, "bitsandbytes, with 4 or 8 bits") != NULL);
        else
            CHECK_INT(m.stored.bits, ROWS[i].bits);
        if (ROWS[i].bits)
            CHECK_INT(m.stored.activation_bits, ROWS[i].activations);
    }
}

int main(void)
{
    RUN(test_describe_check__names_what_the_file_has);
    RUN(test_describe_check__members_that_say_nothing);
    RUN(test_describe_check__lists);
    RUN(test_describe_check__bits);
    return check_summary();
}
