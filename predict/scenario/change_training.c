/*
 * predict/scenario/change_training.c - changes of how a model is trained.
 */
#include "predict/scenario/scenario.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MICRO_BATCHES_MOST 4096

#define LAYERS_MOST 10000

/* One repetition after the other; each is named once. */
static void keep_layers(struct msim_fields *f, struct msim_rewrite *w,
                        const char *block, int64_t n)
{
    struct msim_rewrite_layers *more = &w->more_layers[w->n_more_layers];
    bool again = w->layers && !strcmp(w->layers_block, block);

    for (uint32_t i = 0; i < w->n_more_layers; i++)
        again |= !strcmp(w->more_layers[i].block, block);
    if (again)
        msim_field_refuse(f, *block ? "block" : "layers",
                          "each repetition of blocks once a scenario");
    else if (!w->layers) {
        w->layers = (uint32_t)n;
        snprintf(w->layers_block, sizeof(w->layers_block), "%s", block);
    } else if (w->n_more_layers == MSIM_REWRITE_REPEATS) {
        msim_field_refuse(f, *block ? "block" : "layers",
                          "at most 4 such changes a scenario");
    } else {
        more->to = (uint32_t)n;
        snprintf(more->block, sizeof(more->block), "%s", block);
        w->n_more_layers++;
    }
}

static int64_t read_blocks(struct msim_fields *f, const char *key)
{
    const cJSON *item = msim_field_json(f, key);

    if (!cJSON_IsNumber(item) || item->valuedouble <= LAYERS_MOST)
        return msim_field_int(f, key, 1, MSIM_FIELD_WANTED);
    msim_field_refuse(f, key, "at most 10,000 layers");
    return 1;
}

/* So many blocks of layers, of the repetition that is named. */
void msim_change_read_layers(struct msim_change_reader *r, const char *key)
{
    static const char *const KEYS[] = {"block", "to", NULL};
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(r->f->object, key);
    struct msim_rewrite *w = &r->row->settings.rewrite;
    struct msim_fields in;
    const char *block = NULL;
    int64_t n;

    r->row->other_target = true;
    if (cJSON_IsObject(item)) {
        in = msim_fields_open(r->f, key);
        msim_fields_only(&in, KEYS);
        block = msim_field_text(&in, "block");
        n = read_blocks(&in, "to");
        if (block && !*block)
            msim_field_refuse(&in, "block",
                              "the name of a repetition; where there is one, "
                              "the number of layers will do");
        if (block && strlen(block) >= sizeof(w->layers_block))
            msim_field_refuse(&in, "block", "at most 63 characters");
        keep_layers(&in, w, block ? block : "", n);
        msim_fields_close(r->f, &in);
    } else {
        n = read_blocks(r->f, key);
        keep_layers(r->f, w, "", n);
    }
}

/* Blocks that are computed again: all, some, or some operators of them. */
void msim_change_read_recompute(struct msim_change_reader *r, const char *key)
{
    static const char *const KEYS[] = {"every", NULL};
    static const char WANT[] =
        "\"full\", \"none\", {\"every\": 2} or operators such as "
        "\"aten::gelu*\"";
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(r->f->object, key);
    struct msim_rewrite *w = &r->row->settings.rewrite;
    int64_t every;

    if (cJSON_IsString(item) && strcmp(item->valuestring, "none") == 0)
        return; /* as recorded */
    r->row->other_target = true;
    w->recompute_every = 1;
    if (cJSON_IsObject(item)) {
        struct msim_fields in = msim_fields_open(r->f, key);

        msim_fields_only(&in, KEYS);
        every = msim_field_int(&in, "every", 1, MSIM_FIELD_WANTED);
        if (every > LAYERS_MOST)
            msim_field_refuse(&in, "every", "at most 10,000");
        w->recompute_every = (uint32_t)every;
        msim_fields_close(r->f, &in);
    } else if (!cJSON_IsString(item) || !*item->valuestring ||
               strlen(item->valuestring) >= sizeof(w->recompute_ops)) {
        msim_field_refuse(r->f, key, WANT);
    } else if (strcmp(item->valuestring, "full") != 0) {
        if (!strpbrk(item->valuestring, ":*?["))
            msim_field_refuse(r->f, key, WANT);
        snprintf(w->recompute_ops, sizeof(w->recompute_ops), "%s",
                 item->valuestring);
    }
}

/* Two changes may say one number, and then the same. 0: not given. */
static bool differ(int64_t a, int64_t b)
{
    return a && b && a != b;
}

void msim_change_read_accumulate(struct msim_change_reader *r, const char *key)
{
    int64_t n = msim_field_int(r->f, key, 1, 1);

    if (n > MICRO_BATCHES_MOST)
        msim_field_refuse(r->f, key, "at most 4096 micro batches");
    else if (differ(n, r->row->settings.rewrite.parallel.micro_batches))
        msim_change_contradicts(r, r->f, key, "as many as \"parallel\" says");
    r->row->other_target = true;
    r->row->settings.rewrite.accumulate = (uint32_t)n;
}

