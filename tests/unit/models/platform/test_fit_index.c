/*
 * Which fit is picked on made-up GPUs, by its variance: its own, that of a GPU
 * of the same generation with its trees, that of a partner, that of another
 * generation, or a shared law; and which figures a data sheet inherits.
 */
#include "models/estimate/model.h"
#include "models/platform/fit.h"
#include "models/platform/platform.h"
#include "models/platform/platform_data.h"
#include "tests/check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void write_text(const char *name, const char *text)
{
    char path[160];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "w");
    if (!f)
        return;
    fputs(text, f);
    fclose(f);
}

/* Additions of `framework`: start `t0`, and trees that add `tree` everywhere,
 * in ten-thousandths of the logarithm. */
#define FIT(framework, key, t0, tree) WIDE(framework, key, t0, tree, "0.1")
#define WIDE(framework, key, t0, tree, half)                                   \
    "{\"law\":\"vector\",\"framework\":\"" framework "\",\"key\":\"" key       \
    "\",\"table_gpu\":\"T\",\"rows\":100,\"error_held_back\":0.02,"            \
    "\"constants\":{\"t0\":" t0 ",\"bandwidth_efficiency\":1,"                 \
    "\"cache_speedup\":1,\"cache_share\":0.02,\"row\":0.1,\"norm\":1},"        \
    "\"interval\":[{\"low\":-" half ",\"high\":" half "}],"                    \
    "\"forest\":{\"low\":-1,\"high\":1,\"cuts\":\"\",\"splits\":\"0\","        \
    "\"leaves\":\"" tree "\"}}"
#define SHEET(floor)                                                           \
    "\"data_sheet\":{\"fp32_flops\":1e13,\"sms\":100,\"memory_bytes\":1e10,"   \
    "\"l2_bytes\":1e6,\"memory_bandwidth\":1e12" floor "}"
#define FLOOR                                                                  \
    ",\"kernel_floor_us\":3,\"pcie_bandwidth\":1e10,"                          \
    "\"pageable_bandwidth\":5e9,\"link_bandwidth\":1e11,"                      \
    "\"network_bandwidth\":2e10,\"trace_factor\":1.25,\"links\":"              \
    "{\"interconnect\":\"wire\"}"

/* `old` has all stacks; `sibling`, of the generation of `new`, has one; `new`
 * has one of its own for another key. */
static bool make_folder(void)
{
    char path[160];

    snprintf(folder, sizeof(folder), "msim-test-pick-XXXXXX");
    if (!mkdtemp(folder))
        return false;
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, i ? "laws" : "platforms");
        if (mkdir(path, 0700) != 0)
            return false;
    }
    write_text("platforms/old.json",
               "{\"name\":\"old\",\"generation\":\"1\",\"stand_ins\":[],"
               "\"cells\":[" FIT("X", "add", "4", "700") "," FIT(
                   "Y", "add", "5", "700") "]," SHEET(FLOOR) "}");
    write_text("platforms/sibling.json",
               "{\"name\":\"sibling\",\"generation\":\"2\",\"stand_ins\":[],"
               "\"cells\":[" FIT("X", "add", "6", "700") "]," SHEET(FLOOR) "}");
    write_text("platforms/new.json",
               "{\"name\":\"new\",\"generation\":\"2\","
               "\"cells\":[" FIT("X", "mul", "7", "700") "]," SHEET("") "}");
    write_text("platforms/alone.json",
               "{\"name\":\"alone\",\"generation\":\"3\","
               "\"stand_ins\":[\"old\"]," SHEET("") "}");
    write_text("laws/common.json",
               "{\"spreads\":{\"vector\":{\"generation\":0.05,\"other\":0.25,"
               "\"generation_error\":0.04}},"
               "\"cells\":[" WIDE("Z", "add", "8", "0", "0.3") "]}");
    return true;
}

static void remove_folder(void)
{
    static const char *const NAMES[] = {"platforms/old.json",
                                        "platforms/sibling.json",
                                        "platforms/new.json",
                                        "platforms/alone.json",
                                        "laws/common.json",
                                        "platforms",
                                        "laws",
                                        "."};
    char path[160];

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, NAMES[i]);
        if (remove(path) != 0)
            (void)rmdir(folder);
    }
}

