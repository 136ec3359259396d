/* plan/outcome/plan_basis.c: where figures come from, of described models and
 * of traced steps; paths as a reader wants them. */
#include "plan/outcome/plan_report_internal.h"
#include "tests/unit/made_plan.h"

static void has(const char *part)
{
    made_plan_says(msim_plan_page_basis);
    made_plan_has((const char *const[]){part, NULL});
}

static bool is_said(const char *part)
{
    return strstr(made_plan_says(msim_plan_page_basis), part) != NULL;
}

/* Intervals of the class with number i are those of 1.1 + 0.1 i. */
static void begin(void)
{
    struct msim_plan_basis *b = &made_plan.plan.basis;

    made_plan_begin();
    for (int i = 0; i < MSIM_STEP_CLASSES; i++) {
        b->fit.low[i] = 1.25;
        b->fit.high[i] = 1.1 + 0.1 * i;
    }
    b->fit.n_rows = 77;
    b->fit.n_sources = 2;
    snprintf(b->fit.sources[0], sizeof(b->fit.sources[0]), "here");
    snprintf(b->fit.sources[1], sizeof(b->fit.sources[1]), "there");
    b->memory_low = 1.25;
    b->memory_high = 1.5;
    made_plan.points[0].class = (enum msim_step_class)1;
    made_plan.points[0].high_us = 1.2 * 4e6; /* as its class has it */
}

static void test_plan_basis__steps(void)
{
    const char *kind = msim_step_class_text((enum msim_step_class)1);
    char want[256];

    begin();
    has("<h3>Time of a step</h3>");
    has("fitted to 77 published training jobs (here, there). Nothing here was "
        "run.</p>\n<ul>\n");
    snprintf(want, sizeof(want), "of the kind &ldquo;%s&rdquo;: 90 %%", kind);
    has(want);
    has("lie between 0.80 and 1.20 times the prediction.</li>\n<li>No measured "
        "job is like the recommended one: its time is the law's.</li>\n</ul>");
    made_plan.points[0].correction = 1.0004;
    has("<li>No measured job");
    made_plan.points[0].correction = 0.9;
    has("<li>Measured jobs like the recommended one took &times; 0.900 of the "
        "law's time; its time has that factor.</li>\n</ul>");
    made_plan.points[0].high_us = 1.205 * 4e6; /* hardly wider */
    CHECK(!is_said("wider"));
    made_plan.points[0].high_us = 1.21 * 4e6;
    has("prediction. Its own interval is wider, 0.80 to 1.21: it is of");
    made_plan.points[0].high_us = 1.2 * 4e6;
    made_plan.points[0].low_us = 0.797 * 4e6;
    CHECK(!is_said("wider"));
    made_plan.points[0].low_us = 0.79 * 4e6;
    has(" Its own interval is wider, 0.79 to 1.20: it is of");
    made_plan.plan.best = UINT32_MAX;
    has("run.</p>\n<ul>\n</ul>\n<div");
}

/* A row for two classes; that of the answer is marked. */
static void test_plan_basis__kinds(void)
{
    char want[256];

    begin();
    for (unsigned i = 0; i < MSIM_STEP_CLASSES; i += 2) {
        snprintf(want, sizeof(want),
                 i ? "<tr><td>%s<td class=n>0.80 to %.2f<td class=n>0.80 to "
                     "%.2f</tr>\n"
                   : "<tr><td>%s<td class=n>0.80 to %.2f<td class=n>the answer:"
                     " <b>0.80 to %.2f</b></tr>\n",
                 msim_step_class_text((enum msim_step_class)i), 1.1 + 0.1 * i,
                 1.2 + 0.1 * i);
        has(want);
    }
    made_plan.plan.best = UINT32_MAX;
    CHECK(!is_said("the answer"));
    has("lie between 0.80 and 1.50 times the prediction.</p>\n<section>");
}

static void test_plan_basis__platforms(void)
{
    struct msim_plan_basis *b = &made_plan.plan.basis;
    struct msim_spec_platform *on = &made_plan.spec.platforms[1];

    begin();
    for (int i = 0; i < 2; i++) {
        snprintf(b->platforms[i].title, sizeof(b->platforms[i].title), "a %s",
                 i ? "second" : "first");
        b->platforms[i].memory = (80 >> i) * MSIM_GIB;
        b->platforms[i].bandwidth = 3.35e12 / (i + 1);
        b->platforms[i].gpus_a_node = i ? 4 : 8;
    }
    b->platforms[1].rows = 1;
    snprintf(b->platforms[1].network, sizeof(b->platforms[1].network), "net");
    on->price = 2.5;
    on->power_w = 700;
    snprintf(made_plan.spec.currency, sizeof(made_plan.spec.currency), "EUR");
    has("<tr><td>h100</td><td>a first</td><td class=n>80.0 GiB</td><td "
        "class=n>3.35 TB/s</td><td>no measured rows of its own: laws of like "
        "GPUs and its data sheet</td><td>8 GPUs a node; the network of its "
        "usual server</td><td class=n>not given</td><td class=n>not given</td>"
        "</tr>\n<tr><td>a100</td><td>a second</td><td class=n>40.0 GiB</td><td "
        "class=n>1.68 TB/s</td><td>fitted to 1 measured rows of this GPU</td>"
        "<td>4 GPUs a node; net</td><td class=n>2.5 EUR</td><td class=n>700 W"
        "</td></tr>\n</table>");
    b->platforms[0].rows = 12;
    made_plan.spec.platforms[0].price = made_plan.spec.platforms[0].power_w = 1;
    has("fitted to 12 measured rows of this GPU</td><td>8 GPUs a node; the "
        "network of its usual server</td><td class=n>1 EUR</td><td class=n>1 "
        "W</td></tr>\n<tr><td>a100");
}

