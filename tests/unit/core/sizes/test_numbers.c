/*
 * Numbers that operators are given follow sizes of tensors: each row of the
 * table, numbers that are no size and stay, and strides against a second way
 * to compute them. In what is wanted, numbers stand in the order in which the
 * arguments have them.
 */
#include "core/sizes/sizes_internal.h"
#include "tests/unit/made_ops.h"

struct told {
    const char *name, *was, *outs_were, *args, *outs, *want;
};

/* `args` have new sizes and old numbers; what these become, as a text. */
static void follow(const struct told *c, char *text, size_t size)
{
    static struct build b;
    struct msim_number_call call;
    const struct msim_op *was, *is;
    size_t used = 0;
    struct msim_arg *args;

    build_init(&b);
    build_op(&b, 0, c->name, c->was, c->outs_were);
    build_op(&b, 0, c->name, c->args, c->outs);
    was = &b.ops[0];
    is = &b.ops[1];
    args = &b.args[b.blocks[is->args].first];
    call = (struct msim_number_call){
        .t = &b.t,
        .view = &b.t,
        .name = c->name,
        .was = &b.args[b.blocks[was->args].first],
        .args = args,
        .n = b.blocks[is->args].count,
        .outs_were = &b.args[b.blocks[was->outs].first],
        .outs = &b.args[b.blocks[is->outs].first],
        .m = b.blocks[is->outs].count,
    };
    msim_numbers_follow(&call);
    *text = '\0';
    for (uint32_t i = 0; i < call.n; i++)
        if (args[i].kind == MSIM_ARG_INT)
            used += (size_t)snprintf(text + used, size - used, "%s%lld",
                                     used ? " " : "", (long long)args[i].v.i);
    build_release(&b);
}

static void hold(const struct told *c, size_t n)
{
    char text[256];

    for (size_t i = 0; i < n; i++) {
        follow(&c[i], text, sizeof(text));
        if (!CHECK_STR(text, c[i].want))
            fprintf(stderr, "%s(%s) -> %s\n", c[i].name, c[i].args, c[i].outs);
    }
}
#define HOLD(cases) hold(cases, sizeof(cases) / sizeof(*(cases)))

/* Which list has sizes, and whether the one behind it has strides. */
static void test_numbers__sizes_of_what_is_made(void)
{
    static const struct {
        const char *name;
        int top;
        bool strides;
    } ROWS[] = {
        {"aten::view", 1, false},
        {"aten::reshape", 1, false},
        {"aten::_unsafe_view", 1, false},
        {"aten::_reshape_alias", 1, true},
        {"aten::as_strided", 1, true},
        {"aten::expand", 1, false},
        {"aten::resize_", 1, false},
        {"aten::new_empty", 1, false},
        {"aten::new_zeros", 1, false},
        {"aten::new_ones", 1, false},
        {"aten::new_full", 1, false},
        {"aten::new_empty_strided", 1, true},
        {"aten::select_backward", 1, false},
        {"aten::empty", 0, false},
        {"aten::zeros", 0, false},
        {"aten::ones", 0, false},
        {"aten::full", 0, false},
        {"aten::rand", 0, false},
        {"aten::randn", 0, false},
        {"aten::arange", 0, false},
        {"aten::empty_strided", 0, true},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        const struct told all[] = {
            {ROWS[i].name, ROWS[i].top ? "f32[3,8] (4 6) (6 1)" : "(4 6) (6 1)",
             "f32[4,6]", ROWS[i].top ? "f32[5,24] (4 6) (6 1)" : "(4 6) (6 1)",
             "f32[8,15]", ROWS[i].strides ? "8 15 15 1" : "8 15 6 1"}};

        HOLD(all);
    }
}

/* The last sizes of what is given. */
static void test_numbers__sizes_of_what_is_given(void)
{
    static const struct told CASES[] = {
        {"aten::layer_norm", "f32[4,6] (6)", "f32[4,6]", "f32[8,12] (6)",
         "f32[8,12]", "12"},
        {"aten::native_layer_norm", "f32[4,6] (6) 6", "f32[4,6]",
         "f32[8,12] (6) 6", "f32[8,12]", "12 6"},
        {"aten::rms_norm", "f32[4,6] (6)", "f32[4,6]", "f32[8,12] (6)",
         "f32[8,12]", "12"},
        {"aten::_fused_rms_norm", "f32[4,6] (6)", "f32[4,6]", "f32[8,12] (6)",
         "f32[8,12]", "12"},
        {"aten::native_layer_norm_backward", "f32[4,6] f32[4,6] (6)",
         "f32[4,6]", "f32[8,12] f32[8,12] (6)", "f32[8,12]", "12"},
        {"aten::_fused_rms_norm_backward", "f32[4,6] f32[4,6] (6)", "f32[4,6]",
         "f32[8,12] f32[8,12] (6)", "f32[8,12]", "12"},
        {"aten::layer_norm", "f32[2,4,6] (4 6)", "f32[7]", "f32[2,8,12] (4 6)",
         "f32[7]", "8 12"},
    };

    HOLD(CASES);
}

