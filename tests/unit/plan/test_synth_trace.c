/*
 * plan/synth: in a trace that was written every operator gets and gives tensors
 * of the sizes that PyTorch wants, whatever the model.
 */
#include "core/base/json.h"
#include "plan/describe/describe.h"
#include "plan/synth/synth.h"
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

#define TENSORS 2048
#define DIMS    8

struct tensor {
    int64_t dims[DIMS], elems;
    int n;
};

/* The tensors of one side of a node, those in lists too. */
struct side {
    struct tensor of[TENSORS];
    int n;
};

static const cJSON *member(const cJSON *o, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(o, name);
}

/* [id, storage, offset, elements, bytes, device], and its sizes and strides. */
static void add_tensor(struct side *s, const cJSON *value, const cJSON *sizes,
                       const cJSON *strides)
{
    struct tensor *t = &s->of[s->n];
    const cJSON *size;
    int64_t product = 1;

    if (!CHECK(s->n < TENSORS && cJSON_GetArraySize(sizes) <= DIMS))
        return;
    *t = (struct tensor){
        .elems = (int64_t)cJSON_GetArrayItem(value, 3)->valuedouble};
    cJSON_ArrayForEach(size, sizes) product *= t->dims[t->n++] =
        (int64_t)size->valuedouble;
    CHECK_INT(t->elems, product);
    CHECK_INT(cJSON_GetArraySize(strides), t->n);
    s->n++;
}

static bool is_tensor(const cJSON *value)
{
    return cJSON_GetArraySize(value) == 6 &&
           cJSON_IsString(cJSON_GetArrayItem(value, 5));
}

static struct side side_of(const cJSON *node, const char *name)
{
    const cJSON *o = member(node, name);
    const cJSON *value = member(o, "values")->child;
    const cJSON *sizes = member(o, "shapes")->child;
    const cJSON *strides = member(o, "strides")->child;
    struct side s = {.n = 0};

    for (; value; value = value->next) {
        if (is_tensor(value))
            add_tensor(&s, value, sizes, strides);
        else
            for (int i = 0; i < cJSON_GetArraySize(value); i++)
                if (is_tensor(cJSON_GetArrayItem(value, i)))
                    add_tensor(&s, cJSON_GetArrayItem(value, i),
                               cJSON_GetArrayItem(sizes, i),
                               cJSON_GetArrayItem(strides, i));
        sizes = sizes->next;
        strides = strides->next;
    }
    return s;
}

/* a x b of the last two sizes, and the same ones before. */
static void check_product(const struct tensor *a, const struct tensor *b,
                          const struct tensor *out)
{
    if (!CHECK(a->n >= 2 && a->n == b->n && a->n == out->n))
        return;
    CHECK_INT(a->dims[a->n - 1], b->dims[b->n - 2]);
    CHECK_INT(out->dims[out->n - 2], a->dims[a->n - 2]);
    CHECK_INT(out->dims[out->n - 1], b->dims[b->n - 1]);
    for (int i = 0; i < a->n - 2; i++)
        CHECK(a->dims[i] == b->dims[i] && a->dims[i] == out->dims[i]);
}

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

/* Says whether there is a rule for the operator. */
static bool check_node(const cJSON *node)
{
    static const char *const same[] = {
        "aten::gelu", "aten::relu",  "aten::silu",   "aten::tanh",
        "aten::add",  "aten::mul",   "aten::copy_",  "aten::gelu_backward",
        "aten::neg",  "aten::clone", "aten::detach", "aten::silu_backward",
        NULL};
    const char *name = msim_json_get_text(node, "name");
    struct side in = side_of(node, "inputs"), out = side_of(node, "outputs");

    if (strcmp(name, "aten::mm") == 0 || strcmp(name, "aten::bmm") == 0) {
        check_product(&in.of[0], &in.of[1], &out.of[0]);
    } else if (strcmp(name, "aten::addmm") == 0) {
        check_product(&in.of[1], &in.of[2], &out.of[0]);
        CHECK_INT(in.of[0].elems, out.of[0].dims[1]);
    } else if (strcmp(name, "aten::glu") == 0) {
        CHECK_INT(in.of[0].dims[0], out.of[0].dims[0]);
        CHECK_INT(in.of[0].dims[1], 2 * out.of[0].dims[1]);
    } else if (strcmp(name, "aten::glu_backward") == 0) {
        CHECK_INT(in.of[1].dims[1], 2 * in.of[0].dims[1]);
        CHECK_INT(out.of[0].dims[1], in.of[1].dims[1]);
        CHECK_INT(out.of[0].elems, in.of[1].elems);
    } else if (strcmp(name, "aten::cat") == 0) {
        int64_t all = 0;

        for (int i = 0; i < in.n; i++)
            all += in.of[i].elems;
        CHECK_INT(out.of[0].elems, all);
    } else if (strstr(name, "dot_product_flash_attention") &&
               !strstr(name, "backward")) { /* and a logarithm a row */
        CHECK(in.of[1].dims[0] == in.of[0].dims[0]);
        CHECK(in.of[1].dims[3] == in.of[0].dims[3]);
        for (int i = 0; i < 4; i++) {
            CHECK_INT(in.of[2].dims[i], in.of[1].dims[i]);
            CHECK_INT(out.of[0].dims[i], in.of[0].dims[i]);
            CHECK(i == 3 || out.of[1].dims[i] == in.of[0].dims[i]);
        }
    } else if (is_one_of(name, same)) {
        CHECK_INT(out.of[0].elems, in.of[0].elems);
    } else {
        return false;
    }
    return true;
}

