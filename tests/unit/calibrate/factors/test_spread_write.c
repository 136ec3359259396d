/*
 * calibrate/factors/spread_write.c: which GPUs are said to have programs in
 * half precision.
 */
#include "calibrate/factors/factor_fit.h"
#include "tests/check.h"

/* In this order, so that none is marked for what another one has. */
enum { PRODUCTS, FULL, CONVOLUTIONS, PLATFORMS };

static bool is_marked(const cJSON *json, const char *name)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(json, "platforms");
    const cJSON *one = cJSON_GetObjectItemCaseSensitive(all, name);

    CHECK(cJSON_HasObjectItem(one, "half_precision"));
    return msim_json_get_true(one, "half_precision");
}

/* Two programs each, of fp32 but for a product and a convolution. */
static void test_spread_write__half_precision(void)
{
    char names[PLATFORMS][96] = {"products", "full", "convolutions"};
    double shared[PLATFORMS] = {0};
    struct msim_spread_judged judged[2 * PLATFORMS] = {0};
    struct msim_program_sum rows[2 * PLATFORMS] = {0};
    const struct msim_program_sums sums = {
        .rows = rows, .n = 2 * PLATFORMS, .platforms = {names, PLATFORMS, 0}};
    const struct msim_spread_fit fit = {.shared = shared, .rows = judged};
    cJSON *json = cJSON_CreateObject();
    cJSON *all = cJSON_AddObjectToObject(json, "platforms");

    for (uint32_t i = 0; i < 2 * PLATFORMS; i++) {
        rows[i].platform = i / 2;
        rows[i].kind[MSIM_FACTOR_GEMM_FULL] = 100;
    }
    rows[2 * PRODUCTS + 1].kind[MSIM_FACTOR_GEMM_HALF] = 1;
    rows[2 * CONVOLUTIONS].kind[MSIM_FACTOR_CONV_HALF] = 1;
    for (int p = 0; p < PLATFORMS; p++)
        cJSON_AddObjectToObject(all, names[p]);
    CHECK_INT(msim_spread_write(json, &sums, &fit), MSIM_OK);
    CHECK(is_marked(json, "products"));
    CHECK(!is_marked(json, "full"));
    CHECK(is_marked(json, "convolutions"));
    cJSON_Delete(json);
}

int main(void)
{
    RUN(test_spread_write__half_precision);
    return check_summary();
}
