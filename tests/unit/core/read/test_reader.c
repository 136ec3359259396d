/*
 * tests/unit/core/read/test_reader.c - what readers of all formats need:
 * counts, element types, launch configurations and process groups.
 */
#include "core/read/reader.h"
#include "tests/check.h"

#include <stdlib.h>

struct made {
    struct msim_reader r;
    struct msim_read_result out;
    struct msim_trace *t;
    struct msim_group_spec spec;
};

static uint64_t here; /* the offset of what is read */

static uint64_t offset_of(const struct msim_reader *r)
{
    (void)r;
    return here;
}

static const struct msim_read_format FORMAT = {.offset = offset_of};

static struct made made(void)
{
    struct made m = {.t = calloc(1, sizeof(*m.t))};

    if (!CHECK(m.t != NULL))
        abort();
    CHECK_INT(msim_strtab_new(&m.r.strings), MSIM_OK);
    m.t->strings = m.r.strings;
    m.r.trace = m.t;
    m.r.format = &FORMAT;
    return m;
}

static void release(struct made *m)
{
    msim_trace_free(m->t);
    msim_idmap_release(&m->r.group_names);
    msim_strtab_free(m->r.strings);
    free(m->spec.ranks.data);
}

/* ---- counts -------------------------------------------------------------- */

/* Of the first it is said where it is. */
static void test_reader__counts(void)
{
    struct made m = made();
    const struct msim_import_count *c = m.t->import.rows;

    here = 70;
    msim_read_count(&m.r, MSIM_IMPORT_FLOW);
    here = 90;
    msim_read_count(&m.r, MSIM_IMPORT_FLOW);
    CHECK_UINT(c[MSIM_IMPORT_FLOW].n, 2);
    CHECK(c[MSIM_IMPORT_FLOW].has_byte);
    CHECK_UINT(c[MSIM_IMPORT_FLOW].byte, 70);
    m.r.out = &m.out;
    CHECK_INT(msim_read_count_name(&m.r, MSIM_IMPORT_CATEGORY, "odd", 5),
              MSIM_OK);
    here = 110;
    CHECK_INT(msim_read_count_name(&m.r, MSIM_IMPORT_CATEGORY, "odd", 6),
              MSIM_OK);
    CHECK_INT(msim_read_count_name(&m.r, MSIM_IMPORT_CATEGORY, "x", 1),
              MSIM_OK);
    c += MSIM_IMPORT_KINDS;
    CHECK_STR(msim_strtab_text(m.r.strings, c[0].name), "odd");
    CHECK_UINT(c[0].n, 2);
    CHECK_UINT(c[0].us, 11);
    CHECK_UINT(c[0].byte, 90);
    CHECK_STR(msim_strtab_text(m.r.strings, c[1].name), "x");
    CHECK_UINT(c[1].n, 1);
    CHECK_UINT(c[1].byte, 110);
    release(&m);
}

/* The first that is left out is the example. */
static void test_reader__leaves_out(void)
{
    struct made m = made();
    const struct msim_import_count *c = &m.t->import.rows[MSIM_IMPORT_UNSOUND];

    here = 30;
    msim_read_leave_out(&m.r, "event %d is odd", 3);
    here = 40;
    msim_read_leave_out(&m.r, "event %d is odd", 4);
    CHECK_UINT(c->n, 2);
    CHECK_UINT(c->byte, 30);
    CHECK_STR(msim_strtab_text(m.r.strings, c->example), "event 3 is odd");
    release(&m);
}

static void test_reader__problem(void)
{
    struct made m = made();

    CHECK_INT(msim_read_problem(&m.r, MSIM_EFORMAT, "node %d", 1),
              MSIM_EFORMAT);
    CHECK_INT(msim_read_problem(&m.r, MSIM_ELIMIT, "node %d", 2), MSIM_ELIMIT);
    CHECK_INT(m.r.problem.status, MSIM_EFORMAT);
    CHECK_STR(m.r.problem.text, "node 1");
    CHECK_STR(m.r.problem.file, "");
    CHECK_UINT(m.r.problem.offset, MSIM_OFFSET_NONE);
    release(&m);
}

