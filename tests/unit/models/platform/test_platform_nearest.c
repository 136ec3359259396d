/*
 * models/platform/platform_nearest.c: what stands in for a GPU that is not
 * known, out of a folder of made-up platforms.
 */
#include "models/platform/platform.h"

#include "models/platform/platform_data.h"
#include "tests/check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[32];

/* A generation each, with other numbers of SMs. */
static const struct {
    const char *name, *generation, *maker;
    uint32_t capability, sms;
    double memory;
} FILES[] = {
    {"p01", "maxwell", "", 52, 10, 1e9},
    {"p02", "pascal", "", 60, 10, 1e9},
    {"p03", "pascal-graphics", "", 61, 10, 1e9},
    {"p04", "volta", "", 70, 10, 1e9},
    {"p05", "turing", "", 75, 10, 1e9},
    {"p06", "ampere", "", 80, 10, 1e9},
    {"p07", "ampere-graphics", "", 86, 10, 1e9},
    {"p08", "ada", "", 89, 10, 1e9},
    {"p09", "hopper", "", 90, 10, 1e9},
    {"p10", "blackwell", "", 100, 10, 1e9},
    {"p11", "blackwell-graphics", "", 120, 10, 1e9},
    {"p12", "vega", "AMD ", 90, 20, 1e9},
    {"p13", "cdna", "AMD ", 90, 40, 1e9},
    {"p14", "cdna2", "AMD ", 90, 40, 8e9},
    {"p15", "cdna3", "AMD ", 94, 40, 1e9},
    {"p17", "ampere", "", 80, 1, 1e9},
    {"p18", "ada", "", 89, 0, 1e9}, /* of which SMs are not known */
    {"p19", "no generation", "", 10, 10, 1e9},
};
#define N_FILES (sizeof(FILES) / sizeof(*FILES))

static const char *path_of(const char *name, const char *ending)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/platforms%s%s%s", folder, *name ? "/" : "",
             name, ending);
    return path;
}

static bool make_folder(void)
{
    snprintf(folder, sizeof(folder), "%s", "msim-test-XXXXXX");
    if (!mkdtemp(folder) || mkdir(path_of("", ""), 0700) != 0)
        return false;
    for (size_t i = 0; i < N_FILES; i++) {
        FILE *out = fopen(path_of(FILES[i].name, ".json"), "w");

        if (!out)
            return false;
        fprintf(out,
                "{\"name\":\"%s\",\"generation\":\"%s\",\"data_sheet\":{"
                "\"sms\":%u,\"memory_bytes\":%g}}",
                FILES[i].name, FILES[i].generation, FILES[i].sms,
                FILES[i].memory);
        fclose(out);
    }
    return true;
}

static void remove_folder(void)
{
    for (size_t i = 0; i < N_FILES; i++)
        unlink(path_of(FILES[i].name, ".json"));
    rmdir(path_of("", ""));
    rmdir(folder);
}

static void check_nearest(const char *gpu, uint32_t capability, uint32_t sms,
                          double memory, const char *want)
{
    const struct msim_gpu_properties g = {.sms = sms,
                                          .memory_bytes = (uint64_t)memory,
                                          .cc_major = capability / 10,
                                          .cc_minor = capability % 10};
    struct msim_arena arena;

    msim_arena_init(&arena);
    CHECK_STR(msim_platform_nearest(&arena, folder, gpu, &g), want);
    msim_arena_release(&arena);
}

/* A GPU of each row's capability and sizes is that row. */
static void test_nearest__each_generation(void)
{
    char gpu[64];

    REQUIRE(make_folder());
    for (size_t i = 0; i + 1 < N_FILES; i++) {
        if (!FILES[i].sms)
            continue;
        snprintf(gpu, sizeof(gpu), "%sgpu", FILES[i].maker);
        check_nearest(gpu, FILES[i].capability, FILES[i].sms, FILES[i].memory,
                      FILES[i].name);
    }
    remove_folder();
}

/* The capability counts before sizes, on either side of it; of sizes the sum of
 * both. What is equally near is the first by name. */
