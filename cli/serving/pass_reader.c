/*
 * cli/serving/pass_reader.c - recorded passes, predicted by `predict`.
 *
 * A pass is the period of its trace: measured where it ran on the GPU that is
 * asked for, else carried there or, without times, by models. With other sizes
 * it is reshaped.
 */
#include "cli/serving/cli_serving_internal.h"

#include "core/base/containers.h"
#include "core/reshape/reshape.h"
#include "predict/inputs.h"
#include "predict/pipeline.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A trace that was read. */
struct recording {
    char *file;
    struct msim_inputs in;
    struct msim_pass_sizes sizes;
};

/* What was asked, and what was answered. */
struct answer {
    struct recording *of;
    char *platform;
    struct msim_reshape reshape;
    double us, half;
};

struct msim_pass_reader {
    struct msim_recorder recorder;
    const char *data_dir;
    struct msim_shelf shelf;
    pthread_mutex_t lock;
    struct recording **recordings; /* each stays where it is */
    uint32_t n_recordings, cap_recordings;
    struct answer *answers;
    uint32_t n_answers, cap_answers;
};

/* ---- traces -------------------------------------------------------------- */

static struct msim_predict_settings settings_of(struct msim_pass_reader *r,
                                                const char *const *file,
                                                const char *platform)
{
    return (struct msim_predict_settings){.data = r->data_dir,
                                          .shelf = &r->shelf,
                                          .paths = file,
                                          .n_paths = 1,
                                          .platform = platform,
                                          .peers = MSIM_PEERS_FOLLOW,
                                          .iteration = MSIM_ITERATION_ALL,
                                          .totals_only = true};
}

static void recording_free(struct recording *of)
{
    if (!of)
        return;
    msim_inputs_release(&of->in);
    free(of->file);
    free(of);
}

static enum msim_status read_recording(struct msim_pass_reader *r,
                                       struct recording *of,
                                       struct msim_error *err)
{
    const char *file = of->file;
    struct msim_predict_settings s = settings_of(r, &file, NULL);

    MSIM_TRY(msim_inputs_load(&of->in, &s, err));
    msim_pass_sizes_of(&of->sizes, of->in.job->ranks[0]);
    if (!of->sizes.trains)
        return MSIM_OK;
    return msim_fail(err, MSIM_EFORMAT, file, MSIM_OFFSET_NONE,
                     "the trace has a backward pass: it is a step of training, "
                     "want a recorded pass forward");
}

/* The trace of that file, read the first time that somebody asks. */
static enum msim_status find_recording(struct msim_pass_reader *r,
                                       const char *file, struct recording **out,
                                       struct msim_error *err)
{
    struct recording *of;
    enum msim_status status;

    for (uint32_t i = 0; i < r->n_recordings; i++) {
        *out = r->recordings[i];
        if (strcmp((*out)->file, file) == 0)
            return MSIM_OK;
    }
    MSIM_TRY(msim_grow((void **)&r->recordings, &r->cap_recordings,
                       r->n_recordings, sizeof(*r->recordings)));
    of = calloc(1, sizeof(*of));
    if (of)
        of->file = strdup(file);
    status = of && of->file ? read_recording(r, of, err) : MSIM_ENOMEM;
    if (status == MSIM_OK)
        *out = r->recordings[r->n_recordings++] = of;
    else
        recording_free(of);
    return status;
}

/* ---- sizes --------------------------------------------------------------- */

/* Stated, else what the trace tells. */
static void put_sizes(struct msim_pass_time *out, const struct recording *of,
                      const struct msim_recorded_pass *pass)
{
    out->batch = pass->batch ? pass->batch : of->sizes.batch;
    out->tokens = pass->tokens ? pass->tokens : of->sizes.tokens;
    out->context = pass->context >= 0 ? pass->context : of->sizes.context;
}

static void reshape(struct msim_reshape *to, int64_t from, double size,
                    bool every)
{
    int64_t wanted = (int64_t)size;

    if (wanted > 0 && from > 0 && wanted != from)
        to->axes[to->n_axes++] = (struct msim_axis){from, wanted, every};
}

/* ---- times --------------------------------------------------------------- */

