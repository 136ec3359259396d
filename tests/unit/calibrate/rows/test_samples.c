/*
 * Tables of measured times: which rows are held out together and fitted
 * together, their order, what is read and refused, and rows of predictions.
 */
#include "calibrate/rows/samples.h"

#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- groups -------------------------------------------------------------- */

static struct msim_work work_of(enum msim_family family)
{
    struct msim_work w = {.family = family, .dtype = MSIM_DT_F16};

    switch (family) {
    case MSIM_FAMILY_GEMM:
        w.u.gemm.m = w.u.gemm.n = w.u.gemm.k = w.u.gemm.batch = 64;
        break;
    case MSIM_FAMILY_ATTENTION:
        w.u.attention.batch = w.u.attention.q_len = w.u.attention.kv_len = 64;
        w.u.attention.heads = w.u.attention.kv_heads = 8;
        w.u.attention.head_dim = 64;
        break;
    case MSIM_FAMILY_CONV:
        w.u.conv.n = w.u.conv.c = w.u.conv.h = w.u.conv.w = w.u.conv.k = 64;
        w.u.conv.r = w.u.conv.s = 3;
        w.u.conv.stride_h = w.u.conv.stride_w = w.u.conv.groups = 1;
        break;
    case MSIM_FAMILY_COLLECTIVE:
        w.u.coll.bytes = 1024;
        w.u.coll.ranks = 8;
        w.u.coll.nodes = 1;
        break;
    case MSIM_FAMILY_MOE:
        w.u.moe.hidden = w.u.moe.inter = 64;
        w.u.moe.routing.topk = 2;
        w.u.moe.routing.experts = 8;
        w.u.moe.routing.ep = w.u.moe.tp = 1;
        break;
    case MSIM_FAMILY_DISPATCH:
        w.u.dispatch.tokens = w.u.dispatch.hidden = 64;
        w.u.dispatch.topk = 2;
        w.u.dispatch.experts = 8;
        break;
    default:
        w.u.vector.rows = w.u.vector.cols = 8;
        w.u.vector.elems = 64;
    }
    return w;
}

/* Adds both; the groups are the same or not. */
static void check_groups(const struct msim_work *a, const struct msim_work *b,
                         bool same, const char *what)
{
    struct msim_samples s;

    REQUIRE(msim_samples_init(&s) == MSIM_OK);
    REQUIRE(msim_samples_add_work(&s, a, "g", 1) == MSIM_OK);
    REQUIRE(msim_samples_add_work(&s, b, "g", 1) == MSIM_OK);
    REQUIRE(s.n == 2);
    CHECK_INT(s.rows[0].group == s.rows[1].group, same);
    if ((s.rows[0].group == s.rows[1].group) != same)
        fprintf(stderr, "by %s\n", what);
    msim_samples_release(&s);
}

