/*
 * tests/unit/core/lives/test_lives.c - lives of storages, in traces made here
 * and in real ones.
 */
#include "core/job/job_files.h"
#include "core/lives/lives.h"

#include "tests/unit/loaded.h"

/*
 * An execution trace in the making. Tensors are STORAGE:ELEMENTS, with @OFFSET
 * behind them where that is not 0: "7:4 9:2@2". Every one is a tensor (id) of
 * its own, on the CPU, of fp32.
 */
struct made_et {
    char *text;
    size_t len, cap;
    uint32_t tensors;
};

MSIM_PRINTF(2, 3)
static void put(struct made_et *m, const char *fmt, ...)
{
    va_list ap;

    if (m->cap - m->len < 256) {
        m->cap = m->cap * 2 + 1024;
        m->text = realloc(m->text, m->cap);
        if (!m->text)
            abort();
    }
    va_start(ap, fmt);
    m->len += (size_t)vsnprintf(m->text + m->len, m->cap - m->len, fmt, ap);
    va_end(ap);
}

enum part { VALUES, SHAPES, TYPES };

static void put_tensor(struct made_et *m, enum part part, unsigned storage,
                       unsigned elems, unsigned offset)
{
    if (part == VALUES)
        put(m, "[%u,%u,%u,%u,4,\"cpu\"]", 1000000 + m->tensors++, storage,
            offset, elems);
    else if (part == SHAPES)
        put(m, "[%u]", elems);
    else
        put(m, "\"Tensor(float)\"");
}

static void put_part(struct made_et *m, const char *tensors, enum part part)
{
    const char *at = tensors;
    char *end;

    while (*at) {
        unsigned storage = (unsigned)strtoul(at, &end, 10), elems, offset = 0;

        elems = (unsigned)strtoul(end + 1, &end, 10);
        if (*end == '@')
            offset = (unsigned)strtoul(end + 1, &end, 10);
        put(m, "%s", at > tensors ? "," : "");
        put_tensor(m, part, storage, elems, offset);
        at = end + strspn(end, " ");
    }
}

static void put_side(struct made_et *m, const char *name, const char *tensors)
{
    put(m, ",\"%s\":{\"values\":[", name);
    put_part(m, tensors, VALUES);
    put(m, "],\"shapes\":[");
    put_part(m, tensors, SHAPES);
    put(m, "],\"types\":[");
    put_part(m, tensors, TYPES);
    put(m, "]}");
}

static void named(struct made_et *m, unsigned id, unsigned parent,
                  unsigned thread, const char *name, const char *in,
                  const char *out)
{
    put(m, "%s{\"id\":%u,\"name\":\"%s\",\"ctrl_deps\":%u",
        m->len ? "," : "{\"schema\":\"1.1.1\",\"nodes\":[", id, name, parent);
    put_side(m, "inputs", in);
    put_side(m, "outputs", out);
    put(m, ",\"attrs\":[{\"name\":\"tid\",\"value\":%u}]}", thread);
}

/* A node; its parent is 0 where it has none. */
static void node(struct made_et *m, unsigned id, unsigned parent,
                 unsigned thread, const char *in, const char *out)
{
    named(m, id, parent, thread, "op", in, out);
}

struct found {
    struct msim_job *job;
    const struct msim_trace *t;
    struct msim_lives lives;
};

/* Load what was made; of two nodes with one parent the lower id is earlier. */
static bool find(struct made_et *m, struct found *f)
{
    struct msim_error err;

    put(m, "]}");
    memset(f, 0, sizeof(*f));
    f->job = load_text(m->text, true, &err);
    if (!f->job)
        fprintf(stderr, "%s\n", err.text);
    free(m->text);
    if (!CHECK(f->job != NULL))
        return false;
    f->t = f->job->ranks[0];
    return CHECK(msim_lives_find(&f->lives, f->t) == MSIM_OK);
}

static void done(struct found *f)
{
    msim_lives_release(&f->lives);
    CHECK(!f->lives.of && !f->lives.place && !f->lives.rows && !f->lives.n);
    msim_job_free(f->job);
}

static uint32_t op_of(const struct found *f, uint32_t id)
{
    for (uint32_t i = 0; i < f->t->n_ops; i++)
        if (f->t->ops[i].et_id == id)
            return i;
    return MSIM_NONE;
}

