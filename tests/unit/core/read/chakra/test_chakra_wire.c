/*
 * tests/unit/core/read/chakra/test_chakra_wire.c - bytes of a Chakra file at
 * their limits.
 */
#include "core/read/chakra/read_chakra.h"
#include "tests/unit/made_chakra.h"

#define LENGTH(list) (sizeof(list) / sizeof(*(list)))
#define PAST         "a field runs past its message"
#define LONG         "a number of more than 64 bits"

/* A text of bytes, among which may be zeros. */
#define BYTES(text) text, sizeof(text) - 1

/* ---- numbers ------------------------------------------------------------- */

static void test_chakra_wire__varints(void)
{
    static const struct {
        const char *bytes;
        size_t len;
        int used;
        uint64_t value;
    } ROWS[] = {
        {BYTES(""), 0, 0},
        {BYTES("\x00"), 1, 0},
        {BYTES("\x7f"), 1, 127},
        {BYTES("\x80"), 0, 0},
        {BYTES("\x80\x01"), 2, 128},
        {BYTES("\xac\x02\xff"), 2, 300},
        {BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), 9, INT64_MAX},
        {BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 10, UINT64_MAX},
        {BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), -1, 0},
        {BYTES("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), -1, 0},
        {BYTES("\x80\x80\x80\x80\x80\x80\x80\x80\x80"), 0, 0},
    };

    for (size_t i = 0; i < LENGTH(ROWS); i++) {
        uint64_t value = 0;

        CHECK_INT(msim_chakra_varint(ROWS[i].bytes, ROWS[i].len, &value),
                  ROWS[i].used);
        CHECK_UINT(value, ROWS[i].value);
    }
}

/* ---- damage -------------------------------------------------------------- */