/* ---- traced steps -------------------------------------------------------- */

static void trace(const char *path)
{
    snprintf(made_plan.spec.trace[0], sizeof(made_plan.spec.trace[0]), "%s",
             path);
}

static void test_plan_basis__traced(void)
{
    struct msim_plan_traced *t = &made_plan.plan.basis.traced;

    begin();
    made_plan.spec.traced = true;
    made_plan.spec.n_traces = 2;
    trace("one");
    snprintf(made_plan.spec.trace[1], sizeof(made_plan.spec.trace[1]), "two");
    t->batch = 32;
    t->measured_us = NAN;
    t->predicted_us = 9e5;
    t->low_us = 8e5;
    t->high_us = 1.1e6;
#define NOT_HELD                                                               \
    "<li>The trace has no measured time of its own GPU that a prediction "     \
    "could be held against.</li>\n</ul>"
    has("<li>Recorded: one, two; a batch of 32.</li>\n<li>The host (CPU side): "
        "as recorded, or generic where the trace has no times of it, the same "
        "for all ways.</li>\n" NOT_HELD);
    has("<h3>Memory</h3>\n<p>Not known: the trace does not name the tensors.");
    t->measured_us = 1e6;
    t->predicted_us = NAN;
    has(NOT_HELD);
    t->predicted_us = 9e5;
    t->knows_memory = true;
    snprintf(t->host, sizeof(t->host), "xeon");
    snprintf(t->platform, sizeof(t->platform), "t4");
    has("side): xeon, the same for all ways.</li>\n<li>The recorded step, on "
        "t4: measured 1.00 s; predicted there from its shapes alone 900 ms (90 "
        "%: 800 ms to 1.10 s), &times; 0.90 of the measured one. Kernel times "
        "of the trace correct the predictions of this report.</li>\n</ul>");
    has("<h3>Memory</h3>\n<p>What the tensors of the recorded step hold");
    CHECK(!is_said("published"));
}

/* Folders that are left again are not named; those above stay. */
static void test_plan_basis__paths(void)
{
    static const char *const PATHS[][2] = {
        {"a/b", "a/b"},
        {"./a", "a"},
        {"plans/../../data/x", "../data/x"},
        {"a/b/../../c", "c"},
        {"../a", "../a"},
        {"../../a", "../../a"},
        {"./../a", "../a"},
        {"ab/../c", "c"},
        {".a/../c", "c"},
        {"..a/../c", "c"},
        {".../../c", "c"},
        {"a/./b", "a/b"},
        {"/a/../b", "/b"},
        {"/../b", "/../b"},
        {"a/..", "a/.."},
        {"a/..b/c", "a/..b/c"},
        {"./", "."},
        {"x/y/../z/../w", "x/w"},
    };

    begin();
    made_plan.spec.traced = true;
    made_plan.spec.n_traces = 1;
    for (size_t i = 0; i < sizeof(PATHS) / sizeof(PATHS[0]); i++) {
        char want[64];

        trace(PATHS[i][0]);
        snprintf(want, sizeof(want), "Recorded: %s; a batch", PATHS[i][1]);
        has(want);
    }
}

/* ---- words --------------------------------------------------------------- */

static void words(const struct msim_plan *plan, const struct msim_spec *spec,
                  FILE *out)
{
    (void)plan;
    msim_plan_page_words(spec, out);
}

static uint32_t count(const char *part)
{
    uint32_t n = 0;

    for (const char *at = made_plan.text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

static void test_plan_basis__words(void)
{
    begin();
    made_plan_says(words);
    made_plan_has((const char *const[]){
        "<section><h2>Words</h2>\n<dl>\n<dt>dp</dt><dd>data parallel",
        "</dd>\n<dt>tp</dt><dd>", "<dt>90 %</dt><dd>the interval that nine of",
        "</dd>\n</dl></section>\n", NULL});
    CHECK_INT(count("<dt>"), 11);
    made_plan.spec.traced = true;
    made_plan_says(words);
    made_plan_has((const char *const[]){
        "<dl>\n<dt>batch</dt><dd>samples that one GPU computes at once</dd>\n",
        "<dt>90 %</dt><dd>", "</dd>\n</dl></section>\n", NULL});
    CHECK_INT(count("<dt>"), 9);
}

int main(void)
{
    RUN(test_plan_basis__steps);
    RUN(test_plan_basis__kinds);
    RUN(test_plan_basis__platforms);
    RUN(test_plan_basis__traced);
    RUN(test_plan_basis__paths);
    RUN(test_plan_basis__words);
    free(made_plan.text);
    return check_summary();
}
