/*
 * Experiments as hashes and texts, what backends answer, and both as an entry
 * of a journal.
 */
#include "calibrate/measure/journal.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

/* ---- experiments --------------------------------------------------------- */

static struct msim_cal_experiment product(int m, int n)
{
    struct msim_cal_experiment e = {
        .timed = {.table = MSIM_TABLE_GEMM, .dtype_word = "fp16"}};

    e.timed.work.u.gemm.m = m;
    e.timed.work.u.gemm.n = n;
    e.timed.work.u.gemm.k = 1024;
    e.timed.work.u.gemm.batch = 1;
    return e;
}

static int by_value(const void *pa, const void *pb)
{
    uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

    return a < b ? -1 : a > b;
}

/* Two backends' products of 40 x 40 sizes are 3200 experiments: the chance
 * that two of them meet is 3200^2 / 2^65, below one in a trillion. */
static void test_hash__of_one_experiment_alone(void)
{
    static uint64_t hashes[3200];
    uint32_t n = 0, same = 0;

    for (int a = 1; a <= 40; a++) {
        for (int b = 1; b <= 40; b++) {
            struct msim_cal_experiment e = product(a, b);

            hashes[n++] = msim_cal_hash(&e, "cuda");
            hashes[n++] = msim_cal_hash(&e, "torch");
        }
    }
    qsort(hashes, n, sizeof(*hashes), by_value);
    for (uint32_t i = 1; i < n; i++)
        same += hashes[i] == hashes[i - 1];
    CHECK_UINT(same, 0);
}

#define COLLECTIVE                                                             \
    "{\"table\":\"collective\",\"collective\":\"all_reduce\",\"ranks\":2,"     \
    "\"nodes\":1,\"bytes\":8}"

/* In any order, and with what says how it is sent; but each size counts, what
 * runs beside it, and who is asked. */
static void test_hash__of_a_line(void)
{
    static const char *const SAME[] = {
        "{\"table\":\"gemm\",\"m\":8,\"dtype\":\"fp16\"}",
        "{\"m\":8,\"dtype\":\"fp16\",\"table\":\"gemm\"}",
        "{\"id\":3,\"policy\":{\"budget\":1},\"raw\":true,\"counters\":true,"
        "\"sustained\":true,\"m\":8,\"dtype\":\"fp16\",\"table\":\"gemm\"}",
    };
    static const char *const OTHER[] = {
        "{\"table\":\"gemm\",\"m\":9,\"dtype\":\"fp16\"}",
        "{\"table\":\"gemm\",\"n\":8,\"dtype\":\"fp16\"}",
        "{\"table\":\"gemm\",\"m\":8,\"dtype\":\"fp32\"}",
        "{\"table\":\"gemm\",\"m\":8}",
        "{\"table\":\"gemm\",\"m\":8,\"dtype\":\"fp16\",\"beside\":" COLLECTIVE
        "}",
    };
    uint64_t want, got;
    cJSON *line = cJSON_Parse(SAME[0]);

    want = msim_cal_hash_json(line, "a");
    CHECK(msim_cal_hash_json(line, "b") != want);
    CHECK(msim_cal_hash_json(line, "") != want);
    cJSON_Delete(line);
    for (size_t i = 0; i < sizeof(SAME) / sizeof(*SAME); i++) {
        line = cJSON_Parse(SAME[i]);
        got = msim_cal_hash_json(line, "a");
        CHECK(got == want);
        cJSON_Delete(line);
    }
    for (size_t i = 0; i < sizeof(OTHER) / sizeof(*OTHER); i++) {
        line = cJSON_Parse(OTHER[i]);
        got = msim_cal_hash_json(line, "a");
        CHECK(got != want);
        cJSON_Delete(line);
    }
}

