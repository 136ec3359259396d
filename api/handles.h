/*
 * api/handles.h - what stands behind the handles of mystique.h, and how
 * statuses become errors of callers.
 */
#ifndef MSIM_API_HANDLES_H
#define MSIM_API_HANDLES_H
#include "api/mystique.h"
#include "plan/written/written_job.h"
#include "predict/inputs.h"
#include "predict/pipeline.h"

#include <pthread.h>
#include <stdio.h>

struct mystique {
    char *data; /* the folder; nothing changes after it was opened */
};

struct mystique_job {
    pthread_mutex_t lock; /* of all below: a run takes memory of the job */
    char *data;
    char **paths; /* owned, and so are they */
    char *ops, *source_trace;
    char *communication[MSIM_OWN_COMMS_MAX];
    struct msim_predict_settings settings; /* before a call's own options */
    struct msim_written_job written;
    struct msim_inputs inputs;
    struct msim_shelf shelf; /* platforms, read once */
};

/* What takes options; each knows its own. */
enum msim_api_call { MSIM_API_PREDICT, MSIM_API_WHATIF, MSIM_API_OP };

/* Options of one call; texts are those of `json`. */
struct msim_call_options {
    cJSON *json;
    struct msim_predict_settings settings;
    struct msim_scale *scales; /* the settings' */
    bool kernels;
};

/* A text on its way to a result. */
struct msim_answer {
    FILE *out;
    char *text;
    size_t length;
};

/* `out` is a stream into memory, or NULL: memory is out. */
void msim_answer_begin(struct msim_answer *a);
/* The result, or what `status` says; the answer is gone in any case. */
MSIM_MUST_CHECK
enum msim_status msim_answer_end(struct msim_answer *a, mystique_result **out,
                                 enum msim_status status);

/* Hand `status` and `from` to the caller: one of MYSTIQUE_*. */
int msim_api_status(enum msim_status status, const struct msim_error *from,
                    mystique_error *err);

/* MYSTIQUE_USAGE: the argument `name` of a call is NULL, want `want`. */
int msim_api_null(const char *name, const char *want, mystique_error *err);

/* Options of loading into `job`; of a call, onto the settings that `o` has.
 * `text` NULL: none are given. Release the latter in any case. */
MSIM_MUST_CHECK
enum msim_status msim_load_options_read(struct mystique_job *job,
                                        const char *text,
                                        struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_call_options_read(struct msim_call_options *o,
                                        enum msim_api_call call,
                                        const char *text,
                                        struct msim_error *err);
void msim_call_options_release(struct msim_call_options *o);

/*
 * A text as a file of this process, for what reads files: its descriptor, and
 * its path. -1 where there is no memory. close() it.
 */
int msim_text_file(char path[64], const char *text);

#endif
