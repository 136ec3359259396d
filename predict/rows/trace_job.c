/*
 * predict/rows/trace_job.c - one job as changes of a traced step.
 */
#include "predict/rows/trace_rows.h"

#include "core/base/texts.h"
#include "predict/scenario/scenario.h"

#include <string.h>

const char *const msim_trace_column_names[MSIM_TRACE_COLUMNS] = {
#define X(name) #name,
    MSIM_TRACE_COLUMN_MAP(X)
#undef X
};

/* A job while it is read: what is wrong. */
struct reading {
    struct msim_trace_job *job;
    struct msim_change_reader *to;
    char *reason;
    size_t size;
    const char *amp;    /* the narrow type of mixed precision; NULL: none */
    int64_t tp, pp, vp; /* how one copy of the model is split */
};

static const char *field(const struct reading *r, enum msim_trace_column c)
{
    return r->job->field[c] ? r->job->field[c] : "";
}

enum msim_trace_column msim_trace_job_either(const struct msim_trace_job *job,
                                             enum msim_trace_column a,
                                             enum msim_trace_column b)
{
    return (job->field[a] && *job->field[a]) || !job->field[b] ? a : b;
}

static enum msim_trace_column either(const struct reading *r,
                                     enum msim_trace_column a,
                                     enum msim_trace_column b)
{
    return msim_trace_job_either(r->job, a, b);
}

static void assume(struct reading *r, enum msim_trace_column c,
                   const char *what)
{
    size_t used = strlen(r->job->defaults);

    snprintf(r->job->defaults + used, sizeof(r->job->defaults) - used,
             "%s%s %s", used ? "; " : "", msim_trace_column_names[c], what);
}

static void add_kind(struct reading *r, const char *word)
{
    size_t used = strlen(r->job->kind);

    snprintf(r->job->kind + used, sizeof(r->job->kind) - used, "%s%s",
             used ? " " : "", word);
}

static void wrong(struct reading *r, enum msim_trace_column c, const char *want)
{
    if (!*r->reason)
        snprintf(r->reason, r->size, "%s is '%.40s', want %s",
                 msim_trace_column_names[c], field(r, c), want);
}

/* A whole number from `least`; `missing`, a default, where it is empty. */
static int64_t number(struct reading *r, enum msim_trace_column c,
                      int64_t least, int64_t missing)
{
    const char *text = field(r, c);
    char want[64], given[24];
    int64_t v;

    if (!*text) {
        snprintf(given, sizeof(given), "%lld", (long long)missing);
        assume(r, c, missing < least ? "as traced" : given);
        return missing;
    }
    if (msim_decimal_int(text, msim_whole_length(text), &v) && v >= least)
        return v;
    snprintf(want, sizeof(want), "a whole number from %lld", (long long)least);
    wrong(r, c, want);
    return missing;
}

/* 0 or 1, a default of 0. */
static bool flag(struct reading *r, enum msim_trace_column c)
{
    int64_t v = number(r, c, 0, 0);

    if (v > 1)
        wrong(r, c, "0 or 1");
    return v == 1;
}

/* The change {"name": value}; takes `value`. */
static void change(struct reading *r, const char *name, cJSON *value)
{
    cJSON *object = cJSON_CreateObject();
    struct msim_error why = {0};
    struct msim_fields f;

    if (!object || !value || !cJSON_AddItemToObject(object, name, value)) {
        cJSON_Delete(object);
        snprintf(r->reason, r->size, "%s", msim_status_text(MSIM_ENOMEM));
        return;
    }
    f = msim_fields_of(object, NULL, &why);
    r->to->f = &f;
    if (!*r->reason)
        msim_change_read(r->to, name);
    if (f.status != MSIM_OK && !*r->reason)
        msim_cut_text(r->reason, r->size, why.text);
    cJSON_Delete(object);
}

static void change_number(struct reading *r, const char *name, int64_t v)
{
    change(r, name, cJSON_CreateNumber((double)v));
}

static void change_text(struct reading *r, const char *name, const char *text)
{
    change(r, name, cJSON_CreateString(text));
}

/* ---- columns to changes -------------------------------------------------- */

static void read_gpu(struct reading *r)
{
    enum msim_trace_column c =
        either(r, MSIM_TRACE_COLUMN_platform, MSIM_TRACE_COLUMN_gpu);
    const char *given = r->to->all->base.settings.platform;

    if (*field(r, c))
        change_text(r, "gpu", field(r, c));
    else
        assume(r, c, given ? given : "the traced GPU");
    if (*field(r, MSIM_TRACE_COLUMN_nodes))
        change_number(r, "nodes", number(r, MSIM_TRACE_COLUMN_nodes, 1, 1));
}

static int64_t parts(struct reading *r, enum msim_trace_column c)
{
    return *field(r, c) ? number(r, c, 1, 1) : 1;
}

