/*
 * profilers/cuda/cuda_main.c - mystique-prof-cuda: experiments on this
 * machine's NVIDIA GPUs, one JSON line each (profilers/serve.h).
 */
#include "profilers/cuda/cuda.h"
#include "profilers/serve.h"

int main(int argc, char **argv)
{
    return msim_serve_main(&MSIM_BACKEND_CUDA, argc, argv);
}
