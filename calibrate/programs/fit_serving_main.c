/*
 * calibrate/programs/fit_serving_main.c - msim-fit-serving: the constants of
 * the law of served models, fitted to a table of measured closed loops.
 *
 *     msim-fit-serving DATA ROWS.csv.gz --models DIR [--out SERVING.json]
 *                      [--errors ERRORS.csv] [--predicted PREDICTED.csv]
 *
 * DATA is the folder with platforms/. Writes the fit on all rows. PREDICTED.csv
 * gets what it says of each, and what their works take. ERRORS.csv
 * gets the errors of the rows that it saw, and of a part, of models, of GPUs
 * and of engines that a fit did not see; intervals are of those. Constants are
 * found through a closed form (serving/llm/closed_loop.c), and judged as they
 * are used: by the simulation of `serve --rows` with that law.
 */
#include "calibrate/programs/program_end.h"
#include "calibrate/serving/serving_fit.h"
#include "core/base/containers.h"
#include "core/base/print.h"
#include "core/base/quantile.h"
#include "serving/llm/llm_law.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARTS 5 /* of rows that are held out in turn */

/* What is held out in turn. */
enum split { SPLIT_NONE, SPLIT_ROWS, SPLIT_MODEL, SPLIT_GPU, SPLIT_ENGINE };
static const char *const SPLITS[] = {"seen", "rows held out", "model held out",
                                     "GPU held out", "engine held out"};
#define SPLIT_COUNT (sizeof(SPLITS) / sizeof(*SPLITS))

struct run {
    struct msim_serving_table t;
    struct msim_llm_law law; /* of all rows */
    /* log(measured / predicted) by split, TPOT and TTFT; NAN: no fit could */
    double *residual[SPLIT_COUNT][MSIM_LLM_FIGURES];
    uint8_t *use;
    uint32_t *order; /* rows that are served alike together */
    double *sorted;
    struct msim_point_shelf shelf;
};

static bool allocate(struct run *r)
{
    size_t n = (size_t)r->t.n + 1;

    r->use = calloc(n, 1);
    r->order = calloc(n, sizeof(*r->order));
    r->sorted = calloc(n, sizeof(double));
    for (size_t s = 0; s < SPLIT_COUNT; s++)
        for (int f = 0; f < MSIM_LLM_FIGURES; f++) {
            r->residual[s][f] = calloc(n, sizeof(double));
            if (!r->residual[s][f])
                return false;
            for (size_t i = 0; i < n; i++)
                r->residual[s][f][i] = NAN;
        }
    return r->use && r->order && r->sorted;
}

static void release(struct run *r)
{
    msim_serving_rows_release(&r->t);
    free(r->use);
    free(r->order);
    free(r->sorted);
    for (size_t s = 0; s < SPLIT_COUNT; s++)
        for (int f = 0; f < MSIM_LLM_FIGURES; f++)
            free(r->residual[s][f]);
}

static int compare_in(const void *x, const void *y, void *rows)
{
    const struct msim_serving_row *of = rows;
    uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
    int d = msim_point_row_compare(of[i].of, of[j].of);

    return d ? d : MSIM_ORDER(i, j);
}

static void sort_rows(struct run *r)
{
    for (uint32_t i = 0; i < r->t.n; i++)
        r->order[i] = i;
    qsort_r(r->order, r->t.n, sizeof(*r->order), compare_in, r->t.rows);
}

/* ---- holding out --------------------------------------------------------- */

static uint32_t groups_of(const struct run *r, enum split s)
{
    return s == SPLIT_ROWS     ? PARTS
           : s == SPLIT_MODEL  ? r->t.n_models
           : s == SPLIT_GPU    ? r->t.n_gpus
           : s == SPLIT_ENGINE ? MSIM_LLM_ENGINES
                               : 1;
}

static bool is_held(const struct run *r, enum split s, uint32_t group,
                    uint32_t row)
{
    const struct msim_serving_row *of = &r->t.rows[row];

    return s == SPLIT_ROWS     ? row % PARTS == group
           : s == SPLIT_MODEL  ? of->model == group
           : s == SPLIT_GPU    ? of->gpu == group
           : s == SPLIT_ENGINE ? (uint32_t)of->engine == group
                               : false;
}

