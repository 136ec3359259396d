/*
 * models/factor/program_factors.c: whose factor counts, and which kind a work
 * is of.
 */
#include "models/factor/program_factors.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum msim_status read_text(struct msim_program_factors *f,
                                  const char *text, const char *name,
                                  const char *generation, double tensor,
                                  struct msim_error *err)
{
    const struct msim_factor_gpu gpu = {name, generation, tensor,
                                        1u << MSIM_FACTOR_RECURRENT};
    cJSON *json = cJSON_Parse(text);
    enum msim_status status =
        msim_program_factors_read(f, json, "a file", &gpu, err);

    cJSON_Delete(json);
    return status;
}

static const char TEXT[] =
    "{\"platforms\":{"
    "\"six\":{\"generation\":\"w\",\"time\":{\"norm\":4}},"
    "\"seven\":{\"generation\":\"v\",\"time\":{\"norm\":4}},"
    "\"eight\":{\"generation\":\"v\",\"by_rows\":[\"norm\"],\"time\":{}},"
    "\"one\":{\"generation\":\"x\",\"tensor\":1024,"
    "\"time\":{\"gemm_half\":0.5,\"vector\":2,\"conv_deep\":2,"
    "\"attention\":9},\"half_precision\":false},"
    "\"two\":{\"generation\":\"x\",\"tensor\":512,"
    "\"time\":{\"gemm_half\":4,\"vector\":4,\"recurrent\":3,"
    "\"attention\":0.25},\"half_precision\":true},"
    "\"three\":{\"generation\":\"y\",\"time\":{\"conv_deep\":8}}}}";

/* Its own; else of its generation and of what is expected of any GPU. */
static void test_program_factors__whose(void)
{
    struct msim_program_factors f;

    CHECK_INT(read_text(&f, TEXT, "one", "x", 1024, NULL), MSIM_OK);
    CHECK_REL(f.time[MSIM_FACTOR_GEMM_HALF], 0.5, 1e-9);
    CHECK_REL(f.time[MSIM_FACTOR_VECTOR], 2, 1e-9);
    CHECK_REL(f.time[MSIM_FACTOR_NORM], 1, 1e-9);
    /* not of itself: of its generation */
    CHECK_INT(read_text(&f, TEXT, "four", "x", 0, NULL), MSIM_OK);
    CHECK_REL(f.time[MSIM_FACTOR_VECTOR], sqrt(2 * 4), 1e-9);
    /* one has 2, and the mean of all of a kind that carries is 4 */
    CHECK_REL(f.time[MSIM_FACTOR_CONV_DEEP], sqrt(2 * 4), 1e-9);
    /* its own rows tell it */
    CHECK_REL(f.time[MSIM_FACTOR_RECURRENT], 1, 1e-9);
    CHECK_INT(read_text(&f, TEXT, "four", "x", 1000, NULL), MSIM_OK);
    CHECK_REL(f.time[MSIM_FACTOR_CONV_DEEP], sqrt(2 * 4), 1e-9);
    CHECK_INT(read_text(&f, TEXT, "four", "x", 500, NULL), MSIM_OK);
    CHECK_REL(f.time[MSIM_FACTOR_CONV_DEEP], 4, 1e-9);
    /* attention in full precision tells the GPU's own alone */
    CHECK_REL(f.time[MSIM_FACTOR_ATTENTION], sqrt(0.25), 1e-9);
    CHECK_INT(read_text(&f, TEXT, "one", "x", 1024, NULL), MSIM_OK);
    CHECK_REL(f.time[MSIM_FACTOR_ATTENTION], 9, 1e-9);
    /* one of the generation; but another has rows, and so the law */
    CHECK_INT(read_text(&f, TEXT, "four", "w", 0, NULL), MSIM_OK);
    CHECK_REL(f.time[MSIM_FACTOR_NORM], 2, 1e-9);
    CHECK_INT(read_text(&f, TEXT, "four", "v", 0, NULL), MSIM_OK);
    CHECK_REL(f.time[MSIM_FACTOR_NORM], 1, 1e-9);
    /* none of its generation */
    CHECK_INT(read_text(&f, TEXT, "five", "z", 0, NULL), MSIM_OK);
    CHECK_REL(f.time[MSIM_FACTOR_CONV_DEEP], 4, 1e-9);
    CHECK_REL(f.time[MSIM_FACTOR_GEMM_HALF], 1, 1e-9);
}

