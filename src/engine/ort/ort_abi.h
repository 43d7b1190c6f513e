/* ort_abi.h - the part of ONNX Runtime's C ABI that assay uses, declared here, so that the library
 * can be opened at run time and none of its headers are needed to build.
 *
 * The ABI: the exported OrtGetApiBase() gives a struct of two functions, GetApi(version) and
 * GetVersionString(). GetApi returns a table of function pointers that only ever grows at its end:
 * a function's index ("slot") never changes, and API version N has a known number of slots.
 * ASSAY__ORT_API below is the list of the functions we call: our name, slot, result, arguments. It
 * declares the members of struct assay__ort and fills them; a function that an older library does
 * not have is NULL. Calls read ort->create_session(...).
 *
 * A function that returns struct OrtStatus * returns NULL on success; assay__ort_check() turns the
 * rest into an error. Limits: paths are char (not Windows). */
#ifndef ASSAY_ENGINE_ORT_ORT_ABI_H
#define ASSAY_ENGINE_ORT_ORT_ABI_H

#include <assay/error.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY__ORT_API_NEWEST 30 /* the newest API version whose slots are known */
#define ASSAY__ORT_API_OLDEST 12 /* has every function that is not marked optional below */

typedef struct OrtAllocator OrtAllocator;
typedef struct OrtCUDAProviderOptionsV2 OrtCUDAProviderOptionsV2;
typedef struct OrtCustomOpDomain OrtCustomOpDomain;
typedef struct OrtEnv OrtEnv;
typedef struct OrtEpAssignedNode OrtEpAssignedNode;
typedef struct OrtEpAssignedSubgraph OrtEpAssignedSubgraph;
typedef struct OrtIoBinding OrtIoBinding;
typedef struct OrtKernelContext OrtKernelContext;
typedef struct OrtKernelInfo OrtKernelInfo;
typedef struct OrtKeyValuePairs OrtKeyValuePairs;
typedef struct OrtMemoryInfo OrtMemoryInfo;
typedef struct OrtOpAttr OrtOpAttr;
typedef struct OrtRunOptions OrtRunOptions;
typedef struct OrtSession OrtSession;
typedef struct OrtSessionOptions OrtSessionOptions;
typedef struct OrtShapeInferContext OrtShapeInferContext;
typedef struct OrtStatus OrtStatus;
typedef struct OrtTensorRTProviderOptionsV2 OrtTensorRTProviderOptionsV2;
typedef struct OrtTensorTypeAndShapeInfo OrtTensorTypeAndShapeInfo;
typedef struct OrtTypeInfo OrtTypeInfo;
typedef struct OrtValue OrtValue;
typedef struct OrtApi OrtApi; /* the table, seen only through slots */
typedef struct OrtCustomOp OrtCustomOp;

struct OrtApiBase {
    const OrtApi *(*GetApi)(uint32_t version);
    const char *(*GetVersionString)(void);
};

/* Enumerations are passed as int; only the values used here are named. */
enum { /* OrtLoggingLevel */
       ASSAY__ORT_LOG_INFO = 1,
       ASSAY__ORT_LOG_WARNING = 2,
       ASSAY__ORT_LOG_ERROR = 3,
       ASSAY__ORT_LOG_FATAL = 4
};
enum { /* OrtErrorCode */
       ASSAY__ORT_FAIL = 1,
       ASSAY__ORT_NO_SUCHFILE = 3,
       ASSAY__ORT_INVALID_PROTOBUF = 7,
       ASSAY__ORT_NOT_IMPLEMENTED = 9
};
enum { /* GraphOptimizationLevel */
       ASSAY__ORT_OPT_NONE = 0,
       ASSAY__ORT_OPT_BASIC = 1,
       ASSAY__ORT_OPT_EXTENDED = 2,
       ASSAY__ORT_OPT_ALL = 99
};
enum { ASSAY__ORT_SEQUENTIAL = 0 };  /* ExecutionMode */
enum { ASSAY__ORT_TYPE_TENSOR = 1 }; /* ONNXType */
/* ONNXTensorElementDataType has the numbers of ONNX's TensorProto.DataType up to 23 and differs
 * after it: ONNX: FLOAT8E8M0 24, UINT2 25, INT2 26; ONNX Runtime: UINT2 24, INT2 25, FLOAT8E8M0 26.
 */
