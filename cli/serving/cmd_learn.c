/*
 * cli/serving/cmd_learn.c - `learn`: what an application's own runs teach.
 *
 * Trees are grown by msim-learn, a program of its own beside this one, because
 * it links XGBoost: this one checks the options and becomes that one.
 */
#include "cli/calibrate/program_beside.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "cli/serving/cli_serving_internal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct settings {
    const char *runs, *requests, *out;
    uint32_t horizon;
    bool json;
};

static const struct msim_option OPTIONS[] = {
    MSIM_OPTION(
        struct settings, runs, TEXT, "runs", .metavar = "DIR",
        .help =
            "counters of runs, one .csv a run, of any length and any numbers "
            "of replicas; each fourth of them is held back once, whole, to "
            "judge what is learned"),
    MSIM_OPTION(
        struct settings, requests, TEXT, "requests", .metavar = "LOG",
        .help =
            "instead of --runs: measured requests (t_s, tokens, ttft_ms, "
            "e2e_ms) of the one LLM stage, to which its engine's constants are "
            "fitted; the last three tenths are held back"),
    MSIM_OPTION(struct settings, horizon, COUNT, "horizon",
                .metavar = "SECONDS", .min = 1, .max = 60,
                .help = "how far ahead a violation counts", .dflt = "5"),
    MSIM_OPTION(
        struct settings, out, TEXT, "o", .metavar = "MODEL.json",
        .help =
            "the model to write, which watch --model reads; with --requests "
            "the constants, which serve --fit reads"),
    MSIM_OPTION(
        struct settings, json, FLAG, "json",
        .help = "print the figures as JSON (schema mystique-sim/learned/1)"),
};

static const char *const EXAMPLES[] = {
    "mystique-sim learn app.json --runs runs/ -o model.json",
    "mystique-sim learn app.json --requests measured.csv -o fit.json",
    NULL,
};

static const struct msim_command COMMAND = {
    .name = "learn",
    .operands = "APP.json",
    .summary = "Learn from counters of runs which seconds come before a "
               "violation, and what the next second's p99 is.",
    MSIM_OPTIONS(OPTIONS),
    .examples = EXAMPLES,
    .min_operands = 1,
    .max_operands = 1,
};

static int become(const struct settings *s, char *app)
{
    char name[] = "mystique-sim", json[] = "--json", end[] = "--";
    char out[PATH_MAX + 16], horizon[32], runs[PATH_MAX], path[PATH_MAX];
    char folder[PATH_MAX], data[PATH_MAX + 16];
    struct msim_error err = {0};
    enum msim_status status = msim_datadir_find(folder, sizeof(folder), &err);
    char *list[9];
    int n = 0;

    if (status != MSIM_OK)
        return msim_message_error(status, &err);
    snprintf(data, sizeof(data), "--data=%s", folder);

    snprintf(out, sizeof(out), "--out=%s", s->out);
    snprintf(horizon, sizeof(horizon), "--horizon=%u", s->horizon);
    snprintf(runs, sizeof(runs), "%s", s->runs);
    list[n++] = name; /* whose verb it is, in its messages */
    list[n++] = out;
    list[n++] = horizon;
    list[n++] = data;
    if (s->json)
        list[n++] = json;
    list[n++] = end;
    list[n++] = app;
    list[n++] = runs;
    list[n] = NULL;
    msim_beside_path(path, "msim-learn");
    execv(path, list);
    msim_message("'%s' cannot be started: %s; it is built where XGBoost is "
                 "found",
                 path, strerror(errno));
    return MSIM_EXIT_INPUT;
}

int msim_cmd_learn(int argc, char **argv)
{
    struct settings s = {.horizon = 5};
    struct msim_cli_operands files;
    int rc = msim_command_start(&COMMAND, argc, argv, &s, &files);

    if (rc >= 0)
        return rc;
    if (s.requests && s.out && !s.runs)
        return msim_learn_requests(files.items[0], s.requests, s.out, s.json);
    if (s.requests && s.runs) {
        msim_message("--runs and --requests exclude each other");
        return MSIM_EXIT_USAGE;
    }
    if ((!s.runs && !s.requests) || !s.out) {
        msim_message(!s.runs && !s.requests
                         ? "--runs is missing, want a folder of counters (or "
                           "--requests, a log)"
                         : "-o is missing, want the model to write");
        return MSIM_EXIT_USAGE;
    }
    return become(&s, files.items[0]);
}
