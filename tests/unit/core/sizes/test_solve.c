/*
 * Sizes that follow from some that are given, by ties that are made by hand:
 * what each kind of tie says, what stays where none does, and what cannot be.
 */
#include "tests/unit/core/sizes/made_sizes.h"

static struct made_sizes m;

/* Tensor "f32[4,6,24]" has places 0, 1, 2, and so on; none is united. */
static void begin(const char *tensor)
{
    made_call(&m, "op", tensor, "");
}

static void product(uint32_t a, uint32_t b, uint32_t whole)
{
    const uint32_t left[] = {a, b};

    CHECK_INT(msim_size_tie_product(&m.l, left, 2, &whole, 1), MSIM_OK);
}

static void sum(uint32_t whole, uint32_t a, uint32_t b)
{
    const uint32_t parts[] = {a, b};

    CHECK_INT(msim_size_tie_sum(&m.l, whole, parts, 2), MSIM_OK);
}

static void part(uint32_t whole, uint32_t of)
{
    CHECK_INT(msim_size_tie_share(&m.l, whole, of), MSIM_OK);
}

/* Classes from 0 on: 0 is not given. */
static const char *solved(int64_t a, int64_t b, int64_t c, int64_t d)
{
    int64_t to[16] = {a, b, c, d};
    struct msim_error err = {0};

    m.text[0] = '\0';
    if (msim_sizes_solve(&m.s, to, &err) == MSIM_EUSAGE) {
        made_say(&m, "%s", err.text);
        return m.text;
    }
    for (uint32_t i = 0; i < m.s.n_classes; i++)
        made_say(&m, "%s%lld", i ? " " : "", (long long)to[i]);
    return m.text;
}

static void test_solve__products(void)
{
    begin("f32[4,6,24]");
    product(0, 1, 2);
    CHECK_STR(solved(0, 0, 0, 0), "4 6 24");
    CHECK_STR(solved(8, 0, 0, 0), "8 6 48");
    CHECK_STR(solved(8, 5, 0, 0), "8 5 40");
    CHECK_STR(solved(8, 0, 40, 0), "8 5 40");
    /* the smaller one stays, and what is data before a parameter */
    CHECK_STR(solved(0, 0, 48, 0), "4 12 48");
    m.s.classes[0].weight = 1;
    CHECK_STR(solved(0, 0, 48, 0), "8 6 48");
    m.s.classes[0].weight = 0;
    /* what has a role stays unless it is given */
    m.s.classes[2].role = MSIM_SIZE_HIDDEN;
    CHECK_STR(solved(8, 0, 0, 0), "8 3 24");
    m.s.classes[2].role = MSIM_SIZE_NONE;
    CHECK_STR(solved(8, 5, 41, 0),
              "'op' (operator 0) has 4 (now 8) x 6 (now 5) as 24 (now 41), "
              "which cannot be with the new sizes");
    CHECK_STR(solved(0, 0, 25, 0),
              "'op' (operator 0) has 4 x 6 as 24 (now 25), which cannot be "
              "with the new sizes");
    CHECK(strstr(solved(INT64_C(1) << 40, INT64_C(1) << 40, 0, 0),
                 "which cannot be"));
    made_free(&m);
}

/* A square: both are one class, and one number does not say what it is. */
static void test_solve__one_class_twice(void)
{
    begin("f32[4,16]");
    product(0, 0, 1);
    CHECK_STR(solved(5, 0, 0, 0), "5 25");
    CHECK_STR(solved(0, 16, 0, 0), "4 16");
    made_free(&m);
    begin("f32[3,6]");
    sum(1, 0, 0);
    CHECK_STR(solved(5, 0, 0, 0), "5 10");
    CHECK_STR(solved(0, 10, 0, 0), "5 10");
    CHECK_STR(solved(0, 11, 0, 0),
              "'op' (operator 0) has 6 (now 11) as 3 + 3, which cannot be "
              "with the new sizes");
    made_free(&m);
}