/* The life of the k-th input (output) of the node `id`. */
static uint32_t in(const struct found *f, uint32_t id, uint32_t k)
{
    return f->lives.of[f->t->ops[op_of(f, id)].ids + k];
}

static uint32_t out(const struct found *f, uint32_t id, uint32_t k)
{
    return f->lives.of[f->t->ops[op_of(f, id)].out_ids + k];
}

/* Life `life` was born in, is first and last named by these nodes; born 0: it
 * was there before. */
#define CHECK_LIFE(f, life, b, a, z)                                           \
    do {                                                                       \
        const struct msim_life *row_;                                          \
        REQUIRE((life) < (f)->lives.n);                                        \
        row_ = &(f)->lives.rows[life];                                         \
        CHECK_UINT(row_->born, (b) ? op_of((f), (b)) : MSIM_NONE);             \
        CHECK_UINT(row_->first, op_of((f), (a)));                              \
        CHECK_UINT(row_->last, op_of((f), (z)));                               \
    } while (0)

static void test_lives__id_is_used_again(void)
{
    struct made_et m = {0};
    struct found f;

    node(&m, 10, 0, 1, "1:4 2:4", "7:4");
    node(&m, 20, 0, 1, "7:4", "9:8");
    node(&m, 30, 0, 1, "9:8", "7:6"); /* 7 was freed */
    node(&m, 40, 0, 1, "7:6 9:8", "8:1");
    REQUIRE(find(&m, &f));
    CHECK_UINT(f.lives.n, 6);
    CHECK_LIFE(&f, in(&f, 10, 0), 0, 10, 10);
    CHECK_LIFE(&f, out(&f, 10, 0), 10, 10, 20);
    CHECK_LIFE(&f, in(&f, 20, 0), 10, 10, 20);
    CHECK_LIFE(&f, out(&f, 30, 0), 30, 30, 40);
    CHECK_LIFE(&f, in(&f, 40, 0), 30, 30, 40);
    CHECK_LIFE(&f, in(&f, 40, 1), 20, 20, 40);
    CHECK_UINT(f.lives.rows[out(&f, 10, 0)].bytes, 16);
    CHECK_UINT(f.lives.rows[out(&f, 30, 0)].bytes, 24);
    CHECK_INT(f.lives.rows[out(&f, 30, 0)].device, MSIM_DEV_CPU);
    done(&f);
}

static void test_lives__views_and_in_place(void)
{
    struct made_et m = {0};
    struct found f;

    node(&m, 10, 0, 1, "1:8", "7:8");
    node(&m, 20, 0, 1, "7:8", "7:4 7:4@4"); /* split */
    node(&m, 30, 0, 1, "7:4@4 1:8", "7:4@4");
    node(&m, 40, 0, 1, "1:8", "1:8@8"); /* of what was there before */
    REQUIRE(find(&m, &f));
    CHECK_UINT(f.lives.n, 2);
    CHECK_LIFE(&f, out(&f, 30, 0), 10, 10, 30);
    CHECK_UINT(out(&f, 20, 1), out(&f, 10, 0));
    CHECK_UINT(f.lives.rows[out(&f, 10, 0)].bytes, 32);
    CHECK_LIFE(&f, out(&f, 40, 0), 0, 10, 40);
    CHECK_UINT(f.lives.rows[out(&f, 40, 0)].bytes, 64);
    done(&f);
}

/* linear > addmm > empty: the innermost makes it, and all three name it. */
static void test_lives__a_child_makes_it(void)
{
    struct made_et m = {0};
    struct found f;

    node(&m, 10, 0, 1, "1:8", "7:8"); /* an earlier life of 7 */
    node(&m, 20, 0, 1, "1:8", "7:4");
    node(&m, 21, 20, 1, "1:8", "7:4");
    node(&m, 22, 21, 1, "", "7:4");
    node(&m, 23, 20, 1, "7:4", "7:4@0");
    REQUIRE(find(&m, &f));
    CHECK_UINT(f.lives.n, 3);
    CHECK_LIFE(&f, out(&f, 10, 0), 10, 10, 10);
    CHECK_LIFE(&f, out(&f, 20, 0), 22, 20, 23);
    CHECK_UINT(out(&f, 21, 0), out(&f, 22, 0));
    CHECK_UINT(out(&f, 23, 0), out(&f, 22, 0));
    done(&f);
}

