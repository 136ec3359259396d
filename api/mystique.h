/*
 * mystique.h - predictions of mystique-sim inside a program of yours.
 *
 *     mystique *m;
 *     mystique_job *job;
 *     mystique_result *r;
 *     mystique_error e;
 *     double us;
 *
 *     if (mystique_open(&m, NULL, &e) ||
 *         mystique_load(&job, m, &path, 1, NULL, &e) ||
 *         mystique_predict(&r, job, "{\"platform\": \"h100\"}", &e))
 *         fprintf(stderr, "%s\n", e.text);
 *     else if (mystique_number(r, "period_us.predicted", &us) == 0)
 *         printf("%.1f us\n", us);
 *
 * A job is loaded once and predicted from as often as wanted: other GPUs, other
 * factors, scenarios. Answers are what `mystique-sim --json` prints, byte for
 * byte (docs/json.md has members and units).
 *
 * Nothing is printed, nothing written to a file, no process ended, no signal
 * taken. Functions that can fail return one of MYSTIQUE_*, 0 being success,
 * and then leave NULL in what they were to make; the caller's error says why.
 *
 * A NULL where something is wanted is MYSTIQUE_USAGE, too: what an earlier call
 * that failed left there may be handed on.
 *
 * Threads: any number may use one library. Calls on one job wait for one
 * another; results never change, and outlive job and library.
 */
#ifndef MSIM_API_MYSTIQUE_H
#define MSIM_API_MYSTIQUE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MYSTIQUE_API __attribute__((visibility("default")))
#else
#define MYSTIQUE_API
#endif

/* The exit codes of the program. */
enum mystique_status {
    MYSTIQUE_OK = 0,
    MYSTIQUE_CHECK = 1,   /* a check failed */
    MYSTIQUE_USAGE = 2,   /* options, or a name that is not known */
    MYSTIQUE_INPUT = 3,   /* a file cannot be read, or is not what it should */
    MYSTIQUE_INTERNAL = 4 /* memory is out, or a fault of ours */
};

#define MYSTIQUE_OFFSET_NONE UINT64_MAX

/* Filled in by a call that fails; the caller's, may be NULL. */
typedef struct mystique_error {
    int status;      /* what the call returned */
    uint64_t offset; /* in the (inflated) file, or MYSTIQUE_OFFSET_NONE */
    char file[256];  /* "": not about a file */
    char text[1024]; /* what was found, what was wanted, what to do */
} mystique_error;

typedef struct mystique mystique;
typedef struct mystique_job mystique_job;
typedef struct mystique_result mystique_result;

/* "0.1.0" */
MYSTIQUE_API const char *mystique_version(void);

/*
 * The library with its data (platforms/, hosts/, ...) in `data_dir`; NULL: of
 * the environment's MSIM_DATA, else beside the library, else as installed.
 */
MYSTIQUE_API int mystique_open(mystique **out, const char *data_dir,
                               mystique_error *err);
/* Accepts NULL. Jobs and results stay. */
MYSTIQUE_API void mystique_close(mystique *m);

/*
 * Load a job: `n` files and folders with the traces of its ranks. `options` is
 * a JSON object, or NULL; its members are options of `predict`:
 *     "salvage" (true), "communication" (array of globs), "ops" (a CSV file),
 *     "source_trace" (a path), "threads" (1 or 2, of reading)
 */
MYSTIQUE_API int mystique_load(mystique_job **out, const mystique *m,
                               const char *const *paths, size_t n,
                               const char *options, mystique_error *err);
/* Accepts NULL. No other call on the job may be under way. */
MYSTIQUE_API void mystique_job_free(mystique_job *job);

/*
 * How long the job takes: JSON, schema mystique-sim/prediction/1. `options` is
 * a JSON object, or NULL; its members are options of `predict`:
 *     "platform", "source_platform", "host", "network" (a name or a file),
 *     "costs" ("auto", "measured", "model", "scaled"), "clock", "power_cap"
 *     (texts), "scale" (array of "SELECT=FACTOR"), "ranks", "nodes",
 *     "iteration" (a number), "index_skew", "peers" ("follow", "fixed"),
 *     "usage", "strict" (true)
 */
MYSTIQUE_API int mystique_predict(mystique_result **out, mystique_job *job,
                                  const char *options, mystique_error *err);

/*
 * Changes to the job, side by side: JSON, schema mystique-sim/whatif/1.
 * `scenarios` is the text of such a file (docs/whatif.md); `options` are those
 * of mystique_predict(), of the base, and "kernels" (true).
 */
MYSTIQUE_API int mystique_whatif(mystique_result **out, mystique_job *job,
                                 const char *scenarios, const char *options,
                                 mystique_error *err);

/*
 * A prediction for every row of `rows`, the text of a table of operators
 * (docs/operators.md) with its header: CSV, four columns more. `options`:
 *     "platform" (wanted), "clock", "power_cap"
 */
MYSTIQUE_API int mystique_op(mystique_result **out, const mystique *m,
                             const char *rows, const char *options,
                             mystique_error *err);

/* The answer as text, which ends with a line end and a NUL behind it; the
 * result's. `length`, without the NUL, may be NULL. No text, NULL, of no
 * result. */
MYSTIQUE_API const char *mystique_text(const mystique_result *r,
                                       size_t *length);

/*
 * A number of a JSON answer by its path: "period_us.predicted",
 * "ops[0].calls". MYSTIQUE_USAGE where there is none, or it is null: not known.
 */
MYSTIQUE_API int mystique_number(const mystique_result *r, const char *path,
                                 double *out);

/* Accepts NULL. */
MYSTIQUE_API void mystique_result_free(mystique_result *r);

#ifdef __cplusplus
}
#endif
#endif
