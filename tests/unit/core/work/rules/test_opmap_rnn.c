/*
 * Recurrent layers: what all inputs, all later layers and each step ask for.
 * Sizes are small primes, so that each product tells which ones are in it.
 */
#include "tests/unit/made_works.h"

/* 7 steps of a batch of 5 with 3 features to 2 hidden ones. An LSTM has four
 * gates: products are to 8. A second layer takes 2 from both directions. */
static void test_opmap_rnn__forward(void)
{
    static const struct works_row rows[] = {
        {"aten::_cudnn_rnn",
         "f32[7,5,3] (f32[8,3]) 4 none f32[4,5,2] f32[4,5,2] 2 2 0 2 false 0.0 "
         "true true",
         NULL,
         "gemm fp32 2*35x8x3 3360/1032/2240; gemm fp32 2*35x8x4 "
         "4480/1376/2240; gemm fp32 5x8x2 160/104/160 times 28; "
         "pointwise:rnn_cell fp32 1x40 320/160/40 times 28"},
        {"aten::_cudnn_rnn",
         "f32[5,7,3] (f32[8,3]) 4 none f32[4,5,2] f32[4,5,2] 2 2 0 2 true 0.0 "
         "true true",
         NULL,
         "gemm fp32 2*35x8x3 3360/1032/2240; gemm fp32 2*35x8x4 "
         "4480/1376/2240; gemm fp32 5x8x2 160/104/160 times 28; "
         "pointwise:rnn_cell fp32 1x40 320/160/40 times 28"},
        {"aten::_cudnn_rnn",
         "f32[7,5,3] (f32[2,3]) 4 none f32[1,5,2] none 0 2 0 1 false 0.0 true "
         "false",
         NULL,
         "gemm fp32 35x2x3 420/444/280; gemm fp32 5x2x2 40/56/40 times 7; "
         "pointwise:rnn_cell fp32 1x10 80/40/40 times 7"},
        {"aten::_cudnn_rnn",
         "f16[7,5,3] (f16[2,3]) 4 none f16[1,5,2] none 1 2 0 1", NULL,
         "gemm fp16 35x2x3 420/222/140; gemm fp16 5x2x2 40/28/20 times 7; "
         "pointwise:rnn_cell fp16 1x10 80/20/20 times 7"},
        {"aten::_cudnn_rnn",
         "f32[7,5,3] (f32[2,3]) 4 none f32[1,5,2] none 3 2 0 3 false 0.0 true "
         "false",
         NULL,
         "gemm fp32 35x6x3 1260/492/840; gemm fp32 2*35x6x2 1680/656/1680; "
         "gemm fp32 5x6x2 120/88/120 times 21; pointwise:rnn_cell fp32 1x30 "
         "240/120/40 times 21"},
        {"aten::gru",
         "f32[7,5,3] f32[4,5,2] (f32[6,3]) true 2 0.0 false true false", NULL,
         "gemm fp32 2*35x6x3 2520/984/1680; gemm fp32 2*35x6x4 3360/1312/1680; "
         "gemm fp32 5x6x2 120/88/120 times 28; pointwise:rnn_cell fp32 1x30 "
         "240/120/40 times 28"},
        {"aten::gru",
         "f32[5,7,3] f32[4,5,2] (f32[6,3]) true 2 0.0 false true true", NULL,
         "gemm fp32 2*35x6x3 2520/984/1680; gemm fp32 2*35x6x4 3360/1312/1680; "
         "gemm fp32 5x6x2 120/88/120 times 28; pointwise:rnn_cell fp32 1x30 "
         "240/120/40 times 28"},
        {"aten::rnn_tanh",
         "f32[7,5,3] f32[1,5,2] (f32[2,3]) true 1 0.0 false false false", NULL,
         "gemm fp32 35x2x3 420/444/280; gemm fp32 5x2x2 40/56/40 times 7; "
         "pointwise:rnn_cell fp32 1x10 80/40/40 times 7"},
        {"aten::lstm",
         "f32[7,5,3] (f32[1,5,2] f32[1,5,2]) (f32[8,3]) true 1 0.0 false false "
         "false",
         NULL,
         "gemm fp32 35x8x3 1680/516/1120; gemm fp32 5x8x2 160/104/160 times 7; "
         "pointwise:rnn_cell fp32 1x40 320/160/40 times 7"},
        {"aten::lstm",
         "f32[35,3] i64[7] (f32[4,5,2] f32[4,5,2]) (f32[8,3]) true 2 0.0 false "
         "true",
         NULL,
         "gemm fp32 2*35x8x3 3360/1032/2240; gemm fp32 2*35x8x4 "
         "4480/1376/2240; gemm fp32 5x8x2 160/104/160 times 28; "
         "pointwise:rnn_cell fp32 1x40 320/160/40 times 28"},
        {"aten::rnn_relu", "f32[35,3] i64[7] f32[1,5,2] (f32[2,3])", NULL,
         "gemm fp32 35x2x3 420/444/280; gemm fp32 5x2x2 40/56/40 times 7; "
         "pointwise:rnn_cell fp32 1x10 80/40/40 times 7"},
    };

    WORKS_CHECK(rows);
}

