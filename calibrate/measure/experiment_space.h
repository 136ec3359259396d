/*
 * calibrate/measure/experiment_space.h - what may be asked of a backend, and
 * which points of that are: by design, or as a trace has them.
 */
#ifndef MSIM_CALIBRATE_MEASURE_EXPERIMENT_SPACE_H
#define MSIM_CALIBRATE_MEASURE_EXPERIMENT_SPACE_H
#include "profilers/experiment.h"

/* ---- cal experiment ------------------------------------------------------ */
/*
 * What is to be timed: an experiment of a backend, perhaps beside a collective.
 *
 * Experiments are made and compared as structures. As JSON they are only sent
 * and kept: msim_cal_experiment_json() writes the members that
 * profilers/experiment.h reads.
 */

struct msim_cal_experiment {
    struct msim_experiment timed;
    bool is_pair; /* beside `concurrent`, which runs on and on */
    struct msim_experiment concurrent;
};

/* The experiment of a question, or of a journal's line: as much as is known of
 * it. Its texts point into `line`. */
void msim_cal_experiment_read(struct msim_cal_experiment *out,
                              const cJSON *line);

/* Its members as an object of the caller's; NULL without memory. */
cJSON *msim_cal_experiment_json(const struct msim_cal_experiment *e);

/* Its work, to which laws apply; NULL where it has none: a copy, a latency, or
 * what ran beside something. */
const struct msim_work *msim_cal_work(const struct msim_cal_experiment *e);

/* A hash of what makes it the experiment that it is, by this backend; with ""
 * whatever the backend. */
uint64_t msim_cal_hash(const struct msim_cal_experiment *e,
                       const char *backend);

/* The same of an object as msim_cal_experiment_json() makes them; what a
 * process adds to send it (id, policy, raw, counters, sustained) counts for
 * nothing. */
uint64_t msim_cal_hash_json(const cJSON *experiment, const char *backend);

/* "gemm fp32 m 512 n 64 k 1024", for people; cut to `size`. */
void msim_cal_describe(const struct msim_cal_experiment *e, char *text,
                       size_t size);

/* What a device may reach before anything is known of it. */
struct msim_cal_guess {
    double flops;     /* FLOP/s in fp32 */
    double bandwidth; /* bytes/s */
    double floor_us;
};

/* Whether the "device" of a greeting is a CPU. */
bool msim_cal_is_cpu(const cJSON *device);

/* A guess from the "device" of a greeting. */
struct msim_cal_guess msim_cal_guess_of(const cJSON *device);

/* What one run takes by a roofline, in microseconds. */
double msim_cal_expected_us(const struct msim_cal_experiment *e,
                            const struct msim_cal_guess *g);

/* ---- experiment space ---------------------------------------------------- */
/*
 * The space of experiments: the kinds of operation that a backend offers, and
 * the limits of their sizes.
 *
 * A point of the unit cube is an experiment: each coordinate is a size between
 * its limits on a logarithmic scale, or a choice. Sizes have eight steps an
 * octave, where most sizes of real models lie.
 */

#define MSIM_CAL_AXES  9
#define MSIM_CAL_KINDS 384

/* A copy of so many times the last-level cache shows the rate of a GPU's
 * memory: what it wrote last may still lie in the cache when it ends. */
#define MSIM_CAL_PAST_CACHE 8

/* One kind of operation: a table and, say, "fp32" or "add:fp32". */
struct msim_cal_kind {
    enum msim_table table;
    char kind[48];          /* as it is offered */
    char op[48], dtype[48]; /* its words; "": it has none */
    bool pageable;          /* of a copy: "h2d:pageable" */
    uint32_t axes;          /* coordinates; 0: there is one experiment only */
    uint32_t sizes;         /* of these, the first; the others are choices */
    uint32_t weight; /* points of it that go with one of the simplest kind */
};

struct msim_cal_space {
    struct msim_cal_kind kinds[MSIM_CAL_KINDS];
    uint32_t n;
    uint32_t ranks;        /* of collectives */
    char interconnect[48]; /* between them */
    double bytes_most;     /* of one experiment's operands */
    double copy_most;      /* of the bytes that a copy copies */
    double longest_us;     /* that one run is expected to take */
    struct msim_cal_guess guess;
};