/* What is written is read again, and is the same experiment. */
static void test_experiment__written_and_read(void)
{
    struct msim_cal_experiment e = product(8, 32), read;
    cJSON *beside = cJSON_Parse(COLLECTIVE), *line;
    uint64_t alone;

    line = msim_cal_experiment_json(&e);
    CHECK(!cJSON_HasObjectItem(line, "beside"));
    CHECK(msim_cal_hash_json(line, "a") == msim_cal_hash(&e, "a"));
    msim_cal_experiment_read(&read, line);
    CHECK(!read.is_pair);
    CHECK_INT(read.timed.work.u.gemm.n, 32);
    CHECK(msim_cal_work(&read));
    read.timed.is_work = false;
    CHECK(!msim_cal_work(&read));
    alone = msim_cal_hash(&read, "a"); /* whose texts are the line's */
    cJSON_Delete(line);
    e.is_pair = true;
    msim_experiment_read_any(&e.concurrent, beside);
    line = msim_cal_experiment_json(&e);
    CHECK(cJSON_HasObjectItem(line, "beside"));
    CHECK(msim_cal_hash_json(line, "a") == msim_cal_hash(&e, "a"));
    CHECK(msim_cal_hash(&e, "a") != alone);
    msim_cal_experiment_read(&read, line);
    CHECK(read.is_pair);
    CHECK_INT(read.concurrent.work.u.coll.bytes, 8);
    CHECK(read.timed.is_work && !msim_cal_work(&read));
    cJSON_Delete(line);
    cJSON_Delete(beside);
}

/* Cut to what there is room for, at each length. */
static void test_describe__cut(void)
{
    static const char *const WANT =
        "gemm fp16 m 8 n 32 k 1024 batch 1 NT beside collective all_reduce "
        "ranks 2 nodes 1 bytes 8";
    cJSON *beside = cJSON_Parse(COLLECTIVE);
    cJSON *line =
        cJSON_Parse("{\"table\":\"gemm\",\"dtype\":\"fp16\",\"m\":8,\"n\":32,"
                    "\"k\":1024,\"batch\":1,\"layout\":\"NT\"}");
    struct msim_cal_experiment e;
    char text[160], want[160], alone[160];

    msim_cal_experiment_read(&e, line);
    msim_cal_describe(&e, alone, sizeof(alone));
    CHECK(strncmp(alone, WANT, strlen(alone)) == 0);
    CHECK(strstr(alone, "beside") == NULL);
    e.is_pair = true;
    msim_experiment_read_any(&e.concurrent, beside);
    for (size_t size = 1; size <= strlen(WANT) + 2; size++) {
        snprintf(want, size, "%s", WANT);
        memset(text, 'x', sizeof(text));
        msim_cal_describe(&e, text, size);
        CHECK_STR(text, want);
        CHECK(text[size] == 'x');
    }
    cJSON_Delete(line);
    cJSON_Delete(beside);
}

/* ---- how long it may take ------------------------------------------------ */

static struct msim_cal_guess guess(const char *device)
{
    cJSON *o = cJSON_Parse(device);
    struct msim_cal_guess g = msim_cal_guess_of(o);

    cJSON_Delete(o);
    return g;
}

static void test_guess__by_cores(void)
{
    struct msim_cal_guess g =
        guess("{\"kind\":\"cpu\",\"sms\":8,\"name\":\"x\"}");

    CHECK_REL(g.flops, 320e9, 1e-12); /* 16 lanes x 2 x 2 GHz x 2/3, about */
    CHECK_REL(g.bandwidth, 10e9, 1e-12);
    CHECK_REL(g.floor_us, 1, 0);
    g = guess("{\"kind\":\"gpu\",\"sms\":100}");
    CHECK_REL(g.flops, 10e12, 1e-12);
    CHECK_REL(g.bandwidth, 1e12, 1e-12);
    CHECK_REL(g.floor_us, 4, 0);
    g = guess("{}"); /* at least one multiprocessor, of a GPU */
    CHECK_REL(g.flops, 100e9, 1e-12);
    CHECK_REL(g.bandwidth, 10e9, 1e-12);
    g = guess("{\"sms\":0}");
    CHECK_REL(g.flops, 100e9, 1e-12);
}

