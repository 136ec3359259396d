/*
 * Fits on made-up tables, whose constants are known: they are found again, what
 * is held back is predicted, and the number of threads changes nothing.
 */
#include "calibrate/fit/law_fit.h"
#include "calibrate/platform/platform_fit.h"
#include "core/base/csv.h"
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

#define BANDWIDTH 1e12 /* of the made-up GPU, bytes/s */
#define SHEET                                                                  \
    "{\"name\":\"made-up\",\"generation\":\"g\",\"tables\":[\"G\"],"           \
    "\"data_sheet\":{\"fp32_flops\":1e13,\"fp16_flops\":1e14,\"sms\":100,"     \
    "\"memory_bytes\":1e10,\"l2_bytes\":1e5,\"memory_bandwidth\":1e12,"        \
    "\"kernel_floor_us\":2,\"pcie_bandwidth\":1e10,"                           \
    "\"pageable_bandwidth\":5e9,\"link_bandwidth\":1e11,"                      \
    "\"network_bandwidth\":1e10,\"trace_factor\":1.5}}"

/* 3 us and 80 % of the bandwidth; NeuSight launches none faster than 30 us. */
static double made_up_us(double bytes, bool neusight)
{
    double us = 3 + bytes / (0.8 * BANDWIDTH) * 1e6;

    return neusight && us < 30 ? 30 : us;
}

/* A table of additions by two stacks, `rows` of each. */
static bool make_samples(struct msim_samples *s, int rows)
{
    char path[] = "msim-test-fit-XXXXXX";
    struct msim_error err = {0};
    enum msim_status status;
    int fd = mkstemp(path);
    FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;

    if (!f)
        return false;
    fprintf(f, "gpu,framework,op,dtype,shape,bytes,time_us\n");
    for (int i = 0; i < rows; i++) {
        int n = 4 + i * 7919 % 2000;
        double bytes = 1024.0 * n * 12;

        fprintf(f, "G,vidur,add,fp32,%dx1024,%.0f,%.4f\n", n, bytes,
                made_up_us(bytes, false));
        fprintf(f, "G,NeuSight,add,fp32,%dx1024,%.0f,%.4f\n", n, bytes,
                made_up_us(bytes, true));
    }
    /* another GPU's, and one without a time: neither is fitted on */
    fprintf(f, "H,vidur,add,fp32,8x1024,98304,1000\n"
               "G,vidur,add,fp32,8x1024,98304,0\n");
    fclose(f);
    status = msim_samples_init(s);
    if (status == MSIM_OK)
        status = msim_samples_add(s, path, &err);
    msim_samples_sort(s);
    unlink(path);
    return status == MSIM_OK;
}

/* What is kept of every row is what the figures of the cell are means of. */
static void check_held_rows(const struct msim_fit_result *f,
                            const struct msim_sample *rows)
{
    double error = 0, width = 0;
    uint32_t inside = 0;

    for (uint32_t i = 0; i < f->rows; i++) {
        const struct msim_held_out_row *h = &f->held[i];

        CHECK_REL(h->measured_us, rows[i].us, 0);
        CHECK(h->fold < MSIM_FOLDS && h->low_us <= h->predicted_us &&
              h->predicted_us <= h->high_us);
        error += fabs(h->predicted_us / h->measured_us - 1) / f->rows;
        width += h->high_us / h->low_us / f->rows;
        inside += rows[i].us >= h->low_us && rows[i].us <= h->high_us;
    }
    CHECK_REL(error, f->held_out.mean, 1e-9);
    CHECK_REL(width, f->width, 1e-9);
    CHECK_REL((double)inside / f->rows, f->coverage, 1e-9);
}

static void test_fit_one__finds_constants(void)
{
    cJSON *json = cJSON_Parse(SHEET);
    struct msim_samples s;
    struct msim_fit_result f;
    struct msim_data_sheet sheet;
    uint32_t begin = 0;

    REQUIRE(make_samples(&s, 400));
    REQUIRE(msim_data_sheet_read(
                &sheet, cJSON_GetObjectItemCaseSensitive(json, "data_sheet"),
                NULL, "sheet", NULL) == MSIM_OK);
    CHECK_UINT(s.n, 801);
    while (strcmp(s.rows[begin].framework, "vidur") != 0)
        begin++;
    for (uint32_t i = 0; i < s.n; i++)
        s.rows[i].sheet = &sheet;
    REQUIRE(msim_fit_one(&f, &s.rows[begin], 400) == MSIM_OK);
    CHECK_UINT(f.rows, 400);
    CHECK_UINT(f.groups, 400);
    CHECK(f.held_out.mean < 0.01);
    CHECK(f.law_held_out.mean < 0.02);
    /* bandwidth_efficiency; the cache, which these rows do not have, may take
     * a little of it */
    CHECK_REL(f.constants.params[1], 0.8, 0.03);
    CHECK_REL(f.constants.gap.least_us, 0, 0);
    CHECK(f.coverage > 0.8 && f.width < 1.1);
    check_held_rows(&f, &s.rows[begin]);
    msim_fit_result_release(&f);
    REQUIRE(msim_fit_one(&f, s.rows, 400) == MSIM_OK);
    CHECK_REL(f.constants.gap.least_us, 30, 0.05);
    CHECK_REL(f.constants.params[0], 2, 0); /* hidden: the shortest kernel */
    msim_fit_result_release(&f);
    msim_samples_release(&s);
    cJSON_Delete(json);
}

