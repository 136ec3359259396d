/*
 * Networks by name and by file, and what a platform makes of them.
 */
#include "calibrate/machine/machine.h"
#include "calibrate/rows/samples.h"
#include "models/estimate/model.h"
#include "models/platform/platform.h"
#include "models/platform/platform_data.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_network__by_name(void)
{
    struct msim_error err = {0};
    struct msim_network n;

    REQUIRE(msim_network_load(&n, MSIM_DATA, "Infiniband-NDR400", &err) ==
            MSIM_OK);
    CHECK_STR(n.name, "infiniband-ndr400");
    CHECK_REL(n.card_rate, 50e9, 1e-12); /* 400 Gb/s */
    CHECK(n.gpus_per_node == 8 && n.cards_per_node == 8);
    CHECK_INT(msim_network_load(&n, MSIM_DATA, "string-and-cans", &err),
              MSIM_EUNKNOWN);
    CHECK(strstr(err.text, "unknown network 'string-and-cans', known are: "
                           "aws-efa-3200, aws-efa-400,"));
}

/* 1: it cannot be written. */
static int load_text(struct msim_network *n, const char *text,
                     struct msim_error *err)
{
    char path[] = "msim-test-network-XXXXXX.json";
    int fd = mkstemps(path, 5), status;
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;

    if (!f)
        return 1;
    fputs(text, f);
    fclose(f);
    *err = (struct msim_error){0};
    status = msim_network_load(n, MSIM_DATA, path, err);
    unlink(path);
    return status;
}

static void test_network__by_file(void)
{
    struct msim_error err;
    struct msim_network n;

    CHECK_INT(load_text(&n,
                        "{\"name\":\"mine\",\"parameters\":{\"card_rate\":1e9,"
                        "\"cards_per_node\":2,\"gpus_per_node\":4,"
                        "\"latency_us\":9}}",
                        &err),
              MSIM_OK);
    CHECK_STR(n.title, "mine");
    CHECK(n.latency_us == 9);
    CHECK_INT(load_text(&n, "{\"parameters\":{}}", &err), MSIM_EFORMAT);
    CHECK(strstr(err.text, "'name' is missing"));
    CHECK_INT(load_text(&n,
                        "{\"name\":\"x\",\"parameters\":{\"card_rate\":-1}}",
                        &err),
              MSIM_EFORMAT);
    CHECK(strstr(err.text, "'card_rate' is missing or wrong, want a number"));
    CHECK_INT(load_text(&n, "{\"name\":", &err), MSIM_ESYNTAX);
}

/* A network that was never measured with the platform: the law, and a wide
 * interval; inside a node nothing changes. */
static void test_network__joins(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_COLLECTIVE,
                          .dtype = MSIM_DT_BF16};
    struct msim_estimate inside, own, joined;
    struct msim_network slow;
    struct msim_platform *p;

    REQUIRE(msim_platform_load(&p, MSIM_DATA, "h100", NULL) == MSIM_OK);
    REQUIRE(msim_network_load(&slow, MSIM_DATA, "ethernet-100", NULL) ==
            MSIM_OK);
    w.u.coll.collective = MSIM_COLL_ALL_REDUCE;
    w.u.coll.bytes = 1 << 28;
    w.u.coll.ranks = 8;
    w.u.coll.nodes = 1;
    REQUIRE(msim_model_predict(p, &w, false, &inside, NULL) == MSIM_OK);
    w.u.coll.ranks = 80;
    w.u.coll.nodes = 10;
    REQUIRE(msim_model_predict(p, &w, false, &own, NULL) == MSIM_OK);
    msim_platform_join(p, &slow);
    REQUIRE(msim_model_predict(p, &w, false, &joined, NULL) == MSIM_OK);
    CHECK(joined.us > 4 * own.us);
    CHECK(joined.source == MSIM_SOURCE_LAW);
    CHECK(joined.high_us / joined.low_us > own.high_us / own.low_us);
    w.u.coll.ranks = 8;
    w.u.coll.nodes = 1;
    REQUIRE(msim_model_predict(p, &w, false, &own, NULL) == MSIM_OK);
    CHECK(own.us == inside.us); /* to the bit */
    CHECK(inside.source == MSIM_SOURCE_TABLE);
    msim_platform_free(p);
}

/* A name for the network that the GPU has unasked changes nothing: all-reduces
 * over two nodes are measured on h100. */
