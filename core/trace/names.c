/*
 * core/trace/names.c - what the names in traces say.
 */
#include "core/trace/trace_columns.h"

#include "core/base/texts.h"

#include <ctype.h>
#include <string.h>

static bool has(const char *name, const char *part)
{
    return strstr(name, part) != NULL;
}

static bool starts(const char *name, const char *with)
{
    return !strncmp(name, with, strlen(with));
}

/* The part behind cuda, cu or hip; NULL for any other name. */
static const char *bare_call(const char *name)
{
    if (starts(name, "cuda"))
        return name + 4;
    if (starts(name, "hip"))
        return name + 3;
    if (starts(name, "cu"))
        return name + 2;
    return NULL;
}

static enum msim_call_kind memory_call(const char *s)
{
    /* Host allocations and the stream-ordered pool do not stop the device. */
    if (has(s, "Host") || has(s, "Async") || has(s, "Pool") || has(s, "Array"))
        return MSIM_CALL_OTHER;
    if (starts(s, "Malloc") || starts(s, "MemAlloc") || has(s, "MallocManaged"))
        return MSIM_CALL_MALLOC;
    if (starts(s, "Free") || starts(s, "MemFree"))
        return MSIM_CALL_FREE;
    return MSIM_CALL_OTHER;
}

/* Calls of other runtimes: Level Zero's (ze), Unified Runtime's (ur), Ascend's
 * (aclrt). What they started says more than a name. */
static enum msim_call_kind foreign_call(const char *s)
{
    if (has(s, "Launch"))
        return MSIM_CALL_LAUNCH;
    if (has(s, "EventWait") || (has(s, "ynchronize") && has(s, "Event")))
        return MSIM_CALL_EVENT_SYNC;
    if (has(s, "ynchronizeDevice") || has(s, "DeviceSynchronize"))
        return MSIM_CALL_DEVICE_SYNC;
    if (has(s, "ynchronize") || has(s, "QueueFinish"))
        return MSIM_CALL_STREAM_SYNC;
    return MSIM_CALL_OTHER;
}

enum msim_call_kind msim_name_call(const char *name)
{
    const char *s = bare_call(name);

    if (!s)
        return foreign_call(name);
    if (has(s, "GraphLaunch"))
        return MSIM_CALL_GRAPH_LAUNCH;
    if (has(s, "Launch") && !has(s, "HostFunc") && !has(s, "Config"))
        return MSIM_CALL_LAUNCH;
    if (has(s, "Memcpy"))
        return has(s, "Async") ? MSIM_CALL_MEMCPY : MSIM_CALL_MEMCPY_SYNC;
    if (has(s, "Memset"))
        return MSIM_CALL_MEMSET;
    if (starts(s, "DeviceSynchronize") || starts(s, "CtxSynchronize"))
        return MSIM_CALL_DEVICE_SYNC;
    if (starts(s, "StreamSynchronize"))
        return MSIM_CALL_STREAM_SYNC;
    if (starts(s, "EventSynchronize"))
        return MSIM_CALL_EVENT_SYNC;
    if (starts(s, "EventRecord"))
        return MSIM_CALL_EVENT_RECORD;
    if (starts(s, "StreamWaitEvent"))
        return MSIM_CALL_STREAM_WAIT;
    if (starts(s, "EventQuery"))
        return MSIM_CALL_EVENT_QUERY;
    if (starts(s, "EventElapsedTime"))
        return MSIM_CALL_EVENT_ELAPSED;
    return memory_call(s);
}

int msim_name_capture(const char *name)
{
    const char *s = bare_call(name);

    if (!s || !starts(s, "Stream") || !has(s, "apture"))
        return 0;
    return starts(s, "StreamBegin") ? 1 : starts(s, "StreamEnd") ? -1 : 0;
}

