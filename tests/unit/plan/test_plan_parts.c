/*
 * tests/unit/plan/test_plan_parts.c - tests of plan/search/plan_parts.c.
 */
#include "plan/search/plan.h"

#include "core/base/files.h"
#include "tests/check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char above[] = P_tmpdir "/msim-parts-XXXXXX";
static char folder[64]; /* of the parts */
static const struct msim_plan_share SHARE = {folder, 0, 2};
static struct msim_error err;

static const char *at(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const char *data, size_t n)
{
    FILE *f;

    (void)unlink(at(name)); /* a new file is faster than one that is cut */
    f = fopen(at(name), "wb");
    REQUIRE(f);
    CHECK_UINT(fwrite(data, 1, n, f), n);
    fclose(f);
}

static bool is_there(const char *name)
{
    return access(at(name), F_OK) == 0;
}

/* A block of three points and `refusals` reasons. */
static struct msim_plan_block made(uint32_t refusals)
{
    struct msim_plan_block b = {.n = 3,
                                .cap = 3,
                                .left_out = {4, 5, 6},
                                .refusals = {.n = refusals, .others = 7},
                                .nearest_share = 1.5};

    b.points = calloc(b.n, sizeof(*b.points));
    b.refusals.of = calloc(refusals + 1, sizeof(*b.refusals.of));
    if (!b.points || !b.refusals.of)
        exit(1);
    for (uint32_t i = 0; i < b.n; i++) {
        b.points[i].number = 10 + i;
        b.points[i].us = 20 + i;
        b.points[i].marks = 30 + i;
    }
    for (uint32_t i = 0; i < refusals; i++) {
        snprintf(b.refusals.of[i].text, sizeof(b.refusals.of[i].text), "no %u",
                 i);
        b.refusals.of[i].points = 40 + i;
        b.refusals.of[i].first = 50 + i;
    }
    b.nearest.number = 9;
    return b;
}

static enum msim_status write_made(uint32_t refusals, uint64_t key,
                                   uint64_t which)
{
    struct msim_plan_block b = made(refusals);
    enum msim_status status =
        msim_plan_part_write(&b, &SHARE, key, which, &err);

    msim_plan_block_release(&b);
    CHECK(!b.points && !b.refusals.of && b.n == 0);
    return status;
}

/* What is not read leaves the block empty. */
static bool reads(uint64_t key, uint64_t which)
{
    static const struct msim_plan_block NONE = {0};
    struct msim_plan_block b = NONE;
    bool is = msim_plan_part_read(&b, &SHARE, key, which);

    CHECK(is || memcmp(&b, &NONE, sizeof(b)) == 0);
    msim_plan_block_release(&b);
    return is;
}

static void test_plan_parts__reads_what_was_written(void)
{
    const uint32_t counts[] = {0, 1, MSIM_PLAN_REFUSALS};

    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        struct msim_plan_block want = made(counts[i]), b = {0};

        REQUIRE(write_made(counts[i], 77, 5) == MSIM_OK);
        REQUIRE(msim_plan_part_read(&b, &SHARE, 77, 5));
        REQUIRE(b.n == 3 && b.cap == 3 && b.refusals.n == counts[i] &&
                b.refusals.cap == counts[i]);
        CHECK(memcmp(b.points, want.points, 3 * sizeof(*b.points)) == 0);
        CHECK(memcmp(b.refusals.of, want.refusals.of,
                     counts[i] * sizeof(*b.refusals.of)) == 0);
        CHECK(memcmp(b.left_out, want.left_out, sizeof(b.left_out)) == 0);
        CHECK_UINT(b.refusals.others, 7);
        CHECK_UINT(b.nearest.number, 9);
        CHECK_REL(b.nearest_share, 1.5, 0);
        msim_plan_block_release(&want);
        msim_plan_block_release(&b);
    }
    /* More reasons than are kept are none of ours. */
    REQUIRE(write_made(MSIM_PLAN_REFUSALS + 1, 77, 5) == MSIM_OK);
    CHECK(!reads(77, 5));
}

static void test_plan_parts__reads_an_empty_block(void)
{
    struct msim_plan_block none = {0}, b = {0};

    REQUIRE(msim_plan_part_write(&none, &SHARE, 1, 0, &err) == MSIM_OK);
    CHECK(msim_plan_part_read(&b, &SHARE, 1, 0));
    CHECK(b.n == 0 && b.refusals.n == 0);
    msim_plan_block_release(&b);
}

