/*
 * What operators that give a tensor another shape say of its sizes; the letters
 * are those of made_sizes.h.
 */
#include "tests/unit/core/sizes/made_sizes.h"

struct told {
    const char *name, *args, *outs, *want;
};

static void hold(const struct told *c, size_t n)
{
    static struct made_sizes m;

    for (size_t i = 0; i < n; i++) {
        bool is = false;

        made_call(&m, c[i].name, c[i].args, c[i].outs);
        CHECK_INT(msim_size_shape(&m.l, &m.call, &is), MSIM_OK);
        CHECK(is);
        if (!CHECK_STR(made_told(&m), c[i].want))
            fprintf(stderr, "%s(%s) -> %s\n", c[i].name, c[i].args, c[i].outs);
        made_free(&m);
    }
}
#define HOLD(cases) hold(cases, sizeof(cases) / sizeof(*(cases)))

/* The least neighbours that have one product are tied, or one where they are
 * one each; sizes of 1 are nothing. */
static void test_shapes__views(void)
{
    static const struct told CASES[] = {
        {"aten::view", "f32[4,6] (24)", "f32[24]", "ab->c ab=c"},
        {"aten::view", "f32[24] (4 6)", "f32[4,6]", "a->bc a=bc"},
        {"aten::view", "f32[2,4,6] (8 6)", "f32[8,6]", "abc->dc ab=d"},
        {"aten::view", "f32[8,6] (8 2 3)", "f32[8,2,3]", "ab->acd b=cd"},
        {"aten::view", "f32[4,6] (6 4)", "f32[6,4]", "ab->cd ab=cd"},
        {"aten::view", "f32[2,3,10] (2 6 5)", "f32[2,6,5]", "abc->ade bc=de"},
        {"aten::unsqueeze", "f32[4,6] 0", "f32[1,4,6]", "ab->1ab"},
        {"aten::squeeze", "f32[4,1,6] 1", "f32[4,6]", "a1b->ab"},
        {"aten::view", "f32[1,1] (1)", "f32[1]", "11->1"},
        /* not as many elements, none, and no id */
        {"aten::view", "f32[4,6] (4 5)", "f32[4,5]", "ab->cd"},
        {"aten::view", "f32[0,4] (4 0)", "f32[4,0]", "ab->cd"},
        {"aten::view", "f32[4,6]@ (24)", "f32[24]", "-->a"},
        {"aten::view", "f32[4,6] (24)", "f32[24]@", "ab->-"},
        {"aten::view", "f32[4,6] (24)", "", "ab"},
    };
    static const char *const ALIKE[] = {
        "aten::view",           "aten::reshape",  "aten::_unsafe_view",
        "aten::_reshape_alias", "aten::flatten",  "aten::unflatten",
        "aten::squeeze",        "aten::squeeze_", "aten::unsqueeze",
        "aten::unsqueeze_"};

    HOLD(CASES);
    for (size_t i = 0; i < sizeof(ALIKE) / sizeof(*ALIKE); i++) {
        const struct told one[] = {
            {ALIKE[i], "f32[2,4,6]", "f32[8,6]", "abc->dc ab=d"}};

        HOLD(one);
    }
}

/* Sizes that are equally far apart in a plain tensor are one. */
static void test_shapes__strides(void)
{
    static const struct told CASES[] = {
        {"aten::as_strided", "f32[4,6] (6 4) (1 6)", "f32[6,4]", "ab->ba"},
        {"aten::as_strided", "f32[2,4,6] (2 6) (24 1)", "f32[2,6]", "abc->ac"},
        {"aten::as_strided", "f32[4,6] (4 3) (6 2)", "f32[4,3]", "ab->ac"},
        /* no list, and one of another number */
        {"aten::as_strided", "f32[4,6] (6 4) 1", "f32[6,4]", "ab->cd"},
        {"aten::as_strided", "f32[4,6] (6 4) (1)", "f32[6,4]", "ab->cd"},
    };
    static struct made_sizes m;
    bool is;

    HOLD(CASES);
    /* another operator around it says what it is; a label does not */
    for (int outer = 0; outer < 2; outer++) {
        struct msim_op op;

        made_call(&m, "aten::as_strided", "f32[4,6] (6 4) (1 6)", "f32[6,4]");
        build_op(&m.b, 0, "outer", "", "");
        m.b.ops[1].kind = outer ? MSIM_OP_OPERATOR : MSIM_OP_ANNOTATION;
        op = *m.call.op;
        op.parent = 1;
        m.call.op = &op;
        CHECK_INT(msim_size_shape(&m.l, &m.call, &is), MSIM_OK);
        CHECK_STR(made_told(&m), outer ? "ab->cd" : "ab->ba");
        made_free(&m);
    }
}

