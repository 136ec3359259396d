/*
 * plan/whatif/job_change.c - kinds of changes of a described job.
 */
#include "plan/whatif/job_whatif.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Reads the change `key` of `f`. */
typedef void read_fn(struct msim_job_change *c, struct msim_fields *f,
                     const char *key);

static const cJSON *item_of(const struct msim_fields *f, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(f->object, key);
}

/* ---- the machine --------------------------------------------------------- */

static void read_machine(struct msim_job_change *c, struct msim_fields *f,
                         const char *key)
{
    bool gpu = strcmp(key, "gpu") == 0;
    char *to = gpu ? c->platform : c->network;
    const char *text = msim_field_text(f, key);

    if (!text || !*text)
        msim_field_refuse(f, key, "a name, or a file");
    else
        snprintf(to, sizeof(c->platform), "%s", text);
}

static void read_world(struct msim_job_change *c, struct msim_fields *f,
                       const char *key)
{
    c->world = msim_field_int(f, key, 1, 1);
    if (c->world > 1000000000)
        msim_field_refuse(f, key, "at most 1,000,000,000 GPUs");
}

/* ---- how it is split ----------------------------------------------------- */

static void read_parallel(struct msim_job_change *c, struct msim_fields *f,
                          const char *key)
{
    static const char *const KEYS[] = {
        "dp", "tp",  "pp",       "vp", "cp",
        "ep", "etp", "schedule", "sp", "sequence_parallel",
        NULL};
    static const enum msim_given MEMBERS[] = {
        MSIM_GIVEN_dp,    MSIM_GIVEN_tp,   MSIM_GIVEN_pp,  MSIM_GIVEN_vp,
        MSIM_GIVEN_cp,    MSIM_GIVEN_ep,   MSIM_GIVEN_etp, MSIM_GIVEN_schedule,
        MSIM_GIVEN_COUNT, MSIM_GIVEN_COUNT};
    struct msim_fields in;

    if (!cJSON_IsObject(item_of(f, key))) {
        msim_field_refuse(f, key, "{\"tp\": 4, \"pp\": 2}");
        return;
    }
    in = msim_fields_open(f, key);
    msim_fields_only(&in, KEYS);
    for (int i = 0; KEYS[i]; i++)
        if (MEMBERS[i] != MSIM_GIVEN_COUNT && item_of(&in, KEYS[i]))
            msim_strategy_read_member(&c->strategy, &c->given, MEMBERS[i], &in,
                                      KEYS[i]);
    /* Sequences are split by tensor parallelism in all described jobs. "sp" is
     * the short name of what a traced step has as "sequence_parallel". */
    for (int i = 0; KEYS[i]; i++)
        if (MEMBERS[i] == MSIM_GIVEN_COUNT &&
            !msim_field_bool(&in, KEYS[i], true))
            msim_field_refuse(&in, KEYS[i],
                              "true: tensor parallel ranks split sequences, "
                              "too");
    msim_fields_close(f, &in);
}

static void read_shard(struct msim_job_change *c, struct msim_fields *f,
                       const char *key)
{
    static const char *const WORDS[] = {"ddp",   "zero1", "zero2",
                                        "zero3", "fsdp",  NULL};
    const cJSON *item = item_of(f, key);

    if (cJSON_IsNumber(item)) {
        msim_strategy_read_member(&c->strategy, &c->given, MSIM_GIVEN_zero, f,
                                  key);
        return;
    }
    c->strategy.zero = msim_field_word(f, key, WORDS, 0);
    if (c->strategy.zero > 3)
        c->strategy.zero = 3;
    c->given |= 1ULL << MSIM_GIVEN_zero;
}

/* ---- sizes --------------------------------------------------------------- */

