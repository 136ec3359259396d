/*
 * tests/unit/core/read/et/test_et_comms.c - collectives of an execution trace
 * by their arguments and attributes, and ranges of tensors.
 */
#include "core/read/et/read_et.h"
#include "tests/check.h"

#include <stdlib.h>

#define MOST 24

struct made {
    struct msim_reader r;
    struct msim_read_result out;
    struct msim_et e;
    struct msim_trace *t;
    struct msim_op op;
    uint32_t comm;
};

static struct made made;
static const struct msim_et_size IN = {7, MSIM_DT_F32}, OUT = {9, MSIM_DT_F16};

static void make(void)
{
    struct made *m = &made;

    memset(m, 0, sizeof(*m));
    m->t = calloc(1, sizeof(*m->t));
    if (!CHECK(m->t != NULL))
        abort();
    CHECK_INT(msim_strtab_new(&m->r.strings), MSIM_OK);
    m->t->strings = m->r.strings;
    m->t->args = calloc(MOST, sizeof(*m->t->args));
    m->t->blocks = calloc(1, sizeof(*m->t->blocks));
    if (!CHECK(m->t->args && m->t->blocks))
        abort();
    m->r.out = &m->out;
    m->r.trace = m->t;
    m->r.state = &m->e;
    m->out.rank = -1;
    m->op = msim_op_empty();
    m->op.args = 0;
}

static void release(void)
{
    msim_trace_free(made.t);
    msim_idmap_release(&made.r.group_names);
    msim_strtab_free(made.r.strings);
    free(made.e.text.data);
    free(made.e.inputs.data);
}

static struct msim_arg *add(uint8_t kind, uint32_t n, int64_t v)
{
    struct msim_arg *a = &made.t->args[made.t->blocks[0].count++];

    *a = (struct msim_arg){.kind = kind, .n = n, .v.i = v};
    return a;
}

static void add_int(int64_t v)
{
    add(MSIM_ARG_INT, 0, v);
}

static void add_text(const char *text)
{
    uint32_t id = 0;

    CHECK_INT(msim_read_string(&made.r, text, strlen(text), &id), 0);
    add(MSIM_ARG_STR, 0, id);
}

/* A list of `n` numbers from `first` on. */
static void add_list(uint32_t n, int64_t first)
{
    add(MSIM_ARG_LIST, n, n);
    for (uint32_t i = 0; i < n; i++)
        add_int(first + i);
}

static const struct msim_comm *comm(void)
{
    CHECK_INT(msim_et_add_comm(&made.r, &made.op, &IN, &OUT, &made.comm),
              MSIM_OK);
    return &made.t->comms[made.comm];
}

static void check_group(const struct msim_comm *c, const char *name,
                        uint32_t size)
{
    CHECK_INT(c->group != MSIM_NONE, name != NULL);
    if (c->group == MSIM_NONE || !name)
        return;
    CHECK_STR(msim_trace_text(made.t, made.t->groups[c->group].name), name);
    CHECK_UINT(made.t->groups[c->group].size, size);
}

/* ---- arguments ----------------------------------------------------------- */

/* [tensors, seq, group, rank, "name", in_splits, out_splits, world] */
static void add_1_0_1(const char *name, int64_t rank)
{
    add(MSIM_ARG_TENSOR, 0, 0);
    add_int(41);
    add_int(94000);
    add_int(rank);
    add_text(name);
    add_list(0, 0);
    add_list(0, 0);
    add_int(8);
}

static void test_et_comms__1_0_1(void)
{
    const struct msim_comm *c;

    make();
    add_1_0_1("allreduce", 3);
    c = comm();
    CHECK_UINT(made.comm, 0);
    CHECK_INT(c->collective, MSIM_COLL_ALL_REDUCE);
    CHECK_INT(c->sequence, 41);
    CHECK_INT(c->peer, -1); /* its own place */
    CHECK(!c->by_place);
    CHECK_UINT(c->op, MSIM_NONE);
    CHECK_UINT(c->in_elems, 7);
    CHECK_UINT(c->out_elems, 9);
    CHECK_INT(c->dtype, MSIM_DT_F32);
    check_group(c, "94000", 8);
    CHECK_INT(made.out.rank, -1); /* nobody says where places lie */
    c = comm();
    CHECK_UINT(made.comm, 1);
    release();
}

static void check_peer(const char *name, int64_t rank, int32_t want)
{
    const struct msim_comm *c;

    make();
    add_1_0_1(name, rank);
    c = comm();
    CHECK_INT(c->peer, want);
    CHECK_INT(c->by_place, want >= 0);
    release();
}

/* Of what has a root or another end, it is that. */
static void test_et_comms__peers(void)
{
    check_peer("broadcast", 3, 3);
    check_peer("reduce", 0, 0);
    check_peer("gather", 3, 3);
    check_peer("scatter", 3, 3);
    check_peer("send", 3, 3);
    check_peer("recv", 2147483647, 2147483647);
    check_peer("recv", 2147483648, -1);
    check_peer("recv", -1, -1);
    check_peer("allreduce", 3, -1);
    check_peer("all_gather", 3, -1);
    check_peer("barrier", 3, -1);
}

