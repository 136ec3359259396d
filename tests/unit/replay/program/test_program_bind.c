/*
 * What tensors of a call are bound to: numbers with their values, and results
 * that are an argument once more.
 */
#include "tests/unit/made_et.h"

/* Each number has the value that the trace has of it, however many there are;
 * 1 where it has none. Equal ones are one. */
static void test_numbers__of_many_calls(void)
{
    for (int n = 1; n <= 9; n++) {
        struct made_et m = {0};
        struct made_program x = {0};
        char ranges[64], in[64];

        for (int i = 0; i < n; i++) {
            snprintf(ranges, sizeof(ranges), "{\\\"1\\\":[%d,%d]}", i, 7 * i);
            m.ranges = ranges;
            snprintf(in, sizeof(in), "1:2x4 %d:l", 20 + i);
            et_op(&m, 100 + 10 * (unsigned)i, ET_MUL, in, "7:2x4");
        }
        et_op(&m, 300, ET_MUL, "1:2x4 40:l", "7:2x4");
        et_op(&m, 310, ET_MUL, "1:2x4 41:b", "7:2x4");
        et_op(&m, 320, ET_MUL, "1:2x4 42:d", "7:2x4");
        if (CHECK(program_of(&m, &x, NULL, false))) {
            CHECK_INT(x.p->numbers.n, n + 3);
            for (int i = 0; i < n; i++) {
                CHECK_INT(msim_program_number(x.p, i)->kind, MSIM_ARG_INT);
                CHECK_INT(msim_program_number(x.p, i)->v.i, 7 * i);
            }
            CHECK_INT(msim_program_number(x.p, n)->v.i, 1);
            CHECK_INT(msim_program_number(x.p, n)->kind, MSIM_ARG_INT);
            CHECK_INT(msim_program_number(x.p, n + 1)->kind, MSIM_ARG_BOOL);
            CHECK_INT(msim_program_number(x.p, n + 2)->kind, MSIM_ARG_REAL);
            CHECK_REL(msim_program_number(x.p, n + 2)->v.f, 1, 1e-12);
        }
        program_done(&x);
    }
}

static void test_numbers__are_shared(void)
{
    struct made_et m = {0};
    struct made_program x = {0};

    for (unsigned i = 0; i < 3; i++) {
        m.ranges = i < 2 ? "{\\\"1\\\":[5,5]}" : "{\\\"1\\\":[6,6]}";
        et_op(&m, 100 + 10 * i, ET_MUL, i ? "1:2x4 3:l" : "1:2x4 2:l", "7:2x4");
    }
    if (CHECK(program_of(&m, &x, NULL, false)))
        CHECK_INT(x.p->numbers.n, 2);
    program_done(&x);
}

/* Which tensors from outside have values of whole numbers. */
static void test_ranges__of_tensors(void)
{
    struct made_et m = {0};
    struct made_program x = {0};
    static const int64_t LOW[] = {0, 3, 0, -8}, HIGH[] = {0, 9, 0, 2};

    m.ranges = "{\\\"1\\\":[3,9]}";
    et_op(&m, 100, ET_MUL, "1:2x4 2:4l", "7:2x4");
    m.ranges = "{\\\"1\\\":[-8,2]}";
    et_op(&m, 110, ET_MUL, "3:2x4 4:4l", "8:2x4");
    if (CHECK(program_of(&m, &x, NULL, false)) && CHECK_INT(x.p->outside.n, 4))
        for (uint32_t i = 0; i < 4; i++) {
            CHECK_INT(msim_program_outside(x.p, i)->low, LOW[i]);
            CHECK_INT(msim_program_outside(x.p, i)->high, HIGH[i]);
        }
    program_done(&x);
}

/* A result is an argument where it is that tensor and the signature says that
 * it is written. */
static void test_results__same(void)
{
    static const struct {
        const char *schema, *in, *out;
        bool same;
    } ROWS[] = {
        {ET_ADD_, "1:2 2:2 =1", "1:2", true},
        {ET_ADD_, "1:2 2:2 =1", "2:2", false},
        {ET_ADD_, "1:2 2:2 =1", "9:2", false},
        {ET_ADD_, "1:2 2:2 =1", "9#1:2", false},
        {ET_RELU, "1:2", "1:2", false},
        {ET_T, "1:2x3", "1:2x3", false},
        {"my::two(Tensor a, Tensor(a!) b) -> Tensor(a!)", "1:2 2:2", "2:2",
         true},
        {"my::two(Tensor a, Tensor(a!) b) -> Tensor(a!)", "1:2 2:2", "1:2",
         false},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct made_et m = {0};
        struct made_program x = {0};

        et_op(&m, 100, ROWS[i].schema, ROWS[i].in, ROWS[i].out);
        if (CHECK(program_of(&m, &x, NULL, false)) &&
            CHECK_INT(x.p->values.n, 1) &&
            !CHECK_INT(msim_program_value(x.p, 0)->same, ROWS[i].same))
            fprintf(stderr, "%s: %s\n", ROWS[i].schema, ROWS[i].out);
        program_done(&x);
    }
}

int main(void)
{
    RUN(test_numbers__of_many_calls);
    RUN(test_numbers__are_shared);
    RUN(test_ranges__of_tensors);
    RUN(test_results__same);
    return check_summary();
}
