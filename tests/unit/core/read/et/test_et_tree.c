/*
 * tests/unit/core/read/et/test_et_tree.c - trees of random nodes in any order,
 * orphans and cycles.
 */
#include "tests/unit/appended.h"
#include "tests/unit/loaded.h"

#define N     24
#define FIRST 10 /* ids, of node 0 */
#define ROOT  2  /* the id of the thread's root */

/* Node `k` below the one whose id is `parent`. */
static void add(char *text, size_t size, int k, int parent)
{
    append(text, size,
           "{\"name\":\"n\",\"id\":%d,\"rf_id\":%d,\"parent\":%d,\"fw_parent\":"
           "0,\"seq_id\":-1,\"scope\":0,\"tid\":1,\"fw_tid\":0,\"op_schema\":"
           "\"\",\"inputs\":[],\"input_shapes\":[],\"input_types\":[],"
           "\"outputs\":[],\"output_shapes\":[],\"output_types\":[]},",
           FIRST + k, FIRST + k, parent);
}

static void begin(char *text, size_t size)
{
    text[0] = '\0';
    append(text, size, "{\"schema\":\"1.0.1\",\"pid\":1,\"nodes\":[");
}

static void end(char *text, size_t size)
{
    static const struct {
        const char *what;
        int id, parent;
    } ROOTS[] = {{"thread", ROOT, 1}, {"process", 1, 1}};

    for (int i = 0; i < 2; i++)
        append(text, size,
               "{\"name\":\"[pytorch|profiler|execution_graph|%s]\",\"id\":%d,"
               "\"rf_id\":0,\"parent\":%d,\"fw_parent\":0,\"seq_id\":-1,"
               "\"scope\":7,\"tid\":1,\"fw_tid\":0,\"op_schema\":\"\","
               "\"inputs\":[],\"input_shapes\":[],\"input_types\":[],"
               "\"outputs\":[],\"output_shapes\":[],\"output_types\":[]}%s",
               ROOTS[i].what, ROOTS[i].id, ROOTS[i].parent, i ? "]}" : ",");
}

static uint32_t random_below(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % n;
}

/* Nodes below node `k`, itself among them. */
static uint32_t size_of(const int *parent, int k)
{
    uint32_t n = 1;

    for (int i = k + 1; i < N; i++)
        if (parent[i] == FIRST + k)
            n += size_of(parent, i);
    return n;
}

/* In whatever order they are written: each stands behind its parent, and its
 * end behind all that is below it; of brothers the one that began first. */
static void check_tree(const struct msim_trace *t, const int *parent)
{
    REQUIRE(t->n_ops == N + 1);
    CHECK_UINT(t->ops[0].et_id, ROOT);
    CHECK_UINT(t->ops[0].end, N + 1);
    for (uint32_t i = 1; i < t->n_ops; i++) {
        const struct msim_op *op = &t->ops[i];
        int k = (int)op->et_id - FIRST;

        REQUIRE(k >= 0 && k < N && op->parent < i);
        CHECK_INT(t->ops[op->parent].et_id, parent[k]);
        CHECK_UINT(op->end, i + size_of(parent, k));
        for (uint32_t b = op->end; b < t->ops[op->parent].end; b++)
            CHECK(t->ops[b].et_id > op->et_id);
    }
}

static void test_et_tree__random(void)
{
    static char text[N * 400 + 2000];
    uint64_t seed = 7;

    for (int round = 0; round < 40; round++) {
        int parent[N], order[N] = {0};
        struct msim_error err;
        struct msim_job *job;

        for (int k = 0; k < N; k++) {
            uint32_t of = random_below(&seed, (uint32_t)k + 1);
            uint32_t to = random_below(&seed, (uint32_t)k + 1);

            parent[k] = of == 0 ? ROOT : FIRST + (int)of - 1;
            order[k] = order[to];
            order[to] = k;
        }
        begin(text, sizeof(text));
        for (int i = 0; i < N; i++)
            add(text, sizeof(text), order[i], parent[order[i]]);
        end(text, sizeof(text));
        job = load_text(text, false, &err);
        REQUIRE(job != NULL);
        check_tree(job->ranks[0], parent);
        CHECK_UINT(job->ranks[0]->import.rows[MSIM_IMPORT_ORPHAN].n, 0);
        msim_job_free(job);
    }
}

/* What names a parent that is not there has none, and is counted. */
static void test_et_tree__orphans(void)
{
    char text[4000];
    struct msim_error err;
    struct msim_job *job;
    const struct msim_trace *t;

    begin(text, sizeof(text));
    add(text, sizeof(text), 0, 99);
    add(text, sizeof(text), 1, FIRST);
    add(text, sizeof(text), 2, 98);
    add(text, sizeof(text), 3, ROOT);
    end(text, sizeof(text));
    job = load_text(text, false, &err);
    REQUIRE(job && job->ranks[0]->n_ops == 5);
    t = job->ranks[0];
    CHECK_UINT(t->import.rows[MSIM_IMPORT_ORPHAN].n, 2);
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t k = t->ops[i].et_id, p = t->ops[i].parent;

        if (k == FIRST + 1 || k == FIRST + 3)
            CHECK_UINT(t->ops[p].et_id, k == FIRST + 1 ? FIRST : ROOT);
        else
            CHECK_UINT(p, MSIM_NONE);
    }
    msim_job_free(job);
}

/* A cycle is named from the node behind the first of the file on; six of it,
 * and dots where there are more. */
static void test_et_tree__cycles(void)
{
    for (int n = 1; n < 9; n++) {
        char text[8000], want[512];
        struct msim_error err;
        struct msim_job *job;

        begin(text, sizeof(text));
        for (int k = 0; k < n; k++)
            add(text, sizeof(text), k, FIRST + (k + 1) % n);
        end(text, sizeof(text));
        job = load_text(text, false, &err);
        CHECK(job == NULL);
        CHECK_INT(err.status, MSIM_ECYCLE);
        want[0] = '\0';
        APPEND(want, "the parents of nodes form a cycle: ");
        for (int i = 0; i < n && i < 6; i++)
            APPEND(want, "%d 'n' -> ", FIRST + (1 + i) % n);
        APPEND(want, "%s%d", n > 6 ? "... -> " : "", FIRST + 1 % n);
        if (!CHECK(strncmp(err.text, want, strlen(want)) == 0))
            fprintf(stderr, "    '%s', want '%s'\n", err.text, want);
        msim_job_free(job);
    }
}

int main(void)
{
    RUN(test_et_tree__random);
    RUN(test_et_tree__orphans);
    RUN(test_et_tree__cycles);
    return check_summary();
}