static void read_batch(struct msim_job_change *c, struct msim_fields *f,
                       const char *key)
{
    static const char *const KEYS[] = {"global", "micro", NULL};
    struct msim_fields in;

    if (cJSON_IsNumber(item_of(f, key))) {
        msim_strategy_read_member(&c->strategy, &c->given,
                                  MSIM_GIVEN_global_batch, f, key);
        return;
    }
    if (!cJSON_IsObject(item_of(f, key))) {
        msim_field_refuse(f, key,
                          "sequences of a step, or {\"global\": 512} or "
                          "{\"micro\": 4}");
        return;
    }
    in = msim_fields_open(f, key);
    msim_fields_only(&in, KEYS);
    if (!in.object->child)
        msim_field_refuse(f, key, "{\"global\": 512} or {\"micro\": 4}");
    if (item_of(&in, "global"))
        msim_strategy_read_member(&c->strategy, &c->given,
                                  MSIM_GIVEN_global_batch, &in, "global");
    if (item_of(&in, "micro"))
        msim_strategy_read_member(&c->strategy, &c->given,
                                  MSIM_GIVEN_micro_batch, &in, "micro");
    msim_fields_close(f, &in);
}

static void read_model(struct msim_job_change *c, struct msim_fields *f,
                       const char *key)
{
    msim_job_model_read(&c->model, f, key);
}

/* Members of a strategy under the names that changes have. */
static const struct {
    const char *change;
    enum msim_given member;
} MEMBERS[] = {{"dtype", MSIM_GIVEN_precision},
               {"sequence", MSIM_GIVEN_sequence},
               {"recompute", MSIM_GIVEN_recompute},
               {"accumulate", MSIM_GIVEN_grad_accum},
               {"offload", MSIM_GIVEN_offload},
               {"optimizer_in_backward", MSIM_GIVEN_optimizer_in_backward},
               {"optimizer_bits", MSIM_GIVEN_optimizer_bits},
               {"master_weights", MSIM_GIVEN_master_weights},
               {"fuse", MSIM_GIVEN_compile},
               {"compile", MSIM_GIVEN_compile},
               {"chunked_loss", MSIM_GIVEN_loss_chunks},
               {"packed", MSIM_GIVEN_document}};

static void read_member(struct msim_job_change *c, struct msim_fields *f,
                        const char *key)
{
    for (size_t i = 0; i < sizeof(MEMBERS) / sizeof(*MEMBERS); i++)
        if (strcmp(MEMBERS[i].change, key) == 0)
            msim_strategy_read_member(&c->strategy, &c->given,
                                      MEMBERS[i].member, f, key);
}

/* ---- fine-tuning, messages ----------------------------------------------- */

static void read_lora(struct msim_job_change *c, struct msim_fields *f,
                      const char *key)
{
    static const char *const KEYS[] = {"rank", "targets", NULL};
    struct msim_fields in;

    if (strcmp(key, "qlora") == 0) {
        c->strategy.technique.base_bits = 4;
        c->given |= 1ULL << MSIM_GIVEN_base_bits;
    }
    if (cJSON_IsNumber(item_of(f, key))) {
        msim_strategy_read_member(&c->strategy, &c->given, MSIM_GIVEN_lora_rank,
                                  f, key);
        return;
    }
    if (!cJSON_IsObject(item_of(f, key))) {
        msim_field_refuse(f, key,
                          "a rank, or {\"rank\": 16, \"targets\": \"all\"}");
        return;
    }
    in = msim_fields_open(f, key);
    msim_fields_only(&in, KEYS);
    msim_strategy_read_member(&c->strategy, &c->given, MSIM_GIVEN_lora_rank,
                              &in, "rank");
    if (item_of(&in, "targets"))
        msim_strategy_read_member(&c->strategy, &c->given,
                                  MSIM_GIVEN_lora_targets, &in, "targets");
    msim_fields_close(f, &in);
}

static void read_quantise(struct msim_job_change *c, struct msim_fields *f,
                          const char *key)
{
    static const char *const KEYS[] = {"gradients", "weights", "dispatch",
                                       NULL};
    static const enum msim_given BITS[] = {MSIM_GIVEN_gradient_bits,
                                           MSIM_GIVEN_weight_bits,
                                           MSIM_GIVEN_dispatch_bits};
    bool object = cJSON_IsObject(item_of(f, key));
    struct msim_fields in;

    if (!object && !cJSON_IsNumber(item_of(f, key))) {
        msim_field_refuse(f, key,
                          "bits, or {\"gradients\": 8, \"weights\": 8, "
                          "\"dispatch\": 8}");
        return;
    }
    in = object ? msim_fields_open(f, key) : *f;
    if (object)
        msim_fields_only(&in, KEYS);
    for (int i = 0; KEYS[i]; i++)
        if (!object || item_of(&in, KEYS[i]))
            msim_strategy_read_member(&c->strategy, &c->given, BITS[i], &in,
                                      object ? KEYS[i] : key);
    msim_fields_close(f, &in);
}

