/*
 * calibrate/rows/held_out_rows.c - predictions of held-out rows, one by one.
 */
#include "calibrate/rows/samples.h"

#include <math.h>
#include <string.h>

struct msim_held_out_row msim_held_out_row_of(double measured_us,
                                              double predicted_us, double low,
                                              double high, uint32_t fold)
{
    return (struct msim_held_out_row){.measured_us = measured_us,
                                      .predicted_us = predicted_us,
                                      .low_us = predicted_us * exp(low),
                                      .high_us = predicted_us * exp(high),
                                      .fold = fold};
}

enum msim_status msim_held_out_header_write(struct msim_file *out)
{
    static const char HEADER[] =
        "platform,table_gpu,family,framework,cell,fold,flops,bytes,"
        "measured_us,predicted_us,low_us,high_us\n";

    return msim_file_write(out, HEADER, strlen(HEADER));
}

/* A row's size in bytes: the least memory traffic, or what is sent. */
static double bytes_of(const struct msim_work *w)
{
    if (w->family == MSIM_FAMILY_COLLECTIVE)
        return (double)w->u.coll.bytes;
    if (w->family == MSIM_FAMILY_DISPATCH) /* out in 8 bits, back in 16 */
        return (double)w->u.dispatch.tokens * (double)w->u.dispatch.hidden *
               (w->u.dispatch.combine ? 2 : 1);
    return w->bytes_read + w->bytes_written;
}

enum msim_status msim_held_out_row_write(struct msim_file *out,
                                         const char *platform,
                                         const char *family,
                                         const struct msim_sample *s,
                                         const struct msim_held_out_row *h)
{
    if (h->predicted_us <= 0)
        return MSIM_OK;
    return msim_csv_print_draft(
        out, "%s,%s,%s,%s,%s,%u,%.4g,%.4g,%.5g,%.5g,%.5g,%.5g\n", platform,
        s->gpu, family, s->framework, s->key, h->fold, s->work.flops,
        bytes_of(&s->work), h->measured_us, h->predicted_us, h->low_us,
        h->high_us);
}
