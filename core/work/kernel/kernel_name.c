/*
 * core/work/kernel/kernel_name.c - what the names of each kind of kernel show
 * besides their kind.
 */
#include "core/work/kernel/infer.h"

#include "core/work/data_sheet.h"
#include "core/work/kernel_fact.h"
#include "core/work/work.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WIDEST_TILE 1024

#define LONGEST_NAME 4096

/* cuDNN changes layouts by tiles of 32 x 32 in 256 threads. */
#define TILE_ITEMS 4

/* cuDNN's Winograd transforms give a thread a tile of 4 x 4; maps of 14 to 56
 * positions a side fill 0.77 to 0.88 of them. */
#define TRANSFORM_ITEMS 13

static bool has(const char *name, const char *word)
{
    return strcasestr(name, word) != NULL;
}

/* ---- numbers in names -------------------------------------------------- */

/* The next whole number at or after `p`; `*end` behind it. 0: none. */
static long number_at(const char *p, const char **end)
{
    char *last;
    long n;

    while (*p && (*p < '0' || *p > '9'))
        p++;
    n = *p ? strtol(p, &last, 10) : 0;
    *end = *p ? last : p;
    return n;
}

/* "GemmShape<64, 128, 32>", and mangled "GemmShapeILi64ELi128ELi32EE". */
static bool shape_tile(const char *name, double *tile)
{
    const char *p = strstr(name, "GemmShape");

    if (!p)
        return false;
    tile[0] = (double)number_at(p, &p);
    tile[1] = (double)number_at(p, &p);
    return tile[0] >= 8 && tile[1] >= 8 && tile[0] <= WIDEST_TILE &&
           tile[1] <= WIDEST_TILE;
}

/*
 * The first pair "AxB" in the name whose numbers can be the sides of a tile
 * ("t128x8x128", "MT64x16x256", "tilesize128x64x64", "_64x16_64x16_").
 */
static void find_tile(const char *name, double *tile)
{
    if (shape_tile(name, tile))
        return;
    tile[0] = tile[1] = 0;
    for (const char *p = name; *p; p++) {
        char *end, *last;
        long a, b;

        if (*p < '1' || *p > '9' || (p > name && p[-1] >= '0' && p[-1] <= '9'))
            continue;
        a = strtol(p, &end, 10);
        if (*end != 'x' || end[1] < '1' || end[1] > '9')
            continue;
        b = strtol(end + 1, &last, 10);
        if (a < 8 || b < 8 || a > WIDEST_TILE || b > WIDEST_TILE)
            continue;
        tile[0] = (double)a;
        tile[1] = (double)b;
        return;
    }
}

double msim_kernel_name_narrow(const struct msim_kernel_name *k)
{
    return k->tile[0] < k->tile[1] ? k->tile[0] : k->tile[1];
}

/* The number after `word`, or `none`. */
static double number_after(const char *name, const char *word, double none)
{
    const char *p = strstr(name, word), *end;

    if (!p)
        return none;
    p += strlen(word);
    return *p >= '0' && *p <= '9' ? (double)number_at(p, &end) : none;
}

/* ---- kinds, one by one ------------------------------------------------- */

/* Parameters of the first lambda that has some: those of the functor. */
static int lambda_inputs(const char *name)
{
    for (const char *p = strstr(name, "lambda("); p;
         p = strstr(p + 1, "lambda(")) {
        int n = 1;

        if (p[7] == ')')
            continue;
        for (p += 7; *p && *p != ')'; p++)
            n += *p == ',';
        return n;
    }
    return 0;
}

/* Tensors read by a functor that the name shows without their number. */
static int functor_inputs(const char *name)
{
    static const struct {
        const char *word;
        int inputs;
    } FUNCTORS[] = {
        {"FillFunctor", 0},     {"arange", 0},       {"AUnaryFunctor", 1},
        {"BUnaryFunctor", 1},   {"OnSelf_add", 1},   {"CUDAFunctor_add", 2},
        {"CUDAFunctor_mul", 2}, {"direct_copy", 1},  {"where_kernel", 3},
        {"BinaryFunctor", 2},   {"distribution", 0}, {"addcmul", 3},
        {"addcdiv", 3},
    };

    for (size_t i = 0; i < sizeof(FUNCTORS) / sizeof(*FUNCTORS); i++)
        if (strstr(name, FUNCTORS[i].word))
            return FUNCTORS[i].inputs;
    return -1;
}

