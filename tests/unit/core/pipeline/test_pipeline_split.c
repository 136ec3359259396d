/*
 * Layers of stages and of chunks, against what the header promises: all
 * layers, no stage fuller than it must be, the last with the room.
 */
#include "core/pipeline/pipeline_schedule.h"
#include "tests/check.h"

/* 10 of 4: the example of the header; 9 of 4: the last is left the least that
 * no other pays for; 5 of 4: the last has none. */
static void test_pipeline_split__examples(void)
{
    static const struct {
        int64_t layers, stages, of[6];
    } CASES[] = {
        {10, 4, {3, 3, 3, 1}}, {8, 4, {2, 2, 2, 2}},
        {9, 4, {3, 3, 3, 0}},  {11, 4, {3, 3, 3, 2}},
        {5, 4, {2, 2, 1, 0}},  {7, 1, {7}},
        {3, 2, {2, 1}},        {13, 6, {3, 3, 3, 2, 2, 0}},
        {1, 2, {1, 0}},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++)
        for (int64_t s = 0; s < CASES[i].stages; s++)
            CHECK_INT(msim_pipeline_layers(CASES[i].layers, CASES[i].stages, s),
                      CASES[i].of[s]);
}

static void test_pipeline_split__all_layers_evenly(void)
{
    for (int64_t layers = 1; layers < 40; layers++)
        for (int64_t stages = 1; stages <= layers; stages++) {
            int64_t most = (layers + stages - 1) / stages, sum = 0;
            int64_t last = msim_pipeline_layers(layers, stages, stages - 1);

            for (int64_t s = 0; s < stages; s++) {
                int64_t n = msim_pipeline_layers(layers, stages, s);

                sum += n;
                CHECK(n >= 0 && n <= most);
                CHECK(s == 0 || s == stages - 1 ||
                      n <= msim_pipeline_layers(layers, stages, s - 1));
            }
            CHECK_INT(sum, layers);
            /* one less there would make another one fuller */
            CHECK(last == 0 || layers - (last - 1) > most * (stages - 1));
        }
}

static void test_pipeline_split__chunks(void)
{
    CHECK_INT(msim_pipeline_chunk_layers(7, 3, 0), 3);
    CHECK_INT(msim_pipeline_chunk_layers(7, 3, 1), 2);
    CHECK_INT(msim_pipeline_chunk_layers(7, 3, 2), 2);
    CHECK_INT(msim_pipeline_chunk_layers(8, 2, 1), 4);
    CHECK_INT(msim_pipeline_chunk_layers(8, 3, 1), 3);
    CHECK_INT(msim_pipeline_chunk_layers(8, 3, 2), 2);
    CHECK_INT(msim_pipeline_chunk_layers(5, 1, 0), 5);
}

int main(void)
{
    RUN(test_pipeline_split__examples);
    RUN(test_pipeline_split__all_layers_evenly);
    RUN(test_pipeline_split__chunks);
    return check_summary();
}
