/*
 * Points of the space of experiments, by hand: eight sizes an octave between
 * limits on a logarithmic scale, choices, and what is outside the limits.
 */
#include "calibrate/measure/experiment_space.h"

#include "tests/check.h"

#include <stdlib.h>

static void read_space(struct msim_cal_space *s, const char *greeting)
{
    cJSON *o = cJSON_Parse(greeting);

    CHECK_INT(msim_cal_space_read(s, o, 1e4, NULL), MSIM_OK);
    cJSON_Delete(o);
}

#define GPU                                                                    \
    "{\"device\":{\"kind\":\"gpu\",\"sms\":100,\"memory_bytes\":4e9},"         \
    "\"ranks\":4,\"interconnect\":\"nvlink\",\"tables\":{"

/* ---- greetings ----------------------------------------------------------- */

static void test_space__kinds_and_their_words(void)
{
    static const struct {
        enum msim_table table;
        const char *kind, *op, *dtype;
        uint32_t axes, sizes, weight;
    } WANT[] = {
        {MSIM_TABLE_GEMM, "fp16", "", "fp16", 6, 4, 12},
        {MSIM_TABLE_GEMM, "fp64", "", "fp64", 6, 4, 4},
        {MSIM_TABLE_GEMM, "fp8", "", "fp8", 6, 4, 6},
        {MSIM_TABLE_GEMM, "int8", "", "int8", 6, 4, 6},
        {MSIM_TABLE_CONV, "conv2d_fwd:fp32", "conv2d_fwd", "fp32", 7, 4, 8},
        {MSIM_TABLE_ATTENTION, "decode:bf16", "decode", "bf16", 5, 3, 8},
        {MSIM_TABLE_VECTOR, "add:fp64", "add", "fp64", 2, 2, 1},
        {MSIM_TABLE_COLLECTIVE, "all_reduce", "all_reduce", "", 1, 1, 4},
        {MSIM_TABLE_COLLECTIVE, "broadcast:fp16", "broadcast", "fp16", 1, 1, 4},
        {MSIM_TABLE_COPY, "d2d", "d2d", "", 1, 1, 1},
        {MSIM_TABLE_COPY, "h2d:pageable", "h2d", "", 1, 1, 1},
        {MSIM_TABLE_COPY, "h2d:pinned", "h2d", "", 1, 1, 1},
        {MSIM_TABLE_LATENCY, "call:x", "call:x", "", 0, 0, 1},
        {MSIM_TABLE_DISPATCH, "eager", "eager", "", 0, 0, 1},
    };
    struct msim_cal_space s;

    read_space(&s, GPU
               "\"gemm\":[\"fp16\",7,\"fp64\",\"fp8\",\"int8\"],\"nothing\":"
               "[\"x\"],\"conv\":[\"conv2d_fwd:fp32\"],\"attention\":["
               "\"decode:bf16\"],\"vector\":[\"add:fp64\"],\"collective\":["
               "\"all_reduce\",\"broadcast:fp16\"],\"copy\":[\"d2d\","
               "\"h2d:pageable\",\"h2d:pinned\"],\"latency\":[\"call:x\"],"
               "\"dispatch\":[\"eager\"]}}");
    REQUIRE(s.n == sizeof(WANT) / sizeof(*WANT));
    for (uint32_t i = 0; i < s.n; i++) {
        CHECK_INT(s.kinds[i].table, WANT[i].table);
        CHECK_STR(s.kinds[i].kind, WANT[i].kind);
        CHECK_STR(s.kinds[i].op, WANT[i].op);
        CHECK_STR(s.kinds[i].dtype, WANT[i].dtype);
        CHECK_UINT(s.kinds[i].axes, WANT[i].axes);
        CHECK_UINT(s.kinds[i].sizes, WANT[i].sizes);
        CHECK_UINT(s.kinds[i].weight, WANT[i].weight);
        CHECK_INT(s.kinds[i].pageable, i == 10);
    }
    CHECK_STR(s.interconnect, "nvlink");
    CHECK_UINT(s.ranks, 4);
    CHECK_REL(s.longest_us, 1e4, 0);
}

/* An eighth of the memory, a gigabyte at most; copies of ten caches (eight, and
 * a quarter more), 2^28 bytes at least, a sixteenth of the memory at most. */
