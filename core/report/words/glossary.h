/*
 * core/report/words/glossary.h - the words of text reports, for `help report`.
 */
#ifndef MSIM_CORE_REPORT_WORDS_GLOSSARY_H
#define MSIM_CORE_REPORT_WORDS_GLOSSARY_H
#include "core/base/status.h"

#include <stdio.h>

/* What they mean, in alphabetical order. EIO where writing fails. */
MSIM_MUST_CHECK
enum msim_status msim_report_words(FILE *out);

#endif
