/* One pass of an encoder or a vision model by batch. */
#include "models/platform/platform.h"
#include "plan/describe/describe.h"
#include "serving/llm/llm_law.h"
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

static void test_model_pass__all_times_are_corrected(void)
{
    struct msim_described m;
    struct msim_model_pass *pass = pass_of(&m, "bert-base");
    double many;

    REQUIRE(pass);
    many = msim_model_pass_us(pass, 24, 300);
    msim_model_pass_correct(pass, 2);
    CHECK_REL(msim_model_pass_us(pass, 24, 300), 2 * many, 1e-12);
    msim_model_pass_correct(pass, 1.5);
    CHECK_REL(msim_model_pass_us(pass, 24, 300), 3 * many, 1e-12);
    msim_model_pass_free(pass);
}

/* Whoever prices 100 us an input and 1 a token; from 64 tokens on they are no
 * more. */
static enum msim_status price_tokens(double *us, void *ctx, double batch,
                                     double tokens, struct msim_error *e)
{
    (void)e;
    ++*(int *)ctx;
    *us = batch * (100 + tokens);
    return tokens > 64 ? MSIM_EUSAGE : MSIM_OK;
}

static void test_model_pass__priced_by_another(void)
{
    struct msim_model_pass *pass;
    int asked = 0;

    CHECK_INT(msim_model_pass_of(&pass, price_tokens, &asked, 33, &err),
              MSIM_OK);
    CHECK_INT(asked, 1);
    CHECK(msim_model_pass_has_tokens(pass));
    CHECK_REL(msim_model_pass_us(pass, 4, 32), 528, 1e-12);
    msim_model_pass_free(pass);
    CHECK_INT(msim_model_pass_of(&pass, price_tokens, &asked, 65, &err),
              MSIM_EUSAGE);
    CHECK(!pass);
    CHECK_INT(msim_model_pass_of(&pass, price_tokens, &asked, 0, &err),
              MSIM_OK);
    CHECK(!msim_model_pass_has_tokens(pass));
    CHECK(msim_model_pass_us(pass, 2, 1) == msim_model_pass_us(pass, 2, 50));
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
    RUN(test_model_pass__all_times_are_corrected);
    RUN(test_model_pass__priced_by_another);
    RUN(test_model_pass__refuses_tables);
    msim_platform_free(h100);
    return check_summary();
}
