/*
 * predict/learn/learn.h - what traces of a machine tell of the laws of its GPU:
 * a platform file from the traces that a user has.
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
#ifndef MSIM_PREDICT_LEARN_LEARN_H
#define MSIM_PREDICT_LEARN_LEARN_H
#include "core/base/json.h"
#include "core/job/job.h"
#include "models/factor/levels.h"

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

#endif
