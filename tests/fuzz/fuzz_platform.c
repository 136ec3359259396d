/*
 * Property: whatever is done to a platform file's bytes, loading it either
 * gives a platform whose predictions are finite and inside their intervals, or
 * fails with a sentence. Memory errors and leaks are the sanitizers' part.
 *
 * 60 cuts and 400 byte flips of data/platforms/v100.json, from a fixed seed.
 */
#include "models/estimate/model.h"
#include "models/platform/platform.h"
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

static char *text;
static size_t length;
static char path[] = "./msim-fuzz-platform-XXXXXX.json";

static uint64_t next_random(uint64_t *state)
{
    *state =
        *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static bool read_text(void)
{
    FILE *f = fopen(MSIM_DATA "/platforms/v100.json", "rb");

    if (!f)
        return false;
    fseek(f, 0, SEEK_END);
    length = (size_t)ftell(f);
    rewind(f);
    text = malloc(length);
    if (text && fread(text, 1, length, f) != length)
        length = 0;
    fclose(f);
    return text && length > 0;
}

/* The platforms that stand in are files of their own: none of them here. */
static void drop_stand_ins(void)
{
    char *at = memmem(text, length, "\"stand_ins\"", 11);
    char *stop = text + length;
    char *begin = at ? memchr(at, '[', (size_t)(stop - at)) : NULL;
    char *end = begin ? memchr(begin, ']', (size_t)(stop - begin)) : NULL;

    if (end)
        memset(begin + 1, ' ', (size_t)(end - begin - 1));
}

/* A flipped digit may leave any constant: finite, or nothing at all. */
static void predict(const struct msim_platform *p)
{
    struct msim_work w = {.family = MSIM_FAMILY_GEMM,
                          .dtype = MSIM_DT_F32,
                          .u.gemm = {.m = 96, .n = 96, .k = 96, .batch = 1}};
    struct msim_estimate e;

    if (msim_model_predict(p, &w, false, &e, NULL) == MSIM_OK)
        CHECK(e.us > 0 && e.low_us <= e.us && e.us <= e.high_us);
}

/* Whether the file was taken. */
static bool try_bytes(const char *bytes, size_t n)
{
    struct msim_error err = {0};
    struct msim_platform *p;
    FILE *f = fopen(path, "wb");

    if (!CHECK(f != NULL))
        return false;
    CHECK_UINT(fwrite(bytes, 1, n, f), n);
    fclose(f);
    if (msim_platform_load(&p, MSIM_DATA, path, &err) != MSIM_OK) {
        CHECK(*err.text != '\0');
        return false;
    }
    predict(p);
    msim_platform_free(p);
    return true;
}

static void test_platform__cuts(void)
{
    uint64_t state = 1;

    for (int i = 0; i < 60; i++)
        (void)try_bytes(text, (size_t)(next_random(&state) % length));
}

static void test_platform__flips(void)
{
    uint64_t state = 2;
    unsigned loaded = 0;

    for (int i = 0; i < 400; i++) {
        size_t at = (size_t)(next_random(&state) % length);
        char kept = text[at];

        text[at] = (char)(text[at] ^ (1 << next_random(&state) % 8));
        loaded += try_bytes(text, length);
        text[at] = kept;
    }
    CHECK(loaded > 100); /* most flips hit a digit */
}

int main(void)
{
    int fd = mkstemps(path, 5);

    if (fd < 0 || !read_text()) {
        fprintf(stderr, "the platform file cannot be read\n");
        return 1;
    }
    close(fd);
    drop_stand_ins();
    RUN(test_platform__cuts);
    RUN(test_platform__flips);
    unlink(path);
    free(text);
    return check_summary();
}
