/*
 * cli/capture/capture_model.h - an execution trace of a PyTorch model that the
 * user names: scripts/capture.py, as a process, records one on the meta device.
 *
 *     struct msim_captured c = {0};
 *     status = msim_capture_model(&c, data, "net.py:build", &err);
 *     ... c.path is the trace ...
 *     msim_captured_release(&c);
 *
 * Python is $PYTHON, else python3. What Python has to say of the model becomes
 * the error; what capture.py warns of is told where it recorded one. Allocates
 * nothing; not for several threads (the environment).
 */
#ifndef MSIM_CLI_CAPTURE_CAPTURE_MODEL_H
#define MSIM_CLI_CAPTURE_CAPTURE_MODEL_H
#include "core/base/status.h"

#include <limits.h>

struct msim_captured {
    char folder[PATH_MAX]; /* temporary; empty: none */
    char path[PATH_MAX];   /* of the trace, in it */
    char said[PATH_MAX];   /* of what Python said, in it */
};

/* `data` is the data folder, beside which capture.py lies. Release in all
 * cases. */
MSIM_MUST_CHECK
enum msim_status msim_capture_model(struct msim_captured *c, const char *data,
                                    const char *model, struct msim_error *err);

/* Show each warning of capture.py, without the word, once there is a trace. */
void msim_captured_warnings(const struct msim_captured *c,
                            void (*show)(const char *text));

/* Remove the files; a zeroed one is fine. */
void msim_captured_release(struct msim_captured *c);

#endif
