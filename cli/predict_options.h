/*
 * cli/predict_options.h - the command line of `predict`.
 */
#ifndef MSIM_CLI_PREDICT_OPTIONS_H
#define MSIM_CLI_PREDICT_OPTIONS_H
#include "core/run/scale.h"
#include "models/platform/sm_clock.h"

#include <stdint.h>
#include <stdio.h>

enum msim_costs_option {
    MSIM_COSTS_AUTO,
    MSIM_COSTS_MEASURED,
    MSIM_COSTS_MODEL,
    MSIM_COSTS_SCALED,
};

enum msim_peers_option {
    MSIM_PEERS_OPTION_FIXED,
    MSIM_PEERS_OPTION_FOLLOW,
};

#define MSIM_ITERATION_ALL (-1)

struct msim_predict_options {
    const char *platform;        /* name or file; NULL: from the trace */
    const char *source_platform; /* that the trace ran on; NULL: likewise */
    const char *source_trace;    /* whose times are scaled; NULL: the job's */
    const char *host;    /* name or file; NULL: the trace's own, else generic */
    const char *network; /* name or file; NULL: the platform's own */
    const char *ops;     /* the user's table of operators; NULL: none */
    struct msim_clock_wish clock; /* --clock and --power-cap */
    double index_skew;            /* of look-ups into tables; 0: uniform */
    int costs;                    /* enum msim_costs_option */
    struct msim_scale *scales;    /* heap */
    uint32_t n_scales, cap_scales;
    int peers;         /* enum msim_peers_option */
    uint32_t ranks;    /* that the traced ones stand for; 0: themselves */
    uint32_t nodes;    /* that the job is spread over; 0: as many as it needs */
    int64_t iteration; /* n of ProfilerStep#n or an index, or ITERATION_ALL */
    bool salvage, strict, json, csv;
    const char *explain;          /* operator name, NULL: not wanted */
    const char *timeline, *chart; /* files, NULL: not wanted */
    uint32_t threads;
    const char *const *paths; /* points into argv */
    uint32_t n_paths;
};

/*
 * Parse and check a command line. Returns -1 when the prediction is to go on;
 * else the exit code, as msim_command_start(). Release in both cases.
 */
int msim_predict_options_parse(struct msim_predict_options *o, int argc,
                               char **argv);
void msim_predict_options_release(struct msim_predict_options *o);

/* The value of --iteration: "all", or the number of a step or an index. */
MSIM_MUST_CHECK
enum msim_status msim_iteration_parse(int64_t *out, const char *value,
                                      struct msim_error *err);

/* The options and examples of `predict`, for the program's own --help. */
void msim_predict_options_help(FILE *out);

#endif
