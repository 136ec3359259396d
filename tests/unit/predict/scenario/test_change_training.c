/*
 * predict/scenario/change_training.c: how a model is trained, from the member
 * of a scenario to what is asked of a rewritten step.
 */
#include "tests/unit/appended.h"
#include "tests/unit/predict/scenario/made_change.h"

/* Another machine than the base's, or not. */
static void check_other(const char *change, bool other)
{
    struct made_change m = made_change(change);

    CHECK_INT(m.status, MSIM_OK);
    if (!CHECK_INT(m.row->other_target, other))
        fprintf(stderr, "%s\n", change);
    made_change_free(&m);
}

static void test_layers__one_repetition(void)
{
    struct made_change m = made_change("{\"layers\":10000}");

    CHECK_INT(m.status, MSIM_OK);
    CHECK_UINT(m.settings->rewrite.layers, 10000);
    CHECK_STR(m.settings->rewrite.layers_block, "");
    CHECK_UINT(m.settings->rewrite.n_more_layers, 0);
    CHECK(m.row->other_target);
    made_change_free(&m);
    check_change_refused("{\"layers\":10001}",
                         "layers is 10001, want at most 10,000 layers");
    check_change_refused("{\"layers\":0}",
                         "layers is 0, want a whole number from 1");
    check_change_refused("{\"layers\":\"many\"}",
                         "layers is \"many\", want a whole number from 1");
    check_change_refused("{\"layers\":{\"block\":\"h\"}}",
                         "layers.to is missing, want a whole number from 1");
    check_change_refused("{\"layers\":{\"block\":\"h\",\"to\":10001}}",
                         "layers.to is 10001, want at most 10,000 layers");
}

/* Four repetitions at most, each named once. */
static void test_layers__several_repetitions(void)
{
    struct made_change m = made_change(
        "{\"layers\":{\"block\":\"a\",\"to\":2}},"
        "{\"layers\":{\"block\":\"b\",\"to\":3}},{\"layers\":{\"to\":4}},"
        "{\"layers\":{\"block\":\"c\",\"to\":5}}");
    const struct msim_rewrite *w = &m.settings->rewrite;

    CHECK_INT(m.status, MSIM_OK);
    CHECK_UINT(w->layers, 2);
    CHECK_STR(w->layers_block, "a");
    CHECK_UINT(w->n_more_layers, 3);
    CHECK_UINT(w->more_layers[0].to, 3);
    CHECK_STR(w->more_layers[0].block, "b");
    CHECK_UINT(w->more_layers[1].to, 4);
    CHECK_STR(w->more_layers[1].block, "");
    CHECK_UINT(w->more_layers[2].to, 5);
    CHECK_STR(w->more_layers[2].block, "c");
    made_change_free(&m);
    check_change_refused_at(
        4,
        "{\"layers\":{\"block\":\"a\",\"to\":2}},"
        "{\"layers\":{\"block\":\"b\",\"to\":2}},"
        "{\"layers\":{\"block\":\"c\",\"to\":2}},"
        "{\"layers\":{\"block\":\"d\",\"to\":2}},"
        "{\"layers\":{\"block\":\"e\",\"to\":2}}",
        "layers.block is \"e\", want at most 4 such changes a scenario");
    check_change_refused_at(
        1,
        "{\"layers\":{\"block\":\"a\",\"to\":2}},"
        "{\"layers\":{\"block\":\"a\",\"to\":3}}",
        "layers.block is \"a\", want each repetition of blocks once a "
        "scenario");
    check_change_refused_at(
        2,
        "{\"layers\":{\"block\":\"a\",\"to\":2}},"
        "{\"layers\":{\"block\":\"b\",\"to\":3}},"
        "{\"layers\":{\"block\":\"b\",\"to\":3}}",
        "layers.block is \"b\", want each repetition of blocks once a "
        "scenario");
    check_change_refused_at(1, "{\"layers\":2},{\"layers\":3}",
                            "layers is 3, want each repetition of blocks once "
                            "a scenario");
}

