/*
 * core/read/chakra/read_chakra.h - Chakra execution traces (protobuf, .et).
 *
 * Messages are taken from the pieces of an input as they come; only one that
 * a piece cuts is copied. Files of this project come back as they were
 * written (chakra.h says what nodes carry for that). Files of others have no
 * launches and often no starts: both are made, chakra_finish.c says how.
 */
#ifndef MSIM_CORE_READ_CHAKRA_READ_CHAKRA_H
#define MSIM_CORE_READ_CHAKRA_READ_CHAKRA_H
#include "core/read/reader.h"

extern const struct msim_read_format msim_chakra_format;

#endif