static void test_network__of_the_platform_by_name(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_COLLECTIVE,
                          .dtype = MSIM_DT_BF16};
    struct msim_estimate own, named;
    struct msim_network n;
    struct msim_platform *p;

    REQUIRE(msim_platform_load(&p, MSIM_DATA, "h100", NULL) == MSIM_OK);
    REQUIRE(msim_network_load(&n, MSIM_DATA, "infiniband-ndr400", NULL) ==
            MSIM_OK);
    w.u.coll.collective = MSIM_COLL_ALL_REDUCE;
    w.u.coll.bytes = 1 << 28;
    w.u.coll.ranks = 16;
    w.u.coll.nodes = 2;
    REQUIRE(msim_model_predict(p, &w, false, &own, NULL) == MSIM_OK);
    msim_platform_join(p, &n);
    REQUIRE(msim_model_predict(p, &w, false, &named, NULL) == MSIM_OK);
    CHECK(named.us == own.us && named.high_us == own.high_us); /* to the bit */
    CHECK_INT(named.source, own.source);
    msim_platform_free(p);
}

static double predict(const struct msim_platform *p, enum msim_family family,
                      enum msim_collective what)
{
    struct msim_work w = {.family = family, .dtype = MSIM_DT_F32};
    struct msim_estimate e;

    if (family == MSIM_FAMILY_COLLECTIVE) {
        w.u.coll.collective = what;
        w.u.coll.bytes = 1 << 26;
        w.u.coll.ranks = 8;
        w.u.coll.nodes = 1;
    } else {
        w.bytes_read = w.bytes_written = 1e8;
    }
    return msim_model_predict(p, &w, false, &e, NULL) == MSIM_OK ? e.us : -1;
}

/* What was measured between the ranks of one platform counts on another, and
 * nothing else of it does. */
static void test_network__measured_on_another_platform(void)
{
    const enum msim_family coll = MSIM_FAMILY_COLLECTIVE;
    const enum msim_family other = MSIM_FAMILY_POINTWISE;
    const enum msim_collective sum = MSIM_COLL_ALL_REDUCE;
    char path[] = "msim-test-network-XXXXXX.json";
    struct msim_platform *p, *from, *links;
    struct msim_network n;
    cJSON *json, *network;
    double own;
    int fd = mkstemps(path, 5);

    close(fd);
    REQUIRE(msim_json_read(&json, MSIM_DATA "/platforms/h100.json", NULL) ==
            MSIM_OK);
    REQUIRE(msim_cal_network(&network, json) == MSIM_OK && network);
    REQUIRE(msim_tree_write(network, path, NULL) == MSIM_OK);
    REQUIRE(msim_network_load(&n, MSIM_DATA, path, NULL) == MSIM_OK);
    CHECK(n.measured);
    CHECK_REL(n.card_rate, 0, 0);
    REQUIRE(msim_platform_load(&p, MSIM_DATA, "a100", NULL) == MSIM_OK);
    REQUIRE(msim_platform_load(&from, MSIM_DATA, "h100", NULL) == MSIM_OK);
    REQUIRE(msim_platform_load(&links, MSIM_DATA, n.path, NULL) == MSIM_OK);
    own = predict(p, other, sum);
    CHECK(predict(p, coll, sum) > 1.1 * predict(from, coll, sum));
    msim_platform_link(p, links);
    CHECK(predict(p, coll, sum) == predict(from, coll, sum)); /* to the bit */
    CHECK(predict(p, other, sum) == own);
    CHECK(own > predict(from, other, sum));
    msim_platform_free(p);
    msim_platform_free(from);
    msim_platform_free(links);
    cJSON_Delete(json);
    cJSON_Delete(network);
    unlink(path);
}

/* h100 without its fits; `more` members, and figures that are left out. */
static struct msim_platform *bare_h100(const char *more, const char *const *out,
                                       struct msim_error *err)
{
    char path[] = "msim-test-network-XXXXXX.json";
    struct msim_platform *p = NULL;
    cJSON *json, *sheet;

    close(mkstemps(path, 5));
    CHECK(msim_json_read(&json, MSIM_DATA "/platforms/h100.json", NULL) ==
          MSIM_OK);
    cJSON_ReplaceItemInObjectCaseSensitive(json, "cells", cJSON_CreateArray());
    cJSON_ReplaceItemInObjectCaseSensitive(json, "stand_ins",
                                           cJSON_CreateArray());
    sheet = cJSON_GetObjectItemCaseSensitive(json, "data_sheet");
    for (; *out; out++)
        cJSON_DeleteItemFromObjectCaseSensitive(sheet, *out);
    if (more)
        cJSON_AddStringToObject(json, "links_of", more);
    CHECK(msim_tree_write(json, path, NULL) == MSIM_OK);
    (void)!msim_platform_load(&p, MSIM_DATA, path, err);
    cJSON_Delete(json);
    unlink(path);
    return p;
}

