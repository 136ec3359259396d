/*
 * tests/unit/plan/test_job_whatif.c - tests of plan/whatif/job_whatif.h.
 */
#include "plan/whatif/job_whatif.h"

#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

static char folder[] = P_tmpdir "/msim-whatif-XXXXXX";
static struct msim_error err;

static const char *at(const char *name)
{
    static char paths[8][96];
    static int turn;
    char *path = paths[turn++ % 8];

    snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(at(name), "w");

    REQUIRE(f);
    fputs(text, f);
    fclose(f);
}

#define MODEL                                                                  \
    "{\"name\": \"tiny\", \"layers\": 8, \"hidden\": 1024, \"heads\": 16, "    \
    "\"kv_heads\": 8, \"ffn\": 2048, \"vocab\": 8192, \"moe\": {\"experts\": " \
    "8, \"topk\": 2, \"ffn\": 512}}"

/* Scenarios are an array of lists of changes; named a, b, c. */
static enum msim_status ask_of(struct msim_job_whatif *w, const char *model,
                               const char *strategy, const char *const *changes,
                               const char *platform, const char *network)
{
    char text[4096] = "{\"scenarios\": [";
    size_t used = strlen(text);
    const struct msim_job_question q = {.scenarios.path = at("scenarios.json"),
                                        .model = model,
                                        .strategy = at("strategy.json"),
                                        .platform = platform,
                                        .network = network,
                                        .data_dir = MSIM_DATA};

    for (int i = 0; changes[i]; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used,
                                 "%s{\"name\": \"%c\", \"changes\": [%s]}",
                                 i ? ", " : "", 'a' + i, changes[i]);
    snprintf(text + used, sizeof(text) - used, "]}");
    put("scenarios.json", text);
    put("strategy.json", strategy);
    err = (struct msim_error){0};
    return msim_job_whatif_run(w, &q, &err);
}

static enum msim_status ask(struct msim_job_whatif *w, const char *strategy,
                            const char *const *changes, const char *platform,
                            const char *network)
{
    put("model.json", MODEL);
    return ask_of(w, at("model.json"), strategy, changes, platform, network);
}

#define N_PARTS (sizeof(struct msim_step_parts) / sizeof(double))

static const double *parts_of(const struct msim_job_scenario *r)
{
    return (const double *)&r->step.parts;
}

/* ---- factors ------------------------------------------------------------- */

#define REMOVE(what) "{\"remove\": {\"select\": \"" what "\"}}"
#define SCALE(what, by)                                                        \
    "{\"scale\": {\"select\": \"" what "\", \"factor\": " by "}}"
#define ALONE(a, b, c) REMOVE(a) ", " REMOVE(b) ", " REMOVE(c)

/* Where all else is removed, what is scaled scales every part of the step; and
 * the parts of what is left make the whole. */
static void check_factors(const char *strategy)
{
    static const char *const CHANGES[] = {
        ALONE("communication", "copies", "host"),
        ALONE("communication", "copies", "host") ", " SCALE("kernels", "3"),
        ALONE("kernels", "copies", "host"),
        ALONE("kernels", "copies", "host") ", " SCALE("communication", "3"),
        ALONE("kernels", "communication", "host"),
        ALONE("kernels", "communication", "host") ", " SCALE("copies", "3"),
        ALONE("kernels", "communication", "copies"),
        ALONE("kernels", "communication", "copies") ", " SCALE("host", "3"),
        ALONE("kernels", "communication", "copies") ", " REMOVE("host"),
        NULL};
    struct msim_job_whatif w;
    double rest;

    REQUIRE(ask(&w, strategy, CHANGES, "v100", NULL) == MSIM_OK);
    REQUIRE(w.n == 9);
    rest = w.rows[8].step.us; /* an update on the host is no kernel */
    for (uint32_t i = 0; i < 8; i += 2) {
        const struct msim_job_scenario *one = &w.rows[i],
                                       *three = &w.rows[i + 1];

        if (!(one->step.us > 0)) { /* nothing of that kind was there */
            CHECK(strstr(one->reason, "nothing of the step is left"));
            continue;
        }
        CHECK_STR(one->reason, "");
        CHECK_STR(three->reason, "");
        CHECK(one->step.us >= rest);
        CHECK_REL(three->step.us - rest, 3 * (one->step.us - rest), 1e-9);
        for (size_t k = 0; k < N_PARTS; k++)
            CHECK(fabs(parts_of(three)[k] - parts_of(&w.rows[8])[k] -
                       3 * (parts_of(one)[k] - parts_of(&w.rows[8])[k])) <=
                  1e-9 * three->step.us);
    }
    for (uint32_t i = 0; i < 9; i++) {
        double sum = 0;

        for (size_t k = 0; k < N_PARTS; k++)
            sum += parts_of(&w.rows[i])[k];
        CHECK(fabs(sum - w.rows[i].step.us) <= 1e-9 * w.rows[i].step.us);
    }
    CHECK(w.rows[0].step.parts.compute > 0 && w.rows[0].step.parts.tp == 0 &&
          w.rows[0].step.parts.host == 0);
    CHECK(w.rows[2].step.parts.tp > 0 && w.rows[2].step.parts.host == 0);
    CHECK(w.rows[6].step.parts.host > 0 && w.rows[6].step.parts.tp == 0);
    msim_job_whatif_release(&w);
    CHECK(!w.rows && w.n == 0);
}