enum {
    ASSAY__ORT_ELEMENT_UNDEFINED = 0,
    ASSAY__ORT_ELEMENT_FLOAT = 1,
    ASSAY__ORT_ELEMENT_STRING = 8
};
enum { ASSAY__ORT_ALLOCATOR_ARENA = 1 }; /* OrtAllocatorType */
enum { ASSAY__ORT_MEM_DEFAULT = 0 };     /* OrtMemType */
enum { ASSAY__ORT_IO_REQUIRED = 0 };     /* OrtCustomOpInputOutputCharacteristic */
enum { ASSAY__ORT_ATTR_INT = 1 };        /* OrtOpAttrType */

typedef void assay__ort_log_fn(void *context, int severity, const char *category,
                               const char *log_id, const char *code_location, const char *message);

/* A custom operator. `version` is the API version it was written for (ort->api_version): the
 * library reads a member only if that version has it. The comments give the version that introduced
 * a member. An unused member is NULL where the library allows it. */
struct OrtCustomOp {
    uint32_t version;
    void *(*CreateKernel)(const OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info);
    const char *(*GetName)(const OrtCustomOp *op);
    const char *(*GetExecutionProviderType)(const OrtCustomOp *op); /* NULL result: CPU */
    int (*GetInputType)(const OrtCustomOp *op, size_t index);       /* UNDEFINED: any type */
    size_t (*GetInputTypeCount)(const OrtCustomOp *op);
    int (*GetOutputType)(const OrtCustomOp *op, size_t index);
    size_t (*GetOutputTypeCount)(const OrtCustomOp *op);
    void (*KernelCompute)(void *kernel, OrtKernelContext *context);
    void (*KernelDestroy)(void *kernel);
    int (*GetInputCharacteristic)(const OrtCustomOp *op, size_t index); /* 8 */
    int (*GetOutputCharacteristic)(const OrtCustomOp *op, size_t index);
    int (*GetInputMemoryType)(const OrtCustomOp *op, size_t index); /* 13 */
    int (*GetVariadicInputMinArity)(const OrtCustomOp *op);         /* 14, also the next three */
    int (*GetVariadicInputHomogeneity)(const OrtCustomOp *op);
    int (*GetVariadicOutputMinArity)(const OrtCustomOp *op);
    int (*GetVariadicOutputHomogeneity)(const OrtCustomOp *op);
    OrtStatus *(*CreateKernelV2)(const OrtCustomOp *op, const OrtApi *api,
                                 const OrtKernelInfo *info, void **kernel); /* 16 */
    OrtStatus *(*KernelComputeV2)(void *kernel, OrtKernelContext *context);
    OrtStatus *(*InferOutputShapeFn)(const OrtCustomOp *op,
                                     OrtShapeInferContext *context); /* 17, also the next two */
    int (*GetStartVersion)(const OrtCustomOp *op);
    int (*GetEndVersion)(const OrtCustomOp *op);
    size_t (*GetMayInplace)(int **input_index, int **output_index); /* 18, also the rest */
    void (*ReleaseMayInplace)(int *input_index, int *output_index);
    size_t (*GetAliasMap)(int **input_index, int **output_index);
    void (*ReleaseAliasMap)(int *input_index, int *output_index);
};

/* X(name, slot, result, arguments) */
#define ASSAY__ORT_API(X)  \
    ASSAY__ORT_API_CORE(X) \
    ASSAY__ORT_API_VALUES(X) ASSAY__ORT_API_OPTIONS(X) ASSAY__ORT_API_KERNEL(X)

