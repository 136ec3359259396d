/*
 * predict/scenario/scenario.h - changes to a traced job, as a file, and what
 * each of them makes of it.
 *
 *     {"scenarios": [
 *        {"name": "faster kernels",
 *         "changes": [{"scale": {"select": "kernels", "factor": 0.5}}]},
 *        {"name": "on h100, no dropout",
 *         "changes": [{"gpu": "h100"},
 *                     {"remove": {"select": "op:aten::dropout*"}}]}]}
 *
 * A change has one member:
 *     scale    durations of `select` (core/run/scale.h) times `factor`
 *     speedup  the same, divided by `factor`
 *     remove   `select` takes no time
 *     straggler  kernels, copies and host of "rank" take "factor" times as
 *              long; or each rank its own, of a distribution with "sigma"
 *     insert, replace, fuse, overlap, quantise_comms
 *              predict/edit
 *     loader   the main thread's data loading takes "milliseconds" a step
 *     cuda_graph  true, or a GLOB: the host's time, or that of such operators,
 *              is gone
 *     gpu, network, host                 a name or a file, as --platform, ...
 *     nodes, ranks                       numbers, as --nodes, --ranks
 *     clock, power_cap                   texts, as --clock, --power-cap
 *     batch    a number, or {"from", "to"}: core/reshape
 *     reshape  {"from", "to"}: every size of "from" but those of weights
 *     hidden, heads, ffn, vocab          of the model, likewise:
 *              core/reshape/reshape.h
 *     dtype    "bf16" or "fp16", of what is fp32 outside optimizers; "amp_"
 *              before it: autocast
 *     layers   how many blocks of layers there are, or {"block", "to"}:
 *              core/rewrite
 *     recompute  "full", {"every": n} or a GLOB of operators
 *     accumulate  micro batches of a step
 *     world    ranks of data parallel
 *     shard    how they share the model: a word, or {"strategy", "bucket_mb",
 *              "gradient_as_bucket_view", "mixed_precision"}
 *     parallel  how ranks split the model: {"tp", "pp", "vp", "dp",
 *              "micro_batches", "schedule", "sequence_parallel"}
 *     offload  "optimizer", "activations"
 *     optimizer_bits  8, of its states
 *     optimizer_in_backward  true: a parameter is updated in backward
 *
 * Changes of one scenario go together, in whatever order they stand.
 */
#ifndef MSIM_PREDICT_SCENARIO_SCENARIO_H
#define MSIM_PREDICT_SCENARIO_SCENARIO_H
#include "predict/edit/edit.h"
#include "predict/pipeline.h"
#include "predict/scenario/list/scenario_list.h"
#include "predict/shelf.h"

/* What the main thread waits for its data in, as PyTorch marks it. */
#define MSIM_SCENARIO_LOADER "host:enumerate(DataLoader)*"

/* What a scenario of a file asks, as hashes of its changes: those of which more
 * takes no less, and all others (predict/scenario/scenario_guard.h). */
#define MSIM_SCENARIO_AXES 3
struct msim_scenario_asks {
    uint64_t of[MSIM_SCENARIO_AXES], rest;
};

struct msim_scenario_row {
    const char *name; /* the file's */
    struct msim_scenario_asks asks;
    struct msim_predict_settings settings;
    struct msim_scale *scales; /* the settings' */
    struct msim_edit *edits;   /* of the graph */
    uint32_t n_edits;
    bool other_target;              /* another machine than the base's */
    double loader_ms;               /* data loading of a step; 0: as it is */
    char reason[256];               /* why the job cannot be predicted so; "" */
    char doubt[MSIM_RESHAPE_DOUBT]; /* what is not sure of its sizes; "" */
    /* Of a ranking alone: what kind of part `name` selects, and how long that
     * takes in one iteration of the rank where it is longest; NULL: not
     * ranked. */
    const char *group;
    double work_us;
    /* Of the job so changed; all NAN where there is a reason. */
    struct msim_figure period, iteration, kernels;
    struct msim_figure ratio; /* of periods, to the base; nothing measured */
    double transfer_us, wait_us, mfu;
    msim_guard_marks marks; /* guards that it trips */
    struct msim_breakdown breakdown;
    struct msim_step_note step;     /* of a described job */
    struct msim_memory_note memory; /* without a time line */
    double usage[MSIM_USAGES];      /* means over GPUs; where settings.usage */
    struct msim_arena *arena;       /* of all scenarios */
    struct msim_kernel_row *kernels_by; /* by name, most time first; NULL where
                                           they are not asked for */
    uint32_t n_kernels_by;
};

struct msim_scenarios {
    struct msim_arena arena; /* texts */
    bool kernels;            /* rows list kernels by name */
    struct msim_scenario_row base, *rows;
    uint32_t n;
    bool ranked;                    /* by msim_scenarios_rank() */
    struct msim_scenario_grid grid; /* of the file */
    bool from_file;                 /* rows have `asks` */
    struct msim_guard_count marked; /* base and rows that trip guards */
    struct msim_shelf shelf;
    const struct msim_file_info *files; /* of the job, which outlives them */
    uint32_t n_files;
    bool own_hosts; /* a GPU stands beside a host as old as it, as jobs that
                       were run; else beside the base's */
};

/*
 * Read the scenarios of `from` as changes to `s`. EFORMAT names the member by
 * its path, what was found and what is accepted. Release in any case; `s` must
 * live as long.
 */
MSIM_MUST_CHECK
enum msim_status msim_scenarios_read(struct msim_scenarios *out,
                                     const struct msim_scenario_source *from,
                                     const struct msim_predict_settings *s,
                                     struct msim_error *err);
void msim_scenarios_release(struct msim_scenarios *s);

/*
 * Predict the base and every scenario. Those that change durations alone share
 * one graph. What a trace cannot support gets a reason and does not stop the
 * others.
 */
MSIM_MUST_CHECK
enum msim_status msim_scenarios_run(struct msim_scenarios *s,
                                    const struct msim_inputs *in,
                                    const struct msim_target *to,
                                    struct msim_error *err);

/*
 * One scenario on a target and a graph of its own, with what is left to be done
 * in `settings` (scenario_inputs.h): its figures, but the ratio; there is no
 * base. `row->arena` is that of all scenarios.
 */
MSIM_MUST_CHECK
enum msim_status
msim_scenario_run_alone(struct msim_scenario_row *row,
                        const struct msim_predict_settings *settings,
                        const struct msim_inputs *in, struct msim_error *err);

/*
 * Scenarios of our own, predicted: a tenth less of each kind of work, family of
 * operators, stream, link and part of the host, and of the operators with the
 * most time on the GPU and on the host; those that shorten the period, most
 * first. Release `out` in any case.
 */
MSIM_MUST_CHECK
enum msim_status
msim_scenarios_rank(struct msim_scenarios *out,
                    const struct msim_predict_settings *settings,
                    const struct msim_inputs *in, const struct msim_target *to,
                    struct msim_error *err);

/* How much of its work the period waits for: what a tenth less of it gains,
 * over that tenth. 1: all of it; 0: it hides behind other work. */
double msim_scenario_exposed(const struct msim_scenarios *s,
                             const struct msim_scenario_row *row);

/* As text, JSON (schema mystique-sim/whatif/1) or CSV. A ranking has columns of
 * its own. */
void msim_scenarios_text(const struct msim_scenarios *s, FILE *out);
MSIM_MUST_CHECK
enum msim_status msim_scenarios_json(const struct msim_scenarios *s, FILE *out);
void msim_scenarios_csv(const struct msim_scenarios *s, FILE *out);

#endif
