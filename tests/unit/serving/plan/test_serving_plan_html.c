/* serving/plan/serving_plan_html.c: the page of a plan that is made up, and
 * what gnuplot is asked to draw of it; a program in its place answers with
 * that. */
#include "tests/unit/fake_gnuplot.h"
#include "tests/unit/serving/plan/made_serving_plan.h"

/* What costs something, with its interval, by GPU; in % of the promise. */
static void test_serving_plan_html__chart(void)
{
    struct msim_error err = {0};
    char *svg = NULL;

    begin();
    c.priced = true;
    CHECK_INT(msim_serving_plan_chart(&c, &svg, &err), MSIM_OK);
    REQUIRE(svg != NULL);
    CHECK_STR(strstr(svg, "set xlabel"),
              "set xlabel \"EUR an hour\"\nset logscale x\nset xrange "
              "[5.76923:13]\nset xtics (\"6\" 6, \"7\" 7, \"8\" 8, \"9\" 9, "
              "\"10\" 10, \"12\" 12)\nset ylabel '% of what is promised'\n"
              "set logscale y\nset yrange [10:1000]\nset ytics (10, 20, "
              "50, 100, 200, 500, 1000)\n"
              "$g0 << MSIM_END\n7.5 40 30 110\n10 40 30 100\n"
              "NaN NaN NaN NaN\nMSIM_END\n"
              "$g1 << MSIM_END\nNaN NaN NaN NaN\nMSIM_END\n"
              "plot 100 with lines lw 2 lc rgb '#aa3377' title 'promised', $g0 "
              "with yerrorbars pt 7 ps 0.8 title \"h100\", $g1 with yerrorbars "
              "pt 7 ps 0.8 title \"b200\"\n" FAKE_GNUPLOT_END);
    free(svg);
    c.priced = false;
    CHECK_INT(msim_serving_plan_chart(&c, &svg, &err), MSIM_OK);
    REQUIRE(svg != NULL);
    CHECK(strstr(svg, "set xlabel \"GPUs\"\n") != NULL);
    CHECK(strstr(svg, "size 640,480 ") != NULL);
    CHECK(strstr(svg, "\n6 40 30 90\nNaN ") != NULL);
    free(svg);
    end();
}

static const char PAGE[] =
    "<p class=soft>40 requests/s to m8: TTFT p90 within 500 ms, e2e p99.9 of "
    "code within 20000 ms</p>\n"
    "<p class=answer>4 &times; h100, " TP1 ": 8 GPUs</p>\n"
    "<div class=cards>\n"
    "<div class=card><span>TTFT p90, of 500 ms</span><b>200 ms</b><span>90 %: "
    "150 to 250</span></div>\n"
    "<div class=card><span>e2e p99.9 of code, of 20000 ms</span><b>4000 "
    "ms</b><span>90 %: 3000 to 5000</span></div>\n"
    "<div class=card><span>cost an hour</span><b>10 EUR</b><span>2.5 for 1,000 "
    "requests, 1.25 for a million output tokens</span></div>\n"
    "<div class=card><span>power</span><b>5.25 kW</b></div>\n"
    "<div class=card><span>a replica bears</span><b>12.5/s</b><span>90 %: 10 "
    "to 15; 75 % is used</span></div>\n"
    "<div class=card><span>memory of a GPU</span><b>8.5 GiB</b><span>and a KV "
    "cache of 100000 tokens a replica</span></div>\n"
    "</div>\n"
    "<p>Cheaper? 3 &times; h100, " TP1
    " (6 GPUs) keeps the promises as predicted, and not where steps take as "
    "long as the end of their 90 % interval says.</p>\n"
    "<figure><svg>1</svg><figcaption>Cost, and the largest share of a limit "
    "that is used, with its interval.</figcaption></figure>\n"
    "<section><h2>The frontier</h2>\n"
    "<div class=scroll><table>\n"
    "<tr><th>configuration<th class=n>replicas<th class=n>GPUs<th class=n>cost "
    "an hour<th class=n>load<th class=n>TTFT p90, ms<th class=n>e2e p99.9 of "
    "code, ms<th>sure</tr>\n"
    "<tr><td>h100, " TP1
    "<td class=n>4<td class=n>8<td class=n>10<td class=n>75 %<td class=n>200 "
    "<span class=soft>150 to 250</span><td class=n>4000 <span class=soft>3000 "
    "to 5000</span><td>yes</tr>\n"
    "</table></div></section>\n"
    "<section><h2>All that keep the promises</h2>\n"
    "<div class=scroll><table>\n"
    "<tr><th>configuration<th class=n>replicas<th class=n>GPUs<th class=n>cost "
    "an hour<th class=n>load<th class=n>TTFT p90, ms<th class=n>e2e p99.9 of "
    "code, ms<th>sure</tr>\n"
    "<tr><td>h100, " TP1
    "<td class=n>3<td class=n>6<td class=n>7.5<td class=n>75 %<td class=n>200 "
    "<span class=soft>150 to 250</span><td class=n>4000 <span class=soft>3000 "
    "to 5000</span><td></tr>\n"
    "<tr><td>h100, " TP1
    "<td class=n>4<td class=n>8<td class=n>10<td class=n>75 %<td class=n>200 "
    "<span class=soft>150 to 250</span><td class=n>4000 <span class=soft>3000 "
    "to 5000</span><td>yes</tr>\n"
    "<tr><td>h100, " TP2
    "<td class=n>3<td class=n>6<td class=n>-<td class=n>75 %<td class=n>200 "
    "<span class=soft>150 to 250</span><td class=n>4000 <span class=soft>3000 "
    "to 5000</span><td>yes</tr>\n"
    "</table></div></section>\n"
    "<section><h2>Left out</h2>\n"
    "<div class=scroll><table>\n"
    "<tr><td>b200, " TP1 "<td>too large</tr>\n"
    "<tr><td>b200, " TP2 "<td>too slow</tr>\n"
    "</table></div></section>\n"
    "<section><h2>What it stands on</h2>\n"
    "<p>Each figure is of a simulated replica under its share of the requests; "
    "replicas share nothing, and requests are routed at random. Intervals are "
    "those of the predicted step times. Sure: the promises are kept also where "
    "steps take as long as the end of the 90 % interval says. The frontier: "
    "nothing is cheaper and further below what is promised.</p>\n"
    "<dl>\n"
    "<dt>block_size</dt><dd>16 (vllm)</dd>\n"
    "</dl></section>\n";

