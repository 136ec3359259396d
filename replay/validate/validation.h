/*
 * replay/validate/validation.h - what the operators of a step took: traced,
 * replayed and predicted, and how that is reported.
 */
#ifndef MSIM_REPLAY_VALIDATE_VALIDATION_H
#define MSIM_REPLAY_VALIDATE_VALIDATION_H
#include "core/base/json.h"
#include "core/report/analyse/prediction.h"
#include "core/work/work.h"

#include <stdint.h>

/* ---- family times -------------------------------------------------------- */
/*
 * What the operators of a traced step took, by the family of what they ask of a
 * device.
 *
 * On a GPU that is the time of kernels, copies and collectives that they
 * launched; on a CPU the time of operators themselves, since they compute where
 * they are called.
 */

struct msim_family_times {
    double us[MSIM_FAMILY_COUNT];    /* a mean over the steps */
    uint32_t ops[MSIM_FAMILY_COUNT]; /* with works, of the last step */
    double operators_us;             /* all families */
    double step_us;                  /* of the steps' marks */
    uint32_t steps;
    int64_t number; /* of the last step: n of ProfilerStep#n; -1: none marked */
};

/*
 * Of `step` (of t->steps), or with NONE of all steps that ask something of a
 * device; where none is marked of the whole trace, or of one pass through its
 * execution trace. EFORMAT where the trace has
 * no times, or nothing of it asks anything of a device.
 */
MSIM_MUST_CHECK
enum msim_status msim_family_times_of(struct msim_family_times *out,
                                      const struct msim_trace *t, uint32_t step,
                                      struct msim_error *err);

/*
 * Of each step that asks something of a device, in order: `*n` of them, none
 * where no step is marked. `*out` is owned by the caller (free()).
 */
MSIM_MUST_CHECK
enum msim_status msim_family_times_each(struct msim_family_times **out,
                                        uint32_t *n,
                                        const struct msim_trace *t);

/* ---- system figures ------------------------------------------------------ */
/*
 * What a trace of `replay -o` tells of the machine: its member
 * "mystiqueSystem".
 */

#define MSIM_SYSTEM_FIGURES 32
#define MSIM_SYSTEM_NAME    48

struct msim_system_figures {
    struct msim_system_figure {
        char name[MSIM_SYSTEM_NAME];
        double value;
    } items[MSIM_SYSTEM_FIGURES];
    uint32_t n;
};

/*
 * Of the file `path`; none where it has none, as traces of a profiler, or is no
 * JSON. A file that cannot be read has none either: whoever loads it says so.
 */
void msim_system_figures_read(struct msim_system_figures *s, const char *path);

/* The figure of that name; NAN. */
double msim_system_figure(const struct msim_system_figures *s,
                          const char *name);

/* ---- validation ---------------------------------------------------------- */
/*
 * A step as it was measured, as it was replayed and as it is predicted, side by
 * side.
 */

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

/* ---- report validation --------------------------------------------------- */
/* A validation as text, CSV, JSON and a chart. */

/* For people. */
void msim_validation_text(const struct msim_validation *v, FILE *out);

/* Rows as in the text; iterations follow with the times of their steps. */
void msim_validation_csv(const struct msim_validation *v, FILE *out);

/* docs/replay.md explains the members. */
void msim_validation_json(const struct msim_validation *v,
                          struct msim_json *out);

/* The rows on an axis of ratios, drawn by gnuplot: SVG or PNG by the end of
 * `path`. */
MSIM_MUST_CHECK
enum msim_status msim_validation_chart(const struct msim_validation *v,
                                       const char *path,
                                       struct msim_error *err);

#endif
