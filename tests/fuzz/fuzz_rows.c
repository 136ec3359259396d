/*
 * Property: whatever stands in a table, each of its rows is a work or has a
 * reason, and a broken table is refused with a sentence. Memory errors and
 * leaks are the sanitizers' part.
 *
 * 300 byte flips and 40 cuts of a table of each kind, from a fixed seed.
 */
#include "core/work/rows.h"
#include "models/estimate/model.h"
#include "models/platform/platform.h"
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

static const char *const TABLES[] = {
    "framework,layout,dtype,m,n,k,batch\nvllm,NT,bfloat16,512,4096,4096,1\n"
    ",,fp8_block,17,4096,12288,3\n",
    "phase,batch,heads,kv_heads,q_len,kv_len,head_dim,dtype,kv_dtype,window\n"
    "prefill,4,32,8,2048,2048,128,bfloat16,fp8,128\n",
    "op,dtype,shape,bytes\nadd,fp32,12x345x67,\n\"softmax\",fp16,7x8,224\n",
    "collective,ranks,nodes,bytes,interconnect,algorithm\n"
    "all_reduce,8,1,1048576,NVLink3-NVSwitch,\nsend_recv,2,2,8,a100_dgx,\n",
    "op,n,c,h,w,k,r,s,stride,pad,groups\n"
    "conv2d_bwd_weight,8,16,32,32,64,3,3,1,1,1\n",
};

static struct msim_platform *platform;
static char path[] = "msim-fuzz-rows-XXXXXX";

static uint64_t next_random(uint64_t *state)
{
    *state =
        *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void answer(const struct msim_row_map *map, char *const *fields)
{
    char reason[128];
    struct msim_work w;
    struct msim_estimate e;
    const char *why = msim_row_work(map, fields, &w, reason, sizeof(reason));

    if (why)
        CHECK(*why != '\0');
    else if (msim_model_predict(platform, &w, false, &e, NULL) == MSIM_OK)
        CHECK(e.us > 0 && e.low_us <= e.us && e.us <= e.high_us);
}

static void try_bytes(const char *bytes, size_t n)
{
    struct msim_error err = {0};
    struct msim_row_map map;
    struct msim_csv *csv;
    char *const *fields = NULL;
    enum msim_status status;
    FILE *f = fopen(path, "wb");

    REQUIRE(f != NULL);
    CHECK_UINT(fwrite(bytes, 1, n, f), n);
    fclose(f);
    status = msim_csv_open(&csv, path, &err);
    if (status == MSIM_OK)
        status = msim_row_map_init(&map, csv, &err);
    while (status == MSIM_OK) {
        status = msim_csv_next(csv, &fields, &err);
        if (status == MSIM_OK && !fields)
            break;
        if (status == MSIM_OK)
            answer(&map, fields);
    }
    if (status != MSIM_OK)
        CHECK(*err.text != '\0');
    msim_csv_close(csv);
}

static void test_rows__cuts_and_flips(void)
{
    uint64_t state = 1;

    for (size_t t = 0; t < sizeof(TABLES) / sizeof(*TABLES); t++) {
        size_t n = strlen(TABLES[t]);

        for (int i = 0; i < 40; i++)
            try_bytes(TABLES[t], (size_t)(next_random(&state) % n));
        for (int i = 0; i < 300; i++) {
            char *copy = strdup(TABLES[t]);
            size_t at = (size_t)(next_random(&state) % n);

            REQUIRE(copy != NULL);
            copy[at] = (char)(copy[at] ^ (1 << next_random(&state) % 8));
            try_bytes(copy, n);
            free(copy);
        }
    }
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd < 0 ||
        msim_platform_load(&platform, MSIM_DATA, "a100", NULL) != MSIM_OK) {
        fprintf(stderr, "platform 'a100' cannot be loaded\n");
        return 1;
    }
    close(fd);
    RUN(test_rows__cuts_and_flips);
    unlink(path);
    msim_platform_free(platform);
    return check_summary();
}
