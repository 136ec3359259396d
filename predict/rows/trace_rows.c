/*
 * predict/rows/trace_rows.c - reading a table of jobs as changes of a trace.
 */
#include "predict/rows/trace_rows.h"

#include "core/base/decimal.h"
#include "core/base/nearest.h"
#include "core/base/vec.h"
#include "predict/scenario/change_kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* X(name): columns that say what is run, then those that are copied. */
#define COLUMN_MAP(X)                                                          \
    X(gpu)                                                                     \
    X(platform)                                                                \
    X(strategy)                                                                \
    X(zero)                                                                    \
    X(gpus)                                                                    \
    X(nodes)                                                                   \
    X(dp)                                                                      \
    X(tp)                                                                      \
    X(pp)                                                                      \
    X(cp)                                                                      \
    X(ep)                                                                      \
    X(vp)                                                                      \
    X(batch_per_gpu)                                                           \
    X(micro_batch)                                                             \
    X(grad_accum)                                                              \
    X(global_batch)                                                            \
    X(sequence)                                                                \
    X(amp)                                                                     \
    X(precision)                                                               \
    X(activation_checkpointing)                                                \
    X(recompute)                                                               \
    X(cpu_offload)                                                             \
    X(offload)                                                                 \
    X(step_ms)                                                                 \
    X(iteration_ms)                                                            \
    X(peak_memory_gb)                                                          \
    X(memory_gib)                                                              \
    X(status)                                                                  \
    X(source)                                                                  \
    X(framework)                                                               \
    X(model)

enum column {
#define X(name) COLUMN_##name,
    COLUMN_MAP(X)
#undef X
        COLUMNS
};

static const char *const NAMES[] = {
#define X(name) #name,
    COLUMN_MAP(X)
#undef X
};

/* ---- columns ------------------------------------------------------------- */

static enum msim_status unknown_column(const struct msim_trace_rows *t,
                                       const char *name)
{
    const char *near = msim_nearest_word(name, NAMES, COLUMNS);
    char all[512] = "";
    size_t used = 0;

    if (near)
        return msim_fail(t->err, MSIM_EFORMAT, t->path, MSIM_OFFSET_NONE,
                         "column '%.64s' is not known, did you mean '%s'?",
                         name, near);
    for (uint32_t i = 0; i < COLUMNS; i++)
        used +=
            (size_t)snprintf(all + used, sizeof(all) - used, " %s", NAMES[i]);
    return msim_fail(t->err, MSIM_EFORMAT, t->path, MSIM_OFFSET_NONE,
                     "column '%.64s' is not known beside --trace, want some "
                     "of:%s",
                     name, all);
}

static const char *copy_of(struct msim_trace_rows *t, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = msim_arena_alloc(&t->scenarios.arena, size);

    return copy ? memcpy(copy, text, size) : NULL;
}

static enum msim_status copy_all(struct msim_trace_rows *t,
                                 const char *const **out,
                                 const char *const *fields)
{
    const char **texts = msim_arena_alloc(
        &t->scenarios.arena, ((size_t)t->n_columns + 1) * sizeof(*texts));

    if (!texts)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_columns; i++) {
        texts[i] = copy_of(t, fields[i]);
        if (!texts[i])
            return MSIM_ENOMEM;
    }
    *out = texts;
    return MSIM_OK;
}

static enum msim_status read_header(struct msim_trace_rows *t)
{
    const char *names[256];

    t->n_columns = msim_csv_columns(t->csv);
    if (t->n_columns > 256)
        return msim_fail(t->err, MSIM_EFORMAT, t->path, MSIM_OFFSET_NONE,
                         "there are %u columns, want 256 at most",
                         t->n_columns);
    for (uint32_t i = 0; i < COLUMNS; i++)
        t->column[i] = msim_csv_find(t->csv, NAMES[i]);
    for (uint32_t c = 0; c < t->n_columns; c++) {
        uint32_t i = 0;

        names[c] = msim_csv_header(t->csv, c);
        while (i < COLUMNS && strcmp(NAMES[i], names[c]) != 0)
            i++;
        if (i == COLUMNS)
            return unknown_column(t, names[c]);
    }
    return copy_all(t, &t->columns, names);
}

static enum msim_status read_fields(struct msim_trace_rows *t)
{
    char *const *fields;

    for (;;) {
        struct msim_trace_row *row;

        MSIM_TRY(msim_csv_next(t->csv, &fields, t->err));
        if (!fields)
            return MSIM_OK;
        MSIM_TRY(msim_grow((void **)&t->rows, &t->cap, t->n, sizeof(*t->rows)));
        row = &t->rows[t->n++];
        *row = (struct msim_trace_row){.kind = "", .defaults = ""};
        MSIM_TRY(copy_all(t, &row->fields, (const char *const *)fields));
    }
}

/* ---- one row ------------------------------------------------------------- */

/* A row while it is read: what is wrong, its defaults, how it trains. */
struct reading {
    struct msim_trace_rows *t;
    const struct msim_trace_row *row;
    struct msim_change_reader to;
    char *reason;
    size_t size;
    char defaults[256], kind[96];
    const char *amp; /* the narrow type of mixed precision; NULL: none */
};

