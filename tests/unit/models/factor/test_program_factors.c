/*
 * models/factor/program_factors.c: whose factor counts, and which kind a work
 * is of.
 */
#include "models/factor/program_factors.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

static enum msim_status read_text(struct msim_program_factors *f,
                                  const char *text, const char *name,
                                  const char *generation,
                                  struct msim_error *err)
{
    cJSON *json = cJSON_Parse(text);
    enum msim_status status =
        msim_program_factors_read(f, json, "a file", name, generation, err);

    cJSON_Delete(json);
    return status;
}

static const char TEXT[] =
    "{\"platforms\":{"
    "\"one\":{\"generation\":\"x\",\"time\":{\"gemm_half\":0.5,"
    "\"conv_deep\":2}},"
    "\"two\":{\"generation\":\"x\",\"time\":{\"gemm_half\":2}},"
    "\"three\":{\"generation\":\"y\",\"time\":{\"conv_deep\":8}}}}";

static void test_program_factors__whose(void)
{
    struct msim_program_factors f;

    CHECK_INT(read_text(&f, TEXT, "one", "x", NULL), MSIM_OK);
    CHECK_REL(f.time[MSIM_FACTOR_GEMM_HALF], 0.5, 1e-9);
    CHECK_REL(f.time[MSIM_FACTOR_VECTOR], 1, 0);
    /* not of itself: of its generation */
    CHECK_INT(read_text(&f, TEXT, "four", "x", NULL), MSIM_OK);
    CHECK_REL(f.time[MSIM_FACTOR_GEMM_HALF], 1, 1e-9);
    CHECK_REL(f.time[MSIM_FACTOR_CONV_DEEP], 4, 1e-9);
    /* one of its generation: of all */
    CHECK_INT(read_text(&f, TEXT, "six", "y", NULL), MSIM_OK);
    CHECK_REL(f.time[MSIM_FACTOR_CONV_DEEP], 4, 1e-9);
    /* not of its generation: of all, for a kind without rows in any table */
    CHECK_INT(read_text(&f, TEXT, "five", "z", NULL), MSIM_OK);
    CHECK_REL(f.time[MSIM_FACTOR_CONV_DEEP], 4, 1e-9);
    CHECK_REL(f.time[MSIM_FACTOR_GEMM_HALF], 1, 0);
}

static void test_program_factors__files(void)
{
    struct msim_program_factors f;
    struct msim_error err = {0};

    CHECK_INT(msim_program_factors_read(&f, NULL, "none", "one", "x", &err),
              MSIM_OK);
    CHECK_REL(f.time[MSIM_FACTOR_NORM], 1, 0);
    CHECK_INT(read_text(&f,
                        "{\"platforms\":{\"one\":{\"time\":{\"norm\":99}}}}",
                        "one", "x", &err),
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
    RUN(test_program_factors__files);
    RUN(test_program_factors__kinds);
    return check_summary();
}