/* 1 us, and the longer of operations at 1e12 a second and bytes at 1e9. */
static void test_expected__by_a_roofline(void)
{
    static const struct msim_cal_guess GUESS = {1e12, 1e9, 1};
    struct msim_cal_experiment e = {.timed = {.table = MSIM_TABLE_GEMM}};

    e.timed.is_work = true;
    e.timed.work.dtype = MSIM_DT_F32;
    e.timed.work.flops = 5e6;
    e.timed.work.bytes_read = 1000;
    e.timed.work.bytes_written = 2000;
    CHECK_REL(msim_cal_expected_us(&e, &GUESS), 1 + 5, 1e-12);
    e.timed.work.dtype = MSIM_DT_F64; /* half the rate */
    CHECK_REL(msim_cal_expected_us(&e, &GUESS), 1 + 10, 1e-12);
    e.timed.work.dtype = MSIM_DT_F16; /* four times: 1.25 us, less than 3 */
    CHECK_REL(msim_cal_expected_us(&e, &GUESS), 1 + 3, 1e-12);
    e.timed.work.flops = 16e6;
    CHECK_REL(msim_cal_expected_us(&e, &GUESS), 1 + 4, 1e-12);
    e.is_pair = true; /* no work of its own */
    CHECK_REL(msim_cal_expected_us(&e, &GUESS), 1, 1e-12);
    /* read and written: twice the bytes */
    e.is_pair = false;
    e.timed.table = MSIM_TABLE_COLLECTIVE;
    e.timed.work.u.coll.bytes = 4000;
    CHECK_REL(msim_cal_expected_us(&e, &GUESS), 1 + 8, 1e-12);
    e.timed.is_work = false;
    e.timed.table = MSIM_TABLE_COPY;
    e.timed.u.copy.bytes = 7000;
    CHECK_REL(msim_cal_expected_us(&e, &GUESS), 1 + 14, 1e-12);
    e.timed.table = MSIM_TABLE_VECTOR;
    e.timed.u.vector.bytes = 3000;
    CHECK_REL(msim_cal_expected_us(&e, &GUESS), 1 + 6, 1e-12);
    e.timed.table = MSIM_TABLE_LATENCY;
    CHECK_REL(msim_cal_expected_us(&e, &GUESS), 1, 1e-12);
}

/* ---- answers ------------------------------------------------------------- */

