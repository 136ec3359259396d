/*
 * tests/fake_gpu/fake_program.c - a program of CUDA for libmystique-cupti.so to
 * record: on two streams, the second of which waits for the first.
 *
 * It loads the library that CUDA_INJECTION64_PATH names, as CUDA's driver does
 * before anything else.
 */
#include "profilers/cuda/kernels/kernels.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES  ((size_t)1 << 22)
#define ROUNDS 20

static void inject(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_NOW) : NULL, *found;
    int (*begin)(void) = NULL;

    if (!library)
        return;
    found = dlsym(library, "InitializeInjection");
    memcpy(&begin, &found, sizeof(found));
    if (begin)
        (void)begin();
}

static void must(cudaError_t e, const char *call)
{
    if (e == cudaSuccess)
        return;
    fprintf(stderr, "program: %s: %s\n", call, cudaGetErrorString(e));
    exit(1);
}
#define MUST(call) must((call), #call)

int main(void)
{
    cudaStream_t first, second;
    cudaEvent_t done;
    void *device, *host;

    inject();
    MUST(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    MUST(cudaEventCreate(&done));
    MUST(cudaMalloc(&device, BYTES));
    MUST(cudaMallocHost(&host, BYTES));
    MUST(cudaMemsetAsync(device, 0, BYTES, first));
    for (int i = 0; i < ROUNDS; i++) {
        MUST(cudaMemcpyAsync(device, host, BYTES, cudaMemcpyHostToDevice,
                             first));
        MUST(msim_kernel_write(device, BYTES, 132, first));
        MUST(cudaEventRecord(done, first));
        MUST(cudaStreamWaitEvent(second, done, 0));
        MUST(msim_kernel_read(device, device, BYTES, 132, second));
        MUST(cudaStreamSynchronize(second));
    }
    MUST(cudaFree(device));
    MUST(cudaFreeHost(host));
    MUST(cudaEventDestroy(done));
    MUST(cudaStreamDestroy(first));
    MUST(cudaStreamDestroy(second));
    return 0;
}
