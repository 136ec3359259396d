/*
 * models/estimate/collective.c: what rows of collectives answer, what is taken
 * without any, and what more nodes cost.
 */
#include "models/estimate/model.h"
#include "models/law/law.h"
#include "models/platform/platform.h"
#include "models/platform/platform_data.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

extern const struct msim_model MSIM_MODEL_COLLECTIVE;
extern const struct msim_law MSIM_LAW_COLLECTIVE;

static struct msim_platform *load(const char *name)
{
    struct msim_platform *p = NULL;

    CHECK_INT(msim_platform_load(&p, MSIM_DATA, name, NULL), MSIM_OK);
    if (!p)
        abort();
    return p;
}

/* 64 MiB. */
static struct msim_work coll(enum msim_collective what, uint32_t ranks,
                             uint32_t nodes)
{
    struct msim_work w = {
        .family = MSIM_FAMILY_COLLECTIVE, .dtype = MSIM_DT_F16, .variant = ""};

    w.u.coll.collective = what;
    w.u.coll.bytes = 64 << 20;
    w.u.coll.ranks = ranks;
    w.u.coll.nodes = nodes;
    return w;
}

static struct msim_estimate predict(const struct msim_platform *p,
                                    const struct msim_work *w)
{
    struct msim_estimate e = {0};

    CHECK_INT(MSIM_MODEL_COLLECTIVE.predict(p, w, &e), MSIM_OK);
    CHECK_INT(e.family, MSIM_FAMILY_COLLECTIVE);
    return e;
}

/* By the constants that fits start from. */
static double typical_us(const struct msim_platform *p,
                         const struct msim_work *w)
{
    double params[MSIM_TRANSFER_PARAMS];

    for (size_t i = 0; i < MSIM_TRANSFER_PARAMS; i++)
        params[i] = MSIM_TRANSFER[i].start;
    return MSIM_LAW_COLLECTIVE.time_us(&p->sheet, w, params);
}

static char *explained(const struct msim_platform *p, const struct msim_work *w)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    MSIM_MODEL_COLLECTIVE.explain(p, w, out);
    fclose(out);
    return text;
}

static bool explains(const struct msim_platform *p, const struct msim_work *w,
                     const char *want)
{
    char *text = explained(p, w);
    bool found = strstr(text, want) != NULL;

    free(text);
    return found;
}

static void test_collective__covers_what_moves(void)
{
    struct msim_work w;

    for (int c = MSIM_COLL_UNKNOWN; c <= MSIM_COLL_WAIT; c++) {
        w = coll((enum msim_collective)c, 2, 1);
        CHECK_INT(MSIM_MODEL_COLLECTIVE.covers(NULL, &w),
                  c != MSIM_COLL_UNKNOWN && c != MSIM_COLL_WAIT);
    }
    w = coll(MSIM_COLL_ALL_REDUCE, 2, 1);
    w.family = MSIM_FAMILY_DISPATCH;
    CHECK(!MSIM_MODEL_COLLECTIVE.covers(NULL, &w));
}

/* Without rows the law with typical constants; how wide depends on the link:
 * half a logarithm of a link that two GPUs have, 0.8 where more share PCIe, 1.6
 * where nothing says what it is. */
static void test_collective__without_rows(void)
{
    static const struct {
        uint32_t ranks;
        bool no_link;
        double sd;
        enum msim_source source;
    } CASE[] = {{2, false, 0.5, MSIM_SOURCE_LAW},
                {3, false, 0.8, MSIM_SOURCE_LAW},
                {2, true, 1.6, MSIM_SOURCE_NOT_RUN},
                {8, true, 1.6, MSIM_SOURCE_NOT_RUN}};
    struct msim_platform *p = load("m40");

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        struct msim_work w = coll(MSIM_COLL_ALL_REDUCE, CASE[i].ranks, 1);
        struct msim_estimate e;

        p->sheet.no_link = CASE[i].no_link;
        e = predict(p, &w);
        CHECK_REL(e.us, typical_us(p, &w), 1e-12);
        CHECK_REL(e.low_us, e.us * exp(-1.645 * CASE[i].sd), 1e-9);
        CHECK_REL(e.high_us, e.us * exp(1.645 * CASE[i].sd), 1e-9);
        CHECK_INT(e.source, CASE[i].source);
        CHECK_INT(explains(p, &w, " (links inside a node are not known)"),
                  CASE[i].no_link);
        CHECK(explains(p, &w,
                       "rows: none for this link; typical constants on "
                       "the data sheet's 12 GB/s"));
    }
    msim_platform_free(p);
}