/* A product whose result a child names before it comes out (resolve_conj): the
 * storage had another life before, or none. Both are over, or never were. */
static void test_lives__named_before_it_comes_out(void)
{
    struct made_et m = {0};
    struct found f;

    node(&m, 10, 0, 1, "1:8", "7:8");
    node(&m, 20, 0, 1, "1:8 2:8", "7:4");
    node(&m, 21, 20, 1, "7:4", "7:4");
    node(&m, 30, 0, 1, "1:8 7:4", "9:4");
    node(&m, 31, 30, 1, "9:4", "9:4");
    REQUIRE(find(&m, &f));
    CHECK_UINT(f.lives.n, 5);
    CHECK_LIFE(&f, out(&f, 10, 0), 10, 10, 10);
    CHECK_LIFE(&f, out(&f, 20, 0), 20, 20, 30);
    CHECK_UINT(in(&f, 21, 0), out(&f, 20, 0));
    CHECK_UINT(out(&f, 21, 0), out(&f, 20, 0));
    CHECK_LIFE(&f, out(&f, 30, 0), 30, 30, 31);
    CHECK_UINT(in(&f, 31, 0), out(&f, 30, 0));
    done(&f);
}

/* A child frees what it was given, and its id comes back as the result. */
static void test_lives__input_dies_inside(void)
{
    struct made_et m = {0};
    struct found f;

    node(&m, 20, 0, 1, "7:4", "7:4 7:2");
    node(&m, 21, 20, 1, "", "7:4");
    node(&m, 30, 0, 1, "7:4", "");
    REQUIRE(find(&m, &f));
    CHECK_UINT(f.lives.n, 2);
    CHECK_LIFE(&f, in(&f, 20, 0), 0, 20, 20);
    CHECK_LIFE(&f, out(&f, 20, 0), 21, 20, 30);
    CHECK_UINT(out(&f, 20, 1), out(&f, 20, 0));
    done(&f);
}

/* All empty tensors share a storage; one without sizes has an element. */
static void test_lives__tensors_without_elements(void)
{
    struct made_et m = {0};
    struct found f;

    node(&m, 10, 0, 1, "", "251:0");
    node(&m, 20, 0, 1, "251:0 5:1", "251:0 6:1");
    REQUIRE(find(&m, &f));
    CHECK_UINT(f.lives.n, 2);
    CHECK_UINT(out(&f, 10, 0), MSIM_NONE);
    CHECK_UINT(in(&f, 20, 0), MSIM_NONE);
    CHECK_LIFE(&f, in(&f, 20, 1), 0, 20, 20);
    CHECK_LIFE(&f, out(&f, 20, 1), 20, 20, 20);
    done(&f);
}

/* resize_ of an empty tensor, as `out=` variants do it, gives it memory. */
static void test_lives__resize(void)
{
    struct made_et m = {0};
    struct found f;

    node(&m, 10, 0, 1, "", "251:0");
    node(&m, 20, 0, 1, "251:0", "17:4");
    node(&m, 21, 20, 1, "251:0", "17:4");
    node(&m, 30, 0, 1, "17:4", "18:9"); /* to a bigger one */
    node(&m, 40, 0, 1, "17:4 18:9", "");
    REQUIRE(find(&m, &f));
    CHECK_UINT(f.lives.n, 2);
    CHECK_LIFE(&f, out(&f, 20, 0), 21, 20, 40);
    CHECK_LIFE(&f, out(&f, 30, 0), 30, 30, 40);
    done(&f);
}

/*
 * Node ids say what came first on any thread: thread 2 (backward) runs within
 * node 20 of thread 1 and makes 9 before 30 begins. Thread by thread, 30 would
 * meet a 9 of which nothing is known.
 */
