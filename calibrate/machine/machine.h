/*
 * calibrate/machine/machine.h - a whole calibration: asked, fitted to platform,
 * host and network, and reported.
 */
#ifndef MSIM_CALIBRATE_MACHINE_MACHINE_H
#define MSIM_CALIBRATE_MACHINE_MACHINE_H
#include "calibrate/measure/ask_loop.h"
#include "calibrate/measure/journal.h"
#include "core/base/json.h"
#include "core/base/status.h"

#include <stdio.h>

/* ---- calibrate run ------------------------------------------------------- */
/*
 * The measuring part of a calibration: ask the backends until the budget is
 * spent.
 */

/*
 * Ask every backend until its share of the budget is spent. Experiments in the
 * journal are not asked again. An experiment that fails is kept as failed; a
 * backend that crashes or hangs is started again, and given up after 20 crashes
 * in a row, or where it fails all the time (ask_loop.h). `*cut_short`:
 * whether one was given up, or had nothing left to ask before its time, as what
 * fails is not asked. Fails with the last one's failure where no backend is
 * left, and the last gave no row.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_run(struct msim_cal_journal *j,
                              const struct msim_cal_options *options,
                              bool *cut_short, struct msim_error *err);

/*
 * Time nothing: call options->would_ask for every experiment of the design that
 * is expected to fit the budget and is not in the journal.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_dry_run(struct msim_cal_journal *j,
                                  const struct msim_cal_options *options,
                                  struct msim_error *err);

/* ---- known device -------------------------------------------------------- */
/*
 * What is known of the device that is calibrated without having timed it: the
 * shipped platform of that device.
 *
 * Figures that rows do not tell come from its data sheet: a rate that a library
 * refuses, links to GPUs that are not there. Collectives that nothing timed are
 * as on that platform, too ("links_of").
 */

struct msim_cal_known {
    char name[48];   /* of the platform */
    cJSON *platform; /* its file; owned. NULL: no platform is of this device */
};

/*
 * Find the platform in `data_dir` (NULL: none is known) that has the "device"
 * of a greeting, by name, memory and multiprocessors, as a traced GPU is found.
 */
void msim_cal_known_find(struct msim_cal_known *k, const char *data_dir,
                         const cJSON *device);
void msim_cal_known_release(struct msim_cal_known *k);

/* Add to a data sheet what it has not; each figure's source says so. */
MSIM_MUST_CHECK
enum msim_status msim_cal_known_complete(cJSON *sheet,
                                         const struct msim_cal_known *k);

/* Show which figures of a platform are from there; nothing where none is. */
void msim_cal_known_show(FILE *out, const cJSON *platform);

/* ---- machine fit --------------------------------------------------------- */
/*
 * Fit a platform file to a journal, with the code that fitted the shipped
 * platforms.
 */

struct msim_coll_constants; /* calibrate/collective/coll_fit.h */

/* The score of a law and a backend on held-out rows. */
struct msim_cal_score {
    char law[24], framework[24];
    uint32_t rows;
    double median, mean, p90; /* |predicted / measured - 1| */
    double coverage;          /* of the 90 % intervals */
    /* Repeatability of the measurements: longest over shortest visit of an
     * experiment, median; NAN where all were visited once. Where this is large,
     * so are the errors, whatever the law. */
    double repeats;
};

#define MSIM_CAL_SCORES 32
#define MSIM_CAL_ALL    "all" /* a law: all but collectives, together */

struct msim_cal_scores {
    struct msim_cal_score list[MSIM_CAL_SCORES];
    uint32_t n;
    uint32_t too_few; /* experiments that are in no fit: too few of a kind */
};

struct msim_cal_fit_options {
    const char *name; /* of the platform */
    const char *data; /* folder of platforms/, as in "known device" */
    /* File to write held-out rows to, as msim-fit --rows does; NULL: none, and
     * no scores. */
    const char *held;
    const char *backend; /* whose rows are fitted; NULL: all rows */
    uint32_t threads;
    /* To fit collectives with; NULL where the journal has none. */
    const struct msim_coll_constants *collectives;
};

