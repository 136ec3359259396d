/* plan/outcome/plan_tables.c: a column for each figure that some row knows,
 * rows in the order of the plan, bars of cost. */
#include "plan/outcome/plan_report_internal.h"
#include "tests/unit/made_plan.h"

#define STRATEGY "dp 8, zero 0, micro batch 1, recompute none, bf16"
#define OTHER    "dp 16, zero 0, micro batch 1, recompute none, bf16"
#define HEAD     "<div class=scroll><table><thead><tr><th>way<th class=n>step"
#define SPAN     "<br><span class=soft>"
#define END      "</span></td>"
#define EIGHT                                                                  \
    "<tr><td>8 &times; h100<br><span class=soft>" STRATEGY                     \
    "</span></td><td class=n>4.00 s" SPAN "3.20 s to 6.00 s" END
#define SIXTEEN                                                                \
    "<tr><td>16 &times; a100<br><span class=soft>" OTHER                       \
    "</span></td><td class=n>3.00 s" SPAN "2.40 s to 4.50 s" END
#define MEMORY "<td class=n>40.0 GiB" SPAN "36.0 GiB to 44.0 GiB" END
#define SMALL                                                                  \
    "<p class=soft>Small figures: the 90 % interval. \"?\": the GPU's memory " \
    "lies inside the interval of the peak."

/* Rates and shares are not known. */
static void begin(void)
{
    made_plan_begin();
    for (int i = 0; i < 2; i++)
        made_plan.points[i].rate = made_plan.points[i].mfu = NAN;
}

static const char *frontier(void)
{
    return made_plan_says(msim_plan_page_frontier);
}

static const char *platforms(void)
{
    return made_plan_says(msim_plan_page_platforms);
}

static void has(const char *part)
{
    made_plan_has((const char *const[]){part, NULL});
}

static void test_plan_tables__whole(void)
{
    begin();
    CHECK_STR(frontier(),
              "<section><h2>Frontier: what no other way beats in both time and "
              "cost</h2>\n" HEAD
              "<th class=n>memory a GPU</tr></thead>\n<tbody>" SIXTEEN MEMORY
              "</tr>\n" EIGHT MEMORY "</tr>\n</tbody></table></div>\n" SMALL
              "</p></section>\n");
    CHECK_STR(platforms(),
              "<section><h2>The best on each GPU</h2>\n" HEAD
              "<th class=n>memory a GPU</tr></thead>\n<tbody>" EIGHT MEMORY
              "</tr>\n" SIXTEEN MEMORY
              "</tr>\n</tbody></table></div></section>\n");
    made_plan.plan.n_frontier = 0;
    CHECK_STR(frontier(), "");
    made_plan.plan.best = UINT32_MAX;
    CHECK_STR(platforms(), "");
    begin();
    made_plan.spec.n_platforms = 1;
    CHECK_STR(platforms(), "");
}

/* The first row of the frontier knows every figure, the second one none but
 * its step. */
static void test_plan_tables__columns(void)
{
    struct msim_plan_point *p = &made_plan.points[1];
    struct msim_spec *s = &made_plan.spec;

    begin();
    made_plan.points[0].peak_gib = NAN;
    made_plan.points[0].fits = MSIM_FITS_EDGE;
    p->fits = MSIM_FITS_EDGE;
    p->rate = 1.2;
    p->mfu = 0.36;
    p->days = 10;
    p->cost = 5000;
    p->kwh = 250;
    p->chance = 0.9;
    snprintf(s->currency, sizeof(s->currency), "EUR");
    frontier();
    has(HEAD "<th class=n>tokens/s<th class=n>MFU<th class=n>days<th "
             "class=n>cost, EUR<th class=n>energy<th class=n>memory a GPU<th "
             "class=n>limits kept</tr>");
    has(SIXTEEN "<td class=n>1.2" SPAN "0.8 to 1.5" END
                "<td class=n>36.0 %" SPAN "24.0 % to 45.0 %" END
                "<td class=n>10.0" SPAN "8 to 15.0" END "<td class=n>5000" SPAN
                "4000 to 7500" END "<td class=n>250 kWh" SPAN
                "200 kWh to 375 kWh" END "<td class=n>40.0 GiB?" SPAN
                "36.0 GiB to 44.0 GiB" END "<td class=n>90 %</td></tr>\n" EIGHT
                "<td class=n>-</td><td class=n>-</td><td class=n>-</td><td "
                "class=n>-</td><td class=n>-</td><td class=n>-</td><td "
                "class=n>-</td></tr>\n</tbody>");
    has(SMALL " \"limits kept\": the chance that the limits of time and cost "
              "are kept.</p></section>\n");
    s->unit = MSIM_SPEC_UNIT_REQUESTS; /* of an hour cost is sure */
    frontier();
    has("<th class=n>latency<th class=n>requests/s<th");
    has("<th class=n>cost an hour, EUR<th");
    has("<td class=n>5000</td><td class=n>250 kWh</td>");
    *s->currency = '\0';
    frontier();
    has("<th class=n>cost an hour<th");
}

/* The longest bar ends with the interval that ends last: of costs of 4000, to
 * 6000, and 5000, to 7500. */
static void test_plan_tables__bars(void)
{
    struct msim_plan_point *p = made_plan.points;

    begin();
    p[0].cost = 4000;
    p[1].cost = 5000;
    platforms();
#define BAR(width, line)                                                       \
    "<br><span class=bar><i style=\"width:" width "%\"></i>" line "</span></"  \
    "td>"
    has("<span class=soft>3200 to 6000</span>" BAR(
        "53.3", "<u style=\"left:42.7%;width:37.3%\"></u>"));
    has("<span class=soft>4000 to 7500</span>" BAR(
        "66.7", "<u style=\"left:53.3%;width:46.7%\"></u>"));
    CHECK(strstr(frontier(), "class=bar") == NULL);
    made_plan.spec.unit = MSIM_SPEC_UNIT_REQUESTS;
    platforms();
    has("<td class=n>4000" BAR("80.0", ""));
    has("<td class=n>5000" BAR("100.0", ""));
    made_plan.spec.unit = MSIM_SPEC_UNIT_TOKENS;
    p[0].cost = NAN; /* no bar of that one */
    platforms();
    has("<td class=n>-</td>" MEMORY "</tr>\n<tr><td>16 &times; a100");
}

/* What has no row, over as many columns as there are. */
static void test_plan_tables__no_way(void)
{
    struct msim_plan *plan = &made_plan.plan;

    begin();
    plan->best_of[1] = UINT32_MAX;
    platforms();
    has("</tr>\n<tr><td>a100</td><td colspan=2>no way fits and keeps the "
        "limits</td></tr>\n</tbody>");
    plan->priced = true;
    made_plan.points[0].chance = 1;
    platforms();
    has("<tr><td>a100</td><td colspan=3>it has no price, and others have: not "
        "compared</td></tr>\n");
    made_plan.spec.platforms[1].price = 1;
    platforms();
    has("colspan=3>no way fits");
}

int main(void)
{
    RUN(test_plan_tables__whole);
    RUN(test_plan_tables__columns);
    RUN(test_plan_tables__bars);
    RUN(test_plan_tables__no_way);
    free(made_plan.text);
    return check_summary();
}