static double log_ratio(double measured, double predicted)
{
    return measured > 0 && predicted > 0 ? log(measured / predicted) : NAN;
}

static enum msim_status take(struct run *r, enum split s,
                             const struct msim_llm_law *law, uint32_t row)
{
    const struct msim_serving_row *of = &r->t.rows[row];
    const struct msim_point_world world = {law, &of->of->model->described,
                                           of->of->platform->platform};
    struct msim_point_answer a = {0};

    MSIM_TRY(msim_point_answer_make(&a, &of->of->point, &world, &r->shelf));
    r->residual[s][MSIM_LLM_TPOT][row] = log_ratio(of->tpot_ms, a.tpot.ms);
    r->residual[s][MSIM_LLM_TTFT][row] = log_ratio(of->ttft_ms, a.ttft.ms);
    return MSIM_OK;
}

/* Those that are served alike after each other: they share what is made. */
static enum msim_status take_all(struct run *r, enum split s,
                                 const struct msim_llm_law *law)
{
    enum msim_status status = MSIM_OK;

    for (uint32_t k = 0; status == MSIM_OK && k < r->t.n; k++) {
        uint32_t i = r->order[k];

        if (s == SPLIT_NONE || !r->use[i])
            status = take(r, s, law, i);
    }
    msim_point_shelf_release(&r->shelf); /* of that law */
    return status;
}

/* Nothing is left where all rows are of one group. */
static enum msim_status hold_out(struct run *r, enum split s)
{
    struct msim_llm_law law;

    for (uint32_t group = 0; group < groups_of(r, s); group++) {
        uint32_t used = 0, held = 0;

        for (uint32_t i = 0; i < r->t.n; i++) {
            r->use[i] = !is_held(r, s, group, i);
            used += r->use[i];
            held += !r->use[i];
        }
        if (s != SPLIT_NONE && (used == 0 || held == 0))
            continue;
        msim_serving_fit(&law, &r->t, r->use);
        MSIM_TRY(take_all(r, s, &law));
        if (s == SPLIT_NONE)
            r->law = law;
    }
    return MSIM_OK;
}

/* ---- figures ------------------------------------------------------------- */

/* Rows that are counted together: of a model, a GPU, an engine; UINT32_MAX: of
 * any. */
struct pick {
    uint32_t model, gpu, engine;
};

static bool is_picked(const struct pick *p, const struct msim_serving_row *row)
{
    return (p->model == UINT32_MAX || p->model == row->model) &&
           (p->gpu == UINT32_MAX || p->gpu == row->gpu) &&
           (p->engine == UINT32_MAX || p->engine == (uint32_t)row->engine);
}

struct error {
    uint32_t rows;
    double mean, median, p90, bias; /* of |measured / predicted - 1|; the last:
                                       the median of the logarithm */
    double half;                    /* 90 % of |log| are below */
};

static struct error error_of(struct run *r, enum split s,
                             enum msim_llm_figure f, const struct pick *p)
{
    struct error e = {0};
    const double *residual = r->residual[s][f];
    double *v = r->sorted;

    for (uint32_t i = 0; i < r->t.n; i++)
        if (is_picked(p, &r->t.rows[i]) && isfinite(residual[i]))
            v[e.rows++] = residual[i];
    if (e.rows == 0)
        return e;
    qsort(v, e.rows, sizeof(*v), msim_compare_values);
    e.bias = v[e.rows / 2];
    /* predicted against measured, as errors are reported */
    for (uint32_t i = 0; i < e.rows; i++) {
        v[i] = fabs(exp(-v[i]) - 1);
        e.mean += v[i] / e.rows;
    }
    qsort(v, e.rows, sizeof(*v), msim_compare_values);
    e.median = v[e.rows / 2];
    e.p90 = v[(uint32_t)(0.9 * (e.rows - 1))];
    e.half = log(1 + e.p90);
    return e;
}

