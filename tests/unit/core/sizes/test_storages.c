/*
 * What tensors in one storage say of each other's sizes: other names of one,
 * buckets and shares of them, messages of gradients, and what attention reads
 * of a layer. The letters are those of made_sizes.h.
 */
#include "core/base/hash.h"
#include "tests/unit/core/sizes/made_sizes.h"

static struct made_sizes m;

/* Where tensor i of `args` is: storage, first element, made by an operator. */
struct at {
    uint32_t life;
    int64_t offset;
    bool made;
};

static void begin(const char *args, const struct at *at)
{
    made_call(&m, "op", args, "");
    m.l.n_values = m.call.n_in;
    m.l.values = calloc(m.call.n_in, sizeof(*m.l.values));
    for (uint32_t i = 0; i < m.call.n_in; i++) {
        const struct msim_size_tensor *x = &m.tensors[i];
        uint64_t elems = 1;

        for (uint32_t k = 0; k < x->n; k++)
            elems *= (uint64_t)x->dims[k];
        m.l.values[i] = (struct msim_size_value){
            .at = x->at,
            .life = at[i].life,
            .n = x->n,
            .op = i,
            .offset = at[i].offset,
            .elems = elems,
            .shape = msim_hash_bytes(MSIM_HASH_START, x->dims,
                                     x->n * sizeof(*x->dims)),
            .made = at[i].made};
        m.tensors[i].value = i;
    }
}

static void end(const char *want)
{
    CHECK_STR(made_told(&m), want);
    free(m.l.values);
    free(m.l.heads);
    free(m.l.gradients);
    free(m.l.buckets);
    made_free(&m);
}

static void hold_flat(const char *args, const struct at *at, const char *want)
{
    begin(args, at);
    CHECK_INT(msim_size_flat(&m.l), MSIM_OK);
    end(want);
}

/* ---- other names ----------------------------------------------------------
 */

static void test_storages__one_shape_at_one_place(void)
{
    static const struct at MADE_FIRST[] = {{1, 0, true}, {1, 0, false}};
    static const struct at GIVEN_FIRST[] = {{1, 0, false}, {1, 0, true}};
    static const struct at BOTH_GIVEN[] = {{1, 8, false}, {1, 8, false}};
    static const struct at BOTH_MADE[] = {{1, 0, true}, {1, 0, true}};
    static const struct at APART[] = {{1, 0, true}, {1, 1, false}};
    static const struct at OTHER[] = {{1, 0, true}, {2, 0, false}};
    static const struct at NONE[] = {{MSIM_NONE, 0, true},
                                     {MSIM_NONE, 0, false}};

    hold_flat("f32[4,6] f32[4,6]", MADE_FIRST, "ab,ab");
    hold_flat("f32[4,6] f32[4,6]", GIVEN_FIRST, "ab,ab");
    hold_flat("f32[4,6] f32[4,6]", BOTH_GIVEN, "ab,ab");
    hold_flat("f32[4,6] f32[4,6]", BOTH_MADE, "ab,cd");
    hold_flat("f32[4,6] f32[4,6]", APART, "ab,cd");
    hold_flat("f32[4,6] f32[4,6]", OTHER, "ab,cd");
    hold_flat("f32[4,6] f32[4,6]", NONE, "ab,cd");
    hold_flat("f32[4,6] f32[6,4]", MADE_FIRST, "ab,cd");
    /* a square may be turned; three sizes are told apart */
    hold_flat("f32[4,4] f32[4,4]", MADE_FIRST, "ab,cd");
    hold_flat("f32[4,4] f32[4,4]", BOTH_GIVEN, "ab,ab");
    hold_flat("f32[4,4,4] f32[4,4,4]", MADE_FIRST, "abc,abc");
}

/* One in a row: 4 x 6 = 24. */
static void test_storages__in_a_row(void)
{
    static const struct at MADE_FIRST[] = {{1, 0, true}, {1, 0, false}};
    static const struct at BOTH_MADE[] = {{1, 0, true}, {1, 0, true}};
    static const struct at NONE[] = {{MSIM_NONE, 0, true},
                                     {MSIM_NONE, 0, false}};

    hold_flat("f32[4,6] f32[24]", MADE_FIRST, "ab,c c=ab!");
    hold_flat("f32[24] f32[4,6]", MADE_FIRST, "a,bc a=bc!");
    hold_flat("f32[24] f32[24]", MADE_FIRST, "a,a");
    hold_flat("f32[4,6] f32[24]", BOTH_MADE, "ab,c");
    hold_flat("f32[4,6] f32[24]", NONE, "ab,c");
    hold_flat("f32[4,6] f32[3,8]", MADE_FIRST, "ab,cd");
}

