/*
 * tests/unit/core/test_guard.c - tests of core/guard/guard.h.
 */
#include "core/guard/guard.h"

#include "core/base/json.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BIT(name) MSIM_GUARD_BIT(name)

static void test_guard__answer_keeps_order_and_peak(void)
{
    CHECK_INT(msim_guard_check(2, 1, 3, NAN), 0);
    CHECK_INT(msim_guard_check(2, 2, 2, 1), 0);
    CHECK_INT(msim_guard_check(2, 2.1, 3, NAN), BIT(ORDER));
    CHECK_INT(msim_guard_check(2, 1, 1.9, NAN), BIT(ORDER));
    CHECK_INT(msim_guard_check(0, 0, 0, NAN), 0);
    CHECK_INT(msim_guard_check(2, -1, 3, NAN), BIT(ORDER));
    CHECK_INT(msim_guard_check(NAN, 1, 3, NAN), BIT(ORDER));
    CHECK_INT(msim_guard_check(2, 1, INFINITY, NAN), BIT(ORDER));
    CHECK_INT(msim_guard_check(2, 1, 3, 1.01), BIT(PEAK));
}

/* Sizes 2, 4, 8 take 90, 20, 130: the one that looks cheap is marked, unless
 * that alone is measured. Another kind is another question. */
static void test_guard__compare_marks_the_larger(void)
{
    const struct msim_guard_answer asked[] = {
        {1, 8, 130, false, 0},
        {1, 2, 90, false, 1},
        {1, 4, 20, false, 2},
        {2, 16, 1, false, 3},
    };
    struct msim_guard_answer a[4];
    msim_guard_marks marks[4] = {0};

    memcpy(a, asked, sizeof(a));
    msim_guard_compare(a, 4, MSIM_GUARD_LARGER, marks);
    CHECK_INT(marks[0] | marks[1] | marks[3], 0);
    CHECK_INT(marks[2], BIT(LARGER));

    memset(marks, 0, sizeof(marks));
    memcpy(a, asked, sizeof(a));
    a[2].measured = true;
    msim_guard_compare(a, 4, MSIM_GUARD_LARGER, marks);
    CHECK_INT(marks[0] | marks[2] | marks[3], 0);
    CHECK_INT(marks[1], BIT(LARGER));
}

/* A size more may take a little less (0.95), and answers of one size differ as
 * they like. */
static void test_guard__compare_leaves_what_may_be(void)
{
    struct msim_guard_answer a[] = {
        {1, 1, 100, false, 0},
        {1, 1, 50, false, 1},
        {1, 2, 96, false, 2},
    };
    msim_guard_marks marks[3] = {0};

    msim_guard_compare(a, 3, MSIM_GUARD_LARGER, marks);
    CHECK_INT(marks[0] | marks[1] | marks[2], 0);
    a[2].us = 94;
    msim_guard_compare(a, 3, MSIM_GUARD_LARGER, marks);
    CHECK_INT(marks[2], BIT(LARGER));
}

#define MANY 400

/* Do two without the mark contradict each other? */
static bool contradict(const struct msim_guard_answer *a,
                       const msim_guard_marks *marks)
{
    for (int i = 0; i < MANY; i++)
        for (int k = 0; k < MANY; k++)
            if (a[i].kind == a[k].kind && a[i].size < a[k].size &&
                a[k].us < 0.949 * a[i].us && !marks[a[i].index] &&
                !marks[a[k].index])
                return true;
    return false;
}

static void test_guard__compare_leaves_no_contradiction(void)
{
    struct msim_guard_answer a[MANY];
    msim_guard_marks marks[MANY];
    unsigned short state[3] = {31, 4, 1};

    for (int round = 0; round < 20; round++) {
        memset(marks, 0, sizeof(marks));
        for (uint32_t i = 0; i < MANY; i++)
            a[i] = (struct msim_guard_answer){
                (uint64_t)nrand48(state) % 7, (double)(nrand48(state) % 20),
                erand48(state), nrand48(state) % 3 == 0, i};
        msim_guard_compare(a, MANY, MSIM_GUARD_LARGER, marks);
        CHECK(!contradict(a, marks));
    }
}

