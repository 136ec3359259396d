/*
 * models/estimate/conv_way.c: for which convolutions each way is taken, one
 * condition after the other, and what it takes.
 */
#include "models/estimate/model_internal.h"

#include "models/law/law.h"
#include "models/platform/platform.h"
#include "models/platform/platform_data.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

/* An A100 has tensor cores for fp32, a T4 has none; an RTX A6000 adds deep
 * gradients up in memory before PyTorch 2.9. */
static struct msim_platform *a100, *t4, *a6000, *h100;

/* A data gradient of 20 channels from 24, in fp32 by tensor cores. */
static struct msim_work gradient(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_CONV,
                          .dtype = MSIM_DT_F32,
                          .variant = "tf32",
                          .u.conv = {.pass = MSIM_CONV_BACKWARD_DATA,
                                     .n = 4,
                                     .c = 20,
                                     .h = 64,
                                     .w = 64,
                                     .k = 24,
                                     .r = 3,
                                     .s = 3,
                                     .stride_h = 1,
                                     .stride_w = 1,
                                     .pad_h = 1,
                                     .pad_w = 1,
                                     .dilation_h = 1,
                                     .dilation_w = 1,
                                     .groups = 1}};

    msim_work_count(&w);
    return w;
}

/* Ways to be another convolution. */
enum other {
    AS_IT_IS,
    OTHER_STACK,
    HALF,
    FORWARD,
    GROUPS,
    STRIDE_H,
    STRIDE_W,
    FLAT,
    LAST,
    OTHERS
};

static struct msim_work other(struct msim_work w, int how)
{
    if (how == OTHER_STACK)
        w.framework = "vllm";
    else if (how == HALF)
        w.dtype = MSIM_DT_F16;
    else if (how == FORWARD)
        w.u.conv.pass = MSIM_CONV_FORWARD;
    else if (how == GROUPS)
        w.u.conv.groups = 2;
    else if (how == STRIDE_H)
        w.u.conv.stride_h = 2;
    else if (how == STRIDE_W)
        w.u.conv.stride_w = 2;
    else if (how == FLAT)
        w.u.conv.deep = false;
    else if (how == LAST)
        w.u.conv.channels_last = true;
    return w;
}

static void test_conv_way__knows_kinds(void)
{
    struct msim_work w = gradient();

    CHECK(msim_conv_is_bare(&w));
    w.framework = "pytorch";
    CHECK(msim_conv_is_bare(&w));
    w.framework = "vllm";
    CHECK(!msim_conv_is_bare(&w));
    CHECK(!msim_conv_is_plain(a100, &w) && msim_conv_is_plain(t4, &w));
    w.variant = "";
    CHECK(msim_conv_is_plain(a100, &w));
    CHECK_REL(msim_conv_depth(&w), 1, 0);
    w.u.conv.depth = 3;
    CHECK_REL(msim_conv_depth(&w), 3, 0);
}

/* PyTorch's own, in fp32, without groups and strides, by cuDNN. */
static void test_conv_way__knows_deep_gradients(void)
{
    struct msim_work w = gradient();

    w.u.conv.deep = true;
    for (int how = 0; how < OTHERS; how++) {
        struct msim_work as = other(w, how);

        CHECK_INT(msim_conv_is_deep_gradient(a100, &as),
                  how == AS_IT_IS || how == LAST);
    }
    a100->is_host = true;
    CHECK(!msim_conv_is_deep_gradient(a100, &w));
    a100->is_host = false;
    a100->sheet.miopen = true;
    CHECK(!msim_conv_is_deep_gradient(a100, &w));
    a100->sheet.miopen = false;
}

static void check_way(const struct msim_platform *p, const struct msim_work *w,
                      bool sums, const char *name)
{
    if (!CHECK_REL(msim_conv_way_us(p, w, w),
                   sums ? msim_scatter_us(&p->sheet, w) : 0, 1e-12))
        CHECK_STR(name, "");
}

/* Strided gradients of fewer than 32 channels are added up, those in groups,
 * and those on plain units; not with channels last. */
