/*
 * core/rewrite/weave/emit.c - operators that a change inserts.
 */
#include "core/rewrite/weave/draft.h"

#include <string.h>

/* A draft's tensor of `x`, which must live as long. */
static struct msim_draft_tensor tensor(const struct msim_emit_flat *x)
{
    return (struct msim_draft_tensor){.dtype = x->dtype,
                                      .device = x->device,
                                      .n = 1,
                                      .storage = x->storage,
                                      .dims = &x->elems};
}

enum msim_status msim_emit_empty(struct msim_draft *d,
                                 struct msim_draft_place at,
                                 const struct msim_emit_flat *x)
{
    const struct msim_draft_tensor out = tensor(x);

    return msim_draft_add(
        d,
        &(struct msim_draft_op){
            .name = "aten::empty", .at = at, .out = &out, .n_out = 1},
        NULL);
}

enum msim_status msim_emit_copy(struct msim_draft *d,
                                struct msim_draft_place at,
                                const struct msim_emit_flat *to,
                                const struct msim_emit_flat *from)
{
    return msim_emit_op(d, at, "aten::copy_", to, to, from);
}

enum msim_status msim_emit_op(struct msim_draft *d, struct msim_draft_place at,
                              const char *name,
                              const struct msim_emit_flat *out,
                              const struct msim_emit_flat *in,
                              const struct msim_emit_flat *with)
{
    const struct msim_draft_tensor to = tensor(out);
    const struct msim_draft_tensor from[2] = {tensor(in),
                                              tensor(with ? with : in)};

    return msim_draft_add(d,
                          &(struct msim_draft_op){.name = name,
                                                  .at = at,
                                                  .in = from,
                                                  .n_in = with ? 2 : 1,
                                                  .out = &to,
                                                  .n_out = 1},
                          NULL);
}

/* ---- messages ------------------------------------------------------------
 */

static struct msim_comm comm_of(const struct msim_draft *d,
                                const struct msim_emit_message *m)
{
    return (struct msim_comm){
        .in_elems = (uint64_t)(m->elems ? m->elems : m->in.elems),
        .out_elems = (uint64_t)(m->elems ? m->elems : m->out.elems),
        .sequence = m->sequence,
        .peer = -1,
        .group = d->group,
        .op = MSIM_NONE,
        .collective = (uint8_t)m->collective,
        .dtype = m->in.dtype};
}

enum msim_status msim_emit_collective(struct msim_draft *d,
                                      struct msim_draft_place at,
                                      const struct msim_emit_message *m)
{
    struct msim_comm comm = comm_of(d, m);
    const struct msim_draft_tensor both[2] = {tensor(&m->in), tensor(&m->out)};

    const struct msim_draft_op op = {
        .name = m->name, .at = at, .in = both, .n_in = 2, .comm = &comm};

    if (d->out->world_size <= 1) /* NCCL moves nothing */
        comm.collective = MSIM_COLL_UNKNOWN;
    return strncmp(m->name, "nccl:", 5) ? msim_draft_add(d, &op, NULL)
                                        : msim_emit_recorded(d, op, m->name);
}

enum msim_status msim_emit_recorded(struct msim_draft *d,
                                    struct msim_draft_op op, const char *name)
{
    struct msim_draft_op label = {.name = name, .label = true, .at = op.at};

    op.name = "record_param_comms";
    MSIM_TRY(msim_draft_add(d, &op, &label.at.parent));
    return msim_draft_add(d, &label, NULL);
}

static struct msim_comm wait_of(const struct msim_draft *d, int64_t sequence)
{
    return (struct msim_comm){.sequence = sequence,
                              .peer = -1,
                              .group = d->group,
                              .op = MSIM_NONE,
                              .collective = MSIM_COLL_WAIT};
}

enum msim_status msim_emit_wait(struct msim_draft *d,
                                struct msim_draft_place at, int64_t sequence)
{
    const struct msim_comm comm = wait_of(d, sequence);

    return msim_draft_add(d,
                          &(struct msim_draft_op){.name = "record_param_comms",
                                                  .at = at,
                                                  .comm = &comm},
                          NULL);
}

enum msim_status msim_emit_recorded_wait(struct msim_draft *d,
                                         struct msim_draft_place at,
                                         int64_t sequence)
{
    const struct msim_comm comm = wait_of(d, sequence);

    return msim_emit_recorded(
        d, (struct msim_draft_op){.at = at, .comm = &comm}, "nccl:wait");
}
