/*
 * The options of `predict`: what their values mean, where their ranges end, and
 * which do not go together.
 */
#include "cli/predict_options.h"

#include "tests/unit/cli/said.h"

/* Parse a line of words with blanks between them, where '_' is one. */
static int parse(struct msim_predict_options *o, const char *line,
                 struct said *said)
{
    static char words[512], verb[] = "predict";
    static char *argv[24] = {verb};
    char *rest = NULL;
    int argc = 1, rc;

    snprintf(words, sizeof(words), "%s", line);
    for (char *word = strtok_r(words, " ", &rest); word && argc < 23;
         word = strtok_r(NULL, " ", &rest)) {
        for (char *c = word; *c; c++)
            *c = *c == '_' ? ' ' : *c;
        argv[argc++] = word;
    }
    said_begin();
    rc = msim_predict_options_parse(o, argc, argv);
    said_end(said);
    return rc;
}

/* ---- values -------------------------------------------------------------- */

static void test_values__iteration(void)
{
    static const char *const WRONG[] = {
        "", "x", "-1", "1x", "all ", ":", "/1", "99999999999999999999"};
    struct msim_error err = {0};
    int64_t n = 5;

    CHECK_INT(msim_iteration_parse(&n, "all", &err), MSIM_OK);
    CHECK_INT(n, MSIM_ITERATION_ALL);
    CHECK_INT(msim_iteration_parse(&n, "0", &err), MSIM_OK);
    CHECK_INT(n, 0);
    CHECK_INT(msim_iteration_parse(&n, "9223372036854775807", &err), MSIM_OK);
    CHECK_INT(n, INT64_MAX);
    for (size_t i = 0; i < sizeof(WRONG) / sizeof(*WRONG); i++) {
        char want[128];

        err = (struct msim_error){0};
        CHECK_INT(msim_iteration_parse(&n, WRONG[i], &err), MSIM_EUSAGE);
        snprintf(want, sizeof(want),
                 "option '--iteration' is '%s', want 'all' or the number of a "
                 "step",
                 WRONG[i]);
        CHECK_STR(err.text, want);
    }
}

/* Prices and watts for all platforms, or for each. */
static void test_values__rates(void)
{
    static const struct {
        const char *line;
        double usd[2], watts[2], each;
        const char *unit;
    } ROWS[] = {
        {"t", {0, 0}, {0, 0}, 0, NULL},
        {"t --price 2.5", {2.5, 2.5}, {0, 0}, 0, NULL},
        {"t --platform a,b --price 2.5,1.5 --power 700",
         {2.5, 1.5},
         {700, 700},
         0,
         NULL},
        {"t --platform a,b --price 1 --power 700,350",
         {1, 1},
         {700, 350},
         0,
         NULL},
        {"t --price 1e15 --per-iteration 32", {1e15, 1e15}, {0, 0}, 32, NULL},
        {"t --per-iteration 0.5", {0, 0}, {0, 0}, 0.5, NULL},
        {"t --per-iteration 4096__tokens", {0, 0}, {0, 0}, 4096, "tokens"},
        {"t --per-iteration 3_", {0, 0}, {0, 0}, 3, NULL},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_predict_options o;
        struct said said;

        CHECK_INT(parse(&o, ROWS[i].line, &said), -1);
        CHECK_STR(said.err, "");
        for (uint32_t k = 0; k < 2; k++) {
            struct msim_rates r = msim_predict_options_rates(&o, k);

            CHECK_REL(r.usd_per_hour + 1, ROWS[i].usd[k] + 1, 1e-12);
            CHECK_REL(r.watts + 1, ROWS[i].watts[k] + 1, 1e-12);
            CHECK_REL(r.per_iteration + 1, ROWS[i].each + 1, 1e-12);
            CHECK_STR(r.unit ? r.unit : "", ROWS[i].unit ? ROWS[i].unit : "");
        }
        msim_predict_options_release(&o);
    }
}

