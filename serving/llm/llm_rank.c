/*
 * serving/llm/llm_rank.c - a setup with all defaults, split and checked.
 */
#include "serving/llm/llm.h"

#include "models/platform/platform.h"

#include <string.h>

double msim_quant_bytes(enum msim_quant q)
{
    static const double BYTES[MSIM_QUANTS] = {
        [MSIM_QUANT_OWN] = 2,
        [MSIM_QUANT_BF16] = 2,
        [MSIM_QUANT_FP8] = 1,
        [MSIM_QUANT_FP8_BLOCK] = 1 + 4.0 / (128 * 128),
        [MSIM_QUANT_NVFP4] = 0.5 + 1.0 / 16,
        [MSIM_QUANT_MXFP4] = 0.5 + 1.0 / 32,
        [MSIM_QUANT_INT8] = 1,
        [MSIM_QUANT_INT4] = 0.5 + 2.0 / 128,
    };

    return BYTES[q];
}

/* ---- types of weights ---------------------------------------------------- */

/* The type that the model's files have; BF16 where they do not say. */
static enum msim_quant stored_type(const struct msim_described *m)
{
    bool wide = m->stored.activation_bits > 8;

    if (m->stored.bits == 4 && m->stored.floating)
        return wide ? MSIM_QUANT_MXFP4 : MSIM_QUANT_NVFP4;
    if (m->stored.bits == 4)
        return MSIM_QUANT_INT4;
    if (m->stored.bits == 8 && (wide || !m->stored.floating))
        return MSIM_QUANT_INT8;
    if (m->stored.bits == 8)
        return m->stored.block ? MSIM_QUANT_FP8_BLOCK : MSIM_QUANT_FP8;
    return MSIM_QUANT_BF16;
}

/*
 * What a word means for this model. gpt-oss is called nvfp4 in tables and has
 * MXFP4 weights with 16-bit arithmetic. Checkpoints in fp8 that have experts
 * have scales of blocks (DeepSeek's, Qwen's and GLM's all do).
 */
static enum msim_quant meant(const struct msim_described *m,
                             enum msim_quant word)
{
    enum msim_quant stored = stored_type(m);

    if (word == MSIM_QUANT_OWN || stored == MSIM_QUANT_MXFP4)
        return stored;
    if (word == MSIM_QUANT_FP8 && m->moe.experts)
        return MSIM_QUANT_FP8_BLOCK;
    return word;
}

/* What the GPU runs it as: without units for 8 or 4 bits weights are widened
 * on their way to 16-bit arithmetic (Marlin's kernels). */
static enum msim_quant run_as(const struct msim_platform *p, enum msim_quant q)
{
    double half = msim_platform_peak_flops(p, MSIM_DT_BF16, NULL);
    double fp8 = msim_platform_peak_flops(p, MSIM_DT_F8, NULL);
    double fp4 = msim_platform_peak_flops(p, MSIM_DT_F8, "nvfp4");

    if (q == MSIM_QUANT_NVFP4 && !(fp4 > fp8))
        return MSIM_QUANT_INT4;
    if ((q == MSIM_QUANT_FP8 || q == MSIM_QUANT_FP8_BLOCK) && !(fp8 > half))
        return MSIM_QUANT_INT8;
    return q;
}

/* ModelOpt's checkpoints in 8 and 4 bits, which TensorRT-LLM runs, have the
 * cache in 8 bits, too. */
static bool is_narrow(enum msim_quant q)
{
    return q == MSIM_QUANT_FP8 || q == MSIM_QUANT_FP8_BLOCK ||
           q == MSIM_QUANT_NVFP4;
}

static void set_types(struct msim_llm_rank *r)
{
    const struct msim_described *m = r->m;
    enum msim_quant products = run_as(r->s.platform, meant(m, r->s.products));
    bool given =
        r->s.products != MSIM_QUANT_OWN && stored_type(m) != MSIM_QUANT_MXFP4;
    bool all = given || m->stored.bits == 0;

    r->experts = run_as(r->s.platform,
                        meant(m, r->s.experts ? r->s.experts : r->s.products));
    r->attention = all || m->stored.attention ? products : MSIM_QUANT_BF16;
    r->dense = all || m->stored.dense ? products : MSIM_QUANT_BF16;
    r->shared = all || m->stored.shared ? products : MSIM_QUANT_BF16;
    if (r->s.kv == MSIM_QUANT_OWN && r->s.engine == MSIM_LLM_TRTLLM &&
        is_narrow(r->attention))
        r->s.kv = MSIM_QUANT_FP8;
    r->kv_bytes = r->s.kv == MSIM_QUANT_FP8 ? 1 : 2;
}

/* ---- splits -------------------------------------------------------------- */

static int64_t or_default(int64_t v, int64_t missing)
{
    return v > 0 ? v : missing;
}

static void set_defaults(struct msim_llm_setup *s)
{
    s->tp = or_default(s->tp, 1);
    s->pp = or_default(s->pp, 1);
    s->dp = or_default(s->dp, 1);
    s->ep = or_default(s->ep, 1);
    s->moe_tp = or_default(s->moe_tp, or_default(s->tp * s->dp / s->ep, 1));
    s->block_size = or_default(s->block_size, 16);
    s->max_num_batched_tokens = or_default(s->max_num_batched_tokens, 8192);
    if (!(s->gpu_memory_utilization > 0))
        s->gpu_memory_utilization = 0.9;
}

