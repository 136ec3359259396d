/*
 * cli/serving/cli_serving_internal.h - what the files of cli/serving share; no
 * other room includes it.
 */
#ifndef MSIM_CLI_SERVING_CLI_SERVING_INTERNAL_H
#define MSIM_CLI_SERVING_CLI_SERVING_INTERNAL_H
#include "serving/app/app.h"
#include "serving/deploy/deploy.h"

#include <stdbool.h>

/* ---- learn requests ------------------------------------------------------ */
/* `learn --requests`: the constants of an engine from a measured run. */

/* Tune the engine of the application at `app` to the log at `log`, write the
 * file `out` and print what was found, as text or JSON; the exit code. */
int msim_learn_requests(const char *app, const char *log, const char *out,
                        bool json);

/* ---- pass reader --------------------------------------------------------- */
/*
 * Recorded passes of an application's stages: read once each, and predicted for
 * every GPU and size that a stage asks for.
 */

struct msim_pass_reader; /* opaque */

/* From the platforms of `data_dir`, which outlives it. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_pass_reader_new(struct msim_pass_reader **out,
                                      const char *data_dir);
void msim_pass_reader_free(struct msim_pass_reader *r); /* accepts NULL */

/* Valid as long as `r`. */
const struct msim_recorder *
msim_pass_reader_recorder(const struct msim_pass_reader *r);

/* ---- served app ---------------------------------------------------------- */
/* The application that `serve` is asked about: a file, or a model alone. */

/* What options say of it. */
struct msim_served_words {
    const char *platform;               /* NULL: nothing */
    double input_tokens, output_tokens; /* 0: not said */
    const cJSON *set; /* an array of texts MEMBER=VALUE; NULL: none */
};

/*
 * The application of `operand`: what is an application's file, with the members
 * that `words` set; else a model, a name of `data_dir`/models or a file that
 * describes one, which one engine on one replica serves: 1024 tokens in and 128
 * out, as `vllm bench serve` asks where nobody says. Of a model members are
 * those of its stage ("tp=2"), or of the application where it has such ones
 * ("name=x"). On success `app` goes to msim_app_release(). EUSAGE of options
 * that it does not take; otherwise as msim_app_read(), msim_described_find().
 */
MSIM_MUST_CHECK
enum msim_status msim_served_app_read(struct msim_app *app, const char *operand,
                                      const struct msim_served_words *words,
                                      struct msim_error *err);

#endif