static void read_splits(struct reading *r)
{
    /* Ways to split a model that no change of a trace makes: 1 or empty. */
    static const enum msim_trace_column SPLITS[] = {MSIM_TRACE_COLUMN_cp,
                                                    MSIM_TRACE_COLUMN_ep};

    r->tp = parts(r, MSIM_TRACE_COLUMN_tp);
    r->pp = parts(r, MSIM_TRACE_COLUMN_pp);
    r->vp = parts(r, MSIM_TRACE_COLUMN_vp);
    for (size_t i = 0; i < sizeof(SPLITS) / sizeof(*SPLITS); i++)
        if (*field(r, SPLITS[i]) && number(r, SPLITS[i], 1, 1) != 1)
            wrong(r, SPLITS[i], "1: no change of a trace splits its model so");
    if (*field(r, MSIM_TRACE_COLUMN_sequence))
        wrong(r, MSIM_TRACE_COLUMN_sequence,
              "nothing: the sequence is the traced one");
}

/* Copies of the model. */
static int64_t read_ranks(struct reading *r)
{
    bool dp = *field(r, MSIM_TRACE_COLUMN_dp),
         gpus = *field(r, MSIM_TRACE_COLUMN_gpus);
    int64_t each = r->tp * r->pp;
    int64_t n =
        number(r, dp ? MSIM_TRACE_COLUMN_dp : MSIM_TRACE_COLUMN_gpus, 1, 1);

    if (dp && gpus && number(r, MSIM_TRACE_COLUMN_gpus, 1, 1) != n * each)
        wrong(r, MSIM_TRACE_COLUMN_gpus,
              each > 1 ? "as many as dp x tp x pp" : "as many as 'dp'");
    if (dp || !gpus)
        return n;
    if (n % each)
        wrong(r, MSIM_TRACE_COLUMN_gpus, "a multiple of tp x pp");
    return n / each;
}

/* The words of the change `shard`, "single" for none. */
static const char *strategy_of(struct reading *r, int64_t ranks)
{
    static const char *const ZERO[] = {"ddp", "zero1", "zero2", "zero3"};
    const char *text = field(r, MSIM_TRACE_COLUMN_strategy), *word = NULL;

    if (*field(r, MSIM_TRACE_COLUMN_zero)) {
        int64_t z = number(r, MSIM_TRACE_COLUMN_zero, 0, 0);

        if (z > 3)
            wrong(r, MSIM_TRACE_COLUMN_zero, "0 to 3");
        else
            word = ranks > 1 ? ZERO[z] : "single";
    }
    if (!*text) {
        text = word ? word : ranks > 1 ? "ddp" : "single";
        if (!word)
            assume(r, MSIM_TRACE_COLUMN_strategy, text);
    } else if (word) {
        wrong(r, MSIM_TRACE_COLUMN_strategy, "nothing beside 'zero'");
    }
    return text;
}

/* FSDP's own words for what it shards, with the library before them. */
static const char *shard_of(const char *strategy)
{
    static const char PREFIX[] = "fsdp_";

    if (strcmp(strategy, "fsdp_full") == 0)
        return "full_shard";
    return strncmp(strategy, PREFIX, sizeof(PREFIX) - 1) == 0
               ? strategy + sizeof(PREFIX) - 1
               : strategy;
}

/* FSDP has mixed precision of its own; elsewhere it is autocast's. */
static void change_shard(struct reading *r, const char *strategy)
{
    bool fsdp =
        strcmp(strategy, "zero3") == 0 || strncmp(strategy, "fsdp", 4) == 0;
    cJSON *how;

    if (!fsdp || !r->amp) {
        change_text(r, "shard", shard_of(strategy));
        return;
    }
    how = cJSON_CreateObject();
    cJSON_AddStringToObject(how, "strategy", shard_of(strategy));
    cJSON_AddStringToObject(how, "mixed_precision", r->amp);
    change(r, "shard", how);
    r->amp = NULL;
}

static bool is_split(const struct reading *r)
{
    return r->tp > 1 || r->pp > 1 || r->vp > 1;
}

/* Stages take micro batches; elsewhere they are accumulated. */
static void change_splits(struct reading *r, int64_t copies)
{
    cJSON *how = cJSON_CreateObject();

    if (r->tp > 1)
        cJSON_AddNumberToObject(how, "tp", (double)r->tp);
    if (*field(r, MSIM_TRACE_COLUMN_etp))
        cJSON_AddNumberToObject(how, "etp",
                                (double)parts(r, MSIM_TRACE_COLUMN_etp));
    cJSON_AddNumberToObject(how, "pp", (double)r->pp);
    cJSON_AddNumberToObject(how, "vp", (double)r->vp);
    cJSON_AddNumberToObject(how, "dp", (double)copies);
    if (r->pp > 1 && *field(r, MSIM_TRACE_COLUMN_grad_accum))
        cJSON_AddNumberToObject(how, "micro_batches",
                                (double)parts(r, MSIM_TRACE_COLUMN_grad_accum));
    change(r, "parallel", how);
}

