/*
 * predict/learn/learn.h - what traces teach: a platform file, and what a job's
 * own times say of its GPU.
 */
#ifndef MSIM_PREDICT_LEARN_LEARN_H
#define MSIM_PREDICT_LEARN_LEARN_H
#include "core/base/json.h"
#include "core/job/job.h"
#include "core/work/estimate.h"
#include "models/factor/levels.h"

/* ---- learn --------------------------------------------------------------- */
/*
 * What traces of a machine tell of the laws of its GPU: a platform file from
 * the traces that a user has.
 *
 * Every operator with shapes whose kernels were timed is an observation: what
 * it took, and what the models of the base platform say. From all of them come
 * the clock that the machine seems to run at and factors of start and of rate,
 * by kind of work, by family and for all (models/factor/levels.h). Kinds with
 * many observations have factors of their own, the rest lean on their family.
 *
 * What remains is found by holding out one trace after the other: clock and
 * factors from the others, its kernels predicted. With one trace alone a fifth
 * of its shapes is held out at a time.
 *
 * Collectives are not learned: their traced times hold waits.
 */

struct msim_learn_options {
    const char *data;         /* the folder that holds platforms/ */
    const char *base;         /* a platform; NULL: the traces' GPU */
    const char *const *paths; /* a file or a folder each; a folder that is no
                                 job of its own: every trace in it */
    uint32_t n_paths;
    struct msim_load_options load;
};

/* A trace, and its kernels that count: us. */
struct msim_learned_trace {
    const char *path, *gpu; /* in the arena; gpu "": it does not say */
    uint32_t observations;  /* 0: it has no kernels with shapes */
    double us, base_us, fitted_us, held_out_us;
};

struct msim_learned {
    struct msim_arena arena;
    char base[48];        /* the platform's name */
    char base_file[1024]; /* its file */
    bool nearest; /* the traces' GPU is not known: base is the nearest one */
    struct msim_learned_trace *traces; /* owned */
    uint32_t n_traces, cap_traces;
    struct msim_strtab *kinds; /* names of the levels */
    struct msim_levels levels;
    double clock;
    /* Means of |predicted / measured - 1| over traces with observations. */
    double error_base, error_fitted, error_held_out;
    bool by_shapes; /* one trace alone: shapes were held out */
};

/*
 * Learn. EUSAGE where the traces' GPUs differ and no base is given, or the GPU
 * is not known and nothing is near; EFORMAT where no trace has kernels with
 * shapes; what loading returns. Release in any case.
 */
MSIM_MUST_CHECK
enum msim_status msim_learn(struct msim_learned *out,
                            const struct msim_learn_options *o,
                            struct msim_error *err);
void msim_learned_release(struct msim_learned *l);

/* The platform file `name`: the base's, and the evidence. `*out` is the
 * caller's, NULL on failure. */
MSIM_MUST_CHECK
enum msim_status msim_learned_json(cJSON **out, const struct msim_learned *l,
                                   const char *name, struct msim_error *err);

/* ---- trace correction ---------------------------------------------------- */
/*
 * How far one machine differs from the models of its GPU, learned from a trace
 * that was recorded on it, for work of other shapes.
 *
 * The model is asked at the clock that this machine seems to run at: a GPU that
 * is throttled takes longer, by one factor, for all work that the SMs pace.
 * Then come two factors, of start and of rate, for each operator as far as the
 * trace has evidence, else for its family, else for all
 * (models/factor/levels.h).
 *
 * Collectives are not learned: their traced times hold waits.
 */

struct msim_ops;        /* core/work/opmap/ops_file.h */
struct msim_platform;   /* models/platform/platform.h */
struct msim_correction; /* opaque */

/*
 * Learn from the GPU times of all ranks of `job`, which ran on GPUs of `p`,
 * whose clock is afterwards as it was. `user` is the user's table of operators
 * for that job, or NULL. On success `*out` is owned by the caller; on
 * failure it is NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_correction_new(struct msim_correction **out,
                                     const struct msim_job *job,
                                     const struct msim_ops *user,
                                     struct msim_platform *p,
                                     struct msim_error *err);
void msim_correction_free(struct msim_correction *m); /* accepts NULL */

/*
 * Correct `e`, the models' estimate of operator `name` (for a copy: the name of
 * its event), by what was learned. On the GPU that was learned on the models
 * must have been asked at the machine's clock. The interval keeps its ratio to
 * the time.
 */
void msim_correction_apply(const struct msim_correction *m, const char *name,
                           struct msim_estimate *e);

/*
 * What operators of the trace took that are called as `op` of `t` and were
 * given what it is given (tensors by type and sizes, numbers): the mean, the
 * least and the most, us. False where there are none. For steps that are made
 * of the trace's own operators, on the GPU that was traced.
 */
struct msim_recorded_time {
    double us, least_us, most_us;
};
bool msim_correction_recorded(const struct msim_correction *m,
                              const struct msim_trace *t, uint32_t op,
                              struct msim_recorded_time *out);

/* The clock that the machine seems to run at, over the GPU's usual one; 1 where
 * no other clock explains the times better. */
double msim_correction_clock(const struct msim_correction *m);

/* Was it learned on this GPU? */
bool msim_correction_is_on(const struct msim_correction *m,
                           const struct msim_platform *p);

#endif
