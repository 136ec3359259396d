/*
 * serving/llm/llm_law.c - the law of step times: constants and their file.
 */
#include "serving/llm/llm_law.h"

#include "core/json/fields.h"
#include "models/platform/platform.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const PIECES[] = {
#define X(name, text) text,
    MSIM_LLM_PIECE_MAP(X)
#undef X
};
static const char *const FIGURES[] = {"tpot", "ttft"};

const char *msim_llm_piece_text(enum msim_llm_piece p)
{
    return PIECES[p];
}

double msim_llm_law_host_us(const struct msim_llm_law *law,
                            const struct msim_llm_rank *r, double steps,
                            double seqs)
{
    enum msim_llm_engine e = r->s.engine;
    double ranks = (double)(r->s.tp * r->s.dp * r->s.pp);

    return (law->host_us[e] + law->ranks_us[e] * log2(ranks)) * steps +
           law->sequence_us[e] * seqs;
}

/* Types tell how well products are priced; experts have kernels of their own
 * for each. */
static const double *types_for(const struct msim_llm_law *law, int piece)
{
    return piece == MSIM_LLM_PRODUCT_FEW    ? law->type
           : piece == MSIM_LLM_PRODUCT_MANY ? law->type_many
                                            : NULL;
}

double msim_llm_law_us(const struct msim_llm_law *law, enum msim_llm_engine e,
                       const struct msim_llm_pieces *pieces)
{
    double us = 0;

    for (int p = 0; p < MSIM_LLM_PIECES; p++) {
        const double *type = types_for(law, p);

        for (int q = 0; q < MSIM_QUANTS; q++)
            us += pieces->us[p][q] * law->factor[e][p] * (type ? type[q] : 1);
    }
    return us;
}

/* ---- nothing fitted ------------------------------------------------------ */

/* A step of engines that capture graphs leaves a GPU idle for a few hundred
 * microseconds, and sampling and detokenising take some of each sequence. */
#define HOST_US     400
#define SEQUENCE_US 5
#define RANKS_US    100
/* Benchmarks usually send ten requests a client; HTTP and the tokeniser take
 * some milliseconds of a prompt. */
#define FIRST_WAVE 0.1
#define ARRIVAL_US 10000
/* Half of the 90 % interval of the logarithm: sums of single kernels were 5 to
 * 60 % longer than measured steps. */
#define UNFITTED_HALF 0.6

void msim_llm_law_init(struct msim_llm_law *law)
{
    memset(law, 0, sizeof(*law));
    for (int e = 0; e < MSIM_LLM_ENGINES; e++) {
        law->host_us[e] = HOST_US;
        law->sequence_us[e] = SEQUENCE_US;
        law->ranks_us[e] = RANKS_US;
        law->first_wave[e] = FIRST_WAVE;
        law->arrival_us[e] = ARRIVAL_US;
        for (int p = 0; p < MSIM_LLM_PIECES; p++)
            law->factor[e][p] = 1;
    }
    for (int q = 0; q < MSIM_QUANTS; q++)
        law->type[q] = law->type_many[q] = 1;
    for (int f = 0; f < MSIM_LLM_FIGURES; f++)
        law->half[f] = (struct msim_llm_halves){UNFITTED_HALF, UNFITTED_HALF,
                                                UNFITTED_HALF, UNFITTED_HALF};
}

/* ---- the file ------------------------------------------------------------ */

static void read_engines(struct msim_llm_law *law, struct msim_fields *f)
{
    struct msim_fields all = msim_fields_open(f, "engines");

    for (int e = 0; e < MSIM_LLM_ENGINES; e++) {
        struct msim_fields in = msim_fields_open(
            &all, msim_llm_engine_text((enum msim_llm_engine)e));

        law->engines[e] = in.object != NULL;
        law->host_us[e] = msim_field_real(&in, "host_us", law->host_us[e]);
        law->sequence_us[e] =
            msim_field_real(&in, "sequence_us", law->sequence_us[e]);
        law->ranks_us[e] = msim_field_real(&in, "ranks_us", law->ranks_us[e]);
        law->first_wave[e] =
            msim_field_real(&in, "first_wave", law->first_wave[e]);
        law->arrival_us[e] =
            msim_field_real(&in, "arrival_us", law->arrival_us[e]);
        for (int p = 0; p < MSIM_LLM_PIECES; p++)
            law->factor[e][p] =
                msim_field_real(&in, PIECES[p], law->factor[e][p]);
        msim_fields_close(&all, &in);
    }
    msim_fields_close(f, &all);
}