#define SPLIT                                                                  \
    "\"gpus\": 32, \"tp\": 2, \"pp\": 2, \"cp\": 2, \"ep\": 2, "               \
    "\"micro_batch\": 1, \"global_batch\": 32, \"sequence\": 1024, "           \
    "\"precision\": \"amp_fp16\""

static void test_job_whatif__factors_are_of_all_terms(void)
{
    check_factors("{" SPLIT ", \"zero\": 0, \"recompute\": \"selective\"}");
    check_factors("{" SPLIT ", \"zero\": 1, \"offload\": \"activations\"}");
    check_factors("{" SPLIT ", \"zero\": 1, \"offload\": \"optimizer\"}");
    check_factors("{" SPLIT ", \"zero\": 3, \"framework\": \"nanotron\"}");
}

static void test_job_whatif__graphs_and_overlap(void)
{
    static const char *const CHANGES[] = {
        SCALE("host", "100"),
        SCALE("host", "100") ", {\"cuda_graph\": true}",
        "{\"overlap\": 0}",
        "{\"overlap\": 1}",
        "{\"cuda_graph\": true}, " REMOVE("host"),
        NULL};
    struct msim_job_whatif w;

    REQUIRE(ask(&w, "{" SPLIT ", \"zero\": 1, \"framework\": \"nanotron\"}",
                CHANGES, "v100", "ethernet-100") == MSIM_OK);
    CHECK(w.rows[0].step.parts.host > 0.5 * w.rows[0].step.us);
    /* What is fixed in a step is no launch inside a layer. */
    CHECK_REL(w.rows[1].step.parts.host, 0, 0);
    CHECK_REL(w.rows[1].step.parts.optimizer, w.rows[0].step.parts.optimizer,
              1e-12);
    CHECK(w.rows[1].step.parts.optimizer > 2 * w.rows[4].step.parts.optimizer);
    CHECK(w.rows[2].step.parts.gradients > w.base.step.parts.gradients);
    CHECK(w.rows[3].step.parts.gradients < w.base.step.parts.gradients);
    CHECK(w.rows[3].step.parts.gradients > 0);
    msim_job_whatif_release(&w);
}

/* ---- machines ------------------------------------------------------------ */

