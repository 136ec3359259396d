/*
 * Rows of tables of measured times: which table a header is, what each row is
 * as a work, and what is said of a field that is wrong.
 */
#include "core/work/rows.h"
#include "tests/unit/made_works.h"

#include <unistd.h>

#define WANT_DTYPE                                                             \
    ", want fp32, tf32, fp16, bf16, fp8, fp8_block, nvfp4, int8, int8_wo or "  \
    "int4_wo"
#define WANT_PLAIN ", want fp32, fp16, bf16, fp8 or int8"
#define WANT_SHAPE                                                             \
    ", want sizes with x between, as 4096x1024, below 1e15 elements"
#define WANT_COLLECTIVE                                                        \
    ", want all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, "   \
    "reduce, gather, scatter or send_recv"
#define WANT_DISTRIBUTION                                                      \
    ", want random, balanced or power_law_ with a number above 0, at most 8"
#define WANT_DISPATCH ", want deepep_ or deepep_ll_ with dispatch or combine"

/* The work of the first row of a table, as a text; "" where the header is of
 * none, else why it is no work. */
static void row_of(struct works_text *x, const char *header, const char *row,
                   enum msim_table *table)
{
    char path[] = "test_rows_XXXXXX", reason[160];
    struct msim_csv *csv = NULL;
    struct msim_row_map map;
    struct msim_work w;
    char *const *fields;
    const char *why;
    int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

    if (!f)
        abort();
    fprintf(f, "%s\n%s\n", header, row);
    fclose(f);
    x->n = 0;
    x->s[0] = '\0';
    if (msim_csv_open(&csv, path, NULL) == MSIM_OK &&
        msim_row_map_init(&map, csv, NULL) == MSIM_OK &&
        msim_csv_next(csv, &fields, NULL) == MSIM_OK) {
        *table = map.table;
        why = msim_row_work(&map, fields, &w, reason, sizeof(reason));
        if (why)
            works_add(x, "%s", why);
        else if (w.family == MSIM_FAMILY_MOE) /* its load has a test */
            w.bytes_read = w.bytes_written = 0;
        if (!why)
            works_add_one(x, &w);
        for (int k = 0; !why && k < 4; k++) {
            const char *const own[] = {w.framework, w.source, w.version,
                                       w.backend};

            if (own[k])
                works_add(x, " %s", own[k]);
        }
    }
    msim_csv_close(csv);
    unlink(path);
}

struct row_case {
    const char *row, *want;
};

static void check_rows(const char *header, enum msim_table table,
                       const struct row_case *rows, size_t n)
{
    struct works_text x;
    enum msim_table got = MSIM_TABLE_COUNT;

    for (size_t i = 0; i < n; i++) {
        row_of(&x, header, rows[i].row, &got);
        if (!CHECK_STR(x.s, rows[i].want))
            fprintf(stderr, "  of %s\n", rows[i].row);
        CHECK_INT(got, table);
    }
}
#define ROWS(header, table, rows)                                              \
    check_rows(header, table, rows, sizeof(rows) / sizeof(rows[0]))

/* (3 x 5)(5 x 7): 210 FLOPs, 15 + 35 numbers read, 21 written. */
static void test_rows__gemm(void)
{
    static const struct row_case rows[] = {
        {"3,7,5,fp32,,,,,,", "gemm fp32 3x7x5 210/200/84"},
        {"3,7,5,fp16,2,,,,,", "gemm fp16 2*3x7x5 420/200/84"},
        {"3,7,5,fp32,1,TN,,,,", "gemm fp32 3x7x5 at 210/200/84"},
        {"3,7,5,fp32,1,NT,,,,", "gemm fp32 3x7x5 bt 210/200/84"},
        {"3,7,5,fp32,1,TT,fw,src,1.2,be",
         "gemm fp32 3x7x5 at bt 210/200/84 fw src 1.2 be"},
        {"3,7,5,fp32,1,,,src,,", "gemm fp32 3x7x5 210/200/84 src src"},
        {"3e0,7.0,5,fp32,,,,,,", "gemm fp32 3x7x5 210/200/84"},
        {"0,7,5,fp32,,,,,,", "m is '0', want a whole number from 1"},
        {"x,7,5,fp32,,,,,,", "m is 'x', want a whole number from 1"},
        {"3,7.5,5,fp32,,,,,,", "n is '7.5', want a whole number from 1"},
        {"3,7,,fp32,,,,,,", "k is '', want a whole number from 1"},
        {"3,7,1e15,fp32,,,,,,",
         "k is '1e15', want a whole number from 1 to below 1e15"},
        {"3,7,5,fp33,,,,,,", "dtype 'fp33' is not known" WANT_DTYPE},
        {"3,7,5,,,,,,,", "dtype '' is not known" WANT_DTYPE},
        {"3,7,5,fp32,0,,,,,", "batch is '0', want a whole number from 1"},
        /* the first fault is told */
        {"x,y,5,fp33,,,,,,", "dtype 'fp33' is not known" WANT_DTYPE},
        {"3,7,5,fp8_block,,,,,,", "gemm:fp8_block fp8 3x7x5 210/50/42"},
    };

    ROWS("m,n,k,dtype,batch,layout,framework,source,version,backend",
         MSIM_TABLE_GEMM, rows);
}

