/*
 * cli/replay/cmd_generate.c - `generate`: a trace as a PyTorch benchmark.
 */
#include "cli/cmd.h"
#include "cli/options.h"
#include "cli/replay/cli_replay_internal.h"
#include "replay/emit/emit_python.h"
#include "replay/program/program.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    const char *out, *iteration, *platform, *namespaces;
    struct msim_choice choice;
    uint32_t batch, repeat;
    bool salvage, direct, no_loops, json;
};

static enum msim_status parse_range(void *settings, const char *value,
                                    struct msim_error *err)
{
    struct settings *s = settings;

    return msim_choice_parse_range(&s->choice, value, err);
}

static const struct msim_option OPTIONS[] = {
    MSIM_OPTION(
        struct settings, out, TEXT, "o", .metavar = "DIR",
        .help =
            "the folder to write: DIR/bench.py, DIR/data.json, DIR/README.md"),
    MSIM_OPTION_CHOICE_ROWS(struct settings, parse_range,
                            "; what they make comes from outside then"),
    MSIM_OPTION(
        struct settings, batch, COUNT, "batch", .min = 1, .max = 1 << 24,
        .metavar = "N",
        .help =
            "samples in a step, BATCH in bench.py: sizes that grow with it are "
            "scaled",
        .dflt = "the trace's"),
    MSIM_OPTION(
        struct settings, repeat, COUNT, "repeat", .min = 1, .max = 1 << 24,
        .metavar = "N",
        .help =
            "REPEAT in bench.py: how many steps are timed at once, for parts "
            "that are too short to time",
        .dflt = "1"),
    MSIM_OPTION(
        struct settings, platform, TEXT, "platform", .metavar = "NAME",
        .help = "a rank that runs alone waits as long as its collectives would "
                "take on this device: a name that 'platforms' lists, or a file",
        .dflt = "the times of the trace, where it has them"),
    MSIM_OPTION(
        struct settings, direct, FLAG, "direct",
        .help =
            "call the operators of the backward pass one by one, instead of "
            "leaving it to PyTorch's autograd"),
    MSIM_OPTION(
        struct settings, namespaces, TEXT, "namespaces", .metavar = "NAME,...",
        .help =
            "call operators of these name spaces, too: those of libraries of "
            "your own. Others than PyTorch's are left out, since an operator "
            "may do more than compute, and the trace says with what it is "
            "called"),
    MSIM_OPTION(
        struct settings, no_loops, FLAG, "no-loops",
        .help = "write repeated layers out instead of folding them into loops"),
    MSIM_OPTION(
        struct settings, json, FLAG, "json",
        .help =
            "print the program as JSON instead: its calls, which result each "
            "of their tensors is, its loops"),
    MSIM_OPTION_SALVAGE_ROW(struct settings, salvage),
};

static const char *const EXAMPLES[] = {
    "mystique-sim generate run/et/rank-0.json.gz -o bench && "
    "python bench/bench.py",
    "mystique-sim generate run/et --iteration 3 -o bench",
    NULL,
};

static const struct msim_command COMMAND = {
    .name = "generate",
    .operands = "TRACE|DIR... -o DIR | --json",
    .summary =
        "Write a benchmark that does what an execution trace (ET) recorded: "
        "the "
        "same\noperators with the same shapes, types and order, as one "
        "stand-alone PyTorch\nprogram, without the model, its data or the "
        "trace. 'python DIR/bench.py' times\nit, with '--certify ET' it proves "
        "that it is the same.",
    MSIM_OPTIONS(OPTIONS),
    .examples = EXAMPLES,
    .min_operands = 1,
};

/* What is not called, by name and reason. */
static void report_left_out(const struct msim_program *p)
{
    struct msim_left_group groups[MSIM_LEFT_GROUPS];
    uint32_t others, n = msim_program_left_groups(p, groups, &others);

    msim_message_warning(
        "%" PRIu32 " of %" PRIu32 " operators are left out; data.json says why",
        p->left_out.n, p->left_out.n + p->statements.n - p->n_waits);
    for (uint32_t i = 0; i < n; i++)
        msim_message("left out: %" PRIu32 " x '%.80s': %s", groups[i].n,
                     groups[i].name, groups[i].reason);
    if (others)
        msim_message("left out: %" PRIu32 " others", others);
}

