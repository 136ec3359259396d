/*
 * Every operator that real traces hold maps to a law, to nothing, or stands in
 * the list of exceptions below, which is printed: those of the shared traces
 * and of the samples in data/traces, file by file.
 */
#include "core/job/job.h"
#include "core/work/opmap/opmap.h"
#include "core/work/opmap/opmap_internal.h"
#include "core/work/rules/opmap_rule.h"
#include "tests/unit/made_ops.h"

#include <ftw.h>
#include <stdlib.h>

/* What no table can know, and why. `file` is a part of the path; NULL: any. */
static const struct exception {
    const char *file, *name, *why;
} EXCEPTIONS[] = {
#define FLAT                                                                   \
    "a Chakra file without a call tree: one node a kernel, all with the "      \
    "sizes "                                                                   \
    "of the operator around them"
    {"feeder", "aten::conv2d", FLAT},
    {"feeder", "aten::batch_norm", FLAT},
    {"feeder", "aten::max_pool2d", FLAT},
    {"feeder", "aten::linear", FLAT},
    {"feeder", "aten::cross_entropy_loss", FLAT},
    {"feeder", "aten::flatten_dense_tensors", FLAT},
    {"feeder", "aten::ones_like", FLAT},
    {"feeder", "aten::detach", FLAT},
    {NULL, "fb::sparse_label_to_dense", "a private library's"},
    {NULL, "fb::sparse_label_to_bool", "a private library's"},
    {"no-kernel-category", "CommOpGradientScaling", "a private library's"},
    {NULL, "sglang_profiler::common_alloc_paged_token_slots_decode_523",
     "a Python function's name and line"},
    {NULL, "sglang_profiler::common_get_num_new_pages_330",
     "a Python function's name and line"},
};
#define N_EXCEPTIONS (sizeof(EXCEPTIONS) / sizeof(EXCEPTIONS[0]))

static bool met[N_EXCEPTIONS];

#define PATHS_MAX 200

static struct {
    char *list[PATHS_MAX];
    uint32_t n;
} paths;

static bool ends_in(const char *text, const char *tail)
{
    size_t n = strlen(text), m = strlen(tail);

    return n > m && strcmp(text + n - m, tail) == 0;
}

static int collect(const char *path, const struct stat *st, int type,
                   struct FTW *ftw)
{
    (void)st;
    (void)ftw;
    if (type == FTW_F && paths.n < PATHS_MAX &&
        !strstr(path, "linked-by-chakra") &&
        (ends_in(path, ".json.gz") || ends_in(path, ".et.gz") ||
         (ends_in(path, ".json") && !ends_in(path, "meta.json"))))
        paths.list[paths.n++] = strdup(path);
    return 0;
}

static bool is_exception(const char *path, const char *name)
{
    for (size_t i = 0; i < N_EXCEPTIONS; i++) {
        const struct exception *e = &EXCEPTIONS[i];

        if (strcmp(e->name, name) == 0 && (!e->file || strstr(path, e->file))) {
            met[i] = true;
            return true;
        }
    }
    return false;
}

/* One operator's name in one file. */
struct count {
    uint32_t calls, bounded;
};

/* Does the trace say a size of it? Where it does not, no rule can. */
static bool has_tensor(const struct msim_trace *t, const struct msim_op *op)
{
    if (op->args == MSIM_NONE)
        return false;
    for (uint32_t k = 0; k < t->blocks[op->args].count; k++)
        if (t->args[t->blocks[op->args].first + k].kind == MSIM_ARG_TENSOR)
            return true;
    return false;
}

static void count_ops(const struct msim_trace *t, struct count *of_name)
{
    int *kernels = calloc((size_t)t->n_ops + 1, sizeof(*kernels));
    struct msim_work w[MSIM_OPMAP_MAX];

    for (uint32_t g = 0; kernels && g < t->n_gpu; g++)
        if (t->gpu[g].kind == MSIM_GPU_KERNEL && t->gpu[g].op != MSIM_NONE)
            kernels[t->gpu[g].op]++;
    for (uint32_t i = 0; kernels && i < t->n_ops; i++) {
        const struct msim_op *op = &t->ops[i];
        uint32_t n = 0;

        if (op->kind != MSIM_OP_OPERATOR)
            continue;
        of_name[op->name].calls++;
        if (msim_opmap(t, NULL, i, t->has_gpu_events ? kernels[i] : -1,
                       msim_opmap_place_of(t, false), w,
                       &n) == MSIM_OPMAP_UNKNOWN &&
            has_tensor(t, op))
            of_name[op->name].bounded++;
    }
    free(kernels);
}

/* A dispatcher's operator ("aten::mm") or a generated kernel, rather than a
 * label that somebody put around some. */
static bool is_operator(const char *name)
{
    return strstr(name, "::") || strncmp(name, "triton_", 7) == 0;
}

static void check_name(const char *path, const char *name,
                       const struct count *c)
{
    bool known = !is_operator(name) || msim_opmap_find(name);

    if (!c->calls || (known && !c->bounded))
        return;
    if (!CHECK(is_exception(path, name)))
        fprintf(stderr, "  %s: '%s': %u of %u calls map to a bound%s\n", path,
                name, c->bounded, c->calls,
                known ? "" : ", and no table has it");
}