/* ---- durations ----------------------------------------------------------- */

static double *factor_of(struct msim_job_factors *f, const char *select)
{
    return strcmp(select, "kernels") == 0         ? &f->kernels
           : strcmp(select, "communication") == 0 ? &f->communication
           : strcmp(select, "copies") == 0        ? &f->copies
           : strcmp(select, "host") == 0          ? &f->host
                                                  : NULL;
}

static void read_scale(struct msim_job_change *c, struct msim_fields *f,
                       const char *key)
{
    static const char *const WITH[] = {"select", "factor", NULL};
    static const char *const WITHOUT[] = {"select", NULL};
    bool remove = strcmp(key, "remove") == 0;
    struct msim_fields in = msim_fields_open(f, key);
    const char *select;
    double factor = 0, *to;

    if (!in.object)
        msim_field_refuse(f, key, "an object with \"select\"");
    msim_fields_only(&in, remove ? WITHOUT : WITH);
    select = msim_field_text(&in, "select");
    to = select ? factor_of(&c->factors, select) : NULL;
    if (select && strchr(select, ':'))
        snprintf(c->reason, sizeof(c->reason),
                 "'%.60s' selects operators of a traced job; a described one "
                 "has kernels, communication, copies and host",
                 select);
    else if (!to)
        msim_field_refuse(&in, "select",
                          "kernels, communication, copies or host");
    if (!remove)
        factor = msim_field_real(&in, "factor", 0);
    if (!remove && !(factor > 0))
        msim_field_refuse(&in, "factor", "a number above 0");
    if (to && in.status == MSIM_OK)
        *to *= strcmp(key, "speedup") == 0 ? 1 / factor : factor;
    msim_fields_close(f, &in);
}

/* All wait for the one whose kernels and host are slower. */
static void read_straggler(struct msim_job_change *c, struct msim_fields *f,
                           const char *key)
{
    static const char *const KEYS[] = {"rank", "factor", NULL};
    struct msim_fields in = msim_fields_open(f, key);
    double factor;

    if (!in.object)
        msim_field_refuse(f, key, "{\"factor\": 1.2}");
    msim_fields_only(&in, KEYS);
    (void)msim_field_int(&in, "rank", 0, 0);
    factor = msim_field_real(&in, "factor", 0);
    if (!(factor >= 1))
        msim_field_refuse(&in, "factor", "a number from 1");
    if (in.status == MSIM_OK) {
        c->factors.kernels *= factor;
        c->factors.host *= factor;
    }
    msim_fields_close(f, &in);
}

static void read_graph(struct msim_job_change *c, struct msim_fields *f,
                       const char *key)
{
    if (!cJSON_IsTrue(item_of(f, key)))
        msim_field_refuse(f, key, "true: of all layers");
    c->factors.graph = true;
}

static void read_overlap(struct msim_job_change *c, struct msim_fields *f,
                         const char *key)
{
    const cJSON *item = item_of(f, key);

    if (cJSON_IsNumber(item) && item->valuedouble >= 0 &&
        item->valuedouble <= 1)
        c->factors.overlap = item->valuedouble;
    else
        msim_field_refuse(f, key,
                          "a number from 0 to 1: the share of compute that "
                          "hides exchanges of gradients and weights");
}

static void read_traced(struct msim_job_change *c, struct msim_fields *f,
                        const char *key)
{
    (void)f;
    snprintf(c->reason, sizeof(c->reason),
             "%s changes a traced job: whatif SCENARIOS.json TRACE", key);
}

/* ---- all of them --------------------------------------------------------- */

