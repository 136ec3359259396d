/*
 * predict/scenario/change_kinds.c - the table of all kinds of changes.
 */
#include "predict/scenario/scenario.h"

#include <string.h>

/* Of what says a number or a word for all of the job there is one; others
 * select what they change. A switch may be off, which a grid wants beside on.
 */
enum { MORE, ONCE, SWITCH };

/* X(name, the function that reads it, how often it may be there) */
#define CHANGE_MAP(X)                                                          \
    X("scale", msim_change_read_scale, MORE)                                   \
    X("speedup", msim_change_read_scale, MORE)                                 \
    X("remove", msim_change_read_scale, MORE)                                  \
    X("straggler", msim_change_read_straggler, MORE)                           \
    X("insert", msim_change_read_insert, MORE)                                 \
    X("replace", msim_change_read_replace, MORE)                               \
    X("fuse", msim_change_read_fuse, SWITCH)                                   \
    X("overlap", msim_change_read_overlap, SWITCH)                             \
    X("quantise_comms", msim_change_read_quantise_comms, SWITCH)               \
    X("loader", msim_change_read_loader, ONCE)                                 \
    X("cuda_graph", msim_change_read_cuda_graph, SWITCH)                       \
    X("gpu", msim_change_read_gpu, ONCE)                                       \
    X("network", msim_change_read_network, ONCE)                               \
    X("host", msim_change_read_host, ONCE)                                     \
    X("nodes", msim_change_read_nodes, ONCE)                                   \
    X("ranks", msim_change_read_ranks, ONCE)                                   \
    X("clock", msim_change_read_clock, ONCE)                                   \
    X("power_cap", msim_change_read_clock, ONCE)                               \
    X("batch", msim_change_read_batch, MORE)                                   \
    X("reshape", msim_change_read_reshape, MORE)                               \
    X("dtype", msim_change_read_dtype, MORE)                                   \
    X("layers", msim_change_read_layers, MORE)                                 \
    X("recompute", msim_change_read_recompute, ONCE)                           \
    X("accumulate", msim_change_read_accumulate, ONCE)                         \
    X("world", msim_change_read_world, ONCE)                                   \
    X("shard", msim_change_read_shard, ONCE)                                   \
    X("offload", msim_change_read_offload, MORE)                               \
    X("optimizer_bits", msim_change_read_optimizer_bits, ONCE)                 \
    X("optimizer_in_backward", msim_change_read_in_backward, ONCE)             \
    X("sequence", msim_change_read_reshape, MORE)                              \
    X("hidden", msim_change_read_model_size, MORE)                             \
    X("heads", msim_change_read_model_size, MORE)                              \
    X("ffn", msim_change_read_model_size, MORE)                                \
    X("vocab", msim_change_read_model_size, MORE)                              \
    X("parallel", msim_change_read_parallel, ONCE)                             \
    X("lora", msim_change_read_described, MORE)                                \
    X("qlora", msim_change_read_described, MORE)                               \
    X("chunked_loss", msim_change_read_described, MORE)

const char *const msim_change_names[] = {
#define X(name, read, often) name,
    CHANGE_MAP(X)
#undef X
        NULL};

static msim_change_read_fn *const READS[] = {
#define X(name, read, often) read,
    CHANGE_MAP(X)
#undef X
};

static const uint8_t OFTEN[] = {
#define X(name, read, often) often,
    CHANGE_MAP(X)
#undef X
};

/* Is it there again? Its order in the file would count. */
static bool is_again(struct msim_change_reader *r, uint32_t kind)
{
    uint64_t bit = UINT64_C(1) << kind;
    bool again = OFTEN[kind] == ONCE && (r->seen & bit);

    r->seen |= bit;
    return again;
}

static bool is_off(const struct msim_change_reader *r, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(r->f->object, key);

    return cJSON_IsFalse(item) ||
           (cJSON_IsString(item) && strcmp(item->valuestring, "none") == 0);
}

_Static_assert(sizeof(OFTEN) <= 64, "a bit of msim_change_reader.seen each");

void msim_change_read(struct msim_change_reader *r, const char *key)
{
    for (uint32_t i = 0; msim_change_names[i]; i++)
        if (strcmp(msim_change_names[i], key) == 0) {
            if (is_again(r, i))
                msim_field_refuse(r->f, key, "one such change a scenario");
            if (OFTEN[i] != SWITCH || !is_off(r, key))
                READS[i](r, key);
        }
}
