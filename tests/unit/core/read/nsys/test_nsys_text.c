/*
 * tests/unit/core/read/nsys/test_nsys_text.c - what texts of Nsight Systems
 * say.
 */
#include "core/read/nsys/nsys_text.h"
#include "tests/check.h"

static void check_op(const char *text, const char *name, const char *sizes)
{
    struct msim_nsys_op op = {.name = 99};
    char got[100];

    CHECK_INT(msim_nsys_op_find(&op, text), name != NULL);
    snprintf(got, sizeof(got), "%.*s", (int)op.name, text);
    CHECK_STR(got, name ? name : "");
    CHECK((op.sizes != NULL) == (sizes != NULL));
    snprintf(got, sizeof(got), "%.*s", (int)op.n_sizes,
             op.sizes ? op.sizes : "");
    CHECK_STR(got, sizes ? sizes : "");
}

/* An operator has a name and a member behind it; of sizes, a whole list of
 * lists of numbers counts. */
static void test_nsys_text__operators(void)
{
    check_op("aten::mm, seq = 3, op_id = 5, sizes = [[2, 3], []]", "aten::mm",
             "[[2, 3], []]");
    check_op("aten::mm, seq = 3", "aten::mm", NULL);
    check_op("aten::mm, op_id = 3", "aten::mm", NULL);
    check_op("a, b, sizes = [[7]], op_id = 1", "a, b", "[[7]]");
    check_op("x, op_id = 1, seq = 2", "x", NULL);
    check_op("x, sizes = []", "x", "[]");
    check_op("x, sizes = [[1]] and more", "x", "[[1]]");
    check_op("x, sizes = [[[1]]]", "x", NULL);
    check_op("x, sizes = [[1], [2]", "x", NULL);
    check_op("x, sizes = [[1], (2)]", "x", NULL);
    check_op("x, sizes = 12", "x", NULL);
    check_op("x, sizes = ", "x", NULL);
    check_op("x, seq=3", NULL, NULL);
    check_op(", seq = 3", NULL, NULL);
    check_op("aten::mm", NULL, NULL);
    check_op("", NULL, NULL);
}

static void check_step(const char *text, long long number, int word)
{
    int got = -5;

    CHECK_INT(msim_nsys_step(text, &got), number);
    CHECK_INT(got, number < 0 ? -5 : word);
}

static void test_nsys_text__steps(void)
{
    static const char *const WORDS[] = {
        "ProfilerStep", "train_step",    "training_step",
        "train step",   "training step", "iteration",
        "step",         "iter",          "batch"};
    char text[64];

    for (int i = 0; i < 9; i++) {
        snprintf(text, sizeof(text), "%s%s%d", WORDS[i], i % 2 ? " #" : "", i);
        check_step(text, i, i);
    }
    check_step("ProfilerStep#12", 12, 0);
    check_step("Iteration_3", 3, 5);
    check_step("STEP: = -7", 7, 6);
    check_step("batch 90", 90, 8);
    check_step("batch 09", 9, 8);
    check_step("step 123456789012345", 123456789012345, 6);
    check_step("step 1234567890123456", -1, 0);
    check_step("step", -1, 0);
    check_step("step x", -1, 0);
    check_step("step 3 of 4", -1, 0);
    check_step("step 3.5", -1, 0);
    check_step("steps 3", -1, 0);
    check_step("a step 3", -1, 0);
    check_step("", -1, 0);
}

static void check_call(const char *name, size_t want)
{
    CHECK_UINT(msim_nsys_call(name), want);
}

static void test_nsys_text__calls(void)
{
    check_call("cudaLaunchKernel_v7000", 16);
    check_call("cudaFree", 8);
    check_call("cuda_x_v3", 6);
    check_call("cudaFree_v", 10);
    check_call("cudaFree_v3a", 12);
    check_call("cudaFree_3020", 13);
    check_call("cudaFree_ptsz", 13);
    check_call("_v1", 0);
    check_call("", 0);
}

int main(void)
{
    RUN(test_nsys_text__operators);
    RUN(test_nsys_text__steps);
    RUN(test_nsys_text__calls);
    return check_summary();
}
