/*
 * The page of one GPU: what is gathered for it, and each part of its text, of
 * files that are made up.
 */
#include "cli/platforms/platform_page.h"

#include "core/work/data_sheet.h"
#include "models/platform/platform_data.h"
#include "tests/check.h"

#include <stdlib.h>

static struct msim_platform *h100;

static void test_belongs__of_a_cpu(void)
{
    static const struct {
        const char *law, *family;
        bool belongs;
    } ROWS[] = {{"gemm", "gemm", true},          {"cpu_gemm", "gemm", true},
                {"cpu_gemm", "conv", false},     {"gemm", "cpu_gemm", false},
                {"cpu_gemm", "cpu_gemm", false}, {"cpu_", "", true},
                {"gemm2", "gemm", false},        {"xcpu_gemm", "gemm", false}};

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++)
        CHECK_INT(msim_platform_page_belongs(ROWS[i].law, ROWS[i].family),
                  ROWS[i].belongs);
}

/* Means over the fits of a family that have the figure, the worst of all. */
static void test_page__families(void)
{
    static const char FILE_TEXT[] =
        "{\"cells\":[{\"law\":\"gemm\",\"rows\":10,\"error_held_back\":0.125,"
        "\"error_held_back_median\":0.25,\"error_held_back_p90\":0.5,"
        "\"interval_coverage\":0.75,\"interval_high_over_low\":2,"
        "\"error_held_back_worst\":0.5},{\"law\":\"cpu_gemm\",\"rows\":5,"
        "\"error_held_back\":0.375,\"error_held_back_worst\":0.25},{},"
        "{\"law\":\"vector\"},{\"law\":\"collective\",\"rows\":3}]}";
    static const char *const NAMES[] = {
        "gemm", "attention", "conv", "vector", "moe", "dispatch", "collective"};
    cJSON *file = cJSON_Parse(FILE_TEXT);
    struct msim_platform_page page;
    const struct msim_platform_page_family *f = page.families;

    CHECK_INT(msim_platform_page_make(&page, h100, file), MSIM_OK);
    for (int i = 0; i < MSIM_PLATFORM_PAGE_FAMILIES; i++) {
        CHECK_STR(f[i].law, NAMES[i]);
        CHECK_INT(f[i].fits, i == 0 ? 2 : i == 3 || i == 6);
    }
    CHECK_REL(f[0].rows, 15, 1e-12);
    CHECK_REL(f[0].mean, 0.25, 1e-12);
    CHECK_REL(f[0].median, 0.25, 1e-12);
    CHECK_REL(f[0].p90, 0.5, 1e-12);
    CHECK_REL(f[0].inside, 0.75, 1e-12);
    CHECK_REL(f[0].width, 2, 1e-12);
    CHECK_REL(f[0].worst, 0.5, 1e-12);
    CHECK_REL(f[6].rows, 3, 1e-12);
    CHECK(isnan(f[3].mean) && isnan(f[3].worst) && isnan(f[1].mean));
    msim_platform_page_release(&page);
    CHECK(page.picks == NULL);
    cJSON_Delete(file);
}

/* Inherited fits in the order of their law, stack and kind; a family's number
 * of them is all that belong to it. */
static void test_page__inherited(void)
{
    cJSON *file = cJSON_Parse("{}");
    struct msim_platform_page page;
    uint32_t n = 0;

    CHECK_INT(msim_platform_page_make(&page, h100, file), MSIM_OK);
    for (int i = 0; i < MSIM_PLATFORM_PAGE_FAMILIES; i++) {
        n += page.families[i].inherited;
        CHECK(page.families[i].inherited == 0 ||
              page.families[i].interval_factor > 1);
        CHECK(page.families[i].inherited > 0 ||
              isnan(page.families[i].held_out));
    }
    CHECK_INT(n, page.n_picks);
    for (uint32_t i = 1; i < page.n_picks; i++) {
        const struct msim_fit *a = page.picks[i - 1].fit;
        const struct msim_fit *b = page.picks[i].fit;
        int law = strcmp(a->law->name, b->law->name);
        int stack = strcmp(a->framework, b->framework);

        CHECK(law < 0 ||
              (law == 0 &&
               (stack < 0 || (stack == 0 && strcmp(a->key, b->key) <= 0))));
    }
    msim_platform_page_release(&page);
    cJSON_Delete(file);
}