static void test_guard__sentence_counts(void)
{
    struct msim_guard_count c = {0};
    char text[MSIM_GUARD_SENTENCE], words[MSIM_GUARD_WORDS];

    msim_guard_add(&c, 0);
    msim_guard_sentence(&c, "points", text);
    CHECK_STR(text, "");
    msim_guard_add(&c, BIT(PEAK) | BIT(LARGER));
    msim_guard_sentence(&c, "points", text);
    CHECK_STR(text, "1 of 2 points are marked: 1 peak (it takes less than its "
                    "FLOPs or bytes do at the peak), 1 larger (a smaller one "
                    "takes longer)");
    msim_guard_words(BIT(PEAK) | BIT(LARGER), words);
    CHECK_STR(words, "peak larger");
    msim_guard_words(~0u, words);
    CHECK(strlen(words) < MSIM_GUARD_WORDS - 1);
}

/* A ratio that holds a correction is doubtful, and still an answer. */
static void test_guard__bars_what_cannot_be(void)
{
    CHECK(!msim_guard_bars(0));
    CHECK(!msim_guard_bars(BIT(EVIDENCE)));
    CHECK(msim_guard_bars(BIT(UNKNOWN)));
    CHECK(msim_guard_bars(BIT(EVIDENCE) | BIT(ORDER)));
}

/* So do measured ones beside others, whichever comes first. */
static void test_guard__measured_ones_of_one_size(void)
{
    for (uint32_t first = 0; first < 2; first++) {
        struct msim_guard_answer a[] = {
            {1, 1, 100, false, first},
            {1, 1, 50, true, 1 - first},
        };
        msim_guard_marks marks[2] = {0};

        msim_guard_compare(a, 2, MSIM_GUARD_LARGER, marks);
        CHECK_INT(marks[0] | marks[1], 0);
    }
}

/* Rounding of sums is no contradiction: a billionth either way. */
static void test_guard__rounding(void)
{
    CHECK_INT(msim_guard_check(1, 1 + 0.9e-9, 1, 1 + 0.9e-9), 0);
    CHECK_INT(msim_guard_check(1, 1 + 1.1e-9, 1.1, NAN), BIT(ORDER));
    CHECK_INT(msim_guard_check(1 + 0.9e-9, 1, 1, NAN), 0);
    CHECK_INT(msim_guard_check(1 + 1.1e-9, 1, 1, NAN), BIT(ORDER));
    CHECK_INT(msim_guard_check(1, 1, 1, 1 + 1.1e-9), BIT(PEAK));
    CHECK_INT(msim_guard_check(2, 1, NAN, 2), BIT(ORDER) | BIT(PEAK));
}

static void test_guard__words(void)
{
    static const char *const WORDS[] = {"order",     "peak",    "larger",
                                        "recompute", "scaling", "memory",
                                        "fits",      "evidence"};
    char words[MSIM_GUARD_WORDS];

    CHECK_INT(sizeof(WORDS) / sizeof(*WORDS), MSIM_GUARDS);
    for (int g = 0; g < MSIM_GUARDS; g++) {
        msim_guard_words(1u << g, words);
        CHECK_STR(words, WORDS[g]);
    }
    msim_guard_words(0, words);
    CHECK_STR(words, "");
    msim_guard_words(1u << MSIM_GUARDS, words);
    CHECK_STR(words, "");
    msim_guard_words(~0u, words);
    CHECK_STR(words, "order peak larger recompute scaling memory fits "
                     "evidence");
}

