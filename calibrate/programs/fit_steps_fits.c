/*
 * calibrate/programs/fit_steps_fits.c - which jobs msim-fit-steps' memory fits
 * call fitting: of those that ran and those that failed.
 */
#include "calibrate/programs/fit_steps.h"
#include "core/base/csv.h"

#include <string.h>

enum split { ALL, MODEL, SOURCE, SPLITS };
#define REFUSED (MSIM_FITS_NO + 1)

/* Of one source, by split, by whether they failed. */
struct counts {
    char source[48];
    uint32_t n[SPLITS][2][REFUSED + 1];
};

#define SOURCES 16

struct counting {
    const struct msim_steps_run *run;
    struct counts of[SOURCES];
    uint32_t n;
};

static struct counts *counts_of(struct counting *k, const char *source)
{
    uint32_t i = 0;

    while (i < k->n && strcmp(k->of[i].source, source) != 0)
        i++;
    if (i == SOURCES)
        return NULL;
    if (i == k->n) {
        snprintf(k->of[i].source, sizeof(k->of[i].source), "%s", source);
        k->n++;
    }
    return &k->of[i];
}

static const struct msim_memory_fit *
fit_for(const struct msim_steps_run *r, enum split split, const char *model)
{
    for (uint32_t i = 0; split == MODEL && i < r->n_held; i++)
        if (strcmp(r->held[i].model, model) == 0)
            return &r->held[i].fit;
    return split == SOURCE ? &r->unseen : &r->memory;
}

static enum msim_status count(void *ctx, const struct msim_job_row *row,
                              const struct msim_job_priced *priced)
{
    struct counting *k = ctx;
    struct counts *c = counts_of(k, row->source ? row->source : "unnamed");

    for (int split = 0; c && split < SPLITS; split++) {
        int called = REFUSED;

        if (!*row->reason)
            called = (int)msim_job_memory_given(
                         row->model, &row->strategy, row->given,
                         fit_for(k->run, (enum split)split, row->model->name),
                         &priced->gpu)
                         .fits;
        c->n[split][row->failed][called]++;
    }
    return MSIM_OK;
}

static void write_counts(const struct counts *c, FILE *out)
{
    static const char *const TEXTS[SPLITS] = {"fit on all", "a model held out",
                                              "the source held out"};

    for (int split = 0; split < SPLITS; split++)
        for (int failed = 0; failed < 2; failed++) {
            const uint32_t *n = c->n[split][failed];
            uint32_t all = n[0] + n[1] + n[2] + n[3];

            if (all)
                msim_csv_print(out, "%s,%s,%s,%u,%u,%u,%u,%u\n", c->source,
                               TEXTS[split], failed ? "failed" : "ran", all,
                               n[MSIM_FITS_YES], n[MSIM_FITS_EDGE],
                               n[MSIM_FITS_NO], n[REFUSED]);
        }
}

enum msim_status msim_steps_count_fits(const struct msim_steps_run *r,
                                       char *const *tables, int n,
                                       const char *data_dir, const char *path,
                                       struct msim_error *err)
{
    struct counting k = {.run = r};
    FILE *out;

    for (int i = 0; i < n; i++)
        MSIM_TRY(msim_priced_rows_each(tables[i], data_dir, count, &k, err));
    out = fopen(path, "w");
    if (!out)
        return msim_fail(err, MSIM_EIO, path, MSIM_OFFSET_NONE,
                         "cannot be written");
    fputs("source,split,jobs,rows,yes,edge,no,refused\n", out);
    for (uint32_t i = 0; i < k.n; i++)
        write_counts(&k.of[i], out);
    return fclose(out) == 0 ? MSIM_OK
                            : msim_fail(err, MSIM_EIO, path, MSIM_OFFSET_NONE,
                                        "cannot be written");
}