/* ---- buckets --------------------------------------------------------------
 */

static void test_storages__buckets(void)
{
    static const struct at FULL[] = {{1, 0, 0}, {1, 24, 0}, {1, 0, 0}};
    static const struct at OVERLAP[] = {{1, 0, 0}, {1, 10, 0}, {1, 0, 0}};
    static const struct at MOVED[] = {{1, 1, 0}, {1, 25, 0}, {1, 1, 0}};
    static const struct at NO_LIFE[] = {
        {MSIM_NONE, 0, 0}, {MSIM_NONE, 24, 0}, {MSIM_NONE, 0, 0}};
    static const struct at GAP[] = {{1, 0, 0}, {1, 102, 0}, {1, 0, 0}};
    static const struct at BEHIND[] = {{1, 0, 0}, {1, 100, 0}, {1, 0, 0}};
    static const struct at LARGER[] = {
        {1, 0, 0}, {1, 0, 0}, {1, 24, 0}, {1, 0, 0}};

    hold_flat("f32[4,6] f32[6] f32[30]", FULL, "ab,c,d 24=ab! d=24+c");
    /* what others overlap is one part, however much it covers */
    hold_flat("f32[99] f32[50] f32[100]", OVERLAP, "a,b,c");
    /* from an element on, of no storage, and where no vector is the largest */
    hold_flat("f32[4,6] f32[6] f32[30]", MOVED, "ab,c,d");
    hold_flat("f32[4,6] f32[6] f32[30]", NO_LIFE, "ab,c,d");
    hold_flat("f32[4,6] f32[6] f32[5,6]", FULL, "ab,c,de");
    /* one part is none */
    hold_flat("f32[4,6] f32[25]", FULL, "ab,c");
    /* a fiftieth may be nobody's: between them, and behind them */
    hold_flat("f32[10,10] f32[100] f32[202]", GAP, "ab,c,d 100=ab! d=100+c+2");
    hold_flat("f32[10,10] f32[96] f32[200]", BEHIND,
              "ab,c,d 100=ab! d=100+c+4");
    hold_flat("f32[10,10] f32[95] f32[200]", BEHIND, "ab,c,d");
    /* more than the vector has */
    hold_flat("f32[10,10] f32[101] f32[200]", BEHIND, "ab,c,d");
    /* of two that begin at one place, the larger */
    hold_flat("f32[3] f32[4,6] f32[6] f32[30]", LARGER,
              "a,bc,d,e 24=bc! e=24+d");
}

/* Two buckets of two storages, in any order of values. */
static void test_storages__each_by_itself(void)
{
    static const struct at AT[] = {{2, 0, 0}, {1, 6, 0}, {2, 4, 0},
                                   {1, 0, 0}, {1, 0, 0}, {2, 0, 0}};

    hold_flat("f32[4] f32[5] f32[7] f32[11] f32[6] f32[11]", AT,
              "a,b,c,d,e,f d=e+b f=a+c");
}

/* A rank's share of 20 of 40: 10 and 18 are cut, those in between are not. */
static void test_storages__share_of_a_bucket(void)
{
    static const struct at AT[] = {
        {1, 0, 0}, {1, 10, 0}, {1, 15, 0}, {1, 22, 0}, {1, 0, 0},
        {2, 0, 0}, {2, 3, 0},  {2, 8, 0},  {2, 15, 0}, {2, 0, 0}};

    static const struct at OTHER[] = {
        {1, 0, 0}, {1, 10, 0}, {1, 15, 0}, {1, 22, 0}, {1, 0, 0},
        {2, 0, 0}, {2, 3, 0},  {2, 8, 0},  {2, 14, 0}, {2, 0, 0}};

    hold_flat("f32[10] f32[5] f32[7] f32[18] f32[40] "
              "f32[3] f32[5] f32[7] f32[5] f32[20]",
              AT, "a,b,c,d,e,f,b,c,g,h e=a+b+c+d h=f+b+c+g");
    /* no half, and another one in between */
    hold_flat("f32[10] f32[5] f32[7] f32[18] f32[40] "
              "f32[3] f32[5] f32[7] f32[6] f32[21]",
              AT, "a,b,c,d,e,f,g,h,i,j e=a+b+c+d j=f+g+h+i");
    hold_flat("f32[10] f32[5] f32[7] f32[18] f32[40] "
              "f32[3] f32[5] f32[6] f32[6] f32[20]",
              OTHER, "a,b,c,d,e,f,g,h,i,j e=a+b+c+d j=f+g+h+i");
}