static void test_conv_way__adds_up_strided_gradients(void)
{
    static const bool SUMS[OTHERS] = {[AS_IT_IS] = true,
                                      [GROUPS] = true,
                                      [STRIDE_H] = true,
                                      [STRIDE_W] = true,
                                      [FLAT] = true};
    struct msim_work w = other(gradient(), STRIDE_W), many = w;

    for (int how = 0; how < OTHERS; how++) {
        struct msim_work as = other(w, how);

        check_way(a100, &as, SUMS[how], "strided");
    }
    w = gradient();
    check_way(a100, &w, false, "no stride");
    many.u.conv.c = 31;
    check_way(a100, &many, true, "31 channels");
    many.u.conv.c = 32;
    check_way(a100, &many, false, "32 channels");
    many.u.conv.groups = 2; /* 16 each */
    check_way(a100, &many, true, "in groups");
    many.u.conv.c = 128;
    check_way(a100, &many, true, "of 64 in groups");
    many.u.conv.groups = 1;
    many.variant = "";
    check_way(a100, &many, true, "on plain units");
    check_way(t4, &many, true, "without others");
    a100->is_host = true;
    check_way(a100, &many, false, "on a CPU");
    a100->is_host = false;
    many.family = MSIM_FAMILY_GEMM;
    check_way(a100, &many, false, "a product");
}

/* MIOpen adds up three dimensions, and groups with strides. */
static void test_conv_way__adds_up_by_miopen(void)
{
    struct msim_work w = gradient(), strided = other(w, STRIDE_H);

    a100->sheet.miopen = true;
    check_way(a100, &w, false, "flat");
    check_way(a100, &strided, false, "strided");
    strided.u.conv.groups = 2;
    check_way(a100, &strided, true, "strided in groups");
    w.u.conv.groups = 2;
    check_way(a100, &w, false, "in groups");
    w.u.conv.groups = 1;
    w.u.conv.deep = true;
    check_way(a100, &w, true, "deep");
    a100->sheet.miopen = false;
}

/* Of three dimensions without strides where a version does so, from 64
 * channels on. */
static void test_conv_way__adds_up_deep_gradients(void)
{
    struct msim_work w = gradient();

    w.u.conv.deep = true;
    w.u.conv.c = 64;
    a6000->sheet.pytorch = 2.5;
    check_way(a6000, &w, true, "64 channels");
    check_way(a100, &w, false, "another GPU");
    w.u.conv.c = 63;
    check_way(a6000, &w, false, "63 channels");
    w.u.conv.c = 64;
    a6000->sheet.pytorch = 2.9;
    check_way(a6000, &w, false, "another version");
    a6000->sheet.pytorch = 0;
}

/* In groups, forward, on a GPU without a kernel for that: 0.8 multiplications a
 * cycle and SM. */
static void test_conv_way__multiplies_in_groups(void)
{
    struct msim_work w = other(other(gradient(), FORWARD), GROUPS);
    double us = w.flops / 2 * 1e6 / (0.8 * t4->sheet.sms * t4->sheet.clock_hz);

    CHECK_REL(msim_conv_way_us(t4, &w, &w), us, 1e-12);
    CHECK_REL(msim_conv_way_us(a100, &w, &w), 0, 0);
    for (int how = OTHER_STACK; how <= HALF; how++) {
        struct msim_work as = other(w, how);

        CHECK_REL(msim_conv_way_us(t4, &as, &as), 0, 0);
    }
    w.u.conv.groups = 1;
    CHECK_REL(msim_conv_way_us(t4, &w, &w), 0, 0);
    w.u.conv.groups = 2;
    w.u.conv.transposed = true;
    CHECK(msim_conv_way_us(t4, &w, &w) != us);
    w.u.conv.transposed = false;
    w.u.conv.pass = MSIM_CONV_BACKWARD_WEIGHT;
    CHECK_REL(msim_conv_way_us(t4, &w, &w), 0, 0);
}

