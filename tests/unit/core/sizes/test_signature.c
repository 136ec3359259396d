/*
 * What rows of letters, and sizes that are spread over each other, say of an
 * operator's tensors; letters of results are those of made_sizes.h.
 */
#include "tests/unit/core/sizes/made_sizes.h"

struct told {
    const char *name, *args, *outs, *want;
};

static struct made_sizes m;

static void hold(const struct told *c, size_t n, bool spread)
{
    for (size_t i = 0; i < n; i++) {
        made_call(&m, c[i].name, c[i].args, c[i].outs);
        if (spread)
            msim_size_spread(&m.l, &m.call);
        else
            CHECK(msim_size_signature(&m.l, &m.call));
        if (!CHECK_STR(made_told(&m), c[i].want))
            fprintf(stderr, "%s(%s) -> %s\n", c[i].name, c[i].args, c[i].outs);
        made_free(&m);
    }
}
#define HOLD(cases) hold(cases, sizeof(cases) / sizeof(*(cases)), false)

static void test_signature__letters(void)
{
    static const struct told CASES[] = {
        {"aten::mm", "f32[2,3] f32[3,4]", "f32[2,4]", "ab,bc->ac"},
        {"aten::linear", "f32[5,2,3] f32[4,3] f32[4]", "f32[5,2,4]",
         "abc,dc,d->abd"},
        {"aten::linear", "f32[3] f32[4,3]", "f32[4]", "a,ba->b"},
        {"aten::embedding", "f32[100,8] i64[2,4]", "f32[2,4,8]", "ab,cd->cdb"},
        {"aten::matmul", "f32[7,2,3] f32[7,3,4]", "f32[7,2,4]", "abc,acd->abd"},
        {"aten::matmul", "f32[7,2,3] f32[3,4]", "f32[7,2,4]", "abc,cd->abd"},
        /* what is not known, before and behind letters */
        {"aten::addmm", "f32[4] f32[2,3] f32[3,4]", "f32[2,4]", "a,bc,ca->ba"},
        {"aten::addmm", "f32[2,4] f32[2,3] f32[3,4]", "f32[2,4]",
         "ab,cd,db->cb"},
        {"aten::conv2d", "f32[8,6,5,5] f32[12,6,2,2] f32[12]", "f32[8,12,4,4]",
         "abcd,ebfg,e->aehi"},
        /* arguments without a term, and with an empty one */
        {"aten::_scaled_mm", "f32[2,3] f32[3,4] f32[3] f32[4] f32[4]",
         "f32[2,4]", "ab,bc,d,e,c->ac"},
        {"aten::layer_norm", "f32[2,5,4] (4) f32[4] f32[4]", "f32[2,5,4]",
         "abc,c,c->abc"},
        {"aten::mm", "f32[2,3] f32[3,4] f32[2,4]", "f32[2,4] f32[2,4]",
         "ab,bc,de->ac,fg"},
        {"aten::new_zeros", "f32[2,3] (2 3)", "f32[2,3]", "ab->cd"},
        {"aten::einsum", "f32[2,3] f32[3,2]", "f32[2,2]", "ab,cd->ef"},
    };

    HOLD(CASES);
}

static void test_signature__what_does_not_fit(void)
{
    static const struct told CASES[] = {
        /* another number of sizes, fewer than letters, no id, in a list */
        {"aten::mm", "f32[2,3] f32[3,4]", "f32[8]", "ab,bc->d"},
        {"aten::mm", "f32[2,3] f32[3,4]", "f32[2,4,1]", "ab,bc->de1"},
        {"aten::linear", "f32[5,2,3] f32[4] f32[4]", "f32[5,2,4]",
         "abc,d,e->abe"},
        {"aten::mm", "f32[2,3]@ f32[3,4]", "f32[2,4]", "-,ab->cb"},
        {"aten::mm", "(f32[2,3] f32[3,4])", "f32[2,4]", "ab,cd->ef"},
        {"aten::mm", "f32[1,3] f32[3,4]", "f32[1,4]", "1a,ab->1b"},
        /* one letter of another number: channels of groups */
        {"aten::conv2d", "f32[8,6,5,5] f32[12,3,2,2] f32[12]", "f32[8,12,4,4]",
         "abcd,efgh,e->aeij"},
        /* two: turned, as far as numbers tell */
        {"aten::mm", "f32[2,3] f32[4,3]", "f32[2,4]", "ab,cb->ac"},
        {"aten::mm", "f32[2,3] f32[9,3]", "f32[2,4]", "ab,cb->ad"},
        {"aten::bmm", "f32[3,2,3] f32[4,3,3]", "f32[3,2,4]", "abc,def->abd"},
        {"aten::addmm", "f32[4] f32[7,8] f32[3,4]", "f32[2,4]", "a,bc,da->ea"},
        /* and not where sizes are left open */
        {"aten::linear", "f32[5,2,3] f32[4,3]", "f32[2,5,7]", "abc,dc->efg"},
    };

    HOLD(CASES);
}

