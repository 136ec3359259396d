/*
 * What gradients of convolutions take over the forward pass, from pairs of
 * rows.
 */
#include "calibrate/fit/law_fit.h"
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

static bool read_rows(struct msim_samples *s, const char *rows)
{
    char path[] = "msim-test-conv-XXXXXX";
    struct msim_error err = {0};
    int fd = mkstemp(path);
    FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;
    enum msim_status status;

    if (!f)
        return false;
    fprintf(f, "gpu,framework,op,dtype,n,c,h,w,k,r,s,stride,pad,time_us\n%s",
            rows);
    fclose(f);
    status = msim_samples_init(s);
    if (status == MSIM_OK)
        status = msim_samples_add(s, path, &err);
    unlink(path);
    return status == MSIM_OK;
}

/* Padded tiles, Winograd's filters and rows of other GPUs say nothing. */
static void test_conv_ratio__takes_pairs_that_differ_in_the_pass(void)
{
    struct msim_samples s;
    struct msim_conv_ratios r;

    REQUIRE(read_rows(&s,
                      "A,X,conv2d_fwd,fp32,8,128,28,28,256,1,1,2,0,10\n"
                      "A,X,conv2d_bwd_data,fp32,8,128,28,28,256,1,1,2,0,15\n"
                      "A,X,conv2d_bwd_weight,fp32,8,128,28,28,256,1,1,2,0,"
                      "12\n"
                      "B,X,conv2d_bwd_data,fp32,8,128,28,28,256,1,1,2,0,"
                      "90\n"
                      "A,X,conv2d_fwd,fp32,8,64,28,28,64,1,1,2,0,10\n"
                      "A,X,conv2d_bwd_data,fp32,8,64,28,28,64,1,1,2,0,90\n"
                      "A,X,conv2d_fwd,fp32,8,128,28,28,128,3,3,1,1,10\n"
                      "A,X,conv2d_bwd_weight,fp32,8,128,28,28,128,3,3,1,1,"
                      "90\n"));
    msim_samples_sort(&s);
    msim_conv_ratios_make(&r, &s);
    CHECK_UINT(r.strided_data.pairs, 1);
    CHECK_REL(r.strided_data.median, 1.5, 1e-12);
    CHECK_UINT(r.weight.pairs, 1);
    CHECK_REL(r.weight.median, 1.2, 1e-12);
    msim_samples_release(&s);
}

static void test_conv_ratio__is_1_without_pairs(void)
{
    struct msim_samples s;
    struct msim_conv_ratios r;

    REQUIRE(read_rows(&s, "A,X,conv2d_fwd,fp32,8,128,28,28,256,1,1,2,0,10\n"));
    msim_conv_ratios_make(&r, &s);
    CHECK_REL(r.strided_data.median, 1, 0);
    CHECK_REL(r.weight.median, 1, 0);
    CHECK_UINT(r.weight.pairs, 0);
    msim_samples_release(&s);
}

int main(void)
{
    RUN(test_conv_ratio__takes_pairs_that_differ_in_the_pass);
    RUN(test_conv_ratio__is_1_without_pairs);
    return check_summary();
}
