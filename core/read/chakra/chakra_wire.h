/*
 * core/read/chakra/chakra_wire.h - the bytes of a Chakra file: messages behind
 * lengths.
 *
 * A file is a stream of protobuf messages, each behind its length as a varint
 * (seven bits a byte, the lowest first; the top bit means that more follow).
 * This part knows what is needed before a message goes to protobuf-c: whether a
 * file is one at all, where a message ends, and, where protobuf-c refuses one,
 * which byte is wrong.
 */
#ifndef MSIM_CORE_READ_CHAKRA_CHAKRA_WIRE_H
#define MSIM_CORE_READ_CHAKRA_CHAKRA_WIRE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum msim_chakra_guess {
    MSIM_CHAKRA_NO,
    MSIM_CHAKRA_YES,
    MSIM_CHAKRA_MORE, /* the bytes so far do not decide */
};

/*
 * Do these first bytes of a file begin a Chakra trace? `end`: the file has no
 * more. The whole first message must be a well-formed GlobalMetadata, so that
 * JSON, whose '{' and '[' may be lengths, is not taken for it.
 */
enum msim_chakra_guess msim_chakra_sniff(const char *bytes, size_t len,
                                         bool end);

/*
 * The varint at `bytes`. Returns its length in bytes; 0 where `len` bytes are
 * too few, -1 where it is longer than ten bytes or does not fit in 64 bits.
 */
int msim_chakra_varint(const char *bytes, size_t len, uint64_t *value);

/*
 * The offset of the first byte of a message (GlobalMetadata or Node) that is
 * not well-formed, with what is wrong in `*why`; `len` where all is well.
 * Looks into attributes, and checks that names are UTF-8.
 */
size_t msim_chakra_damage(const char *bytes, size_t len, bool metadata,
                          const char **why);

#endif
