/*
 * predict/scenario/change_sizes.c and change_machine.c: sizes of operators, and
 * what the job runs on, from the member of a scenario to its settings.
 */
#include "tests/unit/appended.h"
#include "tests/unit/predict/scenario/made_change.h"

static void check_axis(const char *change, int64_t from, int64_t to, bool every)
{
    struct made_change m = made_change(change);
    const struct msim_reshape *r = &m.settings->reshape;

    CHECK_INT(m.status, MSIM_OK);
    CHECK_UINT(r->n_axes, 1);
    CHECK_INT(r->axes[0].from, from);
    CHECK_INT(r->axes[0].to, to);
    CHECK_INT(r->axes[0].every, every);
    CHECK(m.row->other_target);
    made_change_free(&m);
}

static void test_axes__forms(void)
{
    static const char MOST[] = ", want sizes of at most 1,000,000,000";
    struct made_change m = made_change("{\"batch\":{\"from\":8,\"to\":8}}");
    char want[128];

    CHECK_UINT(m.settings->reshape.n_axes, 0); /* nothing changes */
    CHECK(!m.row->other_target);
    made_change_free(&m);
    check_axis("{\"batch\":64}", 0, 64, false);
    check_axis("{\"batch\":{\"to\":64}}", 0, 64, false);
    check_axis("{\"batch\":{\"from\":8,\"to\":64}}", 8, 64, false);
    check_axis("{\"batch\":1000000000}", 0, 1000000000, false);
    check_axis("{\"reshape\":{\"from\":1000000000,\"to\":2}}", 1000000000, 2,
               true);
    check_axis("{\"sequence\":{\"from\":512,\"to\":1024}}", 512, 1024, true);
    snprintf(want, sizeof(want), "batch is 1000000001%s", MOST);
    check_change_refused("{\"batch\":1000000001}", want);
    snprintf(want, sizeof(want), "reshape is {\"from\":1000000001,\"to\":2}%s",
             MOST);
    check_change_refused("{\"reshape\":{\"from\":1000000001,\"to\":2}}", want);
    check_change_refused("{\"batch\":0}",
                         "batch is 0, want a whole number from 1");
    check_change_refused("{\"batch\":\"4\"}",
                         "batch is \"4\", want a number, or {\"from\": 8, "
                         "\"to\": 64}");
    check_change_refused("{\"sequence\":4}",
                         "sequence is 4, want {\"from\": 512, \"to\": 1024}");
    check_change_refused("{\"sequence\":{\"to\":4}}",
                         "sequence.from is missing, want a whole number from "
                         "1");
    check_change_refused("{\"batch\":{\"from\":4}}",
                         "batch.to is missing, want a whole number from 1");
    check_change_refused("{\"batch\":{\"from\":0,\"to\":4}}",
                         "batch.from is 0, want a whole number from 1");
}

/* The batch comes before what goes everywhere, and each in order of sizes,
 * whatever the order in the file. */
static void test_axes__order(void)
{
    struct made_change m = made_change(
        "{\"reshape\":{\"from\":7,\"to\":1}},{\"batch\":{\"from\":9,\"to\":1}},"
        "{\"sequence\":{\"from\":3,\"to\":1}},"
        "{\"batch\":{\"from\":8,\"to\":1}}");
    static const int64_t WANT[] = {8, 9, 3, 7};

    CHECK_INT(m.status, MSIM_OK);
    if (CHECK_UINT(m.settings->reshape.n_axes, 4))
        for (int i = 0; i < 4; i++) {
            CHECK_INT(m.settings->reshape.axes[i].from, WANT[i]);
            CHECK_INT(m.settings->reshape.axes[i].every, i >= 2);
        }
    made_change_free(&m);
}

static void test_axes__most(void)
{
    char text[2048] = "";
    struct made_change m;

    for (int i = 0; i < MSIM_RESHAPE_AXES; i++)
        APPEND(text, "%s{\"reshape\":{\"from\":%d,\"to\":1}}", i ? "," : "",
               i + 2);
    m = made_change(text);
    CHECK_INT(m.status, MSIM_OK);
    CHECK_UINT(m.settings->reshape.n_axes, 16);
    made_change_free(&m);
    APPEND(text, "%s", ",{\"batch\":2}");
    check_change_refused_at(16, text,
                            "batch is 2, want at most 16 such changes a "
                            "scenario");
}