static void print_error(FILE *out, struct run *r, enum split s,
                        const struct pick *p)
{
    static const char *const NAMES[] = {"tpot", "ttft"};

    for (int f = 0; f < MSIM_LLM_FIGURES; f++) {
        struct error e = error_of(r, s, (enum msim_llm_figure)f, p);

        if (e.rows == 0)
            continue;
        msim_csv_print(
            out, "%s,%s,%s,%s,%s,%u,%.4f,%.4f,%.4f,%.4f\n", SPLITS[s],
            p->model == UINT32_MAX ? "all" : r->t.models[p->model],
            p->gpu == UINT32_MAX ? "all" : r->t.gpus[p->gpu],
            p->engine == UINT32_MAX
                ? "all"
                : msim_llm_engine_text((enum msim_llm_engine)p->engine),
            NAMES[f], e.rows, e.mean, e.median, e.p90, e.bias);
    }
}

static void print_split(FILE *out, struct run *r, enum split s)
{
    const struct pick all = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    struct pick p = all;

    print_error(out, r, s, &all);
    for (p.model = 0; p.model < r->t.n_models; p.model++)
        print_error(out, r, s, &p);
    p = all;
    for (p.gpu = 0; p.gpu < r->t.n_gpus; p.gpu++)
        print_error(out, r, s, &p);
    for (p.model = 0; p.model < r->t.n_models; p.model++)
        for (p.gpu = 0; p.gpu < r->t.n_gpus; p.gpu++)
            for (p.engine = 0; p.engine < MSIM_LLM_ENGINES; p.engine++)
                print_error(out, r, s, &p);
}

static void print_errors(FILE *out, struct run *r)
{
    fputs("split,model,platform,engine,figure,rows,mean,median,p90,bias\n",
          out);
    for (size_t s = 0; s < SPLIT_COUNT; s++)
        print_split(out, r, (enum split)s);
}

/* ---- rows ---------------------------------------------------------------- */

static double piece_us(const struct msim_serving_sum *s, int piece)
{
    double us = 0;

    for (int q = 0; q < MSIM_QUANTS; q++)
        us += s->pieces.us[piece][q];
    return us;
}

static void print_row(FILE *out, const struct run *r,
                      const struct msim_serving_row *row)
{
    struct msim_closed_loop_answer a;

    msim_serving_predict(&a, &r->law, row);
    msim_csv_print(out, "%s,%s,%s,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g,%g",
                   r->t.models[row->model], r->t.gpus[row->gpu],
                   msim_llm_engine_text(row->engine), (double)row->rank.s.tp,
                   (double)row->rank.s.dp, row->loop.input_tokens,
                   row->loop.output_tokens, row->loop.seqs, row->loop.waiting,
                   row->tpot_ms, a.tpot_ms, row->ttft_ms, a.ttft_ms,
                   a.prefill_ms, a.decode_ms);
    for (int p = 0; p < MSIM_LLM_PIECES; p++)
        msim_csv_print(out, ",%.0f,%.0f", piece_us(&row->decode, p),
                       piece_us(&row->prefill, p));
    putc('\n', out);
}

static void print_rows(FILE *out, struct run *r)
{
    fputs("model,platform,engine,tp,dp,isl,osl,seqs,waiting,tpot_ms,"
          "predicted_tpot_ms,ttft_ms,predicted_ttft_ms,prefill_ms,decode_ms",
          out);
    for (int p = 0; p < MSIM_LLM_PIECES; p++) {
        const char *name = msim_llm_piece_text((enum msim_llm_piece)p);

        msim_csv_print(out, ",decode_%s_us,prefill_%s_us", name, name);
    }
    putc('\n', out);
    for (uint32_t i = 0; i < r->t.n; i++)
        print_row(out, r, &r->t.rows[i]);
}

/* ---- the file ------------------------------------------------------------ */

static double half_of(struct run *r, enum split s, enum msim_llm_figure f)
{
    const struct pick all = {UINT32_MAX, UINT32_MAX, UINT32_MAX};

    return error_of(r, s, f, &all).half;
}

