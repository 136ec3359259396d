/*
 * Grids of reductions, against those that PyTorch launched in public traces:
 * of linear-2080ti (a GPU of 68 SMs that hold 1,024 threads each) the first, of
 * ranking-a100 the others.
 */
#include "models/law/law.h"
#include "tests/check.h"

static void test_reduce_grid__as_launched(void)
{
    static const struct {
        double outputs, inputs, blocks, threads, rounds;
        bool across, split;
    } LAUNCHED[] = {
        {1024, 512, 8, 32 * 4, 32, true, false},
        {96, 1024, 2, 16 * 8, 32, true, false},
        {32, 1024, 1, 8 * 16, 16, true, false},
        {512, 1024, 4 * 16, 32 * 4, 4, true, true},
        {2048, 1024, 16 * 16, 32 * 4, 4, true, true},
        {9375, 1024, 293, 32 * 16, 16, true, false},
        {19410, 1024, 304, 32 * 8, 32, true, false},
        {15, 98304, 2 * 96, 8 * 64, 4, true, true},
        {30, 98304, 2 * 192, 8 * 32, 4, true, true},
        {8, 125952, 8, 64 * 8, 62, false, false},
        {1024, 40, 64, 32 * 16, 1, false, false},
        {123, 8192, 123, 32 * 16, 4, false, false},
        {1, 1007616, 123, 512, 4, false, true},
    };

    for (size_t i = 0; i < sizeof(LAUNCHED) / sizeof(*LAUNCHED); i++) {
        struct msim_reduce_grid g = msim_reduce_grid_of(
            LAUNCHED[i].outputs, LAUNCHED[i].inputs, LAUNCHED[i].across, 108);

        CHECK_INT((int64_t)g.blocks, (int64_t)LAUNCHED[i].blocks);
        CHECK_INT((int64_t)g.threads, (int64_t)LAUNCHED[i].threads);
        CHECK_INT((int64_t)g.rounds, (int64_t)LAUNCHED[i].rounds);
        CHECK(g.split == LAUNCHED[i].split);
    }
}

/* One number, or as many as there are: never less than a load by a thread. */
static void test_reduce_grid__edges(void)
{
    struct msim_reduce_grid one = msim_reduce_grid_of(1, 1, false, 1);
    struct msim_reduce_grid most = msim_reduce_grid_of(1e12, 1e6, true, 132);

    CHECK_INT((int64_t)one.blocks, (int64_t)1);
    CHECK_INT((int64_t)one.threads, (int64_t)1);
    CHECK_INT((int64_t)one.rounds, (int64_t)1);
    CHECK(!one.split);
    CHECK(most.blocks > 1e9 && most.rounds >= 64);
}

int main(void)
{
    RUN(test_reduce_grid__as_launched);
    RUN(test_reduce_grid__edges);
    return check_summary();
}
