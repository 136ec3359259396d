/*
 * predict/scenario/change_kinds.c - the table of all kinds of changes.
 */
#include "predict/scenario/change_kinds.h"

#include <string.h>

/* X(name, the function that reads it) */
#define CHANGE_MAP(X)                                                          \
    X("scale", msim_change_read_scale)                                         \
    X("speedup", msim_change_read_scale)                                       \
    X("remove", msim_change_read_scale)                                        \
    X("straggler", msim_change_read_straggler)                                 \
    X("insert", msim_change_read_insert)                                       \
    X("replace", msim_change_read_replace)                                     \
    X("fuse", msim_change_read_fuse)                                           \
    X("overlap", msim_change_read_overlap)                                     \
    X("quantise_comms", msim_change_read_quantise_comms)                       \
    X("loader", msim_change_read_loader)                                       \
    X("cuda_graph", msim_change_read_cuda_graph)                               \
    X("gpu", msim_change_read_gpu)                                             \
    X("network", msim_change_read_network)                                     \
    X("host", msim_change_read_host)                                           \
    X("nodes", msim_change_read_nodes)                                         \
    X("ranks", msim_change_read_ranks)                                         \
    X("clock", msim_change_read_clock)                                         \
    X("power_cap", msim_change_read_clock)                                     \
    X("batch", msim_change_read_batch)                                         \
    X("reshape", msim_change_read_reshape)                                     \
    X("dtype", msim_change_read_dtype)                                         \
    X("layers", msim_change_read_layers)                                       \
    X("recompute", msim_change_read_recompute)                                 \
    X("accumulate", msim_change_read_accumulate)                               \
    X("world", msim_change_read_world)                                         \
    X("shard", msim_change_read_shard)                                         \
    X("offload", msim_change_read_offload)                                     \
    X("optimizer_bits", msim_change_read_optimizer_bits)                       \
    X("optimizer_in_backward", msim_change_read_in_backward)                   \
    X("sequence", msim_change_read_reshape)                                    \
    X("hidden", msim_change_read_model_size)                                   \
    X("heads", msim_change_read_model_size)                                    \
    X("ffn", msim_change_read_model_size)                                      \
    X("vocab", msim_change_read_model_size)                                    \
    X("parallel", msim_change_read_parallel)                                   \
    X("lora", msim_change_read_described)                                      \
    X("qlora", msim_change_read_described)                                     \
    X("chunked_loss", msim_change_read_described)

const char *const msim_change_names[] = {
#define X(name, read) name,
    CHANGE_MAP(X)
#undef X
        NULL};

static msim_change_read_fn *const READS[] = {
#define X(name, read) read,
    CHANGE_MAP(X)
#undef X
};

void msim_change_read(struct msim_change_reader *r, const char *key)
{
    for (uint32_t i = 0; msim_change_names[i]; i++)
        if (strcmp(msim_change_names[i], key) == 0)
            READS[i](r, key);
}