static void check_file(const char *path)
{
    struct msim_load_options opt = {.threads = 1};
    struct msim_error err = {0};
    struct msim_job *job = NULL;
    struct count *of_name;
    uint32_t n;

    if (!CHECK_INT(
            msim_job_load(&job, (const char *const *)&path, 1, &opt, &err),
            MSIM_OK)) {
        fprintf(stderr, "  %s: %s\n", path, err.text);
        return;
    }
    n = msim_strtab_count(job->strings);
    of_name = calloc(n, sizeof(*of_name));
    for (uint32_t r = 0; of_name && r < job->n_ranks; r++)
        count_ops(job->ranks[r], of_name);
    for (uint32_t s = 0; of_name && s < n; s++)
        check_name(path, msim_strtab_text(job->strings, s), &of_name[s]);
    free(of_name);
    msim_job_free(job);
}

static void check_folder(const char *folder, uint32_t least)
{
    CHECK_INT(nftw(folder, collect, 8, FTW_PHYS), 0);
    CHECK(paths.n >= least);
    for (uint32_t i = 0; i < paths.n; i++) {
        check_file(paths.list[i]);
        free(paths.list[i]);
    }
    paths.n = 0;
}

static void test_opmap_coverage__samples(void)
{
    check_folder(MSIM_DATA "/traces", 14);
}

static void test_opmap_coverage__shared_traces(void)
{
    SKIP_WITHOUT_TRACES();
    check_folder(MSIM_TRACES "/traces", 60);
    for (size_t i = 0; i < N_EXCEPTIONS; i++) {
        printf("  no law: %s (%s)\n", EXCEPTIONS[i].name, EXCEPTIONS[i].why);
        if (!CHECK(met[i])) /* else it is none any more */
            fprintf(stderr, "  '%s'\n", EXCEPTIONS[i].name);
    }
}

/* Forms of operators that these traces do not all hold, one a line of the
 * dispatcher's: all have rules. */
static void test_opmap_coverage__forms(void)
{
    static const char *const NAMES[] = {
        "aten::_scaled_dot_product_flash_attention",
        "aten::_scaled_dot_product_flash_attention_backward",
        "aten::_scaled_dot_product_efficient_attention",
        "aten::_scaled_dot_product_efficient_attention_backward",
        "aten::_scaled_dot_product_cudnn_attention",
        "aten::_scaled_dot_product_cudnn_attention_backward",
        "aten::_scaled_dot_product_flash_attention_for_cpu",
        "aten::_flash_attention_forward",
        "aten::_flash_attention_backward",
        "aten::_efficient_attention_forward",
        "aten::_efficient_attention_backward",
        "flash_attn::_flash_attn_forward",
        "flash_attn::_flash_attn_varlen_backward",
        "aten::_foreach_add_",
        "aten::_foreach_addcdiv_",
        "aten::_foreach_tanh",
        "aten::_foreach_norm",
        "aten::_foreach_copy_",
        "aten::_fused_adam_",
        "aten::_fused_adamw_",
        "aten::_fused_sgd_",
        "aten::_fused_adagrad_",
        "aten::_amp_foreach_non_finite_check_and_unscale_",
        "aten::_amp_update_scale_",
        "aten::_embedding_bag",
        "aten::_embedding_bag_forward_only",
        "fbgemm::split_embedding_codegen_lookup_sgd_function",
        "fbgemm::split_embedding_codegen_forward_weighted_cuda",
        "fbgemm::split_embedding_nobag_codegen_forward_unweighted_cuda",
        "fbgemm::split_embedding_backward_codegen_sgd_unweighted_exact_cuda",
        "fbgemm::int_nbit_split_embedding_codegen_lookup_function",
        "fbgemm::permute_2D_sparse_data",
        "fbgemm::permute_pooled_embs",
        "fbgemm::permute_multi_embedding",
        "fbgemm::asynchronous_complete_cumsum",
        "triton_poi_fused_add_0",
        "triton_red_fused_sum_1",
        "triton_per_fused_layer_norm_2",
        "triton_tem_fused_mm_3",
        "aten::copy_",
        "aten::embedding",
        "record_param_comms",
        "c10d::allreduce_",
        "prims::where",
        "aten::__iand__",
    };

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        const struct msim_opmap_row *row = msim_opmap_find(NAMES[i]);

        if (!CHECK(row && row->rule))
            fprintf(stderr, "  '%s'\n", NAMES[i]);
    }
    CHECK(msim_opmap_find("prims::no_such_thing") == NULL);
}

/* Lists of tensors that are put elsewhere: all is read, and as much written. */
static void test_opmap_coverage__moves(void)
{
    static struct build b;
    struct msim_work w[MSIM_OPMAP_MAX];
    uint32_t n = 0;

    build_init(&b);
    build_op(&b, 0, "fbgemm::permute_multi_embedding",
             "(f32[8,16] f32[8,32]) i32[6]", "f32[8,24] f32[8,24]");
    CHECK_INT(msim_opmap(&b.t, NULL, 0, -1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_INT(n, 1);
    CHECK_INT(w[0].bytes_read, 4 * 8 * 48 + 4 * 6);
    CHECK_INT(w[0].bytes_written, 4 * 8 * 48);
    build_release(&b);
}

int main(void)
{
    RUN(test_opmap_coverage__samples);
    RUN(test_opmap_coverage__shared_traces);
    RUN(test_opmap_coverage__forms);
    RUN(test_opmap_coverage__moves);
    return check_summary();
}
