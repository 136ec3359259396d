/*
 * What is run for a work, size by size, on backends that offer more or less.
 */
#include "replay/run/replay_plan.h"

#include "tests/unit/replay/run/made_step.h"

#define ALL                                                                    \
    "\"gemm\":[\"fp32\",\"tf32\"],\"conv\":[\"conv2d_fwd:fp32\"],"             \
    "\"vector\":[\"add:fp32\",\"add_:fp32\",\"softmax:fp32\",\"mul:fp32\","    \
    "\"index_select:fp32\"],\"copy\":[\"d2d\",\"h2d\",\"d2h\"]"

static size_t spell_one(char *to, size_t size, const struct msim_experiment *e)
{
    const struct msim_work *w = &e->work;

    if (e->table == MSIM_TABLE_COPY)
        return (size_t)snprintf(to, size, "%s %" PRIu64 "%s; ", e->op,
                                e->u.copy.bytes,
                                e->u.copy.pageable ? " pageable" : "");
    if (e->table == MSIM_TABLE_VECTOR)
        return (size_t)snprintf(
            to, size, "%s %" PRId64 "x%" PRId64 " of %" PRId64 "; ", e->op,
            w->u.vector.rows, w->u.vector.cols, e->u.vector.table_rows);
    if (e->table == MSIM_TABLE_CONV)
        return (size_t)snprintf(to, size, "%s of %" PRId64 "; ", e->op,
                                w->u.conv.groups);
    return (size_t)snprintf(
        to, size, "%s %" PRId64 " %" PRId64 "x%" PRId64 "x%" PRId64 "%s%s; ",
        e->dtype_word, w->u.gemm.batch, w->u.gemm.m, w->u.gemm.n, w->u.gemm.k,
        w->u.gemm.a_transposed ? " a" : "", w->u.gemm.b_transposed ? " b" : "");
}

/* All of it in words: how, what, and why no better. */
static const char *runs(const struct msim_work *w, const char *tables)
{
    static char text[1024];
    char greeting[1024];
    struct msim_work_runs r;
    cJSON *json;
    size_t n;

    snprintf(greeting, sizeof(greeting), "{\"tables\":{%s}}", tables);
    json = cJSON_Parse(greeting);
    CHECK(json != NULL);
    msim_work_runs_find(&r, w, json);
    n = (size_t)snprintf(text, sizeof(text), "%s: ", msim_run_how_text(r.how));
    for (uint32_t i = 0; i < r.n; i++)
        n += spell_one(text + n, sizeof(text) - n, &r.list[i]);
    snprintf(text + n, sizeof(text) - n, "%s", r.why ? r.why : "");
    cJSON_Delete(json);
    return text;
}

/* ---- attention and products ---------------------------------------------- */

static struct msim_work attention(bool backward, int64_t queries)
{
    struct msim_work w = {.family = MSIM_FAMILY_ATTENTION,
                          .dtype = MSIM_DT_F32};

    w.u.attention.phase = MSIM_ATTENTION_ENCODER;
    w.u.attention.backward = backward;
    w.u.attention.batch = 2;
    w.u.attention.heads = w.u.attention.kv_heads = 3;
    w.u.attention.q_len = queries;
    w.u.attention.kv_len = 24;
    w.u.attention.head_dim = 8;
    w.u.attention.kv_dtype = MSIM_DT_F32;
    msim_work_count(&w);
    return w;
}

/* Six heads: scores of 16 queries and 24 keys by 8, their rows, and values; and
 * backward what follows from each of them. */