/* [tensors, [seq, p2p], ["0", "default_pg"], rank, "name", in_splits,
 * out_splits, start, stride, world] */
static void test_et_comms__1_0_3(void)
{
    const struct msim_comm *c;

    make();
    add_list(1, 0); /* tensors */
    made.t->args[0].n = 1;
    add_list(2, 17);
    add(MSIM_ARG_LIST, 2, 2);
    add_text("5");
    add_text("default_pg");
    add_int(2);
    add_text("allreduce");
    add_list(0, 0);
    add_list(0, 0);
    add_int(4);
    add_int(8);
    add_int(16);
    c = comm();
    CHECK_INT(c->collective, MSIM_COLL_ALL_REDUCE);
    CHECK_INT(c->sequence, 17);
    check_group(c, "5", 16);
    CHECK_INT(made.out.rank, 4 + 2 * 8); /* from 4 on, each eighth */
    release();
}

/* The rank follows from a place in a group that is known, and no root. */
static void check_rank(const char *name, int64_t place, int64_t start,
                       int64_t stride, int64_t size, int64_t want)
{
    make();
    add(MSIM_ARG_TENSOR, 0, 0);
    add_int(1);
    add_int(5);
    add_int(place);
    add_text(name);
    add_list(0, 0);
    add_list(0, 0);
    add_int(start);
    add_int(stride);
    add_int(size);
    (void)comm();
    CHECK_INT(made.out.rank, want);
    made.out.rank = 77; /* one that is known stays */
    (void)comm();
    CHECK_INT(made.out.rank, 77);
    release();
}

static void test_et_comms__rank(void)
{
    check_rank("allreduce", 1, 4, 8, 2, 12);
    check_rank("allreduce", 0, 0, 1, 2, 0);
    check_rank("allreduce", 2, 4, 8, 2, -1);
    check_rank("allreduce", -1, 4, 8, 2, -1);
    check_rank("allreduce", 0, 4, 8, 1, -1);
    check_rank("allreduce", 1, -1, 8, 2, -1);
    check_rank("allreduce", 1, 4, 0, 2, -1);
    check_rank("allreduce", 1, 2147483647, 1, 2, 2147483648);
    check_rank("allreduce", 1, 2147483648, 1, 2, -1);
    check_rank("allreduce", 1, 0, 2147483647, 2, 2147483647);
    check_rank("allreduce", 1, 0, 2147483648, 2, -1);
    check_rank("broadcast", 1, 4, 8, 2, -1);
    check_rank("wait", 1, 4, 8, 2, -1);
}

/* A wait has no tensors, and may have no group: 0. */
static void test_et_comms__wait(void)
{
    const struct msim_comm *c;

    make();
    add_int(0);
    add_int(2);
    add_text("wait");
    c = comm();
    CHECK_INT(c->collective, MSIM_COLL_WAIT);
    CHECK_INT(c->sequence, -1);
    check_group(c, NULL, 0);
    release();
    make(); /* nothing at all */
    c = comm();
    CHECK_INT(c->collective, MSIM_COLL_UNKNOWN);
    CHECK_INT(c->sequence, -1);
    CHECK_INT(c->peer, -1);
    check_group(c, NULL, 0);
    release();
}

/* Without a world as many as there are split sizes, of either side. */
static void check_splits(uint32_t in, uint32_t out, uint32_t want)
{
    make();
    add_int(1);
    add_int(5);
    add_int(0);
    add_text("all_to_all");
    add_list(in, 100);
    add_list(out, 100);
    check_group(comm(), "5", want);
    release();
}

static void test_et_comms__splits(void)
{
    check_splits(4, 2, 4);
    check_splits(0, 2, 2);
    check_splits(0, 0, 0);
}

/* ---- attributes ---------------------------------------------------------- */

static void attr(const char *name, const char *value)
{
    CHECK_INT(
        msim_et_comm_attr(&made.r, name, strlen(name), value, strlen(value)),
        0);
}

/* They win over arguments. */
static void test_et_comms__attributes(void)
{
    const struct msim_comm *c;

    make();
    add_1_0_1("allreduce", 3);
    attr("collective_name", "broadcast");
    attr("dtype", "BFloat16");
    attr("in_msg_nelems", "70");
    attr("out_msg_nelems", "90");
    attr("pg_size", "4");
    attr("pg_name", "mine");
    CHECK(made.e.node.comm.seen);
    c = comm();
    CHECK_INT(c->collective, MSIM_COLL_BROADCAST);
    CHECK_UINT(c->in_elems, 70);
    CHECK_UINT(c->out_elems, 90);
    CHECK_INT(c->dtype, MSIM_DT_F32); /* the tensor's own */
    CHECK_INT(c->peer, 3);
    check_group(c, "mine", 4);
    release();
}

