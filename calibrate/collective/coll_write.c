/*
 * calibrate/collective/coll_write.c - what files and reports hold of fitted
 * collectives beside their fits.
 */
#include "calibrate/collective/coll_fit.h"

#include "calibrate/fit/law_fit.h"

enum msim_status msim_coll_logs_write(cJSON *fits,
                                      const struct msim_coll_fits *all,
                                      const struct msim_coll_fit_result *c)
{
    cJSON *fit = cJSON_GetArrayItem(fits, cJSON_GetArraySize(fits) - 1);
    cJSON *logs = NULL;

    for (uint32_t i = 0; i < all->points.n_logs; i++) {
        const struct msim_coll_log *from = &all->points.logs[i];
        cJSON *o;

        if (&all->fits[from->group] != c)
            continue;
        if (!logs)
            logs = cJSON_AddArrayToObject(fit, "logs");
        o = cJSON_CreateObject();
        if (!logs || !o || !cJSON_AddItemToArray(logs, o))
            return MSIM_ENOMEM;
        cJSON_AddStringToObject(o, "version",
                                from->version ? from->version : "");
        cJSON_AddStringToObject(o, "setting", from->setting);
        cJSON_AddNumberToObject(o, "rows", from->rows);
        msim_number_add(o, "factor", from->factor);
        cJSON_AddBoolToObject(o, "misconfigured", from->misconfigured);
    }
    return MSIM_OK;
}

static const char *const FAMILIES[MSIM_COLL_HOLDOUTS] = {
    [MSIM_COLL_HOLD_OUT_RANKS] = "collective",
    [MSIM_COLL_HOLD_OUT_SIZES] = "collective_sizes",
    [MSIM_COLL_HOLD_OUT_CLUSTER] = "collective_cluster",
    [MSIM_COLL_HOLD_OUT_GPU] = "collective_gpu",
};

enum msim_status msim_coll_rows_write(struct msim_file *out,
                                      const char *platform,
                                      const struct msim_coll_fits *all,
                                      const struct msim_coll_fit_result *c)
{
    const struct msim_coll_points *p = &all->points;

    for (int what = 0; what < MSIM_COLL_HOLDOUTS; what++)
        for (uint32_t i = 0; i < p->n_targets; i++)
            if (&all->fits[p->points[p->targets[i].point].group] == c)
                MSIM_TRY(msim_held_out_row_write(out, platform, FAMILIES[what],
                                                 p->targets[i].row,
                                                 &all->held_out[what][i]));
    return MSIM_OK;
}

void msim_coll_report(FILE *out, const char *platform,
                      const struct msim_sample *first,
                      const struct msim_coll_fit_result *c)
{
    for (int i = 0; i < MSIM_COLL_HOLDOUTS; i++) {
        const struct msim_coll_score *v = &c->scores[i];
        struct msim_fit_result f = c->fit;

        if (v->rows == 0)
            continue;
        f.rows = v->rows;
        f.groups = v->groups;
        f.held_out = v->error;
        f.coverage = v->coverage;
        f.width = v->width;
        f.score = v->score;
        msim_fit_report(out, platform, FAMILIES[i], first, &f);
    }
}