/* Clusters take exp(0.55) of that over the network where a rank's part is at
 * most 1 MiB, that from 64 MiB on, and half of exp(0.55) in between; from
 * exp(-0.7) to exp(1.35) of what is predicted. More bytes never take less. */
static void test_collective__over_a_network(void)
{
    static const struct {
        uint64_t part;
        double middle;
    } CASES[] = {{1 << 10, 0.55},
                 {1 << 20, 0.55},
                 {1 << 23, 0.275},
                 {1 << 26, 0.0},
                 {1 << 28, 0.0}};
    struct msim_platform *p = load("m40");
    struct msim_work w = coll(MSIM_COLL_ALL_REDUCE, 4, 2);
    struct msim_estimate e = predict(p, &w);
    double before = 0;

    CHECK_REL(e.low_us, e.us * exp(-0.7), 1e-9);
    CHECK_REL(e.high_us, e.us * exp(1.35), 1e-9);
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        w.u.coll.bytes = 4 * CASES[i].part;
        CHECK_REL(predict(p, &w).us, typical_us(p, &w) * exp(CASES[i].middle),
                  1e-12);
        CHECK_REL(msim_collective_shortfall(p, &w), exp(CASES[i].middle),
                  1e-12);
    }
    w.u.coll.collective = MSIM_COLL_ALL_TO_ALL; /* single ranks' messages */
    CHECK_REL(msim_collective_shortfall(p, &w), exp(0.55), 1e-12);
    w.u.coll.collective = MSIM_COLL_ALL_REDUCE;
    for (w.u.coll.bytes = 1 << 10; w.u.coll.bytes <= 1u << 30;
         w.u.coll.bytes += w.u.coll.bytes / 8) {
        e = predict(p, &w);
        CHECK(e.us >= before);
        before = e.us;
    }
    w = coll(MSIM_COLL_ALL_REDUCE, 4, 2);
    CHECK(explains(p, &w, "typical constants on the data sheet's 12.5 GB/s"));
    CHECK(!explains(p, &w, "raised"));
    msim_platform_free(p);
}

/* A message is the sender's, whichever end asks. */
static void test_collective__has_one_end(void)
{
    struct msim_platform *p = load("a100");
    struct msim_work send = coll(MSIM_COLL_SEND, 2, 1);
    struct msim_work recv = coll(MSIM_COLL_RECV, 2, 1);
    char *text = explained(p, &send), *other = explained(p, &recv);

    CHECK_REL(predict(p, &recv).us, predict(p, &send).us, 0);
    CHECK_STR(other, text);
    free(text);
    free(other);
    msim_platform_free(p);
}

/* ---- more nodes ---------------------------------------------------------- */

/*
 * An H100's network and an L40S's links inside a node, which are slower. Over
 * more nodes a group takes no less than as many a node over fewer, and than all
 * of it where eight a node are enough: 24 on three nodes as 8 on one, 8 on two
 * and on four as 8 on one. A message is not compared, nor one rank a node,
 * which uses none of those links.
 */
