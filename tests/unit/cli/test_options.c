/*
 * Command lines from a table: what is taken, what is refused and why, and the
 * help that is printed of the same table.
 */
#include "cli/options.h"

#include "tests/unit/cli/said.h"

struct settings {
    bool flag;
    int way, kind;
    const char *text;
    uint32_t count;
    char taken[32];
};

static enum msim_status take(void *settings, const char *value,
                             struct msim_error *err)
{
    struct settings *s = settings;
    size_t n = strlen(s->taken);

    if (strcmp(value, "bad") == 0)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE, "bad one");
    snprintf(s->taken + n, sizeof(s->taken) - n, "%s;", value);
    return MSIM_OK;
}

static const char *const KINDS[] = {"compute", "copies", NULL};

#define FIELD(name) .field = offsetof(struct settings, name)

static const struct msim_option OPTIONS[] = {
    {.name = "flag", .type = MSIM_OPTION_FLAG, FIELD(flag), .help = "say yes"},
    {.name = "json",
     .type = MSIM_OPTION_ONE_OF,
     FIELD(way),
     .value = 1,
     .help = "one way"},
    {.name = "csv",
     .type = MSIM_OPTION_ONE_OF,
     FIELD(way),
     .value = 2,
     .help = "another way"},
    {.name = "o",
     .type = MSIM_OPTION_TEXT,
     FIELD(text),
     .metavar = "FILE",
     .help = "a file that was written, of which a great deal could be said so "
             "that its words are on two lines\nand on one more"},
    {.name = "count",
     .type = MSIM_OPTION_COUNT,
     FIELD(count),
     .metavar = "N",
     .min = 2,
     .max = 64,
     .help = "how many",
     .dflt = "2"},
    {.name = "kind",
     .type = MSIM_OPTION_CHOICE,
     FIELD(kind),
     .choices = KINDS,
     .help = "which"},
    {.name = "a-name-that-is-long",
     .type = MSIM_OPTION_CUSTOM,
     .parse = take,
     .help = "some"},
    {.name = "another-name-of-those",
     .type = MSIM_OPTION_CUSTOM,
     .parse = take,
     .help =
         "a-word-that-is-longer-than-the-line-that-it-stands-on-by-one more"},
};
static const char *const EXAMPLES[] = {"mystique-sim made a", NULL};
static const char *const AXES[] = {"power_cap", "batch", NULL};
static const struct msim_command COMMAND = {
    .name = "made",
    .operands = "TRACE...",
    .summary = "What it does,\nin two lines.",
    .options = OPTIONS,
    .n_options = sizeof(OPTIONS) / sizeof(*OPTIONS),
    .examples = EXAMPLES,
    .axes = AXES,
    .min_operands = 1,
    .max_operands = 2,
};

/* The line's words, with blanks between them, '_' for an empty one. */
static int start(const struct msim_command *c, const char *line,
                 struct settings *s, struct msim_cli_operands *operands,
                 struct said *said)
{
    static char words[256];
    static char *argv[16];
    char *rest = NULL;
    int argc = 1, rc;

    snprintf(words, sizeof(words), "%s", line);
    for (char *word = strtok_r(words, " ", &rest); word;
         word = strtok_r(NULL, " ", &rest)) {
        if (strcmp(word, "_") == 0)
            *word = '\0';
        argv[argc++] = word;
    }
    *s = (struct settings){.count = 5};
    said_begin();
    rc = msim_command_start(c, argc, argv, s, operands);
    said_end(said);
    return rc;
}

