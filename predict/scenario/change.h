/*
 * predict/scenario/change.h - one change of a scenario, from its member in the
 * file to the settings of its row.
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
#ifndef MSIM_PREDICT_SCENARIO_CHANGE_H
#define MSIM_PREDICT_SCENARIO_CHANGE_H
#include "core/json/fields.h"
#include "predict/scenario/scenario.h"

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

/* One more factor of the row; `in` is the object that names `select`. */
void msim_change_scale(struct msim_change_reader *r, struct msim_fields *in,
                       const char *select, double factor);

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

#endif
