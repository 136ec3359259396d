/*
 * core/rewrite/shard_units.h - what is shared out together: the parameters of
 * one block of layers, those of no block (the root, unit 0), and where asked
 * for those of one batch norm.
 */
#ifndef MSIM_CORE_REWRITE_SHARD_UNITS_H
#define MSIM_CORE_REWRITE_SHARD_UNITS_H
#include "core/rewrite/weave/weave.h"

struct msim_shard_unit {
    int64_t elems;   /* of its parameters */
    uint32_t whole;  /* a storage for all of them */
    uint8_t dtype;   /* that most of them are computed with */
    uint8_t kept_as; /* and that the optimizer has */
    uint8_t device;
};

/* Where a pass needs a unit: statements, NONE where it does not. */
struct msim_shard_span {
    uint32_t forward, forward_last, backward, backward_last;
    uint32_t gradient_last; /* the last AccumulateGrad of it */
};

struct msim_shard_units {
    struct msim_weave *w;
    struct msim_shard_unit *rows;
    uint32_t n;
    uint32_t together;    /* unit i + together has what of unit i is apart */
    const uint8_t *apart; /* by life; NULL: none is, and there are no such */
    uint32_t *of;         /* by life: of a parameter, else NONE */
    uint32_t *in_pass;    /* by block: its number in its pass, from 1 */
    uint32_t *norm;       /* by statement: the unit of a batch norm, or
                             NONE */
    uint32_t *members, *first; /* lives of unit i: [first[i], first[i + 1]) */
    struct msim_shard_span *span; /* by pass and unit */
};

/*
 * With `norms` each batch norm is a unit of its own, as FSDP's automatic
 * wrapping makes it under mixed precision (MixedPrecision:
 * _module_classes_to_ignore). Parameters that are marked in `apart`, by life,
 * which other ranks share, are units of their own. Release in any case. EUSAGE
 * where no parameter is found; ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_shard_units_find(struct msim_shard_units *u,
                                       struct msim_weave *w, bool norms,
                                       const uint8_t *apart);
void msim_shard_units_release(struct msim_shard_units *u);

/* Name every unit as a whole: its parameters are views of one tensor. */
MSIM_MUST_CHECK
enum msim_status msim_shard_units_view(struct msim_shard_units *u,
                                       struct msim_draft_place at);

/* From now on parameters of `unit` are in `storage`. */
void msim_shard_units_put(struct msim_shard_units *u, uint32_t unit,
                          uint32_t storage);

/*
 * Each of `ranks` has updated one share of every unit, of those that are apart
 * or of the others, which is whole on all of them: all-gather the shares, and
 * wait. `*sequence` counts collectives.
 */
MSIM_MUST_CHECK
enum msim_status msim_shard_units_gather(struct msim_shard_units *u, bool apart,
                                         uint32_t ranks,
                                         struct msim_draft_place at,
                                         int64_t *sequence);

/* Where pass `pass` needs unit `unit`. */
struct msim_shard_span *msim_shard_units_span(const struct msim_shard_units *u,
                                              uint32_t pass, uint32_t unit);

/* The unit that statement `s` of a pass belongs to. */
uint32_t msim_shard_units_of(const struct msim_shard_units *u, uint32_t s);

#endif
