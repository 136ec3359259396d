/* Rules and flags by their words: all of them, what is near, what is not. */
#include "core/work/rules/opmap_rules.h"
#include "tests/check.h"

static void test_opmap_rules__rules(void)
{
#define X(word, group_, args_, columns_)                                       \
    {#word, msim_rule_##word, MSIM_GROUP_##group_, columns_},
    static const struct {
        const char *word;
        msim_opmap_rule rule;
        enum msim_opmap_group group;
        const char *columns;
    } all[] = {MSIM_RULE_MAP(X)};
#undef X
    const char *near = NULL;

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        const struct msim_named_rule *r = msim_rule_named(all[i].word, NULL);

        if (!CHECK(r))
            continue;
        CHECK_STR(r->word, all[i].word);
        CHECK(r->rule == all[i].rule);
        CHECK_INT(r->group, all[i].group);
        CHECK_STR(r->columns, all[i].columns);
    }
    CHECK(!msim_rule_named("pointwize", NULL));
    CHECK(!msim_rule_named("pointwize", &near));
    CHECK_STR(near, "pointwise");
    CHECK(!msim_rule_named("zzzzzzzzzz", &near));
    CHECK(!near);
    CHECK(!msim_rule_named("reduction", NULL)->args);
}

/* Words of `arg`, in the order of their numbers. */
static void test_opmap_rules__words(void)
{
    static const struct {
        const char *rule;
        uint32_t last;
        const char *word;
    } cases[] = {
        {"attention", MSIM_ARGS_ATTENTION_TEMPLATE, "template"},
        {"conv", MSIM_ARGS_CONV_OLD_BACKWARD_WEIGHT, "old_backward_weight"},
        {"norm", MSIM_ARGS_NORM_FIRST, "first"},
        {"resample", MSIM_ARGS_RESAMPLE_PADDING, "padding"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct msim_named_rule *r = msim_rule_named(cases[i].rule, NULL);

        CHECK_INT(r->n_args, cases[i].last + 1);
        CHECK_STR(r->args[cases[i].last], cases[i].word);
    }
}

static void test_opmap_rules__flags(void)
{
    static const struct {
        const char *word;
        int len;
        int want;
    } cases[] = {
        {"composite", 9, MSIM_OPMAP_COMPOSITE},
        {"outer backward", 5, MSIM_OPMAP_OUTER},
        {"backward", 8, MSIM_OPMAP_BACKWARD},
        {"nearest", 7, MSIM_OPMAP_NEAREST},
        {"nearest", 6, 0},
        {"nearests", 8, 0},
        {"mearest", 7, 0},
        {"", 0, 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CHECK_INT(msim_flag_named(cases[i].word, (size_t)cases[i].len),
                  cases[i].want);
}

int main(void)
{
    RUN(test_opmap_rules__rules);
    RUN(test_opmap_rules__words);
    RUN(test_opmap_rules__flags);
    return check_summary();
}
