/*
 * plan/simulate/job_graph.c - the graph of a described job, simulated.
 */
#include "plan/simulate/job_graph.h"

#include "core/base/containers.h"
#include "plan/describe/strategy.h"
#include "plan/synth/synth.h"
#include "predict/pipeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- traces in memory ---------------------------------------------------- */

struct kept {
    char name[64];
    struct msim_vec bytes;
};

struct keeping {
    struct kept *of; /* one a trace; room for all stages */
    uint32_t n, room;
};

static enum msim_status begin_text(void **trace, void *own, const char *name,
                                   struct msim_error *err)
{
    struct keeping *k = own;

    (void)err;
    if (k->n == k->room)
        return MSIM_ELIMIT;
    *trace = &k->of[k->n++];
    snprintf(k->of[k->n - 1].name, sizeof(k->of->name), "%s", name);
    return MSIM_OK;
}

static enum msim_status write_text(void *trace, const char *bytes, size_t n)
{
    struct kept *kept = trace;
    struct msim_text_piece piece;

    return msim_vec_text(&kept->bytes, bytes, n, &piece);
}

static enum msim_status end_text(void *trace, enum msim_status status,
                                 struct msim_error *err)
{
    (void)trace;
    (void)err;
    return status;
}

/* ---- one graph ----------------------------------------------------------- */

#define STAGES 64 /* whose peaks are told apart */

struct figures {
    double us;
    double peak[STAGES]; /* bytes, by stage */
    uint32_t stages;
};

static enum msim_status read_off(struct figures *out,
                                 const struct msim_basis *b,
                                 struct msim_error *err)
{
    const struct msim_rank_memory *m = &b->memory;

    out->stages = m->n < STAGES ? m->n : STAGES;
    for (uint32_t i = 0; i < out->stages; i++)
        out->peak[i] =
            m->ranks[i].known ? (double)m->ranks[i].peak.allocated : NAN;
    return msim_graph_walk(&out->us, b->graph, b->costs, err);
}

static enum msim_status simulate(struct figures *out,
                                 const struct msim_job_text *texts, uint32_t n,
                                 const struct msim_job_graph_ask *ask,
                                 struct msim_error *err)
{
    const char *name = ask->model->name;
    bool own = !ask->network || !*ask->network;
    int64_t gpus = ask->strategy->gpus, a_node = ask->strategy->gpus_a_node;
    struct msim_predict_settings s = {.data = ask->data,
                                      .paths = &name,
                                      .n_paths = 1,
                                      .texts = texts,
                                      .n_texts = n,
                                      .platform = ask->platform,
                                      .network = own ? NULL : ask->network,
                                      .gpus_a_node = (uint32_t)a_node,
                                      .peers = MSIM_PEERS_FIXED,
                                      .iteration = MSIM_ITERATION_ALL,
                                      .load = {.stand_for_all = true},
                                      .totals_only = true};
    struct msim_basis *basis = NULL;
    struct msim_inputs in;
    struct msim_target to;
    enum msim_status status;

    if (!own) /* a network has nodes of its own, unless they are asked for */
        s.nodes = (uint32_t)((gpus + a_node - 1) / a_node);
    status = msim_predict_load(&in, &to, &s, err);
    if (status == MSIM_OK)
        status = msim_basis_new(&basis, &s, &in, &to, err);
    if (status == MSIM_OK)
        status = read_off(out, basis, err);
    msim_basis_free(basis);
    msim_target_release(&to);
    msim_inputs_release(&in);
    return status;
}

static enum msim_status load_and_simulate(struct figures *out,
                                          const struct keeping *k,
                                          const struct msim_job_graph_ask *ask,
                                          struct msim_error *err)
{
    struct msim_job_text *texts = calloc((size_t)k->n + 1, sizeof(*texts));
    enum msim_status status = MSIM_ENOMEM;

    for (uint32_t i = 0; texts && i < k->n; i++)
        texts[i] = (struct msim_job_text){k->of[i].name, k->of[i].bytes.data,
                                          k->of[i].bytes.n};
    if (texts)
        status = simulate(out, texts, k->n, ask, err);
    free(texts);
    return status;
}

/* One graph of so many micro batches and layers. */
static enum msim_status find_one(struct figures *out,
                                 const struct msim_job_graph_ask *ask,
                                 int64_t batches, int64_t layers,
                                 struct msim_error *err)
{
    struct msim_described model = *ask->model;
    struct msim_strategy s = *ask->strategy;
    const struct msim_synth_options o = {.model = &model, .strategy = &s};
    struct msim_synth_result made;
    struct keeping k = {.room = (uint32_t)s.pp};
    const struct msim_synth_place to = {&k, begin_text, write_text, end_text};
    enum msim_status status = MSIM_ENOMEM;

    model.layers = layers;
    s.grad_accum = batches;
    s.global_batch = batches * s.dp * s.micro_batch;
    k.of = calloc(k.room, sizeof(*k.of));
    if (k.of)
        status = msim_synth_make(&o, &to, &made, err);
    if (status == MSIM_OK)
        status = load_and_simulate(out, &k, ask, err);
    for (uint32_t i = 0; k.of && i < k.n; i++)
        free(k.of[i].bytes.data);
    free(k.of);
    return status;
}

/* ---- shorter ones -------------------------------------------------------- */

/* How many there are, and how many the graphs have: one number twice, where
 * all are in it. */
