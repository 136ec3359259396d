/*
 * tests/unit/core/job/test_linked_dlrm.c - our link of ET and Kineto against
 * another tool's.
 *
 * Our link of ET and Kineto against another tool's: which operator launched
 * each GPU activity of dlrm-8xv100. The oracle is the folder
 * et-linked-by-chakra, an ET per rank with the GPU activities put in as nodes.
 * Ranks 3 and 4 are left out: six memsets each were lost there.
 *
 * Both tools find the same number of GPU nodes on each rank, and the same
 * parents but for two kinds of difference, each counted and checked below:
 *
 *   label       The eight NCCL kernels of a rank. There the parent is the
 *               label nccl:all_to_all or nccl:all_reduce, which an ET counts
 *               among the nodes (scope 7, no inputs to speak of); here it is
 *               the operator around the label, record_param_comms, which has
 *               the collective's arguments. The label's own parent is ours.
 *   unlaunched  64 kernels of rank 1 (correlations 41180 to 41570) ran on the
 *               GPU when the recording began: no call in the Kineto file has
 *               their correlation. There they were given to whatever the CPU
 *               did when they began (33 of them to the data loader, others to
 *               aten::is_pinned, aten::empty_strided, ...), which launches
 *               nothing of the kind; here they have no operator.
 *
 * The oracle numbers nodes anew, to make room for those it puts in; the
 * record function id tells which ET node each was.
 */
#include "core/base/containers.h"
#include "core/job/job.h"
#include "core/stream/input.h"

#include "tests/check.h"

#include <cJSON.h>
#include <stdlib.h>

#define FOLDER MSIM_TRACES "/traces/dlrm-8xv100/"

struct oracle {
    cJSON *root;
    const cJSON **nodes; /* by place in the file */
    uint32_t n;
    struct msim_idmap by_id; /* CPU nodes */
    struct msim_idmap gpu;   /* correlation -> node */
};

/* All bytes of a file, inflated; the caller frees. */
static char *read_all(const char *path)
{
    struct msim_error err = {0};
    struct msim_input *in;
    const char *bytes;
    char *text = NULL;
    size_t len, n = 0;

    if (msim_input_open(&in, path, false, &err) != MSIM_OK)
        return NULL;
    while (msim_input_next(in, &bytes, &len, &err) == MSIM_OK && len) {
        char *grown = realloc(text, n + len + 1);

        if (!grown)
            break;
        text = grown;
        memcpy(text + n, bytes, len);
        n += len;
        text[n] = '\0';
    }
    msim_input_close(in);
    return text;
}

static uint64_t number(const cJSON *node, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(node, key);

    return cJSON_IsNumber(item) ? (uint64_t)item->valuedouble : 0;
}

static const char *name_of(const cJSON *node)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(node, "name");

    return cJSON_IsString(item) ? item->valuestring : "";
}

/* A node that was put in has the event's phase, "ph". */
static bool index_node(struct oracle *o, const cJSON *node)
{
    const cJSON *args = cJSON_GetObjectItemCaseSensitive(node, "args");
    bool gpu = cJSON_HasObjectItem(node, "ph");
    uint32_t *slot;

    o->nodes[o->n] = node;
    return msim_idmap_put(gpu ? &o->gpu : &o->by_id,
                          gpu ? number(args, "correlation")
                              : number(node, "id"),
                          o->n++, &slot) == MSIM_OK;
}

static bool open_oracle(struct oracle *o, int rank)
{
    char path[512], *text;
    const cJSON *list, *node;

    memset(o, 0, sizeof(*o));
    snprintf(path, sizeof(path), FOLDER "et-linked-by-chakra/rank-%d.json.gz",
             rank);
    text = read_all(path);
    o->root = text ? cJSON_Parse(text) : NULL;
    free(text);
    list = cJSON_GetObjectItemCaseSensitive(o->root, "nodes");
    o->nodes = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof(*o->nodes));
    if (!o->nodes)
        return false;
    cJSON_ArrayForEach(node, list) if (!index_node(o, node)) return false;
    return o->n > 0;
}

static void close_oracle(struct oracle *o)
{
    cJSON_Delete(o->root);
    free((void *)o->nodes);
    msim_idmap_release(&o->by_id);
    msim_idmap_release(&o->gpu);
}

