/*
 * What is divided as another one of its class is: 64 = 4 x 16 twice, where both
 * 64 are one. The letters are those of made_sizes.h.
 */
#include "tests/unit/core/sizes/made_sizes.h"

static struct made_sizes m;

/* Tensor i of the call is the product, or the sum, of tensor i + 1's sizes. */
enum how { PRODUCT, SUM, FLAT, SHARE };

static void tie(uint32_t i, enum how how)
{
    const struct msim_size_tensor *x = &m.tensors[i], *y = x + 1;
    uint32_t parts[4], left = x->at;

    for (uint32_t k = 0; k < y->n; k++)
        parts[k] = y->at + k;
    if (how == SUM)
        CHECK_INT(msim_size_tie_sum(&m.l, x->at, parts, y->n), MSIM_OK);
    else if (how == SHARE)
        CHECK_INT(msim_size_tie_share(&m.l, x->at, y->at), MSIM_OK);
    else
        CHECK_INT(msim_size_tie_product(&m.l, &left, 1, parts, y->n), MSIM_OK);
    if (how == FLAT)
        m.s.ties[m.s.n_ties - 1].flat = true;
}

/* Ties of tensors 0 and 2 in that order, whose wholes are one where `one`. */
static void test_alike__divisions(void)
{
    static const struct {
        const char *args;
        enum how how;
        bool one;
        const char *want;
    } cases[] = {
        {"f32[64] f32[4,16] f32[64] f32[4,16]", PRODUCT, true,
         "a,bc,a,bc a=bc a=bc"},
        {"f32[64] f32[4,16] f32[64] f32[4,16]", PRODUCT, false,
         "a,bc,d,ef a=bc d=ef"},
        {"f32[64] f32[4,16] f32[64] f32[16,4]", PRODUCT, true,
         "a,bc,a,de a=bc a=de"},
        {"f32[64] f32[4,16] f32[64] f32[8,8]", PRODUCT, true,
         "a,bc,a,de a=bc a=de"},
        {"f32[64] f32[2,32] f32[64] f32[2,4,8]", PRODUCT, true,
         "a,bc,a,def a=bc a=def"},
        {"f32[64] f32[8,8] f32[64] f32[8,8]", PRODUCT, true,
         "a,bc,a,bc a=bc a=bc"},
        /* a square in a row does not tell its sides */
        {"f32[64] f32[8,8] f32[64] f32[8,8]", FLAT, true,
         "a,bc,a,de a=bc! a=de!"},
        {"f32[64] f32[4,16] f32[64] f32[4,16]", FLAT, true,
         "a,bc,a,bc a=bc! a=bc!"},
        {"f32[20] f32[4,16] f32[20] f32[4,16]", SUM, true,
         "a,bc,a,bc a=b+c a=b+c"},
        {"f32[20] f32[4,16] f32[20] f32[4,16]", SUM, false,
         "a,bc,d,ef a=b+c d=e+f"},
        {"f32[23] f32[4,16] f32[23] f32[4,16]", SUM, true,
         "a,bc,a,bc a=b+c+3 a=b+c+3"},
        {"f32[64] f32[16] f32[64] f32[16]", SHARE, true, "a,b,a,b a>b a>b"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        made_call(&m, "op", cases[i].args, "");
        tie(0, cases[i].how);
        tie(2, cases[i].how);
        if (cases[i].one)
            msim_size_unite(&m.l, m.tensors[0].at, m.tensors[2].at);
        CHECK_INT(msim_size_unite_alike(&m.l), MSIM_OK);
        if (!CHECK_STR(made_told(&m), cases[i].want))
            fprintf(stderr, "  case %zu\n", i);
        made_free(&m);
    }
}

/* Whichever side is known: two of 4 and 16 have one product. */
static void test_alike__products_of_one(void)
{
    made_call(&m, "op", "f32[64] f32[4,16] f32[64] f32[4,16]", "");
    tie(0, PRODUCT);
    tie(2, PRODUCT);
    for (uint32_t k = 0; k < 2; k++)
        msim_size_unite(&m.l, m.tensors[1].at + k, m.tensors[3].at + k);
    CHECK_INT(msim_size_unite_alike(&m.l), MSIM_OK);
    CHECK_STR(made_told(&m), "a,bc,a,bc a=bc a=bc");
    made_free(&m);
}

/* What one round unites says more in the next: the parts of parts, whose ties
 * came first. */
static void test_alike__rounds(void)
{
    made_call(&m, "op",
              "f32[16] f32[2,8] f32[16] f32[2,8] f32[64] f32[4,16] f32[64] "
              "f32[4,16]",
              "");
    for (uint32_t i = 0; i < 8; i += 2)
        tie(i, PRODUCT);
    msim_size_unite(&m.l, m.tensors[4].at, m.tensors[6].at);
    msim_size_unite(&m.l, m.tensors[5].at + 1, m.tensors[0].at);
    msim_size_unite(&m.l, m.tensors[7].at + 1, m.tensors[2].at);
    CHECK_INT(msim_size_unite_alike(&m.l), MSIM_OK);
    CHECK_STR(made_told(&m), "a,bc,a,bc,d,ea,d,ea a=bc a=bc d=ea d=ea");
    made_free(&m);
}

int main(void)
{
    RUN(test_alike__divisions);
    RUN(test_alike__products_of_one);
    RUN(test_alike__rounds);
    return check_summary();
}
