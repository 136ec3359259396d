/*
 * Works as experiments: what stands for what, which have none, and the order
 * of a trace's; what an experiment may take before anything is known.
 */
#include "calibrate/measure/experiment_space.h"

#include "tests/check.h"

#include <stdlib.h>

static const char *line_of(const struct msim_work *w, bool on_cpu)
{
    static char text[512];
    struct msim_cal_experiment e;
    cJSON *o;

    if (!msim_cal_of_work(&e, w, on_cpu))
        return "none";
    o = msim_cal_experiment_json(&e);
    if (!cJSON_PrintPreallocated(o, text, sizeof(text), false))
        text[0] = '\0';
    cJSON_Delete(o);
    return text;
}

static struct msim_work conv(void)
{
    return (struct msim_work){.family = MSIM_FAMILY_CONV,
                              .dtype = MSIM_DT_F32,
                              .u.conv = {.n = 2,
                                         .c = 3,
                                         .h = 9,
                                         .w = 8,
                                         .k = 5,
                                         .r = 3,
                                         .s = 4,
                                         .stride_h = 2,
                                         .stride_w = 2,
                                         .pad_h = 1,
                                         .pad_w = 1,
                                         .dilation_h = 1,
                                         .dilation_w = 1,
                                         .channels_last = true}};
}

/* One stride, one padding, no holes in the filter, and no transposed one. */
static void test_of_work__convolutions(void)
{
    struct msim_work w = conv();

    CHECK_STR(line_of(&w, false),
              "{\"table\":\"conv\",\"op\":\"conv2d_fwd\",\"dtype\":\"fp32\","
              "\"n\":2,\"c\":3,\"h\":9,\"w\":8,\"k\":5,\"r\":3,\"s\":4,"
              "\"stride\":2,\"pad\":1,\"groups\":1}");
    w.u.conv.dilation_h = w.u.conv.dilation_w = 0;
    CHECK(strstr(line_of(&w, false), "\"groups\":1}"));
    w.u.conv.groups = 3;
    CHECK(strstr(line_of(&w, false), "\"groups\":3}"));
    w.u.conv.stride_w = 1;
    CHECK_STR(line_of(&w, false), "none");
    w = conv();
    w.u.conv.pad_h = 2;
    CHECK_STR(line_of(&w, false), "none");
    w = conv();
    w.u.conv.dilation_h = 2;
    CHECK_STR(line_of(&w, false), "none");
    w = conv();
    w.u.conv.dilation_w = 2;
    CHECK_STR(line_of(&w, false), "none");
    w = conv();
    w.u.conv.transposed = true;
    CHECK_STR(line_of(&w, false), "none");
}

static void test_of_work__attention(void)
{
    static const char *const PHASES[] = {"prefill", "decode", "encoder"};
    struct msim_work w = {.family = MSIM_FAMILY_ATTENTION,
                          .dtype = MSIM_DT_F16,
                          .u.attention = {.batch = 2,
                                          .heads = 8,
                                          .kv_heads = 4,
                                          .q_len = 16,
                                          .kv_len = 32,
                                          .head_dim = 64}};
    char want[256];

    for (int i = 0; i < 3; i++) {
        w.u.attention.phase = (enum msim_attention_phase)i;
        snprintf(want, sizeof(want),
                 "{\"table\":\"attention\",\"phase\":\"%s\",\"dtype\":\"fp16\","
                 "\"batch\":2,\"heads\":8,\"kv_heads\":4,\"q_len\":16,"
                 "\"kv_len\":32,\"head_dim\":64}",
                 PHASES[i]);
        CHECK_STR(line_of(&w, false), want);
    }
    w.u.attention.window = 8;
    CHECK_STR(line_of(&w, false), "none");
    w.u.attention.window = 0;
    w.u.attention.backward = true;
    CHECK_STR(line_of(&w, false), "none");
}

/* Operators that no backend has go by one of their family; elementwise ones
 * by how much more they read than one operand, 4 x 24 bytes here. */
static void test_of_work__vectors(void)
{
    static const struct {
        enum msim_family family;
        const char *variant;
        double bytes_read;
        const char *op;
        const char *more; /* behind the shape */
    } CASES[] = {
        {MSIM_FAMILY_POINTWISE, "gelu", 96, "gelu", ""},
        {MSIM_FAMILY_POINTWISE, "strange", 96, "relu", ""},
        {MSIM_FAMILY_POINTWISE, "strange", 144, "relu", ""},
        {MSIM_FAMILY_POINTWISE, "strange", 145, "add", ""},
        {MSIM_FAMILY_POINTWISE, "dropout", 96, "dropout", ",\"bytes\":103"},
        {MSIM_FAMILY_REDUCTION, "strange", 96, "sum", ",\"bytes\":103"},
        {MSIM_FAMILY_SOFTMAX, "strange", 96, "softmax", ""},
        {MSIM_FAMILY_NORM, "strange", 96, "layer_norm", ""},
        {MSIM_FAMILY_EMBEDDING, "strange", 96, "index_select", ""},
        {MSIM_FAMILY_COPY, "strange", 96, "copy", ""},
    };
    char want[256];

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        struct msim_work w = {.family = CASES[i].family,
                              .dtype = MSIM_DT_F32,
                              .variant = CASES[i].variant,
                              .bytes_read = CASES[i].bytes_read,
                              .bytes_written = 7,
                              .u.vector = {.elems = 24, .rows = 4, .cols = 6}};

        snprintf(want, sizeof(want),
                 "{\"table\":\"vector\",\"op\":\"%s\",\"dtype\":\"fp32\","
                 "\"shape\":\"4x6\"%s}",
                 CASES[i].op, CASES[i].more);
        CHECK_STR(line_of(&w, false), want);
    }
}

