/*
 * calibrate/programs/fit_shared_main.c - msim-fit-shared: the laws that all
 * GPUs share, for a GPU without rows.
 *
 *     msim-fit-shared TABLES DATA COMMON.json [REPORT.csv]
 *
 * TABLES is a folder with the tables of measured times, DATA that of the
 * platforms that msim-fit made of them (and of platforms/src/datasheets.json,
 * which names the GPUs of the tables). COMMON.json gets the laws that all GPUs
 * share, with their errors and those of fits of other GPUs; the report gets the
 * errors of predictions for each GPU, held out.
 */
#include "calibrate/fit/law_fit.h"
#include "calibrate/platform/platform_fit.h"
#include "calibrate/programs/program_end.h"
#include "calibrate/rows/samples.h"
#include "core/base/print.h"

#include <gsl/gsl_errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_gpus(cJSON *fit, const struct msim_shared_fit *k,
                     const struct msim_shared_group *c)
{
    cJSON *gpus = cJSON_AddArrayToObject(fit, "gpus");

    for (uint32_t i = c->begin; i < c->end; i++)
        if (i == c->begin || k->rows[i].platform != k->rows[i - 1].platform)
            cJSON_AddItemToArray(
                gpus,
                cJSON_CreateString(k->platforms[k->rows[i].platform]->name));
}

static enum msim_status add_fit(cJSON *fits, const struct msim_shared_fit *k,
                                const struct msim_shared_group *kc,
                                const struct msim_fit *c)
{
    struct msim_sample r = k->rows[kc->begin].sample;
    struct msim_fit_result f = {.rows = c->rows,
                                .groups = kc->generations,
                                .n_bins = c->n_bins,
                                .fitted.mean = c->error,
                                .held_out.mean = c->heldout};

    memcpy(f.constants.params, c->params, sizeof(c->params));
    f.constants.gap = c->gap;
    memcpy(f.range_low, c->range_low, sizeof(c->range_low));
    memcpy(f.range_high, c->range_high, sizeof(c->range_high));
    memcpy(f.bins, c->bins, sizeof(c->bins));
    r.gpu = c->table;
    MSIM_TRY(msim_fit_write_as(
        fits, &r, &f,
        "least mean |log error| over rows of all GPUs alike (GSL simplex); "
        "errors held back and interval: one generation after the other left "
        "out"));
    add_gpus(cJSON_GetArrayItem(fits, cJSON_GetArraySize(fits) - 1), k, kc);
    return MSIM_OK;
}

static enum msim_status add_fits(cJSON *o, const struct msim_shared_fit *k,
                                 const struct msim_shared_laws *common)
{
    cJSON *fits = cJSON_AddArrayToObject(o, "cells");
    uint32_t at = 0;

    if (!fits)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < k->n_groups; i++)
        if (k->groups[i].generations > 1)
            MSIM_TRY(add_fit(fits, k, &k->groups[i], &common->fits[at++]));
    return MSIM_OK;
}

static void add_sds(cJSON *o, const struct msim_shared_laws *common,
                    uint32_t (*rows)[2])
{
    cJSON *spreads = cJSON_AddObjectToObject(o, "spreads");

    for (uint32_t i = 0; i < common->n_sd; i++) {
        const struct msim_shared_sd *s = &common->sd[i];
        cJSON *one = cJSON_AddObjectToObject(spreads, s->law->name);

        msim_number_add(one, "generation", s->generation);
        msim_number_add(one, "other", s->other);
        if (rows[i][0])
            msim_number_add(one, "generation_error", s->generation_error);
        if (rows[i][1])
            msim_number_add(one, "other_error", s->other_error);
        cJSON_AddStringToObject(one, "unit", "1");
        cJSON_AddStringToObject(
            one, "how",
            "standard deviation of the logarithm, beside the cell's own "
            "interval, when the nearest GPU of the generation, or of another, "
            "stands in: how far whole cells of GPUs left out are off, and at "
            "least what lets 90 % of their rows lie inside; a typical figure "
            "where there are no such rows");
        cJSON_AddNumberToObject(one, "rows_generation", rows[i][0]);
        cJSON_AddNumberToObject(one, "rows_other", rows[i][1]);
    }
}

static enum msim_status write_common(const struct msim_shared_fit *k,
                                     const char *path, struct msim_error *err)
{
    struct msim_shared_laws common = {0};
    uint32_t rows[MSIM_SHARED_LAWS][2] = {{0}};
    cJSON *o = cJSON_CreateObject();
    enum msim_status status = o ? MSIM_OK : MSIM_ENOMEM;

    cJSON_AddStringToObject(o, "schema", "mystique-sim/laws/1");
    if (status == MSIM_OK)
        status = msim_shared_fit_laws(k, -1, &common);
    if (status == MSIM_OK)
        status = msim_cross_validate_sds(k, -1, &common, rows);
    if (status == MSIM_OK) {
        add_sds(o, &common, rows);
        status = add_fits(o, k, &common);
    }
    if (status == MSIM_OK)
        status = msim_tree_renew(o, path, err);
    msim_shared_laws_release(&common);
    cJSON_Delete(o);
    return status;
}

static enum msim_status write_report(const struct msim_shared_fit *k,
                                     FILE *report)
{
    fputs(MSIM_CROSS_VALIDATE_HEADER, report);
    MSIM_TRY(msim_cross_validate(k, MSIM_WITHOUT_GPU, report));
    return msim_cross_validate(k, MSIM_WITHOUT_GENERATION, report);
}

static enum msim_status fit(const struct msim_samples *s, const cJSON *sheets,
                            char **argv, FILE *report, struct msim_error *err)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct msim_shared_fit k;
    enum msim_status status = msim_shared_fit_init(
        &k, cJSON_GetObjectItemCaseSensitive(sheets, "platforms"), argv[2], s,
        err);

    if (status == MSIM_OK)
        status = msim_shared_fit_run(&k, cores > 1 ? (uint32_t)cores : 1);
    if (status == MSIM_OK)
        status = write_common(&k, argv[3], err);
    if (status == MSIM_OK && report)
        status = write_report(&k, report);
    msim_shared_fit_release(&k);
    return status;
}

static enum msim_status run(char **argv, FILE *report, struct msim_error *err)
{
    struct msim_samples s;
    cJSON *sheets = NULL;
    char path[1024];
    enum msim_status status = msim_samples_init(&s);

    snprintf(path, sizeof(path), "%s/platforms/src/datasheets.json", argv[2]);
    if (status == MSIM_OK)
        status = msim_json_read(&sheets, path, err);
    if (status == MSIM_OK)
        status = msim_tables_read(&s, argv[1], &(struct msim_tables){0}, err);
    if (status == MSIM_OK)
        status = fit(&s, sheets, argv, report, err);
    cJSON_Delete(sheets);
    msim_samples_release(&s);
    return status;
}

int main(int argc, char **argv)
{
    struct msim_error err = {0};
    FILE *report = NULL;
    enum msim_status status;

    (void)gsl_set_error_handler_off();
    if (argc != 4 && argc != 5) {
        fprintf(
            stderr,
            "usage: msim-fit-shared TABLES DATA COMMON.json [REPORT.csv]\n");
        return 2;
    }
    if (argc == 5 && !(report = fopen(argv[4], "w"))) {
        msim_print(stderr, "msim-fit-shared: '%s' cannot be written\n",
                   argv[4]);
        return 3;
    }
    status = run(argv, report, &err);
    if (report && fclose(report) != 0 && status == MSIM_OK)
        status = MSIM_EIO;
    return msim_program_end(stderr, "msim-fit-shared", status, &err);
}
