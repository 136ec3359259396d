/*
 * plan/search/plan.h - every point of a plan, asked of a predictor; frontier
 * and recommendation.
 */
#ifndef MSIM_PLAN_SEARCH_PLAN_H
#define MSIM_PLAN_SEARCH_PLAN_H
#include "core/guard/guard.h"
#include "core/memory/life_memory.h"
#include "models/platform/platform.h"
#include "plan/memory/job_memory.h"
#include "plan/search/spec.h"
#include "plan/step/step_law.h"

/* ---- plan point ---------------------------------------------------------- */
/* One point of a plan, predicted. */

#define MSIM_PLAN_PARTS 8

/* What GPUs exchange in a step, us: in flight, whether compute hides it or not,
 * and what the step waits of it, with its 90 % interval. NAN: not known. */
struct msim_plan_exchange {
    double in_flight, waits, low, high;
};

struct msim_plan_point {
    uint64_t number; /* in the spec's order */
    uint32_t platform;
    struct msim_strategy strategy;
    /* Of a traced step: indices of words and numbers, by place of
     * msim_spec_place. */
    int64_t traced[MSIM_SPEC_PLACES - MSIM_GIVEN_COUNT];
    double us, low_us, high_us;         /* of a step */
    double part_us[MSIM_PLAN_PARTS];    /* where it goes, by the predictor's
                                           names */
    struct msim_plan_exchange exchange; /* of gradients; of a traced step all
                                           communication */
    double peak_gib, low_gib, high_gib; /* of the rank that needs most; NAN: not
                                           known */
    double room_gib; /* of the GPU, beside CUDA's context and NCCL's buffers */
    struct msim_beside beside;
    double part_gib[MSIM_PLAN_PARTS]; /* likewise */
    enum msim_fits fits; /* yes or edge; edge where the peak is not known
                            and not as much ran */
    bool ran;            /* as much was recorded on a GPU with no more memory */
    double rate, mfu;    /* units a second; NAN: not known */
    double time;         /* what points are compared by: us of a step, or of a
                            sample, where the batch of a step differs */
    double gpu_us;       /* GPU time of the same: us */
    double days, cost, kwh; /* of all the work, or the last two of an hour; NAN:
                               not known */
    bool allowed;           /* it keeps all limits, as predicted */
    double chance;     /* that it keeps those of time and cost; NAN: none */
    double correction; /* what measured jobs like it took, over the law's time;
                          1: no such job */
    bool measured;     /* there is one */
    enum msim_step_class class; /* of described models: what its interval goes
                                 * by
                                 */
    msim_guard_marks marks;     /* guards that it trips */
};

/* Set or read the value of a dimension. */
void msim_plan_point_put(struct msim_plan_point *p,
                         const struct msim_spec_dimension *d, int64_t v);
int64_t msim_plan_point_value(const struct msim_plan_point *p,
                              const struct msim_spec_dimension *d);

/* Why points were left out. X(name, member of the JSON) */
#define MSIM_PLAN_REASON_MAP(X)                                                \
    X(SPLIT, "not_split")   /* the workload cannot be run so */                \
    X(MEMORY, "no_memory")  /* does not fit */                                 \
    X(NO_MODEL, "no_model") /* the platform cannot run it */

enum msim_plan_reason {
#define X(name, text) MSIM_PLAN_##name,
    MSIM_PLAN_REASON_MAP(X)
#undef X
        MSIM_PLAN_REASONS
};

/* A reason in words, how many points it left out, and the first by number. */
struct msim_plan_refusal {
    char text[200];
    uint64_t points, first;
};

#define MSIM_PLAN_REFUSALS 8

/* Reasons in the order in which they were met; those after the first few are
 * counted alone. */
struct msim_plan_refusals {
    struct msim_plan_refusal *of; /* owned */
    uint32_t n, cap;
    uint64_t others; /* points */
};

/* Add a reason, or its points to those of the same text. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_plan_refuse(struct msim_plan_refusals *r,
                                  const struct msim_plan_refusal *why);

/* Where points are kept while a plan is made, and who makes it. */
struct msim_plan_share {
    const char *folder; /* that is there; NULL: nowhere, by one process */
    uint32_t process, processes;
};

