/*
 * calibrate/programs/fit_factors_main.c - msim-fit-factors: by which factors
 * the laws of GPUs are off, from times of whole programs.
 *
 *     msim-fit-factors PROGRAMS.csv FOLDER DATA OUT.json
 *
 * PROGRAMS.csv has a line for each time of a program on a GPU, with its trace
 * below FOLDER (scripts/accuracy/programs.py --list writes it); DATA is the
 * folder of platforms and laws; OUT.json is data/laws/programs.json. The errors
 * by the laws alone, with the factors, and with factors that were found without
 * the program go to standard output.
 */
#include "calibrate/factors/factor_fit.h"
#include "calibrate/fit/fit_write.h"
#include "calibrate/rows/tables.h"
#include "models/platform/platform_data.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

static void add_sources(cJSON *o, const struct msim_program_sums *s,
                        uint32_t platform)
{
    cJSON *sources = cJSON_AddArrayToObject(o, "sources");

    for (uint32_t k = 0; k < s->sources.n; k++)
        for (uint32_t i = 0; i < s->n; i++)
            if (s->rows[i].platform == platform && s->rows[i].source == k) {
                cJSON_AddItemToArray(sources,
                                     cJSON_CreateString(s->sources.text[k]));
                break;
            }
}

static enum msim_status add_platform(cJSON *all,
                                     const struct msim_program_sums *s,
                                     uint32_t platform, const char *data,
                                     struct msim_error *err)
{
    const char *name = s->platforms.text[platform];
    struct msim_factor_fit fit;
    struct msim_platform *p;
    cJSON *o, *time;

    MSIM_TRY(msim_platform_load(&p, data, name, err));
    MSIM_TRY(msim_factor_fit_make(&fit, s, platform,
                                  msim_factor_kinds_with_rows(p)));
    o = cJSON_AddObjectToObject(all, p->name);
    cJSON_AddStringToObject(o, "generation", p->generation);
    msim_platform_free(p);
    add_sources(o, s, platform);
    cJSON_AddNumberToObject(o, "times", fit.rows);
    cJSON_AddNumberToObject(o, "programs", fit.groups);
    msim_number_add(o, "error_laws", fit.error_laws);
    msim_number_add(o, "error_fitted", fit.error_fitted);
    msim_number_add(o, "error_held_out", fit.error_held_out);
    time = cJSON_AddObjectToObject(o, "time");
    for (int k = 0; k < MSIM_FACTOR_COUNT; k++)
        if (fit.share[k] > 0)
            msim_number_add(time, msim_factor_text((enum msim_factor)k),
                            round(fit.time[k] * 1000) / 1000);
    printf("%-18s %4u times of %3u programs: mean error %.1f %% by the laws, "
           "%.1f %% with factors, %.1f %% held out\n",
           name, fit.rows, fit.groups, 100 * fit.error_laws,
           100 * fit.error_fitted, 100 * fit.error_held_out);
    return MSIM_OK;
}

static enum msim_status write_factors(const struct msim_program_sums *s,
                                      const char *data, const char *path,
                                      struct msim_error *err)
{
    enum msim_status status = MSIM_OK;
    cJSON *o = cJSON_CreateObject(), *all;

    cJSON_AddStringToObject(o, "schema", "mystique-sim/programs/1");
    cJSON_AddStringToObject(
        o, "how",
        "measured time of kinds of work over the time by the laws: least sum "
        "of Cauchy losses of the logarithm over programs, a pull of each "
        "factor "
        "to 1 (GSL, BFGS); "
        "held out: five times without a fifth of the programs");
    all = cJSON_AddObjectToObject(o, "platforms");
    for (uint32_t p = 0; p < s->platforms.n && status == MSIM_OK; p++)
        status = add_platform(all, s, p, data, err);
    if (status == MSIM_OK)
        status = msim_tree_write(o, path, err);
    cJSON_Delete(o);
    return status;
}

int main(int argc, char **argv)
{
    struct msim_program_sums sums;
    struct msim_error err = {0};
    enum msim_status status;

    (void)gsl_set_error_handler_off();
    if (argc != 5) {
        fprintf(stderr, "usage: msim-fit-factors PROGRAMS.csv FOLDER DATA "
                        "OUT.json\n");
        return 2;
    }
    status = msim_program_sums_read(&sums, argv[1], argv[2], argv[3], &err);
    if (status == MSIM_OK)
        status = write_factors(&sums, argv[3], argv[4], &err);
    msim_program_sums_release(&sums);
    if (status == MSIM_OK)
        return 0;
    fprintf(stderr, "msim-fit-factors: %s%s%s\n", err.file,
            *err.file ? ": " : "",
            *err.text ? err.text : msim_status_text(status));
    return 3;
}
