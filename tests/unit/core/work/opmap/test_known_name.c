/* Which names of vector operators are known, and what is said of others. */
#include "core/work/opmap/opmap.h"
#include "tests/check.h"

static void test_known_name__known(void)
{
    static const struct {
        const char *op;
        bool known;
    } cases[] = {
        {"aten::gelu", true},
        {"gelu", true},
        {"add_", true},
        {"addu", true},
        {"addu_", true},
        {"adduu", false},
        {"mulu", true},
        {"ln", true},
        {"emb", true},
        {"rope", true},
        {"silu_mul", true},
        {"adam", true},
        {"sgd", true},
        {"copy", true},
        {"copy:d2d", true},
        {"scale_matrix:fp8", true},
        {"scale_matriy:fp8", false},
        {"add:x", true},
        {"lib::add", false},
        {"lib::ln", false},
        {"ln::x", false},
        {"", false},
        {":x", false},
        {"_", false},
        {"u", false},
        {"gelv", false},
        /* 64 bytes are too long for any */
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (!CHECK_INT(msim_vector_name_known(cases[i].op), cases[i].known))
            fprintf(stderr, "  of '%s'\n", cases[i].op);
}

static void test_known_name__nearest(void)
{
    CHECK(msim_vector_name_nearest("aten::bincount"));
    CHECK(msim_vector_name_nearest("mode"));
    CHECK(!msim_vector_name_nearest("aten::sum"));
    CHECK(!msim_vector_name_nearest("no such"));
}

static void test_known_name__unknown(void)
{
    static const struct {
        const char *op, *want;
    } cases[] = {
        {"gelv", "op 'gelv' is not known, did you mean 'gelu'?"},
        {"aten::gelv", "op 'aten::gelv' is not known, did you mean 'gelu'?"},
        {"input_layernorn",
         "op 'input_layernorn' is not known, did you mean 'input_layernorm'?"},
        {"softmax_backwart", "op 'softmax_backwart' is not known, did you mean "
                             "'softmax_backward'?"},
        {"qqqqqqqqqqqqqqqqqqqq", "op 'qqqqqqqqqqqqqqqqqqqq' is not known"},
        {"qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq",
         "op 'qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq' is not known"},
    };
    char text[200];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        msim_vector_name_unknown(cases[i].op, text, sizeof(text));
        CHECK_STR(text, cases[i].want);
    }
}

int main(void)
{
    RUN(test_known_name__known);
    RUN(test_known_name__nearest);
    RUN(test_known_name__unknown);
    return check_summary();
}
