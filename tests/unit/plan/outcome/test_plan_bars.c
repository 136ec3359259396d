/* plan/outcome/plan_bars.c and plan_html.c: where a step goes and what a GPU
 * holds, as bars; the order of the page. */
#include "plan/outcome/plan_report_internal.h"
#include "tests/unit/made_plan.h"

#define STRATEGY "dp 8, zero 0, micro batch 1, recompute none, bf16"
#define OTHER    "dp 16, zero 0, micro batch 1, recompute none, bf16"
#define BAR      "<p class=bars><b>"
#define SPLIT    "</b> <span class=soft>"
#define STACK    "</span></p><div class=stack>"
#define PIECE    "<i title=\""
#define WIDTH    "\" style=\"width:"
#define COLOR    "%;background:"
#define KEY      "<span><i style=\"background:"
#define BLUE     "#2f6db5" /* colours of parts by their number */
#define ORANGE   "#d9822b"
#define GREEN    "#3a9a62"

static const char *steps(void)
{
    return made_plan_says(msim_plan_page_steps);
}

static const char *memory(void)
{
    return made_plan_says(msim_plan_page_memory);
}

static void has(const char *part)
{
    made_plan_has((const char *const[]){part, NULL});
}

/* The recommended one is first, and not again where the frontier has it. */
static void test_plan_bars__steps(void)
{
#define SHARES                                                                 \
    PIECE "compute, 50.0 %" WIDTH "50.00" COLOR BLUE "\"></i>" PIECE           \
          "idle, 25.0 %" WIDTH "25.00" COLOR ORANGE "\"></i>" PIECE            \
          "exchanges, 25.0 %" WIDTH "25.00" COLOR GREEN "\"></i>"              \
          "</div>\n"
#define EXCHANGE                                                               \
    "<p>Exchange of the first bar: gradients 50 % of the step before "         \
    "overlap, of which it waits for 25 % [12-100].</p>\n"
    made_plan_begin();
    CHECK_STR(steps(),
              "<section><h2>Where a step goes</h2>\n" BAR
              "8 &times; h100: 4.00 s" SPLIT STRATEGY STACK SHARES BAR
              "16 &times; a100: 3.00 s" SPLIT OTHER STACK SHARES
              "<p class=key>" KEY BLUE "\"></i>compute 50 %</span>\n" KEY ORANGE
              "\"></i>idle 25 %</span>\n" KEY GREEN
              "\"></i>exchanges 25 %</span>\n</p>" EXCHANGE
              "<p class=soft>The recommended "
              "way, then the others of the frontier. Figures in the key are "
              "those of the first bar.</p></section>\n");
    made_plan.plan.n_frontier = 0;
    steps();
    has("</p>" EXCHANGE "<p class=soft>The recommended way.</p></section>\n");
    made_plan.plan.best = UINT32_MAX; /* there is nothing to show */
    CHECK_STR(steps(), "");
    CHECK_STR(memory(), "");
}

/* A part is in the key where half a percent of some bar is, and a piece where
 * there is any of it. */
static void test_plan_bars__small_parts(void)
{
    struct msim_plan_point *p = made_plan.points;

    made_plan_begin();
    p[0].part_us[1] = 0;
    p[0].part_us[2] = 20000; /* 0.5 % of 4 s */
    p[1].part_us[1] = 14000; /* less of 3 s */
    p[1].part_us[2] = 0;
    steps();
    has("50.00%;background:#2f6db5\"></i>" PIECE "exchanges, 0.5 %" WIDTH
        "0.50" COLOR GREEN "\"></i></div>");
    has("50.00%;background:#2f6db5\"></i>" PIECE "idle, 0.5 %" WIDTH
        "0.47" COLOR ORANGE "\"></i></div>");
    has(KEY BLUE "\"></i>compute 50 %</span>\n" KEY GREEN
                 "\"></i>exchanges 0.5 %</span>\n</p>");
}

/* At most twelve bars. */
static void test_plan_bars__are_few(void)
{
    made_plan_begin();
    for (uint32_t i = 0; i < MADE_POINTS; i++) {
        made_plan.points[i] = made_plan_point(i + 1, 4e6);
        made_plan.frontier[i] = MADE_POINTS - 1 - i;
    }
    made_plan.plan.best = 14;
    made_plan.plan.n_frontier = MADE_POINTS;
    steps();
    made_plan_has((const char *const[]){">15 &times; ", ">16 &times; ",
                                        ">14 &times; ", ">5 &times; ", NULL});
    CHECK(strstr(made_plan.text, ">4 &times; ") == NULL);
}

/* The axis ends 2 % behind the longest interval, or the room where that is less
 * than twice as far: 44 and 60 of 61.2. */
