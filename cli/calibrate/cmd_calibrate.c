/*
 * cli/calibrate/cmd_calibrate.c - `calibrate`: this machine as a platform file.
 *
 * The work is done by msim-calibrate, a program of its own beside this one,
 * because it links GSL: this one checks the options and becomes that one.
 */
#include "cli/calibrate/calibrate_from.h"
#include "cli/calibrate/program_beside.h"
#include "cli/cmd.h"
#include "cli/options.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct settings {
    const char *backend, *out, *budget, *target, *patience, *trace, *from,
        *platform;
    uint32_t seed;
    bool dry_run, measure_only, fit_only, json;
};

static const struct msim_option OPTIONS[] = {
    MSIM_OPTION(
        struct settings, backend, TEXT, "backend", .metavar = "LIST",
        .help = "programs that time: torch, cuda, cpu, or the command line of\n"
                "another (it holds a space or a '/'); commas between several",
        .dflt = "torch where there is PyTorch, and cuda, else cpu"),
    MSIM_OPTION(struct settings, budget, TEXT, "budget", .metavar = "MINUTES",
                .help = "how long to measure, over all runs on one journal",
                .dflt = "10"),
    MSIM_OPTION(
        struct settings, target, TEXT, "target-interval", .metavar = "PERCENT",
        .help = "stop when the 90 % intervals are, in the mean, as narrow as\n"
                "plus or minus this"),
    MSIM_OPTION(
        struct settings, out, TEXT, "out", .metavar = "FILE.json",
        .help =
            "the platform file to write; beside it FILE.host.json, for "
            "--host,\n"
            "FILE.network.json, for --network, and FILE.journal.jsonl, which\n"
            "keeps every answer: with it an interrupted calibration goes on"),
    MSIM_OPTION(struct settings, trace, TEXT, "for", .metavar = "TRACE|DIR",
                .help = "time the shapes of this job first"),
    MSIM_OPTION(
        struct settings, from, TEXT, "from", .metavar = "TRACE|DIR",
        .help =
            "time nothing: learn from this trace with GPU times and shapes, "
            "and from\nthose given as operands, how far the laws of their GPU "
            "are off"),
    MSIM_OPTION(struct settings, platform, TEXT, "platform",
                .metavar = "NAME|FILE",
                .help = "with --from: the platform whose laws are "
                        "corrected; " MSIM_PLATFORM_STACK_HELP,
                .dflt = "the traces' GPU"),
    MSIM_OPTION(
        struct settings, dry_run, FLAG, "dry-run",
        .help = "list what would be timed first, and how long that may take"),
    MSIM_OPTION(
        struct settings, measure_only, FLAG, "measure-only",
        .help =
            "keep answers in FILE.journal.jsonl, and fit nothing: the whole\n"
            "budget goes to measuring"),
    MSIM_OPTION(
        struct settings, fit_only, FLAG, "fit-only",
        .help =
            "time nothing: fit what is in FILE.journal.jsonl, also of another\n"
            "machine"),
    MSIM_OPTION(
        struct settings, seed, COUNT, "seed", .metavar = "N",
        .help =
            "seed of the points that fill the space of sizes; the same seed\n"
            "gives the same points",
        .dflt = "1", .min = 0, .max = UINT32_MAX),
    MSIM_OPTION(
        struct settings, json, FLAG, "json",
        .help =
            "print JSON instead of text: schema mystique-sim/calibrated/1,\n"
            "of --from evidence/1, of --dry-run experiments/1"),
    MSIM_OPTION(
        struct settings, patience, TEXT, "patience", .metavar = "SECONDS",
        .help = "time after which one experiment counts as hung", .dflt = "60"),
};

static const char *const EXAMPLES[] = {
    "mystique-sim calibrate --backend cpu --budget 5 --out my-cpu.json",
    "mystique-sim op --platform ./my-cpu.json rows.csv",
    "mystique-sim calibrate --from run1 run2 run3 --out mine.json",
    "mystique-sim calibrate --measure-only --budget 5 --out gpu.json",
    "mystique-sim calibrate --fit-only --out gpu.json",
    NULL,
};

static const struct msim_command COMMAND = {
    .name = "calibrate",
    .operands = "[TRACE|DIR...]",
    .summary = "Time operators on this machine, fit laws to them, and write a "
               "platform file that\n--platform takes. What to time is chosen: "
               "first points that fill the space of\nsizes, then those whose "
               "interval is widest. A calibration that was\ninterrupted goes "
               "on where it was when it is started again.",
    MSIM_OPTIONS(OPTIONS),
    .examples = EXAMPLES,
    .min_operands = 0,
    .max_operands = 0,
};

