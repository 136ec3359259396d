/*
 * tests/unit/core/job/test_read_top.c - what stands beside the records of a
 * JSON trace file, in whatever order.
 */
#include "core/job/job_internal.h"
#include "core/read/et/read_et.h"
#include "core/read/kineto/read_kineto.h"
#include "tests/check.h"

#include <stdlib.h>

struct made {
    struct msim_read_top top;
    struct msim_read_result out;
    struct msim_trace *t;
    enum msim_status status;
};

static struct made made;

static void release(void)
{
    if (made.top.reader.format)
        made.top.reader.format->free(made.top.reader.state);
    msim_read_top_release(&made.top);
    msim_idmap_release(&made.top.reader.group_names);
    msim_argpool_release(&made.top.reader.pool);
    msim_trace_free(made.t);
    msim_strtab_free(made.top.reader.strings);
}

static void read_text(const char *text)
{
    struct made *m = &made;

    memset(m, 0, sizeof(*m));
    m->t = calloc(1, sizeof(*m->t));
    if (!CHECK(m->t != NULL))
        abort();
    CHECK_INT(msim_strtab_new(&m->top.reader.strings), MSIM_OK);
    m->t->strings = m->top.reader.strings;
    m->top.reader.out = &m->out;
    m->top.reader.trace = m->t;
    m->out.rank = -1;
    msim_read_top_init(&m->top);
    CHECK_INT(msim_sax_new(&m->top.reader.sax, &msim_read_top_handler, &m->top),
              MSIM_OK);
    m->status = msim_sax_feed(m->top.reader.sax, text, strlen(text));
    msim_sax_free(m->top.reader.sax);
}

static const char *text_of(uint32_t id)
{
    return msim_strtab_text(made.top.reader.strings, id);
}

static void check_format(const char *text, const struct msim_read_format *want)
{
    read_text(text);
    CHECK_INT(made.status, MSIM_OK);
    CHECK(made.top.reader.format == want);
    CHECK((made.out.trace != NULL) == (want != NULL));
    release();
}

/* An ET has nodes, a Kineto trace events; a list alone is of events. */
static void test_read_top__formats(void)
{
    check_format("{\"nodes\": []}", &msim_et_format);
    check_format("{\"traceEvents\": []}", &msim_kineto_format);
    check_format("[]", &msim_kineto_format);
    check_format("{\"a\": {\"nodes\": []}}", NULL);
    check_format("{\"nodes\": {}}", NULL);
    check_format("{\"deviceProperties\": [{\"nodes\": []}]}", NULL);
    check_format("{}", NULL);
}

static void test_read_top__second_list(void)
{
    read_text("{\"nodes\": [], \"traceEvents\": []}");
    CHECK_INT(made.status, MSIM_EFORMAT);
    CHECK_STR(made.top.reader.problem.text,
              "a second list of records, want one of 'nodes' or "
              "'traceEvents'");
    release();
}

#define BESIDE                                                                 \
    "\"schemaVersion\": 1, \"baseTimeNanoseconds\": 5000, \"host_name\": "     \
    "\"h\", \"distributedInfo\": {\"rank\": 3, \"world_size\": 8, "            \
    "\"backend\": \"nccl\"}"

/* Before the records or behind them. */
static void check_beside(const char *text)
{
    read_text(text);
    CHECK_INT(made.status, MSIM_OK);
    CHECK_STR(text_of(made.out.version), "1");
    CHECK_INT(made.top.reader.base_ns, 5000);
    CHECK_STR(text_of(made.t->host), "h");
    CHECK_INT(made.out.rank, 3);
    CHECK_UINT(made.t->world_size, 8);
    release();
}

static void test_read_top__beside(void)
{
    check_beside("{" BESIDE ", \"traceEvents\": []}");
    check_beside("{\"traceEvents\": [], " BESIDE "}");
    check_beside("{\"nodes\": [], " BESIDE "}");
}

/* What lies deeper, or elsewhere, is another's. */
static void test_read_top__elsewhere(void)
{
    read_text("{\"other\": {" BESIDE "}, \"rank\": 4, \"world_size\": 9, "
              "\"distributedInfo\": {\"schema\": \"x\", \"host_name\": \"y\", "
              "\"baseTimeNanoseconds\": 7, \"schemaVersion\": 8, "
              "\"deviceProperties\": [{\"id\": 1}]}, "
              "\"pg_config\": [{\"pg_name\": \"0\"}], \"name\": \"z\"}");
    CHECK_INT(made.status, MSIM_OK);
    CHECK_STR(text_of(made.out.version), "");
    CHECK_INT(made.top.reader.base_ns, 0);
    CHECK_STR(text_of(made.t->host), "");
    CHECK_INT(made.out.rank, -1);
    CHECK_UINT(made.t->world_size, 0);
    CHECK_UINT(made.top.devices.n, 0);
    CHECK_UINT(made.t->n_groups, 0);
    release();
}

