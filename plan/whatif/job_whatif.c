/*
 * plan/whatif/job_whatif.c - predicting changes to a described job.
 */
#include "plan/whatif/job_whatif.h"

#include "core/base/hash.h"
#include "core/base/texts.h"
#include "models/platform/platform.h"
#include "plan/describe/strategy.h"
#include "plan/memory/job_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A platform with its network, loaded once. */
struct machine {
    char platform[256], network[256];
    struct msim_platform *on;
    struct msim_pricer pricer;
};

struct runner {
    struct msim_job_whatif *w;
    const struct msim_job_question *q;
    struct msim_step_fit fit;
    struct msim_memory_fit memory;
    struct machine **machines; /* as many as scenarios and the base at most */
    uint32_t n_machines;
    struct msim_job_scenario *row; /* that is being read */
};

/* ---- machines ------------------------------------------------------------ */

static void free_machine(struct machine *m)
{
    msim_pricer_release(&m->pricer);
    msim_platform_free(m->on);
    free(m);
}

static enum msim_status load_machine(struct machine *m, const char *data_dir,
                                     struct msim_error *err)
{
    struct msim_network joined;

    MSIM_TRY(msim_platform_load(&m->on, data_dir, m->platform, err));
    if (*m->network) {
        MSIM_TRY(msim_network_load(&joined, data_dir, m->network, err));
        MSIM_TRY(msim_platform_connect(m->on, &joined, data_dir, err));
    }
    m->pricer.platform = m->on;
    return MSIM_OK;
}

static enum msim_status find_machine(struct machine **out, struct runner *r,
                                     const char *platform, const char *network,
                                     struct msim_error *err)
{
    enum msim_status status;
    struct machine *m;

    for (uint32_t i = 0; i < r->n_machines; i++) {
        *out = r->machines[i];
        if (strcmp((*out)->platform, platform) == 0 &&
            strcmp((*out)->network, network) == 0)
            return MSIM_OK;
    }
    *out = NULL;
    m = calloc(1, sizeof(*m));
    if (!m)
        return MSIM_ENOMEM;
    snprintf(m->platform, sizeof(m->platform), "%s", platform);
    snprintf(m->network, sizeof(m->network), "%s", network);
    status = load_machine(m, r->q->data_dir, err);
    if (status != MSIM_OK) {
        free_machine(m);
        return status;
    }
    r->machines[r->n_machines++] = *out = m;
    return MSIM_OK;
}

/* ---- one job ------------------------------------------------------------- */

/* Factors on what terms hold; the host's times are the law's constants. */
static void apply(struct msim_terms *t, struct msim_step_constants *c,
                  const struct msim_job_factors *f)
{
    double *const comms[] = {&t->p2p_us,           &t->sum_us,
                             &t->scatter_us,       &t->gather_us,
                             &t->layer_scatter_us, &t->layer_gather_us};
    double host = f->graph ? 0 : f->host;

    for (int place = 0; place < MSIM_PLACE_COUNT; place++) {
        struct msim_priced *p = &t->at[place];

        for (int pass = 0; pass < MSIM_PASS_COUNT; pass++) {
            for (int k = 0; k < MSIM_PART_OP_COUNT; k++)
                p->us[k][pass] *= f->kernels;
            for (int g = 0; g < 3; g++)
                p->comm_us[g][pass] *= f->communication;
        }
        p->again_us *= f->kernels;
    }
    t->add_us *= f->kernels;
    t->optimizer_us *= f->kernels;
    for (size_t i = 0; i < sizeof(comms) / sizeof(*comms); i++)
        *comms[i] *= f->communication;
    for (int pass = 0; pass < MSIM_PASS_COUNT; pass++)
        t->copy_us[pass] *= f->copies;
    t->copied_us *= f->copies;
    t->host_down_us *= f->copies;
    c->host_layer_us *= host;
    c->host_expert_us *= host;
    c->host_comm_us *= host;
    c->fixed_us *= f->host;
    if (f->overlap >= 0)
        c->hidden = c->hidden_waits = c->hidden_shard = f->overlap;
}

static void set_figures(const struct runner *r, struct msim_job_scenario *row,
                        const struct machine *m,
                        const struct msim_described *model,
                        const struct msim_terms *priced)
{
    const struct msim_strategy *s = &row->strategy;
    struct msim_step_fit fit = r->fit;
    struct msim_terms terms = *priced;

    apply(&terms, &fit.constants, &row->change.factors);
    row->step = msim_step_predict(&terms, &fit);
    if (!(row->step.us > 0)) {
        snprintf(row->reason, sizeof(row->reason),
                 "nothing of the step is left that takes time");
        return;
    }
    row->tokens_per_second =
        (double)(s->global_batch * s->sequence) / row->step.us * 1e6;
    row->mfu = msim_step_mfu(&row->step, m->on, s);
    row->capacity = msim_platform_usable_bytes(m->on);
    row->memory = msim_job_memory_of(
        model, s, &r->memory,
        &(struct msim_memory_gpu){.usable = row->capacity,
                                  .link = msim_platform_link_rate(m->on)});
}

