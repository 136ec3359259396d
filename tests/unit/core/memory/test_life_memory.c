/*
 * tests/unit/core/memory/test_life_memory.c - what a step holds, in a trace
 * made here.
 */
#include "core/memory/life_memory.h"

#include "tests/unit/made_et.h"

/* Parameter 1, its gradient 5 and state 6; each has 1000 floats. */
static void put_step(struct made_et *m)
{
    et_node(m, 100, 0, 1, "Optimizer.zero_grad#Adam.zero_grad", "", "");
    et_op(m, 101, "aten::relu(Tensor self) -> Tensor", "1:1000", "2:1000");
    et_op(m, 102, "aten::exp(Tensor self) -> Tensor", "2:1000", "3:1000");
    et_op(m, 103, "aten::sum(Tensor self) -> Tensor", "3:1000", "4:1");
    et_op(m, 104, "aten::mul(Tensor self, Tensor other) -> Tensor",
          "4:1 2:1000", "5:1000");
    et_node(m, 105, 0, 1, "torch::autograd::AccumulateGrad", "5:1000", "");
    et_node(m, 106, 0, 1, "Optimizer.step#Adam.step", "", "");
    et_node(m, 107, 106, 1, "aten::add_", "6:1000 5:1000", "6:1000");
    et_node(m, 108, 106, 1, "aten::add_", "1:1000 6:1000", "1:1000");
    et_node(m, 109, 106, 1, "aten::neg", "8:1000", "");
    /* As large as the parameter, read elsewhere and by the step; there is one
     * gradient of that size. */
    et_op(m, 110, "aten::neg(Tensor self) -> Tensor", "8:1000", "");
    et_op(m, 111, "aten::zeros() -> Tensor", "", "7:3000");
}

static bool peak_of_step(struct msim_memory_peak *peak,
                         const struct msim_memory_options *o,
                         void (*put)(struct made_et *m))
{
    struct made_et m = {0};
    struct msim_memory_picture picture;
    struct msim_error err;
    struct msim_job *job;
    bool ok;

    put(&m);
    et_put(&m, "]}");
    job = load_text(m.text, true, &err);
    free(m.text);
    if (!CHECK(job != NULL))
        return false;
    ok = CHECK(msim_memory_picture_find(&picture, job->ranks[0], o) ==
               MSIM_OK) &&
         CHECK(msim_memory_peak_find(peak, &picture, o) == MSIM_OK);
    msim_memory_picture_release(&picture);
    msim_job_free(job);
    return ok;
}

static bool peak_of(struct msim_memory_peak *peak,
                    const struct msim_memory_options *o)
{
    return peak_of_step(peak, o, put_step);
}

/* Data 1 and three layers of 10 x 10 floats, each read once: by its name, by a
 * product of a transposed matrix, by one with a bias. 20 is what a custom
 * function returned and did not say. */
static void put_forward(struct made_et *m)
{
    et_op(m, 101, "aten::linear(Tensor input, Tensor weight) -> Tensor",
          "1:4x10 11:10x10", "2:4x10");
    et_op(m, 102, "aten::t(Tensor self) -> Tensor", "12:10x10", "12:10x10");
    et_op(m, 103, "aten::mm(Tensor self, Tensor mat2) -> Tensor",
          "2:4x10 12:10x10", "3:4x10");
    et_op(m, 104,
          "aten::addmm(Tensor self, Tensor mat1, Tensor mat2) -> Tensor",
          "13:10 20:4x10 14:10x10", "5:4x10");
    et_op(m, 105, "aten::relu(Tensor self) -> Tensor", "5:4x10", "6:4x10");
}

/* Weights of a forward pass are there all the time, data while it is used: at
 * the first product its data and result. */
static void test_life_memory__forward(void)
{
    struct msim_memory_peak peak;

    REQUIRE(peak_of_step(&peak, &(struct msim_memory_options){0}, put_forward));
    CHECK_INT(peak.by[MSIM_HELD_PARAMETER], 3 * 400 + 40);
    CHECK_INT(peak.by[MSIM_HELD_INPUT], 160);
    CHECK_INT(peak.by[MSIM_HELD_ACTIVATION], 160);
    CHECK_INT(peak.allocated, 1560);
}

/* At the end: nothing has set the gradient to zero. */
static void test_life_memory__kinds(void)
{
    struct msim_memory_peak peak;

    REQUIRE(peak_of(&peak, &(struct msim_memory_options){0}));
    CHECK_INT(peak.by[MSIM_HELD_PARAMETER], 4000);
    CHECK_INT(peak.by[MSIM_HELD_STATE], 4000);
    CHECK_INT(peak.by[MSIM_HELD_GRADIENT], 4000);
    CHECK_INT(peak.by[MSIM_HELD_ACTIVATION], 12000);
    CHECK_INT(peak.allocated, 24000);
    CHECK_INT(peak.reserved, 24000);
}

static void test_life_memory__as_on_a_gpu(void)
{
    struct msim_memory_peak peak;

    REQUIRE(peak_of(&peak, &(struct msim_memory_options){.caching = true}));
    CHECK_INT(peak.allocated, 3 * 4096 + 12288);
    CHECK_INT(peak.reserved, 2 << 20);
}

/* Results are there beside inputs, which go once the operator has returned. */
static void test_life_memory__order(void)
{
    struct msim_held_piece pieces[] = {
        {.bytes = 10, .from = 0, .to = 1},
        {.bytes = 5, .from = 1, .to = 2},
        {.bytes = 8, .from = 2, .to = 3},
    };
    struct msim_memory_picture m = {.pieces = pieces, .n = 3, .end = 4};
    struct msim_memory_peak peak;

    REQUIRE(msim_memory_peak_find(&peak, &m,
                                  &(struct msim_memory_options){0}) == MSIM_OK);
    CHECK_INT(peak.allocated, 15);
    CHECK_INT(peak.at, 1);
}

int main(void)
{
    RUN(test_life_memory__kinds);
    RUN(test_life_memory__forward);
    RUN(test_life_memory__as_on_a_gpu);
    RUN(test_life_memory__order);
    return check_summary();
}
