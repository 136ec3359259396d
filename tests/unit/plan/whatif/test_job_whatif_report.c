/* plan/whatif/job_whatif_report.c: a base, a scenario and one that cannot be,
 * as text, JSON, CSV and Markdown. */
#include "core/base/units.h"
#include "plan/whatif/job_whatif.h"
#include "tests/check.h"

#include <stdlib.h>

static struct msim_job_whatif w;
static struct msim_job_scenario rows[3];
static char *text;

/* Of 1,000 us: 300 + 100 compute, 50 + 40 + 30 + 80 communicate, 70 are copies,
 * 130 the host's, 200 a bubble. */
static struct msim_job_scenario scenario(const char *name, double us)
{
    struct msim_job_scenario s = {
        .step = {.us = us,
                 .exchange = {0.5 * us, 0.07 * us, 0.2 * us},
                 .low_us = 0.75 * us,
                 .high_us = 1.5 * us,
                 .parts = {.compute = 0.3 * us,
                           .optimizer = 0.1 * us,
                           .tp = 0.05 * us,
                           .cp = 0.04 * us,
                           .ep = 0.03 * us,
                           .gradients = 0.08 * us,
                           .copies = 0.07 * us,
                           .host = 0.13 * us,
                           .bubble = 0.2 * us}},
        .ratio = us / 1000,
        .ratio_low = 0.5,
        .ratio_high = 2,
        .tokens_per_second = 64e6 / us,
        .memory = {.at = {.most = 4 * MSIM_GIB},
                   .low = 3 * MSIM_GIB,
                   .high = 5 * MSIM_GIB,
                   .beside = {.context = 11, .nccl = 22},
                   .fits = MSIM_FITS_EDGE},
        .capacity = 33};

    snprintf(s.name, sizeof(s.name), "%s", name);
    return s;
}

static void begin(void)
{
    w = (struct msim_job_whatif){.base = scenario("base", 1000), .rows = rows};
    snprintf(w.model.name, sizeof(w.model.name), "small");
    snprintf(w.platform, sizeof(w.platform), "h100");
    rows[0] = scenario("half", 500);
    rows[0].marks = MSIM_GUARD_BIT(LARGER);
    rows[0].memory.fits = MSIM_FITS_YES;
    rows[1] = scenario("none", 500);
    snprintf(rows[1].reason, sizeof(rows[1].reason), "it cannot be");
    rows[2] = scenario("nobody asked", 1);
    w.n = 2;
}

static const char *says(void (*write)(const struct msim_job_whatif *w,
                                      FILE *out))
{
    size_t size;
    FILE *out;

    free(text);
    text = NULL;
    out = open_memstream(&text, &size);
    if (!CHECK(out != NULL))
        return "";
    write(&w, out);
    fclose(out);
    return text;
}

static bool has(const char *part)
{
    if (strstr(text, part))
        return true;
    CHECK_STR(text, part);
    return false;
}

#define TITLES(wider)                                                          \
    wider                                                                      \
        "                                     step  of the base [90 %]      "  \
        "tokens/s  comp  comm  copy  host  idle  peak GiB  fits\n" wider       \
        "                                                                    " \
        "     "                                                                \
        "       %     %     %     %     %\n"

static void test_job_whatif_report__text(void)
{
    begin();
    says(msim_job_whatif_text);
    has("small on h100\n\n" TITLES("") "base ");
    has("\nbase                             1.000 ms  x 1.000 [0.500-2.000]   "
        "   64000  40.0  20.0   7.0  13.0  20.0      4.0  edge\n"
        "half                             500.0 us  x 0.500 [0.500-2.000]     "
        "128000  40.0  20.0   7.0  13.0  20.0      4.0  yes  larger\n"
        "none                         no prediction: it cannot be\n"
        "\ncomp: with");
    snprintf(w.assumed, sizeof(w.assumed), "zero=0");
    w.marked.answers = 2;
    msim_guard_add(&w.marked, MSIM_GUARD_BIT(LARGER));
    w.grid.width = 30; /* a name of the grid is longer than usual */
    says(msim_job_whatif_text);
    has("small on h100; assumed zero=0\n\n" TITLES("  ") "base ");
    has("\nnone                           no prediction");
    has("interval of the peak\n1 of 3 predictions");
    has(")\n");
    w.simulated = true;
    snprintf(w.graph.why, sizeof(w.graph.why), "too large");
    says(msim_job_whatif_text);
    has("it cannot be\n\nnot simulated: too large\n\ncomp");
    w.graph.known = true;
    w.graph.us = 2000;
    w.graph.peak = 6 * MSIM_GIB;
    says(msim_job_whatif_text);
    has("it cannot be\n\nsimulated: the graph of the base takes 2.000 ms and "
        "holds 6.0 GiB by itself, without what measured jobs teach\n\ncomp");
}

static void as_json(const struct msim_job_whatif *of, FILE *out)
{
    CHECK_INT(msim_job_whatif_json(of, out), MSIM_OK);
}