/* Without rows or columns all elements are one row; look-ups have rows of
 * their table. */
static void test_of_work__shapes(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_POINTWISE,
                          .dtype = MSIM_DT_F32,
                          .variant = "add",
                          .u.vector = {.elems = 24, .rows = 4, .cols = 0}};

    CHECK(strstr(line_of(&w, false), "\"shape\":\"1x24\""));
    w.u.vector.rows = 0;
    w.u.vector.cols = 6;
    CHECK(strstr(line_of(&w, false), "\"shape\":\"1x24\""));
    w.u.vector.elems = 0;
    CHECK_STR(line_of(&w, false), "none");
    w.u.vector.elems = 1;
    CHECK(strstr(line_of(&w, false), "\"shape\":\"1x1\""));
    w.u.vector.rows = w.u.vector.cols = 1;
    CHECK(strstr(line_of(&w, false), "\"shape\":\"1x1\""));
    w = (struct msim_work){.family = MSIM_FAMILY_EMBEDDING,
                           .dtype = MSIM_DT_F32,
                           .variant = "index_select",
                           .u.vector = {.elems = 24,
                                        .rows = 4,
                                        .cols = 6,
                                        .lookups = 7,
                                        .table_rows = 1,
                                        .row_bytes = 20}};
    CHECK(strstr(line_of(&w, false), "\"shape\":\"7x5\",\"table_rows\":1}"));
    w.u.vector.row_bytes = 0;
    CHECK(strstr(line_of(&w, false), "\"shape\":\"4x6\"}"));
    w.u.vector.row_bytes = 20;
    w.u.vector.table_rows = 0;
    CHECK(strstr(line_of(&w, false), "\"shape\":\"4x6\"}"));
    w = (struct msim_work){.family = MSIM_FAMILY_COLLECTIVE};
    CHECK_STR(line_of(&w, false), "none");
    w = (struct msim_work){.family = MSIM_FAMILY_GEMM,
                           .dtype = MSIM_DT_F32,
                           .variant = "tf32",
                           .u.gemm = {.m = 2, .n = 3, .k = 4, .batch = 1}};
    CHECK(strstr(line_of(&w, false), "\"dtype\":\"tf32\""));
    w.variant = NULL;
    CHECK(strstr(line_of(&w, false), "\"dtype\":\"fp32\""));
}

/* A backend clears the whole table of a gradient: one of unknown size is no
 * experiment, where a look-up in one takes the size that backends take. */
static void test_trace_experiments__tables(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_EMBEDDING,
                          .dtype = MSIM_DT_F32,
                          .variant = "embedding_backward",
                          .u.vector = {.elems = 256, .rows = 2, .cols = 128}};
    struct msim_cal_experiment e;

    CHECK(!msim_cal_of_work(&e, &w, true));
    w.u.vector.lookups = 2;
    w.u.vector.table_rows = 40;
    w.u.vector.row_bytes = 512;
    CHECK(msim_cal_of_work(&e, &w, true));
    CHECK_INT(e.timed.u.vector.table_rows, 40);
    w.u.vector.table_rows = 0;
    w.variant = "index_select";
    CHECK(msim_cal_of_work(&e, &w, true));
}

static bool has_line(const struct msim_cal_shapes *s, const char *want)
{
    char text[128];

    for (uint32_t i = 0; i < s->n; i++) {
        msim_cal_describe(&s->list[i], text, sizeof(text));
        if (strcmp(text, want) == 0)
            return true;
    }
    return false;
}

/* Each once, and what takes longest first: a product with the vocabulary. The
 * trace is a CPU's, which has operators in place of their own; of a GPU's they
 * are others. */
static void test_trace_shapes__in_order(void)
{
    struct msim_cal_shapes s, none;

    REQUIRE(msim_cal_trace_shapes(&s, MSIM_DATA "/traces/gpt2", NULL) ==
            MSIM_OK);
    REQUIRE(s.n > 20);
    CHECK_INT(s.list[0].timed.table, MSIM_TABLE_GEMM);
    CHECK_INT(s.list[0].timed.work.u.gemm.m, 50257);
    CHECK(has_line(&s, "vector mulu fp32 1x38597376"));
    CHECK(has_line(&s, "vector mulu_ fp32 1x38597376"));
    for (uint32_t i = 0; i < s.n; i++)
        for (uint32_t k = 0; k < i; k++)
            CHECK(msim_cal_hash(&s.list[i], "") !=
                  msim_cal_hash(&s.list[k], ""));
    msim_cal_shapes_release(&s);
    CHECK(s.n == 0 && !s.list);
    CHECK_INT(msim_cal_trace_shapes(&none, MSIM_DATA "/no-such", NULL),
              MSIM_EIO);
}