static bool has_nodes(const struct msim_job_whatif *w)
{
    return w->given >> MSIM_GIVEN_nodes & 1;
}

/* Nodes that the base says have as many GPUs in every scenario of its GPU. */
static int64_t usual_node(const struct msim_job_whatif *w,
                          const struct msim_job_scenario *row,
                          const struct msim_platform *on)
{
    return has_nodes(w) && row != &w->base && !*row->change.platform
               ? w->base.strategy.gpus_a_node
               : msim_platform_gpus_a_node(on);
}

/* Where it cannot be predicted, `row->reason` says why. */
static void predict(struct runner *r, struct msim_job_scenario *row,
                    uint64_t given, char *assumed, size_t size)
{
    const struct msim_job_change *c = &row->change;
    struct msim_error why = {0};
    char text[sizeof(why.file) + sizeof(why.text)];
    struct msim_described model;
    struct msim_terms terms;
    struct machine *m;
    const char *network = *c->network     ? c->network
                          : r->q->network ? r->q->network
                                          : "";

    if (row->change.model.layers == r->w->model.layers)
        row->change.model.layers = 0; /* as many as there are */
    if (*row->reason || !msim_job_model_make(&model, &r->w->model, &c->model,
                                             row->reason, sizeof(row->reason)))
        return;
    if (find_machine(&m, r, *c->platform ? c->platform : r->q->platform,
                     network, &why) != MSIM_OK ||
        msim_strategy_complete(&row->strategy, given, &model,
                               usual_node(r->w, row, m->on), assumed, size,
                               row->reason, sizeof(row->reason)) ||
        msim_terms_make(&terms, &m->pricer, &model, &row->strategy, &why) !=
            MSIM_OK) {
        if (!*row->reason) {
            msim_error_sentence(text, sizeof(text), why.status, &why);
            msim_cut_text(row->reason, sizeof(row->reason), text);
        }
        return;
    }
    set_figures(r, row, m, &model, &terms);
}

/* ---- the ratio ----------------------------------------------------------- */

/* How far the errors of base and scenario go together. */
enum kinship {
    SCALED,        /* durations alone differ */
    SAME_KERNELS,  /* there are more or fewer of them */
    OTHER_NETWORK, /* what it does not carry is the same */
    OTHER_KERNELS  /* another machine, precision, or sizes */
};

static enum kinship kinship_of(const struct msim_job_scenario *row,
                               const struct msim_job_scenario *base)
{
    const struct msim_strategy *a = &base->strategy, *b = &row->strategy;

    if (*row->change.platform ||
        !msim_job_model_has_same_sizes(&row->change.model) ||
        a->precision != b->precision || a->micro_batch != b->micro_batch ||
        a->sequence != b->sequence || a->tp != b->tp || a->cp != b->cp ||
        a->ep != b->ep || a->etp != b->etp)
        return OTHER_KERNELS;
    if (memcmp(a, b, sizeof(*a)) != 0 ||
        !msim_job_model_is_same(&row->change.model))
        return *row->change.network ? OTHER_KERNELS : SAME_KERNELS;
    return *row->change.network ? OTHER_NETWORK : SCALED;
}

#define SAME_PART 1e-9 /* of a part: rounding */

/* Is a part of both steps, `b` and `s`, what both share? */
static bool is_shared(enum kinship kinship, double b, double s)
{
    return kinship == SCALED ||
           (kinship == OTHER_NETWORK && fabs(s - b) <= SAME_PART * b);
}

/* The variance of ln ratio over the mean of both jobs' own. */
static double variance(const struct msim_job_scenario *base,
                       const struct msim_job_scenario *row)
{
    const double *b = (const double *)&base->step.parts;
    const double *s = (const double *)&row->step.parts;
    enum kinship kinship = kinship_of(row, base);
    double apart = 0, own = 0;

    for (size_t i = 0; i < sizeof(base->step.parts) / sizeof(double); i++) {
        double v = b[i] / base->step.us, w = s[i] / row->step.us;
        double both = fmin(b[i], s[i]);
        double more = (s[i] - both) / row->step.us;
        double less = (b[i] - both) / base->step.us;
        double moved = w - more - (v - less) + sqrt(0.5) * (more - less);

        apart += is_shared(kinship, b[i], s[i]) ? (w - v) * (w - v)
                 : kinship == SAME_KERNELS
                     ? moved * moved + (more + less) * (more + less) / 2
                     : ((w - v) * (w - v) + w * w + v * v) / 2;
        own += (w * w + v * v) / 2;
    }
    return own > 0 ? apart / own : 0;
}

