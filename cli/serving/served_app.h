/*
 * cli/serving/served_app.h - the application that `serve` is asked about: a
 * file, or a model alone.
 */
#ifndef MSIM_CLI_SERVING_SERVED_APP_H
#define MSIM_CLI_SERVING_SERVED_APP_H
#include "serving/app/app.h"

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