#define CHANGED(family, member, same)                                          \
    do {                                                                       \
        struct msim_work a_ = work_of(MSIM_FAMILY_##family), b_ = a_;          \
        b_.u.member += 1;                                                      \
        check_groups(&a_, &b_, same, #member);                                 \
    } while (0)

static void test_samples__groups(void)
{
    CHANGED(GEMM, gemm.m, true); /* a weight's shape */
    CHANGED(GEMM, gemm.n, false);
    CHANGED(GEMM, gemm.k, false);
    CHANGED(GEMM, gemm.batch, false);
    CHANGED(ATTENTION, attention.batch, true);
    CHANGED(ATTENTION, attention.kv_len, true);
    CHANGED(ATTENTION, attention.heads, false);
    CHANGED(ATTENTION, attention.kv_heads, false);
    CHANGED(ATTENTION, attention.head_dim, false);
    CHANGED(CONV, conv.n, true);
    CHANGED(CONV, conv.c, false);
    CHANGED(CONV, conv.k, false);
    CHANGED(CONV, conv.h, false);
    CHANGED(CONV, conv.r, false);
    CHANGED(CONV, conv.s, false);
    CHANGED(MOE, moe.tp, true);
    CHANGED(MOE, moe.hidden, false);
    CHANGED(MOE, moe.inter, false);
    CHANGED(MOE, moe.routing.topk, false);
    CHANGED(MOE, moe.routing.experts, false);
    CHANGED(DISPATCH, dispatch.tokens, true);
    CHANGED(DISPATCH, dispatch.hidden, false);
    CHANGED(DISPATCH, dispatch.topk, false);
    CHANGED(DISPATCH, dispatch.experts, false);
    CHANGED(COLLECTIVE, coll.bytes, true);
    CHANGED(COLLECTIVE, coll.collective, false);
    CHANGED(COLLECTIVE, coll.ranks, false);
    CHANGED(COLLECTIVE, coll.nodes, false);
    CHANGED(POINTWISE, vector.elems, true);
    CHANGED(POINTWISE, vector.rows, false);
    CHANGED(POINTWISE, vector.cols, false);
}

/* ---- rows ---------------------------------------------------------------- */

/* Texts are the list's own; a backend is kept of layers of experts alone, and a
 * work that no law covers is no row. */
static void test_samples__texts(void)
{
    char framework[] = "torch", gpu[] = "A100", backend[] = "triton",
         link[] = "pcie";
    struct msim_work w = work_of(MSIM_FAMILY_GEMM);
    struct msim_samples s;

    REQUIRE(msim_samples_init(&s) == MSIM_OK);
    w.framework = framework;
    w.backend = backend;
    REQUIRE(msim_samples_add_work(&s, &w, gpu, 2.5) == MSIM_OK);
    w = work_of(MSIM_FAMILY_MOE);
    w.backend = backend;
    REQUIRE(msim_samples_add_work(&s, &w, gpu, 1) == MSIM_OK);
    w = work_of(MSIM_FAMILY_COLLECTIVE);
    w.u.coll.interconnect = link;
    REQUIRE(msim_samples_add_work(&s, &w, gpu, 1) == MSIM_OK);
    w.family = MSIM_FAMILY_COUNT;
    framework[0] = gpu[0] = backend[0] = link[0] = 'x';
    REQUIRE(s.n == 3);
    CHECK_STR(s.rows[0].framework, "torch");
    CHECK_STR(s.rows[0].work.framework, "torch");
    CHECK_STR(s.rows[0].gpu, "A100");
    CHECK(s.rows[0].work.backend == NULL);
    CHECK_REL(s.rows[0].us, 2.5, 0);
    CHECK(s.rows[0].law == &MSIM_LAW_GEMM);
    CHECK_UINT(s.rows[0].models, 0);
    CHECK_STR(s.rows[1].framework, "");
    CHECK_STR(s.rows[1].work.backend, "triton");
    CHECK_STR(s.rows[2].work.u.coll.interconnect, "pcie");
    w = work_of(MSIM_FAMILY_COLLECTIVE);
    s.host = true; /* CPUs have no law of collectives */
    REQUIRE(msim_samples_add_work(&s, &w, gpu, 1) == MSIM_OK);
    CHECK_UINT(s.n, msim_law_of(MSIM_FAMILY_COLLECTIVE, true) ? 4 : 3);
    w = work_of(MSIM_FAMILY_GEMM);
    REQUIRE(msim_samples_add_work(&s, &w, gpu, 1) == MSIM_OK);
    CHECK(s.rows[s.n - 1].law == &MSIM_LAW_CPU_GEMM);
    msim_samples_release(&s);
}

static void add_product(struct msim_samples *s, const char *gpu,
                        const char *framework, enum msim_dtype dtype, int m,
                        int n, double us)
{
    struct msim_work w = work_of(MSIM_FAMILY_GEMM);

    w.framework = framework;
    w.dtype = dtype;
    w.u.gemm.m = m;
    w.u.gemm.n = n;
    CHECK_INT(msim_samples_add_work(s, &w, gpu, us), MSIM_OK);
}

/* Every pair of rows, whatever their order in the file, ends in one order: by
 * GPU, framework, kind and group, and of one size the shorter first. */
static void test_samples__sorted(void)
{
    static const struct {
        const char *gpu, *framework;
        enum msim_dtype dtype;
        int m, n;
        double us;
    } ROWS[] = {
        {"a", "x", MSIM_DT_F16, 8, 64, 1}, {"b", "x", MSIM_DT_F16, 8, 64, 1},
        {"a", "y", MSIM_DT_F16, 8, 64, 1}, {"a", "x", MSIM_DT_F32, 8, 64, 1},
        {"a", "x", MSIM_DT_F16, 8, 64, 2}, {"a", "x", MSIM_DT_F16, 9, 64, 1},
        {"a", "x", MSIM_DT_F16, 8, 65, 1}};
    struct msim_samples s[2];

    for (int order = 0; order < 2; order++) {
        REQUIRE(msim_samples_init(&s[order]) == MSIM_OK);
        for (int i = 0; i < 7; i++) {
            int k = order ? 6 - i : i * 3 % 7;

            add_product(&s[order], ROWS[k].gpu, ROWS[k].framework,
                        ROWS[k].dtype, ROWS[k].m, ROWS[k].n, ROWS[k].us);
        }
        msim_samples_sort(&s[order]);
    }
    for (uint32_t i = 0; i < 7; i++) {
        const struct msim_sample *a = &s[0].rows[i], *b = &s[1].rows[i];

        CHECK_STR(a->gpu, b->gpu);
        CHECK_STR(a->framework, b->framework);
        CHECK_STR(a->key, b->key);
        CHECK_INT(a->work.u.gemm.m, b->work.u.gemm.m);
        CHECK_INT(a->work.u.gemm.n, b->work.u.gemm.n);
        CHECK_REL(a->us, b->us, 0);
        if (i > 0)
            CHECK(strcmp(a->gpu, s[0].rows[i - 1].gpu) >= 0);
    }
    CHECK_STR(s[0].rows[6].gpu, "b");
    CHECK_STR(s[0].rows[5].framework, "y");
    msim_samples_release(&s[0]);
    msim_samples_release(&s[1]);
}

static void test_samples__fitted_together(void)
{
    struct msim_sample a = {.law = &MSIM_LAW_GEMM,
                            .gpu = "g",
                            .framework = "f",
                            .key = "k"},
                       b = a;

    CHECK(msim_sample_same_fit(&a, &b));
    b.us = 5;
    b.group = 9;
    CHECK(msim_sample_same_fit(&a, &b));
    b = a;
    b.law = &MSIM_LAW_CONV;
    CHECK(!msim_sample_same_fit(&a, &b));
    b = a;
    b.gpu = "h";
    CHECK(!msim_sample_same_fit(&a, &b));
    b = a;
    b.framework = "h";
    CHECK(!msim_sample_same_fit(&a, &b));
    b = a;
    b.key = "h";
    CHECK(!msim_sample_same_fit(&a, &b));
}

static void add_experts(struct msim_samples *s, int hidden, int tp, int ep)
{
    struct msim_work w = work_of(MSIM_FAMILY_MOE);

    w.u.moe.hidden = hidden;
    w.u.moe.tp = tp;
    w.u.moe.routing.ep = ep;
    CHECK_INT(msim_samples_add_work(s, &w, "g", 1), MSIM_OK);
}

/* Layers of two models are too few groups: each way to split them is one. Of
 * three models each is one. */
static void test_samples__few_models(void)
{
    struct msim_samples s;
    uint32_t groups = 1;

    REQUIRE(msim_samples_init(&s) == MSIM_OK);
    add_experts(&s, 64, 1, 1);
    add_experts(&s, 64, 2, 1);
    add_experts(&s, 64, 1, 2);
    add_experts(&s, 128, 1, 1);
    add_experts(&s, 64, 1, 1);
    add_product(&s, "g", "", MSIM_DT_F16, 8, 8, 1);
    msim_samples_sort(&s);
    for (uint32_t i = 0; i < s.n; i++) {
        CHECK_UINT(s.rows[i].models, s.rows[i].law == &MSIM_LAW_MOE ? 2 : 0);
        groups += i > 0 && s.rows[i].group != s.rows[i - 1].group;
    }
    CHECK_UINT(groups, 5); /* four of experts and the product */
    msim_samples_release(&s);
    REQUIRE(msim_samples_init(&s) == MSIM_OK);
    add_experts(&s, 64, 1, 1);
    add_experts(&s, 64, 2, 1);
    add_experts(&s, 128, 1, 1);
    add_experts(&s, 256, 1, 1);
    msim_samples_sort(&s);
    groups = 1;
    for (uint32_t i = 0; i < s.n; i++) {
        CHECK_UINT(s.rows[i].models, 0);
        groups += i > 0 && s.rows[i].group != s.rows[i - 1].group;
    }
    CHECK_UINT(groups, 3);
    msim_samples_release(&s);
}

/* ---- files --------------------------------------------------------------- */

static void save(const char *path, const char *text, bool gzip)
{
    const struct msim_file_how how = {.gzip = gzip};

    CHECK_INT(msim_file_save(path, text, strlen(text), &how, NULL), MSIM_OK);
}

#define HEADER "gpu,framework,op,dtype,n,c,h,w,k,r,s,stride,pad,time_us\n"
#define ROW    "A,X,conv2d_fwd,fp32,8,128,28,28,256,1,1,2,0,"

static void test_tables__read_and_refused(void)
{
    char folder[] = "msim-test-rows-XXXXXX", path[64];
    struct msim_error err = {.status = MSIM_OK};
    struct msim_tables t = {.some = false};
    struct msim_samples s;

    REQUIRE(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/conv.csv.gz", folder);
    /* times of 0 and below, and rows of no work, are none */
    save(path,
         HEADER ROW "10\n" ROW "0\n" ROW "-1\n" ROW "x\n" ROW "0.25\n"
                    "A,X,conv2d_fwd,fp32,-8,1,1,1,1,1,1,1,0,7\n",
         true);
    REQUIRE(msim_samples_init(&s) == MSIM_OK);
    CHECK(msim_tables_choose(&t, "conv", &err));
    CHECK_INT(msim_tables_read(&s, folder, &t, &err), MSIM_OK);
    REQUIRE(s.n == 2);
    CHECK_REL(s.rows[0].us, 0.25, 0); /* sorted */
    CHECK_REL(s.rows[1].us, 10, 0);
    CHECK(msim_tables_choose(&t, "gemm", &err)); /* it is not there */
    CHECK(msim_tables_read(&s, folder, &t, &err) != MSIM_OK);
    CHECK(strstr(err.text, "gemm.csv.gz") ||
          (err.file[0] && strstr(err.file, "gemm.csv.gz")));
    msim_samples_release(&s);
    unlink(path);
    /* no GPU, no time */
    snprintf(path, sizeof(path), "%s/x.csv", folder);
    for (int i = 0; i < 2; i++) {
        err = (struct msim_error){.status = MSIM_OK};
        save(path,
             i ? "gpu,op,dtype,n,c,h,w,k,r,s,stride,pad\n"
               : "op,dtype,n,c,h,w,k,r,s,stride,pad,time_us\n",
             false);
        REQUIRE(msim_samples_init(&s) == MSIM_OK);
        CHECK_INT(msim_samples_add(&s, path, &err), MSIM_EFORMAT);
        CHECK_STR(err.text, "a table to fit on wants columns gpu and time_us");
        msim_samples_release(&s);
        unlink(path);
        snprintf(path, sizeof(path), "%s/y.csv", folder);
    }
    rmdir(folder);
}

static void test_tables__chosen_by_name(void)
{
    static const char *const NAMES[] = {"gemm",           "attention", "vector",
                                        "collective",     "conv",      "moe",
                                        "expert_dispatch"};
    struct msim_error err = {.status = MSIM_OK};
    struct msim_tables t = {.some = false};

    CHECK(!msim_tables_choose(&t, "gem", &err));
    CHECK_STR(err.text, "unknown table 'gem', known are: gemm, attention, "
                        "vector, collective, conv, moe, expert_dispatch");
    CHECK(!t.some);
    for (int i = 0; i < MSIM_TABLES; i++) {
        CHECK(!t.chosen[i]);
        CHECK(msim_tables_choose(&t, NAMES[i], &err));
        CHECK(t.some && t.chosen[i]);
    }
}

/* A line end closes the file; what was read is not written over but by its
 * own program. */
static void test_tree__written(void)
{
    char path[] = "msim-test-tree-XXXXXX", text[64] = "";
    cJSON *o = cJSON_Parse("{\"a\":1}");
    struct msim_error err = {.status = MSIM_OK};
    int fd = mkstemp(path);
    struct msim_csv *csv;
    FILE *f;

    REQUIRE(fd >= 0);
    close(fd);
    REQUIRE(msim_tree_write(o, path, &err) == MSIM_OK);
    f = fopen(path, "rb");
    REQUIRE(f);
    CHECK_UINT(fread(text, 1, sizeof(text) - 1, f), 12);
    fclose(f);
    CHECK_STR(text, "{\n\t\"a\":\t1\n}\n");
    REQUIRE(msim_csv_open(&csv, path, &err) == MSIM_OK);
    msim_csv_close(csv);
    CHECK_INT(msim_tree_write(o, path, NULL), MSIM_EUSAGE);
    CHECK_INT(msim_tree_renew(o, path, NULL), MSIM_OK);
    unlink(path);
    cJSON_Delete(o);
}

/* ---- rows of predictions ------------------------------------------------- */

static void test_held_out__lines(void)
{
    char path[] = "msim-test-held-XXXXXX", text[1024] = "";
    struct msim_held_out_row h = msim_held_out_row_of(3, 2, -log(4), log(2), 4);
    struct msim_sample s = {.gpu = "A", .framework = "torch", .key = "k"};
    struct msim_file *out;
    int fd = mkstemp(path);
    FILE *f;

    CHECK_REL(h.measured_us, 3, 0);
    CHECK_REL(h.predicted_us, 2, 0);
    CHECK_REL(h.low_us, 0.5, 1e-12);
    CHECK_REL(h.high_us, 4, 1e-12);
    REQUIRE(fd >= 0);
    close(fd);
    REQUIRE(msim_file_open(&out, path, NULL, NULL) == MSIM_OK);
    CHECK_INT(msim_held_out_header_write(out), MSIM_OK);
    s.work = work_of(MSIM_FAMILY_GEMM);
    s.work.flops = 123456;
    s.work.bytes_read = 300;
    s.work.bytes_written = 100;
    CHECK_INT(msim_held_out_row_write(out, "p", "gemm", &s, &h), MSIM_OK);
    s.work = work_of(MSIM_FAMILY_COLLECTIVE);
    CHECK_INT(msim_held_out_row_write(out, "p", "coll", &s, &h), MSIM_OK);
    s.work = work_of(MSIM_FAMILY_DISPATCH); /* 64 x 64 */
    CHECK_INT(msim_held_out_row_write(out, "p", "out", &s, &h), MSIM_OK);
    s.work.u.dispatch.combine = true;
    CHECK_INT(msim_held_out_row_write(out, "p", "back", &s, &h), MSIM_OK);
    h.predicted_us = 0; /* nothing was predicted */
    CHECK_INT(msim_held_out_row_write(out, "p", "none", &s, &h), MSIM_OK);
    h.predicted_us = 0.5;
    CHECK_INT(msim_held_out_row_write(out, "p", "short", &s, &h), MSIM_OK);
    CHECK_INT(msim_file_close(out, MSIM_OK, NULL), MSIM_OK);
    f = fopen(path, "rb");
    REQUIRE(f);
    CHECK(fread(text, 1, sizeof(text) - 1, f) > 0);
    fclose(f);
    unlink(path);
    CHECK_STR(text, "platform,table_gpu,family,framework,cell,fold,flops,bytes,"
                    "measured_us,predicted_us,low_us,high_us\n"
                    "p,A,gemm,torch,k,4,1.235e+05,400,3,2,0.5,4\n"
                    "p,A,coll,torch,k,4,0,1024,3,2,0.5,4\n"
                    "p,A,out,torch,k,4,0,4096,3,2,0.5,4\n"
                    "p,A,back,torch,k,4,0,8192,3,2,0.5,4\n"
                    "p,A,short,torch,k,4,0,8192,3,0.5,0.5,4\n");
}

int main(void)
{
    RUN(test_samples__groups);
    RUN(test_samples__texts);
    RUN(test_samples__sorted);
    RUN(test_samples__fitted_together);
    RUN(test_samples__few_models);
    RUN(test_tables__read_and_refused);
    RUN(test_tables__chosen_by_name);
    RUN(test_tree__written);
    RUN(test_held_out__lines);
    return check_summary();
}