static const char *field(const struct reading *r, enum column c)
{
    return r->t->column[c] == UINT32_MAX ? "" : r->row->fields[r->t->column[c]];
}

/* The one of two columns that say the same which is there. */
static enum column either(const struct reading *r, enum column a, enum column b)
{
    return *field(r, a) || r->t->column[b] == UINT32_MAX ? a : b;
}

static void assume(struct reading *r, enum column c, const char *what)
{
    size_t used = strlen(r->defaults);

    snprintf(r->defaults + used, sizeof(r->defaults) - used, "%s%s %s",
             used ? "; " : "", NAMES[c], what);
}

static void add_kind(struct reading *r, const char *word)
{
    size_t used = strlen(r->kind);

    snprintf(r->kind + used, sizeof(r->kind) - used, "%s%s", used ? " " : "",
             word);
}

static void wrong(struct reading *r, enum column c, const char *want)
{
    if (!*r->reason)
        snprintf(r->reason, r->size, "%s is '%.40s', want %s", NAMES[c],
                 field(r, c), want);
}

/* A whole number from `least`; `missing`, a default, where it is empty. */
static int64_t number(struct reading *r, enum column c, int64_t least,
                      int64_t missing)
{
    const char *text = field(r, c);
    char want[64], given[24];
    int64_t v;

    if (!*text) {
        snprintf(given, sizeof(given), "%lld", (long long)missing);
        assume(r, c, missing < least ? "as traced" : given);
        return missing;
    }
    if (msim_decimal_int(text, strlen(text), &v) && v >= least)
        return v;
    snprintf(want, sizeof(want), "a whole number from %lld", (long long)least);
    wrong(r, c, want);
    return missing;
}

/* 0 or 1, a default of 0. */
static bool flag(struct reading *r, enum column c)
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
    r->to.f = &f;
    if (!*r->reason)
        msim_change_read(&r->to, name);
    if (f.status != MSIM_OK && !*r->reason)
        snprintf(r->reason, r->size, "%.200s", why.text);
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
    enum column c = either(r, COLUMN_platform, COLUMN_gpu);
    const char *given = r->t->scenarios.base.settings.platform;

    if (*field(r, c))
        change_text(r, "gpu", field(r, c));
    else
        assume(r, c, given ? given : "the traced GPU");
    if (*field(r, COLUMN_nodes))
        change_number(r, "nodes", number(r, COLUMN_nodes, 1, 1));
}

/* Ways to split a model that no change of a trace makes: 1 or empty. */
static void read_splits(struct reading *r)
{
    static const enum column SPLITS[] = {COLUMN_tp, COLUMN_pp, COLUMN_cp,
                                         COLUMN_ep, COLUMN_vp};

    for (size_t i = 0; i < sizeof(SPLITS) / sizeof(*SPLITS); i++)
        if (*field(r, SPLITS[i]) && number(r, SPLITS[i], 1, 1) != 1)
            wrong(r, SPLITS[i], "1: no change of a trace splits its model so");
    if (*field(r, COLUMN_sequence))
        wrong(r, COLUMN_sequence, "nothing: the sequence is the traced one");
}

static int64_t read_ranks(struct reading *r)
{
    bool dp = *field(r, COLUMN_dp), gpus = *field(r, COLUMN_gpus);
    int64_t n = number(r, dp ? COLUMN_dp : COLUMN_gpus, 1, 1);

    if (dp && gpus && number(r, COLUMN_gpus, 1, 1) != n)
        wrong(r, COLUMN_gpus, "as many as 'dp'");
    return n;
}