/* Another run's, another block's; none at all. */
static void test_plan_parts__knows_its_own(void)
{
    REQUIRE(write_made(2, 77, 5) == MSIM_OK);
    CHECK(reads(77, 5));
    CHECK(!reads(78, 5));
    CHECK(!reads(77, 6));
    put("6.part", "", 0);
    CHECK(!reads(77, 6));
    CHECK(unlink(at("6.part")) == 0);
}

/* A part that was cut, or that has another byte anywhere, is not whole. */
static void test_plan_parts__refuses_what_is_damaged(void)
{
    char data[16384];
    size_t n;
    FILE *f;

    REQUIRE(write_made(2, 77, 5) == MSIM_OK);
    f = fopen(at("5.part"), "rb");
    REQUIRE(f);
    n = fread(data, 1, sizeof(data), f);
    fclose(f);
    REQUIRE(n > 3 * sizeof(struct msim_plan_point) && n < sizeof(data));
    for (size_t i = 0; i < n; i += i < 128 ? 4 : 61) {
        put("5.part", data, i);
        CHECK(!reads(77, 5));
        data[i] ^= 1;
        put("5.part", data, n);
        CHECK(!reads(77, 5));
        data[i] ^= 1;
    }
    put("5.part", data, n);
    CHECK(reads(77, 5));
    put("6.part", data, n);
    CHECK(!reads(77, 6));
    CHECK(unlink(at("6.part")) == 0);
}

static void test_plan_parts__key_is_of_what_was_read(void)
{
    uint64_t first, again, other;

    REQUIRE(msim_plan_key(&first, &err) == MSIM_OK);
    REQUIRE(msim_plan_key(&again, &err) == MSIM_OK);
    REQUIRE(msim_files_read_note(MSIM_SOURCE "/README.md", &err) == MSIM_OK);
    REQUIRE(msim_plan_key(&other, &err) == MSIM_OK);
    CHECK(first == again && first != other);
    msim_files_read_release();
}

/* Where the folder is gone, nobody wants the part; where it cannot be written,
 * the file is named. */
static void test_plan_parts__writes_where_there_is_a_folder(void)
{
    const struct msim_plan_share gone = {"no such folder", 0, 2};
    struct msim_plan_block b = made(1);

    err = (struct msim_error){0};
    CHECK(msim_plan_part_write(&b, &gone, 77, 0, &err) == MSIM_OK);
    CHECK_STR(err.text, "");
    REQUIRE(mkdir(at("8.part"), 0700) == 0);
    CHECK(msim_plan_part_write(&b, &SHARE, 77, 8, &err) != MSIM_OK);
    CHECK(strstr(err.file, "8.part") && *err.text);
    CHECK(rmdir(at("8.part")) == 0);
    msim_plan_block_release(&b);
}

/* As a process does that is killed while it writes. */
static void leave_draft(void)
{
    char name[64];
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    CHECK(waitpid(pid, NULL, 0) == pid);
    snprintf(name, sizeof(name), "5.part.part%ld-0", (long)pid);
    put(name, "half", 4);
}

/* What is not ours stays, and is no folder for parts. */
static void test_plan_parts__keeps_what_others_wrote(void)
{
    REQUIRE(write_made(2, 77, 5) == MSIM_OK);
    CHECK(msim_plan_parts_begin(&SHARE, &err) == MSIM_OK);
    put("9.part", "mine", 4);
    put("notes.txt", "msimplan", 8);
    CHECK(msim_plan_parts_begin(&SHARE, &err) == MSIM_EUSAGE);
    msim_plan_parts_remove(&SHARE);
    CHECK(is_there("9.part") && is_there("notes.txt") && !is_there("5.part"));
    CHECK(unlink(at("9.part")) == 0 && unlink(at("notes.txt")) == 0);
    leave_draft();
    msim_plan_parts_remove(&SHARE);
    CHECK(!is_there(""));
    msim_plan_parts_remove(&SHARE);
    CHECK(msim_plan_parts_begin(&SHARE, &err) == MSIM_OK);
    CHECK(is_there(""));
    CHECK(rmdir(folder) == 0);
}

int main(void)
{
    if (!mkdtemp(above))
        return 1;
    snprintf(folder, sizeof(folder), "%s/parts", above);
    if (!CHECK(msim_plan_parts_begin(&SHARE, &err) == MSIM_OK))
        return check_summary();
    RUN(test_plan_parts__reads_what_was_written);
    RUN(test_plan_parts__reads_an_empty_block);
    RUN(test_plan_parts__knows_its_own);
    RUN(test_plan_parts__refuses_what_is_damaged);
    RUN(test_plan_parts__key_is_of_what_was_read);
    RUN(test_plan_parts__writes_where_there_is_a_folder);
    RUN(test_plan_parts__keeps_what_others_wrote);
    CHECK(rmdir(above) == 0);
    return check_summary();
}
