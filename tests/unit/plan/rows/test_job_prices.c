/* plan/rows/job_prices.c: rows of jobs are priced on the platform they name, by
 * the terms of their completed strategy; and why they are not. */
#include "models/platform/platform.h"
#include "plan/describe/describe.h"
#include "plan/rows/job_rows.h"
#include "tests/check.h"

static struct msim_error err;
static struct msim_described llama;
static struct msim_job_prices prices = {.data_dir = MSIM_DATA};
static struct msim_job_row row;
static struct msim_job_priced out;

/* Two GPUs, a batch of two; the platform as the row names it. */
static const char *price(const char *own, const char *usual)
{
    row.platform = own;
    CHECK_INT(msim_job_price(&prices, &row, usual, &out), MSIM_OK);
    return row.reason;
}

static void begin(void)
{
    memset(&out, 0, sizeof(out));
    snprintf(out.defaults, sizeof(out.defaults), "%s", "old");
    row = (struct msim_job_row){
        .model = &llama,
        .strategy = {.gpus = 2, .nodes = 1, .sequence = 512},
        .given = 1ULL << MSIM_GIVEN_gpus | 1ULL << MSIM_GIVEN_nodes |
                 1ULL << MSIM_GIVEN_sequence};
}

/* The terms of the same strategy, made here. */
static void check_terms(const char *on)
{
    struct msim_platform *p;
    struct msim_pricer pricer = {0};
    struct msim_terms want;

    REQUIRE(msim_platform_load(&p, MSIM_DATA, on, &err) == MSIM_OK);
    pricer.platform = p;
    CHECK_INT(msim_terms_make(&want, &pricer, row.model, &row.strategy, &err),
              MSIM_OK);
    CHECK(memcmp(&want, &out.terms, sizeof(want)) == 0);
    CHECK_STR(msim_platform_name(out.on), on);
    CHECK_REL(out.gpu.usable, msim_platform_usable_bytes(p), 0);
    CHECK_REL(out.gpu.link, msim_platform_link_rate(p), 0);
    msim_pricer_release(&pricer);
    msim_platform_free(p);
}

/* Each platform is loaded once; a row's own is meant first. */
static void test_job_prices__on_platforms(void)
{
    const struct msim_platform *h100;

    begin();
    CHECK_STR(price("h100", "a100"), "");
    CHECK_INT(row.strategy.dp, 2); /* completed */
    CHECK(strstr(out.defaults, "tp=1") != NULL);
    check_terms("h100");
    h100 = out.on;
    begin();
    CHECK_STR(price(NULL, "a100"), "");
    check_terms("a100");
    CHECK_INT(prices.n, 2);
    begin();
    CHECK_STR(price(NULL, "h100"), "");
    CHECK(out.on == h100);
    CHECK_INT(prices.n, 2);
}

/* A network that the row names joins its nodes; each pair is loaded once. */
static void test_job_prices__over_networks(void)
{
    static const char *const NETWORKS[] = {NULL, "ethernet-100", NULL};
    uint32_t before = prices.n;
    double us[3];

    for (int i = 0; i < 3; i++) {
        begin();
        row.strategy.nodes = 2;
        row.network = NETWORKS[i];
        CHECK_STR(price("h100", NULL), "");
        us[i] = out.terms.sum_us;
    }
    CHECK(us[1] > 2 * us[0]);
    CHECK_REL(us[2], us[0], 0);
    CHECK_INT(prices.n, before + 1);
    begin();
    row.network = "ethernet-1";
    CHECK(strstr(price("h100", NULL), "'ethernet-1'") != NULL);
    CHECK(!out.on);
    CHECK_INT(prices.n, before + 2);
}

/* Megatron-LM's vocabularies are whole multiples of 128 on each tensor parallel
 * rank; not those of rows of one node, nor of models that are named. */
static void test_job_prices__pad_vocabularies(void)
{
    for (int i = 0; i < 3; i++) {
        begin();
        row.by_numbers = llama;
        row.by_numbers.vocab = 50257;
        if (i < 2)
            row.model = &row.by_numbers;
        row.strategy.gpus = 16;
        row.strategy.nodes = i == 1 ? 1 : 2;
        row.strategy.tp = 2;
        row.given |= 1ULL << MSIM_GIVEN_tp;
        CHECK_STR(price("h100", NULL), "");
        CHECK_INT(row.by_numbers.vocab, i == 0 ? 197 * 256 : 50257);
        check_terms("h100");
    }
    begin();
    row.by_numbers = llama;
    row.by_numbers.vocab = 512; /* it is one */
    row.model = &row.by_numbers;
    row.strategy.gpus = row.strategy.nodes = 2;
    CHECK_STR(price("h100", NULL), "");
    CHECK_INT(row.by_numbers.vocab, 512);
    row.by_numbers.vocab = 513; /* one beyond */
    CHECK_STR(price("h100", NULL), "");
    CHECK_INT(row.by_numbers.vocab, 640);
}

static void test_job_prices__refuse(void)
{
    struct msim_described dlrm = {.type = MSIM_MODEL_DLRM, .name = "rm"};

    begin();
    snprintf(row.reason, sizeof(row.reason), "%s", "no such model");
    CHECK_STR(price("h100", NULL), "no such model");
    CHECK_STR(out.defaults, "");
    CHECK(!out.on);
    begin();
    CHECK_STR(price(NULL, NULL),
              "no platform: want a column 'platform' or --platform");
    for (int i = 0; i < 2; i++) { /* also where it was asked for before */
        begin();
        CHECK(strstr(price("h1", NULL), "'h1'") != NULL);
        CHECK(!out.on);
    }
    CHECK_INT(prices.n, 5);
    begin();
    row.model = &dlrm;
    CHECK_STR(price("h100", NULL),
              "model 'rm' is a dlrm: want a transformer (synth writes traces "
              "of a dlrm, and predict takes them)");
    begin();
    row.strategy.tp = 3;
    row.given |= 1ULL << MSIM_GIVEN_tp;
    CHECK_STR(price("h100", NULL), "gpus 2 cannot be split by tp x pp x cp 3");
    begin(); /* nothing multiplies in 8 bits there */
    row.strategy.precision = MSIM_PRECISION_FP8;
    row.given |= 1ULL << MSIM_GIVEN_precision;
    CHECK_STR(price("a100", NULL), "fp8 is not supported on a100");
}

int main(void)
{
    if (msim_described_find(&llama, "llama3-8b", MSIM_DATA, NULL, &err) !=
        MSIM_OK)
        return 1;
    RUN(test_job_prices__on_platforms);
    RUN(test_job_prices__over_networks);
    RUN(test_job_prices__pad_vocabularies);
    RUN(test_job_prices__refuse);
    msim_job_prices_release(&prices);
    CHECK(!prices.platforms);
    CHECK_INT(prices.n, 0);
    return check_summary();
}
