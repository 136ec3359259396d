/*
 * Attention: where each operator has its queries, its mask and its lengths.
 * 2 sequences of 5 queries and 7 keys, 6 heads of which 3 share keys, heads of
 * 11.
 */
#include "tests/unit/made_works.h"

#define BHSD "f16[2,6,5,11] f16[2,3,7,11] f16[2,3,7,11] "
#define BSHD "f16[2,5,6,11] f16[2,7,3,11] f16[2,7,3,11] "

/* All keys: 4 x 60 rows x 7 x 11 FLOPs; causal ones are 7 - (5 - 1) / 2 = 5.
 * 660 queries of 2 bytes, 2 x 462 keys and values. */
#define ALL    "attention fp16 encoder 2 of 6/3 heads 5x7 of 11 18480/3168/1320"
#define CAUSAL "attention fp16 prefill 2 of 6/3 heads 5x7 of 11 13200/3168/1320"
/* Ten times, reads output and gradient too, and writes three gradients. */
#define ALL_BACK                                                               \
    "attention fp16 encoder backward 2 of 6/3 heads 5x7 of 11 "                \
    "46200/5808/3168 kernels 3"
#define CAUSAL_BACK                                                            \
    "attention fp16 prefill backward 2 of 6/3 heads 5x7 of 11 "                \
    "33000/5808/3168 kernels 3"

/* Each form with its mask, and with what else stands in that place's
 * neighbours turned round. */
static void test_opmap_attention__forms(void)
{
    static const struct {
        const char *name;
        bool bhsd, back; /* a gradient stands in front */
        uint32_t mask;   /* the argument; 0: it has none */
    } cases[] = {
        {"aten::_flash_attention_forward", false, false, 8},
        {"aten::_flash_attention_backward", false, true, 11},
        {"aten::_efficient_attention_forward", false, false, 9},
        {"aten::_efficient_attention_backward", false, true, 14},
        {"aten::_scaled_dot_product_flash_attention", true, false, 4},
        {"aten::_scaled_dot_product_flash_attention_backward", true, true, 11},
        {"aten::_scaled_dot_product_efficient_attention", true, false, 6},
        {"aten::_scaled_dot_product_efficient_attention_backward", true, true,
         11},
        {"aten::_scaled_dot_product_cudnn_attention", true, false, 6},
        {"aten::_scaled_dot_product_cudnn_attention_backward", true, true, 14},
        {"aten::_scaled_dot_product_flash_attention_for_cpu", true, false, 4},
        {"aten::_scaled_dot_product_flash_attention_for_cpu_backward", true,
         true, 7},
        {"aten::_cudnn_attention_forward", true, false, 10},
        {"aten::_cudnn_attention_backward", true, true, 14},
        {"flash_attn::_flash_attn_forward", false, false, 5},
        {"flash_attn::_flash_attn_backward", false, true, 11},
        {"xformers::efficient_attention_forward_cutlass", false, false, 9},
        {"xformers_flash::flash_fwd", false, false, 0},
        {"xformers_flash::flash_bwd", false, true, 0},
    };
    static struct build b;
    char args[400];

    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        size_t c = i / 2;
        bool causal = i % 2;
        int n = snprintf(args, sizeof(args), "%s%s",
                         cases[c].back ? "f16[2,1] " : "",
                         cases[c].bhsd ? BHSD : BSHD);

        for (uint32_t k = 3 + cases[c].back; k < 18; k++)
            n += snprintf(args + n, sizeof(args) - (size_t)n, "%s ",
                          k != cases[c].mask ? "none"
                          : causal           ? "true"
                                             : "false");
        build_init(&b);
        build_op(&b, 0, cases[c].name, args, NULL);
        works_check(&b.t, 0,
                    causal && cases[c].mask
                        ? (cases[c].back ? CAUSAL_BACK : CAUSAL)
                        : (cases[c].back ? ALL_BACK : ALL));
        build_release(&b);
    }
}

/*
 * Packed: 10 queries and 14 keys in two sequences by three offsets, or in one
 * without. The longest may be shorter than the mean, not longer.
 */