#define RANKS_MOST 1000000

/* Data parallel over so many ranks, each with the traced batch. */
void msim_change_read_world(struct msim_change_reader *r, const char *key)
{
    int64_t n = msim_field_int(r->f, key, 1, 1);

    if (n > RANKS_MOST)
        msim_field_refuse(r->f, key, "at most 1,000,000 ranks");
    else if (differ(n, r->row->settings.rewrite.parallel.dp))
        msim_change_contradicts(r, r->f, key,
                                "as many as \"dp\" of \"parallel\"");
    r->row->other_target |= n > 1;
    r->row->settings.rewrite.world = (uint32_t)n;
}

/* ---- parallel ------------------------------------------------------------ */

#define SPLITS_MOST 4096

/* A number of parts, 0: not given. */
static uint32_t read_parts(struct msim_fields *in, const char *key)
{
    int64_t n = msim_field_int(in, key, 1, 0);

    if (n > SPLITS_MOST)
        msim_field_refuse(in, key, "at most 4096");
    return (uint32_t)n;
}

static uint32_t read_copies(struct msim_fields *in)
{
    int64_t n = msim_field_int(in, "dp", 1, 0);

    if (n > RANKS_MOST)
        msim_field_refuse(in, "dp", "at most 1,000,000 ranks");
    return (uint32_t)n;
}

/* Blocks of layers of each stage, of which there are `pp`. */
static void read_stages(struct msim_change_reader *r, struct msim_fields *in,
                        struct msim_split *p)
{
    const cJSON *list = msim_field_array(in, "stages"), *item;
    uint32_t least = p->vp ? p->vp : 1, *blocks, i = 0;
    int n = cJSON_GetArraySize(list);
    char want[64];

    if (!list)
        return;
    if (n < 2 || n > SPLITS_MOST || (p->pp && p->pp != (uint32_t)n)) {
        msim_field_refuse(in, "stages",
                          "blocks of layers of two stages or more: as many "
                          "numbers as \"pp\" says");
        return;
    }
    blocks = msim_arena_alloc(&r->all->arena, (size_t)n * sizeof(*blocks));
    if (!blocks) {
        in->status = MSIM_ENOMEM;
        return;
    }
    snprintf(want, sizeof(want), "a whole number from %u to 10000", least);
    cJSON_ArrayForEach(item, list)
    {
        double v = cJSON_IsNumber(item) ? item->valuedouble : 0;
        bool is = v >= least && v <= LAYERS_MOST && v == floor(v);

        if (!is)
            msim_field_refuse_item(in, "stages", i, want);
        blocks[i++] = is ? (uint32_t)v : least;
    }
    p->pp = (uint32_t)n;
    p->blocks = blocks;
}

static void read_order(struct msim_fields *in, struct msim_split *p)
{
#define X(name, text) text,
    static const char *const WORDS[] = {MSIM_TURNS_MAP(X) NULL};
#undef X
    int usual = p->vp > 1 ? MSIM_TURNS_INTERLEAVED : MSIM_TURNS_1F1B;

    p->order = (uint8_t)msim_field_word(in, "schedule", WORDS, usual);
    if ((p->order == MSIM_TURNS_INTERLEAVED) != (p->vp > 1))
        msim_field_refuse(in, "schedule",
                          "\"interleaved\" with \"vp\" above 1, and no other "
                          "with it");
    if (p->vp > 1 && p->pp <= 1)
        msim_field_refuse(in, "vp", "1 without \"pp\" above 1");
}

/* Whose tensor parallelism it is. */
static void read_implementation(struct msim_fields *in, struct msim_split *p)
{
    static const char *const WORDS[] = {"megatron", "dtensor", NULL};

    p->dtensor = msim_field_word(in, "implementation", WORDS, 0) == 1;
    if (p->dtensor && p->tp <= 1)
        msim_field_refuse(in, "implementation",
                          "\"dtensor\" with \"tp\" above 1");
}