/* What a data sheet lacks is taken; what it has is not. */
static void test_page__taken(void)
{
    static const char *const KEYS[] = {"kernel_floor_us",    "pcie_bandwidth",
                                       "pageable_bandwidth", "link_bandwidth",
                                       "network_bandwidth",  "trace_factor"};
    struct msim_platform_page page;

    for (int without = 0; without < 7; without++) {
        cJSON *file = cJSON_CreateObject();
        cJSON *sheet = cJSON_AddObjectToObject(file, "data_sheet");

        for (int i = 0; i < 6; i++)
            if (i != without)
                cJSON_AddNumberToObject(sheet, KEYS[i], 1);
        CHECK_INT(msim_platform_page_make(&page, h100, file), MSIM_OK);
        CHECK_INT(page.n_taken, without < 6);
        if (without < 6) {
            const double values[] = {
                h100->sheet.floor_us, h100->sheet.pcie,
                h100->sheet.pageable, h100->sheet.link,
                h100->sheet.network,  h100->sheet.trace_factor};

            CHECK_STR(page.taken[0].key, KEYS[without]);
            CHECK_STR(page.taken[0].unit, without == 0   ? "us"
                                          : without == 5 ? "1"
                                                         : "B/s");
            CHECK_REL(page.taken[0].value, values[without], 1e-12);
        }
        msim_platform_page_release(&page);
        cJSON_Delete(file);
    }
}

/* ---- its text ------------------------------------------------------------ */

/* A page of what `file` says alone, without what it inherits. */
static char *printed(const char *file, bool constants,
                     const struct msim_platform_page_taken *taken)
{
    cJSON *json = cJSON_Parse(file);
    struct msim_platform_page page;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    CHECK(json != NULL);
    CHECK_INT(msim_platform_page_make(&page, h100, json), MSIM_OK);
    page.n_picks = page.n_taken = 0;
    page.taken_from = NULL;
    if (taken)
        page.taken[page.n_taken++] = *taken;
    CHECK_INT(msim_platform_page_print(&page, constants, out), MSIM_OK);
    fclose(out);
    msim_platform_page_release(&page);
    cJSON_Delete(json);
    return text;
}

static void check_part(const char *file, bool constants, const char *from,
                       const char *want)
{
    char *text = printed(file, constants, NULL);
    const char *part = strstr(text, from);

    CHECK_STR(part ? part : "", want);
    free(text);
}

#define NO_ROWS "\nNo rows of its own were measured.\n"

/* Figures with their units, which a bare one has by its name, and sources once
 * each; without a value there is no line. */
static void test_text__sheet(void)
{
    check_part(
        "{\"data_sheet\":{\"fp32_flops\":1.5e12,\"idle_us\":{\"value\":0.25,"
        "\"unit\":\"s\",\"source\":\"a\"},\"none\":{\"unit\":\"s\"},"
        "\"ratio\":{\"value\":1000,\"how\":\"b\"},\"x_clock\":{\"value\":999,"
        "\"how\":\"c\",\"source\":\"a\"},\"y_bytes\":{\"value\":-2e9,"
        "\"source\":\"a\"},\"_us\":3,\"i_ops\":1,\"m_bandwidth\":1,"
        "\"p_limit\":1}}",
        false, "\nData sheet\n",
        "\nData sheet\n"
        "  fp32_flops                    1.50 TFLOP/s   [1]\n"
        "  idle_us                        0.25 s        [2]\n"
        "  ratio                         1.00 k         [3]\n"
        "  x_clock                         999 Hz       [2]\n"
        "  y_bytes                      -2.00 GB        [2]\n"
        "  _us                               3          [1]\n"
        "  i_ops                             1 op/s     [1]\n"
        "  m_bandwidth                       1 B/s      [1]\n"
        "  p_limit                           1 W        [1]\n" NO_ROWS
        "\nSources\n"
        "  [1]  the file names no source\n"
        "  [2]  a\n"
        "  [3]  b\n");
    check_part("{\"parameters\":{\"a\":2}}", false, "\nData sheet\n",
               "\nData sheet\n\nFitted for all GPUs together\n"
               "  a                                 2          [1]\n" NO_ROWS
               "\nSources\n  [1]  the file names no source\n");
}

static void test_text__taken(void)
{
    struct msim_platform_page_taken rate = {"link", "B/s", 2e9};
    struct msim_platform_page_taken ratio = {"trace_factor", "1", 1.25};
    char *text = printed("{}", false, &rate);

    CHECK_STR(strstr(text, "\nData sheet\n"),
              "\nData sheet\n\nNot in the file, so taken from what is typical "
              "of GPUs of these years\n"
              "  link                          2.00 GB/s\n" NO_ROWS);
    free(text);
    text = printed("{}", false, &ratio);
    CHECK(strstr(text, "\n  trace_factor                   1.25\n"));
    free(text);
}

#define FITS                                                                   \
    "\nFitted to its own rows: errors in % on held-out rows (whole groups "    \
    "are "                                                                     \
    "held out), 90 % intervals\n"                                              \
    "  stack         kind                           rows groups  mean median " \
    "  p90 worst inside width\n"