static void test_shapes__other_orders(void)
{
    static const struct told CASES[] = {
        {"aten::transpose", "f32[2,3,4] 0 2", "f32[4,3,2]", "abc->cba"},
        {"aten::transpose", "f32[2,3,4] -1 -2", "f32[2,4,3]", "abc->acb"},
        {"aten::transpose", "f32[2,3,4] 1 1", "f32[2,3,4]", "abc->abc"},
        {"aten::transpose", "f32[2,3,4] 0 3", "f32[4,3,2]", "abc->def"},
        {"aten::transpose", "f32[2,3,4] -4 0", "f32[4,3,2]", "abc->def"},
        {"aten::t", "f32[2,3]", "f32[3,2]", "ab->ba"},
        {"aten::t", "f32[5]", "f32[5]", "a->a"},
        {"aten::t_", "f32[2,3]", "f32[3,2]", "ab->ba"},
        {"aten::mT", "f32[7,2,3]", "f32[7,3,2]", "abc->acb"},
        {"aten::numpy_T", "f32[2,3]", "f32[3,2]", "ab->ba"},
        {"aten::adjoint", "f32[2,3]", "f32[3,2]", "ab->ba"},
        {"aten::swapaxes", "f32[2,3,4] 0 1", "f32[3,2,4]", "abc->bac"},
        {"aten::transpose_", "f32[2,3] 0 1", "f32[3,2]", "ab->ba"},
        {"aten::t", "f32[2,3]", "f32[6]", "ab->c"},
        {"aten::permute", "f32[2,3,4] (2 0 1)", "f32[4,2,3]", "abc->cab"},
        {"aten::permute", "f32[2,3,4] (-1 -3 -2)", "f32[4,2,3]", "abc->cab"},
        {"aten::permute", "f32[2,3,4] (2 3 -4)", "f32[4,2,3]", "abc->cde"},
        {"aten::permute", "f32[2,3,4] (2 0)", "f32[4,2,3]", "abc->def"},
        {"aten::permute", "f32[2,3,4] 2", "f32[4,2,3]", "abc->def"},
        {"aten::permute", "f32[2,3] (1 0)", "f32[3,2,1]", "ab->cd1"},
        {"aten::permute", "f32[2,3] (1 none)", "f32[3,2]", "ab->bc"},
    };

    HOLD(CASES);
}

static void test_shapes__several_as_one(void)
{
    static const struct told CASES[] = {
        {"aten::cat", "(f32[2,3] f32[4,3])", "f32[6,3]", "ab,cb->db d=a+c"},
        {"aten::cat", "(f32[2,3] f32[2,4]) 1", "f32[2,7]", "ab,ac->ad d=b+c"},
        {"aten::concat", "(f32[2,3] f32[2,4]) -1", "f32[2,7]",
         "ab,ac->ad d=b+c"},
        /* one that is no part of it, and one that is not known */
        {"aten::cat", "(f32[0] f32[2,3] f32[4,3])", "f32[6,3]",
         "a,bc,dc->ec e=b+d"},
        {"aten::cat", "(f32[2,3]@ f32[4,3])", "f32[6,3]", "-,ab->cb"},
        {"aten::cat", "(f32[2,3] f32[4,3])", "f32[6,3]@", "ab,cd->-"},
        {"aten::cat", "(f32[2,3] f32[4,3]) 2", "f32[6,3]", "ab,cd->ef"},
        {"aten::cat", "(f32[2,3] f32[4,3])", "", "ab,cd"},
        {"aten::split_with_sizes", "f32[6,3] (2 4) 0", "f32[2,3] f32[4,3]",
         "ab->cb,db a=c+d"},
        {"aten::unsafe_split_with_sizes", "f32[3,6] (2 4) 1",
         "f32[3,2] f32[3,4]", "ab->ac,ad b=c+d"},
        /* parts of one size are one */
        {"aten::split", "f32[6,3] 3", "f32[3,3] f32[3,3]", "ab->cb,cb a=c+c"},
        {"aten::chunk", "f32[3,6] 2 -1", "f32[3,3] f32[3,3]",
         "ab->ac,ac b=c+c"},
        {"aten::unsafe_split", "f32[7] 3", "f32[3] f32[3] f32[1]",
         "a->b,b,1 a=b+b+1"},
        {"aten::split", "f32[6,3] 3", "f32[3,3]@ f32[3,3]", "ab->-,cb"},
        {"aten::split", "f32[6,3] 3", "f32[3,3] f32[3,3]@", "ab->cb,-"},
        {"aten::unsafe_chunk", "f32[6] 2 1", "f32[3] f32[3]", "a->b,c"},
        {"aten::stack", "(f32[2,3] f32[2,3])", "f32[2,2,3]", "ab,ab->cab"},
        {"aten::stack", "(f32[2,3] f32[2,3]) 1", "f32[2,5,3]", "ab,ab->acb"},
        {"aten::stack", "(f32[2,3] f32[2,3]) -1", "f32[2,3,5]", "ab,ab->abc"},
        {"aten::stack", "(f32[2,3] f32[2]) 0", "f32[5,2,3]", "ab,c->dab"},
        {"aten::unbind", "f32[3,4,5] 1", "f32[3,5] f32[3,5]", "abc->ac,ac"},
        {"aten::select", "f32[3,4,5] -1 0", "f32[3,4]", "abc->ab"},
        {"aten::select", "f32[3,4,5] 3 0", "f32[3,4]", "abc->de"},
    };

    HOLD(CASES);
}