static void test_plan_bars__memory(void)
{
    made_plan_begin();
    made_plan.plan.n_frontier = 0;
    CHECK_STR(
        memory(),
        "<section><h2>Memory of a GPU at its peak</h2>\n" BAR
        "8 &times; h100: 40.0 GiB of 60.0 GiB" SPLIT STRATEGY STACK PIECE
        "weights, 49.0 %" WIDTH "49.02" COLOR BLUE "\"></i>" PIECE
        "the rest, 16.3 %" WIDTH "16.34" COLOR ORANGE
        "\"></i><u style=\"left:58.82%;width:13.07%\"></u><s "
        "style=\"left:98.04%\"></s></div>\n<p class=key>" KEY BLUE
        "\"></i>weights 30.0 GiB</span>\n" KEY ORANGE
        "\"></i>the rest 10.0 GiB</span>\n</p><p class=soft>The line across a "
        "bar is the 90 % interval of the peak; red is what CUDA&#39;s context "
        "and NCCL&#39;s buffers leave of the GPU. Where that reaches what the "
        "GPU has, it is not sure to fit (?).</p></section>\n");
    made_plan.points[0].room_gib = 88; /* 44 of 44.88, and no mark of room */
    memory();
    has("<u style=\"left:80.21%;width:17.83%\"></u></div>");
    has("of the peak. Where that");
    made_plan.points[0].room_gib = 42; /* the interval is longer */
    made_plan.points[0].fits = MSIM_FITS_EDGE;
    memory();
    has("40.0 GiB of 42.0 GiB?</b>");
    has("<u style=\"left:80.21%;width:17.83%\"></u><s "
        "style=\"left:93.58%\"></s></div>");
}

/* The key has what is half a percent of a peak. */
static void test_plan_bars__small_memory(void)
{
    made_plan_begin();
    made_plan.plan.n_frontier = 0;
    made_plan.points[0].part_gib[1] = 0.2;
    memory();
    has(KEY ORANGE "\"></i>the rest 205 MiB</span>\n");
    made_plan.points[0].part_gib[1] = 0.19;
    memory();
    has("weights 30.0 GiB</span>\n</p>");
}

/* Of what is not known there is no bar; where the first is not, nothing. */
static void test_plan_bars__memory_that_is_not_known(void)
{
    made_plan_begin();
    made_plan.points[1].peak_gib = NAN;
    made_plan.points[1].high_gib = NAN;
    made_plan.points[1].part_gib[1] = 100;
    made_plan.points[0].part_gib[1] = 0;
    memory();
    CHECK(strstr(made_plan.text, "a100") == NULL);
    has("weights 30.0 GiB</span>\n</p>"); /* which has no other part */
    has("Figures in the key are those of the first bar.");
    made_plan.points[0].peak_gib = NAN;
    CHECK_STR(memory(), "");
}

/* ---- the page ------------------------------------------------------------ */

static void page(const struct msim_plan *plan, const struct msim_spec *spec,
                 FILE *out)
{
    /* One more than there are. */
    static const char *const CHARTS[MSIM_PLAN_CHARTS + 1] = {
        "<svg>0</svg>", "<?xml version=\"1.0\"?><svg>1</svg>", "no picture",
        NULL, "<svg>4</svg>"};

    msim_plan_html(plan, spec, CHARTS, out);
}

static void test_plan_html__order(void)
{
    made_plan_begin();
    made_plan.plan.n_simulated = 1;
    made_plan_says(page);
    made_plan_has((const char *const[]){
        "<title>Plan of small</title>", "<h1>Plan of small</h1>",
        "<p class=soft>Train <b>small</b>", "<h2>The answer</h2>",
        "<h2>The best on each GPU</h2>", "<h2>Where a step goes</h2>",
        "<h2>Memory of a GPU at its peak</h2>",
        "<div class=charts>\n<figure><svg>0</svg>",
        "</figcaption></figure>\n<figure><svg>1</svg>",
        "<figcaption>The fastest way with so many GPUs.",
        "</figcaption></figure>\n</div>\n", "<h2>Frontier",
        "<h2>By the law, and simulated</h2>", "<h2>What it stands on</h2>",
        "<h2>Words</h2>", "<p class=soft>mystique-sim ",
        ". points.csv has all feasible points, plan.json what this page "
        "says.</p>\n</html>\n",
        NULL});
}

int main(void)
{
    RUN(test_plan_bars__steps);
    RUN(test_plan_bars__small_parts);
    RUN(test_plan_bars__are_few);
    RUN(test_plan_bars__memory);
    RUN(test_plan_bars__small_memory);
    RUN(test_plan_bars__memory_that_is_not_known);
    RUN(test_plan_html__order);
    free(made_plan.text);
    return check_summary();
}
