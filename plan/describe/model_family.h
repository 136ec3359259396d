/*
 * plan/describe/model_family.h - what a model_type of Hugging Face's
 * config.json is made of, where the file does not say it. A row of
 * data/models/types.csv each, made into C by the build (cmake/model_types.py).
 */
#ifndef MSIM_PLAN_DESCRIBE_MODEL_FAMILY_H
#define MSIM_PLAN_DESCRIBE_MODEL_FAMILY_H
#include "plan/describe/described.h"

#include <stddef.h>

/* WITHIN: the stack that reads is a member, "text_config". */
enum msim_family_stack {
    MSIM_FAMILY_STACK_DECODER,
    MSIM_FAMILY_STACK_BERT,
    MSIM_FAMILY_STACK_VIT,
    MSIM_FAMILY_STACK_WITHIN
};

/* Members as in struct msim_described; `tied` where a file leaves it out. */
struct msim_model_family {
    const char *type;
    enum msim_family_stack stack;
    bool gated, layernorm, bias, tied, qk_norm;
    enum msim_positions positions;
    int64_t shared_experts; /* that no member of the file counts */
};

extern const struct msim_model_family msim_model_families[];
extern const size_t msim_model_families_n;

/* The row of that type; a Llama's where `type` is NULL, NULL where there is
 * none. */
const struct msim_model_family *msim_model_family_find(const char *type);

#endif