#define ASSAY__ORT_API_CORE(X)                                                                     \
    X(create_status, 0, OrtStatus *, (int code, const char *message))                              \
    X(get_error_code, 1, int, (const OrtStatus *))                                                 \
    X(get_error_message, 2, const char *, (const OrtStatus *))                                     \
    X(release_status, 93, void, (OrtStatus *))                                                     \
    X(create_env_with_custom_logger, 4, OrtStatus *,                                               \
      (assay__ort_log_fn *, void *context, int severity, const char *log_id, OrtEnv **))           \
    X(disable_telemetry_events, 6, OrtStatus *, (const OrtEnv *))                                  \
    X(release_env, 92, void, (OrtEnv *))                                                           \
    X(get_available_providers, 125, OrtStatus *, (char ***names, int *count))                      \
    X(release_available_providers, 126, OrtStatus *, (char **names, int count))                    \
    X(get_build_info_string, 254, const char *, (void)) /* optional: 15 */                         \
    X(create_session, 7, OrtStatus *,                                                              \
      (const OrtEnv *, const char *path, const OrtSessionOptions *, OrtSession **))                \
    X(create_session_from_array, 8, OrtStatus *,                                                   \
      (const OrtEnv *, const void *data, size_t size, const OrtSessionOptions *, OrtSession **))   \
    X(release_session, 95, void, (OrtSession *))                                                   \
    X(session_get_input_count, 30, OrtStatus *, (const OrtSession *, size_t *))                    \
    X(session_get_output_count, 31, OrtStatus *, (const OrtSession *, size_t *))                   \
    X(session_get_input_type_info, 33, OrtStatus *,                                                \
      (const OrtSession *, size_t index, OrtTypeInfo **))                                          \
    X(session_get_input_name, 36, OrtStatus *,                                                     \
      (const OrtSession *, size_t index, OrtAllocator *, char **))                                 \
    X(session_get_output_name, 37, OrtStatus *,                                                    \
      (const OrtSession *, size_t index, OrtAllocator *, char **))                                 \
    X(session_end_profiling, 110, OrtStatus *, (OrtSession *, OrtAllocator *, char **path))        \
    X(run, 9, OrtStatus *,                                                                         \
      (OrtSession *, const OrtRunOptions *, const char *const *input_names,                        \
       const OrtValue *const *inputs, size_t input_count, const char *const *output_names,         \
       size_t output_count, OrtValue **outputs))                                                   \
    X(run_with_binding, 133, OrtStatus *,                                                          \
      (OrtSession *, const OrtRunOptions *, const OrtIoBinding *))                                 \
    X(create_io_binding, 134, OrtStatus *, (OrtSession *, OrtIoBinding **))                        \
    X(release_io_binding, 135, void, (OrtIoBinding *))                                             \
    X(bind_input, 136, OrtStatus *, (OrtIoBinding *, const char *name, const OrtValue *))          \
    X(bind_output_to_device, 138, OrtStatus *,                                                     \
      (OrtIoBinding *, const char *name, const OrtMemoryInfo *))                                   \
    X(get_bound_output_values, 140, OrtStatus *,                                                   \
      (const OrtIoBinding *, OrtAllocator *, OrtValue ***values, size_t *count))                   \
    X(session_get_ep_graph_assignment_info, 407, OrtStatus *,                                      \
      (const OrtSession *, const OrtEpAssignedSubgraph *const **,                                  \
       size_t *                                                                                    \
           count)) /* optional: 24, also the next five; what they return belongs to the session */ \
    X(ep_assigned_subgraph_get_ep_name, 408, OrtStatus *,                                          \
      (const OrtEpAssignedSubgraph *, const char **))                                              \
    X(ep_assigned_subgraph_get_nodes, 409, OrtStatus *,                                            \
      (const OrtEpAssignedSubgraph *, const OrtEpAssignedNode *const **, size_t *count))           \
    X(ep_assigned_node_get_name, 410, OrtStatus *, (const OrtEpAssignedNode *, const char **))     \
    X(ep_assigned_node_get_domain, 411, OrtStatus *, (const OrtEpAssignedNode *, const char **))   \
    X(ep_assigned_node_get_operator_type, 412, OrtStatus *,                                        \
      (const OrtEpAssignedNode *, const char **))

