/*
 * cli/load.c - traces loaded for a verb.
 */
#include "cli/cmd.h"

#include <limits.h>
#include <string.h>

enum msim_status msim_load_job(struct msim_job **out,
                               const struct msim_cli_operands *files,
                               const struct msim_load_options *opt,
                               struct msim_error *err)
{
    struct msim_load_options with = *opt;
    struct msim_progress progress;
    enum msim_status status;

    with.progress = msim_progress_bytes;
    with.progress_ctx = &progress;
    msim_progress_start(&progress, "reading");
    status = msim_job_load(out, (const char *const *)files->items,
                           (uint32_t)files->n, &with, err);
    msim_progress_end(&progress);
    return status;
}

enum msim_status msim_load_prediction(struct msim_inputs *in,
                                      struct msim_target *to,
                                      const struct msim_predict_settings *s,
                                      struct msim_error *err)
{
    struct msim_predict_settings with = *s;
    struct msim_progress progress;
    char data[PATH_MAX];
    enum msim_status status;

    memset(in, 0, sizeof(*in));
    memset(to, 0, sizeof(*to));
    MSIM_TRY(msim_datadir_find(data, sizeof(data), err));
    with.data = data;
    with.load.progress = msim_progress_bytes;
    with.load.progress_ctx = &progress;
    msim_progress_start(&progress, "reading");
    status = msim_predict_load(in, to, &with, err);
    msim_progress_end(&progress);
    return status;
}

enum msim_status msim_communication_parse(void *load, const char *value,
                                          struct msim_error *err)
{
    struct msim_load_options *o = load;

    if (!*value)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "option '--communication' is empty, want a name or a "
                         "pattern of kernels, such as 'mylib::exchange*'");
    if (o->n_communication == MSIM_OWN_COMMS_MAX)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "got more than %d options '--communication'",
                         MSIM_OWN_COMMS_MAX);
    o->communication[o->n_communication++] = value;
    return MSIM_OK;
}
