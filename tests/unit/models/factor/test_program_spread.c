/*
 * models/factor/program_spread.c: which kind a work is of, and whose widths
 * count.
 */
#include "models/factor/program_factors.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

static void check_gemm(int64_t m, int64_t n, int64_t k, enum msim_dtype dtype,
                       enum msim_spread want)
{
    struct msim_work w = {.family = MSIM_FAMILY_GEMM, .dtype = dtype};

    w.u.gemm.m = m;
    w.u.gemm.n = n;
    w.u.gemm.k = k;
    CHECK_INT(msim_spread_of(&w), want);
}

static void test_program_spread__products(void)
{
    check_gemm(32, 32, 32, MSIM_DT_F32, MSIM_SPREAD_GEMM_FULL);
    check_gemm(31, 64, 64, MSIM_DT_F32, MSIM_SPREAD_GEMM_THIN);
    check_gemm(64, 31, 64, MSIM_DT_F32, MSIM_SPREAD_GEMM_THIN);
    check_gemm(64, 64, 31, MSIM_DT_F32, MSIM_SPREAD_GEMM_THIN);
    check_gemm(66, 64, 64, MSIM_DT_F32, MSIM_SPREAD_GEMM_ODD);
    check_gemm(64, 66, 64, MSIM_DT_F32, MSIM_SPREAD_GEMM_ODD);
    check_gemm(64, 64, 66, MSIM_DT_F32, MSIM_SPREAD_GEMM_ODD);
    check_gemm(68, 68, 68, MSIM_DT_F32, MSIM_SPREAD_GEMM_FULL);
    check_gemm(31, 64, 66, MSIM_DT_F16, MSIM_SPREAD_GEMM_HALF);
}

/* A convolution that is plain but for what a case changes. */
static struct msim_work conv_of(int64_t channels, int64_t r, int64_t s)
{
    struct msim_work w = {.family = MSIM_FAMILY_CONV, .dtype = MSIM_DT_F32};

    w.u.conv.c = channels;
    w.u.conv.r = r;
    w.u.conv.s = s;
    w.u.conv.groups = w.u.conv.dilation_h = w.u.conv.dilation_w = 1;
    return w;
}

static void test_program_spread__convolutions(void)
{
    struct msim_work w = conv_of(64, 3, 3);

    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_CONV_FULL);
    w.dtype = MSIM_DT_F16;
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_CONV_HALF);
    w.u.conv.groups = 2;
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_CONV_ODD);
    w.u.conv.groups = w.u.conv.c;
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_DEPTHWISE);
    w = conv_of(4, 7, 7);
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_CONV_FEW);
    w = conv_of(64, 3, 5);
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_CONV_ODD);
    w = conv_of(5, 7, 7);
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_CONV_FULL);
    w = conv_of(64, 8, 8);
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_CONV_ODD);
    w = conv_of(64, 3, 3);
    w.u.conv.groups = 2;
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_CONV_ODD);
    w = conv_of(64, 3, 3);
    w.u.conv.dilation_h = 2;
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_CONV_ODD);
    w = conv_of(64, 3, 3);
    w.u.conv.dilation_w = 2;
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_CONV_ODD);
    w.u.conv.pass = MSIM_CONV_BACKWARD_WEIGHT;
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_COUNT);
}

static void test_program_spread__deep_and_transposed(void)
{
    struct msim_work w = conv_of(64, 3, 3);

    w.u.conv.deep = true;
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_CONV_DEEP);
    w.u.conv.transposed = true;
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_TRANSPOSED_DEEP);
    w.u.conv.deep = false;
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_TRANSPOSED);
    w.u.conv.groups = 2;
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_TRANSPOSED_GROUPS);
}

static void test_program_spread__others(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_REDUCTION};

    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_REDUCTION);
    w.u.vector.taps = 1;
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_POOL);
    w = (struct msim_work){.family = MSIM_FAMILY_EMBEDDING};
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_REDUCTION);
    w = (struct msim_work){.family = MSIM_FAMILY_SOFTMAX};
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_SOFTMAX);
    w = (struct msim_work){.family = MSIM_FAMILY_POINTWISE};
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_VECTOR);
    w.repeats = 1;
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_VECTOR);
    w.repeats = 2;
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_RECURRENT);
    w = (struct msim_work){.family = MSIM_FAMILY_COLLECTIVE};
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_COUNT);
    w = (struct msim_work){.family = MSIM_FAMILY_ATTENTION};
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_ATTENTION);
    w.u.attention.backward = true;
    CHECK_INT(msim_spread_of(&w), MSIM_SPREAD_COUNT);
}

