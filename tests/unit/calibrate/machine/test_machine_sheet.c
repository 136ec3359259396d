/*
 * Measured peaks of a made-up GPU: a cache that holds what was written last, a
 * host that copies small buffers out of its own cache, ranks that exchange
 * small ones in theirs. None of that is a rate of memory or of a link.
 */
#include "calibrate/machine/machine.h"
#include "calibrate/measure/experiment_space.h"
#include "tests/check.h"

#define CACHE     50e6
#define BANDWIDTH 2e12 /* of memory */
#define HOST      20e9 /* to the device; small ones: twice */
#define LINK      100e9
#define SMALL     96e6

#define GREETING                                                               \
    "{\"device\":{\"kind\":\"gpu\",\"name\":\"A\",\"sms\":100,"                \
    "\"memory_bytes\":8e10,\"l2_bytes\":50000000},\"ranks\":2,"                \
    "\"tables\":{\"gemm\":[\"fp32\"],\"collective\":[\"all_reduce\"],"         \
    "\"vector\":[\"add:fp32\"],\"copy\":[\"d2d\",\"read\",\"h2d\","            \
    "\"h2d:pageable\"]}}"

/* What was written last may stay in the cache. */
static double memory_us(double read, double written)
{
    return 2 + 1e6 * (read + fmax(written - CACHE, 0)) / BANDWIDTH;
}

static double linked_us(double bytes, double rate)
{
    return 10 + 1e6 * bytes / (bytes < SMALL ? 2 * rate : rate);
}

static double made_up_us(const struct msim_cal_experiment *e)
{
    const struct msim_experiment *x = &e->timed;
    double bytes = (double)x->u.copy.bytes;

    switch (x->table) {
    case MSIM_TABLE_GEMM:
        return 2 + 1e6 * x->work.flops / 50e12;
    case MSIM_TABLE_COLLECTIVE: /* of two ranks: each sends all */
        return linked_us((double)x->work.u.coll.bytes, LINK);
    case MSIM_TABLE_VECTOR:
        return memory_us(x->work.bytes_read, x->work.bytes_written);
    default:
        return x->u.copy.op == MSIM_COPY_WAY_H2D    ? linked_us(bytes, HOST)
               : x->u.copy.op == MSIM_COPY_WAY_READ ? memory_us(bytes, 0)
                                                    : memory_us(bytes, bytes);
    }
}

/* `n` experiments of a design, but those of `without` copies. */
static void add_rows(struct msim_cal_journal *j, int n, const char *without)
{
    cJSON *greeting = cJSON_Parse(GREETING);
    struct msim_cal_design *d = NULL;
    struct msim_cal_experiment e;
    struct msim_cal_space s;
    uint32_t kind;

    REQUIRE(msim_cal_space_read(&s, greeting, 5e4, NULL) == MSIM_OK);
    REQUIRE(msim_cal_design_new(&d, &s, 1) == MSIM_OK);
    REQUIRE(msim_cal_journal_greet(j, "a", greeting, NULL) == MSIM_OK);
    while (n-- > 0 && msim_cal_design_next(d, &e, &kind)) {
        cJSON *answer = cJSON_CreateObject();

        if (strcmp(s.kinds[kind].kind, without) == 0)
            cJSON_AddStringToObject(answer, "error", "no");
        else
            cJSON_AddNumberToObject(answer, "time_us", made_up_us(&e));
        CHECK_INT(msim_cal_journal_add(j, "a", &e, answer, 0.1, NULL), MSIM_OK);
    }
    msim_cal_design_free(d);
}

static double figure(int rows, const char *without, const char *key)
{
    struct msim_cal_journal j;
    cJSON *o = NULL;
    double v;

    CHECK_INT(msim_cal_journal_open(&j, NULL, NULL), MSIM_OK);
    add_rows(&j, rows, without);
    CHECK_INT(msim_cal_sheet(&o, &j, "mine", NULL, NULL), MSIM_OK);
    v = msim_json_get_number(cJSON_GetObjectItemCaseSensitive(o, "data_sheet"),
                             key, 0);
    cJSON_Delete(o);
    msim_cal_journal_close(&j);
    return v;
}

/* Of a copy of 8 times the cache a sixteenth is missing in memory, and is not
 * counted. From the first copy on, which is the largest, there is one that
 * counts. */
static void test_sheet__memory_past_the_cache(void)
{
    CHECK_REL(figure(400, "", "memory_bandwidth"), BANDWIDTH, 0.02);
    CHECK_REL(figure(7, "", "memory_bandwidth"), BANDWIDTH, 0.02);
    CHECK(figure(400, "", "memory_bandwidth") <= BANDWIDTH);
    /* what is only read leaves nothing in the cache */
    CHECK_REL(figure(400, "d2d", "memory_bandwidth"), BANDWIDTH, 0.02);
}

static void test_sheet__links_by_large_buffers(void)
{
    CHECK_REL(figure(400, "", "pcie_bandwidth"), HOST, 0.02);
    CHECK_REL(figure(400, "", "pageable_bandwidth"), HOST, 0.02);
    CHECK_REL(figure(400, "", "link_bandwidth"), LINK, 0.02);
}

int main(void)
{
    RUN(test_sheet__memory_past_the_cache);
    RUN(test_sheet__links_by_large_buffers);
    return check_summary();
}