enum msim_call_kind msim_name_sync(const char *s, size_t len)
{
    static const struct {
        const char *text;
        enum msim_call_kind kind;
    } list[] = {{"Stream Wait Event", MSIM_CALL_STREAM_WAIT},
                {"Stream Sync", MSIM_CALL_STREAM_SYNC},
                {"Stream Synchronize", MSIM_CALL_STREAM_SYNC},
                {"Event Sync", MSIM_CALL_EVENT_SYNC},
                {"Event Synchronize", MSIM_CALL_EVENT_SYNC},
                {"Context Sync", MSIM_CALL_DEVICE_SYNC},
                {"Context Synchronize", MSIM_CALL_DEVICE_SYNC},
                {"Device Sync", MSIM_CALL_DEVICE_SYNC}};
    size_t i;

    for (i = 0; i < sizeof(list) / sizeof(*list); i++)
        if (strlen(list[i].text) == len && !memcmp(list[i].text, s, len))
            return list[i].kind;
    return MSIM_CALL_OTHER;
}

enum msim_dtype msim_name_dtype(const char *s, size_t len)
{
    static const struct {
        const char *text;
        enum msim_dtype type;
    } list[] = {
        {"float", MSIM_DT_F32},
        {"Float", MSIM_DT_F32},
        {"double", MSIM_DT_F64},
        {"Double", MSIM_DT_F64},
        {"c10::Half", MSIM_DT_F16},
        {"Half", MSIM_DT_F16},
        {"c10::BFloat16", MSIM_DT_BF16},
        {"BFloat16", MSIM_DT_BF16},
        {"long int", MSIM_DT_I64},
        {"long", MSIM_DT_I64},
        {"Long", MSIM_DT_I64},
        {"int", MSIM_DT_I32},
        {"Int", MSIM_DT_I32},
        {"short", MSIM_DT_I16},
        {"short int", MSIM_DT_I16},
        {"Short", MSIM_DT_I16},
        {"signed char", MSIM_DT_I8},
        {"Char", MSIM_DT_I8},
        {"char", MSIM_DT_I8},
        {"unsigned char", MSIM_DT_U8},
        {"Byte", MSIM_DT_U8},
        {"bool", MSIM_DT_BOOL},
        {"Bool", MSIM_DT_BOOL},
        {"long long", MSIM_DT_I64},
        {"long long int", MSIM_DT_I64},
        {"unsigned short", MSIM_DT_I16},
        {"unsigned int", MSIM_DT_I32},
        {"unsigned long", MSIM_DT_I64},
        {"short unsigned int", MSIM_DT_I16}, /* as gcc spells them */
        {"long unsigned int", MSIM_DT_I64},
        {"long long unsigned int", MSIM_DT_I64},
        {"UInt16", MSIM_DT_I16},
        {"UInt32", MSIM_DT_I32},
        {"UInt64", MSIM_DT_I64},
        {"c10::Float4_e2m1fn_x2", MSIM_DT_F4X2},
        {"Float4_e2m1fn_x2", MSIM_DT_F4X2},
    };
    size_t i;

    for (i = 0; i < sizeof(list) / sizeof(*list); i++)
        if (strlen(list[i].text) == len && !memcmp(list[i].text, s, len))
            return list[i].type;
    if (len >= 6 && memmem(s, len, "Float8", 6))
        return MSIM_DT_F8;
    if (len >= 7 && memmem(s, len, "complex", 7))
        return memmem(s, len, "double", 6) ? MSIM_DT_C128 : MSIM_DT_C64;
    if (len >= 7 && memmem(s, len, "Complex", 7))
        return memmem(s, len, "Double", 6) ? MSIM_DT_C128 : MSIM_DT_C64;
    return MSIM_DT_UNKNOWN;
}

enum msim_collective msim_name_collective(const char *s, size_t len)
{
    static const struct {
        const char *text;
        enum msim_collective kind;
    } list[] = {/* a text that contains another comes before it */
                {"allreduce", MSIM_COLL_ALL_REDUCE},
                {"allgather", MSIM_COLL_ALL_GATHER},
                {"reducescatter", MSIM_COLL_REDUCE_SCATTER},
                {"alltoall", MSIM_COLL_ALL_TO_ALL},
                {"broadcast", MSIM_COLL_BROADCAST},
                {"barrier", MSIM_COLL_BARRIER},
                {"reduce", MSIM_COLL_REDUCE},
                {"gather", MSIM_COLL_GATHER},
                {"scatter", MSIM_COLL_SCATTER},
                {"wait", MSIM_COLL_WAIT},
                {"send", MSIM_COLL_SEND},
                {"recv", MSIM_COLL_RECV}};
    char letters[64];
    size_t i, n = 0;