/* Where model, GPU and engine are new each adds what it adds alone. */
static void set_halves(struct run *r)
{
    for (int i = 0; i < MSIM_LLM_FIGURES; i++) {
        enum msim_llm_figure f = (enum msim_llm_figure)i;
        double seen = fmax(half_of(r, SPLIT_ROWS, f), 0.01);
        double model = fmax(half_of(r, SPLIT_MODEL, f), seen);
        double gpu = fmax(half_of(r, SPLIT_GPU, f), seen);
        double engine = fmax(half_of(r, SPLIT_ENGINE, f), seen);

        r->law.half[f] =
            (struct msim_llm_halves){seen, model, gpu,
                                     sqrt(fmax(model * model, engine * engine) +
                                          gpu * gpu - seen * seen)};
    }
}

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static enum msim_status write_text(const char *path, const char *text, size_t n,
                                   struct msim_error *err)
{
    struct msim_file *file;
    enum msim_status status;

    MSIM_TRY(msim_file_open(&file, path, NULL, err));
    status = msim_file_write(file, text, n);
    return msim_file_close(file, status, err);
}

static enum msim_status write_law(struct run *r, const char *rows,
                                  const char *path, struct msim_error *err)
{
    const struct msim_llm_law_source from = {
        .how = "least mean |log(measured / predicted)| of TPOT, and of TTFT "
               "with a quarter of its weight, through "
               "serving/llm/closed_loop.c",
        .command = "msim-fit-serving DATA ROWS --models DIR --out "
                   "data/laws/serving.json",
        .file = file_of(rows),
        .used = r->t.n,
        .left_out = r->t.left_out,
        .failed = r->t.failed};

    set_halves(r);
    return msim_llm_law_write(&r->law, &from, path, err);
}

/* ---- main ---------------------------------------------------------------- */

struct options {
    const char *data, *rows, *models, *out, *errors, *predicted;
};

static bool parse(struct options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char **to = strcmp(argv[i], "--models") == 0      ? &o->models
                          : strcmp(argv[i], "--out") == 0       ? &o->out
                          : strcmp(argv[i], "--errors") == 0    ? &o->errors
                          : strcmp(argv[i], "--predicted") == 0 ? &o->predicted
                                                                : NULL;

        if (to && i + 1 < argc)
            *to = argv[++i];
        else if (!to && argv[i][0] != '-' && !o->data)
            o->data = argv[i];
        else if (!to && argv[i][0] != '-' && !o->rows)
            o->rows = argv[i];
        else
            return false;
    }
    return o->data && o->rows && o->models;
}

static enum msim_status write_to(struct run *r, const char *path,
                                 void (*print)(FILE *, struct run *),
                                 struct msim_error *err)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    enum msim_status status = MSIM_ENOMEM;

    if (out)
        print(out, r);
    if (out && fclose(out) == 0)
        status = write_text(path, text, n, err);
    free(text);
    return status;
}

static enum msim_status run(struct run *r, const struct options *o,
                            struct msim_error *err)
{
    MSIM_TRY(msim_serving_rows_read(&r->t, o->rows, o->data, o->models, err));
    msim_print(stdout, "%u rows, %u left out, %u failed%s%s\n", r->t.n,
               r->t.left_out, r->t.failed, *r->t.why ? ": " : "", r->t.why);
    if (!allocate(r))
        return MSIM_ENOMEM;
    sort_rows(r);
    for (size_t s = 0; s < SPLIT_COUNT; s++)
        MSIM_TRY(hold_out(r, (enum split)s));
    print_errors(stdout, r);
    if (o->predicted)
        MSIM_TRY(write_to(r, o->predicted, print_rows, err));
    if (o->errors)
        MSIM_TRY(write_to(r, o->errors, print_errors, err));
    return o->out ? write_law(r, o->rows, o->out, err) : MSIM_OK;
}

int main(int argc, char **argv)
{
    struct run *r = calloc(1, sizeof(*r));
    struct options o = {0};
    struct msim_error err = {0};
    enum msim_status status;

    gsl_set_error_handler_off();
    if (!r || !parse(&o, argc, argv)) {
        free(r);
        fprintf(stderr, "usage: msim-fit-serving DATA ROWS.csv.gz --models DIR "
                        "[--out SERVING.json] [--errors ERRORS.csv] "
                        "[--predicted PREDICTED.csv]\n");
        return 2;
    }
    status = run(r, &o, &err);
    release(r);
    free(r);
    return msim_program_end(stderr, "msim-fit-serving", status, &err);
}