/* ---- messages of gradients ------------------------------------------------
 */

/* Values 0 to n - 1 were added up, by operators 0 to n - 1; those behind them
 * are sent at once, by operator `op` each. */
static void hold_sent(const char *args, uint32_t n, uint32_t op,
                      const char *want)
{
    static const struct at NOWHERE[MADE_TENSORS];

    begin(args, NOWHERE);
    m.l.gradients = calloc(MADE_TENSORS, sizeof(*m.l.gradients));
    m.l.buckets = calloc(MADE_TENSORS, sizeof(*m.l.buckets));
    for (uint32_t i = 0; i < m.call.n_in; i++)
        if (i < n)
            m.l.gradients[m.l.n_gradients++] =
                (struct msim_size_gradient){i, i};
        else
            m.l.buckets[m.l.n_buckets++] = (struct msim_size_gradient){op, i};
    CHECK_INT(msim_size_tie_buckets(&m.l), MSIM_OK);
    end(want);
}

static void test_storages__messages_of_gradients(void)
{
    /* one behind the other: 30 = 4 x 6 + 6, then 10 and 8 */
    hold_sent("f32[4,6] f32[6] f32[10] f32[8] f32[30] f32[18]", 4, 9,
              "ab,c,d,e,f,g 24=ab! f=24+c g=d+e");
    /* from where the last one ended, though others are as many */
    hold_sent("f32[5] f32[3] f32[7] f32[8] f32[5] f32[10] f32[8] f32[15]", 6, 9,
              "a,b,c,d,e,f,g,h g=a+b h=c+d");
    /* one alone is that */
    hold_sent("f32[7] f32[7]", 1, 9, "a,a a=a");
    /* those that ended last before it; not those behind it */
    hold_sent("f32[5] f32[7] f32[3] f32[10]", 3, 9, "a,b,c,d d=b+c");
    hold_sent("f32[5] f32[7] f32[3] f32[7] f32[3] f32[10]", 5, 2,
              "a,b,c,d,e,f f=b+c");
    hold_sent("f32[5] f32[7] f32[3] f32[7] f32[3] f32[10]", 5, 9,
              "a,b,c,d,e,f f=d+e");
    hold_sent("f32[5] f32[7] f32[3] f32[10]", 3, 1, "a,b,c,d");
    /* none are as many; one number is no bucket */
    hold_sent("f32[5] f32[7] f32[11]", 2, 9, "a,b,c");
    hold_sent("f32[1] f32[1]", 1, 9, "1,1");
    hold_sent("f32[2] f32[2]", 1, 9, "a,a a=a");
    /* and neither are those behind the last, of which there are none */
    hold_sent("f32[5] f32[7] f32[17]", 2, 9, "a,b,c");
}

/* A bucket that is sent twice, or is the sum of others already, is tied once.
 */
static void test_storages__messages_are_tied_once(void)
{
    static const struct at NOWHERE[MADE_TENSORS];
    const uint32_t parts[] = {2, 3};

    begin("f32[5] f32[3] f32[6] f32[2] f32[8]", NOWHERE);
    m.l.gradients = calloc(2, sizeof(*m.l.gradients));
    m.l.buckets = calloc(2, sizeof(*m.l.buckets));
    m.l.n_gradients = m.l.n_buckets = 2;
    m.l.gradients[1] = (struct msim_size_gradient){1, 1};
    m.l.buckets[0] = m.l.buckets[1] = (struct msim_size_gradient){9, 4};
    CHECK_INT(msim_size_tie_buckets(&m.l), MSIM_OK);
    CHECK_INT(m.s.n_ties, 1);
    m.s.n_ties = 0;
    CHECK_INT(msim_size_tie_sum(&m.l, 4, parts, 2), MSIM_OK);
    CHECK_INT(msim_size_tie_buckets(&m.l), MSIM_OK);
    end("a,b,c,d,e e=c+d");
}

static void note(const char *name, uint32_t op, uint32_t which, uint32_t n)
{
    struct msim_size_call c = {.t = &m.b.t,
                               .op = &m.b.ops[op],
                               .name = name,
                               .in = m.tensors + which,
                               .n_in = n};

    m.l.op = op;
    CHECK_INT(msim_size_note_bucket(&m.l, &c), MSIM_OK);
}

