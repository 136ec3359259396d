/*
 * calibrate/programs/fit_factors_main.c - msim-fit-factors: by which factors
 * the laws of GPUs are off, and how uncertain they are then, from times of
 * whole programs.
 *
 *     msim-fit-factors PROGRAMS.csv FOLDER DATA OUT.json
 *
 * PROGRAMS.csv has a line for each time of a program on a GPU, with its trace
 * below FOLDER (scripts/accuracy/programs.py --list writes it); DATA is the
 * folder of platforms and laws; OUT.json is data/laws/programs.json. The errors
 * by the laws alone, with the factors, and with factors that were found without
 * the program go to standard output, and how many times are inside intervals
 * that were found without the program.
 */
#include "calibrate/factors/factor_fit.h"
#include "calibrate/fit/law_fit.h"
#include "calibrate/programs/program_end.h"
#include "calibrate/rows/samples.h"
#include "core/base/print.h"
#include "models/platform/platform_data.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>
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

/* The kinds of `kinds`, a bit each; none: nothing. */
static void add_by_rows(cJSON *o, uint32_t kinds)
{
    cJSON *all = kinds ? cJSON_AddArrayToObject(o, "by_rows") : NULL;

    for (int k = 0; k < MSIM_FACTOR_COUNT; k++)
        if (kinds >> k & 1)
            cJSON_AddItemToArray(
                all, cJSON_CreateString(msim_factor_text((enum msim_factor)k)));
}

/* Everything that is found of the platforms, one each. */
struct found {
    struct msim_factor_fit *fits;
    struct msim_program_factors *unknown;
    struct msim_spread_fit spread;
};

static enum msim_status add_platform(cJSON *all,
                                     const struct msim_program_sums *s,
                                     uint32_t platform, const char *data,
                                     struct msim_factor_fit *fit,
                                     struct msim_error *err)
{
    const char *name = s->platforms.text[platform];
    struct msim_platform *p;
    cJSON *o, *time;

    MSIM_TRY(msim_platform_load(&p, data, name, err));
    MSIM_TRY(
        msim_factor_fit_make(fit, s, platform, msim_factor_kinds_with_rows(p)));
    o = cJSON_AddObjectToObject(all, p->name);
    cJSON_AddStringToObject(o, "generation", p->sheet.generation);
    cJSON_AddNumberToObject(o, "tensor", msim_factor_tensor(&p->sheet));
    add_by_rows(o, msim_factor_kinds_with_rows(p));
    msim_platform_free(p);
    add_sources(o, s, platform);
    cJSON_AddNumberToObject(o, "times", fit->rows);
    cJSON_AddNumberToObject(o, "programs", fit->groups);
    msim_number_add(o, "error_laws", fit->error_laws);
    msim_number_add(o, "error_fitted", fit->error_fitted);
    msim_number_add(o, "error_held_out", fit->error_held_out);
    time = cJSON_AddObjectToObject(o, "time");
    for (int k = 0; k < MSIM_FACTOR_COUNT; k++)
        if (fit->share[k] > 0)
            msim_number_add(time, msim_factor_text((enum msim_factor)k),
                            round(fit->time[k] * 1000) / 1000);
    msim_print(
        stdout,
        "%-18s %4u times of %3u programs: mean error %.1f %% by the laws, "
        "%.1f %% with factors, %.1f %% held out\n",
        name, fit->rows, fit->groups, 100 * fit->error_laws,
        100 * fit->error_fitted, 100 * fit->error_held_out);
    return MSIM_OK;
}

static enum msim_status add_factors(cJSON *json, struct found *f,
                                    const struct msim_program_sums *s,
                                    const char *data, struct msim_error *err)
{
    cJSON *all = cJSON_AddObjectToObject(json, "platforms"), *p;
    uint32_t i = 0;

    for (i = 0; i < s->platforms.n; i++)
        MSIM_TRY(add_platform(all, s, i, data, &f->fits[i], err));
    i = 0;
    cJSON_ArrayForEach(p, all)
    {
        MSIM_TRY(msim_program_factors_of_others(
            &f->unknown[i++], json, "these programs", p->string, err));
    }
    return MSIM_OK;
}

static enum msim_status add_spread(cJSON *json, struct found *f,
                                   const struct msim_program_sums *s)
{
    MSIM_TRY(msim_spread_fit_make(&f->spread, s, f->fits, f->unknown));
    MSIM_TRY(msim_spread_write(json, s, &f->spread));
    return msim_spread_report(stdout, s, &f->spread);
}

static enum msim_status add_all(cJSON *json, struct found *f,
                                const struct msim_program_sums *s,
                                const char *data, struct msim_error *err)
{
    f->fits = calloc((size_t)s->platforms.n + 1, sizeof(*f->fits));
    f->unknown = calloc((size_t)s->platforms.n + 1, sizeof(*f->unknown));
    if (!f->fits || !f->unknown)
        return MSIM_ENOMEM;
    cJSON_AddStringToObject(json, "schema", "mystique-sim/programs/1");
    cJSON_AddStringToObject(
        json, "how",
        "measured time of kinds of work over the time by the laws: least sum "
        "of Cauchy losses of the logarithm over programs, a pull of each "
        "factor to 1 (GSL, BFGS); held out: five times without a fifth of the "
        "programs");
    MSIM_TRY(add_factors(json, f, s, data, err));
    return add_spread(json, f, s);
}

static enum msim_status write_factors(const struct msim_program_sums *s,
                                      const char *data, const char *path,
                                      struct msim_error *err)
{
    struct found found = {0};
    cJSON *json = cJSON_CreateObject();
    enum msim_status status = add_all(json, &found, s, data, err);

    if (status == MSIM_OK)
        status = msim_tree_renew(json, path, err);
    cJSON_Delete(json);
    msim_spread_fit_release(&found.spread);
    free(found.fits);
    free(found.unknown);
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
    return msim_program_end(stderr, "msim-fit-factors", status, &err);
}
