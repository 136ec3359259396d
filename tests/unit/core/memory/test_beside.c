/*
 * tests/unit/core/memory/test_beside.c - NCCL's buffers against what others
 * measured.
 */
#include "core/memory/beside.h"
#include "tests/check.h"

#define MIB  1048576.0
#define A100 3e11 /* bytes/s of NVLink, one direction */

static double collective(double ranks, double near, double link)
{
    const struct msim_beside_group g = {ranks, near};

    return msim_beside_collective(&g, link) / MIB;
}

/* NVIDIA/nccl, issue 964: 544 MiB for two ranks of an A100, 688 for four. */
static void test_beside__as_measured(void)
{
    CHECK_REL(collective(2, 2, A100), 544, 0.07);
    CHECK_REL(collective(4, 4, A100), 688, 0.07);
}

/* Issue 1685: 3.28 GB more for an exchange of all with all on 8 H100: 7 peers
 * on 32 channels. The formula is a seventh lower. */
static void test_beside__exchange(void)
{
    const struct msim_beside_group g = {8, 8};

    CHECK_REL(msim_beside_messages(&g, 7, 4.5e11), 3.28e9, 0.2);
    CHECK_REL(msim_beside_messages(&g, 7, 4.5e11), 7 * 32 * 12 * MIB, 1e-12);
}

/* Alone nothing; over PCIe and between nodes a few channels. */
static void test_beside__few(void)
{
    const struct msim_beside_group stages = {4, 1};

    CHECK(collective(1, 1, A100) == 0);
    CHECK_REL(collective(2, 2, 2.5e10), 2 * 2 * 12, 1e-12);
    CHECK_REL(collective(2, 1, A100), 2 * 2 * 12, 1e-12);
    CHECK(collective(64, 8, A100) < 1.1 * collective(8, 8, A100));
    CHECK_REL(msim_beside_messages(&stages, 2, A100), 2 * 2 * 12 * MIB, 1e-12);
}

int main(void)
{
    RUN(test_beside__as_measured);
    RUN(test_beside__exchange);
    RUN(test_beside__few);
    return check_summary();
}