/* Rows of attention come twice: heads of keys are those of queries, or not. */
static void test_signature__attention(void)
{
    static const struct told CASES[] = {
        {"aten::_flash_attention_forward",
         "f32[2,4,6,8] f32[2,5,6,8] f32[2,5,6,8]", "f32[2,4,6,8]",
         "abcd,aecd,aecd->abcd"},
        {"aten::_flash_attention_forward",
         "f32[2,4,6,8] f32[2,5,3,8] f32[2,5,3,7]", "f32[2,4,6,7]",
         "abcd,aefd,aefg->abcg"},
        {"aten::_scaled_dot_product_flash_attention",
         "f32[2,6,4,8] f32[2,3,5,8] f32[2,3,5,8]", "f32[2,6,4,8] f32[2,6,4]",
         "abcd,aefd,aefd->abcd,abc"},
    };

    HOLD(CASES);
}

/* Channels of a transposed convolution stand in its weight the other way round,
 * also where they are as many. */
static void test_signature__transposed(void)
{
    static const struct told CASES[] = {
        {"aten::conv_transpose2d", "f32[2,8,5,5] f32[8,4,3,3] f32[4]",
         "f32[2,4,7,7]", "abcd,befg,e->aehi"},
        {"aten::convolution",
         "f32[2,4,5,5] f32[4,4,3,3] f32[4] (1 1) (1 1) (1 1) true",
         "f32[2,4,7,7]", "abcd,befg,e->aehi"},
        {"aten::convolution",
         "f32[2,4,5,5] f32[4,4,3,3] f32[4] (1 1) (1 1) (1 1) false",
         "f32[2,4,7,7]", "abcd,ebfg,e->aehi"},
        {"aten::_convolution",
         "f32[2,8,5,5] f32[8,4,3,3] f32[4] (1 1) (1 1) (1 1) true",
         "f32[2,4,7,7]", "abcd,befg,e->aehi"},
        {"aten::convolution_backward",
         "f32[2,4,7,7] f32[2,8,5,5] f32[8,4,3,3] (4) (1 1) (1 1) (1 1) true",
         "f32[2,8,5,5] f32[8,4,3,3] f32[4]", "abcd,aefg,ebhi->aejk,eblm,b"},
    };

    HOLD(CASES);
}

/* Sixteen sizes of a star are tied, from the right. */
static void test_signature__many_sizes(void)
{
    static const struct told CASES[] = {
        {"aten::expand", "f32[2,3]", "f32[5,2,3]", "ab->cab"},
        {"aten::expand", "f32[2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]",
         "f32[2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]",
         "abcdefghijklmnop->abcdefghijklmnop"},
        {"aten::expand", "f32[2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]",
         "f32[2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]",
         "abcdefghijklmnopq->rbcdefghijklmnopq"},
    };

    HOLD(CASES);
}

static void test_signature__no_row(void)
{
    made_call(&m, "aten::mmm", "f32[2,3] f32[3,4]", "f32[2,4]");
    CHECK(!msim_size_signature(&m.l, &m.call));
    CHECK_STR(made_told(&m), "ab,cd->ef");
    made_free(&m);
}

static void test_signature__spread(void)
{
    static const struct told CASES[] = {
        {"aten::add", "f32[2,3] f32[3]", "f32[2,3]", "ab,b->ab"},
        {"aten::add", "f32[2,1] f32[1,3]", "f32[2,3]", "a1,1b->ab"},
        {"aten::add", "f32[2,3] f32[7,1,1]", "f32[7,2,3]", "ab,c11->cab"},
        {"aten::add", "f32[2,3] f32[2,3]@", "f32[2,3]", "ab,-->ab"},
        {"aten::add", "f32[2,3] f32[2,3]", "f32[2,3]@", "ab,ab->-"},
        {"aten::max", "f32[2,3]", "f32[2,3] f32[3]", "ab->ab,b"},
        /* as no operator spreads them */
        {"aten::add", "f32[2,3] f32[3]", "f32[2,4]", "ab,c->de"},
        {"aten::add", "f32[2,3] f32[3]", "f32[3]", "ab,c->d"},
        {"aten::add", "f32[2,3] f32[3]", "f32[1,2,3]", "ab,c->1de"},
        {"aten::add", "", "f32[2,3] f32[2,3]", "->ab,cd"},
        {"aten::add_", "f32[2,3] f32[3]", "", "ab,b"},
    };

    hold(CASES, sizeof(CASES) / sizeof(*CASES), true);
}

int main(void)
{
    RUN(test_signature__letters);
    RUN(test_signature__what_does_not_fit);
    RUN(test_signature__attention);
    RUN(test_signature__transposed);
    RUN(test_signature__many_sizes);
    RUN(test_signature__no_row);
    RUN(test_signature__spread);
    return check_summary();
}