static struct msim_platform *load(const char *name)
{
    struct msim_platform *p = NULL;
    struct msim_error err = {0};

    CHECK_INT(msim_platform_load(&p, folder, name, &err), MSIM_OK);
    return p;
}

static const char *const PREFER[] = {NULL};

static bool pick(const struct msim_platform *p, const char *framework,
                 const char *key, const char *other, struct msim_pick *out)
{
    const char *const keys[] = {key, other, NULL};

    return msim_fit_pick(p, &MSIM_LAW_VECTOR, framework, PREFER, keys, out);
}

static void test_pick__prefers_less_variance(void)
{
    struct msim_platform *p = load("new");
    struct msim_pick c;

    REQUIRE(p != NULL);
    /* its own: no variance */
    REQUIRE(pick(p, "X", "mul", NULL, &c));
    CHECK(c.platform == p);
    CHECK(c.trees && !c.bare && !c.other_framework && !c.other_key);
    CHECK_REL(c.variance, 0, 0);
    /* the sibling's, with trees, before its own of another key: 0.05, 0.2 */
    REQUIRE(pick(p, "X", "add", "mul", &c));
    CHECK_STR(c.platform->name, "sibling");
    CHECK(c.trees);
    CHECK_REL(c.variance, 0.05 * 0.05, 1e-12);
    /* the shared law of the wanted stack before the sibling's fit of another
     * stack, which counts twice there: (0.3 / 1.645)^2, 0.05^2 + (2 * 0.1)^2;
     * nothing is added, since the interval of a shared law has it already */
    REQUIRE(pick(p, "Z", "add", NULL, &c));
    CHECK(c.platform == NULL);
    CHECK(!c.trees);
    CHECK_REL(c.variance, 0, 0);
    CHECK(!pick(p, "X", "sub", NULL, &c));
    msim_platform_free(p);
}

/* An answer that is kept is that of its own question: another stack, key or
 * order of keys is another one, and so is one after the index is made again. */
static void test_pick__keeps_answers(void)
{
    struct msim_platform *p = load("new");
    char longest[400];
    struct msim_pick first, c;
    uint32_t n;

    REQUIRE(p != NULL);
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    REQUIRE(pick(p, "X", "mul", "add", &first));
    for (int again = 0; again < 2; again++) {
        REQUIRE(pick(p, "X", "mul", "add", &c));
        CHECK(c.fit == first.fit && c.platform == p && !c.other_key);
        REQUIRE(pick(p, "X", "add", "mul", &c));
        CHECK_STR(c.platform->name, "sibling");
        REQUIRE(pick(p, "Z", "add", NULL, &c));
        CHECK(c.platform == NULL);
        CHECK(!pick(p, "X", "sub", NULL, &c));
        REQUIRE(pick(p, longest, "mul", NULL, &c));
        CHECK(c.platform == p && c.other_framework);
        CHECK(!pick(p, "X", longest, NULL, &c));
    }
    n = p->n_fits;
    p->n_fits = 0;
    REQUIRE(msim_fit_index_make(p, NULL) == MSIM_OK);
    CHECK(!pick(p, "X", "mul", "add", &c) || c.platform != p);
    p->n_fits = n;
    msim_platform_free(p);
}

static void test_pick__other_generation(void)
{
    struct msim_platform *p = load("alone");
    struct msim_pick c;

    REQUIRE(p != NULL);
    REQUIRE(pick(p, "Y", "add", NULL, &c));
    CHECK_STR(c.platform->name, "old");
    CHECK(!c.trees);
    CHECK_REL(c.variance, 0.25 * 0.25, 1e-12);
    /* no stack: any stack's fit, with 0.1 for the unknown library; the shared
     * law has a lower variance than another generation's fit */
    REQUIRE(pick(p, NULL, "add", NULL, &c));
    CHECK(c.platform == NULL);
    CHECK(c.bare && !c.other_framework);
    CHECK_REL(c.variance, 0.1 * 0.1, 1e-12);
    msim_platform_free(p);
}