/* What a file says of links that it has not timed: as on that platform, but
 * between nodes that another network joins. */
static void test_links__of_a_platform(void)
{
    static const char *const NONE[] = {NULL};
    struct msim_work between = {.family = MSIM_FAMILY_COLLECTIVE,
                                .dtype = MSIM_DT_F32};
    const enum msim_family coll = MSIM_FAMILY_COLLECTIVE;
    struct msim_platform *p, *h100;
    struct msim_error err = {0};
    struct msim_estimate own, other;
    struct msim_network n;

    REQUIRE(msim_platform_load(&h100, MSIM_DATA, "h100", NULL) == MSIM_OK);
    REQUIRE((p = bare_h100("h100", NONE, &err)));
    CHECK(predict(p, coll, MSIM_COLL_ALL_REDUCE) ==
          predict(h100, coll, MSIM_COLL_ALL_REDUCE)); /* to the bit */
    REQUIRE(msim_network_load(&n, MSIM_DATA, "ethernet-100", NULL) == MSIM_OK);
    between.u.coll.collective = MSIM_COLL_ALL_REDUCE;
    between.u.coll.bytes = 1 << 26;
    between.u.coll.ranks = 16;
    between.u.coll.nodes = 2;
    msim_platform_join(p, &n);
    msim_platform_join(h100, &n);
    REQUIRE(msim_model_predict(p, &between, false, &own, NULL) == MSIM_OK);
    REQUIRE(msim_model_predict(h100, &between, false, &other, NULL) == MSIM_OK);
    CHECK_REL(own.us, other.us, 1e-12);
    msim_platform_free(p);
    msim_platform_free(h100);
    CHECK(!bare_h100("a string", NONE, &err));
    CHECK_INT(err.status, MSIM_EUNKNOWN);
    CHECK(strstr(err.text, "'links_of': unknown platform 'a string'"));
}

/* Where nothing says what links GPUs, that is said, and all is possible. */
static void test_links__unknown(void)
{
    static const char *const NONE[] = {NULL};
    static const char *const LINKS[] = {"links", "link_bandwidth", NULL};
    struct msim_work w = {.family = MSIM_FAMILY_COLLECTIVE,
                          .dtype = MSIM_DT_F32};
    struct msim_platform *known = bare_h100(NULL, NONE, NULL);
    struct msim_platform *unknown = bare_h100(NULL, LINKS, NULL);
    struct msim_estimate e, wide;
    char text[160];

    REQUIRE(known && unknown);
    w.u.coll.collective = MSIM_COLL_ALL_REDUCE;
    w.u.coll.bytes = 1 << 28;
    w.u.coll.ranks = 8;
    w.u.coll.nodes = 1;
    REQUIRE(msim_model_predict(known, &w, false, &e, NULL) == MSIM_OK);
    REQUIRE(msim_model_predict(unknown, &w, false, &wide, NULL) == MSIM_OK);
    CHECK_INT(e.source, MSIM_SOURCE_LAW);
    CHECK_INT(wide.source, MSIM_SOURCE_NOT_RUN);
    CHECK(wide.low_us < 3 * e.us && wide.us > 10 * e.us);
    msim_collective_links(known, 8, 1, text, sizeof(text));
    CHECK_STR(text, "assumed: NVLink4-NVSwitch, 450 GB/s a GPU");
    msim_collective_links(unknown, 8, 1, text, sizeof(text));
    CHECK(strstr(text, "not known: no collective was timed here; 25 GB/s"));
    msim_platform_free(known);
    msim_platform_free(unknown);
}

/* A platform without collectives leaves no network. */
static void test_network__of_nothing_measured(void)
{
    cJSON *json = cJSON_Parse("{\"cells\":[{\"law\":\"gemm\"}]}"), *network;

    CHECK(msim_cal_network(&network, json) == MSIM_OK);
    CHECK(!network);
    cJSON_Delete(json);
}

int main(void)
{
    RUN(test_network__by_name);
    RUN(test_network__by_file);
    RUN(test_network__joins);
    RUN(test_network__of_the_platform_by_name);
    RUN(test_network__measured_on_another_platform);
    RUN(test_links__of_a_platform);
    RUN(test_links__unknown);
    RUN(test_network__of_nothing_measured);
    return check_summary();
}
