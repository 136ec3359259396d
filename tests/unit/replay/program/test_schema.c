/*
 * tests/unit/replay/program/test_schema.c - signatures as execution traces
 * write them. Expectations are read off PyTorch's native_functions.yaml.
 */
#include "replay/program/program.h"

#include "tests/check.h"

static void check_piece(struct msim_schema_piece p, const char *want)
{
    char text[256];

    REQUIRE(p.len < sizeof(text));
    memcpy(text, p.at ? p.at : "", p.len);
    text[p.len] = '\0';
    CHECK_STR(text, want);
}

static void test_schema__names_and_overloads(void)
{
    struct msim_schema s;

    REQUIRE(msim_schema_read(&s, "aten::add.Tensor(Tensor self, Tensor other, "
                                 "*, Scalar alpha=1) -> Tensor"));
    CHECK_STR(s.name, "aten::add");
    CHECK_STR(s.overload, "Tensor");
    CHECK_UINT(s.n_args, 3);
    check_piece(s.args[0].name, "self");
    check_piece(s.args[0].missing, "");
    CHECK(!s.args[1].by_name && s.args[2].by_name && s.args[2].real);
    check_piece(s.args[2].name, "alpha");
    check_piece(s.args[2].missing, "1");
    CHECK(msim_schema_is(&s.args[1], "other"));
    CHECK(!msim_schema_is(&s.args[1], "othe"));
    CHECK(!msim_schema_is(&s.args[1], "others"));
    CHECK_UINT(s.n_results, 1);
    REQUIRE(msim_schema_read(&s, "aten::mm(Tensor self, Tensor mat2) -> "
                                 "Tensor"));
    CHECK_STR(s.overload, "");
}

/* Defaults hold commas, brackets and blanks of their own. */
static void test_schema__defaults(void)
{
    struct msim_schema s;

    REQUIRE(msim_schema_read(
        &s, "my::op(int[2] stride=[1, 2], str mode=\"a b\", float eps=1e-05, "
            "int[3] pad=[0,0,0], Tensor? w=None, bool f=False) -> Tensor"));
    CHECK_UINT(s.n_args, 6);
    check_piece(s.args[0].missing, "[1, 2]");
    check_piece(s.args[0].name, "stride");
    CHECK(s.args[0].list && !s.args[4].list);
    check_piece(s.args[1].missing, "\"a b\"");
    check_piece(s.args[1].name, "mode");
    check_piece(s.args[2].missing, "1e-05");
    CHECK(s.args[2].real && !s.args[0].real);
    check_piece(s.args[3].missing, "[0,0,0]");
    check_piece(s.args[4].name, "w");
    CHECK_INT(s.args[4].kind, MSIM_SCHEMA_TENSOR);
    check_piece(s.args[5].missing, "False");
}

static void test_schema__text_defaults_with_brackets(void)
{
    struct msim_schema s;

    REQUIRE(msim_schema_read(&s, "my::op(str a=\")\", str b=', [', str "
                                 "c=\"x=y\", int d=3) -> ()"));
    REQUIRE(s.n_args == 4);
    check_piece(s.args[0].missing, "\")\"");
    check_piece(s.args[1].missing, "', ['");
    check_piece(s.args[2].name, "c");
    check_piece(s.args[2].missing, "\"x=y\"");
    check_piece(s.args[3].name, "d");
    CHECK_UINT(s.n_results, 0);
}

/* (a!) says written, (a) a view, (a -> *) that results may be either. */
static void test_schema__what_is_written(void)
{
    struct msim_schema s;

    REQUIRE(msim_schema_read(
        &s, "aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int "
            "dim=0) -> Tensor(a)[]"));
    CHECK_UINT(s.n_args, 3);
    CHECK(!s.args[0].written);
    check_piece(s.args[0].name, "self");
    CHECK(s.results_are_lists);
    REQUIRE(msim_schema_read(&s, "my::op(Tensor(a! -> *) self, Tensor(b!)[] "
                                 "out, Tensor(c) x) -> ()"));
    CHECK_UINT(s.n_args, 3);
    CHECK(s.args[0].written && s.args[1].written && !s.args[2].written);
    CHECK(s.args[1].list && !s.args[0].list);
    CHECK_INT(s.args[1].kind, MSIM_SCHEMA_TENSOR);
}

static void test_schema__by_name(void)
{
    struct msim_schema s;

    REQUIRE(msim_schema_read(
        &s, "aten::empty.memory_format(SymInt[] size, *, ScalarType? "
            "dtype=None, Layout? layout=None, Device? device=None, bool? "
            "pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"));
    CHECK_UINT(s.n_args, 6);
    CHECK(!s.args[0].by_name);
    for (uint32_t i = 1; i < 6; i++)
        CHECK(s.args[i].by_name);
    CHECK_INT(s.args[1].kind, MSIM_SCHEMA_DTYPE);
    CHECK_INT(s.args[2].kind, MSIM_SCHEMA_LAYOUT);
    CHECK_INT(s.args[3].kind, MSIM_SCHEMA_DEVICE);
    CHECK_INT(s.args[4].kind, MSIM_SCHEMA_PLAIN);
    CHECK_INT(s.args[5].kind, MSIM_SCHEMA_MEMORY_FORMAT);
}