static void test_space__limits(void)
{
    struct msim_cal_space s;

    read_space(&s, "{\"device\":{\"memory_bytes\":4e9},\"tables\":{}}");
    CHECK_REL(s.bytes_most, 5e8, 1e-12);
    CHECK_REL(s.copy_most, 2.5e8, 1e-12);
    CHECK_UINT(s.ranks, 1);
    CHECK_STR(s.interconnect, "");
    read_space(&s, "{\"device\":{\"memory_bytes\":18e10,\"l2_bytes\":126e6},"
                   "\"tables\":{}}");
    CHECK_REL(s.bytes_most, 1e9, 1e-12);
    CHECK_REL(s.copy_most, 1.26e9, 1e-12);
    read_space(&s, "{\"device\":{\"memory_bytes\":18e10,\"l2_bytes\":126e6,"
                   "\"kind\":\"cpu\"},\"tables\":{}}");
    CHECK_REL(s.copy_most, 2.5 * 126e6, 1e-12);
    read_space(&s, "{\"device\":{},\"tables\":{}}"); /* 10 GB */
    CHECK_REL(s.bytes_most, 1e9, 1e-12);
    CHECK_REL(s.copy_most, 1 << 28, 1e-12);
}

/* A copy of a CPU tells of memory past its last cache alone, too; half of an
 * eighth of a small memory is all there is. */
static void test_space__copies_of_a_cpu(void)
{
    struct msim_cal_space s;

    read_space(&s, "{\"device\":{\"kind\":\"cpu\",\"l2_bytes\":3e8,"
                   "\"memory_bytes\":1e11},\"tables\":{}}");
    CHECK_REL(s.copy_most, 7.5e8, 1e-12);
    read_space(&s, "{\"device\":{\"kind\":\"cpu\",\"l2_bytes\":3e8,"
                   "\"memory_bytes\":8e9},\"tables\":{}}");
    CHECK_REL(s.copy_most, 5e8, 1e-12);
}

/* As many kinds as there is room for. */
static void test_space__many_kinds(void)
{
    cJSON *o = cJSON_Parse(GPU "\"vector\":[]}}");
    cJSON *list =
        cJSON_GetObjectItem(cJSON_GetObjectItem(o, "tables"), "vector");
    struct msim_cal_space s;
    char word[16];

    for (int i = 0; i < MSIM_CAL_KINDS + 9; i++) {
        snprintf(word, sizeof(word), "k%d:fp32", i);
        cJSON_AddItemToArray(list, cJSON_CreateString(word));
    }
    REQUIRE(msim_cal_space_read(&s, o, 1, NULL) == MSIM_OK);
    CHECK_UINT(s.n, MSIM_CAL_KINDS);
    CHECK_STR(s.kinds[MSIM_CAL_KINDS - 1].op, "k383");
    cJSON_Delete(o);
}

static void test_space__beside_a_collective(void)
{
    cJSON *o = cJSON_Parse(GPU "\"gemm\":[\"fp16\"]},\"beside\":{\"vector\":["
                               "\"add:fp32\",\"mul:fp32\"]}}");
    struct msim_cal_space s;

    msim_cal_space_concurrent(&s, o, 7);
    CHECK_UINT(s.n, 2);
    CHECK_STR(s.kinds[0].op, "add");
    CHECK_REL(s.longest_us, 7, 0);
    cJSON_Delete(o);
}

/* ---- points -------------------------------------------------------------- */

/* Of the space's first kind. */
static struct msim_work at(const struct msim_cal_space *s, const double *u)
{
    struct msim_cal_experiment e;

    (void)msim_cal_space_point(s, &s->kinds[0], u, &e);
    CHECK_UINT(msim_cal_space_kind(s, &e.timed), 0);
    return e.timed.work;
}

