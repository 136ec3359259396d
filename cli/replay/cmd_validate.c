/*
 * cli/replay/cmd_validate.c - `validate`: predicted, replayed and originally
 * measured, side by side.
 */
#include "cli/cmd.h"
#include "cli/load.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/replay/choice_options.h"
#include "core/base/json_out.h"
#include "replay/validate/family_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS (MSIM_FAMILY_COUNT + 2)

struct settings {
    const char *platform, *iteration, *max_error;
    enum msim_output output;
};

static const struct msim_option OPTIONS[] = {
    {.name = "platform",
     .type = MSIM_OPTION_TEXT,
     .field = offsetof(struct settings, platform),
     .metavar = "NAME|FILE",
     .help =
         "predict for this device too: a name that 'platforms' lists, or a\n"
         "file of 'calibrate' for the machine that replayed"},
    {.name = "iteration",
     .type = MSIM_OPTION_TEXT,
     .field = offsetof(struct settings, iteration),
     .metavar = "N",
     .help = "the step of TRACE: ProfilerStep#N, else the N-th from zero",
     .dflt = "the last one with operators, which 'replay' runs"},
    {.name = "max-error",
     .type = MSIM_OPTION_TEXT,
     .field = offsetof(struct settings, max_error),
     .metavar = "PERCENT",
     .help = "exit 1 where the time of all operators, as replayed or as\n"
             "predicted, is further from what it is compared with"},
    {.name = "json",
     .type = MSIM_OPTION_ONE_OF,
     .field = offsetof(struct settings, output),
     .value = MSIM_OUTPUT_JSON,
     .help = "print JSON instead of text"},
    {.name = "csv",
     .type = MSIM_OPTION_ONE_OF,
     .field = offsetof(struct settings, output),
     .value = MSIM_OUTPUT_CSV,
     .help = "print a table instead of text"},
};

static const char *const EXAMPLES[] = {
    "mystique-sim replay -o replay.json.gz run",
    "mystique-sim validate --platform ./mine.json --max-error 15 run "
    "replay.json.gz",
    NULL,
};

static const struct msim_command COMMAND = {
    .name = "validate",
    .operands = "TRACE|DIR REPLAYED",
    .summary = "Compare a traced step with its replay on this or another "
               "machine, and with a\nprediction: all operators together, and "
               "by their family.",
    .options = OPTIONS,
    .n_options = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .examples = EXAMPLES,
    .min_operands = 2,
    .max_operands = 2,
};

/* ---- rows ---------------------------------------------------------------- */

/* Microseconds; NAN: not known. */
struct row {
    const char *name;
    uint32_t operators;
    double measured, replayed, predicted;
};

struct table {
    struct row rows[ROWS]; /* the step, all operators, and each family */
    uint32_t n;
};

/* A share: 0.1 is 10 % longer; NAN where one is not known. */
static double error_of(double time, double real)
{
    return real > 0 ? time / real - 1 : NAN;
}

/* What a replay is compared with is the trace; what a prediction is compared
 * with, the replay: that is the machine it is for. */
static double replay_error(const struct row *r)
{
    return error_of(r->replayed, r->measured);
}

static double prediction_error(const struct row *r)
{
    return error_of(r->predicted, r->replayed);
}

static double predicted_family(const struct msim_prediction *p,
                               const char *family)
{
    for (uint32_t i = 0; p && i < p->n_families; i++)
        if (strcmp(p->families[i].model, family) == 0)
            return p->families[i].us.predicted;
    return p ? 0 : NAN;
}