/* Fifteen names have a slot each; all others share the last. */
static void test_reader__odd_types(void)
{
    struct made m = made();
    uint8_t slot;
    char name[8];

    m.r.out = &m.out;
    for (int i = 0; i < 18; i++) {
        snprintf(name, sizeof(name), "t%d", i);
        CHECK_INT(msim_read_odd_type(&m.r, name, strlen(name), &slot), MSIM_OK);
        CHECK_INT(slot, i < 15 ? i : 15);
    }
    CHECK_INT(msim_read_odd_type(&m.r, "t14", 3, &slot), MSIM_OK);
    CHECK_INT(slot, 14);
    CHECK_INT(msim_read_odd_type(&m.r, "t0x", 2, &slot), MSIM_OK);
    CHECK_INT(slot, 0);
    CHECK_STR(msim_strtab_text(m.r.strings, m.out.odd_types[14].name), "t14");
    CHECK_UINT(m.out.odd_types[15].name, 0);
    release(&m);
}

/* Equal ones are one row. */
static void test_reader__configs(void)
{
    struct made m = made();
    struct msim_idmap known = {0};
    uint32_t row;

    for (int turn = 0; turn < 2; turn++)
        for (uint32_t i = 0; i < 200; i++) {
            struct msim_launch_config c = {.grid = {i, 1, 1},
                                           .block = {1, i % 7, 1},
                                           .registers = 32,
                                           .shared_bytes = i / 100};

            CHECK_INT(msim_read_config(m.t, &known, &c, &row), MSIM_OK);
            CHECK_UINT(row, i);
        }
    CHECK_UINT(m.t->n_configs, 200);
    CHECK_UINT(m.t->configs[150].grid[0], 150);
    CHECK_UINT(m.t->configs[150].shared_bytes, 1);
    msim_idmap_release(&known);
    release(&m);
}

/* ---- groups -------------------------------------------------------------- */

static void list_of(const struct made *m, uint32_t i, char *text, size_t size)
{
    const struct msim_group *g = &m->t->groups[i];
    size_t used = 0;

    text[0] = '\0';
    for (uint32_t k = 0; k < g->count; k++)
        used += (size_t)snprintf(text + used, size - used, "%s%d", k ? " " : "",
                                 m->t->group_ranks[g->first + k]);
}

static void check_group(const struct made *m, uint32_t i, const char *name,
                        uint32_t size, const char *ranks, bool completed)
{
    char text[400];

    if (!CHECK(i < m->t->n_groups))
        return;
    list_of(m, i, text, sizeof(text));
    CHECK_STR(msim_strtab_text(m->r.strings, m->t->groups[i].name), name);
    CHECK_UINT(m->t->groups[i].size, size);
    CHECK_STR(text, ranks);
    CHECK_INT(m->t->groups[i].completed, completed);
}

static void parse(struct made *m, const char *text)
{
    CHECK_INT(msim_group_parse_list(&m->r, text, strlen(text)), MSIM_OK);
}

static void test_read_groups__list(void)
{
    struct made m = made();

    parse(&m, "[{\"pg_name\": \"0\", \"ranks\": [0, 1, 5], \"pg_size\": 3, "
              "\"backend_id\": 94},"
              "{\"pg_name\": 7, \"ranks\": \"[2, 3]\", \"other\": {\"ranks\": "
              "[9]}},"
              "{\"pg_name\": \"all\", \"ranks\": [], \"group_size\": 2},"
              "{\"pg_name\": \"size alone\", \"group_size\": 4}, 12, \"x\"]");
    CHECK_UINT(m.t->n_groups, 4);
    check_group(&m, 0, "0", 3, "0 1 5", false);
    check_group(&m, 1, "7", 2, "2 3", false);
    check_group(&m, 2, "all", 2, "0 1", false); /* an empty list: all ranks */
    check_group(&m, 3, "size alone", 4, "", false);
    release(&m);
}

