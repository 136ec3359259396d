/*
 * predict/op/op_table.c and op_rows.c: a table of operators, answered row by
 * row as models answer one.
 */
#include "predict/op/op_table.h"

#include "core/base/json.h"
#include "models/estimate/model.h"
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

#define PATH "op_table_test.csv"

/* The answer to `table`, which the caller frees; NULL where it is refused. */
static char *answer(const char *table, bool json,
                    struct msim_guard_count *count, struct msim_error *err)
{
    struct msim_platform *p;
    FILE *in = fopen(PATH, "w"), *out;
    char *text = NULL;
    size_t size;
    enum msim_status status;

    *err = (struct msim_error){0};
    *count = (struct msim_guard_count){0};
    if (!CHECK(in != NULL))
        return NULL;
    fputs(table, in);
    fclose(in);
    if (!CHECK_INT(msim_platform_load(&p, MSIM_DATA, "a100", NULL), MSIM_OK))
        return NULL;
    out = open_memstream(&text, &size);
    status = msim_op_table(p, PATH, json, out, count, err);
    fclose(out);
    unlink(PATH);
    msim_platform_free(p);
    if (status == MSIM_OK)
        return text;
    free(text);
    return NULL;
}

static struct msim_estimate product(int64_t m, int64_t n, int64_t k)
{
    struct msim_work w = {.family = MSIM_FAMILY_GEMM, .dtype = MSIM_DT_BF16};
    struct msim_estimate e = {0};
    struct msim_platform *p;

    w.u.gemm.m = m;
    w.u.gemm.n = n;
    w.u.gemm.k = k;
    w.u.gemm.batch = 1;
    w.asked = true;
    msim_work_count(&w);
    if (CHECK_INT(msim_platform_load(&p, MSIM_DATA, "a100", NULL), MSIM_OK)) {
        CHECK_INT(msim_model_predict(p, &w, false, &e, NULL), MSIM_OK);
        msim_platform_free(p);
    }
    return e;
}

/* Its own columns, as they stand, and four more. */
static void test_op_table__csv(void)
{
    struct msim_estimate e = product(4096, 2048, 512);
    struct msim_guard_count count;
    struct msim_error err;
    double us, low, high;
    char *text = answer("note,m,n,k,dtype\n\"a, b\",4096,2048,512,bfloat16\n"
                        "x,0,4096,4096,bfloat16\n",
                        false, &count, &err);
    const char *row;

    REQUIRE(text != NULL);
    CHECK(
        strstr(text, "note,m,n,k,dtype,predicted_us,low_us,high_us,model\n") ==
        text);
    row = strstr(text, "\n\"a, b\",4096,2048,512,bfloat16,");
    if (CHECK(row != NULL)) {
        char *at = strstr(row, "bfloat16,") + 9;

        us = strtod(at, &at);
        low = strtod(at + 1, &at);
        high = strtod(at + 1, &at);
        CHECK(strncmp(at, ",gemm\n", 6) == 0);
        /* as many digits as are printed */
        CHECK_REL(us, e.us, 1e-4);
        CHECK_REL(low, e.low_us, 1e-4);
        CHECK_REL(high, e.high_us, 1e-4);
    }
    CHECK(strstr(text, "\nx,0,4096,4096,bfloat16,,,,\"m is '0', want a whole "
                       "number from 1\"\n") != NULL);
    CHECK_UINT(count.answers, 1);
    CHECK_UINT(count.marked, 0);
    free(text);
}

