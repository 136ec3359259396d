/*
 * tests/unit/plan/test_et_writer.c - nodes that nobody will read.
 */
#include "plan/synth/et_writer.h"
#include "tests/check.h"

#define NODES 20000

static enum msim_status refuse(void *ctx, const char *bytes, size_t n)
{
    (void)ctx;
    (void)bytes;
    (void)n;
    return MSIM_EWRITE;
}

static enum msim_status accept(void *ctx, const char *bytes, size_t n)
{
    (void)ctx;
    (void)bytes;
    (void)n;
    return MSIM_OK;
}

static uint64_t nodes_of(enum msim_status (*sink)(void *, const char *, size_t),
                         enum msim_status want)
{
    static struct msim_etw e;

    msim_etw_begin(&e, sink, NULL, 1);
    for (int i = 0; i < NODES; i++)
        msim_etw_leaf(&e, "aten::add", NULL, NULL, 0, NULL, 0);
    CHECK_INT(msim_etw_end(&e), want);
    return e.nodes;
}

/* After a write that failed nothing of the rest is put together: a disk may
 * be full long before the last of a million nodes. */
static void test_et_writer__ends_early(void)
{
    CHECK_UINT(nodes_of(accept, MSIM_OK), NODES + 1);
    CHECK(nodes_of(refuse, MSIM_EWRITE) < NODES / 10);
}

int main(void)
{
    RUN(test_et_writer__ends_early);
    return check_summary();
}
