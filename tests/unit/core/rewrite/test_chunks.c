/*
 * tests/unit/core/rewrite/test_chunks.c - a step that takes its parameters in
 * pieces, and the lists of an operator.
 *
 * A step is written as its statements: a letter is a name; with a number it has
 * two lists of so many, the first of them parameters that no statement had yet.
 * Capitals have those of the statement before, "x" lists of what is unknown,
 * "u" lists of two lengths; "f" is of the forward pass. Behind a bar the label
 * is another one.
 */
#include "core/rewrite/repeat/layer_copies.h"

#include "tests/unit/loaded.h"

#define MOST 32  /* statements */
#define ROOM 256 /* arguments, tensors */

static struct msim_op ops[MOST];
static struct msim_anatomy_statement rows[MOST];
static struct msim_arg args[ROOM];
static struct msim_arg_block blocks[MOST];
static uint32_t of[ROOM];
static uint8_t kind[ROOM];
static struct msim_trace t;
static struct msim_weave w;
static uint32_t n_ids, n_lives;

static void add_list(uint32_t n, bool known)
{
    args[t.n_args++] =
        (struct msim_arg){.kind = MSIM_ARG_LIST, .n = (uint8_t)n, .v.i = n};
    for (uint32_t i = 0; i < n; i++) {
        args[t.n_args++].kind = MSIM_ARG_TENSOR;
        of[n_ids++] = n_lives;
        kind[n_lives++] = known ? MSIM_LIFE_PARAMETER : MSIM_LIFE_STATE;
    }
}

static void add_statement(char name, uint32_t n, uint32_t label)
{
    uint32_t s = w.a.n++, first = t.n_args;
    bool again = name >= 'A' && name <= 'Z';

    ops[s] = msim_op_empty();
    ops[s].name = again ? (uint32_t)(name - 'A' + 'a') : (uint32_t)name;
    ops[s].parent = label;
    ops[s].args = s;
    ops[s].ids = n_ids;
    rows[s].op = s;
    rows[s].role = name == 'f' ? MSIM_ANATOMY_FORWARD : MSIM_ANATOMY_OPTIMIZER;
    if (n) {
        n_lives -= again ? 2 * n : 0;
        add_list(n, name != 'x');
        add_list(n, false);
    } else if (name == 'u') {
        add_list(2, false);
        add_list(3, false);
    }
    blocks[s] = (struct msim_arg_block){first, t.n_args - first};
}

static void make(const char *text)
{
    uint32_t label = 100;

    memset(args, 0, sizeof(args));
    n_ids = n_lives = 0;
    t = (struct msim_trace){.ops = ops, .args = args, .blocks = blocks};
    w = (struct msim_weave){
        .t = &t, .a.rows = rows, .d.lives.of = of, .kind = kind};
    for (const char *at = text; *at; at++) {
        bool counted = at[1] >= '1' && at[1] <= '9';

        if (*at == ' ')
            continue;
        if (*at == '|') {
            label++;
            continue;
        }
        add_statement(*at, counted ? (uint32_t)(at[1] - '0') : 0, label);
        at += counted;
    }
}

/* "FIRST-END of SIZE: MEMBERS, ALONE LISTS" of each row. */
static void check_chunks(const char *text, const char *want)
{
    struct msim_chunks c;
    struct spelled got = {"", 0};

    make(text);
    CHECK_INT(msim_chunks_find(&c, &w), MSIM_OK);
    for (uint32_t i = 0; i < c.n; i++)
        spell(&got, "%s%u-%u of %u: %u, %u %u", i ? "; " : "", c.rows[i].first,
              c.rows[i].end, c.rows[i].size, c.rows[i].members, c.rows[i].alone,
              c.rows[i].lists);
    if (!CHECK_STR(got.text, want))
        fprintf(stderr, "of '%s'\n", text);
    msim_chunks_release(&c);
    CHECK_UINT(c.n, 0);
}

static void test_chunks__find(void)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"cca2 cca2 ca1", "0-8 of 2: 5, 1 1"},
        {"a2b2 a2b2 a1b1", "0-6 of 2: 5, 0 2"},
        {"cdcda2b2 cda1b1", "0-10 of 2: 3, 2 2"},
        {"a1 a1 a1", "0-3 of 1: 3, 0 1"},
        {"a2 a2 c", "0-2 of 2: 4, 0 1"},
        {"f a2 a2", "1-3 of 2: 4, 0 1"},
        /* a smaller one is the last */
        {"a2 a1 a1", "0-2 of 2: 3, 0 1"},
        {"a2 a3", ""},
        /* one piece is none, nor are two of the same parameters */
        {"cca2", ""},
        {"a2 A2", ""},
        {"a2 b2", ""},
        /* another label */
        {"a2|a2", ""},
        {"c|ca2", ""},
        {"a2 a2|b2 b2", "0-2 of 2: 4, 0 1; 2-4 of 2: 4, 0 1"},
        /* not as many alone, or on lists; other names */
        {"cca2 a2", "2-4 of 2: 4, 0 1"},
        {"ca2 ca2", ""},
        {"a2b2 a2", ""},
        {"cca2 dca2", ""},
        {"cca2 cca2 ddb1", "0-6 of 2: 4, 1 1"},
        {"a2b2 a2c2", ""},
        /* what is not known tells pieces apart where it is worked on alone */
        {"x2 x2", ""},
        {"ccx2 ccx2", "0-6 of 2: 4, 1 1"},
        /* lists of two lengths are none */
        {"uua2 uua2", "0-6 of 2: 4, 1 1"},
        {"", ""},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check_chunks(cases[i].text, cases[i].want);
}