static void fill(struct table *t, const struct msim_family_times *measured,
                 const struct msim_family_times *replayed,
                 const struct msim_prediction *p)
{
    uint32_t all = 0;

    t->rows[0] = (struct row){"step", 0, measured->step_us, replayed->step_us,
                              p ? p->iteration_us.predicted : NAN};
    t->rows[1] = (struct row){"operators", 0, measured->operators_us,
                              replayed->operators_us, p ? 0 : NAN};
    t->n = 2;
    for (int f = 0; f < MSIM_FAMILY_COUNT; f++) {
        const char *name = msim_family_text((enum msim_family)f);
        struct row r = {name, replayed->ops[f], measured->us[f],
                        replayed->us[f], predicted_family(p, name)};

        if (!r.operators && r.measured <= 0 && !(r.predicted > 0))
            continue;
        all += r.operators;
        t->rows[1].predicted += r.predicted;
        t->rows[t->n++] = r;
    }
    t->rows[1].operators = all;
}

/* ---- output -------------------------------------------------------------- */

static void write_ms(double us)
{
    if (isfinite(us))
        printf(" %11.3f", us / 1e3);
    else
        printf(" %11s", "-");
}

static void write_error(double share)
{
    if (isfinite(share))
        printf(" %+8.1f%%", 100 * share);
    else
        printf(" %9s", "-");
}

static void write_text(const struct table *t)
{
    printf("%-12s %5s %11s %11s %11s %9s %9s\n", "ms", "ops", "measured",
           "replayed", "predicted", "replay", "predicted");
    printf("%-12s %5s %11s %11s %11s %9s %9s\n", "", "", "", "", "",
           "/measured", "/replayed");
    for (uint32_t i = 0; i < t->n; i++) {
        const struct row *r = &t->rows[i];

        if (r->operators)
            printf("%-12s %5u", r->name, r->operators);
        else
            printf("%-12s %5s", r->name, "");
        write_ms(r->measured);
        write_ms(r->replayed);
        write_ms(r->predicted);
        write_error(replay_error(r));
        write_error(prediction_error(r));
        printf("\n");
    }
}

static void write_cell(double value)
{
    char text[32];

    msim_number_text(text, value);
    printf(",%s", isfinite(value) ? text : "");
}

static void write_csv(const struct table *t)
{
    printf("name,operators,measured_us,replayed_us,predicted_us,replay_error,"
           "prediction_error\n");
    for (uint32_t i = 0; i < t->n; i++) {
        const struct row *r = &t->rows[i];

        printf("%s,%u", r->name, r->operators);
        write_cell(r->measured);
        write_cell(r->replayed);
        write_cell(r->predicted);
        write_cell(replay_error(r));
        write_cell(prediction_error(r));
        printf("\n");
    }
}

static enum msim_status write_json(const struct table *t,
                                   const struct settings *s)
{
    struct msim_json j;

    msim_json_begin(&j, msim_sink_file, stdout);
    msim_json_open(&j, NULL, '{', true);
    msim_json_text(&j, "schema", "mystique-sim/validation/1");
    msim_json_text(&j, "version", MSIM_VERSION);
    msim_json_text(&j, "platform", s->platform);
    msim_json_open(&j, "rows", '[', true);
    for (uint32_t i = 0; i < t->n; i++) {
        const struct row *r = &t->rows[i];

        msim_json_open(&j, NULL, '{', false);
        msim_json_text(&j, "name", r->name);
        msim_json_unsigned(&j, "operators", r->operators);
        msim_json_number(&j, "measured_us", r->measured);
        msim_json_number(&j, "replayed_us", r->replayed);
        msim_json_number(&j, "predicted_us", r->predicted);
        msim_json_number(&j, "replay_error", replay_error(r));
        msim_json_number(&j, "prediction_error", prediction_error(r));
        msim_json_close(&j);
    }
    msim_json_close(&j);
    msim_json_close(&j);
    return msim_json_end(&j);
}

/* ECHECK past the limit. */
static enum msim_status judge(const struct table *t, const struct settings *s,
                              struct msim_error *err)
{
    const struct row *all = &t->rows[1];
    double limit = s->max_error ? strtod(s->max_error, NULL) / 100 : INFINITY;
    double replay = replay_error(all), prediction = prediction_error(all);

