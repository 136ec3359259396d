/*
 * cli/serving/pass_reader.h - recorded passes of an application's stages: read
 * once each, and predicted for every GPU and size that a stage asks for.
 */
#ifndef MSIM_CLI_SERVING_PASS_READER_H
#define MSIM_CLI_SERVING_PASS_READER_H
#include "serving/deploy/deploy.h"

struct msim_pass_reader; /* opaque */

/* From the platforms of `data_dir`, which outlives it. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_pass_reader_new(struct msim_pass_reader **out,
                                      const char *data_dir);
void msim_pass_reader_free(struct msim_pass_reader *r); /* accepts NULL */

/* Valid as long as `r`. */
const struct msim_recorder *
msim_pass_reader_recorder(const struct msim_pass_reader *r);

#endif
