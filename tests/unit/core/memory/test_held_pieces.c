/*
 * tests/unit/core/memory/test_held_pieces.c - every piece of memory of a step
 * that is changed in ways to train: its kind, bytes, and from which operator to
 * which it is there.
 *
 *     parameter 24576 0-29
 */
#include "core/memory/life_memory.h"

#include "tests/unit/core/rewrite/rewritten_text.h"
#include "tests/unit/made_et.h"

/* The pieces of a trace, a line each; the caller frees it. */
static char *pieces_of(const struct msim_trace *t)
{
    const struct msim_memory_options o = {.workspace = 1000};
    struct msim_memory_picture picture;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (!CHECK(out != NULL))
        return NULL;
    CHECK_INT(msim_memory_picture_find(&picture, t, &o), MSIM_OK);
    for (uint32_t i = 0; i < picture.n; i++)
        fprintf(out, "%s %llu %u-%u\n",
                msim_held_text((enum msim_held)picture.pieces[i].held),
                (unsigned long long)picture.pieces[i].bytes,
                picture.pieces[i].from, picture.pieces[i].to);
    msim_memory_picture_release(&picture);
    fclose(out);
    return text;
}

static void check_pieces(struct msim_rewrite r, const char *want)
{
    struct made_changed m;
    char *text;

    if (!change_nodes(&m, REWRITTEN, sizeof(REWRITTEN) / sizeof(*REWRITTEN),
                      &r))
        return;
    text = pieces_of(m.t);
    CHECK_STR(text, want);
    free(text);
    done_step(&m);
}

/* Parameters, states and inputs are there before; a gradient is there to the
 * end, since nothing sets it to zero. */
static void test_pieces__as_recorded(void)
{
    check_pieces((struct msim_rewrite){.anew = true},
                 "inputs 8192 0-25\n"
                 "parameters 24576 0-31\n"
                 "activations 12288 1-2\n"
                 "activations 12288 2-22\n"
                 "parameters 17280 0-31\n"
                 "activations 5760 4-5\n"
                 "activations 5760 5-12\n"
                 "activations 4 6-9\n"
                 "activations 5760 9-12\n"
                 "activations 5760 12-16\n"
                 "activations 12288 15-22\n"
                 "gradients 17280 16-31\n"
                 "activations 12288 22-25\n"
                 "gradients 24576 25-31\n"
                 "optimizer_state 24576 0-31\n"
                 "optimizer_state 17280 0-31\n"
                 "workspace 1000 1-31\n");
}

/* The second micro batch's gradients are activations: they are added up. */
static void test_pieces__accumulated(void)
{
    check_pieces((struct msim_rewrite){.accumulate = 2},
                 "inputs 8192 0-54\n"
                 "parameters 24576 0-60\n"
                 "activations 12288 1-2\n"
                 "activations 12288 2-22\n"
                 "parameters 17280 0-60\n"
                 "activations 5760 4-5\n"
                 "activations 5760 5-12\n"
                 "activations 4 6-9\n"
                 "activations 5760 9-12\n"
                 "activations 5760 12-16\n"
                 "activations 12288 15-22\n"
                 "gradients 17280 16-60\n"
                 "activations 12288 22-25\n"
                 "gradients 24576 25-60\n"
                 "activations 12288 30-31\n"
                 "activations 12288 31-51\n"
                 "activations 5760 33-34\n"
                 "activations 5760 34-41\n"
                 "activations 4 35-38\n"
                 "activations 5760 38-41\n"
                 "activations 5760 41-45\n"
                 "activations 12288 44-51\n"
                 "activations 17280 45-48\n"
                 "activations 12288 51-54\n"
                 "activations 24576 54-57\n"
                 "optimizer_state 24576 0-60\n"
                 "optimizer_state 17280 0-60\n"
                 "workspace 1000 1-60\n");
}

/* What a block made is let go, and made again. */
static void test_pieces__made_again(void)
{
    check_pieces((struct msim_rewrite){.recompute_every = 1},
                 "inputs 8192 0-33\n"
                 "parameters 24576 0-39\n"
                 "activations 12288 1-2\n"
                 "activations 12288 2-20\n"
                 "parameters 17280 0-39\n"
                 "activations 5760 4-5\n"
                 "activations 5760 5-9\n"
                 "activations 4 6-9\n"
                 "activations 5760 9-16\n"
                 "activations 5760 12-13\n"
                 "activations 5760 13-16\n"
                 "activations 5760 16-20\n"
                 "activations 12288 19-30\n"
                 "gradients 17280 20-39\n"
                 "activations 12288 26-27\n"
                 "activations 12288 27-30\n"
                 "activations 12288 30-33\n"
                 "gradients 24576 33-39\n"
                 "optimizer_state 24576 0-39\n"
                 "optimizer_state 17280 0-39\n"
                 "workspace 1000 1-39\n");
}

