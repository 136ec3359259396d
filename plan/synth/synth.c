/*
 * plan/synth/synth.c - the ranks of a described job, as execution traces.
 */
#include "plan/synth/synth.h"

#include "core/base/files.h"
#include "core/write_et/write_et.h"
#include "plan/synth/synth_dlrm.h"
#include "plan/synth/synth_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- groups ---------------------------------------------------------------
 */

/* Ranks of one group have one name for it, other groups of its kind another. */
static struct msim_synth_group group(struct msim_synth_rank *r, int i,
                                     const char *kind, uint32_t size,
                                     uint32_t start, uint32_t stride)
{
    snprintf(r->names[i], sizeof(r->names[i]), "%s %u", kind, start);
    return (struct msim_synth_group){r->names[i], size, start, stride, 0};
}

/* A group with the rank `peer`, of one way and direction. */
static struct msim_synth_group pair(struct msim_synth_rank *r, int i, int way,
                                    bool around, int64_t peer)
{
    static const char *const KINDS[2][2] = {
        {"pipeline forward", "pipeline backward"},
        {"pipeline forward around", "pipeline backward around"}};
    int64_t first = r->number < peer ? r->number : peer;
    int64_t last = r->number < peer ? peer : r->number;

    return group(r, i, KINDS[around][way], 2, (uint32_t)first,
                 (uint32_t)(last - first));
}

/* The stages before and behind, `stage` ranks away. With several chunks the
 * last one's next is the first. */
static void neighbours(struct msim_synth_rank *r, int64_t stage)
{
    int64_t ring = (r->y.s->pp - 1) * stage;
    bool first = r->stage == 0, last = r->stage + 1 == r->y.s->pp;
    bool chunks = r->y.s->vp > 1;

    for (int way = MSIM_SYNTH_FORWARD; way <= MSIM_SYNTH_BACKWARD; way++) {
        if (!last || chunks)
            r->pipeline[MSIM_SYNTH_AHEAD][way] =
                pair(r, 5 + way, way, last,
                     last ? r->number - ring : r->number + stage);
        if (!first || chunks)
            r->pipeline[MSIM_SYNTH_BEHIND][way] =
                pair(r, 7 + way, way, first,
                     first ? r->number + ring : r->number - stage);
    }
}

/* Ranks count tensor parallel ones first, then context, data, stages; of
 * experts those that share each first, then those with different ones. */
static void place(struct msim_synth_rank *r)
{
    const struct msim_strategy *s = r->y.s;
    uint32_t tp = (uint32_t)s->tp, cp = (uint32_t)s->cp, dp = (uint32_t)s->dp;
    uint32_t ep = (uint32_t)s->ep, etp = (uint32_t)msim_expert_shares(s);
    uint32_t stage = tp * cp * dp, n = (uint32_t)r->number;
    uint32_t begin = n / stage * stage, first = begin + n % tp;
    uint32_t in = (n - first) / tp; /* among dp x cp */
    uint32_t share = begin + n % etp;
    uint32_t expert = (n - share) / etp; /* among ranks with such a share */

    r->stage = n / stage;
    r->y.groups[MSIM_PART_GROUP_TP] = group(r, 0, "tensor", tp, n / tp * tp, 1);
    r->y.groups[MSIM_PART_GROUP_CP] =
        group(r, 1, "context", cp, first + in / cp * cp * tp, tp);
    r->y.groups[MSIM_PART_GROUP_EP] =
        group(r, 2, "expert", ep, share + expert / ep * ep * etp, etp);
    r->dp = group(r, 3, "data", dp * cp, first, tp);
    r->experts =
        group(r, 4, "expert data", (uint32_t)msim_expert_copies(s),
              share + expert % ep * etp, (uint32_t)msim_expert_copies_apart(s));
    neighbours(r, (int64_t)stage);
}

static struct msim_et_group as_written(const struct msim_synth_group *g)
{
    return (struct msim_et_group){.name = g->name,
                                  .size = g->size,
                                  .start = g->start,
                                  .stride = g->stride};
}

/* Groups of one rank, as c10d lists them at its start: JSON in a node's text.
 * Larger ones are not listed. The job's own tells how many ranks there are. */