static void test_lives__two_threads(void)
{
    struct made_et m = {0};
    struct found f;

    node(&m, 10, 0, 1, "", "7:4");
    node(&m, 20, 0, 1, "7:4", "");
    node(&m, 21, 20, 1, "", "8:4");
    node(&m, 22, 0, 2, "7:4 8:4", "9:4");
    node(&m, 23, 22, 2, "7:4", "9:4");
    node(&m, 24, 20, 1, "", "5:4");
    node(&m, 25, 0, 2, "5:4", "7:4"); /* 7 again, while 20 goes on */
    node(&m, 30, 0, 1, "9:4 7:4", "");
    REQUIRE(find(&m, &f));
    CHECK_UINT(f.t->n_threads, 2);
    CHECK_UINT(f.lives.n, 5);
    CHECK_LIFE(&f, in(&f, 30, 0), 23, 22, 30);
    CHECK_LIFE(&f, in(&f, 22, 0), 10, 10, 23);
    CHECK_LIFE(&f, in(&f, 22, 1), 21, 21, 22);
    CHECK_LIFE(&f, in(&f, 25, 0), 24, 24, 25);
    CHECK_LIFE(&f, in(&f, 30, 1), 25, 25, 30);
    done(&f);
}

/* Thousands of tensors in place, twice: linear, or this takes minutes. */
static void test_lives__lists_of_thousands(void)
{
    enum { N = 4000 };
    char *list = malloc((size_t)N * 16);
    struct made_et m = {0};
    struct found f;
    size_t len = 0;

    REQUIRE(list != NULL);
    for (int i = 0; i < N; i++)
        len += (size_t)snprintf(list + len, 16, "%d:2 ", 10 + i);
    for (unsigned i = 0; i < 20; i++)
        node(&m, 10 + i, 0, 1, list, list);
    free(list);
    REQUIRE(find(&m, &f));
    CHECK_UINT(f.lives.n, N);
    for (uint32_t i = 0; i < N; i++)
        CHECK_LIFE(&f, out(&f, 10, i), 0, 10, 29);
    done(&f);
}

/* Strides say where a tensor ends: 2 x 3 elements, 10 apart, and a row of 5
 * that is expanded. */
static void test_lives__bytes_by_strides(void)
{
    static const char text[] =
        "{\"schema\":\"1.1.1\",\"nodes\":[{\"id\":3,\"name\":\"op\","
        "\"ctrl_deps\":2,\"inputs\":{\"values\":[[5,6,1,6,4,\"cpu\"],[7,8,0,35,"
        "8,\"cuda:0\"],[9,10,3,6,4,\"cpu\"]],\"shapes\":[[2,3],[7,5],[2,3]],"
        "\"types\":[\"Tensor(float)\",\"Tensor(long int)\",\"Tensor(float)\"],"
        "\"strides\":[[10,1],[0,1]]},\"attrs\":[{\"name\":\"tid\",\"value\":1}]"
        "}]}";
    struct msim_load_options opt = {.salvage = true, .details = true};
    struct msim_lives l;
    struct msim_error err;
    struct msim_job *job = load_text_as(text, opt, &err);

    REQUIRE(job);
    REQUIRE(msim_lives_find(&l, job->ranks[0]) == MSIM_OK && l.n == 3);
    CHECK_UINT(l.rows[0].bytes, (1 + 10 + 2 + 1) * 4);
    CHECK_UINT(l.rows[1].bytes, 5 * 8);
    CHECK_INT(l.rows[1].device, MSIM_DEV_GPU);
    CHECK_UINT(l.rows[2].bytes, (3 + 6) * 4); /* strides unknown */
    msim_lives_release(&l);
    msim_job_free(job);
}

/*
 * Without strides a view with gaps says how large its memory is where nothing
 * else does: 3 rows of a bias of 5 are the bias; 2 x 3 elements, 10 apart, are
 * all that is known of theirs until the 12 are named, a part of which they are.
 */