/* States, and copies of gradients, are on the host. */
static void test_pieces__states_offloaded(void)
{
    check_pieces((struct msim_rewrite){.offload_states = true},
                 "inputs 8192 0-25\n"
                 "parameters 24576 0-37\n"
                 "activations 12288 1-2\n"
                 "activations 12288 2-22\n"
                 "parameters 17280 0-37\n"
                 "activations 5760 4-5\n"
                 "activations 5760 5-12\n"
                 "activations 4 6-9\n"
                 "activations 5760 9-12\n"
                 "activations 5760 12-16\n"
                 "activations 12288 15-22\n"
                 "gradients 17280 16-37\n"
                 "activations 12288 22-25\n"
                 "gradients 24576 25-37\n"
                 "workspace 1000 1-37\n");
}

/* A gradient is let go once its parameter is updated. */
static void test_pieces__in_backward(void)
{
    check_pieces((struct msim_rewrite){.in_backward = true},
                 "inputs 8192 0-28\n"
                 "parameters 24576 0-36\n"
                 "activations 12288 1-2\n"
                 "activations 12288 2-25\n"
                 "parameters 17280 0-36\n"
                 "activations 5760 4-5\n"
                 "activations 5760 5-12\n"
                 "activations 4 6-9\n"
                 "activations 5760 9-12\n"
                 "activations 5760 12-16\n"
                 "activations 12288 15-25\n"
                 "gradients 17280 16-22\n"
                 "optimizer_state 17280 0-36\n"
                 "activations 12288 25-28\n"
                 "gradients 24576 28-34\n"
                 "optimizer_state 24576 0-36\n"
                 "workspace 1000 1-36\n");
}

/* A bucket is there before. */
static void test_pieces__ddp(void)
{
    check_pieces((struct msim_rewrite){.world = 7},
                 "inputs 8192 0-26\n"
                 "parameters 24576 0-37\n"
                 "activations 12288 1-2\n"
                 "activations 12288 2-23\n"
                 "parameters 17280 0-37\n"
                 "activations 5760 4-5\n"
                 "activations 5760 5-12\n"
                 "activations 4 6-9\n"
                 "activations 5760 9-12\n"
                 "activations 5760 12-16\n"
                 "activations 12288 15-23\n"
                 "gradients 17280 16-37\n"
                 "communication_buffers 41856 0-37\n"
                 "activations 12288 23-26\n"
                 "gradients 24576 26-37\n"
                 "optimizer_state 24576 0-37\n"
                 "optimizer_state 17280 0-37\n"
                 "workspace 1000 1-37\n");
}

/* Shares, rounded up; what is gathered is there while a layer runs. */
static void test_pieces__fsdp(void)
{
    check_pieces((struct msim_rewrite){.world = 7, .shard = MSIM_SHARD_FULL},
                 "parameters 3512 0-68\n"
                 "activations 24576 3-10\n"
                 "parameters 2472 0-68\n"
                 "activations 17280 7-17\n"
                 "inputs 8192 9-55\n"
                 "activations 12288 10-12\n"
                 "activations 12288 12-52\n"
                 "activations 5760 17-19\n"
                 "activations 5760 19-34\n"
                 "activations 4 20-23\n"
                 "activations 5760 23-34\n"
                 "activations 17280 26-37\n"
                 "activations 24576 30-31\n"
                 "activations 5760 34-38\n"
                 "activations 12288 37-52\n"
                 "activations 17280 38-42\n"
                 "activations 17280 42-46\n"
                 "gradients 2472 45-68\n"
                 "activations 12288 52-55\n"
                 "activations 24576 55-59\n"
                 "activations 24576 59-63\n"
                 "gradients 3512 62-68\n"
                 "optimizer_state 3512 0-68\n"
                 "optimizer_state 2472 0-68\n"
                 "workspace 1000 10-68\n");
}

#define GRAD "torch::autograd::AccumulateGrad"