static void test_model_size__roles(void)
{
    struct made_change m =
        made_change("{\"hidden\":1024},{\"heads\":{\"from\":12,\"to\":16}},"
                    "{\"ffn\":{\"to\":4096}},{\"vocab\":1000000000},"
                    "{\"heads\":{\"from\":4,\"to\":8}}");
    static const struct msim_model_size WANT[] = {
        {MSIM_SIZE_HIDDEN, 0, 1024},
        {MSIM_SIZE_HEADS, 12, 16},
        {MSIM_SIZE_FFN, 0, 4096},
        {MSIM_SIZE_VOCAB, 0, 1000000000},
        {MSIM_SIZE_HEADS, 4, 8}};
    const struct msim_reshape *r = &m.settings->reshape;

    CHECK_INT(m.status, MSIM_OK);
    CHECK(m.row->other_target);
    if (CHECK_UINT(r->n_sizes, 5))
        for (int i = 0; i < 5; i++) {
            CHECK_INT(r->sizes[i].role, WANT[i].role);
            CHECK_INT(r->sizes[i].from, WANT[i].from);
            CHECK_INT(r->sizes[i].to, WANT[i].to);
        }
    made_change_free(&m);
    check_change_refused("{\"vocab\":1000000001}",
                         "vocab is 1000000001, want sizes of at most "
                         "1,000,000,000");
}

/* Two of one kind are told apart by what they are from. */
static void test_model_size__once(void)
{
    static const char WANT[] = ", want each size once a scenario";
    char want[128];

    snprintf(want, sizeof(want), "hidden is 8%s", WANT);
    check_change_refused_at(1, "{\"hidden\":4},{\"hidden\":8}", want);
    check_change_refused_at(1,
                            "{\"hidden\":{\"from\":2,\"to\":4}},"
                            "{\"hidden\":8}",
                            want);
    snprintf(want, sizeof(want), "hidden is {\"from\":2,\"to\":8}%s", WANT);
    check_change_refused_at(1,
                            "{\"hidden\":4},"
                            "{\"hidden\":{\"from\":2,\"to\":8}}",
                            want);
    check_change_refused_at(1,
                            "{\"hidden\":{\"from\":2,\"to\":4}},"
                            "{\"hidden\":{\"from\":2,\"to\":8}}",
                            want);
}

static void test_model_size__most(void)
{
    char text[1024] = "";
    struct made_change m;

    for (int i = 0; i < MSIM_RESHAPE_SIZES; i++)
        APPEND(text, "%s{\"ffn\":{\"from\":%d,\"to\":1}}", i ? "," : "", i + 2);
    m = made_change(text);
    CHECK_INT(m.status, MSIM_OK);
    CHECK_UINT(m.settings->reshape.n_sizes, 8);
    made_change_free(&m);
    APPEND(text, "%s", ",{\"vocab\":2}");
    check_change_refused_at(8, text,
                            "vocab is 2, want at most 8 such changes a "
                            "scenario");
}

static void test_dtype__words(void)
{
    static const struct {
        const char *word;
        enum msim_dtype dtype, autocast;
        bool tf32, fp8;
    } ROWS[] = {
        {"bf16", MSIM_DT_BF16, MSIM_DT_UNKNOWN, false, false},
        {"fp16", MSIM_DT_F16, MSIM_DT_UNKNOWN, false, false},
        {"amp_bf16", MSIM_DT_UNKNOWN, MSIM_DT_BF16, false, false},
        {"amp_fp16", MSIM_DT_UNKNOWN, MSIM_DT_F16, false, false},
        {"fp8", MSIM_DT_UNKNOWN, MSIM_DT_UNKNOWN, false, true},
        {"amp_fp8", MSIM_DT_UNKNOWN, MSIM_DT_BF16, false, true},
        {"tf32", MSIM_DT_UNKNOWN, MSIM_DT_UNKNOWN, true, false},
    };
    char text[64];
    struct made_change m;

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        snprintf(text, sizeof(text), "{\"dtype\":\"%s\"}", ROWS[i].word);
        m = made_change(text);
        CHECK_INT(m.status, MSIM_OK);
        CHECK_INT(m.settings->reshape.dtype, ROWS[i].dtype);
        CHECK_INT(m.settings->rewrite.autocast, ROWS[i].autocast);
        CHECK_INT(m.settings->reshape.tf32, ROWS[i].tf32);
        CHECK_INT(m.settings->rewrite.fp8, ROWS[i].fp8);
        CHECK(m.row->other_target);
        made_change_free(&m);
    }
    m = made_change("{\"dtype\":\"tf32\"},{\"dtype\":\"fp8\"},"
                    "{\"dtype\":\"bf16\"}");
    CHECK(m.settings->reshape.tf32 && m.settings->rewrite.fp8);
    CHECK_INT(m.settings->reshape.dtype, MSIM_DT_BF16);
    made_change_free(&m);
    m = made_change("{\"dtype\":\"fp64\"}");
    CHECK_INT(m.status, MSIM_EFORMAT);
    CHECK(strstr(m.err.text, "dtype is \"fp64\", want ") != NULL);
    CHECK_INT(m.settings->rewrite.autocast, MSIM_DT_UNKNOWN);
    made_change_free(&m);
}