static void test_options__taken(void)
{
    static const struct {
        const char *line, *settings; /* flag way text count kind taken: operands
                                      */
    } ROWS[] = {
        {"a", "0 0 - 5 0 : a"},
        {"a b", "0 0 - 5 0 : a b"},
        {"--flag a --flag", "1 0 - 5 0 : a"},
        {"--json a --json", "0 1 - 5 0 : a"},
        {"--csv a", "0 2 - 5 0 : a"},
        {"-o x a", "0 0 x 5 0 : a"},
        {"-o=x a -o=y", "0 0 y 5 0 : a"},
        {"-o - a", "0 0 - 5 0 : a"},
        {"-o -x a", "0 0 -x 5 0 : a"},
        {"-o=--x a", "0 0 --x 5 0 : a"},
        {"-o=x=y a", "0 0 x=y 5 0 : a"},
        {"a --count 2", "0 0 - 2 0 : a"},
        {"a --count=64 b", "0 0 - 64 0 : a b"},
        {"a --kind copies", "0 0 - 5 1 : a"},
        {"a --kind=compute", "0 0 - 5 0 : a"},
        {"--a-name-that-is-long x --a-name-that-is-long=y a",
         "0 0 - 5 0 x;y;: a"},
        {"- a", "0 0 - 5 0 : - a"},
        {"-- --flag -o", "0 0 - 5 0 : --flag -o"},
        {"a -- --", "0 0 - 5 0 : a --"},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_cli_operands operands;
        struct settings s;
        struct said said;
        char text[128];
        int n;

        CHECK_INT(start(&COMMAND, ROWS[i].line, &s, &operands, &said), -1);
        CHECK_STR(said.err, "");
        n = snprintf(text, sizeof(text), "%d %d %s %u %d %s:", s.flag, s.way,
                     s.text ? s.text : "-", s.count, s.kind, s.taken);
        for (int k = 0; k < operands.n; k++)
            n += snprintf(text + n, sizeof(text) - (size_t)n, " %s",
                          operands.items[k]);
        CHECK_STR(text, ROWS[i].settings);
    }
}

#define SEE ", see 'mystique-sim made --help'"

static void test_options__refused(void)
{
    static const char *const ROWS[][2] = {
        {"--flag", "'made' wants TRACE..., got nothing; see 'mystique-sim made "
                   "--help'"},
        {"a b c", "unexpected argument 'c'" SEE},
        {"a _", "argument 2 of 'made' is empty, want TRACE..."},
        {"_", "argument 1 of 'made' is empty, want TRACE..."},
        {"--flag=x a", "option '--flag' takes no value, got 'x'"},
        {"--json=x a", "option '--json' takes no value, got 'x'"},
        {"--json --csv a", "got both --json and --csv, want one of them"},
        {"a --csv --json", "got both --csv and --json, want one of them"},
        {"a -o", "option '-o' wants FILE, got nothing"},
        {"a -o --flag", "option '-o' wants FILE, got --flag"},
        {"a -o --", "option '-o' wants FILE, got --"},
        {"a -o=", "option '-o' is empty, want FILE"},
        {"a -o _", "option '-o' is empty, want FILE"},
        {"a --kind", "option '--kind' wants a value, got nothing"},
        {"a --kind=", "option '--kind' is empty, want a value"},
        {"a --kind x", "option '--kind' is 'x', want one of compute|copies"},
        {"a --count 1",
         "option '--count' is '1', want a whole number from 2 to 64"},
        {"a --count 65",
         "option '--count' is '65', want a whole number from 2 to 64"},
        {"a --count 7x",
         "option '--count' is '7x', want a whole number from 2 to 64"},
        {"a --count -7",
         "option '--count' is '-7', want a whole number from 2 to 64"},
        {"a --count :",
         "option '--count' is ':', want a whole number from 2 to 64"},
        {"a --count 18446744073709551620",
         "option '--count' is '18446744073709551620', want a whole number from "
         "2 to 64"},
        {"a --a-name-that-is-long bad", "bad one"},
        {"a --flga", "unknown option '--flga', did you mean '--flag'?"},
        {"a --flga=3", "unknown option '--flga', did you mean '--flag'?"},
        {"a --hepl", "unknown option '--hepl', did you mean '--help'?"},
        {"a --versoin",
         "unknown option '--versoin', did you mean '--version'?"},
        {"a --fla", "unknown option '--fla', did you mean '--flag'?"},
        {"a -flag", "unknown option '-flag', did you mean '--flag'?"},
        {"a --o x", "unknown option '--o', did you mean '-o'?"},
        {"a --zzzzzzz", "unknown option '--zzzzzzz'" SEE},
        {"a --batch 8", "'--batch' is a change, want 'whatif --grid "
                        "batch=VALUE'"},
        {"a --power-cap=3", "'--power-cap' is a change, want 'whatif --grid "
                            "power_cap=VALUE'"},
        {"a -batch 8", "unknown option '-batch'" SEE},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_cli_operands operands;
        struct settings s;
        struct said said;
        char want[256];

        CHECK_INT(start(&COMMAND, ROWS[i][0], &s, &operands, &said),
                  MSIM_EXIT_USAGE);
        snprintf(want, sizeof(want), "mystique-sim: %s\n", ROWS[i][1]);
        CHECK_STR(said.err, want);
        CHECK_STR(said.out, "");
    }
}