/* 2^7.42 is 171.3, and sixteenths of 128 are steps of 16: 176. 2^2.8 is 7.0. */
static void test_point__of_a_product(void)
{
    double u[MSIM_CAL_AXES] = {0.53, 0.5, 0.25, 0.5, 0.69, 0};
    struct msim_cal_space s;
    struct msim_work w;

    read_space(&s, GPU "\"gemm\":[\"fp16\"]}}");
    w = at(&s, u);
    CHECK_INT(w.u.gemm.m, 176);
    CHECK_INT(w.u.gemm.n, 1024); /* from 64 */
    CHECK_INT(w.u.gemm.k, 256);
    CHECK_INT(w.u.gemm.batch, 1);
    CHECK(!w.u.gemm.a_transposed && !w.u.gemm.b_transposed);
    u[4] = 0.71; /* a batch */
    u[5] = 0.34;
    w = at(&s, u);
    CHECK_INT(w.u.gemm.batch, 8);
    CHECK(!w.u.gemm.a_transposed && w.u.gemm.b_transposed);
    u[5] = 0.67;
    w = at(&s, u);
    CHECK(w.u.gemm.a_transposed && !w.u.gemm.b_transposed);
    u[0] = 0.2;
    u[1] = u[2] = 0;
    u[5] = 1; /* the last choice */
    w = at(&s, u);
    CHECK_INT(w.u.gemm.m, 7);
    CHECK_INT(w.u.gemm.n, 64);
    CHECK_INT(w.u.gemm.k, 64);
    CHECK(w.u.gemm.a_transposed && !w.u.gemm.b_transposed);
    u[0] = u[1] = u[2] = u[3] = 1;
    w = at(&s, u);
    CHECK_INT(w.u.gemm.m, 16384);
    CHECK_INT(w.u.gemm.n, 16384);
    CHECK_INT(w.u.gemm.k, 16384);
    CHECK_INT(w.u.gemm.batch, 64);
}

/* 8-bit numbers are in vectors of 16, k innermost. */
static void test_point__of_eight_bits(void)
{
    static const char *const GREETINGS[] = {GPU "\"gemm\":[\"fp8\"]}}",
                                            GPU "\"gemm\":[\"int8\"]}}"};
    const double u[MSIM_CAL_AXES] = {0.2, 0.02, 0.5, 0, 0, 0.9};
    struct msim_cal_space s;
    struct msim_work w;

    for (int i = 0; i < 2; i++) {
        read_space(&s, GREETINGS[i]);
        w = at(&s, u);
        CHECK_INT(w.u.gemm.m, 16); /* 7 */
        CHECK_INT(w.u.gemm.n, 80); /* 2^6.16 is 71.5: 72 */
        CHECK_INT(w.u.gemm.k, 1024);
        CHECK(!w.u.gemm.a_transposed && w.u.gemm.b_transposed);
    }
}

static void test_point__of_a_convolution(void)
{
    static const struct {
        double u;
        int64_t filter;
    } FILTERS[] = {{0, 1},    {0.28, 1}, {0.29, 3}, {0.71, 3},
                   {0.72, 5}, {0.85, 5}, {0.86, 7}, {1, 7}};
    double u[MSIM_CAL_AXES] = {0.5, 0.5, 0, 0.03, 0, 0.69, 0.06};
    struct msim_cal_space s;
    struct msim_work w;

    read_space(&s, GPU "\"conv\":[\"conv2d_fwd:fp16\"]}}");
    for (int i = 0; i < 8; i++) {
        u[4] = FILTERS[i].u;
        w = at(&s, u);
        CHECK_INT(w.u.conv.r, FILTERS[i].filter);
        CHECK_INT(w.u.conv.s, FILTERS[i].filter);
        CHECK_INT(w.u.conv.pad_h, FILTERS[i].filter / 2);
        CHECK_INT(w.u.conv.pad_w, FILTERS[i].filter / 2);
    }
    CHECK_INT(w.u.conv.n, 8);
    CHECK_INT(w.u.conv.c, 128);
    CHECK_INT(w.u.conv.h, 7);
    CHECK_INT(w.u.conv.w, 7);
    CHECK_INT(w.u.conv.k, 16); /* 2^4.18 is 18.1, in steps of 2, then of 8 */
    CHECK_INT(w.u.conv.stride_h, 1);
    CHECK_INT(w.u.conv.groups, 1);
    u[3] = 0.07; /* 2^4.42 is 21.4: 22, and 24 */
    u[5] = 0.71;
    u[6] = 0.04; /* pictures */
    w = at(&s, u);
    CHECK_INT(w.u.conv.k, 24);
    CHECK_INT(w.u.conv.c, 3);
    CHECK_INT(w.u.conv.stride_h, 2);
    CHECK_INT(w.u.conv.stride_w, 2);
    read_space(&s, GPU "\"conv\":[\"conv2d_bwd_data:fp16\"]}}");
    w = at(&s, u);
    CHECK_INT(w.u.conv.c, 128); /* nobody wants their gradient */
}

