/*
 * Times of a step by family: of operators on a CPU, of kernels on a GPU.
 */
#include "replay/validate/family_times.h"

#include "tests/unit/loaded.h"
#include "tests/unit/made_kineto.h"

/* An operator on two tensors of 64 x 64. */
static void made_shaped(struct made *m, const char *name, int ts, int dur)
{
    made_event(m, "cpu_op", name, MADE_HOST, 1, ts, dur);
    made_add(m, "\"Input Dims\":[[64,64],[64,64]],\"Input type\":[\"float\","
                "\"float\"]}},");
}

/* Two steps, a third one that asks nothing of a device, and the mark of a
 * fourth with nothing behind it. */
static struct made steps(void)
{
    struct made m = made_trace(0, 1);

    made_step(&m, 1, 3, 0, 100);
    made_shaped(&m, "aten::mm", 10, 20);
    made_shaped(&m, "aten::add", 40, 5);
    made_op(&m, 1, "aten::view", 50, 7);
    made_step(&m, 1, 4, 100, 80);
    made_shaped(&m, "aten::mm", 110, 40);
    made_step(&m, 1, 5, 200, 10);
    made_op(&m, 1, "aten::view", 202, 5);
    made_step(&m, 1, 6, 220, 10);
    return m;
}

struct loaded {
    struct msim_job *job;
    const struct msim_trace *t;
    struct msim_error err;
};

/* Takes the trace. */
static struct loaded load(struct made *m)
{
    struct loaded l = {.job = NULL};
    char *text = made_text(m);

    l.job = load_text(text, false, &l.err);
    l.t = l.job ? l.job->ranks[0] : NULL;
    free(text);
    made_free(m);
    return l;
}

static void test_times__cpu(void)
{
    struct made m = steps();
    struct loaded l = load(&m);
    struct msim_family_times s;

    REQUIRE(l.t != NULL);
    CHECK_INT(msim_family_times_of(&s, l.t, 1, &l.err), MSIM_OK);
    CHECK_INT(s.steps, 1);
    CHECK_INT(s.number, 4);
    CHECK_REL(s.step_us, 80, 1e-12);
    CHECK_REL(s.operators_us, 40, 1e-12);
    CHECK_INT(msim_family_times_of(&s, l.t, 0, &l.err), MSIM_OK);
    CHECK_REL(s.us[MSIM_FAMILY_GEMM], 20, 1e-12);
    CHECK_REL(s.us[MSIM_FAMILY_POINTWISE], 5, 1e-12);
    CHECK_INT(s.ops[MSIM_FAMILY_GEMM], 1);
    CHECK_INT(s.ops[MSIM_FAMILY_POINTWISE], 1);
    /* The mean of those that ask something of a device. */
    CHECK_INT(msim_family_times_of(&s, l.t, MSIM_NONE, &l.err), MSIM_OK);
    CHECK_INT(s.steps, 2);
    CHECK_REL(s.step_us, 90, 1e-12);
    CHECK_REL(s.us[MSIM_FAMILY_GEMM], 30, 1e-12);
    CHECK_REL(s.us[MSIM_FAMILY_POINTWISE], 2.5, 1e-12);
    CHECK_REL(s.operators_us, 32.5, 1e-12);
    CHECK_INT(msim_family_times_of(&s, l.t, 2, &l.err), MSIM_EFORMAT);
    msim_job_free(l.job);
}

/* Steps without an operator are none. */
static void test_times__each(void)
{
    struct made m = steps();
    struct loaded l = load(&m);
    struct msim_family_times *each;
    uint32_t n;

    REQUIRE(l.t != NULL);
    CHECK_INT(msim_family_times_each(&each, &n, l.t), MSIM_OK);
    REQUIRE(n == 2);
    CHECK_INT(each[0].number, 3);
    CHECK_REL(each[0].step_us, 100, 1e-12);
    CHECK_REL(each[0].operators_us, 25, 1e-12);
    CHECK_INT(each[1].number, 4);
    CHECK_REL(each[1].operators_us, 40, 1e-12);
    free(each);
    msim_job_free(l.job);
}

/* Kernels count, wherever they run; what launched them does not. */
static void test_times__gpu(void)
{
    struct made m = made_trace(0, 1);
    struct loaded l;
    struct msim_family_times s;

    made_step(&m, 1, 0, 0, 100);
    made_shaped(&m, "aten::mm", 10, 20);
    made_call(&m, 1, "cudaLaunchKernel", 12, 2, 1);
    made_kernel(&m, 7, "gemm", 60, 300, 1);
    made_op(&m, 1, "aten::copy_", 40, 5);
    made_call(&m, 1, "cudaMemcpyAsync", 41, 2, 2);
    made_copy(&m, 7, "DtoD (Device -> Device)", 400, 30, 2, 4096);
    l = load(&m);
    REQUIRE(l.t != NULL);
    CHECK_INT(msim_family_times_of(&s, l.t, 0, &l.err), MSIM_OK);
    CHECK_REL(s.us[MSIM_FAMILY_GEMM], 300, 1e-12);
    CHECK_REL(s.us[MSIM_FAMILY_COPY], 30, 1e-12);
    CHECK_REL(s.operators_us, 330, 1e-12);
    msim_job_free(l.job);
}

int main(void)
{
    RUN(test_times__cpu);
    RUN(test_times__each);
    RUN(test_times__gpu);
    return check_summary();
}
