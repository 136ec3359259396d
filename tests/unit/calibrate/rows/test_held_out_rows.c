/*
 * Lines of held-out rows: which sizes they have, what is not written, and the
 * tables that a fit reads.
 */
#include "calibrate/rows/samples.h"

#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

/* A prediction of 100 us, from a fifth less to a quarter more. */
static void test_held_out_row__interval(void)
{
    struct msim_held_out_row h =
        msim_held_out_row_of(90, 100, log(0.8), log(1.25), 3);

    CHECK_REL(h.measured_us, 90, 0);
    CHECK_REL(h.predicted_us, 100, 0);
    CHECK_REL(h.low_us, 80, 1e-12);
    CHECK_REL(h.high_us, 125, 1e-12);
    CHECK_UINT(h.fold, 3);
}

static const char *read_all(const char *path)
{
    static char text[2000];
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

    if (f)
        fclose(f);
    text[n] = '\0';
    return text;
}

static bool make_path(char *path, size_t size)
{
    snprintf(path, size, "msim-test-held-XXXXXX");
    int fd = mkstemp(path);

    return fd >= 0 && close(fd) == 0;
}

/* Bytes are what is moved; of a collective what is sent; of a dispatch tokens
 * x hidden, one byte each, and two on the way back. */
static void test_held_out_row__sizes(void)
{
    struct msim_sample s[4] = {
        {.gpu = "G", .framework = "f", .key = "k"},
        {.gpu = "G", .framework = "f", .key = "k"},
        {.gpu = "G", .framework = "f", .key = "k"},
        {.gpu = "G", .framework = "f", .key = "k"},
    };
    struct msim_held_out_row h = msim_held_out_row_of(90, 100, 0, 0, 7);
    struct msim_held_out_row none = msim_held_out_row_of(90, 0, 0, 0, 7);
    struct msim_held_out_row small = msim_held_out_row_of(0.25, 0.5, 0, 0, 0);
    struct msim_file *out;
    char path[64];

    REQUIRE(make_path(path, sizeof(path)));
    s[0].work.family = MSIM_FAMILY_GEMM;
    s[0].work.flops = 5e6;
    s[0].work.bytes_read = 300;
    s[0].work.bytes_written = 100;
    s[1].work.family = MSIM_FAMILY_COLLECTIVE;
    s[1].work.bytes_read = 1;
    s[1].work.u.coll.bytes = 4096;
    s[2].work.family = s[3].work.family = MSIM_FAMILY_DISPATCH;
    s[2].work.u.dispatch.tokens = s[3].work.u.dispatch.tokens = 30;
    s[2].work.u.dispatch.hidden = s[3].work.u.dispatch.hidden = 20;
    s[3].work.u.dispatch.combine = true;
    REQUIRE(msim_file_open(&out, path, NULL, NULL) == MSIM_OK);
    CHECK_INT(msim_held_out_header_write(out), MSIM_OK);
    for (int i = 0; i < 4; i++) {
        CHECK_INT(msim_held_out_row_write(out, "p", "fam", &s[i], &h), MSIM_OK);
        CHECK_INT(msim_held_out_row_write(out, "p", "fam", &s[i], &none),
                  MSIM_OK);
    }
    CHECK_INT(msim_held_out_row_write(out, "q", "fam", &s[0], &small), MSIM_OK);
    CHECK_INT(msim_file_close(out, MSIM_OK, NULL), MSIM_OK);
    CHECK_STR(read_all(path),
              "platform,table_gpu,family,framework,cell,fold,flops,bytes,"
              "measured_us,predicted_us,low_us,high_us\n"
              "p,G,fam,f,k,7,5e+06,400,90,100,100,100\n"
              "p,G,fam,f,k,7,0,4096,90,100,100,100\n"
              "p,G,fam,f,k,7,0,600,90,100,100,100\n"
              "p,G,fam,f,k,7,0,1200,90,100,100,100\n"
              "q,G,fam,f,k,0,5e+06,400,0.25,0.5,0.5,0.5\n");
    unlink(path);
}

/* ---- tables -------------------------------------------------------------- */

static void test_tables__choice(void)
{
    struct msim_tables t = {0};
    struct msim_error err = {0};

    CHECK(!msim_tables_choose(&t, "gem", &err));
    CHECK_STR(err.text, "unknown table 'gem', known are: gemm, attention, "
                        "vector, collective, conv, moe, expert_dispatch");
    CHECK_INT(err.status, MSIM_EUNKNOWN);
    CHECK(!t.some);
    CHECK(msim_tables_choose(&t, "conv", NULL));
    CHECK(msim_tables_choose(&t, "gemm", NULL));
    CHECK(t.some);
    for (size_t i = 0; i < MSIM_TABLES; i++)
        CHECK(t.chosen[i] == (i == 0 || i == 4));
}

/* A chosen table that is not there is an error, one that is not chosen none;
 * rows come sorted by what is fitted together. */
static void test_tables__read(void)
{
    struct msim_tables all = {0}, one = {0};
    char folder[] = "msim-test-tables-XXXXXX", path[128];
    struct msim_samples s;
    FILE *f;

    REQUIRE(mkdtemp(folder) && msim_samples_init(&s) == MSIM_OK);
    snprintf(path, sizeof(path), "%s/gemm.csv.gz", folder);
    f = fopen(path, "wb");
    REQUIRE(f);
    fputs("source,gpu,dtype,framework,m,n,k,time_us\n"
          "s,Z,fp16,,64,64,64,5\ns,A,fp16,,64,64,64,7\n",
          f);
    fclose(f);
    CHECK(msim_tables_choose(&one, "gemm", NULL));
    CHECK_INT(msim_tables_read(&s, folder, &all, NULL), MSIM_EIO);
    msim_samples_release(&s);
    REQUIRE(msim_samples_init(&s) == MSIM_OK);
    CHECK_INT(msim_tables_read(&s, folder, &one, NULL), MSIM_OK);
    REQUIRE(s.n == 2);
    CHECK_STR(s.rows[0].gpu, "A");
    CHECK_STR(s.rows[1].gpu, "Z");
    msim_samples_release(&s);
    unlink(path);
    rmdir(folder);
}

/* A tree's file ends with one line's end; what this program has read it may
 * write again only where it says so. */
static void test_tree__write(void)
{
    cJSON *o = cJSON_Parse("{\"a\":1}"), *read;
    char path[64];

    REQUIRE(make_path(path, sizeof(path)));
    CHECK_INT(msim_tree_write(o, path, NULL), MSIM_OK);
    CHECK_STR(read_all(path), "{\n\t\"a\":\t1\n}\n");
    REQUIRE(msim_json_read(&read, path, NULL) == MSIM_OK);
    cJSON_Delete(read);
    CHECK_INT(msim_tree_write(o, path, NULL), MSIM_EUSAGE);
    cJSON_AddNumberToObject(o, "b", 2);
    CHECK_INT(msim_tree_renew(o, path, NULL), MSIM_OK);
    CHECK_STR(read_all(path), "{\n\t\"a\":\t1,\n\t\"b\":\t2\n}\n");
    unlink(path);
    cJSON_Delete(o);
}

int main(void)
{
    RUN(test_held_out_row__interval);
    RUN(test_held_out_row__sizes);
    RUN(test_tables__choice);
    RUN(test_tables__read);
    RUN(test_tree__write);
    return check_summary();
}