    if (fabs(prediction) > limit)
        return msim_fail(err, MSIM_ECHECK, NULL, MSIM_OFFSET_NONE,
                         "operators were predicted %+.1f %% from what they "
                         "took, want at most %s %%",
                         100 * prediction, s->max_error);
    if (!s->platform && fabs(replay) > limit)
        return msim_fail(err, MSIM_ECHECK, NULL, MSIM_OFFSET_NONE,
                         "operators took %+.1f %% from what was traced, want "
                         "at most %s %%",
                         100 * replay, s->max_error);
    return MSIM_OK;
}

/* ---- loading ------------------------------------------------------------- */

static enum msim_status times_of(struct msim_family_times *out, char **path,
                                 const char *iteration, bool last,
                                 struct msim_error *err)
{
    struct msim_cli_operands one = {path, 1};
    struct msim_job *job = NULL;
    const struct msim_trace *t;
    uint32_t step = MSIM_NONE;
    enum msim_status status = msim_load_job(
        &job, &one, &(struct msim_load_options){.threads = 2}, err);

    t = status == MSIM_OK && job->n_ranks ? job->ranks[0] : NULL;
    if (status == MSIM_OK && !t)
        status = MSIM_EFORMAT;
    if (status == MSIM_OK && iteration)
        status = msim_choice_find_step(t, iteration, &step, err);
    else if (status == MSIM_OK && last)
        status = msim_family_last_step(t, &step);
    if (status == MSIM_OK)
        status = msim_family_times_of(out, t, step, err);
    msim_job_free(job);
    return status;
}

static enum msim_status compare(const struct settings *s, char **paths,
                                const struct msim_prediction *p,
                                const struct msim_family_times *measured,
                                struct msim_error *err)
{
    struct msim_family_times replayed;
    struct table t;

    MSIM_TRY(times_of(&replayed, &paths[1], NULL, false, err));
    fill(&t, measured, &replayed, p);
    if (s->output == MSIM_OUTPUT_JSON)
        MSIM_TRY(write_json(&t, s));
    else if (s->output == MSIM_OUTPUT_CSV)
        write_csv(&t);
    else
        write_text(&t);
    return judge(&t, s, err);
}

static enum msim_status predict(const struct settings *s, char **paths,
                                const struct msim_family_times *measured,
                                struct msim_error *err)
{
    const char *path = paths[0];
    struct msim_predict_settings settings = {
        .paths = &path,
        .n_paths = 1,
        .load = {.threads = 2},
        .platform = s->platform,
        .costs = MSIM_COSTS_MODEL,
        .peers = MSIM_PEERS_FIXED,
        .iteration =
            measured->number < 0 ? MSIM_ITERATION_ALL : measured->number};
    struct msim_inputs in;
    struct msim_target to;
    struct msim_prediction_run run = {0};
    enum msim_status status = msim_load_prediction(&in, &to, &settings, err);

    if (status == MSIM_OK)
        status = msim_predict(&run, &settings, &in, &to, err);
    if (status == MSIM_OK)
        status = compare(s, paths, run.prediction, measured, err);
    msim_prediction_run_release(&run);
    msim_target_release(&to);
    msim_inputs_release(&in);
    return status;
}

static bool is_percent(const char *text)
{
    char *end;
    double v = text ? strtod(text, &end) : 0;

    return !text || (end != text && *end == '\0' && v > 0 && v < 1e6);
}

int msim_cmd_validate(int argc, char **argv)
{
    struct settings s = {.platform = NULL};
    struct msim_cli_operands files;
    struct msim_error err = {0};
    struct msim_family_times measured;
    enum msim_status status;
    int rc = msim_command_start(&COMMAND, argc, argv, &s, &files);

    if (rc >= 0)
        return rc;
    if (!is_percent(s.max_error)) {
        msim_message("--max-error is '%s', want a number above 0", s.max_error);
        return MSIM_EXIT_USAGE;
    }
    status = times_of(&measured, &files.items[0], s.iteration, true, &err);
    if (status == MSIM_OK)
        status = s.platform ? predict(&s, files.items, &measured, &err)
                            : compare(&s, files.items, NULL, &measured, &err);
    return status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
}
