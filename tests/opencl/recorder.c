/* Records launches of OpenCL kernels: source, options, sizes, arguments, and the buffers before and after.
 *
 * Loaded with LD_PRELOAD into a program that uses any platform. It calls the platform through the table of functions
 * that each object points to (cl_khr_icd), so that it needs neither headers nor a library of OpenCL. A launch with
 * images or shared virtual memory is not recorded, nor one with more than RTCG_RECORD_BYTES of buffers, nor more than
 * RTCG_RECORD_LAUNCHES of a kernel. Files go to the folder RTCG_RECORD: entries of a name, a length and bytes, which
 * replay.py reads. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef void *object;

/* Places in the table. */
enum { CREATE_BUFFER = 14, MEM_INFO = 20, PROGRAM_INFO = 32, BUILD_INFO = 33, SET_ARG = 38, KERNEL_INFO = 39, WAIT = 41,
       QUEUE_INFO = 12, FINISH = 47, READ = 48, LAUNCH = 59, CREATE_SUB_BUFFER = 82,
       CREATE_SAMPLER = 22, CREATE_SAMPLER_WITH = 133, CREATE_IMAGE = 96, SET_SVM = 134, CREATE_BUFFER_WITH = 146 };
/* Names of what objects are asked for. */
enum { MEM_SIZE = 0x1102, QUEUE_DEVICE = 0x1091, PROGRAM_SOURCE = 0x1164, BUILD_OPTIONS = 0x1182, KERNEL_NAME = 0x1190,
       KERNEL_NUM_ARGS = 0x1191, KERNEL_PROGRAM = 0x1194 };
enum { MAX_ARGS = 128, MAX_KERNELS = 4096, MAX_BUFFERS = 65536 };

#define TABLE(handle, index) (((void ***)(handle))[0][index])
typedef cl_int (*info_t)(object, cl_uint, size_t, void *, size_t *);