static void test_numbers__what_is_no_size_stays(void)
{
    static const struct told CASES[] = {
        /* -1: what is left */
        {"aten::view", "f32[4,6] (-1 6)", "f32[4,6]", "f32[8,12] (-1 6)",
         "f32[8,12]", "-1 12"},
        /* another number than the size */
        {"aten::expand", "f32[4,1] (5 6)", "f32[4,6]", "f32[8,1] (5 6)",
         "f32[8,12]", "5 12"},
        /* fewer are the last ones, more are none */
        {"aten::view", "f32[24] (6)", "f32[4,6]", "f32[96] (6)", "f32[8,12]",
         "12"},
        {"aten::view", "f32[24] (1 4 6)", "f32[4,6]", "f32[96] (1 4 6)",
         "f32[8,12]", "1 4 6"},
        /* one number that is no list */
        {"aten::arange", "6", "f32[6]", "6", "f32[12]", "12"},
        /* no argument there, and none at all */
        {"aten::view", "f32[6]", "f32[6]", "f32[12]", "f32[12]", ""},
        {"aten::empty", "", "f32[6]", "", "f32[12]", ""},
        /* no tensor is made */
        {"aten::view", "f32[6] (6)", "none", "f32[12] (6)", "none", "6"},
        /* what lies in a list is no argument of its own */
        {"aten::view", "(f32[6] 6) (6)", "f32[6]", "(f32[12] 6) (6)", "f32[12]",
         "6 12"},
        {"aten::relu", "f32[6] (6)", "f32[6]", "f32[12] (6)", "f32[12]", "6"},
        {"aten::view_as", "f32[6] (6)", "f32[6]", "f32[12] (6)", "f32[12]",
         "6"},
    };

    HOLD(CASES);
}

static void test_numbers__parts_along_a_dimension(void)
{
    static const struct told CASES[] = {
        {"aten::split", "f32[12,3] 3 0", "f32[3,3] f32[3,3]", "f32[24,3] 3 0",
         "f32[6,3] f32[6,3]", "6 0"},
        {"aten::unsafe_split", "f32[2,12] 4 1", "f32[2,4] f32[2,4]",
         "f32[2,24] 4 1", "f32[2,8] f32[2,8]", "8 1"},
        /* each number has its result, here in a list */
        {"aten::split_with_sizes", "f32[2,12] (4 8) -1", "(f32[2,4] f32[2,8])",
         "f32[2,36] (4 8) -1", "(f32[2,12] f32[2,24])", "12 24 -1"},
        {"aten::unsafe_split_with_sizes", "f32[12,4] (4 8) -2",
         "f32[4,4] f32[8,4]", "f32[36,4] (4 8) -2", "f32[12,4] f32[24,4]",
         "12 24 -2"},
        /* more numbers than results */
        {"aten::split_with_sizes", "f32[2,12] (4 8) 1", "f32[2,4]",
         "f32[2,36] (4 8) 1", "f32[2,12]", "12 8 1"},
        /* the first dimension where none is said */
        {"aten::split", "f32[12] 3", "f32[3]", "f32[24] 3", "f32[6]", "6"},
        /* no such dimension */
        {"aten::split", "f32[12] 3 1", "f32[3]", "f32[24] 3 1", "f32[6]",
         "3 1"},
        {"aten::split", "f32[12] 3 -2", "f32[3]", "f32[24] 3 -2", "f32[6]",
         "3 -2"},
    };

    HOLD(CASES);
}

static void test_numbers__one_size_as_several(void)
{
    static const struct told CASES[] = {
        {"aten::unflatten", "f32[5,24] 1 (4 6)", "f32[5,4,6]",
         "f32[5,96] 1 (4 6)", "f32[5,8,12]", "1 8 12"},
        {"aten::unflatten", "f32[5,24] -1 (4 6)", "f32[5,4,6]",
         "f32[5,96] -1 (4 6)", "f32[5,8,12]", "-1 8 12"},
        {"aten::unflatten", "f32[24,5] 0 (4 -1)", "f32[4,6,5]",
         "f32[96,5] 0 (4 -1)", "f32[8,12,5]", "0 8 -1"},
        {"aten::unflatten", "f32[24] 0 (4 6)", "f32[4,6]", "f32[96] 0 (4 6)",
         "f32[8,12]", "0 8 12"},
        /* no such dimension, and more sizes than there are */
        {"aten::unflatten", "f32[5,24] 2 (4 6)", "f32[5,4,6]",
         "f32[5,96] 2 (4 6)", "f32[5,8,12]", "2 4 6"},
        {"aten::unflatten", "f32[5,24] 1 (4 6 1)", "f32[5,4,6]",
         "f32[5,96] 1 (4 6 1)", "f32[5,8,12]", "1 8 12 1"},
    };

    HOLD(CASES);
}