static void test_collective__costs_no_less_over_more_nodes(void)
{
    static const struct {
        enum msim_collective what;
        uint32_t ranks, nodes, as; /* ranks on one node; 0: it is longer */
    } CASE[] = {
        {MSIM_COLL_ALL_REDUCE, 24, 3, 8}, {MSIM_COLL_ALL_REDUCE, 8, 2, 8},
        {MSIM_COLL_ALL_REDUCE, 8, 4, 8},  {MSIM_COLL_ALL_REDUCE, 32, 4, 8},
        {MSIM_COLL_ALL_REDUCE, 9, 3, 3},  {MSIM_COLL_ALL_REDUCE, 8, 8, 0},
        {MSIM_COLL_SEND, 2, 2, 0}};
    struct msim_platform *p = load("h100"), *slow = load("l40s");

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        struct msim_work w = coll(CASE[i].what, CASE[i].ranks, CASE[i].nodes);
        struct msim_work one = coll(CASE[i].what, CASE[i].as, 1);
        struct msim_estimate own, e, fewer;

        p->links = NULL;
        own = predict(p, &w);
        p->links = slow;
        e = predict(p, &w);
        fewer = predict(p, CASE[i].as ? &one : &w);
        CHECK_REL(e.us, fewer.us, 1e-12);
        CHECK_INT(e.us > own.us, CASE[i].as > 0);
        CHECK_REL(e.high_us, fmax(own.high_us, fewer.high_us), 1e-12);
        CHECK_REL(e.low_us, own.low_us, 1e-12);
        CHECK_INT(explains(p, &w,
                           "raised: the estimate over 1 node is longer, and "
                           "more nodes cost no less\n"),
                  CASE[i].as > 0);
    }
    msim_platform_free(p);
    msim_platform_free(slow);
}

/*
 * An H100's file has machines of two and of ten nodes. What nobody ran over
 * three takes no more than over ten with as many on each; the group that the
 * other machine ran is that machine's, whose name says the same.
 */
static void test_collective__costs_no_more_than_spread_wider(void)
{
    struct msim_platform *p = load("h100");
    struct msim_work three = coll(MSIM_COLL_ALL_REDUCE, 12, 3);
    struct msim_work ten = coll(MSIM_COLL_ALL_REDUCE, 40, 10);
    struct msim_work two = coll(MSIM_COLL_ALL_REDUCE, 16, 2);
    struct msim_work named;
    struct msim_estimate e, wide;

    three.u.coll.bytes = ten.u.coll.bytes = two.u.coll.bytes = 1 << 30;
    e = predict(p, &three);
    wide = predict(p, &ten);
    CHECK_REL(e.us, wide.us, 1e-12);
    CHECK_REL(e.high_us, wide.high_us, 1e-12);
    CHECK(e.low_us <= wide.low_us && e.low_us > 0);
    CHECK(explains(p, &three,
                   "lowered: the same was measured over 10 nodes, where it "
                   "took less\n"));
    CHECK(!explains(p, &ten, "lowered: "));
    named = two;
    named.u.coll.interconnect = "NVLink4+IB-NDR";
    CHECK_REL(predict(p, &two).us, predict(p, &named).us, 0);
    CHECK_INT(predict(p, &two).source, MSIM_SOURCE_TABLE);
    /* constants of described jobs were fitted without either */
    three.u.coll.as_fitted = two.u.coll.as_fitted = true;
    CHECK(predict(p, &three).us > 1.2 * wide.us);
    CHECK(predict(p, &two).us > 1.2 * wide.us);
    two.u.coll.as_fitted = false;
    /* what was run, by machines whose network was misconfigured */
    two.u.coll.collective = named.u.coll.collective = MSIM_COLL_ALL_TO_ALL;
    named.u.coll.interconnect = "NVLink4-NVSwitch+IB";
    CHECK(predict(p, &two).us < predict(p, &named).us / 1.35);
    CHECK(explains(p, &two, "lowered: "));
    CHECK(!explains(p, &named, "lowered: "));
    msim_platform_free(p);
}

/* ---- what is in words ---------------------------------------------------- */

