/*
 * core/work/kernel_fact.h - figures of kernels: threads of a block, elements
 * a cycle, cycles of a step, sizes from which on a library takes another
 * kernel.
 *
 * Laws have formulas; each number that a formula needs is a row of
 * data/laws/kernels.csv, with its unit, source, and the GPUs and versions of
 * PyTorch that it holds for. A figure may have several rows: the first that
 * holds counts. Example: of
 *
 *     kernel,figure,value,unit,gpus,since,until,...
 *     nll_loss,step_us,0.1,us,,2.9,,...
 *     nll_loss,step_us,0.8,us,,,2.9,...
 *     nll_loss,step_us,0.35,us,,,,...
 *
 * MSIM_FACT(s, NLL_LOSS_STEP_US) is 0.1 with PyTorch 2.9, 0.8 with 2.5, and
 * 0.35 where `s` names no version.
 */
#ifndef MSIM_CORE_WORK_KERNEL_FACT_H
#define MSIM_CORE_WORK_KERNEL_FACT_H
#include "core/work/data_sheet.h"

#include <kernel_rows.h> /* cmake/kernel_rows.py */

struct msim_fact_row {
    double value;
    const char *gpus;    /* " a b ": generations; NULL: any, if not `amd` */
    double since, until; /* versions of PyTorch, the second one is not among
                            them; 0: any, or none is named */
    bool amd;            /* those of AMD, beside `gpus` */
    bool holds_for_some; /* it has one of these conditions */
    bool more;           /* the next row is of the same figure */
};

extern const struct msim_fact_row msim_fact_rows[];

/* The value of the first of a figure's rows that holds; 0: none does. */
double msim_fact_choose(const struct msim_data_sheet *s,
                        const struct msim_fact_row *row);

/* The value of a figure on GPU `s`; NULL: a figure that holds for all. */
static inline double msim_fact(const struct msim_data_sheet *s,
                               enum msim_fact_name name)
{
    const struct msim_fact_row *row = &msim_fact_rows[name];

    return row->holds_for_some ? msim_fact_choose(s, row) : row->value;
}

/* As in MSIM_FACT(s, POOL_TAPS). */
#define MSIM_FACT(s, name) msim_fact(s, MSIM_FACT_##name)

/* The clock of the SMs, cycles a second; typical where it is not known. */
static inline double msim_kernel_hz(const struct msim_data_sheet *s)
{
    return s->clock_hz > 0 ? s->clock_hz : MSIM_FACT(NULL, SM_CLOCK_HZ);
}

#endif
