/*
 * tests/unit/serving/rows/test_served_point.c - rows of served models: columns
 * by any of their names, sizes that tables write in their own ways, and what
 * cannot be read.
 */
#include "serving/rows/serve_rows.h"
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

static struct msim_served_point point;
static char defaults[MSIM_POINT_TEXT], reason[MSIM_POINT_TEXT];

/* Read the one row of a table; whether it can be. */
static bool read_table(const char *header, const char *row)
{
    char path[] = P_tmpdir "/msim-served-point-XXXXXX";
    struct msim_point_columns columns;
    struct msim_csv *csv = NULL;
    char *const *fields = NULL;
    int fd = mkstemp(path);
    bool read = false;
    FILE *f;

    if (fd < 0 || !(f = fdopen(fd, "w")))
        return false;
    fprintf(f, "%s\n%s\n", header, row);
    fclose(f);
    reason[0] = '\0';
    if (msim_csv_open(&csv, path, NULL) == MSIM_OK &&
        msim_point_columns_find(&columns, csv, path, NULL) == MSIM_OK &&
        msim_csv_next(csv, &fields, NULL) == MSIM_OK && fields) {
        read =
            msim_served_point_read(&point, &columns, fields, defaults, reason);
        point.model = point.platform = NULL; /* gone with the table */
    }
    msim_csv_close(csv);
    unlink(path);
    return read;
}

static void test_served_point__reads_a_row(void)
{
    CHECK(read_table("model,platform,backend,isl,osl,batch_size,tp_size,"
                     "gemm_quant,moe_quant,kv_cache_dtype",
                     "m,h100,sglang,2048,256,8.0,4,fp8,,fp8"));
    CHECK_INT(point.engine, MSIM_LLM_SGLANG);
    CHECK_INT(point.isl, 2048);
    CHECK_INT(point.osl, 256);
    CHECK_INT(point.clients, 8);
    CHECK_INT(point.serve.tp, 4);
    CHECK_INT(point.serve.moe_tp, 4);
    CHECK_INT(point.serve.ep, 1);
    CHECK_INT(point.products, MSIM_QUANT_FP8);
    CHECK_INT(point.experts, MSIM_QUANT_FP8);
    CHECK_INT(point.decode.workers, 0);
    msim_served_point_settle(&point, defaults);
    CHECK(point.outputs.least == 256); /* equal, and prompts first */
    CHECK(point.outputs.most == 256);
    CHECK(strcmp(defaults, "equal lengths") == 0);
}

static void test_served_point__other_names_and_defaults(void)
{
    CHECK(read_table("model,gpu,gpus,weight_bits,batch", "m,a100,2,4,1"));
    CHECK_INT(point.serve.tp, 2);
    CHECK_INT(point.clients, 1);
    CHECK_INT(point.products, MSIM_QUANT_INT4);
    CHECK(strstr(defaults, "backend vllm; isl 128; osl 128") == defaults);
    CHECK(!read_table("model,gpu,weight_bits", "m,a100,5"));
    CHECK(strstr(reason, "weight_bits: got '5', want 16, 8 or 4") == reason);
}

