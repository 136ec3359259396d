/*
 * cli/predict_options.h - the command line of `predict`.
 */
#ifndef MSIM_CLI_PREDICT_OPTIONS_H
#define MSIM_CLI_PREDICT_OPTIONS_H
#include "cli/options.h"
#include "core/report/analyse/prediction.h"
#include "predict/inputs.h"

#include <stdio.h>

#define MSIM_PLATFORMS_MAX 64 /* of one table */

struct msim_predict_options {
    struct msim_predict_settings settings; /* `data` and progress are not set */
    struct msim_scale *scales;             /* heap; the settings' */
    uint32_t cap_scales;
    int peers; /* index of the word */
    enum msim_output output;
    struct msim_rates rates; /* without what differs by platform */
    struct msim_each_platform {
        double of[MSIM_PLATFORMS_MAX];
        uint32_t n; /* 0: not given; 1: holds for all */
    } prices, watts;
    const char *price_file; /* where prices are from; NULL: they are given */
    const char *model;      /* to be recorded; NULL: traces are given */
    const char *explain;    /* operator name, NULL: not wanted */
    bool brief;             /* the first part of the text alone */
    const char *timeline, *chart, *html; /* files, NULL: not wanted */
};

/*
 * Parse and check a command line. Returns -1 when the prediction is to go on;
 * else the exit code, as msim_command_start(). Release in both cases.
 */
int msim_predict_options_parse(struct msim_predict_options *o, int argc,
                               char **argv);
void msim_predict_options_release(struct msim_predict_options *o);

/* What a user counts by on the i-th of the platforms. */
struct msim_rates
msim_predict_options_rates(const struct msim_predict_options *o, uint32_t i);

/* The value of --iteration: "all", or the number of a step or an index. */
MSIM_MUST_CHECK
enum msim_status msim_iteration_parse(int64_t *out, const char *value,
                                      struct msim_error *err);

/* The options and examples of `predict`, for the program's own --help. */
void msim_predict_options_help(FILE *out);

#endif