#define ASSAY__ORT_API_VALUES(X)                                                                   \
    X(create_tensor, 48, OrtStatus *,                                                              \
      (OrtAllocator *, const int64_t *dims, size_t rank, int element, OrtValue **))                \
    X(create_tensor_with_data, 49, OrtStatus *,                                                    \
      (const OrtMemoryInfo *, void *data, size_t size, const int64_t *dims, size_t rank,           \
       int element, OrtValue **))                                                                  \
    X(is_tensor, 50, OrtStatus *, (const OrtValue *, int *))                                       \
    X(has_value, 192, OrtStatus *, (const OrtValue *, int *))                                      \
    X(get_tensor_mutable_data, 51, OrtStatus *, (OrtValue *, void **))                             \
    X(fill_string_tensor, 52, OrtStatus *, (OrtValue *, const char *const *strings, size_t count)) \
    X(get_string_tensor_data_length, 53, OrtStatus *, (const OrtValue *, size_t *))                \
    X(get_string_tensor_content, 54, OrtStatus *,                                                  \
      (const OrtValue *, void *text, size_t size, size_t *offsets, size_t count))                  \
    X(cast_type_info_to_tensor_info, 55, OrtStatus *,                                              \
      (const OrtTypeInfo *, const OrtTensorTypeAndShapeInfo **))                                   \
    X(get_tensor_element_type, 60, OrtStatus *, (const OrtTensorTypeAndShapeInfo *, int *))        \
    X(get_dimensions_count, 61, OrtStatus *, (const OrtTensorTypeAndShapeInfo *, size_t *))        \
    X(get_dimensions, 62, OrtStatus *,                                                             \
      (const OrtTensorTypeAndShapeInfo *, int64_t *dims, size_t rank))                             \
    X(get_symbolic_dimensions, 63, OrtStatus *,                                                    \
      (const OrtTensorTypeAndShapeInfo *, const char **names, size_t rank))                        \
    X(set_symbolic_dimensions, 271, OrtStatus *,                                                   \
      (OrtTensorTypeAndShapeInfo *, const char **names, size_t rank)) /* optional: 17 */           \
    X(get_tensor_shape_element_count, 64, OrtStatus *,                                             \
      (const OrtTensorTypeAndShapeInfo *, size_t *))                                               \
    X(get_tensor_type_and_shape, 65, OrtStatus *,                                                  \
      (const OrtValue *, OrtTensorTypeAndShapeInfo **))                                            \
    X(get_value_type, 67, OrtStatus *, (const OrtValue *, int *))                                  \
    X(get_value, 80, OrtStatus *, (const OrtValue *, int index, OrtAllocator *, OrtValue **))      \
    X(get_value_count, 81, OrtStatus *, (const OrtValue *, size_t *))                              \
    X(release_value, 96, void, (OrtValue *))                                                       \
    X(release_type_info, 98, void, (OrtTypeInfo *))                                                \
    X(release_tensor_type_and_shape_info, 99, void, (OrtTensorTypeAndShapeInfo *))                 \
    X(create_memory_info, 68, OrtStatus *,                                                         \
      (const char *name, int allocator_type, int id, int mem_type, OrtMemoryInfo **))              \
    X(create_cpu_memory_info, 69, OrtStatus *,                                                     \
      (int allocator_type, int mem_type, OrtMemoryInfo **))                                        \
    X(release_memory_info, 94, void, (OrtMemoryInfo *))                                            \
    X(allocator_free, 76, OrtStatus *, (OrtAllocator *, void *))                                   \
    X(get_allocator_with_default_options, 78, OrtStatus *, (OrtAllocator **)) /* not released */   \
    X(create_allocator, 131, OrtStatus *,                                                          \
      (const OrtSession *, const OrtMemoryInfo *, OrtAllocator **))                                \
    X(release_allocator, 132, void, (OrtAllocator *))                                              \
    X(allocator_get_stats, 319, OrtStatus *,                                                       \
      (const OrtAllocator *, OrtKeyValuePairs **)) /* optional: 23 */                              \
    X(get_key_value, 297, const char *,                                                            \
      (const OrtKeyValuePairs *, const char *key))              /* optional: 22 */                 \
    X(release_key_value_pairs, 300, void, (OrtKeyValuePairs *)) /* optional: 22 */