static void test_collective__says_its_links(void)
{
    static const struct {
        const char *name;
        uint32_t ranks, nodes;
        const char *says;
    } CASE[] = {
        {"m40", 2, 1, "assumed: PCIe3, 12 GB/s a GPU"},
        {"m40", 3, 1,
         "assumed: PCIe3, 12 GB/s a GPU, less where more than 2 share it"},
        {"m40", 4, 2, "assumed: 12.5 GB/s a card, 1 cards a GPU, 5 us"},
        {"a100", 8, 1, "as measured on A100-SXM-80GB"},
        {"a100-pcie-40gb", 2, 1,
         "as measured on A100-SXM-80GB, which stands in"},
        {"a100-pcie-40gb", 4, 1,
         "assumed: PCIe4, 25 GB/s a GPU, less where more than 2 share it"},
        {"l40s", 8, 1, "as measured on L40S"},
        {"h100", 16, 2, "as measured on H100-SXM-80GB"},
        {"h100-nvl", 16, 2, "as measured on H100-SXM-80GB, which stands in"},
        {"v100", 8, 1, "as measured on A100-SXM-80GB, which stands in"},
    };
    struct msim_platform *p;
    char text[256];

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        struct msim_work w =
            coll(MSIM_COLL_ALL_REDUCE, CASE[i].ranks, CASE[i].nodes);
        bool measured = !strncmp(CASE[i].says, "as", 2) &&
                        strncmp(CASE[i].says, "assumed", 7) != 0;

        p = load(CASE[i].name);
        msim_collective_links(p, CASE[i].ranks, CASE[i].nodes, text,
                              sizeof(text));
        CHECK_STR(text, CASE[i].says);
        CHECK_INT(explains(p, &w, "rows: none"), !measured);
        /* rows of the network are what it reaches; the data sheet is more */
        w.u.coll.bytes = 1 << 10;
        CHECK_REL(msim_collective_shortfall(p, &w),
                  CASE[i].nodes > 1 && !measured ? exp(0.55) : 1, 1e-12);
        msim_platform_free(p);
    }
    p = load("m40");
    p->sheet.no_link = true;
    msim_collective_links(p, 2, 1, text, sizeof(text));
    CHECK_STR(text, "not known: no collective was timed here; 12 GB/s a GPU "
                    "is taken, which is PCIe's");
    p->sheet.no_link = false;
    p->sheet.interconnect[0] = '\0';
    msim_collective_links(p, 2, 1, text, sizeof(text));
    CHECK_STR(text, "assumed: 12 GB/s a GPU");
    msim_platform_free(p);
}

/* Another network than that of the rows: they say nothing of it; inside a node
 * they do, and where the work says over which link it goes. */
static void test_collective__on_another_network(void)
{
    struct msim_platform *p = load("h100");
    struct msim_work w = coll(MSIM_COLL_ALL_REDUCE, 16, 2);

    p->joined = true;
    CHECK(explains(p, &w, "rows: none"));
    w.u.coll.interconnect = p->sheet.internode;
    CHECK(!explains(p, &w, "rows: none"));
    w = coll(MSIM_COLL_ALL_REDUCE, 8, 1);
    CHECK(!explains(p, &w, "rows: none"));
    msim_platform_free(p);
}

/* Links that another GPU's rows are of: those are taken where they have a fit,
 * but not those that a file names, where another network joins the nodes. */
static void test_collective__takes_other_links(void)
{
    struct msim_platform *p = load("m40"), *of = load("h100");
    struct msim_work w = coll(MSIM_COLL_ALL_REDUCE, 16, 2);

    CHECK(explains(p, &w, "rows: none"));
    p->links = of;
    CHECK(!explains(p, &w, "rows: none"));
    CHECK_REL(predict(p, &w).us, predict(of, &w).us, 1e-12);
    p->joined = true; /* links that somebody names hold all the same */
    CHECK(!explains(p, &w, "rows: none"));
    p->named_links = of;
    CHECK(explains(p, &w, "rows: none"));
    p->joined = false;
    CHECK(!explains(p, &w, "rows: none"));
    p->links = p->named_links = NULL;
    msim_platform_free(p);
    msim_platform_free(of);
}