static void test_machine__names(void)
{
    struct made_change m = made_change(
        "{\"gpu\":\"h100\"},{\"network\":\"ib.json\"},{\"host\":\"slow\"},"
        "{\"nodes\":10000000},{\"ranks\":3}");

    CHECK_INT(m.status, MSIM_OK);
    CHECK_STR(m.settings->platform, "h100");
    CHECK_STR(m.settings->network, "ib.json");
    CHECK_STR(m.settings->host, "slow");
    CHECK_UINT(m.settings->nodes, 10000000);
    CHECK_UINT(m.settings->ranks, 3);
    CHECK_STR(m.settings->data, "data"); /* as the base */
    CHECK(m.settings->n_scales == 0 && !m.row->n_edits);
    made_change_free(&m);
    check_change_refused("{\"gpu\":\"\"}",
                         "gpu is \"\", want a name, or a file");
    check_change_refused("{\"network\":4}",
                         "network is 4, want a name or a file; a factor is of "
                         "\"communication\"");
    check_change_refused("{\"nodes\":10000001}",
                         "nodes is 10000001, want at most 10,000,000");
    check_change_refused("{\"ranks\":0}",
                         "ranks is 0, want a whole number from 1");
}

static void test_machine__each_is_another(void)
{
    static const char *const CHANGES[] = {
        "{\"gpu\":\"a\"}", "{\"network\":\"a\"}", "{\"host\":\"a\"}",
        "{\"nodes\":1}",   "{\"ranks\":1}",       "{\"clock\":\"0.5\"}",
        "{\"clock\":0.5}", "{\"power_cap\":300}"};

    for (size_t i = 0; i < sizeof(CHANGES) / sizeof(*CHANGES); i++) {
        struct made_change m = made_change(CHANGES[i]);

        CHECK_INT(m.status, MSIM_OK);
        CHECK(m.row->other_target);
        made_change_free(&m);
    }
}

/* A share of the usual clock or megahertz, as a text or a number; watts. */
static void test_machine__clocks(void)
{
    struct made_change m =
        made_change("{\"clock\":0.5},{\"power_cap\":\"300\"}");

    CHECK_INT(m.status, MSIM_OK);
    CHECK_REL(m.settings->clock.ratio, 0.5, 1e-12);
    CHECK(m.settings->clock.hz == 0);
    CHECK_REL(m.settings->clock.watts, 300, 1e-12);
    made_change_free(&m);
    m = made_change("{\"clock\":\"1100\"}");
    CHECK_INT(m.status, MSIM_OK);
    CHECK_REL(m.settings->clock.hz, 1.1e9, 1e-12);
    CHECK(m.settings->clock.watts == 0);
    made_change_free(&m);
    check_change_refused("{\"clock\":-1}",
                         "clock is -1, want megahertz or a share, as \"1100\" "
                         "or \"0.8\"");
    check_change_refused("{\"power_cap\":\"x\"}",
                         "power_cap is \"x\", want watts, as \"300\"");
    check_change_refused("{\"clock\":\"\"}",
                         "clock is \"\", want a name, or a file");
}

int main(void)
{
    RUN(test_axes__forms);
    RUN(test_axes__most);
    RUN(test_axes__order);
    RUN(test_dtype__words);
    RUN(test_machine__clocks);
    RUN(test_machine__each_is_another);
    RUN(test_machine__names);
    RUN(test_model_size__most);
    RUN(test_model_size__once);
    RUN(test_model_size__roles);
    return check_summary();
}