static double storage_of(const cJSON *tensor)
{
    return is_tensor(tensor) ? cJSON_GetArrayItem(tensor, 1)->valuedouble : 0;
}

/* Operands of sums that a norm made. */
static int sums_of_norms(const cJSON *nodes)
{
    double norms[64];
    const cJSON *node;
    int n = 0, sums = 0;

    cJSON_ArrayForEach(node, nodes)
    {
        const char *name = msim_json_get_text(node, "name");
        const cJSON *in = member(member(node, "inputs"), "values")->child;

        if ((strcmp(name, "aten::_fused_rms_norm") == 0 ||
             strcmp(name, "aten::native_layer_norm") == 0) &&
            CHECK(n < 64))
            norms[n++] =
                storage_of(member(member(node, "outputs"), "values")->child);
        for (int i = 0; i < n && strcmp(name, "aten::add") == 0; i++)
            sums += (norms[i] == storage_of(in)) +
                    (norms[i] == storage_of(in->next));
    }
    return sums;
}

static void check_trace(const char *path, int sums)
{
    struct msim_error err = {0};
    const cJSON *node;
    uint32_t ruled = 0;
    cJSON *json;

    REQUIRE(msim_json_read(&json, path, &err) == MSIM_OK);
    cJSON_ArrayForEach(node, member(json, "nodes")) ruled += check_node(node);
    CHECK(ruled > 20);
    CHECK_INT(sums_of_norms(member(json, "nodes")), sums);
    cJSON_Delete(json);
}

static void check_model(const struct msim_described *m, int64_t sequence,
                        int sums)
{
    struct msim_strategy s = {.gpus = 1,
                              .nodes = 1,
                              .dp = 1,
                              .tp = 1,
                              .pp = 1,
                              .vp = 1,
                              .cp = 1,
                              .ep = 1,
                              .micro_batch = 2,
                              .grad_accum = 1,
                              .global_batch = 2,
                              .sequence = sequence,
                              .precision = MSIM_PRECISION_BF16};
    const struct msim_synth_options o = {.model = m, .strategy = &s};
    struct msim_synth_result result;
    struct msim_error err = {0};
    char folder[64], path[96];

    snprintf(folder, sizeof(folder), "synth-trace-XXXXXX");
    REQUIRE(mkdtemp(folder) != NULL);
    CHECK_INT(msim_synth_write(folder, &o, &result, &err), MSIM_OK);
    CHECK_STR(err.text, "");
    snprintf(path, sizeof(path), "%s/rank-0.et.json", folder);
    check_trace(path, sums);
    unlink(path);
    snprintf(path, sizeof(path), "%s/synth.json", folder);
    unlink(path);
    rmdir(folder);
}

static void test_synth__gated_decoder(void)
{
    const struct msim_described m = {.layers = 2,
                                     .hidden = 256,
                                     .heads = 4,
                                     .kv_heads = 2,
                                     .head_dim = 64,
                                     .ffn = 640,
                                     .vocab = 1000,
                                     .gated = true};

    check_model(&m, 96, 0); /* norms are on the side of what is summed */
}

static void test_synth__known_models(void)
{
    static const char *const MODELS[] = {"bert-base", "vit-b-16"};
    /* BERT's second residual begins at a norm, the first at dropout. */
    static const int SUMS[] = {1, 0};

    for (size_t i = 0; i < sizeof(MODELS) / sizeof(*MODELS); i++) {
        struct msim_described m;

        REQUIRE(msim_described_find(&m, MODELS[i], MSIM_DATA, NULL, NULL) ==
                MSIM_OK);
        m.layers = 1;
        check_model(&m, msim_described_sequence(&m, 96), SUMS[i]);
    }
}

int main(void)
{
    RUN(test_synth__gated_decoder);
    RUN(test_synth__known_models);
    return check_summary();
}
