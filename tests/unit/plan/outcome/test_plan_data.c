/* plan/outcome/plan_data.c and the JSON of plan_simulated.c: a plan as JSON and
 * CSV, whole, and which members and columns differ. */
#include "plan/outcome/plan_report.h"
#include "tests/unit/made_plan.h"

/* Of 8 GPUs in 4 s: GiB of 40, 36 to 44, 60, 30 and 10 as bytes. */
#define WAY(gpus, shard)                                                       \
    "\"gpus\": " gpus ", \"micro_batch\": 1, \"grad_accum\": 1, \"shard\": "   \
    "\"" shard "\", \"recompute\": \"none\", \"precision\": null, "            \
    "\"offload\": null"
#define HOLDS(by)                                                              \
    "\"memory_bytes\": {\"peak\": 42949672960, \"low\": 38654705664, "         \
    "\"high\": 47244640256, \"cuda_context\": 1073741824, \"nccl_buffers\": "  \
    "2147483648, \"room\": 64424509440" by "}"
#define BY ", \"by\": {\"weights\": 32212254720, \"the_rest\": 10737418240}"
#define KNOWS(fits)                                                            \
    "\"exchange_us\": {\"in_flight\": 2000000, \"waits\": 1000000, "           \
    "\"waits_low\": 500000, \"waits_high\": 4000000}, \"fits\": " fits         \
    ", \"tokens_per_second\": 0.25, \"mfu\": 0.4, \"days\":"                   \
    " null, \"cost\": null, \"kwh\": null, \"chance\": null, \"correction\": " \
    "1, \"guards\": []}"
#define EIGHT                                                                  \
    "{\"platform\": \"h100\", " WAY(                                           \
        "8",                                                                   \
        "ddp") ", \"step_us\": {\"predicted\": 4000000, \"low\": 3200000, "    \
               "\"high\": "                                                    \
               "6000000}, " HOLDS(                                             \
                   BY) ", \"parts_us\": {\"compute\": 2000000, \"idle\": "     \
                       "1000000, \"exchanges\": 1000000}, " KNOWS("\"yes\"")
#define BEGIN(kind)                                                            \
    "{\n  \"schema\": \"mystique-sim/plan/1\",\n  \"" kind                     \
    "\": \"small\",\n  "                                                       \
    "\"points\": 9,\n  \"feasible\": 2,\n  \"not_split\": 2,\n  "              \
    "\"no_memory\": 3,\n  \"no_model\": 4,\n  "

static void as_json(const struct msim_plan *plan, const struct msim_spec *spec,
                    FILE *out)
{
    CHECK_INT(msim_plan_json(plan, spec, out), MSIM_OK);
}

/* Without the program's version, which is behind the schema. */
static const char *json(void)
{
    char *at, *end;

    made_plan_says(as_json);
    at = strstr(made_plan.text, "  \"version\"");
    end = at ? strchr(at, '\n') : NULL;
    if (CHECK(end != NULL))
        memmove(at, end + 1, strlen(end + 1) + 1);
    return made_plan.text;
}

static void as_csv(const struct msim_plan *plan, const struct msim_spec *spec,
                   FILE *out)
{
    msim_plan_csv(plan, spec, false, out);
}

static void frontier_csv(const struct msim_plan *plan,
                         const struct msim_spec *spec, FILE *out)
{
    msim_plan_csv(plan, spec, true, out);
}

static void has(made_plan_writes *write, const char *part)
{
    made_plan_says(write);
    made_plan_has((const char *const[]){part, NULL});
}

/* A traced step, of which one point is all there is. */
static void traced(void)
{
    made_plan_begin();
    made_plan.spec.traced = true;
    made_plan.spec.values[8].v[0] = made_plan.spec.values[9].v[0] = 1;
    made_plan.frontier[0] = 0;
    made_plan.plan.n_frontier = 1;
    made_plan.plan.basis.traced = (struct msim_plan_traced){
        .batch = 5, .ranks = 2, .measured_us = 7, .predicted_us = NAN};
}