static void test_layers__names(void)
{
    static const char NAME[] = /* 63 characters */
        "123456789a123456789b123456789c123456789d123456789e123456789f123";
    char text[256], want[256];
    struct made_change m;

    snprintf(text, sizeof(text), "{\"layers\":{\"block\":\"%s\",\"to\":2}}",
             NAME);
    m = made_change(text);
    CHECK_INT(m.status, MSIM_OK);
    CHECK_STR(m.settings->rewrite.layers_block, NAME);
    made_change_free(&m);
    snprintf(text, sizeof(text), "{\"layers\":{\"block\":\"%s4\",\"to\":2}}",
             NAME);
    snprintf(want, sizeof(want),
             "layers.block is \"%.59s, want at most 63 characters", NAME);
    check_change_refused(text, want);
    check_change_refused("{\"layers\":{\"block\":\"\",\"to\":2}}",
                         "layers.block is \"\", want the name of a repetition; "
                         "where there is one, the number of layers will do");
}

static void check_recompute(const char *value, uint32_t every, const char *ops)
{
    char text[256];
    struct made_change m;

    snprintf(text, sizeof(text), "{\"recompute\":%s}", value);
    m = made_change(text);
    CHECK_INT(m.status, MSIM_OK);
    CHECK_UINT(m.settings->rewrite.recompute_every, every);
    CHECK_STR(m.settings->rewrite.recompute_ops, ops);
    CHECK_INT(m.row->other_target, every > 0);
    made_change_free(&m);
}

static void test_recompute__words(void)
{
    static const char WANT[] = ", want \"full\", \"none\", {\"every\": 2} or "
                               "operators such as \"aten::gelu*\"";
    char ops[300], text[400], want[400];

    check_recompute("\"none\"", 0, "");
    check_recompute("\"full\"", 1, "");
    check_recompute("{\"every\":1}", 1, "");
    check_recompute("{\"every\":10000}", 10000, "");
    check_recompute("\"aten::gelu\"", 1, "aten::gelu");
    check_recompute("\"gelu*\"", 1, "gelu*");
    check_recompute("\"gel?\"", 1, "gel?");
    check_recompute("\"gel[u]\"", 1, "gel[u]");
    /* 127 characters have room. */
    memset(ops, '*', sizeof(ops));
    ops[127] = '\0';
    snprintf(text, sizeof(text), "\"%s\"", ops);
    check_recompute(text, 1, ops);
    snprintf(text, sizeof(text), "{\"recompute\":\"%s*\"}", ops);
    snprintf(want, sizeof(want), "recompute is \"%.59s%s", ops, WANT);
    check_change_refused(text, want);
    snprintf(want, sizeof(want), "recompute is \"ful\"%s", WANT);
    check_change_refused("{\"recompute\":\"ful\"}", want);
    snprintf(want, sizeof(want), "recompute is \"\"%s", WANT);
    check_change_refused("{\"recompute\":\"\"}", want);
    snprintf(want, sizeof(want), "recompute is 2%s", WANT);
    check_change_refused("{\"recompute\":2}", want);
    check_change_refused("{\"recompute\":{\"every\":10001}}",
                         "recompute.every is 10001, want at most 10,000");
    check_change_refused("{\"recompute\":{}}", "recompute.every is missing, "
                                               "want a whole number from 1");
}

static void test_numbers__limits(void)
{
    struct made_change m = made_change("{\"accumulate\":4096},"
                                       "{\"world\":1000000}");

    CHECK_INT(m.status, MSIM_OK);
    CHECK_UINT(m.settings->rewrite.accumulate, 4096);
    CHECK_UINT(m.settings->rewrite.world, 1000000);
    made_change_free(&m);
    check_other("{\"accumulate\":1}", true);
    check_other("{\"world\":1}", false);
    check_other("{\"world\":2}", true);
    check_change_refused("{\"accumulate\":4097}",
                         "accumulate is 4097, want at most 4096 micro batches");
    check_change_refused("{\"world\":1000001}",
                         "world is 1000001, want at most 1,000,000 ranks");
    check_change_refused("{\"accumulate\":0}",
                         "accumulate is 0, want a whole number from 1");
    check_change_refused("{\"world\":0}",
                         "world is 0, want a whole number from 1");
}