    if (len > 5 && !memcmp(s, "nccl:", 5)) {
        s += 5;
        len -= 5;
    }
    for (i = 0; i < len && n < sizeof(letters) - 1; i++)
        if (s[i] >= 'A' && s[i] <= 'Z')
            letters[n++] = (char)(s[i] - 'A' + 'a');
        else if (s[i] >= 'a' && s[i] <= 'z')
            letters[n++] = s[i];
    letters[n] = '\0';
    for (i = 0; i < sizeof(list) / sizeof(*list); i++)
        if (has(letters, list[i].text))
            return list[i].kind;
    return MSIM_COLL_UNKNOWN;
}

/* Is `s` inside a word of `name`, so that "small_reduce" is no "all_reduce"? A
 * capital begins a word. */
static bool inside_word(const char *name, const char *s)
{
    return s > name && isalpha((unsigned char)s[-1]) &&
           islower((unsigned char)*s);
}

/* Does `s` begin with `word` when case and all but letters are left out? */
static bool begins_letters(const char *s, const char *word)
{
    for (; *s && *word; s++) {
        if (tolower((unsigned char)*s) == *word)
            word++;
        else if (isalpha((unsigned char)*s))
            return false;
    }
    return !*word;
}

/* Does `name` hold `word`, likewise? */
static bool has_letters(const char *name, const char *word)
{
    for (const char *s = name; *s; s++)
        if ((*s | 0x20) == *word && /* its first letter, in either case */
            !inside_word(name, s) && begins_letters(s, word))
            return true;
    return false;
}

/*
 * The letters of a name that follow each other when case and all but letters
 * are left out: bit b of behind[a]. A name of 500 letters, as kernels have, is
 * gone through once, and not for each of the words that it may hold.
 */
struct pairs {
    uint32_t behind[26];
};

/* Its place in the alphabet; 26 or more: it is no letter. */
static unsigned letter(char c)
{
    return ((unsigned char)c | 0x20u) - 'a';
}

static void find_pairs(struct pairs *p, const char *name)
{
    unsigned last = 26;

    *p = (struct pairs){{0}};
    for (; *name; name++) {
        unsigned c = letter(*name);

        if (c >= 26)
            continue;
        if (last < 26)
            p->behind[last] |= 1u << c;
        last = c;
    }
}

/* False: it does not hold the word. */
static bool may_hold(const struct pairs *p, const char *word)
{
    unsigned last = 26;

    for (; *word; word++) {
        unsigned c = letter(*word);

        if (c >= 26)
            continue;
        if (last < 26 && !(p->behind[last] >> c & 1))
            return false;
        last = c;
    }
    return true;
}

/* Does `name` hold one of the words? NULL ends them. */
static bool has_one(const char *name, const struct pairs *p,
                    const char *const *words,
                    bool (*holds)(const char *, const char *))
{
    while (*words && !(may_hold(p, *words) && holds(name, *words)))
        words++;
    return *words != NULL;
}

/* ncclKernel_AllReduce_..., ncclDevKernel_..., void msccl... */
static const char *const MEETING[] = {"ncclKernel", "ncclDevKernel",
                                      "mscclKernel", NULL};

/*
 * Parts of kernel names of libraries that move data between GPUs, as their
 * public sources spell them:
 *   DeepEP, also inside other engines   internode::dispatch, intranode::combine
 *   hybrid DeepEP, MORI, pplx           hybrid_ep::, EpDispatch..., pplx::
 *   vLLM, SGLang, AITER                 cross_device_reduce_1stage
 *   TensorRT-LLM, FlashInfer            moe_comm::, moeA2A..., mnnvl...
 *   NVSHMEM, PyTorch symmetric memory   nvshmem..., symmetric_memory::
 *   Transformer Engine                  userbuffers_...
 *   MSCCL++, oneCCL, HCCL               mscclpp, oneccl, hcom_
 */