struct folded {
    int64_t of, few, more;
};

/* Once as many micro batches as stages are under way, each further one adds
 * the same; chunks and delayed gradients go in groups of stages. */
static struct folded fold_batches(const struct msim_job_graph_ask *ask)
{
    const struct msim_strategy *s = ask->strategy;
    bool groups =
        s->vp > 1 || s->technique.schedule == MSIM_SCHEDULE_ZERO_BUBBLE;
    struct folded f = {s->grad_accum, s->grad_accum, s->grad_accum};
    int64_t few = groups ? 2 * s->pp : s->pp > 2 ? s->pp : 2;
    int64_t more = groups ? 3 * s->pp : few + 1;

    if (ask->whole || more >= f.of)
        return f;
    f.few = few;
    f.more = more;
    return f;
}

/* Have all stages as many? */
static bool is_even(const struct msim_described *m,
                    const struct msim_strategy *s, int64_t layers)
{
    struct msim_described model = *m;

    model.layers = layers;
    for (int64_t stage = 0; stage < s->pp; stage++)
        if (msim_stage_layers(&model, s, stage) * s->pp != layers)
            return false;
    return layers % (s->pp * s->vp) == 0;
}

/* All layers alike, evenly spread: two and three of each chunk. */
static struct folded fold_layers(const struct msim_job_graph_ask *ask)
{
    const struct msim_described *m = ask->model;
    const struct msim_strategy *s = ask->strategy;
    int64_t chunks = s->pp * s->vp, few = 2 * chunks, more = 3 * chunks;
    struct folded f = {m->layers, m->layers, m->layers};
    bool alike = m->moe.dense_layers == 0 && !m->mtp_layers &&
                 msim_described_windowed(m, 0, m->layers) % m->layers == 0;

    if (ask->whole || !alike || more >= f.of || !is_even(m, s, f.of) ||
        !is_even(m, s, few) || !is_even(m, s, more))
        return f;
    f.few = few;
    f.more = more;
    return f;
}

static double at(const struct folded *f, double few, double more)
{
    if (f->few == f->more)
        return few;
    return few +
           (more - few) * (double)(f->of - f->few) / (double)(f->more - f->few);
}

/* Layers that all graphs pass together; some seconds of work. */
#define PASSES_MOST 8192

static double passes_of(const struct folded *n, const struct folded *layers)
{
    return (double)(n->few + (n->few < n->more ? n->more : 0)) *
           (double)(layers->few +
                    (layers->few < layers->more ? layers->more : 0));
}

static struct folded whole(int64_t of)
{
    return (struct folded){of, of, of};
}

/* Shorter graphs, where they are much shorter: each has its own beginning. */
static bool fold(struct folded *n, struct folded *layers,
                 const struct msim_job_graph_ask *ask, char *why)
{
    double all = (double)(ask->strategy->grad_accum * ask->model->layers);

    *n = fold_batches(ask);
    *layers = fold_layers(ask);
    if (2 * passes_of(n, layers) > all || ask->strategy->pp > STAGES) {
        *n = whole(n->of);
        *layers = whole(layers->of);
    }
    if (passes_of(n, layers) <= PASSES_MOST || ask->whole)
        return true;
    snprintf(why, MSIM_JOB_GRAPH_WHY,
             "its graphs have %.0f passes of layers, want at most %d",
             passes_of(n, layers), PASSES_MOST);
    return false;
}

/* The stage that needs most, each taken further by itself. */
static double peak_of(const struct folded *layers, const struct figures *few,
                      const struct figures *more)
{
    double most = NAN;

    for (uint32_t i = 0; i < few->stages && i < more->stages; i++)
        most = fmax(most, at(layers, few->peak[i], more->peak[i]));
    return most;
}

static enum msim_status find_all(struct msim_job_graph *out,
                                 const struct msim_job_graph_ask *ask,
                                 struct msim_error *err)
{
    struct folded n, layers;
    struct figures f[2][2] = {0}; /* by depth, then micro batches */
    int each, deep;

    if (!fold(&n, &layers, ask, out->why))
        return MSIM_OK;
    each = n.few == n.more ? 1 : 2;
    deep = layers.few == layers.more ? 1 : 2;
    for (int d = 0; d < deep; d++)
        for (int b = 0; b < each; b++)
            MSIM_TRY(find_one(&f[d][b], ask, b ? n.more : n.few,
                              d ? layers.more : layers.few, err));
    out->us = at(&layers, at(&n, f[0][0].us, f[0][each - 1].us),
                 at(&n, f[deep - 1][0].us, f[deep - 1][each - 1].us));
    out->peak = peak_of(&layers, &f[0][each - 1], &f[deep - 1][each - 1]);
    out->graphs = (uint32_t)(each * deep);
    out->known = true;
    return MSIM_OK;
}

enum msim_status msim_job_graph_find(struct msim_job_graph *out,
                                     const struct msim_job_graph_ask *ask,
                                     struct msim_error *err)
{
    struct msim_error why = {0};
    enum msim_status status;

    *out = (struct msim_job_graph){.us = NAN, .peak = NAN};
    status = find_all(out, ask, &why);
    if (status == MSIM_EUSAGE || status == MSIM_ELIMIT) {
        snprintf(out->why, sizeof(out->why), "%.250s", why.text);
        return MSIM_OK;
    }
    if (status != MSIM_OK && err)
        *err = why;
    return status;
}
