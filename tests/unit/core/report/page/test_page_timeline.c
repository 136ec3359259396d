/*
 * tests/unit/core/report/page/test_page_timeline.c - bars as columns.
 */
#include "core/report/page/page_internal.h"
#include "tests/check.h"

#include <cjson/cJSON.h>

#define US MSIM_PS_PER_US

/*
 * Lane 0: 2 us from 1 us on, then, 1 us before that ends, 3 us. Lane 1: 4 us
 * from 5 us on. In nanoseconds the gaps are 1000, -1000 and 5000; signed
 * numbers are twice as large, less one where they are negative: 2000, 1999 and
 * 10000, of two bytes each.
 */
static void test_page_timeline__columns(void)
{
    static const uint8_t WANT[] = {
        0xd0, 0x0f, 0xcf, 0x0f, 0x90, 0x4e, /* 2000, 1999, 10000 */
        0xd0, 0x0f, 0xb8, 0x17, 0xa0, 0x1f, /* 2000, 3000, 4000 */
        0x01, 0x02, 0x01,                   /* "mm", "add", "mm" */
        0x02, 0x03, 0x05}; /* kernel, critical, critical copy */
    struct msim_span spans[] = {
        {.name = "mm", .category = "kernel", .start = 1 * US, .dur = 2 * US},
        {.name = "add",
         .category = "kernel",
         .start = 2 * US,
         .dur = 3 * US,
         .critical = true},
        {.name = "mm",
         .category = "copy",
         .start = 5 * US,
         .dur = 4 * US,
         .lane = 1,
         .critical = true}};
    struct msim_lane_info lanes[] = {{0, true, "stream 7"},
                                     {-1, false, "thread </script>"}};
    struct msim_mark steps[] = {{"s", "step", 0, 9 * US, 0, MSIM_NONE}};
    struct msim_timeline t = {.spans = spans,
                              .n_spans = 3,
                              .lanes = lanes,
                              .n_lanes = 2,
                              .steps = steps,
                              .n_steps = 1};
    struct msim_bytes head = {.n = 0}, columns = {.n = 0};
    const cJSON *lane;
    cJSON *o;

    REQUIRE(msim_page_timeline(&head, &columns, &t) == MSIM_OK);
    CHECK_INT(columns.n, sizeof(WANT));
    CHECK(memcmp(columns.at, WANT, sizeof(WANT)) == 0);
    o = cJSON_ParseWithLength((const char *)head.at, head.n);
    REQUIRE(o);
    CHECK_INT(cJSON_GetObjectItem(o, "unit_ps")->valueint, 1000);
    CHECK_INT(cJSON_GetArraySize(cJSON_GetObjectItem(o, "names")), 3);
    CHECK_INT(cJSON_GetArraySize(cJSON_GetObjectItem(o, "steps")), 1);
    lane = cJSON_GetArrayItem(cJSON_GetObjectItem(o, "lanes"), 0);
    CHECK_INT(cJSON_GetObjectItem(lane, "n")->valueint, 2);
    lane = cJSON_GetArrayItem(cJSON_GetObjectItem(o, "lanes"), 1);
    CHECK_INT(cJSON_GetObjectItem(lane, "n")->valueint, 1);
    CHECK(cJSON_IsNull(cJSON_GetObjectItem(lane, "rank")));
    CHECK_STR(cJSON_GetObjectItem(lane, "name")->valuestring,
              "thread </script>");
    cJSON_Delete(o);
    msim_bytes_release(&head);
    msim_bytes_release(&columns);
}

int main(void)
{
    RUN(test_page_timeline__columns);
    return check_summary();
}