static void set_ratio(const struct msim_job_scenario *base,
                      struct msim_job_scenario *row)
{
    const struct msim_step_estimate *b = &base->step, *s = &row->step;
    double share = variance(base, row) / 2;
    double down = hypot(log(s->us / s->low_us), log(b->high_us / b->us));
    double up = hypot(log(s->high_us / s->us), log(b->us / b->low_us));

    row->ratio = s->us / b->us;
    row->ratio_low = row->ratio / exp(down * sqrt(share));
    row->ratio_high = row->ratio * exp(up * sqrt(share));
    if (msim_step_ratio_widen(s->correction / b->correction, row->ratio,
                              &row->ratio_low, &row->ratio_high))
        row->marks |= MSIM_GUARD_BIT(EVIDENCE);
}

/* ---- what cannot be ------------------------------------------------------ */

/* All but the strategy: machine and factors. */
static uint64_t rest_of(const struct msim_job_whatif *w,
                        const struct msim_job_change *c)
{
    const struct msim_job_factors *f = &c->factors;
    const double factors[] = {f->kernels, f->communication, f->copies,
                              f->host,    f->overlap,       f->graph};
    uint64_t h = msim_hash_bytes(MSIM_HASH_START, factors, sizeof(factors));

    h = msim_hash_bytes(h, &c->model, sizeof(c->model));
    h = msim_hash_text(h, *c->platform ? c->platform : w->platform);
    h = msim_hash_byte(h, *c->platform != '\0');
    return msim_hash_text(h, c->network);
}

/* The base, then the rows. */
static struct msim_job_scenario *row_at(struct msim_job_whatif *w, uint32_t i)
{
    return i ? &w->rows[i - 1] : &w->base;
}

static msim_guard_marks marks_of(const struct msim_job_scenario *r)
{
    return r->marks | msim_guard_check(r->step.us, r->step.low_us,
                                       r->step.high_us, r->mfu);
}

/* What has an answer, compared. */
static enum msim_status compare(struct msim_job_whatif *w,
                                struct msim_strategy_answer *a, uint32_t *whose,
                                msim_guard_marks *marks)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i <= w->n; i++) {
        const struct msim_job_scenario *r = row_at(w, i);

        if (*r->reason)
            continue;
        a[n] = (struct msim_strategy_answer){
            &r->strategy, rest_of(w, &r->change), r->step.us, r->step.near};
        whose[n++] = i;
    }
    MSIM_TRY(msim_strategy_guard(a, n, marks));
    for (uint32_t i = 0; i < n; i++) {
        struct msim_job_scenario *r = row_at(w, whose[i]);

        r->marks = marks[i] | marks_of(r);
        msim_guard_add(&w->marked, r->marks);
    }
    return MSIM_OK;
}

static enum msim_status guard(struct msim_job_whatif *w)
{
    struct msim_strategy_answer *a = calloc((size_t)w->n + 1, sizeof(*a));
    uint32_t *whose = calloc((size_t)w->n + 1, sizeof(*whose));
    msim_guard_marks *marks = calloc((size_t)w->n + 1, sizeof(*marks));
    enum msim_status status = MSIM_ENOMEM;

    if (a && whose && marks)
        status = compare(w, a, whose, marks);
    free(a);
    free(whose);
    free(marks);
    return status;
}

/* ---- the file ------------------------------------------------------------ */

static enum msim_status take_count(void *ctx, uint32_t n)
{
    struct runner *r = ctx;

    r->w->rows = calloc(n, sizeof(*r->w->rows));
    r->machines = calloc((size_t)n + 1, sizeof(*r->machines));
    return r->w->rows && r->machines ? MSIM_OK : MSIM_ENOMEM;
}

static enum msim_status begin_row(void *ctx, uint32_t index, const char *name)
{
    struct runner *r = ctx;

    r->row = &r->w->rows[index];
    r->w->n = index + 1;
    snprintf(r->row->name, sizeof(r->row->name), "%s", name);
    msim_job_change_begin(&r->row->change, &r->w->base.strategy);
    return MSIM_OK;
}

static void take_change(void *ctx, struct msim_fields *f, const char *key)
{
    struct runner *r = ctx;

    msim_job_change_read(&r->row->change, f, key);
}

static void end_row(void *ctx)
{
    (void)ctx;
}

/* ---- all of it ----------------------------------------------------------- */

