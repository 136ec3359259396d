/*
 * Tables of whole programs: sums and their parts, folds in turns, and what is
 * refused.
 */
#include "calibrate/factors/factor_fit.h"

#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

#define HEADER "trace,platform,us,group,source\n"
#define DLRM   "dlrm/et/rank-0.json.gz"
#define VIT    "vit/et/rank-0.json.gz"

static struct msim_error err;

static enum msim_status read_text(struct msim_program_sums *s, const char *text)
{
    char path[] = "msim-test-programs-XXXXXX";
    int fd = mkstemp(path);
    FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;
    enum msim_status status;

    err = (struct msim_error){0};
    if (!CHECK(f))
        return MSIM_EIO;
    fputs(text, f);
    fclose(f);
    status =
        msim_program_sums_read(s, path, MSIM_DATA "/traces", MSIM_DATA, &err);
    unlink(path);
    return status;
}

/* A program's parts are its kinds and the rest; each is there once. */
static void check_parts(const struct msim_program_sums *s, uint32_t row)
{
    const struct msim_program_sum *r = &s->rows[row];
    double kind[MSIM_FACTOR_COUNT] = {0}, other = 0;

    CHECK(r->n_parts > 1);
    for (uint32_t i = r->parts; i < r->parts + r->n_parts; i++) {
        const struct msim_program_part *p = &s->parts[i];

        *(p->factor < MSIM_FACTOR_COUNT ? &kind[p->factor] : &other) += p->us;
        CHECK(p->us > 0 && p->low_us > 0.1 * p->us);
        CHECK(p->low_us < p->us && p->us < p->high_us);
        for (uint32_t k = r->parts; k < i; k++)
            CHECK(p->factor != s->parts[k].factor ||
                  p->spread != s->parts[k].spread ||
                  p->family != s->parts[k].family);
    }
    for (int k = 0; k < MSIM_FACTOR_COUNT; k++)
        CHECK(fabs(r->kind[k] - kind[k]) <= 1e-9 * kind[k]);
    CHECK(fabs(r->other - other) <= 1e-9 * other);
}

static double total(const struct msim_program_sum *r)
{
    double sum = r->other;

    for (int k = 0; k < MSIM_FACTOR_COUNT; k++)
        sum += r->kind[k];
    return sum;
}

/* The same trace, apart and once more, is the same program; on a slower GPU it
 * takes longer. */
static void test_program_sums__rows(void)
{
    struct msim_program_sums s;

    REQUIRE(read_text(&s, HEADER DLRM ",a100,100.5,one,x\n" VIT
                                      ",a100,200,two,x\n" DLRM
                                      ",a100,0.5,three,y\n" DLRM
                                      ",v100,300,one,x\n") == MSIM_OK);
    REQUIRE(s.n == 4);
    for (uint32_t i = 0; i < s.n; i++)
        check_parts(&s, i);
    CHECK_REL(s.rows[0].us, 100.5, 0);
    CHECK_REL(s.rows[2].us, 0.5, 0);
    CHECK_REL(total(&s.rows[2]), total(&s.rows[0]), 0);
    CHECK(total(&s.rows[1]) > 1.05 * total(&s.rows[0]));
    CHECK(total(&s.rows[3]) > 1.05 * total(&s.rows[0]));
    CHECK_UINT(s.platforms.n, 2);
    CHECK_UINT(s.groups.n, 3);
    CHECK_UINT(s.sources.n, 2);
    CHECK_STR(s.groups.text[2], "three");
    CHECK_STR(s.sources.text[1], "y");
    CHECK_UINT(s.rows[3].platform, 1);
    CHECK_UINT(s.rows[3].group, 0);
    CHECK_UINT(s.rows[2].group, 2);
    CHECK_UINT(s.rows[2].source, 1);
    CHECK_UINT(s.rows[3].source, 0);
    msim_program_sums_release(&s);
    CHECK(!s.rows && !s.parts && s.n == 0);
}

/* Groups of a platform have folds 0 to 4 in turns, by their first rows there.
 */
static void test_program_sums__folds(void)
{
    static const struct {
        const char *platform, *group;
        uint32_t fold;
    } ROWS[] = {{"a100", "a", 0}, {"a100", "b", 1}, {"v100", "c", 0},
                {"v100", "a", 1}, {"a100", "a", 0}, {"a100", "c", 2},
                {"a100", "d", 3}, {"v100", "c", 0}, {"a100", "e", 4},
                {"a100", "f", 0}, {"a100", "g", 1}, {"a100", "d", 3}};
    enum { N = sizeof(ROWS) / sizeof(*ROWS) };
    struct msim_program_sums s;
    char text[2000] = HEADER;

    for (uint32_t i = 0; i < N; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 DLRM ",%s,1,%s,x\n", ROWS[i].platform, ROWS[i].group);
    REQUIRE(read_text(&s, text) == MSIM_OK);
    REQUIRE(s.n == N);
    for (uint32_t i = 0; i < N; i++)
        CHECK_UINT(s.rows[i].fold, ROWS[i].fold);
    msim_program_sums_release(&s);
}

static void test_program_sums__refused(void)
{
    static const char *const COLUMNS[] = {"trace", "platform", "us", "group",
                                          "source"};
    static const struct {
        const char *us;
        bool refused;
    } TIMES[] = {{"0", true}, {"-1", true},  {"x", true},
                 {"", true},  {"nan", true}, {"1e-9", false}};
    struct msim_program_sums s;
    char text[256], want[256];

    for (int i = 0; i < 5; i++) { /* a column by another name */
        text[0] = '\0';
        for (int k = 0; k < 5; k++)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s%s",
                     COLUMNS[k], k == i ? "_" : "", k < 4 ? "," : "\n");
        snprintf(want, sizeof(want),
                 "no column '%s', want trace, platform, us, group and source",
                 COLUMNS[i]);
        CHECK_INT(read_text(&s, text), MSIM_EFORMAT);
        CHECK_STR(err.text, want);
        msim_program_sums_release(&s);
    }
    for (size_t i = 0; i < sizeof(TIMES) / sizeof(*TIMES); i++) {
        snprintf(text, sizeof(text), HEADER DLRM ",a100,%s,a,b\n", TIMES[i].us);
        snprintf(want, sizeof(want), "'us' is '%s', want a time above 0",
                 TIMES[i].us);
        CHECK_INT(read_text(&s, text),
                  TIMES[i].refused ? MSIM_EFORMAT : MSIM_OK);
        CHECK_STR(err.text, TIMES[i].refused ? want : "");
        CHECK(!TIMES[i].refused || err.offset == 2);
        msim_program_sums_release(&s);
    }
    CHECK(read_text(&s, HEADER "no/such,a100,1,a,b\n") != MSIM_OK);
    msim_program_sums_release(&s);
    CHECK(read_text(&s, HEADER DLRM ",no-such,1,a,b\n") != MSIM_OK);
    msim_program_sums_release(&s);
    CHECK_INT(read_text(&s, HEADER), MSIM_OK);
    CHECK_UINT(s.n, 0);
    msim_program_sums_release(&s);
}

int main(void)
{
    RUN(test_program_sums__rows);
    RUN(test_program_sums__folds);
    RUN(test_program_sums__refused);
    return check_summary();
}