/* Less recomputation may take 1 % longer, more GPUs 5 % less. */
static void test_guard__each_has_its_share(void)
{
    static const struct {
        enum msim_guard g;
        double least;
    } GUARDS[] = {{MSIM_GUARD_LARGER, 0.95},
                  {MSIM_GUARD_RECOMPUTE, 0.99},
                  {MSIM_GUARD_SCALING, 0.95}};

    for (size_t i = 0; i < sizeof(GUARDS) / sizeof(*GUARDS); i++)
        for (int below = 0; below < 2; below++) {
            struct msim_guard_answer a[] = {
                {1, 1, 100, false, 0},
                {1, 2, 100 * GUARDS[i].least + (below ? -0.1 : 0.1), false, 1}};
            msim_guard_marks marks[2] = {0};

            msim_guard_compare(a, 2, GUARDS[i].g, marks);
            CHECK_INT(marks[0], 0);
            CHECK_INT(marks[1], below ? 1u << GUARDS[i].g : 0);
        }
}

static void test_guard__sums(void)
{
    struct msim_guard_count a = {.asked = 5}, b = {.asked = 7};

    msim_guard_add(&a, BIT(PEAK));
    msim_guard_add(&a, 0);
    msim_guard_add(&b, BIT(PEAK) | BIT(EVIDENCE));
    msim_guard_sum(&a, &b);
    CHECK_INT(a.answers, 3);
    CHECK_INT(a.marked, 2);
    CHECK_INT(a.asked, 12);
    CHECK_INT(a.by[MSIM_GUARD_PEAK], 2);
    CHECK_INT(a.by[MSIM_GUARD_EVIDENCE], 1);
    CHECK_INT(a.by[MSIM_GUARD_ORDER], 0);
}

/* None of those that were asked for has an answer. */
static void test_guard__some_answers(void)
{
    struct msim_error err = {0};

    CHECK_INT(msim_guard_some(1, 2, "points", &err), MSIM_OK);
    CHECK_INT(msim_guard_some(0, 0, "points", &err), MSIM_OK);
    CHECK_INT(msim_guard_some(0, 1, "points", &err), MSIM_ECHECK);
    CHECK_STR(err.text, "0 of 1 points have an answer, want one; each says "
                        "why");
}

/* One answer's guards as a list, and all answers' as numbers and a sentence. */
static void test_guard__json(void)
{
    static struct msim_json j;
    struct msim_guard_count c = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    REQUIRE(out != NULL);
    msim_json_begin(&j, msim_sink_file, out);
    msim_json_open(&j, NULL, '[', false);
    for (int i = 0; i < 2; i++) {
        msim_json_open(&j, NULL, '{', false);
        msim_guard_json(&j, i ? BIT(ORDER) | BIT(EVIDENCE) : 0);
        msim_json_close(&j);
        msim_json_open(&j, NULL, '{', false);
        msim_guard_add(&c, i ? BIT(MEMORY) : 0);
        msim_guard_count_json(&j, &c, "rows");
        msim_json_close(&j);
    }
    msim_json_close(&j);
    CHECK_INT(msim_json_end(&j), MSIM_OK);
    fclose(out);
    text[strcspn(text, "\n")] = '\0';
    CHECK_STR(text,
              "[{\"guards\": []}, {\"guards\": {\"answers\": 1, \"marked\": "
              "0, \"text\": null}}, {\"guards\": [\"order\", \"evidence\"]}, "
              "{\"guards\": {\"answers\": 2, \"marked\": 1, \"text\": \"1 of "
              "2 rows are marked: 1 memory (an operator needs more than the "
              "GPU's memory)\"}}]");
    free(text);
}

int main(void)
{
    RUN(test_guard__answer_keeps_order_and_peak);
    RUN(test_guard__compare_marks_the_larger);
    RUN(test_guard__compare_leaves_what_may_be);
    RUN(test_guard__compare_leaves_no_contradiction);
    RUN(test_guard__sentence_counts);
    RUN(test_guard__bars_what_cannot_be);
    RUN(test_guard__measured_ones_of_one_size);
    RUN(test_guard__rounding);
    RUN(test_guard__words);
    RUN(test_guard__each_has_its_share);
    RUN(test_guard__sums);
    RUN(test_guard__some_answers);
    RUN(test_guard__json);
    return check_summary();
}
