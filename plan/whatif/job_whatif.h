/*
 * plan/whatif/job_whatif.h - changes to a described job, each predicted,
 * compared, or written as traces.
 */
#ifndef MSIM_PLAN_WHATIF_JOB_WHATIF_H
#define MSIM_PLAN_WHATIF_JOB_WHATIF_H
#include "core/guard/guard.h"
#include "core/json/fields.h"
#include "plan/describe/describe.h"
#include "plan/describe/strategy.h"
#include "plan/memory/job_memory.h"
#include "plan/simulate/job_graph.h"
#include "plan/step/step_law.h"
#include "predict/scenario/list/scenario_list.h"
#include "predict/write/scenario_write.h"

#include <stdio.h>

/* ---- job change ---------------------------------------------------------- */
/*
 * What a scenario changes of a described job, before it is settled: so that the
 * order of changes does not matter.
 *
 *     {"world": 64}    wants 64 GPUs; what that makes of dp and the global
 *                      batch is settled when all changes are read
 *
 * A kind of change is a row of the table in job_change.c: its name and what
 * reads it. A member that is wrong is refused by its path; the first failure
 * stays.
 */

/* Factors of what a step consists of; 1: as it is. */
struct msim_job_factors {
    double kernels, communication, copies, host;
    double overlap; /* share of compute that hides exchanges; below 0: as it
                       is */
    bool graph;     /* no launches inside layers */
};

struct msim_job_change {
    struct msim_strategy strategy;    /* of the base, with members set */
    uint64_t given;                   /* members that changes set */
    char platform[256], network[256]; /* "": the base's */
    int64_t world;                    /* 0: not changed */
    struct msim_job_model model;
    struct msim_job_factors factors;
    char reason[256]; /* why no described job has such a change; "" */
};

/* The names of all kinds; the end is NULL. */
extern const char *const msim_job_change_names[];

/* Of the base. */
void msim_job_change_begin(struct msim_job_change *c,
                           const struct msim_strategy *base);
/* Read the change `key` of `f`, one of the names. */
void msim_job_change_read(struct msim_job_change *c, struct msim_fields *f,
                          const char *key);

/*
 * The strategy that the changes make of the complete `base`, of which `given`
 * was stated; not complete: `*now_given` says what is set. Data parallel ranks
 * follow from GPUs and splits. The global batch stays where the base states it;
 * else, and where `world` changes, every rank keeps its own.
 */
void msim_job_change_settle(struct msim_strategy *out, uint64_t *now_given,
                            const struct msim_job_change *c,
                            const struct msim_strategy *base, uint64_t given);

/* ---- job whatif ---------------------------------------------------------- */
/*
 * Scenarios of a described job, side by side, with no trace.
 *
 *     {"scenarios": [
 *        {"name": "8 GPUs, FSDP", "changes": [{"world": 8}, {"shard":
 * "fsdp"}]},
 *        {"name": "QLoRA", "changes": [{"qlora": 64}]}]}
 *
 * The file is that of traced jobs (predict/scenario/list/scenario_list.h), with
 * changes of model splits, precision, memory techniques and fine-tuning
 * ("job change"). Each is predicted as a row of a table of jobs is.
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
    uint64_t given;     /* members that something says */
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

/* ---- job write ----------------------------------------------------------- */
/*
 * Scenarios of a described job as what `synth` writes of each:
 * DIR/SCENARIO/rank-N.et.json and synth.json.
 */

/* As msim_scenarios_write_look(). */
MSIM_MUST_CHECK
enum msim_status msim_job_write_look(const struct msim_job_whatif *w,
                                     const char *dir, struct msim_error *err);

/* As msim_scenarios_write(); `source` is the model's file, JSON on one line. */
MSIM_MUST_CHECK
enum msim_status msim_jobs_write(struct msim_scenario_written **out,
                                 const struct msim_job_whatif *w,
                                 const char *source, const char *dir,
                                 struct msim_error *err);

#endif