static void test_parallel__is_read(void)
{
    struct made_change m = made_change(
        "{\"parallel\":{\"tp\":4096,\"pp\":3,\"vp\":2,\"stages\":[2,10000,4],"
        "\"dp\":1000000,\"micro_batches\":4096,\"ep\":6,\"cp\":1,"
        "\"schedule\":\"interleaved\",\"sequence_parallel\":false}}");
    const struct msim_split *p = &m.settings->rewrite.parallel;

    CHECK_INT(m.status, MSIM_OK);
    CHECK_UINT(p->tp, 4096);
    CHECK_UINT(p->pp, 3);
    CHECK_UINT(p->vp, 2);
    CHECK_UINT(p->dp, 1000000);
    CHECK_UINT(p->ep, 6);
    CHECK_UINT(p->micro_batches, 4096);
    CHECK_UINT(m.settings->rewrite.world, 1000000);
    CHECK(!p->rows && p->rows_said);
    CHECK_INT(p->order, MSIM_TURNS_INTERLEAVED);
    if (CHECK(p->blocks != NULL)) {
        CHECK_UINT(p->blocks[0], 2);
        CHECK_UINT(p->blocks[1], 10000);
        CHECK_UINT(p->blocks[2], 4);
    }
    made_change_free(&m);
    m = made_change("{\"parallel\":{\"stages\":[1,2]}}");
    p = &m.settings->rewrite.parallel;
    CHECK_INT(m.status, MSIM_OK);
    CHECK_UINT(p->pp, 2);
    CHECK(p->rows && !p->rows_said);
    CHECK_UINT(m.settings->rewrite.world, 0);
    CHECK_INT(p->order, MSIM_TURNS_1F1B);
    CHECK(m.row->other_target);
    CHECK(!p->dtensor);
    made_change_free(&m);
}

static void test_parallel__whose_it_is(void)
{
    static const char *const WORDS[] = {"megatron", "dtensor"};

    for (int i = 0; i < 2; i++) {
        char text[96];
        struct made_change m;

        snprintf(text, sizeof(text),
                 "{\"parallel\":{\"tp\":2,\"implementation\":\"%s\"}}",
                 WORDS[i]);
        m = made_change(text);
        CHECK_INT(m.status, MSIM_OK);
        CHECK_INT(m.settings->rewrite.parallel.dtensor, i);
        made_change_free(&m);
    }
    check_change_refused(
        "{\"parallel\":{\"pp\":2,\"implementation\":\"dtensor\"}}",
        "parallel.implementation is \"dtensor\", want \"dtensor\" with \"tp\" "
        "above 1");
    check_change_refused(
        "{\"parallel\":{\"tp\":2,\"implementation\":\"fsdp\"}}",
        "parallel.implementation is \"fsdp\", want megatron or dtensor");
}

static void test_parallel__other_target(void)
{
    check_other("{\"parallel\":{}}", false);
    check_other("{\"parallel\":{\"vp\":1,\"dp\":1}}", false);
    check_other("{\"parallel\":{\"tp\":1}}", true);
    check_other("{\"parallel\":{\"pp\":1}}", true);
    check_other("{\"parallel\":{\"pp\":2}}", true);
    check_other("{\"parallel\":{\"dp\":2}}", true);
    check_other("{\"parallel\":{\"ep\":1}}", true);
    check_other("{\"parallel\":{\"micro_batches\":1}}", true);
}

static void test_parallel__schedules(void)
{
    static const char *const WORDS[] = {"1f1b", "interleaved", "zero-bubble",
                                        "gpipe"};
    char text[128];
    struct made_change m;

    for (int i = 0; i < 4; i++) {
        snprintf(text, sizeof(text),
                 "{\"parallel\":{\"pp\":2,\"vp\":%d,\"schedule\":\"%s\"}}",
                 i == MSIM_TURNS_INTERLEAVED ? 2 : 1, WORDS[i]);
        m = made_change(text);
        CHECK_INT(m.status, MSIM_OK);
        CHECK_INT(m.settings->rewrite.parallel.order, i);
        made_change_free(&m);
    }
    m = made_change("{\"parallel\":{\"pp\":2,\"vp\":2}}");
    CHECK_INT(m.settings->rewrite.parallel.order, MSIM_TURNS_INTERLEAVED);
    made_change_free(&m);
    check_change_refused(
        "{\"parallel\":{\"pp\":2,\"schedule\":\"interleaved\"}}",
        "parallel.schedule is \"interleaved\", want \"interleaved\" with "
        "\"vp\" above 1, and no other with it");
    check_change_refused("{\"parallel\":{\"pp\":2,\"vp\":2,\"schedule\":"
                         "\"1f1b\"}}",
                         "parallel.schedule is \"1f1b\", want \"interleaved\" "
                         "with \"vp\" above 1, and no other with it");
    check_change_refused("{\"parallel\":{\"pp\":1,\"vp\":2}}",
                         "parallel.vp is 2, want 1 without \"pp\" above 1");
}

