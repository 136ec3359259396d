/*
 * What is run for a work: the same, its parts, its bytes, or nothing.
 */
#include "replay/run/replay_plan.h"

#include "tests/unit/replay/run/made_step.h"

static struct msim_work_runs runs_of(const struct msim_work *w)
{
    static const char *const TEXT = MADE_GREETING;
    cJSON *greeting = cJSON_Parse(TEXT);
    struct msim_work_runs r;

    msim_work_runs_find(&r, w, greeting);
    cJSON_Delete(greeting);
    return r;
}

static struct msim_work product(enum msim_dtype dtype)
{
    struct msim_work w = {.family = MSIM_FAMILY_GEMM, .dtype = dtype};

    w.u.gemm.m = 8;
    w.u.gemm.n = 16;
    w.u.gemm.k = 32;
    w.u.gemm.batch = 2;
    w.u.gemm.a_transposed = true;
    msim_work_count(&w);
    return w;
}

static void test_runs__product(void)
{
    struct msim_work w = product(MSIM_DT_F32);
    struct msim_work_runs r = runs_of(&w);

    REQUIRE(r.n == 1);
    CHECK_INT(r.how, MSIM_RUN_NATIVE);
    CHECK(!r.why);
    CHECK_INT(r.list[0].table, MSIM_TABLE_GEMM);
    CHECK_INT(r.list[0].work.u.gemm.m, 8);
    CHECK_INT(r.list[0].work.u.gemm.n, 16);
    CHECK_INT(r.list[0].work.u.gemm.k, 32);
    CHECK_INT(r.list[0].work.u.gemm.batch, 2);
    CHECK(r.list[0].work.u.gemm.a_transposed);
    CHECK(!r.list[0].work.u.gemm.b_transposed);
    /* A device without tf32 computes in plain fp32. */
    w.variant = "tf32";
    r = runs_of(&w);
    CHECK_INT(r.how, MSIM_RUN_NATIVE);
    CHECK_STR(r.list[0].dtype_word, "fp32");
}

static void test_runs__product_as_bytes(void)
{
    struct msim_work w = product(MSIM_DT_F16);
    struct msim_work_runs r = runs_of(&w);

    REQUIRE(r.n == 1);
    CHECK_INT(r.how, MSIM_RUN_BYTES);
    CHECK_STR(r.why, "no products of that type");
    CHECK_INT(r.list[0].table, MSIM_TABLE_COPY);
    /* A copy moves its bytes twice. */
    CHECK_INT(2 * r.list[0].u.copy.bytes,
              (uint64_t)(w.bytes_read + w.bytes_written));
}

static struct msim_work addition(double read)
{
    struct msim_work w = {.family = MSIM_FAMILY_POINTWISE,
                          .dtype = MSIM_DT_F32,
                          .variant = "add",
                          .bytes_read = read,
                          .bytes_written = 4000};

    w.u.vector.elems = w.u.vector.cols = 1000;
    w.u.vector.rows = 1;
    return w;
}

static void test_runs__vector(void)
{
    struct msim_work w = addition(8000);
    struct msim_work_runs r = runs_of(&w);

    CHECK_INT(r.how, MSIM_RUN_NATIVE);
    CHECK_STR(r.list[0].op, "add");
    CHECK_INT(r.list[0].work.u.vector.elems, 1000);
    w.in_place = true; /* there is no add_ */
    CHECK_INT(runs_of(&w).how, MSIM_RUN_NATIVE);
    w = addition(4000); /* the second operand is small: another routine */
    r = runs_of(&w);
    CHECK_INT(r.how, MSIM_RUN_BYTES);
    CHECK_INT(r.list[0].u.copy.bytes, 4000);
    w = addition(8000);
    w.variant = "nonsense";
    CHECK_INT(runs_of(&w).how, MSIM_RUN_BYTES);
}