/* A pointer is another name; it may be said before. */
static void test_read_groups__alias(void)
{
    struct made m = made();
    uint32_t name = 0, group = 9;

    parse(&m, "[{\"pg_name\": \"0\", \"ranks\": [0, 1], \"backend_id\": 94}]");
    CHECK_INT(msim_read_string(&m.r, "94", 2, &name), MSIM_OK);
    CHECK_INT(msim_group_get(&m.r, name, &group), MSIM_OK);
    CHECK_UINT(group, 0);
    CHECK_UINT(m.t->n_groups, 1);
    CHECK_INT(msim_read_string(&m.r, "95", 2, &name), MSIM_OK);
    CHECK_INT(msim_group_get(&m.r, name, &group), MSIM_OK);
    CHECK_UINT(group, 1);
    release(&m);
}

/* What is before a cut counts. */
static void test_read_groups__cut_text(void)
{
    struct made m = made();

    parse(&m, "[{\"pg_name\": \"0\", \"ranks\": [0, 1]}, {\"pg_name\": \"1\", "
              "\"ra");
    CHECK_UINT(m.t->n_groups, 1);
    check_group(&m, 0, "0", 2, "0 1", false);
    release(&m);
}

/* Less than the job, or no number of ranks, an empty list does not say. */
static void test_read_groups__empty_list(void)
{
    struct made m = made();

    m.t->world_size = 4;
    parse(&m, "[{\"pg_name\": \"a\", \"ranks\": [], \"pg_size\": 3},"
              "{\"pg_name\": \"b\", \"ranks\": [], \"pg_size\": 4},"
              "{\"pg_name\": \"c\", \"ranks\": []},"
              "{\"pg_name\": \"d\", \"ranks\": [], \"pg_size\": 1048577},"
              "{\"pg_name\": \"e\", \"ranks\": [], \"pg_size\": -1},"
              "{\"pg_name\": \"f\", \"ranks\": [], \"pg_size\": 4294967295}]");
    check_group(&m, 0, "a", 3, "", false);
    check_group(&m, 1, "b", 4, "0 1 2 3", false);
    check_group(&m, 2, "c", 0, "", false);
    check_group(&m, 3, "d", 1048577, "", false);
    check_group(&m, 4, "e", 0, "", false);
    check_group(&m, 5, "f", 0, "", false);
    release(&m);
}

/* Groups of one name and other ranks are others. */
static void test_read_groups__one_name(void)
{
    struct made m = made();

    parse(&m, "[{\"pg_name\": \"0\", \"ranks\": [0, 1]},"
              "{\"pg_name\": \"0\", \"ranks\": [2, 3]},"
              "{\"pg_name\": \"0\", \"ranks\": [0, 1, 2]},"
              "{\"pg_name\": \"0\", \"ranks\": [2, 3]},"
              "{\"pg_name\": \"0\", \"group_size\": 9}]");
    CHECK_UINT(m.t->n_groups, 3);
    check_group(&m, 0, "0", 2, "0 1", false);
    check_group(&m, 1, "0", 2, "2 3", false);
    check_group(&m, 2, "0", 3, "0 1 2", false);
    release(&m);
}

/* ---- lists that were cut ------------------------------------------------- */

static void check_cut(const char *list, uint32_t size, int64_t stride,
                      uint32_t world, const char *want)
{
    struct made m = made();
    uint32_t group;

    m.t->world_size = world;
    CHECK_INT(msim_group_parse_ranks(&m.spec, list, strlen(list)), 0);
    m.spec.size = size;
    m.spec.stride = stride;
    m.spec.start = 0;
    CHECK_INT(msim_group_define(&m.r, &m.spec, &group), MSIM_OK);
    CHECK_UINT(group, 0);
    check_group(&m, 0, "", size, want, *want && strstr(list, ".."));
    release(&m);
}