static void test_parts__attention(void)
{
    struct msim_work w = attention(false, 16);

    CHECK_STR(runs(&w, ALL),
              "parts: fp32 6 16x24x8 b; softmax 96x24 of 0; fp32 6 16x8x24; "
              "attention is no single routine");
    /* rows without a routine are read and written: 96 x 24 x 4 bytes */
    CHECK_STR(runs(&w, "\"gemm\":[\"fp32\"]"),
              "parts: fp32 6 16x24x8 b; d2d 9216; fp32 6 16x8x24; attention is "
              "no single routine");
    CHECK(strncmp(runs(&w, "\"vector\":[\"softmax:fp32\"]"), "bytes: d2d ",
                  11) == 0);
    CHECK(strstr(runs(&w, "\"gemm\":[\"fp16\"]"),
                 "; attention, whose parts are missing for that type"));
    w = attention(true, 16);
    for (int have = 0; have < 3; have++) { /* none, softmax, mul, too */
        static const char *const TABLES[] = {
            "\"gemm\":[\"fp32\"]",
            "\"gemm\":[\"fp32\"],\"vector\":[\"softmax:fp32\"]", ALL};
        char want[512];

        snprintf(want, sizeof(want),
                 "parts: fp32 6 16x24x8 b; %s; fp32 6 24x8x16; "
                 "fp32 6 16x24x8 b; %s; fp32 6 16x8x24; fp32 6 24x8x16; "
                 "attention is no single routine",
                 have > 0 ? "softmax 96x24 of 0" : "d2d 9216",
                 have > 1 ? "mul 96x24 of 0" : "d2d 13824"); /* of three */
        CHECK_STR(runs(&w, TABLES[have]), want);
    }
    /* causal: query i of 16 sees 8 + i keys, 16.5 in the mean */
    w = attention(false, 16);
    w.u.attention.phase = MSIM_ATTENTION_PREFILL;
    CHECK(strstr(runs(&w, ALL), "fp32 6 16x17x8 b; softmax 96x17"));
    w.u.attention.q_len = 15; /* 9 + 15 / 2 + 0.5 = 17 */
    CHECK(strstr(runs(&w, ALL), "fp32 6 15x17x8 b"));
    w.u.attention.q_len = 0;
    CHECK(strstr(runs(&w, ALL), "bytes: "));
}

static void test_parts__product(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_GEMM, .dtype = MSIM_DT_F32};

    w.u.gemm.m = 8;
    w.u.gemm.n = 16;
    w.u.gemm.k = 32;
    w.u.gemm.batch = 2;
    w.u.gemm.b_transposed = true;
    CHECK_STR(runs(&w, ALL), "native: fp32 2 8x16x32 b; ");
    w.variant = "tf32";
    w.u.gemm.a_transposed = true;
    CHECK_STR(runs(&w, ALL), "native: tf32 2 8x16x32 a b; ");
    w.u.gemm.b_transposed = false;
    CHECK_STR(runs(&w, "\"gemm\":[3,\"fp32\"]"), "native: fp32 2 8x16x32 a; ");
    w.bytes_read = 2;
    w.bytes_written = 1;
    CHECK_STR(runs(&w, ""), "bytes: d2d 2; no products of that type");
    w.u.gemm.k = 0; /* no product at all; a copy has a byte at least */
    w.bytes_read = w.bytes_written = 0;
    CHECK_STR(runs(&w, ALL), "bytes: d2d 1; no products of that type");
}

/* ---- convolutions -------------------------------------------------------- */

/* 2 images of 6 channels, 10 x 10, by 3 x 3 to 4: 8 x 8 of them each, so a
 * product of 128 rows by 4 of 54, or two groups of half of both. */
static struct msim_work convolution(int64_t groups)
{
    struct msim_work w = {.family = MSIM_FAMILY_CONV, .dtype = MSIM_DT_F32};

    w.u.conv.n = 2;
    w.u.conv.c = 6;
    w.u.conv.k = 4;
    w.u.conv.h = w.u.conv.w = 10;
    w.u.conv.r = w.u.conv.s = 3;
    w.u.conv.stride_h = w.u.conv.stride_w = 1;
    w.u.conv.dilation_h = w.u.conv.dilation_w = 1;
    w.u.conv.groups = groups;
    msim_work_count(&w);
    return w;
}

#define PRODUCT "; no such convolution: a product instead"

