/*
 * core/work/words.c - the words of dtypes, collectives and convolutions.
 */
#include "core/work/work.h"

#include "core/base/texts.h"

#include <ctype.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

enum msim_dtype msim_dtype_parse(const char *word, const char **variant)
{
    static const struct {
        const char *text;
        enum msim_dtype dtype;
        bool is_variant;
    } WORDS[] = {
        {"fp32", MSIM_DT_F32, false},
        {"float", MSIM_DT_F32, false},
        {"float32", MSIM_DT_F32, false},
        {"tf32", MSIM_DT_F32, true},
        {"fp16", MSIM_DT_F16, false},
        {"half", MSIM_DT_F16, false},
        {"float16", MSIM_DT_F16, false},
        {"bfloat16", MSIM_DT_BF16, false},
        {"bf16", MSIM_DT_BF16, false},
        {"fp64", MSIM_DT_F64, false},
        {"double", MSIM_DT_F64, false},
        {"float64", MSIM_DT_F64, false},
        {"fp8", MSIM_DT_F8, false},
        {"int8", MSIM_DT_I8, false},
        {"uint8", MSIM_DT_U8, false},
        {"int32", MSIM_DT_I32, false},
        {"int64", MSIM_DT_I64, false},
        {"fp8_block", MSIM_DT_F8, true},
        {"nvfp4", MSIM_DT_F8, true},
        {"sq", MSIM_DT_I8, true},
        {"int4_wo", MSIM_DT_BF16, true},
        {"int8_wo", MSIM_DT_BF16, true},
        {"w4a16_mxfp4", MSIM_DT_BF16, true},
        {"w4a8_mxfp4_mxfp8", MSIM_DT_F8, true},
    };

    *variant = NULL;
    for (size_t i = 0; i < COUNT(WORDS); i++) {
        if (!msim_same_text(WORDS[i].text, word))
            continue;
        if (WORDS[i].is_variant)
            *variant = WORDS[i].text;
        return WORDS[i].dtype;
    }
    return MSIM_DT_UNKNOWN;
}

/* As NCCL, PyTorch and people write it: AllReduce, all-reduce, all_reduce. */
static bool is_spelling(const char *word, const char *plain)
{
    for (; *word; word++)
        if (*word != '_' && *word != '-' &&
            tolower((unsigned char)*word) != *plain++)
            return false;
    return !*plain;
}

enum msim_collective msim_collective_parse(const char *word)
{
    static const struct {
        const char *text; /* small letters alone */
        enum msim_collective collective;
    } WORDS[] = {
        {"allreduce", MSIM_COLL_ALL_REDUCE},
        {"allgather", MSIM_COLL_ALL_GATHER},
        {"reducescatter", MSIM_COLL_REDUCE_SCATTER},
        {"alltoall", MSIM_COLL_ALL_TO_ALL},
        {"broadcast", MSIM_COLL_BROADCAST},
        {"reduce", MSIM_COLL_REDUCE},
        {"gather", MSIM_COLL_GATHER},
        {"scatter", MSIM_COLL_SCATTER},
        {"sendrecv", MSIM_COLL_SEND},
        {"send", MSIM_COLL_SEND},
        {"recv", MSIM_COLL_SEND},
        {"barrier", MSIM_COLL_BARRIER},
    };

    for (size_t i = 0; i < COUNT(WORDS); i++)
        if (is_spelling(word, WORDS[i].text))
            return WORDS[i].collective;
    return MSIM_COLL_UNKNOWN;
}

static const char *const PASSES[] = {
    [MSIM_CONV_FORWARD] = "conv2d_fwd",
    [MSIM_CONV_BACKWARD_DATA] = "conv2d_bwd_data",
    [MSIM_CONV_BACKWARD_WEIGHT] = "conv2d_bwd_weight",
};

bool msim_conv_pass_parse(const char *word, enum msim_conv_pass *pass)
{
    for (size_t i = 0; i < COUNT(PASSES); i++) {
        if (msim_same_text(PASSES[i], word)) {
            *pass = (enum msim_conv_pass)i;
            return true;
        }
    }
    return false;
}

const char *msim_conv_pass_text(enum msim_conv_pass pass)
{
    return PASSES[pass];
}