/* The page behind its head, which all have. */
static const char *page(const char *chart)
{
    FILE *out = fmemopen(text, sizeof(text), "w");
    char *begin, *end;

    if (!CHECK(out != NULL))
        return "";
    msim_serving_plan_html(&c, chart, out);
    fclose(out);
    begin = strstr(text, "<p class=soft>40 ");
    end = strstr(text, "<p class=soft>mystique-sim ");
    if (!CHECK(begin && end))
        return text;
    *end = '\0'; /* the version is another one day */
    return begin;
}

static void test_serving_plan_html__page(void)
{
    static const struct msim_assumed assumed[] = {
        {"stages.s.batching.block_size", "16", "vllm"},
        {"arrivals.cv", "1", "not stated"}};

    begin();
    c.app.assumed = assumed;
    c.app.n_assumed = 2;
    CHECK_STR(page("<?xml?><svg>1</svg>"), PAGE);
    c.best = NULL;
    c.nearest = &fleets[B200_TP2];
    CHECK(
        strstr(page(NULL),
               "20000 ms</p>\n<p class=answer>what keeps the promises does not "
               "keep the limits of the spec</p>\n<section><h2>The frontier</h2>"
               "\n") != NULL);
    c.best = &fleets[H100_TP1].points[MSIM_FLEET_SURE];
    c.sure = false;
    fleets[H100_TP1].points[MSIM_FLEET_SURE].gpus = 2;
    CHECK(strstr(page(NULL), ": 2 GPUs</p>\n") != NULL);
    fleets[H100_TP1].points[MSIM_FLEET_SURE].gpus = 1;
    c.cheaper = NULL;
    CHECK(
        strstr(page(NULL),
               ": 1 GPU</p>\n<p>Not sure: it keeps the promises as predicted; "
               "nothing does where steps take as long as the end of their "
               "interval says.</p>\n<div class=cards>\n") != NULL);
    CHECK(!strstr(text, "Cheaper?") && !strstr(text, "<figure>"));
    end();
}

int main(void)
{
    if (!fake_gnuplot_begin())
        return 1;
    RUN(test_serving_plan_html__chart);
    RUN(test_serving_plan_html__page);
    fake_gnuplot_end();
    return check_summary();
}
