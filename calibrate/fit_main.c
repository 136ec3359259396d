/*
 * calibrate/fit_main.c - msim-fit: platform files from tables of measured
 * times.
 *
 *     msim-fit TABLES SHEETS OUT [REPORT.csv]
 *
 * TABLES is a folder with gemm.csv.gz, attention.csv.gz, vector.csv.gz,
 * collective.csv.gz, conv.csv.gz, moe.csv.gz and expert_dispatch.csv.gz, SHEETS
 * the hand-written data-sheet file, OUT the folder of the platform files. Equal
 * input gives equal bytes. The report has one line a cell: rows, errors on rows
 * fitted on and on rows held back, and how good the intervals are.
 */
#include "calibrate/cell_write.h"
#include "calibrate/platform_fit.h"
#include "calibrate/tables.h"

#include <gsl/gsl_errno.h>
#include <stdlib.h>
#include <unistd.h>

static enum msim_status write_json(const cJSON *json, const char *folder,
                                   const char *name, struct msim_error *err)
{
    char path[1024];

    snprintf(path, sizeof(path), "%s/%s.json", folder, name);
    return msim_tree_write(json, path, err);
}

static enum msim_status fit_all(const struct msim_samples *s,
                                const cJSON *sheets, char **argv, FILE *report,
                                struct msim_error *err)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(sheets, "platforms");
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct msim_conv_ratios ratios;
    struct msim_fit_options options = {.ratios = &ratios,
                                       .threads =
                                           cores > 1 ? (uint32_t)cores : 1,
                                       .report = report};
    const cJSON *sheet;

    msim_conv_ratios_make(&ratios, s);
    cJSON_ArrayForEach(sheet, all)
    {
        const char *name = msim_json_get_text(sheet, "name");
        cJSON *json;
        enum msim_status status;

        fprintf(stderr, "msim-fit: %s\n", name ? name : "");
        MSIM_TRY(
            msim_platform_fit(&json, sheet, all, argv[2], s, &options, err));
        status = write_json(json, argv[3], name, err);
        cJSON_Delete(json);
        if (status != MSIM_OK)
            return status;
    }
    return MSIM_OK;
}

static enum msim_status run(char **argv, FILE *report, struct msim_error *err)
{
    struct msim_samples s;
    cJSON *sheets = NULL;
    enum msim_status status = msim_samples_init(&s);

    if (status == MSIM_OK)
        status = msim_json_read(&sheets, argv[2], err);
    if (status == MSIM_OK)
        status = msim_tables_read(&s, argv[1], err);
    if (status == MSIM_OK)
        status = fit_all(&s, sheets, argv, report, err);
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
        fprintf(stderr, "usage: msim-fit TABLES SHEETS OUT [REPORT.csv]\n");
        return 2;
    }
    if (argc == 5) {
        report = fopen(argv[4], "w");
        if (!report) {
            fprintf(stderr, "msim-fit: '%s' cannot be written\n", argv[4]);
            return 3;
        }
        fputs(MSIM_CELL_REPORT_HEADER, report);
    }
    status = run(argv, report, &err);
    if (report && fclose(report) != 0 && status == MSIM_OK)
        status = MSIM_EIO;
    if (status == MSIM_OK)
        return 0;
    fprintf(stderr, "msim-fit: %s%s%s\n", err.file, *err.file ? ": " : "",
            *err.text ? err.text : msim_status_text(status));
    return 3;
}
