/*
 * cli/cmd_op.c - `op`: a prediction for every row of a table of operators.
 */
#include "cli/cmd.h"
#include "cli/options.h"
#include "predict/op/op_table.h"

struct settings {
    const char *platform, *network;
    struct msim_clock_wish clock;
    bool json;
};

static enum msim_status parse_clock(void *settings, const char *value,
                                    struct msim_error *err)
{
    struct settings *s = settings;

    return msim_clock_parse(&s->clock, value, err);
}

static enum msim_status parse_power_cap(void *settings, const char *value,
                                        struct msim_error *err)
{
    struct settings *s = settings;

    return msim_power_cap_parse(&s->clock, value, err);
}

static const struct msim_option OPTIONS[] = {
    MSIM_OPTION(
        struct settings, platform, TEXT, "platform", .metavar = "NAME|FILE",
        .help =
            "the GPU to predict for (see 'mystique-sim platforms'); a column\n"
            "'gpu' is copied, but does not choose "
            "it; " MSIM_PLATFORM_STACK_HELP),
    MSIM_OPTION(
        struct settings, network, TEXT, "network", .metavar = "NAME|FILE",
        .help =
            "network between nodes, of collectives: one of data/networks, or "
            "a\nfile of the kind",
        .dflt =
            "the network that the platform was measured on, else that of its\n"
            "maker's machines"),
    MSIM_OPTION_CLOCK_ROW(parse_clock),
    MSIM_OPTION_POWER_CAP_ROW(parse_power_cap),
    MSIM_OPTION(
        struct settings, json, FLAG, "json",
        .help = "print JSON (schema mystique-sim/operations/1) instead of CSV"),
};

static const char *const EXAMPLES[] = {
    "mystique-sim op --platform a100 gemm.csv.gz > predicted.csv",
    "mystique-sim op --platform h100 --json - < rows.csv",
    NULL,
};

static const struct msim_command COMMAND = {
    .name = "op",
    .operands = "ROWS.csv",
    .summary =
        "Predict the time of single operators, one a row of a CSV file "
        "(plain or .gz).\n"
        "The header tells the kind of table: m n k dtype; phase batch heads "
        "q_len kv_len\nhead_dim; op dtype shape; collective ranks bytes; n c "
        "h w k r s. Every row is\ncopied with predicted_us, low_us, high_us "
        "and model added; where there is no\nprediction these are empty and "
        "model says why; where no row has one the\nexit code is 1. Columns "
        "'framework' and 'source'\nname the "
        "software stack; without them the time is that of the bare kernel.\n"
        "Behind the model stand the rules that a row breaks (docs/guards.md): "
        "(memory)\nneeds more than the GPU's memory.",
    MSIM_OPTIONS(OPTIONS),
    .examples = EXAMPLES,
    .min_operands = 1,
    .max_operands = 1,
};

static enum msim_status answer(const struct settings *s,
                               const struct msim_platform *p, const char *path,
                               struct msim_error *err)
{
    struct msim_guard_count count = {0};
    char marked[MSIM_GUARD_SENTENCE];
    enum msim_status status =
        msim_op_table(p, path, s->json, stdout, &count, err);

    msim_guard_sentence(&count, "rows", marked);
    if (*marked)
        msim_message_warning("%s", marked);
    if (status == MSIM_OK)
        status = msim_guard_some(count.answers, count.asked, "rows", err);
    return status;
}

static enum msim_status run(const struct settings *s, const char *path,
                            struct msim_error *err)
{
    char data[1024];
    struct msim_network network;
    struct msim_platform *p;
    enum msim_status status = MSIM_OK;

    MSIM_TRY(msim_datadir_find(data, sizeof(data), err));
    if (s->network)
        MSIM_TRY(msim_network_load(&network, data, s->network, err));
    MSIM_TRY(msim_platform_load(&p, data, s->platform, err));
    if (s->network)
        status = msim_platform_connect(p, &network, data, err);
    if (status == MSIM_OK && msim_clock_is_asked(&s->clock))
        status = msim_platform_set_clock(p, &s->clock, err);
    if (status == MSIM_OK)
        status = answer(s, p, path, err);
    msim_platform_free(p);
    return status;
}

int msim_cmd_op(int argc, char **argv)
{
    struct settings s = {0};
    struct msim_cli_operands files;
    struct msim_error err = {0};
    enum msim_status status;
    int rc = msim_command_start(&COMMAND, argc, argv, &s, &files);

    if (rc >= 0)
        return rc;
    if (!s.platform) {
        msim_message("--platform is missing, want a name or a file (see "
                     "'mystique-sim platforms')");
        return MSIM_EXIT_USAGE;
    }
    status = run(&s, files.items[0], &err);
    return status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
}