static void test_shapes__parts_and_repetitions(void)
{
    static const struct told CASES[] = {
        {"aten::slice", "f32[6,3] 0 0 2", "f32[2,3]", "ab->cb a>c"},
        {"aten::narrow", "f32[3,6] 1 0 2", "f32[3,2]", "ab->ac b>c"},
        {"aten::constant_pad_nd", "f32[3,6] (0 2)", "f32[3,8]", "ab->ac b>c"},
        {"aten::slice", "f32[6] 0 0 1", "f32[1]", "a->1"},
        {"aten::slice", "f32[6,3] 0", "f32[6]", "ab->c"},
        /* a number of times that stays */
        {"aten::repeat", "f32[2,3] (1 4)", "f32[2,12]", "ab->ac c=b4"},
        {"aten::tile", "f32[3] (2 5)", "f32[2,15]", "a->bc c=a5"},
        {"aten::repeat", "f32[1,3] (4 1)", "f32[4,3]", "1a->ba"},
        {"aten::repeat", "f32[2,3]", "f32[6]", "ab->c"},
        {"aten::glu", "f32[2,6] -1", "f32[2,3]", "ab->ac b=c2"},
        {"aten::glu", "f32[2,6] -1", "f32[2,6]", "ab->ab"},
    };

    HOLD(CASES);
}

static void test_shapes__sums(void)
{
    static const struct told CASES[] = {
        {"aten::sum", "f32[2,3,4] (1)", "f32[2,4]", "abc->ac"},
        {"aten::sum", "f32[2,3,4] (0 -1)", "f32[3]", "abc->b"},
        {"aten::sum", "f32[2,3,4] (0 -1) true", "f32[1,3,1]", "abc->1b1"},
        {"aten::mean", "f32[2,3,4] 2", "f32[2,3]", "abc->ab"},
        {"aten::sum", "f32[2,3,4]", "f32[]", "abc->"},
        {"aten::norm", "f32[2,3,4] 2 (1)", "f32[2,4]", "abc->ac"},
        {"aten::linalg_vector_norm", "f32[2,3,4] 2 (0)", "f32[3,4]", "abc->bc"},
        {"aten::var_mean", "f32[2,3] (0)", "f32[3] f32[3]", "ab->b,b"},
        {"aten::max", "f32[2,3] -1", "f32[2] i64[2]@", "ab->a,-"},
        /* beyond its dimensions */
        {"aten::sum", "f32[2,3] (2)", "f32[2,3]", "ab->ab"},
    };
    static const char *const ALIKE[] = {
        "aten::amax", "aten::amin", "aten::min",    "aten::var",
        "aten::std",  "aten::prod", "aten::any",    "aten::all",
        "aten::sum",  "aten::mean", "aten::argmax", "aten::logsumexp"};

    HOLD(CASES);
    for (size_t i = 0; i < sizeof(ALIKE) / sizeof(*ALIKE); i++) {
        const struct told one[] = {
            {ALIKE[i], "f32[2,3,4] (1)", "f32[2,4]", "abc->ac"}};

        HOLD(one);
    }
}

