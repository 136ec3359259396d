/* plan/outcome/plan_answer.c: the question in a sentence, what is recommended,
 * and how sure that is; what each member of spec and plan adds. */
#include "plan/outcome/plan_report_internal.h"
#include "tests/unit/made_plan.h"

#define STRATEGY "dp 8, zero 0, micro batch 1, recompute none, bf16"
#define OTHER    "dp 16, zero 0, micro batch 1, recompute none, bf16"
#define LOOKED                                                                 \
    " 9 ways were looked at: 2 are feasible, 3 do not fit into memory, 2 "     \
    "cannot be split so, 4 have no model.</p>\n<h2>The answer</h2>\n"
#define CARD "<div class=card><span>"
#define IS   "</span><b>"
#define SURE "</b><span>" /* and its interval */
#define END  "</span></div>\n"

static void has(const char *part)
{
    made_plan_says(msim_plan_page_answer);
    made_plan_has((const char *const[]){part, NULL});
}

static bool is_said(const char *part)
{
    return strstr(made_plan_says(msim_plan_page_answer), part) != NULL;
}

static void test_plan_answer__whole(void)
{
    made_plan_begin();
    made_plan.points[0].rate = 1.2; /* which goes with the step's inverse */
    CHECK_STR(made_plan_says(msim_plan_page_answer),
              "<p class=soft>Train <b>small</b>, with 32 sequences of 512 "
              "tokens in each optimizer step. No limits are given." LOOKED
              "<p class=answer>Take <b>8 &times; h100</b></p>\n<p>" STRATEGY
              "</p>\n<div class=cards>\n" CARD "a step" IS "4.00 s" SURE
              "90 %: 3.20 s to 6.00 s" END CARD "throughput" IS
              "1.2 tokens/s" SURE "90 %: 0.8 to 1.5" END CARD
              "of the GPUs&#39; peak (MFU)" IS "40.0 %" SURE
              "90 %: 26.7 to 50.0" END CARD "memory a GPU: it fits" IS
              "40.0 GiB" SURE "90 %: 36.0 GiB to 44.0 GiB" END
              "</div>\n<ul class=reasons>\n<li>Of all ways that surely fit, it "
              "is expected to take the least GPU time.</li>\n</ul>\n");
}

static void test_plan_answer__questions(void)
{
    struct msim_spec *s = &made_plan.spec;

    made_plan_begin();
    s->total = 2e9;
    has(">Train <b>small</b> on 2 G tokens, with 32");
    s->traced = true;
    s->unit = MSIM_SPEC_UNIT_SAMPLES;
    has(">Train as the step recorded in <b>small</b> on 2 G samples, with 32 "
        "samples in each step. No");
    s->global_batch = 0;
    has("samples. The samples of an optimizer step differ between ways: GPUs "
        "&times; batch &times; micro batches. Whether the model learns as well "
        "with them is not predicted. No");
    s->unit = MSIM_SPEC_UNIT_REQUESTS;
    made_plan.plan.basis.traced.ranks = 1;
    has(">Answer requests as the step recorded in <b>small</b> does: 2 G "
        "requests. Each GPU answers batches of its own. No");
    made_plan.plan.basis.traced.ranks = 2;
    s->total = 0;
    has(" does. Every 2 GPUs answer batches of their own together, as "
        "recorded. No");
}

/* The first limit of all that are given is behind "Limits:", others behind a
 * comma. */