/* At least two operands are too few where there is one; with no most there are
 * as many as wanted. */
static void test_operands__how_many(void)
{
    struct msim_command c = COMMAND;
    struct msim_cli_operands operands;
    struct settings s;
    struct said said;

    c.min_operands = 2;
    c.max_operands = 0;
    CHECK_INT(start(&c, "a", &s, &operands, &said), MSIM_EXIT_USAGE);
    CHECK_STR(said.err, "mystique-sim: 'made' wants TRACE..., got too few; see "
                        "'mystique-sim made --help'\n");
    CHECK_INT(start(&c, "a b c d", &s, &operands, &said), -1);
    CHECK_INT(operands.n, 4);
}

/* Words end at column 78 and go on at 26, as names of more than 24 do; a
 * newline is a blank. */
#define HELP                                                                   \
    "  --flag                  say yes\n"                                      \
    "  --json                  one way\n"                                      \
    "  --csv                   another way\n"                                  \
    "  -o FILE                 a file that was written, of which a great "     \
    "deal "                                                                    \
    "could\n"                                                                  \
    "                          be said so that its words are on two lines "    \
    "and on\n"                                                                 \
    "                          one more\n"                                     \
    "  --count N               how many [default: 2]\n"                        \
    "  --kind compute|copies   which\n"                                        \
    "  --a-name-that-is-long   some\n"                                         \
    "  --another-name-of-those \n"                                             \
    "                          "                                               \
    "a-word-that-is-longer-than-the-line-that-it-stands-on-by-one\n"           \
    "                          more\n"                                         \
    "  --help, -h              print this help\n"                              \
    "  --version, -V           print the version\n"

/* Help and the version are all that is done. */
static void test_help__of_the_table(void)
{
    static const char *const LINES[] = {"--help", "-h", "--flag -h a b c"};
    struct msim_cli_operands operands;
    struct msim_command c = COMMAND;
    struct settings s;
    struct said said;

    for (size_t i = 0; i < sizeof(LINES) / sizeof(*LINES); i++) {
        CHECK_INT(start(&COMMAND, LINES[i], &s, &operands, &said), 0);
        CHECK_STR(said.out, "usage: mystique-sim made [OPTION]... TRACE...\n\n"
                            "What it does,\nin two lines.\n\noptions:\n" HELP
                            "\nexamples:\n  mystique-sim made a\n");
    }
    c.operands = "";
    c.examples = NULL;
    CHECK_INT(start(&c, "-h", &s, &operands, &said), 0);
    CHECK_STR(said.out, "usage: mystique-sim made [OPTION]...\n\nWhat it does,"
                        "\nin two lines.\n\noptions:\n" HELP);
    CHECK_INT(start(&COMMAND, "-V --nothing", &s, &operands, &said), 0);
    CHECK(strncmp(said.out, "mystique-sim ", 13) == 0);
    CHECK_INT(start(&COMMAND, "--version", &s, &operands, &said), 0);
    CHECK(strncmp(said.out, "mystique-sim ", 13) == 0);
}

static void test_check__files(void)
{
    static const char *const CHARTS[] = {"a.svg", "a.png", "b/.x.svg"};
    static const char *const OTHERS[] = {".svg", "", "a.pdf", "svg",
                                         "a.svg.gz"};
    struct msim_error err = {0};

    for (size_t i = 0; i < 3; i++)
        CHECK_INT(msim_option_check_chart(CHARTS[i], NULL), MSIM_OK);
    for (size_t i = 0; i < 5; i++)
        CHECK_INT(msim_option_check_chart(OTHERS[i], &err), MSIM_EUSAGE);
    CHECK_STR(err.text, "option '--chart' is '.svg', want a file that ends in "
                        ".svg or .png");
    err = (struct msim_error){0};
    CHECK_INT(msim_option_check_html(NULL, NULL), MSIM_OK);
    CHECK_INT(msim_option_check_html("a", NULL), MSIM_OK);
    CHECK_INT(msim_option_check_html("-a", NULL), MSIM_OK);
    CHECK_INT(msim_option_check_html("", NULL), MSIM_EUSAGE);
    CHECK_INT(msim_option_check_html("-", &err), MSIM_EUSAGE);
    CHECK_STR(err.text, "option '--html' is '-', want a file");
}

int main(void)
{
    RUN(test_options__taken);
    RUN(test_options__refused);
    RUN(test_operands__how_many);
    RUN(test_help__of_the_table);
    RUN(test_check__files);
    return check_summary();
}