/* Options that say how to time. */
static const char *timing_option(const struct settings *s)
{
    return s->backend        ? "backend"
           : s->budget       ? "budget"
           : s->target       ? "target-interval"
           : s->trace        ? "for"
           : s->patience     ? "patience"
           : s->dry_run      ? "dry-run"
           : s->measure_only ? "measure-only"
                             : NULL;
}

static bool is_of_no_use(const char *option, const char *with, const char *why)
{
    msim_message("--%s is of no use with --%s, which %s", option, with, why);
    return true;
}

/* Does an option contradict another? Say so. */
static bool is_contradiction(const struct settings *s)
{
    const char *timing = timing_option(s);

    if (s->from && (timing || s->fit_only))
        return is_of_no_use(timing ? timing : "fit-only", "from",
                            "times nothing");
    if (s->fit_only && timing)
        return is_of_no_use(timing, "fit-only", "times nothing");
    if (s->measure_only && (s->target || s->dry_run))
        return is_of_no_use(s->target ? "target-interval" : "dry-run",
                            "measure-only", "fits nothing and lists nothing");
    return false;
}

/* Is `text` a positive number, or not given? Else say what is wrong. */
static bool is_number(const char *option, const char *text)
{
    char *end;
    double v;

    if (!text)
        return true;
    v = strtod(text, &end);
    if (end != text && *end == '\0' && v > 0 && v < 1e9)
        return true;
    msim_message("--%s is '%s', want a number above 0", option, text);
    return false;
}

#define ARGUMENTS 10 /* with a value, then flags */

struct arguments {
    char text[ARGUMENTS][PATH_MAX + 32];
    char *list[ARGUMENTS + 2];
    int n;
};

static void add(struct arguments *a, const char *name, const char *value)
{
    if (!value)
        return;
    snprintf(a->text[a->n], sizeof(a->text[0]), "--%s=%s", name, value);
    a->list[a->n + 1] = a->text[a->n];
    a->n++;
}

static int become(const struct settings *s)
{
    char program_name[] = "mystique-sim", dry_run[] = "--dry-run",
         measure_only[] = "--measure-only", fit_only[] = "--fit-only",
         json[] = "--json";
    char *mode = s->dry_run        ? dry_run
                 : s->measure_only ? measure_only
                 : s->fit_only     ? fit_only
                                   : NULL;
    struct arguments *a = calloc(1, sizeof(*a));
    char path[PATH_MAX], data[PATH_MAX], seed[16];
    struct msim_error err = {0};
    enum msim_status status = msim_datadir_find(data, sizeof(data), &err);

    if (status != MSIM_OK || !a) {
        free(a);
        return msim_message_error(a ? status : MSIM_ENOMEM, &err);
    }
    snprintf(seed, sizeof(seed), "%u", s->seed);
    a->list[0] = program_name; /* whose verb it is, in its messages */
    add(a, "backend", s->backend);
    add(a, "budget", s->budget);
    add(a, "target-interval", s->target);
    add(a, "out", s->out);
    add(a, "data", data);
    add(a, "for", s->trace);
    add(a, "patience", s->patience);
    add(a, "seed", seed);
    if (mode)
        a->list[++a->n] = mode;
    if (s->json)
        a->list[++a->n] = json;
    msim_beside_path(path, "msim-calibrate");
    execv(path, a->list);
    msim_message("'%s' cannot be started: %s; it is built where GSL and "
                 "XGBoost are found",
                 path, strerror(errno));
    free(a);
    return MSIM_EXIT_INPUT;
}

int msim_cmd_calibrate(int argc, char **argv)
{
    struct settings s = {.seed = 1};
    struct msim_cli_operands none;
    int rc = msim_command_start(&COMMAND, argc, argv, &s, &none);

    if (rc >= 0)
        return rc;
    if (is_contradiction(&s))
        return MSIM_EXIT_USAGE;
    if (!s.from && (none.n > 0 || s.platform)) {
        msim_message(none.n > 0
                         ? "calibrate takes no operand without --from, got '%s'"
                         : "--platform '%s' is of no use without --from",
                     none.n > 0 ? none.items[0] : s.platform);
        return MSIM_EXIT_USAGE;
    }
    if (!s.out && !s.dry_run) {
        msim_message("--out is missing, want the platform file to write");
        return MSIM_EXIT_USAGE;
    }
    if (!is_number("budget", s.budget) ||
        !is_number("target-interval", s.target) ||
        !is_number("patience", s.patience))
        return MSIM_EXIT_USAGE;
    return s.from
               ? msim_calibrate_from(s.from, &none, s.platform, s.out, s.json)
               : become(&s);
}