static void test_solve__sums(void)
{
    begin("f32[8,3,5]");
    sum(0, 1, 2);
    CHECK_STR(solved(0, 4, 0, 0), "9 4 5");
    CHECK_STR(solved(0, 4, 7, 0), "11 4 7");
    CHECK_STR(solved(10, 4, 0, 0), "10 4 6");
    /* shares of the whole, if they are whole numbers; else one stays */
    CHECK_STR(solved(16, 0, 0, 0), "16 6 10");
    CHECK_STR(solved(12, 0, 0, 0), "12 3 9");
    CHECK_STR(solved(10, 11, 0, 0),
              "'op' (operator 0) has 8 (now 10) as 3 (now 11) + 5, which "
              "cannot be with the new sizes");
    CHECK_STR(solved(10, 4, 5, 0),
              "'op' (operator 0) has 8 (now 10) as 3 (now 4) + 5, which "
              "cannot be with the new sizes");
    made_free(&m);
    /* what is left stays: 10 = 3 + 5 + 2 */
    begin("f32[10,3,5]");
    sum(0, 1, 2);
    CHECK_STR(solved(0, 4, 0, 0), "11 4 5");
    CHECK_STR(solved(13, 4, 0, 0), "13 4 7");
    made_free(&m);
}

/* A half stays a half, all but some all but some, and twice is twice. */
static void test_solve__parts(void)
{
    begin("f32[6,2]");
    part(0, 1);
    CHECK_STR(solved(12, 0, 0, 0), "12 4");
    CHECK_STR(solved(3, 0, 0, 0), "3 1");
    CHECK_STR(solved(13, 0, 0, 0), "13 9");
    CHECK_STR(solved(0, 4, 0, 0), "6 4");
    CHECK_STR(solved(12, 5, 0, 0), "12 5");
    made_free(&m);
    begin("f32[6,4]");
    part(0, 1);
    CHECK_STR(solved(4, 0, 0, 0), "4 2");
    CHECK_STR(solved(3, 0, 0, 0), "3 1");
    CHECK_STR(solved(2, 0, 0, 0), "2 4");
    made_free(&m);
    begin("f32[6,12]");
    part(0, 1);
    CHECK_STR(solved(7, 0, 0, 0), "7 14");
    made_free(&m);
}

/* 8 are shared out over 2, rounded up. */
static void test_solve__shared_out(void)
{
    begin("f32[8,4]");
    CHECK_INT(msim_size_tie_times(&m.l, 0, 1, true), MSIM_OK);
    CHECK_STR(solved(9, 0, 0, 0), "9 5 2");
    CHECK_STR(solved(10, 0, 0, 0), "10 5 2");
    CHECK_STR(solved(9, 0, 4, 0), "9 3 4");
    made_free(&m);
    begin("f32[8,4]");
    CHECK_INT(msim_size_tie_times(&m.l, 0, 1, false), MSIM_OK);
    CHECK_STR(solved(0, 5, 0, 0), "10 5 2");
    CHECK_STR(solved(9, 0, 0, 0),
              "'op' (operator 0) has 8 (now 9) as 4 x 2, which cannot be with "
              "the new sizes");
    made_free(&m);
}

/* One follows from the other: 24 = 4 x 6, 48 = 24 x 2, 54 = 48 + 6. */
static void test_solve__one_after_the_other(void)
{
    begin("f32[54,48,24,4,6,2]");
    sum(0, 1, 4);
    product(2, 5, 1);
    product(3, 4, 2);
    CHECK_STR(solved(0, 0, 0, 8), "102 96 48 8 6 2");
    CHECK_STR(solved(0, 96, 48, 0), "108 96 48 4 12 2");
    made_free(&m);
}

/* What is a product or a sum of others stays last, whichever side of the tie it
 * is on and whatever is of data. */
static void test_solve__made_of_others(void)
{
    const uint32_t whole = 2, parts[] = {0, 1};

    for (int way = 0; way < 3; way++) {
        begin(way == 2 ? "f32[4,6,10]" : "f32[4,6,24]");
        if (way == 0)
            product(0, 1, whole);
        else if (way == 1)
            CHECK_INT(msim_size_tie_product(&m.l, &whole, 1, parts, 2),
                      MSIM_OK);
        else
            sum(whole, 0, 1);
        m.s.classes[0].weight = m.s.classes[1].weight = 1;
        CHECK_STR(solved(8, 0, 0, 0), way == 2 ? "8 6 14" : "8 6 48");
        made_free(&m);
    }
}

/* Untied sizes stay, sizes of nothing are nothing. */
static void test_solve__what_is_not_tied(void)
{
    begin("f32[4,6,0]");
    CHECK_STR(solved(5, 0, 0, 0), "5 6 0");
    made_free(&m);
    begin("f32[0,6,0]");
    product(0, 1, 2);
    CHECK_STR(solved(0, 0, 0, 0), "0 6 0");
    CHECK_STR(solved(0, 7, 0, 0), "0 7 0");
    made_free(&m);
}

