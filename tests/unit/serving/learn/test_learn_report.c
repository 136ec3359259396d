/* serving/learn/learn_report.c: figures of a model beside those of guesses, as
 * whole texts. */
#include "serving/learn/learn_table.h"
#include "tests/check.h"

#include <math.h>

static char text[2048];

static const struct msim_runs_figures FIGURES = {.runs = 12,
                                                 .parts = 4,
                                                 .seconds = 3000,
                                                 .calm = 2500,
                                                 .violating = 77,
                                                 .auc = 0.91234,
                                                 .auc_last = 0.75,
                                                 .calibration = 0.0125,
                                                 .calibration_majority = 0.0626,
                                                 .p99 = 0.08765,
                                                 .p99_last = 0.1,
                                                 .p99_majority = 0.25};

static void print(const struct msim_runs_figures *f, bool json)
{
    FILE *out = fmemopen(text, sizeof(text), "w");

    if (!CHECK(out != NULL))
        return;
    if (json)
        CHECK_INT(msim_runs_json(out, f, 7.5), MSIM_OK);
    else
        msim_runs_text(out, f, 7.5);
    fclose(out);
}

/* Errors of the p99 are in percent; a guess by the last second has no
 * calibration. */
static void test_learn_report__text(void)
{
    struct msim_runs_figures f = FIGURES;

    print(&f, false);
    CHECK_STR(
        text,
        "12 runs in 4 parts, each held back once: 3000 seconds, 2500 of them "
        "calm, 77 of those before a violation within 7.5 s\n\n"
        "                                             trees   persistence      "
        "majority\n"
        "AUC on calm seconds                          0.912         0.750      "
        "   0.500\n"
        "calibration error                            0.013             -      "
        "   0.063\n"
        "p99 of the next second, median error       8.765 %      10.000 %      "
        "25.000 %\n");
    f.auc = NAN; /* then there is no guess of it, either */
    print(&f, false);
    CHECK(strstr(text, "AUC on calm seconds                              -    "
                       "     0.750             -\n") != NULL);
}

static void test_learn_report__json(void)
{
    struct msim_runs_figures f = FIGURES;
    static const char *const HAS[] = {
        "\"schema\": \"mystique-sim/learned/1\"",
        "\"horizon_s\": 7.5",
        "\"runs\": 12",
        "\"parts\": 4",
        "\"held_seconds\": 3000",
        "\"calm_seconds\": 2500",
        "\"before_violation\": 77",
        "\"auc\": {\"trees\": 0.91234, \"persistence\": 0.75, \"majority\": "
        "0.5}",
        "\"calibration_error\": {\"trees\": 0.0125, \"persistence\": null, "
        "\"majority\": 0.0626}",
        "\"p99_error\": {\"trees\": 0.08765, \"persistence\": 0.1, "
        "\"majority\": 0.25}"};
    const char *last = text;

    print(&f, true);
    CHECK(strncmp(text, "{\n", 2) == 0); /* a line for each member */
    for (size_t i = 0; i < sizeof(HAS) / sizeof(*HAS); i++) {
        const char *at = strstr(text, HAS[i]);

        if (!at)
            CHECK_STR(text, HAS[i]);
        CHECK(at >= last); /* in that order */
        last = at ? at : last;
    }
    f.auc = NAN;
    print(&f, true);
    CHECK(strstr(text, "\"auc\": {\"trees\": null, \"persistence\": 0.75, "
                       "\"majority\": null}") != NULL);
}

int main(void)
{
    RUN(test_learn_report__text);
    RUN(test_learn_report__json);
    return check_summary();
}
