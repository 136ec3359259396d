/*
 * tests/unit/plan/test_plan_pdf.c - what is taken for a whole PDF, of a program
 * that writes whatever the page holds.
 */
#include "plan/outcome/plan_report.h"
#include "tests/check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = P_tmpdir "/msim-pdf-XXXXXX";
static char program[64], page[64];

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    REQUIRE(f);
    fputs(text, f);
    fclose(f);
}

static void test_plan_pdf__wants_its_end(void)
{
    static const struct {
        const char *text;
        bool whole;
    } CASES[] = {{"%PDF-1.7 some %%EOF", true},
                 {"%PDF-1.7 some %%EOF\n \r\n", true},
                 {"%%EOF", true},
                 {"%%EO", false},
                 {"%%EOF %%EO", false},
                 {" \n", false},
                 {"", false}};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct msim_error err = {0};
        char *pdf = NULL, want[96];
        size_t n = 0;

        put(page, CASES[i].text);
        CHECK((msim_plan_pdf(page, &pdf, &n, &err) == MSIM_OK) ==
              CASES[i].whole);
        if (CASES[i].whole) {
            CHECK(pdf && n == strlen(CASES[i].text) &&
                  memcmp(pdf, CASES[i].text, n) == 0);
            free(pdf);
            continue;
        }
        CHECK(!pdf);
        snprintf(want, sizeof(want),
                 "WeasyPrint's PDF has no end, after %zu bytes",
                 strlen(CASES[i].text));
        CHECK_STR(err.text, want);
    }
}

/* Where no program is named, it is python3. */
static void test_plan_pdf__has_a_usual_program(void)
{
    struct msim_error err = {0};
    char *pdf = NULL;
    size_t n = 0;

    put(page, "%%EOF");
    CHECK(setenv("PATH", folder, 1) == 0 && setenv("MSIM_PYTHON", "", 1) == 0);
    CHECK(msim_plan_pdf(page, &pdf, &n, &err) == MSIM_OK);
    free(pdf);
    CHECK(unsetenv("MSIM_PYTHON") == 0);
    CHECK(msim_plan_pdf(page, &pdf, &n, &err) == MSIM_OK);
    free(pdf);
}

static void test_plan_pdf__says_what_fails(void)
{
    struct msim_error err = {0};
    char *pdf = NULL;
    size_t n = 0;

    CHECK(unlink(page) == 0); /* the program fails without it */
    pdf = NULL;
    CHECK(msim_plan_pdf(page, &pdf, &n, &err) != MSIM_OK && !pdf);
    CHECK(strstr(err.text, "WeasyPrint could not make the PDF"));
    CHECK(setenv("MSIM_PYTHON", "/no/such/program", 1) == 0);
    err = (struct msim_error){0};
    CHECK(msim_plan_pdf(page, &pdf, &n, &err) != MSIM_OK && !pdf);
    CHECK(strstr(err.text, "apt install weasyprint"));
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    snprintf(program, sizeof(program), "%s/python3", folder);
    snprintf(page, sizeof(page), "%s/page.html", folder);
    put(program, "#!/bin/sh\n"
                 "# -c SCRIPT PAGE\n"
                 "[ \"$1\" = -c ] && exec /bin/cat \"$3\"\n");
    CHECK(chmod(program, 0700) == 0);
    CHECK(setenv("MSIM_PYTHON", program, 1) == 0);
    RUN(test_plan_pdf__wants_its_end);
    RUN(test_plan_pdf__has_a_usual_program);
    RUN(test_plan_pdf__says_what_fails);
    CHECK(unlink(program) == 0 && rmdir(folder) == 0);
    return check_summary();
}