static void test_parallel__refuses(void)
{
    static const char STAGES[] =
        ", want blocks of layers of two stages or more: as many numbers as "
        "\"pp\" says";
    char want[256];

    check_change_refused("{\"parallel\":2}",
                         "parallel is 2, want {\"pp\": 4, \"micro_batches\": "
                         "16}");
    check_change_refused("{\"parallel\":{\"tp\":4097}}",
                         "parallel.tp is 4097, want at most 4096");
    check_change_refused("{\"parallel\":{\"dp\":1000001}}",
                         "parallel.dp is 1000001, want at most 1,000,000 "
                         "ranks");
    check_change_refused("{\"parallel\":{\"pp\":0}}",
                         "parallel.pp is 0, want a whole number from 1");
    check_change_refused("{\"parallel\":{\"dp\":0}}",
                         "parallel.dp is 0, want a whole number from 1");
    check_change_refused("{\"parallel\":{\"ep\":4097}}",
                         "parallel.ep is 4097, want at most 4096");
    check_change_refused("{\"parallel\":{\"ep\":0}}",
                         "parallel.ep is 0, want a whole number from 1");
    check_change_refused("{\"parallel\":{\"tp\":4,\"etp\":2}}",
                         "parallel.etp is 2, want 1 (experts are whole), or as "
                         "many as \"tp\"");
    check_change_refused("{\"parallel\":{\"cp\":4097}}",
                         "parallel.cp is 4097, want at most 4096");
    check_change_refused("{\"parallel\":{\"cp\":2,\"dp\":500001}}",
                         "parallel.cp is 2, want at most 1,000,000 ranks with "
                         "those of \"dp\"");
    snprintf(want, sizeof(want), "parallel.stages is [1]%s", STAGES);
    check_change_refused("{\"parallel\":{\"stages\":[1]}}", want);
    snprintf(want, sizeof(want), "parallel.stages is [1,2]%s", STAGES);
    check_change_refused("{\"parallel\":{\"pp\":3,\"stages\":[1,2]}}", want);
    check_change_refused("{\"parallel\":{\"stages\":[1,0]}}",
                         "parallel.stages[1] is 0, want a whole number from 1 "
                         "to 10000");
    check_change_refused("{\"parallel\":{\"stages\":[10001,1]}}",
                         "parallel.stages[0] is 10001, want a whole number "
                         "from 1 to 10000");
    check_change_refused("{\"parallel\":{\"stages\":[1,2.5]}}",
                         "parallel.stages[1] is 2.5, want a whole number from "
                         "1 to 10000");
    check_change_refused("{\"parallel\":{\"vp\":3,\"stages\":[3,2]}}",
                         "parallel.stages[1] is 2, want a whole number from 3 "
                         "to 10000");
}

/* 4,096 stages are the most. */
static void test_parallel__stages(void)
{
    static char text[32768];

    for (int n = 4096; n <= 4097; n++) {
        struct made_change m;

        snprintf(text, sizeof(text), "%s", "{\"parallel\":{\"stages\":[1");
        for (int i = 1; i < n; i++)
            APPEND(text, "%s", ",1");
        APPEND(text, "%s", "]}}");
        m = made_change(text);
        CHECK_INT(m.status, n <= 4096 ? MSIM_OK : MSIM_EFORMAT);
        if (n <= 4096)
            CHECK_UINT(m.settings->rewrite.parallel.pp, 4096);
        made_change_free(&m);
    }
}

