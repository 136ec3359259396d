/*
 * Peaks that were computed by known constants of the memory formula: a fit
 * finds what gives them.
 */
#include "calibrate/steps/steps_fit.h"

#include "core/base/units.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define HEADER                                                                 \
    "source,status,model,platform,gpus,tp,pp,vp,cp,ep,zero,micro_batch,"       \
    "global_batch,sequence,precision,recompute,step_ms,memory_gib,framework\n"

static const char TABLE[] = HEADER
    "one,ok,llama3-8b,h100,16,2,1,1,1,1,1,2,64,4096,bf16,none,2600,29,"
    "nanotron\n"
    "one,ok,llama3-70b,h100,64,8,4,2,1,1,1,1,128,8192,bf16,full,19000,32,"
    "nanotron\n"
    "one,ok,mpt-7b,a100,8,1,1,1,1,1,1,4,64,2048,bf16,full,7300,35,nanotron\n"
    "two,ok,mpt-13b,a100,16,1,1,1,1,1,1,4,64,2048,bf16,full,7900,38,nanotron\n"
    "two,ok,mpt-7b,a100,16,1,1,1,1,1,0,2,64,2048,bf16,none,3100,41,nanotron\n"
    "two,ok,qwen3-30b-a3b,h100,32,1,1,1,1,8,1,1,128,4096,bf16,none,4000,47,"
    "nanotron\n"
    "three,ok,llama3-8b,a100,8,2,1,1,1,1,1,1,32,4096,bf16,none,4900,50,"
    "nanotron\n"
    "three,ok,llama3-8b,h100,16,8,2,1,1,1,1,1,32,4096,bf16,none,3200,9,"
    "nanotron\n"
    "three,ok,mpt-7b,a100,8,1,1,1,1,1,1,8,64,2048,bf16,none,5300,20,nanotron\n"
    "three,oom,llama3-70b,h100,16,8,1,1,1,1,1,1,256,4096,bf16,none,,,"
    "nanotron\n";

static bool read_table(struct msim_step_samples *s)
{
    char path[] = "msim-test-jobs-XXXXXX";
    struct msim_error err = {.status = MSIM_OK};
    int fd = mkstemp(path);
    FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;
    enum msim_status status;

    if (!f)
        return false;
    fputs(TABLE, f);
    fclose(f);
    status = msim_step_samples_read(s, path, MSIM_DATA, &err);
    unlink(path);
    CHECK_STR(err.text, "");
    return status == MSIM_OK;
}

static double peak(const struct msim_step_sample *row,
                   const struct msim_memory_constants *c)
{
    return msim_memory_of(&row->described, &row->strategy, c).peak / MSIM_GIB;
}

/* What did not fail is read, with what was measured, by sources. */
static void test_samples__read(void)
{
    static const double MEMORY[] = {29, 32, 35, 38, 41, 47, 50, 9, 20};
    struct msim_step_samples s = {.n = 0};

    REQUIRE(read_table(&s));
    REQUIRE(s.n == 9 && s.n_sources == 3);
    for (uint32_t i = 0; i < 9; i++) {
        CHECK_REL(s.rows[i].memory_gib, MEMORY[i], 1e-12);
        CHECK_UINT(s.rows[i].source, i / 3);
    }
    CHECK_STR(s.sources[0], "one");
    CHECK_STR(s.sources[2], "three");
    CHECK_STR(s.rows[0].model, "llama3-8b");
    CHECK_REL(s.rows[0].us, 2600e3, 1e-12);
    CHECK_REL(s.rows[0].gpus, 16, 0);
    CHECK_REL(s.rows[1].gpus, 64, 0);
    msim_step_samples_release(&s);
}

/* The logarithm of measured over predicted. */
static void test_memory__residual(void)
{
    struct msim_memory_constants c = msim_memory_constants_start();
    struct msim_step_samples s = {.n = 0};

    REQUIRE(read_table(&s));
    for (uint32_t i = 0; i < s.n; i++) {
        double p = peak(&s.rows[i], &c);

        CHECK(p > 1 && p < 200);
        s.rows[i].memory_gib = 2 * p;
        CHECK_REL(msim_memory_residual(&s.rows[i], &c), log(2), 1e-9);
        s.rows[i].memory_gib = p / 3;
        CHECK_REL(msim_memory_residual(&s.rows[i], &c), -log(3), 1e-9);
    }
    msim_step_samples_release(&s);
}

/* Nanotron is the program whose peaks the constants are of. Rows that are not
 * used say what they like, and so does one whose peak is not
 * known: the fit explains the others to a hundredth. */
static void test_memory__fit(void)
{
    struct msim_memory_constants truth = msim_memory_constants_start(), c;
    const struct msim_memory_constants start = truth;
    struct msim_step_samples s = {.n = 0};
    uint8_t use[9] = {1, 1, 1, 1, 1, 1, 1, 0, 1};
    double before = 0;

    truth.optimizer *= 1.5;
    truth.activations *= 2;
    truth.fixed_gib *= 3;
    REQUIRE(read_table(&s));
    for (uint32_t i = 0; i < s.n; i++) {
        s.rows[i].memory_gib = peak(&s.rows[i], &truth);
        before = fmax(before, fabs(msim_memory_residual(&s.rows[i], &start)));
    }
    CHECK(before > 0.1);
    s.rows[7].memory_gib *= 4;
    s.rows[8].memory_gib = 0;
    c = msim_memory_constants_fit(&s, use);
    for (uint32_t i = 0; i < 7; i++)
        CHECK(fabs(msim_memory_residual(&s.rows[i], &c)) < 0.01);
    /* nothing is known: all stays where it began */
    memset(use, 0, sizeof(use));
    c = msim_memory_constants_fit(&s, use);
    CHECK_REL(c.optimizer, start.optimizer, 1e-9);
    CHECK_REL(c.activations, start.activations, 1e-9);
    CHECK_REL(c.fixed_gib, start.fixed_gib, 1e-9);
    msim_step_samples_release(&s);
}

int main(void)
{
    RUN(test_samples__read);
    RUN(test_memory__residual);
    RUN(test_memory__fit);
    return check_summary();
}
