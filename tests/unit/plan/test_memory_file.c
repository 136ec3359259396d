/*
 * tests/unit/plan/test_memory_file.c - tests of the fit of memory that
 * msim_steps_read() reads.
 */
#include "plan/memory/job_memory.h"
#include "tests/check.h"

#include <stdlib.h>
#include <sys/stat.h>

static char folder[] = P_tmpdir "/msim-memory-XXXXXX";
static struct msim_error err;

static enum msim_status read_text(struct msim_memory_fit *fit, const char *text,
                                  const char *without)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof(path), "%s/laws/steps.json", folder);
    f = fopen(path, "w");
    if (!CHECK(f))
        return MSIM_EIO;
    fputs(text, f);
    fclose(f);
    err = (struct msim_error){0};
    return msim_steps_read(NULL, fit, folder, without, &err);
}

/* The text of one fit: constant c is `least` + c, the interval of class c is
 * 1 + c to 11 + c; but number `odd` of all these, in that order, is `value`, or
 * is not there where that is "". */
static const char *fit_text(const char *without, double least, uint32_t odd,
                            const char *value)
{
    static char text[2048], one[64];
    size_t used;
    uint32_t n = 0;

#define ADD(...)                                                               \
    used += (size_t)snprintf(text + used, sizeof(text) - used, __VA_ARGS__)
#define MEMBER(name, number)                                                   \
    do {                                                                       \
        snprintf(one, sizeof(one), "%g", (double)(number));                    \
        if (n != odd || *value)                                                \
            ADD("\"%s\": %s, ", name, n == odd ? value : one);                 \
        n++;                                                                   \
    } while (0)
    used = 0;
    ADD("{\"without\": \"%s\", \"constants\": {", without);
    for (uint32_t c = 0; c < MSIM_MEMORY_CONSTANTS; c++)
        MEMBER(msim_memory_constant_text(c), least + c);
    ADD("\"end\": 0}, \"interval\": {");
    for (int c = 0; c < MSIM_MEMORY_CLASSES; c++) {
        ADD("\"%s\": {", msim_memory_class_text((enum msim_memory_class)c));
        MEMBER("low", 1 + c);
        MEMBER("high", 11 + c);
        ADD("\"end\": 0}, ");
    }
    ADD("\"end\": 0}}");
    return text;
}

#define NONE_ODD UINT32_MAX
#define INTERVAL ((uint32_t)MSIM_MEMORY_CONSTANTS) /* the first of them */

static enum msim_status read_odd(struct msim_memory_fit *fit, uint32_t odd,
                                 const char *value)
{
    char text[4096];

    snprintf(text, sizeof(text), "{\"memory\": [%s]}",
             fit_text("", 0, odd, value));
    return read_text(fit, text, NULL);
}

static void test_memory_file__reads_all(void)
{
    struct msim_memory_fit fit;
    const double *constants = (const double *)&fit.constants;

    REQUIRE(read_odd(&fit, NONE_ODD, "") == MSIM_OK);
    for (uint32_t c = 0; c < MSIM_MEMORY_CONSTANTS; c++)
        CHECK_REL(constants[c], c, 0);
    for (int c = 0; c < MSIM_MEMORY_CLASSES; c++) {
        CHECK_REL(fit.interval[c].low, 1 + c, 0);
        CHECK_REL(fit.interval[c].high, 11 + c, 0);
    }
}

/* A constant may be 0; an interval holds the prediction. */
static void test_memory_file__refuses_what_is_no_fit(void)
{
    struct msim_memory_fit fit;
    char want[128];

    for (uint32_t i = 0; i < INTERVAL + 2 * MSIM_MEMORY_CLASSES; i++) {
        const char *least = i < INTERVAL ? "0" : "1";
        const char *values[] = {i < INTERVAL ? "-0.001" : "0.999", "\"1\"", ""};

        CHECK(read_odd(&fit, i, least) == MSIM_OK);
        snprintf(want, sizeof(want),
                 "memory: %s is missing or no number above 0; run "
                 "msim-fit-steps",
                 i < INTERVAL ? msim_memory_constant_text(i) : "interval");
        for (size_t k = 0; k < sizeof(values) / sizeof(*values); k++) {
            CHECK(read_odd(&fit, i, values[k]) == MSIM_EFORMAT);
            CHECK_STR(err.text, want);
        }
    }
}

/* Of several fits it is the one without the source; else that on all. */
static void test_memory_file__finds_the_fit(void)
{
    static const struct {
        const char *without;
        double want;
    } CASES[] = {{NULL, 2}, {"", 2}, {"lab", 1}, {"other", 3}, {"none", 2}};
    char text[8192];
    struct msim_memory_fit fit;
    size_t used = 0;

    ADD("{\"memory\": [{\"constants\": {}}, ");
    used += (size_t)snprintf(text + used, sizeof(text) - used, "%s, ",
                             fit_text("lab", 1, NONE_ODD, ""));
    used += (size_t)snprintf(text + used, sizeof(text) - used, "%s, ",
                             fit_text("", 2, NONE_ODD, ""));
    used += (size_t)snprintf(text + used, sizeof(text) - used, "%s]}",
                             fit_text("other", 3, NONE_ODD, ""));
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        CHECK(read_text(&fit, text, CASES[i].without) == MSIM_OK);
        CHECK_REL(fit.constants.gradient, CASES[i].want, 0);
    }
    CHECK(read_text(&fit, "{}", NULL) == MSIM_EFORMAT);
    CHECK(strstr(err.text, "memory: the fit is missing"));
    CHECK(read_text(&fit, "{\"memory\": [{\"without\": \"lab\"}]}", NULL) ==
          MSIM_EFORMAT);
    CHECK(strstr(err.text, "memory: the fit is missing"));
    CHECK(read_text(&fit, "{", NULL) == MSIM_ESYNTAX);
}

int main(void)
{
    char path[256];

    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof(path), "%s/laws", folder);
    if (mkdir(path, 0700) != 0)
        return 1;
    RUN(test_memory_file__reads_all);
    RUN(test_memory_file__refuses_what_is_no_fit);
    RUN(test_memory_file__finds_the_fit);
    snprintf(path, sizeof(path), "%s/laws/steps.json", folder);
    CHECK(remove(path) == 0);
    snprintf(path, sizeof(path), "%s/laws", folder);
    CHECK(remove(path) == 0 && remove(folder) == 0);
    return check_summary();
}
