/*
 * Tensors that no machine can hold, or that nobody made; walks over those of an
 * operator, and its schema.
 */
#include "replay/program/program_internal.h"

#include "tests/unit/made_ops.h"

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof(*(array)))

/* An operator, its only schema, and the ids of its tensors. */
struct made {
    struct build b;
    struct msim_tensor_id ids[8];
    uint32_t strides[8];
    struct msim_schema schema;
    struct msim_program p;
    struct msim_builder builder;
    struct msim_error err;
};

static struct made *begin(const char *schema, const char *args,
                          const char *outs)
{
    static struct made m;

    memset(&m, 0, sizeof(m));
    build_init(&m.b);
    build_op(&m.b, 0, "aten::op", args, outs);
    m.b.ops[0].et_id = 17;
    m.b.ops[0].ids = 0;
    m.b.ops[0].out_ids = 4;
    m.b.t.tensor_ids = m.ids;
    m.b.t.tensor_strides = m.strides;
    for (uint32_t i = 0; i < COUNT(m.strides); i++)
        m.strides[i] = MSIM_NONE;
    CHECK(msim_schema_read(&m.schema, schema));
    m.p = (struct msim_program){.trace = &m.b.t,
                                .schemas = {.data = &m.schema, .n = 1}};
    m.builder = (struct msim_builder){.p = &m.p, .t = &m.b.t, .err = &m.err};
    return &m;
}

/* ---- sizes --------------------------------------------------------------- */

#define OP   "my::op(Tensor self) -> Tensor"
#define TERA "1099511627776" /* 2^40 */

/* 2^46 bytes are the most, 70 TB, and 2^46 elements. */
static void test_sizes__most(void)
{
    static const struct {
        const char *args, *outs;
        int64_t offset, out_offset;
        const char *refused; /* "[SIZES] and offset OFFSET"; NULL: it fits */
    } ROWS[] = {
        {"f32[2,3]", "f32[4]", 0, 0, NULL},
        {"f32[2,3]", "f32[4]", 7, 9, NULL},
        {"f32[-1,0]", NULL, 0, 0, NULL},
        /* an element more than there are, as it begins */
        {"bool[" TERA ",63]", NULL, 0, 0, NULL},
        {"bool[70368744177663]", NULL, 0, 0, NULL},
        {"bool[70368744177664]", NULL, 0, 0, "[70368744177664] and offset 0"},
        {"bool[70368744177663]", NULL, 1, 0, "[70368744177663] and offset 1"},
        {"bool[" TERA ",64]", NULL, 0, 0, "[" TERA ", 64] and offset 0"},
        {"f64[8796093022207]", NULL, 0, 0, NULL},
        {"f64[8796093022208]", NULL, 0, 0, "[8796093022208] and offset 0"},
        {"f32[" TERA "," TERA "," TERA "]", NULL, 0, 0,
         "[" TERA ", " TERA ", " TERA "] and offset 0"},
        {"f32[2]", NULL, -1, 0, "[2] and offset -1"},
        {"f32[2]", "f32[3]", 0, -1, "[3] and offset -1"},
        {"(f32[2] f32[" TERA ",99])", NULL, 0, 0,
         "[" TERA ", 99] and offset 0"},
        {"1 f32[" TERA ",99]", NULL, 0, 0, "[" TERA ", 99] and offset 0"},
        /* as many sizes as the words have room for */
        {"f32[" TERA "," TERA "," TERA "," TERA "," TERA "," TERA "," TERA
         "," TERA "," TERA "]",
         NULL, 0, 0,
         "[" TERA ", " TERA ", " TERA ", " TERA ", " TERA ", " TERA ", " TERA
         ", " TERA "] and offset 0"},
    };

    for (uint32_t i = 0; i < COUNT(ROWS); i++) {
        struct made *m = begin(OP, ROWS[i].args, ROWS[i].outs);
        char want[300] = "";

        m->ids[0].offset = ROWS[i].offset;
        m->ids[4].offset = ROWS[i].out_offset;
        if (ROWS[i].refused)
            snprintf(want, sizeof(want),
                     "node 17 'aten::op': its tensor of sizes %s is more than "
                     "any machine holds, want at most 2^46 bytes",
                     ROWS[i].refused);
        CHECK_INT(msim_builder_check(&m->builder, 0, 0),
                  ROWS[i].refused ? MSIM_EFORMAT : MSIM_OK);
        CHECK_STR(m->err.text, want);
        build_release(&m->b);
    }
}

