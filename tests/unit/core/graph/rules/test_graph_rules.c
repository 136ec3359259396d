/*
 * tests/unit/core/graph/rules/test_graph_rules.c - every rule, left out.
 *
 * Every rule has a made-up trace that it moves: leaving it out changes what is
 * simulated. One table, and no rule may be missing from it.
 *
 * Times are microseconds. Latencies that a trace does not show are 5 from a
 * launch to its kernel and 1 between kernels of a stream; a latency that it
 * shows is kept. A thread does not wait for what it launches.
 */
#include "tests/unit/made_job.h"

/* A what-if, and the end of all with the rule and without it. */
struct outcome {
    const char *scale;
    int with, without;
};

struct rule {
    int edge, share; /* one of them is -1 */
    uint32_t ranks;
    void (*make)(struct made *ranks);
    struct outcome outcomes[6]; /* the last has no scale */
};

/* Two operators in a row; without their order both begin at 0. */
static void make_program(struct made *m)
{
    made_op(m, 1, "first", 0, 10);
    made_op(m, 1, "second", 10, 20);
}

/* 20 on the host, 5 of latency, 50 of kernel; the host itself ends at 30. */
static void make_launch(struct made *m)
{
    made_op(m, 1, "aten::mm", 0, 30);
    made_call(m, 1, "cudaLaunchKernel", 20, 2, 1);
    made_kernel(m, 7, "k", 25, 50, 1);
}