/* The base's strategy, complete: scenarios change what it says. */
static enum msim_status read_base(struct runner *r, struct msim_error *err)
{
    struct msim_job_whatif *w = r->w;
    struct msim_strategy *s = &w->base.strategy;
    char reason[256], one[] = "1";
    int64_t a_node = 8; /* to fill in nodes, which nothing here reads */

    MSIM_TRY(
        msim_described_find(&w->model, r->q->model, r->q->data_dir, NULL, err));
    if (w->model.type == MSIM_MODEL_DLRM)
        return msim_fail(err, MSIM_EUSAGE, r->q->model, MSIM_OFFSET_NONE,
                         "a dlrm has no predicted step; want a transformer");
    if (r->q->strategy)
        MSIM_TRY(msim_strategy_read(s, &w->given, r->q->strategy, err));
    else
        (void)msim_strategy_set(s, MSIM_GIVEN_gpus, one, &w->given, reason,
                                sizeof(reason));
    if (msim_strategy_complete(s, w->given, &w->model, a_node, w->assumed,
                               sizeof(w->assumed), reason, sizeof(reason)))
        return msim_fail(err, MSIM_EUSAGE, r->q->strategy, MSIM_OFFSET_NONE,
                         "%s", reason);
    return MSIM_OK;
}

/* The base's own machine is no other one. */
static void drop_same_machine(const struct msim_job_question *q,
                              struct msim_job_change *c)
{
    if (strcmp(c->platform, q->platform) == 0)
        c->platform[0] = '\0';
    if (q->network && strcmp(c->network, q->network) == 0)
        c->network[0] = '\0';
}

static enum msim_status predict_all(struct runner *r, struct msim_error *err)
{
    struct msim_job_whatif *w = r->w;
    char assumed[256];
    uint64_t given;

    given = (1ULL << MSIM_GIVEN_COUNT) - 1;
    if (!has_nodes(w))
        given &= ~(1ULL << MSIM_GIVEN_nodes);
    predict(r, &w->base, given, assumed, sizeof(assumed));
    if (*w->base.reason)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE, "%s",
                         w->base.reason);
    w->base.ratio = w->base.ratio_low = w->base.ratio_high = 1;
    for (uint32_t i = 0; i < w->n; i++) {
        struct msim_job_scenario *row = &w->rows[i];

        memcpy(row->reason, row->change.reason, sizeof(row->reason));
        drop_same_machine(r->q, &row->change);
        msim_job_change_settle(&row->strategy, &given, &row->change,
                               &w->base.strategy, w->given);
        predict(r, row, given, assumed, sizeof(assumed));
        if (!*row->reason)
            set_ratio(&w->base, row);
    }
    return MSIM_OK;
}

static enum msim_status simulate(struct msim_job_whatif *w,
                                 const struct msim_job_question *q,
                                 struct msim_error *err)
{
    w->simulated = q->simulate;
    if (!q->simulate)
        return MSIM_OK;
    return msim_job_graph_find(
        &w->graph,
        &(struct msim_job_graph_ask){.model = &w->model,
                                     .strategy = &w->base.strategy,
                                     .data = q->data_dir,
                                     .platform = q->platform,
                                     .network = q->network},
        err);
}

enum msim_status msim_job_whatif_run(struct msim_job_whatif *out,
                                     const struct msim_job_question *q,
                                     struct msim_error *err)
{
    struct runner r = {.w = out, .q = q};
    struct msim_scenario_reader reader = {
        &r, msim_job_change_names, take_count, begin_row, take_change, end_row};
    enum msim_status status;

    *out = (struct msim_job_whatif){.base = {.name = "base"}};
    snprintf(out->platform, sizeof(out->platform), "%s", q->platform);
    status = read_base(&r, err);
    msim_job_change_begin(&out->base.change, &out->base.strategy);
    if (status == MSIM_OK)
        status =
            msim_scenario_list_read(&reader, &q->scenarios, &out->grid, err);
    if (status == MSIM_OK)
        status = msim_steps_read(&r.fit, &r.memory, q->data_dir, NULL, err);
    if (status == MSIM_OK)
        status = predict_all(&r, err);
    if (status == MSIM_OK)
        status = guard(out);
    if (status == MSIM_OK)
        status = simulate(out, q, err);
    for (uint32_t i = 0; i < r.n_machines; i++)
        free_machine(r.machines[i]);
    free(r.machines);
    msim_step_fit_release(&r.fit);
    return status;
}

void msim_job_whatif_release(struct msim_job_whatif *w)
{
    free(w->rows);
    w->rows = NULL;
    w->n = 0;
    msim_scenario_grid_release(&w->grid);
}