/* 2 sequences of 6 heads, 3 of keys, 5 queries and 7 keys of 11. */
static void test_rows__attention(void)
{
    static const struct row_case rows[] = {
        {"prefill,2,6,3,5,7,11,fp16,,,,",
         "attention fp16 prefill 2 of 6/3 heads 5x7 of 11 13200/3168/1320"},
        {"decode,2,6,3,1,7,11,fp16,,,,",
         "attention fp16 decode 2 of 6/3 heads 1x7 of 11 3696/2112/264"},
        {"encoder,2,6,3,5,7,11,fp16,,,,",
         "attention fp16 encoder 2 of 6/3 heads 5x7 of 11 18480/3168/1320"},
        {"encoder_any,2,6,,5,7,11,fp16,,,,",
         "attention fp16 encoder 2 of 6/6 heads 5x7 of 11 18480/5016/1320"},
        {"prefill,2,6,3,5,7,11,fp16,,fp16,,backward",
         "attention fp16 prefill backward 2 of 6/3 heads 5x7 of 11 "
         "33000/6336/3960"},
        {"prefill,2,6,3,5,7,11,fp16,,,4,",
         "attention fp16 prefill 2 of 6/3 heads 5x7 of 11 window 4 "
         "10032/3168/1320"},
        {"prefill,2,6,3,5,7,11,fp16,13,,,",
         "attention fp16 prefill 2 of 6/3 heads 5x7 of 11 values 13 "
         "14400/3336/1560"},
        {"prefill,2,6,3,5,7,11,fp16,,fp8,,",
         "attention fp16 prefill 2 of 6/3 heads 5x7 of 11 keys fp8 "
         "13200/2244/1320"},
        {"prefill,2,6,3,5,7,11,fp16,11,fp16,0,forward",
         "attention fp16 prefill 2 of 6/3 heads 5x7 of 11 13200/3168/1320"},
        {"prefix,2,6,3,5,7,11,fp16,,,,",
         "phase 'prefix' is not known, want prefill, decode or encoder"},
        {"prefill,2,6,3,5,7,11,fp16,,,,sideward",
         "pass 'sideward' is not known, want forward or backward"},
        {"prefill,2,6,3,5,7,11,fp16,,,-1,",
         "window is '-1', want a whole number from 0"},
        {"prefill,2,6,0,5,7,11,fp16,,,,",
         "kv_heads is '0', want a whole number from 1"},
        {"prefill,2,6,3,5,7,11,fp16,,fp9,,",
         "kv_dtype 'fp9' is not known" WANT_PLAIN},
        {"prefill,2,6,3,5,7,11,fp8_block,,,,",
         "dtype 'fp8_block' is not known" WANT_PLAIN},
    };

    ROWS("phase,batch,heads,kv_heads,q_len,kv_len,head_dim,dtype,v_head_dim,"
         "kv_dtype,window,pass",
         MSIM_TABLE_ATTENTION, rows);
}

static void test_rows__vectors(void)
{
    static const struct row_case rows[] = {
        {"add,fp32,3x5,,", "pointwise:add fp32 3x5 0/120/60"},
        {"add,fp16,105,,", "pointwise:add fp16 1x105 0/420/210"},
        {"softmax,fp32,3x5x7,,", "softmax:softmax fp32 15x7 0/420/420"},
        {"copy,fp32,3x5,40,", "copy:copy fp32 3x5 0/20/20"},
        {"emb,fp16,3x5,,1000",
         "embedding:emb fp16 3x5 lookups 3 of 1000 row_bytes 10 0/54/30"},
        {",fp32,3x5,,", "op '' is not known"},
        {"add,fp32,,,", "shape '' is not known" WANT_SHAPE},
        {"add,fp32,3x,,", "shape '3x' is not known" WANT_SHAPE},
        {"add,fp32,3y5,,", "shape '3y5' is not known" WANT_SHAPE},
        {"add,fp32,3x0,,", "shape '3x0' is not known" WANT_SHAPE},
        {"add,fp32,1e15,,", "shape '1e15' is not known" WANT_SHAPE},
        {"add,fp32,3x5,-1,", "bytes is '-1', want a whole number from 0"},
        {"emb,fp16,3x5,,0", "table_rows is '0', want a whole number from 1"},
    };

    ROWS("op,dtype,shape,bytes,table_rows", MSIM_TABLE_VECTOR, rows);
}

