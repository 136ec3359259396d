/* plan/outcome/plan_text.c and plan_simulated.c: a plan on a terminal, whole,
 * and what each of its members adds to that. */
#include "plan/outcome/plan_report_internal.h"
#include "tests/unit/made_plan.h"

#define QUESTION                                                               \
    "plan of small: 32 sequences of 512 tokens a step\n"                       \
    "9 points: 2 feasible, 2 cannot be split so, 3 do not fit into memory, 4 " \
    "have no model\n"
#define STRATEGY "dp 8, zero 0, micro batch 1, recompute none, bf16"
#define OTHER    "dp 16, zero 0, micro batch 1, recompute none, bf16"
#define STEP                                                                   \
    "\nrecommended   8 x h100: " STRATEGY "\n"                                 \
    "  step        4.00 s [3.20 s to 6.00 s], 0.25 tokens/s, MFU 40.0 %\n"
#define MEMORY                                                                 \
    "  memory      40.0 GiB a GPU [36.0 GiB to 44.0 GiB] of the 60.0 GiB "     \
    "that "                                                                    \
    "CUDA's context (1.0 GiB) and NCCL's buffers (2.0 GiB) leave"
#define EXCHANGE                                                               \
    " 50 % of the step before overlap, of which it waits for 25 % [12-100]"
#define PARTS                                                                  \
    "\n  a step is   compute 50 %, idle 25, exchanges 25\n  exchange    "      \
    "gradients" EXCHANGE "\n"
#define BECAUSE "  because     it is expected to cost least"
#define FRONTIER                                                               \
    "\nfrontier: shorter or cheaper than all others (? memory is not sure to " \
    "fit)\n    days      cost   GPUs platform            step MFU %    GiB   " \
    "strategy\n"

static const char *says(void)
{
    return made_plan_says(msim_plan_text);
}

static void has(const char *part)
{
    says();
    made_plan_has((const char *const[]){part, NULL});
}

static void test_plan_text__whole(void)
{
    made_plan_begin();
    CHECK_STR(says(), QUESTION STEP MEMORY PARTS BECAUSE
              " GPU time of all that surely fit\n" FRONTIER
              "       -         -     16 a100              3.00 s  40.0   40.0 "
              "  " OTHER "\n"
              "       -         -      8 h100              4.00 s  40.0   40.0 "
              "  " STRATEGY "\n");
}

/* Every figure that may be known, and every limit that may be given. */
static void test_plan_text__figures(void)
{
    struct msim_plan_point *p = &made_plan.points[0];
    struct msim_spec *s = &made_plan.spec;

    made_plan_begin();
    p->days = 20;
    p->cost = 5000;
    p->kwh = 250;
    p->mfu = NAN;
    p->peak_gib = 0.5;
    has("0.25 tokens/s\n  training    20.0 days [16.0-30.0]\n"
        "  cost        5000 [4000 to 7500]\n"
        "  energy      250 kWh\n"
        "  memory      512 MiB a GPU");
    has(BECAUSE " of all that surely fit\n");
    has("    20.0      5000      8 h100              4.00 s     -   0.50   ");
    p->peak_gib = 1;
    has("4.00 s     -    1.0   ");
    snprintf(s->currency, sizeof(s->currency), "EUR");
    has("  cost        5000 [4000 to 7500] EUR\n");
    s->most_days = 30;
    has(BECAUSE " of all that surely fit and keep the limits\n");
    s->traced = true;
    s->unit = MSIM_SPEC_UNIT_REQUESTS;
    has("  latency     4.00 s");
    has("  all         20.0 days");
    has("  cost        5000 EUR an hour\n  energy      250 kWh an hour\n");
    s->total = 1;
    has("  cost        5000 [4000 to 7500] EUR\n  energy      250 kWh\n");
}

static void test_plan_text__memory(void)
{
    struct msim_plan_point *p = &made_plan.points[0];

    made_plan_begin();
    p->fits = MSIM_FITS_EDGE;
    has(MEMORY ": not sure to fit" PARTS BECAUSE
               " GPU time of all that fit\n              no point is sure to "
               "fit\n" FRONTIER);
    has("40.0   40.0?  " STRATEGY);
    p->chance = 0.9;
    has("  limits      kept with a chance of 90 %\n"
        "              no point is sure to fit and to keep them (95 %)\n");
    p->chance = 0.95; /* which is enough, but for the memory */
    has("no point is sure to fit and");
    p->fits = MSIM_FITS_YES;
    CHECK(strstr(says(), "is sure") == NULL);
    p->fits = MSIM_FITS_EDGE;
    p->peak_gib = NAN;
    has("  memory      no more than when it was recorded; it takes an "
        "execution trace to know\n");
    has("40.0      -   " STRATEGY);
}

