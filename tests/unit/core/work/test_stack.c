/*
 * core/work/stack.c: the stacks by place and by name, and those of a platform's
 * name.
 */
#include "core/work/data_sheet.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static void test_stack_in__a_name(void)
{
    CHECK_STR(msim_stack_in("h100@pytorch-2.9"), "pytorch-2.9");
    CHECK_STR(msim_stack_in("a@b@c"), "c");
    CHECK_STR(msim_stack_in("h100@"), "");
    CHECK(!msim_stack_in("h100"));
    CHECK(!msim_stack_in("me@work/h100.json")); /* a folder's name */
}

/* One that is not known is answered with all that are. */
static void test_stack_find__names_all(void)
{
    const struct msim_stack *found, *at;
    struct msim_error err = {0};
    char want[256] = "stack 'no' is not known, want one of ";
    uint32_t n = 0;

    for (; (at = msim_stack_at(n)) != NULL; n++) {
        CHECK(msim_stack_find(&found, at->name, &err) == MSIM_OK);
        CHECK(found == at);
        snprintf(want + strlen(want), sizeof(want) - strlen(want), "%s%s",
                 n ? ", " : "", at->name);
    }
    CHECK(n > 1);
    CHECK(msim_stack_find(&found, "no", &err) == MSIM_EUNKNOWN);
    CHECK(!found);
    CHECK_STR(err.text, want);
}

int main(void)
{
    RUN(test_stack_in__a_name);
    RUN(test_stack_find__names_all);
    return check_summary();
}