/* Nodes of 8 where a row does not say how many. */
static void test_rows__collectives(void)
{
    static const struct row_case rows[] = {
        {"all_reduce,8,40,,,,,",
         "collective unknown 1 of 40 over 8 on 1 0/0/0"},
        {"all_reduce,9,40,,,,,",
         "collective unknown 1 of 40 over 9 on 2 0/0/0"},
        {"all_gather,16,0,4,IB,ring,x,fp16",
         "collective fp16 3 of 0 over 16 on 4 IB ring x 0/0/0"},
        {"all_reduce_custom,8,40,,,,,",
         "collective unknown 1 of 40 over 8 on 1 custom 0/0/0"},
        {"all_reduce_custom,8,40,,,mine,,",
         "collective unknown 1 of 40 over 8 on 1 mine 0/0/0"},
        {"all_around,8,40,,,,,",
         "collective 'all_around' is not known" WANT_COLLECTIVE},
        {",8,40,,,,,", "collective '' is not known" WANT_COLLECTIVE},
        {"all_reduce,8,,,,,,", "bytes is '', want a whole number from 0"},
        {"all_reduce,0,40,,,,,", "ranks is '0', want a whole number from 1"},
        {"all_reduce,8,40,0,,,,", "nodes is '0', want a whole number from 1"},
    };

    ROWS("collective,ranks,bytes,nodes,interconnect,algorithm,setting,dtype",
         MSIM_TABLE_COLLECTIVE, rows);
}

/* 2 x 4 x 9 x 11 by 6 x 4 x 3 x 5: 7 x 7 results without a border. */
static void test_rows__convolutions(void)
{
    static const struct row_case rows[] = {
        {"2,4,9,11,6,3,5,,,,,", "conv fp32 2,4,9,11 by 6,3,5 stride 1,1 pad "
                                "0,0 dilation 1,1 groups 1 70560/4608/2352"},
        {"2,4,9,11,6,3,5,2,1,2,conv2d_bwd_data,fp16",
         "conv fp16 2,4,9,11 by 6,3,5 data stride 2,2 pad 1,1 dilation 1,1 "
         "groups 2 18000/960/1584"},
        {"2,4,9,11,6,3,5,,,,conv2d_bwd_weight,tf32",
         "conv:tf32 fp32 2,4,9,11 by 6,3,5 weight stride 1,1 pad 0,0 dilation "
         "1,1 groups 1 70560/5520/1440"},
        {"2,4,9,11,6,3,5,,,,sideward,", "op 'sideward' is not known"},
        {"2,4,9,11,6,3,5,0,,,,", "stride is '0', want a whole number from 1"},
        {"2,4,9,11,6,3,5,,-1,,,", "pad is '-1', want a whole number from 0"},
        {"2,4,9,11,6,3,5,,,0,,", "groups is '0', want a whole number from 1"},
        {"2,4,9,11,6,3,,,,,,", "s is '', want a whole number from 1"},
    };

    ROWS("n,c,h,w,k,r,s,stride,pad,groups,op,dtype", MSIM_TABLE_CONV, rows);
}

/* 16 tokens to 2 of 8 experts of 64 x 48. Experts without a gate are told by
 * the column, the back end, or the sizes of one family of models. */