static void test_nearest__order(void)
{
    REQUIRE(make_folder());
    check_nearest("gpu", 88, 10, 1e9, "p08");
    check_nearest("gpu", 95, 10, 1e9, "p09");
    check_nearest("gpu", 96, 9999, 1e12, "p10");
    check_nearest("gpu", 20, 10, 1e9, "p01");
    check_nearest("gpu", 130, 10, 1e9, "p11");
    check_nearest("gpu", 85, 10, 1e9, "p07");
    check_nearest("gpu", 65, 10, 1e9, "p03");
    check_nearest("gpu", 80, 8, 1e9, "p06");
    check_nearest("gpu", 80, 1, 1e9, "p17");
    check_nearest("gpu", 89, 50, 1e9, "p18");
    check_nearest("AMD gpu", 90, 25, 1e9, "p12");
    check_nearest("AMD gpu", 90, 39, 1e9, "p13");
    check_nearest("AMD gpu", 90, 39, 7e9, "p14");
    check_nearest("AMD gpu", 90, 20, 2.5e9, "p12");
    check_nearest("AMD gpu", 90, 40, 0, "p13"); /* its memory is not known */
    remove_folder();
}

/* Of its maker alone, whichever word says so. */
static void test_nearest__makers(void)
{
    REQUIRE(make_folder());
    check_nearest("Radeon VII", 90, 20, 1e9, "p12");
    check_nearest("Instinct MI100", 90, 40, 1e9, "p13");
    check_nearest("NVIDIA H100", 90, 20, 1e9, "p09");
    check_nearest("", 90, 40, 1e9, "p09");
    check_nearest("AMD gpu", 52, 10, 1e9, "p12");
    remove_folder();
}

static void test_nearest__what_is_not_known(void)
{
    REQUIRE(make_folder());
    check_nearest("gpu", 80, 0, 1e9, NULL);
    check_nearest("gpu", 5, 10, 1e9, NULL);
    check_nearest("gpu", 80, 9, 0, "p06");
    remove_folder();
    check_nearest("gpu", 80, 10, 1e9, NULL); /* no such folder */
}

/* ---- likened ------------------------------------------------------------- */

static struct msim_platform made(void)
{
    struct msim_platform p = {.name = "known"};

    for (int i = 0; i < MSIM_RATE_COUNT; i++)
        p.sheet.rate[i] = 100 * (i + 1);
    p.sheet.sms = 50;
    p.sheet.bandwidth = 7;
    p.sheet.memory_bytes = 1000;
    p.sheet.usable_bytes = 900;
    p.sheet.trace_factor = 1.5;
    p.jobs.slower = 0.3;
    p.jobs.faster = 0.4;
    return p;
}

/* As many SMs, and rates in proportion; all kernels are wider at right angles
 * by the one deviation. */
static void test_liken__sets_what_is_recorded(void)
{
    struct msim_gpu_properties g = {.sms = 75, .memory_bytes = 2000};
    struct msim_platform p = made();
    double more;

    msim_platform_liken(&p, &g);
    for (int i = 0; i < MSIM_RATE_COUNT; i++)
        CHECK_REL(p.sheet.rate[i], 150 * (i + 1), 1e-12);
    CHECK_REL(p.sheet.sms, 75, 0);
    CHECK_REL(p.sheet.bandwidth, 7, 0);
    CHECK_REL(p.sheet.memory_bytes, 2000, 0);
    CHECK_REL(p.sheet.usable_bytes, 2000, 0);
    CHECK_STR(p.name, "near known");
    more = p.jobs.slower * p.jobs.slower - 0.3 * 0.3;
    CHECK(more > 0);
    CHECK_REL(p.jobs.faster, hypot(0.4, sqrt(more)), 1e-12);
    CHECK_REL(p.sheet.trace_factor, exp(hypot(log(1.5), 1.645 * sqrt(more))),
              1e-12);
}

static void test_liken__keeps_the_rest(void)
{
    struct msim_gpu_properties g = {.sms = 50};
    struct msim_platform p = made();

    memset(p.name, 'x', sizeof(p.name) - 1);
    msim_platform_liken(&p, &g);
    CHECK_REL(p.sheet.memory_bytes, 1000, 0);
    CHECK_REL(p.sheet.usable_bytes, 900, 0);
    CHECK_UINT(strlen(p.name), sizeof(p.name) - 1);
    CHECK(strncmp(p.name, "near xxxx", 9) == 0);
}

int main(void)
{
    RUN(test_liken__keeps_the_rest);
    RUN(test_liken__sets_what_is_recorded);
    RUN(test_nearest__each_generation);
    RUN(test_nearest__makers);
    RUN(test_nearest__order);
    RUN(test_nearest__what_is_not_known);
    return check_summary();
}
