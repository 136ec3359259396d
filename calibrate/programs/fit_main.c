/*
 * calibrate/programs/fit_main.c - msim-fit: platform files from tables of
 * measured times.
 *
 *     msim-fit [--only TABLE]... [--rows ROWS.csv.gz] [--collectives FILE]
 *              TABLES SHEETS OUT [REPORT.csv]
 *
 * TABLES is a folder with gemm.csv.gz, attention.csv.gz, vector.csv.gz,
 * collective.csv.gz, conv.csv.gz, moe.csv.gz and expert_dispatch.csv.gz, SHEETS
 * the hand-written data-sheet file, OUT the folder of the platform files. Equal
 * input gives equal bytes. FILE has the constants that collectives are fitted
 * with; without it laws/collectives.json of the data folder that SHEETS is in,
 * as platforms/src/NAME. REPORT.csv gets a line for each fit: rows, errors on
 * rows fitted on and on held-out rows, and scores of the intervals. With
 * --only, which may be repeated, these tables are fitted again, and all else
 * stays in OUT and REPORT.csv. ROWS gets each row that was fitted again, with
 * its prediction by a fit without its group.
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

struct command {
    const char *tables, *sheets, *out;
    const char *report, *rows, *collectives; /* may be NULL */
    struct msim_tables only;
};

static enum msim_status write_json(const cJSON *json, const char *folder,
                                   const char *name, struct msim_error *err)
{
    char path[1024];

    snprintf(path, sizeof(path), "%s/%s.json", folder, name);
    return msim_tree_renew(json, path, err);
}

/* Keep the fits of other tables in the platform's file, if there is one. */
static enum msim_status keep_rest(cJSON *json, const char *folder,
                                  const char *name,
                                  const struct msim_samples *s,
                                  struct msim_error *err)
{
    char path[1024];
    cJSON *old;
    enum msim_status status;

    snprintf(path, sizeof(path), "%s/%s.json", folder, name);
    if (access(path, F_OK) != 0)
        return MSIM_OK;
    MSIM_TRY(msim_json_read(&old, path, err));
    status = msim_platform_merge(json, old, s);
    cJSON_Delete(old);
    return status;
}

static enum msim_status fit_one(const struct command *c, const cJSON *sheet,
                                const struct msim_samples *s,
                                const struct msim_fit_options *options,
                                struct msim_error *err)
{
    const char *name = msim_json_get_text(sheet, "name");
    cJSON *json;
    enum msim_status status;

    msim_print(stderr, "msim-fit: %s\n", name ? name : "");
    MSIM_TRY(msim_platform_fit(&json, sheet, c->sheets, s, options, err));
    status = c->only.some ? keep_rest(json, c->out, name, s, err) : MSIM_OK;
    if (status == MSIM_OK)
        status = write_json(json, c->out, name, err);
    cJSON_Delete(json);
    return status;
}

static enum msim_status read_constants(struct msim_coll_constants *out,
                                       const struct command *c,
                                       struct msim_error *err)
{
    const char *name = strrchr(c->sheets, '/');
    char path[1024];

    if (c->collectives)
        return msim_coll_constants_read(out, c->collectives, err);
    snprintf(path, sizeof(path), "%.*s../../laws/collectives.json",
             name ? (int)(name + 1 - c->sheets) : 0, c->sheets);
    return msim_coll_constants_read(out, path, err);
}

static enum msim_status fit_all(const struct command *c, const cJSON *sheets,
                                const struct msim_samples *s, FILE *report,
                                struct msim_file *rows, struct msim_error *err)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct msim_conv_ratios ratios;
    struct msim_coll_constants constants;
    struct msim_coll_fits collectives;
    struct msim_fit_options options = {
        .ratios = &ratios,
        .collectives = &collectives,
        .threads = cores > 1 ? (uint32_t)cores : 1,
        .report = report,
        .rows = rows,
    };
    enum msim_status status = MSIM_OK;
    const cJSON *sheet;

    msim_conv_ratios_make(&ratios, s);
    fprintf(stderr, "msim-fit: collectives of all platforms\n");
    MSIM_TRY(read_constants(&constants, c, err));
    MSIM_TRY(
        msim_coll_fit(&collectives, s, &constants, sheets, c->sheets, err));
    cJSON_ArrayForEach(sheet, sheets)
    {
        if (status == MSIM_OK)
            status = fit_one(c, sheet, s, &options, err);
    }
    msim_coll_fits_release(&collectives);
    return status;
}