/* "Array<char*, 3>" counts the output too. */
static int array_inputs(const char *name)
{
    double n = number_after(name, "rray<char*, ", 0);

    return n >= 1 ? (int)n - 1 : -1;
}

static double elementwise_inputs(const char *name)
{
    int n = array_inputs(name);

    if (n < 0)
        n = functor_inputs(name);
    if (n < 0)
        n = lambda_inputs(name);
    if (n < 0 || n > 8)
        n = 1;
    return n;
}

/*
 * Elements a thread: the second argument of elementwise_kernel<128, 4, ..>,
 * the vector's length where that is above the usual four
 * (aten/src/ATen/native/cuda/thread_constants.h).
 */
static double elementwise_items(const char *name)
{
    double n = number_after(name, "vectorized_elementwise_kernel<", 0);

    if (n > 0)
        return n > 4 ? n : 4;
    if (strstr(name, "unrolled_elementwise"))
        return 4;
    n = number_after(name, "elementwise_kernel<128, ", 0);
    if (n == 0)
        n = number_after(name, "manual_unroll<128, ", 0);
    if (n == 0)
        n = number_after(name, "elementwise_kernel<512, ", 0);
    if (n > 0)
        return n;
    return strstr(name, "triton") ? 4 : 1;
}

static void read_elementwise(struct msim_kernel_name *k, const char *name)
{
    k->items = elementwise_items(name);
    k->reads = elementwise_inputs(name);
    if (strstr(name, "triton"))
        k->reads = 2;
    k->strides = strstr(name, "grid_stride") || strstr(name, "dropout");
    k->casts = strstr(name, "WithCast") != NULL;
    if (strstr(name, "compare_") || strstr(name, "logical_"))
        k->writes = 1.0 / msim_dtype_bytes(k->dtype); /* truth values */
}

/* Lists that an optimizer's or foreach functor reads and writes: its numbers
 * are depth, lists read, list written. */
static void read_foreach(struct msim_kernel_name *k, const char *name)
{
    const char *functor = strstr(name, "Functor<"), *p = functor;
    double depth = number_after(name, "TensorListMetadata<", 0);

    k->items = MSIM_FACT(NULL, FOREACH_CHUNK);
    k->reads = depth > 0 ? depth : 2;
    k->writes = 1;
    if (has(name, "adam") || has(name, "lamb")) {
        k->reads = 4;
        k->writes = 3;
        return;
    }
    if (!functor || !(p = strchr(functor, ',')))
        return;
    if (number_at(p, &p) > 0) {
        long reads = number_at(p, &p);

        if (reads > 0 && reads < 6)
            k->reads = (double)reads;
    }
}

static bool is_layout(const char *name)
{
    return strstr(name, "nchwToNhwc") || strstr(name, "nhwcToNchw");
}

/*
 * Copies. Concatenations and PyTorch's elementwise copies state their elements
 * a thread; cuDNN's Winograd transforms write 6 x 6 of every 4 x 4 elements, or
 * the reverse.
 */
static void read_copy(struct msim_kernel_name *k, const char *name)
{
    k->items = 1;
    if (strstr(name, "elementwise"))
        read_elementwise(k, name);
    else if ((k->layout = is_layout(name)))
        k->items = TILE_ITEMS;
    else if (strstr(name, "winograd")) {
        k->tiled = !strstr(name, "Filter");
        k->items = k->tiled ? TRANSFORM_ITEMS : 9;
        k->writes = 2.25;
    }
    if (strstr(name, "aligned16") || strstr(name, "vectorized"))
        k->items = 4;
    k->strides = k->joins = strstr(name, "CatArray") != NULL;
}

/* softmax_warp_forward<float, float, float, 10, ..>: up to 2^10 columns. */
static void read_softmax(struct msim_kernel_name *k, const char *name)
{
    const char *p = strstr(name, "softmax_warp");
    long log2;

    k->reads = k->backward ? 2 : 1;
    k->cols = 0;
    if (!p)
        return;
    log2 = number_at(p, &p);
    if (log2 > 0 && log2 <= 12)
        k->cols = (double)(1L << log2);
}