#define ASSAY__ORT_API_OPTIONS(X)                                                              \
    X(create_run_options, 39, OrtStatus *, (OrtRunOptions **))                                 \
    X(release_run_options, 97, void, (OrtRunOptions *))                                        \
    X(add_run_config_entry, 165, OrtStatus *,                                                  \
      (OrtRunOptions *, const char *key, const char *value))                                   \
    X(create_session_options, 10, OrtStatus *, (OrtSessionOptions **))                         \
    X(release_session_options, 100, void, (OrtSessionOptions *))                               \
    X(set_optimized_model_file_path, 11, OrtStatus *, (OrtSessionOptions *, const char *path)) \
    X(set_session_execution_mode, 13, OrtStatus *, (OrtSessionOptions *, int mode))            \
    X(enable_profiling, 14, OrtStatus *, (OrtSessionOptions *, const char *file_prefix))       \
    X(set_session_log_severity_level, 22, OrtStatus *, (OrtSessionOptions *, int severity))    \
    X(set_session_graph_optimization_level, 23, OrtStatus *, (OrtSessionOptions *, int level)) \
    X(set_intra_op_num_threads, 24, OrtStatus *, (OrtSessionOptions *, int threads))           \
    X(set_inter_op_num_threads, 25, OrtStatus *, (OrtSessionOptions *, int threads))           \
    X(add_free_dimension_override_by_name, 124, OrtStatus *,                                   \
      (OrtSessionOptions *, const char *name, int64_t value))                                  \
    X(add_session_config_entry, 130, OrtStatus *,                                              \
      (OrtSessionOptions *, const char *key, const char *value))                               \
    X(append_execution_provider, 216, OrtStatus *,                                             \
      (OrtSessionOptions *, const char *provider, const char *const *keys,                     \
       const char *const *values, size_t count))                                               \
    X(create_cuda_provider_options, 205, OrtStatus *, (OrtCUDAProviderOptionsV2 **))           \
    X(update_cuda_provider_options, 206, OrtStatus *,                                          \
      (OrtCUDAProviderOptionsV2 *, const char *const *keys, const char *const *values,         \
       size_t count))                                                                          \
    X(release_cuda_provider_options, 208, void, (OrtCUDAProviderOptionsV2 *))                  \
    X(append_execution_provider_cuda_v2, 204, OrtStatus *,                                     \
      (OrtSessionOptions *, const OrtCUDAProviderOptionsV2 *))                                 \
    X(create_tensorrt_provider_options, 171, OrtStatus *, (OrtTensorRTProviderOptionsV2 **))   \
    X(update_tensorrt_provider_options, 172, OrtStatus *,                                      \
      (OrtTensorRTProviderOptionsV2 *, const char *const *keys, const char *const *values,     \
       size_t count))                                                                          \
    X(release_tensorrt_provider_options, 174, void, (OrtTensorRTProviderOptionsV2 *))          \
    X(append_execution_provider_tensorrt_v2, 170, OrtStatus *,                                 \
      (OrtSessionOptions *, const OrtTensorRTProviderOptionsV2 *))                             \
    X(append_execution_provider_openvino_v2, 275, OrtStatus *,                                 \
      (OrtSessionOptions *, const char *const *keys, const char *const *values,                \
       size_t count)) /* optional: 17 */

