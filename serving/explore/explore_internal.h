/*
 * serving/explore/explore_internal.h - what the files of serving/explore share;
 * no other room includes it.
 */
#ifndef MSIM_SERVING_EXPLORE_EXPLORE_INTERNAL_H
#define MSIM_SERVING_EXPLORE_EXPLORE_INTERNAL_H
#include "core/base/containers.h"
#include "core/base/status.h"

#include <stdbool.h>

/* ---- explore rows -------------------------------------------------------- */
/*
 * What an explorer answered: visits of one stage, a line each.
 *
 * Columns are t_s and latency_ms, and where they are known class, wait_ms (in
 * the queue), batch (how many were served together) and size (of the request,
 * over the mean). Others are passed over.
 */

struct msim_visit_row {
    double t_s, latency_ms;
    double wait_ms; /* NAN: not known */
    double size;    /* NAN: not known */
    uint32_t cls;   /* index of the class; 0 where the column is missing */
    uint32_t batch; /* 0: not known */
    uint32_t run;   /* which question they answer; from 0 */
};

/* What must hold of every row. */
struct msim_visit_limits {
    const char *const *classes; /* names, n_classes of them */
    uint32_t n_classes;
    double seconds;   /* of load that were asked for; 0: not known */
    double most_rows; /* 0: any number */
    uint32_t run;
};

/*
 * Append the rows of the file `path` to `rows`. ETRUNCATED where it is empty;
 * EFORMAT, with the line, where a column is missing or is there twice over, a
 * time is negative or no number, a visit waits longer than it takes, a class is
 * none of the application's, or there are more visits than were asked for.
 */
MSIM_MUST_CHECK
enum msim_status msim_visit_rows_read(struct msim_vec *rows, const char *path,
                                      const struct msim_visit_limits *limits,
                                      struct msim_error *err);

/* ---- explore command ----------------------------------------------------- */
/*
 * A user's program that measures one stage of an application under load, run as
 * a process.
 *
 *     COMMAND --stage S --replicas c --rate r --seconds n --seed s
 *
 * COMMAND is split at blanks; quotes ('...', "...") and backslashes keep them,
 * as in a shell, but no shell runs it, so nothing else in it means anything.
 * What the program prints goes into a file; what it says on standard error is
 * shown. It leads a process group of its own. Not thread-safe.
 */

struct msim_explorer {
    char *text;       /* owned; the words point into it */
    char **words;     /* owned; with room for the options and a NULL */
    uint32_t n_words; /* of the command alone */
    double patience;  /* seconds beyond those that are asked for */
};

/* What is asked of a stage. */
struct msim_explore_question {
    const char *stage;
    int64_t replicas;
    double rate, seconds; /* visits a second, seconds of load */
    uint64_t seed;
    double most_rows; /* of an answer; an explorer that prints on is stopped */
};

/* Split `command`. EUSAGE where it is empty or a quote stays open. Release in
 * all cases. */
MSIM_MUST_CHECK
enum msim_status msim_explorer_init(struct msim_explorer *e,
                                    const char *command, double patience,
                                    struct msim_error *err);
void msim_explorer_release(struct msim_explorer *e);

/*
 * Ask, and let the answer be written to the file `path`, which is there. EIO
 * where the program cannot be run, or ends otherwise than with 0 ("ended with
 * exit code 3", "was killed by signal 11"); ELIMIT where it takes `patience`
 * seconds longer than the load does, or prints more than `most_rows` long
 * lines. It is killed then, and what it started, as far as that stayed in its
 * process group; the same where a signal ends this process meanwhile.
 */
MSIM_MUST_CHECK
enum msim_status msim_explorer_ask(const struct msim_explorer *e,
                                   const struct msim_explore_question *q,
                                   const char *path, struct msim_error *err);

/* ---- service fit --------------------------------------------------------- */
/*
 * The service of a stage from visits that were explored.
 *
 * A visit of class k, size z, served with n - 1 others, takes
 *
 *     x = b * max over the batch of (z^power * factor[k]) * law(n)
 *
 * in which b is drawn anew each time. The exponent, the factors and the law
 * are found by least squares on log x; b are the samples that are left. What
 * does not stand out from the noise is 0 (the exponent) or 1 (a factor).
 * Latency minus wait is the service, at any load; where waits are not known
 * the latency is, at a load that leaves little waiting.
 */

struct msim_service_fit {
    double *base; /* ascending, ms; owned */
    uint32_t n_base;
    double mean;    /* of base */
    double power;   /* of the size */
    double *factor; /* one a class; owned */
    double *law;    /* law[n - 1] of a batch of n, law[0] = 1; owned */
    uint32_t most;  /* of a batch */
    bool waits, sizes, batches; /* what the rows told */
};

/*
 * Fit `rows` (n of them) of a stage that serves at most `most` together (1: no
 * batches). ELIMIT where there is nothing to learn from; ENOMEM. Release in all
 * cases.
 */
MSIM_MUST_CHECK
enum msim_status msim_service_fit_make(struct msim_service_fit *fit,
                                       const struct msim_visit_row *rows,
                                       uint32_t n, uint32_t n_classes,
                                       uint32_t most);
void msim_service_fit_release(struct msim_service_fit *fit);

#endif
