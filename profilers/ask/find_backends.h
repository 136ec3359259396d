/*
 * profilers/ask/find_backends.h - find the backends of this machine: the
 * profilers in this program's folder, and PyTorch's.
 */
#ifndef MSIM_PROFILERS_ASK_FIND_BACKENDS_H
#define MSIM_PROFILERS_ASK_FIND_BACKENDS_H
#include "core/base/status.h"

#define MSIM_BACKENDS     8
#define MSIM_BACKEND_LINE 8192 /* bytes of a command, with quotes */

/* A backend's command, and its share of a calibration's budget. */
struct msim_backend_command {
    const char *command; /* of the shell */
    double share;        /* over the sum of all shares */
};

struct msim_backends {
    char commands[MSIM_BACKENDS][MSIM_BACKEND_LINE];
    struct msim_backend_command list[MSIM_BACKENDS];
    uint32_t n;
    const char *warning; /* static text for the user; NULL: none */
};

/*
 * The backends in `names`: torch, cuda, cpu, or command lines, separated by
 * commas. NULL: those that time this machine's GPU, else its CPU, PyTorch
 * first. `*b` gets their command lines and shares of the budget, and must not
 * be moved afterwards. ENOMODEL where a backend is not there.
 */
MSIM_MUST_CHECK
enum msim_status msim_backends_find(struct msim_backends *b, const char *names,
                                    struct msim_error *err);

/* "cuda" where there is a GPU for mystique-prof-cuda, else "cpu". */
const char *msim_backends_device(void);

#endif
