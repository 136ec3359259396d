/*
 * cli/schema/cmd_schema.c - `schema`: the JSON Schema of an answer.
 */
#include "cli/cmd.h"
#include "cli/options.h"
#include "core/base/texts.h"
#include "core/stream/input.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Those of data/schemas, with the verb that answers so; tests/cli/schemas.sh
 * holds them together. */
static const struct {
    const char *name, *verb;
} SCHEMAS[] = {
    {"prediction", "predict"},
    {"predictions", "predict"},
    {"whatif", "whatif"},
    {"comparison", "compare"},
    {"plan", "plan"},
    {"explanation", "predict"},
    {"info", "info"},
    {"platforms", "platforms"},
    {"platform", "platforms"},
    {"operations", "op"},
    {"selection", "select"},
    {"program", "generate"},
    {"replay", "replay"},
    {"validation", "validate"},
    {"synthesis", "synth"},
    {"conversion", "convert"},
    {"calibrated", "calibrate"},
    {"evidence", "calibrate"},
    {"experiments", "calibrate"},
    {"serving", "serve"},
    {"plan/serving", "plan"},
    {"serving-plan", "size"},
    {"apps", "apps"},
    {"watch", "watch"},
    {"learned", "learn"},
    {"tuned", "learn"},
};

#define N_SCHEMAS (sizeof(SCHEMAS) / sizeof(SCHEMAS[0]))

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

/* One of SCHEMAS, also behind "mystique-sim/" and before "/1"; else NULL. */
static const char *find(const char *asked)
{
    char whole[64];

    for (size_t i = 0; i < N_SCHEMAS; i++) {
        const char *name = SCHEMAS[i].name;

        snprintf(whole, sizeof(whole), "mystique-sim/%s/1", name);
        if (strcmp(name, asked) == 0 || strcmp(whole, asked) == 0)
            return name;
    }
    return NULL;
}

/* What a verb answers, or the name that was meant: ", did you mean 'a', 'b'?";
 * "" where there is none. */
static void suggest(char *text, size_t size, const char *asked)
{
    const char *names[N_SCHEMAS], *near;
    size_t used = 0;

    *text = '\0';
    for (size_t i = 0; i < N_SCHEMAS && used < size; i++) {
        names[i] = SCHEMAS[i].name;
        if (strcmp(SCHEMAS[i].verb, asked) == 0)
            used += (size_t)snprintf(text + used, size - used, "%s'%s'",
                                     used ? ", " : ", did you mean ", names[i]);
    }
    near = used ? NULL : msim_nearest_word(asked, names, N_SCHEMAS);
    if (near)
        used = (size_t)snprintf(text, size, ", did you mean '%s'", near);
    if (used && used < size)
        snprintf(text + used, size - used, "?");
}

static enum msim_status fail_unknown(const char *asked, struct msim_error *err)
{
    char meant[256];

    suggest(meant, sizeof(meant), asked);
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "no schema is called '%s'%s; 'mystique-sim schema' lists "
                     "them",
                     asked, meant);
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
    for (size_t i = 0; names.n == 0 && i < N_SCHEMAS; i++)
        puts(SCHEMAS[i].name);
    if (names.n == 0)
        return MSIM_EXIT_OK;
    status = print_schema(names.items[0], &err);
    return status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
}
