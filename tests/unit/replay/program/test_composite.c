/*
 * tests/unit/replay/program/test_composite.c - which operators of PyTorch are
 * made of others (those of its registry that are CompositeImplicitAutograd).
 */
#include "replay/program/program.h"

#include "tests/check.h"

static void test_composite__known_ones(void)
{
    CHECK(msim_composite("aten::linear", ""));
    CHECK(msim_composite("aten::dropout", ""));
    CHECK(msim_composite("aten::matmul", ""));
    CHECK(msim_composite("aten::cross_entropy_loss", ""));
    CHECK(msim_composite("aten::scaled_dot_product_attention", ""));
    CHECK(!msim_composite("aten::mm", ""));
    CHECK(!msim_composite("aten::add", "Tensor"));
    CHECK(!msim_composite("aten::native_layer_norm", ""));
}

/* One overload of a name, and not its others: `to.dtype` is made of others,
 * and where the one without a name is meant, nothing follows the point. */
static void test_composite__by_overload(void)
{
    bool one = false;

    for (unsigned i = 0; i < msim_n_composite_ops; i++) {
        const char *name = msim_composite_ops[i], *dot = strchr(name, '.');
        char base[96];

        if (!dot)
            continue;
        snprintf(base, sizeof(base), "aten::%.*s", (int)(dot - name), name);
        CHECK(msim_composite(base, dot + 1));
        CHECK(!msim_composite(base, "no_such_overload"));
        one |= dot[1] == '\0';
    }
    CHECK(one);
}

/* bsearch() goes by strcmp(), whose order the list must have. */
static void test_composite__in_order(void)
{
    for (unsigned i = 1; i < msim_n_composite_ops; i++)
        CHECK(strcmp(msim_composite_ops[i - 1], msim_composite_ops[i]) < 0);
}

static void test_composite__others(void)
{
    char name[400];

    CHECK(!msim_composite("my::linear", ""));
    CHECK(!msim_composite("linear", ""));
    CHECK(!msim_composite("aten::", ""));
    CHECK(!msim_composite("", ""));
    snprintf(name, sizeof(name), "aten::%0300d", 0);
    CHECK(!msim_composite(name, name));
}

int main(void)
{
    RUN(test_composite__known_ones);
    RUN(test_composite__by_overload);
    RUN(test_composite__in_order);
    RUN(test_composite__others);
    return check_summary();
}
