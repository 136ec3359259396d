/*
 * calibrate/machine/ratio_table.c - median and deciles of ratios.
 */
#include "calibrate/machine/machine_internal.h"

#include "calibrate/fit/law_fit.h"
#include "core/base/containers.h"
#include "core/base/quantile.h"

#include <stdlib.h>

enum msim_status msim_cal_ratios_add(struct msim_cal_ratios *r, double ratio)
{
    MSIM_TRY(
        msim_grow((void **)&r->list, &r->capacity, r->n, sizeof(*r->list)));
    r->list[r->n++] = ratio;
    return MSIM_OK;
}

void msim_cal_ratios_release(struct msim_cal_ratios *r)
{
    free(r->list);
    *r = (struct msim_cal_ratios){.n = 0};
}

struct msim_cal_ratio msim_cal_ratio_of(const struct msim_cal_ratios *r)
{
    if (r->n == 0)
        return (struct msim_cal_ratio){.n = 0};
    msim_sort_values(r->list, r->n);
    return (struct msim_cal_ratio){
        .n = r->n,
        .median = msim_quantile(r->list, r->n, 0.5),
        .p10 = msim_quantile(r->list, r->n, 0.1),
        .p90 = msim_quantile(r->list, r->n, 0.9),
    };
}

void msim_cal_ratio_write(cJSON *o, const struct msim_cal_ratio *r)
{
    cJSON_AddNumberToObject(o, "experiments", r->n);
    msim_number_add(o, "median", r->median);
    msim_number_add(o, "p10", r->p10);
    msim_number_add(o, "p90", r->p90);
}
