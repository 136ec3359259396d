/*
 * predict/scenario/change_durations.c, change_kinds.c and scenario_file.c: how
 * long work takes, which kinds of changes there are and how often each may be
 * there, and the rows that a file has.
 */
#include "tests/unit/appended.h"
#include "tests/unit/predict/scenario/made_change.h"

#define ACCEPTED ", want " MSIM_SCALE_ACCEPTED

/* The factor of the scale with that text in front of "="; NAN: none. */
static double factor_of(const struct made_change *m, const char *select)
{
    size_t n = strlen(select);

    for (uint32_t i = 0; i < m->settings->n_scales; i++) {
        const struct msim_scale *s = &m->settings->scales[i];

        if (!strncmp(s->text, select, n) && s->text[n] == '=')
            return s->factor;
    }
    return (double)NAN;
}

static void check_scale(const char *change, const char *select, double factor)
{
    struct made_change m = made_change(change);

    CHECK_INT(m.status, MSIM_OK);
    CHECK_UINT(m.settings->n_scales, 1);
    CHECK_REL(factor_of(&m, select), factor, 1e-12);
    CHECK(!m.row->other_target && m.row->loader_ms == 0);
    made_change_free(&m);
}

static void test_scale__factors(void)
{
    check_scale("{\"scale\":{\"select\":\"kernels\",\"factor\":0.5}}",
                "kernels", 0.5);
    check_scale("{\"speedup\":{\"select\":\"op:aten::mm\",\"factor\":4}}",
                "op:aten::mm", 0.25);
    check_scale("{\"remove\":{\"select\":\"copies\"}}", "copies", 0);
    check_scale("{\"cuda_graph\":true}", "host", 0);
    check_scale("{\"cuda_graph\":\"forward*\"}", "host:forward*", 0);
}

static void test_scale__refuses(void)
{
    check_change_refused("{\"scale\":2}", "scale is 2, want an object");
    check_change_refused("{\"remove\":{}}",
                         "remove.select is missing" ACCEPTED);
    check_change_refused("{\"scale\":{\"select\":\"kernels\"}}",
                         "scale.factor is missing, want a number above 0");
    check_change_refused("{\"scale\":{\"select\":\"kernels\",\"factor\":0}}",
                         "scale.factor is 0, want a number above 0");
    check_change_refused("{\"speedup\":{\"select\":\"gpu\",\"factor\":2}}",
                         "speedup.select is \"gpu\"" ACCEPTED);
    check_change_refused("{\"cuda_graph\":2}",
                         "cuda_graph is 2, want true, or the operators "
                         "that are in it, such as \"forward*\"");
    check_change_refused("{\"cuda_graph\":\"\"}",
                         "cuda_graph is \"\", want true, or the operators "
                         "that are in it, such as \"forward*\"");
}

/* What is on or off may be off; what is a number or a name may not. */
static void test_switches__are_off(void)
{
    static const char *const off[] = {
        "{\"cuda_graph\":false}",     "{\"cuda_graph\":\"none\"}",
        "{\"fuse\":false}",           "{\"fuse\":\"none\"}",
        "{\"overlap\":false}",        "{\"overlap\":\"none\"}",
        "{\"quantise_comms\":false}", "{\"quantise_comms\":\"none\"}",
    };

    for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++) {
        struct made_change m = made_change(off[i]);

        CHECK_INT(m.status, MSIM_OK);
        CHECK_UINT(m.settings->n_scales, 0);
        CHECK_UINT(m.row->n_edits, 0);
        made_change_free(&m);
    }
    check_change_refused("{\"fuse\":\"nothing\"}",
                         "fuse is \"nothing\", want \"pointwise\", "
                         "\"attention\", \"optimizer\" or {\"select\": "
                         "\"op:GLOB\"}");
    check_change_refused("{\"scale\":false}", "scale is false, want an object");
}

/* A removal has no factor, and says so. */
static void test_scale__removal_has_no_factor(void)
{
    struct made_change m =
        made_change("{\"remove\":{\"select\":\"kernels\",\"factor\":2}}");

    CHECK_INT(m.status, MSIM_EFORMAT);
    CHECK(strstr(m.err.text, "factor") != NULL);
    made_change_free(&m);
}

static void test_loader__milliseconds(void)
{
    struct made_change m = made_change("{\"loader\":{\"milliseconds\":2.5}}");

    CHECK_INT(m.status, MSIM_OK);
    CHECK_REL(m.row->loader_ms, 2.5, 0);
    CHECK_REL(factor_of(&m, MSIM_SCENARIO_LOADER), 1, 0);
    made_change_free(&m);
    check_change_refused("{\"loader\":{}}", "loader.milliseconds is missing, "
                                            "want a number above 0");
    check_change_refused("{\"loader\":{\"milliseconds\":0}}",
                         "loader.milliseconds is 0, want a number above 0");
    check_change_refused("{\"loader\":2}",
                         "loader is 2, want {\"milliseconds\": 2}");
}

