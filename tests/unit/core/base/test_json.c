/*
 * tests/unit/core/base/test_json.c - texts that are JSON, and those that are
 * not for different reasons.
 */
#include "core/base/json.h"

#include "tests/check.h"

#include <errno.h>
#include <stdlib.h>

static enum msim_status parse(const char *text, size_t *at)
{
    cJSON *json;
    enum msim_status status = msim_json_parse(&json, text, strlen(text), at);

    CHECK((status == MSIM_OK) == (json != NULL));
    cJSON_Delete(json);
    return status;
}

static void test_json__all_of_the_text(void)
{
    size_t at;

    CHECK_INT(parse("{\"a\": [1, 2]}", NULL), MSIM_OK);
    CHECK_INT(parse(" [1]\r\n", NULL), MSIM_OK);
    CHECK_INT(parse("{\"a\": }", &at), MSIM_ESYNTAX);
    CHECK_UINT(at, 6);
    CHECK_INT(parse("{} {}", &at), MSIM_ESYNTAX);
    CHECK_UINT(at, 3);
    CHECK_INT(parse("", NULL), MSIM_ESYNTAX);
}

static int left; /* blocks of memory that there still are */

static void *scarce(size_t n)
{
    if (left-- > 0)
        return malloc(n);
    errno = ENOMEM;
    return NULL;
}

static void test_json__without_memory(void)
{
    cJSON_Hooks hooks = {scarce, free};
    enum msim_status status = MSIM_ENOMEM;
    int blocks = 0;

    cJSON_InitHooks(&hooks);
    while (status == MSIM_ENOMEM && blocks < 100) {
        left = blocks++;
        status = parse("{\"a\": [1, 2.5e400]}", NULL);
    }
    CHECK_INT(status, MSIM_OK);
    CHECK(blocks > 5); /* an object, a name, a list and two numbers */
    cJSON_InitHooks(NULL);
}

int main(void)
{
    RUN(test_json__all_of_the_text);
    RUN(test_json__without_memory);
    return check_summary();
}