static void test_job_whatif__joins_platforms_and_networks(void)
{
    static const char *const CHANGES[] = {"{\"gpu\": \"v100\"}",
                                          "{\"network\": \"ethernet-100\"}",
                                          "{\"gpu\": \"v100\"}, {\"network\": "
                                          "\"ethernet-100\"}",
                                          "{\"gpu\": \"p100\"}",
                                          "{\"gpu\": \"none\"}",
                                          "{\"network\": \"none\"}",
                                          "",
                                          "{\"gpu\": \"p100\"}, {\"network\": "
                                          "\"ethernet-100\"}",
                                          NULL};
    struct msim_job_whatif own, slow;

    REQUIRE(ask(&own, "{" SPLIT "}", CHANGES, "v100", NULL) == MSIM_OK);
    REQUIRE(ask(&slow, "{" SPLIT "}", CHANGES, "v100", "ethernet-100") ==
            MSIM_OK);
    CHECK(slow.base.step.parts.gradients > 2 * own.base.step.parts.gradients);
    CHECK(slow.base.step.us > own.base.step.us);
    /* The network that was asked for is that of another GPU, too. */
    CHECK_REL(own.rows[0].step.us, own.base.step.us, 1e-12);
    CHECK_REL(slow.rows[0].step.us, slow.base.step.us, 1e-12);
    CHECK(slow.rows[3].step.us > own.rows[3].step.us);
    CHECK_REL(own.rows[7].step.us, slow.rows[3].step.us, 1e-12);
    CHECK_REL(slow.rows[7].step.us, slow.rows[3].step.us, 1e-12);
    CHECK_REL(own.rows[1].step.us, slow.base.step.us, 1e-12);
    CHECK_REL(slow.rows[1].step.us, slow.base.step.us, 1e-12);
    CHECK_REL(own.rows[2].step.us, slow.base.step.us, 1e-12);
    CHECK_REL(slow.rows[2].step.us, slow.base.step.us, 1e-12);
    CHECK_REL(slow.rows[6].step.us, slow.base.step.us, 1e-12);
    CHECK(own.rows[3].step.us > own.base.step.us);
    CHECK(own.rows[3].capacity != own.base.capacity);
    CHECK_STR(own.rows[3].reason, "");
    CHECK(strstr(own.rows[4].reason, "unknown platform 'none'"));
    CHECK(strstr(own.rows[5].reason, "unknown network 'none'"));
    CHECK_UINT(own.marked.answers, 7);
    msim_job_whatif_release(&own);
    msim_job_whatif_release(&slow);
    CHECK(ask(&own, "{" SPLIT "}", CHANGES, "none", NULL) == MSIM_EUSAGE);
    CHECK(strstr(err.text, "unknown platform 'none'"));
    msim_job_whatif_release(&own);
}

/* What another network does not carry cancels in the ratio: on one node that
 * is all of the step, whatever the network is called. */
static void test_job_whatif__networks_move_what_they_carry(void)
{
    static const char *const CHANGES[] = {
        "{\"network\": \"ethernet-100\"}",
        "{\"network\": \"ethernet-100\"}, {\"gpu\": \"a100\"}", NULL};
    struct msim_job_whatif one, four;

    REQUIRE(ask(&one, "{\"gpus\": 8, \"zero\": 1}", CHANGES, "h100", NULL) ==
            MSIM_OK);
    CHECK_REL(one.rows[0].ratio, 1, 1e-12);
    CHECK_REL(one.rows[0].ratio_low, 1, 1e-12);
    CHECK_REL(one.rows[0].ratio_high, 1, 1e-12);
    CHECK(one.rows[1].ratio_high > 1.01 * one.rows[1].ratio);
    REQUIRE(ask(&four, "{\"gpus\": 32, \"zero\": 3}", CHANGES, "h100", NULL) ==
            MSIM_OK);
    CHECK(four.rows[0].ratio > 1.01);
    CHECK(four.rows[0].ratio_high > 1.01 * four.rows[0].ratio);
    CHECK(four.rows[0].ratio_low < 0.99 * four.rows[0].ratio);
    msim_job_whatif_release(&one);
    msim_job_whatif_release(&four);
}

/* Names that are next to each other are two. */
static void test_job_whatif__tells_names_apart(void)
{
    static const char *const CHANGES[] = {
        "{\"gpu\": \"rtx-3080\"}, {\"network\": \"slingshot-200\"}",
        "{\"network\": \"roce-100\"}", NULL};
    struct msim_job_whatif w;

    REQUIRE(ask(&w, "{" SPLIT "}", CHANGES, "rtx-3090", "slingshot-200") ==
            MSIM_OK);
    CHECK(w.rows[0].capacity < 0.7 * w.base.capacity);
    CHECK(fabs(w.rows[1].ratio - 1) > 1e-6);
    msim_job_whatif_release(&w);
}