static void test_plan_answer__limits(void)
{
    static const char *const TEXTS[] = {
        "30.5 days",
        "1200 EUR of cost",
        "64 GPUs",
        "at least 2 M tokens a second",
        "1.50 s from a request to its answer",
        "70.5 GiB of each GPU",
    };

    for (unsigned given = 1; given < 1u << 6; given++) {
        struct msim_spec *s = &made_plan.spec;
        char want[400] = "step. Limits: ";
        bool any = false;

        made_plan_begin();
        snprintf(s->currency, sizeof(s->currency), "EUR");
        s->most_days = given & 1 ? 30.5 : INFINITY;
        s->most_cost = given & 2 ? 1200 : INFINITY;
        s->most_gpus = given & 4 ? 64 : INFINITY;
        s->least_rate = given & 8 ? 2e6 : 0;
        s->most_latency_us = given & 16 ? 1.5e6 : INFINITY;
        s->most_memory_gib = given & 32 ? 70.5 : INFINITY;
        for (size_t i = 0, n; i < 6; i++) {
            n = strlen(want);
            if (given >> i & 1)
                snprintf(want + n, sizeof(want) - n, "%s%s", any ? ", " : "",
                         TEXTS[i]);
            any |= given >> i & 1;
        }
        snprintf(want + strlen(want), sizeof(want) - strlen(want), ". 9 ways");
        has(want);
        CHECK_INT(is_said("fit and keep the limits, it is"),
                  (given & 31) != 0); /* memory is no limit of that kind */
    }
    made_plan.spec.unit = MSIM_SPEC_UNIT_REQUESTS;
    has("1200 EUR of cost an hour, 64");
}

static void test_plan_answer__cards(void)
{
    struct msim_plan_point *p = &made_plan.points[0];
    struct msim_spec *s = &made_plan.spec;

    made_plan_begin();
    p->days = 20;
    p->cost = 5000;
    p->kwh = 250;
    p->rate = p->mfu = NAN;
    has(CARD "whole training" IS "20.0 days" SURE "90 %: 16.0 to 30.0" END CARD
             "cost" IS "5000" SURE "90 %: 4000 to 7500" END CARD "energy" IS
             "250 kWh" SURE "90 %: 200 kWh to 375 kWh" END CARD "a step" IS
             "4.00 s" SURE "90 %: 3.20 s to 6.00 s" END CARD
             "memory a GPU: it fits" IS "40.0 GiB" SURE
             "90 %: 36.0 GiB to 44.0 GiB" END);
    has("expected to take the least cost.</li>");
    snprintf(s->currency, sizeof(s->currency), "EUR");
    p->fits = MSIM_FITS_EDGE;
    has(CARD "cost" IS "5000 EUR" SURE "90 %: 4000 to 7500" END);
    has(CARD "memory a GPU: not sure to fit" IS "40.0 GiB" SURE
             "90 %: 36.0 GiB to 44.0 GiB" END);
    has("<li>No point is sure (95 %).</li>\n<li>It is not sure to fit: the "
        "GPU's memory lies inside the interval of the peak. The frontier below "
        "has others.</li>\n</ul>");
    CHECK(!is_said("surely"));
    p->peak_gib = NAN;
    has(CARD "memory a GPU" IS "as recorded, or less" SURE
             "an execution trace would tell it" END);
    has("<li>It fits, as it did when it was recorded. How much memory it takes "
        "is not known: that takes an execution trace.</li>\n</ul>");
    CHECK(!is_said("not sure to fit"));
    s->traced = true;
    s->unit = MSIM_SPEC_UNIT_REQUESTS;
    has(CARD "all requests" IS "20.0 days" SURE "90 %: 16.0 to 30.0" END CARD
             "cost an hour" IS "5000 EUR" SURE "the prices of the spec" END CARD
             "latency" IS "4.00 s" SURE "90 %: 3.20 s to 6.00 s" END);
    p->cost = NAN;
    CHECK(!is_said("cost an hour"));
}