/* A node of autograd and the operators in it name one gradient; messages name
 * vectors. */
static void test_storages__what_is_noted(void)
{
    static const struct at NOWHERE[MADE_TENSORS];
    const char *add = "torch::autograd::AccumulateGrad";

    begin("f32[4] f32[5] f32[6,2] f32[7]@", NOWHERE);
    build_op(&m.b, 0, add, "", "");            /* 1 */
    build_op(&m.b, 1, "aten::detach", "", ""); /* 2 */
    build_op(&m.b, 1, "aten::add_", "", "");   /* 3 */
    build_op(&m.b, 0, add, "", "");            /* 4 */
    build_op(&m.b, 0, "aten::mul", "", "");    /* 5 */
    build_op(&m.b, 0, add, "", "");            /* 6 */
    build_op(&m.b, 1, "aten::add_", "", "");   /* 7 */
    build_op(&m.b, 1, "aten::add_", "", "");   /* 8 */
    m.tensors[3].value = MSIM_NONE;
    note(add, 1, 0, 1);
    note("aten::detach", 2, 1, 1);
    note("aten::add_", 3, 1, 1);
    CHECK_INT(m.l.n_gradients, 1);
    note(add, 4, 1, 1);
    CHECK_INT(m.l.n_gradients, 2);
    note("aten::mul", 5, 0, 1);
    note(add, 6, 3, 1); /* without an id: the operators in it have one */
    note(add, 6, 0, 0);
    CHECK_INT(m.l.n_gradients, 2);
    note("aten::add_", 7, 2, 1);
    note("aten::add_", 8, 0, 1);
    CHECK_INT(m.l.n_gradients, 3);
    CHECK_INT(m.l.gradients[0].op, 1);
    CHECK_INT(m.l.gradients[0].value, 0);
    CHECK_INT(m.l.gradients[2].op, 7);
    CHECK_INT(m.l.gradients[2].value, 2);
    CHECK_INT(m.l.n_buckets, 0);
    /* nodes in one label are two gradients */
    build_op(&m.b, 0, "step", "", ""); /* 9 */
    build_op(&m.b, 1, add, "", "");    /* 10 */
    build_op(&m.b, 1, add, "", "");    /* 11 */
    note(add, 10, 0, 1);
    note(add, 11, 1, 1);
    CHECK_INT(m.l.n_gradients, 5);
    note("c10d::allreduce_", 5, 0, 4);
    CHECK_INT(m.l.n_buckets, 2);
    CHECK_INT(m.l.buckets[1].op, 5);
    CHECK_INT(m.l.buckets[1].value, 1);
    note("record_param_comms", 5, 0, 1);
    note("_c10d_functional::all_reduce", 5, 0, 1);
    CHECK_INT(m.l.n_buckets, 4);
    note("nccl:all_reduce", 5, 0, 1);
    note("c10d:", 5, 0, 1);
    CHECK_INT(m.l.n_buckets, 4);
    CHECK_INT(m.l.n_gradients, 5);
    end("a,b,cd,-");
}

/* ---- heads ----------------------------------------------------------------
 */

/* Queries, keys and values, of storages 1, 2 and 3, and what a layer wrote. */
static void hold_heads(const char *args, const struct at *at, const char *want)
{
    begin(args, at);
    m.call.name = "aten::_scaled_dot_product_flash_attention";
    CHECK_INT(msim_size_note_heads(&m.l, &m.call), MSIM_OK);
    CHECK_INT(msim_size_tie_heads(&m.l), MSIM_OK);
    end(want);
}

/* 2 samples of 4 tokens, 6 heads of 8, 3 of keys: 8 rows of 96 hold all, of 48
 * queries, keys and values together, or of 24 one of these. */