static void test_plan_text__others(void)
{
    struct msim_plan *plan = &made_plan.plan;
    struct msim_plan_point *p = &made_plan.points[1];

    made_plan_begin();
    plan->cheaper = 1;
    p->fits = MSIM_FITS_EDGE;
    /* 16 GPUs for 3 s, over 8 for 4 s. */
    has("  cheaper?    16 x a100: " OTHER "\n              GPU time x 1.500 of "
        "the recommended one; not sure to fit (40.0 GiB, up to 44.0 of "
        "60.0)\n\nfrontier");
    p->chance = 0.5;
    has(" of 60.0), and keeps the limits with a chance of 50 %\n\n");
    p->fits = MSIM_FITS_YES;
    has("one; keeps the limits with a chance of 50 %\n\n");
    p->chance = 0.95; /* sure enough: nothing is said */
    has("one; \n\n");
    plan->cheaper = UINT32_MAX;
    plan->runner_up = 1;
    plan->ratio = 0.9;
    plan->ratio_low = 0.8;
    plan->ratio_high = 0.95;
    has("  runner-up   16 x a100: " OTHER "\n              the recommended one "
        "costs x 0.900 of it [0.800-0.950]: sure\n\nfrontier");
    plan->test = 1;
    plan->after_test = 1.25;
    has("0.950]: too close to call\n              some steps of the runner-up "
        "on 16 x a100 would decide it within x 1.25 either way\n\nfrontier");
    plan->test = 0;
    has("steps of the recommended one on 8 x h100 would");
}

static void test_plan_text__questions(void)
{
    struct msim_spec *s = &made_plan.spec;

    made_plan_begin();
    s->traced = true;
    has("plan of the step in small: 32 samples a step\n9 points: 2 feasible, 2 "
        "cannot be made of the trace, 3");
    s->global_batch = 0;
    has("plan of the step in small\n9");
    s->unit = MSIM_SPEC_UNIT_REQUESTS;
    has("plan of the requests in small\n9");
    made_plan.plan.priced = true;
    s->platforms[1].price = 0.5;
    has("have no model\nh100 has no price_per_gpu_hour, and others have: it is "
        "not compared\n\nrec");
    CHECK(strstr(made_plan.text, "a100 has no") == NULL);
    made_plan.plan.priced = false;
    CHECK(strstr(says(), "has no price") == NULL);
}

/* Refused points, marked ones, and what is nearest. */
static void test_plan_text__nothing(void)
{
    static struct msim_plan_refusal why = {"ep is odd", 12, 3};
    struct msim_plan *plan = &made_plan.plan;

    made_plan_begin();
    plan->refusals = (struct msim_plan_refusals){&why, 1, 1, 0};
    plan->refused[0] = made_plan_point(8, 1);
    has(QUESTION "      12 left out: ep is odd\n         the first: 8 x "
                 "h100: " STRATEGY "\n\nrec");
    plan->refusals.others = 7;
    has(STRATEGY "\n       7 left out for other reasons\n\nrec");
    plan->marked.answers = 2;
    msim_guard_add(&plan->marked, MSIM_GUARD_BIT(PEAK));
    has("; none of them is recommended\n\nrec");
    plan->best = UINT32_MAX;
    has("no point keeps the limits; points.csv has all that are feasible\n"
        "      12 left out");
    CHECK(strstr(made_plan.text, "frontier:") == NULL);
    CHECK(strstr(made_plan.text, "nearest") == NULL);
    made_plan.spec.most_gpus = 4;
    has("feasible\nlimits.gpus is 4: 0 of 2 points keep it; the least is 8, of "
        "8 x h100\n      12 left out");
    plan->n = 0;
    plan->has_nearest = true;
    plan->nearest = made_plan_point(8, 1);
    has("nearest to it: 8 x h100: " STRATEGY "; it needs 40.0 GiB [36.0-44.0] "
        "of the 60.0 GiB that CUDA and NCCL leave\n"
        "would fit: nothing that was tried\n");
    plan->nearest.room_gib = -1; /* CUDA and NCCL alone do not fit */
    made_plan.spec.most_memory_gib = 2.5;
    snprintf(plan->nearest_ways.text, sizeof(plan->nearest_ways.text),
             "recompute full");
    has(" of the 0.0 GiB that CUDA and NCCL leave of limits.memory_gib, 2.5\n"
        "would fit: recompute full\n");
}

/* ---- by the graphs ------------------------------------------------------- */