#define ASSAY__ORT_API_KERNEL(X)                                                            \
    X(create_custom_op_domain, 26, OrtStatus *, (const char *domain, OrtCustomOpDomain **)) \
    X(custom_op_domain_add, 27, OrtStatus *, (OrtCustomOpDomain *, const OrtCustomOp *))    \
    X(add_custom_op_domain, 28, OrtStatus *, (OrtSessionOptions *, OrtCustomOpDomain *))    \
    X(release_custom_op_domain, 101, void, (OrtCustomOpDomain *))                           \
    X(kernel_info_get_attribute_int64, 86, OrtStatus *,                                     \
      (const OrtKernelInfo *, const char *name, int64_t *))                                 \
    X(kernel_context_get_input, 90, OrtStatus *,                                            \
      (const OrtKernelContext *, size_t index, const OrtValue **))                          \
    X(kernel_context_get_output, 91, OrtStatus *,                                           \
      (OrtKernelContext *, size_t index, const int64_t *dims, size_t rank, OrtValue **))    \
    X(shape_infer_context_get_input_count, 267, OrtStatus *,                                \
      (const OrtShapeInferContext *, size_t *)) /* optional: 17, also the next four */      \
    X(shape_infer_context_get_input_type_shape, 268, OrtStatus *,                           \
      (const OrtShapeInferContext *, size_t index, OrtTensorTypeAndShapeInfo **))           \
    X(shape_infer_context_get_attribute, 269, OrtStatus *,                                  \
      (const OrtShapeInferContext *, const char *name, const OrtOpAttr **))                 \
    X(shape_infer_context_set_output_type_shape, 270, OrtStatus *,                          \
      (const OrtShapeInferContext *, size_t index, const OrtTensorTypeAndShapeInfo *))      \
    X(read_op_attr, 272, OrtStatus *,                                                       \
      (const OrtOpAttr *, int type, void *data, size_t size, size_t *))

/* The functions of one loaded library. */
struct assay__ort {
    int api_version;     /* the version we request: min(the library's, ASSAY__ORT_API_NEWEST) */
    const char *version; /* "1.31.1"; the library's storage */
    const OrtApi *api;   /* the raw table */
    char path[1024];     /* the file actually loaded, "" unknown */
#define ASSAY__ORT_MEMBER(name, slot, result, arguments) result(*name) arguments;
    ASSAY__ORT_API(ASSAY__ORT_MEMBER)
#undef ASSAY__ORT_MEMBER
};

/** Finds and loads ONNX Runtime. `library` is a file or a folder, or NULL for the search of
 * doc/engines.md. The library stays loaded for the life of the process (its threads and statics do
 * not survive unloading). */
int assay__ort_load(const char *library, struct assay__ort *ort, struct assay_error *error);
/** The table from an API base (part of assay__ort_load; `name` is for messages). ASSAY_EUNSUPPORTED
 * when it is too old. */
int assay__ort_fill(struct assay__ort *ort, const struct OrtApiBase *base, const char *name,
                    struct assay_error *error);
/** The part of the library's message that is useful to people: without source positions, C++
 *  signatures and line breaks. */
void assay__ort_message_trim(const char *message, char *out, size_t out_size);
/** 0 for NULL; else releases the status and sets *error to "<what>: <ONNX Runtime's message in one
 * line>". */
int assay__ort_check(const struct assay__ort *ort, OrtStatus *status, struct assay_error *error,
                     const char *what);
/** Releases a status whose outcome does not matter. */
void assay__ort_ignore(const struct assay__ort *ort, OrtStatus *status);

#endif
