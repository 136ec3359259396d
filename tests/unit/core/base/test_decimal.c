/*
 * tests/unit/core/base/test_decimal.c - tests of core/base/decimal.c.
 */
#include "core/base/texts.h"

#include "tests/check.h"

#include <stdlib.h>

static bool us_of(const char *s, int64_t *us, int32_t *ps)
{
    return msim_decimal_us(s, strlen(s), us, ps);
}

static void check_us(const char *s, int64_t want_us, int32_t want_ps)
{
    int64_t us = -1;
    int32_t ps = -1;

    CHECK(us_of(s, &us, &ps));
    CHECK_INT(us, want_us);
    CHECK_INT(ps, want_ps);
}

/* Sixteen digits before the point and three after: no double holds them. */
static void test_decimal__is_exact(void)
{
    check_us("1712867402367683", 1712867402367683, 0);
    check_us("4458676524648.797", 4458676524648, 797000);
    check_us("0.000001", 0, 1);
    check_us("0.0000009", 0, 0); /* below a picosecond is cut */
    check_us("1.999999999", 1, 999999);
    check_us("5.", 5, 0);
}

/* Rounded towards minus infinity: -0.25 is -1 + 0.75. */
static void test_decimal__negative(void)
{
    check_us("-3", -3, 0);
    check_us("-0.25", -1, 750000);
}

static void test_decimal__exponents(void)
{
    check_us("1.69e15", 1690000000000000, 0);
    check_us("1.5E+3", 1500, 0);
    check_us("15e-1", 1, 500000);
    check_us("1e-6", 0, 1);
    check_us("1e-300", 0, 0);
    check_us("-25e-2", -1, 750000);
    check_us("1e18", 1000000000000000000, 0);
    check_us("0e99", 0, 0);
}

static void test_decimal__refuses(void)
{
    static const char *const bad[] = {
        "",     "-",     "x",     "1x",    "1e",
        "1e19", "1e400", "9e18x", "1.2.3", "99999999999999999999"};
    int32_t ps;
    int64_t us;
    size_t i;

    for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        if (us_of(bad[i], &us, &ps))
            CHECK_STR(bad[i], "a refusal");
}

static void test_decimal__integers(void)
{
    int64_t n = 0;

    CHECK(msim_decimal_int("9223372036854775807", 19, &n));
    CHECK(n == INT64_MAX);
    CHECK(msim_decimal_int("-42", 3, &n));
    CHECK_INT(n, -42);
    CHECK(!msim_decimal_int("9223372036854775808", 19, &n));
    CHECK(!msim_decimal_int("1.0", 3, &n));
    CHECK(!msim_decimal_int("", 0, &n));
}

/* A ".0" behind digits is not read, and nothing else is left out. */
static void test_decimal__whole_length(void)
{
    static const struct {
        const char *text;
        size_t want;
    } ROWS[] = {{"8", 1},     {"8.0", 1}, {"16.000", 2}, {"80", 2},
                {"8.", 2},    {".0", 2},  {"8.10", 4},   {"8.01", 4},
                {"-8.0", 4},  {"", 0},    {"x.0", 3},    {"8.0x", 4},
                {"8.0.0", 5}, {"0.0", 1}, {"8.0 ", 4}};

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++)
        CHECK_UINT(msim_whole_length(ROWS[i].text), ROWS[i].want);
}

static void test_decimal__reals(void)
{
    double x = 0;

    CHECK(msim_decimal_real("0.25", 4, &x));
    CHECK(x == 0.25);
    CHECK(msim_decimal_real("-inf", 4, &x));
    CHECK(isinf(x) && x < 0);
    CHECK(!msim_decimal_real("0.25x", 5, &x));
    CHECK(!msim_decimal_real("", 0, &x));
}

/* As printf does: at powers of ten and beside them, at ties, and at numbers
 * spread over all that is written without an exponent, and beyond. */
static void test_decimal__writes_like_printf(void)
{
    static const double EDGES[] = {
        0,         1e-5,      9.99999e-5, 1e-4,      0.1,      1,
        9.9999949, 9.9999951, 10,         100000,    123456.5, 999998.5,
        999999.4,  999999.5,  1e6,        1.5e7,     -3.25,    0.5,
        2.000005,  99999.95,  INFINITY,   1234.5675, 1e-300,   0.00012345};
    char text[MSIM_DECIMAL_TEXT], want[MSIM_DECIMAL_TEXT];
    uint64_t state = 1;

    for (size_t i = 0; i < sizeof(EDGES) / sizeof(*EDGES); i++) {
        snprintf(want, sizeof(want), "%.6g", EDGES[i]);
        CHECK_UINT(msim_decimal_write(text, EDGES[i]), strlen(want));
        CHECK_STR(text, want);
    }
    for (int i = 0; i < 20000; i++) {
        double v;

        state = state * 6364136223846793005u + 1442695040888963407u;
        v = pow(10, (double)(state >> 40) / (1 << 24) * 14 - 6);
        if (i % 3 == 0)
            v = round(v * 1000) / 1000;
        snprintf(want, sizeof(want), "%.6g", v);
        (void)msim_decimal_write(text, v);
        if (strcmp(text, want) != 0)
            CHECK_STR(text, want);
    }
}

/* Does a text give what strtof gives, and end there? */
static void check_float(const char *text)
{
    const char *end;
    char *stop;
    float have = msim_decimal_float(text, &end), want = strtof(text, &stop);

    CHECK(!memcmp(&have, &want, sizeof(have)));
    CHECK(end == stop);
}

/* Halves between two floats, just above and below; many digits, none, signs,
 * exponents, words; and decimals as files have them. */
static void test_decimal__floats_like_strtof(void)
{
    static const char *const TEXTS[] = {
        "16777217",
        "16777217.0000001",
        "16777216.9999999",
        "33554434.0",
        "0.1",
        "0",
        "0.0",
        "1.",
        ".5",
        ".",
        "",
        " 1",
        "-0",
        "-1.5",
        "+2",
        "1e3",
        "1.5e-3 2",
        "12;3",
        "12 3",
        "12x",
        "123456789012345",
        "1234567890123456",
        "12345678901234567",
        "0.00000000000001",
        "0.000000000000001",
        "0.0000000000000001",
        "99999999.99999999",
        "0.39246965944767",
        "0.23366729170084",
        "0.04071662761271",
        "inf",
        "nan",
        "0x10",
        "4.158883",
        "9007199254740993",
        "1.00000005960464477",
        "1.000000059604645",
        "340282346638528859",
    };
    uint64_t state = 88172645463325252u;

    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(*TEXTS); i++)
        check_float(TEXTS[i]);
    for (uint32_t i = 0; i < 200000; i++) {
        char text[64];

        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        snprintf(text, sizeof(text), "%.*f", (int)(state % 11),
                 (double)(state >> 30) / (double)(1 + state % 100000));
        check_float(text);
    }
}

int main(void)
{
    RUN(test_decimal__is_exact);
    RUN(test_decimal__negative);
    RUN(test_decimal__exponents);
    RUN(test_decimal__refuses);
    RUN(test_decimal__integers);
    RUN(test_decimal__whole_length);
    RUN(test_decimal__reals);
    RUN(test_decimal__floats_like_strtof);
    RUN(test_decimal__writes_like_printf);
    return check_summary();
}