static void test_plan_simulated__text(void)
{
    struct msim_plan *plan = &made_plan.plan;
    struct msim_plan_simulated *s = plan->simulated;

    made_plan_begin();
    CHECK_STR(made_plan_says(msim_plan_simulated_text), "");
    CHECK_STR(made_plan_says(msim_plan_page_simulated), "");
    made_plan.points[2] = made_plan_point(4, 8e6);
    plan->n = plan->n_simulated = 3;
    /* GPU seconds: 8 x 3.2, 16 x 1.5, unknown. */
    s[0] = (struct msim_plan_simulated){0, true, "", 3.2e6, 50, 1};
    s[1] = (struct msim_plan_simulated){1, true, "", 1.5e6, 60, 1};
    s[2] = (struct msim_plan_simulated){2, false, "too large", 1, 1, 0};
#define HEAD                                                                   \
    "\nby the law, and simulated: the graph of the job by itself, of which "   \
    "measured jobs take the factor x\n     law  simulated      x  law GiB "    \
    "simulated   GPUs platform       strategy\n"
#define ROWS                                                                   \
    "  4.00 s     3.20 s   1.25     40.0      50.0      8 h100          "      \
    " " STRATEGY "\n"                                                          \
    "  3.00 s     1.50 s   2.00     40.0      60.0     16 a100          "      \
    " " OTHER "\n"                                                             \
    "  8.00 s          -      -     40.0         -      4 h100           dp "  \
    "4, zero 0, micro batch 1, recompute none, bf16\n"                         \
    "         not simulated: too large\n"
    CHECK_STR(made_plan_says(msim_plan_simulated_text),
              HEAD ROWS "by the graphs 16 x a100 (" OTHER
                        ") costs x 0.938 of the recommended one\n");
    s[1].peak_gib = 60.5; /* more than there is room */
    CHECK(strstr(made_plan_says(msim_plan_simulated_text), "by the graphs") ==
          NULL);
    s[1].peak_gib = NAN; /* nobody knows */
    CHECK(strstr(made_plan_says(msim_plan_simulated_text),
                 "   2.00     40.0         -     16 a100") != NULL);
    s[1].peak_gib = 60;
    s[1].us = 1.6e6; /* as much */
    CHECK(strstr(made_plan_says(msim_plan_simulated_text), "by the graphs") ==
          NULL);
    s[1].us = 1.5e6;
    s[2].known = true; /* and cheaper than both */
    CHECK(strstr(made_plan_says(msim_plan_simulated_text),
                 "by the graphs 4 x h100 (") != NULL);
    made_plan.points[2].chance = 0.5; /* but not sure */
    CHECK(strstr(made_plan_says(msim_plan_simulated_text),
                 "by the graphs 16 x a100 (") != NULL);
    s[2].us = 5.8e6; /* cheaper than the recommended one, not than the other */
    made_plan.points[2].chance = NAN;
    CHECK(strstr(made_plan_says(msim_plan_simulated_text),
                 "by the graphs 4 x h100 (") != NULL);
    s[2].us = 6.1e6;
    CHECK(strstr(made_plan_says(msim_plan_simulated_text),
                 "by the graphs 16 x a100 (") != NULL);
    plan->n_simulated = 1; /* the other two are not asked for */
    CHECK(strstr(made_plan_says(msim_plan_simulated_text), "by the graphs") ==
          NULL);
    plan->n_simulated = 3;
    s[0].known = false; /* there is nothing to compare with */
    CHECK(strstr(made_plan_says(msim_plan_simulated_text), "by the graphs") ==
          NULL);
}

static void test_plan_simulated__page(void)
{
    made_plan_begin();
    made_plan.plan.n_simulated = 2;
    made_plan.plan.simulated[0] =
        (struct msim_plan_simulated){0, true, "", 3.2e6, 50, 1};
    made_plan.plan.simulated[1] =
        (struct msim_plan_simulated){1, false, "too large", 0, 0, 0};
    made_plan_says(msim_plan_page_simulated);
    made_plan_has((const char *const[]){
        "<section><h2>By the law, and simulated</h2>",
        "<tbody><tr><td>8 &times; h100<br><span class=soft>" STRATEGY
        "</span></td><td class=n>4.00 s</td><td class=n>3.20 s</td><td "
        "class=n>1.25</td><td class=n>40.0</td><td class=n>50.0</td></tr>\n"
        "<tr><td>16 &times; a100<br><span class=soft>" OTHER
        "</span></td><td class=n>3.00 s</td><td class=n>-</td><td class=n>-"
        "</td><td class=n>40.0</td><td class=n>-</td></tr>\n</tbody>",
        "</section>\n", NULL});
}

int main(void)
{
    RUN(test_plan_text__whole);
    RUN(test_plan_text__figures);
    RUN(test_plan_text__memory);
    RUN(test_plan_text__others);
    RUN(test_plan_text__questions);
    RUN(test_plan_text__nothing);
    RUN(test_plan_simulated__text);
    RUN(test_plan_simulated__page);
    free(made_plan.text);
    return check_summary();
}
