/*
 * predict/edit/edits.h - one function a kind of edit. Each changes the remake,
 * or refuses. Private to the room.
 */
#ifndef MSIM_PREDICT_EDIT_EDITS_H
#define MSIM_PREDICT_EDIT_EDITS_H
#include "predict/edit/remake.h"

typedef enum msim_status msim_edit_fn(struct msim_remake *d);

/* edit_tasks.c */
msim_edit_fn msim_edit_insert, msim_edit_replace, msim_edit_straggle;
/* edit_fuse.c */
msim_edit_fn msim_edit_fuse;
/* edit_quantise.c */
msim_edit_fn msim_edit_quantise;
/* edit_overlap.c */
msim_edit_fn msim_edit_overlap;

#endif