/* How ranks split the model: stages of layers, and copies of all of them. */
void msim_change_read_parallel(struct msim_change_reader *r, const char *key)
{
    static const char *const KEYS[] = {"tp",
                                       "pp",
                                       "vp",
                                       "stages",
                                       "dp",
                                       "ep",
                                       "etp",
                                       "cp",
                                       "micro_batches",
                                       "schedule",
                                       "sequence_parallel",
                                       "implementation",
                                       NULL};
    struct msim_rewrite *w = &r->row->settings.rewrite;
    struct msim_split *p = &w->parallel;
    struct msim_fields in =
        msim_change_open(r, key, "{\"pp\": 4, \"micro_batches\": 16}");

    msim_fields_only(&in, KEYS);
    p->tp = read_parts(&in, "tp");
    p->rows = msim_field_bool(&in, "sequence_parallel", true);
    p->rows_said = msim_field_json(&in, "sequence_parallel") != NULL;
    read_implementation(&in, p);
    p->pp = read_parts(&in, "pp");
    p->vp = read_parts(&in, "vp");
    read_stages(r, &in, p);
    p->cp = read_parts(&in, "cp");
    p->ep = read_parts(&in, "ep");
    p->etp = read_parts(&in, "etp");
    if (p->etp > 1 && p->etp != p->tp)
        msim_field_refuse(&in, "etp",
                          "1 (experts are whole), or as many as \"tp\"");
    p->dp = read_copies(&in);
    p->micro_batches = read_parts(&in, "micro_batches");
    read_order(&in, p);
    if ((int64_t)p->cp * (p->dp ? p->dp : 1) > RANKS_MOST)
        msim_field_refuse(&in, "cp",
                          "at most 1,000,000 ranks with those of \"dp\"");
    if (differ(p->dp, w->world))
        msim_change_contradicts(r, &in, "dp", "as many as \"world\"");
    if (differ(p->micro_batches, w->accumulate))
        msim_change_contradicts(r, &in, "micro_batches",
                                "as many as \"accumulate\"");
    msim_fields_close(r->f, &in);
    if (p->dp > 1)
        w->world = p->dp;
    r->row->other_target |= p->tp > 0 || p->pp > 0 || p->cp > 1 || p->ep > 0 ||
                            p->etp > 0 || p->dp > 1 || p->micro_batches;
}

#define STRATEGIES                                                             \
    "\"ddp\", \"zero1\", \"zero2\", \"zero3\", \"fsdp\", \"full_shard\", "     \
    "\"shard_grad_op\" or \"no_shard\""

/* X(word, what it is) beside the words of MSIM_SHARD_MAP. */
#define MORE_WORDS(X)                                                          \
    X("zero3", MSIM_SHARD_FULL)                                                \
    X("full_shard", MSIM_SHARD_FULL)

static enum msim_shard strategy_of(const char *word)
{
#define X(name, text)                                                          \
    if (!strcmp(word, text))                                                   \
        return MSIM_SHARD_##name;
    MSIM_SHARD_MAP(X)
#undef X
#define X(text, is)                                                            \
    if (!strcmp(word, text))                                                   \
        return is;
    MORE_WORDS(X)
#undef X
    return MSIM_SHARD_NONE;
}

static void read_strategy(struct msim_change_reader *r, struct msim_fields *in,
                          const char *key)
{
    const char *word = msim_field_text(in, key);
    struct msim_rewrite *w = &r->row->settings.rewrite;

    w->shard = word ? strategy_of(word) : MSIM_SHARD_NONE;
    if (!w->shard)
        msim_field_refuse(in, key, STRATEGIES);
}

void msim_change_read_shard(struct msim_change_reader *r, const char *key)
{
    static const char *const KEYS[] = {"strategy", "bucket_mb",
                                       "gradient_as_bucket_view",
                                       "mixed_precision", NULL};
    static const char *const TYPES[] = {"bf16", "fp16", NULL};
    struct msim_rewrite *w = &r->row->settings.rewrite;
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(r->f->object, key);
    struct msim_fields in;
    int type;

    r->row->other_target = true;
    if (!cJSON_IsObject(item)) {
        if (cJSON_IsString(item))
            read_strategy(r, r->f, key);
        else
            msim_field_refuse(r->f, key, STRATEGIES);
        return;
    }
    in = msim_fields_open(r->f, key);
    msim_fields_only(&in, KEYS);
    read_strategy(r, &in, "strategy");
    w->bucket_mib = msim_field_real(&in, "bucket_mb", 0);
    w->bucket_views = msim_field_bool(&in, "gradient_as_bucket_view", false);
    type = msim_field_word(&in, "mixed_precision", TYPES, -1);
    w->mixed = type < 0 ? MSIM_DT_UNKNOWN : type ? MSIM_DT_F16 : MSIM_DT_BF16;
    if (w->mixed && w->shard < MSIM_SHARD_NO_SHARD)
        msim_field_refuse(&in, "mixed_precision",
                          "it with a strategy of FSDP, else \"dtype\": "
                          "\"amp_bf16\"");
    msim_fields_close(r->f, &in);
}

/* What is kept in the host's memory. */
void msim_change_read_offload(struct msim_change_reader *r, const char *key)
{
    static const char *const WORDS[] = {"optimizer", "activations", "none",
                                        NULL};
    struct msim_rewrite *w = &r->row->settings.rewrite;
    int word = msim_field_word(r->f, key, WORDS, 0);

    r->row->other_target |= word < 2;
    w->offload_states |= word == 0;
    w->offload_activations |= word == 1;
}

void msim_change_read_optimizer_bits(struct msim_change_reader *r,
                                     const char *key)
{
    int64_t bits = msim_field_int(r->f, key, 1, 8);

    if (bits != 8 && bits != 32)
        msim_field_refuse(r->f, key, "8, or 32");
    r->row->other_target |= bits == 8;
    r->row->settings.rewrite.optimizer_8bit = bits == 8;
}

void msim_change_read_in_backward(struct msim_change_reader *r, const char *key)
{
    bool on = msim_field_bool(r->f, key, false);

    r->row->other_target |= on;
    r->row->settings.rewrite.in_backward = on;
}
