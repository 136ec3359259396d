/*
 * tests/unit/predict/test_choice_labels.c - work that no operator launched, but
 * a call inside a label, is work of that label.
 */
#include "predict/predict_internal.h"

#include "tests/unit/made_job.h"

static const char *const KERNELS[] = {"mm",    "triton", "copy",
                                      "graph", "behind", "outside"};

/* Letters of the kernels that are in the choice. */
static void check_taken(const char *subtree, const char *exclude,
                        const char *want)
{
    struct msim_choice c = {.subtree = subtree, .exclude = exclude};
    struct made m = made_trace(0, 1);
    struct made_job j;
    char got[8] = "";
    size_t n = 0;

    made_event(&m, "user_annotation", "forward", MADE_HOST, 1, 0, 100);
    made_add(&m, "}},");
    made_op(&m, 1, "aten::mm", 5, 10);
    made_call(&m, 1, "cudaLaunchKernel", 6, 2, 1);
    made_kernel(&m, 7, "mm", 10, 5, 1);
    made_call(&m, 1, "cuLaunchKernel", 20, 2, 2);
    made_kernel(&m, 7, "triton", 30, 5, 2);
    made_event(&m, "user_annotation", "inner", MADE_HOST, 1, 40, 30);
    made_add(&m, "}},");
    made_call(&m, 1, "cudaMemsetAsync", 45, 2, 3);
    made_kernel(&m, 7, "copy", 50, 5, 3);
    made_call(&m, 1, "cudaGraphLaunch", 55, 2, 4);
    made_kernel(&m, 7, "graph", 60, 5, 4);
    made_kernel(&m, 7, "behind", 70, 5, 4);
    made_call(&m, 1, "cuLaunchKernel", 120, 2, 5);
    made_kernel(&m, 7, "outside", 130, 5, 5);
    REQUIRE(made_load(&j, &m, 1));
    made_scaled(&j, NULL);
    CHECK_INT(msim_costs_choose(j.costs, j.graph, &c), MSIM_OK);
    for (size_t i = 0; i < sizeof(KERNELS) / sizeof(*KERNELS); i++)
        if (!j.costs->removed[made_task(&j, KERNELS[i])])
            got[n++] = KERNELS[i][0];
    CHECK_STR(got, want);
    made_unload(&j);
}

static void test_choice_labels__launches_outside_operators(void)
{
    check_taken("forward", NULL, "mtcgb");
    check_taken(NULL, "forward", "o");
    check_taken("inner", NULL, "cgb");
    check_taken("forward", "inner", "mt");
    check_taken("aten::*", NULL, "m");
    check_taken(NULL, "aten::*", "tcgbo");
}

int main(void)
{
    RUN(test_choice_labels__launches_outside_operators);
    return check_summary();
}