/*
 * fbgemm's template has the threads of a bag and the vectors of four elements
 * of each thread: <.., 8ul, 32ul> is for rows of up to 8 x 32 x 4 elements.
 */
static void read_embedding(struct msim_kernel_name *k, const char *name)
{
    const char *p = strstr(name, "ul, 32");

    k->cols = 0;
    if (p) {
        while (p > name && p[-1] >= '0' && p[-1] <= '9')
            p--;
        k->cols = (double)(strtol(p, NULL, 10) * 32 * 4);
    }
    k->reads = k->backward ? 2 : 1;
}

/* "layer_norm::Kernel_traits<.., unsigned int, 7168u, 1u, .." of flash
 * attention's and Apex's norms: the length of a row. */
static double traits_cols(const char *name)
{
    const char *p = strstr(name, "Kernel_traits<"), *end;

    while (p && (p = strpbrk(p, "0123456789"))) {
        long n = number_at(p, &end);

        if (*end == 'u' && n >= 64)
            return (double)n;
        p = end;
    }
    return 0;
}

/* Kernels that give a block to each token: gates of feed-forward layers and
 * conversions to eight bits with a scale for parts of each row. */
static bool takes_tokens(const char *name)
{
    return has(name, "per_token") || has(name, "swiglu") ||
           has(name, "act_and_mul") || has(name, "silu_and_mul");
}

/*
 * One thread an element that is written. Windows are two apart as a rule, so
 * that the larger side has four times the elements. A maximum also stores
 * positions of eight bytes.
 */
static void read_pool(struct msim_kernel_name *k, const char *name)
{
    k->maximum = has(name, "max");
    k->reads = k->backward ? 0.25 : 4;
    if (!k->maximum)
        return;
    *(k->backward ? &k->reads : &k->writes) *= 3;
}

/* The n-th of the template's arguments "true" and "false" from `p` on. */
static bool nth_flag(const char *p, int n)
{
    for (; p && *p; p++) {
        bool yes = strncmp(p, "true", 4) == 0;

        if ((yes || strncmp(p, "false", 5) == 0) && n-- == 0)
            return yes;
    }
    return false;
}

/*
 * Flash attention: "Flash_fwd_kernel_traits<64, 128, 128, 4, .." has the size
 * of a head and the queries and keys of a block; version 3's gradient has a
 * shape of these in another order, "CollectiveMainloopBwd<2, cute::tuple<..
 * cluster>, cute::tuple<cute::C<64>, cute::C<128>, cute::C<192> >". Its grid
 * runs over blocks of keys. Of the flags behind these the first of version 3,
 * and the second of version 2 (the first is dropout's), says that the mask is
 * causal.
 */
static void read_flash(struct msim_kernel_name *k, const char *name)
{
    const char *p = strstr(name, "_kernel_traits<");
    long side[3];

    if (p) {
        for (int i = 0; i < 3; i++)
            side[i] = number_at(p, &p);
        k->cols = (double)side[0];
        k->tile[0] = (double)side[k->backward ? 2 : 1];
        k->causal = nth_flag(strchr(p, '>'), strstr(name, "attn_ws") ? 0 : 1);
    } else if ((p = strstr(name, "CollectiveMainloopBwd<")) &&
               (p = strstr(p, "cute::tuple<")) &&
               (p = strstr(p + 1, "cute::tuple<"))) {
        for (int i = 0; i < 3; i++)
            side[i] = number_at(p, &p);
        k->tile[0] = (double)side[1];
        k->cols = (double)side[2];
        k->causal = nth_flag(p, 0);
    }
}

/* Names of grouped products and of DeepGEMM's, whose blocks take one tile after
 * the other. */
static bool is_persistent(const char *name)
{
    return strstr(name, "grouped_gemm") || strstr(name, "deep_gemm") ||
           has(name, "persistent");
}

/* "_align1" of CUTLASS: operands are loaded an element at a time, because their
 * rows begin anywhere. */
static bool is_odd(const char *name)
{
    const char *p = strstr(name, "_align1");

    return p && !(p[7] >= '0' && p[7] <= '9');
}

/* Products of cuDNN run by columns first; those of cuBLAS and CUTLASS by
 * rows. */