static enum msim_status
describe_groups(struct msim_etw *e, const struct msim_synth_group *const *all,
                int count, int64_t gpus)
{
    const struct msim_et_group job = {
        .name = "default_pg", .size = (uint32_t)gpus, .whole = true};
    bool spans = gpus == 1; /* a group of the strategy is the job */
    struct msim_json j;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct msim_etw_arg in = {MSIM_ETW_TEXT, 0, {.text = {NULL, NULL}}};
    enum msim_status status;

    if (!out)
        return MSIM_ENOMEM;
    msim_json_begin(&j, msim_sink_file, out);
    msim_json_open(&j, NULL, '[', false);
    for (int i = 0; i < count; i++)
        if (all[i]->size <= MSIM_ET_LISTED && all[i]->name) {
            const struct msim_et_group g = as_written(all[i]);

            msim_et_file_group(&j, &g);
            spans |= all[i]->size == job.size;
        }
    if (!spans)
        msim_et_file_group(&j, &job);
    status = msim_json_end(&j);
    if (fclose(out) != 0)
        status = MSIM_ENOMEM;
    if (status == MSIM_OK) {
        text[strcspn(text, "\n")] = '\0';
        in.v.text[0] = text;
        msim_etw_leaf(e, MSIM_ET_GROUPS_NAME, NULL, &in, 1, NULL, 0);
    }
    free(text);
    return status;
}

static enum msim_status describe_rank(struct msim_synth_rank *r)
{
    const struct msim_synth_group *all[] = {
        &r->y.groups[0],
        &r->y.groups[1],
        &r->y.groups[2],
        &r->dp,
        &r->experts,
        &r->pipeline[MSIM_SYNTH_AHEAD][MSIM_SYNTH_FORWARD],
        &r->pipeline[MSIM_SYNTH_AHEAD][MSIM_SYNTH_BACKWARD],
        &r->pipeline[MSIM_SYNTH_BEHIND][MSIM_SYNTH_FORWARD],
        &r->pipeline[MSIM_SYNTH_BEHIND][MSIM_SYNTH_BACKWARD]};

    return describe_groups(r->y.e, all, MSIM_SYNTH_GROUPS, r->y.s->gpus);
}

/* ---- files ----------------------------------------------------------------
 */

/* What all ranks of a job are written from. */
#define TRACE "rank-#.et.json"

static const struct msim_folder_kind KINDS[] = {
    {TRACE, "\"generator\": \"mystique-sim/synth\""},
    {"synth.json", "\"schema\": \"mystique-sim/synth/"},
};
static const struct msim_folder_kinds ALL_KINDS = {KINDS, sizeof(KINDS) /
                                                              sizeof(KINDS[0])};

struct job {
    const struct msim_synth_options *o;
    const struct msim_synth_place *to;
    struct msim_dlrm_share *shares; /* of a DLRM: one a rank */
};

static struct msim_synth of_rank(const struct job *job, struct msim_etw *e,
                                 int64_t number)
{
    return (struct msim_synth){
        .e = e,
        .m = job->o->model,
        .s = job->o->strategy,
        .dtype = msim_precision_dtype(job->o->strategy->precision),
        .rank = number};
}

/* How fp32 is multiplied, where it is not plainly. */
static void say_precision(struct msim_synth *y)
{
    if (y->s->precision == MSIM_PRECISION_TF32)
        msim_etw_leaf(y->e, MSIM_TF32_LABEL, NULL, NULL, 0, NULL, 0);
}

static enum msim_status fill_rank(struct msim_synth_rank *r)
{
    say_precision(&r->y);
    MSIM_TRY(describe_rank(r));
    MSIM_TRY(msim_synth_rank_layers(r));
    MSIM_TRY(msim_synth_rank_states(r));
    msim_synth_rank_step(r);
    return MSIM_OK;
}

static enum msim_status write_transformer(const struct job *job,
                                          struct msim_etw *e, int64_t number)
{
    struct msim_synth_rank *r = calloc(1, sizeof(*r));
    enum msim_status status;

    if (!r)
        return MSIM_ENOMEM;
    r->number = number;
    r->y = of_rank(job, e, number);
    r->y.parts = &r->parts;
    msim_parts_make(&r->parts, job->o->model, job->o->strategy);
    place(r);
    status = fill_rank(r);
    msim_synth_rank_release(r);
    free(r);
    return status;
}

