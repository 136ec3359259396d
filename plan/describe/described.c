/*
 * plan/describe/described.c - figures of described models.
 */
#include "plan/describe/describe.h"

static const char *const TYPES[] = {
#define X(name, text) text,
    MSIM_MODEL_TYPE_MAP(X)
#undef X
};

const char *msim_model_type_text(enum msim_model_type t)
{
    return TYPES[t];
}

int64_t msim_described_image_tokens(const struct msim_described *m)
{
    int64_t side = m->image.size / (m->image.patch ? m->image.patch : 1);

    return side * side + 1;
}

int64_t msim_described_sequence(const struct msim_described *m, int64_t wanted)
{
    bool bounded = m->positions == MSIM_POSITIONS_LEARNED && m->max_positions;

    if (m->type == MSIM_MODEL_VIT)
        return msim_described_image_tokens(m);
    return bounded && wanted > m->max_positions ? m->max_positions : wanted;
}

int64_t msim_described_usual_sequence(const struct msim_described *m,
                                      int64_t usual)
{
    return m->context && m->context < usual ? m->context : usual;
}

/* Of `n` first layers, those that see a window, evenly spread. */
static int64_t windowed_before(const struct msim_described *m, int64_t n)
{
    if (!m->window)
        return 0;
    return m->window_layers ? n * m->window_layers / m->layers
                            : (n + m->window_every - 1) / m->window_every;
}

int64_t msim_described_windowed(const struct msim_described *m, int64_t from,
                                int64_t to)
{
    return windowed_before(m, to) - windowed_before(m, from);
}

int64_t msim_described_moe_layers(const struct msim_described *m)
{
    return m->moe.experts ? m->layers - m->moe.dense_layers : 0;
}

/* ---- DLRM ---------------------------------------------------------------- */

int64_t msim_described_tables(const struct msim_described *m)
{
    int64_t n = 0;

    for (uint32_t i = 0; i < m->dlrm.n_kinds; i++)
        n += m->dlrm.tables[i].count;
    return n;
}

/* Dot products of all pairs of vectors, beside the bottom MLP's output. */
int64_t msim_described_interactions(const struct msim_described *m)
{
    int64_t vectors = msim_described_tables(m) + 1;

    return m->dlrm.dim + vectors * (vectors - 1) / 2;
}

static double mlp_parameters(int64_t in, const int64_t *out, uint32_t n)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        sum += ((double)in + 1) * (double)out[i];
        in = out[i];
    }
    return sum;
}

static double dlrm_parameters(const struct msim_described *m)
{
    double rows = 0;

    for (uint32_t i = 0; i < m->dlrm.n_kinds; i++)
        rows +=
            (double)m->dlrm.tables[i].rows * (double)m->dlrm.tables[i].count;
    return rows * (double)m->dlrm.dim +
           mlp_parameters(m->dlrm.dense, m->dlrm.bottom, m->dlrm.n_bottom) +
           mlp_parameters(msim_described_interactions(m), m->dlrm.top,
                          m->dlrm.n_top);
}

/* ---- transformers -------------------------------------------------------- */

static double attention_parameters(const struct msim_described *m)
{
    double h = (double)m->hidden;
    double heads = (double)m->heads;

    if (m->mla.kv_rank) {
        double qk = (double)(m->mla.nope_dim + m->mla.rope_dim);
        double q = m->mla.q_rank ? (h + heads * qk) * (double)m->mla.q_rank
                                 : h * heads * qk;

        return q + h * (double)(m->mla.kv_rank + m->mla.rope_dim) +
               (double)m->mla.kv_rank * heads *
                   (double)(m->mla.nope_dim + m->mla.v_dim) +
               heads * (double)m->mla.v_dim * h;
    }
    return h * (double)m->head_dim * (2 * heads + 2 * (double)m->kv_heads);
}

static double linear(const struct msim_described *m, double in, double out)
{
    return in * out + (m->bias ? out : 0);
}

static double norm(const struct msim_described *m)
{
    return (double)m->hidden * (m->layernorm ? 2 : 1);
}

static double encoder_layer(const struct msim_described *m)
{
    double h = (double)m->hidden, ffn = (double)m->ffn;
    double width =
        (double)m->head_dim * ((double)m->heads + 2 * (double)m->kv_heads);
    double heads = (double)m->head_dim * (double)m->heads;
    double qk = m->qk_norm ? (double)m->head_dim * (m->layernorm ? 2 : 1) : 0;

    return linear(m, h, width) + qk + linear(m, heads, h) +
           linear(m, h, m->gated ? 2 * ffn : ffn) + linear(m, ffn, h) +
           2 * norm(m);
}

/* Before the first layer. */
static double encoder_input(const struct msim_described *m)
{
    double h = (double)m->hidden;
    double patch = (double)(m->image.patch * m->image.patch);

    if (m->type == MSIM_MODEL_VIT)
        return ((double)m->image.channels * patch + 2) * h +
               (double)msim_described_image_tokens(m) * h;
    return h * (double)(m->vocab + m->token_types +
                        (m->positions == MSIM_POSITIONS_LEARNED
                             ? m->max_positions
                             : 0)) +
           (m->post_norm ? norm(m) : 0);
}

/* Behind the last layer. */
static double encoder_head(const struct msim_described *m)
{
    double h = (double)m->hidden, vocab = (double)m->vocab, sum = 0;
    bool tokens = m->head != MSIM_MODEL_CLASSIFIER;
    bool classes =
        m->head == MSIM_MODEL_PRETRAINING || m->head == MSIM_MODEL_CLASSIFIER;

    if (!m->post_norm)
        sum += norm(m);
    if (tokens && m->head != MSIM_MODEL_LM)
        sum += linear(m, h, h) + norm(m);
    if (tokens)
        sum += linear(m, h, vocab) - (m->tied ? h * vocab : 0);
    if (classes && m->pooler)
        sum += linear(m, h, h);
    if (classes)
        sum += linear(m, h, (double)m->classes);
    return sum;
}

/* All of them, biases too. */
static double encoder_parameters(const struct msim_described *m)
{
    return encoder_input(m) + (double)m->layers * encoder_layer(m) +
           encoder_head(m);
}

/* All but biases, which are few. */
static double decoder_parameters(const struct msim_described *m)
{
    double h = (double)m->hidden, matrices = m->gated ? 3 : 2;
    double experts = (double)msim_described_moe_layers(m);
    double dense = (double)m->layers - experts;
    double expert = matrices * h * (double)m->moe.ffn;

    return (double)m->layers * (attention_parameters(m) + 2 * h) +
           dense * matrices * h * (double)m->ffn +
           experts *
               (expert * (double)(m->moe.experts + m->moe.shared_experts) +
                h * (double)m->moe.experts) +
           h * (double)m->vocab * (m->tied ? 1 : 2) + h;
}

double msim_described_parameters(const struct msim_described *m)
{
    if (m->type == MSIM_MODEL_DLRM)
        return dlrm_parameters(m);
    return m->encoder ? encoder_parameters(m) : decoder_parameters(m);
}
