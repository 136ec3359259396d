/*
 * The folder of a benchmark: what of it is a trace's, of one rank and of
 * several.
 */
#include "replay/emit/emit_python.h"

#include "tests/unit/made_et.h"

#include <sys/stat.h>

static char folder[] = P_tmpdir "/msim-bench-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[96];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

/* The file, which goes; "" where there is none. */
static char *taken(const char *name)
{
    char *text = calloc(1, 1 << 17);
    FILE *f = fopen(path_of(name), "r");

    if (!text)
        abort();
    if (f) {
        if (fread(text, 1, (1 << 17) - 1, f) == 0)
            text[0] = '\0';
        fclose(f);
        unlink(path_of(name));
    }
    return text;
}

static void check_there(const char *name, bool there)
{
    char *text = taken(name);

    if (!CHECK_INT(text[0] != '\0', there))
        fprintf(stderr, "%s\n", name);
    free(text);
}

/* A step of two operators, the second of which is called `last`, and `odd` of
 * no signature. */
static bool made(struct made_program *x, const char *last, unsigned odd)
{
    struct made_et m = {0};
    char name[32];

    et_op(&m, 100, ET_RELU, "1:6x4", "7:6x4");
    et_op(&m, 110, last, "7:6x4", "8:6x4");
    for (unsigned i = 0; i < odd; i++) {
        snprintf(name, sizeof(name), "my::odd%u", i);
        et_op(&m, 120 + 10 * i, name, "8:6x4", "9:6x4");
    }
    return CHECK(program_of(&m, x, NULL, true));
}

static enum msim_status emit(const struct made_program *x, uint32_t n,
                             const struct msim_emit_options *o,
                             struct msim_emit_result *result)
{
    const struct msim_program *ranks[4];

    for (uint32_t i = 0; i < n; i++)
        ranks[i] = x[i].p;
    return msim_emit_python(ranks, n, folder, o, result, NULL);
}