static void test_numbers__cuts_from_and_to(void)
{
    static const struct told CASES[] = {
        /* to the end; the begin is one and two parts of 4 */
        {"aten::slice", "f32[12,3] 0 4 12 1", "f32[4,3]", "f32[24,3] 0 4 12 1",
         "f32[8,3]", "0 8 24 1"},
        {"aten::slice", "f32[3,12] -1 4 8", "f32[3,4]", "f32[3,36] -1 4 8",
         "f32[3,12]", "-1 12 24"},
        /* 3 of 12 is 6 of 24, whatever the part is; of 18 it is no number */
        {"aten::slice", "f32[12] 0 3 8", "f32[5]", "f32[24] 0 3 8", "f32[10]",
         "0 6 16"},
        {"aten::slice", "f32[12] 0 3 8", "f32[5]", "f32[18] 0 3 8", "f32[9]",
         "0 3 12"},
        /* from the begin, from the end, and behind it */
        {"aten::slice", "f32[12] 0 0 -1", "f32[11]", "f32[24] 0 0 -1",
         "f32[22]", "0 0 -1"},
        {"aten::slice", "f32[12] 0 -6 24", "f32[6]", "f32[24] 0 -6 24",
         "f32[12]", "0 -6 24"},
        /* an empty part says nothing: 4 of 12 */
        {"aten::slice", "f32[12] 0 4 4", "f32[0]", "f32[24] 0 4 4", "f32[0]",
         "0 8 8"},
        /* no such dimension; of another number of dimensions; not a number */
        {"aten::slice", "f32[12] 1 4 12", "f32[8]", "f32[24] 1 4 12", "f32[16]",
         "1 4 12"},
        {"aten::slice", "f32[12] 0 4 12", "f32[8,1]", "f32[24] 0 4 12",
         "f32[16,1]", "0 4 12"},
        {"aten::slice", "f32[12] 0 none 12", "f32[12]", "f32[24] 0 none 12",
         "f32[24]", "0 24"},
        {"aten::narrow", "f32[12,2] 0 4 8", "f32[8,2]", "f32[24,2] 0 4 8",
         "f32[16,2]", "0 8 16"},
        {"aten::slice", "none 0 4 12", "f32[8]", "none 0 4 12", "f32[16]",
         "0 4 12"},
        {"aten::slice", "f32[12] 0 4 12", "none", "f32[24] 0 4 12", "none",
         "0 4 12"},
        /* back: the whole is made, and its sizes are given */
        {"aten::slice_backward", "f32[4,3] (12 3) 0 4 8 1", "f32[12,3]",
         "f32[8,5] (12 3) 0 4 8 1", "f32[24,5]", "24 5 0 8 16 1"},
    };

    HOLD(CASES);
}

static void test_numbers__rows_and_channels(void)
{
    static const struct told CASES[] = {
        {"aten::embedding_dense_backward", "f32[4,6] i64[4] 10", "f32[10,6]",
         "f32[4,6] i64[4] 10", "f32[30,6]", "30"},
        {"aten::embedding_backward", "f32[4,6] i64[4] 10 7", "f32[10,6]",
         "f32[4,6] i64[4] 10 7", "f32[30,6]", "30 7"},
        {"aten::embedding_backward", "f32[4,6] i64[4] (10 10)", "f32[10,6]",
         "f32[4,6] i64[4] (10 10)", "f32[30,6]", "10 10"},
        {"aten::embedding_backward", "f32[4,6] i64[4] 10", "f32[]",
         "f32[4,6] i64[4] 10", "f32[]", "10"},
        {"aten::embedding_backward", "f32[4,6] i64[4] 10", "none",
         "f32[4,6] i64[4] 10", "none", "10"},
        {"aten::convolution_backward", "f32[2,8,4,4] f32[1] f32[1] (8)",
         "f32[3]", "f32[2,16,4,4] f32[1] f32[1] (8)", "f32[3]", "16"},
        /* two dimensions are channels, too; one has none */
        {"aten::convolution_backward", "f32[2,8] f32[1] f32[1] (8)", "f32[3]",
         "f32[2,16] f32[1] f32[1] (8)", "f32[3]", "16"},
        {"aten::convolution_backward", "f32[8] f32[1] f32[1] (8)", "f32[3]",
         "f32[16] f32[1] f32[1] (8)", "f32[3]", "8"},
        {"aten::convolution_backward", "f32[2,8] f32[1] f32[1] (8 8)", "f32[3]",
         "f32[2,16] f32[1] f32[1] (8 8)", "f32[3]", "8 8"},
        {"aten::convolution_backward", "none none none (8)", "f32[3]",
         "none none none (8)", "f32[3]", "8"},
    };

    HOLD(CASES);
}

