/*
 * How sizes are united and tied, one by one; buckets of gradients, tensors in
 * one storage, heads in what a layer writes, and what is divided alike. The
 * letters are those of made_sizes.h.
 */
#include "tests/unit/core/sizes/made_sizes.h"

static struct made_sizes m;

static void begin(const char *tensors)
{
    made_call(&m, "op", tensors, "");
}

static void end(const char *want)
{
    CHECK_STR(made_told(&m), want);
    free(m.l.values);
    free(m.l.heads);
    free(m.l.gradients);
    free(m.l.buckets);
    made_free(&m);
}

/* ---- places ---------------------------------------------------------------
 */

/* Equal numbers are united, with the first of all as the one of them. */
static void test_learning__unites(void)
{
    begin("f32[4,6,4,4,6,1]");
    msim_size_unite(&m.l, 2, 3);
    CHECK_INT(msim_size_root(&m.l, 3), 2);
    msim_size_unite(&m.l, 3, 0);
    CHECK_INT(msim_size_root(&m.l, 3), 0);
    CHECK_INT(msim_size_root(&m.l, 2), 0);
    msim_size_unite(&m.l, 0, 1); /* 4 and 6 */
    msim_size_unite(&m.l, 0, 5); /* a 1 is none */
    msim_size_unite(&m.l, 5, 0);
    CHECK_INT(msim_size_root(&m.l, 5), MSIM_NONE);
    CHECK_INT(msim_size_root(&m.l, MSIM_NONE), MSIM_NONE);
    CHECK_INT(msim_size_at(&m.l, 5), 1);
    CHECK_INT(msim_size_at(&m.l, 4), 6);
    end("abaac1");
}

static void test_learning__places(void)
{
    uint32_t place;

    begin("f32[4]");
    m.l.op = 7;
    CHECK_INT(msim_size_add_place(&m.l, 5, &place), MSIM_OK);
    CHECK_INT(place, 1);
    CHECK_INT(m.s.n_classes, 2);
    CHECK_INT(m.s.classes[1].size, 5);
    CHECK_INT(m.s.classes[1].op, 7);
    CHECK_INT(msim_size_add_place(&m.l, 1, &place), MSIM_OK);
    CHECK_INT(place, 2);
    CHECK_INT(m.s.n_classes, 2);
    end("a");
}

/* ---- ties -----------------------------------------------------------------
 */

static void test_learning__products(void)
{
    static const uint32_t P[] = {0, 1, 2, 3, 4, 5};

    /* 4 x 6 = 24, and 4 x 1 = 4, which are one */
    begin("f32[4,6,24,1,4,1]");
    m.l.op = 3;
    CHECK_INT(msim_size_tie_product(&m.l, P, 2, P + 2, 1), MSIM_OK);
    CHECK_INT(m.s.ties[0].op, 3);
    CHECK_INT(m.s.ties[0].n_left, 2);
    CHECK_INT(m.s.ties[0].n_right, 1);
    CHECK_INT(msim_size_tie_product(&m.l, P, 1, P + 3, 3), MSIM_OK);
    /* ones alone are nothing; a number that is 1 on the right is */
    CHECK_INT(msim_size_tie_product(&m.l, P + 3, 1, P + 5, 1), MSIM_OK);
    CHECK_INT(msim_size_tie_product(&m.l, P + 2, 1, P + 3, 1), MSIM_OK);
    end("abc1a1 ab=c c");
}

static void test_learning__times(void)
{
    begin("f32[12,4,5,1,12,0]");
    CHECK_INT(msim_size_tie_times(&m.l, 0, 1, false), MSIM_OK);
    CHECK_INT(msim_size_tie_times(&m.l, 0, 1, true), MSIM_OK);
    /* no number of times; nothing; as many; times 1 */
    CHECK_INT(msim_size_tie_times(&m.l, 0, 2, false), MSIM_OK);
    CHECK_INT(msim_size_tie_times(&m.l, 0, 5, false), MSIM_OK);
    CHECK_INT(msim_size_tie_times(&m.l, 0, 4, true), MSIM_OK);
    end("abc1ad a=b3 a~b3");
}