static void test_op_table__json(void)
{
    struct msim_estimate e = product(4096, 2048, 512);
    struct msim_guard_count count;
    struct msim_error err;
    char *text = answer("m,n,k,dtype\n4096,2048,512,bfloat16\n0,1,1,fp32\n",
                        true, &count, &err);
    cJSON *json = text ? cJSON_Parse(text) : NULL;
    const cJSON *rows, *row, *input;

    REQUIRE(json != NULL);
    /* a member a line, and a row a line */
    CHECK(strstr(text, "{\n  \"schema\": \"mystique-sim/operations/1\",\n") ==
          text);
    CHECK(strstr(text, "\n  \"rows\": [\n    {\"input\": {\"m\": \"4096\", ") !=
          NULL);
    CHECK(strstr(text, "},\n    {\"input\": {\"m\": \"0\", ") != NULL);
    CHECK_STR(msim_json_get_text(json, "schema"), "mystique-sim/operations/1");
    CHECK_STR(msim_json_get_text(json, "platform"), "a100");
    CHECK(msim_json_get_text(json, "version") != NULL);
    rows = cJSON_GetObjectItemCaseSensitive(json, "rows");
    CHECK_INT(cJSON_GetArraySize(rows), 2);
    row = cJSON_GetArrayItem(rows, 0);
    input = cJSON_GetObjectItemCaseSensitive(row, "input");
    CHECK_STR(msim_json_get_text(input, "m"), "4096");
    CHECK_STR(msim_json_get_text(row, "model"), "gemm");
    CHECK_REL(msim_json_get_number(row, "predicted_us", -1), e.us, 1e-6);
    CHECK_REL(msim_json_get_number(row, "low_us", -1), e.low_us, 1e-6);
    CHECK_REL(msim_json_get_number(row, "high_us", -1), e.high_us, 1e-6);
    row = cJSON_GetArrayItem(rows, 1);
    CHECK_STR(msim_json_get_text(row, "reason"),
              "m is '0', want a whole number from 1");
    CHECK(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(row, "predicted_us")));
    row = cJSON_GetObjectItemCaseSensitive(json, "guards");
    CHECK_REL(msim_json_get_number(row, "answers", -1), 1, 0);
    cJSON_Delete(json);
    free(text);
}

/* Blocks of about a thousand rows, answered by threads: in their order, none
 * twice, none lost. */
static void test_op_table__many_rows(void)
{
    static char table[200000];
    struct msim_guard_count count;
    struct msim_error err;
    char *text, *at;
    int n = 0;

    n = snprintf(table, sizeof(table), "note,m,n,k,dtype\n");
    for (int i = 0; i < 2500; i++)
        n += snprintf(table + n, sizeof(table) - (size_t)n,
                      "r%d,%d,64,64,bfloat16\n", i, 1 + i % 7);
    n = 0;
    text = answer(table, false, &count, &err);
    REQUIRE(text != NULL);
    at = strchr(text, '\n');
    for (; at && at[1]; at = strchr(at + 1, '\n')) {
        char want[32];

        snprintf(want, sizeof(want), "r%d,%d,", n, 1 + n % 7);
        if (!CHECK(strncmp(at + 1, want, strlen(want)) == 0))
            break;
        n++;
    }
    CHECK_INT(n, 2500);
    CHECK_UINT(count.answers, 2500);
    free(text);
}

/* Names that are not known say so, with the nearest one, whatever row named one
 * before; no library runs fp8 on this GPU. */
static void test_op_table__reasons(void)
{
    static const char *const WANT[] = {
        "\nfoo,fp32,64,,,,op 'foo' is not known\n",
        "\nsofmax,fp32,64,,,,\"op 'sofmax' is not known, did you mean "
        "'softmax'?\"\n",
        "\nsofmax,fp32,128,,,,\"op 'sofmax' is not known, did you mean "
        "'softmax'?\"\n",
        "\nzzzzzz,fp32,64,,,,op 'zzzzzz' is not known\n"};
    struct msim_guard_count count;
    struct msim_error err;
    char *text = answer("op,dtype,shape\nrelu,fp32,64\nfoo,fp32,64\n"
                        "sofmax,fp32,64\nsofmax,fp32,128\nzzzzzz,fp32,64\n",
                        false, &count, &err);

    REQUIRE(text != NULL);
    for (int i = 0; i < 4; i++)
        CHECK(strstr(text, WANT[i]) != NULL);
    CHECK_UINT(count.answers, 1);
    free(text);
    text = answer("m,n,k,dtype\n64,64,64,fp8\n64,64,64,bf16\n", false, &count,
                  &err);
    REQUIRE(text != NULL);
    CHECK(strstr(text, "\n64,64,64,fp8,,,,fp8 is not supported on a100\n") !=
          NULL);
    free(text);
}

static void test_op_table__refuses(void)
{
    struct msim_guard_count count;
    struct msim_error err;

    CHECK(answer("colour,weight\nred,3\n", false, &count, &err) == NULL);
    CHECK_STR(err.file, PATH);
    CHECK(err.text[0] != '\0');
    CHECK(answer("", true, &count, &err) == NULL);
    CHECK_STR(err.file, PATH);
    CHECK(answer("m,n,k,dtype\n1,2,3\n", false, &count, &err) == NULL);
    CHECK(strstr(err.text, "3") != NULL);
}

int main(void)
{
    RUN(test_op_table__csv);
    RUN(test_op_table__json);
    RUN(test_op_table__many_rows);
    RUN(test_op_table__reasons);
    RUN(test_op_table__refuses);
    return check_summary();
}