static void test_numbers__strides_with_holes_stay(void)
{
    static const struct told CASES[] = {
        /* rows 8 apart hold 6 */
        {"aten::as_strided", "f32[40] (4 6) (8 1)", "f32[4,6]",
         "f32[99] (4 6) (8 1)", "f32[8,12]", "8 12 8 1"},
        /* none lie side by side */
        {"aten::as_strided", "f32[40] (4 6) (12 2)", "f32[4,6]",
         "f32[99] (4 6) (12 2)", "f32[8,12]", "8 12 12 2"},
        /* as many strides as sizes */
        {"aten::as_strided", "f32[24] (4 6) (1)", "f32[4,6]",
         "f32[96] (4 6) (1)", "f32[8,12]", "8 12 1"},
        /* one is not moved along: what lies behind it is found before it */
        {"aten::as_strided", "f32[12] (2 1 6) (6 6 1)", "f32[2,1,6]",
         "f32[36] (2 1 6) (6 6 1)", "f32[3,1,12]", "3 1 12 12 6 1"},
        {"aten::as_strided", "f32[12] (1 2 6) (6 6 1)", "f32[1,2,6]",
         "f32[36] (1 2 6) (6 6 1)", "f32[1,3,12]", "1 3 12 6 12 1"},
        {"aten::as_strided", "f32[6] (1 6) (6 1)", "f32[1,6]",
         "f32[12] (1 6) (6 1)", "f32[1,12]", "1 12 12 1"},
        {"aten::as_strided", "f32[6] (1 6) (1 1)", "f32[1,6]",
         "f32[12] (1 6) (1 1)", "f32[1,12]", "1 12 1 1"},
    };

    HOLD(CASES);
}

/* Of dense tensors in any order, strides are those of the new sizes in that
 * order. */
static void test_numbers__strides_of_dense_tensors(void)
{
    uint32_t state = 7;

    for (int round = 0; round < 200; round++) {
        enum { DIMS = 4 };
        int order[DIMS] = {0, 1, 2, 3};
        long was[DIMS], is[DIMS], strides[DIMS], want[DIMS], a = 1, b = 1;
        char args[128], outs_were[64], outs[64], numbers[128], text[256];
        struct told c = {
            "aten::empty_strided", args, outs_were, args, outs, numbers};

        for (int i = 0; i < DIMS; i++) {
            int k = (int)((state = state * 1664525 + 1013904223) >> 24) % DIMS;
            int other = order[k];

            order[k] = order[i];
            order[i] = other;
            was[i] = 2 + (state >> 16) % 7;
            is[i] = 2 + (state >> 8) % 9;
        }
        for (int i = 0; i < DIMS; i++) {
            strides[order[i]] = a;
            want[order[i]] = b;
            a *= was[order[i]];
            b *= is[order[i]];
        }
        snprintf(args, sizeof(args), "(%ld %ld %ld %ld) (%ld %ld %ld %ld)",
                 was[0], was[1], was[2], was[3], strides[0], strides[1],
                 strides[2], strides[3]);
        snprintf(outs_were, sizeof(outs_were), "f32[%ld,%ld,%ld,%ld]", was[0],
                 was[1], was[2], was[3]);
        snprintf(outs, sizeof(outs), "f32[%ld,%ld,%ld,%ld]", is[0], is[1],
                 is[2], is[3]);
        snprintf(numbers, sizeof(numbers), "%ld %ld %ld %ld %ld %ld %ld %ld",
                 is[0], is[1], is[2], is[3], want[0], want[1], want[2],
                 want[3]);
        follow(&c, text, sizeof(text));
        CHECK_STR(text, numbers);
    }
}

int main(void)
{
    RUN(test_numbers__sizes_of_what_is_made);
    RUN(test_numbers__sizes_of_what_is_given);
    RUN(test_numbers__what_is_no_size_stays);
    RUN(test_numbers__parts_along_a_dimension);
    RUN(test_numbers__one_size_as_several);
    RUN(test_numbers__cuts_from_and_to);
    RUN(test_numbers__rows_and_channels);
    RUN(test_numbers__strides_with_holes_stay);
    RUN(test_numbers__strides_of_dense_tensors);
    return check_summary();
}