static void read_product(struct msim_kernel_name *k, const char *name)
{
    /* What Winograd's tiles are of is not the output. */
    if (!has(name, "winograd"))
        find_tile(name, k->tile);
    k->channels_first = strstr(name, "xmma") != NULL;
    k->odd = is_odd(name);
    k->swizzles = strstr(name, "cutlass::Kernel<") ||
                  strstr(name, "cutlass::Kernel2<") ||
                  (k->kind == MSIM_KERNEL_CONV && strstr(name, "cutlass"));
    k->gated = has(name, "swiglu") || has(name, "geglu");
    k->counts_threads = strncmp(name, "Cijk_", 5) == 0;
    k->persistent = k->tile[0] == 0 && is_persistent(name);
    k->experts = has(name, "bmm_") && has(name, "dynB");
    k->splits = has(name, "splitK") || has(name, "split_k");
    /* Only gradients of filters, small and summed over many positions, are
     * worth splitting. */
    if (has(name, "wgrad") || (k->kind == MSIM_KERNEL_CONV && k->splits))
        k->pass = MSIM_CONV_BACKWARD_WEIGHT;
    else if (has(name, "dgrad") || strstr(name, "stridedB"))
        k->pass = MSIM_CONV_BACKWARD_DATA;
}

static bool is_backward(const char *name)
{
    return has(name, "backward") || strstr(name, "AttnBwd") ||
           has(name, "_bwd") || has(name, "bw_") || has(name, "dgrad") ||
           has(name, "wgrad");
}

/*
 * The name without its parameters, whose types do not say what the kernel does:
 * without the last pair of brackets where the name ends with it. Names that are
 * too long are cut at the end: what counts is in front.
 */
static void cut_parameters(char *out, const char *name)
{
    size_t len = strnlen(name, LONGEST_NAME - 1);
    int depth = 0;

    memcpy(out, name, len);
    out[len] = '\0';
    if (len == 0 || out[len - 1] != ')')
        return;
    for (size_t i = len; i-- > 0;) {
        depth += (out[i] == ')') - (out[i] == '(');
        if (depth == 0) {
            out[i] = '\0';
            return;
        }
    }
}

void msim_kernel_name_read(struct msim_kernel_name *k, const char *full)
{
    char name[LONGEST_NAME];

    cut_parameters(name, full);
    *k = (struct msim_kernel_name){.kind = msim_kernel_kind_read(name),
                                   .backward = is_backward(name),
                                   .items = 1,
                                   .reads = 1,
                                   .writes = 1};
    k->rate = msim_kernel_rate(name);
    k->dtype = msim_kernel_dtype(name);
    switch (k->kind) {
    case MSIM_KERNEL_MATRIX:
    case MSIM_KERNEL_GEMV:
    case MSIM_KERNEL_CONV:
    case MSIM_KERNEL_ATTENTION:
    case MSIM_KERNEL_DECODE:
        read_product(k, name);
        if (k->kind == MSIM_KERNEL_ATTENTION || k->kind == MSIM_KERNEL_DECODE)
            read_flash(k, name);
        k->dtype = msim_kernel_rate_dtype(k->rate, name);
        break;
    case MSIM_KERNEL_ELEMENTWISE:
        read_elementwise(k, name);
        break;
    case MSIM_KERNEL_FOREACH:
        read_foreach(k, name);
        break;
    case MSIM_KERNEL_COPY:
        read_copy(k, name);
        break;
    case MSIM_KERNEL_SOFTMAX:
        read_softmax(k, name);
        break;
    case MSIM_KERNEL_EMBEDDING:
        read_embedding(k, name);
        break;
    case MSIM_KERNEL_BATCH_NORM:
    case MSIM_KERNEL_NORM:
        k->reads = k->backward ? 2 : 1;
        k->rowwise = true;
        k->cols = traits_cols(name);
        break;
    case MSIM_KERNEL_OTHER:
        k->rowwise = takes_tokens(name);
        break;
    case MSIM_KERNEL_INDEX:
        k->items = strstr(name, "index_elementwise") ? 4 : 1;
        break;
    case MSIM_KERNEL_POOL:
        read_pool(k, name);
        break;
    case MSIM_KERNEL_SPLIT_K:
        k->reads = 4; /* partial sums of as many blocks */
        break;
    case MSIM_KERNEL_SORT:
        k->items = 16; /* usual for 4-byte keys in CUB's policies */
        break;
    default:
        break;
    }
}
