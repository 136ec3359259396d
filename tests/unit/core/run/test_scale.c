/*
 * tests/unit/core/run/test_scale.c - tests of core/run/scale.h.
 */
#include "core/run/scale.h"
#include "core/work/work.h"
#include "tests/check.h"

static void check_good(const char *text, enum msim_select select, double factor)
{
    struct msim_scale s;

    CHECK_INT(msim_scale_parse(&s, text, NULL), MSIM_OK);
    CHECK_INT(s.select, select);
    CHECK(s.factor == factor);
}

static void test_scale__selections(void)
{
    check_good("kernels=0.5", MSIM_SELECT_KERNELS, 0.5);
    check_good("communication=2", MSIM_SELECT_COMMUNICATION, 2);
    check_good("copies=0", MSIM_SELECT_COPIES, 0);
    check_good("host=1e-3", MSIM_SELECT_HOST, 1e-3);
    check_good("op:aten::*=1.5", MSIM_SELECT_OP, 1.5);
    /* The last '=' is the one that counts. */
    check_good("op:f(x=1)=3", MSIM_SELECT_OP, 3);
}

static void check_group(const char *text, enum msim_select select, int group)
{
    struct msim_scale s;

    CHECK_INT(msim_scale_parse(&s, text, NULL), MSIM_OK);
    CHECK_INT(s.select, select);
    CHECK_INT(s.group, group);
}

/* Words of groups, of all ranks or of one. */
static void test_scale__groups(void)
{
    struct msim_scale s;

    check_group("family:gemm=0.5", MSIM_SELECT_FAMILY, MSIM_FAMILY_GEMM);
    check_group("link:network=0.5", MSIM_SELECT_LINK, MSIM_LINK_NETWORK);
    check_group("host-part:python=2", MSIM_SELECT_HOST_PART,
                MSIM_HOST_PART_PYTHON);
    check_group("family:norm@3=0", MSIM_SELECT_FAMILY, MSIM_FAMILY_NORM);
    REQUIRE(msim_scale_parse(&s, "family:norm@3=0", NULL) == MSIM_OK);
    CHECK(s.one_rank);
    CHECK_INT(s.rank, 3);
    REQUIRE(msim_scale_parse(&s, "stream:7@1=0.5", NULL) == MSIM_OK);
    CHECK(msim_scale_is_pattern(&s));
    CHECK(s.one_rank);
    CHECK(msim_scale_matches(&s, "7"));
    CHECK(!msim_scale_matches(&s, "77"));
}

/* One rank alone, of words but not of patterns. */
static void test_scale__one_rank(void)
{
    struct msim_scale s;

    REQUIRE(msim_scale_parse(&s, "kernels=2", NULL) == MSIM_OK);
    CHECK(!s.one_rank);
    REQUIRE(msim_scale_parse(&s, "kernels@31=2", NULL) == MSIM_OK);
    CHECK_INT(s.select, MSIM_SELECT_KERNELS);
    CHECK(s.one_rank);
    CHECK_INT(s.rank, 31);
    REQUIRE(msim_scale_parse(&s, "op:f@3=2", NULL) == MSIM_OK);
    CHECK(!s.one_rank);
    CHECK(msim_scale_matches(&s, "f@3"));
}

static void check_bad(const char *text, const char *message)
{
    struct msim_error err = {0};
    struct msim_scale s;

    CHECK_INT(msim_scale_parse(&s, text, &err), MSIM_EUSAGE);
    CHECK_STR(err.text, message);
}

static void test_scale__refuses(void)
{
    check_bad("kernels", "scale is 'kernels', want SELECT=FACTOR, e.g. "
                         "kernels=0.5");
    check_bad("kernel=2", "cannot scale 'kernel', want " MSIM_SCALE_ACCEPTED);
    check_bad("op:=2", "cannot scale 'op:', want " MSIM_SCALE_ACCEPTED);
    check_bad("host@=2", "cannot scale 'host@', want " MSIM_SCALE_ACCEPTED);
    check_bad("host@-1=2", "cannot scale 'host@-1', want " MSIM_SCALE_ACCEPTED);
    check_bad("family:gem=2", "cannot scale 'family:gem', want family:gemm, "
                              "which is near");
    check_bad("family:gemm@x=2", "cannot scale 'family:gemm@x', want "
                                 "family:gemm, which is near");
    check_bad("link:wire=2", "cannot scale 'link:wire', want 'link:' and one "
                             "of node, network, h2d, d2h, d2d, p2p");
    check_bad("host=", "factor of 'host=' is '', want a number >= 0");
    check_bad("host=-1", "factor of 'host=-1' is '-1', want a number >= 0");
    check_bad("host=nan", "factor of 'host=nan' is 'nan', want a number >= 0");
    check_bad("host=inf", "factor of 'host=inf' is 'inf', want a number >= 0");
    check_bad("host=2x", "factor of 'host=2x' is '2x', want a number >= 0");
    check_bad("host=1e999",
              "factor of 'host=1e999' is '1e999', want a number >= 0");
}

static void test_scale__matches(void)
{
    struct msim_scale s;

    REQUIRE(msim_scale_parse(&s, "op:aten::*mm=2", NULL) == MSIM_OK);
    CHECK(msim_scale_matches(&s, "aten::mm"));
    CHECK(msim_scale_matches(&s, "aten::addmm"));
    CHECK(!msim_scale_matches(&s, "aten::mm_"));
    REQUIRE(msim_scale_parse(&s, "kernels=2", NULL) == MSIM_OK);
    CHECK(!msim_scale_matches(&s, "kernels"));
}

int main(void)
{
    RUN(test_scale__selections);
    RUN(test_scale__groups);
    RUN(test_scale__one_rank);
    RUN(test_scale__refuses);
    RUN(test_scale__matches);
    return check_summary();
}