static void test_learning__sums_and_parts(void)
{
    static const uint32_t P[] = {0, 1, 2, 3};

    begin("f32[9,4,5,1,9]");
    CHECK_INT(msim_size_tie_sum(&m.l, 0, P + 1, 2), MSIM_OK);
    CHECK_INT(msim_size_tie_sum(&m.l, 0, P + 1, 1), MSIM_OK);
    CHECK_INT(msim_size_tie_sum(&m.l, 0, P + 2, 2), MSIM_OK); /* 5 and 1 */
    CHECK_INT(msim_size_tie_sum(&m.l, 3, P + 1, 2), MSIM_OK); /* of 1 */
    CHECK_INT(msim_size_tie_sum(&m.l, 4, P, 1), MSIM_OK);     /* all of it */
    end("abc1a a=b+c a=b+5 a=c+4 a=a");

    /* all of it and nothing */
    begin("f32[5,5,0]");
    CHECK_INT(msim_size_tie_sum(&m.l, 0, P + 1, 2), MSIM_OK);
    end("abc a=b+c");

    begin("f32[9,4,1]");
    CHECK_INT(msim_size_tie_share(&m.l, 0, 1), MSIM_OK);
    CHECK_INT(msim_size_tie_share(&m.l, 0, 2), MSIM_OK);
    CHECK_INT(msim_size_tie_share(&m.l, 2, 0), MSIM_OK);
    CHECK_INT(m.s.n_ties, 1);
    end("ab1 a>b");
}

/* How many elements a value has: a vector's own size, else a product. */
static void test_learning__counts(void)
{
    const struct msim_size_value vector = {.at = 2, .n = 1, .elems = 24},
                                 matrix = {.at = 0, .n = 2, .elems = 24},
                                 scalar = {.at = 2, .n = 0, .elems = 1},
                                 row = {.at = 3, .n = 2, .elems = 24};
    uint32_t place = 99;

    begin("f32[4,6,24,1,24]");
    CHECK_INT(msim_size_count(&m.l, &vector, &place), MSIM_OK);
    CHECK_INT(place, 2);
    CHECK_INT(msim_size_count(&m.l, &matrix, &place), MSIM_OK);
    CHECK_INT(place, 5);
    CHECK_INT(msim_size_at(&m.l, place), 24);
    CHECK_INT(msim_size_count(&m.l, &scalar, &place), MSIM_OK);
    CHECK_INT(msim_size_at(&m.l, place), 1);
    CHECK_INT(msim_size_count(&m.l, &row, &place), MSIM_OK);
    CHECK_INT(msim_size_root(&m.l, place), msim_size_root(&m.l, 4));
    end("abc1d 24=ab!");
}

/* A matrix of one row is its row, and no tie; a tensor of more sizes than
 * PyTorch has is left as it is, one of as many is tied. */
static void test_learning__counts_of_few_and_many(void)
{
    const struct msim_size_value row = {.at = 0, .n = 2, .elems = 24},
                                 most = {.at = 3, .n = 64, .elems = 24},
                                 more = {.at = 3, .n = 65, .elems = 24};
    uint32_t place;

    begin("f32[1,24,24]");
    CHECK_INT(msim_size_count(&m.l, &row, &place), MSIM_OK);
    CHECK_INT(m.s.n_ties, 0);
    CHECK_INT(msim_size_root(&m.l, place), msim_size_root(&m.l, 1));
    for (uint32_t i = 0; i < 65; i++)
        CHECK_INT(msim_size_add_place(&m.l, 2, &place), MSIM_OK);
    CHECK_INT(msim_size_count(&m.l, &more, &place), MSIM_OK);
    CHECK_INT(msim_size_at(&m.l, place), 24);
    CHECK_INT(m.s.n_ties, 0);
    CHECK_INT(msim_size_count(&m.l, &most, &place), MSIM_OK);
    CHECK_INT(m.s.n_ties, 1);
    CHECK_INT(m.s.ties[0].n_right, 64);
    m.s.n_ties = 0;
    end("1ab");
}

/* ---- alike ----------------------------------------------------------------
 */

/* 24 = 4 x 6 twice, of one 24: one division. Of two, or as 3 x 8, it is none.
 */