static enum msim_status write_dlrm(const struct job *job, struct msim_etw *e,
                                   int64_t number)
{
    uint32_t ranks = (uint32_t)job->o->strategy->gpus;
    struct msim_synth_dlrm *d = calloc(1, sizeof(*d));
    const struct msim_synth_group *groups[2];
    enum msim_status status;

    if (!d)
        return MSIM_ENOMEM;
    d->y = of_rank(job, e, number);
    d->ranks = ranks;
    d->batch = job->o->strategy->micro_batch;
    d->shares = job->shares;
    d->data = (struct msim_synth_group){"data", ranks, 0, 1, 0};
    d->spread = (struct msim_synth_group){"tables", ranks, 0, 1, 0};
    groups[0] = &d->data;
    groups[1] = &d->spread;
    status = describe_groups(e, groups, 2, ranks);
    say_precision(&d->y);
    if (status == MSIM_OK)
        status = msim_synth_dlrm_init(d);
    if (status == MSIM_OK)
        msim_synth_dlrm_step(d);
    msim_synth_dlrm_release(d);
    free(d);
    return status;
}

static enum msim_status write_rank(const struct job *job, int64_t number,
                                   uint64_t *nodes, struct msim_error *err)
{
    const struct msim_synth_place *to = job->to;
    struct msim_etw *e = calloc(1, sizeof(*e));
    enum msim_status status = MSIM_ENOMEM;
    void *trace = NULL;
    char name[64];

    snprintf(name, sizeof(name), "rank-%lld.et.json", (long long)number);
    if (e)
        status = to->begin(&trace, to->own, name, err);
    if (status == MSIM_OK) {
        msim_etw_begin(e, to->write, trace, number);
        msim_etw_thread(e, 1);
        status = (job->shares ? write_dlrm : write_transformer)(job, e, number);
    }
    if (status == MSIM_OK)
        status = msim_etw_end(e);
    if (status == MSIM_OK)
        *nodes += e->nodes;
    free(e);
    return to->end(trace, status, err);
}

static enum msim_status check_dlrm(const struct msim_described *m,
                                   const struct msim_strategy *s,
                                   struct msim_error *err)
{
    long long tables = (long long)msim_described_tables(m);
    long long gpus = (long long)s->gpus;

    if (gpus > MSIM_DLRM_RANKS)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "gpus is %lld, want at most %d of a dlrm", gpus,
                         MSIM_DLRM_RANKS);
    if (s->micro_batch > MSIM_DLRM_SAMPLES)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "micro_batch is %lld, want at most %d of a dlrm",
                         (long long)s->micro_batch, MSIM_DLRM_SAMPLES);
    if (!m->dlrm.separate && tables < gpus)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "gpus is %lld, but the model has %lld tables, which "
                         "are spread whole; want at most so many GPUs",
                         gpus, tables);
    if (m->dlrm.separate && tables > MSIM_DLRM_SEPARATE)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "the model has %lld tables, want at most %d with "
                         "separate look-ups",
                         tables, MSIM_DLRM_SEPARATE);
    return MSIM_OK;
}

/* Layers that a rank may pass, of all its micro batches: some GB of a trace. */
#define PASSES_MOST 50000

/* A step's micro batches are alike: many say no more than some. */
static enum msim_status check_length(const struct msim_described *m,
                                     const struct msim_strategy *s,
                                     struct msim_error *err)
{
    double passes = (double)m->layers / (double)s->pp * (double)s->grad_accum;

    if (passes <= PASSES_MOST)
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "a rank passes %.6g layers (layers / pp x grad_accum), "
                     "want at most %d in a written step: fewer micro batches "
                     "(global_batch), or more stages",
                     passes, PASSES_MOST);
}

/* Elements of a tensor, and parameters: beyond all that anyone runs, and within
 * what numbers of tensors can hold. */
#define ELEMENTS_MOST 1e15

static enum msim_status check_sizes(const struct msim_described *m,
                                    const struct msim_strategy *s,
                                    struct msim_error *err)
{
    double batch = (double)s->micro_batch, tokens = batch * (double)s->sequence;
    double side = (double)m->image.size;
    double pixels = batch * (double)m->image.channels * side * side;
    double width = fmax(fmax((double)m->hidden, (double)m->vocab),
                        fmax((double)m->ffn, (double)m->classes));
    double heads = (double)m->heads * fmax((double)m->head_dim, 1);
    double scores = tokens * (double)m->heads * (double)s->sequence;
    double most = fmax(fmax(tokens * fmax(width, 3 * heads), pixels), scores);

    if (fmax(most, msim_described_parameters(m)) <= ELEMENTS_MOST)
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "the model has %.3g parameters, and %.3g numbers of one "
                     "tensor, want at most %.0e in a written step",
                     msim_described_parameters(m), most, ELEMENTS_MOST);
}

