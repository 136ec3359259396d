/*
 * core/chakra/chakra_work.h - what a caller knows of an operator's work.
 */
#ifndef MSIM_CORE_CHAKRA_CHAKRA_WORK_H
#define MSIM_CORE_CHAKRA_CHAKRA_WORK_H

/* What an operator asks of the GPU; zero where that is not known. */
struct msim_chakra_work {
    double flops, bytes;
};

#endif