/* A type that nobody knows has a byte at least. */
static void test_sizes__of_no_type(void)
{
    struct made *m = begin(OP, "bool[70368744177663]", NULL);

    m->b.args[0].dtype = MSIM_DT_UNKNOWN;
    CHECK_INT(msim_builder_check(&m->builder, 0, 0), MSIM_OK);
    m->ids[0].offset = 1;
    CHECK_INT(msim_builder_check(&m->builder, 0, 0), MSIM_EFORMAT);
    build_release(&m->b);
}

/* With strides memory ends behind the last element: 1 + (n - 1) * stride. */
static void test_sizes__strides(void)
{
    static const struct {
        int64_t strides[2], offset;
        bool fits;
    } ROWS[] = {{{0, 0}, 0, true}, /* 2^45 times the same element */
                {{1, 0}, 0, true},  {{2, 0}, 0, true},
                {{2, 1}, 0, true},  {{2, 1}, 1, false},
                {{2, 2}, 0, false}, {{1, INT64_C(1) << 44}, 0, true},
                {{3, 0}, 0, false}};

    for (uint32_t i = 0; i < COUNT(ROWS); i++) {
        struct made *m = begin(OP, "bool[35184372088832,2]", NULL); /* 2^45 */

        m->b.dims[2] = ROWS[i].strides[0];
        m->b.dims[3] = ROWS[i].strides[1];
        m->strides[0] = 2;
        m->b.t.n_tensor_strides = 1;
        m->ids[0].offset = ROWS[i].offset;
        if (!CHECK_INT(msim_builder_check(&m->builder, 0, 0),
                       ROWS[i].fits ? MSIM_OK : MSIM_EFORMAT))
            fprintf(stderr, "row %u\n", i);
        build_release(&m->b);
    }
}

/* ---- what was never made ------------------------------------------------- */

static void test_made__tensors(void)
{
    static const struct {
        const char *schema, *args, *absent; /* NULL: all are there */
    } ROWS[] = {
        {"my::op(Tensor self, int n) -> Tensor", "f32[2] 3", NULL},
        {"my::op(Tensor self, int n) -> Tensor", "f32[2] none", NULL},
        {"my::op(Tensor self, int n) -> Tensor", "none 3", "self"},
        {"my::op(Tensor self, Tensor other) -> Tensor", "f32[2] none", "other"},
        {"my::op(Tensor self, Tensor other) -> Tensor", "f32[2]", NULL},
        {"my::op(Tensor self) -> Tensor", "f32[2] none", NULL},
        {"my::op(Tensor? self) -> Tensor", "none", NULL},
        {"my::op(Tensor[] self) -> Tensor", "none", NULL},
        {"my::op(Tensor self) -> Tensor", "3", NULL},
        {"my::op_backward(Tensor self) -> Tensor", "none", NULL},
    };

    for (uint32_t i = 0; i < COUNT(ROWS); i++) {
        struct made *m = begin(ROWS[i].schema, ROWS[i].args, NULL);
        char want[200] = "";

        /* what stands behind the last argument is none */
        m->schema.args[m->schema.n_args].kind = MSIM_SCHEMA_TENSOR;
        if (ROWS[i].absent)
            snprintf(want, sizeof(want),
                     "node 17 'aten::op': its tensor '%s' was never made, want "
                     "one with an id and sizes",
                     ROWS[i].absent);
        CHECK_INT(msim_builder_check(&m->builder, 0, 0),
                  ROWS[i].absent ? MSIM_EFORMAT : MSIM_OK);
        CHECK_STR(m->err.text, want);
        build_release(&m->b);
    }
}

/* ---- walks --------------------------------------------------------------- */

/* Tensors have ids in preorder, and the place of the argument that they are
 * in. */
static void test_walk__tensors(void)
{
    static const struct {
        const char *args, *tensors; /* ID:ARGUMENT each */
    } ROWS[] = {
        {"", ""},
        {"3 none", ""},
        {"f32[1]", "5:0 "},
        {"f32[1] 3 f32[1]", "5:0 6:2 "},
        {"3 (f32[1] f32[2]) f32[1]", "5:1 6:1 7:2 "},
        {"(f32[1] 3 none) (1 2) (f32[2]) f32[1]", "5:0 6:2 7:3 "},
        {"() f32[1]", "5:1 "},
    };

    for (uint32_t i = 0; i < COUNT(ROWS); i++) {
        struct made *m = begin(OP, ROWS[i].args, NULL);
        struct msim_tensor_walk walk = {0};
        struct msim_tensor_at at;
        char text[80] = "";
        size_t n = 0;

        while (msim_tensor_next(&m->b.t, m->b.ops[0].args, 5, &walk, &at))
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%u:%u ", at.id,
                                  at.argument);
        CHECK_STR(text, ROWS[i].tensors);
        CHECK(!msim_tensor_next(&m->b.t, MSIM_NONE, 5, &walk, &at));
        build_release(&m->b);
    }
}

