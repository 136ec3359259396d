/*
 * predict/edit/edit.h - changes of the simulated graph, and the basis that they
 * share.
 */
#ifndef MSIM_PREDICT_EDIT_EDIT_H
#define MSIM_PREDICT_EDIT_EDIT_H
#include "predict/pipeline.h"

/* ---- edit ---------------------------------------------------------------- */
/*
 * Changes to the simulated graph of a job: work that is inserted, replaced,
 * fused, moved or sent in another type.
 *
 * The base's graph is never touched. Edits make a basis of their own
 * (msim_basis), which is predicted from as the base is; where they change
 * durations alone it has the base's graph.
 *
 *     {"insert": {"after": "op:aten::mm", "microseconds": 10}}
 *
 * Edits go one after the other, by kind in the order of enum msim_edit_kind and
 * within a kind by their text: so the order in a file does not matter.
 */

enum msim_edit_kind {
    MSIM_EDIT_QUANTISE,
    MSIM_EDIT_FUSE,
    MSIM_EDIT_REPLACE,
    MSIM_EDIT_INSERT,
    MSIM_EDIT_OVERLAP,
    MSIM_EDIT_STRAGGLE,
};

/* Where inserted work runs. */
enum msim_edit_on { MSIM_ON_SAME, MSIM_ON_STREAM, MSIM_ON_NEW };

enum msim_fuse {
    MSIM_FUSE_SELECT,
    MSIM_FUSE_POINTWISE,
    MSIM_FUSE_ATTENTION,
    MSIM_FUSE_OPTIMIZER
};

#define MSIM_EDIT_TENSORS 8
#define MSIM_EDIT_DIMS    8

/* An operator by its tensor arguments. */
struct msim_edit_op {
    const char *name; /* NULL: none */
    struct msim_edit_tensor {
        uint32_t n; /* sizes */
        int64_t sizes[MSIM_EDIT_DIMS];
        enum msim_dtype dtype;
    } tensors[MSIM_EDIT_TENSORS];
    uint32_t n;
};

struct msim_edit {
    enum msim_edit_kind kind;
    const char *text; /* what orders edits of one kind; lives as long */
    bool selects;     /* `select` says which work; false: all that fits */
    struct msim_scale select;
    const char *chosen;     /* its text */
    struct msim_edit_op op; /* INSERT, REPLACE: priced by the models, */
    double us;              /* or so long */
    double host_us;         /* INSERT: of the host, to launch each */
    bool before;            /* INSERT: else after */
    enum msim_edit_on on;
    int64_t stream;
    enum msim_fuse fuse;
    enum msim_dtype forward, backward; /* QUANTISE; UNKNOWN: as they are */
    double sigma;                      /* STRAGGLE: of the logarithm */
    uint64_t seed;
};

/* ---- edit basis ---------------------------------------------------------- */
/*
 * A basis with edits: what a scenario of the graph is predicted from, as the
 * base is from its own.
 */

/*
 * `base` with the edits, which are sorted for it. EUSAGE where the job does not
 * have what an edit asks for. On success the caller owns `*out`
 * (msim_basis_free()), for which `base` must live; on failure it is NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_basis_edited(struct msim_basis **out,
                                   const struct msim_basis *base,
                                   struct msim_edit *edits, uint32_t n,
                                   const struct msim_predict_settings *s,
                                   const struct msim_inputs *in,
                                   const struct msim_target *to,
                                   struct msim_error *err);

#endif
