/*
 * cli/session_warn.h - what a prediction's figures rest on that its reader
 * should know: whose times they are, at which clock, on which ranks, and what
 * the traces cast doubt on.
 */
#ifndef MSIM_CLI_SESSION_WARN_H
#define MSIM_CLI_SESSION_WARN_H
#include "cli/session.h"

/* Add the warnings to the job; its graph is built. */
void msim_session_warn(struct msim_session *s);

#endif