/* Write the held-out rows, where they are wanted. */
static enum msim_status fit_and_keep(const struct command *c,
                                     const cJSON *sheets,
                                     const struct msim_samples *s, FILE *report,
                                     struct msim_error *err)
{
    struct msim_file *rows = NULL;
    enum msim_status status = MSIM_OK;

    if (c->rows) {
        MSIM_TRY(msim_file_open(&rows, c->rows,
                                &(struct msim_file_how){.gzip = true}, err));
        status = msim_held_out_header_write(rows);
    }
    if (status == MSIM_OK)
        status = fit_all(c, sheets, s, report, rows, err);
    return msim_file_close(rows, status, err);
}

static enum msim_status fit_and_report(const struct command *c,
                                       const cJSON *sheets,
                                       const struct msim_samples *s,
                                       struct msim_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *report = open_memstream(&text, &size);
    enum msim_status status =
        report ? fit_and_keep(c, sheets, s, report, err) : MSIM_ENOMEM;

    if (report && fclose(report) != 0 && status == MSIM_OK)
        status = MSIM_ENOMEM;
    if (status == MSIM_OK && c->report) {
        if (!c->only.some)
            (void)unlink(c->report);
        status = msim_report_merge(c->report, MSIM_FIT_REPORT_HEADER, text,
                                   sheets, s, err);
    }
    free(text);
    return status;
}

static enum msim_status run(const struct command *c, struct msim_error *err)
{
    struct msim_samples s;
    cJSON *sheets = NULL;
    enum msim_status status = msim_samples_init(&s);

    if (status == MSIM_OK)
        status = msim_json_read(&sheets, c->sheets, err);
    if (status == MSIM_OK)
        status = msim_tables_read(&s, c->tables, &c->only, err);
    if (status == MSIM_OK)
        status = fit_and_report(
            c, cJSON_GetObjectItemCaseSensitive(sheets, "platforms"), &s, err);
    cJSON_Delete(sheets);
    msim_samples_release(&s);
    return status;
}

/* Take the option and its value at `argv`; false where it is none. */
static bool take_option(struct command *c, char **argv)
{
    struct msim_error err = {0};

    if (strcmp(argv[0], "--rows") == 0) {
        c->rows = argv[1];
        return true;
    }
    if (strcmp(argv[0], "--collectives") == 0) {
        c->collectives = argv[1];
        return true;
    }
    if (strcmp(argv[0], "--only") != 0)
        return false;
    if (msim_tables_choose(&c->only, argv[1], &err))
        return true;
    msim_print(stderr, "msim-fit: %s\n", err.text);
    return false;
}

static bool parse(struct command *c, int argc, char **argv)
{
    int i = 1;

    while (i + 1 < argc && strncmp(argv[i], "--", 2) == 0) {
        if (!take_option(c, argv + i))
            break;
        i += 2;
    }
    if ((argc - i != 3 && argc - i != 4) || strncmp(argv[i], "--", 2) == 0) {
        fprintf(stderr, "usage: msim-fit [--only TABLE]... "
                        "[--rows ROWS.csv.gz] [--collectives FILE] TABLES "
                        "SHEETS OUT [REPORT.csv]\n");
        return false;
    }
    c->tables = argv[i];
    c->sheets = argv[i + 1];
    c->out = argv[i + 2];
    c->report = argc - i == 4 ? argv[i + 3] : NULL;
    return true;
}

int main(int argc, char **argv)
{
    struct msim_error err = {0};
    struct command c = {0};
    enum msim_status status;

    (void)gsl_set_error_handler_off();
    if (!parse(&c, argc, argv))
        return 2;
    status = run(&c, &err);
    return msim_program_end(stderr, "msim-fit", status, &err);
}