/* One number may be said twice, but not two numbers, in whatever order. */
static void test_parallel__agrees(void)
{
    check_other("{\"accumulate\":4},{\"world\":2},"
                "{\"parallel\":{\"micro_batches\":4,\"dp\":2}}",
                true);
    check_other("{\"parallel\":{\"micro_batches\":4,\"dp\":2}},"
                "{\"accumulate\":4},{\"world\":2}",
                true);
    check_other("{\"accumulate\":4},{\"world\":2},{\"parallel\":{}}", true);
    check_change_refused_at(1,
                            "{\"accumulate\":4},"
                            "{\"parallel\":{\"micro_batches\":5}}",
                            "parallel.micro_batches is 5, want as many as "
                            "\"accumulate\"");
    check_change_refused_at(1, "{\"world\":4},{\"parallel\":{\"dp\":5}}",
                            "parallel.dp is 5, want as many as \"world\"");
    check_change_refused_at(1,
                            "{\"parallel\":{\"micro_batches\":5}},"
                            "{\"accumulate\":4}",
                            "accumulate is 4, want as many as \"parallel\" "
                            "says");
    check_change_refused_at(1, "{\"parallel\":{\"dp\":5}},{\"world\":4}",
                            "world is 4, want as many as \"dp\" of "
                            "\"parallel\"");
}

/* Of a grid, points that cannot be have a reason, and the first one stays. */
static void test_parallel__points_of_a_grid(void)
{
    struct made_change m = made_change_file(
        "{\"grid\":{\"parallel\":[{\"dp\":2,\"micro_batches\":3}],"
        "\"world\":[2,4],\"accumulate\":[3,5]}}");

    CHECK_INT(m.status, MSIM_OK);
    if (CHECK_UINT(m.all.n, 4)) {
        CHECK_STR(m.all.rows[0].reason, "");
        CHECK(strstr(m.all.rows[1].reason, "accumulate is 5, want as many as "
                                           "\"parallel\" says") != NULL);
        CHECK(strstr(m.all.rows[2].reason, "world is 4, want as many as \"dp\" "
                                           "of \"parallel\"") != NULL);
        CHECK(strstr(m.all.rows[3].reason, "world is 4") != NULL);
        CHECK(strstr(m.all.rows[3].reason, "accumulate") == NULL);
    }
    CHECK_STR(m.err.text, "");
    made_change_free(&m);
}

static void test_shard__words(void)
{
    static const struct {
        const char *word;
        enum msim_shard is;
    } ROWS[] = {{"ddp", MSIM_SHARD_DDP},
                {"zero1", MSIM_SHARD_ZERO1},
                {"zero2", MSIM_SHARD_ZERO2},
                {"zero3", MSIM_SHARD_FULL},
                {"fsdp", MSIM_SHARD_FULL},
                {"full_shard", MSIM_SHARD_FULL},
                {"shard_grad_op", MSIM_SHARD_GRAD_OP},
                {"no_shard", MSIM_SHARD_NO_SHARD}};
    static const char WANT[] = ", want \"ddp\", \"zero1\", \"zero2\", "
                               "\"zero3\", \"fsdp\", \"full_shard\", "
                               "\"shard_grad_op\" or \"no_shard\"";
    char text[256];

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++)
        for (int object = 0; object < 2; object++) {
            struct made_change m;

            snprintf(text, sizeof(text),
                     object ? "{\"shard\":{\"strategy\":\"%s\"}}"
                            : "{\"shard\":\"%s\"}",
                     ROWS[i].word);
            m = made_change(text);
            CHECK_INT(m.status, MSIM_OK);
            CHECK_INT(m.settings->rewrite.shard, ROWS[i].is);
            CHECK(m.row->other_target);
            made_change_free(&m);
        }
    snprintf(text, sizeof(text), "shard is \"fsdp2\"%s", WANT);
    check_change_refused("{\"shard\":\"fsdp2\"}", text);
    snprintf(text, sizeof(text), "shard is 3%s", WANT);
    check_change_refused("{\"shard\":3}", text);
    snprintf(text, sizeof(text), "shard.strategy is missing%s", WANT);
    check_change_refused("{\"shard\":{}}", text);
}

