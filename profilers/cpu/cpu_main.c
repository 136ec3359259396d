/*
 * profilers/cpu/cpu_main.c - mystique-prof-cpu: experiments on this machine's
 * processor, one JSON line each (profilers/serve.h).
 */
#include "profilers/cpu/cpu.h"
#include "profilers/serve.h"

int main(int argc, char **argv)
{
    return msim_serve_main(&MSIM_BACKEND_CPU, argc, argv);
}
