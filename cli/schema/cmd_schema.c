/*
 * cli/schema/cmd_schema.c - `schema`: the JSON Schema of an answer.
 */
#include "cli/cmd.h"
#include "cli/datadir.h"
#include "cli/message.h"
#include "cli/options.h"
#include "core/base/nearest.h"
#include "core/stream/input.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Those of data/schemas; tests/cli/schemas.sh holds them together. */
static const char *const NAMES[] = {
    "prediction",   "predictions",  "whatif",      "comparison",
    "plan",         "explanation",  "info",        "platforms",
    "platform",     "operations",   "selection",   "program",
    "replay",       "validation",   "synthesis",   "conversion",
    "calibrated",   "evidence",     "experiments", "serving",
    "plan/serving", "serving-plan", "apps",        "watch",
    "learned",      "tuned",        NULL};

static const char *const EXAMPLES[] = {
    "mystique-sim schema",
    "mystique-sim schema prediction > prediction.schema.json",
    NULL,
};

static const struct msim_command COMMAND = {
    .name = "schema",
    .operands = "[NAME]",
    .summary =
        "Print the JSON Schema (draft 7) of what --json prints; without NAME "
        "list them.\nNAME may be what 'schema' says in an answer, too "
        "(mystique-sim/plan/1).",
    .examples = EXAMPLES,
    .min_operands = 0,
    .max_operands = 1,
};

#define N_NAMES (sizeof(NAMES) / sizeof(NAMES[0]) - 1)

/* The one of NAMES, also behind "mystique-sim/" and before "/1"; else NULL. */
static const char *find(const char *asked)
{
    char whole[64];

    for (size_t i = 0; i < N_NAMES; i++) {
        snprintf(whole, sizeof(whole), "mystique-sim/%s/1", NAMES[i]);
        if (strcmp(NAMES[i], asked) == 0 || strcmp(whole, asked) == 0)
            return NAMES[i];
    }
    return NULL;
}

static enum msim_status fail_unknown(const char *asked, struct msim_error *err)
{
    const char *near = msim_nearest_word(asked, NAMES, N_NAMES);

    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "no schema is called '%s'%s%s%s; 'mystique-sim schema' "
                     "lists them",
                     asked, near ? ", did you mean '" : "", near ? near : "",
                     near ? "'?" : "");
}

/* A file of ours, as it is. */
static enum msim_status copy(const char *path, struct msim_error *err)
{
    struct msim_input *in;
    enum msim_status status;
    const char *bytes;
    size_t n;

    MSIM_TRY(msim_input_open(&in, path, false, err));
    while ((status = msim_input_next(in, &bytes, &n, err)) == MSIM_OK && n)
        for (size_t i = 0; i < n; i++)
            putc(bytes[i], stdout);
    msim_input_close(in);
    return status;
}

static enum msim_status print_schema(const char *asked, struct msim_error *err)
{
    char data[PATH_MAX], path[PATH_MAX + 64];
    const char *name = find(asked);

    if (!name)
        return fail_unknown(asked, err);
    MSIM_TRY(msim_datadir_find(data, sizeof(data), err));
    snprintf(path, sizeof(path), "%s/schemas/%s.json", data, name);
    return copy(path, err);
}

int msim_cmd_schema(int argc, char **argv)
{
    struct msim_cli_operands names;
    struct msim_error err = {0};
    char nothing = 0;
    enum msim_status status;
    int rc = msim_command_start(&COMMAND, argc, argv, &nothing, &names);

    if (rc >= 0)
        return rc;
    for (size_t i = 0; names.n == 0 && NAMES[i]; i++)
        puts(NAMES[i]);
    if (names.n == 0)
        return MSIM_EXIT_OK;
    status = print_schema(names.items[0], &err);
    return status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
}