/* Kernels, copies and host of one rank, or each rank its own. */
static void test_straggler__forms(void)
{
    struct made_change m =
        made_change("{\"straggler\":{\"rank\":0,\"factor\":1.2}}");

    CHECK_INT(m.status, MSIM_OK);
    CHECK_UINT(m.settings->n_scales, 3);
    CHECK_REL(factor_of(&m, "kernels@0"), 1.2, 0);
    CHECK_REL(factor_of(&m, "copies@0"), 1.2, 0);
    CHECK_REL(factor_of(&m, "host@0"), 1.2, 0);
    CHECK_UINT(m.row->n_edits, 0);
    made_change_free(&m);
    m = made_change("{\"straggler\":{\"sigma\":1,\"seed\":7}}");
    CHECK_INT(m.status, MSIM_OK);
    CHECK_UINT(m.settings->n_scales, 0);
    if (CHECK_UINT(m.row->n_edits, 1)) {
        CHECK_INT(m.row->edits[0].kind, MSIM_EDIT_STRAGGLE);
        CHECK_REL(m.row->edits[0].sigma, 1, 0);
        CHECK_UINT(m.row->edits[0].seed, 7);
    }
    made_change_free(&m);
    m = made_change("{\"straggler\":{\"sigma\":0.05}}");
    CHECK_INT(m.status, MSIM_OK);
    if (CHECK_UINT(m.row->n_edits, 1))
        CHECK_UINT(m.row->edits[0].seed, 1);
    made_change_free(&m);
    m = made_change("{\"straggler\":{\"sigma\":0.05,\"seed\":0}}");
    CHECK_INT(m.status, MSIM_OK);
    made_change_free(&m);
}

static void test_straggler__refuses(void)
{
    check_change_refused("{\"straggler\":{\"factor\":2}}",
                         "straggler.rank is missing, want a whole number from "
                         "0");
    check_change_refused("{\"straggler\":{\"rank\":-1,\"factor\":2}}",
                         "straggler.rank is -1, want a whole number from 0");
    check_change_refused("{\"straggler\":{\"rank\":1}}",
                         "straggler.factor is missing, want a number above 0");
    check_change_refused("{\"straggler\":{\"sigma\":1.01}}",
                         "straggler.sigma is 1.01, want a number above 0, at "
                         "most 1");
    check_change_refused("{\"straggler\":{\"sigma\":0}}",
                         "straggler.sigma is 0, want a number above 0");
    check_change_refused("{\"straggler\":{\"sigma\":0.1,\"seed\":-1}}",
                         "straggler.seed is -1, want a whole number from 0");
    check_change_refused("{\"straggler\":true}",
                         "straggler is true, want {\"rank\": 3, \"factor\": "
                         "1.2} or {\"sigma\": 0.05, \"seed\": 1}");
}

/* 64 factors of a scenario, applied in one order whatever the file's. */
static void test_scales__order_and_most(void)
{
    static char text[8192];
    struct made_change m;

    text[0] = '\0';
    for (int i = 0; i < 64; i++)
        APPEND(text, "%s{\"remove\":{\"select\":\"op:%d\"}}", i ? "," : "",
               90 - i);
    m = made_change(text);
    CHECK_INT(m.status, MSIM_OK);
    CHECK_UINT(m.settings->n_scales, 64);
    for (uint32_t i = 1; i < m.settings->n_scales; i++)
        CHECK(strcmp(m.settings->scales[i - 1].text,
                     m.settings->scales[i].text) < 0);
    made_change_free(&m);
    APPEND(text, "%s", ",{\"scale\":{\"select\":\"kernels\",\"factor\":2}}");
    check_change_refused_at(64, text,
                            "scale.select is \"kernels\", want at most 64 "
                            "changes a scenario");
}

/* ---- kinds --------------------------------------------------------------- */

/* What says a number or a word for all of the job may be there once; what
 * selects, or names, what it changes, often. */
