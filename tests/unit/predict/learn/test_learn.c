/*
 * predict/learn/learn.c: factors of traces, what they err, and which GPU they
 * are of.
 */
#include "predict/learn/learn.h"

#include "models/estimate/model.h"
#include "models/platform/platform.h"
#include "tests/check.h"
#include "tests/unit/made_kineto.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHAPES = 6 };

static struct msim_platform *a100;
static char folder[32], path[3][64];

/* Rows of the i-th product by 512 x 512. */
static int rows_of(int i)
{
    return 65536 * (i + 1);
}

/* What models say of it on an A100, us. */
static double model_us(int i)
{
    const struct msim_work w = {
        .family = MSIM_FAMILY_GEMM,
        .dtype = MSIM_DT_F16,
        .variant = "",
        .kernels = 1,
        .u.gemm = {.m = rows_of(i), .n = 512, .k = 512, .batch = 1}};
    struct msim_estimate e;

    CHECK_INT(msim_model_predict(a100, &w, false, &e, NULL), MSIM_OK);
    return e.us;
}

/* How long it took, in whole microseconds, where it is so much slower. */
static int took(int i, double factor)
{
    return (int)lround(factor * model_us(i));
}

/* A trace whose products took `factor` times as long as models say. */
static void put(int number, double factor, int sms, bool shapes)
{
    struct made m = made_trace(0, 1);
    char *text;
    FILE *out;
    int at = 0;

    m.sms = sms;
    for (int i = 0; i < SHAPES; i++) {
        int us = took(i, factor);

        made_event(&m, "cpu_op", "aten::mm", MADE_HOST, 1, at, 20);
        if (shapes)
            made_add(&m,
                     "\"Input Dims\":[[%d,512],[512,512]],"
                     "\"Input type\":[\"c10::Half\",\"c10::Half\"]}},",
                     rows_of(i));
        else
            made_add(&m, "}},");
        made_call(&m, 1, "cudaLaunchKernel", at + 2, 2, i + 1);
        made_kernel(&m, 7, "gemm", at + 30, us, i + 1);
        at += us + 40;
    }
    text = made_text(&m);
    snprintf(path[number], sizeof(path[number]), "%.24s/%d.json", folder,
             number);
    out = fopen(path[number], "w");
    if (CHECK(out != NULL)) {
        fputs(text, out);
        fclose(out);
    }
    free(text);
    made_free(&m);
}