static void test_parts__convolution(void)
{
    static const char WHOLE[] = "parts: fp32 1 128x4x54 b" PRODUCT;
    struct msim_work w = convolution(1);

    CHECK_STR(runs(&w, ALL), "native: conv2d_fwd of 1; ");
    CHECK_STR(runs(&w, "\"gemm\":[\"fp32\"]"), WHOLE);
    CHECK(strstr(runs(&w, ""),
                 "; no such convolution, and no products of that type"));
    w.u.conv.groups = 0; /* one */
    CHECK_STR(runs(&w, ALL), "native: conv2d_fwd of 1; ");
    w.u.conv.dilation_h = w.u.conv.dilation_w = 0; /* so is that */
    CHECK_STR(runs(&w, ALL), "native: conv2d_fwd of 1; ");
    w = convolution(2);
    CHECK_STR(runs(&w, ALL), "native: conv2d_fwd of 2; ");
    CHECK_STR(runs(&w, "\"gemm\":[\"fp32\"]"),
              "parts: fp32 2 128x2x27 b" PRODUCT);
    /* what no experiment has */
    for (int i = 0; i < 5; i++) {
        w = convolution(1);
        w.u.conv.transposed = i == 0;
        w.u.conv.stride_h += i == 1;
        w.u.conv.pad_w += i == 2;
        w.u.conv.dilation_h += i == 3;
        w.u.conv.dilation_w += i == 4;
        CHECK_STR(runs(&w, ALL), WHOLE);
    }
    w.u.conv.k = 0;
    CHECK(strncmp(runs(&w, ALL), "bytes: ", 7) == 0);
}

/* ---- vectors ------------------------------------------------------------- */

static struct msim_work addition(double read)
{
    struct msim_work w = {.family = MSIM_FAMILY_POINTWISE,
                          .dtype = MSIM_DT_F32,
                          .variant = "add",
                          .bytes_read = read,
                          .bytes_written = 4000};

    w.u.vector.elems = 1000;
    return w;
}

#define NO_ROUTINE "no routine for that operator and type"

/* The routine moves 12 kB: works of up to a tenth less or more, of the larger
 * of both, are the same. */
static void test_vector__same_bytes(void)
{
    static const struct {
        double read;
        bool same;
    } ROWS[] = {{8000, true},  {6800, true},  {6799, false}, {9333, true},
                {9334, false}, {4000, false}, {12000, false}};

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_work w = addition(ROWS[i].read);
        char want[80];

        snprintf(want, sizeof(want), "bytes: d2d %.0f; " NO_ROUTINE,
                 ceil((ROWS[i].read + 4000) / 2));
        CHECK_STR(runs(&w, ALL),
                  ROWS[i].same ? "native: add 1x1000 of 0; " : want);
    }
}

/* In place where that is a routine, else by its plain name; rows where there
 * are some; a gather by its table, whatever its bytes. */
static void test_vector__names_and_rows(void)
{
    struct msim_work w = addition(8000);

    w.in_place = true;
    CHECK_STR(runs(&w, ALL), "native: add_ 1x1000 of 0; ");
    CHECK_STR(runs(&w, "\"vector\":[\"add:fp32\"]"),
              "native: add 1x1000 of 0; ");
    w.variant = "nonsense";
    CHECK_STR(runs(&w, ALL), "bytes: d2d 6000; " NO_ROUTINE);
    w = addition(8000);
    w.u.vector.rows = 10;
    w.u.vector.cols = 100;
    CHECK_STR(runs(&w, ALL), "native: add 10x100 of 0; ");
    w.u.vector.cols = 0;
    CHECK_STR(runs(&w, ALL), "native: add 1x1000 of 0; ");
    w.u.vector.elems = 0;
    CHECK_STR(runs(&w, ALL), "bytes: d2d 6000; " NO_ROUTINE);
    w = addition(1);
    w.family = MSIM_FAMILY_EMBEDDING;
    w.variant = "index_select";
    w.u.vector.table_rows = 50;
    w.u.vector.row_bytes = 64;
    w.u.vector.lookups = 7;
    CHECK_STR(runs(&w, ALL), "native: index_select 7x16 of 50; ");
    w.u.vector.table_rows = 1;
    CHECK_STR(runs(&w, ALL), "native: index_select 7x16 of 1; ");
    w.dtype = MSIM_DT_F8; /* rows of a byte */
    w.u.vector.row_bytes = 1;
    CHECK_STR(runs(&w, "\"vector\":[\"index_select:fp8\"]"),
              "native: index_select 7x1 of 1; ");
    w.u.vector.table_rows = 0;
    CHECK(strstr(runs(&w, ALL), NO_ROUTINE));
}