#define FIGURES                                                                \
    "    \"period_us\": {\"predicted\": 1000, \"low\": 750, \"high\": "        \
    "1500},\n    \"ratio\": {\"predicted\": 1, \"low\": 0.5, \"high\": 2},\n " \
    "   \"guards\": [],\n    \"breakdown_us\": {\"compute\": 400, "            \
    "\"communication\": 200, \"memory_copy\": 70, \"host\": 130, \"idle\": "   \
    "200},\n    \"parts_us\": {\"layers\": 300, \"host\": 130, "               \
    "\"tensor_parallel\": 50, \"context_parallel\": 40, "                      \
    "\"expert_parallel\": 30, \"copies\": 70, \"bubble\": 200, "               \
    "\"gradients\": 80, \"optimizer\": 100},\n    \"exchange_us\": "           \
    "{\"in_flight\": 500, \"waits\": 80, \"waits_low\": 70, "                  \
    "\"waits_high\": 200},\n    \"tokens_per_second\": "                       \
    "64000,\n    \"memory_bytes\": {\"peak\": 4294967296, \"low\": "           \
    "3221225472, \"high\": 5368709120, \"cuda_context\": 11, "                 \
    "\"nccl_buffers\": 22, \"capacity\": 33, \"fits\": \"edge\"}\n  }"

static void test_job_whatif_report__json(void)
{
    begin();
    says(as_json);
    has("{\n  \"schema\": \"mystique-sim/whatif/1\",\n  \"version\": ");
    has(",\n  \"model\": \"small\",\n  \"platform\": \"h100\",\n  \"assumed\": "
        "\"\",\n  \"guards\": {\"answers\": 0");
    has("  \"base\": {\n    \"name\": \"base\",\n    \"reason\": "
        "null,\n" FIGURES
        ",\n  \"scenarios\": [\n    {\n      \"name\": \"half\",\n      "
        "\"reason\": null,\n      \"period_us\": {\"predicted\": 500, ");
    has("      \"guards\": [\"larger\"],\n");
    has("\"fits\": \"yes\"}\n    },\n    {\n      \"name\": \"none\",\n      "
        "\"reason\": \"it cannot be\"\n    }\n  ]\n}\n");
    w.simulated = true;
    w.graph = (struct msim_job_graph){.us = 7, .peak = 8, .graphs = 9};
    snprintf(w.graph.why, sizeof(w.graph.why), "too large");
    says(as_json);
    has("  \"simulated\": {\"step_us\": 7, \"peak_bytes\": 8, \"graphs\": 9, "
        "\"why_not\": \"too large\"},\n  \"scenarios\"");
    w.graph.known = true;
    says(as_json);
    has("\"graphs\": 9, \"why_not\": null},\n");
}

static void test_job_whatif_report__csv(void)
{
    begin();
    CHECK_STR(
        says(msim_job_whatif_csv),
        "scenario,period_us,period_low_us,period_high_us,ratio,ratio_low,"
        "ratio_high,compute_us,communication_us,memory_copy_us,host_us,idle_us,"
        "peak_bytes,peak_low_bytes,peak_high_bytes,capacity_bytes,tokens_per_"
        "second,fits,reason,guards\n"
        "base,1000,750,1500,1,0.5,2,400,200,70,130,200,4294967296,3221225472,"
        "5368709120,33,64000,edge,,\n"
        "half,500,375,750,0.5,0.5,2,200,100,35,65,100,4294967296,3221225472,"
        "5368709120,33,128000,yes,,larger\n"
        "none,,,,,,,,,,,,,,,,,,it cannot be,\n");
}

/* Axes of a grid have columns; the second row is its first point. */
static void test_job_whatif_report__grid(void)
{
    begin();
    w.grid.axes = cJSON_Parse("{\"world\": [8], \"fuse\": [\"x\"]}");
    w.grid.first = 1;
    says(msim_job_whatif_csv);
    has("fits,reason,guards,grid.world,grid.fuse\nbase");
    has("edge,,,,\nhalf");
    has("yes,,larger,,\nnone");
    has(",it cannot be,,8,x\n");
    says(as_json);
    has("\"name\": \"none\",\n      \"grid\": {\"world\": 8, \"fuse\": "
        "\"x\"},\n      \"reason\"");
    cJSON_Delete(w.grid.axes);
    w.grid.axes = NULL;
}

#define TABLE                                                                  \
    "| scenario | step | of the base | 90 % | tokens a second | memory | "     \
    "fits "                                                                    \
    "| marked |\n|---|---:|---:|---:|---:|---:|---|---|\n| as it is | 1.000 "  \
    "ms | 1 |  | 64000 | 4.0 GiB | edge |  |\n| half | 500.0 us | 0.500 | "    \
    "0.500 to 2.000 | 128000 | 4.0 GiB | yes | larger |\n\n- none cannot be "  \
    "predicted: it cannot be\n"

static void test_job_whatif_report__markdown(void)
{
    begin();
    says(msim_job_whatif_markdown);
    CHECK_STR(text, "small on h100\n\n" TABLE);
    CHECK(strstr(text, "nobody") == NULL);
    snprintf(w.assumed, sizeof(w.assumed), "zero=0");
    says(msim_job_whatif_markdown);
    CHECK_STR(text, "small on h100; assumed `zero=0`\n\n" TABLE);
}

int main(void)
{
    RUN(test_job_whatif_report__text);
    RUN(test_job_whatif_report__json);
    RUN(test_job_whatif_report__csv);
    RUN(test_job_whatif_report__grid);
    RUN(test_job_whatif_report__markdown);
    free(text);
    return check_summary();
}