/* Tiles of 64 channels in the plane, of 128 with three dimensions, there of
 * sums of 32 channels of each of the taps: 20 of 64, 20 of 128 and 24 of 32. */
static void test_conv_way__fills_tiles(void)
{
    static const bool FILLS[OTHERS] = {
        [AS_IT_IS] = true, [FLAT] = true, [LAST] = true};
    struct msim_work w = gradient();

    for (int how = 0; how < OTHERS; how++) {
        struct msim_work as = other(w, how);
        struct msim_conv_shape s;
        double fill;

        msim_conv_shape_of(&as, &s);
        fill = msim_conv_way_fill(a100, &as, &s);
        CHECK_REL(fill, FILLS[how] ? 64.0 / 20 : 1, 1e-12);
        if (FILLS[how])
            CHECK_REL(s.c, 64, 0);
    }
    for (int what = 0; what < 4; what++) {
        struct msim_conv_shape s;

        w = gradient();
        w.variant = what == 2 ? "" : "tf32";
        a100->is_host = what == 0;
        a100->sheet.miopen = what == 1;
        w.u.conv.deep = what == 3;
        msim_conv_shape_of(&w, &s);
        CHECK_REL(msim_conv_way_fill(a100, &w, &s),
                  what == 3 ? 128.0 / 20 * 32 / 24 : 1, 1e-12);
        CHECK_REL(s.k, what == 3 ? 32 : 24, 0);
        a100->is_host = a100->sheet.miopen = false;
    }
    /* a transposed one sums over the third dimension's taps, too: 3 of 8 */
    w = gradient();
    w.u.conv.pass = MSIM_CONV_FORWARD;
    w.u.conv.transposed = w.u.conv.deep = true;
    w.u.conv.depth = 3;
    {
        struct msim_conv_shape s;

        msim_conv_shape_of(&w, &s);
        if (CHECK_INT(s.pass, MSIM_CONV_BACKWARD_DATA)) {
            double c = s.c, k = s.k;

            CHECK_REL(msim_conv_way_fill(a100, &w, &s),
                      ceil(c / 128) * 128 / c * ceil(k / 3 / 32) * 32 * 3 / k,
                      1e-12);
        }
    }
}

/* Three dimensions over the product. */
static void test_conv_way__takes_longer_deep(void)
{
    struct msim_work w = gradient(), as;
    struct msim_conv_shape s;
    double shorter;

    CHECK_REL(msim_conv_deep_factor(t4, &w), 1, 0); /* two of them */
    w.u.conv.deep = true;
    CHECK_REL(msim_conv_deep_factor(a100, &w), 1, 0);
    /* strided on tensor cores 0.85, on plain units their product */
    as = other(w, STRIDE_H);
    CHECK_REL(msim_conv_deep_factor(a100, &as), 0.85, 0);
    as.variant = "";
    CHECK_REL(msim_conv_deep_factor(a100, &as), 1, 0);
    as = other(as, OTHER_STACK);
    CHECK_REL(msim_conv_deep_factor(a100, &as), 1, 0);
    /* of Hopper by PyTorch 2.9 a kernel of its own, for gradients alone */
    h100->sheet.pytorch = 2.9;
    CHECK_REL(msim_conv_deep_factor(h100, &w), 2.9, 0);
    as = other(w, FORWARD);
    CHECK_REL(msim_conv_deep_factor(h100, &as), 1, 0);
    h100->sheet.pytorch = 0;
    /* on plain units: a gradient 1.5, a sum of 81 terms three times as long, of
     * more terms less, from 16 channels on more, and no less than a product */
    CHECK_REL(msim_conv_deep_factor(t4, &w), 1.5, 0);
    as = other(w, FORWARD);
    msim_conv_shape_of(&as, &s);
    shorter = 81 / (s.c * s.r * s.s);
    CHECK_REL(msim_conv_deep_factor(t4, &as),
              fmax(1, 3 * pow(shorter, 0.8) * pow(24.0 / 16, 0.38)), 1e-12);
    as.u.conv.c = 9;
    CHECK_REL(msim_conv_deep_factor(t4, &as), 3 * pow(24.0 / 16, 0.38), 1e-12);
    as.u.conv.k = 8;
    CHECK_REL(msim_conv_deep_factor(t4, &as), 3, 1e-12);
    as.u.conv.c = 900;
    CHECK_REL(msim_conv_deep_factor(t4, &as), 1, 1e-12);
    /* with TF32 about, no more for more channels */
    as = other(w, FORWARD);
    as.variant = "";
    as.u.conv.c = 9;
    CHECK_REL(msim_conv_deep_factor(a100, &as), 3, 1e-12);
    /* where half of the units compute integers, too, long sums: a fourth root
     * over 81 terms, and no less than 2.5 */
    CHECK_REL(msim_conv_deep_factor(a6000, &as), 2.5, 1e-12);
    as.u.conv.c = 90;
    CHECK_REL(msim_conv_deep_factor(a6000, &as), 2.5 * pow(10, 0.25), 1e-12);
    as.u.conv.c = 1;
    CHECK_REL(msim_conv_deep_factor(a6000, &as), 2.5, 1e-12);
    a6000->is_host = true;
    CHECK_REL(msim_conv_deep_factor(a6000, &as), 1, 0);
    a6000->is_host = false;
    a6000->sheet.miopen = true;
    CHECK_REL(msim_conv_deep_factor(a6000, &as), 1, 0);
    a6000->sheet.miopen = false;
}