static void read_types(struct msim_llm_law *law, struct msim_fields *f)
{
    struct msim_fields few = msim_fields_open(f, "types"), many;

    for (int q = 1; q < MSIM_QUANTS; q++) {
        const char *word = msim_quant_text((enum msim_quant)q);

        law->type[q] = msim_field_real(&few, word, 1);
    }
    msim_fields_close(f, &few);
    many = msim_fields_open(f, "types_of_many");
    for (int q = 1; q < MSIM_QUANTS; q++)
        law->type_many[q] =
            msim_field_real(&many, msim_quant_text((enum msim_quant)q), 1);
    msim_fields_close(f, &many);
}

static void read_halves(struct msim_llm_law *law, struct msim_fields *f)
{
    struct msim_fields all = msim_fields_open(f, "half_intervals");

    for (int i = 0; i < MSIM_LLM_FIGURES; i++) {
        struct msim_fields in = msim_fields_open(&all, FIGURES[i]);
        struct msim_llm_halves *h = &law->half[i];

        h->seen = msim_field_real(&in, "seen", h->seen);
        h->other_model = msim_field_real(&in, "other_model", h->other_model);
        h->other_gpu = msim_field_real(&in, "other_gpu", h->other_gpu);
        h->other = msim_field_real(&in, "other", h->other);
        msim_fields_close(&all, &in);
    }
    msim_fields_close(f, &all);
}

static uint32_t read_names(char names[MSIM_LLM_SEEN][64], struct msim_fields *f,
                           const char *key)
{
    const cJSON *item;
    uint32_t n = 0;

    cJSON_ArrayForEach(item, cJSON_GetObjectItem(f->object, key))
    {
        const char *text = cJSON_GetStringValue(item);

        if (text && n < MSIM_LLM_SEEN)
            snprintf(names[n++], sizeof(names[0]), "%s", text);
    }
    return n;
}

static void read_seen_types(struct msim_llm_law *law,
                            const struct msim_fields *f)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, cJSON_GetObjectItem(f->object, "types"))
    {
        enum msim_quant q = msim_quant_parse(cJSON_GetStringValue(item));

        if (q < MSIM_QUANTS)
            law->types[q] = true;
    }
}

enum msim_status msim_llm_law_read(struct msim_llm_law *law, const char *path,
                                   struct msim_error *err)
{
    struct msim_fields f, rows;
    cJSON *json;

    msim_llm_law_init(law);
    MSIM_TRY(msim_json_read_our(&json, path, "serving-law", err));
    f = msim_fields_of(json, path, err);
    read_engines(law, &f);
    read_types(law, &f);
    read_halves(law, &f);
    rows = msim_fields_open(&f, "rows");
    law->n_models = read_names(law->models, &rows, "models");
    law->n_gpus = read_names(law->gpus, &rows, "gpus");
    read_seen_types(law, &rows);
    msim_fields_close(&f, &rows);
    cJSON_Delete(json);
    return f.status;
}

enum msim_status msim_llm_law_load(struct msim_llm_law *law,
                                   const char *data_dir, struct msim_error *err)
{
    char path[1100];

    snprintf(path, sizeof(path), "%s/laws/serving.json", data_dir);
    return msim_llm_law_read(law, path, err);
}

/* ---- intervals ----------------------------------------------------------- */

/* A model that names itself by its file may have the file's ending. */
static bool is_among(const char names[MSIM_LLM_SEEN][64], uint32_t n,
                     const char *name)
{
    for (uint32_t i = 0; i < n; i++) {
        size_t length = strlen(names[i]);

        if (strncmp(names[i], name, length) == 0 &&
            (!name[length] || strcmp(name + length, ".json") == 0))
            return true;
    }
    return false;
}

double msim_llm_law_half(const struct msim_llm_law *law,
                         const struct msim_llm_rank *r, enum msim_llm_figure f,
                         bool *uses_rows)
{
    const struct msim_llm_halves *h = &law->half[f];
    bool model = is_among(law->models, law->n_models, r->m->name);
    bool gpu =
        is_among(law->gpus, law->n_gpus, msim_platform_name(r->s.platform));
    bool known = law->engines[r->s.engine] &&
                 (r->dense == MSIM_QUANT_BF16 || law->types[r->dense]) &&
                 (r->experts == MSIM_QUANT_BF16 || law->types[r->experts]);

    *uses_rows = model && gpu;
    if (!known || (!model && !gpu))
        return h->other;
    if (!model)
        return h->other_model;
    return gpu ? h->seen : h->other_gpu;
}
