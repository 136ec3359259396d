/*
 * Members of a spec from the command line.
 */
#include "cli/plan/option_values.h"
#include "tests/check.h"

#include <stdlib.h>

#define NAME_63                                                                \
    "a23456789012345678901234567890123456789012345678901234567890123"

static void check_tree(const cJSON *tree, const char *want)
{
    char *text = cJSON_PrintUnformatted(tree);

    CHECK_STR(text, want);
    free(text);
}

/* One value is itself, several are an array; a name with dots is one of a
 * member. */
static void test_set_option__values(void)
{
    static const char *const ROWS[][2] = {
        {"gpus=512", "{\"gpus\":512}"},
        {"gpus=256,512", "{\"gpus\":[256,512]}"},
        {"gpus=[512]", "{\"gpus\":[512]}"},
        {"platforms=h100, b200", "{\"platforms\":[\"h100\",\"b200\"]}"},
        {"lora_rank=null,64", "{\"lora_rank\":[null,64]}"},
        {"platforms={\"name\":\"h100\"}",
         "{\"platforms\":{\"name\":\"h100\"}}"},
        {"limits.days=30", "{\"limits\":{\"days\":30}}"},
        {"a.b.c=1", "{\"a\":{\"b\":{\"c\":1}}}"},
        {"trace=a=b.json", "{\"trace\":\"a=b.json\"}"},
        {NAME_63 "." NAME_63 "=1", "{\"" NAME_63 "\":{\"" NAME_63 "\":1}}"},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        cJSON *spec = cJSON_CreateObject();

        CHECK_INT(msim_set_option(spec, ROWS[i][0], NULL), MSIM_OK);
        check_tree(spec, ROWS[i][1]);
        cJSON_Delete(spec);
    }
}

/* It stands where the file's stood; the others stay. */
static void test_set_option__of_a_file(void)
{
    cJSON *spec = cJSON_Parse("{\"gpus\":8,\"limits\":{\"days\":1},\"tp\":2}");

    CHECK_INT(msim_set_option(spec, "gpus=16", NULL), MSIM_OK);
    CHECK_INT(msim_set_option(spec, "gpus=32", NULL), MSIM_OK);
    CHECK_INT(msim_set_option(spec, "limits.cost=5", NULL), MSIM_OK);
    CHECK_INT(msim_set_option(spec, "limits.days=2", NULL), MSIM_OK);
    CHECK_INT(msim_set_option(spec, "GPUs=1", NULL), MSIM_OK);
    check_tree(spec, "{\"gpus\":32,\"limits\":{\"days\":2,\"cost\":5},"
                     "\"tp\":2,\"GPUs\":1}");
    cJSON_Delete(spec);
}

static void test_set_option__refuses(void)
{
    static const char *const WRONG[] = {
        "",     "=",    "=1",     "gpus",        "gpus=",        ".=1",
        ".a=1", "a.=1", "a..b=1", NAME_63 "4=1", NAME_63 "4.a=1"};
    cJSON *spec = cJSON_Parse("{\"gpus\":8}");
    struct msim_error err = {0};

    for (size_t i = 0; i < sizeof(WRONG) / sizeof(*WRONG); i++) {
        char want[400];

        snprintf(want, sizeof(want),
                 "option '--set' is '%s', want a member of the spec and its "
                 "value, as 'gpus=512', 'platforms=h100,b200' or "
                 "'limits.days=30'",
                 WRONG[i]);
        err = (struct msim_error){0};
        CHECK_INT(msim_set_option(spec, WRONG[i], &err), MSIM_EUSAGE);
        CHECK_STR(err.text, want);
    }
    err = (struct msim_error){0};
    CHECK_INT(msim_set_option(spec, "gpus.x=1", &err), MSIM_EUSAGE);
    CHECK_STR(err.text,
              "option '--set' is 'gpus.x=1', but 'gpus' is no object");
    cJSON_Delete(spec);
}

int main(void)
{
    RUN(test_set_option__values);
    RUN(test_set_option__of_a_file);
    RUN(test_set_option__refuses);
    return check_summary();
}