/* Fits by family, with what they were made of where that is asked for. */
static void test_text__fits(void)
{
    static const char FILE_TEXT[] =
        "{\"cells\":[{\"law\":\"conv\"},{\"law\":\"gemm\",\"framework\":"
        "\"pytorch\",\"key\":\"fp16\",\"rows\":120,\"groups\":7,"
        "\"error_held_back\":0.0625,\"error_held_back_median\":0.03125,"
        "\"error_held_back_p90\":0.125,\"error_held_back_worst\":0.5,"
        "\"interval_coverage\":0.9,\"interval_high_over_low\":1.5,\"how\":"
        "\"by hand\",\"constants\":{\"a\":{\"value\":0.5,\"unit\":\"1\"},"
        "\"b\":{\"value\":2,\"unit\":\"us\"},\"c\":{}}},{}]}";

    for (int constants = 0; constants < 2; constants++) {
        char want[1024];

        snprintf(
            want, sizeof(want),
            "%sgemm\n"
            "  pytorch       fp16                            120     7   "
            "6.2    3.1  12.5    50     90  1.50 [1]\n%s"
            "conv\n"
            "                                                  0     0     "
            "-      -     -     -      -     -\n"
            "\nSources\n  [1]  by hand\n",
            FITS, constants ? "            a 0.5, b 2 us, c 0\n" : "");
        check_part(FILE_TEXT, constants, "\nFitted to", want);
    }
}

/* Words go on in the next line where they do not fit in 100 columns. */
static void test_text__lines(void)
{
    char file[1200], want[1200];
    size_t n = (size_t)snprintf(file, sizeof(file), "{\"aliases\":[");
    size_t k = (size_t)snprintf(want, sizeof(want), "\n  also known as   ");

    for (int i = 0; i < 12; i++) { /* of 9 columns each: 9 of 82 columns */
        n += (size_t)snprintf(file + n, sizeof(file) - n, "%s\"name%03d\"",
                              i ? "," : "", i);
        k += (size_t)snprintf(want + k, sizeof(want) - k, "%sname%03d%s",
                              i == 0   ? ""
                              : i == 9 ? "\n                  "
                                       : " ",
                              i, i < 11 ? "," : "\n");
    }
    snprintf(file + n, sizeof(file) - n,
             "],\"stand_ins\":[],\"links_of\":\"other\",\"generation\":"
             "\"made\",\"kind\":\"gpu\"}");
    for (int cpu = 0; cpu < 2; cpu++) {
        char *text;

        if (cpu)
            memcpy(strstr(file, "\"gpu\""), "\"cpu\"", 5);
        text = printed(file, false, NULL);
        CHECK(strstr(text, want) != NULL);
        CHECK(strstr(text, "\n  links of        other\n") != NULL);
        CHECK(strstr(text, "inherits from") == NULL);
        CHECK(strstr(text, cpu ? "\n  CPU             made, "
                               : "\n  GPU             made, ") != NULL);
        CHECK(strstr(text, cpu ? " cores, fp32 " : " SMs, fp32 ") != NULL);
        free(text);
    }
}

/* Of more than 64 sources the others are not told. */
static void test_text__most_sources(void)
{
    char *file = calloc(1, 1 << 14), *text;
    size_t n = (size_t)snprintf(file, 1 << 14, "{\"data_sheet\":{");

    for (int i = 1; i <= 66; i++)
        n += (size_t)snprintf(file + n, (1 << 14) - n,
                              "%s\"k%02d\":{\"value\":%d,\"source\":\"s%d\"}",
                              i > 1 ? "," : "", i, i, i);
    snprintf(file + n, (1 << 14) - n, "}}");
    text = printed(file, false, NULL);
    CHECK(strstr(text,
                 "\n  k64                              64          [64]\n"));
    CHECK(strstr(text, "\n  k65                              65         \n"));
    CHECK(strstr(text, "\n  [9]  s9\n  [10] s10\n"));
    CHECK(strstr(text, "\n  [64] s64\n"));
    CHECK(strstr(text, "s65") == NULL);
    free(text);
    free(file);
}

/* ---- what it inherits, by a second way ----------------------------------- */

/* "1.5", "1.5-2.0", or "-" of nothing. */
static const char *range(double low, double high)
{
    static char texts[2][32];
    static int next;
    char *text = texts[next++ % 2];

    if (low > high)
        snprintf(text, 32, "-");
    else if (high - low < 0.05)
        snprintf(text, 32, "%.1f", low);
    else
        snprintf(text, 32, "%.1f-%.1f", low, high);
    return text;
}

static bool alike(const struct msim_pick *a, const struct msim_pick *b)
{
    return a->fit->law == b->fit->law && a->platform == b->platform &&
           a->trees == b->trees &&
           !strcmp(a->fit->framework, b->fit->framework);
}

/* The line of pick `at` and all alike, without its kinds; "" where one before
 * it is alike. */
