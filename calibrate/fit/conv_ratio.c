/*
 * calibrate/fit/conv_ratio.c - times of a convolution's backward passes over
 * that of its forward pass.
 */
#include "calibrate/fit/law_fit.h"

#include "core/base/quantile.h"

#include <stdlib.h>
#include <string.h>

#define FULL_TILE 128

static bool same_conv(const struct msim_sample *a, const struct msim_sample *b)
{
    struct msim_work w = b->work;

    w.u.conv.pass = a->work.u.conv.pass;
    return strcmp(a->gpu, b->gpu) == 0 && a->work.dtype == b->work.dtype &&
           strcmp(a->framework, b->framework) == 0 &&
           memcmp(&a->work.u.conv, &w.u.conv, sizeof(w.u.conv)) == 0;
}

/* Both passes fill their tiles, and neither can use Winograd's algorithm, which
 * needs fewer multiplications: the ratio is that of the passes alone. */
static bool is_full(const struct msim_work *w)
{
    return w->u.conv.k % FULL_TILE == 0 && w->u.conv.c % FULL_TILE == 0 &&
           (w->u.conv.r != 3 || w->u.conv.stride_h > 1);
}

static bool is_strided(const struct msim_work *w)
{
    return is_full(w) && w->u.conv.stride_h > 1;
}

static void pass_ratio(struct msim_conv_ratio *out,
                       const struct msim_samples *s, enum msim_conv_pass pass,
                       bool (*counts)(const struct msim_work *w))
{
    double *ratios = malloc(((size_t)s->n + 1) * sizeof(*ratios));
    uint32_t n = 0;

    *out = (struct msim_conv_ratio){.median = 1, .p10 = 1, .p90 = 1};
    for (uint32_t i = 0; ratios && i < s->n; i++) {
        if (s->rows[i].law != &MSIM_LAW_CONV ||
            s->rows[i].work.u.conv.pass != pass || !counts(&s->rows[i].work))
            continue;
        for (uint32_t j = 0; j < s->n; j++) {
            if (s->rows[j].law == &MSIM_LAW_CONV &&
                s->rows[j].work.u.conv.pass == MSIM_CONV_FORWARD &&
                same_conv(&s->rows[i], &s->rows[j])) {
                ratios[n++] = s->rows[i].us / s->rows[j].us;
                break;
            }
        }
    }
    if (n > 0) {
        out->median = msim_median(ratios, n);
        out->p10 = ratios[n / 10];
        out->p90 = ratios[n - 1 - n / 10];
        out->pairs = n;
    }
    free(ratios);
}

void msim_conv_ratios_make(struct msim_conv_ratios *out,
                           const struct msim_samples *s)
{
    pass_ratio(&out->strided_data, s, MSIM_CONV_BACKWARD_DATA, is_strided);
    pass_ratio(&out->weight, s, MSIM_CONV_BACKWARD_WEIGHT, is_full);
}
