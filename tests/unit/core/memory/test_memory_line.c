/*
 * tests/unit/core/memory/test_memory_line.c - the time line of memory: few
 * points, the peak among them.
 */
#include "core/memory/life_memory.h"

#include "tests/check.h"

#include <string.h>

#define PIECES 3000
#define END    5000

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Pieces of all sizes and lives, some from the begin and some to the end. */
static void fill(struct msim_held_piece *pieces, uint32_t seed)
{
    for (uint32_t i = 0; i < PIECES; i++) {
        uint32_t from = next(&seed) % END, last = from + next(&seed) % 400;

        pieces[i] = (struct msim_held_piece){
            .bytes = 1 + next(&seed) % (64u << 20),
            .from = i % 50 ? from : 0,
            .to = i % 70 && last < END ? last : END,
            .held = (uint8_t)(next(&seed) % MSIM_HELD_COUNT)};
    }
}

static uint64_t total(const struct msim_memory_point *p)
{
    uint64_t sum = 0;

    for (int k = 0; k < MSIM_HELD_COUNT; k++)
        sum += p->by[k];
    return sum;
}

/* What is held once everything up to the operator at `at` is taken, and what
 * ended before it is given back; no allocator. */
static uint64_t held_at(const struct msim_memory_picture *m, uint32_t at)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < m->n; i++)
        if (m->pieces[i].from <= at && m->pieces[i].to >= at)
            sum += m->pieces[i].bytes;
    return sum;
}

static void check_line(const struct msim_memory_peak *peak,
                       const struct msim_memory_line *line)
{
    uint64_t most = 0;
    bool parts = false;

    CHECK(line->n > MSIM_MEMORY_STRETCHES && line->n <= MSIM_MEMORY_POINTS);
    for (uint32_t i = 0; i < line->n; i++) {
        const struct msim_memory_point *p = &line->points[i];

        CHECK(!i || p->at >= line->points[i - 1].at);
        CHECK(p->reserved >= total(p));
        most = total(p) > most ? total(p) : most;
        parts |=
            p->at == peak->at && !memcmp(p->by, peak->by, sizeof(peak->by));
    }
    CHECK_INT(most, peak->allocated);
    CHECK(parts);
}

/* The peak is a point, with its parts; every point is what is held there. */
static void test_memory_line__has_the_peak(void)
{
    static struct msim_held_piece pieces[PIECES];
    struct msim_memory_picture m = {.pieces = pieces, .n = PIECES, .end = END};
    const struct msim_memory_options bare = {0}, gpu = {.caching = true};
    struct msim_memory_line line;
    struct msim_memory_peak peak, alone;

    for (uint32_t seed = 1; seed < 6; seed++) {
        fill(pieces, seed);
        REQUIRE(msim_memory_line_find(&peak, &line, &m, &bare) == MSIM_OK);
        check_line(&peak, &line);
        for (uint32_t i = 0; i < line.n; i++)
            CHECK_INT(total(&line.points[i]), held_at(&m, line.points[i].at));
        REQUIRE(msim_memory_line_find(&peak, &line, &m, &gpu) == MSIM_OK);
        check_line(&peak, &line);
        REQUIRE(msim_memory_peak_find(&alone, &m, &gpu) == MSIM_OK);
        CHECK_INT(alone.allocated, peak.allocated);
        CHECK_INT(alone.reserved, peak.reserved);
    }
}

/* Nothing held is a line without points; one piece, one that begins and ends.
 */
static void test_memory_line__small_ones(void)
{
    struct msim_held_piece one = {.bytes = 512, .from = 3, .to = 5};
    struct msim_memory_picture m = {.pieces = &one, .n = 0, .end = 10};
    const struct msim_memory_options bare = {0};
    struct msim_memory_line line;
    struct msim_memory_peak peak;

    REQUIRE(msim_memory_line_find(&peak, &line, &m, &bare) == MSIM_OK);
    CHECK_INT(line.n, 0);
    m.n = 1;
    REQUIRE(msim_memory_line_find(&peak, &line, &m, &bare) == MSIM_OK);
    REQUIRE(line.n == 2);
    CHECK_INT(line.points[0].at, 3);
    CHECK_INT(total(&line.points[0]), 512);
    CHECK_INT(line.points[1].at, 6);
    CHECK_INT(total(&line.points[1]), 0);
}

/* What is held to the end is not given back: 100 from the begin on, and 50 for
 * a while. */
static void test_memory_line__held_to_the_end(void)
{
    struct msim_held_piece pieces[] = {{.bytes = 50, .from = 2, .to = 5},
                                       {.bytes = 100, .from = 0, .to = 10}};
    struct msim_memory_picture m = {.pieces = pieces, .n = 2, .end = 10};
    static const uint32_t AT[] = {0, 2, 6};
    static const uint64_t HELD[] = {100, 150, 100};
    const struct msim_memory_options bare = {0};
    struct msim_memory_line line;
    struct msim_memory_peak peak;

    REQUIRE(msim_memory_line_find(&peak, &line, &m, &bare) == MSIM_OK);
    REQUIRE(line.n == 3);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_INT(line.points[i].at, AT[i]);
        CHECK_INT(total(&line.points[i]), HELD[i]);
        CHECK_INT(line.points[i].reserved, HELD[i]);
    }
    CHECK_INT(peak.allocated, 150);
    CHECK_INT(peak.reserved, 150);
    CHECK_INT(peak.at, 2);
}

/* A hundred operators, the end among them, are a stretch each: nothing that
 * changes between two of them is left out. */
static void test_memory_line__a_stretch_an_operator(void)
{
    struct msim_held_piece pieces[] = {{.bytes = 10, .from = 0, .to = 0},
                                       {.bytes = 20, .from = 1, .to = 1},
                                       {.bytes = 5, .from = 2, .to = 99}};
    struct msim_memory_picture m = {.pieces = pieces, .n = 3, .end = 99};
    static const uint64_t HELD[] = {10, 20, 5};
    const struct msim_memory_options bare = {0};
    struct msim_memory_line line;
    struct msim_memory_peak peak;

    REQUIRE(msim_memory_line_find(&peak, &line, &m, &bare) == MSIM_OK);
    REQUIRE(line.n == 3);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_INT(line.points[i].at, i);
        CHECK_INT(total(&line.points[i]), HELD[i]);
    }
}

/* More than 64 bits count is no peak. */
static void test_memory_line__too_much(void)
{
    struct msim_held_piece pieces[] = {{.bytes = UINT64_MAX, .to = 9},
                                       {.bytes = 1, .to = 9}};
    struct msim_memory_picture m = {.pieces = pieces, .n = 2, .end = 9};
    const struct msim_memory_options bare = {0};
    struct msim_memory_peak peak;

    CHECK_INT(msim_memory_peak_find(&peak, &m, &bare), MSIM_ELIMIT);
    pieces[1].bytes = 0;
    CHECK_INT(msim_memory_peak_find(&peak, &m, &bare), MSIM_OK);
    CHECK(peak.allocated == UINT64_MAX);
}

int main(void)
{
    RUN(test_memory_line__has_the_peak);
    RUN(test_memory_line__small_ones);
    RUN(test_memory_line__held_to_the_end);
    RUN(test_memory_line__a_stretch_an_operator);
    RUN(test_memory_line__too_much);
    return check_summary();
}
