/*
 * cli/cmd_convert.c - `convert`: traces as Chakra execution traces.
 */
#include "cli/cmd.h"
#include "cli/options.h"
#include "core/base/containers.h"
#include "core/base/json.h"
#include "core/chakra/write_chakra.h"
#include "core/work/opmap/opmap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    const char *out;
    bool salvage, json;
};

static const struct msim_option OPTIONS[] = {
    MSIM_OPTION(
        struct settings, out, TEXT, "o", .metavar = "OUT",
        .help = "the file to write; for several ranks OUT.0.et, OUT.1.et, ...; "
                "compressed where OUT ends in .gz"),
    MSIM_OPTION(struct settings, json, FLAG, "json",
                .help = "print what was written as JSON (schema "
                        "mystique-sim/conversion/1)"),
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
    MSIM_OPTIONS(OPTIONS),
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

/* ---- what was written, and what not -------------------------------------- */

struct answer {
    struct written {
        char *path;
        uint64_t nodes;
    } * files;
    uint32_t n, cap;
    struct msim_chakra_summary summary;
    bool from_et, lost; /* lost: no memory for a file's name */
};

static void note_written(void *ctx, const char *path, uint64_t nodes)
{
    struct answer *a = ctx;
    char *own = strdup(path);

    if (!own || msim_grow((void **)&a->files, &a->cap, a->n,
                          sizeof(*a->files)) != MSIM_OK) {
        free(own);
        a->lost = true;
        return;
    }
    a->files[a->n++] = (struct written){own, nodes};
}

static void release_answer(struct answer *a)
{
    for (uint32_t i = 0; i < a->n; i++)
        free(a->files[i].path);
    free(a->files);
}

#define SENTENCES 5

/* What Chakra has no place for, or a simulator that reads it ignores; returns
 * how many sentences. */
static uint32_t tell_dropped(const struct answer *a, char text[SENTENCES][256])
{
    const struct msim_chakra_summary *s = &a->summary;
    uint32_t n = 0;

    if (a->from_et)
        snprintf(text[n++], sizeof(*text),
                 "op_schema, fw_parent, tensor_range and strides of tensors "
                 "of an execution trace are not read, so they are not "
                 "written");
    if (s->without_times)
        snprintf(text[n++], sizeof(*text),
                 "an execution trace has no times: durations are 0, and "
                 "kernels that operators would launch have num_ops and "
                 "tensor_size instead");
    if (s->delays)
        snprintf(text[n++], sizeof(*text),
                 "%" PRIu64 " dependencies have a delay (launch latency and "
                 "the like, %.3f ms together), for which Chakra has only our "
                 "attribute data_deps_lag_ns",
                 s->delays, (double)s->delay_ns / 1e6);
    if (s->releases)
        snprintf(text[n++], sizeof(*text),
                 "%" PRIu64 " nodes begin at an instant that nothing recorded "
                 "explains (threads, launches before the recording, absent "
                 "ranks): only our attribute not_before_ns says so",
                 s->releases);
    if (s->rounded)
        snprintf(text[n++], sizeof(*text),
                 "%" PRIu64 " times are not whole nanoseconds and are cut to "
                 "them",
                 s->rounded);
    return n;
}

static void say_written(const struct answer *a)
{
    for (uint32_t i = 0; i < a->n; i++)
        msim_message("wrote %s: %" PRIu64 " nodes", a->files[i].path,
                     a->files[i].nodes);
    if (a->summary.copied)
        msim_message("%" PRIu32 " of %" PRIu32 " files were Chakra already: "
                     "their messages are as they were",
                     a->summary.copied, a->summary.files);
}

static enum msim_status print_json(const struct answer *a,
                                   const struct msim_job *job,
                                   char (*dropped)[256], uint32_t n_dropped)
{
    const struct msim_chakra_summary *s = &a->summary;
    struct msim_json j;

    msim_json_document(&j, msim_sink_file, stdout, "mystique-sim/conversion/1");
    msim_json_open(&j, "files", '[', true);
    for (uint32_t i = 0; i < a->n; i++) {
        msim_json_open(&j, NULL, '{', false);
        msim_json_text(&j, "path", a->files[i].path);
        msim_json_unsigned(&j, "nodes", a->files[i].nodes);
        msim_json_close(&j);
    }
    msim_json_close(&j);
    msim_json_unsigned(&j, "copied", s->copied);
    msim_json_unsigned(&j, "delays", s->delays);
    msim_json_number(&j, "delays_us", (double)s->delay_ns / 1e3);
    msim_json_unsigned(&j, "unexplained", s->releases);
    msim_json_unsigned(&j, "rounded", s->rounded);
    msim_json_bool(&j, "without_times", s->without_times);
    msim_json_open(&j, "warnings", '[', true);
    for (uint32_t i = 0; i < job->n_warnings; i++)
        msim_json_text(&j, NULL, job->warnings[i]);
    for (uint32_t i = 0; i < n_dropped; i++)
        msim_json_text(&j, NULL, dropped[i]);
    msim_json_close(&j);
    return msim_json_end(&j);
}

static enum msim_status report(const struct answer *a,
                               const struct msim_job *job, bool json)
{
    char dropped[SENTENCES][256];
    uint32_t n = tell_dropped(a, dropped);

    if (a->lost)
        return MSIM_ENOMEM;
    if (json)
        MSIM_TRY(print_json(a, job, dropped, n));
    else
        say_written(a);
    msim_message_warnings(job->warnings, job->n_warnings, json);
    for (uint32_t i = 0; i < n; i++) {
        const char *one = dropped[i];

        msim_message_warnings(&one, 1, json);
    }
    return MSIM_OK;
}

/* ---- the verb ------------------------------------------------------------ */

static bool has_et(const struct msim_job *job)
{
    for (uint32_t i = 0; i < job->n_ranks; i++)
        if (job->ranks[i]->has_et && !job->ranks[i]->source)
            return true;
    return false;
}

static enum msim_status convert(struct msim_job *job, const struct settings *s,
                                struct msim_error *err)
{
    struct msim_chakra_work **works =
        calloc((size_t)job->n_ranks + 1, sizeof(*works));
    struct answer answer = {.from_et = has_et(job)};
    enum msim_status status = works ? MSIM_OK : MSIM_ENOMEM;

    for (uint32_t i = 0; i < job->n_ranks && status == MSIM_OK; i++)
        status = works_of(&works[i], job->ranks[i]);
    if (status == MSIM_OK)
        status = msim_chakra_write(
            job, s->out,
            &(struct msim_chakra_options){
                .works = (const struct msim_chakra_work *const *)works,
                .written = note_written,
                .ctx = &answer},
            &answer.summary, err);
    if (status == MSIM_OK)
        status = report(&answer, job, s->json);
    release_answer(&answer);
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
        status = convert(job, &s, &err);
    msim_job_free(job);
    return status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
}
