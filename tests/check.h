/*
 * tests/check.h - checks that print both values, for plain C tests.
 *
 * A test file is one program: `static void test_<unit>__<case>(void)`
 * functions, a main() that RUNs each and ends in `return check_summary();`.
 *
 *     static void test_arena__aligns(void)
 *     {
 *         CHECK_INT(sizeof(int64_t), 8);
 *     }
 *
 *     int main(void)
 *     {
 *         RUN(test_arena__aligns);
 *         return check_summary();
 *     }
 *
 * A failed CHECK is counted and the test goes on; a failed REQUIRE leaves the
 * test function. Neither is assert(): both work under NDEBUG. Arguments are
 * evaluated once. A case that cannot run here calls SKIP(why); a program in
 * which nothing ran but skipped cases ends with 77, which CTest shows as
 * skipped.
 *
 * The state below is one set a program, because each test file is its own.
 */
#ifndef MSIM_TESTS_CHECK_H
#define MSIM_TESTS_CHECK_H
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define CHECK_SKIPPED 77 /* the exit code that CTest takes for "skipped" */

static struct {
    const char *test;
    unsigned tests, skipped, checks, failures, failures_before;
    bool skip; /* the running test called SKIP */
} check_state;

static inline bool check_note(bool ok, const char *file, int line)
{
    check_state.checks++;
    if (!ok) {
        check_state.failures++;
        fflush(stdout);
        fprintf(stderr, "%s:%d: %s: ", file, line,
                check_state.test ? check_state.test : "main");
    }
    return ok;
}

static inline bool check_true(bool ok, const char *text, const char *file,
                              int line)
{
    if (!check_note(ok, file, line))
        fprintf(stderr, "'%s' is false\n", text);
    return ok;
}

static inline bool check_int(int64_t got, int64_t want, const char *text,
                             const char *file, int line)
{
    bool ok = got == want;

    if (!check_note(ok, file, line))
        fprintf(stderr, "'%s' is %" PRId64 ", want %" PRId64 "\n", text, got,
                want);
    return ok;
}

static inline bool check_uint(uint64_t got, uint64_t want, const char *text,
                              const char *file, int line)
{
    bool ok = got == want;

    if (!check_note(ok, file, line))
        fprintf(stderr, "'%s' is %" PRIu64 ", want %" PRIu64 "\n", text, got,
                want);
    return ok;
}

static inline bool check_str(const char *got, const char *want,
                             const char *text, const char *file, int line)
{
    bool ok = got && want ? strcmp(got, want) == 0 : got == want;

    if (!check_note(ok, file, line))
        fprintf(stderr, "'%s' is \"%s\", want \"%s\"\n", text,
                got ? got : "(null)", want ? want : "(null)");
    return ok;
}

/* |got - want| <= tolerance * |want|; a NaN never passes. */
static inline bool check_rel(double got, double want, double tolerance,
                             const char *text, const char *file, int line)
{
    bool ok = fabs(got - want) <= tolerance * fabs(want);

    if (!check_note(ok, file, line))
        fprintf(stderr, "'%s' is %.17g, want %.17g within %g of it\n", text,
                got, want, tolerance);
    return ok;
}

#define CHECK(cond) check_true((cond), #cond, __FILE__, __LINE__)
#define CHECK_INT(got, want)                                                   \
    check_int((int64_t)(got), (int64_t)(want), #got, __FILE__, __LINE__)
#define CHECK_UINT(got, want)                                                  \
    check_uint((uint64_t)(got), (uint64_t)(want), #got, __FILE__, __LINE__)
#define CHECK_STR(got, want) check_str((got), (want), #got, __FILE__, __LINE__)
#define CHECK_REL(got, want, tolerance)                                        \
    check_rel((got), (want), (tolerance), #got, __FILE__, __LINE__)

/* For what the rest of a test cannot do without. */
#define REQUIRE(cond)                                                          \
    do {                                                                       \
        if (!CHECK(cond))                                                      \
            return;                                                            \
    } while (0)

/* Leave the running test: it cannot run here, and `why` says why. */
#define SKIP(why)                                                              \
    do {                                                                       \
        printf("skip  %s: %s\n", check_state.test, (why));                     \
        check_state.skip = true;                                               \
        return;                                                                \
    } while (0)

/* For cases that need the folder of real traces (CMake's MSIM_TRACES). */
#define SKIP_WITHOUT_TRACES()                                                  \
    do {                                                                       \
        if (MSIM_TRACES[0] == '\0')                                            \
            SKIP("no real traces (set the CMake variable MSIM_TRACES)");       \
    } while (0)

static inline void check_run(void (*test)(void), const char *name)
{
    check_state.test = name;
    check_state.skip = false;
    check_state.failures_before = check_state.failures;
    check_state.tests++;
    test();
    check_state.test = NULL;
    if (check_state.skip)
        check_state.skipped++;
    else
        printf("%s %s\n",
               check_state.failures == check_state.failures_before ? "ok   "
                                                                   : "FAIL ",
               name);
}

#define RUN(test) check_run((test), #test)

/* The last line of main(): what ran, and the exit code. */
static inline int check_summary(void)
{
    printf("%u tests, %u skipped, %u checks, %u failures\n", check_state.tests,
           check_state.skipped, check_state.checks, check_state.failures);
    if (check_state.failures)
        return 1;
    if (check_state.skipped && check_state.skipped == check_state.tests)
        return CHECK_SKIPPED;
    return 0;
}

#endif
