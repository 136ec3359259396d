/* The line on a terminal, which a pseudo-terminal takes in the place of one. */
#include "cli/cmd.h"
#include "tests/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int keyboard = -1, screen = -1, plain = -1;

/* Standard error is the screen from begun() to shown(), so that failures of
 * checks are not on it. */
static void on_screen(void)
{
    dup2(screen, STDERR_FILENO);
}

static void start(struct msim_progress *p, const char *term)
{
    keyboard = posix_openpt(O_RDWR | O_NOCTTY);
    REQUIRE(keyboard >= 0 && grantpt(keyboard) == 0 && unlockpt(keyboard) == 0);
    screen = open(ptsname(keyboard), O_RDWR | O_NOCTTY);
    REQUIRE(screen >= 0);
    if (term)
        setenv("TERM", term, 1);
    else
        unsetenv("TERM");
    memset(p, 1, sizeof(*p));
    on_screen();
    msim_progress_start(p, "reading");
}

/* What has been shown since the last look: what is before a mark on the screen.
 */
static const char *shown(void)
{
    static char text[400];
    size_t n = 0;
    ssize_t more = write(screen, "|", 1);

    dup2(plain, STDERR_FILENO);
    while (more > 0 && (n == 0 || text[n - 1] != '|')) {
        more = read(keyboard, text + n, sizeof(text) - n);
        n += more > 0 ? (size_t)more : 0;
    }
    text[n > 0 ? n - 1 : 0] = '\0';
    return text;
}

static void end(void)
{
    close(keyboard);
    close(screen);
}

/* As if work had begun, and had been looked at, so long ago. */
static void begun(struct msim_progress *p, double start_s, double last_s)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    p->start = p->last = now;
    p->start.tv_sec -= (time_t)start_s;
    p->start.tv_nsec -= (long)(1e9 * (start_s - (double)(time_t)start_s));
    p->last.tv_nsec -= (long)(1e9 * last_s);
    on_screen();
}

static void test_progress__bytes(void)
{
    struct msim_progress p;

    start(&p, "xterm");
    begun(&p, 5, 1);
    msim_progress_bytes(&p, 1500000, 6000000);
    CHECK_STR(shown(), "\rmystique-sim: reading:  25 % of 6 MB\033[K");
    begun(&p, 5, 1);
    msim_progress_bytes(&p, 7000000, 0); /* of a pipe */
    CHECK_STR(shown(), "\rmystique-sim: reading: 7 MB\033[K");
    end();
}

static void test_progress__count(void)
{
    struct msim_progress p;

    start(&p, "xterm");
    begun(&p, 5, 1);
    msim_progress_count(&p, 1, 2);
    CHECK_STR(shown(), "\rmystique-sim: reading: 1 of 2 files\033[K");
    end();
}

/* 30 s for three of four parts: 10 s for the last. */
static void test_progress__parts(void)
{
    struct msim_progress p;

    start(&p, "xterm");
    begun(&p, 30, 1);
    msim_progress_parts(&p, 3, 4);
    CHECK_STR(shown(), "\rmystique-sim: reading:  75 %, 10 s left\033[K");
    begun(&p, 30, 1);
    msim_progress_parts(&p, 0, 4);
    CHECK_STR(shown(), "\rmystique-sim: reading:   0 %\033[K");
    begun(&p, 30, 1);
    msim_progress_parts(&p, 0, 0);
    CHECK_STR(shown(), "");
    end();
}

/* Nothing within a second of the begin, nor a tenth of one of the last look. */
static void test_progress__times(void)
{
    struct msim_progress p;

    start(&p, "xterm");
    CHECK(p.start.tv_sec == p.last.tv_sec && p.start.tv_sec > 0);
    msim_progress_count(&p, 1, 2);
    CHECK_STR(shown(), "");
    begun(&p, 0.2, 0.15);
    msim_progress_count(&p, 1, 2);
    CHECK_STR(shown(), "");
    begun(&p, 5, 0);
    p.last.tv_sec += 60;
    msim_progress_count(&p, 1, 2);
    CHECK_STR(shown(), "");
    begun(&p, 1.1, 0.12);
    msim_progress_count(&p, 1, 2);
    CHECK(strlen(shown()) > 0);
    p.last.tv_sec += 60; /* of now, which it has become */
    on_screen();
    msim_progress_count(&p, 2, 2);
    CHECK_STR(shown(), "");
    end();
}

static void test_progress__end(void)
{
    struct msim_progress p;

    start(&p, "xterm");
    msim_progress_end(&p); /* of what was short */
    CHECK_STR(shown(), "");
    begun(&p, 5, 1);
    msim_progress_count(&p, 1, 2);
    CHECK(strlen(shown()) > 0);
    on_screen();
    msim_progress_end(&p);
    CHECK_STR(shown(), "\r\033[K");
    on_screen();
    msim_progress_end(&p);
    CHECK_STR(shown(), "");
    end();
}

/* What cannot overwrite a line gets none. */
static void test_progress__dumb(void)
{
    const char *const terms[] = {"dumb", NULL};

    for (int i = 0; i < 2; i++) {
        struct msim_progress p;

        start(&p, terms[i]);
        begun(&p, 5, 1);
        msim_progress_bytes(&p, 1, 2);
        msim_progress_count(&p, 1, 2);
        msim_progress_parts(&p, 1, 2);
        msim_progress_end(&p);
        CHECK_STR(shown(), "");
        end();
    }
}

int main(void)
{
    plain = dup(STDERR_FILENO);
    RUN(test_progress__bytes);
    RUN(test_progress__count);
    RUN(test_progress__parts);
    RUN(test_progress__times);
    RUN(test_progress__end);
    RUN(test_progress__dumb);
    return check_summary();
}