static void test_lives__bytes_of_views_with_gaps(void)
{
    static const char text[] =
        "{\"schema\":\"1.1.1\",\"nodes\":["
        "{\"id\":3,\"name\":\"op\",\"ctrl_deps\":2,"
        "\"inputs\":{\"values\":[[5,6,0,5,8,\"cpu\"],[7,8,1,6,4,\"cpu\"],"
        "[9,10,2,6,4,\"cpu\"]],\"shapes\":[[5],[2,3],[2,3]],"
        "\"types\":[\"Tensor(long int)\",\"Tensor(float)\",\"Tensor(float)\"]"
        ",\"strides\":[[1],[10,1],[10,1]]},"
        "\"outputs\":{\"values\":[[11,6,0,15,8,\"cpu\"]],\"shapes\":[[3,5]],"
        "\"types\":[\"Tensor(long int)\"],\"strides\":[[0,1]]},"
        "\"attrs\":[{\"name\":\"tid\",\"value\":1}]},"
        "{\"id\":4,\"name\":\"op\",\"ctrl_deps\":2,"
        "\"inputs\":{\"values\":[[12,10,0,12,4,\"cpu\"]],\"shapes\":[[12]],"
        "\"types\":[\"Tensor(float)\"],\"strides\":[[1]]},"
        "\"attrs\":[{\"name\":\"tid\",\"value\":1}]}]}";
    struct msim_lives l;
    struct msim_error err;
    struct msim_job *job = load_text(text, true, &err);

    REQUIRE(job);
    REQUIRE(msim_lives_find(&l, job->ranks[0]) == MSIM_OK && l.n == 3);
    CHECK_UINT(l.rows[0].bytes, 5 * 8);
    CHECK_UINT(l.rows[1].bytes, (1 + 6) * 4);
    CHECK_UINT(l.rows[2].bytes, 12 * 4);
    CHECK(!l.rows[0].guessed && l.rows[1].guessed && !l.rows[2].guessed);
    msim_lives_release(&l);
    msim_job_free(job);
}

/* Memory that a gather fills begins there, and with the pieces into which it is
 * cut before; what was read before was there, and so was what is sent: the
 * smaller of both. */
static void test_lives__filled_by_a_gather(void)
{
    static const struct {
        const char *name, *in, *out;
        unsigned born;
    } FIRST[] = {{"aten::chunk", "9:8", "9:4 9:4@4", 10},
                 {"aten::add_", "9:8 1:8", "9:8", 0},
                 {"aten::mul_", "9:8", "9:8", 0},
                 {"aten::mm", "9:8 1:8", "3:8", 0},
                 {"aten::mm", "9:8", "3:8 9:8", 0}};

    for (size_t i = 0; i < sizeof(FIRST) / sizeof(*FIRST); i++) {
        struct made_et m = {0};
        struct found f;

        named(&m, 10, 0, 1, FIRST[i].name, FIRST[i].in, FIRST[i].out);
        named(&m, 20, 0, 1, "c10d::allgather_", "9:4 9:4@4 5:4", "9:4");
        named(&m, 30, 0, 1, "aten::mm", "9:8 1:8", "2:8");
        named(&m, 40, 0, 1, "c10d::_allgather_base_", "9:8 5:4", "9:8");
        REQUIRE(find(&m, &f));
        CHECK_LIFE(&f, in(&f, 20, 0), FIRST[i].born, 10, 40);
        CHECK_LIFE(&f, in(&f, 20, 2), 0, 20, 40);
        done(&f);
    }
    for (int alike = 0; alike < 2; alike++) {
        unsigned born = alike ? 0 : 10;
        struct made_et m = {0};
        struct found f;

        named(&m, 10, 0, 1, "c10d::_allgather_base_",
              alike ? "5:8 9:8" : "5:3 9:8", "");
        REQUIRE(find(&m, &f));
        CHECK_LIFE(&f, in(&f, 10, 0), 0, 10, 10);
        CHECK_LIFE(&f, in(&f, 10, 1), born, 10, 10);
        done(&f);
    }
}

static void test_lives__nothing(void)
{
    struct msim_trace t = {0};
    struct msim_lives l;

    REQUIRE(msim_lives_find(&l, &t) == MSIM_OK);
    CHECK_UINT(l.n, 0);
    msim_lives_release(&l);
}

/* ---- real traces -------------------------------------------------------- */

struct totals {
    uint64_t files, tensors, lives;
};

