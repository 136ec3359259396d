/*
 * tests/fuzz/verbs/verbs.h - the targets, and libFuzzer's interface to them.
 */
#ifndef MSIM_TESTS_FUZZ_VERBS_VERBS_H
#define MSIM_TESTS_FUZZ_VERBS_VERBS_H
#include <stddef.h>
#include <stdint.h>

/* Its seeds are the files of the folder corpus/FILE. */
struct fuzz_target {
    const char *name, *file, *command;
};

/* Ends with a target without a name. */
extern const struct fuzz_target FUZZ_TARGETS[];

const struct fuzz_target *fuzz_target_find(const char *name);

/* The runs that follow are of that target. */
void fuzz_begin(const struct fuzz_target *t);

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
                               unsigned seed);

#endif