static enum msim_status check(const struct msim_synth_options *o,
                              struct msim_error *err)
{
    const struct msim_strategy *s = o->strategy;
    struct msim_techniques others = s->technique;
    const char *technique;

    /* Those that are written. */
    others.schedule = MSIM_SCHEDULE_UNSTATED;
    others.framework = 0;
    technique = msim_techniques_first(&others);
    if (technique)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "%s cannot be written; leave it out (whatif, "
                         "plan and validate --rows know it)",
                         technique);
    if (o->model->type == MSIM_MODEL_DLRM)
        return check_dlrm(o->model, s, err);
    if (s->vp > 1 && s->grad_accum % s->pp != 0)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "grad_accum is %lld, and vp %lld takes micro batches "
                         "in groups of pp; want a multiple of %lld",
                         (long long)s->grad_accum, (long long)s->vp,
                         (long long)s->pp);
    if (s->precision == MSIM_PRECISION_NVFP4)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "precision is nvfp4, for which PyTorch has no type of "
                         "tensor; want mxfp8, fp8, bf16, fp16 or fp32");
    if (s->offload != MSIM_OFFLOAD_NONE)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "offload cannot be written: a written rank works on "
                         "its GPU alone; leave it out, and let whatif change "
                         "the traces: {\"offload\": \"optimizer\"}, or "
                         "\"activations\"");
    MSIM_TRY(check_sizes(o->model, s, err));
    return check_length(o->model, s, err);
}

/* How many ranks do alike: those of a stage; of a DLRM all, where they have as
 * many tables, look-ups and rows. */
static int64_t alike(const struct job *job)
{
    const struct msim_strategy *s = job->o->strategy;

    if (job->o->every_rank)
        return 1;
    for (int64_t r = 1; job->shares && r < s->gpus; r++)
        if (memcmp(&job->shares[0], &job->shares[r], sizeof(*job->shares)) != 0)
            return 1;
    return s->gpus / s->pp;
}

static enum msim_status write_all(struct job *job,
                                  struct msim_synth_result *out,
                                  struct msim_error *err)
{
    const struct msim_strategy *s = job->o->strategy;

    out->ranks_a_file = alike(job);
    for (int64_t rank = 0; rank < s->gpus; rank += out->ranks_a_file) {
        MSIM_TRY(write_rank(job, rank, &out->nodes, err));
        out->files++;
    }
    return MSIM_OK;
}

enum msim_status msim_synth_make(const struct msim_synth_options *o,
                                 const struct msim_synth_place *to,
                                 struct msim_synth_result *out,
                                 struct msim_error *err)
{
    struct job job = {.o = o, .to = to};
    enum msim_status status;

    *out = (struct msim_synth_result){0};
    MSIM_TRY(check(o, err));
    if (o->model->type == MSIM_MODEL_DLRM) {
        job.shares = calloc((size_t)o->strategy->gpus, sizeof(*job.shares));
        if (!job.shares)
            return MSIM_ENOMEM;
        msim_dlrm_spread(o->model, o->strategy->gpus, job.shares);
    }
    status = write_all(&job, out, err);
    free(job.shares);
    return status;
}

/* ---- a folder ------------------------------------------------------------ */

static enum msim_status begin_file(void **trace, void *own, const char *name,
                                   struct msim_error *err)
{
    struct msim_file *file = NULL;
    enum msim_status status = msim_folder_file(&file, own, name, err);

    *trace = file;
    return status;
}

static enum msim_status end_file(void *trace, enum msim_status status,
                                 struct msim_error *err)
{
    return msim_file_close(trace, status, err);
}

enum msim_status msim_synth_write(const char *dir,
                                  const struct msim_synth_options *o,
                                  struct msim_synth_result *out,
                                  struct msim_error *err)
{
    struct msim_folder folder;
    const struct msim_synth_place to = {&folder, begin_file, msim_file_write,
                                        end_file};
    enum msim_status status;

    *out = (struct msim_synth_result){0};
    MSIM_TRY(check(o, err));
    status = msim_folder_begin(&folder, dir, &ALL_KINDS, err);
    if (status == MSIM_OK)
        status = msim_synth_make(o, &to, out, err);
    if (status == MSIM_OK)
        status = msim_synth_manifest(&folder, o, out->ranks_a_file, err);
    return msim_folder_end(&folder, status, err);
}
