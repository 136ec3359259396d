/*
 * cli/load.h - traces loaded for a verb, with progress shown while that takes
 * long.
 */
#ifndef MSIM_CLI_LOAD_H
#define MSIM_CLI_LOAD_H
#include "cli/options.h"
#include "predict/pipeline.h"

/*
 * msim_job_load() of the operands; `opt` without its progress, which is the
 * terminal's.
 */
MSIM_MUST_CHECK
enum msim_status msim_load_job(struct msim_job **out,
                               const struct msim_cli_operands *files,
                               const struct msim_load_options *opt,
                               struct msim_error *err);

/* msim_predict_load() from the program's data folder; the settings' own `data`
 * and progress are not looked at. */
MSIM_MUST_CHECK
enum msim_status msim_load_prediction(struct msim_inputs *in,
                                      struct msim_target *to,
                                      const struct msim_predict_settings *s,
                                      struct msim_error *err);

/* Take the value of an option --communication; `value` must outlive `o`. EUSAGE
 * where it is empty or one too many. */
MSIM_MUST_CHECK
enum msim_status msim_communication_parse(struct msim_load_options *o,
                                          const char *value,
                                          struct msim_error *err);

#define MSIM_OPTION_COMMUNICATION_ROW(parser)                                  \
    {                                                                          \
        .name = "communication", .type = MSIM_OPTION_CUSTOM,                   \
        .parse = (parser), .metavar = "GLOB",                                  \
        .help = "count kernels whose names match GLOB as communication, "      \
                "besides those of NCCL, DeepEP and other libraries that are "  \
                "known; may be repeated",                                      \
    }

#endif