/* The words of the change `shard`, "single" for none. */
static const char *strategy_of(struct reading *r, int64_t ranks)
{
    static const char *const ZERO[] = {"ddp", "zero1", "zero2", "zero3"};
    const char *text = field(r, COLUMN_strategy), *word = NULL;

    if (*field(r, COLUMN_zero)) {
        int64_t z = number(r, COLUMN_zero, 0, 0);

        if (z > 3)
            wrong(r, COLUMN_zero, "0 to 3");
        else
            word = ranks > 1 ? ZERO[z] : "single";
    }
    if (!*text) {
        text = word ? word : ranks > 1 ? "ddp" : "single";
        if (!word)
            assume(r, COLUMN_strategy, text);
    } else if (word) {
        wrong(r, COLUMN_strategy, "nothing beside 'zero'");
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

static void read_ways(struct reading *r)
{
    int64_t ranks = read_ranks(r);
    const char *strategy = strategy_of(r, ranks);

    add_kind(r, strategy);
    if (strcmp(strategy, "single") != 0) {
        change_number(r, "world", ranks);
        change_shard(r, strategy);
    } else if (ranks > 1) {
        wrong(r, COLUMN_strategy,
              "another one than 'single' for ranks that train together");
    }
}

static void read_batch(struct reading *r)
{
    enum column c = either(r, COLUMN_batch_per_gpu, COLUMN_micro_batch);
    int64_t batch = number(r, c, 1, 0);
    int64_t micro = number(r, COLUMN_grad_accum, 1, 1);

    if (batch > 0)
        change_number(r, "batch", batch);
    if (micro > 1) {
        add_kind(r, "accumulated");
        change_number(r, "accumulate", micro);
    }
    if (*field(r, COLUMN_global_batch) && batch > 0 &&
        number(r, COLUMN_global_batch, 1, 1) != batch * micro * read_ranks(r))
        wrong(r, COLUMN_global_batch,
              "ranks x grad_accum x the batch of a rank");
}

static void read_precision(struct reading *r)
{
    enum column c = either(r, COLUMN_precision, COLUMN_amp);
    const char *text = field(r, c);

    if (c == COLUMN_amp)
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

static void read_memory_for_time(struct reading *r)
{
    enum column c =
        either(r, COLUMN_recompute, COLUMN_activation_checkpointing);
    const char *text = field(r, c);

    if (c == COLUMN_activation_checkpointing)
        text = flag(r, c) ? "full" : "none";
    else if (!*text)
        assume(r, c, "none");
    if (*text && strcmp(text, "none") != 0) {
        add_kind(r, "recomputed");
        change_text(r, "recompute", text);
    }
    c = either(r, COLUMN_offload, COLUMN_cpu_offload);
    text = field(r, c);
    if (c == COLUMN_cpu_offload)
        text = flag(r, c) ? "optimizer" : "";
    else if (!*text)
        assume(r, c, "none");
    if (*text) {
        add_kind(r, "offloaded");
        change_text(r, "offload", text);
    }
}

/* ---- all rows ------------------------------------------------------------ */

static double measured(const struct reading *r, enum column c)
{
    const char *text = field(r, c);
    double v;

    return msim_decimal_real(text, strlen(text), &v) && v > 0 && isfinite(v)
               ? v
               : 0;
}

/* A run that failed measured nothing. */
static void read_measured(const struct reading *r, struct msim_trace_row *row)
{
    const char *status = field(r, COLUMN_status);

    if (*status && strcmp(status, "ok") != 0)
        return;
    row->step_ms = measured(r, either(r, COLUMN_step_ms, COLUMN_iteration_ms));
    row->memory_gib =
        measured(r, either(r, COLUMN_peak_memory_gb, COLUMN_memory_gib));
}

static enum msim_status read_row(struct msim_trace_rows *t, uint32_t i)
{
    struct msim_trace_row *row = &t->rows[i];
    struct reading r = {.t = t, .row = row, .to = {.all = &t->scenarios}};
    char name[24];
    bool mixed;

    snprintf(name, sizeof(name), "row %u", i + 1);
    MSIM_TRY(msim_change_begin(&r.to, i, name));
    r.reason = r.to.row->reason;
    r.size = sizeof(r.to.row->reason);
    read_gpu(&r);
    read_splits(&r);
    read_precision(&r);
    mixed = r.amp != NULL;
    read_ways(&r);
    read_autocast(&r);
    if (mixed)
        add_kind(&r, "amp");
    read_batch(&r);
    read_memory_for_time(&r);
    msim_change_end(&r.to);
    read_measured(&r, row);
    row->kind = copy_of(t, r.kind);
    row->defaults = copy_of(t, r.defaults);
    return row->kind && row->defaults ? MSIM_OK : MSIM_ENOMEM;
}

/* The base is predicted, too, for a GPU that is there. */
static void choose_base(struct msim_trace_rows *t)
{
    struct msim_predict_settings *base = &t->scenarios.base.settings;

    for (uint32_t i = 0; i < t->n && !base->platform; i++)
        base->platform = t->scenarios.rows[i].settings.platform;
}

static enum msim_status read_all(struct msim_trace_rows *t,
                                 const struct msim_predict_settings *s)
{
    struct msim_change_reader to = {.all = &t->scenarios};

    MSIM_TRY(msim_csv_open(&t->csv, t->path, t->err));
    MSIM_TRY(read_header(t));
    MSIM_TRY(read_fields(t));
    if (t->n == 0)
        return msim_fail(t->err, MSIM_EFORMAT, t->path, MSIM_OFFSET_NONE,
                         "there is a header alone, want rows");
    MSIM_TRY(msim_change_rows(&to, t->n, s));
    for (uint32_t i = 0; i < t->n; i++)
        MSIM_TRY(read_row(t, i));
    choose_base(t);
    return MSIM_OK;
}

enum msim_status msim_trace_rows_read(struct msim_trace_rows *t,
                                      const char *path,
                                      const struct msim_predict_settings *s,
                                      struct msim_error *err)
{
    *t = (struct msim_trace_rows){.path = path, .err = err};
    msim_arena_init(&t->scenarios.arena);
    return read_all(t, s);
}

void msim_trace_rows_release(struct msim_trace_rows *t)
{
    msim_csv_close(t->csv);
    free(t->rows);
    msim_scenarios_release(&t->scenarios);
    *t = (struct msim_trace_rows){0};
}