static void test_opmap_attention__packed(void)
{
    static const struct works_row rows[] = {
        {"flash_attn::_flash_attn_varlen_forward",
         "f16[10,6,11] f16[14,3,11] f16[14,3,11] i32[3] i32[3] 5 7 0.0 1.0 "
         "false",
         NULL,
         "attention fp16 encoder 2 of 6/3 heads 5x7 of 11 18480/3168/1320"},
        {"flash_attn::_flash_attn_varlen_forward",
         "f16[10,6,11] f16[14,3,11] f16[14,3,11] i32[3] i32[3] 4 7 0.0 1.0 "
         "true",
         NULL,
         "attention fp16 prefill 2 of 6/3 heads 4x7 of 11 11616/2904/1056"},
        {"flash_attn::_flash_attn_varlen_forward",
         "f16[10,6,11] f16[14,3,11] f16[14,3,11] none none 99 7 0.0 1.0 false",
         NULL,
         "attention fp16 encoder 1 of 6/3 heads 10x14 of 11 36960/3168/1320"},
        {"flash_attn::_flash_attn_varlen_forward",
         "f16[10,6,11] f16[14,3,11] f16[14,3,11] i32[1] none 0 7", NULL,
         "attention fp16 encoder 1 of 6/3 heads 10x14 of 11 36960/3168/1320"},
        {"flash_attn::_flash_attn_varlen_forward",
         "f16[10,6,11] f16[14,3,11] f16[14,3,11] i32[3] none 1", NULL,
         "attention fp16 decode 2 of 6/3 heads 1x7 of 11 3696/2112/264"},
        {"flash_attn::_flash_attn_varlen_backward",
         "f16[1] f16[10,6,11] f16[14,3,11] f16[14,3,11] none none none none "
         "none i32[3] i32[3] 5 7 0.0 1.0 true",
         NULL,
         "attention fp16 prefill backward 2 of 6/3 heads 5x7 of 11 "
         "33000/5808/3168 kernels 3"},
        {"aten::_flash_attention_forward",
         "f16[10,6,11] f16[14,3,11] f16[14,3,11] i32[3] i32[3] 4 7 0.0 true",
         NULL,
         "attention fp16 prefill 2 of 6/3 heads 4x7 of 11 11616/2904/1056"},
        {"aten::_efficient_attention_forward",
         "f16[10,6,11] f16[14,3,11] f16[14,3,11] none i32[3] i32[3] 4 7", NULL,
         "attention fp16 encoder 2 of 6/3 heads 4x7 of 11 14784/2904/1056"},
        {"aten::_flash_attention_forward",
         "f16[2,6,11] f16[2,3,11] f16[2,3,11] i32[5] i32[5]", NULL,
         "attention fp16 encoder 4 of 6/3 heads 1x1 of 11 1056/1056/528"},
    };

    WORKS_CHECK(rows);
}

/* Where each form has offsets, the longest query and a window: 10 queries in
 * two sequences, of which none is longer than 4; 3 keys are seen. */
static void test_opmap_attention__places(void)
{
    static const struct {
        const char *name;
        bool back;
        uint32_t offsets, max_q, window; /* 0: it has none */
    } cases[] = {
        {"aten::_flash_attention_forward", false, 3, 5, 11},
        {"aten::_flash_attention_backward", true, 6, 8, 15},
        {"aten::_efficient_attention_forward", false, 4, 6, 0},
        {"aten::_efficient_attention_backward", true, 6, 8, 0},
        {"flash_attn::_flash_attn_varlen_forward", false, 3, 5, 10},
        {"flash_attn::_flash_attn_varlen_backward", true, 9, 11, 16},
        {"xformers::efficient_attention_forward_cutlass", false, 4, 6, 0},
        {"flash_attn::_flash_attn_forward", false, 0, 0, 6},
        {"flash_attn::_flash_attn_backward", true, 0, 0, 12},
    };
    static struct build b;
    char args[400], want[120];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct works_text x;
        int n = snprintf(
            args, sizeof(args), "%s%s", cases[i].back ? "f16[2,1] " : "",
            cases[i].offsets ? "f16[10,6,11] f16[14,3,11] f16[14,3,11] "
                             : BSHD);

        for (uint32_t k = 3 + cases[i].back; k < 18; k++)
            n += snprintf(args + n, sizeof(args) - (size_t)n, "%s ",
                          k == cases[i].offsets  ? "i32[3]"
                          : k == cases[i].max_q  ? "4"
                          : k == cases[i].window ? "3"
                                                 : "none");
        build_init(&b);
        build_op(&b, 0, cases[i].name, args, NULL);
        works_of(&x, &b.t, 0, -1, MSIM_OPMAP_AS_TRACED);
        snprintf(want, sizeof(want),
                 "attention fp16 encoder%s 2 of 6/3 heads %dx7 of 11%s ",
                 cases[i].back ? " backward" : "", cases[i].offsets ? 4 : 5,
                 cases[i].window ? " window 3" : "");
        x.s[strlen(want)] = '\0';
        CHECK_STR(x.s, want);
        build_release(&b);
    }
}

/* A window of 3 of 7 keys; one of all, or of none, is no window. One query is
 * a decoding step. */
