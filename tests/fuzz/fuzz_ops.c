/*
 * Property: whatever stands in a user's table of operators, it is read or
 * refused with a sentence that names the file, and what is read maps operators
 * to works that predict. Memory errors and leaks are the sanitizers' part.
 *
 * 200 byte flips, 100 swaps of two bytes and 40 cuts of each table, from a
 * fixed seed.
 */
#include "core/work/opmap/opmap.h"
#include "core/work/opmap/ops_file.h"
#include "models/estimate/model.h"
#include "models/platform/platform.h"
#include "tests/unit/made_ops.h"

#include <unistd.h>

static const char *const TABLES[] = {
    "operator,like,within,note\nmy::?x*,aten::mm,1.5,\"a, b\"\n*,aten::add,,\n",
    "operator,law,read,written,flops,rows,cols,kernels\n"
    "my::[a-x]x,norm,2 * bytes(in0) + 8,bytes(out),elems(in),8,"
    "\"dim(in0, -1)\",2\n",
    "operator,law,m,n,k,batch\n"
    "my::xx,gemm,\"max(dim(in0,0), 1)\",\"dim(in1,1)\",1024,arg(3) / 7\n",
    "operator,law,us\nmy::xx,time,(5 + bytes(list2)) * 1e-2 - .5\n"
    "my::x*,nothing,\n",
    "operator,rule,variant,inputs,flops_each,kernels,flags,arg\n"
    "my::xx,norm,rms_norm,2,12,,composite backward,channel\n"
    "my::x*,pointwise,,3,1,,,7\n",
    "operator,rule,kernels,flags,arg\nmy::xx,attention,,outer,fa_varlen\n"
    "my::x?,conv,,,any\nmy::*,jagged,6,,1\n",
};

static struct msim_platform *platform;
static char path[] = "msim-fuzz-ops-XXXXXX";

static uint64_t next_random(uint64_t *state)
{
    *state =
        *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void map_one(struct build *b, const struct msim_ops *ops)
{
    struct msim_work w[MSIM_OPMAP_MAX];
    struct msim_estimate e;
    uint32_t n = 0;

    (void)msim_opmap(&b->t, ops, 0, -1, MSIM_OPMAP_AS_TRACED, w, &n);
    for (uint32_t k = 0; k < n; k++)
        if (msim_model_predict(platform, &w[k], false, &e, NULL) == MSIM_OK)
            CHECK(e.us > 0 && e.low_us <= e.us && e.us <= e.high_us &&
                  e.high_us < 1e11);
}

static void try_bytes(const char *bytes, size_t n)
{
    static struct build b;
    struct msim_error err = {0};
    struct msim_ops *ops;
    FILE *f = fopen(path, "wb");

    REQUIRE(f != NULL);
    CHECK_UINT(fwrite(bytes, 1, n, f), n);
    fclose(f);
    build_init(&b);
    build_op(&b, 0, "my::xx", "f16[8,1024] f16[1024,2] (f32[4]) 7", "f16[8,2]");
    if (msim_ops_load(&ops, path, b.strings, &err) == MSIM_OK)
        map_one(&b, ops);
    else
        CHECK(strstr(err.file, path) != NULL && *err.text != '\0');
    msim_ops_free(ops);
    build_release(&b);
}

static void try_changed(const char *table, uint64_t *state, bool swap)
{
    size_t n = strlen(table);
    size_t at = (size_t)(next_random(state) % n);
    size_t other = (size_t)(next_random(state) % n);
    char *copy = strdup(table);

    REQUIRE(copy != NULL);
    if (swap) {
        copy[at] = table[other];
        copy[other] = table[at];
    } else {
        copy[at] = (char)(copy[at] ^ (1 << other % 8));
    }
    try_bytes(copy, n);
    free(copy);
}

static void test_ops__cuts_flips_and_swaps(void)
{
    uint64_t state = 1;

    for (size_t t = 0; t < sizeof(TABLES) / sizeof(*TABLES); t++) {
        try_bytes(TABLES[t], strlen(TABLES[t]));
        for (int i = 0; i < 40; i++)
            try_bytes(TABLES[t],
                      (size_t)(next_random(&state) % strlen(TABLES[t])));
        for (int i = 0; i < 300; i++)
            try_changed(TABLES[t], &state, i < 100);
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
    RUN(test_ops__cuts_flips_and_swaps);
    unlink(path);
    msim_platform_free(platform);
    return check_summary();
}