static void test_answer__that_cannot_be_true(void)
{
    static const struct {
        const char *answer, *why; /* NULL: it can */
    } ROWS[] = {
        {"{\"time_us\":2}", NULL},
        {"{\"time_us\":2,\"low_us\":2,\"high_us\":2}", NULL},
        {"{\"time_us\":2,\"low_us\":1,\"high_us\":3,\"alone_us\":1}", NULL},
        {"{\"time_us\":2,\"low_us\":2.000000001,\"high_us\":1.999999999}",
         NULL}, /* sums are not exact */
        {"{\"time_us\":2,\"low_us\":null}", NULL},
        {"{\"error\":\"no\"}", NULL},
        {"{\"error\":\"no\",\"time_us\":-1}", NULL},
        {"{}", "the backend answered with neither 'time_us' nor 'error'"},
        {"{\"time_us\":\"2\"}",
         "the backend answered with neither 'time_us' nor 'error'"},
        {"{\"time_us\":2,\"low_us\":\"1\"}",
         "the backend answered with a 'low_us' that is no number"},
        {"{\"time_us\":2,\"high_us\":true}",
         "the backend answered with a 'high_us' that is no number"},
        {"{\"time_us\":2,\"alone_us\":{}}",
         "the backend answered with a 'alone_us' that is no number"},
        {"{\"time_us\":2,\"alone_us\":0}",
         "the backend answered with alone_us 0, want a time"},
        {"{\"time_us\":2,\"alone_us\":-3}",
         "the backend answered with alone_us -3, want a time"},
        {"{\"time_us\":0}",
         "the backend answered with time_us 0, low_us nan, high_us nan: want "
         "0 < low <= time <= high, finite"},
        {"{\"time_us\":-2}",
         "the backend answered with time_us -2, low_us nan, high_us nan: want "
         "0 < low <= time <= high, finite"},
        {"{\"time_us\":1e999}",
         "the backend answered with time_us inf, low_us nan, high_us nan: "
         "want 0 < low <= time <= high, finite"},
        {"{\"time_us\":2,\"low_us\":3}",
         "the backend answered with time_us 2, low_us 3, high_us nan: want 0 "
         "< low <= time <= high, finite"},
        {"{\"time_us\":2,\"low_us\":0}",
         "the backend answered with time_us 2, low_us 0, high_us nan: want 0 "
         "< low <= time <= high, finite"},
        {"{\"time_us\":2,\"high_us\":1}",
         "the backend answered with time_us 2, low_us nan, high_us 1: want 0 "
         "< low <= time <= high, finite"},
        {"{\"time_us\":2,\"high_us\":1e999}",
         "the backend answered with time_us 2, low_us nan, high_us inf: want "
         "0 < low <= time <= high, finite"},
        {"{\"time_us\":2,\"low_us\":2.000000003}",
         "the backend answered with time_us 2, low_us 2, high_us nan: want 0 "
         "< low <= time <= high, finite"},
        {"{\"time_us\":2,\"low_us\":2.00001}",
         "the backend answered with time_us 2, low_us 2.00001, high_us nan: "
         "want 0 < low <= time <= high, finite"},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        cJSON *answer = cJSON_Parse(ROWS[i].answer);
        struct msim_error err = {.status = MSIM_OK};
        struct msim_cal_answer a;
        bool failed = strstr(ROWS[i].answer, "error");

        CHECK_INT(msim_cal_answer_check(answer, &err),
                  ROWS[i].why ? MSIM_EFORMAT : MSIM_OK);
        CHECK_STR(err.text, ROWS[i].why ? ROWS[i].why : "");
        REQUIRE(msim_cal_answer_read(&a, answer) == MSIM_OK);
        if (ROWS[i].why)
            CHECK_STR(a.error, "its times cannot be true");
        else if (failed)
            CHECK_STR(a.error, "no");
        else
            CHECK(a.error == NULL);
        if (ROWS[i].why || !failed)
            CHECK_REL(a.us, ROWS[i].why ? 0 : 2, 0);
        msim_cal_answer_release(&a);
        cJSON_Delete(answer);
    }
}

static void test_answer__of_a_time_alone(void)
{
    cJSON *answer = cJSON_Parse("{\"time_us\":2}");
    struct msim_cal_answer a;

    REQUIRE(msim_cal_answer_read(&a, answer) == MSIM_OK);
    CHECK_REL(a.us, 2, 0);
    CHECK(isnan(a.low_us) && isnan(a.high_us));
    CHECK_REL(a.alone_us, 0, 0);
    CHECK_REL(a.sustained_us, 0, 0);
    CHECK(isnan(a.sm_mhz) && isnan(a.power_w));
    CHECK(!a.error && !a.crashed && !a.unsupported && !a.counted);
    CHECK(!a.counts && !a.operators && !a.has_operators);
    CHECK_REL(a.rounds, 1, 0);
    CHECK(isnan(a.after_operator_us) && isnan(a.after_autograd_us));
    msim_cal_answer_release(&a);
    cJSON_Delete(answer);
}

