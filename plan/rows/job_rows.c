/*
 * plan/rows/job_rows.c - reading tables of jobs.
 */
#include "plan/rows/job_rows.h"

#include "core/base/containers.h"
#include "core/base/texts.h"
#include "plan/describe/strategy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns beyond those of a strategy. */
enum {
    MODEL = MSIM_GIVEN_COUNT,
    PLATFORM,
    HIDDEN,
    HEADS,
    LAYERS,
    SOURCE,
    STATUS,
    STEP_MS,
    ITERATION_MS,
    MEMORY_GIB,
    NETWORK,
    COLUMNS
};

static const char *const MORE[] = {
    "model",  "platform", "hidden",       "heads",      "layers", "source",
    "status", "step_ms",  "iteration_ms", "memory_gib", "network"};

static const char *column_text(uint32_t i)
{
    return i < MSIM_GIVEN_COUNT ? msim_given_text((enum msim_given)i)
                                : MORE[i - MSIM_GIVEN_COUNT];
}

static enum msim_status unknown_column(const struct msim_job_rows *t,
                                       const char *name, struct msim_error *err)
{
    const char *words[COLUMNS], *near;
    char all[1024] = "";
    size_t used = 0;

    for (uint32_t i = 0; i < COLUMNS; i++) {
        words[i] = column_text(i);
        used +=
            (size_t)snprintf(all + used, sizeof(all) - used, " %s", words[i]);
    }
    near = msim_nearest_word(name, words, COLUMNS);
    if (near && strcmp(near, name) == 0)
        return msim_fail(err, MSIM_EFORMAT, t->path, MSIM_OFFSET_NONE,
                         "column '%.64s' is there twice", name);
    if (near)
        return msim_fail(err, MSIM_EFORMAT, t->path, MSIM_OFFSET_NONE,
                         "column '%.64s' is not known, did you mean '%s'?",
                         name, near);
    return msim_fail(err, MSIM_EFORMAT, t->path, MSIM_OFFSET_NONE,
                     "column '%.64s' is not known, want some of:%s", name, all);
}

static enum msim_status find_columns(struct msim_job_rows *t,
                                     struct msim_error *err)
{
    uint32_t n = msim_csv_columns(t->csv);

    for (uint32_t i = 0; i < COLUMNS; i++)
        t->column[i] = msim_csv_find(t->csv, column_text(i));
    for (uint32_t c = 0; c < n; c++) {
        uint32_t i = 0;

        while (i < COLUMNS && t->column[i] != c)
            i++;
        if (i == COLUMNS)
            return unknown_column(t, msim_csv_header(t->csv, c), err);
    }
    if (t->column[MODEL] == UINT32_MAX && t->column[HIDDEN] == UINT32_MAX)
        return msim_fail(err, MSIM_EFORMAT, t->path, MSIM_OFFSET_NONE,
                         "there is no column 'model', nor 'hidden', 'heads' "
                         "and 'layers'");
    return MSIM_OK;
}

enum msim_status msim_job_rows_open(struct msim_job_rows *t, const char *path,
                                    const char *data_dir,
                                    struct msim_error *err)
{
    const char *slash = strrchr(path, '/');

    *t = (struct msim_job_rows){.data_dir = data_dir};
    snprintf(t->path, sizeof(t->path), "%s", path);
    snprintf(t->beside, sizeof(t->beside), "%.*smodels",
             slash ? (int)(slash - path) + 1 : 0, path);
    MSIM_TRY(msim_csv_open(&t->csv, path, err));
    return find_columns(t, err);
}

void msim_job_rows_release(struct msim_job_rows *t)
{
    msim_csv_close(t->csv);
    free(t->models);
    free(t->names);
    *t = (struct msim_job_rows){0};
}

static const char *field(const struct msim_job_rows *t, char *const *fields,
                         uint32_t column)
{
    return t->column[column] == UINT32_MAX ? "" : fields[t->column[column]];
}

static double number(const char *text)
{
    double v;

    return msim_decimal_real(text, strlen(text), &v) && v > 0 && isfinite(v)
               ? v
               : 0;
}

/* ---- models -------------------------------------------------------------- */

static void read_numbers(const struct msim_job_rows *t, char *const *fields,
                         struct msim_job_row *row)
{
    static const struct {
        uint32_t column;
        size_t offset;
    } NUMBERS[] = {
        {HIDDEN, offsetof(struct msim_described, hidden)},
        {HEADS, offsetof(struct msim_described, heads)},
        {LAYERS, offsetof(struct msim_described, layers)},
    };
    struct msim_described *m = &row->by_numbers;