static void test_shapes__lists_indices_messages(void)
{
    static const struct told CASES[] = {
        /* tensor i of each list */
        {"aten::_foreach_add_", "(f32[2] f32[3,4]) (f32[2] f32[3,4]) 1", "",
         "a,bc,a,bc"},
        {"aten::_fused_adam_", "(f32[2] f32[3]) (f32[2] f32[3])",
         "(f32[2] f32[3])", "a,b,a,b->a,b"},
        {"aten::_fused_sgd_", "(f32[2]) (f32[2])", "", "a,a"},
        {"aten::_fused_adagrad_", "(f32[2]) (f32[2])", "", "a,a"},
        {"aten::_foreach_norm", "(f32[2] f32[3]) f32[2]", "", "a,b,c"},
        {"aten::index", "f32[5,6] (i64[3])", "f32[3,6]", "ab,c->cb"},
        {"aten::index", "f32[5,6,7] (i64[3,4])", "f32[3,4,6,7]",
         "abc,de->debc"},
        {"aten::index", "f32[5,6] (i64[3] i64[3])", "f32[3]", "ab,c,d->e"},
        {"aten::index", "f32[5,6] (i64[3])", "f32[3]", "ab,c->d"},
        {"aten::index", "f32[] (i64[3])", "f32[]", ",a->"},
        {"aten::index", "f32[5,6] (i64[3]@)", "f32[3,6]", "ab,-->cd"},
        {"aten::index", "f32[5,6]@ (i64[3])", "f32[3,6]", "-,a->bc"},
        {"aten::index", "f32[5,6] i64[3]", "f32[3,6]", "ab,c->de"},
        {"aten::index", "f32[5,6] (none i64[3])", "f32[5,3]", "ab,c->de"},
        /* as many, or a number of times, rounded up */
        {"c10d::allreduce_", "(f32[8])", "(f32[8])", "a->a"},
        {"nccl:all_reduce", "f32[8] f32[8]", "", "a,a"},
        {"record_param_comms", "f32[4] f32[8]", "", "a,b b~a2"},
        {"record_param_comms", "f32[8] f32[4]", "", "a,b a~b2"},
        {"_c10d_functional::all_gather_into_tensor", "f32[4,3]", "f32[8,3]",
         "ab->cb c~a2"},
        {"record_param_comms", "f32[1] f32[2]", "", "1,a"},
        {"record_param_comms", "f32[4] f32[4,2]", "", "a,bc"},
        /* pieces of all ranks */
        {"gloo:all_gather", "f32[4] f32[4] f32[4]", "", "a,a,a"},
        {"gloo:all_gather", "f32[4]@ f32[4] f32[4]", "", "-,a,b"},
        {"gloo:all_gather", "f32[4] f32[4]@ f32[4]", "", "a,-,a"},
        {"gloo:broadcast", "f32[4] f32[4] f32[4]", "", "a,b,c"},
        {"c10d::reduce_scatter_", "(f32[4] f32[4]) f32[4]", "", "a,a,a"},
        {"c10d::broadcast_", "(f32[4] f32[5] f32[6])", "(f32[4] f32[5] f32[6])",
         "a,b,c->a,b,c"},
    };

    HOLD(CASES);
}

static void test_shapes__others_are_none(void)
{
    static const char *const NAMES[] = {"aten::mm",    "aten::foreach", "view",
                                        "aten::views", "c10d:x",        ""};
    static struct made_sizes m;

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++) {
        bool is = true;

        made_call(&m, NAMES[i], "f32[4,6]", "f32[24]");
        CHECK_INT(msim_size_shape(&m.l, &m.call, &is), MSIM_OK);
        CHECK(!is);
        CHECK_STR(made_told(&m), "ab->c");
        made_free(&m);
    }
}

int main(void)
{
    RUN(test_shapes__views);
    RUN(test_shapes__strides);
    RUN(test_shapes__other_orders);
    RUN(test_shapes__several_as_one);
    RUN(test_shapes__parts_and_repetitions);
    RUN(test_shapes__sums);
    RUN(test_shapes__lists_indices_messages);
    RUN(test_shapes__others_are_none);
    return check_summary();
}