static void begin(void)
{
    snprintf(folder, sizeof(folder), "msim-test-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    memset(path, 0, sizeof(path));
}

static void done(struct msim_learned *l)
{
    msim_learned_release(l);
    for (int i = 0; i < 3; i++)
        unlink(path[i]);
    rmdir(folder);
}

static enum msim_status learn(struct msim_learned *l, const char *base,
                              const char *const *paths, uint32_t n,
                              struct msim_error *err)
{
    const struct msim_learn_options o = {.data = MSIM_DATA,
                                         .base = base,
                                         .paths = paths,
                                         .n_paths = n,
                                         .load = {.threads = 1}};

    *err = (struct msim_error){0};
    return msim_learn(l, &o, err);
}

/* What all products took, and what the models say of them. */
static double all_us(double factor)
{
    double sum = 0;

    for (int i = 0; i < SHAPES; i++)
        sum += factor > 0 ? took(i, factor) : model_us(i);
    return sum;
}

/* Of one trace a fifth of the shapes is held out at a time. */
static void test_learn__of_one_trace(void)
{
    const char *paths[1] = {path[0]};
    struct msim_learned l;
    struct msim_error err;

    begin();
    put(0, 1.5, 0, true);
    if (CHECK_INT(learn(&l, "a100@pytorch-2.9", paths, 1, &err), MSIM_OK)) {
        const struct msim_learned_trace *t = l.traces;

        CHECK_STR(l.base, "a100"); /* a stack is no other GPU */
        CHECK(strstr(l.base_file, "a100.json") != NULL);
        CHECK(l.by_shapes && !l.nearest);
        REQUIRE(l.n_traces == 1);
        CHECK_STR(t->path, path[0]);
        CHECK_INT(t->observations, SHAPES);
        CHECK_REL(t->us, all_us(1.5), 1e-9);
        CHECK_REL(l.error_base, fabs(t->base_us / t->us - 1), 1e-12);
        CHECK_REL(l.error_fitted, fabs(t->fitted_us / t->us - 1), 1e-12);
        CHECK_REL(l.error_held_out, fabs(t->held_out_us / t->us - 1), 1e-12);
        /* each once, by a fit of the others; which is further off */
        CHECK(l.error_fitted < l.error_base);
        CHECK(l.error_held_out < l.error_base);
        CHECK(t->held_out_us > t->base_us);
    }
    done(&l);
}

/* Of several each is held out by itself; errors are means over those that have
 * kernels with shapes. */
static void test_learn__of_several(void)
{
    const char *paths[3] = {path[0], path[1], path[2]};
    struct msim_learned l;
    struct msim_error err;

    begin();
    put(0, 1.5, 0, true);
    put(1, 2, 0, true);
    put(2, 1, 0, false);
    if (CHECK_INT(learn(&l, "a100", paths, 3, &err), MSIM_OK)) {
        double base = 0, held = 0;

        CHECK(!l.by_shapes);
        REQUIRE(l.n_traces == 3);
        CHECK_INT(l.traces[2].observations, 0);
        for (int i = 0; i < 2; i++) {
            const struct msim_learned_trace *t = &l.traces[i];

            CHECK_INT(t->observations, SHAPES);
            CHECK_REL(t->us, all_us(i ? 2 : 1.5), 1e-9);
            CHECK_REL(t->base_us, all_us(0), 1e-6);
            base += fabs(t->base_us / t->us - 1) / 2;
            held += fabs(t->held_out_us / t->us - 1) / 2;
        }
        CHECK_REL(l.error_base, base, 1e-12);
        CHECK_REL(l.error_held_out, held, 1e-12);
        /* the other's factor: more of the first, less of the second */
        CHECK(l.traces[0].held_out_us > l.traces[0].fitted_us);
        CHECK(l.traces[1].held_out_us < l.traces[1].fitted_us);
    }
    done(&l);
}

/* A folder of several jobs is each of its traces. */
static void test_learn__of_a_folder(void)
{
    const char *paths[1] = {folder};
    struct msim_learned l;
    struct msim_error err;

    begin();
    put(0, 1.5, 0, true);
    put(1, 2, 0, true);
    if (CHECK_INT(learn(&l, "a100", paths, 1, &err), MSIM_OK))
        CHECK_INT(l.n_traces, 2);
    done(&l);
}

/* Without a base that of the traces, where it is not known the nearest; of
 * several they must agree. */
static void test_learn__finds_the_base(void)
{
    const char *paths[2] = {path[0], path[1]};
    struct msim_learned l;
    struct msim_error err;

    begin();
    put(0, 1.5, 0, true);
    CHECK_INT(learn(&l, NULL, paths, 1, &err), MSIM_EUSAGE);
    CHECK(!strncmp(err.text, "its GPU '", 9) &&
          strstr(err.text, "' is not known: --platform names the one that it "
                           "is most like"));
    done(&l);
    begin();
    put(0, 1, 108, true); /* 8.0 and 108 SMs */
    put(1, 1, 108, true);
    if (CHECK_INT(learn(&l, NULL, paths, 2, &err), MSIM_OK)) {
        CHECK(l.nearest);
        CHECK(!strncmp(l.base, "a100", 4) || !strncmp(l.base, "a800", 4));
    }
    done(&l);
    begin();
    put(0, 1, 108, true);
    put(1, 1, 56, true); /* an A30's */
    CHECK_INT(learn(&l, NULL, paths, 2, &err), MSIM_EUSAGE);
    CHECK(!strncmp(err.text, "ran on a30, and traces before it on a", 37) &&
          strstr(err.text, ": want traces of one machine, or --platform for "
                           "all of them"));
    done(&l);
}

static void test_learn__wants_shapes(void)
{
    const char *paths[1] = {path[0]};
    struct msim_learned l;
    struct msim_error err;

    begin();
    put(0, 1, 0, false);
    CHECK_INT(learn(&l, "a100", paths, 1, &err), MSIM_EFORMAT);
    CHECK_STR(err.text, "no trace has kernels of operators with shapes: record "
                        "with record_shapes=True, or add the execution trace");
    CHECK_STR(err.file, path[0]);
    done(&l);
    begin();
    CHECK(learn(&l, "a100", (const char *const[]){"not there"}, 1, &err) !=
          MSIM_OK);
    CHECK(*err.text);
    done(&l);
}

int main(void)
{
    if (!CHECK_INT(msim_platform_load(&a100, MSIM_DATA, "a100", NULL), MSIM_OK))
        return check_summary();
    RUN(test_learn__of_one_trace);
    RUN(test_learn__of_several);
    RUN(test_learn__of_a_folder);
    RUN(test_learn__finds_the_base);
    RUN(test_learn__wants_shapes);
    msim_platform_free(a100);
    return check_summary();
}