/* fp16 or bf16, of FSDP's strategies alone. */
static void test_shard__details(void)
{
    struct made_change m =
        made_change("{\"shard\":{\"strategy\":\"ddp\",\"bucket_mb\":12.5,"
                    "\"gradient_as_bucket_view\":true}}");
    static const struct {
        const char *strategy, *type;
        enum msim_dtype is; /* UNKNOWN: refused */
    } ROWS[] = {{"fsdp", "bf16", MSIM_DT_BF16},
                {"fsdp", "fp16", MSIM_DT_F16},
                {"no_shard", "fp16", MSIM_DT_F16},
                {"zero2", "fp16", MSIM_DT_UNKNOWN}};
    char text[256];

    CHECK_INT(m.status, MSIM_OK);
    CHECK_REL(m.settings->rewrite.bucket_mib, 12.5, 0);
    CHECK(m.settings->rewrite.bucket_views);
    CHECK_INT(m.settings->rewrite.mixed, MSIM_DT_UNKNOWN);
    made_change_free(&m);
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        snprintf(text, sizeof(text),
                 "{\"shard\":{\"strategy\":\"%s\",\"mixed_precision\":\"%s\"}}",
                 ROWS[i].strategy, ROWS[i].type);
        if (!ROWS[i].is) {
            check_change_refused(
                text, "shard.mixed_precision is \"fp16\", want it with a "
                      "strategy of FSDP, else \"dtype\": \"amp_bf16\"");
            continue;
        }
        m = made_change(text);
        CHECK_INT(m.status, MSIM_OK);
        CHECK_INT(m.settings->rewrite.mixed, ROWS[i].is);
        CHECK(m.settings->rewrite.bucket_mib == 0);
        CHECK(!m.settings->rewrite.bucket_views);
        made_change_free(&m);
    }
}

static void check_memory(const char *change, bool states, bool activations,
                         bool bits, bool in_backward)
{
    struct made_change m = made_change(change);
    const struct msim_rewrite *w = &m.settings->rewrite;

    CHECK_INT(m.status, MSIM_OK);
    CHECK_INT(w->offload_states, states);
    CHECK_INT(w->offload_activations, activations);
    CHECK_INT(w->optimizer_8bit, bits);
    CHECK_INT(w->in_backward, in_backward);
    CHECK_INT(m.row->other_target,
              states || activations || bits || in_backward);
    made_change_free(&m);
}

static void test_memory__words(void)
{
    check_memory("{\"offload\":\"optimizer\"}", true, false, false, false);
    check_memory("{\"offload\":\"activations\"}", false, true, false, false);
    check_memory("{\"offload\":\"none\"}", false, false, false, false);
    check_memory("{\"offload\":\"activations\"},{\"offload\":\"optimizer\"}",
                 true, true, false, false);
    check_memory("{\"optimizer_bits\":8}", false, false, true, false);
    check_memory("{\"optimizer_bits\":32}", false, false, false, false);
    check_memory("{\"optimizer_in_backward\":true}", false, false, false, true);
    check_memory("{\"optimizer_in_backward\":false}", false, false, false,
                 false);
    check_change_refused("{\"optimizer_bits\":16}",
                         "optimizer_bits is 16, want 8, or 32");
    check_change_refused("{\"optimizer_bits\":0}",
                         "optimizer_bits is 0, want a whole number from 1");
    check_change_refused("{\"optimizer_bits\":1}",
                         "optimizer_bits is 1, want 8, or 32");
    check_change_refused("{\"optimizer_in_backward\":1}",
                         "optimizer_in_backward is 1, want true or false");
}

int main(void)
{
    RUN(test_layers__names);
    RUN(test_layers__one_repetition);
    RUN(test_layers__several_repetitions);
    RUN(test_memory__words);
    RUN(test_numbers__limits);
    RUN(test_parallel__agrees);
    RUN(test_parallel__is_read);
    RUN(test_parallel__whose_it_is);
    RUN(test_parallel__other_target);
    RUN(test_parallel__points_of_a_grid);
    RUN(test_parallel__refuses);
    RUN(test_parallel__schedules);
    RUN(test_parallel__stages);
    RUN(test_recompute__words);
    RUN(test_shard__details);
    RUN(test_shard__words);
    return check_summary();
}
