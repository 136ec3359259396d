/*
 * Axes of a grid of scenarios from the command line.
 */
#include "cli/plan/option_values.h"
#include "tests/check.h"

#include <stdlib.h>

#define NAME_63                                                                \
    "a23456789012345678901234567890123456789012345678901234567890123"
#define WANT                                                                   \
    "', want a change and its values, as 'gpu=a100,h100' or 'batch=8,16,32'"

static void check_tree(const cJSON *tree, const char *want)
{
    char *text = cJSON_PrintUnformatted(tree);

    CHECK_STR(text, want);
    free(text);
}

/* JSON where all of the values are, else words, without blanks around them. */
static void test_grid__values(void)
{
    static const char *const AXES[][2] = {
        {"batch=8,16", "{\"batch\":[8,16]}"},
        {"batch=8", "{\"batch\":[8]}"},
        {"gpu=a100,h100", "{\"gpu\":[\"a100\",\"h100\"]}"},
        {"gpu= a100 ,  h100  ", "{\"gpu\":[\"a100\",\"h100\"]}"},
        {"clock=0.8,1.1GHz", "{\"clock\":[\"0.8\",\"1.1GHz\"]}"},
        {"x=\"a\",[1,2],null", "{\"x\":[\"a\",[1,2],null]}"},
        {"x=1],[2", "{\"x\":[\"1]\",\"[2\"]}"}, /* two lists are none */
        {"x=a,,b, ", "{\"x\":[\"a\",\"\",\"b\",\"\"]}"},
        {"x=a=b", "{\"x\":[\"a=b\"]}"},
        {NAME_63 "=1", "{\"" NAME_63 "\":[1]}"},
    };

    for (size_t i = 0; i < sizeof(AXES) / sizeof(*AXES); i++) {
        cJSON *file = NULL;

        CHECK_INT(msim_grid_option(&file, AXES[i][0], NULL), MSIM_OK);
        check_tree(cJSON_GetObjectItem(file, "grid"), AXES[i][1]);
        cJSON_Delete(file);
    }
}

/* Axes stand in order, beside what a file has already. */
static void test_grid__of_a_file(void)
{
    cJSON *file = cJSON_Parse("{\"a\":1,\"grid\":{\"batch\":[8]}}");
    struct msim_error err = {0};

    CHECK_INT(msim_grid_option(&file, "gpu=b200", &err), MSIM_OK);
    CHECK_INT(msim_grid_option(&file, "Batch=2", &err), MSIM_OK);
    check_tree(file, "{\"a\":1,\"grid\":{\"batch\":[8],\"gpu\":[\"b200\"],"
                     "\"Batch\":[2]}}");
    CHECK_INT(msim_grid_option(&file, "gpu=a100", &err), MSIM_EUSAGE);
    CHECK_STR(err.text, "option '--grid' names 'gpu' twice, want all of its "
                        "values at once");
    cJSON_Delete(file);
}

static void test_grid__refused(void)
{
    static const char *const REFUSED[] = {"", "batch", "=8",
                                          "batch=", NAME_63 "4=1"};

    for (size_t i = 0; i < sizeof(REFUSED) / sizeof(*REFUSED); i++) {
        struct msim_error err = {0};
        cJSON *file = NULL;
        char want[256];

        CHECK_INT(msim_grid_option(&file, REFUSED[i], &err), MSIM_EUSAGE);
        snprintf(want, sizeof(want), "option '--grid' is '%s" WANT, REFUSED[i]);
        CHECK_STR(err.text, want);
        cJSON_Delete(file);
    }
}

int main(void)
{
    RUN(test_grid__values);
    RUN(test_grid__of_a_file);
    RUN(test_grid__refused);
    return check_summary();
}