static void test_answer__every_member(void)
{
    cJSON *answer = cJSON_Parse(
        "{\"time_us\":4,\"low_us\":3,\"high_us\":5,\"alone_us\":2,"
        "\"sustained\":{\"time_us\":6,\"sm_mhz\":1500,\"power_w\":700},"
        "\"lost\":true,\"unsupported\":true,\"rounds\":10,"
        "\"pauses_us\":{\"operator\":0.5,\"autograd\":0.25},"
        "\"counters\":{\"l2_bytes\":64},"
        "\"operators\":[{\"name\":\"aten::mm\",\"leaf\":true,\"count\":3,"
        "\"self_us\":7,\"calls_us\":8},{}]}");
    struct msim_cal_answer a;

    REQUIRE(msim_cal_answer_read(&a, answer) == MSIM_OK);
    CHECK_REL(a.us, 4, 0);
    CHECK_REL(a.low_us, 3, 0);
    CHECK_REL(a.high_us, 5, 0);
    CHECK_REL(a.alone_us, 2, 0);
    CHECK_REL(a.sustained_us, 6, 0);
    CHECK_REL(a.sm_mhz, 1500, 0);
    CHECK_REL(a.power_w, 700, 0);
    CHECK(a.crashed && a.unsupported && a.counted && a.has_operators);
    CHECK_REL(a.rounds, 10, 0);
    CHECK_REL(a.after_operator_us, 0.5, 0);
    CHECK_REL(a.after_autograd_us, 0.25, 0);
    REQUIRE(a.counts && a.n_operators == 2);
    for (int f = 0; f < MSIM_FIGURE_COUNT; f++)
        CHECK(f == MSIM_FIGURE_L2
                  ? !(a.counts->of[f] < 64) && !(a.counts->of[f] > 64)
                  : isnan(a.counts->of[f]));
    CHECK_STR(a.operators[0].name, "aten::mm");
    CHECK(a.operators[0].leaf);
    CHECK_REL(a.operators[0].count, 3, 0);
    CHECK_REL(a.operators[0].self_us, 7, 0);
    CHECK_REL(a.operators[0].calls_us, 8, 0);
    CHECK_STR(a.operators[1].name, ""); /* what is not said */
    CHECK(!a.operators[1].leaf);
    CHECK_REL(a.operators[1].count, 1, 0);
    CHECK_REL(a.operators[1].self_us, 0, 0);
    CHECK_REL(a.operators[1].calls_us, 0, 0);
    msim_cal_answer_release(&a);
    CHECK(!a.counts && !a.operators);
    cJSON_Delete(answer);
    /* counters that failed were tried; no operators are a list, too */
    answer = cJSON_Parse("{\"time_us\":1,\"counters_error\":\"denied\","
                         "\"operators\":[]}");
    REQUIRE(msim_cal_answer_read(&a, answer) == MSIM_OK);
    CHECK(a.counted && !a.counts && a.has_operators);
    CHECK_UINT(a.n_operators, 0);
    msim_cal_answer_release(&a);
    cJSON_Delete(answer);
}

/* ---- entries ------------------------------------------------------------- */

static bool read_entry(struct msim_cal_entry *e, int visit, double seconds,
                       const char *answer)
{
    char text[256];

    snprintf(text, sizeof(text),
             "{\"backend\":\"a\",\"visit\":%d,\"seconds\":%g,"
             "\"experiment\":{\"table\":\"gemm\",\"dtype\":\"fp16\",\"m\":8},"
             "\"answer\":%s}",
             visit, seconds, answer);
    return CHECK_INT(msim_cal_entry_read(e, cJSON_Parse(text)), MSIM_OK);
}

