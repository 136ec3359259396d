/*
 * replay/emit/text.h - text that grows; a failure is kept until it is asked
 * for.
 */
#ifndef MSIM_REPLAY_EMIT_TEXT_H
#define MSIM_REPLAY_EMIT_TEXT_H
#include "core/base/vec.h"

struct msim_text {
    struct msim_vec bytes; /* its owner frees bytes.data */
    enum msim_status status;
};

void msim_text_add(struct msim_text *t, const char *fmt, ...) MSIM_PRINTF(2, 3);
void msim_text_bytes(struct msim_text *t, const char *bytes, size_t n);

/* What is there, ended by a NUL; "" while it is empty or after a failure. */
const char *msim_text_get(struct msim_text *t);

#endif
