/*
 * cli/commit.h - the commit that this program was built from:
 * cmake/commit.cmake writes it.
 */
#ifndef MSIM_CLI_COMMIT_H
#define MSIM_CLI_COMMIT_H

/* "" where it is not known; a + at its end: files were changed since. */
extern const char msim_commit[];

#endif