/* tp, dp, moe_tp, ep as written, and as they are meant. */
static void test_served_point__splits(void)
{
    static const struct {
        const char *written;
        int64_t tp, dp, moe_tp, ep;
    } cases[] = {
        {"8,,8,1", 8, 1, 8, 1},   {"8,,1,8", 8, 1, 1, 8},
        {"8,,,", 8, 1, 8, 1},     {"1,8,1,8", 1, 8, 1, 8},
        {"8,8,1,8", 1, 8, 1, 8},  /* tp counts all ranks */
        {"16,1,4,4", 4, 1, 1, 4}, /* "tp 4, ep 4", both filled in */
        {"64,1,8,8", 8, 1, 1, 8}, {"4,1,2,2", 2, 1, 1, 2},
        {"4,,2,2", 4, 1, 2, 2}, /* attention_dp is not stated: as it says */
        {"4,,8,2", 4, 1, 2, 2}, /* agrees with nothing: moe_tp follows */
        {"4,,0,0", 4, 1, 4, 1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char row[64];

        snprintf(row, sizeof(row), "m,h100,%s", cases[i].written);
        CHECK(read_table("model,platform,tp_size,attention_dp_size,"
                         "moe_tp_size,moe_ep_size",
                         row));
        CHECK_INT(point.serve.tp, cases[i].tp);
        CHECK_INT(point.serve.dp, cases[i].dp);
        CHECK_INT(point.serve.moe_tp, cases[i].moe_tp);
        CHECK_INT(point.serve.ep, cases[i].ep);
    }
}

static void test_served_point__disaggregated(void)
{
    CHECK(read_table("model,platform,mode,prefill_num_workers,prefill_tp_size,"
                     "decode_num_workers,decode_tp_size,decode_batch_size,"
                     "batch_size",
                     "m,h100,disagg,8,1,2,4,256,"));
    CHECK_INT(point.serve.workers, 8);
    CHECK_INT(point.serve.tp, 1);
    CHECK_INT(point.decode.workers, 2);
    CHECK_INT(point.decode.tp, 4);
    CHECK_INT(point.clients, 512);
    CHECK(strstr(defaults, "kv_transfer_gbps 50; concurrency 512") != NULL);
}

static void test_served_point__refuses(void)
{
    CHECK(!read_table("model,platform,isl", "m,h100,many"));
    CHECK(strcmp(reason, "isl: got 'many', want a whole number, 1 or more") ==
          0);
    CHECK(!read_table("model,platform,isl", "m,h100,1000001"));
    CHECK_STR(reason, "isl: got '1000001', want at most 1000000");
    CHECK(!read_table("model,platform,isl", "m,h100,-5"));
    CHECK(!read_table("model,platform,tp_size", "m,h100,1.5"));
    CHECK(!read_table("model,platform,backend", "m,h100,ollama"));
    CHECK(!read_table("model,platform,gemm_quant", "m,h100,fp7"));
    CHECK(!read_table("model,platform", ",h100"));
    CHECK(!read_table("model,platform", "m,"));
    CHECK(!read_table("model,batch_size", "m,1")); /* no platform */
    CHECK(!read_table("model,platform,batch_size,osl", "m,h100,2000,60000"));
    CHECK(strstr(reason, "2000 clients with 60000 output tokens each"));
    CHECK(!read_table("model,platform,isl", "m,h100,1e30"));
    CHECK(read_table("model,platform,random_range_ratio", "m,h100,0.5"));
    msim_served_point_settle(&point, defaults);
    CHECK(point.prompts.least == 64);
    CHECK(point.prompts.most == 128);
    CHECK(point.outputs.least == 64);
    CHECK_REL(msim_tokens_mean(point.outputs), 96, 1e-12);
}

static struct msim_point_benchmarks benchmarks;

/* Read a table of settings, with this behind its header. */
static enum msim_status read_settings(const char *rows, struct msim_error *err)
{
    char path[] = P_tmpdir "/msim-benchmarks-XXXXXX";
    int fd = mkstemp(path);
    enum msim_status status;
    FILE *f;

    if (fd < 0 || !(f = fdopen(fd, "w")))
        return MSIM_EIO;
    fprintf(f,
            "shapes,engine,model,platform,types,tp_below,setting,value,source\n"
            "%s",
            rows);
    fclose(f);
    msim_point_benchmarks_release(&benchmarks);
    status = msim_point_benchmarks_read(&benchmarks, path, err);
    unlink(path);
    return status;
}

/* What a benchmark sets, where its rows do not say it: a later row wins, and
 * what is stated stays. */
static void test_served_point__settings_of_benchmarks(void)
{
    const char *columns = "model,platform,backend,isl,osl,tp_size,"
                          "gemm_quant,kv_cache_dtype,random_range_ratio";

    CHECK(read_settings("128x64 1024x1024,,,,,,random_range_ratio,0.8,s\n"
                        "1024x1024,vllm,lla,h200,fp8,,kv_cache_dtype,fp8,s\n"
                        ",trtllm,,,,8,batch_wait_timeout_iters,20,s\n"
                        ",trtllm,,,,2,batch_wait_timeout_iters,30,s\n",
                        NULL) == MSIM_OK);
    CHECK(read_table(columns, "m,h,vllm,1024,1024,1,fp8,,"));
    msim_point_benchmarks_apply(&benchmarks, &point, "llama-2", "h200",
                                defaults);
    msim_served_point_settle(&point, defaults);
    CHECK_INT(point.kv, MSIM_QUANT_FP8);
    CHECK_REL(msim_tokens_mean(point.prompts), 0.9 * 1024, 1e-12);
    CHECK(strstr(defaults, "random_range_ratio 0.8; kv_cache_dtype fp8"));
    CHECK_INT(point.wait_steps, 0);

    CHECK(read_table(columns, "m,h,vllm,1024,1024,1,,,1"));
    msim_point_benchmarks_apply(&benchmarks, &point, "llama-2", "h200",
                                defaults);
    CHECK_INT(point.kv, MSIM_QUANT_OWN); /* other types of weights */
    CHECK(point.range == 1);

    CHECK(read_table(columns, "m,h,trtllm,28,64,4,,,"));
    msim_point_benchmarks_apply(&benchmarks, &point, "lla", "h200", defaults);
    CHECK_INT(point.wait_steps, 20);
    CHECK(!(point.range > 0)); /* 28x64 is not 128x64 */
    CHECK(read_table(columns, "m,h,trtllm,28,64,1,,,"));
    msim_point_benchmarks_apply(&benchmarks, &point, "lla", "h200", defaults);
    CHECK_INT(point.wait_steps, 30);
    msim_point_benchmarks_release(&benchmarks);
}

static void test_served_point__refuses_settings(void)
{
    struct msim_error err = {0};

    CHECK(read_settings(",,,,,,max_num_batched_tokens,2048,s\n"
                        ",,,,,,kv_cache,fp8,s\n",
                        &err) == MSIM_EFORMAT);
    CHECK(strstr(err.text, "line 3: setting is 'kv_cache', want random_range"));
    CHECK(read_settings(",,,,,,kv_cache_dtype,fp7,s\n", NULL) == MSIM_EFORMAT);
    CHECK(read_settings(",,,,,x,kv_cache_dtype,fp8,s\n", NULL) == MSIM_EFORMAT);
    CHECK(read_settings(",,,,,,random_range_ratio,-1,s\n", NULL) ==
          MSIM_EFORMAT);
    msim_point_benchmarks_release(&benchmarks);
}

int main(void)
{
    RUN(test_served_point__reads_a_row);
    RUN(test_served_point__other_names_and_defaults);
    RUN(test_served_point__splits);
    RUN(test_served_point__disaggregated);
    RUN(test_served_point__refuses);
    RUN(test_served_point__settings_of_benchmarks);
    RUN(test_served_point__refuses_settings);
    return check_summary();
}