/* A tensor of a real trace: its life holds it. */
static bool held(const struct msim_trace *t, const struct msim_lives *l,
                 uint32_t id, const struct msim_arg *a)
{
    uint64_t elems = msim_arg_elems(t, a), most = 1;
    uint32_t at = t->tensor_strides[id];

    if (elems == 0)
        return l->of[id] == MSIM_NONE;
    for (uint32_t i = 0; i < a->n && at != MSIM_NONE; i++)
        most += (uint64_t)((msim_arg_dims(t, a)[i] - 1) * t->dims[at + i]);
    most = at == MSIM_NONE ? elems : most;
    return l->of[id] < l->n && l->rows[l->of[id]].bytes >=
                                   (most + (uint64_t)t->tensor_ids[id].offset) *
                                       msim_dtype_bytes(a->dtype);
}

static bool block_held(const struct msim_trace *t, const struct msim_lives *l,
                       uint32_t block, uint32_t id, struct totals *sum)
{
    for (uint32_t i = 0; block != MSIM_NONE && i < t->blocks[block].count;
         i++) {
        const struct msim_arg *a = &t->args[t->blocks[block].first + i];

        if (a->kind != MSIM_ARG_TENSOR)
            continue;
        sum->tensors++;
        if (!held(t, l, id++, a))
            return false;
    }
    return true;
}

/* A life is born within its first and last, in order of entry. */
static bool in_order(const struct msim_trace *t, const struct msim_life *x)
{
    uint32_t first = t->ops[x->first].et_id, last = t->ops[x->last].et_id;

    return first <= last &&
           (x->born == MSIM_NONE ||
            (t->ops[x->born].et_id >= first && t->ops[x->born].et_id <= last));
}

static void check_law(const struct msim_trace *t, const char *path,
                      struct totals *sum)
{
    struct msim_lives l;
    bool good = true;

    REQUIRE(msim_lives_find(&l, t) == MSIM_OK);
    for (uint32_t i = 0; i < t->n_ops; i++)
        good &= block_held(t, &l, t->ops[i].args, t->ops[i].ids, sum) &&
                block_held(t, &l, t->ops[i].outs, t->ops[i].out_ids, sum);
    for (uint32_t i = 0; i < l.n; i++)
        good &= in_order(t, &l.rows[i]);
    if (!CHECK(good))
        fprintf(stderr, "%s\n", path);
    sum->files++;
    sum->lives += l.n;
    msim_lives_release(&l);
}

static void check_folder(const char *folder, struct totals *sum)
{
    struct msim_load_options opt = {.threads = 1, .details = true};
    struct msim_job_files files = {0};
    struct msim_error err = {0};

    REQUIRE(msim_job_files_find(&files, &folder, 1, &err) == MSIM_OK);
    for (uint32_t i = 0; i < files.n; i++) {
        const char *path = files.all[i].path;
        struct msim_job *job;

        if (!msim_job_looks_like_trace(path) ||
            (!strstr(path, "/et/") && !strstr(path, "/et-only/")))
            continue;
        REQUIRE(msim_job_load(&job, &path, 1, &opt, &err) == MSIM_OK);
        check_law(job->ranks[0], path, sum);
        msim_job_free(job);
    }
    msim_job_files_release(&files);
}

static void test_lives__hold_every_tensor(void)
{
    struct totals sum = {0};

    check_folder(MSIM_DATA "/traces", &sum);
    if (MSIM_TRACES[0])
        check_folder(MSIM_TRACES "/traces", &sum);
    printf("%" PRIu64 " files, %" PRIu64 " tensors, %" PRIu64 " lives\n",
           sum.files, sum.tensors, sum.lives);
    CHECK(sum.files >= 8 && sum.lives > (MSIM_TRACES[0] ? 10000 : 3000));
}

int main(void)
{
    RUN(test_lives__id_is_used_again);
    RUN(test_lives__views_and_in_place);
    RUN(test_lives__a_child_makes_it);
    RUN(test_lives__named_before_it_comes_out);
    RUN(test_lives__input_dies_inside);
    RUN(test_lives__tensors_without_elements);
    RUN(test_lives__resize);
    RUN(test_lives__two_threads);
    RUN(test_lives__lists_of_thousands);
    RUN(test_lives__bytes_by_strides);
    RUN(test_lives__bytes_of_views_with_gaps);
    RUN(test_lives__filled_by_a_gather);
    RUN(test_lives__nothing);
    RUN(test_lives__hold_every_tensor);
    return check_summary();
}
