/* A convolution as products: every pass, plain and transposed. */
#include "core/work/work.h"
#include "tests/check.h"

/* 2 x 6 x 9 x 11 by 10 filters of 3 x 5 in 2 groups, stride 2,3, pad 1,2: a
 * result of 5 x 4. A group has 3 channels and 5 filters. */
static struct msim_work conv(enum msim_conv_pass pass, bool transposed)
{
    struct msim_work w = {.family = MSIM_FAMILY_CONV};

    w.u.conv.pass = pass;
    w.u.conv.n = 2;
    w.u.conv.c = 6;
    w.u.conv.h = 9;
    w.u.conv.w = 11;
    w.u.conv.k = 10;
    w.u.conv.r = 3;
    w.u.conv.s = 5;
    w.u.conv.stride_h = 2;
    w.u.conv.stride_w = 3;
    w.u.conv.pad_h = 1;
    w.u.conv.pad_w = 2;
    w.u.conv.dilation_h = w.u.conv.dilation_w = 1;
    w.u.conv.groups = 2;
    w.u.conv.transposed = transposed;
    return w;
}

static void check_shape(const struct msim_conv_shape *s, const int want[12])
{
    const double got[12] = {s->n, s->c,        s->h,        s->w,
                            s->k, s->p,        s->q,        s->r,
                            s->s, s->stride_h, s->stride_w, s->groups};

    for (int i = 0; i < 12; i++)
        CHECK_INT((int64_t)got[i], want[i]);
}

static void test_conv_shape__sizes(void)
{
    struct msim_work w = conv(MSIM_CONV_FORWARD, false);
    struct msim_conv_shape s;
    int64_t p, q;

    msim_conv_shape_of(&w, &s);
    check_shape(&s, (int[12]){2, 3, 9, 11, 5, 5, 4, 3, 5, 2, 3, 2});
    /* transposed: what goes in is the smaller side, as of a plain gradient */
    w = conv(MSIM_CONV_FORWARD, true);
    msim_conv_output(&w, &p, &q);
    msim_conv_shape_of(&w, &s);
    check_shape(&s, (int[12]){2, 5, (int)p, (int)q, 3, 9, 11, 3, 5, 2, 3, 2});
    CHECK(p > 9 && q > 11);
    /* what is not given is 1 */
    w = (struct msim_work){.family = MSIM_FAMILY_CONV};
    msim_conv_shape_of(&w, &s);
    check_shape(&s, (int[12]){1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
}

static void test_conv_shape__passes(void)
{
    static const struct {
        enum msim_conv_pass pass;
        bool transposed;
        enum msim_conv_pass want;
    } cases[] = {
        {MSIM_CONV_FORWARD, false, MSIM_CONV_FORWARD},
        {MSIM_CONV_BACKWARD_DATA, false, MSIM_CONV_BACKWARD_DATA},
        {MSIM_CONV_BACKWARD_WEIGHT, false, MSIM_CONV_BACKWARD_WEIGHT},
        {MSIM_CONV_FORWARD, true, MSIM_CONV_BACKWARD_DATA},
        {MSIM_CONV_BACKWARD_DATA, true, MSIM_CONV_FORWARD},
        {MSIM_CONV_BACKWARD_WEIGHT, true, MSIM_CONV_BACKWARD_WEIGHT},
    };
    struct msim_conv_shape s;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct msim_work w = conv(cases[i].pass, cases[i].transposed);

        msim_conv_shape_of(&w, &s);
        CHECK_INT(s.pass, cases[i].want);
    }
}

/* All passes multiply as often: 2 groups of 40 x 5 x 45, whichever is m. */
static void test_conv_shape__products(void)
{
    static const struct {
        enum msim_conv_pass pass;
        double m, n, k;
    } cases[] = {
        {MSIM_CONV_FORWARD, 40, 5, 45},
        {MSIM_CONV_BACKWARD_WEIGHT, 5, 45, 40},
        {MSIM_CONV_BACKWARD_DATA, 198, 3, 40 * 5 * 15 / 198.0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct msim_work w = conv(cases[i].pass, false);
        struct msim_conv_product x;
        struct msim_conv_shape s;

        msim_conv_shape_of(&w, &s);
        msim_conv_product_of(&s, &x);
        CHECK_REL(x.m, cases[i].m, 1e-12);
        CHECK_REL(x.n, cases[i].n, 1e-12);
        CHECK_REL(x.k, cases[i].k, 1e-12);
        CHECK_REL(x.batch, 2, 0);
        CHECK_REL(x.m * x.n * x.k, 40 * 5 * 45, 1e-12);
    }
}

int main(void)
{
    RUN(test_conv_shape__sizes);
    RUN(test_conv_shape__passes);
    RUN(test_conv_shape__products);
    return check_summary();
}