static void test_conv_way__a_filter_a_channel(void)
{
    struct msim_work w = other(gradient(), FORWARD);

    w.u.conv.c = w.u.conv.k = w.u.conv.groups = 32;
    CHECK_REL(msim_conv_depthwise_us(a100, &w),
              msim_sm_pace_depthwise_us(&a100->sheet, &w), 0);
    a100->sheet.miopen = true;
    CHECK_REL(msim_conv_depthwise_us(a100, &w),
              msim_sm_pace_naive_us(&a100->sheet, &w), 0);
    a100->sheet.miopen = false;
}

/* ---- joined to a product's time ------------------------------------------ */

static const struct msim_estimate PRODUCT = {
    .us = 100, .low_us = 90, .high_us = 110, .start_us = 5};

/* The longer of sums and product; where nobody names a version the interval has
 * both, and what another takes. */
static void test_conv_way__joins(void)
{
    struct msim_work w = other(gradient(), STRIDE_H);
    struct msim_estimate e = PRODUCT, want = PRODUCT;

    msim_conv_way_join(a100, &w, &w, &e);
    msim_pace_join(msim_scatter_us(&a100->sheet, &w), &want);
    CHECK_REL(e.us, want.us, 1e-12);
    CHECK_REL(e.low_us, want.low_us, 1e-12);
    CHECK_REL(e.high_us, want.high_us, 1e-12);
    /* deep, added up, of no version that is named: down to the product */
    w = gradient();
    w.u.conv.deep = true;
    w.u.conv.c = 64;
    e = want = PRODUCT;
    CHECK_REL(a6000->sheet.pytorch, 0, 0);
    msim_conv_way_join(a6000, &w, &w, &e);
    msim_pace_join(msim_scatter_us(&a6000->sheet, &w), &want);
    CHECK_REL(e.us, want.us, 1e-12);
    CHECK_REL(e.low_us, fmin(want.low_us, 100), 1e-12);
    CHECK_REL(e.high_us, fmax(want.high_us, want.us), 1e-12);
    /* of Hopper, where versions differ by four */
    e = PRODUCT;
    msim_conv_way_join(h100, &w, &w, &e);
    CHECK_REL(e.us, 100, 1e-12);
    CHECK_REL(e.low_us, 90, 1e-12);
    CHECK_REL(e.high_us, 400, 1e-12);
    h100->sheet.pytorch = 2.5;
    e = PRODUCT;
    msim_conv_way_join(h100, &w, &w, &e);
    CHECK_REL(e.high_us, 110, 1e-12);
    h100->sheet.pytorch = 0;
}

