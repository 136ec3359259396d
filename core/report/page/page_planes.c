/*
 * core/report/page/page_planes.c - a period as a function of factors.
 */
#include "core/report/page/page.h"

#include <stdlib.h>

double msim_planes_period(const struct msim_planes *p,
                          const double factors[MSIM_PLANE_CLASSES])
{
    double most = 0;

    for (uint32_t i = 0; i < p->n; i++) {
        double us = p->planes[i].constant;

        for (int k = 0; k < MSIM_PLANE_CLASSES; k++)
            us += p->planes[i].us[k] * factors[k];
        most = us > most ? us : most;
    }
    return most;
}

void msim_planes_release(struct msim_planes *p)
{
    free(p->planes);
    *p = (struct msim_planes){.n = 0};
}
