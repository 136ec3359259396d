/*
 * A program's rows: what it says of itself, and memory that nobody wrote.
 */
#include "replay/program/program.h"

#include "tests/unit/made_ops.h"

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof(*(array)))

static void test_role__words(void)
{
    static const char *const WORDS[] = {
        [MSIM_ROLE_PARAMETER] = "parameter", [MSIM_ROLE_STATE] = "state",
        [MSIM_ROLE_INPUT] = "input",         [MSIM_ROLE_INDEX] = "index",
        [MSIM_ROLE_OFFSETS] = "offsets",     [MSIM_ROLE_POSITIVE] = "positive",
        [MSIM_ROLE_MEMORY] = "memory"};

    for (uint32_t i = 0; i < COUNT(WORDS); i++)
        CHECK_STR(msim_tensor_role_text((enum msim_tensor_role)i), WORDS[i]);
}

/* Notes are kept in order, each of at most 511 bytes. */
static void test_note__sentences(void)
{
    struct msim_program *p = calloc(1, sizeof(*p));
    char text[600];

    REQUIRE(p != NULL);
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    CHECK_INT(msim_program_note(p, "%d of %s", 3, "a"), MSIM_OK);
    CHECK_INT(msim_program_note(p, "%s", text), MSIM_OK);
    CHECK_INT(p->notes.n, 2);
    CHECK_STR(((char **)p->notes.data)[0], "3 of a");
    CHECK_INT(strlen(((char **)p->notes.data)[1]), 511);
    msim_program_free(p);
    msim_program_free(NULL);
}

/* A group of some ranks; all of them are none, and so are unknown ones. */
static void test_group__of_some(void)
{
    static const struct {
        uint32_t comm, group, size, group_is;
    } ROWS[] = {{0, 1, 4, 1},
                {0, 1, 7, 1},
                {0, 1, 8, MSIM_NONE},
                {0, 1, 9, MSIM_NONE},
                {0, 1, 0, MSIM_NONE},
                {0, 1, 1, 1},
                {0, MSIM_NONE, 4, MSIM_NONE},
                {MSIM_NONE, 1, 4, MSIM_NONE}};

    for (uint32_t i = 0; i < COUNT(ROWS); i++) {
        struct msim_group groups[2] = {{.size = 2}, {.size = ROWS[i].size}};
        struct msim_comm comms[] = {{.group = ROWS[i].group}};
        struct msim_trace t = {
            .groups = groups, .comms = comms, .world_size = 8};
        struct msim_program p = {.trace = &t};
        struct msim_statement s = {.comm = ROWS[i].comm};

        CHECK_INT(msim_program_group(&p, &s), ROWS[i].group_is);
    }
}

static void test_backwards__counted(void)
{
    struct msim_statement s[] = {{.kind = MSIM_STATEMENT_BACKWARD},
                                 {.kind = MSIM_STATEMENT_CALL},
                                 {.kind = MSIM_STATEMENT_WAIT},
                                 {.kind = MSIM_STATEMENT_BACKWARD},
                                 {.kind = MSIM_STATEMENT_BACKWARD}};
    struct msim_program p = {.statements = {.data = s, .n = 4}};

    CHECK_INT(msim_program_backwards(&p), 2); /* the fifth is none of it */
    p.statements.n = 0;
    CHECK_INT(msim_program_backwards(&p), 0);
}

/* ---- what is left out ---------------------------------------------------- */

static void test_left__groups(void)
{
    static const char ODD[] = "odd", RARE[] = "rare";
    static struct build b;
    struct msim_left_group groups[MSIM_LEFT_GROUPS];
    struct msim_left_out left[24];
    struct msim_program p = {.left_out = {.data = left, .n = 5}};
    uint32_t others = 77;
    char name[16];

    build_init(&b);
    p.trace = &b.t;
    for (uint32_t i = 0; i < COUNT(left); i++) {
        snprintf(name, sizeof(name), "op%u", i);
        left[i] = (struct msim_left_out){build_op(&b, 0, name, "", NULL), ODD};
    }
    left[1].op = left[3].op = left[0].op; /* op0 for two reasons, op2, op4 */
    left[3].reason = RARE;
    CHECK_INT(msim_program_left_groups(&p, groups, &others), 4);
    CHECK_INT(others, 0);
    CHECK_STR(groups[0].name, "op0");
    CHECK_STR(groups[0].reason, "odd");
    CHECK_INT(groups[0].n, 2);
    CHECK_STR(groups[1].name, "op2");
    CHECK_STR(groups[2].name, "op0");
    CHECK_STR(groups[2].reason, "rare");
    CHECK_INT(groups[2].n, 1);
    CHECK_STR(groups[3].name, "op4");
    /* 24 operators, of which 23 groups: 16 are told apart, and what is of one
     * of them counts there behind those that are not, too */
    p.left_out.n = 24;
    left[3] = left[0];
    left[23] = left[0];
    CHECK_INT(msim_program_left_groups(&p, groups, &others), 16);
    CHECK_INT(groups[0].n, 4);
    CHECK_STR(groups[15].name, "op17");
    CHECK_INT(others, 24 - 4 - 15);
    build_release(&b);
}