static void test_learning__divided_alike(void)
{
    static const uint32_t P[] = {0, 1, 2, 3, 4, 5};

    begin("f32[24,4,6,24,4,6]");
    CHECK_INT(msim_size_tie_product(&m.l, P, 1, P + 1, 2), MSIM_OK);
    CHECK_INT(msim_size_tie_product(&m.l, P + 4, 2, P + 3, 1), MSIM_OK);
    CHECK_INT(msim_size_unite_alike(&m.l), MSIM_OK);
    CHECK_INT(msim_size_root(&m.l, 4), 4);
    msim_size_unite(&m.l, 0, 3);
    CHECK_INT(msim_size_unite_alike(&m.l), MSIM_OK);
    end("abcabc a=bc bc=a");

    begin("f32[24,4,6,24,3,8]");
    msim_size_unite(&m.l, 0, 3);
    CHECK_INT(msim_size_tie_product(&m.l, P, 1, P + 1, 2), MSIM_OK);
    CHECK_INT(msim_size_tie_product(&m.l, P + 3, 1, P + 4, 2), MSIM_OK);
    CHECK_INT(msim_size_unite_alike(&m.l), MSIM_OK);
    end("abcade a=bc a=de");
}

/* What that unites may divide others: 16 = 4 x 4 of one 4. */
static void test_learning__alike_again(void)
{
    static const uint32_t P[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

    begin("f32[6,2,3,24,4,6,2,3,24,4]");
    CHECK_INT(msim_size_tie_product(&m.l, P, 1, P + 1, 2), MSIM_OK);
    CHECK_INT(msim_size_tie_product(&m.l, P + 5, 1, P + 6, 2), MSIM_OK);
    {
        const uint32_t a[] = {4, 0}, b[] = {9, 5};

        CHECK_INT(msim_size_tie_product(&m.l, P + 3, 1, a, 2), MSIM_OK);
        CHECK_INT(msim_size_tie_product(&m.l, P + 8, 1, b, 2), MSIM_OK);
    }
    msim_size_unite(&m.l, 3, 8);
    CHECK_INT(msim_size_unite_alike(&m.l), MSIM_OK);
    end("abcdeabcde a=bc a=bc d=ea d=ea");
}

/* A sum is no product, and neither is a part; which side is the whole of a sum
 * matters. */
static void test_learning__kinds_are_not_alike(void)
{
    static const uint32_t P[] = {0, 1, 2};

    begin("f32[4,2,2]");
    CHECK_INT(msim_size_tie_product(&m.l, P, 1, (uint32_t[]){1, 1}, 2),
              MSIM_OK);
    CHECK_INT(msim_size_tie_sum(&m.l, 0, (uint32_t[]){2, 2}, 2), MSIM_OK);
    CHECK_INT(msim_size_unite_alike(&m.l), MSIM_OK);
    end("abc a=bb a=c+c");

    begin("f32[4,2,2]");
    CHECK_INT(msim_size_tie_share(&m.l, 0, 1), MSIM_OK);
    CHECK_INT(msim_size_tie_share(&m.l, 0, 2), MSIM_OK);
    CHECK_INT(msim_size_unite_alike(&m.l), MSIM_OK);
    end("abb a>b a>b");
}

/* Elements of a flat tensor: of a square no number tells which side is which.
 */
static void test_learning__flat_squares(void)
{
    const struct msim_size_value a = {.at = 0, .n = 2, .elems = 16},
                                 b = {.at = 2, .n = 2, .elems = 16},
                                 c = {.at = 4, .n = 2, .elems = 16},
                                 d = {.at = 6, .n = 2, .elems = 16};
    uint32_t x, y;

    begin("f32[4,4,4,4,2,8,2,8]");
    CHECK_INT(msim_size_count(&m.l, &a, &x), MSIM_OK);
    CHECK_INT(msim_size_count(&m.l, &b, &y), MSIM_OK);
    msim_size_unite(&m.l, x, y);
    CHECK_INT(msim_size_count(&m.l, &c, &y), MSIM_OK);
    msim_size_unite(&m.l, x, y);
    CHECK_INT(msim_size_count(&m.l, &d, &y), MSIM_OK);
    msim_size_unite(&m.l, x, y);
    CHECK_INT(msim_size_unite_alike(&m.l), MSIM_OK);
    end("abcdefef 16=ab! 16=cd! 16=ef! 16=ef!");
}

int main(void)
{
    RUN(test_learning__unites);
    RUN(test_learning__places);
    RUN(test_learning__products);
    RUN(test_learning__times);
    RUN(test_learning__sums_and_parts);
    RUN(test_learning__counts);
    RUN(test_learning__counts_of_few_and_many);
    RUN(test_learning__divided_alike);
    RUN(test_learning__alike_again);
    RUN(test_learning__kinds_are_not_alike);
    RUN(test_learning__flat_squares);
    return check_summary();
}
