/*
 * tests/unit/core/write_et/test_et_message.c - what the nodes of a written
 * execution trace say of messages and groups.
 */
#include "core/write_et/write_et_internal.h"

#include "tests/unit/loaded.h"

#define OPS 3

static struct msim_strtab *strings;

static uint32_t word(const char *text)
{
    uint32_t id = 0;

    CHECK_INT(msim_strtab_add(strings, text, strlen(text), &id), MSIM_OK);
    return id;
}

static int32_t group_ranks[] = {4, 6,    /* stride 2 */
                                3,       /* alone */
                                0, 1, 3, /* none */
                                5, 2,    /* downwards: none */
                                7, 7};
static struct msim_group groups[] = {{.size = 2, .first = 0, .count = 2},
                                     {.size = 0, .first = 2, .count = 1},
                                     {.size = 3, .first = 3, .count = 3},
                                     {.size = 2, .first = 6, .count = 2},
                                     {.size = 9}};
static const char *const GROUPS[] = {"pair", "one", "skew", "down", "other"};

static struct msim_op ops[OPS];
static struct msim_comm comm;
static struct msim_arg args[3];
static struct msim_arg_block blocks[] = {{0, 3}};
static struct msim_trace trace = {.ops = ops,
                                  .n_ops = OPS,
                                  .comms = &comm,
                                  .n_comms = 1,
                                  .args = args,
                                  .n_args = 3,
                                  .blocks = blocks,
                                  .n_blocks = 1,
                                  .groups = groups,
                                  .group_ranks = group_ranks};
static const struct msim_et_names names = {.t = &trace};

/* "NAME dtype in>out group size start+stride at place", "alone" where the
 * operator says nothing of it. */
static void check_said(const char *want)
{
    struct msim_et_said s = msim_et_said_of(&names, 0);
    struct spelled got = {"", 0};

    spell(&got, "%s %s %d>%d %s %d %d+%d at %d%s", s.message.name,
          s.message.dtype, (int)s.message.in_elems, (int)s.message.out_elems,
          s.message.group ? s.message.group : "-", (int)s.message.size,
          (int)s.message.start, (int)s.message.stride, (int)s.place,
          s.alone ? " alone" : "");
    CHECK_STR(got.text, want);
    CHECK_INT(s.sequence, comm.sequence);
    CHECK(s.block.names == &names);
    CHECK_UINT(s.block.block, ops[0].args);
    CHECK_UINT(s.block.ids, ops[0].ids);
}