/* Where a message is broken, and why; its length where it is not. */
static void test_chakra_wire__damage(void)
{
    static const struct {
        const char *bytes;
        size_t len;
        bool metadata;
        size_t at;
        const char *why;
    } ROWS[] = {
        {BYTES(""), false, 0, NULL},
        {BYTES("\x08\x05"), false, 2, NULL},
        /* numbers of fields are from 1 to 2^29 - 1 */
        {BYTES("\x00\x05"), false, 0, "a field whose number is none"},
        {BYTES("\xf8\xff\xff\xff\x0f\x05"), false, 6, NULL},
        {BYTES("\x80\x80\x80\x80\x10\x05"), false, 0,
         "a field whose number is none"},
        /* every type, whole and a byte short */
        {BYTES("\x08"), false, 0, PAST},
        {BYTES("\x08\x80"), false, 0, PAST},
        {BYTES("\x09\1\2\3\4\5\6\7\x08"), false, 9, NULL},
        {BYTES("\x09\1\2\3\4\5\6\7"), false, 0, PAST},
        {BYTES("\x0d\1\2\3\4"), false, 5, NULL},
        {BYTES("\x0d\1\2\3"), false, 0, PAST},
        {BYTES("\x1a\x02\xff\xff"), false, 4, NULL},
        {BYTES("\x1a\x03\xff\xff"), false, 0, PAST},
        {BYTES("\x0b"), false, 0, "a field of no known wire type"},
        {BYTES("\x0e"), false, 0, "a field of no known wire type"},
        {BYTES("\x08\x01\x80"), false, 2, PAST},
        {BYTES("\x08\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), false, 2,
         LONG},
        {BYTES("\x08\x01\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), false,
         2, LONG},
        /* texts: of nodes the second field, of metadata the first */
        {BYTES("\x12\x03"
               "a\xff"
               "c"),
         false, 3, "text that is not UTF-8"},
        {BYTES("\x12\x04\xc3\xa9\xe2\x82"), false, 4, "text that is not UTF-8"},
        {BYTES("\x12\x05\xc3\xa9\xe2\x82\xac"), false, 7, NULL},
        {BYTES("\x12\x04\xf0\x9f\x98\x80"), false, 6, NULL},
        {BYTES("\x12\x02"
               "a\0"),
         false, 3, "text that is not UTF-8"},
        {BYTES("\x0a\x01\xff"), true, 2, "text that is not UTF-8"},
        {BYTES("\x0a\x01\xff"), false, 3, NULL},
        {BYTES("\x1a\x01\xff"), true, 3, NULL},
        /* lists of numbers: the fourth and the fifth */
        {BYTES("\x22\x02\x01\x02"), false, 4, NULL},
        {BYTES("\x22\x02\x01\x80"), false, 3,
         "a list of numbers ends within one"},
        {BYTES("\x2a\x0b\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), false,
         3, LONG},
        {BYTES("\x32\x02\x01\x80"), false, 4, NULL},
        /* messages: inputs, outputs, attributes; text is what has a name */
        {BYTES("\x42\x03\x1a\x01\xff"), false, 4, "text that is not UTF-8"},
        {BYTES("\x4a\x03\x0a\x01\xff"), false, 4, "text that is not UTF-8"},
        {BYTES("\x42\x03\x22\x01\xff"), false, 5, NULL},
        {BYTES("\x52\x03\x12\x01\xff"), false, 4, "text that is not UTF-8"},
        {BYTES("\x52\x03\x1a\x01\xff"), false, 5, NULL},
        {BYTES("\x52\x04\xea\x01\x01\xff"), false, 5, "text that is not UTF-8"},
        {BYTES("\x52\x04\xf2\x01\x01\xff"), false, 6, NULL},
        {BYTES("\x52\x02\x12\x01"), false, 2, PAST},
        {BYTES("\x52\x02\x08\x01"), false, 4, NULL},
        {BYTES("\x5a\x03\x12\x01\xff"), false, 5, NULL},
        {BYTES("\x12\x03\x12\x01\xff"), true, 4, "text that is not UTF-8"},
        {BYTES("\x12\x03\x1a\x01\xff"), true, 5, NULL},
        /* what comes behind is looked at, too */
        {BYTES("\x52\x03\x0a\x01x\x12\x01\xff"), false, 7,
         "text that is not UTF-8"},
    };

    for (size_t i = 0; i < LENGTH(ROWS); i++) {
        const char *why = "not said";

        if (!CHECK_UINT(msim_chakra_damage(ROWS[i].bytes, ROWS[i].len,
                                           ROWS[i].metadata, &why),
                        ROWS[i].at))
            fprintf(stderr, "    in row %zu\n", i);
        CHECK_STR(why, ROWS[i].why);
    }
}

/* ---- is it one? ---------------------------------------------------------- */

static void test_chakra_wire__guesses(void)
{
    static const struct {
        const char *bytes;
        size_t len;
        bool end;
        enum msim_chakra_guess guess;
    } ROWS[] = {
        {BYTES(""), false, MSIM_CHAKRA_MORE},
        {BYTES(""), true, MSIM_CHAKRA_NO},
        {BYTES("\x80"), false, MSIM_CHAKRA_MORE},
        {BYTES("\x80"), true, MSIM_CHAKRA_NO},
        {BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), false,
         MSIM_CHAKRA_NO},
        /* metadata has up to 2^20 bytes */
        {BYTES("\x80\x80\x40"), false, MSIM_CHAKRA_MORE},
        {BYTES("\x81\x80\x40"), false, MSIM_CHAKRA_NO},
        {BYTES("\x03\x0a\x01x"), false, MSIM_CHAKRA_YES},
        {BYTES("\x03\x0a\x01x\x02"), true, MSIM_CHAKRA_YES},
        {BYTES("\x03\x12\x01\xff"), false, MSIM_CHAKRA_YES},
        {BYTES("\x03\x0a\x01\xff"), false, MSIM_CHAKRA_NO},
        {BYTES("\x03\x1a\x01x"), false, MSIM_CHAKRA_NO}, /* a third field */
        {BYTES("\x02\x08\x01"), false, MSIM_CHAKRA_NO},  /* a number */
        {BYTES("\x02\x10\x01"), false, MSIM_CHAKRA_NO},
        {BYTES("\x03\x0a\x02x"), false, MSIM_CHAKRA_NO}, /* past its end */
        /* cut: it may be, if it is no JSON */
        {BYTES("\x03\x0a\x01"), false, MSIM_CHAKRA_MORE},
        {BYTES("\x03\x0a\x01"), true, MSIM_CHAKRA_YES},
        {BYTES("\x03\x12\x01"), true, MSIM_CHAKRA_YES},
        {BYTES("\x03\x1a\x01"), true, MSIM_CHAKRA_NO},
        {BYTES("\x03"), true, MSIM_CHAKRA_NO},
        {BYTES("{\x0a\x01"), true, MSIM_CHAKRA_NO},
        {BYTES("[\x0a\x01"), true, MSIM_CHAKRA_NO},
        {BYTES(" \x0a\x01"), true, MSIM_CHAKRA_NO},
        {BYTES("\n\x0a\x01"), true, MSIM_CHAKRA_NO},
        {BYTES("\r\x0a\x01"), true, MSIM_CHAKRA_NO},
        {BYTES("\t\x0a\x01"), true, MSIM_CHAKRA_NO},
        {BYTES("\x0b\x0a\x01"), true, MSIM_CHAKRA_YES},
        {BYTES("{\x0a\x01"), false, MSIM_CHAKRA_MORE},
        /* empty, and a node behind it: its id, or its name */
        {BYTES("\x00"), false, MSIM_CHAKRA_MORE},
        {BYTES("\x00"), true, MSIM_CHAKRA_NO},
        {BYTES("\x00\x02"), false, MSIM_CHAKRA_MORE},
        {BYTES("\x00\x02"), true, MSIM_CHAKRA_NO},
        {BYTES("\x00\x02\x08"), false, MSIM_CHAKRA_YES},
        {BYTES("\x00\x02\x12"), true, MSIM_CHAKRA_YES},
        {BYTES("\x00\x02\x0a"), false, MSIM_CHAKRA_NO},
    };

    for (size_t i = 0; i < LENGTH(ROWS); i++)
        if (!CHECK_INT(
                msim_chakra_sniff(ROWS[i].bytes, ROWS[i].len, ROWS[i].end),
                ROWS[i].guess))
            fprintf(stderr, "    in row %zu\n", i);
}

int main(void)
{
    RUN(test_chakra_wire__varints);
    RUN(test_chakra_wire__damage);
    RUN(test_chakra_wire__guesses);
    return check_summary();
}