/* Five members in pieces of two, with three statements alone for each and two
 * lists, from statement 10 on: pieces at 10, 18 and 26. */
static void test_chunks__members(void)
{
    static const struct msim_chunk_row r = {.first = 10,
                                            .end = 31,
                                            .size = 2,
                                            .members = 5,
                                            .alone = 3,
                                            .lists = 2};
    static const uint32_t alone[] = {10, 13, 18, 21, 26},
                          list[] = {16, 16, 24, 24, 29};

    for (uint32_t i = 0; i < 5; i++) {
        for (uint32_t k = 0; k < 3; k++)
            CHECK_UINT(msim_chunk_alone(&r, i, k), alone[i] + k);
        for (uint32_t k = 0; k < 2; k++)
            CHECK_UINT(msim_chunk_list(&r, i, k), list[i] + k);
    }
}

/* ---- lists --------------------------------------------------------------- */

static void add_arg(uint8_t what, uint32_t n, int64_t v)
{
    args[t.n_args++] =
        (struct msim_arg){.kind = what, .n = (uint8_t)n, .v.i = v};
}

/* A tensor, a list of two, one of numbers, an empty one, one of lists, and a
 * list that comes out. */
static void test_chunks__lists(void)
{
    struct msim_lists f = {.of = 0};

    make("");
    add_arg(MSIM_ARG_TENSOR, 0, 0);
    add_list(2, true);
    add_arg(MSIM_ARG_LIST, 1, 1);
    add_arg(MSIM_ARG_INT, 0, 5);
    add_arg(MSIM_ARG_LIST, 0, 0);
    add_arg(MSIM_ARG_LIST, 1, 2);
    add_list(1, true); /* inside: a list of one */
    add_arg(MSIM_ARG_LIST, 2, 2);
    add_arg(MSIM_ARG_TENSOR, 0, 0);
    add_arg(MSIM_ARG_INT, 0, 5);
    blocks[0] = (struct msim_arg_block){0, t.n_args};
    blocks[1] = (struct msim_arg_block){t.n_args, 4};
    add_list(3, true);
    ops[0] = msim_op_empty();
    msim_lists_look(&f, &t, 0);
    CHECK_UINT(f.n, 0);
    ops[0].args = 0;
    ops[0].ids = 40;
    ops[0].outs = 1;
    msim_lists_look(&f, &t, 0); /* it was looked at before */
    CHECK_UINT(f.n, 0);
    f.of = 0;
    msim_lists_look(&f, &t, 0);
    REQUIRE(f.n == 2);
    CHECK_UINT(f.of, 1);
    CHECK_UINT(f.rows[0].arg, 1);
    CHECK_UINT(f.rows[0].id, 41);
    CHECK_UINT(f.rows[0].n, 2);
    CHECK(!f.rows[0].out);
    ops[0].out_ids = 60;
    ops[0].ids = MSIM_NONE; /* tensors without ids are in no list */
    f.of = 0;
    msim_lists_look(&f, &t, 0);
    REQUIRE(f.n == 1);
    CHECK_UINT(f.rows[0].arg, blocks[1].first);
    CHECK_UINT(f.rows[0].id, 60);
    CHECK_UINT(f.rows[0].n, 3);
    CHECK(f.rows[0].out);
}

/* So many, and no more. */
static void test_chunks__most_lists(void)
{
    for (uint32_t n = MSIM_CHUNKS_LISTS; n <= MSIM_CHUNKS_LISTS + 1; n++) {
        struct {
            struct msim_lists f;
            uint32_t behind;
        } x = {.behind = 77};

        make("");
        for (uint32_t i = 0; i < n; i++)
            add_list(1, true);
        blocks[0] = (struct msim_arg_block){0, t.n_args};
        ops[0] = msim_op_empty();
        ops[0].args = 0;
        ops[0].ids = 0;
        msim_lists_look(&x.f, &t, 0);
        CHECK_UINT(x.f.n, MSIM_CHUNKS_LISTS);
        CHECK_UINT(x.f.rows[MSIM_CHUNKS_LISTS - 1].id, MSIM_CHUNKS_LISTS - 1);
        CHECK_UINT(x.behind, 77);
    }
}

int main(void)
{
    RUN(test_chunks__find);
    RUN(test_chunks__members);
    RUN(test_chunks__lists);
    RUN(test_chunks__most_lists);
    return check_summary();
}