static void test_storages__heads_of_a_layer(void)
{
    static const struct at OF_KEYS[] = {
        {1, 0, 0}, {2, 0, 0}, {2, 4, 0}, {2, 0, 1}};
    static const struct at OF_QUERIES[] = {
        {1, 0, 0}, {2, 0, 0}, {2, 4, 0}, {1, 0, 1}};
    static const struct at GIVEN[] = {
        {1, 0, 0}, {2, 0, 0}, {2, 4, 0}, {2, 0, 0}};
    static const struct at MADE[] = {
        {1, 0, 1}, {2, 0, 1}, {2, 4, 0}, {1, 0, 1}};
#define QKV "f32[2,6,4,8] f32[2,3,4,8] f32[2,3,4,8] "

    hold_heads(QKV "f32[8,96]", OF_KEYS, "abcd,efgh,ijkl,mn 12=f+f+b n=12d");
    hold_heads(QKV "f32[2,4,96]", OF_QUERIES,
               "abcd,efgh,ijkl,mno 12=f+f+b o=12d");
    hold_heads(QKV "f32[8,72]", OF_KEYS, "abcd,efgh,ijkl,mn 9=f+b n=9d");
    hold_heads(QKV "f32[8,24]", OF_KEYS, "abcd,efgh,ijkl,mn n=fd");
    hold_heads(QKV "f32[8,48]", OF_QUERIES, "abcd,efgh,ijkl,mn n=bd");
    /* all in a row: 2 x 4 x 12 x 8 */
    hold_heads(QKV "f32[768,1]", OF_KEYS, "abcd,efgh,ijkl,m1 12=f+f+b m=12dac");
    hold_heads(QKV "f32[8,95]", OF_KEYS, "abcd,efgh,ijkl,mn");
    hold_heads(QKV "f32[96]", OF_KEYS, "abcd,efgh,ijkl,m");
    /* views that operators made say themselves what they are of */
    hold_heads(QKV "f32[8,96]", MADE, "abcd,efgh,ijkl,mn");
    /* four sizes are a view of heads, unless an operator made them */
    hold_heads(QKV "f32[2,4,1,96]", GIVEN, "abcd,efgh,ijkl,mn1o");
    hold_heads(QKV "f32[2,4,1,96]", OF_KEYS,
               "abcd,efgh,ijkl,mn1o 12=f+f+b o=12d");
    hold_heads("f32[6,4,8] f32[3,4,8] f32[3,4,8] f32[8,96]", OF_KEYS,
               "abc,def,ghi,jk");
}

/* Where rotations are undone: queries and keys in a row, of another storage. */
static void test_storages__heads_in_a_row(void)
{
    static const struct at ELSEWHERE[] = {
        {1, 0, 0}, {2, 0, 0}, {2, 4, 0}, {7, 0, 0}};
    static const struct at WRITTEN[] = {
        {1, 0, 0}, {2, 0, 0}, {2, 4, 0}, {7, 0, 1}};

    hold_heads(QKV "f32[576,1]", ELSEWHERE, "abcd,efgh,ijkl,m1 9=f+b m=9dac");
    hold_heads(QKV "f32[576,1]", WRITTEN, "abcd,efgh,ijkl,m1");
    hold_heads(QKV "f32[8,96]", ELSEWHERE, "abcd,efgh,ijkl,mn");
}

static void test_storages__attention_alone_has_heads(void)
{
    static const struct at AT[] = {{1, 0, 0}, {2, 0, 0}, {MSIM_NONE, 0, 0}};
    static const char *const OTHERS[] = {
        "aten::mul", "aten::_scaled_dot_product_flash_attention_backward"};

    for (size_t i = 0; i < 2; i++) {
        begin(QKV, AT);
        m.call.name = OTHERS[i];
        CHECK_INT(msim_size_note_heads(&m.l, &m.call), MSIM_OK);
        CHECK_INT(m.l.n_heads, 0);
        end("abcd,efgh,ijkl");
    }
    begin(QKV, AT);
    m.call.name = "aten::scaled_dot_product_attention";
    m.l.op = 5;
    CHECK_INT(msim_size_note_heads(&m.l, &m.call), MSIM_OK);
    CHECK_INT(m.l.n_heads, 2);
    CHECK_INT(m.l.heads[0].life, 1);
    CHECK_INT(m.l.heads[1].life, 2);
    CHECK_INT(m.l.heads[1].op, 5);
    m.call.n_in = 2;
    CHECK_INT(msim_size_note_heads(&m.l, &m.call), MSIM_OK);
    CHECK_INT(m.l.n_heads, 2);
    m.call.n_in = 3;
    end("abcd,efgh,ijkl");
}

int main(void)
{
    RUN(test_storages__one_shape_at_one_place);
    RUN(test_storages__in_a_row);
    RUN(test_storages__buckets);
    RUN(test_storages__each_by_itself);
    RUN(test_storages__share_of_a_bucket);
    RUN(test_storages__messages_of_gradients);
    RUN(test_storages__messages_are_tied_once);
    RUN(test_storages__what_is_noted);
    RUN(test_storages__heads_of_a_layer);
    RUN(test_storages__heads_in_a_row);
    RUN(test_storages__attention_alone_has_heads);
    return check_summary();
}
