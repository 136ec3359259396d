/*
 * replay/emit/python_state.h - a Python benchmark while it is written; for this
 * room.
 */
#ifndef MSIM_REPLAY_EMIT_PYTHON_STATE_H
#define MSIM_REPLAY_EMIT_PYTHON_STATE_H
#include "replay/emit/batch.h"
#include "replay/emit/result_names.h"
#include "replay/emit/text.h"

/* A list of whole numbers that stands in the data file: L[i] in the program. */
struct msim_number_list {
    uint32_t first, n; /* of struct msim_body.numbers */
};

struct msim_body {
    const struct msim_program *p;
    const struct msim_loops *fold;
    struct msim_names names;
    struct msim_batch batch;
    uint32_t layers; /* the loop that stands for the model's layers, or NONE */
    struct msim_text text;
    struct msim_vec lists;   /* struct msim_number_list */
    struct msim_vec numbers; /* int64_t */
    struct msim_vec spaces;  /* uint32_t: schemas whose name space is new */
    unsigned indent;
};

/* The list in the data file that holds these numbers; MSIM_NONE: ENOMEM. */
uint32_t msim_body_list(struct msim_body *b, const int64_t *numbers,
                        uint32_t n);

/* ---- lines: python_line.c ------------------------------------------------ */

/* Add a line as far indented as the program is. */
void msim_body_line(struct msim_body *b, const char *s);
/* The same; frees `line`, and keeps its failure. */
void msim_body_take_line(struct msim_body *b, struct msim_text *line);

/* ---- all statements: python_body.c --------------------------------------- */

/* The whole of step(). ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_body_write(struct msim_body *b);
void msim_body_release(struct msim_body *b);

#endif