static const char *plural(uint32_t n)
{
    return n == 1 ? "" : "s";
}

static void report(const struct msim_program *p,
                   const struct msim_emit_result *r, const char *dir)
{
    msim_message(
        "wrote %s/bench.py: %" PRIu32 " call%s, %" PRIu32 " lines, %" PRIu32
        " loop%s, %" PRIu32 " tensor%s from outside; %s",
        dir, r->statements, plural(r->statements), r->lines, r->loops,
        plural(r->loops), r->outside, plural(r->outside),
        p->form == MSIM_FORM_AUTOGRAD ? "backward by autograd"
                                      : "all operators called directly");
    if (p->why_direct)
        msim_message("the operators of backward are called one by one: %s",
                     p->why_direct);
    if (r->left_out)
        report_left_out(p);
}

/* The end of a path: a benchmark is given away, the folders above are not. */
static const char *path_end(const char *path)
{
    const char *p = path + strlen(path);

    for (int parts = 0; p > path; p--)
        if (p[-1] == '/' && ++parts == 3)
            break;
    return p;
}

/* The programs of all ranks that have an execution trace. */
struct ranks {
    const struct msim_trace **traces; /* as the job has them, with times */
    struct msim_program **programs;
    double **delays; /* of each program's collectives, or NULL */
    uint32_t n;
};

/* Several ranks talk to each other, so that all have to be there. */
static enum msim_status check_ranks(const struct ranks *r,
                                    struct msim_error *err)
{
    uint32_t world = r->n, missing = 0;

    for (uint32_t i = 0; i < r->n; i++) {
        if (r->traces[i]->world_size > world)
            world = r->traces[i]->world_size;
        if (r->traces[i]->rank >= world)
            world = (uint32_t)r->traces[i]->rank + 1;
    }
    while (missing < r->n && r->traces[missing]->rank == missing)
        missing++;
    if (r->n <= 1 || (missing == r->n && r->n == world))
        return MSIM_OK;
    return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                     "rank %" PRIu32 " is missing: %" PRIu32 " execution "
                     "traces of %" PRIu32 " ranks; want all of them, or one "
                     "alone (name its file)",
                     missing, r->n, world);
}

static enum msim_status find_ranks(struct ranks *r, const struct msim_job *job,
                                   struct msim_error *err)
{
    r->traces = calloc(job->n_ranks + 1, sizeof(*r->traces));
    r->programs = calloc(job->n_ranks + 1, sizeof(struct msim_program *));
    r->delays = calloc(job->n_ranks + 1, sizeof(double *));
    if (!r->traces || !r->programs || !r->delays)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < job->n_ranks; i++)
        if (job->ranks[i]->has_et)
            r->traces[r->n++] = job->ranks[i];
    if (r->n == 0 && job->n_ranks)
        r->traces[r->n++] = job->ranks[0]; /* its message is the one to read */
    return r->n ? check_ranks(r, err) : MSIM_EFORMAT;
}

static void release_ranks(struct ranks *r)
{
    for (uint32_t i = 0; r->programs && i < r->n; i++)
        msim_program_free(r->programs[i]);
    for (uint32_t i = 0; r->delays && i < r->n; i++)
        free(r->delays[i]);
    free(r->delays);
    free(r->traces);
    free(r->programs);
}

/* Ranks meet in collectives: all of them do the first one's step, if they have
 * it. */
static enum msim_status find_step(uint32_t *step, const struct msim_trace *t,
                                  const struct msim_program *first,
                                  const char *wanted, struct msim_error *err)
{
    if (!wanted && first && first->step != MSIM_NONE)
        for (*step = 0; *step < t->n_steps; ++*step)
            if (t->steps[*step].number ==
                first->trace->steps[first->step].number)
                return MSIM_OK;
    return msim_choice_find_step(t, wanted, step, err);
}

static enum msim_status make_programs(struct ranks *r, const struct settings *s,
                                      struct msim_error *err)
{
    for (uint32_t i = 0; i < r->n; i++) {
        const struct msim_trace *t = msim_choice_rank(r->traces[i]);
        struct msim_program_options options = {MSIM_NONE, s->direct, s->choice,
                                               s->namespaces};

        MSIM_TRY(find_step(&options.step, t, i ? r->programs[0] : NULL,
                           s->iteration, err));
        MSIM_TRY(msim_program_new(&r->programs[i], t, &options, err));
    }
    return MSIM_OK;
}