/* More than six sizes are not listed. */
static void test_solve__many_terms(void)
{
    static const uint32_t SEVEN[] = {0, 1, 2, 3, 4, 5, 6};

    begin("f32[2,2,2,2,2,2,2,128]");
    CHECK_INT(msim_size_tie_product(&m.l, SEVEN, 7, &(uint32_t){7}, 1),
              MSIM_OK);
    m.s.classes[7].role = MSIM_SIZE_HIDDEN;
    for (uint32_t i = 0; i < 7; i++)
        m.s.classes[i].role = MSIM_SIZE_BATCH;
    CHECK_STR(solved(3, 0, 0, 0),
              "'op' (operator 0) has 2 (now 3) x 2 x 2 x 2 x 2 x 2 x ... as "
              "128, which cannot be with the new sizes");
    made_free(&m);
    begin("f32[12,2,2,2,2,2,2]");
    CHECK_INT(msim_size_tie_sum(&m.l, 0, SEVEN + 1, 6), MSIM_OK);
    for (uint32_t i = 0; i < 7; i++)
        m.s.classes[i].role = MSIM_SIZE_BATCH;
    CHECK_STR(solved(13, 0, 0, 0),
              "'op' (operator 0) has 12 (now 13) as 2 + 2 + 2 + 2 + 2 + 2, "
              "which cannot be with the new sizes");
    made_free(&m);
}

/* ---- roles --------------------------------------------------------------- */

static void test_solve__scaled_roles(void)
{
    struct msim_error err = {0};
    int64_t to[4] = {0};
    uint32_t n = 9;

    begin("f32[12,64,6]");
    m.s.classes[0].role = m.s.classes[2].role = MSIM_SIZE_HEADS;
    m.s.classes[1].role = MSIM_SIZE_HEAD_SIZE;
    CHECK_INT(msim_sizes_scale(&m.s, MSIM_SIZE_HEADS, 1, 2, to, &n, &err),
              MSIM_OK);
    CHECK_INT(n, 2);
    CHECK_INT(to[0], 6);
    CHECK_INT(to[1], 0);
    CHECK_INT(to[2], 3);
    CHECK_INT(msim_sizes_scale(&m.s, MSIM_SIZE_VOCAB, 1, 2, to, &n, &err),
              MSIM_OK);
    CHECK_INT(n, 0);
    CHECK_INT(msim_sizes_scale(&m.s, MSIM_SIZE_HEADS, 3, 2, to, &n, &err),
              MSIM_OK);
    CHECK_INT(to[0], 18);
    CHECK_INT(msim_sizes_scale(&m.s, MSIM_SIZE_HEADS, 1, 4, to, &n, &err),
              MSIM_EUSAGE);
    CHECK_STR(err.text, "heads of 6 times 1 / 4 is no whole number");
    memset(&err, 0, sizeof(err));
    CHECK_INT(
        msim_sizes_scale(&m.s, MSIM_SIZE_HEADS, INT64_MAX, 1, to, &n, &err),
        MSIM_EUSAGE);
    /* two roles are no matter where nothing changes */
    m.s.classes[0].also = MSIM_SIZE_HIDDEN;
    CHECK_INT(msim_sizes_scale(&m.s, MSIM_SIZE_HEADS, 2, 2, to, &n, &err),
              MSIM_OK);
    CHECK_INT(to[0], 12);
    memset(&err, 0, sizeof(err));
    CHECK_INT(msim_sizes_scale(&m.s, MSIM_SIZE_HEADS, 1, 2, to, &n, &err),
              MSIM_EUSAGE);
    CHECK_STR(err.text,
              "a size of 12 is heads and hidden at once ('op', operator 0): "
              "the two cannot be told apart");
    CHECK_INT(msim_size_is_one(&m.s, 1, &err), MSIM_OK);
    made_free(&m);
}

static void test_solve__role_names(void)
{
    CHECK_STR(msim_size_role_text(MSIM_SIZE_SEQUENCE), "sequence");
    CHECK_STR(msim_size_role_text(MSIM_SIZE_KV_HEADS), "kv_heads");
    CHECK_STR(msim_size_role_text(MSIM_SIZE_HEAD_SIZE), "head size");
    CHECK_STR(msim_size_role_text(MSIM_SIZE_VOCAB), "vocab");
}

int main(void)
{
    RUN(test_solve__products);
    RUN(test_solve__one_class_twice);
    RUN(test_solve__sums);
    RUN(test_solve__parts);
    RUN(test_solve__shared_out);
    RUN(test_solve__one_after_the_other);
    RUN(test_solve__made_of_others);
    RUN(test_solve__what_is_not_tied);
    RUN(test_solve__many_terms);
    RUN(test_solve__scaled_roles);
    RUN(test_solve__role_names);
    return check_summary();
}
