/*
 * cli/platform_hint.h - platforms as they are typed: what a name that is not
 * known looks like, and what may follow one that is.
 */
#ifndef MSIM_CLI_PLATFORM_HINT_H
#define MSIM_CLI_PLATFORM_HINT_H

/* For the help of what takes a platform that prices work. */
#define MSIM_PLATFORM_STACK_HELP                                               \
    "a name may end in a stack\n"                                              \
    "(h100@pytorch-2.9), of those that 'platforms NAME' lists"

/* After names of `list`, with commas between them, of which one or more are not
 * known in folder `data`: a message for each that looks like a known one. */
void msim_platform_hint(const char *data, const char *list);

#endif