/* The name of the first greeting's device as tables have it: commas, quotes and
 * control characters become spaces. */
void msim_cal_device_name(char name[96], const struct msim_cal_journal *j);

/*
 * The data sheet of the machine: the device of the first greeting, the best
 * rates of the rows, and what else the shipped platform of that device has
 * ("known device", also for `data`). `*out` is the caller's. ECHECK where
 * neither tells a rate that is needed.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_sheet(cJSON **out, const struct msim_cal_journal *j,
                                const char *name, const char *data,
                                struct msim_error *err);

/*
 * Fit the platform file's tree; `*out` is the caller's, NULL on failure. ECHECK
 * as above. `scores` may be NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_fit(cJSON **out, const struct msim_cal_journal *j,
                              const struct msim_cal_fit_options *options,
                              struct msim_cal_scores *scores,
                              struct msim_error *err);

/* ---- machine host -------------------------------------------------------- */
/*
 * Fit a host file (--host) to a journal.
 *
 * Answers of the table "dispatch" have each operator's own time, in single
 * calls and in steps of small models. All single calls are one recording, and
 * each model is one. msim_host_fit treats recordings as it treats hosts for the
 * shipped file: operator k takes a_k * s_r in recording r, and the error on a
 * held-out recording gives the width of intervals.
 *
 * Figures that were not timed come from the general host, and say so. Its
 * operators are multiplied by this host's speed, which is the ratio of sums
 * over the operators that both know; its other figures are taken as they are.
 */

/* Figures of the fit, besides the file. */
struct msim_cal_host {
    uint32_t recordings;
    uint32_t timed, taken; /* operators: timed here, and of the general host */
    double speed;          /* this host's times over the general host's */
    double factor;         /* 90 % interval of `timed`: up or down by this */
    double factor_taken;
};

/*
 * Fit the host file's tree; `*out` is the caller's, NULL with MSIM_OK where the
 * journal has fewer than two recordings. `generic` is the general host's file.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_host_fit(cJSON **out, struct msim_cal_host *result,
                                   const struct msim_cal_journal *j,
                                   const cJSON *generic, const char *name);

/* ---- machine network ----------------------------------------------------- */
/*
 * The collectives of a calibrated platform as a network file (--network), to
 * predict them on any platform.
 *
 * All ranks were on one machine. The file holds nothing about links between
 * machines: groups that span nodes keep the network of their platform.
 */

/* Make the file's tree from the platform's; `*out` is the caller's, NULL with
 * MSIM_OK where no collective was measured. */
MSIM_MUST_CHECK
enum msim_status msim_cal_network(cJSON **out, const cJSON *platform);

/* ---- machine json -------------------------------------------------------- */
/* What a calibration left, or would ask, as JSON (docs/json.md). */

struct msim_cal_left {
    const char *platform, *host, *network; /* files; NULL: not written */
    const struct msim_cal_journal *journal;
    const char *journal_path;
    const struct msim_cal_scores *scores; /* NULL: nothing was fitted */
};

MSIM_MUST_CHECK
enum msim_status msim_cal_left_json(FILE *out,
                                    const struct msim_cal_left *left);

/* Experiments that would be timed: begin, one each, and end, which returns how
 * the writing went. */
void msim_cal_questions_begin(struct msim_json *j, FILE *out);
void msim_cal_questions_add(struct msim_json *j, const char *backend,
                            const char *experiment, double run_us,
                            double seconds);
MSIM_MUST_CHECK
enum msim_status msim_cal_questions_end(struct msim_json *j, double seconds);

/* ---- machine text -------------------------------------------------------- */
/* The comparisons that a journal allows, as text. */

/* Print how far backends differ, how much a collective slows compute, and
 * hardware counters over assumed figures; each only where it was timed. */
MSIM_MUST_CHECK
enum msim_status msim_cal_show(FILE *out, const struct msim_cal_journal *j);

#endif