/* ---- what one may take --------------------------------------------------- */

/* 1e12 in fp32, 1e9 bytes/s, 3 us at least. */
static void test_expected__roofline(void)
{
    static const struct msim_cal_guess G = {1e12, 1e9, 3};
    static const struct {
        const char *line;
        double us;
    } CASES[] = {
        /* 2 x 200^3 operations take 16 us, 3 x 4 x 40000 bytes 480 */
        {"{\"table\":\"gemm\",\"dtype\":\"fp32\",\"m\":200,\"n\":200,"
         "\"k\":200}",
         483},
        /* 2 x 4000^3: 128 ms; half the rate in fp64, four times in fp16 */
        {"{\"table\":\"gemm\",\"dtype\":\"fp64\",\"m\":4000,\"n\":4000,"
         "\"k\":4000}",
         3 + 384e3},
        {"{\"table\":\"gemm\",\"dtype\":\"fp32\",\"m\":40000,\"n\":40000,"
         "\"k\":40000}",
         3 + 128e6},
        {"{\"table\":\"gemm\",\"dtype\":\"fp64\",\"m\":40000,\"n\":40000,"
         "\"k\":40000}",
         3 + 256e6},
        {"{\"table\":\"gemm\",\"dtype\":\"fp16\",\"m\":40000,\"n\":40000,"
         "\"k\":40000}",
         3 + 32e6},
        {"{\"table\":\"copy\",\"op\":\"d2d\",\"bytes\":5000}", 13},
        {"{\"table\":\"collective\",\"collective\":\"all_reduce\",\"dtype\":"
         "\"fp32\",\"ranks\":2,\"nodes\":1,\"bytes\":5000}",
         13},
        {"{\"table\":\"latency\",\"op\":\"call\"}", 3},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        cJSON *line = cJSON_Parse(CASES[i].line);
        struct msim_cal_experiment e;

        msim_cal_experiment_read(&e, line);
        CHECK_REL(msim_cal_expected_us(&e, &G), CASES[i].us, 1e-12);
        cJSON_Delete(line);
    }
}

/* What no law knows takes what its bytes do, there and back. */
static void test_expected__of_no_work(void)
{
    struct msim_cal_experiment e = {.timed = {.table = MSIM_TABLE_VECTOR}};

    e.timed.u.vector.bytes = 5000;
    CHECK_REL(msim_cal_expected_us(&e, &(struct msim_cal_guess){1e12, 1e9, 3}),
              13, 1e-12);
}

static void test_guess__of_a_device(void)
{
    static const struct {
        const char *device;
        double flops, bandwidth, floor_us;
    } CASES[] = {
        {"{\"kind\":\"cpu\",\"sms\":4}", 160e9, 10e9, 1},
        {"{\"kind\":\"cpu\"}", 40e9, 10e9, 1},
        {"{\"kind\":\"gpu\",\"sms\":10}", 1e12, 1e11, 4},
        {"{\"sms\":0}", 1e11, 1e10, 4},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        cJSON *o = cJSON_Parse(CASES[i].device);
        struct msim_cal_guess g = msim_cal_guess_of(o);

        CHECK(msim_cal_is_cpu(o) == (i < 2));
        CHECK_REL(g.flops, CASES[i].flops, 1e-12);
        CHECK_REL(g.bandwidth, CASES[i].bandwidth, 1e-12);
        CHECK_REL(g.floor_us, CASES[i].floor_us, 0);
        cJSON_Delete(o);
    }
}

/* As people read it, cut where there is no room. */
static void test_describe__for_people(void)
{
    cJSON *line = cJSON_Parse(
        "{\"table\":\"copy\",\"op\":\"d2d\",\"bytes\":5000,\"beside\":{"
        "\"table\":\"latency\",\"op\":\"call\"}}");
    struct msim_cal_experiment e;
    char text[64];

    msim_cal_experiment_read(&e, line);
    CHECK(msim_cal_work(&e) == NULL && e.is_pair);
    msim_cal_describe(&e, text, sizeof(text));
    CHECK_STR(text, "copy d2d bytes 5000 beside latency call");
    msim_cal_describe(&e, text, 8);
    CHECK_STR(text, "copy d2");
    msim_cal_describe(&e, text, 20);
    CHECK_STR(text, "copy d2d bytes 5000");
    cJSON_Delete(line);
}

int main(void)
{
    RUN(test_of_work__convolutions);
    RUN(test_of_work__attention);
    RUN(test_of_work__vectors);
    RUN(test_of_work__shapes);
    RUN(test_trace_experiments__tables);
    RUN(test_trace_shapes__in_order);
    RUN(test_expected__roofline);
    RUN(test_expected__of_no_work);
    RUN(test_guess__of_a_device);
    RUN(test_describe__for_people);
    return check_summary();
}
