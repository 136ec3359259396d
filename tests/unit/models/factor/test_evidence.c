/*
 * models/factor/evidence.c: which factors an estimate takes, and what they do
 * to it.
 */
#include "models/factor/levels.h"
#include "tests/check.h"

#define FILE_NAME "mine.json"

static enum msim_status read(struct msim_evidence *e, const char *text,
                             struct msim_error *err)
{
    cJSON *json = cJSON_Parse(text);
    enum msim_status status;

    CHECK(json != NULL);
    status = msim_evidence_read(e, json, FILE_NAME, err);
    cJSON_Delete(json);
    return status;
}

/* A time of 100 us, 10 of them start, from 80 to 150. */
static void check_applied(const struct msim_evidence *e, const char *kind,
                          enum msim_family family, double start, double rate)
{
    struct msim_estimate x = {.us = 100,
                              .start_us = 10,
                              .low_us = 80,
                              .high_us = 150,
                              .family = family};
    double us = start * 10 + rate * 90;

    msim_evidence_apply(e, kind, &x);
    CHECK_REL(x.us, us, 1e-12);
    CHECK_REL(x.start_us, start * 10, 1e-12);
    CHECK_REL(x.low_us, 0.8 * us, 1e-12);
    CHECK_REL(x.high_us, 1.5 * us, 1e-12);
}

/* The nearest that a trace had: the kind, its kin, its family, all. */
static void test_evidence__nearest_applies(void)
{
    struct msim_evidence e;
    struct msim_error err = {0};
    struct msim_estimate none = {.us = 0, .family = MSIM_FAMILY_GEMM};

    REQUIRE(read(&e,
                 "{\"clock\":0.9,\"all\":[1,1.5],\"families\":{\"gemm\":[2,"
                 "1.25]},\"kin\":{\"gemm half\":[1,4,7]},\"kinds\":{\"gemm "
                 "half, odd rows\":[3,2,9],\"gemm half, a\":[0.5,0.5,9]}}",
                 &err) == MSIM_OK);
    CHECK_REL(e.clock, 0.9, 1e-12);
    check_applied(&e, "gemm half, odd rows", MSIM_FAMILY_GEMM, 3, 2);
    check_applied(&e, "gemm half, a", MSIM_FAMILY_GEMM, 0.5, 0.5);
    check_applied(&e, "gemm half, even", MSIM_FAMILY_GEMM, 1, 4);
    check_applied(&e, "gemm float", MSIM_FAMILY_GEMM, 2, 1.25);
    check_applied(&e, "norm", MSIM_FAMILY_NORM, 1, 1.5);
    msim_evidence_apply(&e, "gemm float", &none);
    CHECK(none.us == 0 && none.low_us == 0 && none.high_us == 0);
    msim_evidence_release(&e);
}

/* A factor is from 0.05 to 20, a clock a share; the member that is wrong is
 * named. */
static void test_evidence__refuses(void)
{
    static const struct {
        const char *text, *names;
    } wrong[] = {
        {"{}", "evidence.all"},
        {"{\"all\":[1,20.1]}", "evidence.all"},
        {"{\"all\":[0.049,1]}", "evidence.all"},
        {"{\"all\":[1]}", "evidence.all"},
        {"{\"all\":[1,1],\"families\":{\"gemm\":[1,0]}}", "evidence.families"},
        {"{\"all\":[1,1],\"kin\":{\"x\":[1,21]}}", "evidence.kin"},
        {"{\"all\":[1,1],\"kinds\":{\"x\":3}}", "evidence.kinds"},
        {"{\"all\":[1,1],\"clock\":2.1}", "evidence.clock"},
        {"{\"all\":[1,1],\"clock\":0.05}", "evidence.clock"},
    };
    struct msim_evidence e;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct msim_error err = {0};

        CHECK_INT(read(&e, wrong[i].text, &err), MSIM_EFORMAT);
        CHECK(strstr(err.text, wrong[i].names) != NULL);
        msim_evidence_release(&e);
    }
    REQUIRE(read(&e, "{\"all\":[0.05,20],\"clock\":2}", NULL) == MSIM_OK);
    msim_evidence_release(&e);
}

int main(void)
{
    RUN(test_evidence__nearest_applies);
    RUN(test_evidence__refuses);
    return check_summary();
}
