/*
 * tests/unit/serving/engine/test_replica_room.c - what prompts wait for, beside
 * places and tokens of a step: more prompts, and room for windows. Worked by
 * hand, as those of test_replica.c.
 */
#include "tests/unit/serving/engine/made_schedule.h"

/*
 * Prompts wait for 60 tokens with those that decode, or for 3 steps.
 * 1: A's 10              110   at 110 A's first
 * 2: A decodes           110   at 220; B came at 115
 * 3-5: A decodes, B's 10 are too few
 *                        330   at 550
 * 6: A decodes, B 10     120   at 670 B's last; C came at 600
 * 7: A decodes, C 60     170   at 840 C's last
 * 8: A decodes           110   at 950 A's last
 * D, beside which nothing decodes, does not wait: 110 at 2110.
 */
static void test_replica_room__prompts_wait_for_more(void)
{
    struct msim_replica_rules rules = vllm();
    struct asked asked[] = {ask(10, 8, 0), ask(10, 1, 115), ask(60, 1, 600),
                            ask(10, 1, 2000)};

    rules.wait_tokens = 60;
    rules.wait_steps = 3;
    serve(&rules, 4000, asked, 4);
    CHECK_TIMES(asked[0], 110, 950);
    CHECK_TIMES(asked[1], 670, 670);
    CHECK_TIMES(asked[2], 840, 840);
    CHECK_TIMES(asked[3], 2110, 2110);
}

/*
 * 5 blocks of 4, of which a sequence's windows take 2 from 8 tokens on. Alone 2
 * sequences of 8 tokens would have room.
 * 1: A's 8 tokens, 4 blocks; B's would be 4 more   108   at 108 A's last
 * 2: B                                             108   at 216
 * C of 3 tokens takes a block and one for three eighths of its windows, as does
 * D: 4 of 5.
 * 3: C, D                                          106   at 1106
 */
static void test_replica_room__windows_take_room(void)
{
    struct msim_replica_rules rules = vllm();
    struct asked asked[] = {ask(8, 1, 0), ask(8, 1, 0), ask(3, 1, 1000),
                            ask(3, 1, 1000)};

    besides = 8;
    serve(&rules, 20, asked, 4);
    besides = 0;
    CHECK_TIMES(asked[0], 108, 108);
    CHECK_TIMES(asked[1], 216, 216);
    CHECK_TIMES(asked[2], 1106, 1106);
    CHECK_TIMES(asked[3], 1106, 1106);
}

int main(void)
{
    RUN(test_replica_room__prompts_wait_for_more);
    RUN(test_replica_room__windows_take_room);
    return check_summary();
}
