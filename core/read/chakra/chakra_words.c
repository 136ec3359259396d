/*
 * core/read/chakra/chakra_words.c - the words of a Chakra trace.
 */
#include "core/read/chakra/read_chakra.h"

const char *msim_chakra_word_text(enum msim_chakra_word word)
{
    static const char *const TEXT[] = {"",
#define X(name, text) text,
                                       MSIM_CHAKRA_NUMBER_MAP(X)
                                           MSIM_CHAKRA_TEXT_MAP(X)
                                               MSIM_CHAKRA_TRIPLE_MAP(X)
#undef X
    };

    return (unsigned)word < MSIM_CHAKRA_WORDS ? TEXT[word] : "";
}

const char *msim_chakra_event_text(enum msim_chakra_event event)
{
    static const char *const TEXT[] = {
#define X(name, text) text,
        MSIM_CHAKRA_EVENT_MAP(X)
#undef X
    };

    return (unsigned)event < MSIM_CHAKRA_EVENTS ? TEXT[event] : "";
}

/* Values of comm_type, as core/read/chakra/chakra.proto has them. */
static const uint8_t COLLECTIVES[] = {
    MSIM_COLL_ALL_REDUCE,     MSIM_COLL_REDUCE,
    MSIM_COLL_ALL_GATHER,     MSIM_COLL_GATHER,
    MSIM_COLL_SCATTER,        MSIM_COLL_BROADCAST,
    MSIM_COLL_ALL_TO_ALL,     MSIM_COLL_REDUCE_SCATTER,
    MSIM_COLL_REDUCE_SCATTER, /* in blocks */
    MSIM_COLL_BARRIER,
};

int msim_chakra_comm_type(enum msim_collective c)
{
    for (unsigned i = 0; i < sizeof(COLLECTIVES); i++)
        if (COLLECTIVES[i] == c)
            return (int)i;
    return -1;
}

enum msim_collective msim_chakra_collective(int64_t comm_type)
{
    if (comm_type < 0 || (uint64_t)comm_type >= sizeof(COLLECTIVES))
        return MSIM_COLL_UNKNOWN;
    return (enum msim_collective)COLLECTIVES[comm_type];
}
