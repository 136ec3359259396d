/* The words of dtypes, collectives and convolutions. */
#include "core/work/work.h"
#include "tests/check.h"

#include <string.h>

/* Two spellings of one dtype; a word that says more than a dtype is its own
 * variant. */
static void test_words__dtypes(void)
{
    const char *variant = "untouched";

    CHECK_INT(msim_dtype_parse("half", &variant), MSIM_DT_F16);
    CHECK(variant == NULL);
    CHECK_INT(msim_dtype_parse("float16", &variant), MSIM_DT_F16);
    CHECK_INT(msim_dtype_parse("tf32", &variant), MSIM_DT_F32);
    CHECK(variant && strcmp(variant, "tf32") == 0);
    CHECK_INT(msim_dtype_parse("quaternion", &variant), MSIM_DT_UNKNOWN);
    CHECK(variant == NULL);
}

static void test_words__collectives(void)
{
    CHECK_INT(msim_collective_parse("alltoall"), MSIM_COLL_ALL_TO_ALL);
    CHECK_INT(msim_collective_parse("all_to_all"), MSIM_COLL_ALL_TO_ALL);
    CHECK_INT(msim_collective_parse("sendrecv"), MSIM_COLL_SEND);
    CHECK_INT(msim_collective_parse("AllReduce"), MSIM_COLL_ALL_REDUCE);
    CHECK_INT(msim_collective_parse("all-gather"), MSIM_COLL_ALL_GATHER);
    CHECK_INT(msim_collective_parse("Reduce_Scatter"),
              MSIM_COLL_REDUCE_SCATTER);
    CHECK_INT(msim_collective_parse("send"), MSIM_COLL_SEND);
    CHECK_INT(msim_collective_parse("allreduces"), MSIM_COLL_UNKNOWN);
    CHECK_INT(msim_collective_parse("allreduc"), MSIM_COLL_UNKNOWN);
    CHECK_INT(msim_collective_parse("all reduce"), MSIM_COLL_UNKNOWN);
    CHECK_INT(msim_collective_parse(""), MSIM_COLL_UNKNOWN);
    CHECK_INT(msim_collective_parse("_"), MSIM_COLL_UNKNOWN);
}

/* What is written is read as the same pass. */
static void test_words__passes(void)
{
    for (int i = MSIM_CONV_FORWARD; i <= MSIM_CONV_BACKWARD_WEIGHT; i++) {
        enum msim_conv_pass pass = MSIM_CONV_FORWARD;

        CHECK(msim_conv_pass_parse(msim_conv_pass_text((enum msim_conv_pass)i),
                                   &pass));
        CHECK_INT(pass, i);
    }
    CHECK(!msim_conv_pass_parse("conv3d", &(enum msim_conv_pass){0}));
}

int main(void)
{
    RUN(test_words__dtypes);
    RUN(test_words__collectives);
    RUN(test_words__passes);
    return check_summary();
}