/* Distances repeat after one rank, two, ...; or a stride says all. */
static void test_read_groups__completes(void)
{
    check_cut("[0, 1, 2, ...]", 6, 0, 0, "0 1 2 3 4 5");
    check_cut("[3, 5, 7, ...]", 5, 0, 0, "3 5 7 9 11");
    check_cut("[0, 1, 4, 5, 8, ...]", 7, 0, 0, "0 1 4 5 8 9 12");
    check_cut("[0, 1, 4, 5, ...]", 7, 0, 0, ""); /* once is no repetition */
    check_cut("[0, 1, ...]", 4, 0, 0, "");
    check_cut("[0, 1, ...]", 4, 1, 0, "0 1 2 3");
    check_cut("[0, 2, ...]", 4, 2, 0, "0 2 4 6");
    check_cut("[0, 2, ...]", 4, 1, 0, ""); /* they do not lie so */
    check_cut("[0, 1, 3, ...]", 4, 0, 0, "");
    check_cut("[0, 1, 2, ...]", 4, 0, 4, "0 1 2 3");
    check_cut("[0, 1, 2, ...]", 5, 0, 4, ""); /* no rank of the job */
    check_cut("[4, 2, 0, ...]", 4, 0, 0, ""); /* nor is -2 */
    check_cut("[0, 1, 2, ...]", 2, 0, 0, ""); /* more than there are */
    check_cut("[0, 1, 2, ...]", 3, 0, 0, "0 1 2");
    /* No one stride: then one distance is none, two may be. */
    check_cut("[0, 1, 2, ...]", 6, -1, 0, "");
    check_cut("[0, 1, 4, 5, 8, ...]", 7, -1, 0, "0 1 4 5 8 9 12");
    check_cut("[0, 1, 2]", 3, 0, 0, "0 1 2");
    check_cut("[0, 1, 2]", 6, 0, 0, "0 1 2"); /* it is all there is */
    check_cut("[0, 1, 2]", 6, 1, 0, "0 1 2");
}

/* Without a list start and stride say all, up to a million ranks. */
static void check_stride(int64_t start, int64_t stride, uint32_t size,
                         const char *want)
{
    struct made m = made();
    uint32_t group;

    m.spec.size = size;
    m.spec.start = start;
    m.spec.stride = stride;
    CHECK_INT(msim_group_define(&m.r, &m.spec, &group), MSIM_OK);
    check_group(&m, 0, "", size, want, *want != '\0');
    release(&m);
}

static void test_read_groups__stride(void)
{
    check_stride(0, 1, 4, "0 1 2 3");
    check_stride(6, 8, 3, "6 14 22");
    check_stride(6, 0, 3, "");
    check_stride(6, -1, 3, "");
    check_stride(-3, 1, 3, "");
    check_stride(2147483646, 1, 2, "2147483646 2147483647");
    check_stride(2147483646, 1, 3, "");
    check_stride(0, 1, (1u << 20) + 1, "");
}

static void test_read_groups__ranks_of_a_text(void)
{
    struct made m = made();
    const int32_t *ranks;

    CHECK_INT(msim_group_parse_ranks(&m.spec, "[7, 12,x 3] 99999999999", 23),
              0);
    REQUIRE(m.spec.ranks.n == 4);
    ranks = m.spec.ranks.data;
    CHECK_INT(ranks[0], 7);
    CHECK_INT(ranks[1], 12);
    CHECK_INT(ranks[2], 3);
    CHECK_INT(ranks[3], -1); /* no rank's number */
    CHECK(m.spec.listed && !m.spec.cut);
    CHECK_INT(msim_group_parse_ranks(&m.spec, "[1, 2..., 3", 11), 0);
    CHECK_UINT(m.spec.ranks.n, 2);
    CHECK(!m.spec.listed && m.spec.cut);
    m.spec.name = m.spec.alias = m.spec.size = 1;
    m.spec.start = m.spec.stride = 1;
    msim_group_spec_reset(&m.spec);
    CHECK(!m.spec.name && !m.spec.alias && !m.spec.size && !m.spec.start &&
          !m.spec.stride && !m.spec.listed && !m.spec.cut && !m.spec.ranks.n);
    release(&m);
}

int main(void)
{
    RUN(test_reader__counts);
    RUN(test_reader__leaves_out);
    RUN(test_reader__problem);
    RUN(test_reader__odd_types);
    RUN(test_reader__configs);
    RUN(test_read_groups__list);
    RUN(test_read_groups__alias);
    RUN(test_read_groups__cut_text);
    RUN(test_read_groups__empty_list);
    RUN(test_read_groups__one_name);
    RUN(test_read_groups__completes);
    RUN(test_read_groups__stride);
    RUN(test_read_groups__ranks_of_a_text);
    return check_summary();
}