static void test_et_message__groups_and_places(void)
{
    static const struct {
        uint32_t group;
        int32_t peer;
        bool by_place;
        uint8_t collective;
        int64_t rank;
        const char *want;
    } cases[] = {
        {0, -1, false, MSIM_COLL_ALL_REDUCE, 6,
         "all_reduce float 8>9 pair 2 4+2 at 1 alone"},
        {0, 6, false, MSIM_COLL_BROADCAST, 4,
         "broadcast float 8>9 pair 2 4+2 at 1 alone"},
        {0, 1, true, MSIM_COLL_SEND, 4, "send float 8>9 pair 2 4+2 at 1 alone"},
        {0, 9, false, MSIM_COLL_RECV, 4,
         "recv float 8>9 pair 2 4+2 at 0 alone"},
        {0, 0, true, MSIM_COLL_REDUCE, 6,
         "reduce float 8>9 pair 2 4+2 at 0 alone"},
        {0, 6, false, MSIM_COLL_GATHER, 4,
         "gather float 8>9 pair 2 4+2 at 1 alone"},
        {0, 6, false, MSIM_COLL_SCATTER, 4,
         "scatter float 8>9 pair 2 4+2 at 1 alone"},
        {0, 6, false, MSIM_COLL_BARRIER, 4,
         "barrier float 8>9 pair 2 4+2 at 0 alone"},
        {1, -1, false, MSIM_COLL_BARRIER, 3,
         "barrier float 8>9 one 1 3+1 at 0 alone"},
        {2, -1, false, MSIM_COLL_BARRIER, 3,
         "barrier float 8>9 skew 3 0+0 at 2 alone"},
        {3, -1, false, MSIM_COLL_BARRIER, 5,
         "barrier float 8>9 down 2 5+0 at 0 alone"},
        {4, 7, false, MSIM_COLL_SEND, 5,
         "send float 8>9 other 9 0+1 at 7 alone"},
        {4, -1, false, MSIM_COLL_BARRIER, 1,
         "barrier float 8>9 other 9 0+1 at 1 alone"},
        {4, -1, false, MSIM_COLL_BARRIER, -1,
         "barrier float 8>9 other 9 0+1 at 0 alone"},
        {MSIM_NONE, -1, false, MSIM_COLL_BARRIER, 5,
         "barrier float 8>9 default_pg 8 0+1 at 5 alone"},
        {MSIM_NONE, 3, false, MSIM_COLL_SEND, 5,
         "send float 8>9 default_pg 8 0+1 at 3 alone"},
        {MSIM_NONE, -1, false, MSIM_COLL_UNKNOWN, 0,
         " float 8>9 default_pg 8 0+1 at 0 alone"},
    };

    trace.world_size = 8;
    trace.n_groups = 5;
    ops[0] = msim_op_empty();
    ops[0].comm = 0;
    ops[0].ids = 77;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        trace.rank = cases[i].rank;
        comm = (struct msim_comm){.in_elems = 8,
                                  .out_elems = 9,
                                  .sequence = 4,
                                  .dtype = MSIM_DT_F32,
                                  .group = cases[i].group,
                                  .peer = cases[i].peer,
                                  .by_place = cases[i].by_place,
                                  .collective = cases[i].collective};
        check_said(cases[i].want);
    }
    trace.world_size = 1;
    comm.group = MSIM_NONE;
    check_said(" float 8>9 - 0 0+0 at 0 alone");
}

/* A name that was recorded stays, where it says what the message is. */
static void test_et_message__recorded_name(void)
{
    trace.rank = 0;
    ops[0] = msim_op_empty();
    ops[0].comm = 0;
    ops[0].args = 0;
    comm = (struct msim_comm){
        .collective = MSIM_COLL_ALL_REDUCE, .group = MSIM_NONE, .peer = -1};
    args[0] = (struct msim_arg){.kind = MSIM_ARG_INT, .v.i = word("send")};
    args[1] = (struct msim_arg){.kind = MSIM_ARG_STR,
                                .v.i = word("allreduce_coalesced")};
    args[2] = (struct msim_arg){.kind = MSIM_ARG_STR, .v.i = word("send")};
    check_said("all_reduce unknown 0>0 - 0 0+0 at 0 alone");
    ops[0].name = word("record_param_comms");
    check_said("allreduce_coalesced unknown 0>0 - 0 0+0 at 0");
    comm.collective = MSIM_COLL_ALL_GATHER;
    check_said("all_gather unknown 0>0 - 0 0+0 at 0");
    args[1].kind = MSIM_ARG_INT;
    comm.collective = MSIM_COLL_SEND;
    check_said("send unknown 0>0 - 0 0+0 at 0");
    args[2].kind = MSIM_ARG_INT;
    check_said("send unknown 0>0 - 0 0+0 at 0 alone");
}

/* ---- arguments ----------------------------------------------------------- */

static enum msim_status keep(void *ctx, const char *bytes, size_t n)
{
    struct spelled *to = ctx;

    spell(to, "%.*s", (int)n, bytes);
    return MSIM_OK;
}

static void check_column(const struct msim_et_said *s, enum msim_et_column c,
                         const char *want)
{
    struct spelled got = {"", 0};
    struct msim_json j;

    msim_json_begin(&j, keep, &got);
    msim_json_open(&j, NULL, '[', false);
    msim_et_said_put(&j, s, c);
    msim_json_close(&j);
    CHECK_INT(msim_json_end(&j), MSIM_OK);
    got.text[strcspn(got.text, "\n")] = '\0';
    CHECK_STR(got.text, want);
}