/* ---- plan ways ----------------------------------------------------------- */
/* What would make a point fit that does not. */

#define MSIM_PLAN_WAYS 8

struct msim_plan_way {
    char change[96]; /* "recompute full, zero 3" */
    double peak;     /* bytes */
    enum msim_fits fits;
};

struct msim_plan_ways {
    struct msim_plan_way way[MSIM_PLAN_WAYS]; /* the least peak first */
    uint32_t n;     /* 0: nothing that was tried is enough */
    char text[640]; /* all of them in a line, or what holds least */
};

/* ---- plan parts ---------------------------------------------------------- */
/*
 * Blocks of a plan's points in files, so that a plan that was stopped goes on,
 * and several processes share one.
 *
 * A folder that all of them see holds one file a block, written whole or not at
 * all. Nobody waits for anybody: a process predicts the blocks that are its
 * own, and the first one then those that are still missing. So a process that
 * dies costs time and nothing else.
 */

struct msim_plan_block {
    struct msim_plan_point *points; /* feasible ones */
    uint32_t n, cap;
    uint64_t left_out[MSIM_PLAN_REASONS];
    struct msim_plan_refusals refusals;
    /* Of those that do not fit, the nearest to it, and its share of the memory
     * there is. */
    struct msim_plan_point nearest;
    double nearest_share;
};

void msim_plan_block_release(struct msim_plan_block *b);

/* What makes points what they are: this program, and all files that it has read
 * so far. Parts with another key are not read. EIO. */
MSIM_MUST_CHECK
enum msim_status msim_plan_key(uint64_t *key, struct msim_error *err);

/* Make the folder. EUSAGE where it holds what would be taken for parts. */
MSIM_MUST_CHECK
enum msim_status msim_plan_parts_begin(const struct msim_plan_share *share,
                                       struct msim_error *err);

/* Read block `which` into an empty block; false where there is none that is
 * whole, by its checksum, and of this key. What its points are is still to be
 * looked at. */
bool msim_plan_part_read(struct msim_plan_block *b,
                         const struct msim_plan_share *share, uint64_t key,
                         uint64_t which);
MSIM_MUST_CHECK
enum msim_status msim_plan_part_write(const struct msim_plan_block *b,
                                      const struct msim_plan_share *share,
                                      uint64_t key, uint64_t which,
                                      struct msim_error *err);
/* Remove all parts and their folder. */
void msim_plan_parts_remove(const struct msim_plan_share *share);

/* ---- plan ---------------------------------------------------------------- */
/*
 * A plan: its feasible points, which of them to take, and what their figures
 * stand on.
 */

#define MSIM_PLAN_SAFE 0.95 /* a chance that is called sure */

/* The traced step that a plan is of. */
struct msim_plan_traced {
    double memory;     /* bytes of the GPU that it ran on; 0: not known */
    int64_t batch;     /* of one rank and micro batch */
    int64_t passes;    /* micro batches of a step */
    int64_t ranks;     /* of the job that was recorded */
    bool serves;       /* it answers requests */
    bool knows_memory; /* it is an execution trace */
    char host[256];    /* of all points; "": the trace's own */
    char platform[96]; /* that it ran on, where that is known; else "" */
    /* The traced run, us: as measured there, and as models predict it from its
     * shapes; NAN: not known. */
    double measured_us, predicted_us, low_us, high_us;
};

/* What the figures of a plan stand on. */
struct msim_plan_basis {
    struct {
        char title[96];           /* the product */
        double memory, bandwidth; /* bytes, bytes/s */
        uint64_t rows;            /* measured on that GPU; 0: laws of others */
        uint32_t gpus_a_node;
        char network[96]; /* between nodes; "": the data sheet's */
    } platforms[MSIM_SPEC_PLATFORMS];
    struct msim_step_fit fit;            /* of described models; owned */
    double memory_low, memory_high;      /* factors of the widest interval of a
                                            peak */
    struct msim_memory_constants memory; /* of described models: what peaks were
                                            found with */
    struct msim_plan_traced traced;
};