static char *fit_text(const struct msim_samples *s, uint32_t threads)
{
    cJSON *sheet = cJSON_Parse(SHEET);
    struct msim_conv_ratios ratios;
    struct msim_fit_options o = {.ratios = &ratios, .threads = threads};
    struct msim_error err = {0};
    cJSON *json;
    char *text = NULL;

    msim_conv_ratios_make(&ratios, s);
    CHECK_REL(ratios.strided_data.median, 1, 0); /* no pairs */
    CHECK_INT(msim_platform_fit(&json, sheet, "sheet", s, &o, &err), MSIM_OK);
    if (json)
        text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    cJSON_Delete(sheet);
    return text;
}

static void test_platform_fit__does_not_depend_on_threads(void)
{
    struct msim_samples s;
    char *one, *three;

    REQUIRE(make_samples(&s, 60));
    one = fit_text(&s, 1);
    three = fit_text(&s, 3);
    CHECK(one && strstr(one, "\"framework\":\"vidur\"") != NULL);
    CHECK(one && strstr(one, "\"framework\":\"NeuSight\"") != NULL);
    CHECK(one && strstr(one, "launch_gap") != NULL);
    CHECK_STR(one, three);
    cJSON_free(one);
    cJSON_free(three);
    msim_samples_release(&s);
}

/* Every row that was fitted on, once, as a table that the reader of tables
 * takes; low <= predicted <= high; the other GPU's row is not among them. */
static void check_rows_file(const char *path, uint32_t want)
{
    struct msim_error err = {0};
    struct msim_csv *csv;
    char *const *field;
    uint32_t n = 0, gpu, us, low, high;

    REQUIRE(msim_csv_open(&csv, path, &err) == MSIM_OK);
    gpu = msim_csv_find(csv, "table_gpu");
    us = msim_csv_find(csv, "predicted_us");
    low = msim_csv_find(csv, "low_us");
    high = msim_csv_find(csv, "high_us");
    REQUIRE(high < msim_csv_columns(csv) && us < high && low < high);
    while (msim_csv_next(csv, &field, &err) == MSIM_OK && field) {
        n++;
        CHECK_STR(field[gpu], "G");
        CHECK(strtod(field[low], NULL) <= strtod(field[us], NULL) &&
              strtod(field[us], NULL) <= strtod(field[high], NULL));
    }
    CHECK_INT(err.status, MSIM_OK);
    CHECK_UINT(n, want);
    msim_csv_close(csv);
}

static void test_platform_fit__writes_rows_held_back(void)
{
    char path[] = "msim-test-rows-XXXXXX";
    cJSON *sheet = cJSON_Parse(SHEET);
    struct msim_conv_ratios ratios;
    struct msim_fit_options o = {.ratios = &ratios, .threads = 2};
    struct msim_error err = {0};
    struct msim_samples s;
    cJSON *json;
    int fd = mkstemp(path);

    REQUIRE(fd >= 0 && make_samples(&s, 60));
    close(fd);
    msim_conv_ratios_make(&ratios, &s);
    REQUIRE(msim_file_open(&o.rows, path, &(struct msim_file_how){.gzip = true},
                           &err) == MSIM_OK);
    CHECK_INT(msim_held_out_header_write(o.rows), MSIM_OK);
    CHECK_INT(msim_platform_fit(&json, sheet, "sheet", &s, &o, &err), MSIM_OK);
    CHECK_INT(msim_file_close(o.rows, MSIM_OK, &err), MSIM_OK);
    check_rows_file(path, 120);
    unlink(path);
    cJSON_Delete(json);
    cJSON_Delete(sheet);
    msim_samples_release(&s);
}

static void test_platform_fit__refuses_sheets(void)
{
    struct msim_samples s;
    struct msim_conv_ratios ratios = {0};
    struct msim_fit_options o = {.ratios = &ratios, .threads = 1};
    struct msim_error err = {0};
    cJSON *sheet = cJSON_Parse("{\"data_sheet\":{}}");
    cJSON *json;

    REQUIRE(msim_samples_init(&s) == MSIM_OK);
    CHECK_INT(msim_platform_fit(&json, sheet, "sheet", &s, &o, &err),
              MSIM_EFORMAT);
    CHECK(json == NULL && strstr(err.text, "name") != NULL);
    err = (struct msim_error){0};
    cJSON_AddStringToObject(sheet, "name", "x");
    CHECK_INT(msim_platform_fit(&json, sheet, "sheet", &s, &o, &err),
              MSIM_EFORMAT);
    CHECK(strstr(err.text, "fp32_flops") != NULL);
    cJSON_Delete(sheet);
    msim_samples_release(&s);
}

int main(void)
{
    RUN(test_fit_one__finds_constants);
    RUN(test_platform_fit__does_not_depend_on_threads);
    RUN(test_platform_fit__writes_rows_held_back);
    RUN(test_platform_fit__refuses_sheets);
    return check_summary();
}
