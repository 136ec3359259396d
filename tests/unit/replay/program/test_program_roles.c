/*
 * What tensors from outside are for, and which of them share storage.
 */
#include "tests/unit/made_et.h"

#define EMBEDDING                                                              \
    "aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, "   \
    "bool scale_grad_by_freq=False, bool sparse=False) -> Tensor"
#define BAG                                                                    \
    "aten::embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool " \
    "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? "        \
    "per_sample_weights=None, bool include_last_offset=False) -> (Tensor, "    \
    "Tensor, Tensor, Tensor)"
#define LOSS                                                                   \
    "aten::nll_loss(Tensor self, Tensor target, Tensor? weight=None, int "     \
    "reduction=1, SymInt ignore_index=-100) -> Tensor"
#define ENTROPY                                                                \
    "aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? "            \
    "weight=None, int reduction=1, SymInt ignore_index=-100, float "           \
    "label_smoothing=0.0) -> Tensor"
#define GATHER                                                                 \
    "aten::gather(Tensor self, int dim, Tensor index, *, bool "                \
    "sparse_grad=False) -> Tensor"
#define TAKE  "aten::take(Tensor self, Tensor index) -> Tensor"
#define INDEX "aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor"
#define NORM                                                                   \
    "aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? "    \
    "running_mean, Tensor? running_var, bool training, float momentum, float " \
    "eps, bool cudnn_enabled) -> Tensor"
#define NORM_WITH " =true =0.1 =0.001 =true"
#define TO                                                                     \
    "aten::to.dtype(Tensor(a) self, ScalarType dtype, bool "                   \
    "non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) "  \
    "-> Tensor(a)"
#define CLONE                                                                  \
    "aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor"

/* Of each tensor from outside its role, + where its values are above zero, and
 * the range of indices and offsets. */
static const char *roles(struct made_et *m, struct made_program *x)
{
    static char text[512];
    size_t n = 0;

    text[0] = '\0';
    if (!CHECK(program_of(m, x, NULL, false)))
        return x->err.text;
    for (uint32_t i = 0; i < x->p->outside.n; i++) {
        const struct msim_outside *o = msim_program_outside(x->p, i);

        n += (size_t)snprintf(
            text + n, sizeof(text) - n, "%s%s%s", i ? " " : "",
            msim_tensor_role_text((enum msim_tensor_role)o->role),
            o->positive ? "+" : "");
        if (o->role == MSIM_ROLE_INDEX || o->role == MSIM_ROLE_OFFSETS)
            n += (size_t)snprintf(text + n, sizeof(text) - n,
                                  ":%" PRId64 "-%" PRId64, o->low, o->high);
        else if (o->role == MSIM_ROLE_MEMORY)
            n += (size_t)snprintf(text + n, sizeof(text) - n, ":%" PRId64,
                                  o->elements);
        if (o->base != MSIM_NONE)
            n += (size_t)snprintf(text + n, sizeof(text) - n, "@%u", o->base);
    }
    return text;
}