/* X(name, the function that reads it) */
#define CHANGE_MAP(X)                                                          \
    X("gpu", read_machine)                                                     \
    X("network", read_machine)                                                 \
    X("world", read_world)                                                     \
    X("parallel", read_parallel)                                               \
    X("shard", read_shard)                                                     \
    X("batch", read_batch)                                                     \
    X("sequence", read_member)                                                 \
    X("hidden", read_model)                                                    \
    X("heads", read_model)                                                     \
    X("ffn", read_model)                                                       \
    X("vocab", read_model)                                                     \
    X("layers", read_model)                                                    \
    X("accumulate", read_member)                                               \
    X("dtype", read_member)                                                    \
    X("recompute", read_member)                                                \
    X("offload", read_member)                                                  \
    X("quantise_comms", read_quantise)                                         \
    X("overlap", read_overlap)                                                 \
    X("scale", read_scale)                                                     \
    X("speedup", read_scale)                                                   \
    X("remove", read_scale)                                                    \
    X("straggler", read_straggler)                                             \
    X("cuda_graph", read_graph)                                                \
    X("fuse", read_member)                                                     \
    X("compile", read_member)                                                  \
    X("lora", read_lora)                                                       \
    X("qlora", read_lora)                                                      \
    X("chunked_loss", read_member)                                             \
    X("packed", read_member)                                                   \
    X("optimizer_in_backward", read_member)                                    \
    X("optimizer_bits", read_member)                                           \
    X("master_weights", read_member)                                           \
    X("clock", read_traced)                                                    \
    X("power_cap", read_traced)                                                \
    X("loader", read_traced)                                                   \
    X("host", read_traced)                                                     \
    X("nodes", read_traced)                                                    \
    X("ranks", read_traced)                                                    \
    X("reshape", read_traced)

const char *const msim_job_change_names[] = {
#define X(name, read) name,
    CHANGE_MAP(X)
#undef X
        NULL};

static read_fn *const READS[] = {
#define X(name, read) read,
    CHANGE_MAP(X)
#undef X
};

void msim_job_change_begin(struct msim_job_change *c,
                           const struct msim_strategy *base)
{
    *c = (struct msim_job_change){.strategy = *base,
                                  .factors = {.kernels = 1,
                                              .communication = 1,
                                              .copies = 1,
                                              .host = 1,
                                              .overlap = -1}};
}

void msim_job_change_read(struct msim_job_change *c, struct msim_fields *f,
                          const char *key)
{
    for (uint32_t i = 0; msim_job_change_names[i]; i++)
        if (strcmp(msim_job_change_names[i], key) == 0)
            READS[i](c, f, key);
}

static bool has(uint64_t given, enum msim_given g)
{
    return given >> g & 1;
}

void msim_job_change_settle(struct msim_strategy *out, uint64_t *now_given,
                            const struct msim_job_change *c,
                            const struct msim_strategy *base, uint64_t given)
{
    uint64_t all = (1ULL << MSIM_GIVEN_COUNT) - 1;
    bool dp = has(c->given, MSIM_GIVEN_dp);

    *out = c->strategy;
    all &= ~(1ULL << MSIM_GIVEN_nodes);
    if (!has(given | c->given, MSIM_GIVEN_etp))
        all &= ~(1ULL << MSIM_GIVEN_etp);
    /* GPUs follow from splits, or data parallel ranks from GPUs. */
    out->gpus = c->world ? c->world : base->gpus;
    if (dp && !c->world)
        all &= ~(1ULL << MSIM_GIVEN_gpus);
    else if (!dp)
        all &= ~(1ULL << MSIM_GIVEN_dp);
    /* The global batch is the base's, or each rank's own is. */
    if (has(c->given, MSIM_GIVEN_global_batch)) {
        if (!has(c->given, MSIM_GIVEN_grad_accum))
            all &= ~(1ULL << MSIM_GIVEN_grad_accum);
    } else if (has(c->given, MSIM_GIVEN_grad_accum) || c->world ||
               !has(given, MSIM_GIVEN_global_batch)) {
        all &= ~(1ULL << MSIM_GIVEN_global_batch);
    } else {
        all &= ~(1ULL << MSIM_GIVEN_grad_accum);
    }
    *now_given = all;
}
