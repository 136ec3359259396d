/*
 * replay/run/replay_plan.h - a traced step as experiments in order, run by a
 * backend; its figures, and a trace of it.
 */
#ifndef MSIM_REPLAY_RUN_REPLAY_PLAN_H
#define MSIM_REPLAY_RUN_REPLAY_PLAN_H
#include "core/base/containers.h"
#include "core/base/json.h"
#include "core/trace/trace_steps.h"
#include "core/work/opmap/opmap.h"
#include "profilers/ask/backend_child.h"
#include "profilers/experiment.h"

/* ---- work runs ----------------------------------------------------------- */
/* What a backend runs for a work: experiments of the kinds that it offers. */

#define MSIM_WORK_RUNS 8

/* X(name, the word, what it means); the later, the less like the original. */
#define MSIM_RUN_HOW_MAP(X)                                                    \
    X(NATIVE, "native", "by a routine that computes the same")                 \
    X(PARTS, "parts", "as the products and rows that it is made of")           \
    X(BYTES, "bytes", "as a copy of as many bytes")                            \
    X(NOT, "not run", "not at all")

enum msim_run_how {
#define X(name, text, what) MSIM_RUN_##name,
    MSIM_RUN_HOW_MAP(X)
#undef X
        MSIM_RUN_HOWS
};
const char *msim_run_how_text(enum msim_run_how h);

struct msim_work_runs {
    struct msim_experiment list[MSIM_WORK_RUNS]; /* in order */
    uint32_t n;
    enum msim_run_how how;
    const char *why; /* static; NULL: native */
};

/*
 * The experiments of work `w` on a backend that greets with `greeting`. Texts
 * of experiments point into the work's or are static.
 */
void msim_work_runs_find(struct msim_work_runs *out, const struct msim_work *w,
                         const cJSON *greeting);

/* A copy that reads and writes as many bytes in all as `e` is said to. */
struct msim_experiment msim_run_as_bytes(const struct msim_experiment *e);

/* ---- replay plan --------------------------------------------------------- */
/*
 * What is run for a step: experiments of a backend, in the order of the step's
 * operators.
 *
 * Equal works are one experiment. Example: mm, relu, mm with equal shapes are
 * two experiments and the order 0, 1, 0.
 */

/* An operator with works: it runs `n` elements of the order from `first` on. */
struct msim_plan_op {
    uint32_t op;
    uint32_t first, n;
    uint8_t how;     /* msim_run_how: the one least like the original */
    uint8_t family;  /* msim_family, of its first work */
    const char *why; /* how it is not like the original; NULL: native */
};

struct msim_replay_plan {
    const struct msim_trace *trace;
    struct msim_works *works;    /* owned */
    uint32_t step;               /* of trace->steps, or NONE */
    struct msim_vec ops;         /* struct msim_plan_op */
    struct msim_vec order;       /* uint32_t: experiments */
    struct msim_vec experiments; /* struct msim_experiment */
    struct msim_idmap seen;      /* hash of an experiment -> its number */
    char (*notes)[200];          /* why an experiment was replaced; owned */
};

struct msim_replay_wish {
    uint32_t step; /* of trace->steps, or NONE: the whole trace */
    struct msim_choice choice;
    bool warm; /* operands stay in the caches that the run before left */
};

/*
 * Plan the step on the backend with that greeting; the trace and the greeting
 * must outlive the plan. Release it in any case.
 * EFORMAT: nothing to run, or sizes that no number holds; ELIMIT: more memory
 * than the device has. The last two name the operator, and its node.
 */
MSIM_MUST_CHECK
enum msim_status msim_replay_plan_make(struct msim_replay_plan *p,
                                       const struct msim_trace *trace,
                                       const struct msim_replay_wish *wish,
                                       const cJSON *greeting,
                                       struct msim_error *err);
void msim_replay_plan_release(struct msim_replay_plan *p);

/* The backend cannot do an experiment after all: run its bytes. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_replay_plan_replace(struct msim_replay_plan *p,
                                          uint32_t experiment, const char *why);

/* ---- its rows ----------------------------------------------------------- */

static inline struct msim_plan_op *
msim_plan_op(const struct msim_replay_plan *p, uint32_t i)
{
    return (struct msim_plan_op *)p->ops.data + i;
}

static inline uint32_t msim_plan_order(const struct msim_replay_plan *p,
                                       uint32_t i)
{
    return ((const uint32_t *)p->order.data)[i];
}

static inline struct msim_experiment *
msim_plan_experiment(const struct msim_replay_plan *p, uint32_t i)
{
    return (struct msim_experiment *)p->experiments.data + i;
}

/* ---- the operators of one step, as they began ---------------------------- */

