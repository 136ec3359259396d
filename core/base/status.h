/*
 * core/base/status.h - what went wrong, as a code for programs and a sentence
 * for people.
 *
 * Functions that can fail return an msim_status (0 is success, failures are
 * negative). Those that read input also take a caller-owned msim_error, which
 * may be NULL; the first failure wins, so an error reported deep down is not
 * overwritten on the way up. Library code never prints and never exits.
 */
#ifndef MSIM_CORE_BASE_STATUS_H
#define MSIM_CORE_BASE_STATUS_H
#include <stddef.h>
#include <stdint.h>

#define MSIM_MUST_CHECK     __attribute__((warn_unused_result))
#define MSIM_PRINTF(fmt, a) __attribute__((format(printf, fmt, a)))

/* What a program ends with; mystique.h has the same numbers. */
enum msim_exit {
    MSIM_EXIT_OK = 0,
    MSIM_EXIT_CHECK = 1,
    MSIM_EXIT_USAGE = 2,
    MSIM_EXIT_INPUT = 3,
    MSIM_EXIT_INTERNAL = 4
};

/* X(name, value, exit code, sentence) */
#define MSIM_STATUS_MAP(X)                                                     \
    X(OK, 0, OK, "success")                                                    \
    X(ENOMEM, -1, INTERNAL, "out of memory")                                   \
    X(EIO, -2, INPUT, "cannot read or write")                                  \
    X(ESYNTAX, -3, INPUT, "not well-formed input")                             \
    X(ETRUNCATED, -4, INPUT, "input ends early")                               \
    X(EFORMAT, -5, INPUT, "well-formed, but not what was wanted")              \
    X(ECYCLE, -6, INPUT, "the dependencies form a cycle")                      \
    X(ELIMIT, -7, INPUT, "a limit was exceeded")                               \
    X(EUNKNOWN, -8, USAGE, "no such name")                                     \
    X(EUSAGE, -9, USAGE, "wrong arguments")                                    \
    X(ECHECK, -10, CHECK, "a check failed")                                    \
    X(ENOMODEL, -11, INPUT, "no model covers this operation")                  \
    X(EINTERNAL, -12, INTERNAL, "internal error")                              \
    X(EWRITE, -13, INTERNAL, "cannot write")

enum msim_status {
#define X(name, value, code, sentence) MSIM_##name = (value),
    MSIM_STATUS_MAP(X)
#undef X
};

#define MSIM_OFFSET_NONE UINT64_MAX

/* Where and why; zero-initialised means "no error yet". */
struct msim_error {
    enum msim_status status;
    char file[256];  /* empty: not about a file */
    uint64_t offset; /* byte offset in the (inflated) input, or OFFSET_NONE */
    char text[1024]; /* what was found, what was wanted, what to do */
};

/* A static sentence for `status`; never NULL. */
const char *msim_status_text(enum msim_status status);

/* What a program that fails so ends with: one of enum msim_exit. */
int msim_status_exit(enum msim_status status);

/*
 * Record an error unless one is recorded already; returns `status` so that a
 * failing function can end in `return msim_fail(...)`. `err` and `file` may
 * be NULL.
 */
enum msim_status msim_fail(struct msim_error *err, enum msim_status status,
                           const char *file, uint64_t offset, const char *fmt,
                           ...) MSIM_PRINTF(5, 6);

/*
 * What people read of a failure, in `out`: its file and offset where it has
 * them, and its text, or the sentence of `status`. `err` may be NULL.
 */
void msim_error_sentence(char *out, size_t size, enum msim_status status,
                         const struct msim_error *err);

/* Return early on failure; only where the scope owns nothing. */
#define MSIM_TRY(expr)                                                         \
    do {                                                                       \
        enum msim_status try_status_ = (expr);                                 \
        if (try_status_ != MSIM_OK)                                            \
            return try_status_;                                                \
    } while (0)

#endif
