/*
 * replay/validate/validation.h - a step as it was measured, as it was replayed
 * and as it is predicted, side by side.
 */
#ifndef MSIM_REPLAY_VALIDATE_VALIDATION_H
#define MSIM_REPLAY_VALIDATE_VALIDATION_H
#include "core/report/analyse/prediction.h"
#include "replay/validate/family_times.h"
#include "replay/validate/system_figures.h"

#define MSIM_VALIDATION_ROWS (MSIM_FAMILY_COUNT + 2)

/* What one file tells. */
struct msim_validation_side {
    struct msim_family_times times;
    struct msim_family_times *each; /* owned: of each step; NULL: not asked */
    uint32_t n_each;
    struct msim_system_figures system;
    struct msim_arena arena; /* owns these: what became of its records */
    struct msim_file_info *files;
    uint32_t n_files;
};

/* Microseconds; NAN: not known. */
struct msim_validation_row {
    const char *name;
    uint32_t operators;
    double measured, replayed, predicted;
};

struct msim_validation_system {
    const char *name; /* points into a side */
    double measured, replayed;
};

struct msim_validation {
    const char *platform; /* NULL: nothing is predicted */
    /* The step, all operators, and each family. */
    struct msim_validation_row rows[MSIM_VALIDATION_ROWS];
    uint32_t n;
    const struct msim_family_times *iterations; /* of the replay */
    uint32_t n_iterations;
    struct msim_validation_system system[2 * MSIM_SYSTEM_FIGURES];
    uint32_t n_system;
    const struct msim_validation_side *sides[2]; /* measured, replayed */
};

/* `p` may be NULL. The sides have to outlive it. */
void msim_validation_make(struct msim_validation *v,
                          const struct msim_validation_side *measured,
                          const struct msim_validation_side *replayed,
                          const struct msim_prediction *p);

/* The share of the operators of the step, or of a step of the replay where that
 * has more, that the other has, too: by their family and number. */
double msim_validation_shared(const struct msim_validation *v);

/* A share: 0.1 is 10 % longer; NAN where one is not known. */
double msim_validation_error(double time, double real);

/* What a replay is compared with is the trace; what a prediction is compared
 * with, the replay: that is the machine it is for. */
double msim_replay_error(const struct msim_validation_row *r);
double msim_prediction_error(const struct msim_validation_row *r);

/* n of its ProfilerStep#n, else its place. */
int64_t msim_validation_iteration(const struct msim_validation *v, uint32_t i);

#endif
