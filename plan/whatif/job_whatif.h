/*
 * plan/whatif/job_whatif.h - scenarios of a described job, side by side, with
 * no trace.
 *
 *     {"scenarios": [
 *        {"name": "8 GPUs, FSDP", "changes": [{"world": 8}, {"shard":
 * "fsdp"}]},
 *        {"name": "QLoRA", "changes": [{"qlora": 64}]}]}
 *
 * The file is that of traced jobs (predict/scenario/list/scenario_list.h), with
 * changes of model splits, precision, memory techniques and fine-tuning
 * (plan/whatif/job_change.h). Each is predicted as a row of a table of jobs is.
 *
 * The ratio to the base has an interval of its own. A step consists of parts
 * (compute, host, collectives, ...), whose errors are taken as independent, and
 * as large as make the interval of the whole. With the shares v_i of the base
 * and w_i of the scenario, the variance of ln ratio is a sum over parts of
 *
 *     (w - v)^2                      where durations alone are scaled: the
 * error of a part is the same in both moved^2 + (more + less)^2 / 2  where
 * kernels keep their sizes: the error is common for what both have of a part,
 *                                    and by half for what is more or less
 *     ((w - v)^2 + w^2 + v^2) / 2    where sizes, precision or machine differ:
 *                                    it is common by half
 *
 * Of another network, parts that take as long as before count as the first,
 * others as the last: what a network does not carry is the same machine's.
 * So no change has the ratio 1 [1, 1]; jobs that differ in all have the ratio
 * that a plan gives to its runner-up.
 */
#ifndef MSIM_PLAN_WHATIF_JOB_WHATIF_H
#define MSIM_PLAN_WHATIF_JOB_WHATIF_H
#include "core/guard/guard.h"
#include "plan/memory/job_memory.h"
#include "plan/simulate/job_graph.h"
#include "plan/step/steps_file.h"
#include "plan/whatif/job_change.h"
#include "predict/scenario/list/scenario_list.h"

#include <stdio.h>

struct msim_job_scenario {
    char name[128];
    struct msim_job_change change;
    struct msim_strategy strategy; /* complete, where there is no reason */
    char reason[256];              /* why it cannot be predicted; "" */
    struct msim_step_estimate step;
    double ratio, ratio_low, ratio_high; /* to the base's step */
    double tokens_per_second, mfu;
    msim_guard_marks marks; /* guards that it trips */
    struct msim_job_memory memory;
    double capacity; /* bytes that programs get */
};

struct msim_job_whatif {
    struct msim_described model;
    char platform[256]; /* of the base */
    char assumed[256];  /* members of the base's strategy that nothing says */
    uint32_t given;     /* members that something says */
    struct msim_guard_count marked; /* base and rows that trip guards */
    struct msim_job_scenario base, *rows;
    uint32_t n;
    struct msim_scenario_grid grid; /* of the file */
    bool simulated;                 /* the base was asked for so, too */
    struct msim_job_graph graph;    /* of the base */
};

struct msim_job_question {
    struct msim_scenario_source scenarios;
    const char *model;    /* a name of data/models, or a file */
    const char *strategy; /* a file; NULL: one GPU */
    const char *platform; /* a name or a file */
    /* The same, of all scenarios that name none; NULL: the platforms' own. */
    const char *network;
    const char *data_dir;
    bool simulate; /* the base's graph by itself, too */
};

/*
 * Predict the base and every scenario. EFORMAT and EUSAGE where the base or the
 * file cannot be read; a scenario that the model cannot be trained by has its
 * reason. Release `out` in any case.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_whatif_run(struct msim_job_whatif *out,
                                     const struct msim_job_question *q,
                                     struct msim_error *err);
void msim_job_whatif_release(struct msim_job_whatif *w);

/* As text, JSON (schema mystique-sim/whatif/1), CSV or Markdown. */
void msim_job_whatif_text(const struct msim_job_whatif *w, FILE *out);
MSIM_MUST_CHECK
enum msim_status msim_job_whatif_json(const struct msim_job_whatif *w,
                                      FILE *out);
void msim_job_whatif_csv(const struct msim_job_whatif *w, FILE *out);
void msim_job_whatif_markdown(const struct msim_job_whatif *w, FILE *out);

#endif
