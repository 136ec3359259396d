/* One pass of an encoder or a vision model by batch. */
#include "models/platform/platform.h"
#include "plan/describe/describe.h"
#include "serving/llm/model_pass.h"
#include "tests/check.h"

static struct msim_error err;
static struct msim_platform *h100;

static struct msim_model_pass *pass_of(struct msim_described *m,
                                       const char *name)
{
    struct msim_model_pass *pass = NULL;

    CHECK(msim_described_find(m, name, MSIM_DATA, NULL, &err) == MSIM_OK);
    CHECK(msim_model_pass_new(&pass, m, h100, &err) == MSIM_OK);
    return pass;
}

/*
 * BERT-large at 32 x 512 tokens: 2 x 302 M weights x 16,384 tokens = 9.9
 * TFLOP, with attention 10.7: 11 ms at the H100's 989 TFLOP/s, and kernels
 * reach 40 to 80 % of that.
 */
static void test_model_pass__of_bert_large(void)
{
    struct msim_described m;
    struct msim_model_pass *pass = pass_of(&m, "bert-large");
    double us;

    REQUIRE(pass);
    us = msim_model_pass_us(pass, 32, 512);
    CHECK(us > 11000 / 0.8 && us < 11000 / 0.4);
    CHECK(msim_model_pass_us(pass, 33, 512) > us);
    CHECK(msim_model_pass_us(pass, 32, 500) < us);
    /* a batch costs less than its parts */
    CHECK(32 * msim_model_pass_us(pass, 1, 512) > us);
    msim_model_pass_free(pass);
}

static void test_model_pass__images_have_their_own_tokens(void)
{
    struct msim_described m;
    struct msim_model_pass *pass = pass_of(&m, "vit-b-16");

    REQUIRE(pass);
    CHECK(msim_model_pass_us(pass, 8, 10) == msim_model_pass_us(pass, 8, 999));
    msim_model_pass_free(pass);
}

static void test_model_pass__a_recorded_pass_corrects_all(void)
{
    struct msim_described m;
    struct msim_model_pass *pass = pass_of(&m, "bert-base");
    double one, many, half;

    REQUIRE(pass);
    one = msim_model_pass_us(pass, 1, 128);
    many = msim_model_pass_us(pass, 24, 300);
    half = msim_model_pass_half(pass);
    msim_model_pass_measured(pass, 1, 128, 2 * one);
    CHECK_REL(msim_model_pass_us(pass, 24, 300), 2 * many, 1e-12);
    CHECK(msim_model_pass_half(pass) < half);
    msim_model_pass_measured(pass, 1, 128, 0);
    CHECK_REL(msim_model_pass_us(pass, 24, 300), 2 * many, 1e-12);
    msim_model_pass_free(pass);
}

static void test_model_pass__refuses_tables(void)
{
    struct msim_model_pass *pass;
    struct msim_described m;

    REQUIRE(msim_described_find(&m, "dlrm-mlperf", MSIM_DATA, NULL, &err) ==
            MSIM_OK);
    CHECK(msim_model_pass_new(&pass, &m, h100, &err) == MSIM_EUSAGE);
    CHECK(!pass);
}

int main(void)
{
    if (msim_platform_load(&h100, MSIM_DATA, "h100", &err) != MSIM_OK)
        return 1;
    RUN(test_model_pass__of_bert_large);
    RUN(test_model_pass__images_have_their_own_tokens);
    RUN(test_model_pass__a_recorded_pass_corrects_all);
    RUN(test_model_pass__refuses_tables);
    msim_platform_free(h100);
    return check_summary();
}