/* A file is a table, of prices where it does not look like numbers. */
static void test_values__files(void)
{
    char ops[] = P_tmpdir "/msim-ops-XXXXXX", line[128];
    struct msim_predict_options o;
    struct said said;
    int fd = mkstemp(ops);

    REQUIRE(fd >= 0);
    close(fd);
    CHECK_INT(parse(&o, "t --ops aten::mm", &said), -1);
    CHECK_STR(o.settings.choice.ops, "aten::mm");
    CHECK(o.settings.ops == NULL);
    msim_predict_options_release(&o);
    snprintf(line, sizeof(line), "t --ops %s", ops);
    CHECK_INT(parse(&o, line, &said), -1);
    CHECK(o.settings.choice.ops == NULL);
    CHECK_STR(o.settings.ops, ops);
    msim_predict_options_release(&o);
    snprintf(line, sizeof(line), "t --price %s", ops);
    CHECK_INT(parse(&o, line, &said), MSIM_EXIT_USAGE);
    CHECK(
        strstr(said.err,
               ": is a table of prices, want --platform, which says whose\n"));
    unlink(ops);
}

/* What is asked for with what; the sums of a page need more of a run. */
static void test_values__settings(void)
{
    static const struct {
        const char *line;
        bool groups, shapes;
        enum msim_peers peers;
    } ROWS[] = {{"t", false, false, MSIM_PEERS_FOLLOW},
                {"t --html x", true, true, MSIM_PEERS_FOLLOW},
                {"t --json", false, true, MSIM_PEERS_FOLLOW},
                {"t --csv --peers fixed", false, false, MSIM_PEERS_FIXED},
                {"t --peers follow", false, false, MSIM_PEERS_FOLLOW}};

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_predict_options o;
        struct said said;

        CHECK_INT(parse(&o, ROWS[i].line, &said), -1);
        CHECK_INT(o.settings.groups, ROWS[i].groups);
        CHECK_INT(o.settings.shapes, ROWS[i].shapes);
        CHECK_INT(o.settings.peers, ROWS[i].peers);
        CHECK_INT(o.settings.load.threads, 2);
        CHECK_INT(o.settings.iteration, MSIM_ITERATION_ALL);
        CHECK_INT(o.settings.n_paths, 1);
        msim_predict_options_release(&o);
    }
}

/* ---- refusals ------------------------------------------------------------ */

#define SKEW(value)                                                            \
    "option '--index-skew' is '" value "', want a number from 0 (uniform) to " \
    "10"
#define COUNT(option, value)                                                   \
    "option '--" option "' is '" value                                         \
    "', want a whole number from 1 to 1048576"
#define EACH(value)                                                            \
    "option '--per-iteration' is '" value "', want a number above 0, and a "   \
    "unit if you like: '32 samples'"
#define PRICE(value)                                                           \
    "option '--price' is '" value "', want US dollars an hour for one GPU, "   \
    "above 0; with several platforms, one for each: 2.5,1.1; or a table of "   \
    "prices"
#define POWER(value)                                                           \
    "option '--power' is '" value "', want the mean power of one GPU in "      \
    "watts, above 0; or, with several platforms, one for each: 700,350"