/* ---- copies -------------------------------------------------------------- */

#define OTHER "a fill, or a copy in another order"

static void test_copy__ways(void)
{
    static const struct {
        enum msim_copy_kind way;
        double read, written;
        const char *tables, *runs;
    } ROWS[] = {
        {MSIM_COPY_UNKNOWN, 800, 800, ALL, "native: d2d 800; "},
        {MSIM_COPY_UNKNOWN, 800, 801, ALL, "bytes: d2d 801; " OTHER},
        {MSIM_COPY_H2D, 800, 900, ALL, "native: h2d 900 pageable; "},
        {MSIM_COPY_H2D, 0, 0, ALL, "native: h2d 1 pageable; "},
        {MSIM_COPY_D2H, 900, 800, ALL, "native: d2h 900 pageable; "},
        {MSIM_COPY_D2H, 900, 800, "\"copy\":[\"h2d\"]", "native: d2d 900; "},
        {MSIM_COPY_H2D, 800, 900, "", "native: d2d 900; "},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_work w = {.family = MSIM_FAMILY_COPY,
                              .dtype = MSIM_DT_I64,
                              .variant = "copy",
                              .bytes_read = ROWS[i].read,
                              .bytes_written = ROWS[i].written};

        w.u.vector.copy = ROWS[i].way;
        w.u.vector.pageable = true;
        CHECK_STR(runs(&w, ROWS[i].tables), ROWS[i].runs);
        w.u.vector.pageable = false;
        CHECK(strstr(runs(&w, ROWS[i].tables), "pageable") == NULL);
        w.variant = "fill";
        CHECK(strstr(runs(&w, ROWS[i].tables), "; " OTHER) != NULL);
        w.variant = "copy";
        w.u.vector.strided = true;
        CHECK(strstr(runs(&w, ROWS[i].tables), "; " OTHER) != NULL);
    }
}

/* ---- all else ------------------------------------------------------------ */

static void test_families__without_routines(void)
{
    static const struct {
        enum msim_family family;
        const char *runs;
    } ROWS[] = {
        {MSIM_FAMILY_COLLECTIVE, "not run: one rank alone has no collectives"},
        {MSIM_FAMILY_DISPATCH, "not run: one rank alone has no collectives"},
        {MSIM_FAMILY_MOE, "bytes: d2d 3; no routine for that operator"},
        {MSIM_FAMILY_OPTIMIZER, "bytes: d2d 3; no routine for that operator"},
        {MSIM_FAMILY_BOUND, "bytes: d2d 3; no routine for that operator"},
        {MSIM_FAMILY_NORM, "bytes: d2d 3; " NO_ROUTINE},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_work w = {
            .family = ROWS[i].family, .bytes_read = 2, .bytes_written = 4};

        CHECK_STR(runs(&w, ALL), ROWS[i].runs);
    }
}

/* What is said to move, else what its operands take. */
static void test_bytes__of_an_experiment(void)
{
    struct msim_experiment e = {.table = MSIM_TABLE_COPY}, copy;

    e.u.copy.bytes = 100;
    CHECK_INT(msim_run_as_bytes(&e).u.copy.bytes,
              (int64_t)(msim_experiment_bytes(&e) / 2));
    e.work.bytes_read = 2;
    e.work.bytes_written = 9;
    copy = msim_run_as_bytes(&e);
    CHECK_INT(copy.u.copy.bytes, 6);
    CHECK_STR(copy.op, "d2d");
    CHECK_INT(copy.u.copy.op, MSIM_COPY_WAY_D2D);
}

int main(void)
{
    RUN(test_parts__attention);
    RUN(test_parts__product);
    RUN(test_parts__convolution);
    RUN(test_vector__same_bytes);
    RUN(test_vector__names_and_rows);
    RUN(test_copy__ways);
    RUN(test_families__without_routines);
    RUN(test_bytes__of_an_experiment);
    return check_summary();
}