static enum msim_status predict(struct answer *a,
                                const struct msim_predict_settings *s,
                                struct msim_error *err)
{
    struct msim_inputs *in = &a->of->in;
    struct msim_target to;
    struct msim_prediction_run run = {0};
    enum msim_status status = msim_target_load(&to, s, err);

    if (status == MSIM_OK)
        status = msim_target_settle(&to, s, in, err);
    if (status == MSIM_OK)
        status = msim_predict(&run, s, in, &to, err);
    if (status == MSIM_OK) {
        const struct msim_figure *us = &run.prediction->period.us;

        a->us = us->predicted;
        a->half = us->low > 0 ? log(us->high / us->low) / 2 : 0;
    }
    msim_prediction_run_release(&run);
    msim_target_release(&to);
    return status;
}

static bool is_same(const struct answer *a, const struct answer *b)
{
    if (a->of != b->of || strcmp(a->platform, b->platform) != 0 ||
        a->reshape.n_axes != b->reshape.n_axes)
        return false;
    for (uint32_t i = 0; i < a->reshape.n_axes; i++)
        if (a->reshape.axes[i].from != b->reshape.axes[i].from ||
            a->reshape.axes[i].to != b->reshape.axes[i].to ||
            a->reshape.axes[i].every != b->reshape.axes[i].every)
            return false;
    return true;
}

static enum msim_status keep(struct msim_pass_reader *r, struct answer a)
{
    MSIM_TRY(msim_grow((void **)&r->answers, &r->cap_answers, r->n_answers,
                       sizeof(*r->answers)));
    a.platform = strdup(a.platform);
    if (!a.platform)
        return MSIM_ENOMEM;
    r->answers[r->n_answers++] = a;
    return MSIM_OK;
}

/* Predicted the first time that somebody asks. */
static enum msim_status answer(struct answer *a, struct msim_pass_reader *r,
                               struct msim_error *err)
{
    const char *file = a->of->file;
    struct msim_predict_settings s = settings_of(r, &file, a->platform);

    for (uint32_t i = 0; i < r->n_answers; i++)
        if (is_same(&r->answers[i], a)) {
            *a = r->answers[i];
            return MSIM_OK;
        }
    s.reshape = a->reshape;
    MSIM_TRY(predict(a, &s, err));
    return keep(r, *a);
}

static enum msim_status time_pass(struct msim_pass_time *out,
                                  struct msim_pass_reader *r,
                                  const struct msim_recorded_pass *pass,
                                  const char *platform, double batch,
                                  double tokens, struct msim_error *err)
{
    struct answer a = {.platform = (char *)platform};

    MSIM_TRY(find_recording(r, pass->file, &a.of, err));
    put_sizes(out, a.of, pass);
    reshape(&a.reshape, out->batch, batch, false);
    reshape(&a.reshape, out->tokens, tokens, true);
    MSIM_TRY(answer(&a, r, err));
    out->us = a.us;
    out->half = a.half;
    return MSIM_OK;
}

static enum msim_status ask(struct msim_pass_time *out, void *own,
                            const struct msim_recorded_pass *pass,
                            const char *platform, double batch, double tokens,
                            struct msim_error *err)
{
    struct msim_pass_reader *r = own;
    enum msim_status status;

    *out = (struct msim_pass_time){0};
    pthread_mutex_lock(&r->lock);
    status = time_pass(out, r, pass, platform, batch, tokens, err);
    pthread_mutex_unlock(&r->lock);
    return status;
}

/* ---- making one ---------------------------------------------------------- */

enum msim_status msim_pass_reader_new(struct msim_pass_reader **out,
                                      const char *data_dir)
{
    struct msim_pass_reader *r = calloc(1, sizeof(*r));

    *out = r;
    if (!r)
        return MSIM_ENOMEM;
    r->data_dir = data_dir;
    r->recorder = (struct msim_recorder){r, ask};
    pthread_mutex_init(&r->lock, NULL);
    return MSIM_OK;
}

void msim_pass_reader_free(struct msim_pass_reader *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->n_recordings; i++)
        recording_free(r->recordings[i]);
    for (uint32_t i = 0; i < r->n_answers; i++)
        free(r->answers[i].platform);
    free(r->recordings);
    free(r->answers);
    msim_shelf_release(&r->shelf);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

const struct msim_recorder *
msim_pass_reader_recorder(const struct msim_pass_reader *r)
{
    return &r->recorder;
}