/* Products in half precision: of those with tensor cores as wide. */
static void test_program_factors__tensor_cores(void)
{
    static const struct msim_data_sheet L20 = {
        .rate[MSIM_RATE_FP16] = 119.5e12, .sms = 92, .clock_hz = 2.52e9};
    struct msim_program_factors f;

    CHECK_INT(read_text(&f, TEXT, "four", "x", 1011, NULL), MSIM_OK);
    CHECK_REL(f.time[MSIM_FACTOR_GEMM_HALF], sqrt(0.5), 1e-9);
    CHECK_REL(msim_factor_tensor(&L20), 515, 1e-9);
    CHECK_INT(read_text(&f, TEXT, "four", "x", 515, NULL), MSIM_OK);
    CHECK_REL(f.time[MSIM_FACTOR_GEMM_HALF], 2, 1e-9);
    CHECK_INT(read_text(&f, TEXT, "four", "x", 4096, NULL), MSIM_OK);
    CHECK_REL(f.time[MSIM_FACTOR_GEMM_HALF], 1, 1e-9);
}

/* As if it were not there: what GPUs without programs have. */
static void test_program_factors__of_others(void)
{
    struct msim_program_factors f;
    cJSON *json = cJSON_Parse(TEXT);

    CHECK_INT(msim_program_factors_of_others(&f, json, "a file", "one", NULL),
              MSIM_OK);
    CHECK_REL(f.time[MSIM_FACTOR_CONV_DEEP], 8, 1e-9);
    CHECK_REL(f.time[MSIM_FACTOR_GEMM_HALF], 1, 1e-9);
    cJSON_Delete(json);
}

static void test_program_factors__files(void)
{
    struct msim_program_factors f;
    struct msim_error err = {0};

    CHECK_INT(msim_program_factors_read(
                  &f, NULL, "none", &(struct msim_factor_gpu){"one", "x", 0, 0},
                  &err),
              MSIM_OK);
    CHECK_REL(f.time[MSIM_FACTOR_NORM], 1, 0);
    CHECK_INT(read_text(&f,
                        "{\"platforms\":{\"one\":{\"time\":{\"norm\":99}}}}",
                        "one", "x", 0, &err),
              MSIM_EFORMAT);
    CHECK(strstr(err.text, "'norm' of 'one' is 99"));
}

static void test_program_factors__kinds(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_CONV, .dtype = MSIM_DT_F16};

    CHECK_INT(msim_factor_of(&w), MSIM_FACTOR_CONV_HALF);
    w.u.conv.groups = 32;
    CHECK_INT(msim_factor_of(&w), MSIM_FACTOR_CONV_GROUPS);
    w.u.conv.deep = true;
    CHECK_INT(msim_factor_of(&w), MSIM_FACTOR_CONV_DEEP);
    w.u.conv.c = w.u.conv.groups = 8;
    CHECK_INT(msim_factor_of(&w), MSIM_FACTOR_CONV_DEPTHWISE);
    w.u.conv.transposed = true;
    CHECK_INT(msim_factor_of(&w), MSIM_FACTOR_CONV_TRANSPOSED);
    w.repeats = 512;
    CHECK_INT(msim_factor_of(&w), MSIM_FACTOR_RECURRENT);
    w = (struct msim_work){.family = MSIM_FAMILY_NORM, .variant = "batch_norm"};
    CHECK_INT(msim_factor_of(&w), MSIM_FACTOR_BATCH_NORM);
    w.variant = "batch_norm_elemt";
    CHECK_INT(msim_factor_of(&w), MSIM_FACTOR_NORM);
    w.family = MSIM_FAMILY_COLLECTIVE;
    CHECK_INT(msim_factor_of(&w), MSIM_FACTOR_COUNT);
}

int main(void)
{
    RUN(test_program_factors__whose);
    RUN(test_program_factors__tensor_cores);
    RUN(test_program_factors__of_others);
    RUN(test_program_factors__files);
    RUN(test_program_factors__kinds);
    return check_summary();
}
