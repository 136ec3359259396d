/* Rows that name a rule: what each column may say, and what is said of what it
 * may not. */
#include "core/work/opmap/opmap_internal.h"
#include "core/work/rules/opmap_rules.h"
#include "tests/check.h"

/* rule, variant, inputs, flops_each, kernels, flags, arg */
typedef const char *fields_of[MSIM_OPS_RULE_COLUMNS];

static void test_ops_rule__rows(void)
{
    static const struct {
        fields_of fields;
        struct msim_opmap_row want;
    } cases[] = {
        {{"", "", "", "", "", "", ""}, {.name = "x"}},
        {{"", "", "", "", "", "composite outer nearest compiled", ""},
         {.flags = MSIM_OPMAP_COMPOSITE | MSIM_OPMAP_OUTER |
                   MSIM_OPMAP_NEAREST | MSIM_OPMAP_COMPILED}},
        /* a formula of rows without a rule, read elsewhere */
        {{"", "", "", "", "n + 1", "", ""}, {.flags = 0}},
        {{"pointwise", "", "", "", "", "", ""},
         {.rule = msim_rule_pointwise,
          .inputs = 1,
          .group = MSIM_GROUP_POINTWISE}},
        {{"pointwise", "add", "255", "3", "", " backward  composite ", "4"},
         {.rule = msim_rule_pointwise,
          .variant = "add",
          .inputs = 255,
          .flops_each = 3,
          .flags = MSIM_OPMAP_BACKWARD | MSIM_OPMAP_COMPOSITE,
          .arg = 4,
          .group = MSIM_GROUP_POINTWISE}},
        {{"norm", "", "0", "", "", "", "layer"},
         {.rule = msim_rule_norm,
          .arg = MSIM_ARGS_NORM_LAYER,
          .group = MSIM_GROUP_NORM}},
        {{"norm", "", "2", "", "", "", "first"},
         {.rule = msim_rule_norm,
          .inputs = 2,
          .arg = MSIM_ARGS_NORM_FIRST,
          .group = MSIM_GROUP_NORM}},
        {{"jagged", "", "", "", "7", "", "1"},
         {.rule = msim_rule_jagged,
          .kernels = 7,
          .arg = 1,
          .group = MSIM_GROUP_EMBEDDING}},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct msim_opmap_row row = {.name = "x"};
        const struct msim_opmap_row *want = &cases[i].want;
        struct msim_ops_fault fault = {0};

        if (!CHECK_INT(msim_ops_rule_read(&row, cases[i].fields, &fault),
                       MSIM_OK))
            fprintf(stderr, "  case %zu: %s, want %s\n", i, fault.found,
                    fault.want);
        CHECK(row.rule == want->rule);
        CHECK_STR(row.variant ? row.variant : "",
                  want->variant ? want->variant : "");
        CHECK_INT(row.inputs, want->inputs);
        CHECK_INT(row.flops_each, want->flops_each);
        CHECK_INT(row.kernels, want->kernels);
        CHECK_INT(row.flags, want->flags);
        CHECK_INT(row.arg, want->arg);
        CHECK_INT(row.group, want->group);
    }
}

static void test_ops_rule__refused(void)
{
    static const struct {
        fields_of fields;
        const char *found, *want;
    } cases[] = {
        {{"pointwize", "", "", "", "", "", ""},
         "'rule' is 'pointwize'",
         "pointwise"},
        {{"zzzzzzzzzzzz", "", "", "", "", "", ""},
         "'rule' is 'zzzzzzzzzzzz'",
         "a rule of docs/operators.md, as pointwise"},
        {{"", "v", "", "", "", "", ""},
         "'variant' is 'v'",
         "it empty: there is no 'rule'"},
        {{"", "", "", "", "", "", "1"},
         "'arg' is '1'",
         "it empty: there is no 'rule'"},
        {{"dot", "v", "", "", "", "", ""},
         "'variant' is 'v'",
         "it empty: rule dot does not read it"},
        {{"dot", "", "", "", "1", "", ""},
         "'kernels' is '1'",
         "it empty: rule dot does not read it"},
        {{"pointwise", "", "256", "", "", "", ""},
         "'inputs' is '256'",
         "a whole number up to 255"},
        {{"pointwise", "", "-1", "", "", "", ""},
         "'inputs' is '-1'",
         "a whole number up to 255"},
        {{"pointwise", "", "", "1x", "", "", ""},
         "'flops_each' is '1x'",
         "a whole number up to 255"},
        {{"pointwise", "", "", "", "", "", "1 "},
         "'arg' is '1 '",
         "a whole number up to 255"},
        {{"norm", "", "", "", "", "", "rows"},
         "'arg' is 'rows'",
         "layer, plain, group, channel, last, first"},
        {{"", "", "", "", "", "backward", ""},
         "'flags' is 'backward'",
         "composite, outer, compiled, nearest"},
        {{"pointwise", "", "", "", "", "composite large", ""},
         "'flags' is 'composite large'",
         "composite, writes_only, bool_result, backward, out_first, outer, "
         "compiled, nearest"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct msim_opmap_row row = {.name = "x"};
        struct msim_ops_fault fault = {0};

        CHECK_INT(msim_ops_rule_read(&row, cases[i].fields, &fault),
                  MSIM_EFORMAT);
        CHECK_STR(fault.found, cases[i].found);
        CHECK_STR(fault.want, cases[i].want);
    }
}

int main(void)
{
    RUN(test_ops_rule__rows);
    RUN(test_ops_rule__refused);
    return check_summary();
}