/* MIOpen copies an image into columns where there is a third dimension, of
 * forward passes that are not transposed. */
static void test_conv_way__copies_columns(void)
{
    struct msim_work w = other(gradient(), FORWARD);

    w.u.conv.deep = true;
    a100->sheet.miopen = true;
    for (int how = 0; how < 6; how++) {
        struct msim_work as = w;
        struct msim_estimate e = PRODUCT, want = PRODUCT;

        a100->is_host = how == 1;
        as.framework = how == 2 ? "vllm" : NULL;
        as.u.conv.deep = how != 3;
        as.u.conv.transposed = how == 4;
        a100->sheet.miopen = how != 5;
        msim_pace_join(msim_conv_way_us(a100, &as, &as), &want);
        if (how == 0)
            msim_pace_add(msim_columns_us(&a100->sheet, &as), &want);
        msim_conv_way_join(a100, &as, &as, &e);
        CHECK_REL(e.us, want.us, 1e-12);
        CHECK_REL(e.high_us, want.high_us, 1e-12);
        a100->is_host = false;
    }
    a100->sheet.miopen = false;
}

static char *explained(const struct msim_platform *p, const struct msim_work *w)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    msim_conv_way_explain(p, w, w, out);
    fclose(out);
    return text;
}

static void check_explained(const struct msim_platform *p,
                            const struct msim_work *w, const char *want)
{
    char *text = explained(p, w);

    CHECK_STR(text, want);
    free(text);
}

static void test_conv_way__explains(void)
{
    struct msim_work w = gradient();
    char want[160];

    check_explained(a100, &w, "");
    w = other(w, STRIDE_H);
    snprintf(want, sizeof(want),
             "sums: %.4g us, added up in memory tap by tap\n",
             msim_scatter_us(&a100->sheet, &w));
    check_explained(a100, &w, want);
    w = other(other(gradient(), FORWARD), GROUPS);
    snprintf(want, sizeof(want),
             "groups: %.4g us, one multiplication after the other\n",
             msim_conv_way_us(t4, &w, &w));
    check_explained(t4, &w, want);
    w = gradient();
    w.u.conv.deep = true;
    check_explained(t4, &w, "times: 1.5, for three spatial dimensions\n");
    w.u.conv.pass = MSIM_CONV_FORWARD;
    a100->sheet.miopen = true;
    snprintf(want, sizeof(want),
             "columns: %.4g us, of the image, for each "
             "tap\n",
             msim_columns_us(&a100->sheet, &w));
    check_explained(a100, &w, want);
    a100->sheet.miopen = false;
}

int main(void)
{
    if (!CHECK_INT(msim_platform_load(&a100, MSIM_DATA, "a100", NULL),
                   MSIM_OK) ||
        !CHECK_INT(msim_platform_load(&t4, MSIM_DATA, "t4", NULL), MSIM_OK) ||
        !CHECK_INT(msim_platform_load(&a6000, MSIM_DATA, "rtx-a6000", NULL),
                   MSIM_OK) ||
        !CHECK_INT(msim_platform_load(&h100, MSIM_DATA, "h100", NULL), MSIM_OK))
        return check_summary();
    RUN(test_conv_way__knows_kinds);
    RUN(test_conv_way__knows_deep_gradients);
    RUN(test_conv_way__adds_up_strided_gradients);
    RUN(test_conv_way__adds_up_by_miopen);
    RUN(test_conv_way__adds_up_deep_gradients);
    RUN(test_conv_way__multiplies_in_groups);
    RUN(test_conv_way__fills_tiles);
    RUN(test_conv_way__takes_longer_deep);
    RUN(test_conv_way__a_filter_a_channel);
    RUN(test_conv_way__joins);
    RUN(test_conv_way__copies_columns);
    RUN(test_conv_way__explains);
    msim_platform_free(a100);
    msim_platform_free(t4);
    msim_platform_free(a6000);
    msim_platform_free(h100);
    return check_summary();
}