/* Nodes that the base states have as many GPUs in all scenarios of its GPU. */
static void test_job_whatif__keeps_nodes(void)
{
    static const char *const CHANGES[] = {
        "{\"world\": 64}", "{\"world\": 64}, {\"gpu\": \"p100\"}", NULL};
    struct msim_job_whatif w;

    REQUIRE(ask(&w, "{" SPLIT ", \"nodes\": 16}", CHANGES, "v100", NULL) ==
            MSIM_OK);
    CHECK_INT(w.base.strategy.gpus_a_node, 2);
    CHECK_INT(w.rows[0].strategy.gpus_a_node, 2);
    CHECK_INT(w.rows[0].strategy.nodes, 32);
    CHECK_INT(w.rows[1].strategy.gpus_a_node, 8);
    CHECK_INT(w.rows[1].strategy.nodes, 8);
    msim_job_whatif_release(&w);
    REQUIRE(ask(&w, "{" SPLIT "}", CHANGES, "v100", NULL) == MSIM_OK);
    CHECK_INT(w.base.strategy.gpus_a_node, 8);
    CHECK_INT(w.base.strategy.nodes, 4);
    CHECK_INT(w.rows[0].strategy.nodes, 8);
    msim_job_whatif_release(&w);
    REQUIRE(ask(&w, "{\"gpus\": 32, \"nodes\": 16}", CHANGES, "v100", NULL) ==
            MSIM_OK);
    CHECK_INT(w.base.strategy.gpus_a_node, 2);
    CHECK_INT(w.rows[0].strategy.nodes, 32);
    msim_job_whatif_release(&w);
}

/* ---- the ratio ----------------------------------------------------------- */

enum kinship { SCALED, SAME_KERNELS, OTHER_NETWORK, OTHER_KERNELS };

/* The variance of ln ratio as the header has it. */
static double variance(const double *b, double b_us, const double *s,
                       double s_us, enum kinship kinship)
{
    double sum = 0, own = 0;

    for (size_t i = 0; i < N_PARTS; i++) {
        double v = b[i] / b_us, w = s[i] / s_us;
        double common = fmin(b[i], s[i]);
        double more = w - common / s_us, less = v - common / b_us;
        double moved = common / s_us - common / b_us + (more - less) / sqrt(2);

        own += (w * w + v * v) / 2;
        if (kinship == SCALED ||
            (kinship == OTHER_NETWORK && fabs(b[i] - s[i]) <= 1e-9 * b[i]))
            sum += pow(w - v, 2);
        else if (kinship == SAME_KERNELS)
            sum += moved * moved + pow(more + less, 2) / 2;
        else
            sum += (pow(w - v, 2) + w * w + v * v) / 2;
    }
    return sum / own;
}

static void check_ratio(const struct msim_job_scenario *base,
                        const struct msim_job_scenario *r, enum kinship kinship)
{
    const struct msim_step_estimate *b = &base->step, *s = &r->step;
    double half =
        variance(parts_of(base), b->us, parts_of(r), s->us, kinship) / 2;
    double down =
        sqrt(half) * hypot(log(s->us / s->low_us), log(b->high_us / b->us));
    double up =
        sqrt(half) * hypot(log(s->high_us / s->us), log(b->us / b->low_us));
    double over = s->correction / b->correction, without = r->ratio / over;

    CHECK_STR(r->reason, "");
    CHECK_REL(r->ratio, s->us / b->us, 1e-12);
    if (fabs(log(over)) < 0.05) /* corrected alike */
        without = r->ratio;
    CHECK((without != r->ratio) == (r->marks == MSIM_GUARD_BIT(EVIDENCE)));
    CHECK_REL(r->ratio_low, fmin(r->ratio / exp(down), without), 1e-9);
    CHECK_REL(r->ratio_high, fmax(r->ratio * exp(up), without), 1e-9);
}