/* A file with all kinds: `slower` 0.5, and of the first `faster`. */
static char *text_of(const char *faster, const char *platforms)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);

    fprintf(f, "{\"platforms\":{%s},\"spread\":{\"others\":0.3,\"kinds\":{",
            platforms);
    for (int k = 0; k < MSIM_SPREAD_COUNT; k++)
        fprintf(f, "%s\"%s\":{\"slower\":0.5,\"faster\":%s}", k ? "," : "",
                msim_spread_text((enum msim_spread)k), k ? "0.1" : faster);
    fputs("}}}", f);
    fclose(f);
    return text;
}

static enum msim_status read_text(struct msim_program_spread *s, char *text,
                                  const char *name, struct msim_error *err)
{
    cJSON *json = cJSON_Parse(text);
    enum msim_status status =
        msim_program_spread_read(s, json, "a file", name, err);

    cJSON_Delete(json);
    free(text);
    return status;
}

static void test_program_spread__whose(void)
{
    struct msim_program_spread s;

    CHECK_INT(
        read_text(&s, text_of("0.2", "\"one\":{\"shared\":0.1}"), "one", NULL),
        MSIM_OK);
    CHECK(s.known);
    CHECK_REL(s.shared, 0.1, 1e-12);
    CHECK_REL(s.kind[0].slower, 0.5, 1e-12);
    CHECK_REL(s.kind[0].faster, 0.2, 1e-12);
    CHECK_INT(
        read_text(&s, text_of("0.2", "\"one\":{\"shared\":0.1}"), "two", NULL),
        MSIM_OK);
    CHECK_REL(s.shared, 0.3, 1e-12);
    CHECK_REL(s.half, 0, 0);
}

/* Without programs in half precision, these are as on a GPU without any: 0.3
 * of 0.1 and sqrt(0.08). A GPU that does not say so has none. */
static void test_program_spread__half(void)
{
    struct msim_program_spread s;

    CHECK_INT(read_text(&s,
                        text_of("0.2", "\"one\":{\"shared\":0.1,"
                                       "\"half_precision\":false}"),
                        "one", NULL),
              MSIM_OK);
    CHECK_REL(s.half, sqrt(0.08), 1e-12);
    CHECK_INT(
        read_text(&s, text_of("0.2", "\"one\":{\"shared\":0.1}"), "one", NULL),
        MSIM_OK);
    CHECK_REL(s.half, sqrt(0.08), 1e-12);
    CHECK_INT(read_text(&s,
                        text_of("0.2", "\"one\":{\"shared\":0.1,"
                                       "\"half_precision\":true}"),
                        "one", NULL),
              MSIM_OK);
    CHECK_REL(s.half, 0, 0);
    CHECK_INT(
        read_text(&s, text_of("0.2", "\"one\":{\"shared\":0.4}"), "one", NULL),
        MSIM_OK);
    CHECK_REL(s.half, 0, 0); /* what it has by itself is more */
}

static void test_program_spread__files(void)
{
    struct msim_program_spread s;
    struct msim_error err = {0};

    CHECK_INT(msim_program_spread_read(&s, NULL, "none", "one", &err), MSIM_OK);
    CHECK(!s.known);
    CHECK_INT(read_text(&s, strdup("{\"platforms\":{}}"), "one", &err),
              MSIM_OK);
    CHECK(!s.known);
    CHECK_INT(read_text(&s, text_of("0.2", "\"one\":{}"), "one", &err),
              MSIM_EFORMAT);
    CHECK(strstr(err.text, "'shared' of 'one'"));
    err = (struct msim_error){0};
    CHECK_INT(read_text(&s, text_of("-1", ""), "one", &err), MSIM_EFORMAT);
    CHECK(strstr(err.text, "'spread.kinds.gemm_full'"));
    CHECK(strstr(err.text, "from 0 to 5"));
    CHECK_INT(read_text(&s, text_of("5", ""), "one", &err), MSIM_OK);
    CHECK_INT(read_text(&s, text_of("5.1", ""), "one", &err), MSIM_EFORMAT);
    CHECK_INT(
        read_text(&s, text_of("1", "\"one\":{\"shared\":5.1}"), "one", &err),
        MSIM_EFORMAT);
}

int main(void)
{
    RUN(test_program_spread__products);
    RUN(test_program_spread__convolutions);
    RUN(test_program_spread__deep_and_transposed);
    RUN(test_program_spread__others);
    RUN(test_program_spread__whose);
    RUN(test_program_spread__half);
    RUN(test_program_spread__files);
    return check_summary();
}