/* Gradients of weights of inputs and of states, of inputs, and of each step's
 * state; oneDNN's is of one layer and direction. */
static void test_opmap_rnn__backward(void)
{
    static const struct works_row rows[] = {
        {"aten::_cudnn_rnn_backward",
         "f32[7,5,3] (f32[8,3]) 4 none f32[4,5,2] f32[4,5,2] f32[7,5,4] "
         "f32[7,5,4] none none 2 2 0 2 false 0.0 true true",
         NULL,
         "gemm fp32 4*8x6x35 13440/7840/768; gemm fp32 4*35x4x8 "
         "8960/4992/2240; gemm fp32 5x2x8 160/224/40 times 28; "
         "pointwise:rnn_cell fp32 1x40 320/160/40 times 28"},
        {"aten::_cudnn_rnn_backward",
         "f32[7,5,3] (f32[6,3]) 4 none f32[1,5,2] none f32[7,5,2] f32[7,5,2] "
         "none none 3 2 0 1 false 0.0 true false",
         NULL,
         "gemm fp32 6x4x35 1680/1400/96; gemm fp32 35x2x6 840/888/280; gemm "
         "fp32 5x2x6 120/168/40 times 7; pointwise:rnn_cell fp32 1x30 "
         "240/120/40 times 7"},
        {"aten::mkldnn_rnn_layer_backward",
         "f32[7,5,3] none none none none none none none none none none none "
         "none none 2 2",
         NULL,
         "gemm fp32 8x5x35 2800/1820/160; gemm fp32 35x3x8 1680/1216/420; gemm "
         "fp32 5x2x8 160/224/40 times 7; pointwise:rnn_cell fp32 1x40 "
         "320/160/40 times 7"},
        {"aten::mkldnn_rnn_layer_backward",
         "f32[7,5,3] none none none none none none none none none none none "
         "none none 0 2",
         NULL,
         "gemm fp32 2x5x35 700/980/40; gemm fp32 35x3x2 420/304/420; gemm fp32 "
         "5x2x2 40/56/40 times 7; pointwise:rnn_cell fp32 1x10 80/40/40 times "
         "7"},
    };

    WORKS_CHECK(rows);
}

/* A cell reads all tensors and writes as many gates as the largest has, of
 * that one's type. */
static void test_opmap_rnn__cells(void)
{
    static const struct works_row rows[] = {
        {"aten::_thnn_fused_lstm_cell", "f16[5,2] f32[5,8] f32[5,8]", NULL,
         "pointwise:rnn_cell fp32 1x40 320/340/160"},
        {"aten::_thnn_fused_gru_cell", "f32[5,6] f16[5,6] f16[5,2]", NULL,
         "pointwise:rnn_cell fp32 1x30 240/200/120"},
    };

    WORKS_CHECK(rows);
}

