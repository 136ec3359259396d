/*
 * calibrate/machine/machine_text.c - comparisons as text.
 */
#include "calibrate/machine/machine.h"

#include "calibrate/machine/machine_internal.h"
#include "core/base/print.h"

#include <stdio.h>

static enum msim_status show_differences(FILE *out,
                                         const struct msim_cal_journal *j)
{
    struct msim_cal_differences d;

    MSIM_TRY(msim_cal_compare(&d, j));
    for (uint32_t i = 0; i < d.n; i++)
        msim_print(out,
                   "%s: %s takes x %.2f of %s's times (median of %u same "
                   "experiments; 80 %%: %.2f to %.2f)\n",
                   msim_table_text(d.list[i].table), d.list[i].backend,
                   d.list[i].median, d.list[i].other, d.list[i].pairs,
                   d.list[i].p10, d.list[i].p90);
    return MSIM_OK;
}

static void show_ratio(FILE *out, const struct msim_cal_counted *c,
                       const struct msim_cal_ratio *r, const char *what)
{
    if (r->n)
        msim_print(
            out,
            "%s: %s counted x %.2f of the %s that works assume (median of "
            "%u experiments; 80 %%: %.2f to %.2f)\n",
            msim_table_text(c->table), c->backend, r->median, what, r->n,
            r->p10, r->p90);
}

static enum msim_status show_counts(FILE *out, const struct msim_cal_journal *j)
{
    struct msim_cal_counts c;

    MSIM_TRY(msim_cal_count(&c, j));
    for (uint32_t i = 0; i < c.n; i++) {
        show_ratio(out, &c.list[i], &c.list[i].read, "bytes read");
        show_ratio(out, &c.list[i], &c.list[i].written, "bytes written");
        show_ratio(out, &c.list[i], &c.list[i].flops, "operations");
    }
    return MSIM_OK;
}

static enum msim_status show_concurrents(FILE *out,
                                         const struct msim_cal_journal *j)
{
    struct msim_cal_concurrents b;

    MSIM_TRY(msim_cal_concurrent(&b, j));
    if (b.all.n)
        fprintf(out,
                "computing: x %.2f as long beside a collective (median of %u "
                "experiments; 80 %%: %.2f to %.2f)\n",
                b.all.median, b.all.n, b.all.p10, b.all.p90);
    return MSIM_OK;
}

static enum msim_status show_sustained(FILE *out,
                                       const struct msim_cal_journal *j)
{
    struct msim_cal_sustained s;

    MSIM_TRY(msim_cal_sustain(&s, j));
    if (s.time.n)
        fprintf(out,
                "products: x %.2f as long back to back (median of %u; 80 %%: "
                "%.2f to %.2f)\n",
                s.time.median, s.time.n, s.time.p10, s.time.p90);
    return MSIM_OK;
}

enum msim_status msim_cal_show(FILE *out, const struct msim_cal_journal *j)
{
    MSIM_TRY(show_differences(out, j));
    MSIM_TRY(show_concurrents(out, j));
    MSIM_TRY(show_sustained(out, j));
    return show_counts(out, j);
}