static void test_runs__copy(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_COPY,
                          .dtype = MSIM_DT_I64,
                          .variant = "copy",
                          .bytes_read = 800,
                          .bytes_written = 800};
    struct msim_work_runs r = runs_of(&w);

    CHECK_INT(r.how, MSIM_RUN_NATIVE);
    CHECK_INT(r.list[0].u.copy.bytes, 800);
    w.u.vector.strided = true;
    CHECK_INT(runs_of(&w).how, MSIM_RUN_BYTES);
    w.u.vector.strided = false;
    w.u.vector.copy = MSIM_COPY_H2D; /* host and device are one */
    r = runs_of(&w);
    CHECK_INT(r.how, MSIM_RUN_NATIVE);
    CHECK_STR(r.list[0].op, "d2d");
    CHECK_INT(r.list[0].u.copy.bytes, 800);
}

static struct msim_work convolution(int64_t dilation)
{
    struct msim_work w = {.family = MSIM_FAMILY_CONV, .dtype = MSIM_DT_F32};

    w.u.conv.n = 2;
    w.u.conv.c = w.u.conv.k = 4;
    w.u.conv.h = w.u.conv.w = 10;
    w.u.conv.r = w.u.conv.s = 3;
    w.u.conv.stride_h = w.u.conv.stride_w = 1;
    w.u.conv.dilation_h = w.u.conv.dilation_w = dilation;
    w.u.conv.groups = 1;
    msim_work_count(&w);
    return w;
}

static void test_runs__convolution(void)
{
    struct msim_work w = convolution(1);
    struct msim_work_runs r = runs_of(&w);

    CHECK_INT(r.how, MSIM_RUN_NATIVE);
    CHECK_INT(r.list[0].table, MSIM_TABLE_CONV);
    w = convolution(2);
    r = runs_of(&w);
    CHECK_INT(r.how, MSIM_RUN_PARTS);
    CHECK_INT(r.list[0].table, MSIM_TABLE_GEMM);
    CHECK_REL(r.list[0].work.flops, w.flops, 1e-12);
}

static struct msim_work attention(bool backward)
{
    struct msim_work w = {.family = MSIM_FAMILY_ATTENTION,
                          .dtype = MSIM_DT_F32};

    w.u.attention.phase = MSIM_ATTENTION_ENCODER;
    w.u.attention.backward = backward;
    w.u.attention.batch = 2;
    w.u.attention.heads = w.u.attention.kv_heads = 3;
    w.u.attention.q_len = w.u.attention.kv_len = 16;
    w.u.attention.head_dim = 8;
    w.u.attention.kv_dtype = MSIM_DT_F32;
    msim_work_count(&w);
    return w;
}

/* The products of the parts are the work's arithmetic. */
static void test_runs__attention(void)
{
    for (int backward = 0; backward < 2; backward++) {
        struct msim_work w = attention(backward);
        struct msim_work_runs r = runs_of(&w);
        double flops = 0;

        CHECK_INT(r.how, MSIM_RUN_PARTS);
        CHECK_INT(r.n, backward ? 7 : 3);
        for (uint32_t i = 0; i < r.n; i++)
            if (r.list[i].table == MSIM_TABLE_GEMM)
                flops += r.list[i].work.flops;
        CHECK_REL(flops, w.flops, 1e-12);
        CHECK_INT(r.list[1].table, MSIM_TABLE_VECTOR);
        if (backward) /* no routine multiplies here */
            CHECK_INT(r.list[4].u.copy.bytes, 3 * 6 * 16 * 16 * 4 / 2);
    }
}

static void test_runs__not(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_COLLECTIVE};
    struct msim_work_runs r = runs_of(&w);

    CHECK_INT(r.how, MSIM_RUN_NOT);
    CHECK_INT(r.n, 0);
    CHECK_STR(r.why, "one rank alone has no collectives");
}

static void test_runs__replaced(void)
{
    struct msim_work w = product(MSIM_DT_F32);
    struct msim_work_runs r = runs_of(&w);
    struct msim_experiment e = msim_run_as_bytes(&r.list[0]);

    CHECK_INT(e.table, MSIM_TABLE_COPY);
    CHECK_INT(2 * e.u.copy.bytes, (uint64_t)(w.bytes_read + w.bytes_written));
}

int main(void)
{
    RUN(test_runs__product);
    RUN(test_runs__product_as_bytes);
    RUN(test_runs__vector);
    RUN(test_runs__copy);
    RUN(test_runs__convolution);
    RUN(test_runs__attention);
    RUN(test_runs__not);
    RUN(test_runs__replaced);
    return check_summary();
}
