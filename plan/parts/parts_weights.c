/*
 * plan/parts/parts_weights.c - operators with weights: linear layers, norms.
 */
#include "plan/parts/parts_maker.h"

#include <math.h>

/* rows x in -> rows x out: forward, the input's gradient, the weight's. */
void msim_parts_linear(struct msim_parts_maker *k, const char *name,
                       double rows, double in, double out)
{
    double kept; /* bytes of an element for backward */

    k->narrow = msim_parts_is_narrow(k, name, rows, in, out);
    if (k->s->technique.lora_rank) {
        msim_parts_adapted(k, name, rows, in, out);
        return;
    }
    msim_parts_casts(k, name, rows * in, in * out, rows * out);
    msim_parts_product(k, name, MSIM_PASS_FORWARD, rows, out, in);
    msim_parts_product(k, name, MSIM_PASS_BACKWARD, rows, in, out);
    msim_parts_product(k, name, MSIM_PASS_BACKWARD, out, in, rows);
    k->part->parameters += in * out + (k->m->bias ? out : 0);
    kept = k->narrow ? 1 : k->each;
    k->part->saved += rows * in * kept;
    k->part->delayed += rows * (in * kept + out * k->each);
    if (in == (double)k->m->hidden && rows > k->seq_tokens)
        k->part->gathered +=
            (rows - rows * k->seq_tokens / k->tokens) * in * kept;
}

void msim_parts_norm(struct msim_parts_maker *k, const char *name, double rows,
                     double cols)
{
    static const char *const VARIANTS[2][2] = {
        {"rms_norm", "rms_norm_backward"},
        {"layer_norm", "layer_norm_backward"}};
    double bytes = rows * cols * k->each;

    for (int pass = 0; pass < 2; pass++) {
        struct msim_work *w =
            msim_parts_add(k, MSIM_PART_OP_NORM, name, (enum msim_pass)pass);

        w->family = MSIM_FAMILY_NORM;
        w->variant = VARIANTS[k->m->layernorm][pass];
        w->u.vector.elems = msim_whole(fmax(rows * cols, 1));
        w->u.vector.rows = msim_whole(fmax(rows, 1));
        w->u.vector.cols = msim_whole(cols);
        w->bytes_read = bytes * (1 + pass);
        w->bytes_written = bytes;
    }
    k->part->parameters += cols * (k->m->layernorm ? 2 : 1);
    k->part->saved += bytes;
    msim_parts_plain_norm(k, name, rows * cols);
}
