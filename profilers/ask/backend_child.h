/*
 * profilers/ask/backend_child.h - backends from outside: found, started as
 * processes, asked.
 */
#ifndef MSIM_PROFILERS_ASK_BACKEND_CHILD_H
#define MSIM_PROFILERS_ASK_BACKEND_CHILD_H
#include "core/base/json.h"
#include "core/base/status.h"
#include "profilers/experiment.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* ---- experiment members -------------------------------------------------- */
/*
 * The members of an experiment's line, for whoever asks.
 *
 * One function lists them; what writes, hashes and describes an experiment
 * visits that list, so that all agree.
 */

/* A text, or a number where that is NULL. */
struct msim_member {
    const char *key, *text;
    double number;
};

/* Visit the members that profilers/experiment.h reads, but what runs beside. */
void msim_experiment_visit(const struct msim_experiment *e, void *ctx,
                           void (*visit)(void *ctx,
                                         const struct msim_member *m));

/* They as an object of the caller's; NULL without memory. */
cJSON *msim_experiment_json(const struct msim_experiment *e);

/* ---- find backends ------------------------------------------------------- */
/*
 * Find the backends of this machine: the profilers in this program's folder,
 * and PyTorch's.
 */

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

/* ---- backend child ------------------------------------------------------- */
/* A backend as a child process, asked over pipes, one line a question. */

/* How long a greeting is waited for, times the patience with one experiment: a
 * program, its libraries and its device begin. */
#define MSIM_CHILD_START 3.0

/* Seconds of a clock that is never set. */
double msim_child_now(void);

struct msim_child {
    pid_t pid; /* 0: not running */
    int to, from;
    bool unusable; /* it ended as programs do whose device is unusable
                      (serve.h), before it read the last question */
    double id;     /* of the question that was asked last */
    char *buffer;  /* bytes that were read and are no answer yet; owned */
    size_t used, size;
};

/*
 * Start `command` with the shell and read its greeting; `*greeting` is the
 * caller's. When this process ends, however it ends, the child's input ends,
 * too, and the child should end with it. A child that ends without a greeting
 * is started once more, a second later. EIO where it ends again, ELIMIT where
 * no greeting comes within `seconds`. `c` is zeroed before the first start, and
 * stopped after the last.
 */
MSIM_MUST_CHECK
enum msim_status msim_child_start(struct msim_child *c, const char *command,
                                  double seconds, cJSON **greeting,
                                  struct msim_error *err);

/*
 * Send one line, which has an "id", and read the answer; `*answer` is the
 * caller's. EIO where the child ended ("killed by signal 11"), ELIMIT where no
 * answer came within `seconds` or none that ends, ESYNTAX where the answer is
 * no JSON object, EFORMAT where it is of another question or the child has sent
 * lines that nobody asked for. The child is stopped after each of these.
 */
MSIM_MUST_CHECK
enum msim_status msim_child_ask(struct msim_child *c, const cJSON *question,
                                double seconds, cJSON **answer,
                                struct msim_error *err);

/* The next answer, where one question has several; fails as above. */
MSIM_MUST_CHECK
enum msim_status msim_child_next(struct msim_child *c, double seconds,
                                 cJSON **answer, struct msim_error *err);

/*
 * Nothing more is asked: close the child's input, and wait for its end. EFORMAT
 * where it still sends something.
 */
MSIM_MUST_CHECK
enum msim_status msim_child_end(struct msim_child *c, struct msim_error *err);

/* Close the child's input; kill it where it does not end within seconds. */
void msim_child_stop(struct msim_child *c);

#endif