/* k2 waits in its stream: it starts 1 after k1, not 5 after its launch. */
static void make_stream(struct made *m)
{
    made_op(m, 1, "aten::mm", 0, 30);
    made_call(m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(m, 1, "cudaLaunchKernel", 20, 2, 2);
    made_kernel(m, 7, "k1", 15, 100, 1);
    made_kernel(m, 7, "k2", 116, 50, 2);
}

/*
 * 1,024 launches of 2 fill the queue. The 1,025th, at 2048, finds no room until
 * the first kernel ends at 3005, takes its 2, and 5000 of host work follow.
 */
static void make_queue(struct made *m)
{
    made_op(m, 1, "loop", 0, 8007);
    for (int i = 0; i <= 1024; i++) {
        bool blocked = i == 1024;

        made_call(m, 1, "cudaLaunchKernel", 2 * i, blocked ? 959 : 2, i + 1);
        if (i == 0)
            made_kernel(m, 7, "long", 5, 3000, 1);
        else
            made_kernel(m, 7, "short", 3004 + i, 1, i + 1);
    }
}

/* k2, on another stream, starts 2 after k1 ends: nothing else explains it. */
static void make_event(struct made *m)
{
    made_op(m, 1, "aten::mm", 0, 30);
    made_call(m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(m, 1, "cudaLaunchKernel", 20, 2, 2);
    made_kernel(m, 7, "k1", 15, 1000, 1);
    made_kernel(m, 20, "k2", 1017, 50, 2);
}

/*
 * The input of a collective has been there since 25 when the collective is
 * launched; ten times as long a kernel ends at 115, and it begins then.
 */
static void make_input(struct made *m)
{
    struct made_comm c = {"allreduce", "0", "0, 1", 2, 100, -1, -1, -1};

    made_op(m, 1, "aten::mm", 0, 50);
    made_call(m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(m, 1, "cudaLaunchKernel", 40, 2, 2);
    made_kernel(m, 7, "input", 15, 10, 1);
    made_nccl(m, 20, c, 45, 100, 2);
}

/*
 * A call from 12 to 117 waits for a kernel from 15 to 115: 2 of it are work,
 * and 50 of host work follow.
 */
static void make_wait(struct made *m, const char *call)
{
    made_op(m, 1, "aten::mm", 0, 167);
    made_call(m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(m, 1, call, 12, 105, 2);
    made_kernel(m, 7, "k", 15, 100, 1);
}

#define OF_A_WAIT                                                              \
    {                                                                          \
        {"", 167, 115}, {"kernels=2", 267, 215},                               \
            {"kernels=0", 64, 64},    /* 12 + 2 + 50 */                        \
            {"kernels=0.01", 68, 64}, /* 15 + 1 + 2 + 50 */                    \
            {"host=2", 229, 128},     /* 25 + 100 + 4 + 100; 24 + 4 + 100 */   \
    }

static void make_device_sync(struct made *m)
{
    make_wait(m, "cudaDeviceSynchronize");
}

static void make_stream_sync(struct made *m)
{
    make_wait(m, "cudaStreamSynchronize");
}

static void make_event_sync(struct made *m)
{
    make_wait(m, "cudaEventSynchronize");
}

static void make_hidden_sync(struct made *m)
{
    make_wait(m, "cudaFree");
}

/* The call returns 5 after its copy to pageable memory; 50 of host follow. */
static void make_copy_sync(struct made *m)
{
    made_op(m, 1, "aten::copy_", 0, 155);
    made_call(m, 1, "cudaMemcpyAsync", 10, 95, 1);
    made_copy(m, 7, "DtoH (Device -> Pageable)", 15, 85, 1, 4096);
}

/*
 * Thread 1 hands over at 100 (thread 2 goes on at 110) and is idle until 10
 * after thread 2 is done at 290. Without the rule both begin at once: thread 1
 * takes 100 + 10 + 50, thread 2 takes 10 + 180.
 */
static void make_handover(struct made *m)
{
    made_op(m, 1, "forward", 0, 100);
    made_op(m, 1, "step", 300, 50);
    made_op(m, 2, "backward", 110, 180);
}

/*
 * Batches of worker processes come at 3000 and 10000: 7000 apart whatever the
 * training of 5000 takes. Without the rule nobody waits for them.
 */
static void make_loader(struct made *m)
{
    const char *fetch = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter"
                        ".__next__";

    made_op(m, 1, fetch, 0, 3000);
    made_op(m, 1, "train", 3000, 5000);
    made_op(m, 1, fetch, 8000, 2000);
    made_op(m, 1, "train", 10000, 5000);
}

/* Rank 1 begins when 100 of rank 0's 110 are over, and takes 90. */
static void make_begin(struct made *m)
{
    made_op(&m[0], 1, "first", 0, 100);
    made_op(&m[0], 1, "rest", 100, 10);
    made_op(&m[1], 1, "late", 100, 90);
}

/*
 * k2 begins 475 after k1 has ended, where 1 is usual, and nothing says why. It
 * stays as long after k1, whenever that ends; work that is gone waits for
 * nothing.
 */
static void make_unexplained(struct made *m)
{
    made_op(m, 1, "aten::mm", 0, 30);
    made_call(m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(m, 1, "cudaLaunchKernel", 14, 2, 2);
    made_kernel(m, 7, "k1", 15, 10, 1);
    made_kernel(m, 7, "k2", 500, 50, 2);
}

/*
 * Rank 0 arrives at 15, rank 1 at 75, both are done at 115: 40 are the
 * transfer. Rank 0 then takes 2 to synchronise and 100 of host work.
 */
static void make_meeting(struct made *m, struct made_comm first,
                         struct made_comm second)
{
    made_op(&m[0], 1, "early", 0, 217);
    made_call(&m[0], 1, "cudaLaunchKernel", 10, 2, 1);
    made_nccl(&m[0], 20, first, 15, 100, 1);
    made_call(&m[0], 1, "cudaDeviceSynchronize", 12, 105, 2);
    made_op(&m[1], 1, "late", 0, 90);
    made_call(&m[1], 1, "cudaLaunchKernel", 70, 2, 1);
    made_nccl(&m[1], 20, second, 75, 40, 1);
}

#define OF_A_MEETING                                                           \
    {                                                                          \
        {"", 217, 157},                    /* 15 + 40 + 2 + 100 */             \
            {"communication=2", 257, 197}, /* 75 + 80 + 102 */                 \
            {"communication=0", 114, 114}, /* 12 + 2 + 100 */                  \
            {"host:late=2", 287, 185},     /* 145 + 40 + 102; 145 + 40 */      \
            {"host=2", 389, 269},          /* 145 + 40 + 204; 25 + 40 + 204 */ \
    }

static void make_collective(struct made *m)
{
    struct made_comm c = {"allreduce", "0", "0, 1", 2, 100, -1, -1, -1};

    make_meeting(m, c, c);
}

static void make_pair(struct made *m)
{
    struct made_comm recv = {"recv", "0", "0, 1", 2, 100, -1, 1, -1};
    struct made_comm send = {"send", "0", "0, 1", 2, 100, -1, -1, 0};

    make_meeting(m, recv, send);
}

/*
 * 10 SMs hold 20 blocks of 1,024 threads, so 80 run in 4 waves: the last of a
 * kernel from 15 to 1015 begins at 765, and lets another stream's kernel in.
 */
static void make_full(struct made *m)
{
    m->sms = 10;
    made_op(m, 1, "aten::mm", 0, 30);
    made_call(m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(m, 1, "cudaLaunchKernel", 20, 2, 2);
    made_grid(m, 7, "big", 15, 1000, 1, 80);
    made_grid(m, 20, "small", 765, 500, 2, 1);
}

/* Copies of 100 launched at 10 and 150: twice as long, they meet, and there
 * is one engine in each direction. */
static void make_engine(struct made *m)
{
    made_op(m, 1, "aten::copy_", 0, 160);
    made_call(m, 1, "cudaMemcpyAsync", 10, 2, 1);
    made_call(m, 1, "cudaMemcpyAsync", 150, 2, 2);
    made_copy(m, 20, "HtoD (Pinned -> Device)", 15, 100, 1, 4096);
    made_copy(m, 24, "HtoD (Pinned -> Device)", 155, 100, 2, 4096);
}

/*
 * Three times: a copy each way alone in 100, then both at once in 200. So each
 * has half its rate beside the other, and the last upload, from 2415, takes
 * 100 where nothing is downloaded.
 */
static void make_link(struct made *m)
{
    const char *up = "HtoD (Pinned -> Device)", *down = "DtoH (Device -> "
                                                        "Pinned)";

    for (int i = 0; i < 3; i++) {
        int at = 1000 * i, c = 4 * i;

        made_op(m, 1, "upload", at, 200);
        made_call(m, 1, "cudaMemcpyAsync", at + 10, 2, c + 1);
        made_copy(m, 20, up, at + 15, 100, c + 1, 1 << 20);
        made_op(m, 1, "download", at + 200, 200);
        made_call(m, 1, "cudaMemcpyAsync", at + 210, 2, c + 2);
        made_copy(m, 24, down, at + 215, 100, c + 2, 1 << 20);
        made_op(m, 1, "upload", at + 400, 10);
        made_call(m, 1, "cudaMemcpyAsync", at + 407, 2, c + 3);
        made_copy(m, 20, up, at + 415, 200, c + 3, 1 << 20);
        made_op(m, 1, "download", at + 410, i < 2 ? 590 : 10);
        made_call(m, 1, "cudaMemcpyAsync", at + 410, 2, c + 4);
        made_copy(m, 24, down, at + 415, 200, c + 4, 1 << 20);
    }
}

/*
 * Two groups' collectives run together from 25 to 215 of 15..215 and 25..225:
 * each has done 10 + 190 / 2 = 105 of work, which is what it takes alone.
 */
static void make_interconnect(struct made *m)
{
    struct made_comm a = {"allreduce", "a", "0, 1", 2, 100, -1, -1, -1};
    struct made_comm b = {"broadcast", "b", "0, 1", 2, 300, -1, -1, -1};

    made_op(m, 1, "reduce", 0, 18);
    made_call(m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_op(m, 1, "spread", 18, 12);
    made_call(m, 1, "cudaLaunchKernel", 20, 2, 2);
    made_nccl(m, 20, a, 15, 200, 1);
    made_nccl(m, 24, b, 25, 200, 2);
}

/* One kernel 5 times alone in 100 and 20 times beside a collective in 125:
 * without the collective they take 15 + 25 * 100. */
static void make_slowdown(struct made *m)
{
    struct made_comm c = {"allreduce", "0", "0, 1", 2, 100, -1, -1, -1};

    made_op(m, 1, "loop", 0, 520);
    for (int i = 0; i < 25; i++) {
        int at = i < 5 ? 15 + 100 * i : 515 + 125 * (i - 5);

        made_call(m, 1, "cudaLaunchKernel", 10 + 2 * i, 2, i + 1);
        made_grid(m, 7, "k", at, i < 5 ? 100 : 125, i + 1, 4);
    }
    made_call(m, 1, "cudaLaunchKernel", 510, 2, 26);
    made_nccl(m, 20, c, 515, 2500, 26);
}

#define EDGE(rule)  MSIM_EDGE_##rule, -1
#define SHARE(rule) -1, MSIM_CONTENTION_##rule
#define NO_GPU      "kernels=0 copies=0 communication=0"

static const struct rule RULES[] = {
    {EDGE(PROGRAM), 1, make_program, {{"", 30, 20}, {"host=2", 60, 40}}},
    {EDGE(LAUNCH),
     1,
     make_launch,
     {{"", 75, 50},
      {"kernels=2", 125, 100},
      {NO_GPU, 30, 30},
      {"host=2", 95, 60}}},
    {EDGE(STREAM),
     1,
     make_stream,
     {{"", 166, 115},
      {"kernels=2", 316, 215},
      {NO_GPU, 30, 30},
      {"host=2", 176, 125}}},
    {EDGE(QUEUE),
     1,
     make_queue,
     {{"", 8007, 7050},
      {"kernels=2", 11007, 8053},
      {NO_GPU, 7050, 7050},
      {"host=2", 14100, 14100}}},
    {EDGE(EVENT),
     1,
     make_event,
     {{"", 1067, 1015},
      {"kernels=2", 2117, 2015},
      {NO_GPU, 30, 30},
      {"host=2", 1077, 1025}}},
    {EDGE(INPUT),
     1,
     make_input,
     {{"", 145, 145},
      {"kernels=10", 215, 145},
      {NO_GPU, 50, 50},
      {"host=2", 185, 185}}},
    {EDGE(DEVICE_SYNC), 1, make_device_sync, OF_A_WAIT},
    {EDGE(STREAM_SYNC), 1, make_stream_sync, OF_A_WAIT},
    {EDGE(EVENT_SYNC), 1, make_event_sync, OF_A_WAIT},
    {EDGE(HIDDEN_SYNC), 1, make_hidden_sync, OF_A_WAIT},
    {EDGE(COPY_SYNC),
     1,
     make_copy_sync,
     {{"", 155, 100},
      {"copies=2", 240, 185},
      {NO_GPU, 65, 65},
      {"host=2", 220, 130}}},
    {EDGE(HANDOVER),
     1,
     make_handover,
     {{"", 350, 190},
      {"host=2", 700, 380},
      {"host:backward=2", 530, 370},
      {"host:backward=0", 170, 160}}},
    {EDGE(LOADER),
     1,
     make_loader,
     {{"", 15000, 10000},
      {"host:train=2", 23000, 20000},
      {"host:train=0.5", 12500, 7000}}},
    {EDGE(BEGIN),
     2,
     make_begin,
     {{"", 190, 190}, {"host:first=2", 290, 210}, {"host:first=0", 90, 190}}},
    {EDGE(UNEXPLAINED),
     1,
     make_unexplained,
     {{"", 550, 76}, {"kernels=2", 610, 136}, {NO_GPU, 30, 30}}},
    {EDGE(COLLECTIVE), 2, make_collective, OF_A_MEETING},
    {EDGE(POINT_TO_POINT), 2, make_pair, OF_A_MEETING},
    {SHARE(SM),
     1,
     make_full,
     {{"", 1265, 1015},
      {"kernels=2", 2515, 2015},
      {NO_GPU, 30, 30},
      {"host=2", 1275, 1025}}},
    {SHARE(COPY_ENGINE),
     1,
     make_engine,
     {{"", 255, 255},
      {"copies=2", 415, 355},
      {NO_GPU, 160, 160},
      {"host=2", 405, 405}}},
    {SHARE(HOST_LINK),
     1,
     make_link,
     {{"", 2615, 2615}, {"op:download=0", 2515, 2615}, {NO_GPU, 2420, 2420}}},
    {SHARE(INTERCONNECT),
     1,
     make_interconnect,
     {{"", 225, 225},
      {"op:spread=0", 120, 215},
      {"op:reduce=0", 130, 225},
      {NO_GPU, 30, 30}}},
    {SHARE(SLOWDOWN),
     1,
     make_slowdown,
     {{"", 3015, 3015}, {"communication=0", 2515, 3015}, {NO_GPU, 520, 520}}},
};

static const struct rule *find(int edge, int share)
{
    for (size_t i = 0; i < sizeof(RULES) / sizeof(RULES[0]); i++)
        if (RULES[i].edge == edge && RULES[i].share == share)
            return &RULES[i];
    return NULL;
}

/* All what-ifs of a rule; how many of them it moves. */
static int check_rule(const struct rule *r, const char *name)
{
    struct made ranks[2] = {made_trace(0, 2), made_trace(1, 2)};
    struct made_what off = {.without = r->edge < 0 ? 0 : 1u << r->edge,
                            .without_sharing =
                                r->share < 0 ? 0 : 1u << r->share};
    struct made_job j;
    int moves = 0;

    r->make(ranks);
    if (!made_load(&j, ranks, r->ranks))
        return 0;
    for (const struct outcome *o = r->outcomes; o->scale; o++) {
        off.scale = o->scale;
        CHECK_INT(made_scaled(&j, o->scale) / US, o->with);
        CHECK_INT(made_run(&j, off) / US, o->without);
        if (o->with != o->without && !moves++)
            printf("moves\t%s\t%s\t%d\t%d\n", name, o->scale, o->with,
                   o->without);
    }
    made_unload(&j);
    return moves;
}

static void test_graph__every_dependency_moves_something(void)
{
    for (int k = 0; k < MSIM_EDGE_KINDS; k++) {
        const struct rule *r = find(k, -1);

        CHECK_STR(r ? "" : msim_edge_text((enum msim_edge_kind)k), "");
        CHECK(r && check_rule(r, msim_edge_text((enum msim_edge_kind)k)) > 0);
    }
}

static void test_graph__everything_shared_moves_something(void)
{
    for (int k = 0; k < MSIM_CONTENTION_RULES; k++) {
        const struct rule *r = find(-1, k);

        CHECK_STR(r ? "" : msim_contention_text((enum msim_contention_rule)k),
                  "");
        CHECK(r && check_rule(r, msim_contention_text(
                                     (enum msim_contention_rule)k)) > 0);
    }
}

int main(void)
{
    RUN(test_graph__every_dependency_moves_something);
    RUN(test_graph__everything_shared_moves_something);
    return check_summary();
}