static void test_job_whatif__ratio_is_surer_than_times(void)
{
    static const struct {
        const char *changes;
        enum kinship kinship;
    } CASES[] = {{"", SCALED},
                 {SCALE("kernels", "2"), SCALED},
                 {SCALE("communication", "0.5"), SCALED},
                 {"{\"overlap\": 0.1}", SCALED},
                 {"{\"recompute\": \"full\"}", SAME_KERNELS},
                 {"{\"accumulate\": 8}", SAME_KERNELS},
                 {"{\"shard\": \"fsdp\"}", SAME_KERNELS},
                 {"{\"parallel\": {\"pp\": 4}}", SAME_KERNELS},
                 {"{\"gpu\": \"p100\"}, {\"dtype\": \"fp32\"}", OTHER_KERNELS},
                 {"{\"gpu\": \"v100\"}", SCALED}, /* the base's own */
                 {"{\"network\": \"ethernet-100\"}", OTHER_NETWORK},
                 {"{\"dtype\": \"fp32\"}", OTHER_KERNELS},
                 {"{\"batch\": {\"micro\": 2}}", OTHER_KERNELS},
                 {"{\"sequence\": 512}", OTHER_KERNELS},
                 {"{\"parallel\": {\"tp\": 4}}", OTHER_KERNELS},
                 {"{\"parallel\": {\"cp\": 1}}", OTHER_KERNELS},
                 {"{\"parallel\": {\"ep\": 4}}", OTHER_KERNELS}};
    enum { N = sizeof(CASES) / sizeof(CASES[0]) };
    const char *changes[N + 1] = {NULL};
    struct msim_job_whatif w;

    for (int i = 0; i < N; i++)
        changes[i] = CASES[i].changes;
    REQUIRE(ask(&w, "{" SPLIT ", \"zero\": 1}", changes, "v100", NULL) ==
            MSIM_OK);
    CHECK_REL(w.base.ratio, 1, 0);
    CHECK_REL(w.base.ratio_low, 1, 0);
    CHECK_REL(w.base.ratio_high, 1, 0);
    for (int i = 0; i < N; i++) {
        const struct msim_job_scenario *r = &w.rows[i];

        check_ratio(&w.base, r, CASES[i].kinship);
        CHECK(r->name[0] == 'a' + i);
        CHECK_REL(r->tokens_per_second,
                  (double)(r->strategy.global_batch * r->strategy.sequence) /
                      r->step.us * 1e6,
                  1e-12);
        CHECK_UINT(r->marks, 0);
    }
    CHECK_UINT(w.marked.answers, N + 1);
    CHECK_UINT(w.marked.marked, 0);
    msim_job_whatif_release(&w);
}

/* Measured jobs correct the base and a scenario, and not alike. */
static void test_job_whatif__ratio_holds_corrections(void)
{
    static const char *const CHANGES[] = {"{\"parallel\": {\"tp\": 1}}",
                                          "{\"sequence\": 8192}", NULL};
    struct msim_job_whatif w;

    REQUIRE(ask_of(&w, "llama3-8b",
                   "{\"gpus\": 64, \"tp\": 8, \"zero\": 1, \"micro_batch\": "
                   "1, \"global_batch\": 128, \"sequence\": 4096}",
                   CHANGES, "h100", NULL) == MSIM_OK);
    CHECK(fabs(log(w.base.step.correction)) > 1e-3);
    CHECK(fabs(log(w.rows[0].step.correction)) > 1e-3);
    CHECK_UINT(w.rows[0].marks, MSIM_GUARD_BIT(EVIDENCE));
    check_ratio(&w.base, &w.rows[0], OTHER_KERNELS);
    check_ratio(&w.base, &w.rows[1], OTHER_KERNELS);
    CHECK_UINT(w.marked.by[MSIM_GUARD_EVIDENCE], 1);
    msim_job_whatif_release(&w);
}

/* ---- what cannot be ------------------------------------------------------ */

/* Copies that nothing hides make full recomputation the shorter one: it keeps
 * less. Another machine's and other factors' are not held against it. */