static enum msim_status refuse(const char *what, int64_t n, const char *by,
                               int64_t of, struct msim_error *err)
{
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "%s is %lld, want a divisor of the model's %lld %s", what,
                     (long long)n, (long long)of, by);
}

/* Products of sizes stay far from what 64 bits hold; no model comes near. */
static enum msim_status check_sizes(const struct msim_described *m,
                                    struct msim_error *err)
{
    const struct {
        const char *what;
        int64_t is, most;
    } SIZES[] = {{"layers", m->layers, 100000},
                 {"hidden size", m->hidden, 10000000},
                 {"heads", m->heads, 1000000},
                 {"heads of keys", m->kv_heads, 1000000},
                 {"numbers of a head", m->head_dim, 1000000},
                 {"feed-forward size", m->ffn, 100000000},
                 {"words", m->vocab, 1000000000},
                 {"window", m->window, 1000000000},
                 {"rank of queries", m->mla.q_rank, 1000000},
                 {"rank of keys", m->mla.kv_rank, 1000000},
                 {"numbers of a latent head",
                  m->mla.nope_dim | m->mla.rope_dim | m->mla.v_dim, 1000000},
                 {"experts", m->moe.experts, 1000000},
                 {"experts a token", m->moe.topk, 1000000},
                 {"size of an expert", m->moe.ffn, 100000000},
                 {"shared experts", m->moe.shared_experts, 1000000},
                 {"heads of linear attention",
                  m->linear.key_heads | m->linear.value_heads, 1000000},
                 {"numbers of a linear head",
                  m->linear.key_dim | m->linear.value_dim, 1000000},
                 {"taps of a convolution", m->linear.conv, 1000000},
                 {"heads that choose keys", m->index.heads, 1000000},
                 {"numbers of a narrow key", m->index.dim, 1000000},
                 {"chosen keys", m->index.topk, 1000000000}};

    for (size_t i = 0; i < sizeof(SIZES) / sizeof(*SIZES); i++)
        if (SIZES[i].is > SIZES[i].most)
            return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                             "'%s' has %lld %s, want at most %lld", m->name,
                             (long long)SIZES[i].is, SIZES[i].what,
                             (long long)SIZES[i].most);
    return MSIM_OK;
}

static enum msim_status check(const struct msim_llm_rank *r,
                              struct msim_error *err)
{
    const struct msim_described *m = r->m;
    const struct msim_llm_setup *s = &r->s;

    if (m->type != MSIM_MODEL_DECODER)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "'%s' is of type %s, want a decoder", m->name,
                         msim_model_type_text(m->type));
    MSIM_TRY(check_sizes(m, err));
    if (m->heads % s->tp != 0)
        return refuse("tp", s->tp, "heads", m->heads, err);
    if (!m->mla.kv_rank && m->kv_heads % s->tp != 0 && s->tp % m->kv_heads != 0)
        return refuse("tp", s->tp, "heads of keys", m->kv_heads, err);
    if (s->pp > m->layers)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "pp is %lld, want at most the model's %lld layers",
                         (long long)s->pp, (long long)m->layers);
    if (m->moe.experts && m->moe.experts % s->ep != 0)
        return refuse("ep", s->ep, "experts", m->moe.experts, err);
    return MSIM_OK;
}

static void set_layers(struct msim_llm_rank *r)
{
    const struct msim_described *m = r->m;
    double layers = (double)m->layers;

    r->linear_layers = (double)m->linear.layers;
    r->window_layers = (double)msim_described_windowed(m, 0, m->layers);
    r->full_layers = layers - r->linear_layers - r->window_layers;
    r->moe_layers = (double)msim_described_moe_layers(m);
    r->dense_layers = layers - r->moe_layers;
}

static enum msim_status check_setup(const struct msim_llm_setup *s,
                                    struct msim_error *err)
{
    const struct {
        const char *what;
        int64_t is, most;
    } SIZES[] = {
        {"tp", s->tp, 100000},
        {"pp", s->pp, 100000},
        {"dp", s->dp, 100000},
        {"ep", s->ep, 100000},
        {"moe_tp", s->moe_tp, 100000},
        {"block_size", s->block_size, 1000000},
        {"max_num_batched_tokens", s->max_num_batched_tokens, 1000000000}};

    for (size_t i = 0; i < sizeof(SIZES) / sizeof(*SIZES); i++)
        if (SIZES[i].is > SIZES[i].most)
            return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                             "%s is %lld, want at most %lld", SIZES[i].what,
                             (long long)SIZES[i].is, (long long)SIZES[i].most);
    return MSIM_OK;
}

enum msim_status msim_llm_rank_init(struct msim_llm_rank *r,
                                    const struct msim_llm_setup *setup,
                                    struct msim_error *err)
{
    memset(r, 0, sizeof(*r));
    r->s = *setup;
    r->m = setup->model;
    r->framework = msim_llm_engine_text(setup->engine);
    MSIM_TRY(check_setup(setup, err));
    set_defaults(&r->s);
    MSIM_TRY(check(r, err));
    r->heads = r->m->heads / r->s.tp;
    r->kv_heads = or_default(r->m->kv_heads / r->s.tp, 1);
    r->gpus_a_node = msim_platform_gpus_a_node(setup->platform);
    set_types(r);
    set_layers(r);
    return MSIM_OK;
}