/* A schema may be a text or a number; ranks may be quoted. */
static void check_info(const char *info, int64_t rank, uint32_t world)
{
    char text[200];

    snprintf(text, sizeof(text), "{\"distributedInfo\": {%s}}", info);
    read_text(text);
    CHECK_INT(made.status, MSIM_OK);
    CHECK_INT(made.out.rank, rank);
    CHECK_UINT(made.t->world_size, world);
    release();
}

static void test_read_top__numbers(void)
{
    read_text("{\"schema\": \"1.1.1-chakra.0.0.4\"}");
    CHECK_STR(text_of(made.out.version), "1.1.1-chakra.0.0.4");
    release();
    read_text("{\"schema\": 2}");
    CHECK_STR(text_of(made.out.version), "2");
    release();
    check_info("\"rank\": \"5\", \"world_size\": \"6\"", 5, 6);
    check_info("\"rank\": 0, \"world_size\": 1", 0, 1);
    check_info("\"rank\": -1, \"world_size\": 0", -1, 0);
    check_info("\"rank\": 1.5, \"world_size\": -2", -1, 0);
    check_info("\"rank\": \"x\", \"world_size\": 4294967295", -1, 0);
    check_info("\"world_size\": 4294967294", -1, 4294967294u);
    check_info("\"backend\": \"7\"", -1, 0);
}

static void check_device(uint32_t i, int64_t id, const char *name,
                         uint64_t memory, uint32_t major, uint32_t minor,
                         uint32_t sms)
{
    const struct msim_device_spec *d = made.top.devices.data;

    if (!CHECK(i < made.top.devices.n))
        return;
    CHECK_INT(d[i].id, id);
    CHECK_STR(text_of(d[i].p.name), name);
    CHECK_UINT(d[i].p.memory_bytes, memory);
    CHECK_UINT(d[i].p.cc_major, major);
    CHECK_UINT(d[i].p.cc_minor, minor);
    CHECK_UINT(d[i].p.sms, sms);
}

static void test_read_top__devices(void)
{
    read_text("{\"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA A100\", "
              "\"totalGlobalMem\": 85899345920, \"computeMajor\": 8, "
              "\"computeMinor\": 0, \"numSms\": 108, \"warpSize\": 32}, "
              "{\"name\": \"other\", \"totalGlobalMem\": -1, "
              "\"computeMajor\": 9, \"computeMinor\": 1, \"numSms\": 0, "
              "\"more\": {\"id\": 7}}], \"schemaVersion\": 1}");
    CHECK_INT(made.status, MSIM_OK);
    CHECK_UINT(made.top.devices.n, 2);
    check_device(0, 0, "NVIDIA A100", 85899345920u, 8, 0, 108);
    check_device(1, -1, "other", 0, 9, 1, 0);
    CHECK_STR(text_of(made.out.version), "1"); /* behind it is the top again */
    release();
}

static void check_group(uint32_t i, const char *name, uint32_t size,
                        const char *ranks)
{
    const struct msim_group *g = &made.t->groups[i];
    char text[64] = "";
    size_t used = 0;

    if (!CHECK(i < made.t->n_groups))
        return;
    for (uint32_t k = 0; k < g->count; k++)
        used +=
            (size_t)snprintf(text + used, sizeof(text) - used, "%s%d",
                             k ? " " : "", made.t->group_ranks[g->first + k]);
    CHECK_STR(text_of(g->name), name);
    CHECK_UINT(g->size, size);
    CHECK_STR(text, ranks);
}

/* Groups by lists or by texts; an empty list is a list. */
static void test_read_top__groups(void)
{
    read_text("{\"distributedInfo\": {\"pg_config\": ["
              "{\"pg_name\": \"0\", \"pg_size\": 3, \"ranks\": [0, 2, 4], "
              "\"pg_desc\": \"x\"}, "
              "{\"pg_name\": 1, \"group_size\": 2, \"ranks\": []}, "
              "{\"pg_name\": \"2\", \"ranks\": \"[5, 6]\"}, "
              "{\"pg_name\": \"3\", \"pg_size\": 4}], \"rank\": 2}, "
              "\"schemaVersion\": 1}");
    CHECK_INT(made.status, MSIM_OK);
    CHECK_UINT(made.t->n_groups, 4);
    check_group(0, "0", 3, "0 2 4");
    check_group(1, "1", 2, "0 1");
    check_group(2, "2", 2, "5 6");
    check_group(3, "3", 4, "");
    CHECK_INT(made.out.rank, 2); /* behind them is the info again */
    CHECK_STR(text_of(made.out.version), "1");
    release();
}

int main(void)
{
    RUN(test_read_top__formats);
    RUN(test_read_top__second_list);
    RUN(test_read_top__beside);
    RUN(test_read_top__elsewhere);
    RUN(test_read_top__numbers);
    RUN(test_read_top__devices);
    RUN(test_read_top__groups);
    return check_summary();
}