static void test_plan_json__whole(void)
{
    traced();
    CHECK_STR(
        json(),
        BEGIN("trace") "\"why_not\": [],\n  \"why_not_others\": 0,\n  "
                       "\"guards\": {\"answers\": 0, \"marked\": 0, "
                       "\"text\": null},\n  \"recorded\": {\"batch\": "
                       "5, \"ranks\": 2, \"gpu\": null, "
                       "\"measured_us\": 7, \"predicted_us\": null, "
                       "\"host\": null},\n  \"currency\": null,\n  "
                       "\"cost_of\": \"all\",\n  \"recommended\": " EIGHT
                       ",\n  \"runner_up\": null,\n  \"safe\": " EIGHT
                       ",\n  \"cheaper\": null,\n  \"frontier\": [\n    " EIGHT
                       "\n  ]\n}\n");
}

/* What a described model has beside, and what it has not. */
static void test_plan_json__described(void)
{
    made_plan_begin();
    made_plan.plan.best = UINT32_MAX;
    made_plan.frontier[0] = 0;
    made_plan.plan.n_frontier = 1;
    CHECK_STR(
        json(),
        BEGIN("model") "\"guards\": {\"answers\": 0, \"marked\": 0, \"text\": "
                       "null},\n  \"currency\": null,\n  \"cost_of\": "
                       "\"all\",\n  \"recommended\": null,\n  \"runner_up\": "
                       "null,\n  \"safe\": null,\n  \"cheaper\": null,\n  "
                       "\"frontier\": [\n    {\"platform\": \"h100\", "
                       "\"gpus\": 8, \"nodes\": 1, \"tp\": 1, \"pp\": 1, "
                       "\"vp\": 1, \"cp\": 1, \"ep\": 1, \"etp\": 1, \"dp\": "
                       "8, \"zero\": "
                       "0, \"micro_batch\": 1, \"grad_accum\": 1, "
                       "\"global_batch\": 0, \"sequence\": 0, \"precision\": "
                       "\"bf16\", \"recompute\": \"none\", \"step_us\": "
                       "{\"predicted\": 4000000, \"low\": 3200000, \"high\": "
                       "6000000}, " HOLDS("") ", \"parts_us\": {\"compute\": "
                                              "2000000, \"idle\": 1000000, "
                                              "\"exchanges\": 1000000}, " KNOWS(
                                                  "\"yes\"") "\n  ]\n}\n");
}

static void test_plan_json__members(void)
{
    static struct msim_plan_refusal why = {"no shapes", 12, 3};
    struct msim_plan *plan = &made_plan.plan;
    struct msim_plan_traced *t = &plan->basis.traced;

    traced();
    plan->refusals = (struct msim_plan_refusals){&why, 1, 1, 7};
    plan->refused[0] = made_plan_point(16, 1);
    plan->refused[0].platform = 1;
    snprintf(t->platform, sizeof(t->platform), "t4");
    snprintf(t->host, sizeof(t->host), "xeon");
    snprintf(made_plan.spec.currency, sizeof(made_plan.spec.currency), "EUR");
    plan->runner_up = plan->cheaper = 0;
    plan->ratio = 0.5;
    plan->ratio_low = 0.25;
    plan->ratio_high = 0.75;
    plan->after_test = 1.5;
    has(as_json,
        "\"why_not\": [\n    {\"reason\": \"no shapes\", \"points\": 12, "
        "\"first_platform\": \"a100\", \"first_gpus\": 16, \"first_strategy\":"
        " \"batch 1, ddp\"}\n  ],\n  \"why_not_others\": 7,\n");
    has(as_json, "\"gpu\": \"t4\", \"measured_us\": 7, \"predicted_us\": null, "
                 "\"host\": \"xeon\"},\n  \"currency\": \"EUR\",\n");
    has(as_json, "\"runner_up\": " EIGHT ",\n  \"cost_over_runner_up\": "
                 "{\"ratio\": 0.5, \"low\": 0.25, \"high\": 0.75, \"test\": "
                 "null, \"factor_after_test\": null},\n");
    has(as_json, "\"cheaper\": " EIGHT);
    plan->test = 0;
    has(as_json, "\"test\": \"recommended\", \"factor_after_test\": 1.5},\n");
    plan->test = 1;
    has(as_json, "\"test\": \"runner_up\", \"factor_after_test\": 1.5},\n");
    made_plan.points[0].chance = 0.9;
    has(as_json, "\"safe\": null");
    made_plan.points[0].peak_gib = NAN;
    has(as_json, "\"fits\": null");
    made_plan.spec.unit = MSIM_SPEC_UNIT_REQUESTS;
    has(as_json, "\"requests_per_second\": 0.25");
    has(as_json, "\"cost_of\": \"an hour\"");
}