/* Most points that are simulated: the three cheapest, the three shortest, and
 * what may be cheaper. */
#define MSIM_PLAN_SIMULATED 7

/* What the graph of a point's job takes and holds by itself
 * (plan/simulate). */
struct msim_plan_simulated {
    uint32_t point; /* its index */
    bool known;
    char why[256];       /* not */
    double us, peak_gib; /* of a step; of the rank that needs most */
    uint32_t graphs;     /* that say so */
};

struct msim_plan {
    struct msim_plan_point *points; /* feasible ones, by number */
    uint32_t n, cap;
    uint64_t looked_at, left_out[MSIM_PLAN_REASONS];
    struct msim_plan_refusals refusals; /* of what cannot be, but memory */
    struct msim_plan_point refused[MSIM_PLAN_REFUSALS];  /* the first of each */
    const char *const *step_parts, *const *memory_parts; /* the predictor's */
    struct msim_guard_count marked; /* points that trip guards */
    bool priced;        /* a point has a cost: those without are not compared */
    uint32_t *frontier; /* indices into points: shorter or cheaper than all
                           others that keep the limits; by time */
    uint32_t n_frontier;
    /* Indices; UINT32_MAX: none. The best surely fits and keeps the limits with
     * a chance of MSIM_PLAN_SAFE, where any point does, and is expected to cost
     * least of those. */
    uint32_t best, runner_up;
    uint32_t cheaper; /* expected to cost less than the best, and not sure */
    uint32_t best_of[MSIM_SPEC_PLATFORMS]; /* of each platform */
    /* Time of the best over the runner-up's, 90 %: errors of one law and one
     * model go together, so the ratio is surer than either time. */
    double ratio, ratio_low, ratio_high;
    /* Which of the two is to be run where that includes 1 (UINT32_MAX:
     * neither), and the factor that the ratio is off by then, either way, 90 %.
     */
    uint32_t test;
    double after_test;
    /* Where no point is feasible and some do not fit: the one that is nearest
     * to it, the memory there is, and what would make it fit. */
    bool has_nearest;
    struct msim_plan_point nearest;
    double nearest_share;
    struct msim_plan_ways nearest_ways;
    struct msim_plan_basis basis;
    struct msim_plan_simulated simulated[MSIM_PLAN_SIMULATED];
    uint32_t n_simulated; /* 0: the law alone was asked */
};

/* ---- predictor ----------------------------------------------------------- */
/*
 * What predicts the points of a plan: described models have one
 * ("described points"), a traced step another (plan/traced).
 *
 * The search numbers points, hands them to threads and processes, keeps and
 * compares them. Of each it asks a predictor three things, and goes on while
 * the answer is yes:
 *
 *     split    can the workload be run so? What follows from other members is
 *              filled in
 *     memory   the peak of a GPU; what does not fit is not asked for its step
 *     step     the time of a step, and where it goes
 *
 * Answers depend on the point alone, not on what was asked before: plans have
 * the same bytes on any number of threads and processes.
 */

#define MSIM_PLAN_WHY 256

struct msim_plan_predictor {
    void *own;
    uint32_t block; /* points that a thread takes at once */
    bool says_why;  /* reasons are few: they are kept */
    const char *const *step_parts, *const *memory_parts; /* names,
                          MSIM_PLAN_PARTS at most; the end is NULL */
    /* One thread begins: `*thread` is what it asks with; end() releases it in
     * any case. `platforms` are the spec's, with their networks. Every file
     * that answers depend on is read then. */
    enum msim_status (*begin)(void **thread, void *own,
                              struct msim_platform *const *platforms,
                              struct msim_error *err);
    void (*end)(void *thread);
    /* False: it cannot be, and `why` has a reason. `point->strategy` holds the
     * spec's values, room_gib what programs get of the GPU. split() completes
     * the strategy; memory() fills in the peak, its parts and whether it
     * fits, and takes what lies beside it from the room; step() fills in the
     * time and its parts, mfu and correction. */
    bool (*split)(void *thread, struct msim_plan_point *point,
                  char why[MSIM_PLAN_WHY]);
    bool (*memory)(void *thread, struct msim_plan_point *point,
                   char why[MSIM_PLAN_WHY]);
    bool (*step)(void *thread, struct msim_plan_point *point,
                 char why[MSIM_PLAN_WHY]);
    /* What would make a point fit that does not: the last that this thread was
     * asked for. */
    void (*ways)(void *thread, const struct msim_plan_point *point,
                 struct msim_plan_ways *out);
};

