/*
 * Fitting one table again: the cells and the report's lines of the others stay,
 * in their places and in the same bytes.
 */
#include "calibrate/platform/platform_fit.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHEETS "[{\"name\":\"p\"},{\"name\":\"q\"}]"
#define GEMM                                                                   \
    "{\"law\":\"gemm\",\"range\":{\"log_m\":[0,12.5]},\"interval\":"           \
    "[{\"upto_us\":5,\"low\":-0.1,\"high\":0.1}],\"forest\":{\"low\":-1,"      \
    "\"high\":1,\"cuts\":[[1,2],[]],\"splits\":[0],\"leaves\":[3]}}"

/* Samples that hold collectives only. */
static struct msim_samples collectives(struct msim_sample *row)
{
    *row = (struct msim_sample){.law = &MSIM_LAW_COLLECTIVE};
    return (struct msim_samples){.rows = row, .n = 1};
}

static void test_platform_merge__keeps_other_fits(void)
{
    struct msim_sample row;
    struct msim_samples s = collectives(&row);
    cJSON *json = cJSON_Parse(
        "{\"parameters\":{\"x\":1},\"cells\":[{\"law\":\"collective\","
        "\"rows\":2}]}");
    cJSON *old = cJSON_Parse(
        "{\"parameters\":{\"x\":7},\"cells\":[{\"law\":\"attention\"},"
        "{\"law\":\"attention\"},"
        "{\"law\":\"collective\",\"rows\":1}," GEMM "]}");
    cJSON *fits;
    char *text;

    REQUIRE(json && old);
    REQUIRE(msim_platform_merge(json, old, &s) == MSIM_OK);
    fits = cJSON_GetObjectItemCaseSensitive(json, "cells");
    CHECK_INT(cJSON_GetArraySize(fits), 4);
    CHECK_STR(msim_json_get_text(cJSON_GetArrayItem(fits, 0), "law"),
              "attention");
    CHECK(msim_json_get_number(cJSON_GetArrayItem(fits, 2), "rows", 0) == 2);
    CHECK(msim_json_get_number(
              cJSON_GetObjectItemCaseSensitive(json, "parameters"), "x", 0) ==
          7);
    /* What was on one line is again. */
    text = cJSON_Print(cJSON_GetArrayItem(fits, 3));
    CHECK(text && strstr(text, "[0,12.5]") && strstr(text, "\"cuts\":[[1,2]") &&
          strstr(text, "{\"upto_us\":5,\"low\":-0.1,\"high\":0.1}"));
    cJSON_free(text);
    cJSON_Delete(json);
    cJSON_Delete(old);
}

#define HEADER "platform,table_gpu,family,more\n"

/* By platform in the order of the sheets, then by law; a family may have a
 * word behind its law. Lines of platforms that are gone go. */
static void test_platform_merge__keeps_other_lines(void)
{
    static const char OLD[] = HEADER "p,G,attention,1\np,G,collective,1\n"
                                     "p,G,collective_sizes,1\np,G,gemm,1\n"
                                     "q,G,gemm,1\nr,G,gemm,1\n";
    static const char FRESH[] = "q,G,collective,2\np,G,collective,2\n"
                                "p,G,collective_sizes,2\n";
    static const char WANT[] = HEADER "p,G,attention,1\np,G,collective,2\n"
                                      "p,G,collective_sizes,2\np,G,gemm,1\n"
                                      "q,G,collective,2\nq,G,gemm,1\n";
    char path[] = "msim-test-refit-XXXXXX", got[1000] = "";
    int fd = mkstemp(path);
    FILE *f = fd >= 0 ? fdopen(fd, "w+") : NULL;
    cJSON *sheets = cJSON_Parse(SHEETS);
    struct msim_sample row;
    struct msim_samples s = collectives(&row);

    REQUIRE(f && sheets);
    fputs(OLD, f);
    fclose(f);
    CHECK_INT(msim_report_merge(path, HEADER, FRESH, sheets, &s, NULL),
              MSIM_OK);
    f = fopen(path, "r");
    if (f) {
        got[fread(got, 1, sizeof(got) - 1, f)] = '\0';
        fclose(f);
    }
    CHECK_STR(got, WANT);
    unlink(path);
    cJSON_Delete(sheets);
}

int main(void)
{
    RUN(test_platform_merge__keeps_other_fits);
    RUN(test_platform_merge__keeps_other_lines);
    return check_summary();
}