/* Where an operator's mode, hidden size and layers stand. */
static const struct {
    const char *name, *args;
    bool layers;
} ops[] = {
    {"aten::_cudnn_rnn", "(f32[2,3]) 4 none none none %lld %lld 0 %lld", true},
    {"aten::_cudnn_rnn_backward",
     "(f32[2,3]) 4 none none none none none none none %lld %lld 0 %lld", true},
    {"aten::mkldnn_rnn_layer_backward",
     "none none none none none none none none none none none none none %lld "
     "%lld none",
     false},
};

/*
 * One layer in one direction with 3 features. Sizes end at a million, and there
 * are four modes.
 */
static void test_opmap_rnn__limits(void)
{
    static const struct {
        const char *x;
        long long mode, hidden, layers;
        bool known;
    } cases[] = {
        {"f32[7,5,3]", 0, 1000000, 1, true},
        {"f32[7,5,3]", 0, 1000001, 1, false},
        {"f32[7,5,3]", 0, 0, 1, false},
        {"f32[7,5,3]", 0, 2, 1000000, true},
        {"f32[7,5,3]", 0, 2, 1000001, false},
        {"f32[7,5,3]", 0, 2, 0, false},
        {"f32[7,5,3]", -1, 2, 1, false},
        {"f32[7,5,3]", 3, 2, 1, true},
        {"f32[7,5,3]", 4, 2, 1, false},
        {"f32[7]", 0, 2, 1, false},
        {"f32[7,5,3,1]", 0, 2, 1, false},
        {"f32[1000000,5,3]", 0, 2, 1, true},
        {"f32[1000001,5,3]", 0, 2, 1, false},
        {"f32[7,1000001,3]", 0, 2, 1, false},
        {"f32[7,5,1000001]", 0, 2, 1, false},
    };
    static struct build b;
    struct works_text x;
    char rest[160], args[200];

    for (size_t k = 0; k < sizeof(ops) / sizeof(ops[0]); k++)
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            if (!ops[k].layers && cases[i].layers != 1)
                continue;
            snprintf(rest, sizeof(rest), ops[k].args, cases[i].mode,
                     cases[i].hidden, cases[i].layers);
            snprintf(args, sizeof(args), "%s %s", cases[i].x, rest);
            build_init(&b);
            build_op(&b, 0, ops[k].name, args, NULL);
            works_of(&x, &b.t, 0, -1, MSIM_OPMAP_AS_TRACED);
            if (!CHECK_INT(strcmp(x.s, "unknown") != 0, cases[i].known))
                fprintf(stderr, "  %s %s\n", ops[k].name, args);
            build_release(&b);
        }
}

/* The same of layers that a CPU unrolls. */
static void test_opmap_rnn__limits_of_unrolled(void)
{
    static const struct works_row rows[] = {
        {"aten::rnn_tanh", "f32[7] f32[1,5,2] (f32[2,3]) true 1", NULL,
         "unknown"},
        {"aten::rnn_tanh", "f32[35,3] none f32[1,5,2] (f32[2,3]) true 1", NULL,
         "unknown"},
        {"aten::rnn_tanh", "f32[7,5,3] f32[1,5,2] (f32[2,3]) true 0", NULL,
         "unknown"},
        {"aten::rnn_tanh", "f32[1000001,5,3] f32[1,5,2] (f32[2,3]) true 1",
         NULL, "unknown"},
        {"aten::rnn_tanh", "f32[7,1000001,3] f32[1,5,2] (f32[2,3]) true 1",
         NULL, "unknown"},
        {"aten::rnn_tanh", "f32[7,5,1000001] f32[1,5,2] (f32[2,3]) true 1",
         NULL, "unknown"},
        {"aten::rnn_tanh", "f32[7,5,3] f32[1,5,0] (f32[2,3]) true 1", NULL,
         "unknown"},
        {"aten::rnn_tanh", "f32[7,5,3] none (f32[2,3]) true 1", NULL,
         "unknown"},
    };

    WORKS_CHECK(rows);
}

int main(void)
{
    RUN(test_opmap_rnn__forward);
    RUN(test_opmap_rnn__backward);
    RUN(test_opmap_rnn__cells);
    RUN(test_opmap_rnn__limits);
    RUN(test_opmap_rnn__limits_of_unrolled);
    return check_summary();
}
