/*
 * Networks by name and by file, and what a platform makes of them.
 */
#include "core/base/json.h"
#include "models/network.h"
#include "models/platform_data.h"
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

int main(void)
{
    RUN(test_network__by_name);
    RUN(test_network__by_file);
    RUN(test_network__joins);
    return check_summary();
}
