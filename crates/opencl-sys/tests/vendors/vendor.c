/* A vendor's library as small as the ICD protocol lets it be. A macro chooses what is wrong with it:
   CRASHES, HANGS, EXITS: in its initialiser; HANGS_LISTING: when it is asked for its platforms; NO_PROTOCOL. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct platform { void **table; };

static int32_t platform_info(struct platform *platform, uint32_t name, size_t size, void *value, size_t *needed) {
    const char *text = name == 0x0900   ? "FULL_PROFILE"
                       : name == 0x0901 ? "OpenCL 1.2 tests"
                       : name == 0x0902 ? "Small"
                       : name == 0x0903 ? "Tests"
                       : name == 0x0920 ? "SML"
                                        : "";
    (void)platform;
    if (value != NULL) {
        if (size < strlen(text) + 1) return -30;
        strcpy(value, text);
    }
    if (needed != NULL) *needed = strlen(text) + 1;
    return 0;
}

static void *table[149] = {NULL, (void *)platform_info};
static struct platform the_platform = {table};

int32_t list_platforms(uint32_t count, struct platform **platforms, uint32_t *number) {
#ifdef HANGS_LISTING
    for (;;) pause();
#endif
    if (platforms != NULL && count > 0) platforms[0] = &the_platform;
    if (number != NULL) *number = 1;
    return 0;
}

void *clGetExtensionFunctionAddress(const char *name) {
#ifndef NO_PROTOCOL
    if (strcmp(name, "clIcdGetPlatformIDsKHR") == 0) return (void *)list_platforms;
#endif
    return NULL;
}

__attribute__((constructor)) static void begin(void) {
    /* Opened in a test's own process, it leaves a trace. */
    setenv("SMALL_VENDOR_WAS_LOADED", "1", 1);
#ifdef CRASHES
    *(volatile int *)0 = 1;
#endif
#ifdef HANGS
    for (;;) pause();
#endif
#ifdef EXITS
    exit(7);
#endif
}