static const cJSON *parent_of(const struct oracle *o, const cJSON *node)
{
    uint32_t i = msim_idmap_get(&o->by_id, number(node, "parent"));

    return i == MSIM_NONE ? NULL : o->nodes[i];
}

static struct msim_job *load(int rank, bool linked)
{
    struct msim_load_options opt = {.threads = 1};
    struct msim_job *job = NULL;
    char et[512], kineto[512];
    const char *paths[] = {et, kineto};

    snprintf(et, sizeof(et), FOLDER "et/rank-%d.json.gz", rank);
    snprintf(kineto, sizeof(kineto), FOLDER "kineto/rank-%d.json.gz", rank);
    if (msim_job_load(&job, paths, linked ? 2 : 1, &opt, NULL) != MSIM_OK)
        return NULL;
    return job;
}

/* Record function id -> ET node id. */
static bool map_ids(struct msim_idmap *ids, const struct msim_trace *et)
{
    uint32_t *slot;

    for (uint32_t i = 0; i < et->n_ops; i++)
        if (et->ops[i].rf_id &&
            msim_idmap_put(ids, et->ops[i].rf_id, et->ops[i].et_id, &slot) !=
                MSIM_OK)
            return false;
    return true;
}

struct counts {
    uint32_t gpu, same, label, unlaunched;
};

static void compare(const struct oracle *o, const struct msim_idmap *ids,
                    const struct msim_trace *t, struct counts *c)
{
    for (uint32_t i = 0; i < t->n_gpu; i++) {
        const struct msim_gpu *g = &t->gpu[i];
        uint32_t at = msim_idmap_get(&o->gpu, g->correlation), ours;
        const cJSON *node, *parent;

        REQUIRE(at != MSIM_NONE);
        node = o->nodes[at];
        parent = parent_of(o, node);
        CHECK_STR(name_of(node), msim_trace_text(t, g->name));
        REQUIRE(parent != NULL);
        c->gpu++;
        if (g->op == MSIM_NONE) {
            CHECK_UINT(g->call, MSIM_NONE);
            c->unlaunched++;
            continue;
        }
        ours = t->ops[g->op].et_id;
        if (ours == msim_idmap_get(ids, number(parent, "rf_id"))) {
            CHECK_STR(name_of(parent), msim_trace_text(t, t->ops[g->op].name));
            c->same++;
            continue;
        }
        CHECK(!strncmp(name_of(parent), "nccl:", 5));
        CHECK_STR(msim_trace_text(t, t->ops[g->op].name), "record_param_comms");
        parent = parent_of(o, parent);
        REQUIRE(parent != NULL);
        CHECK_UINT(msim_idmap_get(ids, number(parent, "rf_id")), ours);
        c->label++;
    }
}

static void check_rank(int rank, struct counts want)
{
    struct oracle o;
    struct msim_job *linked = load(rank, true), *et = load(rank, false);
    struct msim_idmap ids = {0};
    struct counts c = {0};

    if (CHECK(linked && et) && CHECK(open_oracle(&o, rank))) {
        CHECK(map_ids(&ids, et->ranks[0]));
        compare(&o, &ids, linked->ranks[0], &c);
        CHECK_UINT(o.gpu.count, c.gpu); /* as many nodes on both sides */
        close_oracle(&o);
    }
    CHECK_UINT(c.gpu, want.gpu);
    CHECK_UINT(c.same, want.same);
    CHECK_UINT(c.label, want.label);
    CHECK_UINT(c.unlaunched, want.unlaunched);
    msim_idmap_release(&ids);
    msim_job_free(linked);
    msim_job_free(et);
}

static void test_linked__parents_are_those_of_chakra(void)
{
    SKIP_WITHOUT_TRACES();
    check_rank(0, (struct counts){261, 253, 8, 0});
    check_rank(1, (struct counts){326, 254, 8, 64});
    check_rank(2, (struct counts){262, 254, 8, 0});
    check_rank(5, (struct counts){261, 253, 8, 0});
    check_rank(6, (struct counts){262, 254, 8, 0});
    check_rank(7, (struct counts){262, 254, 8, 0});
}

int main(void)
{
    RUN(test_linked__parents_are_those_of_chakra);
    return check_summary();
}