/* Two steps, backward on a thread of its own. A gradient is what is added to or
 * copied, or what comes of that; a state is born in the first step and read in
 * the second, its scratch is not. */
static void two_steps(struct made_et *m)
{
    et_node(m, 100, 0, 1, "Optimizer.zero_grad#Adam.zero_grad", "", "");
    et_node(m, 101, 0, 1, "aten::relu", "1:1000", "2:1000");
    et_node(m, 102, 0, 1, "aten::mm", "2:1000 9:50", "3:1000");
    et_node(m, 103, 0, 1, "aten::mm", "3:1000 9:50", "8:100");
    et_node(m, 110, 0, 2, "aten::bmm", "3:1000 2:1000", "4:1000");
    et_node(m, 111, 0, 2, GRAD, "4:1000", "");
    et_node(m, 112, 111, 2, "aten::add_", "5:1000 4:1000", "5:1000");
    et_node(m, 113, 0, 2, "aten::exp", "4:1000", "14:500");
    et_node(m, 114, 0, 2, GRAD, "14:500", "");
    et_node(m, 115, 114, 2, "aten::clone", "14:500", "15:500");
    et_node(m, 116, 0, 2, "aten::exp", "4:1000", "24:300");
    et_node(m, 117, 0, 2, GRAD, "24:300", "");
    et_node(m, 118, 117, 2, "aten::detach", "24:300", "24:300");
    et_node(m, 119, 117, 2, "aten::add", "25:300 24:300", "26:300");
    et_node(m, 120, 0, 2, "aten::exp", "4:1000", "34:200");
    et_node(m, 121, 0, 2, GRAD, "34:200", "");
    et_node(m, 122, 121, 2, "aten::copy_", "35:200 34:200", "35:200");
    et_node(m, 130, 0, 1, "Optimizer.step#Adam.step", "", "");
    et_node(m, 131, 130, 1, "aten::zeros", "", "40:1000");
    et_node(m, 132, 130, 1, "aten::neg", "5:1000", "41:1000");
    et_node(m, 133, 130, 1, "aten::addcdiv_", "1:1000 41:1000 40:1000", "");
    et_node(m, 140, 0, 1, "Optimizer.zero_grad#Adam.zero_grad", "", "");
    et_node(m, 141, 0, 1, "aten::relu", "1:1000", "42:1000");
    et_node(m, 150, 0, 1, "Optimizer.step#Adam.step", "", "");
    et_node(m, 151, 150, 1, "aten::addcdiv_", "1:1000 5:1000 40:1000", "");
    et_node(m, 152, 150, 1, "aten::addcdiv_", "9:50 26:300 43:70", "");
    et_node(m, 160, 0, 1, "aten::neg", "42:1000", "44:80");
}

static void test_pieces__two_steps(void)
{
    struct made_et m = {0};
    struct msim_error err;
    struct msim_job *job;
    char *text;

    two_steps(&m);
    et_put(&m, "]}");
    job = load_text(m.text, true, &err);
    free(m.text);
    REQUIRE(job != NULL);
    text = pieces_of(job->ranks[0]);
    CHECK_STR(text, "parameters 4000 0-27\n"
                    "activations 4000 1-4\n"
                    "inputs 200 2-3\n"
                    "activations 4000 2-4\n"
                    "activations 400 3-3\n"
                    "activations 4000 4-14\n"
                    "gradients 4000 0-27\n"
                    "activations 2000 7-9\n"
                    "gradients 2000 9-21\n"
                    "activations 1200 10-13\n"
                    "inputs 1200 13-13\n"
                    "gradients 1200 13-25\n"
                    "activations 800 14-16\n"
                    "gradients 800 0-27\n"
                    "optimizer_state 4000 18-27\n"
                    "activations 4000 19-20\n"
                    "activations 4000 22-26\n"
                    "optimizer_state 280 0-27\n"
                    "activations 320 26-26\n"
                    "workspace 1000 2-27\n"
                    "workspace 1000 4-27\n");
    free(text);
    msim_job_free(job);
}

int main(void)
{
    RUN(test_pieces__as_recorded);
    RUN(test_pieces__accumulated);
    RUN(test_pieces__made_again);
    RUN(test_pieces__states_offloaded);
    RUN(test_pieces__in_backward);
    RUN(test_pieces__ddp);
    RUN(test_pieces__fsdp);
    RUN(test_pieces__two_steps);
    return check_summary();
}