static void test_roles__of_one_call(void)
{
    static const struct {
        const char *schema, *in, *roles;
    } ROWS[] = {
        {ET_MM, "1:2x3 2:3x4", "input input"},
        /* the rows of a table, the classes of scores, a dimension by name */
        {EMBEDDING, "1:10x4 2:3l =-1 =false =false", "input index:0-9"},
        {EMBEDDING, "1:10x4 2:3 =-1 =false =false", "input input"},
        {LOSS, "1:4x7 2:4l - =1 =-100", "input index:0-6"},
        {LOSS, "1:7 2:1l - =1 =-100", "input index:0-6"},
        {ENTROPY, "1:4x8x5 2:4x5l - =1 =-100 =0.0", "input index:0-7"},
        {GATHER, "1:5x6x7 =1 2:5x2x7l =false", "input index:0-5"},
        {GATHER, "1:5x6x7 =0 2:5x2x7l =false", "input index:0-4"},
        {GATHER, "1:5x6x7 =-1 2:5x2x7l =false", "input index:0-6"},
        {GATHER, "1:5x6x7 =-3 2:5x2x7l =false", "input index:0-4"},
        {GATHER, "1:5x6x7 =3 2:5x2x7l =false", "input index:0-0"},
        {GATHER, "1:5x6x7 =-4 2:5x2x7l =false", "input index:0-0"},
        {TAKE, "1:5x6 2:3l", "input index:0-4"},
        {INDEX, "1:5x3x4 (2:2l 3:2l)", "input index:0-2 index:0-2"},
        {INDEX, "1:2x3 (- 3:2l)", "input index:0-1"},
        /* offsets divide all indices */
        {BAG, "1:10x4 2:7l 3:2l =false =0 =false - =false",
         "input index:0-9 offsets:0-7"},
        /* variances and weights of norms are above zero; means are kept */
        {NORM, "1:2x3 2:3 3:3 4:3 5:3" NORM_WITH,
         "input positive+ input state positive+"},
        {NORM, "1:2x3 2:3x1 - - 5:3d" NORM_WITH, "input input positive+"},
        {NORM, "1:2x3 2:3l - - 5:3h" NORM_WITH, "input input positive+"},
        /* what is written is state */
        {ET_ADD_, "1:2 2:2 =1", "state input"},
        /* views of one storage: 6 elements, and from the first on 1 + 3 + 1 */
        {ET_ADD, "1#7:2x3 2#7:6 =1", "input@2 input@2 memory:6"},
        {ET_ADD, "1#7:2x2@1/3/1 2#7:2@0/2 =1", "input@2 input@2 memory:6"},
        {ET_ADD, "1#7:2@0/2 2#7:2x2@1/3/1 =1", "input@2 input@2 memory:6"},
        {ET_ADD, "1#7:2 2#7:4l =1", "input input"},
        {ET_ADD, "1:2 2:2 =1", "input input"},
        {"my::op(Tensor a, Tensor b, Tensor c) -> Tensor", "1#7:2 2#7:3 3#7:5",
         "input@3 input@3 input@3 memory:5"},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct made_et m = {0};
        struct made_program x = {0};

        et_op(&m, 100, ROWS[i].schema, ROWS[i].in, "99:2");
        if (!CHECK_STR(roles(&m, &x), ROWS[i].roles))
            fprintf(stderr, "%s\n", ROWS[i].in);
        program_done(&x);
    }
}

/* The least of all tables that an index points into. */
static void test_roles__of_two_calls(void)
{
    struct made_et m = {0};
    struct made_program x = {0};

    et_op(&m, 100, EMBEDDING, "1:10x4 2:3l =-1 =false =false", "90:3x4");
    et_op(&m, 110, EMBEDDING, "3:4x4 2:3l =-1 =false =false", "91:3x4");
    et_op(&m, 120, EMBEDDING, "4:6x4 2:3l =-1 =false =false", "92:3x4");
    et_op(&m, 130, TAKE, "5:6 6:2", "93:2"); /* numbers, but no whole ones */
    CHECK_STR(roles(&m, &x), "input index:0-3 input input input input");
    program_done(&x);
}

/* A copy of a copy says what its source means; other results do not. */
static void test_roles__of_copies(void)
{
    static const struct {
        const char *by, *in, *roles;
    } ROWS[] = {{CLONE, "21:3l -", "index:0-9 input"},
                {ET_RELU, "21:3l", "input input"}};

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct made_et m = {0};
        struct made_program x = {0};

        et_op(&m, 100, TO, "20:3i =4 =false =false -", "21:3l");
        et_op(&m, 110, ROWS[i].by, ROWS[i].in, "22:3l");
        et_op(&m, 120, EMBEDDING, "1:10x4 22:3l =-1 =false =false", "90:3x4");
        CHECK_STR(roles(&m, &x), ROWS[i].roles);
        program_done(&x);
    }
}

int main(void)
{
    RUN(test_roles__of_one_call);
    RUN(test_roles__of_two_calls);
    RUN(test_roles__of_copies);
    return check_summary();
}
