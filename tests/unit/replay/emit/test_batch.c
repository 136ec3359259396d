/*
 * tests/unit/replay/emit/test_batch.c - which results grow with the batch, and
 * which sizes in calls are multiples of it. The batch is 6, of input 1.
 */
#include "tests/unit/made_et.h"

#define TWO   "my::two(Tensor a, Tensor b) -> (Tensor, Tensor, Tensor)"
#define COUNT "my::count(Tensor a) -> (int, Tensor)"
#define ONE   "my::one(Tensor a) -> Tensor"

/* Of each result, whether it grows. */
static void test_batch__results(void)
{
    struct made_et m = {0};
    struct made_program x;
    char got[32] = "";

    et_op(&m, 100, ET_RELU, "1:6x4", "7:6x4");
    et_op(&m, 110, ET_T, "7:6x4", "8#7:4x6");
    et_op(&m, 120, ONE, "8#7:4x6", "9:12x2"); /* of what does not grow */
    et_op(&m, 130, TWO, "2:5x3 7:6x4", "10:12x2 11:6 12:5x6");
    et_op(&m, 140, TWO, "7:6x4 2:5x3", "13:18 14:4x6 15:");
    et_op(&m, 150, ONE, "2:5x3", "16:6x5");
    et_op(&m, 160, COUNT, "10:12x2", "=5 17:6x2");
    et_op(&m, 170, ONE, "1:6x4", "18:6");
    et_op(&m, 180, ONE, "18:6", "19:7");
    if (CHECK(program_of(&m, &x, NULL, false))) {
        CHECK_INT(x.body.batch.size, 6);
        for (uint32_t i = 0; i < x.p->values.n && i < sizeof(got) - 1; i++)
            got[i] = x.body.batch.grows[i] ? 'y' : '-';
    }
    CHECK_STR(got, "y--yy-y---yy-");
    program_done(&x);
}

#define ZEROS "aten::zeros(SymInt[] size) -> Tensor"
#define SHAPE "aten::reshape(Tensor self, SymInt[] shape) -> Tensor"
#define ROLL  "aten::roll(Tensor self, SymInt[] shifts) -> Tensor"

static void test_batch__sizes(void)
{
    struct made_et m = {0};

    et_op(&m, 100, ET_RELU, "1:6x4", "7:6x4");
    et_op(&m, 110, ET_VIEW, "7:6x4 (=12 =2)", "8#7:12x2");
    et_op(&m, 120, SHAPE, "7:6x4 (=6 =4)", "9:6x4");
    et_op(&m, 125, SHAPE, "7:6x4 (=-1 =4)", "9:6x4");
    et_op(&m, 130, SHAPE, "7:6x4 (=4 =6)", "10:4x6");
    et_op(&m, 140, SHAPE, "10:4x6 (=12 =2)", "11:12x2");
    et_op(&m, 150, SHAPE, "10:4x6 (=6 =4)", "12:6x4");
    et_op(&m, 160, SHAPE, "2:6x4 (=18 =4)", "13:18x4");
    et_op(&m, 170, ZEROS, "(=6 =4)", "14:6x4");
    et_op(&m, 180, ZEROS, "(=12 =4)", "15:12x4");
    et_op(&m, 190, ROLL, "7:6x4 (=6 =2)", "16:6x4");
    et_op(&m, 200, SHAPE, "7:6x0 (=0 =4)", "17:0x4");
    et_check_text(&m, false,
                  "    x0 = aten.relu.default(X[0])\n"
                  "    aten.view.default(x0, [BATCH * 2, 2])\n"
                  "    aten.reshape.default(x0, [BATCH, 4])\n"
                  "    aten.reshape.default(x0, [-1, 4])\n"
                  "    x1 = aten.reshape.default(x0, [4, 6])\n"
                  "    aten.reshape.default(x1, [12, 2])\n"
                  "    aten.reshape.default(x1, [BATCH, 4])\n"
                  "    del x1\n"
                  "    aten.reshape.default(X[1], [BATCH * 3, 4])\n"
                  "    aten.zeros.default([BATCH, 4])\n"
                  "    aten.zeros.default([12, 4])\n"
                  "    aten.roll.default(x0, [6, 2])\n"
                  "    del x0\n"
                  "    aten.reshape.default(X[2], [0, 4])\n");
}

/* With a batch of one every size is a multiple: those of what grows alone. */
static void test_batch__of_one(void)
{
    struct made_et m = {0};

    et_op(&m, 100, ET_RELU, "1:1x4", "7:1x4");
    et_op(&m, 110, SHAPE, "7:1x4 (=4 =1)", "8:4x1");
    et_op(&m, 120, ZEROS, "(=1 =4)", "9:1x4");
    et_check_text(&m, false,
                  "    x0 = aten.relu.default(X[0])\n"
                  "    aten.reshape.default(x0, [BATCH * 4, 1])\n"
                  "    del x0\n"
                  "    aten.zeros.default([1, 4])\n");
}

int main(void)
{
    RUN(test_batch__results);
    RUN(test_batch__sizes);
    RUN(test_batch__of_one);
    return check_summary();
}