static void read_ways(struct reading *r)
{
    int64_t ranks = read_ranks(r);
    const char *strategy = strategy_of(r, ranks);

    r->job->gpus = ranks * r->tp * r->pp;
    add_kind(r, strategy);
    if (is_split(r))
        change_splits(r, ranks);
    if (strcmp(strategy, "single") != 0) {
        change_number(r, "world", ranks);
        change_shard(r, strategy);
    } else if (ranks > 1) {
        wrong(r, MSIM_TRACE_COLUMN_strategy,
              "another one than 'single' for ranks that train together");
    }
}

static void read_sizes(struct reading *r)
{
    static const enum msim_trace_column SIZES[] = {MSIM_TRACE_COLUMN_layers,
                                                   MSIM_TRACE_COLUMN_hidden};

    for (size_t i = 0; i < sizeof(SIZES) / sizeof(*SIZES); i++)
        if (*field(r, SIZES[i]))
            change_number(r, msim_trace_column_names[SIZES[i]],
                          number(r, SIZES[i], 1, 1));
}

static void read_batch(struct reading *r)
{
    enum msim_trace_column c = either(r, MSIM_TRACE_COLUMN_batch_per_gpu,
                                      MSIM_TRACE_COLUMN_micro_batch);
    int64_t batch = number(r, c, 1, 0);
    int64_t micro = number(r, MSIM_TRACE_COLUMN_grad_accum, 1, 0);

    if (batch > 0)
        change_number(r, "batch", batch);
    if (micro > 1)
        add_kind(r, "accumulated");
    if (micro > 0 && r->pp <= 1)
        change_number(r, "accumulate", micro);
    if (*field(r, MSIM_TRACE_COLUMN_global_batch) && batch > 0 && micro > 0 &&
        number(r, MSIM_TRACE_COLUMN_global_batch, 1, 1) !=
            batch * micro * read_ranks(r))
        wrong(r, MSIM_TRACE_COLUMN_global_batch,
              "ranks x grad_accum x the batch of a rank");
}

static void read_precision(struct reading *r)
{
    enum msim_trace_column c =
        either(r, MSIM_TRACE_COLUMN_precision, MSIM_TRACE_COLUMN_amp);
    const char *text = field(r, c);

    if (c == MSIM_TRACE_COLUMN_amp)
        text = flag(r, c) ? "amp_fp16" : "fp32";
    else if (!*text)
        assume(r, c, "as traced");
    if (strncmp(text, "amp_", 4) == 0)
        r->amp = text + 4;
    else if (*text && strcmp(text, "fp32") != 0)
        change_text(r, "dtype", text);
}

/* What no strategy took. */
static void read_autocast(struct reading *r)
{
    char type[48];

    if (!r->amp)
        return;
    snprintf(type, sizeof(type), "amp_%.40s", r->amp);
    change_text(r, "dtype", type);
}

/* Memory for time: a column that has a change's name and words, or an older
 * one, `flagged`, that is a flag for one of them. */
static void read_memory_for_time(struct reading *r, enum msim_trace_column c,
                                 enum msim_trace_column flagged,
                                 const char *word, const char *kind)
{
    enum msim_trace_column there = either(r, c, flagged);
    const char *text = field(r, there);

    if (there == flagged)
        text = flag(r, there) ? word : "";
    else if (!*text)
        assume(r, there, "none");
    if (*text && strcmp(text, "none") != 0) {
        add_kind(r, kind);
        change_text(r, msim_trace_column_names[c], text);
    }
}

static void read_optimizer(struct reading *r)
{
    if (*field(r, MSIM_TRACE_COLUMN_optimizer_bits))
        change_number(r, "optimizer_bits",
                      number(r, MSIM_TRACE_COLUMN_optimizer_bits, 1, 32));
    if (strcmp(field(r, MSIM_TRACE_COLUMN_optimizer_in_backward), "yes") == 0)
        change(r, "optimizer_in_backward", cJSON_CreateTrue());
    else if (strcmp(field(r, MSIM_TRACE_COLUMN_optimizer_in_backward), "no") &&
             *field(r, MSIM_TRACE_COLUMN_optimizer_in_backward))
        wrong(r, MSIM_TRACE_COLUMN_optimizer_in_backward, "yes or no");
}

void msim_trace_job_read(struct msim_trace_job *job,
                         struct msim_change_reader *to)
{
    struct reading r = {.job = job,
                        .to = to,
                        .reason = to->row->reason,
                        .size = sizeof(to->row->reason)};
    bool mixed;

    read_gpu(&r);
    read_splits(&r);
    read_precision(&r);
    mixed = r.amp != NULL;
    read_ways(&r);
    read_autocast(&r);
    if (mixed)
        add_kind(&r, "amp");
    read_sizes(&r);
    read_batch(&r);
    read_memory_for_time(&r, MSIM_TRACE_COLUMN_recompute,
                         MSIM_TRACE_COLUMN_activation_checkpointing, "full",
                         "recomputed");
    read_memory_for_time(&r, MSIM_TRACE_COLUMN_offload,
                         MSIM_TRACE_COLUMN_cpu_offload, "optimizer",
                         "offloaded");
    read_optimizer(&r);
    msim_change_end(to);
}
