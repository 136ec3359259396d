/*
 * cli/plan/cmd_synth.c - `synth`: execution traces of a described model.
 */
#include "cli/cmd.h"
#include "cli/options.h"
#include "core/base/json.h"
#include "core/base/print.h"
#include "plan/synth/synth.h"

#include <inttypes.h>
#include <stdlib.h>

#define GPUS_A_NODE 8 /* of a strategy that does not say its nodes */

struct settings {
    const char *folder, *strategy;
    bool every_rank, json;
};

static const struct msim_option OPTIONS[] = {
    MSIM_OPTION(struct settings, folder, TEXT, "o", .metavar = "DIR",
                .help = "write the traces there"),
    MSIM_OPTION(
        struct settings, strategy, TEXT, "strategy", .metavar = "S.json",
        .help =
            "GPUs, splits, batch, precision as the columns of a table of jobs "
            "(docs/jobs.md) [default: one GPU]"),
    MSIM_OPTION(
        struct settings, every_rank, FLAG, "every-rank",
        .help = "write all ranks, not the first of each pipeline stage alone"),
    MSIM_OPTION(struct settings, json, FLAG, "json",
                .help = "print what was written as JSON (schema "
                        "mystique-sim/synthesis/1)"),
};

static const char *const EXAMPLES[] = {
    "mystique-sim synth llama3-8b -o traces",
    "mystique-sim synth config.json --strategy s.json -o traces",
    NULL,
};

static const struct msim_command COMMAND = {
    .name = "synth",
    .operands = "MODEL|MODEL.json",
    .summary = "Write execution traces of a training step of a described model "
               "that was never run,\nin PyTorch's own format (docs/synth.md).",
    MSIM_OPTIONS(OPTIONS),
    .examples = EXAMPLES,
    .min_operands = 1,
    .max_operands = 1,
};

#define ASSUMED 512 /* of a text that names what nothing stated */

static enum msim_status read_strategy(struct msim_strategy *strategy,
                                      uint64_t *given,
                                      const struct msim_described *model,
                                      const char *path, char assumed[ASSUMED],
                                      struct msim_error *err)
{
    char reason[256], one[] = "1";

    *strategy = (struct msim_strategy){0};
    if (path)
        MSIM_TRY(msim_strategy_read(strategy, given, path, err));
    else
        (void)msim_strategy_set(strategy, MSIM_GIVEN_gpus, one, given, reason,
                                sizeof(reason));
    if (msim_strategy_complete(strategy, *given, model, GPUS_A_NODE, assumed,
                               ASSUMED, reason, sizeof(reason)))
        return msim_fail(err, MSIM_EUSAGE, path, MSIM_OFFSET_NONE, "%s",
                         reason);
    if (*assumed)
        msim_message("note: assumed %s", assumed);
    return MSIM_OK;
}

static void print_text(const struct msim_synth_result *made, int64_t ranks,
                       const char *folder)
{
    msim_print(stdout,
               "written: %" PRIu32 " execution trace%s of %" PRId64
               " rank%s, %" PRIu64 " nodes, and synth.json, in %s\n",
               made->files, made->files == 1 ? "" : "s", ranks,
               ranks == 1 ? "" : "s", made->nodes, folder);
}

static enum msim_status print_json(const struct msim_synth_result *made,
                                   const struct msim_synth_options *o,
                                   const char *folder, const char *assumed)
{
    struct msim_json j;

    msim_json_document(&j, msim_sink_file, stdout, "mystique-sim/synthesis/1");
    msim_json_text(&j, "model", o->model->name);
    msim_json_text(&j, "folder", folder);
    msim_json_unsigned(&j, "traces", made->files);
    msim_json_integer(&j, "ranks", o->strategy->gpus);
    msim_json_integer(&j, "ranks_a_file", made->ranks_a_file);
    msim_json_unsigned(&j, "nodes", made->nodes);
    msim_json_text(&j, "assumed", *assumed ? assumed : NULL);
    return msim_json_end(&j);
}

static enum msim_status write_all(const char *name, const struct settings *s,
                                  struct msim_error *err)
{
    struct msim_described model;
    struct msim_strategy strategy;
    struct msim_synth_options o = {
        .model = &model, .strategy = &strategy, .every_rank = s->every_rank};
    struct msim_synth_result made;
    enum msim_status status;
    char data[1024], assumed[ASSUMED] = "", *source;

    MSIM_TRY(msim_datadir_find(data, sizeof(data), err));
    MSIM_TRY(msim_described_find(&model, name, data, NULL, err));
    MSIM_TRY(
        read_strategy(&strategy, &o.given, &model, s->strategy, assumed, err));
    MSIM_TRY(msim_described_source(&source, name, data, err));
    o.source = source;
    status = msim_synth_write(s->folder, &o, &made, err);
    free(source);
    MSIM_TRY(status);
    if (s->json)
        return print_json(&made, &o, s->folder, assumed);
    print_text(&made, strategy.gpus, s->folder);
    return MSIM_OK;
}

int msim_cmd_synth(int argc, char **argv)
{
    struct settings s = {0};
    struct msim_cli_operands files;
    struct msim_error err = {0};
    enum msim_status status;
    int rc = msim_command_start(&COMMAND, argc, argv, &s, &files);

    if (rc >= 0)
        return rc;
    if (!s.folder)
        status = msim_fail(&err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                           "no folder for the traces, want '-o DIR'");
    else
        status = write_all(files.items[0], &s, &err);
    return status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
}