static void test_et_message__arguments(void)
{
    struct msim_et_said s = {
        .block = {&names, MSIM_NONE, MSIM_NONE},
        .message = {.name = "send", .size = 4, .start = 2, .stride = 3},
        .sequence = 7,
        .place = 1,
        .alone = true};

    check_column(&s, MSIM_ET_VALUES, "[7, 0, 1, \"send\", [], [], 2, 3, 4]");
    check_column(&s, MSIM_ET_SHAPES, "[[], [], [], [], [], [], [], [], []]");
    check_column(&s, MSIM_ET_STRIDES, "[[], [], [], [], [], [], [], [], []]");
    check_column(&s, MSIM_ET_TYPES,
                 "[\"Int\", \"Int\", \"Int\", \"String\", \"GenericList[]\", "
                 "\"GenericList[]\", \"Int\", \"Int\", \"Int\"]");
    s.message.group = "g";
    check_column(&s, MSIM_ET_VALUES,
                 "[7, [\"g\", \"g\"], 1, \"send\", [], [], 2, 3, 4]");
    check_column(&s, MSIM_ET_SHAPES,
                 "[[], [[], []], [], [], [], [], [], [], []]");
    check_column(&s, MSIM_ET_TYPES,
                 "[\"Int\", \"Tuple[String,String]\", \"Int\", \"String\", "
                 "\"GenericList[]\", \"GenericList[]\", \"Int\", \"Int\", "
                 "\"Int\"]");
    s.alone = false;
    args[0] = (struct msim_arg){.kind = MSIM_ARG_INT, .v.i = 5};
    args[1] = args[2] = args[0];
    s.block.block = 0;
    check_column(&s, MSIM_ET_VALUES, "[5, 5, 5]");
    s.block.block = MSIM_NONE;
    check_column(&s, MSIM_ET_VALUES, "[]");
}

/* ---- lists of groups ----------------------------------------------------- */

#define GROUP(name, ranks, size)                                               \
    "{\"pg_name\": \"" name "\", \"pg_desc\": \"" name                         \
    "\", \"backend_config\": \"cuda:nccl\", \"ranks\": [" ranks                \
    "], \"group_size\": " size ", \"group_count\": 9}"
#define ALL(size) GROUP("default_pg", "", size)

static void check_groups(const char *want)
{
    char *text;

    CHECK_INT(msim_et_groups_text(&text, &trace), MSIM_OK);
    CHECK_STR(text ? text : "-", want);
    free(text);
}

/* Those that a node lists already, that are not listed or whose list was made
 * up are left out; all ranks come last, where no group is of all. */
static void test_et_message__lists(void)
{
    static int32_t many[MSIM_ET_LISTED];
    char *text;

    trace.world_size = 8;
    trace.n_groups = 2;
    trace.n_comms = 0;
    ops[0] = msim_op_empty();
    check_groups("[" GROUP("pair", "4, 6",
                           "2") ", " GROUP("one", "3", "1") ", " ALL("8") "]");
    groups[1].completed = true;
    check_groups("[" GROUP("pair", "4, 6", "2") ", " ALL("8") "]");
    groups[0].count = MSIM_ET_LISTED + 1;
    check_groups("[" ALL("8") "]");
    trace.group_ranks = many;
    groups[0].count = MSIM_ET_LISTED;
    CHECK_INT(msim_et_groups_text(&text, &trace), MSIM_OK);
    CHECK(text && strstr(text, "\"pair\"") != NULL);
    free(text);
    trace.group_ranks = group_ranks;
    groups[0].count = 2;
    trace.world_size = 2; /* the first is of all */
    check_groups("[" GROUP("pair", "4, 6", "2") "]");
    trace.n_comms = 1; /* a message names no group */
    comm.group = MSIM_NONE;
    check_groups("[" GROUP("pair", "4, 6", "2") ", " ALL("2") "]");
    comm.group = 0;
    check_groups("[" GROUP("pair", "4, 6", "2") "]");
    trace.world_size = 1;
    comm.group = MSIM_NONE;
    check_groups("[" GROUP("pair", "4, 6", "2") "]");
    trace.n_groups = 0;
    check_groups("-");
    trace.world_size = 2;
    check_groups("[" ALL("2") "]");
    groups[1].completed = false;
}