/* 2^8.5 is 362, in steps of 32: 352. */
static void test_point__of_attention(void)
{
    static const int64_t DIMS[] = {64, 128, 64, 96};
    double u[MSIM_CAL_AXES] = {0.5, 0.5, 0.5, 0.76, 0};
    struct msim_cal_space s;
    struct msim_work w;

    read_space(&s, GPU "\"attention\":[\"prefill:fp16\"]}}");
    for (int i = 0; i < 4; i++) {
        u[4] = 0.25 * i;
        w = at(&s, u);
        CHECK_INT(w.u.attention.head_dim, DIMS[i]);
    }
    CHECK_INT(w.u.attention.batch, 8);
    CHECK_INT(w.u.attention.heads, 8);
    CHECK_INT(w.u.attention.kv_heads, 2); /* four share keys */
    CHECK_INT(w.u.attention.kv_len, 352);
    CHECK_INT(w.u.attention.q_len, 352);
    u[3] = 0.75;
    w = at(&s, u);
    CHECK_INT(w.u.attention.kv_heads, 8);
    u[1] = 0.43; /* 2^2.58 is 6: four cannot share */
    u[3] = 0.9;
    w = at(&s, u);
    CHECK_INT(w.u.attention.heads, 6);
    CHECK_INT(w.u.attention.kv_heads, 6);
    read_space(&s, GPU "\"attention\":[\"decode:fp16\"]}}");
    w = at(&s, u);
    CHECK_INT(w.u.attention.q_len, 1);
    CHECK_INT(w.u.attention.kv_len, 352);
}

static struct msim_experiment vector_at(const char *greeting, double row,
                                        double col)
{
    const double u[MSIM_CAL_AXES] = {row, col};
    struct msim_cal_experiment e;
    struct msim_cal_space s;

    read_space(&s, greeting);
    (void)msim_cal_space_point(&s, &s.kinds[0], u, &e);
    e.timed.op = e.timed.dtype_word = NULL; /* they are the space's */
    return e.timed;
}

static void test_point__of_a_vector(void)
{
    struct msim_experiment e =
        vector_at(GPU "\"vector\":[\"add:fp16\"]}}", 0.5, 0.5);

    CHECK_INT(e.work.u.vector.rows, 1024);
    CHECK_INT(e.work.u.vector.cols, 1024);
    CHECK_INT(e.work.u.vector.elems, 1 << 20);
    CHECK_REL(e.u.vector.bytes, 0, 0);
    CHECK_INT(e.u.vector.table_rows, 0);
    /* channels: 2^7.5 is 181, in steps of 16 */
    e = vector_at(GPU "\"vector\":[\"batch_norm:fp16\"]}}", 0.5, 0.5);
    CHECK_INT(e.work.u.vector.rows, 176);
    CHECK_INT(e.work.u.vector.cols, 4096);
    /* what a figure a row, and a mask, are */
    e = vector_at(GPU "\"vector\":[\"sum:fp16\"]}}", 0.5, 0.5);
    CHECK_REL(e.u.vector.bytes, 2 * ((1 << 20) + 1024), 1e-12);
    e = vector_at(GPU "\"vector\":[\"dropout:fp16\"]}}", 0.5, 0.5);
    CHECK_REL(e.u.vector.bytes, 5 * (1 << 20), 1e-12);
    /* 2^24 numbers at most, in 65536 rows at most */
    e = vector_at(GPU "\"vector\":[\"index_select:fp16\"]}}", 0.5, 0.5);
    CHECK_INT(e.u.vector.table_rows, 16384);
    e = vector_at(GPU "\"vector\":[\"index_select:fp16\"]}}", 0.5, 0);
    CHECK_INT(e.u.vector.table_rows, 65536);
    e = vector_at(GPU "\"vector\":[\"embedding_backward:fp16\"]}}", 0.5, 1);
    CHECK_INT(e.u.vector.table_rows, 256);
}