static void test_schema__kinds(void)
{
    struct msim_schema s;

    REQUIRE(msim_schema_read(
        &s, "my::op(Generator? g, Storage s, Stream t, "
            "__torch__.torch.classes.c10d.ProcessGroup pg, str u) -> ()"));
    CHECK_INT(s.args[0].kind, MSIM_SCHEMA_GENERATOR);
    CHECK_INT(s.args[1].kind, MSIM_SCHEMA_STORAGE);
    for (uint32_t i = 2; i < 4; i++)
        CHECK_INT(s.args[i].kind, MSIM_SCHEMA_OBJECT);
    CHECK_INT(s.args[4].kind, MSIM_SCHEMA_PLAIN);
    CHECK(!s.collective);
}

/* c10d's do not mark what they write: all but what is called input. */
static void test_schema__collectives(void)
{
    struct msim_schema s;

    REQUIRE(msim_schema_read(
        &s, "c10d::_allgather_base_(Tensor output_tensor, Tensor input_tensor, "
            "__torch__.torch.classes.c10d.ProcessGroup process_group, bool "
            "async_op=True, int timeout=-1) -> (Tensor, "
            "__torch__.torch.classes.c10d.Work)"));
    CHECK(s.collective && s.args[0].written && !s.args[1].written);
    CHECK_UINT(s.n_results, 2);
    REQUIRE(msim_schema_read(&s, "c10d::send(Tensor[] tensors, "
                                 "__torch__.torch.classes.c10d.ProcessGroup "
                                 "process_group, int dst, int tag) -> "
                                 "__torch__.torch.classes.c10d.Work"));
    CHECK(s.collective && !s.args[0].written);
}

static void test_schema__results(void)
{
    static const struct {
        const char *text;
        uint32_t n;
        bool list;
    } cases[] = {
        {"a::b() -> ()", 0, false},
        {"a::b() -> Tensor", 1, false},
        {"a::b() -> Tensor[]", 1, true},
        {"a::b() -> Tensor(a)[]", 1, true},
        {"a::b() -> (Tensor, Tensor)", 2, false},
        {"a::b() -> (Tensor(a!) out, Tensor[] rest, int)", 3, false},
        {"a::b() -> (Tensor[], Tensor)", 2, false},
        {"a::b() -> (Tensor[])", 1, true},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct msim_schema s;

        REQUIRE(msim_schema_read(&s, cases[i].text));
        CHECK_UINT(s.n_results, cases[i].n);
        CHECK_INT(s.results_are_lists, cases[i].list);
        CHECK_UINT(s.n_args, 0);
    }
}

static void test_schema__garbage(void)
{
    static const char *const texts[] = {
        "",
        "(",
        ")",
        "aten::mm",
        "aten::mm(",
        "aten::mm(Tensor self",
        "aten::mm(Tensor self)",
        "aten::mm(Tensor self) Tensor",
        "mm(Tensor self) -> Tensor",
        "aten::mm(Tensor self, , int x) -> Tensor",
        "aten::mm(Tensor(a! self) -> Tensor",
        "[](aten::mm) -> x",
        "x(aten::mm) -> x",
        "::(Tensor a) -> Tensor",
        "aten::(Tensor a) -> Tensor",
        "aten::a b(Tensor a) -> Tensor",
        "aten::a.(Tensor a) -> Tensor",
        "a::b::c(Tensor a) -> Tensor",
        "a.b::c(Tensor a) -> Tensor",
        "aten::a'b(Tensor a) -> Tensor",
        "aten::1(Tensor a) -> Tensor",
        "aten::a.b-c(Tensor a) -> Tensor",
        "aten::a(Tensor a=1, *, int x;y=2) -> Tensor",
    };
    struct msim_schema s;

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (!CHECK(!msim_schema_read(&s, texts[i])))
            fprintf(stderr, "%s\n", texts[i]);
}

/* 64 arguments and names that just fit, and one more. */
static void test_schema__limits(void)
{
    for (uint32_t n = MSIM_SCHEMA_ARGS; n <= MSIM_SCHEMA_ARGS + 1; n++) {
        char text[2048];
        size_t len = (size_t)snprintf(text, sizeof(text), "a::b(");
        struct msim_schema s;

        for (uint32_t i = 0; i < n; i++)
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%sint x%u",
                                    i ? ", " : "", i);
        snprintf(text + len, sizeof(text) - len, ") -> ()");
        CHECK_INT(msim_schema_read(&s, text), n == MSIM_SCHEMA_ARGS);
        CHECK(s.n_args <= MSIM_SCHEMA_ARGS);
    }
    for (int len = 95; len <= 96; len++) {
        char text[256];
        struct msim_schema s;

        snprintf(text, sizeof(text), "a::b%0*d(int x) -> ()", len - 4, 0);
        CHECK_INT(msim_schema_read(&s, text), len == 95);
    }
    for (int len = 63; len <= 64; len++) {
        char text[256];
        struct msim_schema s;

        snprintf(text, sizeof(text), "a::b.c%0*d(int x) -> ()", len - 1, 0);
        CHECK_INT(msim_schema_read(&s, text), len == 63);
    }
}

int main(void)
{
    RUN(test_schema__names_and_overloads);
    RUN(test_schema__defaults);
    RUN(test_schema__text_defaults_with_brackets);
    RUN(test_schema__what_is_written);
    RUN(test_schema__by_name);
    RUN(test_schema__kinds);
    RUN(test_schema__collectives);
    RUN(test_schema__results);
    RUN(test_schema__garbage);
    RUN(test_schema__limits);
    return check_summary();
}