static void test_plan_json__nearest(void)
{
    struct msim_plan *plan = &made_plan.plan;
    struct msim_plan_ways *w = &plan->nearest_ways;

    traced();
    plan->has_nearest = true;
    plan->nearest = made_plan_point(8, 1);
    w->n = 2;
    snprintf(w->way[0].change, sizeof(w->way[0].change), "zero 3");
    w->way[0].peak = 10;
    w->way[0].fits = MSIM_FITS_YES;
    snprintf(w->way[1].change, sizeof(w->way[1].change), "recompute full");
    w->way[1].peak = 20;
    w->way[1].fits = MSIM_FITS_EDGE;
    has(as_json,
        "\"nearest\": {\n    \"platform\": \"h100\",\n    \"gpus\": 8,\n    "
        "\"strategy\": \"batch 1, ddp\",\n    \"peak_bytes\": 42949672960,\n "
        "   \"capacity_bytes\": 64424509440,\n    \"would_fit\": "
        "[{\"change\": \"zero 3\", \"peak_bytes\": 10, \"fits\": \"yes\"}, "
        "{\"change\": \"recompute full\", \"peak_bytes\": 20, \"fits\": "
        "\"edge\"}]\n  },\n");
}

static void test_plan_json__simulated(void)
{
    struct msim_plan_simulated *s = made_plan.plan.simulated;

    traced();
    made_plan.points[0].strategy.dp = 1; /* nobody shares it */
    made_plan.plan.n_simulated = 2;
    s[0] = (struct msim_plan_simulated){0, true, "not read", 3.2e6, 50, 3};
    s[1] = (struct msim_plan_simulated){1, false, "too large", 1, 1, 0};
    has(as_json,
        "\"simulated\": [\n    {\"platform\": \"h100\", " WAY(
            "8", "single") ", \"law\": {\"step_us\": 4000000, \"peak_bytes\": "
                           "42949672960}, "
                           "\"simulated\": {\"step_us\": 3200000, "
                           "\"peak_bytes\": 53687091200, "
                           "\"graphs\": 3, \"why_not\": null}, "
                           "\"measured_jobs\": {\"factor\": "
                           "1.25, \"memory_factor\": 0.8}},\n    "
                           "{\"platform\": \"a100\", " WAY(
                               "16",
                               "ddp") ", \"law\": {\"step_us\": 3000000, "
                                      "\"peak_bytes\": "
                                      "42949672960}, \"simulated\": "
                                      "{\"step_us\": null, \"peak_bytes\": "
                                      "null, \"graphs\": 0, \"why_not\": \"too "
                                      "large\"}, "
                                      "\"measured_jobs\": {\"factor\": null, "
                                      "\"memory_factor\": null}}\n"
                                      "  ],\n");
}

/* ---- names of parts ------------------------------------------------------ */

/* Anything but a letter is one "_", none in front; 31 characters at most. */
static void test_plan_json__part_names(void)
{
    static const char *const NAMES[] = {
        "az (b) `{", " 1 x", "abcdefghijklmnopqrstuvwxyzabcdefg", NULL};

    traced();
    made_plan.plan.step_parts = NAMES;
    has(as_json, "\"parts_us\": {\"az_b_\": 2000000, \"x\": 1000000, "
                 "\"abcdefghijklmnopqrstuvwxyzabcde\": 1000000}");
}

/* ---- CSV ----------------------------------------------------------------- */

#define MS_8  "4000,3200,6000,40,yes,0.25,0.4,,,,1,\n"
#define MS_16 "3000,2400,4500,40,yes,0.333333,0.4,,,,1,\n"
#define TAIL                                                                   \
    ",predicted_ms,low_ms,high_ms,predicted_memory_gib,fits,tokens_per_second" \
    ",mfu,days,cost,kwh,keeps_limits,guards\n"
#define DESCRIBED                                                              \
    "platform,gpus,nodes,tp,pp,vp,cp,ep,etp,dp,zero,micro_batch,grad_accum,"   \
    "global_batch,sequence,precision,recompute"

