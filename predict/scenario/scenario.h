/*
 * predict/scenario/scenario.h - scenarios: changes to a traced job, each
 * predicted; how a kind of change is read.
 */
#ifndef MSIM_PREDICT_SCENARIO_SCENARIO_H
#define MSIM_PREDICT_SCENARIO_SCENARIO_H
#include "core/json/fields.h"
#include "predict/edit/edit.h"
#include "predict/inputs.h"
#include "predict/pipeline.h"
#include "predict/scenario/list/scenario_list.h"

/* ---- scenario ------------------------------------------------------------ */
/*
 * Changes to a traced job, as a file, and what each of them makes of it.
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

/* What the main thread waits for its data in, as PyTorch marks it. */
#define MSIM_SCENARIO_LOADER "host:enumerate(DataLoader)*"

/* What a scenario of a file asks, as hashes of its changes: those of which more
 * takes no less, and all others (predict/scenario/scenario_guard.c). */
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
 * in `settings` ("scenario inputs"): its figures, but the ratio; there is no
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

/* ---- scenario inputs ----------------------------------------------------- */
/*
 * The traces of a scenario that trains in another way: those of the job, first
 * with other sizes, then rewritten.
 *
 * Where the job has GPU times, its traces are the source of corrections, as
 * with --source-trace: what is rewritten has none of its own.
 */

struct msim_scenario_inputs {
    struct msim_inputs in; /* job and traces are its own, all else is the
                              base's */
    struct msim_job job;
    struct msim_origin origin;
    struct msim_predict_settings settings; /* what is left to be done */
};

/* `in` must live as long. Release in any case. EUSAGE where a trace cannot be
 * changed so; ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_scenario_inputs_new(struct msim_scenario_inputs *out,
                                          const struct msim_inputs *in,
                                          const struct msim_predict_settings *s,
                                          struct msim_error *err);
void msim_scenario_inputs_release(struct msim_scenario_inputs *x);

/* ---- scenario alone ------------------------------------------------------ */
/*
 * One scenario without a base, in stages, so that who asks can stop at its
 * memory.
 *
 *     msim_scenario_alone_begin()    its traces; says why they cannot be made
 *     msim_scenario_alone_memory()   what they hold
 *     msim_scenario_alone_run()      its figures
 *
 * For scenarios that have another target or another way to train, as rows of
 * tables do; factors and edits of a shared graph are not looked at.
 *
 * Not thread-safe on shared inputs, as predict/pipeline.h says.
 */

struct msim_scenario_alone {
    struct msim_scenario_row *row;
    struct msim_scenario_inputs x; /* of another way to train */
    const struct msim_inputs *in;  /* x's, or the caller's */
    const struct msim_predict_settings *settings;
};

/* `row` and `in` live as long. End it in any case. EUSAGE where a trace cannot
 * be changed so. */
MSIM_MUST_CHECK
enum msim_status msim_scenario_alone_begin(struct msim_scenario_alone *out,
                                           struct msim_scenario_row *row,
                                           const struct msim_inputs *in,
                                           struct msim_error *err);
void msim_scenario_alone_end(struct msim_scenario_alone *a);

/* What the rank that holds most holds on `platform`; all NAN where no execution
 * trace says it. */
MSIM_MUST_CHECK
enum msim_status
msim_scenario_alone_memory(const struct msim_scenario_alone *a,
                           const struct msim_platform *platform,
                           struct msim_held_most *out, struct msim_error *err);

/* The row's figures. */
MSIM_MUST_CHECK
enum msim_status msim_scenario_alone_run(const struct msim_scenario_alone *a,
                                         struct msim_error *err);

/* ---- change -------------------------------------------------------------- */
/*
 * One change of a scenario, from its member in the file to the settings of its
 * row.
 *
 * A kind of change is a name and a function that reads it:
 *
 *     {"clock": "1100"}     "clock" finds the function, which reads the member
 *                           and sets row->settings.clock
 *
 * A new kind is a line of the table in change_kinds.c and a function in the
 * file of its theme (change_THEME.c). A member that is wrong is refused by its
 * path through msim_field_refuse(); the first failure stays.
 */

#define MSIM_CHANGE_SCALES 64 /* of one scenario */
#define MSIM_CHANGE_EDITS  32

/* What reading one scenario shares. */
struct msim_change_reader {
    struct msim_scenarios *all;
    struct msim_scenario_row *row;
    struct msim_fields *f; /* of the change */
    uint64_t seen;         /* kinds of the row that may be there once */
};

/* ---- rows, for whoever reads changes ------------------------------------- */

/* Room for `n` scenarios as changes to `s`; release them in any case. */
MSIM_MUST_CHECK
enum msim_status msim_change_rows(struct msim_change_reader *r, uint32_t n,
                                  const struct msim_predict_settings *s);
/* Begin row `index`, the one after the last: changes are read into it. */
MSIM_MUST_CHECK
enum msim_status msim_change_begin(struct msim_change_reader *r, uint32_t index,
                                   const char *name);
/* No further changes: put them into the order in which they are applied. */
void msim_change_end(struct msim_change_reader *r);

/* ---- what kinds share ---------------------------------------------------- */

/* A copy in the scenarios' arena; NULL where there is no memory. */
const char *msim_change_text(struct msim_change_reader *r, const char *text);

/* The object that a change is; refused as `want` where it is none. Close it
 * with msim_fields_close(). */
struct msim_fields msim_change_open(struct msim_change_reader *r,
                                    const char *key, const char *want);

/* `key` of `in`, where two changes of the scenario do not go together: refused
 * as `want`. Of a grid it is the reason of the point at hand: other points have
 * other values. */
void msim_change_contradicts(struct msim_change_reader *r,
                             struct msim_fields *in, const char *key,
                             const char *want);

/* Another edit of the row, of the change `key`; NULL where there are too
 * many. */
struct msim_edit *msim_change_edit(struct msim_change_reader *r,
                                   const char *key, enum msim_edit_kind kind);

/* ---- kinds by theme ------------------------------------------------------ */

/* Reads the change `key` of `r->f` into `r->row`. */
typedef void msim_change_read_fn(struct msim_change_reader *r, const char *key);

/* change.c: what no trace can answer. */
msim_change_read_fn msim_change_read_described;
/* change_durations.c */
msim_change_read_fn msim_change_read_scale, msim_change_read_straggler,
    msim_change_read_loader, msim_change_read_cuda_graph;
/* change_graph.c */
msim_change_read_fn msim_change_read_insert, msim_change_read_replace,
    msim_change_read_fuse, msim_change_read_overlap,
    msim_change_read_quantise_comms;
/* change_machine.c */
msim_change_read_fn msim_change_read_gpu, msim_change_read_network,
    msim_change_read_host, msim_change_read_nodes, msim_change_read_ranks,
    msim_change_read_clock;
/* change_sizes.c */
msim_change_read_fn msim_change_read_batch, msim_change_read_reshape,
    msim_change_read_model_size, msim_change_read_dtype;
/* change_training.c */
msim_change_read_fn msim_change_read_layers, msim_change_read_recompute,
    msim_change_read_accumulate, msim_change_read_world, msim_change_read_shard,
    msim_change_read_offload, msim_change_read_optimizer_bits,
    msim_change_read_in_backward, msim_change_read_parallel;

/* ---- change kinds -------------------------------------------------------- */
/* All kinds of changes. */

/* The names of all kinds; the end is NULL. */
extern const char *const msim_change_names[];

/* Read the change `key` of `r->f`, one of the names. */
void msim_change_read(struct msim_change_reader *r, const char *key);

#endif
