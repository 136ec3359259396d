/*
 * core/read/chakra/read_chakra.h - Chakra execution traces (protobuf, .et).
 *
 * Messages are taken from the pieces of an input as they come; only a message
 * that a piece cuts is copied. Files of this project are read back as they were
 * written (chakra_words.h). Files of other tools have no launches and often no
 * starts: both are made (chakra_finish.c, chakra_layout.c).
 */
#ifndef MSIM_CORE_READ_CHAKRA_READ_CHAKRA_H
#define MSIM_CORE_READ_CHAKRA_READ_CHAKRA_H
#include "core/read/reader.h"

extern const struct msim_read_format msim_chakra_format;

#endif