static void test_opmap_attention__windows(void)
{
    static const struct works_row rows[] = {
        {"flash_attn::_flash_attn_forward", BSHD "0.0 1.0 true 3", NULL,
         "attention fp16 prefill 2 of 6/3 heads 5x7 of 11 window 3 "
         "7920/3168/1320"},
        {"flash_attn::_flash_attn_forward", BSHD "0.0 1.0 true 6", NULL,
         "attention fp16 prefill 2 of 6/3 heads 5x7 of 11 window 6 "
         "13200/3168/1320"},
        {"flash_attn::_flash_attn_forward", BSHD "0.0 1.0 false 7", NULL,
         "attention fp16 encoder 2 of 6/3 heads 5x7 of 11 18480/3168/1320"},
        {"flash_attn::_flash_attn_forward", BSHD "0.0 1.0 false 0", NULL,
         "attention fp16 encoder 2 of 6/3 heads 5x7 of 11 18480/3168/1320"},
        {"flash_attn::_flash_attn_forward", BSHD "0.0 1.0 false -1", NULL,
         "attention fp16 encoder 2 of 6/3 heads 5x7 of 11 18480/3168/1320"},
        {"flash_attn::_flash_attn_forward",
         "f16[2,1,6,11] f32[2,7,3,11] f32[2,7,3,11] 0.0 1.0 true", NULL,
         "attention fp16 decode 2 of 6/3 heads 1x7 of 11 keys fp32 "
         "3696/3960/264"},
        {"flash_attn::_flash_attn_forward",
         "f16[2,1,6,11] f16[2,1,3,11] f16[2,1,3,11] 0.0 1.0 false", NULL,
         "attention fp16 encoder 2 of 6/3 heads 1x1 of 11 528/528/264"},
        {"flash_attn::_flash_attn_forward",
         "f16[2,9,6,11] f16[2,7,3,11] f16[2,7,3,11] 0.0 1.0 true", NULL,
         "attention fp16 prefill 2 of 6/3 heads 9x7 of 11 19008/4224/2376"},
        {"flash_attn::_flash_attn_forward", "f16[6,11] f16[7,3,11]", NULL,
         "unknown"},
        {"flash_attn::_flash_attn_forward", "f16[2,5,6,11] f16[3,11]", NULL,
         "unknown"},
        {"flash_attn::_flash_attn_forward", "f16[2,5,6,11] none", NULL,
         "unknown"},
        {"flash_attn::_flash_attn_forward",
         "f16[3,5,11] f16[3,7,11] f16[3,7,11]", NULL,
         "attention fp16 encoder 1 of 5/7 heads 3x3 of 11 1980/1254/330"},
    };

    WORKS_CHECK(rows);
}

/* Autograd functions of libraries: the first tensor of 3 or 4 dimensions, and
 * the one behind it; the longer of the first two sizes is the sequence. */
static void test_opmap_attention__functions(void)
{
    static const struct works_row rows[] = {
        {"FlashAttnFunc", "f16[8] f16[2,2,2,2,2] " BSHD, NULL,
         "attention fp16 encoder 2 of 6/3 heads 5x7 of 11 18480/3168/1320"},
        {"FlashAttnFuncBackward", BSHD, NULL,
         "attention fp16 encoder backward 2 of 6/3 heads 5x7 of 11 "
         "46200/5808/3168 kernels 3"},
        {"FusedAttnFunc", "f16[5,2,6,11] f16[7,2,3,11]", NULL,
         "attention fp16 encoder 2 of 6/3 heads 5x7 of 11 18480/3168/1320"},
        {"FusedAttnFunc", BSHD, NULL,
         "attention fp16 encoder 2 of 6/3 heads 5x7 of 11 18480/3168/1320"},
        {"FusedAttnFunc", "f16[2,2,6,11] f16[2,7,3,11]", NULL,
         "attention fp16 encoder 2 of 6/3 heads 2x7 of 11 7392/2376/528"},
        {"FlashAttnFunc", "f16[2,5,6,11] f16[7,3,11]", NULL, "unknown"},
        {"FlashAttnFunc", "f16[2,5,6,11]", NULL, "unknown"},
        {"FlashAttnFunc", "f16[2,5]", NULL, "unknown"},
        {"triton_tem_fused_flex_attention_0",
         "f16[2,6,5,11] f16[2,3,7,11] f16[2,3,7,11] f32[2,6,5] f16[2,6,5,11]",
         NULL,
         "attention fp16 encoder 2 of 6/3 heads 5x7 of 11 18480/3168/1320 "
         "nearest"},
        {"triton_tem_fused_flex_attention_backward_0",
         "f16[2,6,5,11] f16[2,3,7,11] f16[2,3,7,11] f32[2,6,5]", NULL,
         "attention fp16 encoder backward 2 of 6/3 heads 5x7 of 11 "
         "46200/5808/3168 kernels 3 nearest"},
        {"triton_tem_fused_flex_attention_0", "f16[6,5] f16[3,7] f16[5,7]",
         NULL, "unknown"},
    };

    WORKS_CHECK(rows);
}

int main(void)
{
    RUN(test_opmap_attention__forms);
    RUN(test_opmap_attention__packed);
    RUN(test_opmap_attention__places);
    RUN(test_opmap_attention__windows);
    RUN(test_opmap_attention__functions);
    return check_summary();
}
