/*
 * cli/cmd_convert.c - `convert`: traces as Chakra execution traces.
 */
#include "cli/cmd.h"
#include "cli/load.h"
#include "cli/message.h"
#include "cli/options.h"
#include "core/chakra/write_chakra.h"
#include "core/work/opmap/works.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    const char *out;
    bool salvage;
};

static const struct msim_option OPTIONS[] = {
    {.name = "o",
     .type = MSIM_OPTION_TEXT,
     .field = offsetof(struct settings, out),
     .metavar = "OUT",
     .help = "the file to write; for several ranks OUT.0.et, OUT.1.et, ...; "
             "compressed where OUT ends in .gz"},
    MSIM_OPTION_SALVAGE_ROW(struct settings, salvage),
};

static const char *const EXAMPLES[] = {
    "mystique-sim convert run/et run/kineto -o run.et",
    "mystique-sim convert trace.json.gz -o trace.et",
    NULL,
};

static const struct msim_command COMMAND = {
    .name = "convert",
    .operands = "TRACE|DIR... -o OUT",
    .summary =
        "Write traces as Chakra execution traces (protobuf, .et), one file a "
        "rank,\nfor simulators that read those. Times are whole nanoseconds "
        "in the attributes\nstart_ns and duration_ns beside the format's own "
        "microseconds; a duration is a\nnode's own work, and data_deps say "
        "what it waits for.",
    .options = OPTIONS,
    .n_options = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .examples = EXAMPLES,
    .min_operands = 1,
};

/* ---- what operators ask of the GPU --------------------------------------- */

/* What operator `i` asks for with its own kernels, launched or to be expected;
 * transfers between ranks have nodes of their own. */
static struct msim_chakra_work work_of(const struct msim_works *all, uint32_t i)
{
    const uint32_t *kernels = all->kernels.begin;
    struct msim_chakra_work sum = {0};
    const struct msim_work *works;
    uint32_t n;

    if (all->trace->has_gpu_events && kernels[i] == kernels[i + 1])
        return sum;
    (void)msim_works_of(all, i, &works, &n);
    for (uint32_t k = 0; k < n; k++) {
        if (works[k].family == MSIM_FAMILY_COLLECTIVE)
            continue;
        sum.flops += works[k].flops;
        sum.bytes += works[k].bytes_read + works[k].bytes_written;
    }
    return sum;
}

static enum msim_status works_of(struct msim_chakra_work **out,
                                 const struct msim_trace *t)
{
    struct msim_works *all;

    MSIM_TRY(msim_works_new(&all, t, NULL, msim_opmap_place_of(t, false)));
    *out = calloc((size_t)t->n_ops + 1, sizeof(**out));
    for (uint32_t i = 0; *out && i < t->n_ops; i++)
        (*out)[i] = work_of(all, i);
    msim_works_free(all);
    return *out ? MSIM_OK : MSIM_ENOMEM;
}

static void free_works(struct msim_chakra_work **works, uint32_t n)
{
    for (uint32_t i = 0; works && i < n; i++)
        free(works[i]);
    free(works);
}

/* ---- messages ------------------------------------------------------------ */

static void say_written(void *ctx, const char *path, uint64_t nodes)
{
    (void)ctx;
    msim_message("wrote %s: %" PRIu64 " nodes", path, nodes);
}

/* What Chakra has no place for, or a simulator that reads it ignores. */
static void warn_dropped(const struct msim_chakra_summary *s, bool from_et)
{
    if (s->copied)
        msim_message("%" PRIu32 " of %" PRIu32 " files were Chakra already: "
                     "their messages are as they were",
                     s->copied, s->files);
    if (from_et)
        msim_message_warning("op_schema, fw_parent, tensor_range and strides "
                             "of tensors of an execution trace are not read, "
                             "so they are not written");
    if (s->without_times)
        msim_message_warning("an execution trace has no times: durations are "
                             "0, and kernels that operators would launch have "
                             "num_ops and tensor_size instead");
    if (s->delays)
        msim_message_warning(
            "%" PRIu64 " dependencies have a delay (launch latency and the "
            "like, %.3f ms together), for which Chakra has only our "
            "attribute data_deps_lag_ns",
            s->delays, (double)s->delay_ns / 1e6);
    if (s->releases)
        msim_message_warning(
            "%" PRIu64 " nodes begin at an instant that nothing recorded "
            "explains (threads, launches before the recording, absent "
            "ranks): only our attribute not_before_ns says so",
            s->releases);
    if (s->rounded)
        msim_message_warning("%" PRIu64 " times are not whole nanoseconds and "
                             "are cut to them",
                             s->rounded);
}

/* ---- the verb ------------------------------------------------------------ */

static bool has_et(const struct msim_job *job)
{
    for (uint32_t i = 0; i < job->n_ranks; i++)
        if (job->ranks[i]->has_et && !job->ranks[i]->source)
            return true;
    return false;
}

static enum msim_status convert(struct msim_job *job, const char *out,
                                struct msim_error *err)
{
    struct msim_chakra_work **works =
        calloc((size_t)job->n_ranks + 1, sizeof(*works));
    struct msim_chakra_summary summary;
    enum msim_status status = works ? MSIM_OK : MSIM_ENOMEM;

    for (uint32_t i = 0; i < job->n_ranks && status == MSIM_OK; i++)
        status = works_of(&works[i], job->ranks[i]);
    if (status == MSIM_OK)
        status = msim_chakra_write(
            job, out,
            &(struct msim_chakra_options){
                .works = (const struct msim_chakra_work *const *)works,
                .written = say_written},
            &summary, err);
    if (status == MSIM_OK) {
        msim_message_warnings(job->warnings, job->n_warnings, false);
        warn_dropped(&summary, has_et(job));
    }
    free_works(works, job->n_ranks);
    return status;
}

static int usage(const char *text)
{
    msim_message("%s", text);
    return MSIM_EXIT_USAGE;
}

int msim_cmd_convert(int argc, char **argv)
{
    struct settings s = {0};
    struct msim_cli_operands files;
    struct msim_error err = {0};
    struct msim_job *job = NULL;
    enum msim_status status;
    int rc = msim_command_start(&COMMAND, argc, argv, &s, &files);

    if (rc >= 0)
        return rc;
    if (!s.out)
        return usage("'convert' wants -o OUT, the file to write; see "
                     "'mystique-sim convert --help'");
    if (!strcmp(s.out, "-"))
        return usage("option '-o' is '-', want a file");
    status = msim_load_job(&job, &files,
                           &(struct msim_load_options){.salvage = s.salvage,
                                                       .keep_source = true,
                                                       .threads = 2},
                           &err);
    if (status == MSIM_OK)
        status = convert(job, s.out, &err);
    msim_job_free(job);
    return status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
}
