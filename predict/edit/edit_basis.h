/*
 * predict/edit/edit_basis.h - a basis with edits: what a scenario of the graph
 * is predicted from, as the base is from its own.
 */
#ifndef MSIM_PREDICT_EDIT_EDIT_BASIS_H
#define MSIM_PREDICT_EDIT_EDIT_BASIS_H
#include "predict/edit/edit.h"

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