static void test_kinds__how_often(void)
{
    static const struct {
        const char *change;
        bool once;
    } ROWS[] = {
        {"\"scale\":{\"select\":\"kernels\",\"factor\":2}", false},
        {"\"speedup\":{\"select\":\"kernels\",\"factor\":2}", false},
        {"\"remove\":{\"select\":\"kernels\"}", false},
        {"\"straggler\":{\"rank\":1,\"factor\":2}", false},
        {"\"insert\":{\"after\":\"kernels\",\"microseconds\":1}", false},
        {"\"replace\":{\"select\":\"kernels\",\"microseconds\":1}", false},
        {"\"fuse\":\"pointwise\"", false},
        {"\"overlap\":true", false},
        {"\"quantise_comms\":\"fp16\"", false},
        {"\"loader\":{\"milliseconds\":1}", true},
        {"\"cuda_graph\":true", false},
        {"\"gpu\":\"h100\"", true},
        {"\"network\":\"a\"", true},
        {"\"host\":\"a\"", true},
        {"\"nodes\":2", true},
        {"\"ranks\":2", true},
        {"\"clock\":0.5", true},
        {"\"power_cap\":300", true},
        {"\"batch\":2", false},
        {"\"reshape\":{\"from\":1,\"to\":2}", false},
        {"\"dtype\":\"fp16\"", false},
        {"\"recompute\":\"full\"", true},
        {"\"accumulate\":2", true},
        {"\"world\":2", true},
        {"\"shard\":\"ddp\"", true},
        {"\"offload\":\"optimizer\"", false},
        {"\"optimizer_bits\":8", true},
        {"\"optimizer_in_backward\":true", true},
        {"\"sequence\":{\"from\":1,\"to\":2}", false},
        {"\"parallel\":{\"pp\":2}", true},
    };
    char text[256];

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct made_change m;

        snprintf(text, sizeof(text), "{%s},{%s}", ROWS[i].change,
                 ROWS[i].change);
        m = made_change(text);
        if (!CHECK_INT(m.status, ROWS[i].once ? MSIM_EFORMAT : MSIM_OK))
            fprintf(stderr, "%s: %s\n", text, m.err.text);
        CHECK(!ROWS[i].once ||
              strstr(m.err.text, "want one such change a scenario"));
        made_change_free(&m);
    }
}

/* One scenario's changes are not another's. */
static void test_kinds__once_a_scenario(void)
{
    struct made_change m = made_change_file(
        "{\"scenarios\":[{\"name\":\"a\",\"changes\":[{\"gpu\":\"x\"}]},"
        "{\"name\":\"b\",\"changes\":[{\"gpu\":\"y\"},"
        "{\"remove\":{\"select\":\"host\"}}]}]}");

    CHECK_INT(m.status, MSIM_OK);
    CHECK(m.all.from_file);
    if (CHECK_UINT(m.all.n, 2)) {
        CHECK_STR(m.all.rows[0].name, "a");
        CHECK_STR(m.all.rows[1].name, "b");
        CHECK_STR(m.all.rows[0].settings.platform, "x");
        CHECK_STR(m.all.rows[1].settings.platform, "y");
        CHECK_UINT(m.all.rows[0].settings.n_scales, 0);
        CHECK_UINT(m.all.rows[1].settings.n_scales, 1);
        CHECK(m.all.rows[0].settings.totals_only);
    }
    CHECK_STR(m.all.base.name, "base");
    CHECK(m.all.base.settings.totals_only);
    CHECK(m.all.base.settings.platform == NULL);
    made_change_free(&m);
    CHECK(m.all.rows == NULL && m.all.n == 0);
}

/* What a described model alone can do is a reason, and no error. */
static void test_kinds__of_described_models(void)
{
    static const char *const WORDS[] = {"lora", "qlora", "chunked_loss"};
    char text[128], want[256];

    for (size_t i = 0; i < sizeof(WORDS) / sizeof(*WORDS); i++) {
        struct made_change m;

        snprintf(text, sizeof(text),
                 "{\"scenarios\":[{\"name\":\"a\",\"changes\":[{\"%s\":1}]}]}",
                 WORDS[i]);
        snprintf(want, sizeof(want),
                 "'%s' is a change of a described model: whatif "
                 "SCENARIOS.json MODEL, or synth",
                 WORDS[i]);
        m = made_change_file(text);
        CHECK_INT(m.status, MSIM_OK);
        CHECK_STR(m.row->reason, want);
        made_change_free(&m);
    }
}

int main(void)
{
    RUN(test_kinds__how_often);
    RUN(test_kinds__of_described_models);
    RUN(test_kinds__once_a_scenario);
    RUN(test_loader__milliseconds);
    RUN(test_scale__factors);
    RUN(test_scale__refuses);
    RUN(test_switches__are_off);
    RUN(test_scale__removal_has_no_factor);
    RUN(test_scales__order_and_most);
    RUN(test_straggler__forms);
    RUN(test_straggler__refuses);
    return check_summary();
}
