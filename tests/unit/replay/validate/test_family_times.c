/*
 * Times of a step by family: of operators on a CPU, of kernels on a GPU.
 */
#include "replay/validate/validation.h"

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

/* Without marks it is one pass through the execution trace: here of two nodes,
 * that were seen five times, so of 2.5 passes, which is 3. */
static void test_times__a_pass(void)
{
    struct made m = made_trace(0, 1);
    struct msim_family_times s, *each;
    uint32_t n = 77;
    struct msim_op *ops;
    struct loaded l;

    for (int i = 0; i < 5; i++)
        made_shaped(&m, "aten::mm", 10 * i, 6);
    made_shaped(&m, "aten::add", 50, 3);
    l = load(&m);
    REQUIRE(l.t != NULL && l.t->n_ops == 6);
    ops = l.job->ranks[0]->ops;
    ops[5].kind = MSIM_OP_ANNOTATION; /* a label, which is no operator */
    for (uint32_t i = 0; i < 5; i++)
        ops[i].et_id = 100 + i % 2;
    CHECK_INT(msim_family_times_of(&s, l.t, MSIM_NONE, NULL), MSIM_OK);
    CHECK_INT(s.steps, 3);
    CHECK_INT(s.number, -1);
    CHECK_INT(s.ops[MSIM_FAMILY_GEMM], 5 / 3);
    CHECK_INT(s.ops[MSIM_FAMILY_POINTWISE], 0);
    CHECK_REL(s.us[MSIM_FAMILY_GEMM], 10, 1e-12);
    CHECK_REL(s.operators_us, 10, 1e-12);
    CHECK_REL(s.step_us + 1, 1, 1e-12);
    /* Three nodes and four sights are one pass; no node at all is one, too. */
    ops[0].et_id = 102;
    ops[1].et_id = 0;
    CHECK_INT(msim_family_times_of(&s, l.t, MSIM_NONE, NULL), MSIM_OK);
    CHECK_INT(s.steps, 1);
    for (uint32_t i = 0; i < 5; i++)
        ops[i].et_id = 0;
    CHECK_INT(msim_family_times_of(&s, l.t, MSIM_NONE, NULL), MSIM_OK);
    CHECK_INT(s.steps, 1);
    CHECK_REL(s.operators_us, 30, 1e-12);
    CHECK_INT(msim_family_times_each(&each, &n, l.t), MSIM_OK);
    CHECK_INT(n, 0);
    free(each);
    msim_job_free(l.job);
}

/* By what runs: a collective, a copy, what an operator with works launched,
 * and all else that one did. What none launched is no step's. */
static void test_times__gpu_by_kind(void)
{
    static const struct {
        uint8_t kind;
        uint32_t op;
        enum msim_family family; /* COUNT: not counted */
    } ROWS[] = {{MSIM_GPU_KERNEL, 1, MSIM_FAMILY_GEMM},
                {MSIM_GPU_KERNEL, 2, MSIM_FAMILY_BOUND},
                {MSIM_GPU_COMM, 1, MSIM_FAMILY_COLLECTIVE},
                {MSIM_GPU_MEMCPY, 1, MSIM_FAMILY_COPY},
                {MSIM_GPU_MEMSET, 2, MSIM_FAMILY_COPY},
                {MSIM_GPU_KERNEL, MSIM_NONE, MSIM_FAMILY_COUNT},
                {MSIM_GPU_KERNEL, 3, MSIM_FAMILY_COUNT}}; /* of no step */

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct made m = made_trace(0, 1);
        struct msim_family_times s;
        struct msim_gpu *gpu;
        struct loaded l;

        made_step(&m, 1, 3, 0, 40);
        made_shaped(&m, "aten::mm", 10, 10);
        made_call(&m, 1, "cudaLaunchKernel", 12, 2, 1);
        made_kernel(&m, 7, "gemm", 60, 4, 1);
        made_call(&m, 1, "cudaLaunchKernel", 15, 2, 2);
        made_kernel(&m, 7, "split", 70, 5, 2);
        made_op(&m, 1, "my::odd", 30, 5);
        made_shaped(&m, "aten::mm", 40, 10); /* as the step ends */
        l = load(&m);
        REQUIRE(l.t != NULL && l.t->n_gpu == 2 && l.t->n_ops == 4);
        gpu = &l.job->ranks[0]->gpu[1];
        gpu->kind = ROWS[i].kind;
        gpu->op = ROWS[i].op;
        CHECK_INT(msim_family_times_of(&s, l.t, 0, NULL), MSIM_OK);
        CHECK_INT(s.ops[MSIM_FAMILY_GEMM], 1);
        CHECK_REL(s.operators_us, ROWS[i].family == MSIM_FAMILY_COUNT ? 4 : 9,
                  1e-12);
        if (ROWS[i].family != MSIM_FAMILY_COUNT)
            CHECK_REL(s.us[ROWS[i].family],
                      ROWS[i].family == MSIM_FAMILY_GEMM ? 9 : 5, 1e-12);
        msim_job_free(l.job);
    }
}

static void test_times__refused(void)
{
    struct made m = made_trace(0, 1);
    struct msim_family_times s;
    struct msim_error err = {0};
    struct loaded l;

    made_op(&m, 1, "aten::view", 0, 10);
    l = load(&m);
    REQUIRE(l.t != NULL);
    CHECK_INT(msim_family_times_of(&s, l.t, MSIM_NONE, &err), MSIM_EFORMAT);
    CHECK_STR(err.text, "found no operator that asks anything of a device, "
                        "want shapes in the trace (record_shapes=True)");
    l.job->ranks[0]->has_times = false;
    err = (struct msim_error){0};
    CHECK_INT(msim_family_times_of(&s, l.t, MSIM_NONE, &err), MSIM_EFORMAT);
    CHECK_STR(err.text, "found no times, want a Kineto trace (an execution "
                        "trace alone has none)");
    CHECK_INT(s.number, -1);
    msim_job_free(l.job);
}

int main(void)
{
    RUN(test_times__cpu);
    RUN(test_times__each);
    RUN(test_times__gpu);
    RUN(test_times__a_pass);
    RUN(test_times__gpu_by_kind);
    RUN(test_times__refused);
    return check_summary();
}