static void test_point__of_what_is_moved(void)
{
    const double u[MSIM_CAL_AXES] = {0.5};
    struct msim_cal_space s;
    struct msim_cal_experiment e;
    struct msim_work w;

    read_space(&s, GPU "\"collective\":[\"all_reduce\"]}}");
    w = at(&s, u);
    CHECK_UINT(w.u.coll.bytes, 1 << 20); /* 2^12 to 2^28 */
    CHECK_UINT(w.u.coll.ranks, 4);
    CHECK_UINT(w.u.coll.nodes, 1);
    CHECK_STR(w.u.coll.interconnect, "nvlink");
    s.interconnect[0] = '\0';
    w = at(&s, u);
    CHECK(w.u.coll.interconnect == NULL);
    read_space(&s, GPU "\"copy\":[\"h2d:pageable\"]}}");
    s.copy_most = 1 << 20;
    (void)msim_cal_space_point(&s, &s.kinds[0], u, &e);
    CHECK_UINT(e.timed.u.copy.bytes, 1 << 16);
    CHECK(e.timed.u.copy.pageable);
    CHECK_UINT(msim_cal_space_kind(&s, &e.timed), 0);
    e.timed.u.copy.pageable = false;
    CHECK_UINT(msim_cal_space_kind(&s, &e.timed), 1);
}

/* ---- limits -------------------------------------------------------------- */

/* A copy of 4096 bytes reads and writes 8192: at 8.192 GB/s that is a
 * microsecond, which a clock can time, less is not. */
static void test_point__within_limits(void)
{
    const double u[MSIM_CAL_AXES] = {0};
    struct msim_cal_experiment e;
    struct msim_cal_space s;

    read_space(&s, GPU "\"copy\":[\"d2d\"],\"latency\":[\"call\"]}}");
    s.guess = (struct msim_cal_guess){1e12, 8.191e9, 3};
    CHECK(msim_cal_space_point(&s, &s.kinds[0], u, &e));
    s.guess.bandwidth = 8.193e9;
    CHECK(!msim_cal_space_point(&s, &s.kinds[0], u, &e));
    CHECK(msim_cal_space_point(&s, &s.kinds[1], u, &e)); /* it has no size */
    /* copies may take eight times as long: 3 + 1 us for half a one */
    s.guess.bandwidth = 8.192e9 / 1.0001;
    s.longest_us = 0.50002;
    CHECK(msim_cal_space_point(&s, &s.kinds[0], u, &e));
    s.longest_us = 0.5;
    CHECK(!msim_cal_space_point(&s, &s.kinds[0], u, &e));
    /* and twice the bytes of the largest copy */
    s.longest_us = 1e4;
    s.bytes_most = 8191;
    CHECK(msim_cal_space_point(&s, &s.kinds[0], u, &e));
    read_space(&s, GPU "\"vector\":[\"copy:fp16\"]}}");
    s.guess = (struct msim_cal_guess){1e12, 1e6, 3}; /* 16 x 2 x 2 bytes */
    s.bytes_most = 64;
    CHECK(msim_cal_space_point(&s, &s.kinds[0], u, &e));
    s.bytes_most = 63;
    CHECK(!msim_cal_space_point(&s, &s.kinds[0], u, &e));
    s.bytes_most = 64;
    s.longest_us = 66;
    CHECK(!msim_cal_space_point(&s, &s.kinds[0], u, &e));
    s.longest_us = 67.001;
    CHECK(msim_cal_space_point(&s, &s.kinds[0], u, &e));
    /* what a trace has may take ten times as long */
    s.longest_us = 6.701;
    CHECK(msim_cal_space_offers(&s, &e));
    s.longest_us = 6.6;
    CHECK(!msim_cal_space_offers(&s, &e));
    s.longest_us = 1e4;
    s.bytes_most = 63;
    CHECK(!msim_cal_space_offers(&s, &e));
    s.bytes_most = 64;
    e.timed.op = "add";
    CHECK(!msim_cal_space_offers(&s, &e));
}

int main(void)
{
    RUN(test_space__kinds_and_their_words);
    RUN(test_space__limits);
    RUN(test_space__copies_of_a_cpu);
    RUN(test_space__many_kinds);
    RUN(test_space__beside_a_collective);
    RUN(test_point__of_a_product);
    RUN(test_point__of_eight_bits);
    RUN(test_point__of_a_convolution);
    RUN(test_point__of_attention);
    RUN(test_point__of_a_vector);
    RUN(test_point__of_what_is_moved);
    RUN(test_point__within_limits);
    return check_summary();
}