/* ---- memory that nobody writes ------------------------------------------- */

#define EMPTY  "aten::empty.memory_format(SymInt[] size) -> Tensor"
#define STORED "aten::set_.s(Tensor(a!) self, Storage source) -> Tensor(a!)"
#define READS  "aten::relu(Tensor self) -> Tensor"
#define WRITES "aten::fill_(Tensor(a!) self, Scalar value) -> Tensor(a!)"

/* Value 0 of statement 0 is made by `schema` as `out`; statement `at`, with
 * `n` operands of which the k-th is that value, does `use`. */
struct case_of {
    const char *schema, *out, *use, *args;
    uint32_t at, k, n, last;
    bool unwritten;
};

static bool is_unwritten(const struct case_of *c)
{
    static struct build b;
    static struct msim_statement s[100];
    struct msim_schema schemas[2] = {{0}};
    struct msim_program_input operands[3] = {
        {MSIM_INPUT_OUTSIDE, 0}, {MSIM_INPUT_VALUE, 1}, {MSIM_INPUT_VALUE, 2}};
    struct msim_program_value values[] = {{.last = c->last}};
    struct msim_program p = {.trace = &b.t,
                             .schemas = {.data = schemas, .n = 2},
                             .statements = {.data = s, .n = 100},
                             .operands = {.data = operands, .n = 3},
                             .values = {.data = values, .n = 1}};
    bool is;

    build_init(&b);
    build_op(&b, 0, "maker", "", c->out);
    build_op(&b, 0, "user", c->args, NULL);
    CHECK(!c->schema || msim_schema_read(&schemas[0], c->schema));
    CHECK(msim_schema_read(&schemas[1], c->use));
    operands[c->k] = (struct msim_program_input){MSIM_INPUT_VALUE, 0};
    for (uint32_t i = 0; i < COUNT(s); i++)
        s[i] = (struct msim_statement){.schema = 1, .op = 1};
    s[0] = (struct msim_statement){.schema = c->schema ? 0 : MSIM_NONE,
                                   .n_out = 1};
    s[c->at].n_in = c->n;
    is = msim_program_unwritten(&p, 0);
    s[0].n_out = 2; /* one of two results is not known */
    CHECK(!msim_program_unwritten(&p, 0));
    build_release(&b);
    return is;
}

static void test_unwritten__memory(void)
{
    static const struct case_of ROWS[] = {
        {EMPTY, "f32[2]@", READS, "f32[2]@", 1, 0, 1, 1, true},
        {EMPTY, "f32[2]@", READS, "f32[2]@", 9, 0, 1, 9, true},
        {EMPTY, "f32[2]@", WRITES, "f32[2]@", 1, 0, 1, 1, false},
        {STORED, "f32[2]@", READS, "f32[2]@", 1, 0, 1, 1, true},
        {READS, "f32[2]@", READS, "f32[2]@", 1, 0, 1, 1, false},
        /* on a GPU, of no elements, no tensor, of an unknown operator */
        {EMPTY, "f32[2]", READS, "f32[2]", 1, 0, 1, 1, false},
        {EMPTY, "f32[0,2]@", READS, "f32[2]@", 1, 0, 1, 1, false},
        {EMPTY, "f32[2,0]@", READS, "f32[2]@", 1, 0, 1, 1, false},
        {EMPTY, "f32[]@", READS, "f32[]@", 1, 0, 1, 1, true},
        {EMPTY, "3", READS, "f32[2]@", 1, 0, 1, 1, false},
        {NULL, "f32[2]@", READS, "f32[2]@", 1, 0, 1, 1, false},
        /* what is written is the first operand, and the first argument */
        {EMPTY, "f32[2]@", WRITES, "f32[2]@", 1, 1, 3, 1, true},
        {EMPTY, "f32[2]@", WRITES, "f32[2]@", 1, 2, 3, 1, true},
        {EMPTY, "f32[2]@", WRITES, "3 f32[2]@", 1, 0, 1, 1, true},
        /* nobody reads it, or not within 64 statements */
        {EMPTY, "f32[2]@", READS, "f32[2]@", 1, 1, 1, 1, false},
        {EMPTY, "f32[2]@", READS, "f32[2]@", 2, 0, 1, 1, false},
        {EMPTY, "f32[2]@", READS, "f32[2]@", 64, 0, 1, 90, true},
        {EMPTY, "f32[2]@", READS, "f32[2]@", 65, 0, 1, 90, false},
    };

    for (uint32_t i = 0; i < COUNT(ROWS); i++)
        if (!CHECK_INT(is_unwritten(&ROWS[i]), ROWS[i].unwritten))
            fprintf(stderr, "row %u\n", i);
}

int main(void)
{
    RUN(test_role__words);
    RUN(test_note__sentences);
    RUN(test_group__of_some);
    RUN(test_backwards__counted);
    RUN(test_left__groups);
    RUN(test_unwritten__memory);
    return check_summary();
}