static void test_plan_answer__how_sure(void)
{
    struct msim_plan *plan = &made_plan.plan;
    struct msim_plan_point *p = &made_plan.points[1];

    made_plan_begin();
    made_plan.points[0].chance = 0.95;
    has("time.</li>\n<li>It keeps the limits with a chance of <b>95 "
        "%</b>.</li>\n</ul>");
    made_plan.points[0].chance = 0.9;
    has("<b>90 %</b>.</li>\n<li>No point is sure (95 %).</li>\n</ul>");
    plan->cheaper = 1;
    /* 16 GPUs for 3 s, over 8 for 4 s. */
    has("</li>\n<li>What may be cheaper, and is not sure: <b>16 &times; "
        "a100</b> (" OTHER "), the GPU time &times; 1.500.</li>\n</ul>");
    p->fits = MSIM_FITS_EDGE;
    has("1.500. It may not fit.</li>");
    p->chance = 0.5;
    has("fit. It keeps the limits with a chance of 50 %.</li>");
    p->chance = 0.95; /* which is enough */
    has("1.500. It may not fit.</li>");
    plan->cheaper = UINT32_MAX;
    plan->runner_up = 1;
    plan->ratio = 0.9;
    plan->ratio_low = 0.8;
    plan->ratio_high = 0.95;
    plan->after_test = 1.25;
    has("</li>\n<li>The runner-up is <b>16 &times; a100</b> (" OTHER
        "). The recommended one takes &times; 0.900 of its GPU time (90 %: "
        "0.800 to 0.950): that order is sure.</li>\n</ul>");
    plan->test = 1;
    has("0.950): the two are too close to call. Some steps of the runner-up on "
        "16 &times; a100 would decide it within &times; 1.25 either "
        "way.</li>\n</ul>");
    plan->test = 0;
    has("Some steps of the recommended one on 8 &times; h100 would");
}

static void test_plan_answer__what_is_left_out(void)
{
    static struct msim_plan_refusal why[2] = {{"ep is odd", 12, 3},
                                              {"pp is odd", 13, 4}};
    struct msim_plan *plan = &made_plan.plan;

    made_plan_begin();
    plan->refusals = (struct msim_plan_refusals){why, 2, 2, 0};
    plan->refused[0] = made_plan_point(8, 1);
    plan->refused[1] = made_plan_point(16, 1);
#define REFUSED                                                                \
    "<section><h3>What cannot be</h3>\n<div class=scroll><table><tr><th>why"   \
    "<th class=n>ways<th>the first of them</tr>\n<tr><td>ep is odd</td><td "   \
    "class=n>12</td><td>8 &times; h100: " STRATEGY "</td></tr>\n<tr><td>pp "   \
    "is odd</td><td class=n>13</td><td>16 &times; h100: " OTHER "</td></tr>\n"
    has("</ul>\n" REFUSED "</table></div></section>\n");
    plan->refusals.others = 7;
    plan->marked.answers = 2;
    msim_guard_add(&plan->marked, MSIM_GUARD_BIT(PEAK));
    has("</ul>\n<p class=soft>1 of ");
    has(". None is recommended.</p>\n" REFUSED
        "<tr><td>other reasons</td><td class=n>7</td><td></td></tr>\n</table>");
    plan->best = UINT32_MAX;
    made_plan.spec.most_gpus = 4;
    has("<p class=answer>no point keeps the limits; points.csv has all that "
        "are feasible</p>\n<p class=soft>");
    has(". None is recommended.</p>\n<pre>limits.gpus is 4: 0 of 2 points keep "
        "it; the least is 8, of 8 x h100\n</pre>\n" REFUSED);
    CHECK(!is_said("Take"));
    plan->n = 0;
    CHECK(!is_said("<pre>"));
    plan->has_nearest = true;
    plan->nearest = made_plan_point(8, 1);
    has("<pre>nearest to it: 8 x h100");
}

int main(void)
{
    RUN(test_plan_answer__whole);
    RUN(test_plan_answer__questions);
    RUN(test_plan_answer__limits);
    RUN(test_plan_answer__cards);
    RUN(test_plan_answer__how_sure);
    RUN(test_plan_answer__what_is_left_out);
    free(made_plan.text);
    return check_summary();
}