static const char *const LIBRARIES[] = {"internode::",    "intranode::",
                                        "internode_ll::", "hybrid_ep::",
                                        "EpDispatch",     "EpCombine",
                                        "pplx::",         "cross_device_reduce",
                                        "moe_comm::",     "moeA2A",
                                        "moe_a2a",        "mnnvl",
                                        "nvshmem",        "symmetric_memory::",
                                        "multimem_",      "userbuffers_",
                                        "mscclpp",        "oneccl",
                                        "hcom_",          NULL};

/* What a kernel calls itself that does one collective, such as
 * oneShotAllReduceKernel, two_shot_all_reduce_kernel,
 * allreduce_fusion_kernel_oneshot_lamport. */
static const char *const COLLECTIVES[] = {"allreduce", "allgather",
                                          "reducescatter", "alltoall", NULL};

/* Inside one GPU, or a product that a collective is fused into. */
static const char *const NOT_COLLECTIVES[] = {"warpallreduce", "blockallreduce",
                                              "gemm", "matmul", NULL};

static bool names_collective(const char *name, const struct pairs *p)
{
    return has_one(name, p, COLLECTIVES, has_letters) &&
           !has_one(name, p, NOT_COLLECTIVES, has_letters);
}

enum msim_comm_kernel msim_name_comm_kernel(const char *name)
{
    struct pairs p;

    if (starts(name, "nccl") || starts(name, "rccl"))
        return MSIM_COMM_KERNEL_MEETS;
    find_pairs(&p, name);
    if (has_one(name, &p, MEETING, has))
        return MSIM_COMM_KERNEL_MEETS;
    return has_one(name, &p, LIBRARIES, has) || names_collective(name, &p)
               ? MSIM_COMM_KERNEL_WHOLE
               : MSIM_COMM_KERNEL_NONE;
}

enum msim_collective msim_name_kernel_collective(const char *name)
{
    static const struct {
        const char *word;
        enum msim_collective kind;
    } WORDS[] = {{"crossdevicereduce", MSIM_COLL_ALL_REDUCE},
                 {"allgather", MSIM_COLL_ALL_GATHER},
                 {"reducescatter", MSIM_COLL_REDUCE_SCATTER},
                 {"alltoall", MSIM_COLL_ALL_TO_ALL},
                 {"notify", MSIM_COLL_BARRIER},
                 {"barrier", MSIM_COLL_BARRIER},
                 {"dispatch", MSIM_COLL_ALL_TO_ALL},
                 {"combine", MSIM_COLL_ALL_TO_ALL}};

    for (size_t i = 0; i < sizeof(WORDS) / sizeof(*WORDS); i++)
        if (has_letters(name, WORDS[i].word))
            return WORDS[i].kind;
    return MSIM_COLL_ALL_REDUCE;
}

enum msim_copy_kind msim_name_copy(const char *name, bool *pageable)
{
    *pageable = has(name, "Pageable");
    if (has(name, "HtoD") || has(name, "HostToDevice"))
        return MSIM_COPY_H2D;
    if (has(name, "DtoH") || has(name, "DeviceToHost"))
        return MSIM_COPY_D2H;
    if (has(name, "PtoP"))
        return MSIM_COPY_P2P;
    if (has(name, "DtoD") || has(name, "DeviceToDevice"))
        return MSIM_COPY_D2D;
    return MSIM_COPY_UNKNOWN;
}

bool msim_name_step(const char *name, int64_t *number)
{
    static const char step[] = "ProfilerStep#";

    return starts(name, step) &&
           msim_decimal_int(name + sizeof(step) - 1,
                            strlen(name) - (sizeof(step) - 1), number);
}

bool msim_name_is_root(const char *name)
{
    return starts(name, "[pytorch|profiler|execution_");
}

bool msim_name_is_list(const char *name)
{
    static const char PREFIX[] = "aten::_foreach_";

    return strncmp(name, PREFIX, sizeof(PREFIX) - 1) == 0;
}
