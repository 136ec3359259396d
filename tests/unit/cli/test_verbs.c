/*
 * What verbs refuse before they do anything, with the words and the exit code;
 * the least and the most of their options, and no more.
 */
#include "cli/cmd.h"
#include "core/base/status.h"
#include "tests/unit/cli/said.h"

/* A command line of words with blanks between them. */
static int asked(const char *line, struct said *said)
{
    static char words[256];
    static char *argv[16];
    const struct msim_verb *verb;
    char *rest = NULL;
    int argc = 0, rc;

    snprintf(words, sizeof(words), "%s", line);
    for (char *word = strtok_r(words, " ", &rest); word && argc < 15;
         word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    verb = msim_verb_find(argv[0]);
    if (!CHECK(verb != NULL))
        return -1;
    said_begin();
    rc = verb->run(argc, argv);
    said_end(said);
    return rc;
}

#define RANGE(option, value, from, to)                                         \
    "option '" option "' is '" value "', want a whole number from " from       \
    " to " to

#define METHOD(value)                                                          \
    "option '--method' is '" value "', want union, convolution or search"
#define RATE     "requests a second, above 0 and at most 1e9"
#define CLIENTS  "clients, from 1 to 1000000"
#define REQUESTS "requests, from 1 to 50000000"
#define GOODPUT  "METRIC:MS, with e2e, ttft or tpot"
#define PLANS                                                                  \
    "prints CSV, one line a plan: it goes without --plan, --json, "            \
    "--counters, "                                                             \
    "--timeline, --chart"

static void test_verbs__refuse(void)
{
    static const char *const ROWS[][2] = {
        {"select -k 0 t", RANGE("-k", "0", "1", "1000")},
        {"select -k 1001 t", RANGE("-k", "1001", "1", "1000")},
        {"generate --batch 0 t", RANGE("--batch", "0", "1", "16777216")},
        {"generate --batch 16777217 t",
         RANGE("--batch", "16777217", "1", "16777216")},
        {"generate --repeat 0 t", RANGE("--repeat", "0", "1", "16777216")},
        {"generate --repeat 16777217 t",
         RANGE("--repeat", "16777217", "1", "16777216")},
        {"generate t", "'generate' wants -o DIR, the folder to write, or "
                       "--json; see 'mystique-sim generate --help'"},
        {"replay --iterations 0 t", RANGE("--iterations", "0", "1", "10000")},
        {"replay --iterations 10001 t",
         RANGE("--iterations", "10001", "1", "10000")},
        {"replay --warmup 1001 t", RANGE("--warmup", "1001", "0", "1000")},
        {"replay --cache hot t",
         "option '--cache' is 'hot', want cold or warm"},
        {"replay --patience 0 t",
         "option '--patience' is '0', want a number of seconds above 0"},
        {"replay --patience 1x t",
         "option '--patience' is '1x', want a number of seconds above 0"},
        {"replay --patience inf t",
         "option '--patience' is 'inf', want a number of seconds above 0"},
        {"apps --num-requests 0 t",
         RANGE("--num-requests", "0", "1", "100000000")},
        {"apps --num-requests 100000001 t",
         RANGE("--num-requests", "100000001", "1", "100000000")},
        {"apps --seed 2147483648 t",
         RANGE("--seed", "2147483648", "0", "2147483647")},
        {"size --seed 1000000001 t",
         RANGE("--seed", "1000000001", "0", "1000000000")},
        {"plan --threads 0 t", RANGE("--threads", "0", "1", "64")},
        {"plan --threads 65 t", RANGE("--threads", "65", "1", "64")},
        {"learn --horizon 0 t", RANGE("--horizon", "0", "1", "60")},
        {"learn --horizon 61 t", RANGE("--horizon", "61", "1", "60")},
        {"learn t", "--runs is missing, want a folder of counters (or "
                    "--requests, a log)"},
        {"learn t -o m", "--runs is missing, want a folder of counters (or "
                         "--requests, a log)"},
        {"learn t --runs r", "-o is missing, want the model to write"},
        {"learn t --requests r", "-o is missing, want the model to write"},
        {"learn t --runs r --requests q -o m",
         "--runs and --requests exclude each other"},
        {"learn t --runs r --requests q",
         "--runs and --requests exclude each other"},
        {"watch --horizon 0 t", RANGE("--horizon", "0", "1", "60")},
        {"watch --horizon 61 t", RANGE("--horizon", "61", "1", "60")},
        {"watch t", "--counters is missing, want a file, or - for a pipe"},
        {"watch t --counters c --advise",
         "--advise is part of the JSON lines, want --json with it"},
        {"watch t --counters c --advise --csv",
         "--advise is part of the JSON lines, want --json with it"},
        {"op t", "--platform is missing, want a name or a file (see "
                 "'mystique-sim platforms')"},
        {"compare --fail-above x t u",
         "option '--fail-above' is 'x', want a percentage from 0 to 10000, "
         "e.g. 5%"},
        {"compare --fail-above -1 t u",
         "option '--fail-above' is '-1', want a percentage from 0 to 10000, "
         "e.g. 5%"},
        {"compare --fail-above 10001 t u",
         "option '--fail-above' is '10001', want a percentage from 0 to 10000, "
         "e.g. 5%"},
        {"compare --fail-above 5%% t u",
         "option '--fail-above' is '5%%', want a percentage from 0 to 10000, "
         "e.g. 5%"},
        {"compare - -", "both sides are '-', want standard input for one"},
        {"validate", "want TRACE and REPLAYED, or --rows ROWS.csv"},
        {"validate t", "want TRACE and REPLAYED, or --rows ROWS.csv"},
        {"validate --max-error 0 t u",
         "--max-error is '0', want a number above 0"},
        {"validate --max-error 1x t u",
         "--max-error is '1x', want a number above 0"},
        {"validate --rows r t",
         "--rows stands alone, without TRACE and REPLAYED"},
        {"synth t", "no folder for the traces, want '-o DIR'"},
        {"whatif t", "got 't' alone, want SCENARIOS.json and a trace, or "
                     "--sensitivity or --grid and a trace"},
        {"convert t", "'convert' wants -o OUT, the file to write; see "
                      "'mystique-sim convert --help'"},
        {"convert t -o -", "option '-o' is '-', want a file"},
        {"help t u", "got 'u' behind 't', want one verb or 'report'"},
        {"help zzzzz", "'zzzzz' is neither a verb nor a file, see "
                       "'mystique-sim --help'"},
        {"help predic", "unknown verb 'predic', did you mean 'predict'?"},
        {"size t --rate 0", "option '--rate' is '0', want a number above 0"},
        {"size t --rate 1x", "option '--rate' is '1x', want a number above 0"},
        {"size t --request-rate inf",
         "option '--rate' is 'inf', want a number above 0"},
        {"size t --patience -1",
         "option '--patience' is '-1', want a number above 0"},
        {"size t --method unio", METHOD("unio") "; did you mean 'union'?"},
        {"size t --method zzz", METHOD("zzz")},
        {"serve t --rate 0", "option '--rate' is '0', want " RATE},
        {"serve t --rate 1.1e9", "option '--rate' is '1.1e9', want " RATE},
        {"serve t --concurrency 0.5",
         "option '--concurrency' is '0.5', want " CLIENTS},
        {"serve t --concurrency 1.5",
         "option '--concurrency' is '1.5', want " CLIENTS},
        {"serve t --concurrency 1000001",
         "option '--concurrency' is '1000001', want " CLIENTS},
        {"serve t --num-requests 0",
         "option '--num-requests' is '0', want " REQUESTS},
        {"serve t --num-requests 50000001",
         "option '--num-requests' is '50000001', want " REQUESTS},
        {"serve t --seconds 0", "option '--seconds' is '0', want seconds, "
                                "above 0 and at most 1e7"},
        {"serve t --seconds 10000001",
         "option '--seconds' is '10000001', want seconds, above 0 and at most "
         "1e7"},
        {"serve t --warmup -1",
         "option '--warmup' is '-1', want seconds, from 0 to 1e7"},
        {"serve t --warmup 10000001",
         "option '--warmup' is '10000001', want seconds, from 0 to 1e7"},
        {"serve t --seed -1",
         "option '--seed' is '-1', want a whole number, from 0"},
        {"serve t --seed 0.5",
         "option '--seed' is '0.5', want a whole number, from 0"},
        {"serve t --goodput e2e", "option '--goodput' is 'e2e', want " GOODPUT},
        {"serve t --goodput e2:3",
         "option '--goodput' is 'e2:3', want " GOODPUT},
        {"serve t --goodput :3", "option '--goodput' is ':3', want " GOODPUT},
        {"serve t --goodput ttft:0",
         "option '--goodput' is '0', want a limit in ms, above 0"},
        {"serve t --rate 3 --concurrency 3",
         "--rate and --concurrency exclude each other"},
        {"serve t --requests l --concurrency 3",
         "--requests and --concurrency exclude each other"},
        {"serve t --plans p --json", "--plans " PLANS},
        {"serve t --plans p --plan q", "--plans " PLANS},
        {"serve t --plans p --counters q", "--plans " PLANS},
        {"serve t --plans p --timeline q", "--plans " PLANS},
        {"serve t --plans p --chart q.svg", "--plans " PLANS},
        {"serve t --chart q", "option '--chart' is 'q', want a file that ends "
                              "in .svg or .png"},
        {"serve t --timeline a --counters a",
         "a: is what '--counters' and '--timeline' would both write; want two "
         "files"},
        {"serve", "want APP.json, a model, or --rows POINTS.csv"},
        {"serve --rows r t", "--rows takes no application"},
        {"serve --rows r --json", "--rows is printed as text or CSV"},
        {"serve t --models m", "--models goes with --rows"},
        {"whatif --grid a=1 --sensitivity t",
         "t: --grid has scenarios, and --sensitivity its own"},
        {"whatif --write d --sensitivity t",
         "t: --sensitivity changes durations alone, and --write writes changed "
         "traces"},
        {"whatif --kernels --sensitivity t",
         "t: --sensitivity changes durations alone, and --kernels lists what "
         "scenarios change"},
        {"whatif s t --simulate",
         "t: --simulate is of a described model: what is predicted of traces "
         "is simulated"},
        {"calibrate --seed -1", RANGE("--seed", "-1", "0", "4294967295")},
        {"calibrate", "--out is missing, want the platform file to write"},
        {"calibrate --from t",
         "--out is missing, want the platform file to write"},
        {"calibrate t", "calibrate takes no operand without --from, got 't'"},
        {"calibrate --platform p --out x",
         "--platform 'p' is of no use without --from"},
        {"calibrate --budget 0 --out x",
         "--budget is '0', want a number above 0"},
        {"calibrate --budget 1e9 --out x",
         "--budget is '1e9', want a number above 0"},
        {"calibrate --budget 1x --out x",
         "--budget is '1x', want a number above 0"},
        {"calibrate --target-interval -1 --out x",
         "--target-interval is '-1', want a number above 0"},
        {"calibrate --from t --budget 3 --out x",
         "--budget is of no use with --from, which times nothing"},
        {"calibrate --from t --target-interval 3 --out x",
         "--target-interval is of no use with --from, which times nothing"},
        {"calibrate --from t --dry-run --out x",
         "--dry-run is of no use with --from, which times nothing"},
        {"calibrate --from t --fit-only --out x",
         "--fit-only is of no use with --from, which times nothing"},
        {"calibrate --fit-only --measure-only --out x",
         "--measure-only is of no use with --fit-only, which times nothing"},
        {"calibrate --measure-only --dry-run --out x",
         "--dry-run is of no use with --measure-only, which fits nothing and "
         "lists nothing"},
        {"calibrate --measure-only --target-interval 2 --out x",
         "--target-interval is of no use with --measure-only, which fits "
         "nothing and lists nothing"},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        char want[400];
        struct said s;

        if (!CHECK_INT(asked(ROWS[i][0], &s), MSIM_EXIT_USAGE))
            fprintf(stderr, "%s\n", ROWS[i][0]);
        snprintf(want, sizeof(want), "mystique-sim: %s\n", ROWS[i][1]);
        CHECK_STR(s.err, want);
        CHECK_STR(s.out, "");
    }
}

/* Least and most are taken: what fails then is that there is no such file. */
static void test_verbs__take(void)
{
    static const char *const LINES[] = {
        "select -k 1 no/such",
        "select -k 1000 no/such",
        "generate --batch 1 --repeat 1 -o x no/such",
        "generate --batch 16777216 --repeat 16777216 -o x no/such",
        "replay --iterations 1 --warmup 0 --cache cold no/such",
        "replay --iterations 10000 --warmup 1000 --patience 1e-9 --cache warm "
        "no/such",
        "apps --num-requests 1 --seed 0 no/such",
        "apps --num-requests 100000000 --seed 2147483647 no/such",
        "watch no/such --counters c --horizon 1",
        "watch no/such --counters c --horizon 60 --json --advise",
        "size no/such --seed 0",
        "size no/such --seed 1000000000",
        "plan --threads 1 no/such",
        "plan --threads 64 no/such",
        "op --platform a100 no/such",
        "compare --fail-above 0 no/such no/such",
        "compare --fail-above 10000% no/such no/such",
        "synth -o x no/such",
        "serve no/such",
        "serve no/such --rate 1e-6 --num-requests 1 --seed 0 --warmup 0",
        "serve no/such --rate 1e9 --num-requests 50000000 --warmup 1e7",
        "serve no/such --concurrency 1 --seconds 1e-6 --goodput e2el:1e-6",
        "serve no/such --concurrency 1000000 --seconds 1e7 --goodput tpot:1e12",
        "serve no/such --seed 9007199254740992 --goodput ttft:1 --goodput "
        "e2e:2",
        "serve no/such --timeline a --counters b --chart c.png",
        "size no/such --rate 1e-9 --patience 1e9 --method search",
        "size no/such --request-rate 3 --method union",
        "validate --max-error 1e-9 no/such no/such",
        "whatif --sensitivity no/such",
        "convert -o x no/such",
        "info no/such",
        "platforms no/such",
        "learn no/such --requests r -o y",
        "calibrate --from no/such --out x",
        "calibrate --from no/such a b c --platform h100 --out x"};

    for (size_t i = 0; i < sizeof(LINES) / sizeof(*LINES); i++) {
        struct said s;

        if (!CHECK_INT(asked(LINES[i], &s), MSIM_EXIT_INPUT) ||
            !CHECK(strstr(s.err, "mystique-sim: no/such: cannot ") ==
                   strstr(s.err, "mystique-sim: ")) ||
            !CHECK(strstr(s.err, ": No such file or directory\n") != NULL))
            fprintf(stderr, "%s\n%s", LINES[i], s.err);
        CHECK_STR(s.out, "");
    }
}

/* Each verb says what it is for, and where it is listed. */
static void test_verbs__help(void)
{
#define X(verb, summary) {#verb, summary},
    static const char *const VERBS[][2] = {MSIM_VERB_MAP(X)};
#undef X
    struct said list, s;

    CHECK_INT(asked("help", &list), MSIM_EXIT_OK);
    for (size_t i = 0; i < sizeof(VERBS) / sizeof(*VERBS); i++) {
        char line[160], usage[64];

        snprintf(line, sizeof(line), "\n  %-12s%s\n", VERBS[i][0], VERBS[i][1]);
        CHECK(strstr(list.out, line) != NULL);
        snprintf(line, sizeof(line), "help %s", VERBS[i][0]);
        CHECK_INT(asked(line, &s), MSIM_EXIT_OK);
        snprintf(usage, sizeof(usage), "usage: mystique-sim %s ", VERBS[i][0]);
        CHECK(strcmp(VERBS[i][0], "help") == 0 ||
              strcmp(VERBS[i][0], "predict") == 0 ||
              strncmp(s.out, usage, strlen(usage)) == 0);
    }
    CHECK(msim_verb_find("predic") == NULL);
}

int main(void)
{
    setenv("MSIM_DATA", MSIM_DATA, 1);
    RUN(test_verbs__refuse);
    RUN(test_verbs__take);
    RUN(test_verbs__help);
    return check_summary();
}
