/*
 * Laws common to all GPUs, fitted on made-up tables of three GPUs of three
 * generations that reach 70, 80 and 90 % of their bandwidths: the one for all
 * is in the middle; each left out is off by what the others say of it, and the
 * interval for a fourth one holds that.
 */
#include "calibrate/platform/platform_fit.h"
#include "tests/check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define N_GPUS 3
#define ROWS   120

static char folder[64];

/* 3 us, and bytes at a share of 1e12 bytes/s. */
static double made_up_us(int gpu, double bytes)
{
    return 3 + bytes / ((0.7 + 0.1 * gpu) * 1e12) * 1e6;
}

static FILE *create(const char *name)
{
    char path[160];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return fopen(path, "w");
}

static bool make_table(struct msim_samples *s)
{
    char path[160];
    FILE *f = create("t.csv");
    enum msim_status status;

    if (!f)
        return false;
    fprintf(f, "gpu,framework,op,dtype,shape,bytes,time_us\n");
    for (int gpu = 0; gpu < N_GPUS; gpu++)
        for (int i = 0; i < ROWS; i++) {
            double bytes = 12 * 1024.0 * (1000 + i * 7919 % 2000);

            fprintf(f, "T%d,X,add,fp32,%dx1024,%.0f,%.4f\n", gpu,
                    1000 + i * 7919 % 2000, bytes, made_up_us(gpu, bytes));
        }
    fclose(f);
    snprintf(path, sizeof(path), "%s/t.csv", folder);
    status = msim_samples_init(s);
    if (status == MSIM_OK)
        status = msim_samples_add(s, path, NULL);
    msim_samples_sort(s);
    return status == MSIM_OK;
}

/* The data sheets, which are the platforms too: none has a cell. */
static cJSON *make_platforms(void)
{
    cJSON *sheets = cJSON_CreateArray();
    char text[640], name[64];

    for (int gpu = 0; gpu < N_GPUS; gpu++) {
        FILE *f;

        snprintf(text, sizeof(text),
                 "{\"name\":\"p%d\",\"generation\":\"%d\",\"tables\":[\"T%d\"],"
                 "\"stand_ins\":[],\"data_sheet\":{\"fp32_flops\":1e13,"
                 "\"sms\":100,\"memory_bytes\":1e10,\"l2_bytes\":1e5,"
                 "\"memory_bandwidth\":1e12}}",
                 gpu, gpu, gpu);
        snprintf(name, sizeof(name), "platforms/p%d.json", gpu);
        cJSON_AddItemToArray(sheets, cJSON_Parse(text));
        f = create(name);
        if (!f)
            break;
        fputs(text, f);
        fclose(f);
    }
    return sheets;
}

static void remove_all(void)
{
    static const char *const NAMES[] = {"t.csv", "platforms/p0.json",
                                        "platforms/p1.json",
                                        "platforms/p2.json", "platforms"};
    char path[160];

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, NAMES[i]);
        CHECK(remove(path) == 0);
    }
    CHECK(rmdir(folder) == 0);
}

/* The share of the bandwidth that the law comes to at 24 MB. */
static double efficiency(const struct msim_law_constants *c,
                         const struct msim_sample *like)
{
    struct msim_sample r = *like;

    r.work.bytes_read = 24e6;
    r.work.bytes_written = 0;
    return 24 / (msim_law_measured(c, &r) - 3);
}

static void check_laws(const struct msim_shared_fit *k)
{
    const struct msim_shared_group *c = &k->groups[0];
    const struct msim_sample *r = &k->rows[0].sample;

    REQUIRE(k->n_groups == 1);
    CHECK_UINT(k->n_rows, N_GPUS * ROWS);
    CHECK_UINT(c->platforms, 3);
    CHECK_UINT(c->generations, 3);
    /* least absolute errors: the GPU in the middle decides */
    CHECK_REL(efficiency(&c->all, r), 0.8, 0.03);
    /* without the slowest one: anything between the other two is as good */
    CHECK(efficiency(&c->without[0], r) > 0.78);
    CHECK(efficiency(&c->without[0], r) < 0.92);
    for (uint32_t i = 0; i < k->n_rows; i++)
        CHECK(fabs(k->rows[i].residual) < 0.3);
    CHECK(k->rows[0].residual > 0.1); /* slower than the others say */
}

/* As a cell: its interval holds all three, and what they say of one left out
 * has nothing of it. Without the fastest, the slowest took longer than the
 * other says, and a third one may as well take less. */
static void check_fits(const struct msim_shared_fit *k)
{
    struct msim_shared_laws all = {0}, less = {0};

    REQUIRE(msim_shared_fit_laws(k, -1, &all) == MSIM_OK);
    REQUIRE(msim_shared_fit_laws(k, 2, &less) == MSIM_OK);
    CHECK_UINT(all.n_fits, 1);
    CHECK_UINT(all.fits[0].rows, 3 * ROWS);
    CHECK_UINT(less.fits[0].rows, 2 * ROWS);
    CHECK(all.fits[0].bins[0].low < -0.1);
    CHECK(all.fits[0].bins[0].high > 0.1);
    CHECK(less.fits[0].bins[0].high > 0.1);
    CHECK_REL(less.fits[0].bins[0].low, -less.fits[0].bins[0].high, 0.1);
    CHECK(less.fits[0].params[1] < all.fits[0].params[1]);
    msim_shared_laws_release(&all);
    msim_shared_laws_release(&less);
}

/* A line for each GPU: no kin, so that what is common answers; and each lies
 * inside its interval. */
static void check_report(const struct msim_shared_fit *k)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    uint32_t lines = 0;

    REQUIRE(out != NULL);
    CHECK(msim_cross_validate(k, MSIM_WITHOUT_GPU, out) == MSIM_OK);
    fclose(out);
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    CHECK_UINT(lines, N_GPUS);
    CHECK(strstr(text, "p0,the GPU,vector,X,add,common,no,120,") == text);
    free(text);
}

static void test_kin_fit__finds_the_middle(void)
{
    struct msim_samples s;
    struct msim_shared_fit k;
    cJSON *sheets = make_platforms();

    REQUIRE(make_table(&s));
    REQUIRE(msim_shared_fit_init(&k, sheets, folder, &s, NULL) == MSIM_OK);
    CHECK_UINT(k.n_platforms, 3);
    CHECK_UINT(k.n_generations, 3);
    CHECK(msim_shared_fit_run(&k, 2) == MSIM_OK);
    check_laws(&k);
    check_fits(&k);
    check_report(&k);
    msim_shared_fit_release(&k);
    msim_samples_release(&s);
    cJSON_Delete(sheets);
}

int main(void)
{
    char path[160];

    snprintf(folder, sizeof(folder), "msim-test-kin-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof(path), "%s/platforms", folder);
    if (mkdir(path, 0700) != 0)
        return 1;
    RUN(test_kin_fit__finds_the_middle);
    remove_all();
    return check_summary();
}
