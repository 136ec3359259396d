/*
 * tests/unit/replay/program/test_callable.c - which operators of a trace a
 * program calls: none that may do more than compute, whatever its signature
 * says of it.
 */
#include "tests/unit/made_et.h"

/* Is an operator with this signature and these arguments called, where the user
 * trusts the name spaces `further`? */
static bool is_called(const char *signature, const char *arguments,
                      const char *further)
{
    struct msim_program_options options = {.step = MSIM_NONE,
                                           .namespaces = further};
    struct made_et m = {0};
    struct made_program x;
    bool called = false;

    et_op(&m, 100, ET_RELU, "1:2x4", "7:2x4");
    et_op(&m, 110, signature, arguments, "8:2x4");
    if (!CHECK(program_of(&m, &x, &options, false)))
        return false;
    called = x.p->left_out.n == 0;
    CHECK_UINT(x.p->statements.n, called ? 2 : 1);
    program_done(&x);
    return called;
}

#define CHECK_CALLED(...)     CHECK(is_called(__VA_ARGS__, NULL))
#define CHECK_NOT_CALLED(...) CHECK(!is_called(__VA_ARGS__, NULL))

static void test_callable__files(void)
{
    CHECK_NOT_CALLED("aten::from_file(str filename, bool? shared=None, int? "
                     "size=0) -> Tensor",
                     "'victim.txt =true =5");
    CHECK_NOT_CALLED("aten::save(t item, str filename) -> ()", "1:2x4 'out");
    CHECK_NOT_CALLED("debugprims::load_tensor(str name) -> Tensor", "'in");
    CHECK_NOT_CALLED("image::write_file(str filename, Tensor data) -> ()",
                     "'out 1:2x4");
    /* A text in a list, or where the signature has none. */
    CHECK_NOT_CALLED("aten::cat(str[] names) -> Tensor", "('a 'b)");
    CHECK_NOT_CALLED("aten::relu(Tensor self) -> Tensor", "'victim.txt");
    CHECK_NOT_CALLED("aten::from_file(Tensor self) -> Tensor", "'v");
    /* A word of another operator: the signature lies about the name. */
    CHECK_NOT_CALLED("aten::from_file(str reduce, bool? shared=None, int? "
                     "size=0) -> Tensor",
                     "'sum =true =5");
    /* No text at all: whether PyTorch takes it as one is not left to it. */
    CHECK_NOT_CALLED("aten::from_file(Device filename, bool? shared=None, int? "
                     "size=0) -> Tensor",
                     "- =true =5");
    CHECK_NOT_CALLED("aten::from_file(Tensor self) -> Tensor", "1:2x4");
}

static void test_callable__words(void)
{
    CHECK_CALLED("aten::div.Tensor_mode(Tensor self, Tensor other, *, str? "
                 "rounding_mode) -> Tensor",
                 "1:2x4 2:2x4 'floor");
    CHECK_CALLED("aten::div.Tensor_mode(Tensor self, Tensor other, *, str? "
                 "rounding_mode) -> Tensor",
                 "1:2x4 2:2x4 -");
    CHECK_CALLED("aten::gelu(Tensor self, *, str approximate='none') -> Tensor",
                 "1:2x4 'tanh");
    CHECK_CALLED("aten::einsum(str equation, Tensor[] tensors) -> Tensor",
                 "'ij,kj->ik (1:2x4 2:2x4)");
    CHECK_NOT_CALLED("aten::einsum(str equation, Tensor[] tensors) -> Tensor",
                     "'/etc/passwd (1:2x4)");
    CHECK_NOT_CALLED("aten::gelu(Tensor self, *, str approximate='none') -> "
                     "Tensor",
                     "1:2x4 'tanh2");
    /* another operator's word */
    CHECK_NOT_CALLED("aten::gelu(Tensor self, *, str approximate='none') -> "
                     "Tensor",
                     "1:2x4 'floor");
    CHECK_NOT_CALLED("aten::gelu(Tensor self, *, str approximate='none') -> "
                     "Tensor",
                     "1:2x4 '");
    /* A device is one of a few, whatever its text is. */
    CHECK_CALLED("aten::relu(Tensor self, Device device) -> Tensor",
                 "1:2x4 'cpu'+x");
}

static void test_callable__name_spaces(void)
{
    static const char MY[] = "my::relu(Tensor self) -> Tensor";

    CHECK(is_called(MY, "1:2x4", "your,my"));
    CHECK(!is_called(MY, "1:2x4", "your,m,my2"));
    CHECK_NOT_CALLED(MY, "1:2x4");
    CHECK_CALLED("torchvision::nms(Tensor a, Tensor b, float c) -> Tensor",
                 "1:2x4 2:2 =0.5");
    /* Words of Python's, and its own names: nobody can trust those. */
    CHECK(!is_called("async::x(Tensor self) -> Tensor", "1:2x4", "async"));
    CHECK(!is_called("my::x(Tensor self, *, int from) -> Tensor", "1:2x4 =1",
                     "my"));
    CHECK_NOT_CALLED("aten::__class__(Tensor self) -> Tensor", "1:2x4");
    CHECK_NOT_CALLED("aten::add.__init__(Tensor self) -> Tensor", "1:2x4");
    CHECK_CALLED("aten::__and__.Tensor(Tensor self, Tensor other) -> Tensor",
                 "1:2x4 2:2x4");
    /* No text goes to operators that the user trusts. */
    CHECK(
        !is_called("my::save(Tensor self, str name) -> ()", "1:2x4 'x", "my"));
}

/* What an operator calls that is not called itself may be called. */
static void test_callable__what_it_calls(void)
{
    struct msim_program_options options = {.step = MSIM_NONE};
    struct made_et m = {0};
    struct made_program x;

    et_node(&m, 100, 0, 1, "my::both(Tensor self) -> Tensor", "1:2x4", "8:2x4");
    et_node(&m, 101, 100, 1, ET_RELU, "1:2x4", "7:2x4");
    et_node(&m, 102, 100, 1, ET_TANH, "7:2x4", "8:2x4");
    REQUIRE(program_of(&m, &x, &options, false));
    CHECK_UINT(x.p->statements.n, 2);
    REQUIRE(x.p->left_out.n == 1);
    CHECK(strstr(msim_program_left_out(x.p, 0)->reason, "name space") != NULL);
    program_done(&x);
}

static void test_callable__groups(void)
{
    struct msim_left_group groups[MSIM_LEFT_GROUPS];
    struct made_et m = {0};
    struct made_program x;
    uint32_t others;
    char name[64];

    et_op(&m, 100, ET_RELU, "1:2x4", "7:2x4");
    for (unsigned i = 0; i < 2 * (MSIM_LEFT_GROUPS + 3); i++) {
        snprintf(name, sizeof(name), "your::op%u(Tensor x) -> Tensor", i / 2);
        et_op(&m, 110 + i, name, "7:2x4", "8:2x4");
    }
    REQUIRE(program_of(&m, &x, NULL, false));
    CHECK_UINT(msim_program_left_groups(x.p, groups, &others),
               MSIM_LEFT_GROUPS);
    CHECK_STR(groups[0].name, "your::op0");
    CHECK_UINT(groups[0].n, 2);
    CHECK_UINT(others, 6);
    program_done(&x);
}

int main(void)
{
    RUN(test_callable__files);
    RUN(test_callable__words);
    RUN(test_callable__name_spaces);
    RUN(test_callable__what_it_calls);
    RUN(test_callable__groups);
    return check_summary();
}