/* Read once for all operators that have it; none of what is no signature. */
static void test_schema__once(void)
{
    static const char *const TEXTS[] = {
        OP, "my::t(Tensor x) -> Tensor", OP, "nonsense", NULL, "nonsense"};
    static const uint32_t WANT[] = {0, 1, 0, MSIM_NONE, MSIM_NONE, MSIM_NONE};
    struct made *m = begin(OP, "", NULL);
    uint32_t schema;

    m->p.schemas = (struct msim_vec){0};
    for (uint32_t i = 0; i < COUNT(TEXTS); i++) {
        if (i > 0)
            build_op(&m->b, 0, "aten::op", "", NULL);
        if (TEXTS[i])
            m->b.ops[i].schema = build_text(&m->b, TEXTS[i]);
        CHECK_INT(msim_builder_schema(&m->builder, i, &schema), MSIM_OK);
        CHECK_INT(schema, WANT[i]);
    }
    CHECK_INT(m->p.schemas.n, 2);
    CHECK_STR(msim_program_schema(&m->p, 1)->name, "my::t");
    free(m->p.schemas.data);
    msim_idmap_release(&m->builder.schema_of);
    build_release(&m->b);
}

/* What looks alike is told by its storage's life, else by its own id. */
static void test_key__looks(void)
{
    struct made *m = begin(OP, "f32[2] f32[3]", NULL);
    uint32_t lives[8] = {4, 4, 9, MSIM_NONE};
    struct msim_tensor_at at = {.arg = &m->b.args[0]};
    struct msim_tensor_key a, b;

    m->p.lives.of = lives;
    a = msim_tensor_key_of(&m->builder, &at);
    at.id = 1; /* another tensor of the same life */
    m->ids[1].tensor = 1;
    b = msim_tensor_key_of(&m->builder, &at);
    CHECK_INT(b.id, 1);
    CHECK(a.look == b.look && a.exact != b.exact);
    at.arg = &m->b.args[1];
    CHECK(msim_tensor_key_of(&m->builder, &at).look != a.look);
    at = (struct msim_tensor_at){.arg = &m->b.args[0], .id = 2};
    CHECK(msim_tensor_key_of(&m->builder, &at).look != a.look);
    at.id = 1;
    m->ids[1].offset = 3;
    CHECK(msim_tensor_key_of(&m->builder, &at).look != a.look);
    m->ids[1].offset = 0;
    m->b.args[0].dtype = MSIM_DT_F16;
    CHECK(msim_tensor_key_of(&m->builder, &at).look != a.look);
    m->b.args[0].dtype = MSIM_DT_F32;
    m->b.args[0].n = 2;
    CHECK(msim_tensor_key_of(&m->builder, &at).look != a.look);
    m->b.args[0].n = 1;
    CHECK(msim_tensor_key_of(&m->builder, &at).look == a.look);
    m->b.t.n_tensor_strides = 8;
    m->strides[1] = 5;
    a = msim_tensor_key_of(&m->builder, &at);
    m->strides[1] = 6;
    CHECK(msim_tensor_key_of(&m->builder, &at).look != a.look);
    /* without a life the id is the look: 3 is no life of that number */
    lives[1] = 3;
    m->b.t.n_tensor_strides = 0;
    a = msim_tensor_key_of(&m->builder, &at);
    lives[1] = MSIM_NONE;
    m->ids[1].tensor = 3;
    b = msim_tensor_key_of(&m->builder, &at);
    CHECK(a.look != b.look);
    m->ids[1].tensor = 4;
    CHECK(msim_tensor_key_of(&m->builder, &at).look != b.look);
    build_release(&m->b);
}

int main(void)
{
    RUN(test_sizes__most);
    RUN(test_sizes__of_no_type);
    RUN(test_sizes__strides);
    RUN(test_made__tensors);
    RUN(test_walk__tensors);
    RUN(test_schema__once);
    RUN(test_key__looks);
    return check_summary();
}
