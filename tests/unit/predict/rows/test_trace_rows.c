/*
 * predict/rows/trace_rows.c: a row is the changes that its columns say, and has
 * what was measured.
 */
#include "predict/rows/trace_rows.h"
#include "tests/unit/loaded.h"

static const char TABLE[] =
    "model,strategy,gpus,batch_per_gpu,step_ms,peak_memory_gb,status\n"
    "resnet50,ddp,4,32,19,1.5,ok\n"
    "resnet50,single,1,many,24,1.7,\n"
    "resnet50,ddp,2,16,24,1.7,oom\n"
    "resnet50,ddp,2,16,-3,,ok\n";

static void test_rows__are_read(void)
{
    char folder[64], path[96];
    struct msim_predict_settings s = {.data = MSIM_DATA};
    struct msim_error err = {0};
    struct msim_trace_rows t;
    FILE *out;

    snprintf(folder, sizeof(folder), "trace-rows-XXXXXX");
    REQUIRE(mkdtemp(folder) != NULL);
    snprintf(path, sizeof(path), "%s/rows.csv", folder);
    out = fopen(path, "w");
    REQUIRE(out != NULL);
    fputs(TABLE, out);
    fclose(out);
    CHECK_INT(msim_trace_rows_read(&t, path, &s, &err), MSIM_OK);
    CHECK_STR(err.text, "");
    REQUIRE(t.n == 4);
    CHECK_UINT(t.n_columns, 7);
    CHECK_STR(t.rows[0].fields[1], "ddp");
    CHECK_STR(t.rows[0].kind, "ddp");
    CHECK_UINT(t.scenarios.rows[0].settings.rewrite.world, 4);
    CHECK_STR(t.scenarios.rows[0].reason, "");
    CHECK_REL(t.rows[0].step_ms, 19, 1e-12);
    CHECK_REL(t.rows[0].memory_gib, 1.5, 1e-12);
    /* What cannot be read has a reason, and was measured all the same. */
    CHECK(strstr(t.scenarios.rows[1].reason, "batch_per_gpu is 'many'"));
    CHECK_REL(t.rows[1].step_ms, 24, 1e-12);
    /* A run that failed measured nothing, nor does a time below 0. */
    CHECK(t.rows[2].step_ms == 0 && t.rows[2].memory_gib == 0);
    CHECK(t.rows[3].step_ms == 0 && t.rows[3].memory_gib == 0);
    msim_trace_rows_release(&t);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    RUN(test_rows__are_read);
    return check_summary();
}