static void test_plan_csv__described(void)
{
    struct msim_plan_point *p = &made_plan.points[0];

    made_plan_begin();
#define A100 "a100,16,1,1,1,1,1,1,1,16,0,1,1,0,0,bf16,none"
    CHECK_STR(made_plan_says(as_csv), DESCRIBED TAIL
              "h100,8,1,1,1,1,1,1,1,8,0,1,1,0,0,bf16,none," MS_8 A100
              "," MS_16);
    made_plan.plan.n_frontier = 1; /* of the second point */
    CHECK_STR(made_plan_says(frontier_csv), DESCRIBED TAIL A100 "," MS_16);
    /* A technique that is tried, or stated; members before those never. */
    for (int i = 0; i < 11; i++)
        made_plan.spec.values[i].n = 2;
    made_plan.spec.values[11].n = 2;     /* offload */
    made_plan.spec.values[12].v[0] = 16; /* lora_rank */
    made_plan.spec.values[15].n = 2;     /* loss_chunks */
    made_plan.points[1].strategy.technique.lora_rank = 16;
    CHECK_STR(made_plan_says(frontier_csv), DESCRIBED
              ",offload,lora_rank,loss_chunks" TAIL A100 ",none,16,," MS_16);
    made_plan.plan.best = UINT32_MAX;
    has(as_json, "\"recompute\": \"none\", \"offload\": \"none\", "
                 "\"lora_rank\": 16, \"loss_chunks\": null, \"step_us\"");
    made_plan_begin();
    p->fits = MSIM_FITS_EDGE;
    p->days = 1.5;
    p->cost = 2.5;
    p->kwh = 3.5;
    p->allowed = false;
    p->marks = MSIM_GUARD_BIT(PEAK);
    has(as_csv, ",40,edge,0.25,0.4,1.5,2.5,3.5,0,peak\n");
    p->peak_gib = INFINITY;
    p->mfu = NAN;
    has(as_csv, ",4000,3200,6000,,edge,0.25,,1.5");
    p->peak_gib = NAN;
    has(as_csv, ",4000,3200,6000,,,0.25,,1.5");
}

static void test_plan_csv__traced(void)
{
    struct msim_spec_values *v = made_plan.spec.values;

    traced();
#define FIRST                                                                  \
    "platform,gpus,micro_batch,grad_accum,strategy,recompute,precision"
    CHECK_STR(made_plan_says(as_csv),
              FIRST ",offload" TAIL "h100,8,1,1,ddp,none,,," MS_8
                    "a100,16,1,1,ddp,none,,," MS_16);
    for (int i = 0; i < 8; i++) { /* words by name, the others as they differ */
        static const int OTHERS[] = {6, 7, 8, 9, 10, 11};

        for (int k = 0; k < 6; k++)
            v[OTHERS[k]].n = i >> k % 3 & 1 ? 2 : 1;
        made_plan_says(as_csv);
        for (int k = 0; k < 6; k++) {
            static const char *const NAMES[] = {",optimizer_bits",
                                                ",optimizer_in_backward",
                                                ",tp",
                                                ",pp",
                                                ",layers",
                                                ",hidden"};

            CHECK_INT(strstr(made_plan.text, NAMES[k]) != NULL, i >> k % 3 & 1);
        }
    }
    traced();
    v[6].v[0] = v[7].v[0] = v[10].v[0] = v[11].v[0] = 1;
    v[8].v[0] = v[9].v[0] = 2;
    made_plan.spec.unit = MSIM_SPEC_UNIT_SAMPLES;
    has(as_csv, FIRST ",offload,optimizer_bits,optimizer_in_backward,tp,pp,"
                      "layers,hidden,predicted_ms");
    has(as_csv, ",fits,samples_per_second,mfu");
}

int main(void)
{
    RUN(test_plan_json__whole);
    RUN(test_plan_json__described);
    RUN(test_plan_json__members);
    RUN(test_plan_json__nearest);
    RUN(test_plan_json__simulated);
    RUN(test_plan_json__part_names);
    RUN(test_plan_csv__described);
    RUN(test_plan_csv__traced);
    free(made_plan.text);
    return check_summary();
}
