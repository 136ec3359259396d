/*
 * profilers/cuda/cupti/cuda_list.c - the GPUs of a process.
 *
 * CUPTI has records of devices, but only for who asks before the driver starts,
 * which a library that the driver loads may be too late for.
 */
#include "profilers/cuda/cupti/cuda_list.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct driver {
    void *handle;
    CUresult (*count)(int *);
    CUresult (*get)(CUdevice *, int);
    CUresult (*name)(char *, int, CUdevice);
    CUresult (*memory)(size_t *, CUdevice);
    CUresult (*attribute)(int *, CUdevice_attribute, CUdevice);
};

/* ISO C has no conversion from an object's pointer to a function's. */
static bool find(void *handle, const char *symbol, void *function)
{
    void *found = dlsym(handle, symbol);

    memcpy(function, &found, sizeof(found));
    return found != NULL;
}

static bool open_driver(struct driver *d)
{
    d->handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    return d->handle && find(d->handle, "cuDeviceGetCount", &d->count) &&
           find(d->handle, "cuDeviceGet", &d->get) &&
           find(d->handle, "cuDeviceGetName", &d->name) &&
           find(d->handle, "cuDeviceTotalMem_v2", &d->memory) &&
           find(d->handle, "cuDeviceGetAttribute", &d->attribute);
}

/* 0 where the driver does not say. */
static uint32_t ask(const struct driver *d, CUdevice device,
                    CUdevice_attribute what)
{
    int v = 0;

    return d->attribute(&v, what, device) == CUDA_SUCCESS && v > 0 ? (uint32_t)v
                                                                   : 0;
}

static struct msim_gpu_device ask_all(const struct driver *d, CUdevice device)
{
    return (struct msim_gpu_device){
        .major = ask(d, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        .minor = ask(d, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        .sms = ask(d, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        .threads_a_block =
            ask(d, device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        .threads_an_sm =
            ask(d, device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
        .registers_a_block =
            ask(d, device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
        .registers_an_sm = ask(
            d, device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
        .warp = ask(d, device, CU_DEVICE_ATTRIBUTE_WARP_SIZE),
        .shared_a_block =
            ask(d, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
        .shared_an_sm =
            ask(d, device,
                CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
    };
}

static enum msim_status add(const struct driver *d, struct msim_gpu_trace *t,
                            int i)
{
    struct msim_gpu_device to;
    size_t bytes = 0;
    CUdevice device;
    char name[256] = "";

    if (d->get(&device, i) != CUDA_SUCCESS ||
        d->name(name, (int)sizeof(name), device) != CUDA_SUCCESS)
        return MSIM_OK;
    to = ask_all(d, device);
    to.id = (uint32_t)i;
    if (d->memory(&bytes, device) == CUDA_SUCCESS)
        to.memory_bytes = bytes;
    return msim_gpu_trace_device(t, &to, name);
}

enum msim_status msim_cuda_list(struct msim_gpu_trace *t)
{
    enum msim_status status = MSIM_OK;
    struct driver d = {0};
    int n = 0;

    if (open_driver(&d) && d.count(&n) == CUDA_SUCCESS)
        for (int i = 0; i < n && status == MSIM_OK; i++)
            status = add(&d, t, i);
    if (d.handle)
        dlclose(d.handle);
    return status;
}