/*
 * The operators of `step` (of trace->steps, or NONE: the whole trace) that are
 * in the choice: themselves, or through an operator around them whose name is
 * wanted. `ops` gets their indices as uint32_t. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_step_ops(struct msim_vec *ops, const struct msim_trace *t,
                               uint32_t step, const struct msim_choice *choice);

/* ---- run plan ------------------------------------------------------------ */
/*
 * Run a plan on a backend, which is a process of its own
 * (profilers/run_sequence.c has the lines).
 */

/* One iteration. */
struct msim_replay_round {
    double us;                     /* from the first element to the last */
    const double *at_us, *time_us; /* of each element */
    cJSON *line; /* the answer without the times of elements; owned */
};

/* How often it is run before it is timed, and how often then; `patience`: how
 * many seconds an iteration may take, and making the operands ready as many
 * more. */
struct msim_replay_how {
    uint32_t warm_up, iterations;
    double patience;
};

struct msim_replay_runs {
    struct msim_replay_round *rounds; /* owned */
    double *times;                    /* owned: of all rounds */
    uint32_t n, wanted, n_elements, warm_up;
    double patience;
    char counters_error[160]; /* ""; why the processor's counters are missing */
};

/*
 * Run the order, and end the child. What the backend cannot do after all is
 * replaced in the plan. Release `*out` in any case. EFORMAT: the backend
 * answers with something else, or more than it was asked; ENOMODEL: it knows no
 * sequences; else as msim_child_ask().
 */
MSIM_MUST_CHECK
enum msim_status
msim_replay_run(struct msim_replay_runs *out, struct msim_replay_plan *p,
                struct msim_child *child, const cJSON *greeting,
                const struct msim_replay_how *how, struct msim_error *err);
void msim_replay_runs_release(struct msim_replay_runs *r);

/* ---- replay figures ------------------------------------------------------ */
/*
 * What came of a replay, as figures.
 *
 * Times of parts are means over the iterations, so that they add up; the whole
 * step has its median and first and last decile.
 */

struct msim_replay_time {
    double us, low_us, high_us;
};

struct msim_replay_part {
    uint32_t ops;
    double us;
};

#define MSIM_REPLAY_SYSTEM 24

struct msim_replay_figures {
    struct msim_replay_time step; /* median */
    double sum_us, gap_us;        /* all elements, between them: means */
    double together_us;           /* mean, all in a row; 0: not known */
    struct msim_replay_part how[MSIM_RUN_HOWS];
    struct msim_replay_part family[MSIM_FAMILY_COUNT];
    struct msim_replay_time *ops; /* owned: mean, of each of the plan's */
    /* What the backend tells of the machine, means over the iterations. */
    struct msim_replay_metric {
        const char *name; /* points into the runs */
        double value;
    } system[MSIM_REPLAY_SYSTEM];
    uint32_t n_system;
    double utilization; /* processor time over time, of all cores; NAN */
};

/* ENOMEM; release it in any case. */
MSIM_MUST_CHECK
enum msim_status msim_replay_figures_make(struct msim_replay_figures *f,
                                          const struct msim_replay_plan *p,
                                          const struct msim_replay_runs *r,
                                          const cJSON *greeting);
void msim_replay_figures_release(struct msim_replay_figures *f);

/* The metric of that name; NAN. */
double msim_replay_metric(const struct msim_replay_figures *f,
                          const char *name);

/* ---- write replay -------------------------------------------------------- */
/* A replay as text, as JSON and as a trace. */

#define MSIM_REPLAY_SCHEMA "mystique-sim/replay/1"

struct msim_replay {
    const char *path; /* of the trace, as the user gave it */
    const struct msim_replay_plan *plan;
    const struct msim_replay_runs *runs;
    const struct msim_replay_figures *figures;
    const cJSON *greeting; /* the backend's */
    bool warm;             /* operands stayed in the caches */
};

/* For people. */
void msim_replay_write_text(const struct msim_replay *r, FILE *out);

/* Its members, into an object that is open, with the schema above;
 * docs/replay.md explains them. */
void msim_replay_write_json(const struct msim_replay *r, struct msim_json *out);

/* What the backend tells of the machine, as a member `key`. */
void msim_replay_write_system(const struct msim_replay *r, const char *key,
                              struct msim_json *out);

/*
 * As the trace events of PyTorch's profiler: each iteration is a
 * ProfilerStep#n, and each operator that was run, with those around it, an
 * event with its name and its shapes. On a GPU each element is a kernel, too.
 * The figures of the machine stand before the events, in "mystiqueSystem".
 */
void msim_replay_write_trace(const struct msim_replay *r,
                             struct msim_json *out);

#endif