static uint32_t lines_of(const char *text)
{
    uint32_t n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* ---- bench.py ------------------------------------------------------------ */

/* The title in a text of Python's, sizes that may be changed, and the step. */
static void test_bench__of_a_trace(void)
{
    static const struct {
        uint32_t batch, repeat;
        const char *constants;
    } ROWS[] = {{0, 0,
                 "\nBATCH = 6 # samples; the trace had 6\nREPEAT = 1 # steps "
                 "in what is timed at once\n"},
                {12, 5,
                 "\nBATCH = 12 # samples; the trace had 6\nREPEAT = 5 # steps "
                 "in what is timed at once\n"}};
    struct made_program x;

    if (!made(&x, ET_TANH, 0))
        return;
    for (size_t i = 0; i < 2; i++) {
        struct msim_emit_options o = {.title = "a\"b\\c`d",
                                      .version = "7",
                                      .batch = ROWS[i].batch,
                                      .repeat = ROWS[i].repeat};
        struct msim_emit_result result;
        char *bench;

        CHECK_INT(emit(&x, 1, &o, &result), MSIM_OK);
        bench = taken("bench.py");
        CHECK(strstr(bench, "\n\"\"\"a'b/c`d\n\nmystique-sim made this"));
        CHECK(strstr(bench, ROWS[i].constants) != NULL);
        CHECK(strstr(bench, "\n\n\n@torch.no_grad()\ndef step():\n    x0 = "
                            "aten.relu.default(X[0])\n    "
                            "aten.tanh.default(x0)\n"));
        CHECK(strstr(bench, "aten = torch.ops.aten\n") != NULL);
        CHECK(strstr(bench, "L = DATA") == NULL);
        CHECK(strstr(bench, "LAYERS = ") == NULL);
        CHECK(strchr(bench, '@') && !strstr(bench, "@PROGRAM@") &&
              !strstr(bench, "@CONSTANTS@") && !strstr(bench, "@TITLE@"));
        CHECK_INT(result.lines, lines_of(bench));
        CHECK_INT(result.statements, 2);
        CHECK_INT(result.outside, 1);
        CHECK_INT(result.programs, 1);
        CHECK_INT(result.loops, 0);
        CHECK_INT(result.left_out, 0);
        free(bench);
        check_there("data.json", true);
        check_there("README.md", true);
        check_there("meter.py", true);
    }
    program_done(&x);
}

/* Runs of one statement are a loop, unless none is wanted. */
static void test_bench__loops(void)
{
    struct made_et m = {0};
    struct made_program x;
    char in[64], out[64];

    for (unsigned i = 0; i < 6; i++) {
        snprintf(in, sizeof(in), "%u:6x4 %u:4x4", i ? 20 + i : 1, 40 + i);
        snprintf(out, sizeof(out), "%u:6x4", 21 + i);
        et_op(&m, 200 + 10 * i, ET_MM, in, out);
    }
    if (!CHECK(program_of(&m, &x, NULL, true)))
        return;
    for (int no_loops = 0; no_loops < 2; no_loops++) {
        struct msim_emit_options o = {
            .title = "t", .version = "7", .no_loops = no_loops};
        struct msim_emit_result result;
        char *bench;

        CHECK_INT(emit(&x, 1, &o, &result), MSIM_OK);
        CHECK_INT(result.loops, !no_loops);
        CHECK_INT(result.statements, 6);
        CHECK_INT(result.outside, 7);
        bench = taken("bench.py");
        CHECK_INT(strstr(bench, "\n    for i in range(") != NULL, !no_loops);
        free(bench);
        check_there("data.json", true);
        check_there("README.md", true);
        check_there("meter.py", true);
    }
    program_done(&x);
}

/* ---- README.md ----------------------------------------------------------- */

#define MANY   "    torchrun --nproc-per-node 3 bench.py   all ranks\n"
#define REASON "the trace has no signature of it (op_schema)\n"

/* The title as code, and up to 16 kinds of operators that are not called. */
static void test_readme__of_a_trace(void)
{
    for (unsigned odd = 0; odd <= 18; odd += 9) {
        static const struct msim_emit_options o = {.title = "a\"b\\c`d",
                                                   .version = "7.5"};
        struct made_program x[3];
        struct msim_emit_result result;
        char *text, want[256];

        if (!made(&x[0], ET_TANH, odd))
            return;
        x[1] = x[2] = x[0];
        CHECK_INT(emit(x, odd ? 3 : 1, &o, &result), MSIM_OK);
        CHECK_INT(result.left_out, odd);
        text = taken("README.md");
        CHECK(strncmp(text,
                      "# Benchmark of a trace\n\n`a\"b\\c'd` runs what the "
                      "trace recorded: 2 operator calls.\nIt needs PyTorch",
                      96) == 0);
        CHECK_INT(strstr(text, MANY) != NULL, odd > 0);
        snprintf(want, sizeof(want),
                 "\n\nNot called, so that 2 of %u operators run:\n\n* 1 x "
                 "`my::odd0`: " REASON "* 1 x `my::odd1`: " REASON,
                 2 + odd);
        CHECK_INT(strstr(text, want) != NULL, odd > 0);
        CHECK_INT(strstr(text, "* 1 x `my::odd8`: " REASON "\nMade by") != NULL,
                  odd == 9);
        CHECK_INT(strstr(text,
                         "* 1 x `my::odd15`: " REASON
                         "* 2 others, which `data.json` has\n\nMade") != NULL,
                  odd == 18);
        CHECK(strstr(text, "\nMade by mystique-sim 7.5.\n") != NULL);
        CHECK_INT(strstr(text, "`coverage`.\n\nMade by") != NULL, odd == 0);
        free(text);
        check_there("bench.py", true);
        check_there("data.json", true);
        check_there("meter.py", true);
        check_there("data-rank-1.json", odd > 0);
        check_there("data-rank-2.json", odd > 0);
        check_there("bench-rank-1.py", false);
        program_done(&x[0]);
    }
}

/* A title of nothing is "?". */
static void test_readme__without_a_title(void)
{
    static const struct msim_emit_options o = {.title = "", .version = "7"};
    static const char *const NAMES[] = {"bench.py", "data.json", "meter.py"};
    struct msim_emit_result result;
    struct made_program x;
    char *text;

    if (!made(&x, ET_TANH, 0))
        return;
    CHECK_INT(emit(&x, 1, &o, &result), MSIM_OK);
    text = taken("README.md");
    CHECK(strstr(text, "\n\n`?` runs what the trace recorded") != NULL);
    free(text);
    for (int i = 0; i < 3; i++)
        check_there(NAMES[i], true);
    program_done(&x);
}

/* ---- ranks and files ----------------------------------------------------- */

/* A rank with a program of its own has that, too; its number is the trace's. */
static void test_ranks__programs(void)
{
    static const struct msim_emit_options o = {.title = "t", .version = "7"};
    struct made_program x[3];
    struct msim_emit_result result;

    if (!made(&x[0], ET_TANH, 0) || !made(&x[1], ET_TANH, 0) ||
        !made(&x[2], ET_RELU, 0))
        return;
    x[2].job->ranks[0]->rank = 5;
    CHECK_INT(emit(x, 3, &o, &result), MSIM_OK);
    CHECK_INT(result.programs, 2);
    check_there("data-rank-1.json", true);
    check_there("bench-rank-1.py", false);
    check_there("data-rank-5.json", true);
    check_there("bench-rank-5.py", true);
    check_there("data-rank-2.json", false);
    check_there("bench.py", true);
    check_there("data.json", true);
    check_there("README.md", true);
    check_there("meter.py", true);
    for (int i = 0; i < 3; i++)
        program_done(&x[i]);
}

/* What an earlier run wrote is replaced, what another wrote is not. */
static void test_files__of_others(void)
{
    static const char *const NAMES[] = {"bench.py",  "bench-rank-3.py",
                                        "data.json", "data-rank-1.json",
                                        "README.md", "meter.py"};
    static const struct msim_emit_options o = {.title = "t", .version = "7"};
    struct msim_emit_result result;
    struct made_program x[2];

    if (!made(&x[0], ET_TANH, 0) || !made(&x[1], ET_RELU, 0))
        return;
    CHECK_INT(emit(x, 2, &o, &result), MSIM_OK);
    CHECK_INT(emit(x, 1, &o, &result), MSIM_OK);
    check_there("data-rank-1.json", false); /* of an earlier run */
    check_there("bench-rank-1.py", false);
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++) {
        FILE *f = fopen(path_of(NAMES[i]), "w");
        char *text;

        REQUIRE(f != NULL);
        fputs("mine", f);
        fclose(f);
        CHECK_INT(emit(x, 1, &o, &result), MSIM_EUSAGE);
        text = taken(NAMES[i]);
        CHECK_STR(text, "mine");
        free(text);
        CHECK_INT(emit(x, 1, &o, &result), MSIM_OK);
    }
    check_there("bench.py", true);
    check_there("data.json", true);
    check_there("README.md", true);
    check_there("meter.py", true);
    program_done(&x[0]);
    program_done(&x[1]);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    RUN(test_bench__of_a_trace);
    RUN(test_bench__loops);
    RUN(test_readme__of_a_trace);
    RUN(test_readme__without_a_title);
    RUN(test_ranks__programs);
    RUN(test_files__of_others);
    CHECK_INT(rmdir(folder), 0);
    return check_summary();
}