/* ---- described points ---------------------------------------------------- */
/*
 * Points of a plan of a described model: peak memory by formula, steps by the
 * step law.
 */

/* Places in part_us. */
enum { MSIM_DESCRIBED_GRADIENTS = 5, MSIM_DESCRIBED_OPTIMIZER = 7 };

/* What its answers stand on; `spec`, `fit` and `memory` live as long. */
struct msim_described_points {
    const struct msim_spec *spec;
    const struct msim_step_fit *fit;
    const struct msim_memory_fit *memory;
};

/* The predictor of them, whose `own` is `of`. */
struct msim_plan_predictor
msim_described_predictor(struct msim_described_points *of);

/* ---- plan search --------------------------------------------------------- */
/*
 * Every point of a spec, predicted.
 *
 * A point is a platform, a number of GPUs and a strategy. Points are numbered
 * in the order of the spec's values, so that results do not depend on the
 * number of threads. What cannot be split so, or does not fit into memory, is
 * counted and left out before its step is predicted.
 */

struct msim_plan_options {
    uint32_t threads;
    const struct msim_plan_predictor *predictor; /* of a traced step; NULL: that
                                                    of described models */
    const struct msim_plan_traced *traced;       /* what that is of; or NULL */
    const struct msim_plan_share *share;         /* or NULL */
    /* How many blocks of points are begun, of all; from one thread. Or NULL. */
    void (*progress)(void *ctx, uint32_t done, uint32_t total);
    void *ctx;
};

/*
 * Predict all points on `threads` threads. Release in any case. EUNKNOWN for a
 * platform or network that is not known. `share` may be NULL. Processes but
 * the first predict their own points alone, keep them in the folder, and find
 * nothing; the first removes the folder in the end.
 */
MSIM_MUST_CHECK
enum msim_status msim_plan_search(struct msim_plan *plan,
                                  const struct msim_spec *spec,
                                  const char *data_dir,
                                  const struct msim_plan_options *o,
                                  struct msim_error *err);
void msim_plan_release(struct msim_plan *plan);

/* ---- recommend ----------------------------------------------------------- */
/* The frontier of a plan, and which of its points to take. */

/* Fill in frontier, best, runner-up, what is cheaper and not sure, and best_of
 * from the points. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_plan_recommend(struct msim_plan *plan);

/*
 * Indices of the points that are worth a closer look, each once: what is
 * recommended and the next two in that order, the shortest and the next two,
 * and what may be cheaper. Returns their number.
 */
uint32_t msim_plan_foremost(const struct msim_plan *plan,
                            uint32_t out[MSIM_PLAN_SIMULATED]);

/* What a point costs: money, else GPUs for as long as a step takes. */
double msim_plan_cost(const struct msim_plan_point *p);

/* The mean of that under the interval of a step, log-normal: of two that cost
 * alike the less known one is expected to cost more. */
double msim_plan_expected_cost(const struct msim_plan_point *p);

/* Does it surely fit, and keep the limits with a chance of MSIM_PLAN_SAFE? */
bool msim_plan_is_sure(const struct msim_plan_point *p);

/*
 * The probability that a figure is at most `limit`, whose middle is predicted,
 * with a 90 % interval of low..high: log-normal, each side with its own spread.
 *
 *     msim_chance_below(30, 20, 15, 30) = 0.95
 */
double msim_chance_below(double limit, double middle, double low, double high);

#endif