static void heirs(const struct msim_platform_page *page, uint32_t at,
                  char line[160])
{
    const struct msim_pick *of = &page->picks[at];
    double errors[2] = {INFINITY, -INFINITY}, factors[2] = {INFINITY, 0};
    char from[96];

    line[0] = '\0';
    for (uint32_t i = 0; i < page->n_picks; i++) {
        double error = 100 * msim_pick_held_out_error(h100, &page->picks[i]);
        double factor = exp(msim_pick_half_width(&page->picks[i]));

        if (!alike(of, &page->picks[i]))
            continue;
        if (i < at)
            return;
        factors[0] = fmin(factors[0], factor);
        factors[1] = fmax(factors[1], factor);
        errors[0] = fmin(errors[0], error); /* of NAN the other one */
        errors[1] = fmax(errors[1], error);
    }
    snprintf(from, sizeof(from), "%s%s",
             of->platform ? msim_platform_name(of->platform)
                          : "common to all GPUs",
             of->platform && !of->trees ? ", law alone" : "");
    snprintf(line, 160, "\n  %-13s %10s  x %-8s %-25s ", of->fit->framework,
             range(errors[0], errors[1]), range(factors[0], factors[1]), from);
}

/* Kinds of one origin are one line, in the order of their families. */
static void test_text__inherited(void)
{
    cJSON *file = cJSON_Parse("{}");
    struct msim_platform_page page;
    char *text = NULL, line[160];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const char *at, *found;
    uint32_t lines = 0;

    CHECK_INT(msim_platform_page_make(&page, h100, file), MSIM_OK);
    CHECK_INT(msim_platform_page_print(&page, false, out), MSIM_OK);
    fclose(out);
    at = strstr(text, "\nInherited, scaled");
    REQUIRE(at != NULL);
    for (int f = 0; f < MSIM_PLATFORM_PAGE_FAMILIES; f++) {
        const char *law = page.families[f].law;
        bool first = true;

        for (uint32_t i = 0; i < page.n_picks; i++) {
            heirs(&page, i, line);
            if (!line[0] ||
                !msim_platform_page_belongs(page.picks[i].fit->law->name, law))
                continue;
            if (first) {
                char heading[32];

                snprintf(heading, sizeof(heading), "\n%s\n", law);
                at = strstr(at, heading);
                REQUIRE(at != NULL);
                at += strlen(heading) - 1;
            }
            first = false;
            found = strstr(at, line);
            if (!CHECK(found != NULL))
                fprintf(stderr, "no line%s\n", line);
            at = found ? found : at;
            lines++;
        }
    }
    CHECK(lines > 5);
    free(text);
    msim_platform_page_release(&page);
    cJSON_Delete(file);
}

/* A row of the summary a family, and the stacks that may be named. */
static void test_text__summary(void)
{
    cJSON *file = cJSON_Parse("{}");
    struct msim_platform_page page;
    const struct msim_stack *stack;
    char *text = NULL, line[160], error[16];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    CHECK_INT(msim_platform_page_make(&page, h100, file), MSIM_OK);
    CHECK_INT(msim_platform_page_print(&page, false, out), MSIM_OK);
    fclose(out);
    for (int f = 0; f < MSIM_PLATFORM_PAGE_FAMILIES; f++) {
        const struct msim_platform_page_family *of = &page.families[f];

        snprintf(error, sizeof(error), "%8.1f", 100 * of->held_out);
        if (of->inherited)
            snprintf(line, sizeof(line),
                     "\n  %-10s      -        -      -       -      -      -"
                     "       -      -%9u%s%8.2f\n",
                     of->law, of->inherited,
                     isnan(of->held_out) ? "       -" : error,
                     of->interval_factor);
        else
            snprintf(line, sizeof(line),
                     "\n  %-10s      -        -      -       -      -      -"
                     "       -      -        -       -       -\n",
                     of->law);
        if (!CHECK(strstr(text, line) != NULL))
            fprintf(stderr, "no line%s", line);
    }
    for (uint32_t i = 0; (stack = msim_stack_at(i)) != NULL; i++) {
        snprintf(line, sizeof(line), "\n  @%-15s%.20s", stack->name,
                 stack->says);
        CHECK(strstr(text, line) != NULL);
    }
    free(text);
    msim_platform_page_release(&page);
    cJSON_Delete(file);
}

int main(void)
{
    struct msim_error err = {0};

    if (msim_platform_load(&h100, MSIM_DATA, "h100", &err) != MSIM_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    RUN(test_belongs__of_a_cpu);
    RUN(test_page__families);
    RUN(test_page__inherited);
    RUN(test_page__taken);
    RUN(test_text__sheet);
    RUN(test_text__taken);
    RUN(test_text__fits);
    RUN(test_text__lines);
    RUN(test_text__most_sources);
    RUN(test_text__inherited);
    RUN(test_text__summary);
    msim_platform_free(h100);
    return check_summary();
}