/* What is no number, or below 0, says nothing, nor does a part of a name. */
static void test_et_comms__no_attributes(void)
{
    const struct msim_comm *c;
    struct msim_et_size none = {0};

    make();
    add_1_0_1("allreduce", 3);
    attr("in_msg_nelems", "x");
    attr("out_msg_nelems", "-1");
    attr("pg_size", "1.5");
    attr("pg_name", "");
    attr("collective_nam", "broadcast");
    attr("collective_names", "broadcast");
    attr("dtype", "BFloat16");
    CHECK(!made.e.node.comm.seen);
    CHECK_INT(msim_et_add_comm(&made.r, &made.op, &none, &none, &made.comm),
              MSIM_OK);
    c = &made.t->comms[made.comm];
    CHECK_INT(c->collective, MSIM_COLL_ALL_REDUCE);
    CHECK_UINT(c->in_elems, 0);
    CHECK_UINT(c->out_elems, 0);
    CHECK_INT(c->dtype, MSIM_DT_BF16);
    check_group(c, "94000", 8);
    CHECK_INT(msim_et_add_comm(&made.r, &made.op, &none, &OUT, &made.comm),
              MSIM_OK);
    CHECK_INT(made.t->comms[made.comm].dtype, MSIM_DT_F16);
    release();
}

/* The first size of a group stays; 0 is of a number that fits. */
static void test_et_comms__sizes(void)
{
    make();
    add_1_0_1("allreduce", 3);
    attr("pg_size", "0");
    check_group(comm(), "94000", 0);
    attr("pg_size", "6");
    check_group(comm(), "94000", 6);
    attr("pg_size", "7");
    check_group(comm(), "94000", 6);
    release();
    make();
    add_1_0_1("allreduce", 3);
    attr("pg_size", "4294967295");
    check_group(comm(), "94000", 0);
    release();
}

/* ---- ranges -------------------------------------------------------------- */

/* Three inputs, 10 and 12 in tensor_ids and one between that is undefined; what
 * is found is "id:low..high" each. */
static void check_ranges(const char *text, const char *want)
{
    char got[200] = "";
    size_t used = 0;

    make();
    for (uint32_t i = 0; i < 3; i++) {
        struct msim_et_input *in = msim_vec_add(&made.e.inputs, sizeof(*in));

        REQUIRE(in != NULL);
        *in = (struct msim_et_input){.id = i == 1 ? MSIM_NONE : 10 + i};
    }
    REQUIRE(msim_vec_text(&made.e.text, text, strlen(text),
                          &made.e.node.ranges) == MSIM_OK);
    CHECK_INT(msim_et_ranges(&made.r), MSIM_OK);
    for (uint32_t i = 0; i < made.t->n_ranges; i++) {
        const struct msim_tensor_range *r = &made.t->ranges[i];

        used += (size_t)snprintf(got + used, sizeof(got) - used,
                                 "%s%u:%lld..%lld", i ? " " : "", r->id,
                                 (long long)r->low, (long long)r->high);
    }
    CHECK_STR(got, want);
    release();
}

static void test_et_ranges__read(void)
{
    check_ranges("{\"0\":[1,7],\"2\":[0,3]}", "10:1..7 12:0..3");
    check_ranges(" { \"2\" : [ -5 , 3 ] , \"0\" : [ 4,4 ] } ",
                 "10:4..4 12:-5..3");
    check_ranges("{\"1\":[1,7]}", "");
    check_ranges("{\"3\":[1,7],\"-1\":[1,7],\"2\":[1,2]}", "12:1..2");
    check_ranges("{\"0\":[7,1],\"2\":[1,2]}", "12:1..2");
    check_ranges("{\"0\":[1,2.5],\"2\":[1,2]}", "12:1..2");
    check_ranges("{\"0\":[nan,2],\"2\":[1,2]}", "12:1..2");
    check_ranges("{\"x\":[1,2],\"2\":[1,2]}", "12:1..2");
    check_ranges("{\"0\":[1,2],\"0\":[3,4]}", "10:3..4");
}

/* Text that is none of this ends the list. */
static void test_et_ranges__ends(void)
{
    check_ranges("", "");
    check_ranges("[]", "");
    check_ranges("{}", "");
    check_ranges("{\"0\":[1,2]", "10:1..2");
    check_ranges("{\"0\":[1,2", "");
    check_ranges("{\"0\":[1", "");
    check_ranges("{\"0\":1,2}", "");
    check_ranges("{\"0\"[1,2]}", "");
    check_ranges("{0:[1,2]}", "");
    check_ranges("{\"0\":[1,2] \"2\":[1,2]}", "10:1..2");
    check_ranges("{\"0\":[1,2],x,\"2\":[1,2]}", "10:1..2");
}

int main(void)
{
    RUN(test_et_comms__1_0_1);
    RUN(test_et_comms__peers);
    RUN(test_et_comms__1_0_3);
    RUN(test_et_comms__rank);
    RUN(test_et_comms__wait);
    RUN(test_et_comms__splits);
    RUN(test_et_comms__attributes);
    RUN(test_et_comms__no_attributes);
    RUN(test_et_comms__sizes);
    RUN(test_et_ranges__read);
    RUN(test_et_ranges__ends);
    return check_summary();
}