/* Delays of all ranks, or none. */
static enum msim_status find_delays(struct ranks *r,
                                    const struct msim_platform *platform,
                                    struct msim_error *err)
{
    for (uint32_t i = 0; i < r->n; i++)
        MSIM_TRY(msim_delays_find(&r->delays[i], r->programs[i], r->traces[i],
                                  platform, err));
    return MSIM_OK;
}

static enum msim_status predict_delays(struct ranks *r, const char *name,
                                       struct msim_error *err)
{
    struct msim_platform *platform = NULL;
    enum msim_status status;
    char data[1024];

    if (!name)
        return find_delays(r, NULL, err);
    MSIM_TRY(msim_datadir_find(data, sizeof(data), err));
    MSIM_TRY(msim_platform_load(&platform, data, name, err));
    status = find_delays(r, platform, err);
    msim_platform_free(platform);
    return status;
}

static void report_delays(const struct ranks *r)
{
    if (r->programs[0]->n_collectives && !r->delays[0])
        msim_message("a rank that runs alone spends no time in its %" PRIu32
                     " collectives: the trace has no times of them; want "
                     "--platform NAME, for which they are predicted",
                     r->programs[0]->n_collectives);
}

static enum msim_status write_benchmark(const struct msim_job *job,
                                        const struct ranks *r,
                                        const struct settings *s,
                                        struct msim_error *err)
{
    const struct msim_program *p = r->programs[0];
    struct msim_emit_result result;
    char title[512], step[40] = "", from[128] = "as traced";

    if (s->platform)
        snprintf(from, sizeof(from), "predicted for %s", path_end(s->platform));
    if (p->step != MSIM_NONE)
        snprintf(step, sizeof(step), ", ProfilerStep#%" PRId64,
                 p->trace->steps[p->step].number);
    snprintf(title, sizeof(title), "Benchmark of %s%s",
             path_end(job->n_files ? job->files[0].path : "a trace"), step);
    MSIM_TRY(msim_emit_python((const struct msim_program *const *)r->programs,
                              r->n, s->out,
                              &(struct msim_emit_options){
                                  .title = title,
                                  .version = MSIM_VERSION,
                                  .batch = s->batch,
                                  .repeat = s->repeat,
                                  .no_loops = s->no_loops,
                                  .delays_us = (const double *const *)r->delays,
                                  .delays_from = from},
                              &result, err));
    report(p, &result, s->out);
    report_delays(r);
    if (r->n > 1)
        msim_message("%" PRIu32 " ranks, %s: torchrun --nproc-per-node "
                     "%" PRIu32 " %s/bench.py",
                     r->n,
                     result.programs > 1 ? "some with programs of their own"
                                         : "all with one program",
                     r->n, s->out);
    return MSIM_OK;
}

static enum msim_status generate(const struct msim_job *job,
                                 const struct settings *s,
                                 struct msim_error *err)
{
    struct ranks r = {0};
    enum msim_status status = find_ranks(&r, job, err);

    if (status == MSIM_OK)
        status = make_programs(&r, s, err);
    if (status == MSIM_OK && !s->json)
        status = predict_delays(&r, s->platform, err);
    if (status == MSIM_OK)
        status = s->json ? msim_emit_json(r.programs[0], !s->no_loops, stdout)
                         : write_benchmark(job, &r, s, err);
    release_ranks(&r);
    return status;
}

int msim_cmd_generate(int argc, char **argv)
{
    struct settings s = {0};
    struct msim_cli_operands files;
    struct msim_error err = {0};
    struct msim_job *job = NULL;
    enum msim_status status;
    int rc = msim_command_start(&COMMAND, argc, argv, &s, &files);

    if (rc >= 0)
        return rc;
    if (!s.out && !s.json) {
        msim_message(
            "'generate' wants -o DIR, the folder to write, or --json; see "
            "'mystique-sim generate --help'");
        return MSIM_EXIT_USAGE;
    }
    status =
        msim_load_job(&job, &files,
                      &(struct msim_load_options){
                          .salvage = s.salvage, .details = true, .threads = 2},
                      &err);
    if (status == MSIM_OK)
        status = generate(job, &s, &err);
    if (status == MSIM_OK)
        msim_message_warnings(job->warnings, job->n_warnings, false);
    msim_job_free(job);
    return status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
}
