/*
 * tests/unit/core/memory/test_held_pieces.c - every piece of memory of a step
 * that is changed in ways to train: its kind, bytes, and from which operator to
 * which it is there.
 *
 *     parameter 24576 0-29
 */
#include "core/memory/life_memory.h"

#include "tests/unit/core/rewrite/rewritten_text.h"

static void check_pieces(struct msim_rewrite r, const char *want)
{
    const struct msim_memory_options o = {.workspace = 1000};
    struct msim_memory_picture picture;
    struct made_changed m;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    REQUIRE(out != NULL);
    if (change_nodes(&m, REWRITTEN, sizeof(REWRITTEN) / sizeof(*REWRITTEN),
                     &r)) {
        CHECK_INT(msim_memory_picture_find(&picture, m.t, &o), MSIM_OK);
        for (uint32_t i = 0; i < picture.n; i++)
            fprintf(out, "%s %llu %u-%u\n",
                    msim_held_text((enum msim_held)picture.pieces[i].held),
                    (unsigned long long)picture.pieces[i].bytes,
                    picture.pieces[i].from, picture.pieces[i].to);
        msim_memory_picture_release(&picture);
        done_step(&m);
    }
    fclose(out);
    CHECK_STR(text, want);
    free(text);
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

int main(void)
{
    RUN(test_pieces__as_recorded);
    RUN(test_pieces__accumulated);
    RUN(test_pieces__made_again);
    RUN(test_pieces__states_offloaded);
    RUN(test_pieces__in_backward);
    RUN(test_pieces__ddp);
    RUN(test_pieces__fsdp);
    return check_summary();
}
