/*
 * core/lives/lives.h - which tensors of an execution trace are one piece of
 * memory, and for how long.
 *
 * A storage id is used again once its memory is free, so that it names one life
 * after another:
 *
 *     a = mm(x, y)    storage 7 begins; x and y were there before
 *     b = a.view(-1)  storage 7, an input's: the same life
 *     c = relu(b)     storage 9 begins
 *                     (a and b are freed: no operator says so)
 *     d = mm(c, c)    storage 7 comes out and did not go in: another life
 *
 * No schema is needed. Operators are walked in the order in which they began,
 * those of all threads together: by node id, which counts entries, or by start
 * where the ET is linked to a Kineto trace. What goes in is on the life that
 * its storage has then. What comes out, when the last operator below has
 * returned, is
 *   (a) on the life of its storage, if an operator of this sub-tree began it,
 *   (b) else on that of an input, if the storage is that of an input: a view,
 *       or written in place,
 *   (c) else on a new life. `resize_`, and `out=` of a tensor without memory,
 *       are such. A collective (record_param_comms) begins none: it writes what
 *       its caller holds.
 * A tensor without elements is on no life: all of them share ids. Where a file
 * gives no storage (0), every tensor id stands for one of its own.
 */
#ifndef MSIM_CORE_LIVES_LIVES_H
#define MSIM_CORE_LIVES_LIVES_H
#include "core/trace/trace.h"

/* ---- lives --------------------------------------------------------------- */

/*
 * A life: one storage from the operator that made it to the last that names
 * it. First and last are in the order of entry, so that a parent comes before
 * what it encloses, which may have made the storage: where the outermost
 * operators are looked at, theirs are the first and the last, too.
 */
struct msim_life {
    uint32_t born;        /* innermost op whose output began it; of what a
                             gather is the first to fill, the first that names
                             it; MSIM_NONE: it was there before the trace */
    uint32_t first, last; /* first and last op that names it */
    uint64_t bytes;       /* the furthest that a tensor on it reaches: by its
                             strides, else offset and elements; 0 where no
                             dtype is known */
    bool guessed;         /* only views with gaps say so, of which no strides
                             are kept */
    uint8_t device;       /* enum msim_device */
};

struct msim_lives {
    uint32_t *of; /* by row of trace->tensor_ids: its life; MSIM_NONE: it has no
                     elements, or no operator of the trace names it */
    uint32_t *place; /* by operator: its number in the order of entry */
    struct msim_life *rows;
    uint32_t n, cap;
};

/*
 * All lives of `t`, none where it has no ET. Where operators of several
 * iterations share one node of a short ET, `of` is that of the last. `*out` is
 * released with msim_lives_release(); on failure (ENOMEM, ELIMIT) it is empty.
 */
MSIM_MUST_CHECK
enum msim_status msim_lives_find(struct msim_lives *out,
                                 const struct msim_trace *t);
void msim_lives_release(struct msim_lives *l);

/*
 * The tensors of a list in turn, with the life of each:
 *
 *     struct msim_lives_each e = msim_lives_inputs(l, t, op);
 *     while (msim_lives_next(&e))
 *         ... e.life, NONE: it has none; e.arg ...
 */
struct msim_lives_each {
    const struct msim_lives *l;
    const struct msim_arg *arg, *next, *end;
    uint32_t id, life;
};
struct msim_lives_each msim_lives_inputs(const struct msim_lives *l,
                                         const struct msim_trace *t,
                                         uint32_t op);
struct msim_lives_each msim_lives_outputs(const struct msim_lives *l,
                                          const struct msim_trace *t,
                                          uint32_t op);
bool msim_lives_next(struct msim_lives_each *e);

/* ---- weights ------------------------------------------------------------- */
/*
 * Which tensors of a trace are weights, or their gradients, states and copies:
 * they keep their sizes whatever the batch.
 *
 * Where a trace has ids of tensors, a weight is known by its memory: what an
 * operator takes as one, what an optimizer names, what gradients are kept for,
 * and what is cast or copied from those. With 4 samples of 512 tokens in a
 * layer of 2048 x 512
 *
 *     [2048, 512]   is the weight where it is that memory, and data elsewhere
 *
 * Without ids the shape must do: what is shaped as a weight somewhere, or as
 * its transpose, is one everywhere.
 */

struct msim_weights {
    const struct msim_trace *t;
    uint8_t *shape; /* by index of trace->dims: of a weight, or its transpose */
    uint8_t *of_id; /* by row of trace->tensor_ids; NULL: no ids */
};

/* Release in any case; `t` must live as long. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_weights_find(struct msim_weights *out,
                                   const struct msim_trace *t);
void msim_weights_release(struct msim_weights *w);

/* By life of `t`: is it a weight? `*out` is the caller's to free. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_weights_by_life(uint8_t **out, const struct msim_lives *l,
                                      const struct msim_trace *t);

/* Is tensor `a`, with row `id` of trace->tensor_ids (NONE: none), a weight? */
bool msim_weights_have(const struct msim_weights *w, const struct msim_arg *a,
                       uint32_t id);

/*
 * The first tensor from operator `*op` on that is data, by its place among the
 * arguments of an operator with weights, and has the shape of a weight: without
 * ids it counts as one. False, and never with ids: there is none.
 */
bool msim_weights_doubtful(const struct msim_weights *w, uint32_t *op,
                           const struct msim_arg **data);

#endif