static void test_rows__experts(void)
{
    static const struct row_case rows[] = {
        {"16,64,48,2,8,bf16,,,,,",
         "moe bfloat16 16 to 2/8 of 64x48 tp 1 ep 1 random 589824/0/0"},
        {"16,64,48,2,8,bf16,2,4,balanced,0,",
         "moe bfloat16 16 to 2/8 of 64x48 tp 2 ep 4 even plain 49152/0/0"},
        {"16,64,48,2,8,bf16,,,power_law_1.2,1,",
         "moe bfloat16 16 to 2/8 of 64x48 tp 1 ep 1 power 1.2 589824/0/0"},
        {"16,64,48,2,8,bf16,,,random,,nongated_x",
         "moe bfloat16 16 to 2/8 of 64x48 tp 1 ep 1 random plain 393216/0/0 "
         "nongated_x"},
        {"16,64,48,2,8,bf16,,,random,1,nongated_x",
         "moe bfloat16 16 to 2/8 of 64x48 tp 1 ep 1 random 589824/0/0 "
         "nongated_x"},
        {"16,64,1856,6,128,bf16,,,,,", "moe bfloat16 16 to 6/128 of 64x1856 tp "
                                       "1 ep 1 random plain 45613056/0/0"},
        {"16,64,1856,5,128,bf16,,,,,",
         "moe bfloat16 16 to 5/128 of 64x1856 tp 1 ep 1 random 57016320/0/0"},
        {"16,64,1857,6,128,bf16,,,,,",
         "moe bfloat16 16 to 6/128 of 64x1857 tp 1 ep 1 random 68456448/0/0"},
        {"16,64,48,22,512,bf16,,,,,", "moe bfloat16 16 to 22/512 of 64x48 tp 1 "
                                      "ep 1 random plain 4325376/0/0"},
        {"16,64,48,21,512,bf16,,,,,",
         "moe bfloat16 16 to 21/512 of 64x48 tp 1 ep 1 random 6193152/0/0"},
        {"16,64,48,2,8,bf16,,,power_law_8,,",
         "moe bfloat16 16 to 2/8 of 64x48 tp 1 ep 1 power 8 589824/0/0"},
        {"16,64,48,2,8,bf16,,,power_law_8.1,,",
         "distribution 'power_law_8.1' is not known" WANT_DISTRIBUTION},
        {"16,64,48,2,8,bf16,,,power_law_0,,",
         "distribution 'power_law_0' is not known" WANT_DISTRIBUTION},
        {"16,64,48,2,8,bf16,,,power_law_1x,,",
         "distribution 'power_law_1x' is not known" WANT_DISTRIBUTION},
        {"16,64,48,2,8,bf16,,,any,,",
         "distribution 'any' is not known" WANT_DISTRIBUTION},
        {"16,64,48,2,8,bf16,0,,,,", "tp is '0', want a whole number from 1"},
        {"16,64,48,2,8,bf16,,0,,,", "ep is '0', want a whole number from 1"},
        {"16,64,48,,8,bf16,,,,,", "topk is '', want a whole number from 1"},
    };

    ROWS("tokens,hidden,inter,topk,experts,dtype,tp,ep,distribution,gated,"
         "backend",
         MSIM_TABLE_MOE, rows);
}

static void test_rows__dispatches(void)
{
    static const struct row_case rows[] = {
        {"deepep_dispatch,16,64,2,8,,",
         "dispatch unknown there 16 of 64 to 2/8 over 8 by 0 0/0/0"},
        {"deepep_ll_combine,16,64,2,8,4,20",
         "dispatch unknown back fast 16 of 64 to 2/8 over 4 by 20 0/0/0"},
        {"deepep_ll_dispatch,16,64,2,8,4,0",
         "dispatch unknown there fast 16 of 64 to 2/8 over 4 by 0 0/0/0"},
        {"deepex_dispatch,16,64,2,8,,",
         "collective 'deepex_dispatch' is not known" WANT_DISPATCH},
        {"deepep_scatter,16,64,2,8,,",
         "collective 'deepep_scatter' is not known" WANT_DISPATCH},
        {"dispatch,16,64,2,8,,",
         "collective 'dispatch' is not known" WANT_DISPATCH},
        {"deepep_dispatch,16,64,2,8,0,",
         "ranks is '0', want a whole number from 1"},
        {"deepep_dispatch,16,64,2,8,,-1",
         "sms is '-1', want a whole number from 0"},
    };

    ROWS("collective,tokens,hidden,topk,experts,ranks,sms",
         MSIM_TABLE_EXPERT_DISPATCH, rows);
}

static void test_rows__tables(void)
{
    struct works_text x;
    enum msim_table table = MSIM_TABLE_COUNT;

    row_of(&x, "m,n,dtype", "3,7,fp32", &table);
    CHECK_INT(table, MSIM_TABLE_COUNT);
    for (int t = 0; t < MSIM_TABLE_COUNT; t++)
        CHECK_INT(msim_table_parse(msim_table_text((enum msim_table)t)), t);
    CHECK_STR(msim_table_text(MSIM_TABLE_EXPERT_DISPATCH), "expert_dispatch");
    CHECK_STR(msim_table_text(MSIM_TABLE_COUNT), "unknown");
    CHECK_INT(msim_table_parse("no such"), MSIM_TABLE_COUNT);
    CHECK_INT(msim_table_parse(NULL), MSIM_TABLE_COUNT);
}

int main(void)
{
    RUN(test_rows__gemm);
    RUN(test_rows__attention);
    RUN(test_rows__vectors);
    RUN(test_rows__collectives);
    RUN(test_rows__convolutions);
    RUN(test_rows__experts);
    RUN(test_rows__dispatches);
    RUN(test_rows__tables);
    return check_summary();
}
