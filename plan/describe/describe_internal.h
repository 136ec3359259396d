/*
 * plan/describe/describe_internal.h - what the files of plan/describe share; no
 * other room includes it.
 */
#ifndef MSIM_PLAN_DESCRIBE_DESCRIBE_INTERNAL_H
#define MSIM_PLAN_DESCRIBE_DESCRIBE_INTERNAL_H
#include "core/json/fields.h"
#include "plan/describe/describe.h"

#include <stddef.h>

/* ---- describe check ------------------------------------------------------ */

/* What sizes must be of one another, once all members of `f` are in `m`. */
void msim_described_check(struct msim_described *m, struct msim_fields *f);

/* ---- describe dlrm ------------------------------------------------------- */
/* Reading a recommendation model. */

/* Errors stay in `f`. */
void msim_described_read_dlrm(struct msim_described *m, struct msim_fields *f);

/* ---- describe hub -------------------------------------------------------- */
/* The config.json of a Hugging Face model. */

/* Is it one? Ours has other members. */
bool msim_described_is_hub(const cJSON *json);

/*
 * What serving asks beyond the sizes: windows, layers of linear attention, the
 * choice of keys, how weights are stored. `outer`: the whole file, of which `f`
 * may be "text_config". plan/describe/describe_served.c
 */
void msim_described_read_served(struct msim_described *m, struct msim_fields *f,
                                struct msim_fields *outer);

/* Errors stay in `f`. */
void msim_described_read_hub(struct msim_described *m, struct msim_fields *f);

/* ---- model family -------------------------------------------------------- */
/*
 * What a model_type of Hugging Face's config.json is made of, where the file
 * does not say it. A row of data/models/types.csv each, made into C by the
 * build (cmake/model_types.py).
 */

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
