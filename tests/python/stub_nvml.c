/* NVML in the place of NVIDIA's, with one device whose sensors are computed. The environment says what it lacks:
   STUB_BUS_ID   the PCI bus id of its device
   STUB_INIT     what nvmlInit_v2 returns (0)
   STUB_WATTS    the power of the device (200)
   STUB_COUNTER  whether it counts energy, in steps of 5 ms (1)
   STUB_CLOCKS   how far its clock falls with every reading, in MHz (0) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

typedef int R;
enum { INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6 };
#define EXPORT __attribute__((visibility("default")))

static long setting(const char *name, long otherwise) {
    const char *value = getenv(name);
    return value && *value ? strtol(value, NULL, 10) : otherwise;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static int device;

EXPORT R nvmlInit_v2(void) { return (R)setting("STUB_INIT", 0); }
EXPORT const char *nvmlErrorString(R code) { return code == 18 ? "Driver/library version mismatch" : "Stub error"; }

EXPORT R nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **handle) {
    const char *known = getenv("STUB_BUS_ID");
    if (!known || strcasecmp(known, bus_id)) return NOT_FOUND;
    *handle = &device;
    return 0;
}

EXPORT R nvmlDeviceGetClockInfo(void *handle, int which, unsigned *mhz) {
    static unsigned clock = 1980;
    if (handle != &device || which != 1) return INVALID_ARGUMENT;
    *mhz = clock;
    clock -= (unsigned)setting("STUB_CLOCKS", 0);
    return 0;
}

EXPORT R nvmlDeviceGetPowerUsage(void *handle, unsigned *milliwatts) {
    *milliwatts = 1000u * (unsigned)setting("STUB_WATTS", 200);
    return handle == &device ? 0 : INVALID_ARGUMENT;
}

EXPORT R nvmlDeviceGetTotalEnergyConsumption(void *handle, unsigned long long *millijoules) {
    if (!setting("STUB_COUNTER", 1)) return NOT_SUPPORTED;
    *millijoules = (unsigned long long)setting("STUB_WATTS", 200) * 5 * (unsigned long long)(seconds() / 0.005);
    return handle == &device ? 0 : INVALID_ARGUMENT;
}

EXPORT R nvmlDeviceGetTemperature(void *handle, int sensor, unsigned *celsius) {
    if (handle != &device || sensor != 0) return INVALID_ARGUMENT;
    *celsius = 61;
    return 0;
}