/* Both sides use one fit, so that its error is in both. */
static void test_pick__partner(void)
{
    struct msim_platform *a = load("alone");
    struct msim_platform *b = load("sibling");
    struct msim_pick c;

    REQUIRE(a && b);
    REQUIRE(msim_platform_pair(a, b) == MSIM_OK);
    REQUIRE(pick(a, "X", "add", NULL, &c));
    CHECK(c.platform == b);
    CHECK(c.trees);
    CHECK_REL(c.variance, 0.25 * 0.25, 1e-12);
    REQUIRE(pick(b, "X", "add", NULL, &c));
    CHECK(c.platform == b);
    CHECK_REL(c.variance, 0, 0);
    msim_platform_free(a);
    msim_platform_free(b);
}

/* 1e9 bytes at 1e12 bytes/s are 1000 us, of which a thousandth hits the cache
 * at the same speed; the sibling's trees add 7 %, those of another generation
 * nothing. */
static void test_pick__carries_trees_within_a_generation(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_POINTWISE,
                          .dtype = MSIM_DT_F32,
                          .framework = "X",
                          .variant = "add",
                          .bytes_read = 1e9,
                          .kernels = 1,
                          .u.vector = {.elems = 1, .rows = 1, .cols = 1}};
    struct msim_platform *shared = load("new");
    struct msim_platform *other = load("alone");
    struct msim_estimate e;

    REQUIRE(shared && other);
    CHECK(msim_model_predict(shared, &w, false, &e, NULL) == MSIM_OK);
    CHECK_REL(e.us, 1006 * exp(0.07), 1e-6);
    /* hypot(0.1, 1.645 * 0.05) either way */
    CHECK_REL(log(e.high_us / e.us), hypot(0.1, 1.645 * 0.05), 1e-6);
    CHECK(msim_model_predict(other, &w, false, &e, NULL) == MSIM_OK);
    CHECK_REL(e.us, 1004, 1e-6);
    msim_platform_free(shared);
    msim_platform_free(other);
}

/* GPUs of one generation share figures that hardly differ. */
static void test_pick__inherits_figures(void)
{
    struct msim_platform *p = load("new");

    REQUIRE(p != NULL);
    REQUIRE(p->next != NULL);
    CHECK_STR(p->next->name, "sibling");
    CHECK(p->next->next == NULL);
    CHECK_REL(p->sheet.floor_us, 3, 0);
    CHECK_REL(p->sheet.network, 2e10, 0);
    CHECK_REL(p->sheet.trace_factor, 1.25, 0);
    CHECK_STR(p->sheet.interconnect, "wire");
    msim_platform_free(p);
    p = load("alone");
    REQUIRE(p != NULL);
    CHECK_REL(p->sheet.floor_us, 3, 0);
    msim_platform_free(p);
}

static void test_pick__lists_what_is_inherited(void)
{
    struct msim_platform *p = load("new");
    struct msim_pick c;
    uint32_t at = 0, inherited = 0, shared = 0;

    REQUIRE(p != NULL);
    while (msim_fit_index_inherited(p, &at, &c)) {
        inherited += c.platform != NULL;
        shared += c.platform == NULL;
        if (c.platform)
            CHECK_REL(msim_pick_held_out_error(p, &c), 0.04, 0);
        else
            CHECK_REL(msim_pick_held_out_error(p, &c), 0.02, 0);
    }
    CHECK_UINT(inherited, 1);
    CHECK_UINT(shared, 1);
    msim_platform_free(p);
}

int main(void)
{
    if (!make_folder()) {
        fprintf(stderr, "no folder for made-up platforms\n");
        return 1;
    }
    RUN(test_pick__prefers_less_variance);
    RUN(test_pick__keeps_answers);
    RUN(test_pick__other_generation);
    RUN(test_pick__partner);
    RUN(test_pick__carries_trees_within_a_generation);
    RUN(test_pick__inherits_figures);
    RUN(test_pick__lists_what_is_inherited);
    remove_folder();
    return check_summary();
}