static void test_options__refused(void)
{
    static const char *const ROWS[][2] = {
        {"", "'predict' wants TRACE|DIR..., got nothing (nor --model); see "
             "'mystique-sim predict --help'"},
        {"t --model m", "got --model and 't', want one of them"},
        {"t --nodes 0", COUNT("nodes", "0")},
        {"t --nodes 1048577", COUNT("nodes", "1048577")},
        {"t --ranks 0", COUNT("ranks", "0")},
        {"t --ranks 1048577", COUNT("ranks", "1048577")},
        {"t --index-skew -1", SKEW("-1")},
        {"t --index-skew 10.1", SKEW("10.1")},
        {"t --index-skew 1x", SKEW("1x")},
        {"t --index-skew nan", SKEW("nan")},
        {"t --per-iteration 0", EACH("0")},
        {"t --per-iteration -1", EACH("-1")},
        {"t --per-iteration 3x", EACH("3x")},
        {"t --per-iteration 1.1e15", EACH("1.1e15")},
        {"t --per-iteration inf", EACH("inf")},
        {"t --price 0", PRICE("0")},
        {"t --price 1,", PRICE("1,")},
        {"t --price ,1", PRICE(",1")},
        {"t --price 1;2", PRICE("1;2")},
        {"t --price 1.1e15", PRICE("1.1e15")},
        {"t --price no/such/file", PRICE("no/such/file")},
        {"t --power -1", POWER("-1")},
        {"t --power 1,0", POWER("1,0")},
        {"t --price 1,2", "option '--price' has 2 numbers for 1 platform, want "
                          "one for all or one for each"},
        {"t --platform a,b --power 1,2,3",
         "option '--power' has 3 numbers for 2 platforms, want one for all or "
         "one for each"},
        {"t --explain mm --platform a,b",
         "got --explain with several platforms, want one"},
        {"t --brief --platform a,b",
         "got --brief with several platforms, want one"},
        {"t --timeline x --platform a,b",
         "got --timeline with several platforms, want one"},
        {"t --chart x.svg --platform a,b",
         "got --chart with several platforms, want one"},
        {"t --html x --platform a,b",
         "got --html with several platforms, want one"},
        {"t --markdown --platform a,b",
         "got --markdown with several platforms, want one"},
        {"t --chart x", "option '--chart' is 'x', want a file that ends in "
                        ".svg or .png"},
        {"t --html -", "option '--html' is '-', want a file"},
        {"t --explain mm --html x",
         "got --html with --explain, which prints text or JSON"},
        {"t --explain mm --timeline x",
         "got --timeline with --explain, which prints text or JSON"},
        {"t --explain mm --chart x.svg",
         "got --chart with --explain, which prints text or JSON"},
        {"t --explain mm --brief",
         "got --brief with --explain, which prints text or JSON"},
        {"t --explain mm --csv",
         "got --csv with --explain, which prints text or JSON"},
        {"t --explain mm --markdown",
         "got --markdown with --explain, which prints text or JSON"},
        {"t --brief --json",
         "got --brief with --json, want it with the text report"},
        {"t --brief --csv",
         "got --brief with --csv, want it with the text report"},
        {"t --brief --markdown",
         "got --brief with --markdown, want it with the text report"},
        {"t --timeline -", "option '--timeline' is '-', want a file"},
        {"t --source-platform a --costs measured",
         "got --source-platform with '--costs measured', want it with '--costs "
         "scaled' or auto"},
        {"t --source-trace a --costs model",
         "got --source-trace with '--costs model', want it with '--costs "
         "scaled' or auto"},
        {"t --range 3..2",
         "option '--range' is '3..2', want two ids of ET nodes, the smaller "
         "one first, such as 120..480"},
        {"t --communication=", "option '--communication' is empty, want GLOB"},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_predict_options o;
        struct said said;
        char want[400];

        if (!CHECK_INT(parse(&o, ROWS[i][0], &said), MSIM_EXIT_USAGE))
            fprintf(stderr, "%s\n", ROWS[i][0]);
        snprintf(want, sizeof(want), "mystique-sim: %s\n", ROWS[i][1]);
        CHECK_STR(said.err, want);
        msim_predict_options_release(&o);
    }
}

/* What goes together, and the ends of ranges. */
static void test_options__taken(void)
{
    static const char *const LINES[] = {
        "t --nodes 1 --ranks 1",
        "t --nodes 1048576 --ranks 1048576",
        "t --index-skew 0",
        "t --index-skew 10",
        "t --explain mm --json",
        "t --explain mm --platform a",
        "t --brief --platform a",
        "t --platform a,b --json",
        "t --platform a,b --csv",
        "t --source-platform a --costs scaled",
        "t --source-trace a --costs auto",
        "t --costs measured",
        "--model m",
        "t u --timeline x --chart x.png --html y",
        "t --price 1,2 --platform a,b"};

    for (size_t i = 0; i < sizeof(LINES) / sizeof(*LINES); i++) {
        struct msim_predict_options o;
        struct said said;

        CHECK_INT(parse(&o, LINES[i], &said), -1);
        CHECK_STR(said.err, "");
        msim_predict_options_release(&o);
    }
}

int main(void)
{
    RUN(test_values__iteration);
    RUN(test_values__rates);
    RUN(test_values__files);
    RUN(test_values__settings);
    RUN(test_options__refused);
    RUN(test_options__taken);
    return check_summary();
}
