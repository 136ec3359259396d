/*
 * Softmax and norms by loops of our own, which a build without oneDNN has: here
 * it is as if there were none.
 */
#include "profilers/cpu/cpu.h"
#include "tests/check.h"
#include "tests/unit/made_cpu.h"

/* In the place of cpu_rows.c's. */
bool msim_cpu_has_rows(enum msim_vector_op op)
{
    (void)op;
    return false;
}

enum msim_status msim_cpu_rows(struct msim_cpu *cpu,
                               const struct msim_experiment *e,
                               struct msim_case *out, struct msim_error *err)
{
    (void)cpu;
    (void)e;
    (void)out;
    CHECK(!"asked");
    return msim_fail(err, MSIM_EINTERNAL, NULL, MSIM_OFFSET_NONE, "none");
}

static void test_cpu_loops__work_on_rows(void)
{
    made_cpu_check_rows();
}

int main(void)
{
    RUN(test_cpu_loops__work_on_rows);
    return check_summary();
}