static void test_job_whatif__marks_contradictions(void)
{
    static const char *const CHANGES[] = {
        "{\"recompute\": \"full\"}",
        "{\"recompute\": \"full\"}, {\"network\": \"ethernet-100\"}",
        "{\"recompute\": \"full\"}, {\"gpu\": \"h200\"}",
        "{\"recompute\": \"full\"}, {\"overlap\": 0.5}",
        "{\"recompute\": \"full\"}, {\"cuda_graph\": true}",
        "{\"parallel\": {\"tp\": 5}}",
        "{\"recompute\": \"selective\"}",
        NULL};
    struct msim_job_whatif w;

    REQUIRE(ask_of(&w, "llama3-8b",
                   "{\"gpus\": 8, \"offload\": \"activations\", "
                   "\"micro_batch\": 2, \"global_batch\": 64, \"sequence\": "
                   "4096}",
                   CHANGES, "h100", NULL) == MSIM_OK);
    for (uint32_t i = 0; i < w.n; i++)
        CHECK_UINT(w.rows[i].marks & MSIM_GUARD_BIT(RECOMPUTE),
                   i == 0 || i == 6 ? MSIM_GUARD_BIT(RECOMPUTE) : 0);
    CHECK_UINT(w.base.marks, 0);
    CHECK_UINT(w.marked.answers, 7);
    CHECK_UINT(w.marked.by[MSIM_GUARD_RECOMPUTE], 2);
    msim_job_whatif_release(&w);
}

static void test_job_whatif__says_what_it_cannot(void)
{
    static const char *const NONE[] = {"", NULL};
    static const char *const CHANGES[] = {
        "{\"parallel\": {\"tp\": 3}}", "{\"clock\": 1}",
        "{\"clock\": 1}, {\"gpu\": \"none\"}", NULL};
    struct msim_job_question q = {
        .model = "dlrm-mlperf", .platform = "v100", .data_dir = MSIM_DATA};
    struct msim_job_whatif w;

    REQUIRE(ask(&w, "{" SPLIT "}", CHANGES, "v100", NULL) == MSIM_OK);
    CHECK(strstr(w.rows[0].reason, "tp"));
    CHECK(strstr(w.rows[1].reason, "clock changes a traced job"));
    CHECK(strstr(w.rows[2].reason, "clock changes a traced job"));
    CHECK_UINT(w.marked.answers, 1);
    msim_job_whatif_release(&w);
    CHECK(ask(&w, "{\"gpus\": 8, \"tp\": 3}", NONE, "v100", NULL) ==
          MSIM_EUSAGE);
    CHECK(strstr(err.text, "gpus 8 cannot be split by tp x pp x cp 3"));
    msim_job_whatif_release(&w);
    CHECK(ask(&w, "{\"gpus\": 0}", NONE, "v100", NULL) == MSIM_EFORMAT);
    msim_job_whatif_release(&w);
    err = (struct msim_error){0};
    CHECK(msim_job_whatif_run(&w, &q, &err) == MSIM_EUSAGE);
    CHECK_STR(err.text, "a dlrm has no predicted step; want a transformer");
    msim_job_whatif_release(&w);
    /* Without a strategy it is one GPU. */
    q.model = at("model.json");
    q.scenarios.path = at("scenarios.json");
    REQUIRE(msim_job_whatif_run(&w, &q, &err) == MSIM_OK);
    CHECK_INT(w.base.strategy.gpus, 1);
    CHECK_UINT(w.given, 1ULL << MSIM_GIVEN_gpus);
    CHECK(strncmp(w.assumed, "tp=1 pp=1", 9) == 0);
    CHECK_STR(w.platform, "v100");
    CHECK_STR(w.base.name, "base");
    CHECK_STR(w.model.name, "tiny");
    msim_job_whatif_release(&w);
}

int main(void)
{
    static const char *const FILES[] = {"scenarios.json", "model.json",
                                        "strategy.json"};

    if (!mkdtemp(folder))
        return 1;
    RUN(test_job_whatif__factors_are_of_all_terms);
    RUN(test_job_whatif__graphs_and_overlap);
    RUN(test_job_whatif__joins_platforms_and_networks);
    RUN(test_job_whatif__networks_move_what_they_carry);
    RUN(test_job_whatif__tells_names_apart);
    RUN(test_job_whatif__keeps_nodes);
    RUN(test_job_whatif__ratio_is_surer_than_times);
    RUN(test_job_whatif__ratio_holds_corrections);
    RUN(test_job_whatif__marks_contradictions);
    RUN(test_job_whatif__says_what_it_cannot);
    for (int i = 0; i < 3; i++)
        CHECK(unlink(at(FILES[i])) == 0);
    CHECK(rmdir(folder) == 0);
    return check_summary();
}