    *m = (struct msim_described){.name = "gpt",
                                 .tied = true,
                                 .layernorm = true,
                                 .bias = true,
                                 .positions = MSIM_POSITIONS_LEARNED,
                                 .vocab = 50257}; /* GPT-2's */
    for (size_t i = 0; i < sizeof(NUMBERS) / sizeof(NUMBERS[0]); i++) {
        const char *text = field(t, fields, NUMBERS[i].column);
        int64_t v;

        if (!msim_decimal_int(text, msim_whole_length(text), &v) || v < 1 ||
            v > 1000000) {
            snprintf(row->reason, sizeof(row->reason),
                     "%s is '%.20s', want a whole number from 1 to 1000000",
                     column_text(NUMBERS[i].column), text);
            return;
        }
        memcpy((char *)m + NUMBERS[i].offset, &v, sizeof(v));
    }
    if (m->hidden % m->heads != 0) {
        snprintf(row->reason, sizeof(row->reason),
                 "heads is %lld, want a divisor of hidden, which is %lld",
                 (long long)m->heads, (long long)m->hidden);
        return;
    }
    m->kv_heads = m->heads;
    m->ffn = 4 * m->hidden;
    m->head_dim = m->hidden / m->heads;
    row->strategy.unfused = true;
    msim_framework_default(&row->strategy, "megatron");
    row->model = m;
}

static enum msim_status read_model(struct msim_job_rows *t, const char *name,
                                   struct msim_job_row *row)
{
    struct msim_error why = {0};

    for (uint32_t i = 0; i < t->n_models; i++)
        if (strcmp(t->names[i], name) == 0) {
            row->model = &t->models[i];
            return MSIM_OK;
        }
    MSIM_TRY(msim_grow((void **)&t->models, &t->cap_models, t->n_models,
                       sizeof(*t->models)));
    MSIM_TRY(msim_grow((void **)&t->names, &t->cap_names, t->n_models,
                       sizeof(*t->names)));
    if (msim_described_find(&t->models[t->n_models], name, t->data_dir,
                            t->beside, &why) != MSIM_OK) {
        msim_cut_text(row->reason, sizeof(row->reason), why.text);
        return MSIM_OK;
    }
    snprintf(t->names[t->n_models], sizeof(t->names[0]), "%s", name);
    row->model = &t->models[t->n_models++];
    return MSIM_OK;
}

/* ---- rows ---------------------------------------------------------------- */

/* Tables name programs of all kinds: one that has no row here is copied, and
 * `defaults` says which one it is predicted as. */
static void read_strategy(const struct msim_job_rows *t, char *const *fields,
                          struct msim_job_row *row)
{
    for (uint32_t g = 0; g < MSIM_GIVEN_COUNT && !*row->reason; g++) {
        const char *text = field(t, fields, g);

        if (g == MSIM_GIVEN_framework && !msim_framework_is(text))
            continue;
        (void)msim_strategy_set(&row->strategy, (enum msim_given)g, text,
                                &row->given, row->reason, sizeof(row->reason));
    }
}

enum msim_status msim_job_rows_next(struct msim_job_rows *t,
                                    struct msim_job_row *row,
                                    char *const **fields,
                                    struct msim_error *err)
{
    const char *text;

    *row = (struct msim_job_row){0};
    MSIM_TRY(msim_csv_next(t->csv, fields, err));
    if (!*fields)
        return MSIM_OK;
    row->named = field(t, *fields, MODEL);
    text = field(t, *fields, PLATFORM);
    row->platform = *text ? text : NULL;
    text = field(t, *fields, NETWORK);
    row->network = *text ? text : NULL;
    text = field(t, *fields, SOURCE);
    row->source = *text ? text : NULL;
    text = field(t, *fields, STATUS);
    row->failed = *text && strcmp(text, "ok") != 0;
    row->step_ms = number(field(t, *fields, STEP_MS));
    if (row->step_ms <= 0)
        row->step_ms = number(field(t, *fields, ITERATION_MS));
    row->memory_gib = number(field(t, *fields, MEMORY_GIB));
    read_strategy(t, *fields, row);
    if (*row->reason)
        return MSIM_OK;
    if (*row->named)
        return read_model(t, row->named, row);
    read_numbers(t, *fields, row);
    if (!row->source)
        row->source = MSIM_ROWS_BY_NUMBERS;
    return MSIM_OK;
}
