/*
 * models/platform/kriging.c - evaluating and reading corrections by kriging.
 */
#include "models/platform/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 4096

double msim_kriging_correlation(double distance2)
{
    double d = sqrt(3 * distance2);

    return (1 + d) * exp(-d);
}

struct msim_kriging_answer msim_kriging_correct(const struct msim_kriging *m,
                                                const double *x,
                                                double correlation)
{
    double at[MSIM_LAW_FEATURES];
    double sum = 0, most = 0;

    for (uint32_t f = 0; f < m->n_features; f++)
        at[f] = x[m->features[f]] / m->length_scale[f];
    for (uint32_t i = 0; i < m->n; i++) {
        const double *row = m->rows + (size_t)i * m->n_features;
        double distance2 = 0;
        double k;

        for (uint32_t f = 0; f < m->n_features; f++)
            distance2 += (at[f] - row[f]) * (at[f] - row[f]);
        k = msim_kriging_correlation(distance2);
        sum += m->weights[i] * k;
        most = k > most ? k : most;
    }
    most *= correlation;
    return (struct msim_kriging_answer){
        .log = sum < m->low    ? m->low
               : sum > m->high ? m->high
                               : sum,
        .sd_ratio = sqrt(m->noise + 1 - most * most),
    };
}

double msim_kriging_far(const struct msim_kriging *m)
{
    return sqrt(m->noise + 1);
}

void msim_kriging_release(struct msim_kriging *m)
{
    free(m->rows);
    free(m->weights);
    memset(m, 0, sizeof(*m));
}

/* ---- reading ------------------------------------------------------------- */

static bool find_feature(const struct msim_law *law, const char *name,
                         uint32_t *out)
{
    for (*out = 0; *out < law->n_features; ++*out)
        if (strcmp(law->features[*out], name) == 0)
            return true;
    return false;
}

static bool read_length_scales(struct msim_kriging *m, const cJSON *json,
                               const struct msim_law *law)
{
    const cJSON *r;

    cJSON_ArrayForEach(r, cJSON_GetObjectItemCaseSensitive(json, "reach"))
    {
        if (m->n_features == MSIM_LAW_FEATURES || !cJSON_IsNumber(r) ||
            !(r->valuedouble > 0) ||
            !find_feature(law, r->string, &m->features[m->n_features]))
            return false;
        m->length_scale[m->n_features++] = r->valuedouble;
    }
    return m->n_features > 0;
}

/* Read exactly `n` numbers. */
static bool read_numbers(const char *text, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *end;

        out[i] = strtod(text, &end);
        if (end == text || !isfinite(out[i]))
            return false;
        text = end;
    }
    return text[strspn(text, " ")] == '\0';
}

static uint32_t count_words(const char *text)
{
    uint32_t n = 0;

    for (; *text; text++)
        n += *text != ' ' && (text[1] == ' ' || text[1] == '\0');
    return n;
}

static enum msim_status read_rows(struct msim_kriging *m, const cJSON *json)
{
    const char *rows = msim_json_get_text(json, "rows");
    const char *weights = msim_json_get_text(json, "weights");
    size_t numbers;

    if (!rows || !weights)
        return MSIM_EFORMAT;
    m->n = count_words(weights);
    if (m->n == 0 || m->n > ROWS_MAX)
        return MSIM_EFORMAT;
    numbers = (size_t)m->n * m->n_features;
    m->rows = malloc(numbers * sizeof(*m->rows));
    m->weights = malloc(m->n * sizeof(*m->weights));
    if (!m->rows || !m->weights)
        return MSIM_ENOMEM;
    if (!read_numbers(weights, m->weights, m->n) ||
        !read_numbers(rows, m->rows, numbers))
        return MSIM_EFORMAT;
    for (size_t i = 0; i < numbers; i++)
        m->rows[i] /= m->length_scale[i % m->n_features];
    return MSIM_OK;
}

enum msim_status msim_kriging_read(struct msim_kriging *m, const cJSON *json,
                                   const struct msim_law *law)
{
    enum msim_status status;

    memset(m, 0, sizeof(*m));
    status =
        read_length_scales(m, json, law) ? read_rows(m, json) : MSIM_EFORMAT;
    m->noise = msim_json_get_number(json, "noise", -1);
    if (status == MSIM_OK && !(m->noise > 0))
        status = MSIM_EFORMAT;
    m->low = msim_json_get_number(json, "low", 0);
    m->high = msim_json_get_number(json, "high", 0);
    if (status != MSIM_OK)
        msim_kriging_release(m);
    return status;
}