/* high / low of a collective of so many bytes over these links, by itself or as
 * its rows have it. */
static double width(const struct msim_platform *p, uint64_t bytes,
                    const char *links, bool by_itself)
{
    struct msim_work w = coll(MSIM_COLL_ALL_REDUCE, 8, 1);
    struct msim_estimate e;

    w.u.coll.bytes = bytes;
    w.u.coll.interconnect = links;
    e = predict(p, &w);
    if (by_itself)
        msim_collective_of_any_machine(p, &w, &e);
    CHECK(e.low_us <= e.us && e.us <= e.high_us);
    return e.high_us / e.low_us;
}

/* Machines differ in small messages: who names none gets all of them. */
static void test_collective__of_any_machine(void)
{
    struct msim_platform *p = load("b200"),
                         *own = load(MSIM_DATA "/platforms/b200.json");
    const char *links = p->sheet.interconnect;

    for (uint64_t bytes = 1 << 10; bytes <= (uint64_t)1 << 32; bytes <<= 11) {
        double row = width(p, bytes, NULL, false);

        CHECK_REL(width(p, bytes, links, true), row, 1e-9);
        CHECK_REL(width(own, bytes, NULL, true), row, 1e-9);
        CHECK(width(p, bytes, NULL, true) >=
              fmax(row, bytes <= 1 << 20 ? 4 : 1.38));
        CHECK(width(p, bytes, NULL, true) <= fmax(row, 4.3));
    }
    msim_platform_free(p);
    msim_platform_free(own);
}

/* The L40S of our rows goes through the host's memory: another that is asked
 * for by its name has typical links, and that machine, a pair, and who names
 * its links have the rows. */
static void test_collective__passes_by_a_slow_machine(void)
{
    struct msim_platform *p = load("l40s"), *pro = load("rtx-pro-6000"),
                         *own = load(MSIM_DATA "/platforms/l40s.json"),
                         *pro_own =
                             load(MSIM_DATA "/platforms/rtx-pro-6000.json");

    for (uint32_t ranks = 2; ranks <= 8; ranks *= 2) {
        struct msim_work w = coll(MSIM_COLL_ALL_REDUCE, ranks, 1);
        double rows = predict(own, &w).us;

        CHECK_REL(predict(p, &w).us, ranks > 2 ? typical_us(p, &w) : rows,
                  1e-9);
        CHECK(ranks == 2 || rows > 1.5 * predict(p, &w).us);
        CHECK_REL(predict(pro, &w).us, predict(pro_own, &w).us, 1e-9);
        w.u.coll.interconnect = p->sheet.interconnect;
        CHECK_REL(predict(p, &w).us, rows, 1e-9);
    }
    msim_platform_free(p);
    msim_platform_free(pro);
    msim_platform_free(own);
    msim_platform_free(pro_own);
}

static void test_collective__explains_inputs(void)
{
    struct msim_platform *p = load("a100");
    struct msim_work w = coll(MSIM_COLL_ALL_GATHER, 8, 1);

    CHECK(explains(p, &w,
                   "inputs: all_gather of 67108864 bytes over 8 ranks "
                   "on 1 nodes\n"));
    CHECK(explains(p, &w,
                   "law: start + steps * hop + wire / link, by the "
                   "fastest way: "));
    msim_platform_free(p);
}

int main(void)
{
    RUN(test_collective__covers_what_moves);
    RUN(test_collective__without_rows);
    RUN(test_collective__over_a_network);
    RUN(test_collective__has_one_end);
    RUN(test_collective__costs_no_less_over_more_nodes);
    RUN(test_collective__costs_no_more_than_spread_wider);
    RUN(test_collective__says_its_links);
    RUN(test_collective__on_another_network);
    RUN(test_collective__takes_other_links);
    RUN(test_collective__of_any_machine);
    RUN(test_collective__passes_by_a_slow_machine);
    RUN(test_collective__explains_inputs);
    return check_summary();
}