struct argument { enum { UNSET, VALUE, LOCAL, SVM } kind; size_t size; unsigned char *bytes; };
struct kernel { object handle; struct argument args[MAX_ARGS]; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kernel *kernels[MAX_KERNELS];
static struct { object handle; int is_buffer; } made[MAX_BUFFERS];
static unsigned n_made, n_files;
static struct { uint64_t key; unsigned count; } recorded[MAX_KERNELS];

static struct kernel *find_kernel(object handle) {
    unsigned i = (unsigned)((uintptr_t)handle >> 4) % MAX_KERNELS;
    for (unsigned tries = 0; tries < MAX_KERNELS; tries++, i = (i + 1) % MAX_KERNELS) {
        if (!kernels[i]) {
            kernels[i] = calloc(1, sizeof **kernels);
            kernels[i]->handle = handle;
        }
        if (kernels[i]->handle == handle) return kernels[i];
    }
    return NULL;
}

static void note_argument(object handle, cl_uint index, int kind, size_t size, const void *value) {
    pthread_mutex_lock(&lock);
    struct kernel *kernel = index < MAX_ARGS ? find_kernel(handle) : NULL;
    if (kernel) {
        struct argument *argument = &kernel->args[index];
        free(argument->bytes);
        argument->kind = kind, argument->size = size, argument->bytes = NULL;
        if (kind == VALUE) argument->bytes = value ? memcpy(malloc(size), value, size) : calloc(1, size);
    }
    pthread_mutex_unlock(&lock);
}

static object note_object(object handle, int is_buffer) {
    pthread_mutex_lock(&lock);
    if (handle) made[n_made % MAX_BUFFERS].handle = handle, made[n_made++ % MAX_BUFFERS].is_buffer = is_buffer;
    pthread_mutex_unlock(&lock);
    return handle;
}

/* What was made last with this address: 1 for a buffer, 0 for another object, -1 if nothing was. */
static int kind_of(object handle) {
    for (unsigned n = 0; n < n_made && n < MAX_BUFFERS; n++)
        if (made[(n_made - 1 - n) % MAX_BUFFERS].handle == handle) return made[(n_made - 1 - n) % MAX_BUFFERS].is_buffer;
    return -1;
}

object clCreateBuffer(object context, uint64_t flags, size_t size, void *host, cl_int *code) {
    typedef object (*call_t)(object, uint64_t, size_t, void *, cl_int *);
    return note_object(((call_t)TABLE(context, CREATE_BUFFER))(context, flags, size, host, code), 1);
}

object clCreateBufferWithProperties(object context, const uint64_t *properties, uint64_t flags, size_t size, void *host,
                                    cl_int *code) {
    typedef object (*call_t)(object, const uint64_t *, uint64_t, size_t, void *, cl_int *);
    return note_object(((call_t)TABLE(context, CREATE_BUFFER_WITH))(context, properties, flags, size, host, code), 1);
}

object clCreateSubBuffer(object buffer, uint64_t flags, cl_uint kind, const void *region, cl_int *code) {
    typedef object (*call_t)(object, uint64_t, cl_uint, const void *, cl_int *);
    return note_object(((call_t)TABLE(buffer, CREATE_SUB_BUFFER))(buffer, flags, kind, region, code), 1);
}

object clCreateImage(object context, uint64_t flags, const void *format, const void *shape, void *host, cl_int *code) {
    typedef object (*call_t)(object, uint64_t, const void *, const void *, void *, cl_int *);
    return note_object(((call_t)TABLE(context, CREATE_IMAGE))(context, flags, format, shape, host, code), 0);
}

object clCreateSampler(object context, cl_uint is_normalized, cl_uint addressing, cl_uint filter, cl_int *code) {
    typedef object (*call_t)(object, cl_uint, cl_uint, cl_uint, cl_int *);
    return note_object(((call_t)TABLE(context, CREATE_SAMPLER))(context, is_normalized, addressing, filter, code), 0);
}

object clCreateSamplerWithProperties(object context, const uint64_t *properties, cl_int *code) {
    typedef object (*call_t)(object, const uint64_t *, cl_int *);
    return note_object(((call_t)TABLE(context, CREATE_SAMPLER_WITH))(context, properties, code), 0);
}

cl_int clSetKernelArg(object kernel, cl_uint index, size_t size, const void *value) {
    typedef cl_int (*call_t)(object, cl_uint, size_t, const void *);
    cl_int code = ((call_t)TABLE(kernel, SET_ARG))(kernel, index, size, value);
    /* A size without a value is local memory, or a NULL buffer where it is that of a pointer: both are kept as they are. */
    if (code == 0) note_argument(kernel, index, value || size == sizeof(object) ? VALUE : LOCAL, size, value);
    return code;
}

cl_int clSetKernelArgSVMPointer(object kernel, cl_uint index, const void *value) {
    typedef cl_int (*call_t)(object, cl_uint, const void *);
    cl_int code = ((call_t)TABLE(kernel, SET_SVM))(kernel, index, value);
    if (code == 0) note_argument(kernel, index, SVM, sizeof value, value);
    return code;
}

static void put(FILE *file, const char *name, const void *bytes, size_t size) {
    fprintf(file, "%s %zu\n", name, size);
    fwrite(bytes, 1, size, file);
}

static char *text_of(object handle, int index, cl_uint what) {
    info_t info = (info_t)TABLE(handle, index);
    size_t size = 0;
    if (info(handle, what, 0, NULL, &size)) return calloc(1, 1);
    char *text = calloc(1, size + 1);
    info(handle, what, size, text, NULL);
    return text;
}

static char *options_of(object program, object device) {
    typedef cl_int (*call_t)(object, object, cl_uint, size_t, void *, size_t *);
    call_t info = (call_t)TABLE(program, BUILD_INFO);
    size_t size = 0;
    if (info(program, device, BUILD_OPTIONS, 0, NULL, &size)) return calloc(1, 1);
    char *text = calloc(1, size + 1);
    info(program, device, BUILD_OPTIONS, size, text, NULL);
    return text;
}

static int is_wanted(const char *source, const char *name) {
    const char *most = getenv("RTCG_RECORD_LAUNCHES");
    uint64_t key = 14695981039346656037u;
    for (const char *text = source; *text; text++) key = (key ^ (unsigned char)*text) * 1099511628211u;
    for (const char *text = name; *text; text++) key = (key ^ (unsigned char)*text) * 1099511628211u;
    for (unsigned i = key % MAX_KERNELS, tries = 0; tries < MAX_KERNELS; tries++, i = (i + 1) % MAX_KERNELS) {
        if (recorded[i].count && recorded[i].key != key) continue;
        recorded[i].key = key;
        return recorded[i].count++ < (unsigned)(most ? atoi(most) : 2);
    }
    return 0;
}

/* A launch that is being recorded. */
struct record { FILE *file; object queue, used[MAX_ARGS]; size_t sizes[MAX_ARGS]; unsigned n_used; };

/* Which buffer of the launch it is; it becomes one if it was none. */
static uint64_t number_of(struct record *record, object buffer) {
    for (unsigned i = 0; i < record->n_used; i++)
        if (record->used[i] == buffer) return i;
    ((info_t)TABLE(buffer, MEM_INFO))(buffer, MEM_SIZE, sizeof(size_t), &record->sizes[record->n_used], NULL);
    record->used[record->n_used] = buffer;
    return record->n_used++;
}

static void put_buffers(struct record *record, const char *name) {
    typedef cl_int (*call_t)(object, object, cl_uint, size_t, size_t, void *, cl_uint, const object *, object *);
    for (unsigned i = 0; i < record->n_used; i++) {
        void *bytes = calloc(1, record->sizes[i] + 1);
        ((call_t)TABLE(record->queue, READ))(record->queue, record->used[i], 1, 0, record->sizes[i], bytes, 0, NULL, NULL);
        put(record->file, name, bytes, record->sizes[i]);
        free(bytes);
    }
}

/* Begins a record; its file is NULL where the launch is not recorded. */
static struct record begin(object queue, object handle, cl_uint dims, const size_t *offset, const size_t *global,
                           const size_t *local) {
    struct record record = {.queue = queue};
    object program = NULL, device = NULL;
    cl_uint n_args = 0;
    size_t total = 0;
    struct kernel *kernel = find_kernel(handle);
    ((info_t)TABLE(handle, KERNEL_INFO))(handle, KERNEL_PROGRAM, sizeof program, &program, NULL);
    ((info_t)TABLE(handle, KERNEL_INFO))(handle, KERNEL_NUM_ARGS, sizeof n_args, &n_args, NULL);
    ((info_t)TABLE(queue, QUEUE_INFO))(queue, QUEUE_DEVICE, sizeof device, &device, NULL);
    if (!kernel || n_args > MAX_ARGS || !getenv("RTCG_RECORD")) return record;
    uint64_t numbers[MAX_ARGS];
    for (cl_uint i = 0; i < n_args; i++) {
        struct argument *argument = &kernel->args[i];
        if (argument->kind == UNSET || argument->kind == SVM) return record;
        object buffer = NULL;
        int kind = -1;
        if (argument->kind == VALUE && argument->size == sizeof buffer) memcpy(&buffer, argument->bytes, sizeof buffer);
        if (buffer && (kind = kind_of(buffer)) == 0) return record;
        numbers[i] = kind == 1 ? number_of(&record, buffer) : UINT64_MAX;
    }
    for (unsigned i = 0; i < record.n_used; i++) total += record.sizes[i];
    const char *most = getenv("RTCG_RECORD_BYTES");
    if (total > (most ? strtoul(most, NULL, 0) : 1u << 20)) return record;
    char *source = text_of(program, PROGRAM_INFO, PROGRAM_SOURCE), *name = text_of(handle, KERNEL_INFO, KERNEL_NAME);
    if (*source && is_wanted(source, name)) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%d-%05u.launch", getenv("RTCG_RECORD"), (int)getpid(), n_files++);
        record.file = fopen(path, "wb");
    }
    if (record.file) {
        char *options = options_of(program, device);
        put(record.file, "source", source, strlen(source));
        put(record.file, "options", options, strlen(options));
        put(record.file, "kernel", name, strlen(name));
        put(record.file, "offset", offset, offset ? dims * sizeof *offset : 0);
        put(record.file, "global", global, dims * sizeof *global);
        put(record.file, "local", local, local ? dims * sizeof *local : 0);
        for (cl_uint i = 0; i < n_args; i++) {
            struct argument *argument = &kernel->args[i];
            if (numbers[i] != UINT64_MAX) put(record.file, "buffer", &numbers[i], sizeof numbers[i]);
            else if (argument->kind == LOCAL) put(record.file, "local_memory", &argument->size, sizeof argument->size);
            else put(record.file, "value", argument->bytes, argument->size);
        }
        put_buffers(&record, "before");
        free(options);
    }
    free(source), free(name);
    return record;
}

cl_int clEnqueueNDRangeKernel(object queue, object handle, cl_uint dims, const size_t *offset, const size_t *global,
                              const size_t *local, cl_uint n_wait, const object *wait, object *event) {
    typedef cl_int (*launch_t)(object, object, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint,
                               const object *, object *);
    typedef cl_int (*finish_t)(object);
    typedef cl_int (*wait_t)(cl_uint, const object *);
    launch_t launch = (launch_t)TABLE(queue, LAUNCH);
    finish_t finish = (finish_t)TABLE(queue, FINISH);
    pthread_mutex_lock(&lock);
    if (n_wait) ((wait_t)TABLE(wait[0], WAIT))(n_wait, wait);
    finish(queue);
    struct record record = begin(queue, handle, dims, offset, global, local);
    cl_int code = launch(queue, handle, dims, offset, global, local, n_wait, wait, event);
    if (record.file) {
        finish(queue);
        put_buffers(&record, "after");
        put(record.file, "code", &code, sizeof code);
        fclose(record.file);
    }
    pthread_mutex_unlock(&lock);
    return code;
}
