/*
 * plan/rows/job_prices.h - terms of jobs on platforms that are named row by
 * row: each platform is loaded once.
 */
#ifndef MSIM_PLAN_ROWS_JOB_PRICES_H
#define MSIM_PLAN_ROWS_JOB_PRICES_H
#include "plan/memory/job_memory.h"
#include "plan/rows/job_rows.h"
#include "plan/step/terms.h"

struct msim_job_prices {
    const char *data_dir;
    struct msim_job_platform *platforms; /* private */
    uint32_t n, cap;
};

void msim_job_prices_release(struct msim_job_prices *p);

/* What a job is priced from. */
struct msim_job_priced {
    const struct msim_platform *on; /* owned by struct msim_job_prices */
    struct msim_memory_gpu gpu;     /* what its memory follows from */
    struct msim_terms terms;
    char defaults[256]; /* what was assumed */
};

/*
 * Complete the row's strategy and price it on the platform it names, else on
 * `platform` (may be NULL). Where that cannot be done, `row->reason` says why,
 * and of `*out` the defaults alone can be used. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_price(struct msim_job_prices *p,
                                struct msim_job_row *row, const char *platform,
                                struct msim_job_priced *out);

#endif