static void test_et_message__listed_before(void)
{
    static const struct {
        const char *name, *text;
        bool listed;
    } cases[] = {
        {"## process_group:init ##", "[{\"pg_name\": \"pair\"}]", true},
        {"## process_group:init", "\"repair\" \"pairs\" \"pair\"", true},
        {"## process_group:init ##", "[{\"pg_name\": \"pairs\"}]", false},
        {"## process_group:init ##", "[{\"pg_name\": \"repair\"}]", false},
        {"## process_group ##", "[{\"pg_name\": \"pair\"}]", false},
    };

    trace.world_size = 2;
    trace.n_groups = 1;
    trace.n_comms = 0;
    ops[1] = ops[2] = msim_op_empty();
    ops[2].args = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ops[2].name = word(cases[i].name);
        args[0] =
            (struct msim_arg){.kind = MSIM_ARG_STR, .v.i = word(cases[i].text)};
        check_groups(cases[i].listed ? "-"
                                     : "[" GROUP("pair", "4, 6", "2") "]");
    }
    /* The group of all ranks may be listed, too. */
    trace.world_size = 8;
    ops[2].name = word("## process_group:init ##");
    args[0].v.i = word("[{\"pg_name\": \"default_pg\"}]");
    check_groups("[" GROUP("pair", "4, 6", "2") "]");
    args[0].kind = MSIM_ARG_INT;
    check_groups("[" GROUP("pair", "4, 6", "2") ", " ALL("8") "]");
}

/* A text may begin with the name, and a name may be empty. */
static void test_et_message__odd_names(void)
{
    static const struct {
        const char *name, *text, *want;
    } cases[] = {
        {"pair", "pair\"", "[" GROUP("pair", "4, 6", "2") "]"},
        {"", "[{\"pg_name\": \"a\"}]", "[" GROUP("", "4, 6", "2") "]"},
        {"", "[{\"pg_name\": \"\"}]", "-"},
        {"", "", "[" GROUP("", "4, 6", "2") "]"},
    };

    trace.world_size = 2;
    args[0].kind = MSIM_ARG_STR;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        groups[0].name = word(cases[i].name);
        args[0].v.i = word(cases[i].text);
        check_groups(cases[i].want);
    }
}

/* Of a group without a list: from its first rank on, or of all. */
static void test_et_file__group(void)
{
    static const struct {
        struct msim_et_group group;
        const char *want;
    } cases[] = {
        {{.name = "s", .size = 3, .start = 1, .stride = 4},
         GROUP("s", "1, 5, 9", "3")},
        {{.name = "w", .size = 3, .stride = 1, .whole = true},
         GROUP("w", "", "3")},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct spelled got = {"", 0};
        struct msim_json j;

        msim_json_begin(&j, keep, &got);
        msim_et_file_group(&j, &cases[i].group);
        CHECK_INT(msim_json_end(&j), MSIM_OK);
        got.text[strcspn(got.text, "\n")] = '\0';
        CHECK_STR(got.text, cases[i].want);
    }
}

int main(void)
{
    if (!CHECK(msim_strtab_new(&strings) == MSIM_OK))
        return check_summary();
    trace.strings = strings;
    for (size_t i = 0; i < sizeof(GROUPS) / sizeof(*GROUPS); i++)
        groups[i].name = word(GROUPS[i]);
    RUN(test_et_message__groups_and_places);
    RUN(test_et_message__recorded_name);
    RUN(test_et_message__arguments);
    RUN(test_et_message__lists);
    RUN(test_et_message__listed_before);
    RUN(test_et_message__odd_names);
    RUN(test_et_file__group);
    msim_strtab_free(strings);
    return check_summary();
}