static void test_entry__of_one_visit(void)
{
    struct msim_cal_entry e;
    cJSON *line = cJSON_Parse(
        "{\"backend\":\"a\",\"experiment\":{\"table\":\"gemm\",\"m\":8,"
        "\"n\":8,\"k\":8,\"dtype\":\"fp16\"},\"answer\":{\"time_us\":3}}");

    REQUIRE(msim_cal_entry_read(&e, line) == MSIM_OK);
    CHECK_STR(e.backend, "a");
    CHECK_STR(e.experiment.timed.work.framework, "a");
    CHECK_STR(e.experiment.concurrent.work.framework, "a");
    CHECK(e.hash ==
          msim_cal_hash_json(cJSON_GetObjectItem(line, "experiment"), "a"));
    CHECK(e.experiment_hash ==
          msim_cal_hash_json(cJSON_GetObjectItem(line, "experiment"), ""));
    CHECK_INT(e.experiment.timed.table, MSIM_TABLE_GEMM);
    CHECK_INT(e.experiment.timed.work.u.gemm.m, 8);
    CHECK_REL(e.seconds, 0, 0);
    CHECK_UINT(e.visits, 1);
    CHECK_UINT(e.timed, 1);
    CHECK(msim_cal_entry_is_row(&e));
    CHECK_REL(msim_cal_entry_us(&e), 3, 0);
    CHECK(isnan(msim_cal_entry_repeatability(&e)));
    msim_cal_entry_release(&e);
    REQUIRE(read_entry(&e, 1, 2, "{\"error\":\"no\"}"));
    CHECK(!msim_cal_entry_is_row(&e));
    CHECK_UINT(e.timed, 0);
    CHECK_REL(e.seconds, 2, 0);
    msim_cal_entry_release(&e);
    REQUIRE(read_entry(&e, 1, 1, "{\"time_us\":0.25}")); /* below one */
    CHECK(msim_cal_entry_is_row(&e));
    CHECK_REL(msim_cal_entry_us(&e), 0.25, 0);
    CHECK_STR(e.answer.error, NULL);
    msim_cal_entry_release(&e);
}

/* Longest over shortest of times below a microsecond. */
static void test_entry__of_short_visits(void)
{
    struct msim_cal_entry e, later;

    REQUIRE(read_entry(&e, 1, 1, "{\"time_us\":0.25}"));
    REQUIRE(read_entry(&later, 2, 1, "{\"time_us\":0.5}"));
    msim_cal_entry_merge(&e, &later);
    CHECK_UINT(e.timed, 2);
    CHECK_REL(msim_cal_entry_repeatability(&e), 2, 1e-12);
    msim_cal_entry_release(&later);
    msim_cal_entry_release(&e);
}

/* Visits of 4, 2, none, 8, 6, 5 and 1 us: five times are kept, of which the
 * median is 5 and the longest four times the shortest. */
static void test_entry__of_visits(void)
{
    static const char *const ANSWERS[] = {
        "{\"time_us\":2}", "{\"error\":\"no\"}", "{\"time_us\":8}",
        "{\"time_us\":6}", "{\"time_us\":5}",    "{\"time_us\":1}"};
    struct msim_cal_entry e, later;

    REQUIRE(read_entry(&e, 1, 0.5, "{\"time_us\":4}"));
    for (int i = 0; i < 6; i++) {
        REQUIRE(read_entry(&later, i + 2, 0.25, ANSWERS[i]));
        msim_cal_entry_merge(&e, &later);
        msim_cal_entry_merge(&e, &later); /* a second time is nothing */
        msim_cal_entry_release(&later);
        CHECK_UINT(e.visits, i + 2);
        CHECK_REL(e.seconds, 0.5 + 0.25 * (i + 1), 1e-12);
        if (i == 0)
            CHECK_REL(msim_cal_entry_repeatability(&e), 2, 1e-12);
    }
    CHECK_UINT(e.timed, MSIM_CAL_VISITS);
    CHECK_REL(msim_cal_entry_us(&e), 5, 0);
    CHECK_REL(e.us[0], 4, 0); /* they stay in their order */
    CHECK_REL(msim_cal_entry_repeatability(&e), 4, 1e-12);
    msim_cal_entry_release(&e);
}

int main(void)
{
    RUN(test_hash__of_one_experiment_alone);
    RUN(test_hash__of_a_line);
    RUN(test_experiment__written_and_read);
    RUN(test_describe__cut);
    RUN(test_guess__by_cores);
    RUN(test_expected__by_a_roofline);
    RUN(test_answer__that_cannot_be_true);
    RUN(test_answer__of_a_time_alone);
    RUN(test_answer__every_member);
    RUN(test_entry__of_one_visit);
    RUN(test_entry__of_short_visits);
    RUN(test_entry__of_visits);
    return check_summary();
}
