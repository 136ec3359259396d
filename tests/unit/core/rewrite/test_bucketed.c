/*
 * Which sizes made DDP's buckets: gradients of so many KiB, '|' ends a bucket,
 * '/' a pass.
 */
#include "core/rewrite/repeat/reducer.h"

#include "tests/check.h"

#include <stdlib.h>

#define MOST 32

static void hold(const char *text, bool found, int64_t first, int64_t others)
{
    struct msim_bucketed_gradient gradients[MOST] = {{0}};
    struct msim_bucketed_one buckets[MOST] = {{0}};
    struct msim_bucketed b = {.gradients = gradients, .buckets = buckets};
    struct msim_bucket_caps caps = {0};
    char *end;

    for (const char *at = text; *at;) {
        struct msim_bucketed_one *one = &buckets[b.n_buckets];

        if (*at == '/' || *at == '|') {
            b.n_buckets += *at == '|';
            buckets[b.n_buckets] = (struct msim_bucketed_one){
                .pass = one->pass + (*at == '/'), .first = b.n};
            if (*at == '|')
                buckets[b.n_buckets].pass = one->pass;
        } else if (*at != ' ') {
            gradients[b.n++].bytes = 1024 * strtol(at, &end, 10);
            one->n++;
            at = end;
            continue;
        }
        at++;
    }
    if (CHECK_INT(msim_bucketed_caps(&b, &caps), found) && found) {
        CHECK_INT(caps.first, first);
        CHECK_INT(caps.others, others);
    }
}

#define KIB 1024

static void test_bucketed__caps(void)
{
    /* PyTorch's own: 1 MiB, then 25 */
    hold("512 600 | 20480 6144 | 100 |", true, 1024 * KIB, 25600 * KIB);
    hold("100 200 |", true, 1024 * KIB, 25600 * KIB);
    hold("1024 | 20480 5120 | 9 |", true, 1024 * KIB, 25600 * KIB);
    /* one for all: the roundest that there is */
    hold("3000 3000 | 3000 3000 | 100 |", true, 5120 * KIB, 5120 * KIB);
    hold("198 14 | 190 20 | 100 |", true, 209715, 209715);
    /* 25 MiB were there before the last: 25.05 */
    hold("512 600 | 25600 100 | 100 |", true, 1024 * KIB, 26266828);
    hold("1024 600 | 20480 6144 | 100 |", false, 0, 0);
    /* the first is PyTorch's, and others are not */
    hold("512 600 | 3000 3000 | 3000 3000 | 5 |", true, 1024 * KIB, 5120 * KIB);
    hold("300 300 | 3000 3000 | 3000 3000 | 5 |", false, 0, 0);
    /* none was ever full */
    hold("20000 10000 |", true, INT64_MAX, INT64_MAX);
    /* a second pass says more: 5.4 */
    hold("3000 3000 | 9 |/ 5500 100 | 9 |", true, 5662310, 5662310);
}

int main(void)
{
    RUN(test_bucketed__caps);
    return check_summary();
}