/*
 * The space that a greeting offers. `longest_us` as in the structure. EFORMAT
 * where the greeting has no device or tables; unknown tables are skipped.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_space_read(struct msim_cal_space *s,
                                     const cJSON *greeting, double longest_us,
                                     struct msim_error *err);

/* The space of what can be timed beside a collective; the greeting is one that
 * msim_cal_space_read() takes. */
void msim_cal_space_concurrent(struct msim_cal_space *s, const cJSON *greeting,
                               double longest_us);

/*
 * The experiment at point `u` (coordinates from [0, 1)) of a kind; its texts
 * point into `s` and `kind`. False where it is outside the limits.
 */
bool msim_cal_space_point(const struct msim_cal_space *s,
                          const struct msim_cal_kind *kind, const double *u,
                          struct msim_cal_experiment *out);

/* The index of the kind that an experiment is of; `s->n` where it is of none.
 */
uint32_t msim_cal_space_kind(const struct msim_cal_space *s,
                             const struct msim_experiment *e);

/* ---- experiment design --------------------------------------------------- */
/*
 * The design of a calibration: points that fill the space of each kind of
 * operation evenly.
 *
 * Points are Sobol's sequence (GSL), shifted by the seed (Cranley and
 * Patterson, 1976): its first n points cover the space for every n. Points
 * outside the limits are skipped. The design depends on greeting, seed and
 * limits alone, never on answers, so that a second run meets the same points
 * and skips those that the journal has.
 */

struct msim_cal_design; /* opaque */

/* `space` must outlive the design and the experiments, whose texts point into
 * it. `*out` is owned by the caller. */
MSIM_MUST_CHECK
enum msim_status msim_cal_design_new(struct msim_cal_design **out,
                                     const struct msim_cal_space *space,
                                     uint64_t seed);

/* Accepts NULL. */
void msim_cal_design_free(struct msim_cal_design *d);

/*
 * The next experiment: of each kind first the largest even one, which shows the
 * device's rates, those of each table's first kind before the others; then of
 * each kind in turn as many as its weight; none twice. `*kind` gets its index
 * in the space. False at the end, where no kind has another (or memory ran
 * out).
 */
bool msim_cal_design_next(struct msim_cal_design *d,
                          struct msim_cal_experiment *out, uint32_t *kind);

/* No more of a kind: the device cannot do it. */
void msim_cal_design_drop(struct msim_cal_design *d, uint32_t kind);

/* A random number from [0, 1); `state` is a uint64_t of any value. */
double msim_cal_design_uniform(void *state);

/* A random point of the cube, for candidates: `draw` gives each coordinate,
 * from [0, 1). False where the point is outside the limits, or the kind was
 * dropped. */
bool msim_cal_design_draw(const struct msim_cal_design *d, uint32_t kind,
                          double (*draw)(void *), void *ctx,
                          struct msim_cal_experiment *out);

/* ---- trace experiments --------------------------------------------------- */
/*
 * The shapes of a trace as experiments, so that what counts for one job is
 * timed first (--for).
 */

/* Experiments in order; release them. */
struct msim_cal_shapes {
    struct msim_cal_experiment *list; /* owned */
    uint32_t n;
};

/*
 * The distinct operators of the traces at `path` (a file or a folder), longest
 * expected time of all calls first. A trace that was captured on a CPU gives
 * the operators that a CPU runs and those that a GPU would run. Operators that
 * no table has columns for (two strides, gradients of attention) are skipped.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_trace_shapes(struct msim_cal_shapes *out,
                                       const char *path,
                                       struct msim_error *err);
void msim_cal_shapes_release(struct msim_cal_shapes *s);

/*
 * The experiment that stands for a work; its texts are static. False where
 * there is none. A vector operator that no backend has is replaced by one of
 * its family. On a CPU an operator in place is an experiment of its own.
 */
bool msim_cal_of_work(struct msim_cal_experiment *out,
                      const struct msim_work *w, bool on_cpu);

/* Whether a backend offers the kind of `e`, and `e` is not far beyond the
 * limits: it may take ten times as long as an experiment of the design. */
bool msim_cal_space_offers(const struct msim_cal_space *s,
                           const struct msim_cal_experiment *e);

#endif
